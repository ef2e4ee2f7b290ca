"""Migrates an existing table to the current format: brings items that older versions and other programs wrote to it.

It scans the table, and is run from the command line; no request of the API reaches it. Servers refuse requests while
it converts. It may be interrupted and run again, and changes nothing twice: each change is conditioned on what was
read.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from domain.bookings import BookingStatus
from domain.errors import UnavailableError
from domain.models import LockerId
from domain.text import normalize_email
from domain.times import EARLIEST
from loaders import keys
from loaders.codecs import (
    ACCESS_EVENT,
    ACTIVE_POINTER,
    BOOKING,
    CALENDAR_CLAIM,
    CALENDAR_SLOT,
    EMAIL_CLAIM,
    EVENT_CLAIM,
    LOCATION,
    LOCATION_CODE,
    LOCKER,
    OLD_BOOKING,
    OLD_EVENT,
    OLD_USER,
    OWNER,
    OWNER_BOOKING,
    OWNER_LOCKER,
    RESERVATION,
    EmailClaim,
    OldBooking,
)
from loaders.contracts.maintenance import CONVERT_ITEM, MIGRATION_SCAN, UPGRADE_RESERVATIONS
from loaders.conversion import DamagedItemError
from loaders.reads.live_reservations import MovedError
from loaders.table.errors import TransactionRefusedError
from loaders.table.positions import Key
from loaders.table.retry import attempts
from loaders.table.values import Item, item_from_wire
from loaders.tools.conversions import booking_of, calendar_event_of, event_claim_of, owner_of_user
from loaders.tools.pace import Pace
from loaders.tools.table_state import being_migrated
from loaders.writes.booking_steps import slots_of_booking
from loaders.writes.lockers import location_copy, offers_of, owner_copy
from loaders.writes.upgrades import take_slots, unclaimed, upgrade_reservations

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from domain.bookings import CalendarSlot
    from domain.models import LocationId, Locker
    from domain.times import Instant
    from loaders.conversion import Codec
    from loaders.table.client import DynamoStore
    from loaders.table.operations import Step
    from loaders.table.positions import Position
    from loaders.table.values import WireItem

logger = logging.getLogger(__name__)

_key = Key.of_item
_AT_ONCE = 8
_ALL = 1_000_000
_CODECS: dict[str, Codec[Any]] = {
    codec.entity_type: codec
    for codec in (LOCKER, OWNER_LOCKER, RESERVATION, ACTIVE_POINTER, ACCESS_EVENT, LOCATION, LOCATION_CODE)
}
_NEEDS_LOCATION = frozenset({"Booking", "Event"})
_ADDED = {"RESERVATION_ACTIVE": "lastEndAt", "LOCKER": "reservableBy"}
"""Attributes that items of earlier versions lack. A locker without it may have no offers."""
_COPIES = frozenset({"OWNER_LOCKER", "LOCATION_LOCKER"})


@dataclass(frozen=True, slots=True)
class Migrated:
    """The progress of a migration: the items that were read, and those that were changed.

    `kinds` counts the items that have an older form, by their kind; `left` those of them that stay as they are: damaged
    ones, and those that need a location where none is given.
    """

    read: int = 0
    changed: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict, compare=False)
    left: int = field(default=0, compare=False)


def migration_cost(description: dict[str, Any]) -> str:
    """What a migration of the described table costs, in words."""
    return (
        f"{MIGRATION_SCAN.cost_text(description)}; "
        "each item of an older form takes up to 24 write units, each locker with older reservations a Query too"
    )


class Migration:
    """A migration of a table to the current format.

    `drained` returns when no server serves the table any more, and `location_id` is for bookings and calendar events
    that another program wrote without a location.
    """

    def __init__(
        self,
        store: DynamoStore,
        *,
        now: Instant,
        drained: Callable[[], Awaitable[None]],
        location_id: LocationId | None = None,
    ) -> None:
        self._store = store
        self._now = now
        self._drained = drained
        self._location_id = location_id
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._changes: dict[str, Callable[[Item], Awaitable[int]]] = {
            "LOCKER": self._convert_locker,
            "OWNER_LOCKER": self._convert_locker,
            "LOCATION_LOCKER": self._convert_locker,
            "RESERVATION": self._upgrade,
            "RESERVATION_ACTIVE": self._upgrade,
            "RESERVATION_GUARD": self._upgrade,
            "ACCESS_EVENT": self._convert_event,
            "LOCATION": self._rewrite_location,
            "LOCATION_CODE": self._rewrite_code,
            "User": self._convert_user,
            "Booking": lambda item: self._convert_booking(OLD_BOOKING.decode(item)),
            "Event": self._convert_calendar_event,
        }

    async def count(self, *, items_per_second: float, progress: Callable[[Migrated], None]) -> Migrated:
        """Counts what a migration would change, and changes nothing."""
        migrated, pace = Migrated(), Pace(items_per_second)
        async for page in MIGRATION_SCAN.pages(self._store):
            old = await self._old_of(page.items)
            left = sum(kind in _NEEDS_LOCATION and self._location_id is None for kind, _ in old)
            migrated = _plus(migrated, len(page.items), 0, old, left)
            progress(migrated)
            await pace.keep(len(page.items))
        return migrated

    async def run(self, *, items_per_second: float, progress: Callable[[Migrated], None]) -> Migrated:
        """Migrates the whole table, whatever its format; refuses a newer one, and a second migration."""
        migrated, pace = Migrated(), Pace(items_per_second)
        async with being_migrated(self._store, self._drained):
            async for page in MIGRATION_SCAN.pages(self._store):
                old = await self._old_of(page.items)
                changed, left = await self._change(old)
                migrated = _plus(migrated, len(page.items), changed, old, left)
                progress(migrated)
                await pace.keep(len(page.items))
        return migrated

    async def _old_of(self, items: Sequence[WireItem]) -> list[tuple[str, Item]]:
        """Those of the items that have an older form, with their kinds."""
        old: list[tuple[str, Item]] = []
        unsure: dict[Position, Item] = {}
        for wire in items:
            try:
                item = item_from_wire(wire)
            except TypeError:
                continue  # no program that we know writes such a value
            kind = _old_kind(item) or self._without_slot(item)
            if kind is not None:
                old.append((kind, item))
            elif item.get("entityType") == "RESERVATION" and "revision" not in item:
                unsure[_key(item)] = item
        found = [(key, RESERVATION.decode(item)) for key, item in unsure.items()]
        left = await unclaimed(self._store, UPGRADE_RESERVATIONS, found)
        return old + [("RESERVATION", unsure[key]) for key, _ in left]

    def _without_slot(self, item: Item) -> str | None:
        is_live = (item.get("entityType"), item.get("status")) == ("RESERVATION", "ACTIVE")
        return "RESERVATION" if is_live and "slot" not in item and str(item["endAt"]) > self._now else None

    async def _change(self, old: Sequence[tuple[str, Item]]) -> tuple[int, int]:
        """Changes items of older forms; returns how many were changed and how many were left as they are."""
        # An event of a booking follows its booking.
        events = [(kind, item) for kind, item in old if kind == "Event"]
        others = [(kind, item) for kind, item in old if kind != "Event"]
        first, second = await self._change_all(others), await self._change_all(events)
        return first[0] + second[0], first[1] + second[1]

    async def _change_all(self, old: Sequence[tuple[str, Item]]) -> tuple[int, int]:
        changes = {_group(kind, item): (kind, item) for kind, item in old}

        async def change(kind: str, item: Item) -> int | None:
            async with self._slots:
                try:
                    return await self._changes[kind](item)
                except DamagedItemError as damage:
                    logger.error("%s is left as it is: %s", keys.masked(_key(item)), damage)  # noqa: TRY400  # no bug
                    return None

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(change(kind, item)) for kind, item in changes.values()]
        done = [task.result() for task in tasks]
        return sum(count or 0 for count in done), done.count(None)

    async def _upgrade(self, item: Item) -> int:
        locker_id = _locker_id(item)
        async for _ in attempts(UPGRADE_RESERVATIONS.rounds):
            guard = await UPGRADE_RESERVATIONS.read(self._store, "guard", locker_id)
            try:
                changed = await upgrade_reservations(
                    self._store, UPGRADE_RESERVATIONS, locker_id, guard, self._now, most=_ALL, since=EARLIEST
                )
                return changed + await take_slots(self._store, UPGRADE_RESERVATIONS, locker_id, self._now)
            except MovedError:
                continue
        raise UnavailableError("Too many concurrent changes to a locker's reservations. Run the migration again.")

    async def _convert_locker(self, item: Item) -> int:
        """Rewrites a locker, its copies and its offers; a name that only the owner's copy has becomes the locker's."""
        locker_id = _locker_id(item)
        async for _ in attempts(CONVERT_ITEM.rounds):
            locker: Locker | None = await CONVERT_ITEM.read(self._store, "locker", locker_id)
            if locker is None:
                raise DamagedItemError("the locker of a copy does not exist")
            copy = await CONVERT_ITEM.read(self._store, "owner copy", locker.owner_id, locker_id)
            if locker.alias is None and copy is not None:
                locker = replace(locker, alias=copy.alias)
            steps = [
                CONVERT_ITEM.step("item", keys.locker(locker_id), LOCKER.encode(locker), readVersion=locker.version),
                CONVERT_ITEM.step("copy", keys.owner_locker(locker.owner_id, locker_id), owner_copy(locker)),
            ]
            if locker.location_id is not None:
                place = keys.location_locker(locker.location_id, locker_id)
                steps.append(CONVERT_ITEM.step("copy", place, location_copy(locker, locker.location_id)))
            steps += [
                CONVERT_ITEM.step("copy", keys.offer(*place), offer) for place, offer in offers_of(locker).items()
            ]
            if await self._sent(steps):
                return len(steps)
        raise UnavailableError("Too many concurrent changes to a locker. Run the migration again.")

    async def _convert_event(self, item: Item) -> int:
        event = ACCESS_EVENT.decode(item)
        place = keys.door_event(event.door, event.timestamp, event.event_id)
        claim = EVENT_CLAIM.encode(event_claim_of(event))
        steps = _moved(item, place, ACCESS_EVENT.encode(event))
        if await self._sent(
            [*steps, CONVERT_ITEM.step("claim", keys.door_event_claim(event.door, event.event_id), claim)]
        ):
            return 1
        return await self._required(steps)  # another event has the id; both stay

    async def _rewrite_location(self, item: Item) -> int:
        location = LOCATION.decode(item)
        gone = dict.fromkeys({"itemType", "locationCode", "addressComponents"} & item.keys())
        content = LOCATION.encode(location) | gone
        return await self._required([CONVERT_ITEM.step("item", _key(item), content, readVersion=location.version)])

    async def _rewrite_code(self, item: Item) -> int:
        gone = dict.fromkeys({"itemType", "locationCode"} & item.keys())
        content = LOCATION_CODE.encode(LOCATION_CODE.decode(item)) | gone
        return await self._required([CONVERT_ITEM.step("item", _key(item), content, readVersion=0)])

    async def _convert_user(self, item: Item) -> int:
        owner = owner_of_user(OLD_USER.decode(item))
        steps = _moved(item, keys.owner(owner.owner_id), OWNER.encode(owner))
        if owner.email is not None:
            claim = EMAIL_CLAIM.encode(EmailClaim(owner_id=owner.owner_id))
            steps.append(CONVERT_ITEM.step("claim", keys.email_claim(normalize_email(owner.email)), claim))
        return await self._required(steps)

    async def _convert_booking(self, old: OldBooking) -> int:
        status = old.current_status
        if status is None or self._location_id is None:
            raise DamagedItemError("its status is unknown, or no location is given for bookings")
        booking, content = booking_of(old, status, self._location_id)
        new = BOOKING.encode(booking) | {"fingerprint": content}
        slots = slots_of_booking(booking) if status is BookingStatus.APPROVED else []
        return await self._required(
            [
                CONVERT_ITEM.step("old item", keys.old_booking(booking.booking_id)),
                CONVERT_ITEM.step("new item", keys.booking(booking.booking_id), new),
                CONVERT_ITEM.step("copy", OWNER_BOOKING.key_of(booking), OWNER_BOOKING.encode(booking)),
                CONVERT_ITEM.step("old copy", keys.user_booking(booking.owner_id, booking.booking_id)),
                *map(_taking, slots),
            ]
        )

    async def _convert_calendar_event(self, item: Item) -> int:
        """An event of an approved booking is that booking; any other becomes an event of an administrator."""
        old = OLD_EVENT.decode(item)
        if self._location_id is None:
            raise DamagedItemError("no location is given for calendar events")
        removal = CONVERT_ITEM.step("old item", _key(item))
        if old.booking_id is not None:
            unconverted: OldBooking | None = await CONVERT_ITEM.read(self._store, "old booking", old.booking_id)
            if unconverted is not None:
                await self._convert_booking(unconverted)
            booking = await CONVERT_ITEM.read(self._store, "booking", old.booking_id)
            if booking is not None and booking.status is BookingStatus.APPROVED:
                return await self._required([removal])
        claim, slots = calendar_event_of(old, self._location_id)
        place = keys.calendar_claim(claim.location_id, claim.event_id)
        return await self._required(
            [removal, CONVERT_ITEM.step("claim", place, CALENDAR_CLAIM.encode(claim)), *map(_taking, slots)]
        )

    async def _sent(self, steps: Sequence[Step]) -> bool:
        try:
            await self._store.transact(CONVERT_ITEM.transact(*steps))
        except TransactionRefusedError:
            return False
        return True

    async def _required(self, steps: Sequence[Step]) -> int:
        try:
            await self._store.transact(CONVERT_ITEM.transact(*steps))
        except TransactionRefusedError as refusal:
            raise DamagedItemError(f"it changed, or what it becomes exists already ({refusal})") from None
        return 1


def _old_kind(item: Item) -> str | None:
    """The kind of an item of an older form; None for all others."""
    key = _key(item)
    kind = keys.kind_of(key)
    if item.get("entityType") in _COPIES and "GSI1PK" not in item:
        return str(item["entityType"])
    if item.get("entityType") == "RESERVATION_GUARD" and ("hasLive" not in item or "lacksEnded" in item):
        return "RESERVATION_GUARD"
    codec = None if kind is None else _CODECS.get(kind)
    if kind is None or codec is None:
        return kind
    if _ADDED.get(kind, "entityType") not in item:
        return kind
    if not codec.is_current(item):
        return kind
    return kind if _place(kind, codec.decode(item)) not in {None, key} else None


def _group(kind: str, item: Item) -> Key:
    """What is changed with an item: the reservations of a locker are changed together, and so are its copies."""
    if kind in {"RESERVATION", "RESERVATION_ACTIVE", "RESERVATION_GUARD"}:
        return keys.active_pointer(_locker_id(item))
    if kind in _COPIES:
        return keys.locker(_locker_id(item))
    return _key(item)


def _locker_id(item: Item) -> LockerId:
    key = _key(item)
    named = keys.named_by(keys.kind_of(key) or "", key) or item
    return LockerId(str(named.get("lockerId") or keys.locker_of(key.pk)))


def _place(kind: str, record: Any) -> Key | None:
    """Where a record belongs whose key has a time in it."""
    if kind == "RESERVATION":
        return keys.reservation(record.locker_id, record.start_at, record.reservation_id)
    if kind == "ACCESS_EVENT":
        return keys.door_event(record.door, record.timestamp, record.event_id)
    return None


def _plus(done: Migrated, read: int, changed: int, old: Sequence[tuple[str, Item]], left: int) -> Migrated:
    kinds = Counter(done.kinds) + Counter(kind for kind, _ in old)
    return Migrated(done.read + read, done.changed + changed, kinds, done.left + left)


def _moved(item: Item, place: Key, attributes: dict[str, Any]) -> list[Step]:
    """The steps that write an item anew, at its key or at another."""
    if place == _key(item):
        return [CONVERT_ITEM.step("item", place, attributes, readVersion=0)]
    return [CONVERT_ITEM.step("old item", _key(item)), CONVERT_ITEM.step("new item", place, attributes)]


def _taking(slot: CalendarSlot) -> Step:
    return CONVERT_ITEM.step("new item", CALENDAR_SLOT.key_of(slot), CALENDAR_SLOT.encode(slot))
