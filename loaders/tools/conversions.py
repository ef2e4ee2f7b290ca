"""Users, bookings and calendar events of another program as owners, bookings and calendar events of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain.bookings import Booking, CalendarSlot, DayPart, slots_in
from domain.commands.base import fingerprint
from domain.commands.bookings import RequestBooking
from domain.commands.calendar import CreateCalendarEvent
from domain.commands.events import RecordAccessEvent
from domain.models import Owner, OwnerId, OwnerKind, OwnerRole
from loaders.codecs import CalendarClaim, EventClaim

if TYPE_CHECKING:
    from domain.bookings import BookingStatus
    from domain.models import AccessEvent, LocationId
    from loaders.codecs import OldBooking, OldEvent, OldUser


def owner_of(user: OldUser) -> Owner:
    """The owner that a user becomes."""
    return Owner(
        owner_id=OwnerId(user.user_id),
        kind=OwnerKind.USER,
        name=user.name,
        email=user.email,
        created_at=user.created_at,
        updated_at=user.created_at,
        version=1,
        phone=user.phone,
        role=OwnerRole.ADMIN if user.role.upper() == OwnerRole.ADMIN else OwnerRole.USER,
    )


def booking_of(old: OldBooking, status: BookingStatus, location_id: LocationId) -> tuple[Booking, str]:
    """The booking of ours that a booking becomes, and its fingerprint."""
    booking = Booking(
        booking_id=old.booking_id,
        location_id=location_id,
        owner_id=old.user_id,
        date=old.date,
        duration=old.duration,
        description=old.event_description,
        attendees=old.attendees,
        status=status,
        requested_at=old.requested_at,
        updated_at=old.requested_at,
        decided_by=None,
        reason=None,
        version=1,
    )
    command = RequestBooking.model_construct(
        location_id=location_id,
        owner_id=booking.owner_id,
        date=booking.date,
        duration=booking.duration,
        description=booking.description,
        attendees=booking.attendees,
    )
    return booking, fingerprint(command, without="booking_id")


def calendar_event_of(old: OldEvent, location_id: LocationId) -> tuple[CalendarClaim, list[CalendarSlot]]:
    """The claim and the half days of the calendar event that an event becomes."""
    duration = DayPart(old.time_slot.replace("FULLDAY", "FULL_DAY"))
    command = CreateCalendarEvent.model_construct(
        location_id=location_id, date=old.date, duration=duration, title=old.title
    )
    claim = CalendarClaim(
        event_id=old.event_id,
        location_id=location_id,
        date=old.date,
        duration=duration,
        fingerprint=fingerprint(command, without="event_id"),
    )
    slots = [
        CalendarSlot(
            location_id=location_id,
            date=old.date,
            slot=slot,
            event_id=old.event_id,
            title=old.title,
            booking_id=None,
            created_by=old.created_by,
            created_at=old.created_at,
            duration=duration,
        )
        for slot in slots_in(duration)
    ]
    return claim, slots


def event_claim_of(event: AccessEvent) -> EventClaim:
    """The claim on the id of a locker's access event, as if a client had chosen it."""
    names = ("locker_id", "timestamp", "action", "actor_id", "result")
    values: dict[str, Any] = {name: getattr(event, name) for name in names}
    command = RecordAccessEvent.model_construct(
        **values, metadata=None if event.metadata is None else dict(event.metadata)
    )
    return EventClaim(
        event_id=event.event_id,
        locker_id=event.locker_id,
        timestamp=event.timestamp,
        fingerprint=fingerprint(command, without="event_id"),
    )
