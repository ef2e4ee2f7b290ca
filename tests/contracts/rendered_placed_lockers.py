"""What the writes of a locker that stands at a location send, to the letter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from domain.models import LocationId, LockerStatus, OwnerId
from loaders.contracts import QC_03, QC_12
from loaders.writes.lockers import changing, registering, transferring
from tests.contracts.rendered_calendar import LOCATION_IS_ACTIVE
from tests.contracts.rendered_locker_changes import LOCKER_OCCUPIED, LOCKER_RENAMED
from tests.contracts.rendered_lockers import LOCKER, LOCKER_TRANSFERRED, NEW_OWNER_EXISTS, OWNER_EXISTS, TEN

if TYPE_CHECKING:
    from loaders.table.operations import Operation

__all__ = ["CASES", "PLACED"]

PLACED = replace(LOCKER, location_id=LocationId("rome"))
OCCUPIED = replace(PLACED, status=LockerStatus.OCCUPIED, updated_at=TEN, version=2)
RENAMED = replace(PLACED, alias="Hall 4", updated_at=TEN, version=2)
TRANSFERRED = replace(PLACED, owner_id=OwnerId("other"), updated_at=TEN, version=2)
LOCATION_COPY_SET = "SET #alias = :alias, #status = :status, #updatedAt = :updatedAt, #ownerId = :ownerId"
LOCATION_COPY_NAMES = {
    "#PK": "PK",
    "#alias": "alias",
    "#ownerId": "ownerId",
    "#status": "status",
    "#updatedAt": "updatedAt",
}
IS_NEW = {
    "ConditionExpression": "attribute_not_exists(#PK)",
    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    "ExpressionAttributeNames": {"#PK": "PK"},
}
COPY_OCCUPIED = {
    "Update": {
        "TableName": "T",
        "Key": {"PK": {"S": "OWNER#acme"}, "SK": {"S": "LOCKER#l1"}},
        "UpdateExpression": "SET #alias = :alias, #status = :status, #updatedAt = :updatedAt",
        "ConditionExpression": "attribute_exists(#PK)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#PK": "PK", "#alias": "alias", "#status": "status", "#updatedAt": "updatedAt"},
        "ExpressionAttributeValues": {
            ":alias": {"S": "Hall 3"},
            ":status": {"S": "OCCUPIED"},
            ":updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
        },
    }
}
MISSING_COPY_OCCUPIED = {
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
        **IS_NEW,
    }
}
LOCATION_COPY_OCCUPIED = {
    "Update": {
        "TableName": "T",
        "Key": {"PK": {"S": "LOCATION#rome"}, "SK": {"S": "LOCKER#l1"}},
        "UpdateExpression": LOCATION_COPY_SET,
        "ConditionExpression": "attribute_exists(#PK)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": LOCATION_COPY_NAMES,
        "ExpressionAttributeValues": {
            ":alias": {"S": "Hall 3"},
            ":status": {"S": "OCCUPIED"},
            ":updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
            ":ownerId": {"S": "acme"},
        },
    }
}
MISSING_LOCATION_COPY_OCCUPIED = {
    "Put": {
        "TableName": "T",
        "Item": {
            "PK": {"S": "LOCATION#rome"},
            "SK": {"S": "LOCKER#l1"},
            "entityType": {"S": "LOCATION_LOCKER"},
            "ownerId": {"S": "acme"},
            "lockerId": {"S": "l1"},
            "status": {"S": "OCCUPIED"},
            "alias": {"S": "Hall 3"},
            "updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
        },
        **IS_NEW,
    }
}
OTHERS_COPY = {
    "ownerId": {"S": "other"},
    "lockerId": {"S": "l1"},
    "status": {"S": "AVAILABLE"},
    "alias": {"S": "Hall 3"},
    "updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
}
TRANSFER = [
    LOCKER_TRANSFERRED,
    {"Delete": {"TableName": "T", "Key": {"PK": {"S": "OWNER#acme"}, "SK": {"S": "LOCKER#l1"}}}},
    {
        "Put": {
            "TableName": "T",
            "Item": {
                "PK": {"S": "OWNER#other"},
                "SK": {"S": "LOCKER#l1"},
                "entityType": {"S": "OWNER_LOCKER"},
                **OTHERS_COPY,
            },
        }
    },
    NEW_OWNER_EXISTS,
]

CASES: dict[str, tuple[Operation, dict[str, Any]]] = {
    "QC-11 register a locker at a location": (
        registering(PLACED, "content"),
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
                            "locationId": {"S": "rome"},
                            "fingerprint": {"S": "content"},
                        },
                        **IS_NEW,
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
                        **IS_NEW,
                    }
                },
                OWNER_EXISTS,
                {
                    "Put": {
                        "TableName": "T",
                        "Item": {
                            "PK": {"S": "LOCATION#rome"},
                            "SK": {"S": "LOCKER#l1"},
                            "entityType": {"S": "LOCATION_LOCKER"},
                            "ownerId": {"S": "acme"},
                            "lockerId": {"S": "l1"},
                            "status": {"S": "AVAILABLE"},
                            "alias": {"S": "Hall 3"},
                            "updatedAt": {"S": "2026-03-01T09:00:00.000Z"},
                        },
                        **IS_NEW,
                    }
                },
                LOCATION_IS_ACTIVE,
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-03 change the state of a locker at a location": (
        changing(QC_03, PLACED, OCCUPIED),
        {
            "TransactItems": [LOCKER_OCCUPIED, COPY_OCCUPIED, LOCATION_COPY_OCCUPIED],
            "ClientRequestToken": "token",
        },
    ),
    "QC-03 change the state of a locker whose location's copy is missing": (
        changing(QC_03, PLACED, OCCUPIED, frozenset({"location copy"})),
        {
            "TransactItems": [LOCKER_OCCUPIED, COPY_OCCUPIED, MISSING_LOCATION_COPY_OCCUPIED],
            "ClientRequestToken": "token",
        },
    ),
    "QC-03 change the state of a locker at a location whose copies are all missing": (
        changing(QC_03, PLACED, OCCUPIED, frozenset({"copy", "location copy"})),
        {
            "TransactItems": [LOCKER_OCCUPIED, MISSING_COPY_OCCUPIED, MISSING_LOCATION_COPY_OCCUPIED],
            "ClientRequestToken": "token",
        },
    ),
    "QC-12 rename a locker at a location": (
        changing(QC_12, PLACED, RENAMED),
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
                {
                    "Update": {
                        "TableName": "T",
                        "Key": {"PK": {"S": "LOCATION#rome"}, "SK": {"S": "LOCKER#l1"}},
                        "UpdateExpression": LOCATION_COPY_SET,
                        "ConditionExpression": "attribute_exists(#PK)",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": LOCATION_COPY_NAMES,
                        "ExpressionAttributeValues": {
                            ":alias": {"S": "Hall 4"},
                            ":status": {"S": "AVAILABLE"},
                            ":updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
                            ":ownerId": {"S": "acme"},
                        },
                    }
                },
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-06 transfer a locker at a location": (
        transferring(PLACED, TRANSFERRED),
        {
            "TransactItems": [
                *TRANSFER,
                {
                    "Update": {
                        "TableName": "T",
                        "Key": {"PK": {"S": "LOCATION#rome"}, "SK": {"S": "LOCKER#l1"}},
                        "UpdateExpression": LOCATION_COPY_SET,
                        "ConditionExpression": "attribute_exists(#PK)",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": LOCATION_COPY_NAMES,
                        "ExpressionAttributeValues": {
                            ":alias": {"S": "Hall 3"},
                            ":status": {"S": "AVAILABLE"},
                            ":updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
                            ":ownerId": {"S": "other"},
                        },
                    }
                },
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-06 transfer a locker whose location's copy is missing": (
        transferring(PLACED, TRANSFERRED, frozenset({"location copy"})),
        {
            "TransactItems": [
                *TRANSFER,
                {
                    "Put": {
                        "TableName": "T",
                        "Item": {
                            "PK": {"S": "LOCATION#rome"},
                            "SK": {"S": "LOCKER#l1"},
                            "entityType": {"S": "LOCATION_LOCKER"},
                            **OTHERS_COPY,
                        },
                        **IS_NEW,
                    }
                },
            ],
            "ClientRequestToken": "token",
        },
    ),
}
