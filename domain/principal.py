"""Who is asking."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from domain.models import LockerId, OwnerId

__all__ = ["DEVELOPMENT_ADMIN", "Principal", "Role", "Scope"]


class Role(StrEnum):
    """What kind of caller somebody is."""

    OWNER = "owner"
    PARTNER = "partner"
    DEVICE = "device"
    ADMIN = "admin"


class Scope(StrEnum):
    """What a partner may be allowed to do, for the owners that it is bound to."""

    OWNERS_READ = "owners:read"
    OWNERS_WRITE = "owners:write"
    LOCKERS_READ = "lockers:read"
    LOCKERS_WRITE = "lockers:write"
    RESERVATIONS_READ = "reservations:read"
    RESERVATIONS_WRITE = "reservations:write"
    EVENTS_READ = "events:read"
    EVENTS_WRITE = "events:write"
    BOOKINGS_READ = "bookings:read"
    BOOKINGS_WRITE = "bookings:write"


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Somebody whose credentials were checked; what does not concern its role is empty."""

    subject: str
    role: Role
    owner_id: OwnerId | None = None
    """An owner's own id."""
    organizations: frozenset[OwnerId] = frozenset()
    """The organisations that an owner belongs to."""
    partner_of: frozenset[OwnerId] = frozenset()
    """The owners that a partner is bound to."""
    locker_id: LockerId | None = None
    """A device's own locker."""
    scopes: frozenset[Scope] = frozenset()
    """What a partner may do."""


DEVELOPMENT_ADMIN = Principal(subject="development", role=Role.ADMIN)
