"""Items of an older form, in which other programs wrote to the table: what they lack or spell otherwise.

Only what an item does not say itself is added: what its key tells, the form of times, names and spellings of
attributes, and neutral values (a first version, a time zone). `smartlocker migrate` writes items in today's form.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from domain.times import to_instant
from loaders import keys
from loaders.table.positions import Key

if TYPE_CHECKING:
    from domain.times import Instant
    from loaders.table.values import Item

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIMES = ("createdAt", "updatedAt", "startAt", "endAt", "lastEndAt", "timestamp", "recordedAt", "requestedAt")
_TYPES = {"Location": "LOCATION", "LocationCodeLookup": "LOCATION_CODE"}
_NAMES = {"lockerAlias": "alias", "locationCode": "code"}
_DEFAULTS: dict[str, dict[str, Any]] = {
    "LOCKER": {"version": 1},
    "RESERVATION_ACTIVE": {"status": "ACTIVE"},
    "LOCATION": {"version": 1, "timeZone": "UTC"},
}
_KNOWN_SINCE = {
    "LOCKER": ("createdAt", "updatedAt"),
    "OWNER_LOCKER": ("updatedAt",),
    "RESERVATION": ("createdAt", "updatedAt"),
    "RESERVATION_ACTIVE": ("createdAt", "updatedAt"),
    "ACCESS_EVENT": ("recordedAt",),
    "LOCATION": ("createdAt", "updatedAt"),
}
"""Times that today's items have, and for which an older item shows another of its times."""
_ADDRESS = {
    "street": "street",
    "city": "city",
    "region": "region",
    "state": "region",
    "postalCode": "postalCode",
    "country": "country",
}


def completed(entity_type: str, item: Item) -> Item | None:
    """The item with what an older form lacks; None where its key or type is that of another kind of item."""
    named = keys.named_by(entity_type, Key.of_item(item))
    stored_type = item.get("entityType", _TYPES.get(str(item.get("itemType")), entity_type))
    if named is None or stored_type != entity_type:
        return None
    complete: dict[str, Any] = {**_DEFAULTS.get(entity_type, {}), **named}
    complete |= {_NAMES.get(name, name): value for name, value in item.items() if value is not None}
    complete["entityType"] = entity_type
    for name in _TIMES:
        if name in complete:
            complete[name] = to_current_time(complete[name]) or complete[name]
    _add_times(entity_type, complete)
    if entity_type == "LOCATION":
        _complete_location(complete)
    return complete


def to_current_time(value: Any) -> Instant | None:
    """A time in today's form: from ISO 8601, in UTC unless it says otherwise, or from milliseconds since 1970."""
    try:
        if type(value) is int:
            return to_instant(_EPOCH + timedelta(milliseconds=value))
        time = datetime.fromisoformat(value)
        return to_instant(time if time.tzinfo else time.replace(tzinfo=UTC))
    except (TypeError, ValueError, OverflowError):
        return None


def _add_times(entity_type: str, complete: dict[str, Any]) -> None:
    known = [complete[name] for name in ("updatedAt", "createdAt", "startAt", "timestamp") if name in complete]
    for name in _KNOWN_SINCE.get(entity_type, ()):
        if name not in complete and known:
            complete[name] = known[0]


def _complete_location(complete: dict[str, Any]) -> None:
    if isinstance(complete.get("status"), str):
        complete["status"] = complete["status"].upper()
    parts = complete.pop("addressComponents", None)
    for name, ours in _ADDRESS.items() if isinstance(parts, dict) else ():
        if isinstance(parts.get(name), str):
            complete.setdefault(ours, parts[name])
