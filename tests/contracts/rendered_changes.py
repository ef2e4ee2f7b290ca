"""What cancelling and extending a reservation sends, to the letter, wherever the pointer stands."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from domain.models import ReservationStatus
from domain.times import Instant
from loaders import keys
from loaders.contracts import QC_13
from loaders.writes.reservation_steps import changing
from tests.contracts.rendered_steps import (
    BEHIND_LATER,
    BEHIND_THIS,
    EARLIER,
    FIRST_GUARD,
    GUARD,
    GUARD_AGAIN,
    LAST_CHANGE,
    LATER,
    NO_POINTER,
    OLDER,
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
        "UpdateExpression": "SET #status = :status, #updatedAt = :updatedAt, #revision = :revision",
        "ConditionExpression": "#status = :readStatus AND #endAt = :readEnd",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {
            "#endAt": "endAt",
            "#revision": "revision",
            "#status": "status",
            "#updatedAt": "updatedAt",
        },
        "ExpressionAttributeValues": {
            ":readStatus": {"S": "ACTIVE"},
            ":readEnd": {"S": "2026-03-01T10:00:00.000Z"},
            ":status": {"S": "CANCELLED"},
            ":updatedAt": {"S": "2026-03-01T09:30:00.000Z"},
            ":revision": {"N": "8"},
        },
    }
}
RESERVATION_CANCELLED_FIRST = {
    "Update": {
        "TableName": "T",
        "Key": {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "RES#2026-03-01T09:00:00.000Z#r1"}},
        "UpdateExpression": "SET #status = :status, #updatedAt = :updatedAt, #revision = :revision",
        "ConditionExpression": "#status = :readStatus AND #endAt = :readEnd",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {
            "#endAt": "endAt",
            "#revision": "revision",
            "#status": "status",
            "#updatedAt": "updatedAt",
        },
        "ExpressionAttributeValues": {
            ":readStatus": {"S": "ACTIVE"},
            ":readEnd": {"S": "2026-03-01T10:00:00.000Z"},
            ":status": {"S": "CANCELLED"},
            ":updatedAt": {"S": "2026-03-01T09:30:00.000Z"},
            ":revision": {"N": "1"},
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
        "UpdateExpression": "SET #endAt = :endAt, #updatedAt = :updatedAt, #revision = :revision",
        "ConditionExpression": "#status = :readStatus AND #endAt = :readEnd",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {
            "#endAt": "endAt",
            "#revision": "revision",
            "#status": "status",
            "#updatedAt": "updatedAt",
        },
        "ExpressionAttributeValues": {
            ":readStatus": {"S": "ACTIVE"},
            ":readEnd": {"S": "2026-03-01T10:00:00.000Z"},
            ":endAt": {"S": "2026-03-01T10:30:00.000Z"},
            ":updatedAt": {"S": "2026-03-01T09:30:00.000Z"},
            ":revision": {"N": "8"},
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

POINTER_EXTENDED = {
    "Put": {
        "TableName": "T",
        "Item": POINTER_EXTENDED_ITEM,
        "ConditionExpression": "#reservationId = :pointed",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#reservationId": "reservationId"},
        "ExpressionAttributeValues": {":pointed": {"S": "r1"}},
    }
}

CASES: dict[str, tuple[Operation, dict[str, Any]]] = {
    "QC-13 what follows a reservation": (
        QC_13.query(
            keys.reservations_starting(RESERVATION.locker_id, RESERVATION.start_at, HALF_PAST_TEN),
            limit=1000,
            consistent=True,
        ),
        {
            "TableName": "T",
            "KeyConditionExpression": "#PK = :pk AND #SK BETWEEN :low AND :high",
            "ExpressionAttributeNames": {"#PK": "PK", "#SK": "SK"},
            "ExpressionAttributeValues": {
                ":pk": {"S": "LOCKER#l1"},
                ":low": {"S": "RES#2026-03-01T09:00:00.000Z"},
                ":high": {"S": "RES#2026-03-01T10:30:00.000Z"},
            },
            "Limit": 1000,
            "ScanIndexForward": True,
            "ConsistentRead": True,
        },
    ),
    "QC-13 cancel the only reservation ahead": (
        changing(RESERVATION, CANCELLED, BEHIND_THIS, RESERVATION, None),
        {
            "TransactItems": [GUARD_AGAIN, RESERVATION_CANCELLED, COPY_CANCELLED, NO_POINTER],
            "ClientRequestToken": "token",
        },
    ),
    "QC-13 cancel the earliest reservation of several": (
        changing(RESERVATION, CANCELLED, BEHIND_LATER, RESERVATION, LATER),
        {
            "TransactItems": [GUARD, RESERVATION_CANCELLED, COPY_CANCELLED, POINTER_TO_LATER, LAST_CHANGE],
            "ClientRequestToken": "token",
        },
    ),
    "QC-13 cancel a reservation behind another": (
        changing(RESERVATION, CANCELLED, BEHIND_LATER, EARLIER, EARLIER),
        {
            "TransactItems": [GUARD, RESERVATION_CANCELLED, COPY_CANCELLED, POINTER_STAYS, LAST_CHANGE],
            "ClientRequestToken": "token",
        },
    ),
    "QC-13 cancel a reservation of older data, which has neither guard nor pointer": (
        changing(RESERVATION, CANCELLED, None, None, None),
        {
            "TransactItems": [FIRST_GUARD, RESERVATION_CANCELLED_FIRST, COPY_CANCELLED, STILL_NO_POINTER],
            "ClientRequestToken": "token",
        },
    ),
    "QC-13 cancel a reservation of older data, whose guard names no change": (
        changing(RESERVATION, CANCELLED, OLDER, EARLIER, EARLIER),
        {
            "TransactItems": [GUARD, RESERVATION_CANCELLED, COPY_CANCELLED, POINTER_STAYS],
            "ClientRequestToken": "token",
        },
    ),
    "QC-13 extend the reservation that the pointer names": (
        changing(RESERVATION, EXTENDED, BEHIND_LATER, RESERVATION, EXTENDED),
        {
            "TransactItems": [GUARD, RESERVATION_EXTENDED, COPY_EXTENDED, POINTER_EXTENDED, LAST_CHANGE],
            "ClientRequestToken": "token",
        },
    ),
    "QC-13 extend the reservation that was changed last": (
        changing(RESERVATION, EXTENDED, BEHIND_THIS, RESERVATION, EXTENDED),
        {
            "TransactItems": [GUARD_AGAIN, RESERVATION_EXTENDED, COPY_EXTENDED, POINTER_EXTENDED],
            "ClientRequestToken": "token",
        },
    ),
    "QC-13 extend a reservation behind another": (
        changing(RESERVATION, EXTENDED, BEHIND_LATER, EARLIER, EARLIER),
        {
            "TransactItems": [GUARD, RESERVATION_EXTENDED, COPY_EXTENDED, POINTER_STAYS, LAST_CHANGE],
            "ClientRequestToken": "token",
        },
    ),
    "QC-13 a pointer where there was none": (
        changing(RESERVATION, EXTENDED, BEHIND_THIS, None, EXTENDED),
        {
            "TransactItems": [
                GUARD_AGAIN,
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
    "QC-13 a pointer that comes back from a later one": (
        changing(RESERVATION, EXTENDED, BEHIND_LATER, LATER, EXTENDED),
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
                        "ExpressionAttributeValues": {":pointed": {"S": "r2"}},
                    }
                },
                LAST_CHANGE,
            ],
            "ClientRequestToken": "token",
        },
    ),
}
