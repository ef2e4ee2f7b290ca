"""The data of the benchmark: owners, lockers and reservations, written straight into the store."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

from domain.models import (
    ActivePointer,
    Locker,
    LockerId,
    LockerSize,
    LockerStatus,
    Owner,
    OwnerId,
    OwnerKind,
    ReservableBy,
    Reservation,
    ReservationId,
    ReservationStatus,
)
from domain.times import Instant, shift
from loaders import codecs, keys
from loaders.table.http_client import Timeouts
from loaders.table.sdk import open_client
from loaders.table.values import item_to_wire
from loaders.writes.lockers import copies_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from loaders.table.client import StoreConnection
    from loaders.table.positions import Key

__all__ = [
    "FREE_BEFORE",
    "LOCKERS",
    "OWNER",
    "locker_id",
    "locker_items",
    "owner_items",
    "reservation_items",
    "standard_items",
    "write",
]

OWNER = OwnerId("owner-0001")
LOCKERS = 100
FREE_BEFORE = Instant("2080-01-01T00:00:00.000Z")
"""The latest end that the pointers know: a reservation that ends before leaves them as they are."""

_NEXT_RESERVATIONS = 6
_OCCUPIED_EVERY = 7
_WRITES = 25
_WRITERS = 8
_ATTEMPTS = 10
_PATIENCE = Timeouts(connect=10, read=60)


def locker_id(number: int) -> LockerId:
    """The id of the locker with that number, from 0."""
    return LockerId(f"locker-{number + 1:06d}")


def standard_items(now: Instant) -> Iterator[tuple[Key, dict[str, Any]]]:
    """One owner with 100 lockers, each reserved now for some weeks, with six reservations to come."""
    yield from owner_items(OWNER, now)
    for number in range(LOCKERS):
        yield from locker_items(number, OWNER, now)
        yield from reservation_items(number, 1 + _NEXT_RESERVATIONS, now)


def owner_items(owner_id: OwnerId, now: Instant) -> Iterator[tuple[Key, dict[str, Any]]]:
    """An owner."""
    owner = Owner(
        owner_id=owner_id,
        kind=OwnerKind.ORGANIZATION,
        name="Harbour Logistics",
        email=f"{owner_id}@example.com",
        phone="+49 30 1234567",
        created_at=now,
        updated_at=now,
        version=1,
    )
    yield keys.owner(owner_id), codecs.OWNER.encode(owner)


def locker_items(
    number: int, owner_id: OwnerId, now: Instant, *, with_record: bool = True
) -> Iterator[tuple[Key, dict[str, Any]]]:
    """A locker's record and its owner's copy."""
    locker = Locker(
        locker_id=locker_id(number),
        owner_id=owner_id,
        status=LockerStatus.AVAILABLE if number % _OCCUPIED_EVERY else LockerStatus.OCCUPIED,
        alias=f"Locker Hall {number + 1}",
        created_at=now,
        updated_at=now,
        version=1,
        reservable_by=ReservableBy.MEMBERS,
        size=LockerSize.M,
        features=(),
    )
    if with_record:
        yield keys.locker(locker.locker_id), codecs.LOCKER.encode(locker)
    yield from copies_of(locker).items()


def reservation_items(number: int, count: int, now: Instant) -> Iterator[tuple[Key, dict[str, Any]]]:
    """So many reservations of a locker, the first of which is current for weeks, with their guard and pointer."""
    locker = locker_id(number)
    first_end = shift(now, timedelta(days=20))
    for place in range(count):
        start = shift(first_end, timedelta(hours=2 * place)) if place else shift(now, timedelta(days=-1))
        reservation = Reservation(
            reservation_id=ReservationId(f"reservation-{place + 1:05d}"),
            locker_id=locker,
            owner_id=OWNER,
            start_at=start,
            end_at=shift(start, timedelta(hours=1)) if place else first_end,
            status=ReservationStatus.ACTIVE,
            created_at=now,
            updated_at=now,
        )
        if not place:
            pointer = ActivePointer(reservation=reservation, last_end_at=FREE_BEFORE)
            yield keys.active_pointer(locker), codecs.ACTIVE_POINTER.encode(pointer)
            yield keys.reservation_guard(locker), codecs.GUARD.encode(codecs.Guard(revision=count))
        stored = codecs.StoredReservation(reservation=reservation, revision=place + 1)
        own_key = (locker, start, reservation.reservation_id)
        yield keys.reservation(*own_key), codecs.STORED_RESERVATION.encode(stored)
        yield keys.live_reservation(*own_key), codecs.STORED_LIVE_RESERVATION.encode(stored)


async def write(connection: StoreConnection, items: Iterable[tuple[Key, dict[str, Any]]]) -> int:
    """Puts items into the table, whatever is there; returns their number."""
    remaining = iter(items)
    written = 0
    async with open_client(replace(connection, timeouts=_PATIENCE)) as client:

        async def put_batches() -> None:
            nonlocal written
            while batch := list(islice(remaining, _WRITES)):
                requests = [{"PutRequest": {"Item": key.wire | item_to_wire(item)}} for key, item in batch]
                unwritten: dict[str, Any] = {connection.table: requests}
                for _ in range(_ATTEMPTS):
                    answer = await client.batch_write_item(RequestItems=unwritten)
                    unwritten = answer.get("UnprocessedItems") or {}
                    if not unwritten:
                        break
                else:
                    raise RuntimeError("the store left items unwritten")
                written += len(batch)

        async with asyncio.TaskGroup() as group:
            for _ in range(_WRITERS):
                group.create_task(put_batches())
    return written
