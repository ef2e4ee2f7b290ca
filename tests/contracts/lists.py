"""An example of every list that is read in pages, and the items that stand beside lists and must not be in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from domain.access_codes import CodeId, reservation_purpose
from domain.api_keys import ApiKeyId
from domain.bookings import BookingStatus, DaySlot
from domain.models import EventId, LocationStatus, LockerSize, LockerStatus, ReservableBy, ReservationId, door_of
from domain.times import EARLIEST, FIRST_DAY, LAST_DAY, LATEST, Day
from loaders import keys
from loaders.contracts.reading import ReadPage
from loaders.contracts.registry import CONTRACTS
from loaders.table.keys import IndexKey, Key
from tests.contracts.samples import LONGEST, NOON, SHORT, at, day, record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from loaders.contracts.base import Order
    from loaders.pages import Page, PageRequest
    from loaders.table.client import Store
    from loaders.table.keys import Position
    from tests.contracts.samples import Names

Item = tuple[Key, "Mapping[str, Any]"]
NAMES = LONGEST
PAGED: dict[str, ReadPage[Any]] = {
    contract.id: contract
    for contract in CONTRACTS.values()
    if isinstance(contract, ReadPage) and contract.page_rule.look_ahead
}
_STATUS = LockerStatus.MAINTENANCE
_INDEX_NAME = "GSI1PK"


@dataclass(frozen=True, kw_only=True)
class ListExample:
    """One list: the arguments of its range, the field that identifies its items, and the position of an item."""

    contract: ReadPage[Any]
    arguments: tuple[Any, ...]
    id_field: str
    key: Callable[[Any], Key]
    index: Callable[[Any], dict[str, str]] = lambda _: {}
    given: Mapping[str, Any] = field(default_factory=dict)
    stored: dict[str, Any] = field(default_factory=dict)
    """Attributes that items have beside those of their records."""

    def item(self, number: int, *, longest: bool = False) -> Item:
        """The nth item in ascending order."""
        codec = self.contract.codec
        one = record(codec._model, number, longest=longest, **{**self.given, self.id_field: self.name(number)})  # noqa: SLF001
        return self.key(one), codec.encode(one) | self.index(one) | self.stored

    def name(self, number: int) -> str:
        """The id of the nth item."""
        return f"{number:026d}" if self.id_field == "location_id" else f"{number:064d}"

    def name_of(self, one: Any) -> str:
        """The id of a record."""
        return str(getattr(one, self.id_field))

    def position(self, number: int) -> Position:
        """Where the nth item stands in the list."""
        key, attributes = self.item(number)
        return IndexKey(*key, attributes[_INDEX_NAME], attributes["GSI1SK"]) if self.index_name else key

    @property
    def index_name(self) -> str | None:
        """The index that the list reads, if not the table itself."""
        return self.contract.range(*self.arguments).index

    @property
    def has_window(self) -> bool:
        """Whether the list can be narrowed to a time window."""
        return self.widest != ()

    @property
    def widest(self) -> tuple[Any, ...]:
        """The bounds of the widest window of the list."""
        if self.contract.range in {
            keys.locker_reservations,
            keys.live_reservations,
            keys.locker_events,
            keys.location_events,
            keys.owner_reservations,
        }:
            return EARLIEST, LATEST
        return (FIRST_DAY, LAST_DAY) if self.contract.range is keys.owner_bookings else ()

    def moment(self, number: int) -> str:
        """The time or day of the nth item, by which windows narrow the list."""
        return day(number) if self.widest == (FIRST_DAY, LAST_DAY) else at(number)

    async def read(self, store: Store, request: PageRequest, order: Order, *window: Any) -> Page[Any]:
        """Reads a page."""
        bounds = window or self.widest
        return await self.contract.page(store, request, order, *self.arguments, *bounds)


def _list(contract_id: str, *arguments: Any, **example: Any) -> ListExample:
    return ListExample(contract=PAGED[contract_id], arguments=arguments, **example)


_FINGERPRINT = {"fingerprint": "f" * 64}
_COPY: dict[str, Any] = {"id_field": "locker_id", "given": {"owner_id": NAMES.owner, "status": _STATUS}}
_BY_OWNER: dict[str, Any] = _COPY | {
    "key": lambda copy: keys.owner_locker(NAMES.owner, copy.locker_id),
    "index": lambda copy: keys.owner_locker_index(NAMES.owner, _STATUS, copy.locker_id),
}
_AT_LOCATION: dict[str, Any] = _COPY | {
    "key": lambda copy: keys.location_locker(NAMES.location, copy.locker_id),
    "index": lambda copy: keys.location_locker_index(NAMES.location, _STATUS, copy.locker_id),
}
_OFFERED: dict[str, Any] = {
    "id_field": "locker_id",
    "given": {"owner_id": NAMES.owner, "size": LockerSize.XL},
    "key": lambda offer: keys.offer(
        NAMES.location, ReservableBy.MEMBERS, NAMES.owner, offer.size, "0000", offer.locker_id
    ),
}
_AUDIENCE = (NAMES.location, ReservableBy.MEMBERS, NAMES.owner)
_RESERVED: dict[str, Any] = {
    "id_field": "reservation_id",
    "given": {"locker_id": NAMES.locker, "owner_id": NAMES.owner},
}
_PURPOSE = reservation_purpose(NAMES.locker, NAMES.reservation)
_CODE: dict[str, Any] = {
    "id_field": "code_id",
    "given": {"locker_id": NAMES.locker, "location_id": None},
    "stored": _FINGERPRINT,
}
LISTS: dict[str, ListExample] = {
    example.contract.id: example
    for example in (
        _list("QC-02", NAMES.owner, **_BY_OWNER),
        _list("QC-17", NAMES.owner, _STATUS, **_BY_OWNER),
        _list("QC-34", NAMES.location, **_AT_LOCATION),
        _list("QC-37", *_AUDIENCE, **_OFFERED),
        _list("QC-38", *_AUDIENCE, LockerSize.XL, **_OFFERED),
        _list("QC-35", NAMES.location, _STATUS, **_AT_LOCATION),
        _list(
            "QC-05",
            NAMES.locker,
            key=lambda one: keys.reservation(NAMES.locker, one.start_at, one.reservation_id),
            **_RESERVED,
        ),
        _list(
            "QC-85",
            NAMES.locker,
            key=lambda one: keys.live_reservation(NAMES.locker, one.start_at, one.reservation_id),
            **_RESERVED,
        ),
        _list(
            "QC-14",
            NAMES.owner,
            key=lambda one: keys.owner_reservation(NAMES.owner, one.start_at, one.reservation_id),
            **_RESERVED,
        ),
        _list(
            "QC-09",
            NAMES.locker,
            id_field="event_id",
            key=lambda event: keys.event(NAMES.locker, event.timestamp, event.event_id),
            given={"locker_id": NAMES.locker, "location_id": None},
        ),
        _list(
            "QC-114",
            NAMES.location,
            id_field="event_id",
            key=lambda event: keys.door_event(event.door, event.timestamp, event.event_id),
            given={"locker_id": None, "location_id": NAMES.location},
        ),
        _list(
            "QC-32",
            LocationStatus.ACTIVE,
            id_field="location_id",
            key=lambda place: keys.location(place.location_id),
            index=lambda place: keys.location_index(place.status, place.created_at, place.location_id),
            given={"status": LocationStatus.ACTIVE},
            stored=_FINGERPRINT,
        ),
        _list(
            "QC-42",
            id_field="booking_id",
            key=lambda booking: keys.booking(booking.booking_id),
            index=lambda booking: keys.pending_index(booking.requested_at, booking.booking_id),
            given={"status": BookingStatus.PENDING, "reason": None, "decided_by": None, "decided_by_subject": None},
            stored=_FINGERPRINT,
        ),
        _list(
            "QC-45",
            NAMES.owner,
            id_field="booking_id",
            key=lambda booking: keys.owner_booking(NAMES.owner, booking.date, booking.booking_id),
            given={"owner_id": NAMES.owner, "location_id": NAMES.location},
        ),
        _list(
            "QC-47",
            NAMES.booking,
            id_field="payment_id",
            key=lambda payment: keys.payment(NAMES.booking, payment.payment_id),
            given={"booking_id": NAMES.booking},
            stored=_FINGERPRINT,
        ),
        _list(
            "QC-48",
            NAMES.owner,
            id_field="notification_id",
            key=lambda reported: keys.notification(NAMES.owner, reported.created_at, reported.notification_id),
            given={"owner_id": NAMES.owner, "booking_id": NAMES.booking},
        ),
        _list(
            "QC-63",
            id_field="key_id",
            key=lambda api_key: keys.api_key(api_key.key_id),
            index=lambda api_key: keys.api_key_index(api_key.created_at, api_key.key_id),
            stored=_FINGERPRINT,
        ),
        _list(
            "QC-101",
            NAMES.locker,
            key=lambda code: keys.access_code(code.door, code.code_id),
            index=lambda code: keys.purpose_index("purpose", code.code_id),
            **_CODE,
        ),
        _list(
            "QC-102",
            _PURPOSE,
            key=lambda code: keys.access_code(code.door, code.code_id),
            index=lambda code: keys.purpose_index(_PURPOSE, code.code_id),
            **_CODE,
        ),
    )
}


def neighbours(example: ListExample) -> list[Position]:
    """A position of every kind, in the list's own partition and elsewhere, but for the list's own."""
    within = example.contract.range(*example.arguments)
    crowd: list[Position] = [
        *_positions(NAMES),
        *_positions(SHORT),
        *(other.position(1) for other in LISTS.values() if other.index_name),
        IndexKey("LOCATION#2", "META", "LOCATION#INACTIVE", f"{NOON}#2"),
    ]
    return [position for position in crowd if position not in within]


def _positions(names: Names) -> list[Key]:
    reservation, event, date = ReservationId("r"), EventId("e"), Day("2026-03-01")
    return [
        keys.locker(names.locker),
        keys.active_pointer(names.locker),
        keys.reservation_guard(names.locker),
        keys.reservation_claim(names.locker, reservation),
        keys.event_claim(names.locker, event),
        keys.reservation(names.locker, NOON, reservation),
        keys.live_reservation(names.locker, NOON, reservation),
        keys.event(names.locker, NOON, event),
        keys.owner(names.owner),
        keys.owner_locker(names.owner, names.locker),
        keys.owner_reservation(names.owner, NOON, reservation),
        keys.location(names.location),
        keys.location_code(names.code),
        keys.location_locker(names.location, names.locker),
        keys.offer(names.location, ReservableBy.OWNER, names.owner, LockerSize.XL, "0000", names.locker),
        keys.calendar_slot(names.location, date, DaySlot.MORNING),
        keys.calendar_claim(names.location, "e"),
        keys.booking(names.booking),
        keys.payment(names.booking, "p"),
        keys.owner_booking(names.owner, date, names.booking),
        keys.notification(names.owner, NOON, "n"),
        keys.api_key(ApiKeyId("k")),
        keys.access_code(door_of(names.locker, None), CodeId("c")),
        keys.code_claim(door_of(names.locker, None), "k1#mac"),
        keys.code_door(door_of(names.locker, None)),
        keys.lockout(door_of(names.locker, None)),
        keys.attempt(door_of(names.locker, None), "a"),
        keys.access_code(door_of(None, names.location), CodeId("c")),
        keys.code_door(door_of(None, names.location)),
        keys.door_event(door_of(None, names.location), NOON, event),
        keys.door_event_claim(door_of(None, names.location), event),
    ]
