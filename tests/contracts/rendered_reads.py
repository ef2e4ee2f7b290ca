"""What every read contract sends, to the letter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain.models import EventId, LockerId, OwnerId, ReservationId
from domain.times import Instant
from loaders import contracts, keys

if TYPE_CHECKING:
    from loaders.table.operations import Operation

__all__ = ["CASES"]

L1, ACME, R1, E1 = LockerId("l1"), OwnerId("acme"), ReservationId("r1"), EventId("e1")
NINE, TEN = Instant("2026-03-01T09:00:00.000Z"), Instant("2026-03-01T10:00:00.000Z")

CASES: dict[str, tuple[Operation, dict[str, Any]]] = {
    "QC-01 a locker": (
        contracts.QC_01.get(keys.locker(L1)),
        {"TableName": "T", "Key": {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "META"}}, "ConsistentRead": False},
    ),
    "QC-01 a locker, strongly": (
        contracts.QC_01.get(keys.locker(L1), consistent=True),
        {"TableName": "T", "Key": {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "META"}}, "ConsistentRead": True},
    ),
    "QC-01 several lockers": (
        contracts.QC_01.batch([keys.locker(LockerId("l2")), keys.locker(L1)]),
        {
            "RequestItems": {
                "T": {
                    "Keys": [
                        {"PK": {"S": "LOCKER#l2"}, "SK": {"S": "META"}},
                        {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "META"}},
                    ],
                    "ConsistentRead": False,
                }
            }
        },
    ),
    "QC-02 an owner's lockers": (
        contracts.QC_02.query(keys.owner_lockers(ACME), limit=26),
        {
            "TableName": "T",
            "KeyConditionExpression": "#PK = :pk AND begins_with(#SK, :prefix)",
            "ExpressionAttributeNames": {"#PK": "PK", "#SK": "SK"},
            "ExpressionAttributeValues": {":pk": {"S": "OWNER#acme"}, ":prefix": {"S": "LOCKER#"}},
            "Limit": 26,
            "ScanIndexForward": True,
            "ConsistentRead": False,
        },
    ),
    "QC-02 the page behind a cursor": (
        contracts.QC_02.query(keys.owner_lockers(ACME), limit=101, start=keys.owner_locker(ACME, L1)),
        {
            "TableName": "T",
            "KeyConditionExpression": "#PK = :pk AND begins_with(#SK, :prefix)",
            "ExpressionAttributeNames": {"#PK": "PK", "#SK": "SK"},
            "ExpressionAttributeValues": {":pk": {"S": "OWNER#acme"}, ":prefix": {"S": "LOCKER#"}},
            "Limit": 101,
            "ScanIndexForward": True,
            "ConsistentRead": False,
            "ExclusiveStartKey": {"PK": {"S": "OWNER#acme"}, "SK": {"S": "LOCKER#l1"}},
        },
    ),
    "QC-05 a locker's reservations in a window, latest first": (
        contracts.QC_05.query(
            keys.locker_reservations(L1, NINE, TEN), limit=26, forward=False, start=keys.reservation(L1, TEN, R1)
        ),
        {
            "TableName": "T",
            "KeyConditionExpression": "#PK = :pk AND #SK BETWEEN :low AND :high",
            "ExpressionAttributeNames": {"#PK": "PK", "#SK": "SK"},
            "ExpressionAttributeValues": {
                ":pk": {"S": "LOCKER#l1"},
                ":low": {"S": "RES#2026-03-01T09:00:00.000Z"},
                ":high": {"S": "RES#2026-03-01T10:00:00.000Z~"},
            },
            "Limit": 26,
            "ScanIndexForward": False,
            "ConsistentRead": False,
            "ExclusiveStartKey": {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "RES#2026-03-01T10:00:00.000Z#r1"}},
        },
    ),
    "QC-05 all reservations of a locker": (
        contracts.QC_05.query(keys.locker_reservations(L1), limit=26),
        {
            "TableName": "T",
            "KeyConditionExpression": "#PK = :pk AND #SK BETWEEN :low AND :high",
            "ExpressionAttributeNames": {"#PK": "PK", "#SK": "SK"},
            "ExpressionAttributeValues": {
                ":pk": {"S": "LOCKER#l1"},
                ":low": {"S": "RES#0001-01-01T00:00:00.000Z"},
                ":high": {"S": "RES#9999-12-31T23:59:59.999Z~"},
            },
            "Limit": 26,
            "ScanIndexForward": True,
            "ConsistentRead": False,
        },
    ),
    "QC-04 the look-back of a new reservation": (
        contracts.QC_04.query(keys.reservations_starting(L1, NINE, TEN), limit=1000, forward=False, consistent=True),
        {
            "TableName": "T",
            "KeyConditionExpression": "#PK = :pk AND #SK BETWEEN :low AND :high",
            "ExpressionAttributeNames": {"#PK": "PK", "#SK": "SK"},
            "ExpressionAttributeValues": {
                ":pk": {"S": "LOCKER#l1"},
                ":low": {"S": "RES#2026-03-01T09:00:00.000Z"},
                ":high": {"S": "RES#2026-03-01T10:00:00.000Z"},
            },
            "Limit": 1000,
            "ScanIndexForward": False,
            "ConsistentRead": True,
        },
    ),
    "QC-07 the active reservation": (
        contracts.QC_07.get(keys.active_pointer(L1)),
        {"TableName": "T", "Key": {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "RES#ACTIVE"}}, "ConsistentRead": False},
    ),
    "QC-09 a locker's events in a window": (
        contracts.QC_09.query(keys.locker_events(L1, NINE, TEN), limit=26, forward=False),
        {
            "TableName": "T",
            "KeyConditionExpression": "#PK = :pk AND #SK BETWEEN :low AND :high",
            "ExpressionAttributeNames": {"#PK": "PK", "#SK": "SK"},
            "ExpressionAttributeValues": {
                ":pk": {"S": "LOCKER#l1"},
                ":low": {"S": "EVT#2026-03-01T09:00:00.000Z"},
                ":high": {"S": "EVT#2026-03-01T10:00:00.000Z~"},
            },
            "Limit": 26,
            "ScanIndexForward": False,
            "ConsistentRead": False,
        },
    ),
    "QC-10 a locker's latest event": (
        contracts.QC_10.query(keys.locker_events(L1), limit=1, forward=False),
        {
            "TableName": "T",
            "KeyConditionExpression": "#PK = :pk AND #SK BETWEEN :low AND :high",
            "ExpressionAttributeNames": {"#PK": "PK", "#SK": "SK"},
            "ExpressionAttributeValues": {
                ":pk": {"S": "LOCKER#l1"},
                ":low": {"S": "EVT#0001-01-01T00:00:00.000Z"},
                ":high": {"S": "EVT#9999-12-31T23:59:59.999Z~"},
            },
            "Limit": 1,
            "ScanIndexForward": False,
            "ConsistentRead": False,
        },
    ),
    "QC-14 an owner's reservations in a window": (
        contracts.QC_14.query(keys.owner_reservations(ACME, NINE, TEN), limit=26),
        {
            "TableName": "T",
            "KeyConditionExpression": "#PK = :pk AND #SK BETWEEN :low AND :high",
            "ExpressionAttributeNames": {"#PK": "PK", "#SK": "SK"},
            "ExpressionAttributeValues": {
                ":pk": {"S": "OWNER#acme"},
                ":low": {"S": "RES#2026-03-01T09:00:00.000Z"},
                ":high": {"S": "RES#2026-03-01T10:00:00.000Z~"},
            },
            "Limit": 26,
            "ScanIndexForward": True,
            "ConsistentRead": False,
        },
    ),
    "QC-15 a reservation's claim": (
        contracts.QC_15.get(keys.reservation_claim(L1, R1)),
        {"TableName": "T", "Key": {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "RID#r1"}}, "ConsistentRead": False},
    ),
    "QC-15 the reservation that it names": (
        contracts.QC_15.get(keys.reservation(L1, NINE, R1)),
        {
            "TableName": "T",
            "Key": {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "RES#2026-03-01T09:00:00.000Z#r1"}},
            "ConsistentRead": False,
        },
    ),
    "QC-16 an event": (
        contracts.QC_16.get(keys.event(L1, NINE, E1)),
        {
            "TableName": "T",
            "Key": {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "EVT#2026-03-01T09:00:00.000Z#e1"}},
            "ConsistentRead": False,
        },
    ),
    "QC-20 an owner": (
        contracts.QC_20.get(keys.owner(ACME)),
        {"TableName": "T", "Key": {"PK": {"S": "OWNER#acme"}, "SK": {"S": "META"}}, "ConsistentRead": False},
    ),
    "QC-21 an e-mail address's claim": (
        contracts.QC_21.get(keys.email_claim("post@acme.com")),
        {
            "TableName": "T",
            "Key": {"PK": {"S": "EMAIL#post@acme.com"}, "SK": {"S": "META"}},
            "ConsistentRead": False,
        },
    ),
    "QC-21 the owner that it names": (
        contracts.QC_21.get(keys.owner(ACME)),
        {"TableName": "T", "Key": {"PK": {"S": "OWNER#acme"}, "SK": {"S": "META"}}, "ConsistentRead": False},
    ),
}
