"""How figures and usage are read: an item of a location or a day, and all parts of an owner's figures together."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from domain.bookings import check_calendar_window
from domain.figures import LocationUsage
from domain.models import LocationId, OwnerId
from domain.times import EARLIEST, Instant, count_days, days_between
from loaders.codecs import LogLease
from loaders.contracts.base import Contract
from loaders.contracts.figures import FIGURES_OF_LOCATION, FIGURES_OF_OWNER, USAGE_OF_LOCATION
from loaders.contracts.following import LOG_LEASES
from loaders.keys import LOG_SHARDS, log_shard
from loaders.pages import Page
from resolvers.bindings.base import (
    NULL_WITH_ERROR,
    Call,
    Charge,
    Execution,
    FieldStep,
    Reading,
    look_up_charge,
    rows_of,
)
from resolvers.bindings.lists import BoundPage, Lists, Pages
from resolvers.request_state import ArgumentContext, RequestState

_SHARDS = range(LOG_SHARDS)


class ShownLocationFigures(NamedTuple):
    location_id: LocationId
    counts: Mapping[str, int]
    as_of: Instant | None


class ShownOwnerFigures(NamedTuple):
    owner_id: OwnerId
    counts: Mapping[str, int]
    as_of: Instant | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LocationFiguresOf(Reading):
    """The figures of each location; zeros where nothing was counted yet."""

    when_null: ClassVar[str] = NULL_WITH_ERROR

    @property
    def contracts(self) -> tuple[Contract, ...]:
        return (FIGURES_OF_LOCATION, LOG_LEASES)

    def price(self, step: FieldStep, parents: int, bound: Any) -> list[Charge]:
        return [look_up_charge(FIGURES_OF_LOCATION, parents), *_lease_charges(step)]

    async def fetch(self, calls: Sequence[Call], execution: Execution) -> list[Any]:
        ids, path, request = self.row_keys(rows_of(calls)), calls[0].step.path, execution.request
        found = await request.loaders.of(FIGURES_OF_LOCATION).load_bulk([(one,) for one in ids], path)
        told = await _positions(calls, request)
        return [
            record if isinstance(record, Exception) else _shown(location_id, record, told)
            for location_id, record in zip(ids, found, strict=True)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class LocationFiguresPages(Pages):
    """A page of the figures of all locations."""

    @property
    def contracts(self) -> tuple[Contract, ...]:
        return (self.contract, LOG_LEASES)

    def price(self, step: FieldStep, parents: int, bound: BoundPage) -> list[Charge]:
        return [*Pages.price(self, step, parents, bound), *_lease_charges(step)]

    async def fetch(self, calls: Sequence[Call], execution: Execution) -> list[Any]:
        pages = await Pages.fetch(self, calls, execution)
        told = await _positions(calls, execution.request)
        return [
            page.with_nodes([_shown(node.location_id, node, told) for node in page.nodes])
            if isinstance(page, Page)
            else page
            for page in pages
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerFiguresOf(Reading):
    """The figures of each owner: the sum of those of all parts of the log."""

    when_null: ClassVar[str] = NULL_WITH_ERROR

    @property
    def contracts(self) -> tuple[Contract, ...]:
        return (FIGURES_OF_OWNER, LOG_LEASES)

    def price(self, step: FieldStep, parents: int, bound: Any) -> list[Charge]:
        return [look_up_charge(FIGURES_OF_OWNER, LOG_SHARDS * parents), *_lease_charges(step)]

    async def fetch(self, calls: Sequence[Call], execution: Execution) -> list[Any]:
        ids, path, request = self.row_keys(rows_of(calls)), calls[0].step.path, execution.request
        wanted = [(owner_id, shard) for owner_id in dict.fromkeys(ids) for shard in _SHARDS]
        records = await request.loaders.of(FIGURES_OF_OWNER).load_bulk(wanted, path)
        found = dict(zip(wanted, records, strict=True))
        told = await _positions(calls, request)
        return [_sum(owner_id, [found[owner_id, shard] for shard in _SHARDS], told) for owner_id in ids]


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageOf(Reading):
    """The usage of each location on every day of a window."""

    contract: Contract = USAGE_OF_LOCATION

    when_null: ClassVar[str] = NULL_WITH_ERROR

    def bind(self, values: Mapping[str, Any], request: ArgumentContext) -> tuple[Any, ...]:
        window = values["window"]
        check_calendar_window(window["from_"], window["to"])
        return window["from_"], window["to"]

    def price(self, step: FieldStep, parents: int, bound: Any) -> list[Charge]:
        return [look_up_charge(USAGE_OF_LOCATION, parents * count_days(*bound))]

    def price_key(self, bound: Any) -> Hashable:
        return count_days(*bound)

    def below(self, parents: int, bound: Any, type_name: str) -> int:
        return parents * count_days(*bound)

    async def fetch(self, calls: Sequence[Call], execution: Execution) -> list[Any]:
        asked = [(call.bound, key) for call in calls for key in self.row_keys(call.rows)]
        wanted = list(dict.fromkeys((day, key) for days, key in asked for day in days_between(*days)))
        records = await execution.request.loaders.of(USAGE_OF_LOCATION).load_bulk(wanted, calls[0].step.path)
        found = dict(zip(wanted, records, strict=True))
        return [_days([(day, key) for day in days_between(*days)], found) for days, key in asked]


@dataclass(frozen=True, slots=True, kw_only=True)
class DayPages(Pages):
    """A page of what all locations have on the day that an argument names."""

    def lists(self, values: Mapping[str, Any], request: ArgumentContext) -> Lists:
        return self.contract, ((values["date"],),)


def _lease_charges(step: FieldStep) -> list[Charge]:
    return [look_up_charge(LOG_LEASES, LOG_SHARDS)] if "as_of" in step.uses else []


async def _positions(calls: Sequence[Call], request: RequestState) -> list[Instant]:
    """Up to when everything in each part of the log was counted, if somebody wants to know."""
    if not any("as_of" in call.step.uses for call in calls):
        return [EARLIEST] * LOG_SHARDS
    leases = await request.loaders.of(LOG_LEASES).load_bulk([(shard,) for shard in _SHARDS], calls[0].step.path)
    return [lease.positions.get("figures", EARLIEST) if isinstance(lease, LogLease) else EARLIEST for lease in leases]


def _shown(location_id: LocationId, record: Any, told: Sequence[Instant]) -> ShownLocationFigures:
    as_of = told[log_shard(location_id)]
    if record is None:
        return ShownLocationFigures(location_id, {}, _known(as_of))
    return ShownLocationFigures(location_id, record.counts, _known(max(as_of, record.position)))


def _sum(owner_id: OwnerId, parts: Sequence[Any], told: Sequence[Instant]) -> ShownOwnerFigures | Exception:
    counts, as_of = Counter[str](), []
    for part, position in zip(parts, told, strict=True):
        if isinstance(part, Exception):
            return part
        as_of.append(position if part is None else max(position, part.position))
        counts.update({} if part is None else part.counts)
    return ShownOwnerFigures(owner_id, {name: number for name, number in counts.items() if number}, _known(min(as_of)))


def _days(keys: Sequence[tuple[Any, ...]], found: Mapping[tuple[Any, ...], Any]) -> list[LocationUsage] | Exception:
    rows = []
    for date, location_id in keys:
        record = found[date, location_id]
        if isinstance(record, Exception):
            return record
        empty = LocationUsage(location_id=location_id, date=date, position=EARLIEST, revision=0, counts={})
        rows.append(record or empty)
    return rows


def _known(instant: Instant) -> Instant | None:
    return None if instant == EARLIEST else instant
