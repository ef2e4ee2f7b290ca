"""Locations, bookings and calendars as a client uses them: the documents, and what most tests of them begin with."""

from collections.abc import AsyncIterator
from typing import Any

from tests import principals
from tests.api import Api, mutation

DAY = "2026-03-10"
"""A day ahead of the tests' present."""

_LOCATION = "location { locationId code name address { city lat lng } timeZone status createdAt updatedAt version }"
_BOOKING = """booking {
  bookingId locationId ownerId date duration description attendees status requestedAt updatedAt
  decidedById decidedBySubject reason version
}"""
_LOCKER = "locker { lockerId alias status ownerId locationId version }"
CREATE_LOCATION = mutation("createLocation", _LOCATION)
UPDATE_LOCATION = mutation("updateLocation", _LOCATION)
DEACTIVATE = mutation("deactivateLocation", _LOCATION)
REACTIVATE = mutation("reactivateLocation", _LOCATION)
REGISTER = mutation("registerLocker", _LOCKER)
MOVE = mutation("moveLocker", _LOCKER)
REQUEST = mutation("requestBooking", _BOOKING)
CANCEL = mutation("cancelBooking", _BOOKING)
APPROVE = mutation("approveBooking", _BOOKING)
REJECT = mutation("rejectBooking", _BOOKING)
CREATE_EVENT = mutation("createCalendarEvent", "calendarEvent { eventId date duration title bookingId createdAt }")
DELETE_EVENT = mutation("deleteCalendarEvent", "deletedEventId")
PAY = mutation("recordPayment", "payment { paymentId bookingId amount { amount currency } method paidAt recordedAt }")
PENDING = """query ($first: Int, $after: String) {
  pendingBookings(first: $first, after: $after) { nodes { bookingId status } nextCursor }
}"""


def ulid(number: int) -> str:
    """A location's id of the test's choice."""
    return f"01HX{number:022d}"


def fresh(code: str = "rome", **values: Any) -> dict[str, Any]:
    return {"code": code, "name": f"Room of {code}", "timeZone": "Europe/Rome", **values}


async def create_location(api: Api, number: int = 0, **values: Any) -> str:
    """A location that is there, by its id."""
    await api.done(CREATE_LOCATION, locationId=ulid(number), **fresh(f"place-{number}") | values)
    return ulid(number)


async def prepare(api: Api, **values: Any) -> str:
    """An owner ada, an admin root and a location, whose id this is."""
    await api.owner("ada")
    await api.owner("root", role="ADMIN")
    return await create_location(api, **values)


async def book(api: Api, booking_id: str, **values: Any) -> dict[str, Any]:
    """A booking that ada asked for."""
    content = {"locationId": ulid(0), "ownerId": "ada", "date": DAY, "duration": "FULL_DAY", "attendees": 5}
    content["description"] = f"Purpose of {booking_id}"
    booking: dict[str, Any] = (await api.done(REQUEST, bookingId=booking_id, **content | values))["booking"]
    return booking


async def approve(api: Api, booking_id: str, version: int = 1, admin: str = "root") -> dict[str, Any]:
    """Approves a booking; by an admin who is an owner, unless the API is somebody's already."""
    return await deciding(api, admin).mutate(APPROVE, bookingId=booking_id, expectedVersion=version)


def deciding(api: Api, admin: str = "root") -> Api:
    """The API as an admin who is also an owner uses it, unless it is somebody's already."""
    return api if api.headers else api.by(principals.admin(admin))


def refusal(payload: dict[str, Any]) -> tuple[str, int, list[str]]:
    """The code, status and path of the one thing that was wrong."""
    (error,) = payload["userErrors"]
    return error["code"], error["status"], error["path"]


def slots(items: dict[tuple[str, str], dict[str, Any]]) -> dict[str, str]:
    """Whose each taken half day of the one calendar is, by day and half."""
    taken = [item for item in items.values() if item["entityType"] == "CALENDAR_SLOT"]
    assert len({item["locationId"] for item in taken}) <= 1
    return {f"{item['date']} {item['slot']}": item["eventId"] for item in taken}


async def paged(api: Api, query: str, size: int, **variables: Any) -> AsyncIterator[list[dict[str, Any]]]:
    """The pages of a list, whose query takes `$first` and `$after` and has the connection innermost."""
    after: str | None = None
    while True:
        connection = await api.run(query, first=size, after=after, **variables)
        while "nodes" not in connection:
            (connection,) = connection.values()
        yield connection["nodes"]
        after = connection["nextCursor"]
        if after is None:
            return


async def reject(api: Api, booking_id: str, version: int = 1, admin: str = "root", **values: Any) -> dict[str, Any]:
    content = {"reason": "Closed for works", **values}
    return await deciding(api, admin).mutate(REJECT, bookingId=booking_id, expectedVersion=version, **content)


async def pending(api: Api) -> list[str]:
    return [node["bookingId"] async for nodes in paged(api, PENDING, 100) for node in nodes]
