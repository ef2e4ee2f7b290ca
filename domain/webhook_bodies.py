"""The bodies of webhooks, and their JSON Schemas: what happened, by ids. Receivers look the objects up."""

import json
from typing import Any

from pydantic.alias_generators import to_snake

from domain.activity import Activity, ActivityKind, Change, Happening, ids_of
from domain.models import LockerId, OwnerId, ReservationId, ReservationOutcome
from domain.times import Instant

TEST = "webhook.test"
"""The type of what a webhook is sent to try it. It is no activity, and not in the log."""
_NOT_TOLD = frozenset({"lockerOwnerId", "formerLocationId", "formerOwnerId"})
"""Ids of the log for those who follow it; what changed is told as changes."""
_FOR_ADMINS = frozenset({"managerId"})
_CHANGING = frozenset({"locker", "location", "owner", "reservation", "booking", "webhook"})
"""The objects with versions whose changes are told; access codes have versions, too."""
_TEXT = {"type": "string"}
_VALUE = {"type": ["string", "null"]}


def delivery_body(activity: Activity, reference: str | None, owner_id: OwnerId | None) -> bytes:
    """The body for a webhook of an owner, who is told what `Activity` shows to owners; None is an admin's.

    `reference` is that of the reservation that `reference_key` names.
    """
    happening, kind = activity.happening, activity.happening.kind
    data = {name: getattr(happening, to_snake(name)) for name in body_ids(kind)}
    if owner_id not in {None, happening.owner_id, happening.locker_owner_id}:
        data.pop("ownerId", None)
    changes = [
        {
            "field": change.field,
            "from": _known(change, change.before, owner_id),
            "to": _known(change, change.after, owner_id),
        }
        for change in happening.changes
        if owner_id is None or change.field not in _FOR_ADMINS
    ]
    more = {
        "reference": reference,
        "version": happening.version,
        "outcome": happening.outcome,
        "changes": changes or None,
    }
    told = {name: value for name, value in (data | more).items() if value is not None}
    return _encoded(kind, activity.occurred_at, told)


def reference_key(happening: Happening, owner_id: OwnerId | None) -> tuple[LockerId, Instant, ReservationId] | None:
    """The key of the reservation whose reference the body has: that of the owner who made it, and nobody else."""
    locker_id, start_at, reservation_id = happening.locker_id, happening.start_at, happening.reservation_id
    if owner_id is None or happening.owner_id != owner_id:
        return None
    return (
        None
        if locker_id is None or start_at is None or reservation_id is None
        else (locker_id, start_at, reservation_id)
    )


def body_of_test(webhook_id: str, at: Instant) -> bytes:
    return _encoded(TEST, at, {"webhookId": webhook_id})


def body_ids(kind: ActivityKind) -> tuple[str, ...]:
    """The ids that a body of this kind may have."""
    return tuple(name for name in ids_of(kind) if name not in _NOT_TOLD)


def body_schemas() -> dict[str, Any]:
    """A JSON Schema of all bodies, with a definition for each type. Properties may be added to any object."""
    definitions = {str(kind): _schema(kind) for kind in ActivityKind}
    definitions[TEST] = _object_schema(TEST, "A webhook was tried.", {"webhookId": _TEXT}, ["webhookId"])
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Body of a SmartLocker webhook",
        "oneOf": [{"$ref": f"#/definitions/{name}"} for name in definitions],
        "definitions": definitions,
    }


def _schema(kind: ActivityKind) -> dict[str, Any]:
    ids = body_ids(kind)
    properties: dict[str, Any] = dict.fromkeys(ids, _TEXT)
    thing = kind.partition(".")[0]
    required = [name for name in ids if to_snake(name) == f"{thing}_id"]
    if "reservationId" in ids:
        properties["reference"] = {**_TEXT, "description": "For the owner who made the reservation."}
    if thing in {*_CHANGING, "api_key"} or "codeId" in ids:
        properties["version"] = {"type": "integer", "minimum": 1}
        required.append("version")
    if kind is ActivityKind.RESERVATION_ENDED:
        properties["outcome"] = {"enum": [str(outcome) for outcome in ReservationOutcome]}
        required.append("outcome")
    if thing in _CHANGING or kind is ActivityKind.CALLER_BUDGET_CHANGED:
        change = {"field": _TEXT, "from": _VALUE, "to": _VALUE}
        item = {"type": "object", "properties": change, "required": list(change)}
        properties["changes"] = {"type": "array", "items": item}
    return _object_schema(kind, kind.description, properties, required)


def _object_schema(kind: str, description: str, data: dict[str, Any], required: list[str]) -> dict[str, Any]:
    properties = {
        "type": {"const": str(kind)},
        "timestamp": {**_TEXT, "format": "date-time"},
        "data": {"type": "object", "properties": data, "required": required},
    }
    return {"type": "object", "description": description, "properties": properties, "required": list(properties)}


def _known(change: Change, value: str | None, owner_id: OwnerId | None) -> str | None:
    """A value, unless it is the id of another owner."""
    return None if change.field == "ownerId" and owner_id not in {None, value} else value


def _encoded(kind: str, at: Instant, data: dict[str, Any]) -> bytes:
    body = {"type": str(kind), "timestamp": at, "data": data}
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
