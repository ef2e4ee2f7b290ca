"""Objects by their global ids: which types have one, and the fields `node` and `nodes`."""

import base64
import binascii
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from domain.authorization import is_admin, sees_all
from domain.errors import BadInputError, ForbiddenError
from loaders.concurrency import together
from loaders.contracts.base import MAX_ITEMS, Contract
from loaders.contracts.reading import ReadOne
from resolvers.bindings.base import Call, Charge, Execution, FieldStep, Reading, look_up_charge
from resolvers.bindings.references import Visibility
from resolvers.bindings.rules import Rule
from resolvers.request_state import ArgumentContext, RequestState

_SEPARATOR = "/"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeKind:
    """How an object of one type is found again by its global id.

    `key` are the attributes that make the id; each is checked by its parser when an id comes in. `visible` decides,
    with reads of its own, where a rule cannot. Where the key is a place that can
    come to hold another object, `proof` is a last part of the id that tells them apart.
    """

    type_name: str
    contract: ReadOne[Any]
    key: Mapping[str, Callable[[str], Any]]
    rule: Rule
    visible: Visibility | None = None
    proof: Callable[[Any, RequestState], str] | None = None

    def global_id(self, row: Any, request: RequestState) -> str:
        proof = () if self.proof is None else (self.proof(row, request),)
        return to_global_id(self.type_name, *(getattr(row, name) for name in self.key), *proof)

    def row(self, key: tuple[Any, ...]) -> SimpleNamespace:
        """An object as far as its key tells."""
        return SimpleNamespace(**dict(zip(self.key, key, strict=True)))

    def parsed(self, parts: Sequence[str]) -> tuple[Any, ...] | None:
        """The key that an id names; None where it cannot be one of ours."""
        if len(parts) != len(self.key) + (self.proof is not None):
            return None
        key = tuple(parts[: len(self.key)])
        try:
            parsed = tuple(parse(part) for parse, part in zip(self.key.values(), key, strict=True))
        except ValueError:
            return None
        return parsed if parsed == key else None


NODE_KINDS: dict[str, NodeKind] = {}
"""Filled by the entities, each for itself."""


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """The object that a global id names."""

    kind: NodeKind
    key: tuple[Any, ...]
    global_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Nodes(Reading):
    """Anything by its global id; each kind of object is read in batches of its own."""

    many: bool = False

    @property
    def contracts(self) -> tuple[Contract, ...]:
        return tuple(kind.contract for kind in NODE_KINDS.values())

    def bind(self, values: Mapping[str, Any], request: ArgumentContext) -> list[Named | None]:
        ids = values["ids"] if self.many else [values["id"]]
        if len(ids) > MAX_ITEMS:
            raise BadInputError(f"ids must have {MAX_ITEMS} entries at most, not {len(ids)}.", ("ids",))
        return [named_by(global_id) for global_id in ids]

    def price(self, step: FieldStep, parents: int, bound: list[Named | None]) -> list[Charge]:
        charges = []
        for name, count in self.by_type(bound).items():
            kind = NODE_KINDS[name]
            charges.append(look_up_charge(kind.contract, count))
            if kind.visible is not None:
                charges.append(kind.visible.charge(count))
        return charges

    def price_key(self, bound: list[Named | None]) -> Hashable:
        return tuple(sorted(self.by_type(bound).items()))

    def by_type(self, bound: list[Named | None]) -> Counter[str]:
        return Counter(named.kind.type_name for named in bound if named is not None)

    def below(self, parents: int, bound: list[Named | None], type_name: str) -> int:
        return self.by_type(bound)[type_name]

    async def fetch(self, calls: Sequence[Call], execution: Execution) -> list[Any]:
        wanted = [named for call in calls for named in call.bound]
        kinds: defaultdict[str, list[Named]] = defaultdict(list)
        for named in wanted:
            if named is not None:
                kinds[named.kind.type_name].append(named)
        request, path = execution.request, calls[0].step.path
        reads = (self._found(NODE_KINDS[name], some, path, request) for name, some in kinds.items())
        found = dict(zip(kinds, map(iter, await together(reads)), strict=True))
        results = iter([None if named is None else next(found[named.kind.type_name]) for named in wanted])
        if self.many:
            return [[next(results) for _ in call.bound] for call in calls]
        return list(results)

    async def _found(self, kind: NodeKind, wanted: list[Named], path: str, request: RequestState) -> list[Any]:
        """The objects that the caller may see; a missing one looks like a hidden one to those who do not see all."""
        principal, rule = request.principal, kind.rule
        if not rule.admits(principal):
            return [rule.refusal(principal)] * len(wanted)
        allowed = [named for named in wanted if rule.on_result or rule.permits(principal, kind.row(named.key))]
        found = await request.loaders.of(kind.contract).load_bulk([named.key for named in allowed], path)
        if rule.on_result and not is_admin(principal):
            found = await self._shown(kind, found, path, request)
        records = {
            named: record if _is_proved(named, record, request) else None
            for named, record in zip(allowed, found, strict=True)
        }
        return [records[named] if named in records else ForbiddenError() for named in wanted]

    async def _shown(self, kind: NodeKind, found: list[Any], path: str, request: RequestState) -> list[Any]:
        places = [place for place, record in enumerate(found) if not isinstance(record, Exception | None)]
        records = [found[place] for place in places]
        shown: dict[int, bool | Exception] = {}
        if kind.visible is not None:
            shown = dict(zip(places, await kind.visible.shows(records, path, request), strict=True))
        else:
            shown = {place: kind.rule.permits(request.principal, found[place]) for place in places}
        is_told = sees_all(request.principal)
        return [
            record
            if isinstance(record, Exception) or shown.get(place) is True or (record is None and is_told)
            else shown.get(place) or ForbiddenError()
            for place, record in enumerate(found)
        ]


def _is_proved(named: Named, record: Any, request: RequestState) -> bool:
    """Whether a record is the object of the id, and not one that has taken its place."""
    if named.kind.proof is None or record is None or isinstance(record, Exception):
        return True
    return named.kind.global_id(record, request) == named.global_id


def to_global_id(type_name: str, *parts: str) -> str:
    text = _SEPARATOR.join((type_name, *parts))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def from_global_id(global_id: str) -> tuple[str, ...]:
    """The type and parts of an id that `to_global_id` made; empty for anything else."""
    try:
        padded = global_id.encode("ascii") + b"=" * (-len(global_id) % 4)
        parts = base64.b64decode(padded, altchars=b"-_", validate=True).decode().split(_SEPARATOR)
    except (ValueError, binascii.Error):
        return ()
    return tuple(parts) if to_global_id(*parts) == global_id else ()


def named_by(global_id: str) -> Named | None:
    """The object that an id names; None where it is none of ours."""
    name, *parts = from_global_id(global_id) or ("",)
    kind = NODE_KINDS.get(name)
    key = None if kind is None else kind.parsed(parts)
    return None if kind is None or key is None else Named(kind, key, global_id)
