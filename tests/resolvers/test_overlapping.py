from typing import Any

import pytest
import pytest_asyncio

from tests.api import Api
from tests.reservations import CANCEL, SHORTEN
from tests.wire import Wire

QUERY = """query (
  $overlapping: TimeWindow, $window: TimeWindow, $order: SortDirection! = ASC, $first: Int, $after: String
) {
  locker(lockerId: "l1") {
    reservations(overlapping: $overlapping, window: $window, orderBy: $order, first: $first, after: $after) {
      nodes { reservationId } edges { cursor } nextCursor pageInfo { hasPreviousPage hasNextPage } } } }"""


def at(hour: int) -> str:
    return f"2026-03-02T{hour:02d}:00:00.000Z"


def window(start: int | None, end: int | None) -> dict[str, str]:
    bounds = {"from": start, "to": end}
    return {name: at(hour) for name, hour in bounds.items() if hour is not None}


@pytest_asyncio.fixture
async def reserved(api: Api, wire: Wire) -> Api:
    """A locker with reservations from 1 to 10, 12 to 13 and 14 to 15, and a canceled one from 10 to 12."""
    await api.owner("ada")
    await api.locker("l1", "ada")
    for name, start, end in (("night", 1, 10), ("gone", 10, 12), ("noon", 12, 13), ("later", 14, 15)):
        await api.reservation(name, "l1", "ada", at(start), at(end))
    await api.mutate(CANCEL, lockerId="l1", reservationId="gone")
    wire.reset()
    return api


async def found(api: Api, **arguments: Any) -> dict[str, Any]:
    page: dict[str, Any] = (await api.run(QUERY, **arguments))["locker"]["reservations"]
    return page | {"nodes": [node["reservationId"] for node in page["nodes"]]}


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (5, 6, ["night"]),
        (0, 1, ["night"]),  # both bounds are included
        (9, 12, ["night", "noon"]),
        (10, 11, []),  # a reservation does not hold its own end
        (13, 13, []),
        (11, 23, ["noon", "later"]),
        (None, 11, ["night"]),
        (13, None, ["later"]),
        (None, None, ["night", "noon", "later"]),
    ],
)
async def test_a_window_shows_every_live_reservation_that_overlaps_it(
    reserved: Api, wire: Wire, start: int | None, end: int | None, expected: list[str]
) -> None:
    assert (await found(reserved, overlapping=window(start, end)))["nodes"] == expected
    descending = await found(reserved, overlapping=window(start, end), order="DESC")
    assert descending["nodes"] == expected[::-1]
    assert wire.operations == {"GetItem": 2, "Query": 4}


@pytest.mark.parametrize("order", ["ASC", "DESC"])
async def test_pages_of_an_overlapped_window_follow_one_another(reserved: Api, order: str) -> None:
    names, after = [], None
    for number in range(3):
        page = await found(reserved, overlapping=window(5, 23), order=order, first=1, after=after)
        assert page["pageInfo"] == {"hasPreviousPage": number > 0, "hasNextPage": number < 2}
        names += page["nodes"]
        after = page["nextCursor"]
    assert after is None
    expected = ["night", "noon", "later"]
    assert names == (expected if order == "ASC" else expected[::-1])


@pytest.mark.parametrize(
    ("document", "values"), [(CANCEL, {}), (SHORTEN, {"newEndAt": at(4)})], ids=["canceled", "shortened"]
)
@pytest.mark.parametrize(
    ("order", "expected"), [("ASC", (["dawn", "noon", "later"], True, False)), ("DESC", ([], True, False))]
)
async def test_a_list_goes_on_from_a_reservation_that_does_not_reach_into_the_window_any_more(
    reserved: Api, document: str, values: dict[str, Any], order: str, expected: tuple[list[str], bool, bool]
) -> None:
    whole = await found(reserved, overlapping=window(5, 23), order=order)
    after = whole["edges"][0 if order == "ASC" else -1]["cursor"]
    assert (await reserved.mutate(document, lockerId="l1", reservationId="night", **values))["userErrors"] == []
    await reserved.reservation("dawn", "l1", "ada", at(4), at(6))
    page = await found(reserved, overlapping=window(5, 23), order=order, after=after)
    assert (page["nodes"], *page["pageInfo"].values()) == expected
    # It is not a cursor of a list that was over before it.
    answer = await reserved.send(QUERY, overlapping=window(None, 0), after=after)
    assert answer["errors"][0]["extensions"]["code"] == "INVALID_CURSOR"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"overlapping": {}, "window": {}}, "Use window or overlapping, but not both."),
        ({"overlapping": window(6, 5)}, "overlapping.from must not be after overlapping.to."),
    ],
)
async def test_contradictory_arguments_fail(reserved: Api, wire: Wire, arguments: dict[str, Any], message: str) -> None:
    (error,) = (await reserved.send(QUERY, **arguments))["errors"]
    assert (error["message"], error["extensions"]["code"]) == (message, "BAD_USER_INPUT")
    assert wire.operations["Query"] == 0
