"""Cancelling bookings: before their day, by their owner, and their half days are free again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from domain.times import Instant
from tests.api import unchanged
from tests.conftest import NOW
from tests.invariants import check_invariants
from tests.places import CANCEL, DAY, REJECT, approve, book, create_location, prepare, refusal, slots, ulid
from tests.principals import owner

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.conftest import Clock


@pytest.mark.parametrize(
    ("time_zone", "begins"),
    [
        ("Pacific/Kiritimati", "2026-03-09T10:00:00.000Z"),
        ("Pacific/Pago_Pago", "2026-03-10T11:00:00.000Z"),
        ("Europe/Rome", "2026-03-09T23:00:00.000Z"),
    ],
)
@pytest.mark.parametrize("approved", [True, False])
async def test_a_booking_may_be_cancelled_until_its_day_begins_at_the_location(
    api: Api, clock: Clock, dump: Callable[[], Any], time_zone: str, begins: str, *, approved: bool
) -> None:
    await prepare(api, timeZone=time_zone)
    await book(api, "b1")
    await book(api, "b2", date="2026-03-11")
    if approved:
        await approve(api, "b1")
    clock.now = Instant(begins)
    async with unchanged(dump):
        payload = await api.mutate(CANCEL, bookingId="b1")
        assert refusal(payload) == ("BOOKING_CLOSED", 409, ["input", "bookingId"])
        assert payload["booking"]["status"] == ("APPROVED" if approved else "PENDING")
    clock.move(milliseconds=-1)
    payload = await api.mutate(CANCEL, bookingId="b1")
    assert (payload["userErrors"], payload["booking"]["status"]) == ([], "CANCELLED")
    clock.move(milliseconds=1)
    assert (await api.mutate(CANCEL, bookingId="b2"))["booking"]["status"] == "CANCELLED"
    assert slots(await dump()) == {}


async def test_cancelling_again_gives_the_first_result_even_on_the_day(
    api: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    await prepare(api)
    await book(api, "b1")
    clock.move(hours=1)
    first = await api.mutate(CANCEL, bookingId="b1")
    assert (first["booking"]["updatedAt"], first["booking"]["version"]) == (clock.now, 2)
    async with unchanged(dump):
        clock.move(days=20)
        assert await api.mutate(CANCEL, bookingId="b1") == first


@pytest.mark.parametrize("duration", ["MORNING", "AFTERNOON", "FULL_DAY"])
async def test_cancelling_an_approved_booking_frees_exactly_its_slots(
    api: Api, dump: Callable[[], Any], duration: str
) -> None:
    await prepare(api)
    await create_location(api, 1)
    other = {"MORNING": "AFTERNOON", "AFTERNOON": "MORNING", "FULL_DAY": "FULL_DAY"}[duration]
    await book(api, "b1", duration=duration)
    await book(api, "same-day", duration=other, date=DAY if other != "FULL_DAY" else "2026-03-09")
    await book(api, "next-day", date="2026-03-11")
    await book(api, "elsewhere", locationId=ulid(1))
    kept = ("same-day", "next-day", "elsewhere")
    for booking_id in (*kept, "b1"):
        assert (await approve(api, booking_id))["userErrors"] == []
    full = await dump()
    payload = await api.mutate(CANCEL, bookingId="b1")
    assert (payload["booking"]["status"], payload["booking"]["version"]) == ("CANCELLED", 3)
    items = await dump()
    gone = {key for key, item in full.items() if item.get("bookingId") == "b1" and key[1].startswith("DAY#")}
    assert full.keys() - items.keys() == gone
    assert len(gone) == (2 if duration == "FULL_DAY" else 1)
    check_invariants(items, NOW)
    await book(api, "b2", duration=duration)
    assert (await approve(api, "b2"))["userErrors"] == []


@pytest.mark.parametrize(
    ("booking_id", "owner_id", "expected"),
    [
        ("b1", "bob", ("FORBIDDEN", 403, ["input", "bookingId"])),
        ("b9", "bob", ("FORBIDDEN", 403, ["input", "bookingId"])),
        ("b9", "", ("NOT_FOUND", 404, ["input", "bookingId"])),
        ("rejected", "ada", ("BOOKING_CLOSED", 409, ["input", "bookingId"])),
    ],
)
async def test_a_booking_of_another_owner_or_a_closed_one_cannot_be_cancelled(
    api: Api, dump: Callable[[], Any], booking_id: str, owner_id: str, expected: tuple[str, int, list[str]]
) -> None:
    await prepare(api)
    await book(api, "b1")
    await approve(api, "b1")
    await book(api, "rejected")
    await api.mutate(REJECT, bookingId="rejected", reason="No", expectedVersion=1)
    async with unchanged(dump):
        asker = api.by(owner(owner_id)) if owner_id else api
        payload = await asker.mutate(CANCEL, bookingId=booking_id)
        assert refusal(payload) == expected
        assert (payload["booking"] or {}).get("status") == ("REJECTED" if booking_id == "rejected" else None)
