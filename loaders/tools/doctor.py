"""Looks for violated invariants in the table, and repairs them while servers run.

What is found is read again before it is reported: a change that was under way looks like a violation for a moment. A
repair is a transaction that holds only if the items are as they were read; if one is refused, everything is read
again.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from domain.access_codes import CodeRing
from domain.bookings import BookingId
from domain.models import LocationId, LockerId, OwnerId
from domain.times import EARLIEST, Instant
from loaders import keys
from loaders.codecs import ACCESS_EVENT, ACTIVITY, EVENT_CLAIM, LOG_ENTRY, LOG_LEASE
from loaders.contracts.doctor import DOCTOR_ITEMS, DOCTOR_RANGES, DOCTOR_SCAN
from loaders.table.client import DynamoStore
from loaders.table.errors import TransactionRefusedError
from loaders.table.positions import Key
from loaders.table.retry import pause
from loaders.table.values import Item, WireItem, any_item_from_wire
from loaders.tools.declarations import KINDS, World
from loaders.tools.expiry import is_expired
from loaders.tools.figures import adjusted, counted_until
from loaders.tools.findings import Finding
from loaders.tools.invariants import table_violations, violations
from loaders.tools.kinds import RATE, damage_of, kind_read_at, label_of
from loaders.tools.pace import Pace
from loaders.tools.transfer import exported_items

full_scan_cost = DOCTOR_SCAN.cost_text
_CONFIRMATIONS = 3
_ROUNDS = 24
_MANY = frozenset({ACCESS_EVENT.entity_type, ACTIVITY.entity_type})
"""The kinds of which a table can have more than fit in memory."""


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
    """The items of a whole table that are checked.

    Of access events and activities, one of each partition is held; of the claims on event ids, those whose event was
    not seen; of the log, what figures may not include yet.
    """

    def __init__(self) -> None:
        self.read = 0
        self.unknown: Counter[str] = Counter()
        """Items of kinds that no request reads."""
        self.expired = 0
        """Items whose time to live has passed."""
        self.unfollowed: list[int] = []
        """Parts of the log that nobody follows."""
        self._items: list[Item] = []
        self._claims: dict[Key, Item] = {}
        self._leases: dict[Key, Item] = {}
        self._with_many: set[tuple[str, str]] = set()

    def add(self, items: Iterable[WireItem], now: Instant) -> None:
        """Takes items of the table."""
        for item in map(any_item_from_wire, items):
            self.read += 1
            key = Key.of_item(item)
            if is_expired(item, now):
                self.expired += 1
                continue
            kind = kind_read_at(key, item)
            if kind is None:
                self.unknown[label_of(item)] += 1
            elif damage_of(key, item) is not None or "GSI1PK" in item:
                self._items.append(item)
            elif kind == EVENT_CLAIM.entity_type:
                (event,) = KINDS[kind].refers(EVENT_CLAIM.decode(item), key)
                self._claims[event] = item
            elif kind in _MANY:
                self._claims.pop(key, None)
                if (kind, key.pk) not in self._with_many:
                    self._items.append(item)
                self._with_many.add((kind, key.pk))
            elif kind == LOG_LEASE.entity_type:
                self._leases.setdefault(key, item)
            elif kind != RATE and (kind != LOG_ENTRY.entity_type or _is_untold(item, now)):
                self._items.append(item)

    def counted_until(self, shard: int) -> Instant:
        """Up to when figures include everything in a part of the log, by the first that was seen of its lease."""
        lease = self._leases.get(keys.log_lease(shard))
        return EARLIEST if lease is None else counted_until(LOG_LEASE.decode(lease))

    def add_log(self, shard: int, entries: Iterable[WireItem]) -> None:
        """Takes those entries of a part of the log that figures may not include yet."""
        start = self.counted_until(shard)
        found = map(any_item_from_wire, entries)
        self._items += [item for item in found if keys.log_stamp_of(str(item["SK"])) > start]

    def violations(self, now: Instant, ring: CodeRing | None = None) -> list[Finding]:
        """The violations, once all items were taken."""
        return table_violations([*self._items, *self._claims.values(), *self._leases.values()], now, ring)


def _is_untold(entry: Item, now: Instant) -> bool:
    """Whether something is wrong with an entry of the log, of which there are too many to hold all."""
    return any(KINDS[LOG_ENTRY.entity_type].problems(LOG_ENTRY.decode(entry), World(lambda _: None, now)))


def check_export_file(path: Path, now: Instant, ring: CodeRing | None = None) -> tuple[list[Finding], Table]:
    """The violations in an exported table."""
    table = Table()
    table.add(exported_items(path), now)
    for shard in range(keys.LOG_SHARDS):
        partition = keys.log_entries(shard).pk
        table.add_log(shard, (item for item in exported_items(path) if item["PK"]["S"] == partition))
    return table.violations(now, ring), table


class Doctor:
    """Checks and repairs a table. The ring, if there is one, tells which digits access codes have."""

    def __init__(self, store: DynamoStore, clock: Callable[[], Instant], ring: CodeRing | None = None) -> None:
        self._store = store
        self._clock = clock
        self._ring = ring

    async def missing(self, records: Records) -> list[Key]:
        """The records that do not exist."""
        found = await DOCTOR_ITEMS.read(self._store, records.keys)
        return [key for key in records.keys if key not in found]

    async def check(self, records: Records) -> list[Finding]:
        """The violations around these records."""
        return await self._confirmed(await self._check([], [key.pk for key in records.keys]))

    async def check_table(
        self, *, items_per_second: float, progress: Callable[[int], None]
    ) -> tuple[list[Finding], Table]:
        """The violations in the whole table; its items, without access events, are held in memory.

        The leases of the log are read first and the log last: see `loaders.tools.figures`.
        """
        pace, table = Pace(items_per_second), Table()
        leases = await DOCTOR_ITEMS.read(self._store, [keys.log_lease(shard) for shard in range(keys.LOG_SHARDS)])
        table.add(leases.values(), self._clock())
        table.read = 0
        async for page in DOCTOR_SCAN.pages(self._store):
            table.add(page.items, self._clock())
            progress(table.read)
            await pace.keep(len(page.items))
        for shard in range(keys.LOG_SHARDS):
            wanted = DOCTOR_RANGES.items(self._store, keys.log_entries, shard, table.counted_until(shard))
            table.add_log(shard, [item async for item in wanted])
        return await self._confirmed(table.violations(self._clock(), self._ring)), table

    async def repair(self, findings: list[Finding]) -> list[Finding]:
        """Repairs what can be repaired, and returns what is left.

        What was repaired is checked with its partition, since other items depend on it.
        """
        figures = [finding for finding in findings if finding.offset is not None and not await self._adjust(finding)]
        left, changed = [finding for finding in findings if finding.offset is None], list[Key]()
        for attempt in range(_ROUNDS):
            await pause(attempt)
            left = await self._again(left, changed)
            changed = [finding.key for finding in left if finding.repair is not None]
            repairs = [finding.repair for finding in left if finding.repair is not None]
            if not repairs:
                break
            for repair in repairs:
                try:
                    await self._store.transact(repair)
                except TransactionRefusedError:
                    continue  # a server changed it, or another repair did: the next round reads it again
        return [*figures, *await self._confirmed(left)]

    async def _adjust(self, finding: Finding) -> bool:
        """Repairs figures, which may change at any time; returns whether it could."""
        repair = finding.repair
        for attempt in range(_ROUNDS):
            await pause(attempt)
            try:
                assert repair is not None  # noqa: S101  # figures can always be repaired
                await self._store.transact(repair)
            except TransactionRefusedError:
                (item,) = (await DOCTOR_ITEMS.read(self._store, [finding.key])).values() or (None,)
                repair = adjusted(finding, None if item is None else any_item_from_wire(item))
            else:
                return True
        return False

    async def _confirmed(self, findings: list[Finding]) -> list[Finding]:
        """Those that are found every time. What is wrong with figures is known for sure."""
        figures = [finding for finding in findings if finding.offset is not None]
        findings = [finding for finding in findings if finding.offset is None]
        for attempt in range(_CONFIRMATIONS):
            await pause(attempt)
            if not findings:
                break
            again = set(await self._again(findings))
            findings = [finding for finding in findings if finding in again]
        return sorted([*findings, *figures], key=lambda finding: (finding.key, finding.problem))

    async def _again(self, findings: list[Finding], changed: Iterable[Key] = ()) -> list[Finding]:
        """Repeats the checks of these findings, and checks changed items, on the items as they are now."""
        subjects = [finding.subject for finding in findings if finding.partition is None]
        partitions = [finding.partition for finding in findings if finding.partition is not None]
        partitions += [key.pk for key in changed if keys.record_of(key.pk) is not None]
        return await self._check(subjects + list(changed), partitions)

    async def _check(self, subjects: list[Key], partitions: list[str]) -> list[Finding]:
        """Checks these items and these whole partitions; reads the items that they depend on."""
        known = _Known()
        whole = {name: await self._partition(known, name) for name in dict.fromkeys(partitions)}
        await self._fetch(known, list(dict.fromkeys(subjects)))
        checked = {Key.of_item(item): item for item in chain(*whole.values())}
        checked |= {key: item for key in subjects if (item := known.items[key]) is not None}
        while True:
            found = violations(checked.values(), whole, World(known.get, self._clock()), self._ring)
            if not known.wanted:
                return found
            wanted = list(known.wanted)
            known.wanted.clear()
            await self._fetch(known, wanted)

    async def _partition(self, known: _Known, name: str) -> list[Item]:
        """The items of a partition. What orders its writes is read first: if that is old, a repair is refused."""
        await self._fetch(known, keys.ordering(name))
        found: list[Item] = []
        for stretch in keys.stretches(name):
            read = [any_item_from_wire(item) async for item in DOCTOR_RANGES.items(self._store, keys.stretch, *stretch)]
            found += [item for item in read if keys.is_counted_in(name, item)]
        new: dict[Key, Item | None] = {Key.of_item(item): item for item in found}
        known.items = new | known.items
        return [item for key in map(Key.of_item, found) if (item := known.items[key]) is not None]

    async def _fetch(self, known: _Known, wanted: list[Key]) -> None:
        found = await DOCTOR_ITEMS.read(self._store, wanted)
        known.items |= {key: any_item_from_wire(found[key]) if key in found else None for key in wanted}
