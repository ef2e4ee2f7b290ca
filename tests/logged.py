"""The log of a table, as it lies there."""

from typing import Any

from domain.activity import Activity
from loaders.codecs import LOG_ENTRY
from loaders.log import activities_of

Items = dict[tuple[str, str], dict[str, Any]]


def activities(items: Items) -> list[Activity]:
    """All activities of a table, part by part of its log, each in its order."""
    entries = [item for _, item in sorted(items.items()) if item["entityType"] == LOG_ENTRY.entity_type]
    return [activity for item in entries for activity in activities_of(LOG_ENTRY.decode(item))]


def told(items: Items, reservation_id: str) -> list[str]:
    """The kinds of what happened to a reservation, in order."""
    found = [one for one in activities(items) if one.happening.reservation_id == reservation_id]
    return [one.happening.kind.name.removeprefix("RESERVATION_") for one in sorted(found, key=_place)]


def _place(activity: Activity) -> tuple[str, str]:
    return activity.occurred_at, activity.activity_id
