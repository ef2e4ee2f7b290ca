"""The log: what each transaction did, as an item of the same transaction."""

from collections.abc import Sequence
from datetime import timedelta
from operator import attrgetter
from string import ascii_lowercase, digits
from typing import Any

import orjson
from pydantic.alias_generators import to_camel

from domain.activity import HAPPENING_FIELDS, Activity, ActivityKind, Actor, Change, Happening
from domain.models import LockerSize, LockerStatus
from domain.times import Instant
from loaders.codecs import LogEntry
from loaders.conversion import DamagedItemError

HORIZON = timedelta(seconds=30)
"""Nothing appears in the log with a stamp that is older than this: a transaction is sent 15 seconds after its stamp at
the latest, and applied a few seconds later; clocks differ by four at most."""

_NUMBERS = digits + ascii_lowercase
"""The numbers of activities in a transaction, of one character each: their order is that of their ids."""
_ATTRIBUTES = {to_camel(name): name for name in HAPPENING_FIELDS}
_PLAIN = [attribute for attribute in _ATTRIBUTES if attribute != "changes"]
_values = attrgetter(*(_ATTRIBUTES[attribute] for attribute in _PLAIN))
_KINDS: dict[str, Any] = {"kind": ActivityKind, "status": LockerStatus, "size": LockerSize}


def encode_happenings(happenings: Sequence[tuple[int, Happening]]) -> str:
    """Happenings as JSON, each with its number in the transaction."""
    return orjson.dumps([_encoded(number, happening) for number, happening in happenings]).decode()


def activity_of(entry_id: str, at: Instant, actor: Actor | None, number: int, happening: Happening) -> Activity:
    """The activity that is the so-many-th happening of a transaction."""
    activity_id = f"{entry_id}-{_NUMBERS[number]}"
    return Activity(activity_id=activity_id, occurred_at=at, actor=actor, happening=happening)


def decode_happening(text: str) -> Happening:
    """One happening from its JSON."""
    try:
        (one,) = orjson.loads(text)
        return _decoded(one)
    except (LookupError, TypeError, ValueError) as error:
        raise DamagedItemError("a delivery has no valid happening") from error


def activities_of(entry: LogEntry) -> list[Activity]:
    """The activities that an entry of the log tells."""
    actor = None
    if entry.actor_subject is not None and entry.actor_role is not None:
        actor = Actor(
            subject=entry.actor_subject,
            role=entry.actor_role,
            owner_id=entry.actor_owner_id,
            key_id=entry.actor_key_id,
        )
    try:
        return [
            activity_of(entry.entry_id, entry.stamp, actor, one["n"], _decoded(one))
            for one in orjson.loads(entry.happenings)
        ]
    except (LookupError, TypeError, ValueError) as error:
        raise DamagedItemError(f"an entry of the log at {entry.stamp} has no valid happenings") from error


def _encoded(number: int, happening: Happening) -> dict[str, Any]:
    values = zip(_PLAIN, _values(happening), strict=True)
    found: dict[str, Any] = {"n": number} | {name: value for name, value in values if value is not None}
    if happening.changes:
        found["changes"] = [[change.field, change.before, change.after] for change in happening.changes]
    return found


def _decoded(found: dict[str, Any]) -> Happening:
    values = {_ATTRIBUTES[attribute]: value for attribute, value in found.items() if attribute != "n"}
    for name, kind in _KINDS.items():
        if name in values:
            values[name] = kind(values[name])
    values["changes"] = tuple(Change(*change) for change in values.get("changes", ()))
    return Happening(**values)
