"""Looks for violated invariants in the table, and repairs them while servers run.

What is found is read again before it is reported: a change that was under way looks like a violation for a moment. A
repair is a transaction that holds only if the records are as they were read; if one is refused, everything is read
again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from loaders import keys
from loaders.contracts.doctor import DOCTOR_ITEMS, DOCTOR_RANGES, DOCTOR_SCAN
from loaders.table.errors import TransactionRefusedError
from loaders.table.positions import Key
from loaders.table.retry import attempts
from loaders.table.values import Item, WireItem, any_item_from_wire
from loaders.tools.expiry import is_expired
from loaders.tools.invariants import is_checked, table_violations, violations
from loaders.tools.kinds import kind_read_at, label_of
from loaders.tools.pace import Pace
from loaders.tools.transfer import exported_items

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable
    from pathlib import Path

    from domain.bookings import BookingId
    from domain.models import LocationId, LockerId, OwnerId
    from domain.times import Instant
    from loaders.table.client import DynamoStore
    from loaders.tools.findings import Finding

full_scan_cost = DOCTOR_SCAN.cost_text
_key = Key.of_item
_CONFIRMATIONS = 3
_ROUNDS = 24


@dataclass(frozen=True, slots=True)
class Records:
    """The records to check."""

    lockers: tuple[LockerId, ...] = ()
    owners: tuple[OwnerId, ...] = ()
    locations: tuple[LocationId, ...] = ()
    bookings: tuple[BookingId, ...] = ()

    @property
    def keys(self) -> list[Key]:
        """The keys of the records themselves, each once."""
        wanted = [
            *map(keys.locker, self.lockers),
            *map(keys.owner, self.owners),
            *map(keys.location, self.locations),
            *map(keys.booking, self.bookings),
        ]
        return list(dict.fromkeys(wanted))


@dataclass(slots=True)
class _Known:
    """The items that were read, and the keys that a check asked for beyond them."""

    items: dict[Key, Item | None] = field(default_factory=dict)
    wanted: dict[Key, None] = field(default_factory=dict)

    def get(self, key: Key) -> Item | None:
        if key not in self.items:
            self.wanted[key] = None
        return self.items.get(key)


class Table:
    """The items of a whole table that are checked; access events and others without an invariant are only counted."""

    def __init__(self) -> None:
        self.read = 0
        self.unknown: Counter[str] = Counter()
        """Items of kinds that no request reads."""
        self.expired = 0
        """Items whose time to live has passed."""
        self._items: list[Item] = []

    def add(self, items: Iterable[WireItem], now: Instant) -> None:
        """Takes items of the table."""
        for item in map(any_item_from_wire, items):
            self.read += 1
            self.expired += is_expired(item, now)
            if kind_read_at(_key(item), item) is None:
                self.unknown[label_of(item)] += 1
            elif is_checked(item):
                self._items.append(item)

    def violations(self, now: Instant) -> list[Finding]:
        """The violations, once all items were taken."""
        return table_violations(self._items, now)


def check_export_file(path: Path, now: Instant) -> tuple[list[Finding], Table]:
    """The violations in an exported table."""
    table = Table()
    table.add(exported_items(path), now)
    return table.violations(now), table


class Doctor:
    """Checks and repairs a table."""

    def __init__(self, store: DynamoStore, clock: Callable[[], Instant]) -> None:
        self._store = store
        self._clock = clock

    async def missing(self, records: Records) -> list[Key]:
        """The records that do not exist."""
        found = await DOCTOR_ITEMS.read(self._store, records.keys)
        return [key for key in records.keys if key not in found]

    async def check(self, records: Records) -> list[Finding]:
        """The violations around these records."""
        known = _Known()
        timelines = await self._timelines(known, records.lockers)
        bookings = await self._bookings(known, records.owners)
        subjects = [
            *map(any_item_from_wire, (await DOCTOR_ITEMS.read(self._store, records.keys)).values()),
            *[any_item_from_wire(item) async for item in self._lists(records)],
            *chain.from_iterable(timelines.values()),
            *chain.from_iterable(bookings.values()),
        ]
        return await self._confirmed(await self._violations(known, subjects, timelines, bookings))

    async def check_table(
        self, *, items_per_second: float, progress: Callable[[int], None]
    ) -> tuple[list[Finding], Table]:
        """The violations in the whole table; its items, without access events, are held in memory."""
        pace, table = Pace(items_per_second), Table()
        async for page in DOCTOR_SCAN.pages(self._store):
            table.add(page.items, self._clock())
            progress(table.read)
            await pace.keep(len(page.items))
        return await self._confirmed(table.violations(self._clock())), table

    async def repair(self, findings: list[Finding]) -> list[Finding]:
        """Repairs what can be repaired, and returns what is left."""
        left = findings
        async for _ in attempts(_ROUNDS):
            left = await self._again(left)
            repairs = [finding.repair for finding in left if finding.repair is not None]
            if not repairs:
                break
            for repair in repairs:
                try:
                    await self._store.transact(repair)
                except TransactionRefusedError:
                    continue  # a server changed it, or another repair did: the next round reads it again
        return await self._confirmed(left)

    async def _confirmed(self, findings: list[Finding]) -> list[Finding]:
        """Those that are found every time."""
        async for _ in attempts(_CONFIRMATIONS):
            if not findings:
                break
            again = set(await self._again(findings))
            findings = [finding for finding in findings if finding in again]
        return findings

    async def _again(self, findings: list[Finding]) -> list[Finding]:
        """Repeats the checks of these findings on the items as they are now."""
        subjects = list(dict.fromkeys(one.subject for one in findings if one.timeline is None and one.owner is None))
        timelines = tuple(dict.fromkeys(finding.timeline for finding in findings if finding.timeline is not None))
        known = _Known()
        by_locker = await self._timelines(known, timelines)
        by_owner = await self._bookings(known, tuple(dict.fromkeys(one.owner for one in findings if one.owner)))
        items = await DOCTOR_ITEMS.read(self._store, subjects) if subjects else {}
        return await self._violations(known, [any_item_from_wire(item) for item in items.values()], by_locker, by_owner)

    async def _timelines(self, known: _Known, lockers: Iterable[LockerId]) -> dict[LockerId, list[Item]]:
        """The reservations of these lockers. Their guard is read first: if it is old, a repair fails."""
        timelines: dict[LockerId, list[Item]] = {}
        for locker_id in lockers:
            pointer = keys.active_pointer(locker_id)
            await self._fetch(known, [keys.reservation_guard(locker_id), pointer])
            found = {
                _key(item): item
                for item in [
                    any_item_from_wire(item)
                    for within in (keys.locker_timeline, keys.live_reservations)
                    async for item in DOCTOR_RANGES.items(self._store, within, locker_id)
                ]
            }
            known.items |= found
            timelines[locker_id] = [item for key, item in found.items() if key != pointer]
        return timelines

    async def _bookings(self, known: _Known, owners: Iterable[OwnerId]) -> dict[OwnerId, list[Item]]:
        """The copies of these owners' bookings. Their counter is read first: if it is old, a repair fails."""
        bookings: dict[OwnerId, list[Item]] = {}
        for owner_id in owners:
            await self._fetch(known, [keys.pending_count(owner_id)])
            copies = DOCTOR_RANGES.items(self._store, keys.owner_bookings, owner_id)
            bookings[owner_id] = [any_item_from_wire(item) async for item in copies]
        return bookings

    async def _violations(
        self,
        known: _Known,
        subjects: list[Item],
        timelines: dict[LockerId, list[Item]],
        bookings: dict[OwnerId, list[Item]],
    ) -> list[Finding]:
        """Checks these items; reads the items that they depend on."""
        known.items |= {_key(item): item for item in subjects}
        while True:
            found = violations(subjects, timelines, bookings, known.get, self._clock())
            if not known.wanted:
                return found
            wanted = list(known.wanted)
            known.wanted.clear()
            await self._fetch(known, wanted)

    async def _fetch(self, known: _Known, wanted: list[Key]) -> None:
        found = await DOCTOR_ITEMS.read(self._store, wanted)
        known.items |= {key: any_item_from_wire(found[key]) if key in found else None for key in wanted}

    async def _lists(self, records: Records) -> AsyncIterator[WireItem]:
        """The items that belong to the records, except the reservations of lockers and the bookings of owners."""
        for ids, ranges in (
            (records.lockers, (keys.reservation_claims,)),
            (
                records.owners,
                (
                    keys.owner_lockers,
                    keys.owner_reservations,
                    keys.reservation_slots,
                    keys.reservation_references,
                ),
            ),
            (records.locations, (keys.location_lockers, keys.location_offers, keys.location_days)),
        ):
            for record_id in ids:
                for within in ranges:
                    async for item in DOCTOR_RANGES.items(self._store, within, record_id):
                        yield item
