from typing import Any

import pytest

from domain.times import Instant
from tests import places
from tests.api import Api, refused, unchanged
from tests.conftest import NOW, Clock, Dump
from tests.invariants import check_invariants
from tests.principals import admin, owner

NOTIFICATIONS = """{ owner(ownerId: "ada") { notifications {
  nodes { notificationId bookingId bookingStatus message createdAt booking { status } }
} } }"""
DECIDED = "query ($id: ID!) { booking(bookingId: $id) { decidedById decidedBySubject decidedBy { name } } }"
CLOSED = ("BOOKING_CLOSED", 409, ["input", "bookingId"])
MORNING, AFTERNOON = f"{places.DAY} MORNING", f"{places.DAY} AFTERNOON"


async def check_decided(
    api: Api, dump: Dump, asked: dict[str, Any], payload: dict[str, Any], now: str, *, reason: str | None = None
) -> None:
    """The booking b1 is decided, its owner notified, and it is pending no more."""
    status = "REJECTED" if reason else "APPROVED"
    by_root = {"decidedById": "root", "decidedBySubject": "root"}
    decision = {"status": status, "updatedAt": now, "reason": reason, "version": 2, **by_root}
    assert payload == {"booking": {**asked, **decision}, "userErrors": []}
    notice = {
        "notificationId": f"b1-{status.lower()}",
        "bookingId": "b1",
        "bookingStatus": status,
        "message": f"Your booking for {places.DAY} was {status.lower()}" + (f": {reason}" if reason else ""),
        "createdAt": now,
        "booking": {"status": status},
    }
    assert (await api.run(NOTIFICATIONS))["owner"]["notifications"]["nodes"] == [notice]
    assert await places.pending(api) == []
    assert "GSI1PK" not in (await dump())["BOOKING#b1", "META"]
    check_invariants(await dump(), Instant(now))


@pytest.mark.parametrize(
    ("duration", "halves"), [("MORNING", {MORNING}), ("AFTERNOON", {AFTERNOON}), ("FULL_DAY", {MORNING, AFTERNOON})]
)
async def test_an_approved_booking_takes_its_half_days_and_notifies_its_owner(
    room: Api, clock: Clock, dump: Dump, duration: str, halves: set[str]
) -> None:
    asked = await places.book(room, "b1", duration=duration, description="Chess club\nwith a second line")
    clock.move(hours=2)
    await check_decided(room, dump, asked, await places.approve(room, "b1"), clock.now)
    items = await dump()
    assert places.slots(items) == dict.fromkeys(halves, "b1")
    filled = [item for item in items.values() if item["entityType"] == "CALENDAR_SLOT"]
    assert {(item["title"], item["bookingId"], item["createdBy"]) for item in filled} == {("Chess club", "b1", "root")}


async def test_a_rejected_booking_takes_no_half_day_and_its_owner_is_told(room: Api, clock: Clock, dump: Dump) -> None:
    asked = await places.book(room, "b1")
    clock.move(hours=2)
    payload = await places.reject(room, "b1", reason="  Closed for works ")
    await check_decided(room, dump, asked, payload, clock.now, reason="Closed for works")
    assert places.slots(await dump()) == {}


async def test_a_decided_booking_is_decided_again_only_in_the_same_way(room: Api, clock: Clock, dump: Dump) -> None:
    await room.owner("second", role="ADMIN")
    for number, booking_id in enumerate(("approved", "rejected", "canceled"), 1):
        await places.book(room, booking_id, date=f"2026-04-0{number}")
    approved, rejected = await places.approve(room, "approved"), await places.reject(room, "rejected")
    await room.mutate(places.CANCEL, bookingId="canceled")
    clock.move(days=60)
    async with unchanged(dump):
        assert await places.approve(room, "approved", 2, "second") == approved
        assert await places.reject(room, "rejected", 2, "second", reason="Other words") == rejected
        for payload, status in (
            (await places.reject(room, "approved", 2), "APPROVED"),
            (await places.approve(room, "rejected", 2), "REJECTED"),
            (await places.approve(room, "canceled", 2), "CANCELLED"),
            (await places.reject(room, "canceled", 2), "CANCELLED"),
        ):
            assert (places.refusal(payload), payload["booking"]["status"]) == (CLOSED, status)


async def test_only_who_is_an_admin_by_credentials_and_by_record_decides(room: Api, dump: Dump) -> None:
    for booking_id in ("approved", "rejected", "open"):
        await places.book(room, booking_id)
    await places.approve(room, "approved")
    await places.reject(room, "rejected")
    decisions: list[tuple[str, dict[str, Any]]] = [
        (places.APPROVE, {"bookingId": "approved", "expectedVersion": 2}),
        (places.REJECT, {"bookingId": "rejected", "expectedVersion": 2, "reason": "No"}),
        (places.APPROVE, {"bookingId": "open", "expectedVersion": 1}),
        (places.REJECT, {"bookingId": "open", "expectedVersion": 1, "reason": "No"}),
    ]
    for principal in (admin("ada"), admin("nobody"), owner("root")):
        for document, values in decisions:
            payload = await refused(room.by(principal), dump, document, **values)
            assert (payload["booking"], places.refusal(payload)) == (None, ("FORBIDDEN", 403, ["input"]))


async def test_a_decision_is_that_of_the_credentials(room: Api, dump: Dump) -> None:
    await room.owner("second", role="ADMIN")
    for asker, owner_id, subject in ((room.by(admin("second")), "second", "second"), (room, None, "development")):
        await places.book(room, subject, date="2026-04-01" if owner_id else "2026-04-02")
        assert (await asker.mutate(places.APPROVE, bookingId=subject, expectedVersion=1))["userErrors"] == []
        decided = {"decidedById": owner_id, "decidedBySubject": subject, "decidedBy": owner_id and {"name": owner_id}}
        assert await room.run(DECIDED, id=subject) == {"booking": decided}
        taken = [item for item in (await dump()).values() if item["entityType"] == "CALENDAR_SLOT"]
        assert {item["createdBy"] for item in taken if item["eventId"] == subject} == {subject}


async def test_who_decided_is_shown_to_the_owner_by_id_alone(room: Api) -> None:
    await places.book(room, "b1")
    await places.approve(room, "b1")
    answer = await room.by(owner("ada")).send(DECIDED, id="b1")
    assert answer["data"]["booking"] == {"decidedById": "root", "decidedBySubject": None, "decidedBy": None}
    assert [error["path"] for error in answer["errors"]] == [["booking", "decidedBy"]]


async def test_a_booking_of_a_day_that_has_passed_is_not_approved(api: Api, clock: Clock, dump: Dump) -> None:
    await places.prepare(api, timeZone="Pacific/Kiritimati")  # fourteen hours ahead
    await places.book(api, "b1")
    await places.book(api, "b2", date="2026-03-11")
    clock.now = Instant("2026-03-10T10:00:00.000Z")  # already the 11th there
    async with unchanged(dump):
        payload = await places.approve(api, "b1")
    assert (places.refusal(payload), payload["booking"]["status"]) == (CLOSED, "PENDING")
    assert (await places.approve(api, "b2"))["userErrors"] == []
    assert (await places.reject(api, "b1"))["userErrors"] == []


async def test_a_booking_of_an_inactive_location_is_rejected_but_not_approved(room: Api, dump: Dump) -> None:
    await places.book(room, "b1")
    await room.mutate(places.DEACTIVATE, locationId=places.ulid(0), expectedVersion=1)
    async with unchanged(dump):
        payload = await places.approve(room, "b1")
    assert places.refusal(payload) == ("LOCATION_INACTIVE", 409, ["input", "bookingId"])
    assert payload["booking"]["status"] == "PENDING"
    assert (await places.reject(room, "b1"))["userErrors"] == []


@pytest.mark.parametrize("is_booking", [True, False], ids=["by a booking", "by an event of an admin"])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("FULL_DAY", "FULL_DAY"),
        ("FULL_DAY", "MORNING"),
        ("FULL_DAY", "AFTERNOON"),
        ("MORNING", "FULL_DAY"),
        ("AFTERNOON", "FULL_DAY"),
        ("MORNING", "MORNING"),
    ],
)
async def test_a_taken_half_day_is_refused_with_the_event_that_takes_it(
    room: Api, dump: Dump, first: str, second: str, *, is_booking: bool
) -> None:
    event = {
        "eventId": "b1",
        "locationId": places.ulid(0),
        "date": places.DAY,
        "duration": first,
        "title": "First come",
    }
    if is_booking:
        await places.book(room, "b1", duration=first, description="First come")
        await places.approve(room, "b1")
    else:
        await room.mutate(places.CREATE_EVENT, **event)
    asked = await places.book(room, "b2", duration=second)
    async with unchanged(dump):
        payload = await places.approve(room, "b2")
    assert payload["booking"] == asked
    assert places.refusal(payload) == ("SLOT_TAKEN", 409, ["input", "bookingId"])
    (error,) = payload["userErrors"]
    assert error["__typename"] == "SlotTakenError"
    assert error["event"] == event | {"bookingId": "b1" if is_booking else None}
    assert await places.pending(room) == ["b2"]


async def test_other_half_days_days_and_locations_do_not_conflict(room: Api, dump: Dump) -> None:
    await places.create_location(room, 1)
    for number, content in enumerate(
        ({"duration": "MORNING"}, {"duration": "AFTERNOON"}, {"date": "2026-03-11"}, {"locationId": places.ulid(1)})
    ):
        await places.book(room, f"b{number}", **content)
        assert (await places.approve(room, f"b{number}"))["userErrors"] == []
    items = await dump()
    assert sum(item["entityType"] == "CALENDAR_SLOT" for item in items.values()) == 6
    check_invariants(items, NOW)


async def test_pending_bookings_are_listed_oldest_first_and_decided_ones_hide_no_other(room: Api, clock: Clock) -> None:
    for number in range(9, 0, -1):  # neither their days nor their ids are in the order of the requests
        await places.book(room, f"b{number}", date=f"2026-04-0{number}")
        clock.move(seconds=1)
    pages = []
    async for nodes in places.paged(room, places.PENDING, 2):
        pages.append([node["bookingId"] for node in nodes])
        if len(pages) == 1:  # what was shown, the one that the cursor names included, and the next one
            await places.approve(room, "b9")
            await places.reject(room, "b8")
            await room.mutate(places.CANCEL, bookingId="b7")
        if len(pages) == 2:  # in the middle of what is still to come; and one comes in
            await places.approve(room, "b3")
            await places.book(room, "b0")
    assert pages == [["b9", "b8"], ["b6", "b5"], ["b4", "b2"], ["b1", "b0"]]
