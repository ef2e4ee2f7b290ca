"""Bookings: asked for, sent again, found and listed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import NOW
from tests.invariants import check_invariants
from tests.places import (
    CANCEL,
    DAY,
    DEACTIVATE,
    REACTIVATE,
    REJECT,
    REQUEST,
    approve,
    book,
    found_location,
    paged,
    prepare,
    refusal,
    slots,
    ulid,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.conftest import Clock

CONTENT = {
    "locationId": ulid(0),
    "ownerId": "ada",
    "date": DAY,
    "duration": "FULL_DAY",
    "description": "Purpose of b1",
    "attendees": 5,
}
BOOKING = """query ($id: ID!) { booking(bookingId: $id) {
  bookingId locationId ownerId date duration description attendees status requestedAt updatedAt decidedBy reason version
  location { code } owner { name } payments { nodes { amount } }
} }"""
MINE = """query ($order: OrderBy!, $first: Int, $after: String) {
  owner(ownerId: "ada") {
    bookings(orderBy: $order, first: $first, after: $after) { nodes { bookingId date status version } nextCursor }
  }
}"""
PENDING = """query ($first: Int, $after: String) {
  pendingBookings(first: $first, after: $after) { nodes { bookingId status } nextCursor }
}"""


async def pending(api: Api) -> list[str]:
    return [node["bookingId"] async for nodes in paged(api, PENDING, 100) for node in nodes]


async def mine(api: Api, size: int = 100, order: str = "ASC") -> list[list[str]]:
    return [[node["bookingId"] for node in nodes] async for nodes in paged(api, MINE, size, order=order)]


async def test_a_booking_is_pending_and_takes_nothing_yet(api: Api, dump: Callable[[], Any]) -> None:
    await prepare(api)
    booking = await book(api, "b1")
    assert booking == {
        **CONTENT,
        "bookingId": "b1",
        "status": "PENDING",
        "requestedAt": NOW,
        "updatedAt": NOW,
        "decidedBy": None,
        "reason": None,
        "version": 1,
    }
    around = {"location": {"code": "place-0"}, "owner": {"name": "ada"}, "payments": {"nodes": []}}
    assert (await api.run(BOOKING, id="b1"))["booking"] == {**booking, **around}
    items = await dump()
    assert slots(items) == {}
    assert not any(item["entityType"] == "NOTIFICATION" for item in items.values())
    check_invariants(items, NOW)


async def test_a_booking_without_an_id_gets_one_each_time(api: Api) -> None:
    await prepare(api)
    first, second = [(await api.mutate(REQUEST, **CONTENT))["booking"]["bookingId"] for _ in range(2)]
    assert len(first) == len(second) == 26
    assert first != second
    assert await pending(api) == sorted([first, second])


async def test_a_booking_is_found_as_a_node(api: Api) -> None:
    await prepare(api)
    await book(api, "b1")
    global_id = (await api.run('{ booking(bookingId: "b1") { id } }'))["booking"]["id"]
    query = "query ($id: ID!) { node(id: $id) { __typename ... on Booking { bookingId } } }"
    assert (await api.run(query, id=global_id))["node"] == {"__typename": "Booking", "bookingId": "b1"}


async def test_a_booking_that_is_not_there_is_null_with_not_found(api: Api) -> None:
    answer = await api.send(BOOKING, id="b9")
    assert answer["data"] == {"booking": None}
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["NOT_FOUND"]


async def test_a_request_sent_again_gives_the_first_result_for_ever(
    api: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    await prepare(api)
    first = await book(api, "b1")
    await api.mutate(DEACTIVATE, locationId=ulid(0), expectedVersion=1)
    clock.move(days=400)  # the day is long over and the location closed
    before = await dump()
    assert await book(api, "b1") == first
    assert await dump() == before


async def test_a_request_sent_again_after_its_decision_shows_what_became_of_it(
    api: Api, dump: Callable[[], Any]
) -> None:
    await prepare(api)
    await book(api, "b1")
    approved = (await approve(api, "b1"))["booking"]
    before = await dump()
    assert await book(api, "b1") == approved
    assert await dump() == before


@pytest.mark.parametrize(
    "other",
    [
        {"date": "2026-03-11"},
        {"duration": "MORNING"},
        {"description": "Else"},
        {"attendees": 6},
        {"ownerId": "root"},
        {"locationId": ulid(1)},
    ],
)
async def test_a_request_with_a_used_id_and_other_content_is_refused(
    api: Api, dump: Callable[[], Any], other: dict[str, Any]
) -> None:
    await prepare(api)
    await found_location(api, 1)
    await book(api, "b1")
    before = await dump()
    payload = await api.mutate(REQUEST, **{**CONTENT, "bookingId": "b1", **other})
    assert payload["booking"] is None
    assert refusal(payload) == ("ID_TAKEN", 409, ["input", "bookingId"])
    assert await dump() == before


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ({"locationId": ulid(9)}, ("NOT_FOUND", 404, ["input", "locationId"])),
        ({"ownerId": "nobody"}, ("NOT_FOUND", 404, ["input", "ownerId"])),
        ({"locationId": ulid(1)}, ("LOCATION_INACTIVE", 409, ["input", "locationId"])),
        ({"date": "2026-02-28"}, ("BAD_USER_INPUT", 400, ["input", "date"])),
    ],
)
async def test_a_request_that_cannot_be_met_writes_nothing(
    api: Api, dump: Callable[[], Any], other: dict[str, Any], expected: tuple[str, int, list[str]]
) -> None:
    await prepare(api)
    await found_location(api, 1)
    await api.mutate(DEACTIVATE, locationId=ulid(1), expectedVersion=1)
    before = await dump()
    payload = await api.mutate(REQUEST, **{**CONTENT, **other})
    assert payload["booking"] is None
    assert refusal(payload) == expected
    assert await dump() == before


async def test_a_location_that_opens_again_takes_bookings_again(api: Api) -> None:
    await prepare(api)
    await api.mutate(DEACTIVATE, locationId=ulid(0), expectedVersion=1)
    await api.mutate(REACTIVATE, locationId=ulid(0), expectedVersion=2)
    assert (await book(api, "b1"))["status"] == "PENDING"


@pytest.mark.parametrize(
    ("time_zone", "yesterday", "today"),
    [("Pacific/Kiritimati", "2026-03-01", "2026-03-02"), ("Pacific/Pago_Pago", "2026-02-28", "2026-03-01")],
)
async def test_today_is_the_locations_own_when_asking(
    api: Api, dump: Callable[[], Any], time_zone: str, yesterday: str, today: str
) -> None:
    await prepare(api, timeZone=time_zone)
    before = await dump()
    payload = await api.mutate(REQUEST, **{**CONTENT, "date": yesterday})
    assert refusal(payload) == ("BAD_USER_INPUT", 400, ["input", "date"])
    assert today in payload["userErrors"][0]["message"]
    assert await dump() == before
    assert (await book(api, "b1", date=today))["date"] == today


@pytest.mark.parametrize("size", [1, 2, 5, 6])
async def test_an_owners_bookings_page_exactly_by_date_in_both_orders(api: Api, size: int) -> None:
    await prepare(api)
    for number in (3, 0, 4, 1, 2):
        await book(api, f"b{number}", date=f"2026-04-0{number + 1}")
    await book(api, "not-hers", ownerId="root")
    names = [f"b{number}" for number in range(5)]
    assert await mine(api, size) == [names[start : start + size] for start in range(0, 5, size)]
    names.reverse()
    assert await mine(api, size, "DESC") == [names[start : start + size] for start in range(0, 5, size)]


async def test_an_owners_bookings_show_what_became_of_each(api: Api, dump: Callable[[], Any]) -> None:
    await prepare(api)
    for number, booking_id in enumerate(("approved", "cancelled", "pending", "rejected"), 1):
        await book(api, booking_id, date=f"2026-04-0{number}")
    await approve(api, "approved")
    await api.mutate(CANCEL, bookingId="cancelled", ownerId="ada")
    await api.mutate(REJECT, bookingId="rejected", adminId="root", reason="No", expectedVersion=1)
    (page,) = [nodes async for nodes in paged(api, MINE, 100, order="ASC")]
    assert [(node["bookingId"], node["version"]) for node in page] == [
        ("approved", 2),
        ("cancelled", 2),
        ("pending", 1),
        ("rejected", 2),
    ]
    assert [node["status"].lower() for node in page] == [node["bookingId"] for node in page]
    assert await pending(api) == ["pending"]
    check_invariants(await dump(), NOW)


async def test_a_booking_named_like_the_index_is_a_booking_like_any_other(api: Api) -> None:
    await prepare(api)
    await book(api, "PENDING")
    assert (await approve(api, "PENDING"))["booking"]["status"] == "APPROVED"
    assert await pending(api) == []
    assert await mine(api) == [["PENDING"]]
