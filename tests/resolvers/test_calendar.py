from typing import Any

import pytest

from tests import places
from tests.api import Api, refused, unchanged
from tests.conftest import NOW, Clock, Dump
from tests.invariants import check_invariants
from tests.tables import put
from tests.wire import Wire

CALENDAR = """query ($id: ID!, $window: DateWindow!) { location(locationId: $id) {
  calendar(window: $window) {
    date morning { id eventId title duration bookingId booking { attendees } } afternoon { id eventId duration }
  }
  availability(window: $window) { date freeSlots }
} }"""
MONTH = {"from": "2026-03-09", "to": "2026-03-12"}
EVENT = {"eventId": "e1", "locationId": places.ulid(0), "date": places.DAY, "duration": "FULL_DAY", "title": "Works"}
PLACE = {name: EVENT[name] for name in ("eventId", "locationId")}
DELETED = {"deletedEventId": "e1", "userErrors": []}
ID_TAKEN = ("ID_TAKEN", 409, ["input", "eventId"])


async def create(api: Api, **values: Any) -> dict[str, Any]:
    return await api.mutate(places.CREATE_EVENT, **EVENT | values)


async def delete(api: Api, **values: Any) -> dict[str, Any]:
    return await api.mutate(places.DELETE_EVENT, **PLACE | values)


async def approved(api: Api, booking_id: str, **values: Any) -> None:
    await places.book(api, booking_id, **values)
    assert (await places.approve(api, booking_id))["userErrors"] == []


async def days(api: Api, window: dict[str, str]) -> dict[str, Any]:
    location: dict[str, Any] = (await api.run(CALENDAR, id=places.ulid(0), window=window))["location"]
    return location


async def test_a_calendar_shows_every_day_of_the_window_and_what_fills_it(room: Api) -> None:
    await places.create_location(room, 1)
    await approved(room, "before", date="2026-03-08")
    await approved(room, "first", date="2026-03-09", duration="AFTERNOON")
    await approved(room, "last", date="2026-03-12", duration="MORNING")
    await approved(room, "after", date="2026-03-13")
    await approved(room, "elsewhere", locationId=places.ulid(1))
    await places.book(room, "open", date="2026-03-11")
    await create(room)
    shown = await days(room, MONTH)
    ids = [half.pop("id") for day in shown["calendar"] for half in (day["morning"], day["afternoon"]) if half]
    assert ids[1] == ids[2], "an event of a whole day is one object"
    assert len(set(ids)) == 3
    works = {"eventId": "e1", "title": "Works", "duration": "FULL_DAY", "bookingId": None, "booking": None}
    booked = {"bookingId": "last", "booking": {"attendees": 5}}
    last = {"eventId": "last", "title": "Purpose of last", "duration": "MORNING", **booked}
    assert shown == {
        "calendar": [
            {"date": "2026-03-09", "morning": None, "afternoon": {"eventId": "first", "duration": "AFTERNOON"}},
            {"date": "2026-03-10", "morning": works, "afternoon": {"eventId": "e1", "duration": "FULL_DAY"}},
            {"date": "2026-03-11", "morning": None, "afternoon": None},
            {"date": "2026-03-12", "morning": last, "afternoon": None},
        ],
        "availability": [
            {"date": "2026-03-09", "freeSlots": ["MORNING"]},
            {"date": "2026-03-10", "freeSlots": []},
            {"date": "2026-03-11", "freeSlots": ["MORNING", "AFTERNOON"]},
            {"date": "2026-03-12", "freeSlots": ["AFTERNOON"]},
        ],
    }


async def test_a_damaged_half_day_is_taken_and_hides_no_other(
    room: Api, plain_client: Any, table: str, wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    await create(room)
    await put(
        plain_client, table, {"PK": f"LOCATION#{places.ulid(0)}", "SK": f"DAY#{places.DAY}#MORNING", "title": "?"}
    )
    wire.reset()
    answer = await room.send(CALENDAR, id=places.ulid(0), window={"from": places.DAY, "to": "2026-03-11"})
    # It is shown without its event, and not as free.
    shown = answer["data"]["location"]
    halves = [(day["morning"], day["afternoon"] and day["afternoon"]["eventId"]) for day in shown["calendar"]]
    assert halves == [(None, "e1"), (None, None)]
    assert [day["freeSlots"] for day in shown["availability"]] == [[], ["MORNING", "AFTERNOON"]]
    assert [(error["path"], error["extensions"]["code"]) for error in answer["errors"]] == [
        (["location", name], "INTERNAL_SERVER_ERROR") for name in ("calendar", "availability")
    ]
    assert caplog.text.count("left out of its list: item LOCATION / DAY (") == 1
    assert wire.operations == {"GetItem": 1, "Query": 1}
    # Nothing else takes it.
    (error,) = (await create(room, eventId="e2"))["userErrors"]
    assert error["code"] == "SLOT_TAKEN"
    assert "cannot be read" in error["message"]


async def test_the_calendar_and_the_availability_of_one_window_are_one_query(room: Api, wire: Wire) -> None:
    other = CALENDAR.replace(
        "availability(window: $window)", f'availability(window: {{from: "{places.DAY}", to: "{places.DAY}"}})'
    )
    for document, queries in ((CALENDAR, 1), (other, 2)):
        wire.reset()
        await room.run(document, id=places.ulid(0), window=MONTH)
        assert wire.operations == {"GetItem": 1, "Query": queries}


@pytest.mark.parametrize("duration", ["MORNING", "AFTERNOON", "FULL_DAY"])
async def test_an_event_fills_its_half_days_and_frees_them(room: Api, clock: Clock, dump: Dump, duration: str) -> None:
    payload = await create(room, duration=duration)
    shown = {"eventId": "e1", "date": places.DAY, "duration": duration, "title": "Works", "bookingId": None}
    assert payload == {"calendarEvent": shown | {"createdAt": clock.now}, "userErrors": []}
    halves = ["MORNING", "AFTERNOON"] if duration == "FULL_DAY" else [duration]
    for taken in ({f"{places.DAY} {half}": "e1" for half in halves}, {}):
        items = await dump()
        assert places.slots(items) == taken
        check_invariants(items, NOW)
        assert await delete(room) == DELETED


@pytest.mark.parametrize(
    ("other", "code", "path"),
    [
        ({"locationId": places.ulid(1)}, "LOCATION_INACTIVE", "locationId"),
        ({"date": "2026-03-20"}, "SLOT_TAKEN", "date"),
        ({"date": "2026-03-20", "duration": "MORNING"}, "SLOT_TAKEN", "date"),
    ],
)
async def test_a_wrong_event_writes_nothing(room: Api, dump: Dump, other: dict[str, Any], code: str, path: str) -> None:
    await places.create_location(room, 1)
    await room.mutate(places.DEACTIVATE, locationId=places.ulid(1), expectedVersion=1)
    await approved(room, "b1", date="2026-03-20")
    payload = await refused(room, dump, places.CREATE_EVENT, **EVENT | other)
    assert (payload["calendarEvent"], places.refusal(payload)) == (None, (code, 409, ["input", path]))
    assert code != "SLOT_TAKEN" or payload["userErrors"][0]["event"]["eventId"] == "b1"


async def test_an_event_deleted_again_does_not_affect_later_events_and_bookings(room: Api, dump: Dump) -> None:
    await create(room)
    await delete(room)
    await create(room, eventId="e2", duration="MORNING")
    await approved(room, "b1", duration="AFTERNOON")
    async with unchanged(dump):
        assert await delete(room) == DELETED
    assert places.slots(await dump()) == {f"{places.DAY} MORNING": "e2", f"{places.DAY} AFTERNOON": "b1"}


@pytest.mark.parametrize("duration", ["MORNING", "FULL_DAY"])
async def test_a_deleted_events_id_stays_used_and_its_booking_keeps_days(room: Api, dump: Dump, duration: str) -> None:
    await create(room, duration=duration)
    await delete(room)
    await approved(room, "e1", duration=duration)
    async with unchanged(dump):
        assert await delete(room) == DELETED
        for date in (places.DAY, "2026-03-11"):
            payload = await create(room, duration=duration, date=date)
            assert (payload["calendarEvent"], places.refusal(payload)) == (None, ID_TAKEN)
    check_invariants(await dump(), NOW)
    payload = await room.mutate(places.CANCEL, bookingId="e1")
    assert (payload["userErrors"], places.slots(await dump())) == ([], {})


@pytest.mark.parametrize("other", [{"eventId": "b1"}, {"locationId": places.ulid(1)}])
async def test_an_event_of_a_booking_or_elsewhere_is_not_deleted(room: Api, dump: Dump, other: dict[str, str]) -> None:
    await places.create_location(room, 1)
    await create(room)
    await approved(room, "b1", date="2026-03-20")
    payload = await refused(room, dump, places.DELETE_EVENT, **PLACE | other)
    assert payload["deletedEventId"] is None
    assert places.refusal(payload) == ("NOT_FOUND", 404, ["input", "eventId"])


async def test_an_event_of_an_inactive_location_can_be_deleted(room: Api, dump: Dump) -> None:
    await create(room)
    await room.mutate(places.DEACTIVATE, locationId=places.ulid(0), expectedVersion=1)
    assert await delete(room) == DELETED
    assert places.slots(await dump()) == {}


async def test_the_same_event_id_at_two_locations_is_two_events(room: Api, dump: Dump) -> None:
    await places.create_location(room, 1)
    await create(room)
    await create(room, locationId=places.ulid(1))
    await delete(room, locationId=places.ulid(1))
    assert {pk for pk, sk in await dump() if sk.startswith("DAY#")} == {f"LOCATION#{places.ulid(0)}"}
