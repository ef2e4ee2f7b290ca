"""Bookings: asked for, sent again, found and listed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.api import unchanged
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
    create_location,
    paged,
    prepare,
    refusal,
    slots,
    ulid,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api

CONTENT = {
    "locationId": ulid(0),
    "ownerId": "ada",
    "date": DAY,
    "duration": "FULL_DAY",
    "description": "Purpose of b1",
    "attendees": 5,
}
BOOKING = """query ($id: ID!) { booking(bookingId: $id) {
  bookingId locationId ownerId date duration description attendees status requestedAt updatedAt
  decidedById decidedBySubject reason version
  location { code } owner { name } payments { nodes { amount { amount } } }
} }"""
MINE = """query ($order: SortDirection!, $first: Int, $after: String) {
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
        "decidedById": None,
        "decidedBySubject": None,
        "reason": None,
        "version": 1,
    }
    around = {"location": {"code": "place-0"}, "owner": {"name": "ada"}, "payments": {"nodes": []}}
    assert (await api.run(BOOKING, id="b1"))["booking"] == {**booking, **around}
    items = await dump()
    assert slots(items) == {}
    assert not any(item["entityType"] == "NOTIFICATION" for item in items.values())
    check_invariants(items, NOW)


async def test_an_owners_bookings_are_narrowed_to_a_range_of_days(api: Api) -> None:
    await prepare(api)
    for day in range(1, 6):
        await book(api, f"b{day}", date=f"2026-04-0{day}")
    query = """query ($window: DateRange) {
      owner(ownerId: "ada") { bookings(window: $window) { nodes { bookingId } } }
    }"""

    async def within(**window: str) -> list[str]:
        nodes = (await api.run(query, window=window))["owner"]["bookings"]["nodes"]
        return [node["bookingId"] for node in nodes]

    assert await within() == ["b1", "b2", "b3", "b4", "b5"]
    assert await within(**{"from": "2026-04-02", "to": "2026-04-04"}) == ["b2", "b3", "b4"]
    assert await within(**{"from": "2026-04-04"}) == ["b4", "b5"]
    assert await within(to="2026-04-01") == ["b1"]
    (error,) = (await api.send(query, window={"from": "2026-04-02", "to": "2026-04-01"}))["errors"]
    assert error["extensions"]["inputPath"] == ["window", "from"]


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ({"locationId": ulid(9)}, ("NOT_FOUND", 404, ["input", "locationId"])),
        ({"ownerId": "nobody"}, ("NOT_FOUND", 404, ["input", "ownerId"])),
        ({"locationId": ulid(1)}, ("LOCATION_INACTIVE", 409, ["input", "locationId"])),
        ({"date": "2026-02-28"}, ("BAD_USER_INPUT", 400, ["input", "date"])),
    ],
)
async def test_a_refused_request_for_a_booking_writes_nothing(
    api: Api, dump: Callable[[], Any], other: dict[str, Any], expected: tuple[str, int, list[str]]
) -> None:
    await prepare(api)
    await create_location(api, 1)
    await api.mutate(DEACTIVATE, locationId=ulid(1), expectedVersion=1)
    async with unchanged(dump):
        payload = await api.mutate(REQUEST, **{**CONTENT, **other})
        assert payload["booking"] is None
        assert refusal(payload) == expected


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
    async with unchanged(dump):
        payload = await api.mutate(REQUEST, **{**CONTENT, "date": yesterday})
        assert refusal(payload) == ("BAD_USER_INPUT", 400, ["input", "date"])
        assert today in payload["userErrors"][0]["message"]
    assert (await book(api, "b1", date=today))["date"] == today


async def test_the_bookings_of_an_owner_show_their_current_status(api: Api, dump: Callable[[], Any]) -> None:
    await prepare(api)
    for number, booking_id in enumerate(("approved", "cancelled", "pending", "rejected"), 1):
        await book(api, booking_id, date=f"2026-04-0{number}")
    await approve(api, "approved")
    await api.mutate(CANCEL, bookingId="cancelled")
    await api.mutate(REJECT, bookingId="rejected", reason="No", expectedVersion=1)
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


async def test_a_booking_may_have_an_id_like_a_key_of_the_index(api: Api) -> None:
    await prepare(api)
    await book(api, "PENDING")
    assert (await approve(api, "PENDING"))["booking"]["status"] == "APPROVED"
    assert await pending(api) == []
    assert await mine(api) == [["PENDING"]]
