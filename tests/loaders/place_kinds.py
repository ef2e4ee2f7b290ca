"""The kinds of items that locations and bookings have: codec, model and attributes of each."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from domain.bookings import (
    Booking,
    BookingId,
    BookingStatus,
    CalendarSlot,
    DaySlot,
    Duration,
    Notification,
    Payment,
)
from domain.models import Location, LocationId, LocationStatus, LockerId, LockerStatus, LockerSummary, OwnerId
from domain.times import Day, Instant
from loaders import items
from loaders.items import CalendarClaim, LocationCode

if TYPE_CHECKING:
    from loaders.items import Codec

__all__ = ["PLACE_KINDS", "PLACE_OPTIONAL"]

NOON = Instant("2026-03-01T12:00:00.000Z")
ONE = Instant("2026-03-01T13:00:00.000Z")
BOOKING = Booking(
    booking_id=BookingId("b1"),
    location_id=LocationId("rome"),
    owner_id=OwnerId("ada"),
    date=Day("2026-03-10"),
    duration=Duration.FULL_DAY,
    description="A fair",
    attendees=40,
    status=BookingStatus.REJECTED,
    requested_at=NOON,
    updated_at=ONE,
    decided_by=OwnerId("root"),
    reason="closed",
    version=2,
)
BOOKING_ATTRIBUTES = {
    "bookingId": "b1",
    "locationId": "rome",
    "ownerId": "ada",
    "date": "2026-03-10",
    "duration": "FULL_DAY",
    "description": "A fair",
    "attendees": 40,
    "status": "REJECTED",
    "requestedAt": "2026-03-01T12:00:00.000Z",
    "updatedAt": "2026-03-01T13:00:00.000Z",
    "decidedBy": "root",
    "reason": "closed",
    "version": 2,
}
PLACE_KINDS: dict[str, tuple[Codec[Any], Any, dict[str, Any]]] = {
    "location": (
        items.LOCATION,
        Location(
            location_id=LocationId("rome"),
            code="rome-1",
            name="Rome",
            formatted_address="Via Roma 1, Roma",
            street="Via Roma 1",
            city="Roma",
            region="Lazio",
            postal_code="00100",
            country="IT",
            place_id="place-1",
            lat=Decimal("41.9"),
            lng=Decimal("12.5"),
            time_zone="Europe/Rome",
            status=LocationStatus.INACTIVE,
            created_at=NOON,
            updated_at=ONE,
            version=2,
        ),
        {
            "entityType": "LOCATION",
            "locationId": "rome",
            "code": "rome-1",
            "name": "Rome",
            "formattedAddress": "Via Roma 1, Roma",
            "street": "Via Roma 1",
            "city": "Roma",
            "region": "Lazio",
            "postalCode": "00100",
            "country": "IT",
            "placeId": "place-1",
            "lat": Decimal("41.9"),
            "lng": Decimal("12.5"),
            "timeZone": "Europe/Rome",
            "status": "INACTIVE",
            "createdAt": "2026-03-01T12:00:00.000Z",
            "updatedAt": "2026-03-01T13:00:00.000Z",
            "version": 2,
        },
    ),
    "location code": (
        items.LOCATION_CODE,
        LocationCode(location_id=LocationId("rome"), code="rome-1"),
        {"entityType": "LOCATION_CODE", "locationId": "rome", "code": "rome-1"},
    ),
    "location's locker": (
        items.LOCATION_LOCKER,
        LockerSummary(
            owner_id=OwnerId("acme"),
            locker_id=LockerId("l1"),
            status=LockerStatus.AVAILABLE,
            alias="Hall 3",
            updated_at=NOON,
        ),
        {
            "entityType": "LOCATION_LOCKER",
            "ownerId": "acme",
            "lockerId": "l1",
            "status": "AVAILABLE",
            "alias": "Hall 3",
            "updatedAt": "2026-03-01T12:00:00.000Z",
        },
    ),
    "booking": (items.BOOKING, BOOKING, {"entityType": "BOOKING", **BOOKING_ATTRIBUTES}),
    "owner's booking": (items.OWNER_BOOKING, BOOKING, {"entityType": "OWNER_BOOKING", **BOOKING_ATTRIBUTES}),
    "half day": (
        items.CALENDAR_SLOT,
        CalendarSlot(
            location_id=LocationId("rome"),
            date=Day("2026-03-10"),
            slot=DaySlot.AFTERNOON,
            event_id="b1",
            title="A fair",
            booking_id=BookingId("b1"),
            created_by=OwnerId("root"),
            created_at=NOON,
        ),
        {
            "entityType": "CALENDAR_SLOT",
            "locationId": "rome",
            "date": "2026-03-10",
            "slot": "AFTERNOON",
            "eventId": "b1",
            "title": "A fair",
            "bookingId": "b1",
            "createdBy": "root",
            "createdAt": "2026-03-01T12:00:00.000Z",
        },
    ),
    "calendar claim": (
        items.CALENDAR_CLAIM,
        CalendarClaim(
            event_id="e1",
            location_id=LocationId("rome"),
            date=Day("2026-03-10"),
            duration=Duration.MORNING,
            fingerprint="f",
        ),
        {
            "entityType": "CALENDAR_EVENT_CLAIM",
            "eventId": "e1",
            "locationId": "rome",
            "date": "2026-03-10",
            "duration": "MORNING",
            "fingerprint": "f",
        },
    ),
    "payment": (
        items.PAYMENT,
        Payment(
            payment_id="p1",
            booking_id=BookingId("b1"),
            amount=Decimal("12.5"),
            currency="EUR",
            method="card",
            paid_at=NOON,
            recorded_at=ONE,
        ),
        {
            "entityType": "PAYMENT",
            "paymentId": "p1",
            "bookingId": "b1",
            "amount": Decimal("12.5"),
            "currency": "EUR",
            "method": "card",
            "paidAt": "2026-03-01T12:00:00.000Z",
            "recordedAt": "2026-03-01T13:00:00.000Z",
        },
    ),
    "notification": (
        items.NOTIFICATION,
        Notification(
            notification_id="b1-approved",
            owner_id=OwnerId("ada"),
            booking_id=BookingId("b1"),
            booking_status=BookingStatus.APPROVED,
            message="Your booking was approved",
            created_at=NOON,
        ),
        {
            "entityType": "NOTIFICATION",
            "notificationId": "b1-approved",
            "ownerId": "ada",
            "bookingId": "b1",
            "bookingStatus": "APPROVED",
            "message": "Your booking was approved",
            "createdAt": "2026-03-01T12:00:00.000Z",
        },
    ),
}
PLACE_OPTIONAL = {
    *(
        ("location", name)
        for name in ("formattedAddress", "street", "city", "region", "postalCode", "country", "placeId", "lat", "lng")
    ),
    ("location's locker", "alias"),
    *((kind, name) for kind in ("booking", "owner's booking") for name in ("decidedBy", "reason")),
    ("half day", "bookingId"),
    ("payment", "method"),
}
