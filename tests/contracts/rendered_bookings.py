"""What requesting, deciding and cancelling a booking sends, to the letter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from domain.bookings import Booking, BookingId, BookingStatus, Duration
from domain.models import LocationId, OwnerId
from domain.times import Day, Instant
from loaders.writes.booking_steps import approving, rejecting, requesting
from tests.contracts.rendered_calendar import ADMIN_CHECKED, LOCATION_IS_ACTIVE

if TYPE_CHECKING:
    from loaders.table.operations import Operation

__all__ = ["APPROVED", "BY_ROOT", "CASES", "CONTENT", "COPY_KEY", "ELEVEN", "PENDING", "TEN"]

NINE, TEN, ELEVEN = (Instant(f"2026-03-01T{hour}:00:00.000Z") for hour in ("09", "10", "11"))
PENDING = Booking(
    booking_id=BookingId("b1"),
    location_id=LocationId("rome"),
    owner_id=OwnerId("ada"),
    date=Day("2026-03-10"),
    duration=Duration.FULL_DAY,
    description="A fair\nwith a band",
    attendees=40,
    status=BookingStatus.PENDING,
    requested_at=NINE,
    updated_at=NINE,
    decided_by=None,
    reason=None,
    version=1,
)
HALF = replace(PENDING, duration=Duration.MORNING)
DECIDED = replace(PENDING, decided_by=OwnerId("root"), updated_at=TEN, version=2)
APPROVED = replace(DECIDED, status=BookingStatus.APPROVED)
REJECTED = replace(DECIDED, status=BookingStatus.REJECTED, reason="The hall is closed")

CONTENT = {
    "bookingId": {"S": "b1"},
    "locationId": {"S": "rome"},
    "ownerId": {"S": "ada"},
    "date": {"S": "2026-03-10"},
    "duration": {"S": "FULL_DAY"},
    "description": {"S": "A fair\nwith a band"},
    "attendees": {"N": "40"},
    "requestedAt": {"S": "2026-03-01T09:00:00.000Z"},
}
COPY_KEY = {"PK": {"S": "OWNER#ada"}, "SK": {"S": "BOOKING#2026-03-10#b1"}, "entityType": {"S": "OWNER_BOOKING"}}
BY_ROOT = {"updatedAt": {"S": "2026-03-01T10:00:00.000Z"}, "decidedBy": {"S": "root"}, "version": {"N": "2"}}
IS_NEW = {
    "ConditionExpression": "attribute_not_exists(#PK)",
    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    "ExpressionAttributeNames": {"#PK": "PK"},
}
APPROVED_UPDATE = {
    "Update": {
        "TableName": "T",
        "Key": {"PK": {"S": "BOOKING#b1"}, "SK": {"S": "META"}},
        "UpdateExpression": "SET #status = :status, #updatedAt = :updatedAt, #version = :version, "
        "#decidedBy = :decidedBy REMOVE #GSI1PK, #GSI1SK",
        "ConditionExpression": "#version = :expectedVersion AND #status = :readStatus",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {
            "#GSI1PK": "GSI1PK",
            "#GSI1SK": "GSI1SK",
            "#decidedBy": "decidedBy",
            "#status": "status",
            "#updatedAt": "updatedAt",
            "#version": "version",
        },
        "ExpressionAttributeValues": {
            ":expectedVersion": {"N": "1"},
            ":readStatus": {"S": "PENDING"},
            ":status": {"S": "APPROVED"},
            ":updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
            ":version": {"N": "2"},
            ":decidedBy": {"S": "root"},
        },
    }
}
SLOT_CONTENT = {
    "PK": {"S": "LOCATION#rome"},
    "entityType": {"S": "CALENDAR_SLOT"},
    "locationId": {"S": "rome"},
    "date": {"S": "2026-03-10"},
    "eventId": {"S": "b1"},
    "title": {"S": "A fair"},
    "bookingId": {"S": "b1"},
    "createdBy": {"S": "root"},
    "createdAt": {"S": "2026-03-01T10:00:00.000Z"},
}
MORNING_TAKEN = {
    "Put": {
        "TableName": "T",
        "Item": {**SLOT_CONTENT, "SK": {"S": "DAY#2026-03-10#MORNING"}, "slot": {"S": "MORNING"}},
        **IS_NEW,
    }
}
AFTERNOON_TAKEN = {
    "Put": {
        "TableName": "T",
        "Item": {**SLOT_CONTENT, "SK": {"S": "DAY#2026-03-10#AFTERNOON"}, "slot": {"S": "AFTERNOON"}},
        **IS_NEW,
    }
}
TOLD_APPROVED = {
    "Put": {
        "TableName": "T",
        "Item": {
            "PK": {"S": "OWNER#ada"},
            "SK": {"S": "NOTIFICATION#2026-03-01T10:00:00.000Z#b1-approved"},
            "entityType": {"S": "NOTIFICATION"},
            "notificationId": {"S": "b1-approved"},
            "ownerId": {"S": "ada"},
            "bookingId": {"S": "b1"},
            "bookingStatus": {"S": "APPROVED"},
            "message": {"S": "Your booking for 2026-03-10 was approved"},
            "createdAt": {"S": "2026-03-01T10:00:00.000Z"},
        },
    }
}

CASES: dict[str, tuple[Operation, dict[str, Any]]] = {
    "QC-40 request a booking": (
        requesting(PENDING, "content"),
        {
            "TransactItems": [
                {
                    "Put": {
                        "TableName": "T",
                        "Item": {
                            "PK": {"S": "BOOKING#b1"},
                            "SK": {"S": "META"},
                            "entityType": {"S": "BOOKING"},
                            **CONTENT,
                            "status": {"S": "PENDING"},
                            "updatedAt": {"S": "2026-03-01T09:00:00.000Z"},
                            "version": {"N": "1"},
                            "GSI1PK": {"S": "BOOKING#PENDING"},
                            "GSI1SK": {"S": "2026-03-01T09:00:00.000Z#b1"},
                            "fingerprint": {"S": "content"},
                        },
                        **IS_NEW,
                    }
                },
                {
                    "Put": {
                        "TableName": "T",
                        "Item": {
                            **COPY_KEY,
                            **CONTENT,
                            "status": {"S": "PENDING"},
                            "updatedAt": {"S": "2026-03-01T09:00:00.000Z"},
                            "version": {"N": "1"},
                        },
                        **IS_NEW,
                    }
                },
                {
                    "ConditionCheck": {
                        "TableName": "T",
                        "Key": {"PK": {"S": "OWNER#ada"}, "SK": {"S": "META"}},
                        "ConditionExpression": "attribute_exists(#PK)",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {"#PK": "PK"},
                    }
                },
                LOCATION_IS_ACTIVE,
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-43 approve a booking of a full day": (
        approving(PENDING, APPROVED),
        {
            "TransactItems": [
                APPROVED_UPDATE,
                {"Put": {"TableName": "T", "Item": {**COPY_KEY, **CONTENT, **BY_ROOT, "status": {"S": "APPROVED"}}}},
                MORNING_TAKEN,
                AFTERNOON_TAKEN,
                TOLD_APPROVED,
                ADMIN_CHECKED,
                LOCATION_IS_ACTIVE,
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-43 approve a booking of half a day": (
        approving(HALF, replace(APPROVED, duration=Duration.MORNING)),
        {
            "TransactItems": [
                APPROVED_UPDATE,
                {
                    "Put": {
                        "TableName": "T",
                        "Item": {
                            **COPY_KEY,
                            **CONTENT,
                            **BY_ROOT,
                            "duration": {"S": "MORNING"},
                            "status": {"S": "APPROVED"},
                        },
                    }
                },
                MORNING_TAKEN,
                TOLD_APPROVED,
                ADMIN_CHECKED,
                LOCATION_IS_ACTIVE,
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-43 reject a booking": (
        rejecting(PENDING, REJECTED),
        {
            "TransactItems": [
                {
                    "Update": {
                        "TableName": "T",
                        "Key": {"PK": {"S": "BOOKING#b1"}, "SK": {"S": "META"}},
                        "UpdateExpression": "SET #status = :status, #updatedAt = :updatedAt, #version = :version, "
                        "#decidedBy = :decidedBy, #reason = :reason REMOVE #GSI1PK, #GSI1SK",
                        "ConditionExpression": "#version = :expectedVersion AND #status = :readStatus",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {
                            "#GSI1PK": "GSI1PK",
                            "#GSI1SK": "GSI1SK",
                            "#decidedBy": "decidedBy",
                            "#reason": "reason",
                            "#status": "status",
                            "#updatedAt": "updatedAt",
                            "#version": "version",
                        },
                        "ExpressionAttributeValues": {
                            ":expectedVersion": {"N": "1"},
                            ":readStatus": {"S": "PENDING"},
                            ":status": {"S": "REJECTED"},
                            ":updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
                            ":version": {"N": "2"},
                            ":decidedBy": {"S": "root"},
                            ":reason": {"S": "The hall is closed"},
                        },
                    }
                },
                {
                    "Put": {
                        "TableName": "T",
                        "Item": {
                            **COPY_KEY,
                            **CONTENT,
                            **BY_ROOT,
                            "status": {"S": "REJECTED"},
                            "reason": {"S": "The hall is closed"},
                        },
                    }
                },
                {
                    "Put": {
                        "TableName": "T",
                        "Item": {
                            "PK": {"S": "OWNER#ada"},
                            "SK": {"S": "NOTIFICATION#2026-03-01T10:00:00.000Z#b1-rejected"},
                            "entityType": {"S": "NOTIFICATION"},
                            "notificationId": {"S": "b1-rejected"},
                            "ownerId": {"S": "ada"},
                            "bookingId": {"S": "b1"},
                            "bookingStatus": {"S": "REJECTED"},
                            "message": {"S": "Your booking for 2026-03-10 was rejected: The hall is closed"},
                            "createdAt": {"S": "2026-03-01T10:00:00.000Z"},
                        },
                    }
                },
                ADMIN_CHECKED,
            ],
            "ClientRequestToken": "token",
        },
    ),
}
