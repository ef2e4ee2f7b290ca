"""What every read of locations and bookings sends, to the letter; two of them ask the index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain.bookings import BookingId
from domain.models import LocationId, LocationStatus, LockerId, OwnerId
from domain.times import Day, Instant
from loaders import contracts, keys
from loaders.table.operations import IndexKey

if TYPE_CHECKING:
    from loaders.table.operations import Operation

__all__ = ["CASES"]

ROME, B1, ADA, L1 = LocationId("rome"), BookingId("b1"), OwnerId("ada"), LockerId("l1")
NINE = Instant("2026-03-01T09:00:00.000Z")
FIRST, LAST = Day("2026-03-01"), Day("2026-05-31")

CASES: dict[str, tuple[Operation, dict[str, Any]]] = {
    "QC-31 a location": (
        contracts.QC_31.get(keys.location(ROME)),
        {"TableName": "T", "Key": {"PK": {"S": "LOCATION#rome"}, "SK": {"S": "META"}}, "ConsistentRead": False},
    ),
    "QC-31 a code's claim": (
        contracts.QC_31.get(keys.location_code("rome-1")),
        {"TableName": "T", "Key": {"PK": {"S": "LOCATION_CODE#rome-1"}, "SK": {"S": "META"}}, "ConsistentRead": False},
    ),
    "QC-31 several locations": (
        contracts.QC_31.batch([keys.location(ROME), keys.location(LocationId("oslo"))]),
        {
            "RequestItems": {
                "T": {
                    "Keys": [
                        {"PK": {"S": "LOCATION#rome"}, "SK": {"S": "META"}},
                        {"PK": {"S": "LOCATION#oslo"}, "SK": {"S": "META"}},
                    ],
                    "ConsistentRead": False,
                }
            }
        },
    ),
    "QC-32 the active locations": (
        contracts.QC_32.query(keys.locations(LocationStatus.ACTIVE), limit=26, forward=False),
        {
            "TableName": "T",
            "IndexName": "GSI1",
            "KeyConditionExpression": "#GSI1PK = :pk",
            "ExpressionAttributeNames": {"#GSI1PK": "GSI1PK"},
            "ExpressionAttributeValues": {":pk": {"S": "LOCATION#ACTIVE"}},
            "Limit": 26,
            "ScanIndexForward": False,
            "ConsistentRead": False,
        },
    ),
    "QC-32 the inactive locations behind a cursor": (
        contracts.QC_32.query(
            keys.locations(LocationStatus.INACTIVE),
            limit=101,
            forward=False,
            start=IndexKey("LOCATION#rome", "META", "LOCATION#INACTIVE", "2026-03-01T09:00:00.000Z#rome"),
        ),
        {
            "TableName": "T",
            "IndexName": "GSI1",
            "KeyConditionExpression": "#GSI1PK = :pk",
            "ExpressionAttributeNames": {"#GSI1PK": "GSI1PK"},
            "ExpressionAttributeValues": {":pk": {"S": "LOCATION#INACTIVE"}},
            "Limit": 101,
            "ScanIndexForward": False,
            "ConsistentRead": False,
            "ExclusiveStartKey": {
                "PK": {"S": "LOCATION#rome"},
                "SK": {"S": "META"},
                "GSI1PK": {"S": "LOCATION#INACTIVE"},
                "GSI1SK": {"S": "2026-03-01T09:00:00.000Z#rome"},
            },
        },
    ),
    "QC-33 a location, before it is changed": (
        contracts.QC_33.get(keys.location(ROME), consistent=True),
        {"TableName": "T", "Key": {"PK": {"S": "LOCATION#rome"}, "SK": {"S": "META"}}, "ConsistentRead": True},
    ),
    "QC-34 a location's lockers": (
        contracts.QC_34.query(keys.location_lockers(ROME), limit=26),
        {
            "TableName": "T",
            "KeyConditionExpression": "#PK = :pk AND begins_with(#SK, :prefix)",
            "ExpressionAttributeNames": {"#PK": "PK", "#SK": "SK"},
            "ExpressionAttributeValues": {":pk": {"S": "LOCATION#rome"}, ":prefix": {"S": "LOCKER#"}},
            "Limit": 26,
            "ScanIndexForward": True,
            "ConsistentRead": False,
        },
    ),
    "QC-34 the page behind a cursor": (
        contracts.QC_34.query(keys.location_lockers(ROME), limit=26, start=keys.location_locker(ROME, L1)),
        {
            "TableName": "T",
            "KeyConditionExpression": "#PK = :pk AND begins_with(#SK, :prefix)",
            "ExpressionAttributeNames": {"#PK": "PK", "#SK": "SK"},
            "ExpressionAttributeValues": {":pk": {"S": "LOCATION#rome"}, ":prefix": {"S": "LOCKER#"}},
            "Limit": 26,
            "ScanIndexForward": True,
            "ConsistentRead": False,
            "ExclusiveStartKey": {"PK": {"S": "LOCATION#rome"}, "SK": {"S": "LOCKER#l1"}},
        },
    ),
    "QC-40 what a request for a booking reads first": (
        contracts.QC_40.batch([keys.location(ROME), keys.booking(B1)], consistent=True),
        {
            "RequestItems": {
                "T": {
                    "Keys": [
                        {"PK": {"S": "LOCATION#rome"}, "SK": {"S": "META"}},
                        {"PK": {"S": "BOOKING#b1"}, "SK": {"S": "META"}},
                    ],
                    "ConsistentRead": True,
                }
            }
        },
    ),
    "QC-41 a booking": (
        contracts.QC_41.get(keys.booking(B1)),
        {"TableName": "T", "Key": {"PK": {"S": "BOOKING#b1"}, "SK": {"S": "META"}}, "ConsistentRead": False},
    ),
    "QC-42 the pending bookings": (
        contracts.QC_42.query(keys.pending_bookings(), limit=26),
        {
            "TableName": "T",
            "IndexName": "GSI1",
            "KeyConditionExpression": "#GSI1PK = :pk",
            "ExpressionAttributeNames": {"#GSI1PK": "GSI1PK"},
            "ExpressionAttributeValues": {":pk": {"S": "BOOKING#PENDING"}},
            "Limit": 26,
            "ScanIndexForward": True,
            "ConsistentRead": False,
        },
    ),
    "QC-42 the page behind a cursor": (
        contracts.QC_42.query(
            keys.pending_bookings(),
            limit=26,
            start=IndexKey("BOOKING#b1", "META", "BOOKING#PENDING", "2026-03-01T09:00:00.000Z#b1"),
        ),
        {
            "TableName": "T",
            "IndexName": "GSI1",
            "KeyConditionExpression": "#GSI1PK = :pk",
            "ExpressionAttributeNames": {"#GSI1PK": "GSI1PK"},
            "ExpressionAttributeValues": {":pk": {"S": "BOOKING#PENDING"}},
            "Limit": 26,
            "ScanIndexForward": True,
            "ConsistentRead": False,
            "ExclusiveStartKey": {
                "PK": {"S": "BOOKING#b1"},
                "SK": {"S": "META"},
                "GSI1PK": {"S": "BOOKING#PENDING"},
                "GSI1SK": {"S": "2026-03-01T09:00:00.000Z#b1"},
            },
        },
    ),
    "QC-43 a booking, before it is decided": (
        contracts.QC_43.get(keys.booking(B1), consistent=True),
        {"TableName": "T", "Key": {"PK": {"S": "BOOKING#b1"}, "SK": {"S": "META"}}, "ConsistentRead": True},
    ),
    "QC-44 a location's calendar": (
        contracts.QC_44.query(keys.calendar_days(ROME, FIRST, LAST), limit=184),
        {
            "TableName": "T",
            "KeyConditionExpression": "#PK = :pk AND #SK BETWEEN :low AND :high",
            "ExpressionAttributeNames": {"#PK": "PK", "#SK": "SK"},
            "ExpressionAttributeValues": {
                ":pk": {"S": "LOCATION#rome"},
                ":low": {"S": "DAY#2026-03-01"},
                ":high": {"S": "DAY#2026-05-31~"},
            },
            "Limit": 184,
            "ScanIndexForward": True,
            "ConsistentRead": False,
        },
    ),
    "QC-45 an owner's bookings, latest first": (
        contracts.QC_45.query(
            keys.owner_bookings(ADA), limit=26, forward=False, start=keys.owner_booking(ADA, FIRST, B1)
        ),
        {
            "TableName": "T",
            "KeyConditionExpression": "#PK = :pk AND begins_with(#SK, :prefix)",
            "ExpressionAttributeNames": {"#PK": "PK", "#SK": "SK"},
            "ExpressionAttributeValues": {":pk": {"S": "OWNER#ada"}, ":prefix": {"S": "BOOKING#"}},
            "Limit": 26,
            "ScanIndexForward": False,
            "ConsistentRead": False,
            "ExclusiveStartKey": {"PK": {"S": "OWNER#ada"}, "SK": {"S": "BOOKING#2026-03-01#b1"}},
        },
    ),
    "QC-47 a booking's payments": (
        contracts.QC_47.query(keys.booking_payments(B1), limit=26, start=keys.payment(B1, "p1")),
        {
            "TableName": "T",
            "KeyConditionExpression": "#PK = :pk AND begins_with(#SK, :prefix)",
            "ExpressionAttributeNames": {"#PK": "PK", "#SK": "SK"},
            "ExpressionAttributeValues": {":pk": {"S": "BOOKING#b1"}, ":prefix": {"S": "PAYMENT#"}},
            "Limit": 26,
            "ScanIndexForward": True,
            "ConsistentRead": False,
            "ExclusiveStartKey": {"PK": {"S": "BOOKING#b1"}, "SK": {"S": "PAYMENT#p1"}},
        },
    ),
    "QC-48 an owner's notifications": (
        contracts.QC_48.query(
            keys.owner_notifications(ADA), limit=26, forward=False, start=keys.notification(ADA, NINE, "n1")
        ),
        {
            "TableName": "T",
            "KeyConditionExpression": "#PK = :pk AND begins_with(#SK, :prefix)",
            "ExpressionAttributeNames": {"#PK": "PK", "#SK": "SK"},
            "ExpressionAttributeValues": {":pk": {"S": "OWNER#ada"}, ":prefix": {"S": "NOTIFICATION#"}},
            "Limit": 26,
            "ScanIndexForward": False,
            "ConsistentRead": False,
            "ExclusiveStartKey": {"PK": {"S": "OWNER#ada"}, "SK": {"S": "NOTIFICATION#2026-03-01T09:00:00.000Z#n1"}},
        },
    ),
    "QC-49 an event's claim, before it is deleted": (
        contracts.QC_49.get(keys.calendar_claim(ROME, "e1"), consistent=True),
        {"TableName": "T", "Key": {"PK": {"S": "LOCATION#rome"}, "SK": {"S": "CID#e1"}}, "ConsistentRead": True},
    ),
}
