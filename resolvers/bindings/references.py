"""Fields that find one object: by a key that the parent holds, by the field's own arguments, or through a claim."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from domain.authorization import not_found_or_forbidden
from domain.errors import NotFoundError
from loaders.contracts.base import Consistency
from loaders.table.recording import asking
from resolvers.bindings.base import Argument, Charge, Reading, bound_field, look_up_charge
from resolvers.bindings.rules import Rule
from resolvers.bindings.values import camel_case

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence

    from loaders.contracts.base import Contract
    from loaders.contracts.reading import ReadOne
    from resolvers.bindings.base import Step
    from resolvers.request import ArgumentContext, RequestState

logger = logging.getLogger(__name__)

NAMED_BUT_NOT_FOUND = "only where a record is too new for an eventually consistent read"
NOT_PROVED = "only where no item of a list proves that the object exists"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference(Reading):
    """One object by a key that the parent holds; null where the key is or the object does not exist.

    `follow` turns what was found into what is shown, for all parents at once, where that takes more reads;
    `follow_charges` are their price.
    """

    contract: ReadOne[Any]
    follow: Callable[[Sequence[Any], str, RequestState], Awaitable[list[Any]]] | None = None
    follow_charges: Callable[[int], list[Charge]] | None = None

    @property
    def contracts(self) -> tuple[Contract, ...]:
        return (self.contract, *(charge.contract for charge in self._follow_charges(1)))

    def price(self, step: Step, parents: int, bound: Any) -> list[Charge]:
        """See Reading: one batch for each hundred parents."""
        del step, bound
        return [look_up_charge(self.contract, parents), *self._follow_charges(parents)]

    def _follow_charges(self, parents: int) -> list[Charge]:
        return [] if self.follow_charges is None else self.follow_charges(parents)

    async def fetch(self, step: Step, rows: Sequence[Any], bound: Any, request: RequestState) -> list[Any]:
        del bound
        keys = self.row_keys(rows)
        wanted = [key if isinstance(key, tuple) else (key,) for key in keys if key is not None]
        if not wanted:
            return [None] * len(rows)
        found = await request.loaders.of(self.contract).load_bulk(wanted, step.path, alone=step.is_alone)
        if self.follow is not None:
            found = await self.follow(found, step.path, request)
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

    def price(self, step: Step, parents: int, bound: Any) -> list[Charge]:
        """See Reading: one batch for each hundred ids."""
        del step, bound
        usual, most = (look_up_charge(self.contract, parents * ids) for ids in (self.usual, self.most))
        return [replace(most, expected=usual.expected)]

    def below(self, parents: int, bound: Any) -> int:
        del bound
        return parents * self.most

    async def fetch(self, step: Step, rows: Sequence[Any], bound: Any, request: RequestState) -> list[Any]:
        del bound
        ids = self.row_keys(rows)
        wanted = [(one_id,) for row_ids in ids for one_id in row_ids]
        loader = request.loaders.of(self.contract)
        found = iter(await loader.load_bulk(wanted, step.path, alone=step.is_alone) if wanted else ())
        return [[next(found) for _ in row_ids] for row_ids in ids]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup(Reading):
    """One object by the field's own arguments; an error where it does not exist.

    Where `via` is given, the arguments lead to a claim, which names the object. `check` decides whether what was found
    is what was asked for. With `key_only`, an object of which only its key and lists are selected is not read, unless
    all these lists are empty: any item proves that it exists. `record_rule` says who may have it read.
    """

    contract: ReadOne[Any]
    parse: Mapping[str, Callable[[str, str], Any]]
    message: str
    via: ReadOne[Any] | None = None
    named_by: Callable[[Any], tuple[Any, ...]] = lambda claim: (claim,)
    check: Callable[[Any, Any], bool] | None = None
    consistent: bool = False
    key_only: bool = False
    record_rule: Rule | None = None
    visible: Callable[[RequestState, Any, str], Any] | None = None
    """Decides, with reads of its own, whether the caller may see what was found, where a rule cannot."""
    visible_charge: Callable[[int], list[Charge]] | None = None

    @property
    def contracts(self) -> tuple[Contract, ...]:
        extra = () if self.visible_charge is None else tuple(charge.contract for charge in self.visible_charge(1))
        return (*(() if self.via is None else (self.via,)), self.contract, *extra)

    def bind(self, values: Mapping[str, Any], request: ArgumentContext) -> Any:
        """See Reading: the object as far as its arguments name it."""
        del request
        key = {name: parse(values[name], camel_case(name)) for name, parse in self.parse.items()}
        return SimpleNamespace(**key, strongly=bool(values.get("consistent")))

    def price(self, step: Step, parents: int, bound: Any) -> list[Charge]:
        if not self.reads_record(step):
            return [look_up_charge(self.contract, parents, condition=NOT_PROVED)]
        charges = [] if self.via is None else [look_up_charge(self.via, parents)]
        charges.append(look_up_charge(self.contract, parents, consistent=bound is not None and bound.strongly))
        if self.via is not None and self.contract.consistency is Consistency.EVENTUAL_OR_STRONG:
            charges.append(look_up_charge(self.contract, parents, consistent=True, condition=NAMED_BUT_NOT_FOUND))
        return charges + ([] if self.visible_charge is None else self.visible_charge(parents))

    def price_key(self, bound: Any) -> Hashable:
        """See Reading: a strong read costs twice as much."""
        return bound.strongly  # type: ignore[no-any-return]

    def reads_record(self, step: Step) -> bool:
        """Whether more is selected than the arguments tell."""
        return not (self.key_only and "*steps" in step.uses and self.shows_key_only(step))

    def shows_key_only(self, step: Step) -> bool:
        """Whether nothing is selected but what the arguments tell, lists aside."""
        return step.uses - {"*steps"} <= self.parse.keys()

    def needs_proof(self, step: Step, bound: Any, request: RequestState) -> bool:
        """Whether the object was not read, for a caller who may learn that it does not exist."""
        rule = self.record_rule
        return not self.reads_record(step) and (rule is None or rule.permits(request.principal, bound))

    async def prove(self, step: Step, bound: Any, request: RequestState) -> None:
        """Reads the object only to learn whether it exists.

        Raises:
            NotFoundError: where it does not.
        """
        with asking(step.path):
            await self._found(step, bound, request)

    async def fetch(self, step: Step, rows: Sequence[Any], bound: Any, request: RequestState) -> list[Any]:
        principal = request.principal
        if not self.rule.on_result and not self.rule.permits(principal, bound):
            raise self.rule.refusal(principal)
        if not self.reads_record(step):
            return [bound]
        if self.record_rule is not None and not self.record_rule.permits(principal, bound):
            if self.shows_key_only(step):
                # Selecting nothing but the key would tell whether the object exists.
                raise self.record_rule.refusal(principal)
            return [bound]
        with asking(step.path):
            return [await self._found(step, bound, request)] * len(rows)

    async def _found(self, step: Step, bound: Any, request: RequestState) -> Any:
        message = self.message.format(**vars(bound))
        record = await self._read(step, bound, request)
        hidden = self.rule.on_result and record is not None and not self.rule.permits(request.principal, record)
        if record is not None and not hidden and self.visible is not None:
            hidden = not await self.visible(request, record, step.path)
        if record is not None and not hidden:
            return record
        if self.rule.on_result or self.visible is not None:
            raise not_found_or_forbidden(request.principal, message)
        raise NotFoundError(message)

    async def _read(self, step: Step, bound: Any, request: RequestState) -> Any:
        key = tuple(getattr(bound, name) for name in self.parse)
        if self.via is not None:
            claim = await self.via.read(request.backend.store, *key)
            if claim is None:
                return None
            if self.rule.on_result and not self.rule.permits(request.principal, claim):
                return None  # an object that may not be seen is not read, like one that does not exist
            key = self.named_by(claim)
        if bound.strongly:
            return await self.contract.read(request.backend.store, *key, consistent=True)
        (record,) = await load_named(self.contract, [key], step, request, must_exist=self.via is not None)
        if isinstance(record, Exception):
            raise record
        return record if record is None or self.check is None or self.check(bound, record) else None


async def load_named(
    contract: ReadOne[Any], keys: Sequence[tuple[Any, ...]], step: Step, request: RequestState, *, must_exist: bool
) -> list[Any]:
    """Loads records by key. Those that something else names but an eventual read does not find are read strongly."""
    loader = request.loaders.of(contract)
    found = await loader.load_bulk(keys, step.path, alone=step.is_alone)
    if must_exist and contract.consistency is Consistency.EVENTUAL_OR_STRONG:
        # Several parents may name the same record, and the store refuses to read a key twice.
        missing = list(dict.fromkeys(key for key, record in zip(keys, found, strict=True) if record is None))
        if missing:
            with asking(step.path):
                strongly = dict(zip(missing, await loader.load_strongly(missing), strict=True))
            found = [strongly.get(key) if record is None else record for key, record in zip(keys, found, strict=True)]
    return found


def one(contract: ReadOne[Any], *, key: str | tuple[str, ...], rule: Rule, description: str, **binding: Any) -> Any:
    """A field with the one object that an attribute of its parent names, or several attributes together."""
    return bound_field(Reference(contract=contract, key=key, rule=rule, **binding), description)


def many(contract: ReadOne[Any], *, key: str, usual: int, most: int, rule: Rule, description: str) -> Any:
    """A field with the objects that a list of ids of its parent names."""
    return bound_field(References(contract=contract, key=key, usual=usual, most=most, rule=rule), description)


def look_up(contract: ReadOne[Any], *, description: str, arguments: Sequence[Argument], **binding: Any) -> Any:
    """A root field with the one object that its arguments name."""
    return bound_field(Lookup(contract=contract, **binding), description, arguments)
