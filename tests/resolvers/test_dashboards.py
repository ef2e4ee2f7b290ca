import json
from collections.abc import Callable
from typing import Any

import pytest
import pytest_asyncio

from tests.api import Api
from tests.conftest import OpenApi
from tests.explained import explained
from tests.places import create_location, ulid
from tests.wire import Wire

STATUS_BOARD = """{ locations(first: 10) { nodes { name lockers(first: 20) { nodes {
  lockerId status activeReservation { endAt owner { name } } latestEvent { action timestamp }
} } } } }"""
OCCUPANCY = """{ locations(first: 25) { nodes { name lockers(first: 10) { nodes {
  lockerId owner { name } activeReservation { endAt }
} } } } }"""
START, END = "2026-03-01T11:00:00Z", "2026-03-01T13:00:00Z"
NOON = "2026-03-01T12:00:00.000Z"


async def write_copies(client: Any, table: str, items: list[dict[str, Any]], names: list[dict[str, str]]) -> None:
    """Writes the items once for each set of names, with these in the place of those that the items have."""
    copies = []
    for replaced in names:
        text = json.dumps(items)
        for name, other in replaced.items():
            text = text.replace(name, other)
        copies += json.loads(text)
    await client.fill(table, copies)


async def items_with(client: Any, table: str, is_wanted: Callable[[str, str], bool]) -> list[dict[str, Any]]:
    """The items whose keys are wanted."""
    found = (await client.scan(TableName=table))["Items"]
    return [item for item in found if is_wanted(item["PK"]["S"], item["SK"]["S"])]


@pytest_asyncio.fixture
async def full(api: Api, wire: Wire, plain_client: Any, table: str) -> Api:
    """25 locations, ten of them with 20 lockers and the others with 10; each is reserved now and was opened.

    One location and two lockers are made by the API; the items of the others that the boards read are copies.
    """
    await create_location(api, 99, name="Room 99")
    place = await items_with(plain_client, table, lambda pk, _: ulid(99) in pk)
    names = [{ulid(99): ulid(n), "Room 99": f"Room {n}"} for n in range(1, 25)]
    await write_copies(plain_client, table, place, names)
    for parity, owner in enumerate(("ada", "bob")):
        await api.owner(owner)
        await api.locker(f"L-{owner}", owner, locationId=ulid(99))
        await api.reservation(f"R-{owner}", f"L-{owner}", owner, START, END)
        await api.event(f"L-{owner}", eventId=f"E-{owner}")
        read = await items_with(
            plain_client,
            table,
            lambda pk, sk, locker=f"L-{owner}": (
                (pk.startswith("LOCATION#") and sk.endswith(locker))  # type: ignore[misc]
                or (pk.endswith(locker) and sk.startswith(("RES#ACTIVE", "EVT#")))
            ),
        )
        numbers = [(place, n) for place in (*range(1, 25), 99) for n in range(parity, 20 if place > 15 else 10, 2)]
        copies = [
            {f"{kind}-{owner}": f"{kind}-{place:02d}-{n:02d}" for kind in "LRE"} | {ulid(99): ulid(place)}
            for place, n in numbers
        ]
        await write_copies(plain_client, table, read, copies)
        listed = next(item for item in read if item["PK"]["S"].startswith("LOCATION#"))
        await plain_client.delete_item(TableName=table, Key={name: listed[name] for name in ("PK", "SK")})
    wire.reset()
    return api


@pytest.mark.parametrize("is_status_board", [True, False])
async def test_boards_of_250_lockers_run_with_the_defaults(full: Api, wire: Wire, *, is_status_board: bool) -> None:
    places = [99, *range(24, 0, -1)][: 10 if is_status_board else 25]
    reads = (
        {"Query": 2 + 10 + 200, "BatchGetItem": 2 + 1} if is_status_board else {"Query": 2 + 25, "BatchGetItem": 3 + 1}
    )
    board = STATUS_BOARD if is_status_board else OCCUPANCY

    def shown(locker: str, owner: str) -> dict[str, Any]:
        until, named = END.replace("Z", ".000Z"), {"owner": {"name": owner}}
        if not is_status_board:
            return {"lockerId": locker, **named, "activeReservation": {"endAt": until}}
        event = {"action": "OPEN", "timestamp": NOON}
        reservation = {"endAt": until, **named}
        return {"lockerId": locker, "status": "AVAILABLE", "activeReservation": reservation, "latestEvent": event}

    assert (await full.run(board))["locations"]["nodes"] == [
        {
            "name": f"Room {place}",
            "lockers": {
                "nodes": [
                    shown(f"L-{place:02d}-{n:02d}", ("ada", "bob")[n % 2]) for n in range(20 if is_status_board else 10)
                ]
            },
        }
        for place in places
    ]
    assert wire.operations == reads
    # Where pages are full, what is expected is near what is measured, and the maximum is never exceeded.
    totals = (await explained(full, board))["totals"]
    expected, maximum, measured = totals["expected"], totals["maximum"], totals["measured"]
    assert measured["readUnits"] <= expected["readUnits"] <= 4 * measured["readUnits"]
    assert all(measured[name] <= maximum[name] for name in ("operations", "items", "readUnits", "writeUnits"))
    assert measured["writeUnits"] == expected["writeUnits"] == 0


# The page, then the newest event of the same locker.
LARGE = (
    """{ locker(lockerId: "l1") { accessEvents(first: 5) { nodes { eventId locker { latestEvent { eventId } } } } } }"""
)


@pytest_asyncio.fixture
async def large(api: Api, wire: Wire) -> Api:
    """A locker with five events of the largest size: 20 read units where two are expected."""
    await api.owner("ada")
    await api.locker("l1", "ada")
    for number in range(5):
        await api.event("l1", eventId=f"e{number}", metadata={"note": "n" * 16_000})
    wire.reset()
    return api


async def test_a_query_that_exceeds_the_limit_is_stopped(large: Api, open_api: OpenApi, wire: Wire) -> None:
    taken = (await explained(large, LARGE))["totals"]
    assert taken["expected"]["readUnits"] < 8 < taken["measured"]["readUnits"]
    wire.reset()
    async with open_api(max_read_units=8) as small:
        answer = await small.send(LARGE)
    assert "data" not in answer
    (error,) = answer["errors"]
    assert error["message"] == (
        "The request was stopped after 10.5 read units, and the limit is 8. "
        "Ask for smaller pages, or send several requests."
    )
    assert (error["extensions"]["code"], error["extensions"]["status"]) == ("QUERY_TOO_COMPLEX", 400)
    assert wire.operations == {"GetItem": 1, "Query": 1}  # the second Query was not sent


async def test_a_budget_pays_what_is_expected_and_then_the_difference(large: Api, open_api: OpenApi) -> None:
    totals = (await explained(large, LARGE))["totals"]
    async with open_api(rate_limit_units=1, rate_limit_burst=1000) as metered:
        answer = await metered.send(LARGE)
        left = answer["extensions"]["rateLimit"]["remaining"]
        new_document = 2
        assert left == int(1000 - totals["measured"]["readUnits"] - new_document)
        # Where a request takes less than it was admitted with, nothing is given back.
        small = '{ locker(lockerId: "l1") { activeReservation { endAt } } }'
        answer = await metered.send(small)
        admitted = 1 + 0.5  # two reads, and the allowance for a search behind the pointer
        spent = totals["measured"]["readUnits"] + new_document + admitted
        assert answer["extensions"]["rateLimit"]["remaining"] == int(1000 - spent)
