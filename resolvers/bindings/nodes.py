"""Objects by their global ids: which types have one, and the fields `node` and `nodes`."""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from domain.authorization import is_admin
from domain.errors import BadInputError, ForbiddenError
from loaders.contracts.base import MAX_ITEMS
from loaders.table.retry import together
from resolvers.bindings.base import Reading, look_up_charge
from resolvers.bindings.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from loaders.contracts.base import Contract
    from loaders.contracts.reading import ReadOne
    from resolvers.bindings.base import Charge, FieldStep
    from resolvers.bindings.references import Visibility
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
        """The opaque id of an object."""
        proof = () if self.proof is None else (self.proof(row, request),)
        return to_global_id(self.type_name, *(getattr(row, name) for name in self.key), *proof)

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


@dataclass(frozen=True, slots=True)
class _Named:
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

    def bind(self, values: Mapping[str, Any], request: ArgumentContext) -> list[_Named | None]:
        ids = values["ids"] if self.many else [values["id"]]
        if len(ids) > MAX_ITEMS:
            raise BadInputError(f"ids must have {MAX_ITEMS} entries at most, not {len(ids)}.", ("ids",))
        return [_named(global_id) for global_id in ids]

    def price(self, step: FieldStep, parents: int, bound: list[_Named | None]) -> list[Charge]:
        charges = []
        for name, count in self.by_type(bound).items():
            kind = NODE_KINDS[name]
            charges.append(look_up_charge(kind.contract, count))
            if kind.visible is not None:
                charges.append(kind.visible.charge(count))
        return charges

    def price_key(self, bound: list[_Named | None]) -> Hashable:
        return tuple(sorted(self.by_type(bound).items()))

    def by_type(self, bound: list[_Named | None]) -> Counter[str]:
        """How many objects of each type it finds at most."""
        return Counter(named.kind.type_name for named in bound if named is not None)

    async def fetch(self, step: FieldStep, rows: Sequence[Any], bound: Any, request: RequestState) -> list[Any]:
        kinds = [NODE_KINDS[name] for name in self.by_type(bound)]
        places = [[place for place, named in enumerate(bound) if named and named.kind is kind] for kind in kinds]
        reads = [
            self._found(kind, [bound[place].key for place in at], step, request, alone=len(kinds) == 1)
            for kind, at in zip(kinds, places, strict=True)
        ]
        results: dict[int, Any] = {}
        for at, records in zip(places, await together(reads), strict=True):
            results.update(
                (place, record if _is_proved(bound[place], record, request) else None)
                for place, record in zip(at, records, strict=True)
            )
        found = [results.get(place) for place in range(len(bound))]
        return [found] if self.many else found

    async def _found(
        self, kind: NodeKind, keys: list[tuple[Any, ...]], step: FieldStep, request: RequestState, *, alone: bool
    ) -> list[Any]:
        """What is found, for those who may see it; what is missing looks like what is hidden to all but admins.

        Where no other kind is read, `alone`, nothing else of the step can ask for the same records.
        """
        principal, rule = request.principal, kind.rule
        if not rule.admits(principal):
            return [rule.refusal(principal)] * len(keys)
        if not rule.on_result:
            named = [SimpleNamespace(**dict(zip(kind.key, key, strict=True))) for key in keys]
            allowed = [key for key, row in zip(keys, named, strict=True) if rule.permits(principal, row)]
        else:
            allowed = keys
        loader = request.loaders.of(kind.contract)
        found = await loader.load_bulk(allowed, step.path, alone=alone and step.is_alone) if allowed else []
        if rule.on_result and not is_admin(principal):
            return await self._shown(kind, found, step, request)
        records = dict(zip(allowed, found, strict=True))
        return [records[key] if key in records else ForbiddenError() for key in keys]

    async def _shown(self, kind: NodeKind, records: list[Any], step: FieldStep, request: RequestState) -> list[Any]:
        async def shown(record: Any) -> Any:
            if isinstance(record, Exception):
                return record
            try:
                is_visible = record is not None and await self._is_visible(kind, record, step, request)
            except Exception as error:  # noqa: BLE001  # an error is a value here
                return error
            return record if is_visible else ForbiddenError()

        if kind.visible is None:
            return [await shown(record) for record in records]
        return await together(map(shown, records))  # at the same time, so that their reads are one batch

    async def _is_visible(self, kind: NodeKind, record: Any, step: FieldStep, request: RequestState) -> bool:
        if kind.visible is None:
            return kind.rule.permits(request.principal, record)
        return await kind.visible.shows(record, step.path, request)


def _is_proved(named: _Named, record: Any, request: RequestState) -> bool:
    """Whether a record is the object of the id, and not one that has taken its place."""
    if named.kind.proof is None or record is None or isinstance(record, Exception):
        return True
    return named.kind.global_id(record, request) == named.global_id


def to_global_id(type_name: str, *parts: str) -> str:
    """The opaque id of an object: its type and the parts of its key."""
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


def _named(global_id: str) -> _Named | None:
    name, *parts = from_global_id(global_id) or ("",)
    kind = NODE_KINDS.get(name)
    key = None if kind is None else kind.parsed(parts)
    return None if kind is None or key is None else _Named(kind, key, global_id)
