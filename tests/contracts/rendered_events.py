"""What writing access events sends, to the letter."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from domain.models import AccessAction, AccessEvent, AccessResult, EventId, LockerId
from domain.times import Instant
from loaders.items import EventClaim
from loaders.writes.events import Entry, putting, recording

if TYPE_CHECKING:
    from loaders.table.operations import Operation

__all__ = ["CASES"]

NINE, TEN = Instant("2026-03-01T09:00:00.000Z"), Instant("2026-03-01T10:00:00.000Z")
EVENT = AccessEvent(
    event_id=EventId("e1"),
    locker_id=LockerId("l1"),
    timestamp=NINE,
    recorded_at=TEN,
    action=AccessAction.OPEN,
    actor_id="ada",
    result=AccessResult.SUCCESS,
    metadata={"battery": Decimal("0.75"), "tags": ["a", None, True], "count": 3},
)
BARE = replace(EVENT, event_id=EventId("e2"), metadata=None, action=AccessAction.DENIED, result=AccessResult.FAIL)
CLAIM = EventClaim(event_id=EventId("e1"), locker_id=LockerId("l1"), timestamp=NINE, fingerprint="content")

EVENT_PUT = {
    "TableName": "T",
    "Item": {
        "PK": {"S": "LOCKER#l1"},
        "SK": {"S": "EVT#2026-03-01T09:00:00.000Z#e1"},
        "entityType": {"S": "ACCESS_EVENT"},
        "eventId": {"S": "e1"},
        "lockerId": {"S": "l1"},
        "timestamp": {"S": "2026-03-01T09:00:00.000Z"},
        "recordedAt": {"S": "2026-03-01T10:00:00.000Z"},
        "action": {"S": "OPEN"},
        "actorId": {"S": "ada"},
        "result": {"S": "SUCCESS"},
        "metadata": {
            "M": {
                "battery": {"N": "0.75"},
                "tags": {"L": [{"S": "a"}, {"NULL": True}, {"BOOL": True}]},
                "count": {"N": "3"},
            }
        },
    },
    "ConditionExpression": "attribute_not_exists(#PK)",
    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    "ExpressionAttributeNames": {"#PK": "PK"},
}
BARE_PUT = {
    "TableName": "T",
    "Item": {
        "PK": {"S": "LOCKER#l1"},
        "SK": {"S": "EVT#2026-03-01T09:00:00.000Z#e2"},
        "entityType": {"S": "ACCESS_EVENT"},
        "eventId": {"S": "e2"},
        "lockerId": {"S": "l1"},
        "timestamp": {"S": "2026-03-01T09:00:00.000Z"},
        "recordedAt": {"S": "2026-03-01T10:00:00.000Z"},
        "action": {"S": "DENIED"},
        "actorId": {"S": "ada"},
        "result": {"S": "FAIL"},
    },
    "ConditionExpression": "attribute_not_exists(#PK)",
    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    "ExpressionAttributeNames": {"#PK": "PK"},
}
CLAIM_PUT = {
    "TableName": "T",
    "Item": {
        "PK": {"S": "LOCKER#l1"},
        "SK": {"S": "EID#e1"},
        "entityType": {"S": "ACCESS_EVENT_CLAIM"},
        "eventId": {"S": "e1"},
        "lockerId": {"S": "l1"},
        "timestamp": {"S": "2026-03-01T09:00:00.000Z"},
        "fingerprint": {"S": "content"},
    },
    "ConditionExpression": "attribute_not_exists(#PK)",
    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    "ExpressionAttributeNames": {"#PK": "PK"},
}

CASES: dict[str, tuple[Operation, dict[str, Any]]] = {
    "QC-08 an event whose id was made here": (putting(EVENT), EVENT_PUT),
    "QC-08 an event without metadata": (putting(BARE), BARE_PUT),
    "QC-08 an event whose id the client chose": (
        recording([Entry(("input",), EVENT, CLAIM)]),
        {"TransactItems": [{"Put": EVENT_PUT}, {"Put": CLAIM_PUT}], "ClientRequestToken": "token"},
    ),
    "QC-08 several events, one with an id of the client's": (
        recording([Entry(("input", "events", "0"), BARE, None), Entry(("input", "events", "1"), EVENT, CLAIM)]),
        {
            "TransactItems": [{"Put": BARE_PUT}, {"Put": EVENT_PUT}, {"Put": CLAIM_PUT}],
            "ClientRequestToken": "token",
        },
    ),
}
