"""Users, bookings and calendar events of another program as owners, bookings and calendar events of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.bookings import Booking, CalendarSlot, DayPart, slots_in
from domain.commands.base import fingerprint_of
from domain.commands.bookings import RequestBooking
from domain.commands.calendar import CreateCalendarEvent
from domain.commands.events import RecordAccessEvent
from domain.models import Owner, OwnerId, OwnerKind, OwnerRole, record_from
from loaders.codecs import CalendarClaim, EventClaim

if TYPE_CHECKING:
    from domain.bookings import BookingStatus
    from domain.models import AccessEvent, LocationId
    from loaders.codecs import OldBooking, OldEvent, OldUser


def owner_of_user(user: OldUser) -> Owner:
    """The owner that a user becomes."""
    return record_from(
        Owner,
        user,
        owner_id=OwnerId(user.user_id),
        kind=OwnerKind.USER,
        updated_at=user.created_at,
        version=1,
        role=OwnerRole.ADMIN if user.role.upper() == OwnerRole.ADMIN else OwnerRole.USER,
    )


def booking_of(old: OldBooking, status: BookingStatus, location_id: LocationId) -> tuple[Booking, str]:
    """The booking of ours that a booking becomes, and its fingerprint."""
    booking = record_from(
        Booking,
        old,
        location_id=location_id,
        owner_id=old.user_id,
        description=old.event_description,
        status=status,
        updated_at=old.requested_at,
        decided_by=None,
        reason=None,
        version=1,
    )
    return booking, fingerprint_of(RequestBooking, booking, without="booking_id")


def calendar_event_of(old: OldEvent, location_id: LocationId) -> tuple[CalendarClaim, list[CalendarSlot]]:
    """The claim and the half days of the calendar event that an event becomes."""
    duration = DayPart(old.time_slot.replace("FULLDAY", "FULL_DAY"))
    slots = [
        record_from(CalendarSlot, old, location_id=location_id, slot=slot, booking_id=None, duration=duration)
        for slot in slots_in(duration)
    ]
    content = fingerprint_of(CreateCalendarEvent, slots[0], without="event_id")
    return record_from(CalendarClaim, slots[0], fingerprint=content), slots


def event_claim_of(event: AccessEvent) -> EventClaim:
    """The claim on the id of a locker's access event, as if a client had chosen it."""
    return record_from(EventClaim, event, fingerprint=fingerprint_of(RecordAccessEvent, event, without="event_id"))
