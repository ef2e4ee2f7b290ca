"""What each request may send to the store, exactly."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from tests.api import REGISTER_LOCKER, UPDATE_STATUS
from tests.wire import Until

if TYPE_CHECKING:
    from tests.api import Api
    from tests.wire import Call, Wire

LOCKERS = "l{:03d}".format
ALL = [LOCKERS(number) for number in range(100)]

OWNER = 'query { owner(ownerId: "acme") { %s } }'
OWNER_LOCKERS = OWNER % "lockers(first: 100) { nodes { %s } }"
START, END = "2026-03-01T11:00:00Z", "2026-03-01T13:00:00Z"


@pytest_asyncio.fixture
async def hundred(api: Api, wire: Wire) -> Api:
    """An owner with 100 lockers."""
    await api.owner("acme")
    for locker_id in ALL:
        await api.locker(locker_id, "acme", alias=f"Alias of {locker_id}")
    wire.reset()
    return api


@pytest_asyncio.fixture
async def one(api: Api, wire: Wire) -> Api:
    """An owner with one locker."""
    await api.owner("acme")
    await api.locker("l000", "acme")
    wire.reset()
    return api


def nodes(data: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = data["owner"]["lockers"]["nodes"]
    return found


async def test_a_locker_by_id_is_one_get(one: Api, wire: Wire) -> None:
    data = await one.run('{ locker(lockerId: "l000") { lockerId alias status version ownerId createdAt updatedAt } }')
    assert data["locker"]["version"] == 1
    assert wire.operations == {"GetItem": 1}
    assert wire.calls[0].keys == [("LOCKER#l000", "META")]
    assert wire.calls[0].request["ConsistentRead"] is False
    assert wire.calls[0].units == 0.5


async def test_a_consistent_locker_is_one_strong_get(one: Api, wire: Wire) -> None:
    await one.run('{ locker(lockerId: "l000", consistent: true) { version } }')
    assert wire.operations == {"GetItem": 1}
    assert wire.calls[0].request["ConsistentRead"] is True
    assert wire.calls[0].units == 1


async def test_lockers_asked_for_by_id_side_by_side_are_one_batch(hundred: Api, wire: Wire) -> None:
    await hundred.run('{ a: locker(lockerId: "l001") { alias } b: locker(lockerId: "l002") { alias } }')
    assert wire.operations == {"BatchGetItem": 1}


async def test_an_owners_lockers_with_relationship_fields_are_one_query_and_nothing_else(
    hundred: Api, wire: Wire
) -> None:
    data = await hundred.run(OWNER_LOCKERS % "lockerId alias status updatedAt")
    assert [node["lockerId"] for node in nodes(data)] == ALL
    assert wire.operations == {"Query": 1}


async def test_an_owners_lockers_with_record_fields_are_one_query_and_one_batch(hundred: Api, wire: Wire) -> None:
    data = await hundred.run(OWNER_LOCKERS % "lockerId alias status version createdAt ownerId")
    assert [(node["lockerId"], node["version"], node["ownerId"]) for node in nodes(data)] == [
        (locker_id, 1, "acme") for locker_id in ALL
    ]
    assert wire.operations == {"Query": 1, "BatchGetItem": 1}
    assert wire.of("BatchGetItem")[0].keys == [(f"LOCKER#{locker_id}", "META") for locker_id in ALL]


async def test_the_active_reservations_of_a_page_are_one_more_batch(hundred: Api, wire: Wire) -> None:
    await hundred.reservation("now", "l007", "acme", START, END)
    wire.reset()
    data = await hundred.run(OWNER_LOCKERS % "lockerId version activeReservation { reservationId }")
    held = [node["lockerId"] for node in nodes(data) if node["activeReservation"]]
    assert held == ["l007"]
    assert wire.operations == {"Query": 1, "BatchGetItem": 2}
    assert sum(len(call.keys) for call in wire.of("BatchGetItem")) == 200


async def test_the_owner_of_every_locker_of_a_page_is_read_once(hundred: Api, wire: Wire) -> None:
    data = await hundred.run(OWNER_LOCKERS % "lockerId version owner { name }")
    assert {node["owner"]["name"] for node in nodes(data)} == {"acme"}
    # The loader merges the hundred into one; a batch of one key is sent as a GetItem, which costs the same.
    assert wire.operations == {"Query": 1, "BatchGetItem": 1, "GetItem": 1}
    assert wire.of("GetItem")[0].keys == [("OWNER#acme", "META")]


async def test_different_owners_are_read_in_one_batch(one: Api, wire: Wire) -> None:
    for number in range(30):
        await one.owner(f"o{number:02d}")
        start, end = f"2026-04-{number + 1:02d}T08:00:00Z", f"2026-04-{number + 1:02d}T09:00:00Z"
        await one.reservation(f"r{number:02d}", "l000", f"o{number:02d}", start, end)
    wire.reset()
    await one.run('{ locker(lockerId: "l000") { reservations(first: 50) { nodes { owner { name } } } } }')
    assert wire.operations == {"GetItem": 1, "Query": 1, "BatchGetItem": 1}
    assert len(wire.of("BatchGetItem")[0].keys) == 30


async def test_the_latest_events_of_a_page_are_a_query_of_limit_one_each(hundred: Api, wire: Wire) -> None:
    for locker_id in ALL[:3]:
        await hundred.event(locker_id)
    wire.reset()
    data = await hundred.run(OWNER_LOCKERS % "lockerId version latestEvent { action }")
    assert [node["lockerId"] for node in nodes(data) if node["latestEvent"]] == ALL[:3]
    assert wire.operations == {"Query": 101, "BatchGetItem": 1}
    assert [call.request["Limit"] for call in wire.of("Query")] == [101] + [1] * 100
    assert all(call.request["ScanIndexForward"] is False for call in wire.of("Query")[1:])


async def test_the_lists_inside_a_list_are_a_query_each_and_no_more_than_sixteen_run_at_once(
    hundred: Api, wire: Wire
) -> None:
    for locker_id in ALL[-2:]:
        await hundred.event(locker_id)
        await hundred.event(locker_id)
    wire.reset()
    free, sixteen = asyncio.Event(), asyncio.Event()

    def hold_lists(call: Call) -> Until | None:
        if call.operation != "Query" or len(wire.of("Query")) == 1:
            return None
        if len(wire.of("Query")) == 1 + 16:
            sixteen.set()
        return Until(free)

    wire.fault = hold_lists
    selection = "lockerId reservations { nextCursor } accessEvents(first: 1) { nextCursor }"
    running = asyncio.ensure_future(hundred.run(OWNER_LOCKERS % selection))
    await sixteen.wait()
    await hundred.run('{ locker(lockerId: "l000") { alias } }')  # by then a seventeenth would have come
    assert len(wire.of("Query")) == 1 + 16
    free.set()
    data = await running
    assert [node["lockerId"] for node in nodes(data)] == ALL
    assert [node["lockerId"] for node in nodes(data) if node["accessEvents"]["nextCursor"]] == ALL[-2:]
    assert {node["reservations"]["nextCursor"] for node in nodes(data)} == {None}
    assert wire.operations == {"Query": 201, "GetItem": 1}


async def test_a_hundred_nodes_are_one_batch_in_their_order(hundred: Api, wire: Wire) -> None:
    data = await hundred.run(OWNER_LOCKERS % "id lockerId")
    ids = [node["id"] for node in nodes(data)][::-1]
    wire.reset()
    data = await hundred.run("query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Locker { lockerId } } }", ids=ids)
    assert [node["lockerId"] for node in data["nodes"]] == ALL[::-1]
    assert wire.operations == {"BatchGetItem": 1}
    assert len(wire.calls[0].keys) == 100


async def test_the_locker_of_forty_reservations_is_read_once(one: Api, wire: Wire) -> None:
    for number in range(40):
        hour, minute = number // 2, number % 2 * 30
        start, end = f"2026-03-02T{hour:02d}:{minute:02d}:00Z", f"2026-03-02T{hour:02d}:{minute + 20:02d}:00Z"
        await one.reservation(f"r{number:02d}", "l000", "acme", start, end)
    wire.reset()
    data = await one.run(OWNER % "reservations(first: 50) { nodes { locker { alias } } }")
    assert len(data["owner"]["reservations"]["nodes"]) == 40
    assert wire.operations == {"Query": 1, "GetItem": 1}


# What each write sends is in the contracts' snapshots; this is what a mutation adds to it.
async def test_a_mutation_answers_from_what_it_wrote_and_a_refusal_writes_nothing(one: Api, wire: Wire) -> None:
    await one.mutate(UPDATE_STATUS, lockerId="l000", newStatus="OCCUPIED", expectedVersion=1)
    assert [call.operation for call in wire.calls] == ["GetItem", "TransactWriteItems"]
    wire.reset()
    await one.mutate(UPDATE_STATUS, lockerId="l000", newStatus="OCCUPIED", expectedVersion=2)
    await one.mutate(UPDATE_STATUS, lockerId="l000", newStatus="AVAILABLE", expectedVersion=7)
    assert wire.operations == {"GetItem": 2}
    wire.reset()
    await one.mutate(REGISTER_LOCKER, lockerId="new", ownerId="acme")
    assert wire.operations == {"TransactWriteItems": 1}


async def test_an_owner_by_email_is_two_gets(one: Api, wire: Wire) -> None:
    await one.owner("ada", email="ada@example.com")
    wire.reset()
    await one.run('{ ownerByEmail(email: "ADA@example.com") { name version } }')
    assert [call.keys for call in wire.calls] == [[("EMAIL#ada@example.com", "META")], [("OWNER#ada", "META")]]


async def test_a_reservation_by_id_is_two_gets(one: Api, wire: Wire) -> None:
    await one.reservation("r1", "l000", "acme", START, END)
    wire.reset()
    await one.run('{ reservation(lockerId: "l000", reservationId: "r1") { status } }')
    assert [call.keys for call in wire.calls] == [
        [("LOCKER#l000", "RID#r1")],
        [("LOCKER#l000", "RES#2026-03-01T11:00:00.000Z#r1")],
    ]


LOCKER_AND_ALL = """{ locker(lockerId: "l000") {
  version activeReservation { endAt } latestEvent { action } reservations { nextCursor } accessEvents { nextCursor }
} }"""
OWNER_AND_ALL = '{ owner(ownerId: "acme") { name lockers { nextCursor } reservations { nextCursor } } }'
PAGE_AND_ALL = OWNER_LOCKERS % "version activeReservation { endAt } latestEvent { action }"


@pytest.mark.parametrize(
    ("query", "before", "count"),
    [
        (LOCKER_AND_ALL, 0, 5),
        (LOCKER_AND_ALL.replace('"l000"', '"l000", consistent: true'), 0, 5),
        (OWNER_AND_ALL, 0, 3),
        (OWNER % "role lockers { nextCursor } bookings { nextCursor } notifications { nextCursor }", 0, 4),
        (PAGE_AND_ALL, 1, 3),
    ],
)
async def test_reads_that_do_not_depend_on_each_other_run_at_the_same_time(
    one: Api, wire: Wire, query: str, before: int, count: int
) -> None:
    together = asyncio.Event()

    def hold_until_all_have_come(_: Call) -> Until | None:
        if len(wire.calls) == before + count:
            together.set()
        return Until(together) if len(wire.calls) > before else None

    wire.fault = hold_until_all_have_come
    await one.run(query)
    assert len(wire.calls) == before + count


async def test_nothing_ever_scans_or_filters(hundred: Api, wire: Wire) -> None:
    await hundred.run(PAGE_AND_ALL)
    assert "Scan" not in wire.operations
    assert not any("FilterExpression" in call.request for call in wire.calls)
