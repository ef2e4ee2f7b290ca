"""What changing a locker's state or alias sends, to the letter, with its copy there or missing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from domain.models import LockerStatus
from loaders.contracts import QC_03, QC_12
from loaders.writes.lockers import changing
from tests.contracts.rendered_lockers import LOCKER, NAMELESS, TEN

if TYPE_CHECKING:
    from loaders.table.operations import Operation

__all__ = ["CASES", "LOCKER_OCCUPIED", "LOCKER_RENAMED"]

OCCUPIED = replace(LOCKER, status=LockerStatus.OCCUPIED, updated_at=TEN, version=2)
RENAMED = replace(LOCKER, alias="Hall 4", updated_at=TEN, version=2)

LOCKER_OCCUPIED = {
    "Update": {
        "TableName": "T",
        "Key": {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "META"}},
        "UpdateExpression": "SET #status = :status, #updatedAt = :updatedAt, #version = :version",
        "ConditionExpression": "#version = :expectedVersion AND #ownerId = :readOwner",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {
            "#ownerId": "ownerId",
            "#status": "status",
            "#updatedAt": "updatedAt",
            "#version": "version",
        },
        "ExpressionAttributeValues": {
            ":expectedVersion": {"N": "1"},
            ":readOwner": {"S": "acme"},
            ":status": {"S": "OCCUPIED"},
            ":updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
            ":version": {"N": "2"},
        },
    }
}
LOCKER_RENAMED = {
    "Update": {
        "TableName": "T",
        "Key": {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "META"}},
        "UpdateExpression": "SET #alias = :alias, #updatedAt = :updatedAt, #version = :version",
        "ConditionExpression": "#version = :expectedVersion AND #ownerId = :readOwner",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {
            "#alias": "alias",
            "#ownerId": "ownerId",
            "#updatedAt": "updatedAt",
            "#version": "version",
        },
        "ExpressionAttributeValues": {
            ":expectedVersion": {"N": "1"},
            ":readOwner": {"S": "acme"},
            ":alias": {"S": "Hall 4"},
            ":updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
            ":version": {"N": "2"},
        },
    }
}
CASES: dict[str, tuple[Operation, dict[str, Any]]] = {
    "QC-03 change a locker's state": (
        changing(QC_03, LOCKER, OCCUPIED),
        {
            "TransactItems": [
                LOCKER_OCCUPIED,
                {
                    "Update": {
                        "TableName": "T",
                        "Key": {"PK": {"S": "OWNER#acme"}, "SK": {"S": "LOCKER#l1"}},
                        "UpdateExpression": "SET #alias = :alias, #status = :status, #updatedAt = :updatedAt",
                        "ConditionExpression": "attribute_exists(#PK)",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {
                            "#PK": "PK",
                            "#alias": "alias",
                            "#status": "status",
                            "#updatedAt": "updatedAt",
                        },
                        "ExpressionAttributeValues": {
                            ":alias": {"S": "Hall 3"},
                            ":status": {"S": "OCCUPIED"},
                            ":updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
                        },
                    }
                },
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-03 change the state of a locker without an alias": (
        changing(QC_03, NAMELESS, replace(OCCUPIED, alias=None)),
        {
            "TransactItems": [
                LOCKER_OCCUPIED,
                {
                    "Update": {
                        "TableName": "T",
                        "Key": {"PK": {"S": "OWNER#acme"}, "SK": {"S": "LOCKER#l1"}},
                        "UpdateExpression": "SET #status = :status, #updatedAt = :updatedAt REMOVE #alias",
                        "ConditionExpression": "attribute_exists(#PK)",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {
                            "#PK": "PK",
                            "#alias": "alias",
                            "#status": "status",
                            "#updatedAt": "updatedAt",
                        },
                        "ExpressionAttributeValues": {
                            ":status": {"S": "OCCUPIED"},
                            ":updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
                        },
                    }
                },
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-03 change the state of a locker whose copy is missing": (
        changing(QC_03, LOCKER, OCCUPIED, frozenset({"copy"})),
        {
            "TransactItems": [
                LOCKER_OCCUPIED,
                {
                    "Put": {
                        "TableName": "T",
                        "Item": {
                            "PK": {"S": "OWNER#acme"},
                            "SK": {"S": "LOCKER#l1"},
                            "entityType": {"S": "OWNER_LOCKER"},
                            "ownerId": {"S": "acme"},
                            "lockerId": {"S": "l1"},
                            "status": {"S": "OCCUPIED"},
                            "alias": {"S": "Hall 3"},
                            "updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
                        },
                        "ConditionExpression": "attribute_not_exists(#PK)",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {"#PK": "PK"},
                    }
                },
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-12 rename a locker": (
        changing(QC_12, LOCKER, RENAMED),
        {
            "TransactItems": [
                LOCKER_RENAMED,
                {
                    "Update": {
                        "TableName": "T",
                        "Key": {"PK": {"S": "OWNER#acme"}, "SK": {"S": "LOCKER#l1"}},
                        "UpdateExpression": "SET #alias = :alias, #status = :status, #updatedAt = :updatedAt",
                        "ConditionExpression": "attribute_exists(#PK)",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {
                            "#PK": "PK",
                            "#alias": "alias",
                            "#status": "status",
                            "#updatedAt": "updatedAt",
                        },
                        "ExpressionAttributeValues": {
                            ":alias": {"S": "Hall 4"},
                            ":status": {"S": "AVAILABLE"},
                            ":updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
                        },
                    }
                },
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-12 rename a locker whose copy is missing": (
        changing(QC_12, LOCKER, RENAMED, frozenset({"copy"})),
        {
            "TransactItems": [
                LOCKER_RENAMED,
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
                            "alias": {"S": "Hall 4"},
                            "updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
                        },
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
