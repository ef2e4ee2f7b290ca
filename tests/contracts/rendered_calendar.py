"""What writing a calendar event or a payment sends, to the letter."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from domain.bookings import BookingId, CalendarSlot, DaySlot, Duration, Payment
from domain.models import LocationId, OwnerId
from domain.times import Day, Instant
from loaders.items import CalendarClaim
from loaders.writes.calendar import creating, deleting, paying

if TYPE_CHECKING:
    from loaders.table.operations import Operation

__all__ = ["ADMIN_CHECKED", "CASES", "LOCATION_IS_ACTIVE"]

NINE, TEN = Instant("2026-03-01T09:00:00.000Z"), Instant("2026-03-01T10:00:00.000Z")
MORNING = CalendarSlot(
    location_id=LocationId("rome"),
    date=Day("2026-03-10"),
    slot=DaySlot.MORNING,
    event_id="e1",
    title="Cleaning",
    booking_id=None,
    created_by=OwnerId("root"),
    created_at=NINE,
)
AFTERNOON = replace(MORNING, slot=DaySlot.AFTERNOON)
FULL_DAY = CalendarClaim(
    event_id="e1",
    location_id=LocationId("rome"),
    date=Day("2026-03-10"),
    duration=Duration.FULL_DAY,
    fingerprint="content",
)
HALF_DAY = replace(FULL_DAY, duration=Duration.AFTERNOON)
PAYMENT = Payment(
    payment_id="p1",
    booking_id=BookingId("b1"),
    amount=Decimal("12.50"),
    currency="EUR",
    method="card",
    paid_at=NINE,
    recorded_at=TEN,
)

ADMIN_CHECKED = {
    "ConditionCheck": {
        "TableName": "T",
        "Key": {"PK": {"S": "OWNER#root"}, "SK": {"S": "META"}},
        "ConditionExpression": "#role = :admin",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#role": "role"},
        "ExpressionAttributeValues": {":admin": {"S": "ADMIN"}},
    }
}
LOCATION_IS_ACTIVE = {
    "ConditionCheck": {
        "TableName": "T",
        "Key": {"PK": {"S": "LOCATION#rome"}, "SK": {"S": "META"}},
        "ConditionExpression": "attribute_exists(#PK) AND #status = :active",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#PK": "PK", "#status": "status"},
        "ExpressionAttributeValues": {":active": {"S": "ACTIVE"}},
    }
}
MORNING_TAKEN = {
    "Put": {
        "TableName": "T",
        "Item": {
            "PK": {"S": "LOCATION#rome"},
            "SK": {"S": "DAY#2026-03-10#MORNING"},
            "entityType": {"S": "CALENDAR_SLOT"},
            "locationId": {"S": "rome"},
            "date": {"S": "2026-03-10"},
            "slot": {"S": "MORNING"},
            "eventId": {"S": "e1"},
            "title": {"S": "Cleaning"},
            "createdBy": {"S": "root"},
            "createdAt": {"S": "2026-03-01T09:00:00.000Z"},
        },
        "ConditionExpression": "attribute_not_exists(#PK)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#PK": "PK"},
    }
}
AFTERNOON_TAKEN = {
    "Put": {
        "TableName": "T",
        "Item": {
            "PK": {"S": "LOCATION#rome"},
            "SK": {"S": "DAY#2026-03-10#AFTERNOON"},
            "entityType": {"S": "CALENDAR_SLOT"},
            "locationId": {"S": "rome"},
            "date": {"S": "2026-03-10"},
            "slot": {"S": "AFTERNOON"},
            "eventId": {"S": "e1"},
            "title": {"S": "Cleaning"},
            "createdBy": {"S": "root"},
            "createdAt": {"S": "2026-03-01T09:00:00.000Z"},
        },
        "ConditionExpression": "attribute_not_exists(#PK)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#PK": "PK"},
    }
}
MORNING_FREED = {
    "Delete": {
        "TableName": "T",
        "Key": {"PK": {"S": "LOCATION#rome"}, "SK": {"S": "DAY#2026-03-10#MORNING"}},
        "ConditionExpression": "#eventId = :eventId AND attribute_not_exists(#bookingId)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#bookingId": "bookingId", "#eventId": "eventId"},
        "ExpressionAttributeValues": {":eventId": {"S": "e1"}},
    }
}
AFTERNOON_FREED = {
    "Delete": {
        "TableName": "T",
        "Key": {"PK": {"S": "LOCATION#rome"}, "SK": {"S": "DAY#2026-03-10#AFTERNOON"}},
        "ConditionExpression": "#eventId = :eventId AND attribute_not_exists(#bookingId)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#bookingId": "bookingId", "#eventId": "eventId"},
        "ExpressionAttributeValues": {":eventId": {"S": "e1"}},
    }
}
BOOKING_EXISTS = {
    "ConditionCheck": {
        "TableName": "T",
        "Key": {"PK": {"S": "BOOKING#b1"}, "SK": {"S": "META"}},
        "ConditionExpression": "attribute_exists(#PK)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#PK": "PK"},
    }
}

CASES: dict[str, tuple[Operation, dict[str, Any]]] = {
    "QC-49 fill a whole day": (
        creating(FULL_DAY, [MORNING, AFTERNOON]),
        {
            "TransactItems": [
                {
                    "Put": {
                        "TableName": "T",
                        "Item": {
                            "PK": {"S": "LOCATION#rome"},
                            "SK": {"S": "CID#e1"},
                            "entityType": {"S": "CALENDAR_EVENT_CLAIM"},
                            "eventId": {"S": "e1"},
                            "locationId": {"S": "rome"},
                            "date": {"S": "2026-03-10"},
                            "duration": {"S": "FULL_DAY"},
                            "fingerprint": {"S": "content"},
                        },
                        "ConditionExpression": "attribute_not_exists(#PK)",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {"#PK": "PK"},
                    }
                },
                MORNING_TAKEN,
                AFTERNOON_TAKEN,
                ADMIN_CHECKED,
                LOCATION_IS_ACTIVE,
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-49 fill half a day": (
        creating(HALF_DAY, [AFTERNOON]),
        {
            "TransactItems": [
                {
                    "Put": {
                        "TableName": "T",
                        "Item": {
                            "PK": {"S": "LOCATION#rome"},
                            "SK": {"S": "CID#e1"},
                            "entityType": {"S": "CALENDAR_EVENT_CLAIM"},
                            "eventId": {"S": "e1"},
                            "locationId": {"S": "rome"},
                            "date": {"S": "2026-03-10"},
                            "duration": {"S": "AFTERNOON"},
                            "fingerprint": {"S": "content"},
                        },
                        "ConditionExpression": "attribute_not_exists(#PK)",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {"#PK": "PK"},
                    }
                },
                AFTERNOON_TAKEN,
                ADMIN_CHECKED,
                LOCATION_IS_ACTIVE,
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-49 free a whole day": (
        deleting(FULL_DAY, OwnerId("root")),
        {"TransactItems": [MORNING_FREED, AFTERNOON_FREED, ADMIN_CHECKED], "ClientRequestToken": "token"},
    ),
    "QC-49 free half a day": (
        deleting(HALF_DAY, OwnerId("root")),
        {"TransactItems": [AFTERNOON_FREED, ADMIN_CHECKED], "ClientRequestToken": "token"},
    ),
    "QC-46 record a payment": (
        paying(PAYMENT, "content"),
        {
            "TransactItems": [
                {
                    "Put": {
                        "TableName": "T",
                        "Item": {
                            "PK": {"S": "BOOKING#b1"},
                            "SK": {"S": "PAYMENT#p1"},
                            "entityType": {"S": "PAYMENT"},
                            "paymentId": {"S": "p1"},
                            "bookingId": {"S": "b1"},
                            "amount": {"N": "12.50"},
                            "currency": {"S": "EUR"},
                            "method": {"S": "card"},
                            "paidAt": {"S": "2026-03-01T09:00:00.000Z"},
                            "recordedAt": {"S": "2026-03-01T10:00:00.000Z"},
                            "fingerprint": {"S": "content"},
                        },
                        "ConditionExpression": "attribute_not_exists(#PK)",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {"#PK": "PK"},
                    }
                },
                BOOKING_EXISTS,
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-46 record a payment whose method nobody knows": (
        paying(replace(PAYMENT, amount=Decimal(100), method=None), "content"),
        {
            "TransactItems": [
                {
                    "Put": {
                        "TableName": "T",
                        "Item": {
                            "PK": {"S": "BOOKING#b1"},
                            "SK": {"S": "PAYMENT#p1"},
                            "entityType": {"S": "PAYMENT"},
                            "paymentId": {"S": "p1"},
                            "bookingId": {"S": "b1"},
                            "amount": {"N": "100"},
                            "currency": {"S": "EUR"},
                            "paidAt": {"S": "2026-03-01T09:00:00.000Z"},
                            "recordedAt": {"S": "2026-03-01T10:00:00.000Z"},
                            "fingerprint": {"S": "content"},
                        },
                        "ConditionExpression": "attribute_not_exists(#PK)",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {"#PK": "PK"},
                    }
                },
                BOOKING_EXISTS,
            ],
            "ClientRequestToken": "token",
        },
    ),
}
