"""What every write of a location sends, to the letter."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from domain.models import Location, LocationId, LocationStatus
from domain.times import Instant
from loaders.writes.locations import changing, creating

if TYPE_CHECKING:
    from loaders.table.operations import Operation

__all__ = ["CASES"]

NINE, TEN = Instant("2026-03-01T09:00:00.000Z"), Instant("2026-03-01T10:00:00.000Z")
LOCATION = Location(
    location_id=LocationId("rome"),
    code="rome-1",
    name="Rome",
    formatted_address="Via Roma 1, Roma",
    street="Via Roma 1",
    city="Roma",
    region="Lazio",
    postal_code="00100",
    country="IT",
    place_id="place-1",
    lat=Decimal("41.9"),
    lng=Decimal(12),
    time_zone="Europe/Rome",
    status=LocationStatus.ACTIVE,
    created_at=NINE,
    updated_at=NINE,
    version=1,
)
BARE = replace(
    LOCATION,
    formatted_address=None,
    street=None,
    city=None,
    region=None,
    postal_code=None,
    country=None,
    place_id=None,
    lat=None,
    lng=None,
)
INACTIVE = replace(LOCATION, status=LocationStatus.INACTIVE, updated_at=TEN, version=2)
LATER = Instant("2026-03-01T11:00:00.000Z")

CODE_CLAIMED = {
    "Put": {
        "TableName": "T",
        "Item": {
            "PK": {"S": "LOCATION_CODE#rome-1"},
            "SK": {"S": "META"},
            "entityType": {"S": "LOCATION_CODE"},
            "locationId": {"S": "rome"},
            "code": {"S": "rome-1"},
        },
        "ConditionExpression": "attribute_not_exists(#PK)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#PK": "PK"},
    }
}

CASES: dict[str, tuple[Operation, dict[str, Any]]] = {
    "QC-30 create a location": (
        creating(LOCATION, "content"),
        {
            "TransactItems": [
                {
                    "Put": {
                        "TableName": "T",
                        "Item": {
                            "PK": {"S": "LOCATION#rome"},
                            "SK": {"S": "META"},
                            "entityType": {"S": "LOCATION"},
                            "locationId": {"S": "rome"},
                            "code": {"S": "rome-1"},
                            "name": {"S": "Rome"},
                            "formattedAddress": {"S": "Via Roma 1, Roma"},
                            "street": {"S": "Via Roma 1"},
                            "city": {"S": "Roma"},
                            "region": {"S": "Lazio"},
                            "postalCode": {"S": "00100"},
                            "country": {"S": "IT"},
                            "placeId": {"S": "place-1"},
                            "lat": {"N": "41.9"},
                            "lng": {"N": "12"},
                            "timeZone": {"S": "Europe/Rome"},
                            "status": {"S": "ACTIVE"},
                            "createdAt": {"S": "2026-03-01T09:00:00.000Z"},
                            "updatedAt": {"S": "2026-03-01T09:00:00.000Z"},
                            "version": {"N": "1"},
                            "GSI1PK": {"S": "LOCATION#ACTIVE"},
                            "GSI1SK": {"S": "2026-03-01T09:00:00.000Z#rome"},
                            "fingerprint": {"S": "content"},
                        },
                        "ConditionExpression": "attribute_not_exists(#PK)",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {"#PK": "PK"},
                    }
                },
                CODE_CLAIMED,
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-30 create a location without an address": (
        creating(BARE, "content"),
        {
            "TransactItems": [
                {
                    "Put": {
                        "TableName": "T",
                        "Item": {
                            "PK": {"S": "LOCATION#rome"},
                            "SK": {"S": "META"},
                            "entityType": {"S": "LOCATION"},
                            "locationId": {"S": "rome"},
                            "code": {"S": "rome-1"},
                            "name": {"S": "Rome"},
                            "timeZone": {"S": "Europe/Rome"},
                            "status": {"S": "ACTIVE"},
                            "createdAt": {"S": "2026-03-01T09:00:00.000Z"},
                            "updatedAt": {"S": "2026-03-01T09:00:00.000Z"},
                            "version": {"N": "1"},
                            "GSI1PK": {"S": "LOCATION#ACTIVE"},
                            "GSI1SK": {"S": "2026-03-01T09:00:00.000Z#rome"},
                            "fingerprint": {"S": "content"},
                        },
                        "ConditionExpression": "attribute_not_exists(#PK)",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {"#PK": "PK"},
                    }
                },
                CODE_CLAIMED,
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-33 change a location and take a part of it away": (
        changing(
            LOCATION, replace(LOCATION, name="Roma", lat=Decimal("41.95"), street=None, updated_at=TEN, version=2)
        ),
        {
            "TransactItems": [
                {
                    "Update": {
                        "TableName": "T",
                        "Key": {"PK": {"S": "LOCATION#rome"}, "SK": {"S": "META"}},
                        "UpdateExpression": "SET #name = :name, #lat = :lat, #updatedAt = :updatedAt, "
                        "#version = :version REMOVE #street",
                        "ConditionExpression": "#version = :expectedVersion",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {
                            "#lat": "lat",
                            "#name": "name",
                            "#street": "street",
                            "#updatedAt": "updatedAt",
                            "#version": "version",
                        },
                        "ExpressionAttributeValues": {
                            ":expectedVersion": {"N": "1"},
                            ":name": {"S": "Roma"},
                            ":lat": {"N": "41.95"},
                            ":updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
                            ":version": {"N": "2"},
                        },
                    }
                }
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-33 deactivate a location": (
        changing(LOCATION, INACTIVE),
        {
            "TransactItems": [
                {
                    "Update": {
                        "TableName": "T",
                        "Key": {"PK": {"S": "LOCATION#rome"}, "SK": {"S": "META"}},
                        "UpdateExpression": "SET #status = :status, #updatedAt = :updatedAt, #version = :version, "
                        "#GSI1PK = :GSI1PK",
                        "ConditionExpression": "#version = :expectedVersion",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {
                            "#GSI1PK": "GSI1PK",
                            "#status": "status",
                            "#updatedAt": "updatedAt",
                            "#version": "version",
                        },
                        "ExpressionAttributeValues": {
                            ":expectedVersion": {"N": "1"},
                            ":status": {"S": "INACTIVE"},
                            ":updatedAt": {"S": "2026-03-01T10:00:00.000Z"},
                            ":version": {"N": "2"},
                            ":GSI1PK": {"S": "LOCATION#INACTIVE"},
                        },
                    }
                }
            ],
            "ClientRequestToken": "token",
        },
    ),
    "QC-33 reactivate a location": (
        changing(INACTIVE, replace(INACTIVE, status=LocationStatus.ACTIVE, updated_at=LATER, version=3)),
        {
            "TransactItems": [
                {
                    "Update": {
                        "TableName": "T",
                        "Key": {"PK": {"S": "LOCATION#rome"}, "SK": {"S": "META"}},
                        "UpdateExpression": "SET #status = :status, #updatedAt = :updatedAt, #version = :version, "
                        "#GSI1PK = :GSI1PK",
                        "ConditionExpression": "#version = :expectedVersion",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        "ExpressionAttributeNames": {
                            "#GSI1PK": "GSI1PK",
                            "#status": "status",
                            "#updatedAt": "updatedAt",
                            "#version": "version",
                        },
                        "ExpressionAttributeValues": {
                            ":expectedVersion": {"N": "2"},
                            ":status": {"S": "ACTIVE"},
                            ":updatedAt": {"S": "2026-03-01T11:00:00.000Z"},
                            ":version": {"N": "3"},
                            ":GSI1PK": {"S": "LOCATION#ACTIVE"},
                        },
                    }
                }
            ],
            "ClientRequestToken": "token",
        },
    ),
}
