"""What cancelling and extending a reservation sends, to the letter, wherever the pointer stands."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from domain.models import ReservationStatus
from domain.times import Instant
from loaders.items import Guard
from loaders.writes.reservations import changing
from tests.contracts.rendered_reservations import (
    EARLIER,
    FIRST_GUARD,
    GUARD,
    LATER,
    NO_POINTER,
    POINTER_STAYS,
    POINTER_TO_LATER,
    RESERVATION,
)

if TYPE_CHECKING:
    from loaders.table.operations import Operation

__all__ = ["CASES"]

HALF_PAST_NINE, HALF_PAST_TEN = Instant("2026-03-01T09:30:00.000Z"), Instant("2026-03-01T10:30:00.000Z")
CANCELLED = replace(RESERVATION, status=ReservationStatus.CANCELLED, updated_at=HALF_PAST_NINE)
EXTENDED = replace(RESERVATION, end_at=HALF_PAST_TEN, updated_at=HALF_PAST_NINE)

RESERVATION_CANCELLED = {
    "Update": {
        "TableName": "T",
        "Key": {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "RES#2026-03-01T09:00:00.000Z#r1"}},
        "UpdateExpression": "SET #status = :status, #updatedAt = :updatedAt",
        "ConditionExpression": "#status = :readStatus AND #endAt = :readEnd",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#endAt": "endAt", "#status": "status", "#updatedAt": "updatedAt"},
        "ExpressionAttributeValues": {
            ":readStatus": {"S": "ACTIVE"},
            ":readEnd": {"S": "2026-03-01T10:00:00.000Z"},
            ":status": {"S": "CANCELLED"},
            ":updatedAt": {"S": "2026-03-01T09:30:00.000Z"},
        },
    }
}
COPY_CANCELLED = {
    "Put": {
        "TableName": "T",
        "Item": {
            "PK": {"S": "OWNER#ada"},
            "SK": {"S": "RES#2026-03-01T09:00:00.000Z#r1"},
            "entityType": {"S": "OWNER_RESERVATION"},
            "reservationId": {"S": "r1"},
            "lockerId": {"S": "l1"},
            "ownerId": {"S": "ada"},
            "startAt": {"S": "2026-03-01T09:00:00.000Z"},
            "endAt": {"S": "2026-03-01T10:00:00.000Z"},
            "status": {"S": "CANCELLED"},
            "createdAt": {"S": "2026-03-01T08:00:00.000Z"},
            "updatedAt": {"S": "2026-03-01T09:30:00.000Z"},
        },
    }
}
RESERVATION_EXTENDED = {
    "Update": {
        "TableName": "T",
        "Key": {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "RES#2026-03-01T09:00:00.000Z#r1"}},
        "UpdateExpression": "SET #endAt = :endAt, #updatedAt = :updatedAt",
        "ConditionExpression": "#status = :readStatus AND #endAt = :readEnd",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#endAt": "endAt", "#status": "status", "#updatedAt": "updatedAt"},
        "ExpressionAttributeValues": {
            ":readStatus": {"S": "ACTIVE"},
            ":readEnd": {"S": "2026-03-01T10:00:00.000Z"},
            ":endAt": {"S": "2026-03-01T10:30:00.000Z"},
            ":updatedAt": {"S": "2026-03-01T09:30:00.000Z"},
        },
    }
}
COPY_EXTENDED = {
    "Put": {
        "TableName": "T",
        "Item": {
            "PK": {"S": "OWNER#ada"},
            "SK": {"S": "RES#2026-03-01T09:00:00.000Z#r1"},
            "entityType": {"S": "OWNER_RESERVATION"},
            "reservationId": {"S": "r1"},
            "lockerId": {"S": "l1"},
            "ownerId": {"S": "ada"},
            "startAt": {"S": "2026-03-01T09:00:00.000Z"},
            "endAt": {"S": "2026-03-01T10:30:00.000Z"},
            "status": {"S": "ACTIVE"},
            "createdAt": {"S": "2026-03-01T08:00:00.000Z"},
            "updatedAt": {"S": "2026-03-01T09:30:00.000Z"},
        },
    }
}
POINTER_EXTENDED_ITEM = {
    "PK": {"S": "LOCKER#l1"},
    "SK": {"S": "RES#ACTIVE"},
    "entityType": {"S": "RESERVATION_ACTIVE"},
    "reservationId": {"S": "r1"},
    "lockerId": {"S": "l1"},
    "ownerId": {"S": "ada"},
    "startAt": {"S": "2026-03-01T09:00:00.000Z"},
    "endAt": {"S": "2026-03-01T10:30:00.000Z"},
    "status": {"S": "ACTIVE"},
    "createdAt": {"S": "2026-03-01T08:00:00.000Z"},
    "updatedAt": {"S": "2026-03-01T09:30:00.000Z"},
}
STILL_NO_POINTER = {
    "ConditionCheck": {
        "TableName": "T",
        "Key": {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "RES#ACTIVE"}},
        "ConditionExpression": "attribute_not_exists(#PK)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#PK": "PK"},
    }
}

CASES: dict[str, tuple[Operation, dict[str, Any]]] = {
    "QC-13 cancel the only reservation ahead": (
        changing(RESERVATION, CANCELLED, Guard(revision=7), RESERVATION, None),
        {
            "TransactItems": [GUARD, RESERVATION_CANCELLED, COPY_CANCELLED, NO_POINTER],
            "ClientRequestToken": "token",
        },
    ),
    "QC-13 cancel the earliest reservation of several": (
        changing(RESERVATION, CANCELLED, Guard(revision=7), RESERVATION, LATER),
        {
            "TransactItems": [GUARD, RESERVATION_CANCELLED, COPY_CANCELLED, POINTER_TO_LATER],
            "ClientRequestToken": "token",
        },
    ),
    "QC-13 cancel a reservation behind another": (
        changing(RESERVATION, CANCELLED, Guard(revision=7), EARLIER, EARLIER),
        {
            "TransactItems": [GUARD, RESERVATION_CANCELLED, COPY_CANCELLED, POINTER_STAYS],
            "ClientRequestToken": "token",
        },
    ),
    "QC-13 cancel a reservation of older data, which has neither guard nor pointer": (
        changing(RESERVATION, CANCELLED, None, None, None),
        {
            "TransactItems": [FIRST_GUARD, RESERVATION_CANCELLED, COPY_CANCELLED, STILL_NO_POINTER],
            "ClientRequestToken": "token",
        },
    ),
    "QC-13 extend the reservation that the pointer names": (
        changing(RESERVATION, EXTENDED, Guard(revision=7), RESERVATION, EXTENDED),
        {
            "TransactItems": [
                GUARD,
                RESERVATION_EXTENDED,
                COPY_EXTENDED,
                {
                    "Put": {
                        "TableName": "T",
                        "Item": POINTER_EXTENDED_ITEM,
                        "ConditionExpression": "#reservationId = :pointed",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {"#reservationId": "reservationId"},
                        "ExpressionAttributeValues": {":pointed": {"S": "r1"}},
                    }
                },
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-13 extend a reservation behind another": (
        changing(RESERVATION, EXTENDED, Guard(revision=7), EARLIER, EARLIER),
        {
            "TransactItems": [GUARD, RESERVATION_EXTENDED, COPY_EXTENDED, POINTER_STAYS],
            "ClientRequestToken": "token",
        },
    ),
    "QC-13 a pointer where there was none": (
        changing(RESERVATION, EXTENDED, Guard(revision=7), None, EXTENDED),
        {
            "TransactItems": [
                GUARD,
                RESERVATION_EXTENDED,
                COPY_EXTENDED,
                {
                    "Put": {
                        "TableName": "T",
                        "Item": POINTER_EXTENDED_ITEM,
                        "ConditionExpression": "attribute_not_exists(#PK)",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {"#PK": "PK"},
                    }
                },
            ],
            "ClientRequestToken": "token",
        },
    ),
}
