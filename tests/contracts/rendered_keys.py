"""What every read and write of an API key sends, to the letter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from domain.api_keys import ApiKey, ApiKeyId, ApiKeyRole
from domain.models import LockerId, OwnerId
from domain.principal import Scope
from domain.times import Instant
from loaders import contracts, keys
from loaders.table.operations import IndexKey
from loaders.writes.api_keys import creating, revoking

if TYPE_CHECKING:
    from loaders.table.operations import Operation

__all__ = ["CASES"]

NINE, TEN = Instant("2026-03-01T09:00:00.000Z"), Instant("2026-03-01T10:00:00.000Z")
PARTNER = ApiKey(
    key_id=ApiKeyId("k1"),
    name="Courier",
    role=ApiKeyRole.PARTNER,
    owner_ids=(OwnerId("ada"), OwnerId("bob")),
    locker_id=None,
    scopes=(Scope.LOCKERS_READ, Scope.EVENTS_READ),
    digest="abc",
    created_at=NINE,
    created_by="root",
    expires_at=TEN,
)
DEVICE = replace(PARTNER, role=ApiKeyRole.DEVICE, owner_ids=(), locker_id=LockerId("l1"), scopes=(), expires_at=None)
LISTED = {
    "TableName": "T",
    "IndexName": "GSI1",
    "KeyConditionExpression": "#GSI1PK = :pk",
    "ExpressionAttributeNames": {"#GSI1PK": "GSI1PK"},
    "ExpressionAttributeValues": {":pk": {"S": "APIKEY"}},
    "ScanIndexForward": False,
    "ConsistentRead": False,
}


def created(**attributes: Any) -> dict[str, Any]:
    """The request that creates a key of these attributes beside the common ones."""
    return {
        "TransactItems": [
            {
                "Put": {
                    "TableName": "T",
                    "Item": {
                        "PK": {"S": "APIKEY#k1"},
                        "SK": {"S": "META"},
                        "entityType": {"S": "API_KEY"},
                        "keyId": {"S": "k1"},
                        "name": {"S": "Courier"},
                        "digest": {"S": "abc"},
                        "createdAt": {"S": "2026-03-01T09:00:00.000Z"},
                        "createdBy": {"S": "root"},
                        "GSI1PK": {"S": "APIKEY"},
                        "GSI1SK": {"S": "2026-03-01T09:00:00.000Z#k1"},
                        "fingerprint": {"S": "content"},
                        **attributes,
                    },
                    "ConditionExpression": "attribute_not_exists(#PK)",
                    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                    "ExpressionAttributeNames": {"#PK": "PK"},
                }
            }
        ],
        "ClientRequestToken": "token",
    }


CASES: dict[str, tuple[Operation, dict[str, Any]]] = {
    "QC-60 a key": (
        contracts.QC_60.get(keys.api_key(ApiKeyId("k1"))),
        {"TableName": "T", "Key": {"PK": {"S": "APIKEY#k1"}, "SK": {"S": "META"}}, "ConsistentRead": False},
    ),
    "QC-60 a key that authenticates": (
        contracts.QC_60.get(keys.api_key(ApiKeyId("k1")), consistent=True),
        {"TableName": "T", "Key": {"PK": {"S": "APIKEY#k1"}, "SK": {"S": "META"}}, "ConsistentRead": True},
    ),
    "QC-61 create a partner's key": (
        creating(PARTNER, "content"),
        created(
            role={"S": "partner"},
            ownerIds={"L": [{"S": "ada"}, {"S": "bob"}]},
            scopes={"L": [{"S": "lockers:read"}, {"S": "events:read"}]},
            expiresAt={"S": "2026-03-01T10:00:00.000Z"},
        ),
    ),
    "QC-61 create a device's key that never ends": (
        creating(DEVICE, "content"),
        created(role={"S": "device"}, ownerIds={"L": []}, scopes={"L": []}, lockerId={"S": "l1"}),
    ),
    "QC-62 a key, before it is revoked": (
        contracts.QC_62.get(keys.api_key(ApiKeyId("k1")), consistent=True),
        {"TableName": "T", "Key": {"PK": {"S": "APIKEY#k1"}, "SK": {"S": "META"}}, "ConsistentRead": True},
    ),
    "QC-62 revoke a key": (
        revoking(PARTNER, replace(PARTNER, revoked_at=TEN)),
        {
            "TransactItems": [
                {
                    "Update": {
                        "TableName": "T",
                        "Key": {"PK": {"S": "APIKEY#k1"}, "SK": {"S": "META"}},
                        "UpdateExpression": "SET #revokedAt = :revokedAt",
                        "ConditionExpression": "attribute_exists(#PK) AND attribute_not_exists(#revokedAt)",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {"#PK": "PK", "#revokedAt": "revokedAt"},
                        "ExpressionAttributeValues": {":revokedAt": {"S": "2026-03-01T10:00:00.000Z"}},
                    }
                }
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-63 all keys": (
        contracts.QC_63.query(keys.api_keys(), limit=26, forward=False),
        {**LISTED, "Limit": 26},
    ),
    "QC-63 the page behind a cursor": (
        contracts.QC_63.query(
            keys.api_keys(),
            limit=101,
            forward=False,
            start=IndexKey("APIKEY#k1", "META", "APIKEY", "2026-03-01T09:00:00.000Z#k1"),
        ),
        {
            **LISTED,
            "Limit": 101,
            "ExclusiveStartKey": {
                "PK": {"S": "APIKEY#k1"},
                "SK": {"S": "META"},
                "GSI1PK": {"S": "APIKEY"},
                "GSI1SK": {"S": "2026-03-01T09:00:00.000Z#k1"},
            },
        },
    ),
}
