"""Fields that find one object: by a key that the parent holds, by the field's own arguments, or through a claim."""

from collections.abc import Callable, Coroutine, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from types import SimpleNamespace
from typing import Any

from strawberry.utils.str_converters import to_camel_case

from domain.authorization import Principal, not_found_or_forbidden
from domain.errors import NotFoundError
from loaders.concurrency import together
from loaders.contracts.base import Consistency, Contract
from loaders.contracts.reading import ReadOne
from loaders.table.recording import asking
from resolvers.bindings.base import (
    Argument,
    Call,
    Charge,
    Execution,
    FieldStep,
    Known,
    Reading,
    bound_field,
    look_up_charge,
    rows_of,
)
from resolvers.bindings.rules import Rule
from resolvers.request_state import ArgumentContext, RequestState

NAMED_BUT_NOT_FOUND = "only where a record is too new for an eventually consistent read"
NOT_PROVED = "only where no item of a list proves that the object exists"


@dataclass(frozen=True, slots=True)
class Visibility:
    """Who may see a record, where that depends on another one: the other one is read only if the record leaves it open.

    `key` is the attribute of the record that names the other one; `permits` decides on the record, first without it.
    """

    contract: ReadOne[Any]
    key: str
    permits: Callable[[Principal, Any, Any], bool]

    async def shows(self, records: Sequence[Any], path: str, request: RequestState) -> list[bool | Exception]:
        principal = request.principal
        shown: list[bool | Exception] = [self.permits(principal, record, None) for record in records]
        left_open = [
            place
            for place, record in enumerate(records)
            if shown[place] is False and getattr(record, self.key) is not None
        ]
        keys = [(getattr(records[place], self.key),) for place in left_open]
        others = await request.loaders.of(self.contract).load_bulk(keys, path)
        for place, other in zip(left_open, others, strict=True):
            if isinstance(other, Exception):
                shown[place] = other
            else:
                shown[place] = other is not None and self.permits(principal, records[place], other)
        return shown

    async def only_shown(self, found: Sequence[Any], path: str, request: RequestState) -> list[Any]:
        """The same, with None in the place of each record that the caller may not see, and errors as they are."""
        results = list(found)
        places = [place for place, record in enumerate(results) if _is_record(record)]
        shown = await self.shows([results[place] for place in places], path, request)
        for place, is_shown in zip(places, shown, strict=True):
            if is_shown is not True:
                results[place] = is_shown or None
                request.has_hidden = True
        return results

    def charge(self, count: int) -> Charge:
        condition = f"only where the owner of the {self.key.removesuffix('_id')} decides who may see it"
        return look_up_charge(self.contract, count, condition=condition)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference(Reading):
    """One object by a key that the parent holds; null where the key is or the object does not exist.

    `visible` decides on who may see what was found, where that takes reads of its own; what is hidden is null.
    """

    contract: ReadOne[Any]
    visible: Visibility | None = None

    @property
    def contracts(self) -> tuple[Contract, ...]:
        return (self.contract,) if self.visible is None else (self.contract, self.visible.contract)

    def price(self, step: FieldStep, parents: int, bound: Any) -> list[Charge]:
        charge = look_up_charge(self.contract, parents)
        return [charge] if self.visible is None else [charge, self.visible.charge(parents)]

    async def fetch(self, calls: Sequence[Call], execution: Execution) -> list[Any]:
        keys = self.row_keys(rows_of(calls))
        wanted = [key if isinstance(key, tuple) else (key,) for key in keys if key is not None]
        if not wanted:
            return [None] * len(keys)
        found = await execution.request.loaders.of(self.contract).load_bulk(wanted, calls[0].step.path)
        if self.visible is not None:
            found = await self.visible.only_shown(found, calls[0].step.path, execution.request)
        if len(wanted) == len(keys):
            return found
        results = iter(found)
        return [None if key is None else next(results) for key in keys]


@dataclass(frozen=True, slots=True, kw_only=True)
class References(Reading):
    """The objects of a list of ids that the parent holds; null in the place of one that is missing.

    There are `usual` ids in such a list, and `most` at most.
    """

    contract: ReadOne[Any]
    key: str
    usual: int
    most: int

    def price(self, step: FieldStep, parents: int, bound: Any) -> list[Charge]:
        usual, most = (look_up_charge(self.contract, parents * ids) for ids in (self.usual, self.most))
        return [replace(most, expected=usual.expected)]

    def below(self, parents: int, bound: Any, type_name: str) -> int:
        return parents * self.most

    async def fetch(self, calls: Sequence[Call], execution: Execution) -> list[Any]:
        ids = self.row_keys(rows_of(calls))
        wanted = [(one_id,) for row_ids in ids for one_id in row_ids]
        found = iter(await execution.request.loaders.of(self.contract).load_bulk(wanted, calls[0].step.path))
        return [[next(found) for _ in row_ids] for row_ids in ids]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup(Reading):
    """One object by the field's own arguments; an error where it does not exist.

    Where `via` is given, the arguments lead to a claim, which names the object in its attributes `named_by`. `visible`
    decides on who may see what was found, where that takes reads of its own. `check` decides whether what was found
    is what was asked for. With `key_only`, an object of which only its key and lists are selected is not read, unless
    all these lists are empty: any item proves that it exists. `record_rule` says who may have it read.
    """

    contract: ReadOne[Any]
    parse: Mapping[str, Callable[[str], Any]]
    message: str
    via: ReadOne[Any] | None = None
    named_by: tuple[str, ...] = ()
    check: Callable[[Any, Any], bool] | None = None
    key_only: bool = False
    record_rule: Rule | None = None
    visible: Visibility | None = None

    @property
    def contracts(self) -> tuple[Contract, ...]:
        used = (self.via, self.contract, None if self.visible is None else self.visible.contract)
        return tuple(contract for contract in used if contract is not None)

    def bind(self, values: Mapping[str, Any], request: ArgumentContext) -> Any:
        key = {name: parse(values[name]) for name, parse in self.parse.items()}
        return SimpleNamespace(**key, strongly=bool(values.get("consistent")))

    def price(self, step: FieldStep, parents: int, bound: Any) -> list[Charge]:
        if not self.reads_record(step):
            return [look_up_charge(self.contract, parents, condition=NOT_PROVED)]
        charges = [] if self.via is None else [look_up_charge(self.via, parents)]
        charges.append(look_up_charge(self.contract, parents, consistent=bound.strongly))
        if self.via is not None and self.contract.consistency is Consistency.EVENTUAL_OR_STRONG:
            charges.append(look_up_charge(self.contract, parents, consistent=True, condition=NAMED_BUT_NOT_FOUND))
        return charges if self.visible is None else [*charges, self.visible.charge(parents)]

    def price_key(self, bound: Any) -> Hashable:
        """See Reading: a strong read costs twice as much."""
        return bound.strongly  # type: ignore[no-any-return]

    def reads_record(self, step: FieldStep) -> bool:
        """Whether more is selected than the arguments tell."""
        return not (self.key_only and step.has_steps and self.shows_key_only(step))

    def shows_key_only(self, step: FieldStep) -> bool:
        """Whether nothing is selected but what the arguments tell, lists aside."""
        return step.uses <= self.parse.keys()

    async def results(self, calls: Sequence[Call], execution: Execution) -> list[list[Any]]:
        """See Reading: the rule decides on the arguments, or on what was found."""
        principal = execution.request.principal
        if not self.rule.admits(principal):
            return [[self.rule.refusal(principal)] * len(call.rows) for call in calls]
        results: list[list[Any]] = []
        asked, known, keys = [], [], self.parse.keys()
        for call in calls:
            told = self._told(call, principal)
            results.append([told])
            if told is None:
                asked.append(call)
                if call.step.has_steps:
                    known.append(Known(call.step, [call.bound], keys, keys))
        if known:
            execution.start_early(known)
        found = iter(await execution.found(self, asked) if asked else ())
        return [next(found) if told is None else [told] for (told,) in results]

    def _told(self, call: Call, principal: Principal) -> Any:
        """The result without a read: the object as the arguments name it, or why it is not shown."""
        rule, record_rule = self.rule, self.record_rule
        if not rule.on_result and not rule.permits(principal, call.bound):
            return rule.refusal(principal)
        if not self.reads_record(call.step):
            return call.bound
        if record_rule is None or record_rule.permits(principal, call.bound):
            return None
        # Selecting nothing but the key would tell whether the object exists.
        return record_rule.refusal(principal) if self.shows_key_only(call.step) else call.bound

    def reads_alone(self, step: FieldStep) -> bool:
        return self.via is None and self.visible is None and not step.has_steps

    async def result_alone(self, call: Call, request: RequestState) -> Any:
        principal, bound = request.principal, call.bound
        if not self.rule.admits(principal):
            return self.rule.refusal(principal)
        told = self._told(call, principal)
        if told is not None:
            return told
        key = [getattr(bound, name) for name in self.parse]
        try:
            with asking(call.step.path):
                record = await self.contract.read(request.backend.store, *key, consistent=bound.strongly)
        except Exception as error:  # noqa: BLE001  # an error is a value here
            return error
        if record is None or not self._shows(record, bound, principal):
            return self._missing(call, request)
        return record

    def confirms(self, step: FieldStep) -> bool:
        """See Reading: an object that was not read exists where one of its lists has an item."""
        return self.key_only and not self.reads_record(step)

    async def confirm(self, calls: Sequence[Call], execution: Execution) -> list[Exception | None]:
        rule, principal = self.record_rule, execution.request.principal
        unproved = [
            call
            for call in calls
            if not execution.has_items(call.step) and (rule is None or rule.permits(principal, call.bound))
        ]
        found = await self.fetch(unproved, execution) if unproved else ()
        missing = {
            call.step: error for call, error in zip(unproved, found, strict=True) if isinstance(error, Exception)
        }
        return [missing.get(call.step) for call in calls]

    def fetch(self, calls: Sequence[Call], execution: Execution) -> Coroutine[Any, Any, list[Any]]:
        """See Reading: first all claims, then what they name, then what decides on who may see it."""
        consistent = calls[0].bound.strongly
        if len(calls) == 1 or all(call.bound.strongly is consistent for call in calls):
            return self._fetch(calls, execution.request, consistent=consistent)
        return self._fetch_both(calls, execution.request)

    async def _fetch_both(self, calls: Sequence[Call], request: RequestState) -> list[Any]:
        """The same for aliases of which some are read strongly."""
        parts = [[call for call in calls if call.bound.strongly is consistent] for consistent in (False, True)]
        reads = [self._fetch(part, request, consistent=part[0].bound.strongly) for part in parts]
        found = chain.from_iterable(await together(reads))
        by_step = dict(zip((call.step for part in parts for call in part), found, strict=True))
        return [by_step[call.step] for call in calls]

    async def _fetch(self, calls: Sequence[Call], request: RequestState, *, consistent: bool) -> list[Any]:
        loaders, path, principal = request.loaders, calls[0].step.path, request.principal
        found: list[Any] = [tuple([getattr(call.bound, name) for name in self.parse]) for call in calls]
        keys, places = found, list(range(len(found)))
        if self.via is not None:
            found = [self._named(claim, principal) for claim in await loaders.of(self.via).load_bulk(keys, path)]
            places = [place for place, key in enumerate(found) if isinstance(key, tuple)]
            keys = [found[place] for place in places]
        if consistent or self.via is None:
            records = await loaders.of(self.contract, consistent=consistent).load_bulk(keys, path)
        else:
            records = await loaders.load_existing(self.contract, keys, path)
        for place, record in zip(places, records, strict=True):
            found[place] = record
            if _is_record(record) and not self._shows(record, calls[place].bound, principal):
                found[place] = None
        if self.visible is not None:
            found = await self.visible.only_shown(found, path, request)
        for place, record in enumerate(found):
            if record is None:
                found[place] = self._missing(calls[place], request)
        return found

    def _shows(self, record: Any, bound: Any, principal: Principal) -> bool:
        if self.check is not None and not self.check(bound, record):
            return False
        return not self.rule.on_result or self.rule.permits(principal, record)

    def _named(self, claim: Any, principal: Principal) -> Any:
        """The key of the record that a claim names, None, or an error."""
        if not _is_record(claim):
            return claim
        if self.rule.on_result and not self.rule.permits(principal, claim):
            return None  # an object that may not be seen is not read, like one that does not exist
        return tuple([getattr(claim, name) for name in self.named_by])

    def _missing(self, call: Call, request: RequestState) -> Exception:
        message = self.message.format(**vars(call.bound))
        if self.rule.on_result or self.visible is not None:
            return not_found_or_forbidden(request.principal, message)
        return NotFoundError(message)


def _is_record(found: Any) -> bool:
    return found is not None and not isinstance(found, Exception)


def one(contract: ReadOne[Any], *, key: str | tuple[str, ...], rule: Rule, description: str, **binding: Any) -> Any:
    """A field with the one object that an attribute of its parent names, or several attributes together."""
    return bound_field(Reference(contract=contract, key=key, rule=rule, **binding), description)


def look_up(contract: ReadOne[Any], *, description: str, arguments: Sequence[Argument], **binding: Any) -> Any:
    parse = {
        argument.name: partial(argument.parse, name=to_camel_case(argument.name))
        for argument in arguments
        if argument.parse is not None
    }
    return bound_field(Lookup(contract=contract, parse=parse, **binding), description, arguments)
