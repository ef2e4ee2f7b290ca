import pytest

from domain.times import Instant
from tests import places
from tests.api import Api, refused
from tests.conftest import NOW, Clock, Dump
from tests.inputs import GOOD
from tests.invariants import check_invariants
from tests.principals import owner
from tests.wire import unlogged

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
    return [node["bookingId"] async for nodes in places.paged(api, MINE, 100, window=window) for node in nodes]


async def test_a_booking_is_pending_and_takes_nothing_yet(room: Api, dump: Dump) -> None:
    booking = (await room.mutate(places.REQUEST, **CONTENT))["booking"]
    undecided = dict.fromkeys(("decidedById", "decidedBySubject", "reason"))
    assert booking == {**CONTENT, **undecided, "status": "PENDING", "requestedAt": NOW, "updatedAt": NOW, "version": 1}
    around = {"location": {"code": "place-0"}, "owner": {"name": "ada"}, "payments": {"nodes": []}}
    assert (await room.run(BOOKING, id=CONTENT["bookingId"]))["booking"] == {**booking, **around}
    items = await dump()
    assert places.slots(items) == {}
    assert not any(item["entityType"] == "NOTIFICATION" for item in items.values())
    check_invariants(items, NOW)


async def test_a_location_takes_bookings_while_it_is_active(room: Api, dump: Dump) -> None:
    await room.mutate(places.DEACTIVATE, locationId=places.ulid(0), expectedVersion=1)
    payload = await refused(room, dump, places.REQUEST, **CONTENT)
    assert (payload["booking"], places.refusal(payload)) == (None, ("LOCATION_INACTIVE", 409, ["input", "locationId"]))
    await room.mutate(places.REACTIVATE, locationId=places.ulid(0), expectedVersion=2)
    assert (await places.book(room, "b1"))["status"] == "PENDING"


@pytest.mark.parametrize(
    ("time_zone", "yesterday", "today"),
    [("Pacific/Kiritimati", "2026-03-01", "2026-03-02"), ("Pacific/Pago_Pago", "2026-02-28", "2026-03-01")],
)
async def test_today_is_the_locations_own(api: Api, dump: Dump, time_zone: str, yesterday: str, today: str) -> None:
    await places.prepare(api, timeZone=time_zone)
    payload = await refused(api, dump, places.REQUEST, **CONTENT | {"date": yesterday})
    assert places.refusal(payload) == ("BAD_USER_INPUT", 400, ["input", "date"])
    assert today in payload["userErrors"][0]["message"]
    assert (await places.book(api, "b1", date=today))["date"] == today


async def test_the_bookings_of_an_owner_show_their_current_status(room: Api, dump: Dump) -> None:
    # One has an id like a key of the index of pending bookings.
    for number, booking_id in enumerate(("APPROVED", "CANCELLED", "PENDING", "REJECTED"), 1):
        await places.book(room, booking_id, date=f"2026-04-0{number}")
    await places.approve(room, "APPROVED")
    await room.mutate(places.CANCEL, bookingId="CANCELLED")
    await room.mutate(places.REJECT, bookingId="REJECTED", reason="No", expectedVersion=1)
    (page,) = [nodes async for nodes in places.paged(room, MINE, 100)]
    assert [(node["status"], node["version"]) for node in page] == [
        ("APPROVED", 2),
        ("CANCELLED", 2),
        ("PENDING", 1),
        ("REJECTED", 2),
    ]
    assert [node["status"] for node in page] == await mine(room)
    assert await places.pending(room) == ["PENDING"]
    assert (await places.approve(room, "PENDING"))["booking"]["status"] == "APPROVED"
    assert await places.pending(room) == []
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
    await places.prepare(api, timeZone=time_zone)
    await places.book(api, "b1")
    await places.book(api, "b2", date="2026-03-11")
    if status == "APPROVED":
        await places.approve(api, "b1")
    clock.now = Instant(begins)
    payload = await refused(api, dump, places.CANCEL, bookingId="b1")
    assert places.refusal(payload) == ("BOOKING_CLOSED", 409, ["input", "bookingId"])
    assert payload["booking"]["status"] == status
    clock.move(milliseconds=-1)
    canceled = await api.mutate(places.CANCEL, bookingId="b1")
    assert (canceled["userErrors"], canceled["booking"]["status"]) == ([], "CANCELLED")
    assert canceled["booking"]["updatedAt"] == clock.now
    clock.move(milliseconds=1)
    # The same again has the same result, even on the day.
    assert await refused(api, dump, places.CANCEL, bookingId="b1") == canceled
    assert (await api.mutate(places.CANCEL, bookingId="b2"))["booking"]["status"] == "CANCELLED"
    assert places.slots(await dump()) == {}


@pytest.mark.parametrize("duration", ["MORNING", "AFTERNOON", "FULL_DAY"])
async def test_cancelling_an_approved_booking_frees_exactly_its_slots(room: Api, dump: Dump, duration: str) -> None:
    await places.create_location(room, 1)
    other = {"MORNING": "AFTERNOON", "AFTERNOON": "MORNING", "FULL_DAY": "FULL_DAY"}[duration]
    await places.book(room, "b1", duration=duration)
    await places.book(room, "same-day", duration=other, date=places.DAY if other != "FULL_DAY" else "2026-03-09")
    await places.book(room, "next-day", date="2026-03-11")
    await places.book(room, "elsewhere", locationId=places.ulid(1))
    for booking_id in ("same-day", "next-day", "elsewhere", "b1"):
        assert (await places.approve(room, booking_id))["userErrors"] == []
    full = await dump()
    payload = await room.mutate(places.CANCEL, bookingId="b1")
    assert (payload["booking"]["status"], payload["booking"]["version"]) == ("CANCELLED", 3)
    items = await dump()
    gone = {key for key, item in full.items() if item.get("bookingId") == "b1" and key[1].startswith("DAY#")}
    assert full.keys() - items.keys() == gone
    assert set(unlogged(items)) <= full.keys()  # nobody is notified
    assert len(gone) == (2 if duration == "FULL_DAY" else 1)
    check_invariants(items, NOW)
    await places.book(room, "b2", duration=duration)
    assert (await places.approve(room, "b2"))["userErrors"] == []


async def test_a_rejected_booking_cannot_be_canceled(room: Api, dump: Dump) -> None:
    await places.book(room, "b1")
    await room.mutate(places.REJECT, bookingId="b1", reason="No", expectedVersion=1)
    payload = await refused(room.by(owner("ada")), dump, places.CANCEL, bookingId="b1")
    assert places.refusal(payload) == ("BOOKING_CLOSED", 409, ["input", "bookingId"])
    assert payload["booking"]["status"] == "REJECTED"
