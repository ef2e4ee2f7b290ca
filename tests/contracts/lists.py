"""An example of every list: how to fill it, how to read it, and what lives beside it and must not be in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain.api_keys import ApiKeyId
from domain.bookings import DaySlot
from domain.models import (
    AccessAction,
    AccessEvent,
    AccessResult,
    EventId,
    LockerId,
    LockerStatus,
    LockerSummary,
    Reservation,
    ReservationId,
    ReservationStatus,
)
from domain.times import Day
from loaders import keys, reads
from loaders.items import ACCESS_EVENT, OWNER_LOCKER, OWNER_RESERVATION, RESERVATION
from loaders.table.operations import IndexKey, Key
from tests.contracts.key_lists import KEY_LISTS
from tests.contracts.list_example import (
    BOOKING,
    LOCATION,
    LOCKER,
    NAME,
    NOON,
    OTHER_BOOKING,
    OTHER_LOCATION,
    OTHER_LOCKER,
    OTHER_OWNER,
    OWNER,
    ListExample,
    at,
)
from tests.contracts.place_lists import PLACE_LISTS

if TYPE_CHECKING:
    from domain.bookings import BookingId
    from domain.models import LocationId, OwnerId
    from loaders.table.operations import Place
    from tests.contracts.list_example import Seed

__all__ = ["LISTS", "large_metadata", "neighbours"]


def large_metadata() -> dict[str, Any]:
    """16 KB of text."""
    return {"a": "x" * (16 * 1024 - len('{"a":""}'))}


def neighbours(example: ListExample) -> list[Place]:
    """A key of every kind, in the list's own partition and beside it, but for the list's own items."""
    crowd: list[Place] = [
        *_keys_of_lockers(LOCKER, OWNER),
        *_keys_of_lockers(OTHER_LOCKER, OTHER_OWNER),
        *_keys_of_places(LOCATION, BOOKING, OWNER),
        *_keys_of_places(OTHER_LOCATION, OTHER_BOOKING, OTHER_OWNER),
        IndexKey("LOCATION#1", "META", "LOCATION#ACTIVE", f"{NOON}#1"),
        IndexKey("LOCATION#2", "META", "LOCATION#INACTIVE", f"{NOON}#2"),
        IndexKey("BOOKING#1", "META", "BOOKING#PENDING", f"{NOON}#1"),
        IndexKey("APIKEY#1", "META", "APIKEY", f"{NOON}#1"),
        keys.api_key(ApiKeyId("k")),
    ]
    return [place for place in crowd if not _is_own(example, place)]


def _is_own(example: ListExample, place: Place) -> bool:
    partition, beginning = example.own
    if isinstance(place, IndexKey):
        return example.in_index and place.index_pk == partition
    return not example.in_index and place.pk == partition and place.sk.startswith(beginning)


def _keys_of_lockers(locker: LockerId, owner: OwnerId) -> tuple[Key, ...]:
    reservation, event = ReservationId("r"), EventId("e")
    return (
        keys.locker(locker),
        keys.active_pointer(locker),
        keys.reservation_guard(locker),
        keys.reservation_claim(locker, reservation),
        keys.event_claim(locker, event),
        keys.reservation(locker, NOON, reservation),
        keys.event(locker, NOON, event),
        keys.owner(owner),
        keys.owner_locker(owner, locker),
        keys.owner_reservation(owner, NOON, reservation),
    )


def _keys_of_places(location: LocationId, booking: BookingId, owner: OwnerId) -> tuple[Key, ...]:
    day = Day("2026-03-01")
    return (
        keys.location(location),
        keys.location_code(location.lower()),
        keys.location_locker(location, LOCKER),
        keys.calendar_slot(location, day, DaySlot.MORNING),
        keys.calendar_claim(location, "e"),
        keys.booking(booking),
        keys.payment(booking, "p"),
        keys.owner_booking(owner, day, booking),
        keys.notification(owner, NOON, "n"),
    )


def _owner_locker(number: int) -> Seed:
    locker_id = LockerId(f"{number:064d}")
    summary = LockerSummary(
        owner_id=OWNER, locker_id=locker_id, status=LockerStatus.MAINTENANCE, alias=NAME, updated_at=NOON
    )
    return keys.owner_locker(OWNER, locker_id), OWNER_LOCKER.encode(summary)


def _reservation(number: int) -> Reservation:
    return Reservation(
        reservation_id=ReservationId(f"{number:064d}"),
        locker_id=LOCKER,
        owner_id=OWNER,
        start_at=at(number),
        end_at=at(number + 1),
        status=ReservationStatus.CANCELLED,
        created_at=NOON,
        updated_at=NOON,
    )


def _locker_reservation(number: int) -> Seed:
    reservation = _reservation(number)
    key = keys.reservation(LOCKER, reservation.start_at, reservation.reservation_id)
    return key, RESERVATION.encode(reservation)


def _owner_reservation(number: int) -> Seed:
    reservation = _reservation(number)
    key = keys.owner_reservation(OWNER, reservation.start_at, reservation.reservation_id)
    return key, OWNER_RESERVATION.encode(reservation)


def _event(number: int, metadata: dict[str, Any] | None = None) -> Seed:
    event = AccessEvent(
        event_id=EventId(f"{number:064d}"),
        locker_id=LOCKER,
        timestamp=at(number),
        recorded_at=NOON,
        action=AccessAction.UNLOCK,
        actor_id="a" * 64,
        result=AccessResult.SUCCESS,
        metadata=metadata,
    )
    return keys.event(LOCKER, event.timestamp, event.event_id), ACCESS_EVENT.encode(event)


LISTS: dict[str, ListExample] = {
    "QC-02": ListExample(
        read=lambda store, part, _order, _window: reads.owner_lockers(store, OWNER, part),
        seed=_owner_locker,
        large=_owner_locker,
        name_of=lambda summary: str(summary.locker_id),
        own=(f"OWNER#{OWNER}", "LOCKER#"),
    ),
    "QC-05": ListExample(
        read=lambda store, part, order, window: reads.locker_reservations(store, LOCKER, window, part, order),
        seed=_locker_reservation,
        large=_locker_reservation,
        name_of=lambda reservation: str(reservation.reservation_id),
        own=(f"LOCKER#{LOCKER}", "RES#2"),
        has_window=True,
    ),
    "QC-09": ListExample(
        read=lambda store, part, order, window: reads.access_events(store, LOCKER, window, part, order),
        seed=_event,
        large=lambda number: _event(number, large_metadata()),
        name_of=lambda event: str(event.event_id),
        own=(f"LOCKER#{LOCKER}", "EVT#"),
        has_window=True,
    ),
    "QC-14": ListExample(
        read=lambda store, part, order, window: reads.owner_reservations(store, OWNER, window, part, order),
        seed=_owner_reservation,
        large=_owner_reservation,
        name_of=lambda reservation: str(reservation.reservation_id),
        own=(f"OWNER#{OWNER}", "RES#2"),
        has_window=True,
    ),
    **PLACE_LISTS,
    **KEY_LISTS,
}
