"""A location's calendar: what fills it, day by day, and what is free."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import strawberry

from domain import booking_commands as commands
from domain.bookings import CalendarSlot, DaySlot, Duration, free_slots
from domain.principal import Principal, Scope, acts_for, is_admin, require
from domain.times import Day, Instant, days_between
from loaders.writes import calendar as writes
from resolvers.context import Info
from resolvers.errors import UserError, attempt
from resolvers.permissions import authorised

if TYPE_CHECKING:
    from resolvers.bookings import Booking

__all__ = ["CalendarDay", "CalendarEvent", "CalendarMutations", "DateWindow", "DayAvailability", "WindowOfDays"]


@strawberry.input(description="A stretch of days, both included, 92 at most.")
class DateWindow:
    """As the calendar takes it."""

    from_: Day = strawberry.field(name="from", description="The first day.")
    to: Day = strawberry.field(description="The last day.")


_BOOKED = "Booked"

WindowOfDays = Annotated[DateWindow, strawberry.argument(description="Which days, 92 at most.")]


@strawberry.type(description="What fills a half day: an approved booking, or an event that an admin made.")
class CalendarEvent:
    """One for each half day; a full day has two with the same eventId."""

    record: strawberry.Private[CalendarSlot]
    event_id: strawberry.ID = strawberry.field(
        description="Its own id; a booking's is the bookingId, and for all but admins the name of its half day."
    )
    location_id: strawberry.ID = strawberry.field(description="The location's id.")
    date: Day = strawberry.field(description="The day.")
    slot: DaySlot = strawberry.field(description="Which half of it.")
    title: str = strawberry.field(
        description="What it is; that of a booking is shown to admins, and to all others as `Booked`."
    )
    booking_id: strawberry.ID | None = strawberry.field(
        description="The booking that it comes from, if any; shown to admins. `booking` finds one's own."
    )
    created_at: Instant = strawberry.field(description="When it came into the calendar.")

    @classmethod
    def of(cls, record: CalendarSlot, principal: Principal) -> CalendarEvent:
        """The event as the schema shows it.

        Its title is the first line of what its booking is for, and the booking's id is as much its owner's own: who is
        no admin gets the name of its place instead.
        """
        is_told = record.booking_id is None or is_admin(principal)
        return cls(
            record=record,
            event_id=strawberry.ID(record.event_id if is_told else f"{record.date}-{record.slot.lower()}"),
            location_id=strawberry.ID(record.location_id),
            date=record.date,
            slot=record.slot,
            title=record.title if is_told else _BOOKED,
            booking_id=strawberry.ID(record.booking_id) if record.booking_id and is_told else None,
            created_at=record.created_at,
        )

    @strawberry.field(description="The booking that it comes from, if any.")
    async def booking(self, info: Info) -> Annotated[Booking, strawberry.lazy("resolvers.bookings")] | None:
        """Read once for all events of it in a request."""
        from resolvers.bookings import Booking  # noqa: PLC0415  # the two modules name each other's types

        booking_id = self.record.booking_id
        booking = booking_id and await info.context.loaders.booking.load(booking_id)
        if not booking:
            return None
        require(acts_for(info.context.principal, booking.owner_id, Scope.BOOKINGS_READ))
        return Booking.of(booking)


@strawberry.type(description="A day of a location's calendar.")
class CalendarDay:
    """With what fills each half."""

    date: Day = strawberry.field(description="The day.")
    morning: CalendarEvent | None = strawberry.field(description="What fills its first half.")
    afternoon: CalendarEvent | None = strawberry.field(description="What fills its second half.")

    @classmethod
    def all_of(cls, slots: list[CalendarSlot], first: Day, last: Day, principal: Principal) -> list[CalendarDay]:
        """Every day of a stretch, the empty ones too."""
        taken = {(slot.date, slot.slot): CalendarEvent.of(slot, principal) for slot in slots}
        return [
            cls(
                date=day,
                morning=taken.get((day, DaySlot.MORNING)),
                afternoon=taken.get((day, DaySlot.AFTERNOON)),
            )
            for day in days_between(first, last)
        ]


@strawberry.type(description="What is free on a day at a location.")
class DayAvailability:
    """The halves that nothing fills."""

    date: Day = strawberry.field(description="The day.")
    free_slots: list[DaySlot] = strawberry.field(description="The halves that nothing fills.")

    @classmethod
    def all_of(cls, slots: list[CalendarSlot], first: Day, last: Day) -> list[DayAvailability]:
        """Every day of a stretch, the full ones too."""
        return [cls(date=day, free_slots=list(free)) for day, free in free_slots(slots, first, last).items()]


@strawberry.input(description="Fill a day or half day, as an admin, without a booking.")
class CreateCalendarEventInput:
    """See `domain.booking_commands`."""

    event_id: strawberry.ID | None = strawberry.field(
        default=strawberry.UNSET,
        description="An id of your choice: sent again with the same content, it gives the first result. Made here if "
        "left out.",
    )
    location_id: strawberry.ID = strawberry.field(description="The location, which must be active.")
    admin_id: strawberry.ID = strawberry.field(description="Who fills it: an owner whose role is ADMIN.")
    date: Day = strawberry.field(description="The day.")
    duration: Duration = strawberry.field(description="How much of it.")
    title: str = strawberry.field(description="What it is.")


@strawberry.input(description="Free what an admin's event fills.")
class DeleteCalendarEventInput:
    """See `domain.booking_commands`."""

    location_id: strawberry.ID = strawberry.field(description="The location.")
    event_id: strawberry.ID = strawberry.field(description="The event; a booking's is freed by cancelling the booking.")
    admin_id: strawberry.ID = strawberry.field(description="Who frees it: an owner whose role is ADMIN.")


@strawberry.type(description="What came of creating a calendar event.")
class CreateCalendarEventPayload:
    """One event for each half day."""

    calendar_events: list[CalendarEvent] | None = strawberry.field(
        description="One for each half day that it fills, if it was created."
    )
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type(description="What came of deleting a calendar event.")
class DeleteCalendarEventPayload:
    """The id of what is gone."""

    deleted_event_id: strawberry.ID | None = strawberry.field(description="The id of the event, if it is gone.")
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type
class CalendarMutations:
    """Merged into Mutation."""

    @strawberry.mutation(description="Fill a day or half day, as an admin, without a booking.")
    async def create_calendar_event(
        self,
        info: Info,
        input: Annotated[CreateCalendarEventInput, strawberry.argument(description="What to fill.")],
    ) -> CreateCalendarEventPayload:
        """QC-49."""
        write = authorised(info, writes.create_calendar_event)
        outcome = await attempt(info, commands.CreateCalendarEvent, input, write)
        slots = outcome.entity
        events = None if slots is None else [CalendarEvent.of(slot, info.context.principal) for slot in slots]
        return CreateCalendarEventPayload(calendar_events=events, user_errors=outcome.errors)

    @strawberry.mutation(description="Free what an admin's event fills. Sent again, it answers the same.")
    async def delete_calendar_event(
        self,
        info: Info,
        input: Annotated[DeleteCalendarEventInput, strawberry.argument(description="What to free.")],
    ) -> DeleteCalendarEventPayload:
        """QC-49."""
        write = authorised(info, writes.delete_calendar_event)
        outcome = await attempt(info, commands.DeleteCalendarEvent, input, write)
        deleted = None if outcome.entity is None else strawberry.ID(outcome.entity.event_id)
        return DeleteCalendarEventPayload(deleted_event_id=deleted, user_errors=outcome.errors)
