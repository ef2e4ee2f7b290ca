"""Brings a table to today's form: converts what earlier versions and other programs wrote.

It reads the whole table, and is run from the command line while no server serves the table. It can be interrupted at
any moment, and run again at any time: what has today's form already is not written.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from domain.access_codes import CodeRing
from domain.models import LocationId
from domain.times import Instant
from loaders import keys
from loaders.codecs import ACCESS_EVENT, LOCKER, LOG_ENTRY, OWNER, OWNER_BOOKING, REFERENCE_CLAIM, RESERVATION_CLAIM
from loaders.contracts.base import MAX_ITEMS
from loaders.contracts.maintenance import CONVERT_ITEMS, CONVERTED_BEFORE, MIGRATION_SCAN
from loaders.conversion import Codec
from loaders.table.client import DynamoStore
from loaders.table.errors import TransactionRefusedError
from loaders.table.positions import Key
from loaders.table.values import Item, any_item_from_wire, attributes_of
from loaders.tools.converted_bookings import convert_bookings, convert_records, create_missing_owners
from loaders.tools.converted_lockers import (
    Timelines,
    claim_on_event,
    convert_details,
    convert_events,
    convert_lockers,
    old_events,
)
from loaders.tools.declarations import KINDS, World
from loaders.tools.figures import convert_figures
from loaders.tools.kinds import damage_of, kind_at
from loaders.tools.pace import Pace
from loaders.tools.table_state import Mark, TableProblemError, being_migrated, overtaken
from loaders.tools.target import Group, Report, Target
from loaders.writes.owners import directory_of

if TYPE_CHECKING:
    from loaders.table.operations import Step

_MOST_STEPS = MAX_ITEMS - 1
"""How many items one transaction writes, beside the check of the mark."""
_MOST_BYTES = 3_000_000
"""How large they are together; the store takes 4 MB."""

_LISTED: dict[str, Codec[Any]] = {
    codec.entity_type: codec for codec in (OWNER, OWNER_BOOKING, LOCKER, RESERVATION_CLAIM, REFERENCE_CLAIM)
}


def migration_cost(description: dict[str, Any]) -> str:
    return f"{MIGRATION_SCAN.cost_text(description)}; each item that is written takes two write units for each KB"


class Migration:
    """A migration of a table to the current format.

    `location_id` is the location of bookings and calendar events that name none. Without the ring of the servers,
    recipients of reservations get no hashes.
    """

    def __init__(
        self,
        store: DynamoStore,
        *,
        items_per_second: float,
        progress: Callable[[Report], None],
        location_id: LocationId | None = None,
        ring: CodeRing | None = None,
    ) -> None:
        self._store = store
        self._pace = Pace(items_per_second)
        self._progress = progress
        self._location_id = location_id
        self._ring = ring

    async def count(self, now: Instant) -> Report:
        """Counts what a migration would change, and changes nothing."""
        await self._check_location()
        return await self._convert(now)

    async def run(self, now: Instant, drained: Callable[[], Awaitable[None]]) -> Report:
        """Migrates the whole table, whatever its format; refuses a newer one, and a second migration.

        `drained` returns when no server serves the table any more.
        """
        await self._check_location()
        async with being_migrated(self._store, now, drained) as mark:
            return await self._convert(mark.began, mark)

    async def _check_location(self) -> None:
        """Refuses a location that does not exist before anything is marked or written."""
        if self._location_id is not None and not await CONVERTED_BEFORE.read(
            self._store, [keys.location(self._location_id)]
        ):
            raise TableProblemError(f"location {self._location_id} does not exist: create it first, or name another")

    async def _convert(self, began: Instant, mark: Mark | None = None) -> Report:
        """Access events are converted page by page; all other items are held in memory: they depend on one another."""
        report, is_logged = Report(), False
        items: list[Item] = []
        async for page in MIGRATION_SCAN.pages(self._store):
            found = [any_item_from_wire(item) for item in page.items]
            events = Target([item for item in found if _is_event(item)], report, began)
            logged = [item for item in found if item.get("entityType") == LOG_ENTRY.entity_type]
            is_logged = is_logged or bool(logged)
            items += [item for item in found if not _is_event(item) and item.get("entityType") != LOG_ENTRY.entity_type]
            report.read += len(found)
            await self._convert_events(events)
            await self._finish(events, report, mark)
            await self._pace.keep(len(found))
        target = Target(items, report, began, self._location_id)
        target.is_logged = is_logged
        convert(target, self._ring)
        await self._finish(target, report, mark)
        return report

    async def _convert_events(self, target: Target) -> None:
        """Converts the events of a page; what they become may be elsewhere in the table already."""
        events = old_events(target)
        wanted = {*events, *(claim_on_event(target, key) for sources in events.values() for key in sources)}
        found = await CONVERTED_BEFORE.read(self._store, sorted(wanted - target.items.keys()))
        target.add(map(any_item_from_wire, found.values()))
        convert_events(target, events)

    async def _finish(self, target: Target, report: Report, mark: Mark | None) -> None:
        """Reports what the items become and, if the table is marked, writes it.

        One transaction follows another: all check the mark, and the store refuses such checks at the same time.
        """
        target.describe()
        self._progress(report)
        if mark is None:
            return
        for steps in _packed(target.groups):
            check = CONVERT_ITEMS.step("mark", (), markedRevision=mark.revision)
            try:
                await self._store.transact(CONVERT_ITEMS.transact(check, *steps))
            except TransactionRefusedError:
                raise overtaken(self._store) from None
            report.written += len(steps)
            self._progress(report)
            await self._pace.keep(len(steps))


def convert(target: Target, ring: CodeRing | None = None) -> None:
    """Converts all items but access events."""
    convert_records(target)
    convert_lockers(target)
    Timelines(target).convert()
    convert_details(target, ring)
    convert_bookings(target)
    create_missing_owners(target)
    _convert_lists(target)
    convert_figures(target)


def _convert_lists(target: Target) -> None:
    """Gives owners, bookings and claims their places in the index, and what is found by lists of its own its items.

    Other items got their places with what else was converted.
    """
    world = World(target.items.get, target.now)
    for key, item in [*target.items.items()]:
        codec = _LISTED.get(str(item.get("entityType")))
        if codec is None or key in target.left or kind_at(key, item) != codec.entity_type or damage_of(key, item):
            continue
        record = codec.decode(item)
        if codec is not LOCKER:
            more = directory_of(record) if codec is OWNER else {}
            target.change({key: attributes_of(item) | codec.index(record), **more})
        elif record.overdue_since is not None:
            place = keys.overdue_stay(record.locker_id)
            due = KINDS[codec.entity_type].leads(record, world).get(place)
            if due is not None:
                target.change({place: due.attributes})


def _is_event(item: Item) -> bool:
    return kind_at(Key.of_item(item), item) == ACCESS_EVENT.entity_type


def _packed(groups: Iterable[Group]) -> Iterator[list[Step]]:
    """The steps of the groups, those of several groups together. Of two steps for one item, the later one decides."""
    packed: dict[Key, Step] = {}
    size = 0
    for group in groups:
        added = sum(len(repr(attributes).encode()) for attributes in group.values())
        is_full = len(packed) + len(group) > _MOST_STEPS or size + added > _MOST_BYTES
        if packed and is_full:
            yield [*packed.values()]
            packed, size = {}, 0
        size += added
        for key, attributes in group.items():
            packed[key] = CONVERT_ITEMS.step("item" if attributes is not None else "old item", key, attributes)
    if packed:
        yield [*packed.values()]
