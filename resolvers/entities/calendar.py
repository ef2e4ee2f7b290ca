"""A location's calendar: its events day by day, and what is free."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import strawberry

from domain.authorization import is_admin
from domain.bookings import CalendarSlot, DaySlot, Duration, free_slots
from domain.commands import calendar as commands
from domain.times import Day, Instant, days_between
from loaders.contracts.bookings import BOOKING_BY_ID, CHANGE_CALENDAR
from loaders.writes import calendar as writes
from resolvers.api.payloads import Payload, current_entity, payload
from resolvers.bindings.base import column, embedded
from resolvers.bindings.references import one
from resolvers.bindings.rules import ADMINS, BOOKINGS
from resolvers.bindings.writes import write
from resolvers.entities.base import CHOSEN_ID, command_input, entity, optional

if TYPE_CHECKING:
    from resolvers.entities.bookings import Booking
    from resolvers.request import RequestState

__all__ = [
    "CalendarDay",
    "CalendarEvent",
    "CalendarMutations",
    "DateWindow",
    "DayAvailability",
    "availability_of",
    "calendar_of",
]

_BOOKED = "Booked"
_HALVES = 2


@strawberry.input(description="A range of at most 92 days. Both days are included.")
class DateWindow:
    """As the calendar takes it."""

    from_: Day = strawberry.field(name="from", description="First day.")
    to: Day = strawberry.field(description="Last day.")


def _is_shown(slot: CalendarSlot, request: RequestState) -> bool:
    """Of a booking, only admins see more than that it is there.

    Its title is the first line of what the booking is for, its id is a text of its owner's choice, and whose it is only
    the booking itself says.
    """
    return slot.booking_id is None or is_admin(request.principal)


def _event_id(slot: CalendarSlot, request: RequestState) -> str:
    return slot.event_id if _is_shown(slot, request) else f"booked-{slot.date}-{slot.slot}"


def _title(slot: CalendarSlot, request: RequestState) -> str:
    return slot.title if _is_shown(slot, request) else _BOOKED


def _booking_id(slot: CalendarSlot, request: RequestState) -> str | None:
    return slot.booking_id if _is_shown(slot, request) else None


def _created_at(slot: CalendarSlot, request: RequestState) -> Instant | None:
    return slot.created_at if _is_shown(slot, request) else None


@entity(CalendarSlot)
class CalendarEvent:
    """An event that fills a half day: an approved booking, or an event created by an admin."""

    event_id: strawberry.ID = column(
        "Id of the event. For a booking, admins see the booking's id and others an id of the half day.", _event_id
    )
    location_id: strawberry.ID = column("Id of the location.")
    date: Day = column("Day of the event.")
    slot: DaySlot = column("Half of the day that the event fills.")
    title: str = column("Title of the event. Only admins see the title of a booking; others see `Booked`.", _title)
    booking_id: strawberry.ID | None = column(
        "Id of the booking that the event comes from. Only admins see it; `booking` shows others their own.",
        _booking_id,
    )
    created_at: Instant | None = column(
        "Time at which the event was added to the calendar. For a booking, only admins see it.", _created_at
    )
    booking: Annotated[Booking, strawberry.lazy("resolvers.entities.bookings")] | None = one(
        BOOKING_BY_ID,
        key="booking_id",
        rule=BOOKINGS.decided_by_result(),
        description="The booking that the event comes from.",
    )


class CalendarDayRow(NamedTuple):
    """A day with what fills each half."""

    date: Day
    morning: CalendarSlot | None
    afternoon: CalendarSlot | None


class AvailabilityRow(NamedTuple):
    """A day with what is free."""

    date: Day
    free_slots: tuple[DaySlot, ...]


@entity(CalendarDayRow)
class CalendarDay:
    """A day in the calendar of a location."""

    date: Day = column("The day.")
    morning: CalendarEvent | None = embedded("Event that fills the first half of the day.")
    afternoon: CalendarEvent | None = embedded("Event that fills the second half of the day.")


@entity(AvailabilityRow)
class DayAvailability:
    """Availability of a location on one day."""

    date: Day = column("The day.")
    free_slots: list[DaySlot] = column("Halves of the day that are free.")


def calendar_of(slots: list[CalendarSlot], days: tuple[Any, ...]) -> list[CalendarDayRow]:
    """Every day of a range, the empty ones too."""
    taken = {(slot.date, slot.slot): slot for slot in slots}
    return [
        CalendarDayRow(day, taken.get((day, DaySlot.MORNING)), taken.get((day, DaySlot.AFTERNOON)))
        for day in days_between(*days)
    ]


def availability_of(slots: list[CalendarSlot], days: tuple[Any, ...]) -> list[AvailabilityRow]:
    """Every day of a range, the full ones too."""
    return [AvailabilityRow(day, tuple(free)) for day, free in free_slots(slots, *days).items()]


@command_input(commands.CreateCalendarEvent)
class CreateCalendarEventInput:
    """Input of `createCalendarEvent`."""

    event_id: strawberry.ID | None = optional(CHOSEN_ID)
    location_id: strawberry.ID = strawberry.field(description="Id of the location, which must be active.")
    admin_id: strawberry.ID = strawberry.field(description="Id of an owner with the role ADMIN who creates the event.")
    date: Day = strawberry.field(description="Day of the event.")
    duration: Duration = strawberry.field(description="Part of the day that the event fills.")
    title: str = strawberry.field(description="Title of the event.")


@command_input(commands.DeleteCalendarEvent)
class DeleteCalendarEventInput:
    """Input of `deleteCalendarEvent`."""

    location_id: strawberry.ID = strawberry.field(description="Id of the location.")
    event_id: strawberry.ID = strawberry.field(
        description="Id of the event. To remove the event of a booking, cancel the booking."
    )
    admin_id: strawberry.ID = strawberry.field(description="Id of an owner with the role ADMIN who deletes the event.")


@payload
class CreateCalendarEventPayload(Payload):
    """Return type of `createCalendarEvent`."""

    calendar_events: list[CalendarEvent] | None = embedded(
        "One event for each half day; null if they were not created.", current_entity, most=_HALVES
    )


@payload
class DeleteCalendarEventPayload(Payload):
    """Return type of `deleteCalendarEvent`."""

    deleted_event_id: strawberry.ID | None = column(
        "Id of the event; null if it was not deleted.",
        lambda outcome, _: None if outcome.entity is None else outcome.entity.event_id,
    )


@strawberry.type
class CalendarMutations:
    """Merged into Mutation."""

    create_calendar_event: CreateCalendarEventPayload = write(
        CHANGE_CALENDAR,
        writes.create_calendar_event,
        CreateCalendarEventInput,
        ADMINS,
        variant="create",
        description="Fill a day or half day without a booking. Requires an admin.",
    )
    delete_calendar_event: DeleteCalendarEventPayload = write(
        CHANGE_CALENDAR,
        writes.delete_calendar_event,
        DeleteCalendarEventInput,
        ADMINS,
        variant="delete",
        description="Delete a calendar event of an admin. A repeated request returns the same. Requires an admin.",
    )
