"""Who is asking, and what each may do: every rule is here, and none of them reads anything."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from domain.errors import ForbiddenError, MissingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.errors import SmartLockerError
    from domain.models import LockerId, OwnerId

__all__ = [
    "DEVELOPMENT_ADMIN",
    "Principal",
    "Role",
    "Scope",
    "absent",
    "acts_for",
    "is_admin",
    "is_member",
    "may_decide_as",
    "may_reach_owner",
    "may_record_events",
    "may_reserve",
    "may_see_locker",
    "may_see_notifications",
    "may_see_places",
    "may_see_reservation",
    "may_transfer",
    "require",
]


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
    by_key: bool = False
    """Whether an API key stands for it: the subject of a token may be spelled like that of a key."""


DEVELOPMENT_ADMIN = Principal(subject="development", role=Role.ADMIN)


def is_admin(principal: Principal) -> bool:
    """An admin may do everything."""
    return principal.role is Role.ADMIN


def acts_for(principal: Principal, owner_id: OwnerId, scope: Scope) -> bool:
    """Whether what is an owner's may be used like one's own: by the owner, and by a partner so far as its scopes go."""
    match principal.role:
        case Role.ADMIN:
            return True
        case Role.OWNER:
            return principal.owner_id == owner_id
        case Role.PARTNER:
            return owner_id in principal.partner_of and scope in principal.scopes
        case Role.DEVICE:
            return False


def is_member(principal: Principal, owner_id: OwnerId) -> bool:
    """Whether an owner belongs to this organisation, so that its lockers are offered to it."""
    return principal.role is Role.OWNER and owner_id in principal.organizations


def may_reach_owner(principal: Principal, owner_id: OwnerId) -> bool:
    """Whether an owner may be named in a look-up; what is shown of it has rules of its own."""
    if principal.role is Role.PARTNER:
        return owner_id in principal.partner_of
    return acts_for(principal, owner_id, Scope.OWNERS_READ) or is_member(principal, owner_id)


def may_see_notifications(principal: Principal, owner_id: OwnerId) -> bool:
    """What an owner is told is for nobody else: there is no scope for it."""
    return principal.role is not Role.PARTNER and acts_for(principal, owner_id, Scope.OWNERS_READ)


def may_see_locker(principal: Principal, locker_owner: OwnerId) -> bool:
    """One's own, and what an organisation offers to its members."""
    return acts_for(principal, locker_owner, Scope.LOCKERS_READ) or is_member(principal, locker_owner)


def may_transfer(principal: Principal, locker_owner: OwnerId, new_owner: OwnerId) -> bool:
    """Who gives must own, and who is given must be on the same side: nobody is handed a locker by a stranger."""
    takes = acts_for(principal, new_owner, Scope.LOCKERS_WRITE) or is_member(principal, new_owner)
    return takes and acts_for(principal, locker_owner, Scope.LOCKERS_WRITE)


def may_reserve(principal: Principal, locker_owner: OwnerId, reserves: OwnerId) -> bool:
    """For oneself, and only a locker that is offered: one's own, or one of an organisation that one belongs to."""
    offered = acts_for(principal, locker_owner, Scope.RESERVATIONS_WRITE) or is_member(principal, locker_owner)
    return offered and acts_for(principal, reserves, Scope.RESERVATIONS_WRITE)


def may_see_reservation(principal: Principal, reserved_by: OwnerId, locker_owner: OwnerId | None) -> bool:
    """A reservation is seen by who made it and by who owns the locker."""
    return acts_for(principal, reserved_by, Scope.RESERVATIONS_READ) or (
        locker_owner is not None and acts_for(principal, locker_owner, Scope.RESERVATIONS_READ)
    )


def may_record_events(principal: Principal, locker_id: LockerId, locker_owner: OwnerId | None) -> bool:
    """A device writes for its own locker. An owner does not: a log that its subject can write proves nothing."""
    match principal.role:
        case Role.ADMIN:
            return True
        case Role.DEVICE:
            return principal.locker_id == locker_id
        case Role.PARTNER:
            return locker_owner is not None and acts_for(principal, locker_owner, Scope.EVENTS_WRITE)
        case Role.OWNER:
            return False


def may_see_places(principal: Principal) -> bool:
    """Locations, what is free there and what is taken are for all who book."""
    return principal.role is not Role.DEVICE


def may_decide_as(principal: Principal, admin_id: OwnerId) -> bool:
    """An admin who is an owner too decides in its own name."""
    return is_admin(principal) and principal.owner_id in {None, admin_id}


def require(allowed: bool, path: Sequence[str] = ()) -> None:  # noqa: FBT001  # reads as the sentence that it is
    """Refuses what a rule does not allow.

    Raises:
        ForbiddenError: always with the same words, whether or not the thing exists.
    """
    if not allowed:
        raise ForbiddenError(path=path)


def absent(principal: Principal, message: str, path: Sequence[str] = ()) -> SmartLockerError:
    """What is said of a thing that is not there, where only its record could have allowed its use.

    To anybody but an admin a thing that is missing and a thing of somebody else must look the same.
    """
    return MissingError(message, path) if is_admin(principal) else ForbiddenError(path=path)
