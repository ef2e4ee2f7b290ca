"""Fields that write: each checks its input, runs one write, and answers with a payload."""

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from domain.commands.base import Command, parse_command
from domain.errors import SmartLockerError, UnavailableError
from loaders.contracts.base import Contract
from loaders.contracts.cost import ALWAYS, NOT_WHOLE, PricedRequest
from loaders.contracts.writing import WriteContract
from loaders.table.recording import asking
from resolvers.bindings.base import Call, Charge, Execution, FieldStep, Reading
from resolvers.request_state import ArgumentContext, RequestState


class Outcome(NamedTuple):
    entity: Any = None
    error: SmartLockerError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing(Reading):
    """One write.

    `entries` is the list of the input that says how many things are written. `returns` describes the entity in the
    payload, where it is not simply the entity as it is after the change. `secret` is the name and the description of a
    text that the payload has beside the entity; what is written then has the entity as its `record`.
    """

    contract: WriteContract
    command: type[Command]
    run: Callable[..., Awaitable[Any]]
    variant: str | None = None
    entries: str | None = None
    more: tuple[str, Callable[[Any], list[Charge]]] | None = None
    """Charges of the write through other contracts, given the value of this field of the input."""
    returns: str | None = None
    secret: tuple[str, str] | None = None

    def bind(self, values: Mapping[str, Any], request: ArgumentContext) -> Any:
        """See Reading: the input with the names of the command."""
        return values["input"]

    def price(self, step: FieldStep, parents: int, bound: Any) -> list[Charge]:
        entries, given = self.price_key(bound)
        requests = self.contract.costs(self.variant, min(entries, self.contract.most_entries))
        charges = [_charge(self.contract, request) for request in requests]
        if (settles := self.contract.settles) is not None:
            charges += [
                Charge(settles, one.operation, maximum=one.maximum * self.contract.rounds, condition=NOT_WHOLE)
                for one in settles.costs(None, 1)
            ]
        return charges if self.more is None else charges + self.more[1](given)

    @property
    def contracts(self) -> tuple[Contract, ...]:
        more = () if self.more is None else (charge.contract for charge in self.more[1](None))
        settles = () if self.contract.settles is None else (self.contract.settles,)
        return tuple(dict.fromkeys((self.contract, *settles, *more)))

    def price_key(self, bound: Any) -> tuple[int, Hashable]:
        """See Reading: the number of entries, and what decides on `more`."""
        listed = bound.get(self.entries) if self.entries is not None else None
        return len(listed) if isinstance(listed, list) else 1, None if self.more is None else bound.get(self.more[0])

    async def results(self, calls: Sequence[Call], execution: Execution) -> list[list[Any]]:
        """Runs the write once; the write itself decides on who may do it, and for whom.

        That the store is down is not a fault of the input, so it is an error of the field.
        """
        (call,), request = calls, execution.request
        try:
            return [[Outcome(await self._written(call, request))]]
        except UnavailableError as error:
            return [[error]]
        except SmartLockerError as error:
            if request.trace is not None:
                request.trace.note_user_error(error.code)
            return [[Outcome(error=error)]]
        except Exception as error:  # noqa: BLE001  # it becomes an error of the field
            return [[error]]
        finally:
            # Mutations of a request run one after another, and none may show what an earlier one has changed, or what
            # it has written itself as if it were of a later time.
            request.loaders.forget()
            request.now = request.backend.clock()

    async def _written(self, call: Call, request: RequestState) -> Any:
        if not self.rule.admits(request.principal):
            raise self.rule.refusal(request.principal, ("input",))
        command = parse_command(self.command, call.bound)
        with asking(call.step.path):
            return await self._run(command, request)

    async def _run(self, command: Command, request: RequestState) -> Any:
        return await self.run(request.backend, command, request.principal)


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingEach(Writing):
    """Several writes, one for each entry of a list of the input, each with an outcome of its own.

    `run` is also told whether there is time for another write. `others` are the contracts of entries that have a field.
    """

    entries: str
    most: int
    others: Mapping[str, WriteContract] = field(default_factory=dict)

    def price(self, step: FieldStep, parents: int, bound: Any) -> list[Charge]:
        _, writes = self.price_key(bound)
        return [
            _charge(contract, request)
            for contract, number in zip(self.contracts, writes, strict=True)
            for request in (contract.costs_of_each(number) if number else ())
        ]

    @property
    def contracts(self) -> tuple[WriteContract, ...]:
        return (*self.others.values(), self.contract)

    def price_key(self, bound: Any) -> tuple[int, tuple[int, ...]]:
        """See Reading: the number of entries, and of those of each contract."""
        entries = bound[self.entries][: self.most]
        numbers = [sum(name in entry for entry in entries) for name in self.others]
        return len(entries), (*numbers, len(entries) - sum(numbers))

    def page_size(self, bound: Any) -> int:
        return self.price_key(bound)[0]

    async def _run(self, command: Command, request: RequestState) -> list[Outcome | Exception]:
        written = await self.run(request.backend, command, request.principal, request.has_time)
        return [self._outcome(one, request) for one in written]

    def _outcome(self, written: Any, request: RequestState) -> Outcome | Exception:
        if not isinstance(written, Exception):
            return Outcome(written)
        if isinstance(written, UnavailableError) or not isinstance(written, SmartLockerError):
            return written
        if request.trace is not None:
            request.trace.note_user_error(written.code)
        return Outcome(error=written)


def _charge(contract: WriteContract, request: PricedRequest) -> Charge:
    if request.when == ALWAYS:
        return Charge(contract, request.operation, request.expected, request.maximum)
    return Charge(contract, request.operation, maximum=request.maximum, condition=request.when)
