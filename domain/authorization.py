"""Principals, roles and scopes, and the authorization rules. The rules only use the values passed to them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from domain.errors import ForbiddenError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.errors import SmartLockerError
    from domain.models import LocationId, LockerId, OwnerId


class Role(StrEnum):
    """Role of a caller."""

    OWNER = "owner"
    PARTNER = "partner"
    DEVICE = "device"
    ADMIN = "admin"


class Scope(StrEnum):
    """Permission of a partner, for the owners it may act for."""

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
    CODES_READ = "codes:read"
    CODES_WRITE = "codes:write"


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """An authenticated caller; fields that do not apply to its role are empty."""

    subject: str
    role: Role
    owner_id: OwnerId | None = None
    """Owner id of an owner, or of an admin who is also an owner."""
    organizations: frozenset[OwnerId] = frozenset()
    """Organizations that an owner is a member of."""
    partner_of: frozenset[OwnerId] = frozenset()
    """Owners that a partner may act for."""
    locker_id: LockerId | None = None
    """Locker of a device."""
    location_id: LocationId | None = None
    """Location of a device that controls a location's door."""
    scopes: frozenset[Scope] = frozenset()
    """Scopes of a partner."""
    by_key: bool = False
    """Whether the caller used an API key; the subject alone does not tell, since a token may have any subject."""


DEVELOPMENT_ADMIN = Principal(subject="development", role=Role.ADMIN)


def is_admin(principal: Principal) -> bool:
    """Whether the caller is an admin, who may do everything."""
    return principal.role is Role.ADMIN


def acts_for(principal: Principal, owner_id: OwnerId, scope: Scope) -> bool:
    """Whether the caller is this owner, a partner with the scope for this owner, or an admin."""
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
    """Whether the caller is an owner who is a member of this organization and may use its lockers."""
    return principal.role is Role.OWNER and owner_id in principal.organizations


def may_look_up_owner(principal: Principal, owner_id: OwnerId) -> bool:
    """Whether the caller may look up this owner; its fields have rules of their own."""
    if principal.role is Role.PARTNER:
        return owner_id in principal.partner_of
    return acts_for(principal, owner_id, Scope.OWNERS_READ) or is_member(principal, owner_id)


def may_see_notifications(principal: Principal, owner_id: OwnerId) -> bool:
    """Whether the caller is this owner or an admin; no scope gives a partner access."""
    return principal.role is not Role.PARTNER and acts_for(principal, owner_id, Scope.OWNERS_READ)


def may_see_locker(principal: Principal, locker_owner: OwnerId) -> bool:
    """Whether the caller acts for the owner of the locker or is a member of the organization that owns it."""
    return acts_for(principal, locker_owner, Scope.LOCKERS_READ) or is_member(principal, locker_owner)


def may_transfer(principal: Principal, locker_owner: OwnerId, new_owner: OwnerId) -> bool:
    """Whether the caller acts for the present owner, and acts for the new owner or is a member of it.

    The rule for the new owner prevents transfers to strangers.
    """
    takes = acts_for(principal, new_owner, Scope.LOCKERS_WRITE) or is_member(principal, new_owner)
    return takes and acts_for(principal, locker_owner, Scope.LOCKERS_WRITE)


def may_reserve(principal: Principal, locker_owner: OwnerId, reserves: OwnerId) -> bool:
    """Whether the caller acts for the owner who reserves, and may use the lockers of the locker's owner."""
    may_use = acts_for(principal, locker_owner, Scope.RESERVATIONS_WRITE) or is_member(principal, locker_owner)
    return may_use and acts_for(principal, reserves, Scope.RESERVATIONS_WRITE)


def may_see_reservation(principal: Principal, reserved_by: OwnerId, locker_owner: OwnerId | None) -> bool:
    """Whether the caller acts for the owner who reserved or for the owner of the locker."""
    return acts_for(principal, reserved_by, Scope.RESERVATIONS_READ) or (
        locker_owner is not None and acts_for(principal, locker_owner, Scope.RESERVATIONS_READ)
    )


def may_record_events(principal: Principal, locker_id: LockerId, locker_owner: OwnerId | None) -> bool:
    """Whether the caller may record access events of the locker.

    A device may for its own locker. An owner may not, since an access log that its subject can write proves nothing.
    """
    match principal.role:
        case Role.ADMIN:
            return True
        case Role.DEVICE:
            return principal.locker_id == locker_id
        case Role.PARTNER:
            return locker_owner is not None and acts_for(principal, locker_owner, Scope.EVENTS_WRITE)
        case Role.OWNER:
            return False


def may_use_door(principal: Principal, locker_id: LockerId | None, location_id: LocationId | None) -> bool:
    """Whether the caller is the device of this door, or an admin."""
    if principal.role is not Role.DEVICE:
        return is_admin(principal)
    if locker_id is not None:
        return principal.locker_id == locker_id
    return location_id is not None and principal.location_id == location_id


def may_see_locations(principal: Principal) -> bool:
    """Whether the caller may see locations, their availability and their calendar: everyone except devices."""
    return principal.role is not Role.DEVICE


def require(allowed: bool, path: Sequence[str] = ()) -> None:  # noqa: FBT001  # reads as a sentence: require(may_transfer(…))
    """Rejects what a rule does not allow.

    Raises:
        ForbiddenError: with the same message whether or not the object exists.
    """
    if not allowed:
        raise ForbiddenError(path=path)


def not_found_or_forbidden(principal: Principal, message: str, path: Sequence[str] = ()) -> SmartLockerError:
    """Returns the error for an object that does not exist and whose record would decide who may see it.

    Only an admin learns that it does not exist; for everyone else it looks like an object of someone else.
    """
    return NotFoundError(message, path) if is_admin(principal) else ForbiddenError(path=path)
