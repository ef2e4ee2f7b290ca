"""A location's calendar: what fills it, what is free, and the events that admins make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.api import unchanged
from tests.conftest import NOW
from tests.invariants import check_invariants
from tests.old_items import put
from tests.places import (
    CANCEL,
    CREATE_EVENT,
    DAY,
    DEACTIVATE,
    DELETE_EVENT,
    approve,
    book,
    create_location,
    prepare,
    refusal,
    slots,
    ulid,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.conftest import Clock
    from tests.wire import Wire

CALENDAR = """query ($id: ID!, $window: DateWindow!) { location(locationId: $id) {
  calendar(window: $window) {
    date morning { id eventId title duration bookingId booking { attendees } } afternoon { id eventId duration }
  }
  availability(window: $window) { date freeSlots }
} }"""
MONTH = {"from": "2026-03-09", "to": "2026-03-12"}
EVENT = {
    "eventId": "e1",
    "locationId": ulid(0),
    "date": DAY,
    "duration": "FULL_DAY",
    "title": "Works",
}
FULL = {f"{DAY} MORNING": "e1", f"{DAY} AFTERNOON": "e1"}


async def create(api: Api, **values: Any) -> dict[str, Any]:
    return await api.mutate(CREATE_EVENT, **EVENT | values)


async def delete(api: Api, **values: Any) -> dict[str, Any]:
    return await api.mutate(DELETE_EVENT, **{"locationId": ulid(0), "eventId": "e1"} | values)


async def days(api: Api, window: dict[str, str], location_id: str = ulid(0)) -> dict[str, Any]:
    location: dict[str, Any] = (await api.run(CALENDAR, id=location_id, window=window))["location"]
    return location


async def test_a_calendar_shows_every_day_of_the_window_and_what_fills_it(api: Api) -> None:
    await prepare(api)
    await create_location(api, 1)
    await book(api, "before", date="2026-03-08")
    await book(api, "first", date="2026-03-09", duration="AFTERNOON")
    await book(api, "last", date="2026-03-12", duration="MORNING")
    await book(api, "after", date="2026-03-13")
    await book(api, "elsewhere", locationId=ulid(1))
    await book(api, "open", date="2026-03-11")
    for booking_id in ("before", "first", "last", "after", "elsewhere"):
        assert (await approve(api, booking_id))["userErrors"] == []
    await create(api)
    shown = await days(api, MONTH)
    ids = [half.pop("id") for day in shown["calendar"] for half in (day["morning"], day["afternoon"]) if half]
    assert ids[1] == ids[2], "an event of a whole day is one object"
    assert len(set(ids)) == 3
    works = {"eventId": "e1", "title": "Works", "duration": "FULL_DAY", "bookingId": None, "booking": None}
    booked = {
        "eventId": "last",
        "title": "Purpose of last",
        "duration": "MORNING",
        "bookingId": "last",
        "booking": {"attendees": 5},
    }
    assert shown == {
        "calendar": [
            {"date": "2026-03-09", "morning": None, "afternoon": {"eventId": "first", "duration": "AFTERNOON"}},
            {"date": "2026-03-10", "morning": works, "afternoon": {"eventId": "e1", "duration": "FULL_DAY"}},
            {"date": "2026-03-11", "morning": None, "afternoon": None},
            {"date": "2026-03-12", "morning": booked, "afternoon": None},
        ],
        "availability": [
            {"date": "2026-03-09", "freeSlots": ["MORNING"]},
            {"date": "2026-03-10", "freeSlots": []},
            {"date": "2026-03-11", "freeSlots": ["MORNING", "AFTERNOON"]},
            {"date": "2026-03-12", "freeSlots": ["AFTERNOON"]},
        ],
    }


async def test_a_damaged_half_day_is_taken_and_hides_no_other(
    api: Api, plain_client: Any, table: str, wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    # given a full day of which one half is damaged
    await prepare(api)
    await create(api)
    await put(plain_client, table, {"PK": f"LOCATION#{ulid(0)}", "SK": f"DAY#{DAY}#MORNING", "title": "?"})
    wire.reset()
    # when
    answer = await api.send(CALENDAR, id=ulid(0), window={"from": DAY, "to": "2026-03-11"})
    # then it is shown without its event, and not as free
    shown = answer["data"]["location"]
    assert [(day["morning"], day["afternoon"] and day["afternoon"]["eventId"]) for day in shown["calendar"]] == [
        (None, "e1"),
        (None, None),
    ]
    assert [day["freeSlots"] for day in shown["availability"]] == [[], ["MORNING", "AFTERNOON"]]
    assert [(error["path"], error["extensions"]["code"]) for error in answer["errors"]] == [
        (["location", name], "INTERNAL_SERVER_ERROR") for name in ("calendar", "availability")
    ]
    assert caplog.text.count("left out of its list: item LOCATION / DAY (") == 1
    assert wire.operations == {"GetItem": 1, "Query": 1}
    # and nothing else takes it
    payload = await create(api, eventId="e2")
    assert [error["code"] for error in payload["userErrors"]] == ["SLOT_TAKEN"]
    assert "cannot be read" in payload["userErrors"][0]["message"]


async def test_the_calendar_and_the_availability_of_one_window_are_one_query(api: Api, wire: Wire) -> None:
    await prepare(api)
    wire.reset()
    await days(api, MONTH)
    assert wire.operations == {"GetItem": 1, "Query": 1}
    wire.reset()
    other = CALENDAR.replace("availability(window: $window)", f'availability(window: {{from: "{DAY}", to: "{DAY}"}})')
    await api.run(other, id=ulid(0), window=MONTH)
    assert wire.operations == {"GetItem": 1, "Query": 2}


@pytest.mark.parametrize(
    ("first", "last", "count"),
    [
        ("2026-03-10", "2026-03-10", 1),
        ("2026-02-27", "2026-03-01", 3),
        ("2028-02-28", "2028-03-01", 3),
        ("2026-10-01", "2026-12-31", 92),
        ("9999-12-30", "9999-12-31", 2),
        ("0001-01-01", "0001-01-02", 2),
    ],
)
async def test_a_calendar_has_each_day_once_in_order(api: Api, first: str, last: str, count: int) -> None:
    await prepare(api)
    shown = await days(api, {"from": first, "to": last})
    dates = [day["date"] for day in shown["calendar"]]
    assert (dates[0], dates[-1], len(dates)) == (first, last, count)
    assert dates == sorted(set(dates)) == [day["date"] for day in shown["availability"]]


@pytest.mark.parametrize("duration", ["MORNING", "AFTERNOON", "FULL_DAY"])
async def test_an_admins_event_fills_its_half_days_and_frees_them_again(
    api: Api, clock: Clock, dump: Callable[[], Any], duration: str
) -> None:
    await prepare(api)
    halves = ["MORNING", "AFTERNOON"] if duration == "FULL_DAY" else [duration]
    payload = await create(api, duration=duration)
    assert payload["userErrors"] == []
    common = {"eventId": "e1", "date": DAY, "title": "Works", "bookingId": None, "createdAt": clock.now}
    assert payload["calendarEvent"] == {**common, "duration": duration}
    items = await dump()
    assert slots(items) == {f"{DAY} {half}": "e1" for half in halves}
    check_invariants(items, NOW)
    assert await delete(api) == {"deletedEventId": "e1", "userErrors": []}
    items = await dump()
    assert slots(items) == {}
    check_invariants(items, NOW)


async def test_the_id_of_an_event_stays_used_after_it_is_deleted(api: Api, dump: Callable[[], Any]) -> None:
    await prepare(api)
    await create(api)
    await delete(api)
    async with unchanged(dump):
        for payload in (await create(api), await create(api, date="2026-03-11")):
            assert payload["calendarEvent"] is None
            assert refusal(payload) == ("ID_TAKEN", 409, ["input", "eventId"])


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ({"locationId": ulid(9)}, ("NOT_FOUND", 404, ["input", "locationId"])),
        ({"locationId": ulid(1)}, ("LOCATION_INACTIVE", 409, ["input", "locationId"])),
        ({"date": "2026-03-20"}, ("SLOT_TAKEN", 409, ["input", "date"])),
        ({"date": "2026-03-20", "duration": "MORNING"}, ("SLOT_TAKEN", 409, ["input", "date"])),
    ],
)
async def test_an_event_that_cannot_be_made_writes_nothing(
    api: Api, dump: Callable[[], Any], other: dict[str, Any], expected: tuple[str, int, list[str]]
) -> None:
    await prepare(api)
    await create_location(api, 1)
    await api.mutate(DEACTIVATE, locationId=ulid(1), expectedVersion=1)
    await book(api, "b1", date="2026-03-20")
    await approve(api, "b1")
    async with unchanged(dump):
        payload = await create(api, **other)
        assert payload["calendarEvent"] is None
        assert refusal(payload) == expected
        if expected[0] == "SLOT_TAKEN":
            assert payload["userErrors"][0]["event"]["eventId"] == "b1"


async def test_an_event_deleted_again_answers_the_same(api: Api, dump: Callable[[], Any]) -> None:
    await prepare(api)
    await create(api)
    first = await delete(api)
    async with unchanged(dump):
        assert await delete(api) == first


async def test_an_event_deleted_again_does_not_affect_later_events_and_bookings(
    api: Api, dump: Callable[[], Any]
) -> None:
    await prepare(api)
    await create(api)
    await delete(api)
    await create(api, eventId="e2", duration="MORNING")
    await book(api, "b1", duration="AFTERNOON")
    await approve(api, "b1")
    before = await dump()
    assert await delete(api) == {"deletedEventId": "e1", "userErrors": []}
    assert await dump() == before
    assert slots(before) == {f"{DAY} MORNING": "e2", f"{DAY} AFTERNOON": "b1"}


@pytest.mark.parametrize("duration", ["MORNING", "FULL_DAY"])
async def test_a_booking_that_has_the_id_of_a_deleted_event_keeps_its_half_days(
    api: Api, dump: Callable[[], Any], duration: str
) -> None:
    await prepare(api)
    await create(api, duration=duration)
    await delete(api)
    await book(api, "e1", duration=duration)
    assert (await approve(api, "e1"))["userErrors"] == []
    before = await dump()
    assert await delete(api) == {"deletedEventId": "e1", "userErrors": []}
    assert refusal(await create(api, duration=duration)) == ("ID_TAKEN", 409, ["input", "eventId"])
    assert await dump() == before
    check_invariants(before, NOW)
    payload = await api.mutate(CANCEL, bookingId="e1")
    assert (payload["userErrors"], slots(await dump())) == ([], {})


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ({"eventId": "e9"}, ("NOT_FOUND", 404, ["input", "eventId"])),
        ({"eventId": "b1"}, ("NOT_FOUND", 404, ["input", "eventId"])),
        ({"locationId": ulid(1)}, ("NOT_FOUND", 404, ["input", "eventId"])),
    ],
)
async def test_a_missing_event_or_that_of_a_booking_cannot_be_deleted(
    api: Api, dump: Callable[[], Any], other: dict[str, str], expected: tuple[str, int, list[str]]
) -> None:
    await prepare(api)
    await create_location(api, 1)
    await create(api)
    await book(api, "b1", date="2026-03-20")
    await approve(api, "b1")
    before = await dump()
    payload = await delete(api, **other)
    assert payload["deletedEventId"] is None
    assert refusal(payload) == expected
    assert await dump() == before
    assert slots(before) == FULL | {"2026-03-20 MORNING": "b1", "2026-03-20 AFTERNOON": "b1"}


async def test_an_event_of_an_inactive_location_can_be_deleted(api: Api, dump: Callable[[], Any]) -> None:
    await prepare(api)
    await create(api)
    await api.mutate(DEACTIVATE, locationId=ulid(0), expectedVersion=1)
    assert await delete(api) == {"deletedEventId": "e1", "userErrors": []}
    assert slots(await dump()) == {}


async def test_the_same_event_id_at_two_locations_is_two_events(api: Api, dump: Callable[[], Any]) -> None:
    await prepare(api)
    await create_location(api, 1)
    await create(api)
    await create(api, locationId=ulid(1))
    await delete(api, locationId=ulid(1))
    assert {pk for pk, sk in await dump() if sk.startswith("DAY#")} == {f"LOCATION#{ulid(0)}"}
