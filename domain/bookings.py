"""Bookings of a location by the day or half day, its calendar, payments and notifications."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import NewType

from domain.enums import DescribedEnum
from domain.errors import BadInputError
from domain.models import LocationId, LockerId, OwnerId, ReservationId
from domain.times import Day, Instant, count_days, shift

MAX_CALENDAR_DAYS = 92
_FURTHEST_BEHIND = timedelta(hours=12)
"""No place on earth is further behind UTC."""

BookingId = NewType("BookingId", str)


class DaySlot(DescribedEnum):
    """Half of a day."""

    MORNING = "MORNING", "First half of the day."
    AFTERNOON = "AFTERNOON", "Second half of the day."


class DayPart(DescribedEnum):
    """Part of a day."""

    MORNING = "MORNING", "First half of the day."
    AFTERNOON = "AFTERNOON", "Second half of the day."
    FULL_DAY = "FULL_DAY", "Both halves of the day."


class BookingStatus(DescribedEnum):
    """Status of a booking."""

    PENDING = "PENDING", "The booking waits for a decision."
    APPROVED = "APPROVED", "The booking was approved and is in the calendar."
    REJECTED = "REJECTED", "The booking was rejected."
    CANCELLED = "CANCELLED", "The booking was canceled by its owner."


@dataclass(frozen=True, slots=True, kw_only=True)
class Booking:
    """A request for a day or half day at a location, with its decision."""

    booking_id: BookingId
    location_id: LocationId
    owner_id: OwnerId
    date: Day
    duration: DayPart
    description: str
    attendees: int
    status: BookingStatus
    requested_at: Instant
    updated_at: Instant
    decided_by: OwnerId | None
    reason: str | None
    version: int
    decided_by_subject: str | None = None
    """Subject of the credentials that decided, which need not belong to an owner."""
    last_change: str | None = None
    """Token of the latest change, if it has one (see `domain.changes`)."""

    @property
    def is_pending(self) -> bool:
        return self.status is BookingStatus.PENDING


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarSlot:
    """A half day of a location that is taken by an approved booking or by an event of an admin."""

    location_id: LocationId
    date: Day
    slot: DaySlot
    event_id: str
    title: str
    booking_id: BookingId | None
    created_by: str
    """Id of the admin who created it, or the subject of credentials that belong to no owner."""
    created_at: Instant
    duration: DayPart | None = None
    """Part of the day that the whole event takes; without it, the event takes this half day only."""

    @property
    def part(self) -> DayPart:
        return self.duration or DayPart(self.slot.value)

    @property
    def first_slot(self) -> DaySlot:
        """The half day at which the event begins: with location and date, its place."""
        return slots_in(self.part)[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    amount: Decimal
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Payment:
    """An immutable record of money received for a booking."""

    payment_id: str
    booking_id: BookingId
    amount: Money
    method: str | None
    paid_at: Instant
    recorded_at: Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """A message to an owner.

    About a decided booking, a reservation that someone else ended, a locked out door, or a disabled webhook.
    """

    notification_id: str
    owner_id: OwnerId
    message: str
    created_at: Instant
    booking_id: BookingId | None = None
    booking_status: BookingStatus | None = None
    locker_id: LockerId | None = None
    reservation_id: ReservationId | None = None
    location_id: LocationId | None = None
    webhook_id: str | None = None


def slots_in(duration: DayPart) -> tuple[DaySlot, ...]:
    if duration is DayPart.FULL_DAY:
        return (DaySlot.MORNING, DaySlot.AFTERNOON)
    return (DaySlot(duration.value),)


def is_open_booking(booking: Booking, now: Instant) -> bool:
    """Whether a booking waits for a decision, or its day is not over everywhere."""
    day_has_come = booking.date < shift(now, -_FURTHEST_BEHIND)[:10]
    return booking.is_pending or (booking.status is BookingStatus.APPROVED and not day_has_come)


def check_calendar_window(first: Day, last: Day) -> None:
    if first > last:
        raise BadInputError("window.from must not be after window.to.", ("window", "from"))
    if count_days(first, last) > MAX_CALENDAR_DAYS:
        raise BadInputError(f"window must have at most {MAX_CALENDAR_DAYS} days.", ("window", "to"))
