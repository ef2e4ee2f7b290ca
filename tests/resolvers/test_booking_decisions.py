"""Bookings decided: approved into the calendar or turned down, told to their owner, gone from the list of the open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from domain.authorization import Principal, Role, Scope
from domain.models import OwnerId
from domain.times import Instant
from tests.api import unchanged
from tests.conftest import NOW
from tests.invariants import check_invariants
from tests.places import (
    CANCEL,
    CREATE_EVENT,
    DAY,
    DEACTIVATE,
    REJECT,
    approve,
    book,
    found_location,
    paged,
    prepare,
    refusal,
    slots,
    ulid,
)
from tests.principals import device, owner, partner
from tests.resolvers.test_bookings import PENDING, pending

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.conftest import Clock
    from tests.wire import Wire

TOLD = """query ($first: Int, $after: String) { owner(ownerId: "ada") {
  notifications(first: $first, after: $after) {
    nodes { notificationId bookingId bookingStatus message createdAt booking { status } } nextCursor
  }
} }"""
BOTH_HALVES = {f"{DAY} MORNING": "b1", f"{DAY} AFTERNOON": "b1"}


async def told(api: Api, size: int = 100) -> list[list[dict[str, Any]]]:
    return [nodes async for nodes in paged(api, TOLD, size)]


async def reject(api: Api, booking_id: str, version: int = 1, **values: Any) -> dict[str, Any]:
    content = {"adminId": "root", "reason": "Closed for works", **values}
    return await api.mutate(REJECT, bookingId=booking_id, expectedVersion=version, **content)


@pytest.mark.parametrize(
    ("duration", "expected"),
    [
        ("MORNING", {f"{DAY} MORNING": "b1"}),
        ("AFTERNOON", {f"{DAY} AFTERNOON": "b1"}),
        ("FULL_DAY", BOTH_HALVES),
    ],
)
async def test_an_approved_booking_has_its_half_days_and_its_owner_is_told(
    api: Api, clock: Clock, dump: Callable[[], Any], duration: str, expected: dict[str, str]
) -> None:
    await prepare(api)
    asked = await book(api, "b1", duration=duration, description="Chess club\nwith a second line")
    clock.move(hours=2)
    payload = await approve(api, "b1")
    assert payload["userErrors"] == []
    decision = {"status": "APPROVED", "updatedAt": clock.now, "decidedBy": "root", "version": 2}
    assert payload["booking"] == {**asked, **decision}
    items = await dump()
    assert slots(items) == expected
    filled = [item for item in items.values() if item["entityType"] == "CALENDAR_SLOT"]
    assert {(item["title"], item["bookingId"], item["createdBy"]) for item in filled} == {("Chess club", "b1", "root")}
    assert await told(api) == [
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


async def test_a_rejected_booking_has_no_half_day_and_its_owner_is_told_why(
    api: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    await prepare(api)
    asked = await book(api, "b1")
    clock.move(hours=2)
    payload = await reject(api, "b1", reason="  Closed for works ")
    decision = {
        "status": "REJECTED",
        "updatedAt": clock.now,
        "decidedBy": "root",
        "reason": "Closed for works",
        "version": 2,
    }
    assert payload == {"booking": {**asked, **decision}, "userErrors": []}
    ((notice,),) = await told(api)
    assert notice["message"] == f"Your booking for {DAY} was rejected: Closed for works"
    assert (notice["notificationId"], notice["bookingStatus"]) == ("b1-rejected", "REJECTED")
    items = await dump()
    assert slots(items) == {}
    assert await pending(api) == []
    check_invariants(items, clock.now)


async def test_a_decision_sent_again_gives_the_first_result_and_tells_nobody_twice(
    api: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    await prepare(api)
    await api.owner("second", role="ADMIN")
    await book(api, "b1")
    await book(api, "b2")
    approved, rejected = await approve(api, "b1"), await reject(api, "b2")
    clock.move(days=30)
    before = await dump()
    for version, admin in ((1, "root"), (2, "root"), (1, "second")):
        assert await approve(api, "b1", version, admin) == approved
        assert await reject(api, "b2", version, adminId=admin, reason="Other words") == rejected
    assert await dump() == before


async def test_what_was_decided_or_given_up_cannot_be_decided_otherwise(api: Api, dump: Callable[[], Any]) -> None:
    await prepare(api)
    for number, booking_id in enumerate(("approved", "rejected", "cancelled"), 1):
        await book(api, booking_id, date=f"2026-04-0{number}")
    await approve(api, "approved")
    await reject(api, "rejected")
    await api.mutate(CANCEL, bookingId="cancelled", ownerId="ada")
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
        assert refusal(payload) == ("CONFLICT", 409, ["input", "expectedVersion"])
        assert payload["userErrors"][0]["currentVersion"] == 1
        assert payload["booking"] == asked
    assert await dump() == before


@pytest.mark.parametrize("admin", ["ada", "nobody"])
async def test_only_an_admin_decides(api: Api, dump: Callable[[], Any], admin: str) -> None:
    await prepare(api)
    await book(api, "b1")
    before = await dump()
    for payload in (await approve(api, "b1", admin=admin), await reject(api, "b1", adminId=admin)):
        assert payload["booking"] is None
        assert refusal(payload) == ("FORBIDDEN", 403, ["input", "adminId"])
    assert await dump() == before


@pytest.mark.parametrize("admin", ["ada", "nobody"])
async def test_only_an_admin_is_answered_when_a_decision_is_sent_again(
    api: Api, dump: Callable[[], Any], admin: str
) -> None:
    await prepare(api)
    await book(api, "b1")
    await book(api, "b2")
    await approve(api, "b1")
    await reject(api, "b2")
    async with unchanged(dump):
        for payload in (await approve(api, "b1", admin=admin), await reject(api, "b2", adminId=admin)):
            assert payload["booking"] is None
            assert refusal(payload) == ("FORBIDDEN", 403, ["input", "adminId"])


async def test_an_admin_who_is_an_owner_too_decides_in_its_own_name(api: Api, dump: Callable[[], Any]) -> None:
    await prepare(api)
    await api.owner("second", role="ADMIN")
    await book(api, "b1")
    second = api.by(Principal(subject="second", role=Role.ADMIN, owner_id=OwnerId("second")))
    event = {"locationId": ulid(0), "date": DAY, "duration": "AFTERNOON", "title": "Works", "adminId": "root"}
    async with unchanged(dump):
        for payload in (
            await approve(second, "b1", admin="root"),
            await reject(second, "b1"),
            await second.mutate(CREATE_EVENT, **event),
        ):
            assert refusal(payload) == ("FORBIDDEN", 403, ["input", "adminId"])
    assert (await approve(second, "b1", admin="second"))["booking"]["decidedBy"] == "second"


@pytest.mark.parametrize("principal", [owner("root"), owner("ada"), partner(*Scope), device("l1")])
async def test_nobody_passes_as_an_admin_by_naming_one(
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
        assert refusal(await approve(api, "b1")) == ("LOCATION_INACTIVE", 409, ["input", "bookingId"])
    assert (await reject(api, "b1"))["userErrors"] == []


async def test_a_booking_that_is_not_there_is_not_decided(api: Api, dump: Callable[[], Any]) -> None:
    await prepare(api)
    before = await dump()
    for payload in (await approve(api, "b9"), await reject(api, "b9")):
        assert refusal(payload) == ("NOT_FOUND", 404, ["input", "bookingId"])
    assert await dump() == before


@pytest.mark.parametrize(
    ("first", "second", "in_the_way"),
    [
        ("FULL_DAY", "FULL_DAY", "MORNING"),
        ("FULL_DAY", "MORNING", "MORNING"),
        ("FULL_DAY", "AFTERNOON", "AFTERNOON"),
        ("MORNING", "FULL_DAY", "MORNING"),
        ("AFTERNOON", "FULL_DAY", "AFTERNOON"),
        ("MORNING", "MORNING", "MORNING"),
    ],
)
async def test_a_taken_half_day_is_told_with_the_event_in_the_way(
    api: Api, dump: Callable[[], Any], first: str, second: str, in_the_way: str
) -> None:
    await prepare(api)
    await book(api, "b1", duration=first, description="First come")
    await book(api, "b2", duration=second)
    await approve(api, "b1")
    before = await dump()
    payload = await approve(api, "b2")
    assert refusal(payload) == ("SLOT_TAKEN", 409, ["input", "bookingId"])
    (error,) = payload["userErrors"]
    assert error["__typename"] == "SlotTaken"
    assert error["event"] == {
        "eventId": "b1",
        "locationId": ulid(0),
        "date": DAY,
        "slot": in_the_way,
        "title": "First come",
        "bookingId": "b1",
    }
    assert await dump() == before
    assert await pending(api) == ["b2"]


async def test_an_admins_event_in_the_way_is_told_too(api: Api, dump: Callable[[], Any]) -> None:
    await prepare(api)
    event = {"locationId": ulid(0), "adminId": "root", "date": DAY, "duration": "AFTERNOON", "title": "Works"}
    await api.mutate(CREATE_EVENT, eventId="e1", **event)
    await book(api, "b1")
    before = await dump()
    payload = await approve(api, "b1")
    assert refusal(payload)[0] == "SLOT_TAKEN"
    shown = payload["userErrors"][0]["event"]
    assert (shown["eventId"], shown["slot"], shown["bookingId"]) == ("e1", "AFTERNOON", None)
    assert await dump() == before


async def test_the_two_halves_of_a_day_other_days_and_other_places_are_not_in_the_way(
    api: Api, dump: Callable[[], Any]
) -> None:
    await prepare(api)
    await found_location(api, 1)
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


@pytest.mark.parametrize("size", [1, 2, 3, 4, 6, 7])
async def test_the_open_bookings_page_exactly(api: Api, clock: Clock, size: int) -> None:
    await prepare(api)
    for number in range(6):
        await book(api, f"b{number}")
        clock.move(milliseconds=number % 2)  # some are of the same millisecond
    names = [f"b{number}" for number in range(6)]
    pages = [[node["bookingId"] for node in nodes] async for nodes in paged(api, PENDING, size)]
    assert pages == [names[start : start + size] for start in range(0, 6, size)]
    backward = PENDING.replace("first: $first, after: $after", "last: $first, before: $after")
    pages = [[node["bookingId"] for node in nodes] async for nodes in paged(api, backward, size)]
    assert [name for page in reversed(pages) for name in page] == names


async def test_bookings_decided_between_two_pages_take_no_other_with_them(api: Api, clock: Clock) -> None:
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
            await api.mutate(CANCEL, bookingId="b2", ownerId="ada")
        if len(pages) == 2:  # in the middle of what is still to come; and one comes in
            await approve(api, "b6")
            await book(api, "b9")
    assert pages == [["b0", "b1"], ["b3", "b4"], ["b5", "b7"], ["b8", "b9"]]


@pytest.mark.parametrize("size", [1, 2, 4, 5])
async def test_an_owner_is_told_the_newest_first_and_the_list_pages_exactly(api: Api, clock: Clock, size: int) -> None:
    await prepare(api)
    for number in range(4):
        await book(api, f"b{number}", date=f"2026-04-0{number + 1}")
    for number in (2, 0, 3, 1):
        clock.move(minutes=1)
        await (approve if number % 2 else reject)(api, f"b{number}")
    names = ["b1-approved", "b3-approved", "b0-rejected", "b2-rejected"]
    pages = [[notice["notificationId"] for notice in page] for page in await told(api, size)]
    assert pages == [names[start : start + size] for start in range(0, 4, size)]


async def test_nobody_is_told_of_a_cancellation(api: Api) -> None:
    await prepare(api)
    await book(api, "b1")
    await api.mutate(CANCEL, bookingId="b1", ownerId="ada")
    assert await told(api) == [[]]
