"""What clients may ask for at locations: places, bookings, calendar events and payments."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator, Field

from domain.bookings import BookingId, Duration
from domain.commands import CheckedLocationId, CheckedOwnerId, Command, Name
from domain.models import LocationId
from domain.text import check_code, check_currency, check_id, check_text, check_time_zone, check_ulid
from domain.times import Day, Instant

__all__ = [
    "ApproveBooking",
    "CancelBooking",
    "CreateCalendarEvent",
    "CreateLocation",
    "DeactivateLocation",
    "DeleteCalendarEvent",
    "ReactivateLocation",
    "RecordPayment",
    "RejectBooking",
    "RequestBooking",
    "UpdateLocation",
]

Code = Annotated[str, AfterValidator(check_code)]
Text = Annotated[str, AfterValidator(check_text)]
TimeZone = Annotated[str, AfterValidator(check_time_zone)]
Currency = Annotated[str, AfterValidator(check_currency)]
NewLocationId = Annotated[LocationId, AfterValidator(check_ulid)]
CheckedBookingId = Annotated[BookingId, AfterValidator(check_id)]
OwnId = Annotated[str, AfterValidator(check_id)]
Latitude = Annotated[Decimal, Field(ge=-90, le=90, max_digits=38)]
Longitude = Annotated[Decimal, Field(ge=-180, le=180, max_digits=38)]
Attendees = Annotated[int, Field(ge=1, le=100_000)]
Amount = Annotated[Decimal, Field(gt=0, max_digits=18, decimal_places=4)]


class _Place(Command):
    """What a location's sign and map say."""

    formatted_address: Name | None = None
    street: Name | None = None
    city: Name | None = None
    region: Name | None = None
    postal_code: Name | None = None
    country: Name | None = None
    place_id: Name | None = None
    lat: Latitude | None = None
    lng: Longitude | None = None


class CreateLocation(_Place):
    """Create a location."""

    location_id: NewLocationId | None = None
    code: Code
    name: Name
    time_zone: TimeZone


class UpdateLocation(_Place):
    """Change what is given of a location; None takes a value away."""

    location_id: CheckedLocationId
    expected_version: int
    name: Name = ""
    time_zone: TimeZone = ""


class DeactivateLocation(Command):
    """Let a location take nothing new."""

    location_id: CheckedLocationId
    expected_version: int


class ReactivateLocation(Command):
    """Let a location take new things again."""

    location_id: CheckedLocationId
    expected_version: int


class RequestBooking(Command):
    """Ask for a location's day or half day."""

    booking_id: CheckedBookingId | None = None
    location_id: CheckedLocationId
    owner_id: CheckedOwnerId
    date: Day
    duration: Duration
    description: Text
    attendees: Attendees


class CancelBooking(Command):
    """Give a booking up, as whoever asked for it."""

    booking_id: CheckedBookingId
    owner_id: CheckedOwnerId


class ApproveBooking(Command):
    """Let a booking into the calendar, as an admin."""

    booking_id: CheckedBookingId
    admin_id: CheckedOwnerId
    expected_version: int


class RejectBooking(Command):
    """Turn a booking down, as an admin."""

    booking_id: CheckedBookingId
    admin_id: CheckedOwnerId
    reason: Text
    expected_version: int


class CreateCalendarEvent(Command):
    """Fill a day or half day, as an admin, without a booking."""

    event_id: OwnId | None = None
    location_id: CheckedLocationId
    admin_id: CheckedOwnerId
    date: Day
    duration: Duration
    title: Name


class DeleteCalendarEvent(Command):
    """Free what an admin's event fills."""

    location_id: CheckedLocationId
    event_id: OwnId
    admin_id: CheckedOwnerId


class RecordPayment(Command):
    """Write down money received for a booking."""

    payment_id: OwnId | None = None
    booking_id: CheckedBookingId
    amount: Amount
    currency: Currency
    method: Name | None = None
    paid_at: Instant | None = None
