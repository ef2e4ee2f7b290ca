from typing import Any

import pytest
import pytest_asyncio

from tests.api import Api
from tests.conftest import Clock, Prepared
from tests.places import DEACTIVATE, ulid
from tests.principals import device, owner
from tests.reservations import CANCEL
from tests.resolvers.offers import DAY, FREE, free, stock
from tests.wire import Wire

BUSY = """query ($id: ID!, $window: TimeSpan!) { locker(lockerId: $id) { busy(window: $window) { startAt endAt } } }"""


@pytest_asyncio.fixture
async def place(api: Api, prepared: Prepared) -> Api:
    await prepared(stock, api)
    return api


@pytest.mark.parametrize(
    ("start", "end", "is_free"),
    [
        ("2026-03-02T10:00:00Z", "2026-03-02T11:00:00Z", False),
        ("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z", True),
        ("2026-03-02T12:00:00Z", "2026-03-02T13:00:00Z", True),
        ("2026-03-02T11:59:00Z", "2026-03-02T13:00:00Z", False),
        ("2026-03-03T13:00:00Z", "2026-03-03T14:00:00Z", False),
        ("2026-03-03T15:00:00Z", "2026-03-03T16:00:00Z", True),
        ("2026-03-05T00:00:00Z", "2026-03-06T00:00:00Z", True),
        ("2026-02-01T00:00:00Z", "2026-03-02T00:00:00Z", True),
        ("2026-03-01T00:00:00Z", "2026-03-31T00:00:00Z", False),
    ],
)
async def test_a_locker_is_free_where_no_reservation_overlaps_the_window(
    place: Api, start: str, end: str, *, is_free: bool
) -> None:
    await place.reservation("r1", "all", "eve", "2026-03-02T10:00:00Z", "2026-03-02T12:00:00Z")
    await place.reservation("r2", "all", "eve", "2026-03-03T12:00:00Z", "2026-03-03T15:00:00Z")
    await place.reservation("gone", "all", "eve", "2026-03-04T12:00:00Z", "2026-03-04T15:00:00Z")
    await place.mutate(CANCEL, lockerId="all", reservationId="gone")
    found = await free(place.by(owner("eve")), window={"from": start, "to": end})
    assert set(found) == ({"all", "bob-all"} if is_free else {"bob-all"})
    assert set(await free(place.by(owner("eve")), window={"from": start, "to": end}, size="M")) == set(found)
    assert await free(place.by(owner("eve")), window={"from": start, "to": end}, size="XL") == []


async def test_a_search_sends_a_query_for_each_audience_and_asks_where_pointers_end(place: Api, wire: Wire) -> None:
    await place.reservation("r1", "all", "eve", "2026-03-02T10:00:00Z", "2026-03-02T12:00:00Z")
    await place.reservation("r2", "all", "eve", "2026-03-04T12:00:00Z", "2026-03-04T15:00:00Z")
    mia = place.by(owner("mia", "acme"))
    window = {"from": "2026-03-03T00:00:00Z", "to": "2026-03-04T00:00:00Z"}
    await free(mia, window=window, size="M")
    wire.reset()
    assert set(await free(mia, window=window, size="M")) == {"all", "bob-all", "ours"}
    assert not [call for call in wire.calls if "FilterExpression" in call.request]
    queries = [call.request for call in wire.of("Query")]
    prefixes = [query["ExpressionAttributeValues"].get(":prefix", {}).get("S") for query in queries]
    once = ["OFFER#EVERYONE#-#M#", "OFFER#OWNER#mia#M#", "OFFER#MEMBERS#acme#M#"]
    assert sorted(filter(None, prefixes)) == sorted(once)
    (before,) = [query for query in queries if ":prefix" not in query["ExpressionAttributeValues"]]
    assert (before["Limit"], before["ScanIndexForward"], before["ConsistentRead"]) == (1, False, False)
    asked = sorted(key for call in (*wire.of("BatchGetItem"), *wire.of("GetItem")) for key in call.keys)
    assert asked == sorted(
        [("LOCATION#01HX0000000000000000000000", "META")]
        + [(f"LOCKER#{name}", kind) for name in ("all", "bob-all", "ours") for kind in ("META", "RES#ACTIVE")]
    )


async def test_a_search_begins_elsewhere_for_another_caller_or_window(place: Api) -> None:
    for number in range(30):
        await place.locker(f"l{number}", "acme", locationId=ulid(0), reservableBy="EVERYONE")
    firsts = {
        (
            await free(
                place.by(owner(name)),
                window={"from": f"2026-03-0{day}T00:00:00Z", "to": "2026-03-09T00:00:00Z"},
                first=1,
            )
        )[0]
        for name in ("eve", "mia", "bob", "acme")
        for day in (2, 3, 4)
    }
    assert len(firsts) > 3


async def test_a_search_looks_at_fifty_lockers_and_says_whether_that_was_all(place: Api) -> None:
    eve = place.by(owner("eve"))

    async def search(**arguments: Any) -> tuple[int, bool]:
        found = (await eve.run(FREE, window=DAY, **arguments))["location"]["availableLockers"]
        return len(found["lockers"]), found["isComplete"]

    assert await search() == (2, True)
    assert await search(first=1) == (1, False)
    for number in range(60):
        await place.locker(f"l{number}", "acme", locationId=ulid(0), reservableBy="EVERYONE", size="L")
        reserves = ("acme", "bob", "mia", "eve")[number % 4]
        await place.reservation(f"r{number}", f"l{number}", reserves, "2026-03-02T10:00:00Z", "2026-03-02T11:00:00Z")
    assert await search(size="L") == (0, False)
    assert await search(size="XL") == (0, True)
    assert await search(size="M") == (2, True)


@pytest.mark.parametrize(
    "arguments",
    [
        {"window": {"from": DAY["to"], "to": DAY["from"]}},
        {"window": {"from": "2026-02-01T00:00:00Z", "to": "2026-02-02T00:00:00Z"}},
        {"window": {"from": DAY["from"], "to": "2026-04-03T00:00:00Z"}},
        {"first": 0},
        {"first": 26},
    ],
)
async def test_a_search_with_wrong_arguments_reads_no_offers(place: Api, wire: Wire, arguments: dict[str, Any]) -> None:
    wire.reset()
    (error,) = (await place.send(FREE, **{"window": DAY, **arguments}))["errors"]
    assert error["extensions"]["code"] == "BAD_USER_INPUT"
    assert not wire.of("Query")


async def test_an_inactive_location_has_no_available_lockers(place: Api) -> None:
    await place.mutate(DEACTIVATE, locationId=ulid(0), expectedVersion=1)
    assert await free(place.by(owner("eve"))) == []


async def test_busy_shows_merged_intervals_without_saying_whose_they_are(place: Api, wire: Wire) -> None:
    for name, start, end in (
        ("r0", "2026-03-01T11:00:00Z", "2026-03-01T13:00:00Z"),
        ("r1", "2026-03-02T10:00:00Z", "2026-03-02T12:00:00Z"),
        ("r2", "2026-03-02T12:00:00Z", "2026-03-02T13:00:00Z"),
        ("gone", "2026-03-02T14:00:00Z", "2026-03-02T15:00:00Z"),
        ("r3", "2026-03-02T23:00:00Z", "2026-03-03T02:00:00Z"),
        ("r4", "2026-03-03T02:00:00Z", "2026-03-03T03:00:00Z"),
    ):
        await place.reservation(name, "all", "bob", start, end)
    await place.mutate(CANCEL, lockerId="all", reservationId="gone")
    eve = place.by(owner("eve"))

    async def busy(start: str, end: str) -> list[tuple[str, str]]:
        shown = await eve.run(BUSY, id="all", window={"from": start, "to": end})
        return [(one["startAt"][8:16], one["endAt"][8:16]) for one in shown["locker"]["busy"]]

    assert await busy("2026-02-20T00:00:00Z", "2026-03-03T00:00:00Z") == [
        ("01T12:00", "01T13:00"),
        ("02T10:00", "02T13:00"),
        ("02T23:00", "03T00:00"),
    ]
    wire.reset()
    assert await busy("2026-03-03T01:00:00Z", "2026-03-04T00:00:00Z") == [("03T01:00", "03T03:00")]
    assert [call.request["Limit"] for call in wire.of("Query")] == [1, 101]
    assert await busy("2026-03-03T03:00:00Z", "2026-03-04T00:00:00Z") == []


async def test_a_device_reads_its_lockers_current_and_next_reservation(place: Api, clock: Clock, wire: Wire) -> None:
    selection = "lockerId status activeReservation { reservationId } nextReservation { reservationId }"
    document = f'{{ viewer {{ locker {{ {selection} }} }} locker(lockerId: "mine") {{ {selection} }} }}'
    here = place.by(device("mine"))

    async def reservations() -> list[str | None]:
        shown = await here.run(document)
        assert shown["viewer"]["locker"] == shown["locker"]
        return [(shown["locker"][name] or {}).get("reservationId") for name in ("activeReservation", "nextReservation")]

    assert await reservations() == [None, None]
    await place.reservation("next", "mine", "acme", "2026-03-01T13:00:00Z", "2026-03-01T14:00:00Z")
    assert await reservations() == [None, "next"]
    await place.reservation("now", "mine", "acme", "2026-03-01T12:00:00Z", "2026-03-01T12:30:00Z")
    wire.reset()
    assert await reservations() == ["now", "next"]
    assert [call.request["Limit"] for call in wire.of("Query")] == [1, 1]  # the next one, in two places
    clock.move(minutes=45)
    assert await reservations() == [None, "next"]
    clock.move(minutes=30)
    wire.reset()
    assert await reservations() == ["next", None]
    assert [call.request["Limit"] for call in wire.of("Query")] == [1] * 4  # the pointer has ended
