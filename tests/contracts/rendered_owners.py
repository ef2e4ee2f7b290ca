"""What every write of an owner sends, to the letter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from domain.models import Owner, OwnerId, OwnerKind, OwnerRole
from domain.times import Instant
from loaders.writes.owners import changing, creating

if TYPE_CHECKING:
    from loaders.table.operations import Operation

__all__ = ["CASES"]

NINE, TEN = Instant("2026-03-01T09:00:00.000Z"), Instant("2026-03-01T10:00:00.000Z")
OWNER = Owner(
    owner_id=OwnerId("acme"),
    kind=OwnerKind.ORGANIZATION,
    name="Acme",
    email="Post@Acme.com",
    created_at=NINE,
    updated_at=NINE,
    version=1,
)
SILENT = replace(OWNER, email=None)

OLD_ADDRESS_CLAIMED = {
    "Put": {
        "TableName": "T",
        "Item": {
            "PK": {"S": "EMAIL#post@acme.com"},
            "SK": {"S": "META"},
            "entityType": {"S": "EMAIL_CLAIM"},
            "ownerId": {"S": "acme"},
        },
        "ConditionExpression": "attribute_not_exists(#PK) OR #ownerId = :ownerId",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#PK": "PK", "#ownerId": "ownerId"},
        "ExpressionAttributeValues": {":ownerId": {"S": "acme"}},
    }
}
NEW_ADDRESS_CLAIMED = {
    "Put": {
        "TableName": "T",
        "Item": {
            "PK": {"S": "EMAIL#new@acme.com"},
            "SK": {"S": "META"},
            "entityType": {"S": "EMAIL_CLAIM"},
            "ownerId": {"S": "acme"},
        },
        "ConditionExpression": "attribute_not_exists(#PK) OR #ownerId = :ownerId",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#PK": "PK", "#ownerId": "ownerId"},
        "ExpressionAttributeValues": {":ownerId": {"S": "acme"}},
    }
}
OLD_ADDRESS_RELEASED = {
    "Delete": {
        "TableName": "T",
        "Key": {"PK": {"S": "EMAIL#post@acme.com"}, "SK": {"S": "META"}},
        "ConditionExpression": "attribute_not_exists(#PK) OR #ownerId = :ownerId",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#PK": "PK", "#ownerId": "ownerId"},
        "ExpressionAttributeValues": {":ownerId": {"S": "acme"}},
    }
}
CHANGED_ADDRESS_NAMES = {"#email": "email", "#updatedAt": "updatedAt", "#version": "version"}

CASES: dict[str, tuple[Operation, dict[str, Any]]] = {
    "QC-22 create an owner with an address": (
        creating(OWNER, "content"),
        {
            "TransactItems": [
                {
                    "Put": {
                        "TableName": "T",
                        "Item": {
                            "PK": {"S": "OWNER#acme"},
                            "SK": {"S": "META"},
                            "entityType": {"S": "OWNER"},
                            "ownerId": {"S": "acme"},
                            "kind": {"S": "ORGANIZATION"},
                            "name": {"S": "Acme"},
                            "email": {"S": "Post@Acme.com"},
                            "createdAt": {"S": "2026-03-01T09:00:00.000Z"},
                            "updatedAt": {"S": "2026-03-01T09:00:00.000Z"},
                            "version": {"N": "1"},
                            "role": {"S": "USER"},
                            "fingerprint": {"S": "content"},
                        },
                        "ConditionExpression": "attribute_not_exists(#PK)",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {"#PK": "PK"},
                    }
                },
                OLD_ADDRESS_CLAIMED,
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-22 create an owner without an address": (
        creating(SILENT, "content"),
        {
            "TransactItems": [
                {
                    "Put": {
                        "TableName": "T",
                        "Item": {
                            "PK": {"S": "OWNER#acme"},
                            "SK": {"S": "META"},
                            "entityType": {"S": "OWNER"},
                            "ownerId": {"S": "acme"},
                            "kind": {"S": "ORGANIZATION"},
                            "name": {"S": "Acme"},
                            "createdAt": {"S": "2026-03-01T09:00:00.000Z"},
                            "updatedAt": {"S": "2026-03-01T09:00:00.000Z"},
                            "version": {"N": "1"},
                            "role": {"S": "USER"},
                            "fingerprint": {"S": "content"},
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
    "QC-22 change an owner's name": (
        changing(OWNER, replace(OWNER, name="Acme Ltd", updated_at=TEN, version=2)),
        {
            "TransactItems": [
                {
                    "Update": {
                        "TableName": "T",
                        "Key": {"PK": {"S": "OWNER#acme"}, "SK": {"S": "META"}},
                        "UpdateExpression": "SET #name = :name, #updatedAt = :updatedAt, #version = :version",
                        "ConditionExpression": "#version = :expectedVersion",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {
                            "#name": "name",
                            "#updatedAt": "updatedAt",
                            "#version": "version",
                        },
                        "ExpressionAttributeValues": {
                            ":expectedVersion": {"N": "1"},
                            ":name": {"S": "Acme Ltd"},
                            ":updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
                            ":version": {"N": "2"},
                        },
                    }
                }
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-22 spell the same address otherwise": (
        changing(OWNER, replace(OWNER, email="post@acme.COM", updated_at=TEN, version=2)),
        {
            "TransactItems": [
                {
                    "Update": {
                        "TableName": "T",
                        "Key": {"PK": {"S": "OWNER#acme"}, "SK": {"S": "META"}},
                        "UpdateExpression": "SET #email = :email, #updatedAt = :updatedAt, #version = :version",
                        "ConditionExpression": "#version = :expectedVersion",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": CHANGED_ADDRESS_NAMES,
                        "ExpressionAttributeValues": {
                            ":expectedVersion": {"N": "1"},
                            ":email": {"S": "post@acme.COM"},
                            ":updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
                            ":version": {"N": "2"},
                        },
                    }
                }
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-22 move to another address": (
        changing(OWNER, replace(OWNER, email="New@Acme.com", updated_at=TEN, version=2)),
        {
            "TransactItems": [
                {
                    "Update": {
                        "TableName": "T",
                        "Key": {"PK": {"S": "OWNER#acme"}, "SK": {"S": "META"}},
                        "UpdateExpression": "SET #email = :email, #updatedAt = :updatedAt, #version = :version",
                        "ConditionExpression": "#version = :expectedVersion",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": CHANGED_ADDRESS_NAMES,
                        "ExpressionAttributeValues": {
                            ":expectedVersion": {"N": "1"},
                            ":email": {"S": "New@Acme.com"},
                            ":updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
                            ":version": {"N": "2"},
                        },
                    }
                },
                NEW_ADDRESS_CLAIMED,
                OLD_ADDRESS_RELEASED,
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-22 take the address away": (
        changing(OWNER, replace(SILENT, updated_at=TEN, version=2)),
        {
            "TransactItems": [
                {
                    "Update": {
                        "TableName": "T",
                        "Key": {"PK": {"S": "OWNER#acme"}, "SK": {"S": "META"}},
                        "UpdateExpression": "SET #updatedAt = :updatedAt, #version = :version REMOVE #email",
                        "ConditionExpression": "#version = :expectedVersion",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": CHANGED_ADDRESS_NAMES,
                        "ExpressionAttributeValues": {
                            ":expectedVersion": {"N": "1"},
                            ":updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
                            ":version": {"N": "2"},
                        },
                    }
                },
                OLD_ADDRESS_RELEASED,
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-22 give an owner a telephone number and make it an admin": (
        changing(OWNER, replace(OWNER, phone="+39 123 456", role=OwnerRole.ADMIN, updated_at=TEN, version=2)),
        {
            "TransactItems": [
                {
                    "Update": {
                        "TableName": "T",
                        "Key": {"PK": {"S": "OWNER#acme"}, "SK": {"S": "META"}},
                        "UpdateExpression": "SET #updatedAt = :updatedAt, #version = :version, #role = :role, "
                        "#phone = :phone",
                        "ConditionExpression": "#version = :expectedVersion",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {
                            "#phone": "phone",
                            "#role": "role",
                            "#updatedAt": "updatedAt",
                            "#version": "version",
                        },
                        "ExpressionAttributeValues": {
                            ":expectedVersion": {"N": "1"},
                            ":phone": {"S": "+39 123 456"},
                            ":role": {"S": "ADMIN"},
                            ":updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
                            ":version": {"N": "2"},
                        },
                    }
                }
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-22 give an owner a first address": (
        changing(SILENT, replace(OWNER, updated_at=TEN, version=2)),
        {
            "TransactItems": [
                {
                    "Update": {
                        "TableName": "T",
                        "Key": {"PK": {"S": "OWNER#acme"}, "SK": {"S": "META"}},
                        "UpdateExpression": "SET #updatedAt = :updatedAt, #version = :version, #email = :email",
                        "ConditionExpression": "#version = :expectedVersion",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": CHANGED_ADDRESS_NAMES,
                        "ExpressionAttributeValues": {
                            ":expectedVersion": {"N": "1"},
                            ":email": {"S": "Post@Acme.com"},
                            ":updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
                            ":version": {"N": "2"},
                        },
                    }
                },
                OLD_ADDRESS_CLAIMED,
            ],
            "ClientRequestToken": "token",
        },
    ),
}
