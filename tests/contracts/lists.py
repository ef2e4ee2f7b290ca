"""An example of every list: how to fill it, how to read it, and what lives beside it and must not be in it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from domain.models import (
    AccessAction,
    AccessEvent,
    AccessResult,
    EventId,
    LockerId,
    LockerStatus,
    LockerSummary,
    OwnerId,
    Reservation,
    ReservationId,
    ReservationStatus,
)
from domain.times import Instant, shift
from loaders import keys, reads
from loaders.items import ACCESS_EVENT, OWNER_LOCKER, OWNER_RESERVATION, RESERVATION
from loaders.table.operations import Key

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from loaders.contract import Order
    from loaders.reads import Page, Slice, Window
    from loaders.table.client import Store

    Read = Callable[[Store, Slice, Order, Window], Awaitable[Page[Any]]]

__all__ = ["LISTS", "ListExample", "Seed", "at", "large_metadata", "neighbours"]

Seed = tuple[Key, "Mapping[str, Any]"]

NOON = Instant("2026-03-01T12:00:00.000Z")
OWNER = OwnerId("o" * 64)
LOCKER = LockerId("l" * 64)
OTHER_OWNER, OTHER_LOCKER = OwnerId("o" * 63 + "p"), LockerId("l" * 63 + "m")
NAME = "😀" * 200


@dataclass(frozen=True, kw_only=True)
class ListExample:
    """The list of one partition; `seed(n)` is its nth item in ascending order, `large` as large as it can be."""

    read: Read
    seed: Callable[[int], Seed]
    large: Callable[[int], Seed]
    name_of: Callable[[Any], str]
    own: tuple[str, str]
    has_window: bool = True


def at(number: int) -> Instant:
    """So many minutes after noon."""
    return shift(NOON, timedelta(minutes=number))


def large_metadata() -> dict[str, Any]:
    """16 KB of text."""
    return {"a": "x" * (16 * 1024 - len('{"a":""}'))}


def neighbours(example: ListExample) -> list[Key]:
    """A key of every kind, in the list's own partition and beside it, but for the list's own items."""
    reservation, event = ReservationId("r"), EventId("e")
    crowd = [
        key
        for locker, owner in ((LOCKER, OWNER), (OTHER_LOCKER, OTHER_OWNER))
        for key in (
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
    ]
    partition, beginning = example.own
    return [key for key in crowd if not (key.pk == partition and key.sk.startswith(beginning))]


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
        has_window=False,
    ),
    "QC-05": ListExample(
        read=lambda store, part, order, window: reads.locker_reservations(store, LOCKER, window, part, order),
        seed=_locker_reservation,
        large=_locker_reservation,
        name_of=lambda reservation: str(reservation.reservation_id),
        own=(f"LOCKER#{LOCKER}", "RES#2"),
    ),
    "QC-09": ListExample(
        read=lambda store, part, order, window: reads.access_events(store, LOCKER, window, part, order),
        seed=_event,
        large=lambda number: _event(number, large_metadata()),
        name_of=lambda event: str(event.event_id),
        own=(f"LOCKER#{LOCKER}", "EVT#"),
    ),
    "QC-14": ListExample(
        read=lambda store, part, order, window: reads.owner_reservations(store, OWNER, window, part, order),
        seed=_owner_reservation,
        large=_owner_reservation,
        name_of=lambda reservation: str(reservation.reservation_id),
        own=(f"OWNER#{OWNER}", "RES#2"),
    ),
}
