"""Lists, page by page, in both directions and both orders, within a window of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

if TYPE_CHECKING:
    from tests.api import Api
    from tests.wire import Wire

PAGE = "nextCursor pageInfo { hasNextPage hasPreviousPage startCursor endCursor }"
LOCKERS = f"""query ($first: Int, $after: String, $last: Int, $before: String) {{ owner(ownerId: "acme") {{
  list: lockers(first: $first, after: $after, last: $last, before: $before) {{
    edges {{ cursor node {{ key: lockerId }} }} nodes {{ key: lockerId }} {PAGE}
  }}
}} }}"""
TIMED = f"""query (
  $window: TimeWindow, $orderBy: OrderBy! = ORDER, $first: Int, $after: String, $last: Int, $before: String
) {{ PARENT {{
  list: FIELD(window: $window, orderBy: $orderBy, first: $first, after: $after, last: $last, before: $before) {{
    edges {{ cursor node {{ key: OWN }} }} nodes {{ key: OWN }} {PAGE}
  }}
}} }}"""


def timed(parent: str, field: str, own: str, order: str) -> str:
    return TIMED.replace("PARENT", parent).replace("FIELD", field).replace("OWN", own).replace("ORDER", order)


RESERVATIONS = timed('locker(lockerId: "l1")', "reservations", "reservationId", "ASC")
EVENTS = timed('locker(lockerId: "l1")', "accessEvents", "eventId", "DESC")
MINE = timed('owner(ownerId: "acme")', "reservations", "reservationId", "ASC")
KEYS = ["k0", "k1", "k2", "k3", "k4"]
LISTS = [(LOCKERS, KEYS), (RESERVATIONS, KEYS), (EVENTS, KEYS[::-1]), (MINE, KEYS)]


@pytest_asyncio.fixture
async def five(api: Api, wire: Wire) -> Api:
    """Five entries in each list, an hour apart where they have a time, and neighbours that belong to none."""
    await api.owner("acme")
    await api.owner("acm")
    await api.owner("acme2")
    for number, key in enumerate(KEYS):
        await api.locker(key, "acme")
        if number == 0:
            await api.locker("l1", "acme2")
        await api.reservation(key, "l1", "acme", f"2026-03-02T1{number}:00:00Z", f"2026-03-02T1{number}:30:00Z")
        await api.event("l1", eventId=key, timestamp=f"2026-02-02T1{number}:00:00Z")
    wire.reset()
    return api


async def read(api: Api, query: str, **arguments: Any) -> Any:
    data = await api.run(query, **arguments)
    (parent,) = data.values()
    page = parent["list"]
    assert page["nodes"] == [edge["node"] for edge in page["edges"]]
    cursors = [edge["cursor"] for edge in page["edges"]]
    assert page["pageInfo"]["startCursor"] == (cursors[0] if cursors else None)
    assert page["pageInfo"]["endCursor"] == (cursors[-1] if cursors else None)
    return page


def keys(page: Any) -> list[str]:
    return [node["key"] for node in page["nodes"]]


def sides(page: Any) -> tuple[bool, bool]:
    return page["pageInfo"]["hasPreviousPage"], page["pageInfo"]["hasNextPage"]


@pytest.mark.parametrize(("query", "expected"), LISTS)
async def test_a_list_without_arguments_runs_in_its_own_order(five: Api, query: str, expected: list[str]) -> None:
    page = await read(five, query)
    assert (keys(page), sides(page), page["nextCursor"]) == (expected, (False, False), None)


@pytest.mark.parametrize(("query", "expected"), LISTS)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 100])
async def test_walking_forward_meets_every_item_once(five: Api, query: str, expected: list[str], size: int) -> None:
    met: list[str] = []
    cursor = None
    while True:
        page = await read(five, query, first=size, after=cursor)
        met += keys(page)
        assert sides(page) == (cursor is not None, len(met) < len(expected))
        assert (page["nextCursor"] is None) is (len(met) == len(expected))
        if page["nextCursor"] is None:
            break
        assert page["nextCursor"] == page["pageInfo"]["endCursor"]
        cursor = page["nextCursor"]
    assert met == expected


@pytest.mark.parametrize(("query", "expected"), LISTS)
@pytest.mark.parametrize("size", [1, 2, 5])
async def test_walking_backward_meets_every_item_once(five: Api, query: str, expected: list[str], size: int) -> None:
    met: list[str] = []
    cursor = None
    while True:
        page = await read(five, query, last=size, before=cursor)
        met = keys(page) + met
        assert sides(page) == (len(met) < len(expected), cursor is not None)
        if page["nextCursor"] is None:
            break
        assert page["nextCursor"] == page["pageInfo"]["startCursor"]
        cursor = page["nextCursor"]
    assert met == expected


@pytest.mark.parametrize(("query", "expected"), LISTS[1:])
async def test_a_list_by_time_runs_in_either_order(five: Api, query: str, expected: list[str]) -> None:
    assert expected in (KEYS, KEYS[::-1])
    assert keys(await read(five, query, orderBy="ASC")) == KEYS
    assert keys(await read(five, query, orderBy="DESC")) == KEYS[::-1]
    assert keys(await read(five, query, orderBy="ASC", last=2)) == ["k3", "k4"]
    assert keys(await read(five, query, orderBy="DESC", last=2)) == ["k1", "k0"]


@pytest.mark.parametrize(("query", "expected"), LISTS)
async def test_any_items_cursor_begins_or_ends_a_page(five: Api, query: str, expected: list[str]) -> None:
    cursors = [edge["cursor"] for edge in (await read(five, query))["edges"]]
    assert keys(await read(five, query, after=cursors[1])) == expected[2:]
    assert keys(await read(five, query, before=cursors[3], last=2)) == expected[1:3]
    assert keys(await read(five, query, before=cursors[3])) == expected[:3]
    assert keys(await read(five, query, after=cursors[4])) == []
    assert keys(await read(five, query, before=cursors[0])) == []


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ({}, KEYS),
        (None, KEYS),
        ({"from": None, "to": None}, KEYS),
        ({"from": "%sT11:00:00Z"}, KEYS[1:]),
        ({"to": "%sT11:00:00Z"}, KEYS[:2]),
        ({"from": "%sT11:00:00Z", "to": "%sT13:00:00Z"}, KEYS[1:4]),
        ({"from": "%sT11:00:00.001Z", "to": "%sT12:59:59.999Z"}, KEYS[2:3]),
        ({"from": "%sT12:00:00Z", "to": "%sT12:00:00Z"}, KEYS[2:3]),
        ({"from": "%sT14:00:00+02:00", "to": "%sT11:00:00-01:00"}, KEYS[2:3]),
        ({"from": "%sT12:00:00.001Z", "to": "%sT12:00:00.001Z"}, []),
        ({"from": "2027-01-01T00:00:00Z"}, []),
        ({"to": "2025-01-01T00:00:00Z"}, []),
    ],
)
@pytest.mark.parametrize(("query", "day"), [(RESERVATIONS, "2026-03-02"), (EVENTS, "2026-02-02"), (MINE, "2026-03-02")])
async def test_a_window_includes_both_its_bounds(
    five: Api, query: str, day: str, window: dict[str, str | None] | None, expected: list[str]
) -> None:
    bounds = window and {name: time and time.replace("%s", day) for name, time in window.items()}
    assert keys(await read(five, query, window=bounds, orderBy="ASC")) == expected
    assert keys(await read(five, query, window=bounds, orderBy="DESC")) == expected[::-1]


async def test_pages_stay_inside_their_window(five: Api) -> None:
    window = {"from": "2026-03-02T11:00:00Z", "to": "2026-03-02T13:00:00Z"}
    first = await read(five, RESERVATIONS, window=window, first=2)
    assert (keys(first), sides(first)) == (["k1", "k2"], (False, True))
    second = await read(five, RESERVATIONS, window=window, first=2, after=first["nextCursor"])
    assert (keys(second), sides(second), second["nextCursor"]) == (["k3"], (True, False), None)


async def test_an_owner_whose_id_begins_like_another_has_a_list_of_its_own(five: Api) -> None:
    for owner_id, expected in (("acm", []), ("acme2", ["l1"])):
        assert keys(await read(five, LOCKERS.replace('"acme"', f'"{owner_id}"'))) == expected


async def test_a_page_holds_twenty_five_unless_asked_and_a_hundred_at_most(api: Api, wire: Wire) -> None:
    await api.owner("acme")
    await api.locker("l1", "acme")
    for number in range(27):
        await api.event("l1", eventId=f"e{number:02d}")
    wire.reset()
    page = await read(api, EVENTS)
    assert len(page["nodes"]) == 25
    assert page["nextCursor"]
    page = await read(api, EVENTS, last=100)
    assert len(page["nodes"]) == 27
    # One item more than the page is read, to know whether there is one.
    assert [call.request["Limit"] for call in wire.of("Query")] == [26, 101]


async def test_the_page_sizes_are_settings(open_api: Any, five: Api) -> None:
    assert five
    async with open_api(page_size=2, page_size_max=3) as small:
        assert keys(await read(small, LOCKERS)) == KEYS[:2]
        assert keys(await read(small, LOCKERS, first=3)) == KEYS[:3]
        answer = await small.send(LOCKERS, first=4)
        assert answer["errors"][0]["message"] == "first must be 1 to 3, not 4."
