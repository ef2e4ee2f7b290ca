"""Approving and rejecting bookings: the calendar, the notification of the owner and the list of pending bookings."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from domain.authorization import Scope
from domain.times import Instant
from server.auth.development import development_token
from tests.api import unchanged
from tests.conftest import NOW
from tests.invariants import check_invariants
from tests.places import (
    APPROVE,
    CANCEL,
    CREATE_EVENT,
    DAY,
    DEACTIVATE,
    REJECT,
    approve,
    book,
    create_location,
    deciding,
    paged,
    prepare,
    refusal,
    slots,
    ulid,
)
from tests.principals import admin, device, owner, partner
from tests.resolvers.test_bookings import PENDING, pending

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from domain.authorization import Principal
    from tests.api import Api
    from tests.conftest import Clock
    from tests.wire import Wire

NOTIFICATIONS = """query ($first: Int, $after: String) { owner(ownerId: "ada") {
  notifications(first: $first, after: $after) {
    nodes { notificationId bookingId bookingStatus message createdAt booking { status } } nextCursor
  }
} }"""
BOTH_HALVES = {f"{DAY} MORNING": "b1", f"{DAY} AFTERNOON": "b1"}


async def notifications(api: Api, size: int = 100) -> list[list[dict[str, Any]]]:
    return [nodes async for nodes in paged(api, NOTIFICATIONS, size)]


async def reject(api: Api, booking_id: str, version: int = 1, admin: str = "root", **values: Any) -> dict[str, Any]:
    content = {"reason": "Closed for works", **values}
    return await deciding(api, admin).mutate(REJECT, bookingId=booking_id, expectedVersion=version, **content)


@pytest.mark.parametrize(
    ("duration", "expected"),
    [
        ("MORNING", {f"{DAY} MORNING": "b1"}),
        ("AFTERNOON", {f"{DAY} AFTERNOON": "b1"}),
        ("FULL_DAY", BOTH_HALVES),
    ],
)
async def test_an_approved_booking_takes_its_half_days_and_notifies_its_owner(
    api: Api, clock: Clock, dump: Callable[[], Any], duration: str, expected: dict[str, str]
) -> None:
    await prepare(api)
    asked = await book(api, "b1", duration=duration, description="Chess club\nwith a second line")
    clock.move(hours=2)
    payload = await approve(api, "b1")
    assert payload["userErrors"] == []
    decision = {
        "status": "APPROVED",
        "updatedAt": clock.now,
        "decidedById": "root",
        "decidedBySubject": "root",
        "version": 2,
    }
    assert payload["booking"] == {**asked, **decision}
    items = await dump()
    assert slots(items) == expected
    filled = [item for item in items.values() if item["entityType"] == "CALENDAR_SLOT"]
    assert {(item["title"], item["bookingId"], item["createdBy"]) for item in filled} == {("Chess club", "b1", "root")}
    assert await notifications(api) == [
        [
            {
                "notificationId": "b1-approved",
                "bookingId": "b1",
                "bookingStatus": "APPROVED",
                "message": f"Your booking for {DAY} was approved",
                "createdAt": clock.now,
                "booking": {"status": "APPROVED"},
            }
        ]
    ]
    assert await pending(api) == []
    assert "GSI1PK" not in items["BOOKING#b1", "META"]
    check_invariants(items, clock.now)


async def test_a_rejected_booking_takes_no_half_day_and_notifies_its_owner_with_the_reason(
    api: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    await prepare(api)
    asked = await book(api, "b1")
    clock.move(hours=2)
    payload = await reject(api, "b1", reason="  Closed for works ")
    decision = {
        "status": "REJECTED",
        "updatedAt": clock.now,
        "decidedById": "root",
        "decidedBySubject": "root",
        "reason": "Closed for works",
        "version": 2,
    }
    assert payload == {"booking": {**asked, **decision}, "userErrors": []}
    ((notice,),) = await notifications(api)
    assert notice["message"] == f"Your booking for {DAY} was rejected: Closed for works"
    assert (notice["notificationId"], notice["bookingStatus"]) == ("b1-rejected", "REJECTED")
    items = await dump()
    assert slots(items) == {}
    assert await pending(api) == []
    check_invariants(items, clock.now)


async def test_a_decision_made_again_changes_nothing_and_sends_no_second_notification(
    api: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    await prepare(api)
    await api.owner("second", role="ADMIN")
    await book(api, "b1")
    await book(api, "b2")
    approved, rejected = await approve(api, "b1"), await reject(api, "b2")
    clock.move(days=30)
    before = await dump()
    for other in ("root", "second"):
        assert await approve(api, "b1", 2, other) == approved
        assert await reject(api, "b2", 2, other, reason="Other words") == rejected
    for payload in (await approve(api, "b1"), await reject(api, "b2")):
        assert refusal(payload) == ("VERSION_CONFLICT", 409, ["input", "expectedVersion"])
    assert await dump() == before


async def test_a_decided_or_cancelled_booking_cannot_be_decided_again(api: Api, dump: Callable[[], Any]) -> None:
    await prepare(api)
    for number, booking_id in enumerate(("approved", "rejected", "cancelled"), 1):
        await book(api, booking_id, date=f"2026-04-0{number}")
    await approve(api, "approved")
    await reject(api, "rejected")
    await api.mutate(CANCEL, bookingId="cancelled")
    before = await dump()
    refused = {
        "approved": await reject(api, "approved", 2),
        "rejected": await approve(api, "rejected", 2),
        "cancelled": await approve(api, "cancelled", 2),
    }
    for booking_id, payload in refused.items():
        assert refusal(payload) == ("BOOKING_CLOSED", 409, ["input", "bookingId"])
        assert payload["booking"]["status"].lower() == booking_id
    assert refusal(await reject(api, "cancelled", 2)) == ("BOOKING_CLOSED", 409, ["input", "bookingId"])
    assert await dump() == before


async def test_a_decision_with_another_version_is_a_conflict(api: Api, dump: Callable[[], Any]) -> None:
    await prepare(api)
    asked = await book(api, "b1")
    before = await dump()
    for payload in (await approve(api, "b1", 2), await reject(api, "b1", 0)):
        assert refusal(payload) == ("VERSION_CONFLICT", 409, ["input", "expectedVersion"])
        assert payload["userErrors"][0]["currentVersion"] == 1
        assert payload["booking"] == asked
    assert await dump() == before


@pytest.mark.parametrize("not_admin", ["ada", "nobody"])
async def test_only_an_admin_decides_or_repeats_a_decision(api: Api, dump: Callable[[], Any], not_admin: str) -> None:
    await prepare(api)
    await book(api, "b1")
    await book(api, "b2")
    await approve(api, "b1")
    await reject(api, "b2")
    async with unchanged(dump):
        for payload in (await approve(api, "b1", 2, not_admin), await reject(api, "b2", 2, not_admin)):
            assert payload["booking"] is None
            assert refusal(payload) == ("FORBIDDEN", 403, ["input"])


async def test_a_decision_is_that_of_the_credentials(api: Api, dump: Callable[[], Any]) -> None:
    await prepare(api)
    await api.owner("second", role="ADMIN")
    for number, asker in enumerate((api.by(admin("second")), api)):
        booking_id = f"b{number}"
        await book(api, booking_id, date=f"2026-04-0{number + 1}")
        booking = (await asker.mutate(APPROVE, bookingId=booking_id, expectedVersion=1))["booking"]
        known = ("second", "second") if number == 0 else (None, "development")
        assert (booking["decidedById"], booking["decidedBySubject"]) == known
        edge = "query ($id: ID!) { booking(bookingId: $id) { decidedBy { name } } }"
        shown = {"name": "second"} if number == 0 else None
        assert (await api.run(edge, id=booking_id))["booking"]["decidedBy"] == shown
        assert (await dump())[f"LOCATION#{ulid(0)}", f"DAY#2026-04-0{number + 1}#MORNING"]["createdBy"] == known[1]


async def test_who_decided_is_shown_to_the_owner_by_id_alone(api: Api) -> None:
    await prepare(api)
    await book(api, "b1")
    await approve(api, "b1")
    query = "query ($id: ID!) { booking(bookingId: $id) { decidedById decidedBySubject decidedBy { name } } }"
    answer = await api.by(owner("ada")).send(query, id="b1")
    assert answer["data"]["booking"] == {"decidedById": "root", "decidedBySubject": None, "decidedBy": None}
    assert [error["path"] for error in answer["errors"]] == [["booking", "decidedBy"]]


async def test_an_admins_token_decides_in_the_name_of_its_owner(
    tmp_path: Path, open_api: Callable[..., AbstractAsyncContextManager[Api]]
) -> None:
    async with open_api(authenticator=None, data_dir=tmp_path) as api:
        await prepare(api)
        await api.owner("second", role="ADMIN")
        await book(api, "b1")
        token = development_token(tmp_path, admin("second"), timedelta(hours=1))
        query = """mutation ($input: ApproveBookingInput!) {
          approveBooking(input: $input) { booking { decidedById decidedBySubject decidedBy { ownerId } } }
        }"""
        body = {"query": query, "variables": {"input": {"bookingId": "b1", "expectedVersion": 1}}}
        response = await api.client.post("/graphql", json=body, headers={"Authorization": f"Bearer {token}"})
        assert response.json()["data"]["approveBooking"]["booking"] == {
            "decidedById": "second",
            "decidedBySubject": "second",
            "decidedBy": {"ownerId": "second"},
        }


@pytest.mark.parametrize("principal", [owner("root"), owner("ada"), partner(*Scope), device("l1")])
async def test_naming_an_admin_gives_no_rights(
    api: Api, wire: Wire, dump: Callable[[], Any], principal: Principal
) -> None:
    await prepare(api)
    await book(api, "b1")
    wire.reset()
    async with unchanged(dump):
        for payload in (await approve(api.by(principal), "b1"), await reject(api.by(principal), "b1")):
            assert payload["booking"] is None
            assert refusal(payload) == ("FORBIDDEN", 403, ["input"])
    assert wire.calls == []


async def test_a_booking_whose_day_has_passed_at_the_location_is_rejected_but_not_approved(
    api: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    await prepare(api, timeZone="Pacific/Kiritimati")  # fourteen hours ahead
    await book(api, "b1")
    await book(api, "b2", date="2026-03-11")
    clock.now = Instant("2026-03-10T10:00:00.000Z")  # already the 11th there
    async with unchanged(dump):
        payload = await approve(api, "b1")
        assert refusal(payload) == ("BOOKING_CLOSED", 409, ["input", "bookingId"])
        assert payload["booking"]["status"] == "PENDING"
    assert (await approve(api, "b2"))["userErrors"] == []
    assert (await reject(api, "b1"))["userErrors"] == []


async def test_a_booking_of_an_inactive_location_is_rejected_but_not_approved(
    api: Api, dump: Callable[[], Any]
) -> None:
    await prepare(api)
    await book(api, "b1")
    await api.mutate(DEACTIVATE, locationId=ulid(0), expectedVersion=1)
    async with unchanged(dump):
        payload = await approve(api, "b1")
        assert refusal(payload) == ("LOCATION_INACTIVE", 409, ["input", "bookingId"])
        assert payload["booking"]["status"] == "PENDING"
    assert (await reject(api, "b1"))["userErrors"] == []


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
    api: Api, dump: Callable[[], Any], first: str, second: str
) -> None:
    await prepare(api)
    await book(api, "b1", duration=first, description="First come")
    asked = await book(api, "b2", duration=second)
    await approve(api, "b1")
    async with unchanged(dump):
        payload = await approve(api, "b2")
        assert payload["booking"] == asked
        assert refusal(payload) == ("SLOT_TAKEN", 409, ["input", "bookingId"])
        (error,) = payload["userErrors"]
        assert error["__typename"] == "SlotTakenError"
        assert error["event"] == {
            "eventId": "b1",
            "locationId": ulid(0),
            "date": DAY,
            "duration": first,
            "title": "First come",
            "bookingId": "b1",
        }
    assert await pending(api) == ["b2"]


async def test_a_half_day_taken_by_an_event_of_an_admin_is_refused_with_the_event(
    api: Api, dump: Callable[[], Any]
) -> None:
    await prepare(api)
    event = {"locationId": ulid(0), "date": DAY, "duration": "AFTERNOON", "title": "Works"}
    await api.mutate(CREATE_EVENT, eventId="e1", **event)
    await book(api, "b1")
    async with unchanged(dump):
        payload = await approve(api, "b1")
        assert refusal(payload)[0] == "SLOT_TAKEN"
        shown = payload["userErrors"][0]["event"]
        assert (shown["eventId"], shown["duration"], shown["bookingId"]) == ("e1", "AFTERNOON", None)


async def test_other_half_days_days_and_locations_do_not_conflict(api: Api, dump: Callable[[], Any]) -> None:
    await prepare(api)
    await create_location(api, 1)
    await book(api, "b1", duration="MORNING")
    await book(api, "b2", duration="AFTERNOON")
    await book(api, "b3", date="2026-03-11")
    await book(api, "b4", locationId=ulid(1))
    for booking_id in ("b1", "b2", "b3", "b4"):
        assert (await approve(api, booking_id))["userErrors"] == []
    items = await dump()
    assert sum(item["entityType"] == "CALENDAR_SLOT" for item in items.values()) == 6
    check_invariants(items, NOW)


async def test_the_open_bookings_are_listed_oldest_first_whatever_their_day(api: Api, clock: Clock) -> None:
    await prepare(api)
    for number in (2, 0, 1):
        await book(api, f"b{number}", date=f"2026-04-0{9 - number}")
        clock.move(minutes=1)
    assert await pending(api) == ["b2", "b0", "b1"]


async def test_bookings_decided_between_two_pages_hide_no_other(api: Api, clock: Clock) -> None:
    await prepare(api)
    for number in range(9):
        await book(api, f"b{number}", date=f"2026-04-0{number + 1}")
        clock.move(seconds=1)
    pages = []
    async for nodes in paged(api, PENDING, 2):
        pages.append([node["bookingId"] for node in nodes])
        if len(pages) == 1:  # what was shown, the one that the cursor names included, and the next one
            await approve(api, "b0")
            await reject(api, "b1")
            await api.mutate(CANCEL, bookingId="b2")
        if len(pages) == 2:  # in the middle of what is still to come; and one comes in
            await approve(api, "b6")
            await book(api, "b9")
    assert pages == [["b0", "b1"], ["b3", "b4"], ["b5", "b7"], ["b8", "b9"]]


async def test_a_cancellation_sends_no_notification(api: Api) -> None:
    await prepare(api)
    await book(api, "b1")
    await api.mutate(CANCEL, bookingId="b1")
    assert await notifications(api) == [[]]
