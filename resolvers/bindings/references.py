"""Fields that find one object: by a key that the parent holds, by the field's own arguments, or through a claim."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from strawberry.utils.str_converters import to_camel_case

from domain.authorization import not_found_or_forbidden
from domain.errors import NotFoundError
from loaders.contracts.base import Consistency
from loaders.table.recording import asking
from resolvers.bindings.base import Argument, Charge, Reading, bound_field, look_up_charge
from resolvers.bindings.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from domain.authorization import Principal
    from loaders.contracts.base import Contract
    from loaders.contracts.reading import ReadOne
    from resolvers.bindings.base import FieldStep
    from resolvers.request_state import ArgumentContext, RequestState

logger = logging.getLogger(__name__)

NAMED_BUT_NOT_FOUND = "only where a record is too new for an eventually consistent read"
NOT_PROVED = "only where no item of a list proves that the object exists"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference(Reading):
    """One object by a key that the parent holds; null where the key is or the object does not exist."""

    contract: ReadOne[Any]

    def price(self, step: FieldStep, parents: int, bound: Any) -> list[Charge]:
        """See Reading: one batch for each hundred parents."""
        return [look_up_charge(self.contract, parents)]

    async def fetch(self, step: FieldStep, rows: Sequence[Any], bound: Any, request: RequestState) -> list[Any]:
        keys = self.row_keys(rows)
        wanted = [key if isinstance(key, tuple) else (key,) for key in keys if key is not None]
        if not wanted:
            return [None] * len(rows)
        found = await request.loaders.of(self.contract).load_bulk(wanted, step.path, alone=step.is_alone)
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
        """See Reading: one batch for each hundred ids."""
        usual, most = (look_up_charge(self.contract, parents * ids) for ids in (self.usual, self.most))
        return [replace(most, expected=usual.expected)]

    def below(self, parents: int, bound: Any) -> int:
        return parents * self.most

    async def fetch(self, step: FieldStep, rows: Sequence[Any], bound: Any, request: RequestState) -> list[Any]:
        ids = self.row_keys(rows)
        wanted = [(one_id,) for row_ids in ids for one_id in row_ids]
        loader = request.loaders.of(self.contract)
        found = iter(await loader.load_bulk(wanted, step.path, alone=step.is_alone) if wanted else ())
        return [[next(found) for _ in row_ids] for row_ids in ids]


@dataclass(frozen=True, slots=True)
class Visibility:
    """Who may see a record, where that depends on another one: the other one is read only if the record leaves it open.

    `key` is the attribute of the record that names the other one; `permits` decides on the record, first without it.
    """

    contract: ReadOne[Any]
    key: str
    permits: Callable[[Principal, Any, Any], bool]

    async def shows(self, record: Any, path: str, request: RequestState) -> bool:
        """Whether the caller may see a record."""
        if self.permits(request.principal, record, None):
            return True
        key = getattr(record, self.key)
        if key is None:
            return False
        (other,) = await request.loaders.of(self.contract).load_bulk([(key,)], path)
        if isinstance(other, Exception):
            raise other
        return other is not None and self.permits(request.principal, record, other)

    def charge(self, count: int) -> Charge:
        """What it costs for so many records."""
        condition = f"only where the owner of the {self.key.removesuffix('_id')} decides who may see it"
        return look_up_charge(self.contract, count, condition=condition)


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
        """See Reading: the object as far as its arguments name it."""
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
        return not (self.key_only and "*steps" in step.uses and self.shows_key_only(step))

    def shows_key_only(self, step: FieldStep) -> bool:
        """Whether nothing is selected but what the arguments tell, lists aside."""
        return step.uses - {"*steps"} <= self.parse.keys()

    def needs_proof(self, step: FieldStep, bound: Any, request: RequestState) -> bool:
        """Whether the object was not read, for a caller who may learn that it does not exist."""
        rule = self.record_rule
        return not self.reads_record(step) and (rule is None or rule.permits(request.principal, bound))

    async def prove(self, step: FieldStep, bound: Any, request: RequestState) -> None:
        """Reads the object only to learn whether it exists.

        Raises:
            NotFoundError: where it does not.
        """
        with asking(step.path):
            await self._found(step, bound, request)

    async def fetch(self, step: FieldStep, rows: Sequence[Any], bound: Any, request: RequestState) -> list[Any]:
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

    async def _found(self, step: FieldStep, bound: Any, request: RequestState) -> Any:
        message = self.message.format(**vars(bound))
        record = await self._read(step, bound, request)
        hidden = self.rule.on_result and record is not None and not self.rule.permits(request.principal, record)
        if record is not None and not hidden and self.visible is not None:
            hidden = not await self.visible.shows(record, step.path, request)
        if record is not None and not hidden:
            return record
        if self.rule.on_result or self.visible is not None:
            raise not_found_or_forbidden(request.principal, message)
        raise NotFoundError(message)

    async def _read(self, step: FieldStep, bound: Any, request: RequestState) -> Any:
        key = tuple(getattr(bound, name) for name in self.parse)
        if self.via is not None:
            claim = await self.via.read(request.backend.store, *key)
            if claim is None:
                return None
            if self.rule.on_result and not self.rule.permits(request.principal, claim):
                return None  # an object that may not be seen is not read, like one that does not exist
            key = tuple(getattr(claim, name) for name in self.named_by)
        if bound.strongly:
            return await self.contract.read(request.backend.store, *key, consistent=True)
        (record,) = await load_named(self.contract, [key], step, request, must_exist=self.via is not None)
        if isinstance(record, Exception):
            raise record
        return record if record is None or self.check is None or self.check(bound, record) else None


async def load_named(
    contract: ReadOne[Any], keys: Sequence[tuple[Any, ...]], step: FieldStep, request: RequestState, *, must_exist: bool
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


def look_up(contract: ReadOne[Any], *, description: str, arguments: Sequence[Argument], **binding: Any) -> Any:
    """A root field with the one object that its arguments name."""
    parse = {
        argument.name: partial(argument.parse, name=to_camel_case(argument.name))
        for argument in arguments
        if argument.parse is not None
    }
    return bound_field(Lookup(contract=contract, parse=parse, **binding), description, arguments)
