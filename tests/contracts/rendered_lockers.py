"""What registering and transferring a locker sends, to the letter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from domain.models import Locker, LockerId, LockerStatus, OwnerId
from domain.times import Instant
from loaders.writes.lockers import registering, transferring

if TYPE_CHECKING:
    from loaders.table.operations import Operation

__all__ = ["CASES", "LOCKER", "LOCKER_TRANSFERRED", "NAMELESS", "NEW_OWNER_EXISTS", "OWNER_EXISTS", "TEN"]

NINE, TEN = Instant("2026-03-01T09:00:00.000Z"), Instant("2026-03-01T10:00:00.000Z")
LOCKER = Locker(
    locker_id=LockerId("l1"),
    owner_id=OwnerId("acme"),
    status=LockerStatus.AVAILABLE,
    alias="Hall 3",
    created_at=NINE,
    updated_at=NINE,
    version=1,
)
NAMELESS = replace(LOCKER, alias=None)
TRANSFERRED = replace(LOCKER, owner_id=OwnerId("other"), updated_at=TEN, version=2)

OWNER_EXISTS = {
    "ConditionCheck": {
        "TableName": "T",
        "Key": {"PK": {"S": "OWNER#acme"}, "SK": {"S": "META"}},
        "ConditionExpression": "attribute_exists(#PK)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#PK": "PK"},
    }
}
LOCKER_TRANSFERRED = {
    "Update": {
        "TableName": "T",
        "Key": {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "META"}},
        "UpdateExpression": "SET #ownerId = :ownerId, #updatedAt = :updatedAt, #version = :version",
        "ConditionExpression": "#version = :expectedVersion AND #ownerId = :readOwner",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {
            "#ownerId": "ownerId",
            "#updatedAt": "updatedAt",
            "#version": "version",
        },
        "ExpressionAttributeValues": {
            ":expectedVersion": {"N": "1"},
            ":readOwner": {"S": "acme"},
            ":ownerId": {"S": "other"},
            ":updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
            ":version": {"N": "2"},
        },
    }
}
NEW_OWNER_EXISTS = {
    "ConditionCheck": {
        "TableName": "T",
        "Key": {"PK": {"S": "OWNER#other"}, "SK": {"S": "META"}},
        "ConditionExpression": "attribute_exists(#PK)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#PK": "PK"},
    }
}

CASES: dict[str, tuple[Operation, dict[str, Any]]] = {
    "QC-11 register a locker": (
        registering(LOCKER, "content"),
        {
            "TransactItems": [
                {
                    "Put": {
                        "TableName": "T",
                        "Item": {
                            "PK": {"S": "LOCKER#l1"},
                            "SK": {"S": "META"},
                            "entityType": {"S": "LOCKER"},
                            "lockerId": {"S": "l1"},
                            "ownerId": {"S": "acme"},
                            "status": {"S": "AVAILABLE"},
                            "alias": {"S": "Hall 3"},
                            "createdAt": {"S": "2026-03-01T09:00:00.000Z"},
                            "updatedAt": {"S": "2026-03-01T09:00:00.000Z"},
                            "version": {"N": "1"},
                            "fingerprint": {"S": "content"},
                        },
                        "ConditionExpression": "attribute_not_exists(#PK)",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {"#PK": "PK"},
                    }
                },
                {
                    "Put": {
                        "TableName": "T",
                        "Item": {
                            "PK": {"S": "OWNER#acme"},
                            "SK": {"S": "LOCKER#l1"},
                            "entityType": {"S": "OWNER_LOCKER"},
                            "ownerId": {"S": "acme"},
                            "lockerId": {"S": "l1"},
                            "status": {"S": "AVAILABLE"},
                            "alias": {"S": "Hall 3"},
                            "updatedAt": {"S": "2026-03-01T09:00:00.000Z"},
                        },
                        "ConditionExpression": "attribute_not_exists(#PK)",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {"#PK": "PK"},
                    }
                },
                OWNER_EXISTS,
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-11 register a locker without an alias": (
        registering(NAMELESS, "content"),
        {
            "TransactItems": [
                {
                    "Put": {
                        "TableName": "T",
                        "Item": {
                            "PK": {"S": "LOCKER#l1"},
                            "SK": {"S": "META"},
                            "entityType": {"S": "LOCKER"},
                            "lockerId": {"S": "l1"},
                            "ownerId": {"S": "acme"},
                            "status": {"S": "AVAILABLE"},
                            "createdAt": {"S": "2026-03-01T09:00:00.000Z"},
                            "updatedAt": {"S": "2026-03-01T09:00:00.000Z"},
                            "version": {"N": "1"},
                            "fingerprint": {"S": "content"},
                        },
                        "ConditionExpression": "attribute_not_exists(#PK)",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {"#PK": "PK"},
                    }
                },
                {
                    "Put": {
                        "TableName": "T",
                        "Item": {
                            "PK": {"S": "OWNER#acme"},
                            "SK": {"S": "LOCKER#l1"},
                            "entityType": {"S": "OWNER_LOCKER"},
                            "ownerId": {"S": "acme"},
                            "lockerId": {"S": "l1"},
                            "status": {"S": "AVAILABLE"},
                            "updatedAt": {"S": "2026-03-01T09:00:00.000Z"},
                        },
                        "ConditionExpression": "attribute_not_exists(#PK)",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {"#PK": "PK"},
                    }
                },
                OWNER_EXISTS,
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-06 transfer a locker": (
        transferring(LOCKER, TRANSFERRED),
        {
            "TransactItems": [
                LOCKER_TRANSFERRED,
                {"Delete": {"TableName": "T", "Key": {"PK": {"S": "OWNER#acme"}, "SK": {"S": "LOCKER#l1"}}}},
                {
                    "Put": {
                        "TableName": "T",
                        "Item": {
                            "PK": {"S": "OWNER#other"},
                            "SK": {"S": "LOCKER#l1"},
                            "entityType": {"S": "OWNER_LOCKER"},
                            "ownerId": {"S": "other"},
                            "lockerId": {"S": "l1"},
                            "status": {"S": "AVAILABLE"},
                            "alias": {"S": "Hall 3"},
                            "updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
                        },
                    }
                },
                NEW_OWNER_EXISTS,
            ],
            "ClientRequestToken": "token",
        },
    ),
}
