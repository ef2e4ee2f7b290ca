"""What creating a reservation sends, to the letter, and what moves the pointer on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from domain.models import LockerId, OwnerId, Reservation, ReservationId, ReservationStatus
from domain.times import Instant
from loaders import keys
from loaders.contracts import QC_04
from loaders.items import Guard
from loaders.writes.reservations import creating
from loaders.writes.timeline import repairing

if TYPE_CHECKING:
    from loaders.table.operations import Operation

__all__ = [
    "CASES",
    "EARLIER",
    "FIRST_GUARD",
    "GUARD",
    "LATER",
    "NO_POINTER",
    "POINTER_STAYS",
    "POINTER_TO_LATER",
    "RESERVATION",
]

EIGHT, NINE, TEN, ELEVEN = (Instant(f"2026-03-01T{hour}:00:00.000Z") for hour in ("08", "09", "10", "11"))
RESERVATION = Reservation(
    reservation_id=ReservationId("r1"),
    locker_id=LockerId("l1"),
    owner_id=OwnerId("ada"),
    start_at=NINE,
    end_at=TEN,
    status=ReservationStatus.ACTIVE,
    created_at=EIGHT,
    updated_at=EIGHT,
)
EARLIER = replace(RESERVATION, reservation_id=ReservationId("r0"), start_at=EIGHT, end_at=NINE)
LATER = replace(RESERVATION, reservation_id=ReservationId("r2"), owner_id=OwnerId("bob"), start_at=TEN, end_at=ELEVEN)

FIRST_GUARD = {
    "Put": {
        "TableName": "T",
        "Item": {
            "PK": {"S": "LOCKER#l1"},
            "SK": {"S": "GUARD#RES"},
            "entityType": {"S": "RESERVATION_GUARD"},
            "revision": {"N": "1"},
        },
        "ConditionExpression": "attribute_not_exists(#PK)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#PK": "PK"},
    }
}
GUARD = {
    "Update": {
        "TableName": "T",
        "Key": {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "GUARD#RES"}},
        "UpdateExpression": "SET #revision = :revision",
        "ConditionExpression": "#revision = :readRevision",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#revision": "revision"},
        "ExpressionAttributeValues": {":readRevision": {"N": "7"}, ":revision": {"N": "8"}},
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
POINTER_TO_LATER = {
    "Put": {
        "TableName": "T",
        "Item": {
            "PK": {"S": "LOCKER#l1"},
            "SK": {"S": "RES#ACTIVE"},
            "entityType": {"S": "RESERVATION_ACTIVE"},
            "reservationId": {"S": "r2"},
            "lockerId": {"S": "l1"},
            "ownerId": {"S": "bob"},
            "startAt": {"S": "2026-03-01T10:00:00.000Z"},
            "endAt": {"S": "2026-03-01T11:00:00.000Z"},
            "status": {"S": "ACTIVE"},
            "createdAt": {"S": "2026-03-01T08:00:00.000Z"},
            "updatedAt": {"S": "2026-03-01T08:00:00.000Z"},
        },
        "ConditionExpression": "#reservationId = :pointed",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#reservationId": "reservationId"},
        "ExpressionAttributeValues": {":pointed": {"S": "r1"}},
    }
}
POINTER_STAYS = {
    "ConditionCheck": {
        "TableName": "T",
        "Key": {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "RES#ACTIVE"}},
        "ConditionExpression": "#reservationId = :pointed",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#reservationId": "reservationId"},
        "ExpressionAttributeValues": {":pointed": {"S": "r0"}},
    }
}
NO_POINTER = {
    "Delete": {
        "TableName": "T",
        "Key": {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "RES#ACTIVE"}},
        "ConditionExpression": "#reservationId = :pointed",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#reservationId": "reservationId"},
        "ExpressionAttributeValues": {":pointed": {"S": "r1"}},
    }
}
LOCKER_IN_SERVICE = {
    "ConditionCheck": {
        "TableName": "T",
        "Key": {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "META"}},
        "ConditionExpression": "attribute_exists(#PK) AND #status <> :maintenance",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#PK": "PK", "#status": "status"},
        "ExpressionAttributeValues": {":maintenance": {"S": "MAINTENANCE"}},
    }
}
OWNER_EXISTS = {
    "ConditionCheck": {
        "TableName": "T",
        "Key": {"PK": {"S": "OWNER#ada"}, "SK": {"S": "META"}},
        "ConditionExpression": "attribute_exists(#PK)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#PK": "PK"},
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
                    ],
                    "ConsistentRead": True,
                }
            }
        },
    ),
    "QC-04 the first reservation of a locker": (
        creating(RESERVATION, "content", None, None),
        {
            "TransactItems": [
                FIRST_GUARD,
                CREATED,
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
                OWNER_EXISTS,
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-04 a reservation in front of all others": (
        creating(RESERVATION, "content", Guard(revision=7), LATER),
        {
            "TransactItems": [
                GUARD,
                CREATED,
                CLAIMED,
                COPIED,
                {
                    "Put": {
                        "TableName": "T",
                        "Item": POINTER_ITEM,
                        "ConditionExpression": "#reservationId = :pointed",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {"#reservationId": "reservationId"},
                        "ExpressionAttributeValues": {":pointed": {"S": "r2"}},
                    }
                },
                LOCKER_IN_SERVICE,
                OWNER_EXISTS,
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-04 a reservation behind another": (
        creating(RESERVATION, "content", Guard(revision=7), EARLIER),
        {
            "TransactItems": [GUARD, CREATED, CLAIMED, COPIED, POINTER_STAYS, LOCKER_IN_SERVICE, OWNER_EXISTS],
            "ClientRequestToken": "token",
        },
    ),
    "QC-07 move the pointer on to the next reservation": (
        repairing(RESERVATION, Guard(revision=7), LATER),
        {"TransactItems": [GUARD, POINTER_TO_LATER], "ClientRequestToken": "token"},
    ),
    "QC-07 take the pointer away where nothing is ahead": (
        repairing(RESERVATION, Guard(revision=7), None),
        {"TransactItems": [GUARD, NO_POINTER], "ClientRequestToken": "token"},
    ),
    "QC-07 move the pointer of older data, which has no guard": (
        repairing(RESERVATION, None, LATER),
        {"TransactItems": [FIRST_GUARD, POINTER_TO_LATER], "ClientRequestToken": "token"},
    ),
}
