"""Demo data of history: what happened to the objects of the demo data."""

import hashlib
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from domain.activity import Activity, Actor, Happening
from domain.authorization import Role
from domain.models import OwnerId
from domain.times import Instant, shift
from loaders.codecs import ACTIVITY
from loaders.following.history import copies_of
from loaders.table.positions import Key

_RETENTION = timedelta(days=400)
_SHOWN = timedelta(days=390)
"""Older items would expire while the demo data is in use."""

Piece = list[tuple[Key, Mapping[str, Any]]]
"""Items that belong together, with their keys."""


def by_owner(owner_id: OwnerId) -> Actor:
    return Actor(subject=owner_id, role=Role.OWNER, owner_id=owner_id)


def by_admin(owner_id: OwnerId) -> Actor:
    return Actor(subject=owner_id, role=Role.ADMIN, owner_id=owner_id)


def history(midnight: Instant, at: Instant, actor: Actor | None, *happenings: Happening) -> Piece:
    """The items of what happened at that time, in the histories of all objects concerned."""
    if at < shift(midnight, -_SHOWN):
        return []
    copies = []
    for happening in happenings:
        name = hashlib.sha256(f"{at} {happening}".encode()).hexdigest()[:26]
        activity = Activity(activity_id=f"{name}-0", occurred_at=at, actor=actor, happening=happening)
        copies += copies_of(activity, _RETENTION)
    return [(ACTIVITY.key_of(copy), ACTIVITY.encode(copy)) for copy in copies]
