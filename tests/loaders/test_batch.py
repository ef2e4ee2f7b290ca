"""Loaders: what a request asks in one moment is one read, each key once, each answer in its place."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from domain.bookings import BookingId
from domain.commands import CreateOwner, CreateReservation, RecordAccessEvent, RegisterLocker
from domain.models import AccessAction, AccessResult, EventId, LocationId, LockerId, OwnerId, OwnerKind, ReservationId
from domain.principal import DEVELOPMENT_ADMIN
from domain.times import Instant
from loaders.batch import listed_lockers, open_loaders
from loaders.table.values import item_to_wire
from loaders.writes.events import record_access_events
from loaders.writes.lockers import register_locker
from loaders.writes.owners import create_owner
from loaders.writes.reservations import create_reservation

if TYPE_CHECKING:
    from loaders.backend import Backend
    from tests.conftest import Clock
    from tests.wire import Wire

ACME = OwnerId("acme")
NOON, ONE, TWO = (Instant(f"2026-03-01T{hour}:00:00.000Z") for hour in (12, 13, 14))


def numbered(*numbers: int) -> list[LockerId]:
    return [LockerId(f"l{number:03d}") for number in numbers]


@pytest_asyncio.fixture
async def lockers(backend: Backend, wire: Wire) -> Backend:
    """An owner with three lockers."""
    await create_owner(backend, CreateOwner(owner_id=ACME, kind=OwnerKind.ORGANIZATION, name="Acme"))
    for locker_id in numbered(1, 2, 3):
        await register_locker(backend, RegisterLocker(locker_id=locker_id, owner_id=ACME), DEVELOPMENT_ADMIN)
    wire.reset()
    return backend


async def test_a_lone_id_is_one_plain_get(lockers: Backend, wire: Wire) -> None:
    locker = await open_loaders(lockers).locker.load(LockerId("l001"))
    assert locker is not None
    assert wire.operations == {"GetItem": 1}
    assert wire.calls[0].request["ConsistentRead"] is False


async def test_several_ids_are_one_batch_without_duplicates_and_in_the_order_asked(
    lockers: Backend, wire: Wire
) -> None:
    loaders = open_loaders(lockers)
    asked = numbered(3, 1, 9, 3, 2, 1)
    found = await asyncio.gather(*map(loaders.locker.load, asked))
    assert [locker and locker.locker_id for locker in found] == ["l003", "l001", None, "l003", "l002", "l001"]
    assert wire.operations == {"BatchGetItem": 1}
    assert wire.calls[0].keys == [(f"LOCKER#l{number:03d}", "META") for number in (3, 1, 9, 2)]


async def test_more_than_100_ids_are_batches_of_100_at_most(lockers: Backend, wire: Wire) -> None:
    found = await open_loaders(lockers).locker.load_many(numbered(*range(201)))
    assert [locker.locker_id for locker in found if locker] == numbered(1, 2, 3)
    assert sorted(len(call.keys) for call in wire.calls) == [1, 100, 100]


async def test_what_one_request_has_read_it_does_not_read_again_until_it_forgets(lockers: Backend, wire: Wire) -> None:
    loaders = open_loaders(lockers)
    await loaders.locker.load(LockerId("l001"))
    await loaders.locker.load(LockerId("l001"))
    assert len(wire.calls) == 1
    loaders.forget()
    await loaders.locker.load(LockerId("l001"))
    assert len(wire.calls) == 2
    await open_loaders(lockers).locker.load(LockerId("l001"))
    assert len(wire.calls) == 3


async def test_keys_that_the_store_left_unread_are_asked_for_again(lockers: Backend, wire: Wire, table: str) -> None:
    def leave_one(call: Any) -> None:
        if call.operation == "BatchGetItem" and len(call.keys) > 1:
            kept, *rest = call.request["RequestItems"][table]["Keys"]
            found = call.response["Responses"][table]
            call.response["Responses"][table] = [item for item in found if item["PK"] == kept["PK"]]
            call.response["UnprocessedKeys"] = {table: {"Keys": rest, "ConsistentRead": False}}

    wire.amend = leave_one
    found = await open_loaders(lockers).locker.load_many(numbered(1, 2, 3))
    assert [locker and locker.locker_id for locker in found] == numbered(1, 2, 3)
    assert [len(call.keys) for call in wire.calls] == [3, 2, 1]


async def test_a_copy_without_its_locker_is_left_out_reported_and_read_strongly_first(
    lockers: Backend, wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    found = await listed_lockers(open_loaders(lockers), lockers, numbered(1, 9, 2))
    assert [locker and locker.locker_id for locker in found] == ["l001", None, "l002"]
    plain, strong = wire.calls
    assert (plain.operation, strong.operation) == ("BatchGetItem", "BatchGetItem")
    assert strong.keys == [("LOCKER#l009", "META")]
    assert all(part["ConsistentRead"] for part in strong.request["RequestItems"].values())
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == [
        "a copy names LOCKER / META (0457d2298a80), which does not exist"
    ]


async def test_several_locations_or_bookings_are_one_batch_each(backend: Backend, wire: Wire) -> None:
    loaders = open_loaders(backend)
    assert await loaders.location.load_many([LocationId("rome"), LocationId("oslo")]) == [None, None]
    assert await loaders.booking.load_many([BookingId("b1"), BookingId("b2"), BookingId("b1")]) == [None, None, None]
    assert [call.keys for call in wire.of("BatchGetItem")] == [
        [("LOCATION#rome", "META"), ("LOCATION#oslo", "META")],
        [("BOOKING#b1", "META"), ("BOOKING#b2", "META")],
    ]
    assert wire.operations == {"BatchGetItem": 2}


async def test_an_active_reservation_is_read_from_the_pointer_alone(lockers: Backend, wire: Wire) -> None:
    await reserve(lockers, "l001", NOON, ONE)
    await reserve(lockers, "l002", ONE, TWO)
    wire.reset()
    found = await open_loaders(lockers).active_reservation.load_many(numbered(1, 2, 3))
    assert [reservation and reservation.reservation_id for reservation in found] == ["l001-12", None, None]
    assert wire.operations == {"BatchGetItem": 1}
    assert wire.calls[0].keys == [(f"LOCKER#l00{number}", "RES#ACTIVE") for number in (1, 2, 3)]


async def test_a_pointer_whose_reservation_has_ended_is_moved_on_and_the_next_one_shown(
    lockers: Backend, wire: Wire, clock: Clock
) -> None:
    await reserve(lockers, "l001", NOON, ONE)
    await reserve(lockers, "l001", ONE, TWO)
    clock.move(hours=1)
    wire.reset()
    loaders = open_loaders(lockers)
    found = await loaders.active_reservation.load(LockerId("l001"))
    assert found is not None
    assert found.reservation_id == "l001-13"
    assert [call.operation for call in wire.calls] == ["GetItem", "GetItem", "Query", "TransactWriteItems"]
    wire.reset()
    again = await open_loaders(lockers).active_reservation.load(LockerId("l001"))
    assert again == found
    assert wire.operations == {"GetItem": 1}


async def test_the_latest_event_of_each_locker_is_one_query_of_one_item(lockers: Backend, wire: Wire) -> None:
    for number, time in enumerate((NOON, Instant("2026-03-01T11:00:00.000Z"))):
        event = RecordAccessEvent(
            locker_id=LockerId("l001"),
            event_id=EventId(f"e{number}"),
            timestamp=time,
            action=AccessAction.OPEN,
            actor_id="ada",
            result=AccessResult.SUCCESS,
        )
        await record_access_events(lockers, [event], DEVELOPMENT_ADMIN, [("input",)])
    wire.reset()
    found = await open_loaders(lockers).latest_event.load_many(numbered(1, 2))
    assert [event and event.event_id for event in found] == ["e0", None]
    assert [(call.operation, call.request["Limit"]) for call in wire.calls] == [("Query", 1), ("Query", 1)]


async def test_no_more_than_16_queries_run_at_once(backend: Backend, wire: Wire) -> None:
    await open_loaders(backend).latest_event.load_many(numbered(*range(60)))
    assert wire.operations == {"Query": 60}
    assert 1 < wire.most_running <= 16


async def test_an_item_that_is_damaged_fails_its_own_read(lockers: Backend, plain_client: Any, table: str) -> None:
    damaged = {"PK": "LOCKER#l009", "SK": "META", "entityType": "OWNER"}
    await plain_client.put_item(TableName=table, Item=item_to_wire(damaged))
    with pytest.raises(Exception, match=r"^item LOCKER / META \(0457d2298a80\) is 'OWNER', not 'LOCKER'$"):
        await open_loaders(lockers).locker.load(LockerId("l009"))


async def reserve(backend: Backend, locker: str, start: Instant, end: Instant) -> None:
    await create_reservation(
        backend,
        CreateReservation(
            locker_id=LockerId(locker),
            reservation_id=ReservationId(f"{locker}-{start[11:13]}"),
            owner_id=ACME,
            start_at=start,
            end_at=end,
        ),
        DEVELOPMENT_ADMIN,
    )
