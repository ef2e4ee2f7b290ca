"""What the requests that change reservations share: the reservations, the guard's steps, the pointer's."""

from __future__ import annotations

from dataclasses import replace

from domain.models import LockerId, OwnerId, Reservation, ReservationId, ReservationStatus
from domain.times import Instant
from loaders.items import Guard

__all__ = [
    "BEHIND_LATER",
    "BEHIND_THIS",
    "EARLIER",
    "FIRST_GUARD",
    "GUARD",
    "GUARD_AGAIN",
    "GUARD_ALONE",
    "LAST_CHANGE",
    "LATER",
    "NO_POINTER",
    "OLDER",
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

OLDER = Guard(revision=7)
"""A guard of older data, which names no change."""
BEHIND_LATER = Guard(revision=7, changed_start_at=TEN, changed_reservation_id=ReservationId("r2"), changed_revision=5)
"""Another reservation was changed last, and the pointer moved twice since."""
BEHIND_THIS = Guard(revision=7, changed_start_at=NINE, changed_reservation_id=ReservationId("r1"), changed_revision=7)
"""The reservation itself was changed last."""

FIRST_GUARD = {
    "Put": {
        "TableName": "T",
        "Item": {
            "PK": {"S": "LOCKER#l1"},
            "SK": {"S": "GUARD#RES"},
            "entityType": {"S": "RESERVATION_GUARD"},
            "revision": {"N": "1"},
            "changedStartAt": {"S": "2026-03-01T09:00:00.000Z"},
            "changedReservationId": {"S": "r1"},
            "changedRevision": {"N": "1"},
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
        "UpdateExpression": "SET #revision = :revision, #changedStartAt = :changedStartAt, "
        "#changedReservationId = :changedReservationId, #changedRevision = :changedRevision",
        "ConditionExpression": "#revision = :readRevision",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {
            "#changedReservationId": "changedReservationId",
            "#changedRevision": "changedRevision",
            "#changedStartAt": "changedStartAt",
            "#revision": "revision",
        },
        "ExpressionAttributeValues": {
            ":readRevision": {"N": "7"},
            ":revision": {"N": "8"},
            ":changedStartAt": {"S": "2026-03-01T09:00:00.000Z"},
            ":changedReservationId": {"S": "r1"},
            ":changedRevision": {"N": "8"},
        },
    }
}
GUARD_AGAIN = {
    "Update": {
        "TableName": "T",
        "Key": {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "GUARD#RES"}},
        "UpdateExpression": "SET #revision = :revision, #changedRevision = :changedRevision",
        "ConditionExpression": "#revision = :readRevision",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#changedRevision": "changedRevision", "#revision": "revision"},
        "ExpressionAttributeValues": {
            ":readRevision": {"N": "7"},
            ":revision": {"N": "8"},
            ":changedRevision": {"N": "8"},
        },
    }
}
GUARD_ALONE = {
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
LAST_CHANGE = {
    "ConditionCheck": {
        "TableName": "T",
        "Key": {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "RES#2026-03-01T10:00:00.000Z#r2"}},
        "ConditionExpression": "#revision = :changedRevision",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#revision": "revision"},
        "ExpressionAttributeValues": {":changedRevision": {"N": "5"}},
    }
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
