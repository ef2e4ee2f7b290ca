"""What moves the pointer on sends, to the letter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loaders import keys
from loaders.contracts import QC_07
from loaders.writes.timeline import repairing
from tests.contracts.rendered_steps import (
    BEHIND_LATER,
    BEHIND_THIS,
    GUARD_ALONE,
    LAST_CHANGE,
    LATER,
    NO_POINTER,
    OLDER,
    POINTER_TO_LATER,
    RESERVATION,
)

if TYPE_CHECKING:
    from loaders.table.operations import Operation

__all__ = ["CASES"]

FIRST_GUARD_ALONE = {
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

CASES: dict[str, tuple[Operation, dict[str, Any]]] = {
    "QC-07 the guard, before what it guards": (
        QC_07.get(keys.reservation_guard(RESERVATION.locker_id), consistent=True),
        {"TableName": "T", "Key": {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "GUARD#RES"}}, "ConsistentRead": True},
    ),
    "QC-07 what is ahead": (
        QC_07.query(
            keys.locker_reservations(RESERVATION.locker_id, start=RESERVATION.start_at), limit=200, consistent=True
        ),
        {
            "TableName": "T",
            "KeyConditionExpression": "#PK = :pk AND #SK BETWEEN :low AND :high",
            "ExpressionAttributeNames": {"#PK": "PK", "#SK": "SK"},
            "ExpressionAttributeValues": {
                ":pk": {"S": "LOCKER#l1"},
                ":low": {"S": "RES#2026-03-01T09:00:00.000Z"},
                ":high": {"S": "RES#9999-12-31T23:59:59.999Z~"},
            },
            "Limit": 200,
            "ScanIndexForward": True,
            "ConsistentRead": True,
        },
    ),
    "QC-07 move the pointer on to the next reservation": (
        repairing(RESERVATION, BEHIND_LATER, LATER),
        {"TransactItems": [GUARD_ALONE, POINTER_TO_LATER, LAST_CHANGE], "ClientRequestToken": "token"},
    ),
    "QC-07 take the pointer away where nothing is ahead": (
        repairing(RESERVATION, BEHIND_LATER, None),
        {"TransactItems": [GUARD_ALONE, NO_POINTER, LAST_CHANGE], "ClientRequestToken": "token"},
    ),
    "QC-07 take the pointer away from the reservation that was changed last": (
        repairing(RESERVATION, BEHIND_THIS, None),
        {
            "TransactItems": [
                GUARD_ALONE,
                NO_POINTER,
                {
                    "ConditionCheck": {
                        "TableName": "T",
                        "Key": {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "RES#2026-03-01T09:00:00.000Z#r1"}},
                        "ConditionExpression": "#revision = :changedRevision",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {"#revision": "revision"},
                        "ExpressionAttributeValues": {":changedRevision": {"N": "7"}},
                    }
                },
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-07 move the pointer of older data, whose guard names no change": (
        repairing(RESERVATION, OLDER, LATER),
        {"TransactItems": [GUARD_ALONE, POINTER_TO_LATER], "ClientRequestToken": "token"},
    ),
    "QC-07 move the pointer of older data, which has no guard": (
        repairing(RESERVATION, None, LATER),
        {"TransactItems": [FIRST_GUARD_ALONE, POINTER_TO_LATER], "ClientRequestToken": "token"},
    ),
}
