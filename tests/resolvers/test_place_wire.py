"""What each question about locations, bookings and calendars may send to the store, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.places import (
    CREATE_EVENT,
    approve,
    book,
    found_location,
    prepare,
    ulid,
)

if TYPE_CHECKING:
    from tests.api import Api
    from tests.wire import Wire

PLACE = f"LOCATION#{ulid(0)}"
META = (PLACE, "META")
MEASURED = {"TableName", "ReturnConsumedCapacity"}
EVENT = {"locationId": ulid(0), "adminId": "root", "eventId": "e1"}


@pytest_asyncio.fixture
async def ready(api: Api, wire: Wire) -> Api:
    """An owner, an admin, a location, another, and a locker at the first."""
    await prepare(api)
    await found_location(api, 1)
    await api.locker("l1", "ada", alias="A1", locationId=ulid(0))
    wire.reset()
    return api


@pytest.mark.parametrize("field", ["code name status version", "lockers { nextCursor }"])
async def test_a_location_by_id_is_one_get(ready: Api, wire: Wire, field: str) -> None:
    await ready.run(f'{{ location(locationId: "{ulid(0)}") {{ {field} }} }}')
    (call,) = wire.of("GetItem")
    assert (call.keys, call.request["ConsistentRead"]) == ([META], False)
    assert wire.operations == ({"GetItem": 1} if "code" in field else {"GetItem": 1, "Query": 1})


async def test_a_location_by_code_is_two_gets(ready: Api, wire: Wire) -> None:
    await ready.run('{ locationByCode(code: "place-0") { name } }')
    assert [call.keys for call in wire.calls] == [[("LOCATION_CODE#place-0", "META")], [META]]
    assert wire.operations == {"GetItem": 2}


@pytest.mark.parametrize(
    ("query", "partition", "forward"),
    [
        ("{ locations(first: 5) { nodes { name } } }", "LOCATION#ACTIVE", False),
        ("{ locations(first: 5, status: INACTIVE) { nodes { name } } }", "LOCATION#INACTIVE", False),
        ("{ locations(last: 5) { nodes { name } } }", "LOCATION#ACTIVE", True),
        ("{ pendingBookings(first: 5) { nodes { date } } }", "BOOKING#PENDING", True),
        ("{ pendingBookings(last: 5) { nodes { date } } }", "BOOKING#PENDING", False),
    ],
)
async def test_a_list_that_crosses_partitions_is_one_query_of_the_index_without_a_filter(
    ready: Api, wire: Wire, query: str, partition: str, *, forward: bool
) -> None:
    await ready.run(query)
    (call,) = wire.calls
    request = {name: value for name, value in call.request.items() if name not in MEASURED}
    assert (call.operation, request) == (
        "Query",
        {
            "IndexName": "GSI1",
            "KeyConditionExpression": "#GSI1PK = :pk",
            "ExpressionAttributeNames": {"#GSI1PK": "GSI1PK"},
            "ExpressionAttributeValues": {":pk": {"S": partition}},
            "Limit": 6,
            "ScanIndexForward": forward,
            "ConsistentRead": False,
        },
    )


@pytest.mark.parametrize(
    ("query", "prefix", "forward"),
    [
        ('{ owner(ownerId: "ada") { bookings { nodes { status } } } }', "BOOKING#", True),
        ('{ owner(ownerId: "ada") { bookings(orderBy: DESC) { nodes { status } } } }', "BOOKING#", False),
        ('{ owner(ownerId: "ada") { notifications { nodes { message } } } }', "NOTIFICATION#", False),
    ],
)
async def test_a_list_of_an_owners_is_one_query_and_no_profile(
    ready: Api, wire: Wire, query: str, prefix: str, *, forward: bool
) -> None:
    await ready.run(query)
    (call,) = wire.calls
    assert call.request["ExpressionAttributeValues"] == {":pk": {"S": "OWNER#ada"}, ":prefix": {"S": prefix}}
    assert (call.request["Limit"], call.request["ScanIndexForward"]) == (26, forward)


async def test_the_locations_of_a_hundred_lockers_are_twelve_keys_in_one_batch(ready: Api, wire: Wire) -> None:
    await ready.owner("acme")
    for number in range(2, 12):
        await found_location(ready, number)
    for number in range(100):
        await ready.locker(f"m{number:03d}", "acme", locationId=ulid(number % 12))
    wire.reset()
    query = '{ owner(ownerId: "acme") { lockers(first: 100) { nodes { lockerId location { code } } } } }'
    nodes = (await ready.run(query))["owner"]["lockers"]["nodes"]
    assert [node["location"]["code"] for node in nodes] == [f"place-{number % 12}" for number in range(100)]
    lockers, locations = wire.of("BatchGetItem")
    assert wire.operations == {"Query": 1, "BatchGetItem": 2}
    assert len(lockers.keys) == 100
    assert sorted(locations.keys) == [(f"LOCATION#{ulid(number)}", "META") for number in range(12)]


async def test_a_locations_lockers_are_one_query_more_and_a_batch_only_where_the_copies_do_not_do(
    ready: Api, wire: Wire
) -> None:
    await ready.locker("l2", "ada", locationId=ulid(0))
    wire.reset()
    query = f'{{ location(locationId: "{ulid(0)}") {{ lockers {{ nodes {{ %s }} }} }} }}'
    await ready.run(query % "lockerId alias status updatedAt")
    assert wire.operations == {"GetItem": 1, "Query": 1}
    wire.reset()
    await ready.run(query % "lockerId version ownerId")
    assert wire.operations == {"GetItem": 1, "Query": 1, "BatchGetItem": 1}


async def test_a_calendar_of_ninety_two_full_days_is_one_bounded_query(ready: Api, wire: Wire) -> None:
    days = [f"2026-{month:02d}-{day:02d}" for month, last in ((4, 30), (5, 31), (6, 30)) for day in range(1, last + 1)]
    days += ["2026-03-31", "2026-07-01", "2026-07-02"]
    for day in days:
        values = {**EVENT, "eventId": f"e{day}", "date": day, "duration": "FULL_DAY", "title": "Works"}
        assert (await ready.mutate(CREATE_EVENT, **values))["userErrors"] == []
    wire.reset()
    query = f"""{{ location(locationId: "{ulid(0)}") {{
      %s(window: {{ from: "2026-04-01", to: "2026-07-01" }}) {{ date %s }}
    }} }}"""
    for field, more in (("calendar", "morning { eventId } afternoon { eventId }"), ("availability", "freeSlots")):
        wire.reset()
        shown = (await ready.run(query % (field, more)))["location"][field]
        assert len(shown) == 92
        if field == "calendar":
            assert all(day["morning"] == day["afternoon"] == {"eventId": f"e{day['date']}"} for day in shown)
        else:
            assert {tuple(day["freeSlots"]) for day in shown} == {()}
        assert wire.operations == {"GetItem": 1, "Query": 1}
        (call,) = wire.of("Query")
        assert call.request["Limit"] == 184
        assert call.request["ExpressionAttributeValues"] == {
            ":pk": {"S": PLACE},
            ":low": {"S": "DAY#2026-04-01"},
            ":high": {"S": "DAY#2026-07-01~"},
        }


async def test_the_bookings_behind_a_calendar_and_the_people_behind_bookings_are_batches(
    ready: Api, wire: Wire
) -> None:
    for number in range(1, 6):
        await ready.owner(f"o{number}")
        await book(ready, f"b{number}", date=f"2026-04-0{number}", ownerId=f"o{number}")
        await approve(ready, f"b{number}")
    wire.reset()
    query = f"""{{ location(locationId: "{ulid(0)}") {{ calendar(window: {{ from: "2026-04-01", to: "2026-04-30" }}) {{
      morning {{ booking {{ owner {{ name }} location {{ code }} }} }}
      afternoon {{ booking {{ description }} }}
    }} }} }}"""
    shown = (await ready.run(query))["location"]["calendar"]
    assert [day["morning"]["booking"]["owner"]["name"] for day in shown[:5]] == ["o1", "o2", "o3", "o4", "o5"]
    assert wire.operations == {"GetItem": 1, "Query": 1, "BatchGetItem": 2}
    assert [len(call.keys) for call in wire.of("BatchGetItem")] == [5, 5]
