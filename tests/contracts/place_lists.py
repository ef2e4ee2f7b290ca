"""Examples of the lists of locations, bookings, payments and notifications; two of them are read from the index."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from domain.bookings import Booking, BookingId, BookingStatus, Duration, Notification, Payment
from domain.models import Location, LocationId, LocationStatus, LockerId, LockerStatus, LockerSummary
from domain.times import Day
from loaders import keys, reads
from loaders.items import BOOKING as BOOKING_CODEC
from loaders.items import LOCATION as LOCATION_CODEC
from loaders.items import LOCATION_LOCKER, NOTIFICATION, OWNER_BOOKING, PAYMENT
from tests.contracts.list_example import BOOKING, LOCATION, NAME, NOON, OWNER, ListExample, Seed, at

__all__ = ["LARGE_LAT", "LARGE_LNG", "LARGE_ZONE", "PLACE_LISTS", "TEXT", "large_place"]

TEXT = "😀" * 2000
LARGE_ZONE = "America/Argentina/ComodRivadavia"  # the longest name that there is
LARGE_LAT = Decimal("-12." + "3" * 36)
LARGE_LNG = Decimal("-123." + "4" * 35)
_FINGERPRINT = {"fingerprint": "f" * 64}


def large_place() -> dict[str, Any]:
    """Every part of an address, as long as it can be."""
    parts = ("formatted_address", "street", "city", "region", "postal_code", "country", "place_id")
    return dict.fromkeys(parts, NAME)


def _location(number: int) -> Location:
    return Location(
        location_id=LocationId(f"{number:026d}"),
        code=f"{number:040d}",
        name="Hall",
        formatted_address=None,
        street=None,
        city=None,
        region=None,
        postal_code=None,
        country=None,
        place_id=None,
        lat=Decimal("41.9"),
        lng=Decimal(12),
        time_zone="Europe/Rome",
        status=LocationStatus.ACTIVE,
        created_at=at(number),
        updated_at=NOON,
        version=1,
    )


def _location_seed(location: Location) -> Seed:
    index = keys.location_index(location.status, location.created_at, location.location_id)
    return keys.location(location.location_id), LOCATION_CODEC.encode(location) | index | _FINGERPRINT


def _large_location(number: int) -> Seed:
    location = replace(
        _location(number), name=NAME, lat=LARGE_LAT, lng=LARGE_LNG, time_zone=LARGE_ZONE, **large_place()
    )
    return _location_seed(location)


def _location_locker(number: int) -> Seed:
    locker_id = LockerId(f"{number:064d}")
    summary = LockerSummary(
        owner_id=OWNER, locker_id=locker_id, status=LockerStatus.MAINTENANCE, alias=NAME, updated_at=NOON
    )
    return keys.location_locker(LOCATION, locker_id), LOCATION_LOCKER.encode(summary)


def _booking(number: int) -> Booking:
    return Booking(
        booking_id=BookingId(f"{number:064d}"),
        location_id=LOCATION,
        owner_id=OWNER,
        date=Day((date(2026, 1, 1) + timedelta(days=number)).isoformat()),
        duration=Duration.FULL_DAY,
        description="A fair",
        attendees=100_000,
        status=BookingStatus.PENDING,
        requested_at=at(number),
        updated_at=NOON,
        decided_by=None,
        reason=None,
        version=1,
    )


def _pending(booking: Booking) -> Seed:
    index = keys.pending_index(booking.requested_at, booking.booking_id)
    return keys.booking(booking.booking_id), BOOKING_CODEC.encode(booking) | index | _FINGERPRINT


def _owner_booking(booking: Booking) -> Seed:
    return keys.owner_booking(OWNER, booking.date, booking.booking_id), OWNER_BOOKING.encode(booking)


def _large_owner_booking(number: int) -> Seed:
    rejected = replace(
        _booking(number), description=TEXT, status=BookingStatus.REJECTED, reason=TEXT, decided_by=OWNER, version=2
    )
    return _owner_booking(rejected)


def _payment(number: int) -> Seed:
    payment = Payment(
        payment_id=f"{number:064d}",
        booking_id=BOOKING,
        amount=Decimal("12345678901234.5678"),
        currency="EUR",
        method=NAME,
        paid_at=NOON,
        recorded_at=NOON,
    )
    return keys.payment(BOOKING, payment.payment_id), PAYMENT.encode(payment) | _FINGERPRINT


def _notification(number: int, reason: str = "no") -> Seed:
    notification = Notification(
        notification_id=f"{number:064d}",
        owner_id=OWNER,
        booking_id=BOOKING,
        booking_status=BookingStatus.REJECTED,
        message=f"Your booking for 2026-03-01 was rejected: {reason}",
        created_at=at(number),
    )
    key = keys.notification(OWNER, notification.created_at, notification.notification_id)
    return key, NOTIFICATION.encode(notification)


PLACE_LISTS: dict[str, ListExample] = {
    "QC-32": ListExample(
        read=lambda store, part, _order, _window: reads.locations(store, LocationStatus.ACTIVE, part),
        seed=lambda number: _location_seed(_location(number)),
        large=_large_location,
        name_of=lambda location: str(location.location_id).zfill(64),
        own=("LOCATION#ACTIVE", ""),
        in_index=True,
    ),
    "QC-34": ListExample(
        read=lambda store, part, _order, _window: reads.location_lockers(store, LOCATION, part),
        seed=_location_locker,
        large=_location_locker,
        name_of=lambda summary: str(summary.locker_id),
        own=(f"LOCATION#{LOCATION}", "LOCKER#"),
    ),
    "QC-42": ListExample(
        read=lambda store, part, _order, _window: reads.pending_bookings(store, part),
        seed=lambda number: _pending(_booking(number)),
        large=lambda number: _pending(replace(_booking(number), description=TEXT)),
        name_of=lambda booking: str(booking.booking_id),
        own=("BOOKING#PENDING", ""),
        in_index=True,
    ),
    "QC-45": ListExample(
        read=lambda store, part, order, _window: reads.owner_bookings(store, OWNER, part, order),
        seed=lambda number: _owner_booking(_booking(number)),
        large=_large_owner_booking,
        name_of=lambda booking: str(booking.booking_id),
        own=(f"OWNER#{OWNER}", "BOOKING#"),
    ),
    "QC-47": ListExample(
        read=lambda store, part, _order, _window: reads.booking_payments(store, BOOKING, part),
        seed=_payment,
        large=_payment,
        name_of=lambda payment: str(payment.payment_id),
        own=(f"BOOKING#{BOOKING}", "PAYMENT#"),
    ),
    "QC-48": ListExample(
        read=lambda store, part, _order, _window: reads.owner_notifications(store, OWNER, part),
        seed=_notification,
        large=lambda number: _notification(number, TEXT),
        name_of=lambda notification: str(notification.notification_id),
        own=(f"OWNER#{OWNER}", "NOTIFICATION#"),
    ),
}
