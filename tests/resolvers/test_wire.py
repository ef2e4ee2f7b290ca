"""The operations that a request sends to the store: their number, their kinds, and what runs at the same time.

The exact request of each contract is in the contracts' snapshots.
"""

import asyncio
from typing import Any

import pytest
import pytest_asyncio

from tests.api import REGISTER_LOCKER, UPDATE_STATUS, Api
from tests.places import approve, book, create_location, prepare, ulid
from tests.wire import Call, Until, Wire

ALL = [f"l{number:03d}" for number in range(100)]
OWNER = 'query { owner(ownerId: "acme") { %s } }'
OWNER_LOCKERS = OWNER % "lockers(first: 100) { nodes { %s } }"
HERE = f'location(locationId: "{ulid(0)}")'
GET, BATCH, QUERY = ({name: 1} for name in ("GetItem", "BatchGetItem", "Query"))
OPERATIONS: list[tuple[str, dict[str, int]]] = [
    ('{ locker(lockerId: "l000") { lockerId alias status version ownerId createdAt updatedAt } }', GET),
    ('{ a: locker(lockerId: "l001") { alias } b: locker(lockerId: "l002") { alias } }', BATCH),
    ('{ ownerByEmail(email: "ADA@example.com") { name version } }', {"GetItem": 2}),
    ('{ reservation(lockerId: "l007", reservationId: "r0") { status } }', {"GetItem": 2}),
    ('{ locationByCode(code: "place-0") { name } }', {"GetItem": 2}),
    (f"{{ {HERE} {{ code name status version }} }}", GET),
    (f"{{ {HERE} {{ lockers {{ nodes {{ lockerId alias status updatedAt }} }} }} }}", GET | QUERY),
    (f"{{ {HERE} {{ lockers {{ nodes {{ version }} }} }} }}", GET | QUERY | BATCH),
    ("{ locations(status: ACTIVE) { nodes { name } } }", QUERY),
    ("{ locations { nodes { name } } }", {"Query": 2}),  # one for each status
    ("{ pendingBookings { nodes { date } } }", QUERY),
    # Where a list is empty, the owner is read: it may not exist.
    (OWNER % "bookings { nodes { status } }", QUERY | GET),
    (OWNER % "notifications { nodes { message } }", QUERY | GET),
    (OWNER_LOCKERS % "lockerId alias status updatedAt", QUERY),
    (OWNER_LOCKERS % "lockerId alias version createdAt ownerId", QUERY | BATCH),
    (OWNER_LOCKERS % "version activeReservation { reservationId }", {"Query": 1, "BatchGetItem": 2}),
    # The loader merges the hundred into one; a batch of one key is sent as a GetItem, which costs the same.
    (OWNER_LOCKERS % "version owner { name }", QUERY | BATCH | GET),
    (OWNER_LOCKERS % "location { code }", {"Query": 1, "BatchGetItem": 2}),
    (OWNER_LOCKERS % "version latestEvent { action }", {"Query": 101, "BatchGetItem": 1}),
    ('{ locker(lockerId: "l007") { reservations { nodes { owner { name } } } } }', GET | QUERY | BATCH),
    ('{ owner(ownerId: "ada") { reservations { nodes { locker { alias } } } } }', QUERY | GET),
    (
        f"""{{ {HERE} {{ calendar(window: {{ from: "2026-04-01", to: "2026-04-30" }}) {{
          morning {{ booking {{ owner {{ name }} location {{ code }} }} }} afternoon {{ booking {{ description }} }}
        }} }} }}""",
        {"GetItem": 1, "Query": 1, "BatchGetItem": 2},
    ),
]


def nodes(data: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = data["owner"]["lockers"]["nodes"]
    return found


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


async def test_a_request_sends_as_few_operations_as_its_fields_allow(api: Api, wire: Wire) -> None:
    await prepare(api)
    await api.owner("acme", email="ada@example.com")
    for number in range(1, 12):
        await create_location(api, number)
    for number, locker_id in enumerate(ALL):
        await api.locker(locker_id, "acme", locationId=ulid(number % 12))
    for number, owner in enumerate(("ada", "root", "ada")):
        window = (f"2026-03-02T1{number}:00:00Z", f"2026-03-02T1{number}:30:00Z")
        await api.reservation(f"r{number}", "l007", owner, *window)
        await book(api, f"b{number}", date=f"2026-04-0{number + 1}", ownerId=owner)
        await approve(api, f"b{number}")
    for document, operations in OPERATIONS:
        wire.reset()
        await api.run(document)
        assert wire.operations == operations, document
        batches = [call.keys for call in wire.of("BatchGetItem")]
        assert all(len(keys) == len(set(keys)) for keys in batches), document


async def test_lists_inside_a_list_are_a_query_each_and_sixteen_run_at_once(hundred: Api, wire: Wire) -> None:
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
async def test_independent_reads_run_concurrently(one: Api, wire: Wire, query: str, before: int, count: int) -> None:
    together = asyncio.Event()

    def hold_until_all_have_come(_: Call) -> Until | None:
        if len(wire.calls) == before + count:
            together.set()
        return Until(together) if len(wire.calls) > before else None

    wire.fault = hold_until_all_have_come
    await one.run(query)
    assert len(wire.calls) == before + count
