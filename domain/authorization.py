"""Principals, roles and scopes, and the authorization rules. The rules only use the values passed to them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from domain.enums import DescribedEnum
from domain.errors import BadInputError, ForbiddenError, NotFoundError, SmartLockerError
from domain.models import LocationId, LockerId, OwnerId, ReservableBy


class Role(DescribedEnum):
    """Role of a caller."""

    OWNER = "owner", "Owner, or member of organizations."
    PARTNER = "partner", "Partner who acts for certain owners, as its scopes allow."
    DEVICE = "device", "Device of one locker."
    ADMIN = "admin", "Administrator, who may do everything."
    SUPPORT = "support", "Support, who reads what admins read, with few exceptions, and clears lockouts."


class Scope(DescribedEnum):
    """Permission of a partner, for the owners that it acts for. In tokens, commands and errors: `codes:write`."""

    OWNERS_READ = "owners:read", "Read owners."
    OWNERS_WRITE = "owners:write", "Change owners."
    LOCKERS_READ = "lockers:read", "Read lockers."
    LOCKERS_WRITE = "lockers:write", "Change lockers."
    RESERVATIONS_READ = "reservations:read", "Read reservations."
    RESERVATIONS_WRITE = "reservations:write", "Create and change reservations."
    EVENTS_READ = "events:read", "Read access events."
    EVENTS_WRITE = "events:write", "Record access events."
    BOOKINGS_READ = "bookings:read", "Read bookings."
    BOOKINGS_WRITE = "bookings:write", "Request and cancel bookings."
    CODES_READ = "codes:read", "Read access codes, without their digits."
    CODES_WRITE = "codes:write", "Create, rotate, reveal and revoke access codes."
    WEBHOOKS_READ = "webhooks:read", "Read webhooks and their deliveries."
    WEBHOOKS_WRITE = "webhooks:write", "Create and change webhooks, for what the other permissions allow to read."


_READING = frozenset(scope for scope in Scope if scope.value.endswith(":read"))


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
    location_id: LocationId | None = None
    """Location of a device that controls a location's door."""
    scopes: frozenset[Scope] = frozenset()
    by_key: bool = False
    """Whether the caller used an API key; the subject alone does not tell, since a token may have any subject."""
    credential: str | None = field(default=None, compare=False)
    """Which of its credentials the caller used: the id of an API key, or part of the hash of a token."""
    expires_at: float | None = field(default=None, compare=False)
    """When its credentials expire, in seconds since 1970; None if they do not."""


DEVELOPMENT_ADMIN = Principal(subject="development", role=Role.ADMIN)


def is_admin(principal: Principal) -> bool:
    return principal.role is Role.ADMIN


def sees_all(principal: Principal) -> bool:
    """Whether the caller sees the objects of all owners: an admin, or support where a rule admits it at all."""
    return principal.role is Role.ADMIN or principal.role is Role.SUPPORT


def acts_for(principal: Principal, owner_id: OwnerId, scope: Scope) -> bool:
    """Whether the caller is this owner, a partner with the scope for this owner, an admin, or support who reads."""
    match principal.role:
        case Role.ADMIN:
            return True
        case Role.OWNER:
            return principal.owner_id == owner_id
        case Role.PARTNER:
            return owner_id in principal.partner_of and scope in principal.scopes
        case Role.SUPPORT:
            return scope in _READING
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
    """Whether the caller is this owner or sees all; no scope gives a partner access."""
    return principal.role is not Role.PARTNER and acts_for(principal, owner_id, Scope.OWNERS_READ)


def may_see_lockers(principal: Principal, owner_id: OwnerId) -> bool:
    return acts_for(principal, owner_id, Scope.LOCKERS_READ) or is_member(principal, owner_id)


def may_see_locker(principal: Principal, locker_owner: OwnerId, locker_id: LockerId) -> bool:
    return may_see_lockers(principal, locker_owner) or is_device_of(principal, locker_id)


def may_find_locker(
    principal: Principal, locker_owner: OwnerId, locker_id: LockerId, reservable_by: ReservableBy
) -> bool:
    """Whether the caller may see the public fields of a locker: it sees the locker, or the locker is offered to it."""
    return may_see_locker(principal, locker_owner, locker_id) or is_offered(principal, locker_owner, reservable_by)


def may_see_next_reservations(principal: Principal, locker_owner: OwnerId, locker_id: LockerId) -> bool:
    return acts_for(principal, locker_owner, Scope.RESERVATIONS_READ) or is_device_of(principal, locker_id)


def is_device_of(principal: Principal, locker_id: LockerId) -> bool:
    return principal.role is Role.DEVICE and principal.locker_id == locker_id


def may_transfer(principal: Principal, locker_owner: OwnerId, new_owner: OwnerId) -> bool:
    """Whether the caller acts for the present owner, and acts for the new owner or is a member of it.

    The rule for the new owner prevents transfers to strangers.
    """
    takes = acts_for(principal, new_owner, Scope.LOCKERS_WRITE) or is_member(principal, new_owner)
    return takes and acts_for(principal, locker_owner, Scope.LOCKERS_WRITE)


class Audience(NamedTuple):
    """Callers to whom a locker is offered: those who act for an owner, the members of an organization, or everyone."""

    kind: ReservableBy
    owner_id: OwnerId = OwnerId("-")


EVERYONE = Audience(ReservableBy.EVERYONE)
MOST_AUDIENCES = 10


def audiences_of(principal: Principal) -> list[Audience]:
    """The audiences that a caller belongs to: it may reserve what is offered to one of them, and nothing else.

    An admin may reserve everything, but is only offered what is for everyone and its own. Support, who reserves
    nothing, sees what is offered to everyone.
    """
    match principal.role:
        case Role.DEVICE:
            return []
        case Role.PARTNER:
            if Scope.RESERVATIONS_WRITE not in principal.scopes or not principal.partner_of:
                return []
            return [EVERYONE, *(Audience(ReservableBy.OWNER, bound) for bound in sorted(principal.partner_of))]
        case Role.SUPPORT:
            return [EVERYONE]
        case Role.OWNER | Role.ADMIN:
            own = [] if principal.owner_id is None else [Audience(ReservableBy.OWNER, principal.owner_id)]
            others = principal.organizations - {principal.owner_id} if principal.role is Role.OWNER else ()
            return [EVERYONE, *own, *(Audience(ReservableBy.MEMBERS, member_of) for member_of in sorted(others))]


def searched_audiences(principal: Principal, owner_ids: Sequence[str] | None) -> list[Audience]:
    """The audiences of a list: all that the caller belongs to, or everyone and those of the named owners."""
    audiences, path = audiences_of(principal), ("ownerIds",)
    if audiences and owner_ids is not None:
        foreign = sorted(set(owner_ids) - {audience.owner_id for audience in audiences if audience != EVERYONE})
        if foreign:
            raise BadInputError(f"Your credentials are not for owner {foreign[0]}.", path)
        audiences = [audience for audience in audiences if audience == EVERYONE or audience.owner_id in owner_ids]
    if len(audiences) > MOST_AUDIENCES:
        most = MOST_AUDIENCES - 1
        message = f"Your credentials are for more than {most} owners: name up to {most} of them in ownerIds."
        raise BadInputError(message, path)
    return audiences


def audiences_for(principal: Principal, reserves: OwnerId) -> list[Audience]:
    """The audiences of a caller who acts for the owner who reserves, the most important ones first."""
    first = [EVERYONE, Audience(ReservableBy.OWNER, reserves)]
    return first + [audience for audience in audiences_of(principal) if audience not in first]


def offered_to(locker_owner: OwnerId, reservable_by: ReservableBy) -> frozenset[Audience]:
    """The audiences that may reserve a locker; a caller belongs to one of them at most."""
    if reservable_by is ReservableBy.EVERYONE:
        return frozenset({EVERYONE})
    kinds = (ReservableBy.OWNER, reservable_by)
    return frozenset(Audience(kind, locker_owner) for kind in kinds)


def is_offered(principal: Principal, locker_owner: OwnerId, reservable_by: ReservableBy) -> bool:
    """Whether the caller may reserve the locker for the owners that it acts for, or sees what all are offered."""
    if sees_all(principal):
        return True
    return not offered_to(locker_owner, reservable_by).isdisjoint(audiences_of(principal))


def may_reserve(principal: Principal, locker_owner: OwnerId, reservable_by: ReservableBy, reserves: OwnerId) -> bool:
    may_act = acts_for(principal, reserves, Scope.RESERVATIONS_WRITE)
    return may_act and is_offered(principal, locker_owner, reservable_by)


def may_see_reservation(principal: Principal, reserved_by: OwnerId, locker_owner: OwnerId | None) -> bool:
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
        case Role.OWNER | Role.SUPPORT:
            return False


def may_use_door(principal: Principal, locker_id: LockerId | None, location_id: LocationId | None) -> bool:
    """Whether the caller is the device of this door, or an admin."""
    if principal.role is not Role.DEVICE:
        return is_admin(principal)
    if locker_id is not None:
        return principal.locker_id == locker_id
    return location_id is not None and principal.location_id == location_id


def may_clear_lockout(principal: Principal, locker_owner: OwnerId | None) -> bool:
    """Whether the caller manages the door of a locker, or of a location, which has no owner; support may, too."""
    manages = locker_owner is not None and acts_for(principal, locker_owner, Scope.CODES_WRITE)
    return manages or sees_all(principal)


def may_see_location(principal: Principal, location_id: LocationId) -> bool:
    """Whether the caller may see a location: everyone, but of devices only that of its door."""
    return principal.role is not Role.DEVICE or is_device_at(principal, location_id)


def is_device_at(principal: Principal, location_id: LocationId) -> bool:
    return principal.role is Role.DEVICE and principal.location_id == location_id


def may_follow_owner(principal: Principal, owner_id: OwnerId) -> bool:
    """Whether the caller may ask what concerned an owner: the owner, and its partners for what their scopes allow."""
    return may_look_up_owner(principal, owner_id) and not is_member(principal, owner_id)


def may_see_actor(
    principal: Principal, subject: str, role: Role, owner_id: OwnerId | None, owners: Sequence[OwnerId]
) -> bool:
    """Whether the caller may know more of who did something than the role; `owners` are all that it concerned.

    Everyone knows itself, and who acts for an owner knows that owner. An owner knows the partners and devices that did
    something which concerned nobody else: where it concerned two owners, the partner may be that of the other one.
    """
    if sees_all(principal) or (principal.subject, principal.role) == (subject, role):
        return True
    if owner_id is not None:
        return acts_for(principal, owner_id, Scope.OWNERS_READ)
    return (
        role in {Role.PARTNER, Role.DEVICE}
        and principal.role is Role.OWNER
        and principal.owner_id is not None
        and set(owners) == {principal.owner_id}
    )


def require(allowed: bool, path: Sequence[str] = ()) -> None:  # noqa: FBT001  # reads as a sentence: require(may_transfer(…))
    """Rejects what a rule does not allow, with the same message whether or not the object exists."""
    if not allowed:
        raise ForbiddenError(path=path)


def not_found_or_forbidden(principal: Principal, message: str, path: Sequence[str] = ()) -> SmartLockerError:
    """Returns the error for an object that does not exist and whose record would decide who may see it.

    Only who sees all objects learns that it does not exist; for others it looks like an object of someone else.
    """
    return NotFoundError(message, path) if sees_all(principal) else ForbiddenError(path=path)
