"""The active reservation of a locker, as its loader reads it: what is sent, and that nothing is written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from domain.authorization import DEVELOPMENT_ADMIN
from domain.commands.lockers import RegisterLocker
from domain.commands.owners import CreateOwner
from domain.commands.reservations import CancelReservation, CreateReservation
from domain.models import LockerId, OwnerId, OwnerKind, Reservation, ReservationId
from domain.times import EARLIEST, Instant
from loaders.codecs import ACTIVE_POINTER
from loaders.contracts.reservations import ACTIVE_RESERVATION, CURRENT_RESERVATION
from loaders.table.values import item_to_wire
from loaders.writes.lockers import register_locker
from loaders.writes.owners import create_owner
from loaders.writes.reservations import cancel_reservation, create_reservation
from resolvers.entities.active_reservation import CURRENT
from resolvers.plan.price import Limit
from resolvers.request import PageSizes, RequestState
from tests.api import unchanged

if TYPE_CHECKING:
    from collections.abc import Callable

    from loaders.backend import Backend
    from tests.conftest import Clock
    from tests.wire import Wire

ADA, L1 = OwnerId("ada"), LockerId("l1")


def at(hour: int, minute: int = 0) -> Instant:
    return Instant(f"2026-03-01T{hour:02d}:{minute:02d}:00.000Z")


async def reserve(backend: Backend, locker: str, reservation: str, start: Instant, end: Instant) -> None:
    command = CreateReservation(
        locker_id=LockerId(locker),
        reservation_id=ReservationId(reservation),
        owner_id=ADA,
        start_at=start,
        end_at=end,
    )
    await create_reservation(backend, command, DEVELOPMENT_ADMIN)


async def cancel(backend: Backend, reservation: str) -> None:
    command = CancelReservation(locker_id=L1, reservation_id=ReservationId(reservation))
    await cancel_reservation(backend, command, DEVELOPMENT_ADMIN)


async def read(backend: Backend, ids: list[LockerId]) -> list[Reservation | None]:
    """The active reservations of lockers, as the field of lockers reads them."""
    state = RequestState(backend, DEVELOPMENT_ADMIN, PageSizes(25, 100), Limit(1, 1, 1), lambda _: backend)
    pointers = await state.loaders.of(ACTIVE_RESERVATION).load_bulk([(locker_id,) for locker_id in ids])
    found = await CURRENT.follow(pointers, "", state)
    for reservation in found:
        if isinstance(reservation, Exception):
            raise reservation
    return found


async def active(backend: Backend) -> str | None:
    (found,) = await read(backend, [L1])
    return None if found is None else found.reservation_id


@pytest_asyncio.fixture
async def reserved(backend: Backend, wire: Wire) -> Backend:
    """A locker that is reserved from 13 to 14 and from 15 to 16, at noon."""
    await create_owner(backend, CreateOwner(owner_id=ADA, kind=OwnerKind.USER, name="Ada"))
    await register_locker(backend, RegisterLocker(locker_id=L1, owner_id=ADA), DEVELOPMENT_ADMIN)
    await reserve(backend, "l1", "first", at(13), at(14))
    await reserve(backend, "l1", "second", at(15), at(16))
    backend.known_formats.add(CURRENT_RESERVATION.needs_format)
    wire.reset()
    return backend


async def test_a_hundred_idle_lockers_whose_pointers_have_ended_are_one_batch_and_no_query(
    backend: Backend, wire: Wire, clock: Clock, dump: Callable[[], Any]
) -> None:
    backend = replace(backend, most_live_reservations=100)
    await create_owner(backend, CreateOwner(owner_id=ADA, kind=OwnerKind.USER, name="Ada"))
    ids = [LockerId(f"l{number:03d}") for number in range(100)]
    for locker_id in ids:
        await register_locker(backend, RegisterLocker(locker_id=locker_id, owner_id=ADA), DEVELOPMENT_ADMIN)
        await reserve(backend, locker_id, f"r-{locker_id}", at(12), at(13))
    clock.move(hours=1)
    async with unchanged(dump):
        wire.reset()
        assert await read(backend, ids) == [None] * 100
        assert wire.operations == {"BatchGetItem": 1}


@pytest.mark.parametrize(
    ("now", "found", "sent"),
    [
        (at(12, 59), None, ["GetItem"]),
        (at(13), "first", ["GetItem"]),
        (at(13, 59), "first", ["GetItem"]),
        (at(14), None, ["GetItem", "Query"]),
        (at(15), "second", ["GetItem", "Query"]),
        (at(15, 59), "second", ["GetItem", "Query"]),
        (at(16), None, ["GetItem"]),
        (at(23), None, ["GetItem"]),
    ],
)
async def test_only_between_the_pointed_end_and_the_latest_end_is_a_query_sent(
    reserved: Backend,
    wire: Wire,
    clock: Clock,
    dump: Callable[[], Any],
    now: Instant,
    found: str | None,
    sent: list[str],
) -> None:
    async with unchanged(dump):
        clock.now = now
        assert await active(reserved) == found
        assert [call.operation for call in wire.calls] == sent


async def test_the_query_asks_for_the_one_live_reservation_that_started_last(
    reserved: Backend, wire: Wire, clock: Clock
) -> None:
    clock.now = at(15)
    await active(reserved)
    (query,) = wire.of("Query")
    values = {name: value["S"] for name, value in query.request["ExpressionAttributeValues"].items()}
    assert values == {":pk": "LOCKER#l1", ":low": f"LIVE#{EARLIEST}", ":high": f"LIVE#{at(15)}~"}
    assert (query.request["Limit"], query.request["ScanIndexForward"]) == (1, False)
    assert query.request["ConsistentRead"] is False


async def test_a_pointer_of_an_older_version_is_searched_behind_until_a_write_repairs_it(
    reserved: Backend, wire: Wire, clock: Clock, plain_client: Any, table: str, dump: Callable[[], Any]
) -> None:
    pointer = (await dump())["LOCKER#l1", "RES#ACTIVE"]
    without = {name: value for name, value in pointer.items() if name != "lastEndAt"}
    await plain_client.put_item(TableName=table, Item=item_to_wire(without))
    assert ACTIVE_POINTER.decode(without).last_end_at is None
    clock.now = at(20)
    wire.reset()
    assert await active(reserved) is None
    assert wire.operations == {"GetItem": 1, "Query": 1}
    await reserve(reserved, "l1", "third", at(21), at(22))
    clock.now = at(22)
    wire.reset()
    assert await active(reserved) is None
    assert wire.operations == {"GetItem": 1}


async def test_a_cancelled_reservation_is_passed_over(reserved: Backend, wire: Wire, clock: Clock) -> None:
    await reserve(reserved, "l1", "third", at(17), at(18))
    await cancel(reserved, "second")
    clock.now = at(15, 30)
    wire.reset()
    assert await active(reserved) is None
    assert wire.operations == {"GetItem": 1, "Query": 1}
    clock.now = at(17)
    assert await active(reserved) == "third"
