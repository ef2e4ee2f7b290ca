from typing import Any

import pytest

from domain.times import Instant
from tests.api import Api, refused
from tests.conftest import NOW, Clock, Dump
from tests.inputs import GOOD
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
    pending,
    prepare,
    refusal,
    slots,
    ulid,
)
from tests.principals import owner

CONTENT = GOOD["requestBooking"]
BOOKING = """query ($id: ID!) { booking(bookingId: $id) {
  bookingId locationId ownerId date duration description attendees status requestedAt updatedAt
  decidedById decidedBySubject reason version
  location { code } owner { name } payments { nodes { amount { amount } } }
} }"""
MINE = """query ($window: DateRange, $first: Int, $after: String) {
  owner(ownerId: "ada") {
    bookings(window: $window, first: $first, after: $after) { nodes { bookingId status version } nextCursor }
  }
}"""


async def mine(api: Api, **window: str) -> list[str]:
    return [node["bookingId"] async for nodes in paged(api, MINE, 100, window=window) for node in nodes]


async def test_a_booking_is_pending_and_takes_nothing_yet(room: Api, dump: Dump) -> None:
    booking = (await room.mutate(REQUEST, **CONTENT))["booking"]
    undecided = dict.fromkeys(("decidedById", "decidedBySubject", "reason"))
    assert booking == {
        **CONTENT,
        **undecided,
        "status": "PENDING",
        "requestedAt": NOW,
        "updatedAt": NOW,
        "version": 1,
    }
    around = {"location": {"code": "place-0"}, "owner": {"name": "ada"}, "payments": {"nodes": []}}
    assert (await room.run(BOOKING, id=CONTENT["bookingId"]))["booking"] == {**booking, **around}
    items = await dump()
    assert slots(items) == {}
    assert not any(item["entityType"] == "NOTIFICATION" for item in items.values())
    check_invariants(items, NOW)


async def test_an_owners_bookings_are_narrowed_to_a_range_of_days(room: Api) -> None:
    for day in range(1, 6):
        await book(room, f"b{day}", date=f"2026-04-0{day}")
    assert await mine(room) == ["b1", "b2", "b3", "b4", "b5"]
    assert await mine(room, **{"from": "2026-04-02", "to": "2026-04-04"}) == ["b2", "b3", "b4"]
    assert await mine(room, **{"from": "2026-04-04"}) == ["b4", "b5"]
    assert await mine(room, to="2026-04-01") == ["b1"]
    (error,) = (await room.send(MINE, window={"from": "2026-04-02", "to": "2026-04-01"}))["errors"]
    assert error["extensions"]["inputPath"] == ["window", "from"]


async def test_a_location_takes_bookings_while_it_is_active(room: Api, dump: Dump) -> None:
    await room.mutate(DEACTIVATE, locationId=ulid(0), expectedVersion=1)
    payload = await refused(room, dump, REQUEST, **CONTENT)
    assert (payload["booking"], refusal(payload)) == (None, ("LOCATION_INACTIVE", 409, ["input", "locationId"]))
    await room.mutate(REACTIVATE, locationId=ulid(0), expectedVersion=2)
    assert (await book(room, "b1"))["status"] == "PENDING"


@pytest.mark.parametrize(
    ("time_zone", "yesterday", "today"),
    [("Pacific/Kiritimati", "2026-03-01", "2026-03-02"), ("Pacific/Pago_Pago", "2026-02-28", "2026-03-01")],
)
async def test_today_is_the_locations_own(api: Api, dump: Dump, time_zone: str, yesterday: str, today: str) -> None:
    await prepare(api, timeZone=time_zone)
    payload = await refused(api, dump, REQUEST, **CONTENT | {"date": yesterday})
    assert refusal(payload) == ("BAD_USER_INPUT", 400, ["input", "date"])
    assert today in payload["userErrors"][0]["message"]
    assert (await book(api, "b1", date=today))["date"] == today


async def test_the_bookings_of_an_owner_show_their_current_status(room: Api, dump: Dump) -> None:
    # One has an id like a key of the index of pending bookings.
    for number, booking_id in enumerate(("APPROVED", "CANCELLED", "PENDING", "REJECTED"), 1):
        await book(room, booking_id, date=f"2026-04-0{number}")
    await approve(room, "APPROVED")
    await room.mutate(CANCEL, bookingId="CANCELLED")
    await room.mutate(REJECT, bookingId="REJECTED", reason="No", expectedVersion=1)
    (page,) = [nodes async for nodes in paged(room, MINE, 100)]
    assert [(node["status"], node["version"]) for node in page] == [
        ("APPROVED", 2),
        ("CANCELLED", 2),
        ("PENDING", 1),
        ("REJECTED", 2),
    ]
    assert [node["status"] for node in page] == await mine(room)
    assert await pending(room) == ["PENDING"]
    assert (await approve(room, "PENDING"))["booking"]["status"] == "APPROVED"
    assert await pending(room) == []
    check_invariants(await dump(), NOW)


@pytest.mark.parametrize(
    ("time_zone", "begins"),
    [
        ("Pacific/Kiritimati", "2026-03-09T10:00:00.000Z"),
        ("Pacific/Pago_Pago", "2026-03-10T11:00:00.000Z"),
        ("Europe/Rome", "2026-03-09T23:00:00.000Z"),
    ],
)
@pytest.mark.parametrize("status", ["APPROVED", "PENDING"])
async def test_a_booking_may_be_canceled_until_its_day_begins_at_the_location(
    api: Api, clock: Clock, dump: Dump, time_zone: str, begins: str, status: str
) -> None:
    await prepare(api, timeZone=time_zone)
    await book(api, "b1")
    await book(api, "b2", date="2026-03-11")
    if status == "APPROVED":
        await approve(api, "b1")
    clock.now = Instant(begins)
    payload = await refused(api, dump, CANCEL, bookingId="b1")
    assert refusal(payload) == ("BOOKING_CLOSED", 409, ["input", "bookingId"])
    assert payload["booking"]["status"] == status
    clock.move(milliseconds=-1)
    canceled = await api.mutate(CANCEL, bookingId="b1")
    assert (canceled["userErrors"], canceled["booking"]["status"]) == ([], "CANCELLED")
    assert canceled["booking"]["updatedAt"] == clock.now
    clock.move(milliseconds=1)
    # The same again has the same result, even on the day.
    assert await refused(api, dump, CANCEL, bookingId="b1") == canceled
    assert (await api.mutate(CANCEL, bookingId="b2"))["booking"]["status"] == "CANCELLED"
    assert slots(await dump()) == {}


@pytest.mark.parametrize("duration", ["MORNING", "AFTERNOON", "FULL_DAY"])
async def test_cancelling_an_approved_booking_frees_exactly_its_slots(room: Api, dump: Dump, duration: str) -> None:
    await create_location(room, 1)
    other = {"MORNING": "AFTERNOON", "AFTERNOON": "MORNING", "FULL_DAY": "FULL_DAY"}[duration]
    await book(room, "b1", duration=duration)
    await book(room, "same-day", duration=other, date=DAY if other != "FULL_DAY" else "2026-03-09")
    await book(room, "next-day", date="2026-03-11")
    await book(room, "elsewhere", locationId=ulid(1))
    for booking_id in ("same-day", "next-day", "elsewhere", "b1"):
        assert (await approve(room, booking_id))["userErrors"] == []
    full = await dump()
    payload = await room.mutate(CANCEL, bookingId="b1")
    assert (payload["booking"]["status"], payload["booking"]["version"]) == ("CANCELLED", 3)
    items = await dump()
    gone = {key for key, item in full.items() if item.get("bookingId") == "b1" and key[1].startswith("DAY#")}
    assert full.keys() - items.keys() == gone
    assert items.keys() <= full.keys()  # nobody is notified
    assert len(gone) == (2 if duration == "FULL_DAY" else 1)
    check_invariants(items, NOW)
    await book(room, "b2", duration=duration)
    assert (await approve(room, "b2"))["userErrors"] == []


@pytest.mark.parametrize(
    ("booking_id", "owner_id", "code", "status"),
    [
        ("b1", "bob", "FORBIDDEN", 403),
        ("b9", "bob", "FORBIDDEN", 403),
        ("b9", "", "NOT_FOUND", 404),
        ("REJECTED", "ada", "BOOKING_CLOSED", 409),
    ],
)
async def test_a_booking_of_another_owner_or_a_closed_one_cannot_be_canceled(
    room: Api, dump: Dump, booking_id: str, owner_id: str, code: str, status: int
) -> None:
    await book(room, "b1")
    await approve(room, "b1")
    await book(room, "REJECTED")
    await room.mutate(REJECT, bookingId="REJECTED", reason="No", expectedVersion=1)
    asker = room.by(owner(owner_id)) if owner_id else room
    payload: dict[str, Any] = await refused(asker, dump, CANCEL, bookingId=booking_id)
    assert refusal(payload) == (code, status, ["input", "bookingId"])
    assert (payload["booking"] or {}).get("status") == (booking_id if code == "BOOKING_CLOSED" else None)
