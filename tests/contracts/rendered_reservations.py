"""What creating a reservation sends, to the letter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain.models import OwnerId
from loaders import keys
from loaders.contracts import QC_04
from loaders.writes.reservation_steps import creating
from tests.contracts.rendered_steps import (
    BEHIND_LATER,
    EARLIER,
    FIRST_GUARD,
    GUARD,
    LAST_CHANGE,
    LATER,
    OLDER,
    POINTER_STAYS,
    RESERVATION,
)

if TYPE_CHECKING:
    from loaders.table.operations import Operation

__all__ = ["CASES"]

CREATED_FIRST = {
    "Put": {
        "TableName": "T",
        "Item": {
            "PK": {"S": "LOCKER#l1"},
            "SK": {"S": "RES#2026-03-01T09:00:00.000Z#r1"},
            "entityType": {"S": "RESERVATION"},
            "reservationId": {"S": "r1"},
            "lockerId": {"S": "l1"},
            "ownerId": {"S": "ada"},
            "startAt": {"S": "2026-03-01T09:00:00.000Z"},
            "endAt": {"S": "2026-03-01T10:00:00.000Z"},
            "status": {"S": "ACTIVE"},
            "createdAt": {"S": "2026-03-01T08:00:00.000Z"},
            "updatedAt": {"S": "2026-03-01T08:00:00.000Z"},
            "revision": {"N": "1"},
        },
        "ConditionExpression": "attribute_not_exists(#PK)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#PK": "PK"},
    }
}
CREATED = {
    "Put": {
        "TableName": "T",
        "Item": {
            "PK": {"S": "LOCKER#l1"},
            "SK": {"S": "RES#2026-03-01T09:00:00.000Z#r1"},
            "entityType": {"S": "RESERVATION"},
            "reservationId": {"S": "r1"},
            "lockerId": {"S": "l1"},
            "ownerId": {"S": "ada"},
            "startAt": {"S": "2026-03-01T09:00:00.000Z"},
            "endAt": {"S": "2026-03-01T10:00:00.000Z"},
            "status": {"S": "ACTIVE"},
            "createdAt": {"S": "2026-03-01T08:00:00.000Z"},
            "updatedAt": {"S": "2026-03-01T08:00:00.000Z"},
            "revision": {"N": "8"},
        },
        "ConditionExpression": "attribute_not_exists(#PK)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#PK": "PK"},
    }
}
CLAIMED = {
    "Put": {
        "TableName": "T",
        "Item": {
            "PK": {"S": "LOCKER#l1"},
            "SK": {"S": "RID#r1"},
            "entityType": {"S": "RESERVATION_CLAIM"},
            "reservationId": {"S": "r1"},
            "lockerId": {"S": "l1"},
            "startAt": {"S": "2026-03-01T09:00:00.000Z"},
            "fingerprint": {"S": "content"},
        },
        "ConditionExpression": "attribute_not_exists(#PK)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#PK": "PK"},
    }
}
COPIED = {
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
            "status": {"S": "ACTIVE"},
            "createdAt": {"S": "2026-03-01T08:00:00.000Z"},
            "updatedAt": {"S": "2026-03-01T08:00:00.000Z"},
        },
        "ConditionExpression": "attribute_not_exists(#PK)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#PK": "PK"},
    }
}
POINTER_ITEM = {
    "PK": {"S": "LOCKER#l1"},
    "SK": {"S": "RES#ACTIVE"},
    "entityType": {"S": "RESERVATION_ACTIVE"},
    "reservationId": {"S": "r1"},
    "lockerId": {"S": "l1"},
    "ownerId": {"S": "ada"},
    "startAt": {"S": "2026-03-01T09:00:00.000Z"},
    "endAt": {"S": "2026-03-01T10:00:00.000Z"},
    "status": {"S": "ACTIVE"},
    "createdAt": {"S": "2026-03-01T08:00:00.000Z"},
    "updatedAt": {"S": "2026-03-01T08:00:00.000Z"},
}
LOCKER_IN_SERVICE = {
    "ConditionCheck": {
        "TableName": "T",
        "Key": {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "META"}},
        "ConditionExpression": "#ownerId = :readOwner AND #status <> :maintenance",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#ownerId": "ownerId", "#status": "status"},
        "ExpressionAttributeValues": {":readOwner": {"S": "acme"}, ":maintenance": {"S": "MAINTENANCE"}},
    }
}
POINTER_TAKEN_FROM_LATER = {
    "Put": {
        "TableName": "T",
        "Item": POINTER_ITEM,
        "ConditionExpression": "#reservationId = :pointed",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#reservationId": "reservationId"},
        "ExpressionAttributeValues": {":pointed": {"S": "r2"}},
    }
}

CASES: dict[str, tuple[Operation, dict[str, Any]]] = {
    "QC-04 what is read first, the guard before what it guards": (
        QC_04.batch(
            [
                keys.reservation_guard(RESERVATION.locker_id),
                keys.active_pointer(RESERVATION.locker_id),
                keys.reservation_claim(RESERVATION.locker_id, RESERVATION.reservation_id),
                keys.locker(RESERVATION.locker_id),
                keys.owner(RESERVATION.owner_id),
            ],
            consistent=True,
        ),
        {
            "RequestItems": {
                "T": {
                    "Keys": [
                        {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "GUARD#RES"}},
                        {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "RES#ACTIVE"}},
                        {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "RID#r1"}},
                        {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "META"}},
                        {"PK": {"S": "OWNER#ada"}, "SK": {"S": "META"}},
                    ],
                    "ConsistentRead": True,
                }
            }
        },
    ),
    "QC-04 the first reservation of a locker": (
        creating(RESERVATION, "content", None, None, OwnerId("acme")),
        {
            "TransactItems": [
                FIRST_GUARD,
                CREATED_FIRST,
                CLAIMED,
                COPIED,
                {
                    "Put": {
                        "TableName": "T",
                        "Item": POINTER_ITEM,
                        "ConditionExpression": "attribute_not_exists(#PK)",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {"#PK": "PK"},
                    }
                },
                LOCKER_IN_SERVICE,
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-04 a reservation in front of all others": (
        creating(RESERVATION, "content", BEHIND_LATER, LATER, OwnerId("acme")),
        {
            "TransactItems": [
                GUARD,
                CREATED,
                CLAIMED,
                COPIED,
                POINTER_TAKEN_FROM_LATER,
                LOCKER_IN_SERVICE,
                LAST_CHANGE,
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-04 a reservation behind another": (
        creating(RESERVATION, "content", BEHIND_LATER, EARLIER, OwnerId("acme")),
        {
            "TransactItems": [GUARD, CREATED, CLAIMED, COPIED, POINTER_STAYS, LOCKER_IN_SERVICE, LAST_CHANGE],
            "ClientRequestToken": "token",
        },
    ),
    "QC-04 a reservation beside older data, whose guard names no change": (
        creating(RESERVATION, "content", OLDER, EARLIER, OwnerId("acme")),
        {
            "TransactItems": [GUARD, CREATED, CLAIMED, COPIED, POINTER_STAYS, LOCKER_IN_SERVICE],
            "ClientRequestToken": "token",
        },
    ),
}
