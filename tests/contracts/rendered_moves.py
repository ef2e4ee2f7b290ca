"""What moving a locker to a location, between two, or to none sends, to the letter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from domain.models import LocationId
from loaders.contracts import QC_12
from loaders.writes.lockers import changing, moving
from tests.contracts.rendered_calendar import LOCATION_IS_ACTIVE
from tests.contracts.rendered_locker_changes import LOCKER_RENAMED
from tests.contracts.rendered_lockers import LOCKER, TEN
from tests.contracts.rendered_placed_lockers import PLACED

if TYPE_CHECKING:
    from loaders.table.operations import Operation

__all__ = ["CASES"]

OSLO = LocationId("oslo")
MOVED_NAMES = {"#locationId": "locationId", "#ownerId": "ownerId", "#updatedAt": "updatedAt", "#version": "version"}
COPY_TOUCHED = {
    "Update": {
        "TableName": "T",
        "Key": {"PK": {"S": "OWNER#acme"}, "SK": {"S": "LOCKER#l1"}},
        "UpdateExpression": "SET #alias = :alias, #status = :status, #updatedAt = :updatedAt",
        "ConditionExpression": "attribute_exists(#PK)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#PK": "PK", "#alias": "alias", "#status": "status", "#updatedAt": "updatedAt"},
        "ExpressionAttributeValues": {
            ":alias": {"S": "Hall 3"},
            ":status": {"S": "AVAILABLE"},
            ":updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
        },
    }
}
COPY_OF_LOCKER = {
    "ownerId": {"S": "acme"},
    "lockerId": {"S": "l1"},
    "status": {"S": "AVAILABLE"},
    "alias": {"S": "Hall 3"},
    "updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
}
LEFT_ROME = {"Delete": {"TableName": "T", "Key": {"PK": {"S": "LOCATION#rome"}, "SK": {"S": "LOCKER#l1"}}}}
CAME_TO_ROME = {
    "Put": {
        "TableName": "T",
        "Item": {
            "PK": {"S": "LOCATION#rome"},
            "SK": {"S": "LOCKER#l1"},
            "entityType": {"S": "LOCATION_LOCKER"},
            **COPY_OF_LOCKER,
        },
    }
}
MOVED_TO_ROME = {
    "Update": {
        "TableName": "T",
        "Key": {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "META"}},
        "UpdateExpression": "SET #updatedAt = :updatedAt, #version = :version, #locationId = :locationId",
        "ConditionExpression": "#version = :expectedVersion AND #ownerId = :readOwner",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": MOVED_NAMES,
        "ExpressionAttributeValues": {
            ":expectedVersion": {"N": "1"},
            ":readOwner": {"S": "acme"},
            ":locationId": {"S": "rome"},
            ":updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
            ":version": {"N": "2"},
        },
    }
}

CASES: dict[str, tuple[Operation, dict[str, Any]]] = {
    "QC-12 move a locker that stood nowhere to a location": (
        moving(LOCKER, replace(PLACED, updated_at=TEN, version=2)),
        {
            "TransactItems": [MOVED_TO_ROME, COPY_TOUCHED, CAME_TO_ROME, LOCATION_IS_ACTIVE],
            "ClientRequestToken": "token",
        },
    ),
    "QC-12 move a locker whose owner's copy is missing": (
        moving(LOCKER, replace(PLACED, updated_at=TEN, version=2), frozenset({"copy"})),
        {
            "TransactItems": [
                MOVED_TO_ROME,
                {
                    "Put": {
                        "TableName": "T",
                        "Item": {
                            "PK": {"S": "OWNER#acme"},
                            "SK": {"S": "LOCKER#l1"},
                            "entityType": {"S": "OWNER_LOCKER"},
                            **COPY_OF_LOCKER,
                        },
                        "ConditionExpression": "attribute_not_exists(#PK)",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {"#PK": "PK"},
                    }
                },
                CAME_TO_ROME,
                LOCATION_IS_ACTIVE,
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-12 move a locker from one location to another": (
        moving(PLACED, replace(PLACED, location_id=OSLO, updated_at=TEN, version=2)),
        {
            "TransactItems": [
                {
                    "Update": {
                        "TableName": "T",
                        "Key": {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "META"}},
                        "UpdateExpression": "SET #updatedAt = :updatedAt, #version = :version, "
                        "#locationId = :locationId",
                        "ConditionExpression": "#version = :expectedVersion AND #ownerId = :readOwner",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": MOVED_NAMES,
                        "ExpressionAttributeValues": {
                            ":expectedVersion": {"N": "1"},
                            ":readOwner": {"S": "acme"},
                            ":locationId": {"S": "oslo"},
                            ":updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
                            ":version": {"N": "2"},
                        },
                    }
                },
                COPY_TOUCHED,
                LEFT_ROME,
                {
                    "Put": {
                        "TableName": "T",
                        "Item": {
                            "PK": {"S": "LOCATION#oslo"},
                            "SK": {"S": "LOCKER#l1"},
                            "entityType": {"S": "LOCATION_LOCKER"},
                            **COPY_OF_LOCKER,
                        },
                    }
                },
                {
                    "ConditionCheck": {
                        "TableName": "T",
                        "Key": {"PK": {"S": "LOCATION#oslo"}, "SK": {"S": "META"}},
                        "ConditionExpression": "attribute_exists(#PK) AND #status = :active",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {"#PK": "PK", "#status": "status"},
                        "ExpressionAttributeValues": {":active": {"S": "ACTIVE"}},
                    }
                },
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-12 move a locker to no location": (
        moving(PLACED, replace(LOCKER, updated_at=TEN, version=2)),
        {
            "TransactItems": [
                {
                    "Update": {
                        "TableName": "T",
                        "Key": {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "META"}},
                        "UpdateExpression": "SET #updatedAt = :updatedAt, #version = :version REMOVE #locationId",
                        "ConditionExpression": "#version = :expectedVersion AND #ownerId = :readOwner",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": MOVED_NAMES,
                        "ExpressionAttributeValues": {
                            ":expectedVersion": {"N": "1"},
                            ":readOwner": {"S": "acme"},
                            ":updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
                            ":version": {"N": "2"},
                        },
                    }
                },
                COPY_TOUCHED,
                LEFT_ROME,
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-12 rename a locker whose location's copy is missing": (
        changing(
            QC_12, PLACED, replace(PLACED, alias="Hall 4", updated_at=TEN, version=2), frozenset({"location copy"})
        ),
        {
            "TransactItems": [
                LOCKER_RENAMED,
                {
                    "Update": {
                        **COPY_TOUCHED["Update"],
                        "ExpressionAttributeValues": {
                            ":alias": {"S": "Hall 4"},
                            ":status": {"S": "AVAILABLE"},
                            ":updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
                        },
                    }
                },
                {
                    "Put": {
                        "TableName": "T",
                        "Item": {
                            "PK": {"S": "LOCATION#rome"},
                            "SK": {"S": "LOCKER#l1"},
                            "entityType": {"S": "LOCATION_LOCKER"},
                            **COPY_OF_LOCKER,
                            "alias": {"S": "Hall 4"},
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
