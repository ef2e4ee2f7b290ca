"""What giving a booking up sends, to the letter, before and after it was approved."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from domain.bookings import BookingStatus, Duration
from loaders.writes.booking_steps import cancelling
from tests.contracts.rendered_bookings import APPROVED, BY_ROOT, CONTENT, COPY_KEY, ELEVEN, PENDING, TEN

if TYPE_CHECKING:
    from loaders.table.operations import Operation

__all__ = ["CASES"]

HALF = replace(APPROVED, duration=Duration.AFTERNOON)

APPROVED_CANCELLED = {
    "Update": {
        "TableName": "T",
        "Key": {"PK": {"S": "BOOKING#b1"}, "SK": {"S": "META"}},
        "UpdateExpression": "SET #status = :status, #updatedAt = :updatedAt, #version = :version",
        "ConditionExpression": "#version = :expectedVersion AND #status = :readStatus",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#status": "status", "#updatedAt": "updatedAt", "#version": "version"},
        "ExpressionAttributeValues": {
            ":expectedVersion": {"N": "2"},
            ":readStatus": {"S": "APPROVED"},
            ":status": {"S": "CANCELLED"},
            ":updatedAt": {"S": "2026-03-01T11:00:00.000Z"},
            ":version": {"N": "3"},
        },
    }
}
CANCELLED_COPY = {
    **COPY_KEY,
    **CONTENT,
    **BY_ROOT,
    "status": {"S": "CANCELLED"},
    "updatedAt": {"S": "2026-03-01T11:00:00.000Z"},
    "version": {"N": "3"},
}
MORNING_FREED = {
    "Delete": {
        "TableName": "T",
        "Key": {"PK": {"S": "LOCATION#rome"}, "SK": {"S": "DAY#2026-03-10#MORNING"}},
        "ConditionExpression": "#bookingId = :bookingId",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#bookingId": "bookingId"},
        "ExpressionAttributeValues": {":bookingId": {"S": "b1"}},
    }
}
AFTERNOON_FREED = {
    "Delete": {
        "TableName": "T",
        "Key": {"PK": {"S": "LOCATION#rome"}, "SK": {"S": "DAY#2026-03-10#AFTERNOON"}},
        "ConditionExpression": "#bookingId = :bookingId",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#bookingId": "bookingId"},
        "ExpressionAttributeValues": {":bookingId": {"S": "b1"}},
    }
}

CASES: dict[str, tuple[Operation, dict[str, Any]]] = {
    "QC-43 cancel a booking that nobody has decided": (
        cancelling(PENDING, replace(PENDING, status=BookingStatus.CANCELLED, updated_at=TEN, version=2)),
        {
            "TransactItems": [
                {
                    "Update": {
                        "TableName": "T",
                        "Key": {"PK": {"S": "BOOKING#b1"}, "SK": {"S": "META"}},
                        "UpdateExpression": "SET #status = :status, #updatedAt = :updatedAt, #version = :version "
                        "REMOVE #GSI1PK, #GSI1SK",
                        "ConditionExpression": "#version = :expectedVersion AND #status = :readStatus",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {
                            "#GSI1PK": "GSI1PK",
                            "#GSI1SK": "GSI1SK",
                            "#status": "status",
                            "#updatedAt": "updatedAt",
                            "#version": "version",
                        },
                        "ExpressionAttributeValues": {
                            ":expectedVersion": {"N": "1"},
                            ":readStatus": {"S": "PENDING"},
                            ":status": {"S": "CANCELLED"},
                            ":updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
                            ":version": {"N": "2"},
                        },
                    }
                },
                {
                    "Put": {
                        "TableName": "T",
                        "Item": {
                            **COPY_KEY,
                            **CONTENT,
                            "status": {"S": "CANCELLED"},
                            "updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
                            "version": {"N": "2"},
                        },
                    }
                },
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-43 cancel an approved booking of a full day": (
        cancelling(APPROVED, replace(APPROVED, status=BookingStatus.CANCELLED, updated_at=ELEVEN, version=3)),
        {
            "TransactItems": [
                APPROVED_CANCELLED,
                {"Put": {"TableName": "T", "Item": CANCELLED_COPY}},
                MORNING_FREED,
                AFTERNOON_FREED,
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-43 cancel an approved booking of half a day": (
        cancelling(HALF, replace(HALF, status=BookingStatus.CANCELLED, updated_at=ELEVEN, version=3)),
        {
            "TransactItems": [
                APPROVED_CANCELLED,
                {"Put": {"TableName": "T", "Item": {**CANCELLED_COPY, "duration": {"S": "AFTERNOON"}}}},
                AFTERNOON_FREED,
            ],
            "ClientRequestToken": "token",
        },
    ),
}
