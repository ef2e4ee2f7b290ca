"""A location's calendar: its events day by day, and what is free."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import strawberry

from domain.authorization import sees_all
from domain.bookings import CalendarSlot, DayPart, DaySlot
from domain.commands import calendar as commands
from domain.ids import check_id
from domain.times import Day, Instant, days_between, parse_day
from loaders.contracts.access_codes import PURPOSE_ACCESS_CODES
from loaders.contracts.bookings import BOOKING_BY_ID, CALENDAR_EVENT_BY_PLACE, CHANGE_CALENDAR
from loaders.contracts.locations import LOCATION_BY_ID
from loaders.keys import half_day_of
from loaders.writes import calendar as writes
from resolvers.api.mutations import mutations, write
from resolvers.api.payloads import Payload, written
from resolvers.api.relay import Connection, Node
from resolvers.bindings.base import column, described, embedded
from resolvers.bindings.lists import pages
from resolvers.bindings.references import one
from resolvers.bindings.rules import ADMINS, BOOKINGS, CODES, LOCATIONS
from resolvers.entities.access_codes import AccessCode
from resolvers.entities.base import entity
from resolvers.entities.bindings.access_codes import EventCodes
from resolvers.request_state import RequestState

if TYPE_CHECKING:
    from resolvers.entities.bookings import Booking
    from resolvers.entities.locations import Location


@strawberry.input(description="A range of at most 92 days. Both days are included.")
class DateWindow:
    from_: Day = strawberry.field(name="from", description="First day.")
    to: Day = strawberry.field(description="Last day.")


def _is_shown(slot: CalendarSlot, request: RequestState) -> bool:
    """Of a booking, only admins and support see more than that it is there.

    Its title is the first line of what the booking is for, its id is a text of its owner's choice, and whose it is only
    the booking itself says.
    """
    return slot.booking_id is None or sees_all(request.principal)


def _event_id(slot: CalendarSlot, request: RequestState) -> str:
    return slot.event_id if _is_shown(slot, request) else f"booked-{slot.date}-{slot.part}"


def _for_staff(attribute: str, others: str | None = None) -> Callable[[CalendarSlot, RequestState], Any]:
    """An attribute of an event, in whose place callers other than admins and support get something else."""
    return lambda slot, request: getattr(slot, attribute) if _is_shown(slot, request) else others


@entity(
    CalendarSlot,
    node={
        "contract": CALENDAR_EVENT_BY_PLACE,
        "key": {"location_id": check_id, "date": parse_day, "first_slot": DaySlot},
        "rule": LOCATIONS,
        "proof": _event_id,
    },
)
class CalendarEvent(Node):
    """An event that fills a day or half day: an approved booking, or an event created by an admin."""

    event_id: strawberry.ID = column(
        "Id of the event. Only admins and support see that of a booking's event; others see an id of the part of "
        "the day.",
        _event_id,
    )
    location_id: strawberry.ID = column("Id of the location.")
    date: Day = column("Day of the event.")
    duration: DayPart = column("Part of the day that the event fills.", "part")
    title: str = column(
        "Title of the event. Only admins and support see the title of a booking; others see `Booked`.",
        _for_staff("title", "Booked"),
    )
    booking_id: strawberry.ID | None = column(
        "Id of the booking that the event comes from. Only admins and support see it; `booking` shows others "
        "their own.",
        _for_staff("booking_id"),
    )
    created_at: Instant | None = column(
        "Time at which the event was added to the calendar. For a booking, only admins and support see it.",
        _for_staff("created_at"),
    )
    created_by: str | None = column(
        "Id of the admin who added the event, or the subject of credentials without an owner. Only admins and "
        "support see it.",
        lambda slot, request: slot.created_by if sees_all(request.principal) else None,
    )
    booking: Annotated[Booking, strawberry.lazy("resolvers.entities.bookings")] | None = one(
        BOOKING_BY_ID,
        key="booking_id",
        rule=BOOKINGS.decided_by_result(quiet=True),
        description="The booking that the event comes from; null, without an error, if it is somebody else's.",
    )
    access_codes: Connection[AccessCode] | None = pages(
        PURPOSE_ACCESS_CODES,
        kind=EventCodes,
        key="booking_id",
        rule=CODES.decided_by_visibility(),
        description="Access codes of the booking that the event comes from, by code id; null if it comes from none.",
    )
    location: Annotated[Location, strawberry.lazy("resolvers.entities.locations")] | None = one(
        LOCATION_BY_ID, key="location_id", rule=LOCATIONS, description="Location of the event."
    )


class CalendarDayRow(NamedTuple):
    date: Day
    morning: CalendarSlot | None
    afternoon: CalendarSlot | None


@entity(CalendarDayRow)
class CalendarDay:
    """A day in the calendar of a location. An event that fills the whole day is both its morning and its afternoon."""

    date: Day = column("The day.")
    morning: CalendarEvent | None = embedded("Event that fills the first half of the day.")
    afternoon: CalendarEvent | None = embedded("Event that fills the second half of the day.")


@described
class DayAvailability:
    """Availability of a location on one day."""

    date: Day = column("The day.")
    free_slots: list[DaySlot] = column("Halves of the day that are free.")


def calendar_of(found: Mapping[str, CalendarSlot | Exception], days: tuple[Any, ...]) -> list[CalendarDayRow]:
    """Every day of a range, the empty ones too; of a damaged half day, the event is not known."""
    taken = {half_day_of(place): slot for place, slot in found.items() if isinstance(slot, CalendarSlot)}
    return [
        CalendarDayRow(day, taken.get((day, DaySlot.MORNING)), taken.get((day, DaySlot.AFTERNOON)))
        for day in days_between(*days)
    ]


def availability_of(found: Mapping[str, CalendarSlot | Exception], days: tuple[Any, ...]) -> list[DayAvailability]:
    """Every day of a range, the full ones too; a damaged half day is taken."""
    taken = set(map(half_day_of, found))
    return [
        DayAvailability(date=day, free_slots=[slot for slot in DaySlot if (day, slot) not in taken])
        for day in days_between(*days)
    ]


@described
class DeleteCalendarEventPayload(Payload):
    """Return type of `deleteCalendarEvent`."""

    deleted_event_id: strawberry.ID | None = column("Id of the event; null if it was not deleted.", written("event_id"))


@mutations(commands, writes)
class CalendarMutations:
    create_calendar_event: CalendarEvent = write(
        CHANGE_CALENDAR,
        ADMINS,
        variant="create",
        returns="The event; null if it was not created.",
        description="Create a calendar event for a day or half day, without a booking. Requires an admin.",
    )
    delete_calendar_event: DeleteCalendarEventPayload = write(
        CHANGE_CALENDAR,
        ADMINS,
        variant="delete",
        description="Delete a calendar event of an admin. A repeated request returns the same. Requires an admin.",
    )
