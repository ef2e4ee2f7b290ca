"""Bookings of a location's day or half day, the calendar they fill, their payments and notifications."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import NewType

from domain.errors import BadInputError
from domain.models import LocationId, OwnerId
from domain.times import Day, Instant, count_days, days_between

__all__ = [
    "LONGEST_CALENDAR_DAYS",
    "Booking",
    "BookingId",
    "BookingStatus",
    "CalendarSlot",
    "DaySlot",
    "Duration",
    "Notification",
    "Payment",
    "check_calendar_window",
    "free_slots",
    "slots_of",
]

LONGEST_CALENDAR_DAYS = 92

BookingId = NewType("BookingId", str)


class DaySlot(StrEnum):
    """A half of a day."""

    MORNING = "MORNING"
    AFTERNOON = "AFTERNOON"


class Duration(StrEnum):
    """How much of a day."""

    MORNING = "MORNING"
    AFTERNOON = "AFTERNOON"
    FULL_DAY = "FULL_DAY"


class BookingStatus(StrEnum):
    """Where a booking stands."""

    PENDING = "PENDING"
    APPROVED = "APPROVED"
    REJECTED = "REJECTED"
    CANCELLED = "CANCELLED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Booking:
    """A request for a location's day or half day, and what became of it."""

    booking_id: BookingId
    location_id: LocationId
    owner_id: OwnerId
    date: Day
    duration: Duration
    description: str
    attendees: int
    status: BookingStatus
    requested_at: Instant
    updated_at: Instant
    decided_by: OwnerId | None
    reason: str | None
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarSlot:
    """A half day of a location that is taken: by an approved booking, or by an event that an admin made."""

    location_id: LocationId
    date: Day
    slot: DaySlot
    event_id: str
    title: str
    booking_id: BookingId | None
    created_by: OwnerId
    created_at: Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class Payment:
    """Money received for a booking; never changed once written."""

    payment_id: str
    booking_id: BookingId
    amount: Decimal
    currency: str
    method: str | None
    paid_at: Instant
    recorded_at: Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """What an owner is told of a decision."""

    notification_id: str
    owner_id: OwnerId
    booking_id: BookingId
    booking_status: BookingStatus
    message: str
    created_at: Instant


def slots_of(duration: Duration) -> tuple[DaySlot, ...]:
    """The half days that a duration takes."""
    if duration is Duration.FULL_DAY:
        return (DaySlot.MORNING, DaySlot.AFTERNOON)
    return (DaySlot(duration.value),)


def free_slots(taken: list[CalendarSlot], first: Day, last: Day) -> dict[Day, tuple[DaySlot, ...]]:
    """The half days of each day that nothing takes."""
    used = {(slot.date, slot.slot) for slot in taken}
    return {day: tuple(slot for slot in DaySlot if (day, slot) not in used) for day in days_between(first, last)}


def check_calendar_window(first: Day, last: Day) -> None:
    """Refuses a stretch of days that is backwards or too long to be read at once."""
    if first > last:
        raise BadInputError("window.from must not lie after window.to.", ("window", "from"))
    if count_days(first, last) > LONGEST_CALENDAR_DAYS:
        raise BadInputError(f"window may hold {LONGEST_CALENDAR_DAYS} days at most.", ("window", "to"))
