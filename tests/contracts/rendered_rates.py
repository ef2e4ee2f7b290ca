"""What spending a budget sends, to the letter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loaders import contracts, keys

if TYPE_CHECKING:
    from loaders.table.updates import Update

__all__ = ["CASES"]

KEY = keys.rate("ab12")
WIRE_KEY = {"PK": {"S": "RATE#ab12"}, "SK": {"S": "META"}}

CASES: dict[str, tuple[Update, dict[str, Any]]] = {
    "QC-50 spend more": (
        contracts.QC_50.update("spent", KEY, {"expiresAt": 61}, {"fullAt": 1_000_000}, now=10, latest=59_000_010),
        {
            "TableName": "T",
            "Key": WIRE_KEY,
            "UpdateExpression": "SET #expiresAt = :expiresAt, #fullAt = #fullAt + :fullAtAdded",
            "ConditionExpression": "#fullAt BETWEEN :now AND :latest",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            "ReturnValues": "ALL_NEW",
            "ExpressionAttributeNames": {"#expiresAt": "expiresAt", "#fullAt": "fullAt"},
            "ExpressionAttributeValues": {
                ":now": {"N": "10"},
                ":latest": {"N": "59000010"},
                ":expiresAt": {"N": "61"},
                ":fullAtAdded": {"N": "1000000"},
            },
        },
    ),
    "QC-50 spend the first": (
        contracts.QC_50.update("whole", KEY, {"fullAt": 1_000_010, "expiresAt": 61}, now=10),
        {
            "TableName": "T",
            "Key": WIRE_KEY,
            "UpdateExpression": "SET #fullAt = :fullAt, #expiresAt = :expiresAt",
            "ConditionExpression": "attribute_not_exists(#PK) OR #fullAt < :now",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            "ReturnValues": "ALL_NEW",
            "ExpressionAttributeNames": {"#PK": "PK", "#expiresAt": "expiresAt", "#fullAt": "fullAt"},
            "ExpressionAttributeValues": {
                ":now": {"N": "10"},
                ":fullAt": {"N": "1000010"},
                ":expiresAt": {"N": "61"},
            },
        },
    ),
}
