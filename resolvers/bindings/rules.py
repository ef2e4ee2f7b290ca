"""Who may use a field.

A rule first says which callers may use the field at all; that needs nothing but the caller. Whose objects they may use
it for is decided by a predicate on the owner that the parent object, the arguments or the result names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from domain.authorization import (
    Principal,
    Role,
    Scope,
    acts_for,
    is_device_at,
    is_device_of,
    may_find_locker,
    may_follow_owner,
    may_look_up_owner,
    may_see_location,
    may_see_locker,
    may_see_lockers,
    may_see_next_reservations,
    may_see_notifications,
    sees_all,
)
from domain.errors import ForbiddenError
from domain.webhooks import may_see_webhook

NO, YES, OWN, ORGANIZATIONS = "no", "yes", "own", "own, organization's"
FOUND, OFFERED = "own, organization's, offered", "offered"
BOUND, OWN_LOCKER, OWN_DOOR, OF_OBJECT = "bound", "own locker", "own door", "as the object"
_SCOPES = frozenset(Scope)


@dataclass(frozen=True, slots=True)
class Rule:
    """Who may use a field, by role, and for which objects. Admins may use all. A partner's entry is a scope or a word.

    Support is admitted only where that is declared; then it sees the objects of all owners.
    `allows` decides for one owner; `subjects` are the attributes that it is decided by, of the parent object or the
    arguments, or, with `on_result`, of what was found.
    """

    owner: str = NO
    partner: str = NO
    device: str = NO
    support: str = NO
    allows: Callable[..., bool] | None = None
    subjects: tuple[str, ...] = ("owner_id",)
    on_result: bool = False
    or_offered: bool = False
    """Whether a partner who may reserve is admitted too."""
    quiet: bool = False
    """With `on_result`: whether what the caller may not see is null without an error."""

    def admits(self, principal: Principal) -> bool:
        """Whether a caller may use the field for anything at all."""
        if principal.role is Role.PARTNER and self.partner in _SCOPES:
            is_offered = self.or_offered and Scope.RESERVATIONS_WRITE in principal.scopes
            return self.partner in principal.scopes or is_offered
        return self._admits_role(principal.role)

    def _admits_role(self, role: Role) -> bool:
        match role:
            case Role.ADMIN:
                return True
            case Role.OWNER:
                return self.owner != NO
            case Role.PARTNER:
                return self.partner != NO
            case Role.DEVICE:
                return self.device != NO
            case Role.SUPPORT:
                return self.support != NO

    def refusal(self, principal: Principal, path: Sequence[str] = ()) -> ForbiddenError:
        """The error for a caller who may not use the field.

        It names the missing scope or role of a caller who may use the field for nothing at all. For others it depends
        on data why they may not, so the error says nothing.
        """
        if self.admits(principal):
            return ForbiddenError(path=path)
        if self._admits_role(principal.role):
            return ForbiddenError(
                f"This requires the scope {self.partner}.", path, {"requiredScope": str(self.partner)}
            )
        roles = [role.name for role in Role if self._admits_role(role)]
        return ForbiddenError(f"This requires the role {' or '.join(roles)}.", path, {"requiredRoles": roles})

    def permits(self, principal: Principal, row: Any) -> bool:
        """Whether an admitted caller may use the field for what belongs to the owner that a row names."""
        if self.allows is None or sees_all(principal):
            return True
        return self.allows(principal, *self._decided_by(row))

    def permits_all(self, principal: Principal, rows: Sequence[Any]) -> bool:
        """Whether a caller, who is not an admin, may use the field for every one of these rows."""
        allows = self.allows
        return self.admits(principal) and (
            allows is None
            or sees_all(principal)
            or all(allows(principal, *subjects) for subjects in set(map(self._decided_by, rows)))
        )

    def _decided_by(self, row: Any) -> tuple[Any, ...]:
        return tuple([getattr(row, subject) for subject in self.subjects])

    @property
    def needs(self) -> frozenset[str]:
        """The attributes of the parent that decide."""
        return frozenset() if self.allows is None or self.on_result else frozenset(self.subjects)

    def decided_by_result(self, *, quiet: bool = False) -> Rule:
        return replace(self, on_result=True, quiet=quiet)

    def decided_by_visibility(self) -> Rule:
        """The same rule, where more than the owner of one object decides and a function of its own does."""
        return replace(self, allows=None)


def _acts(scope: Scope) -> Callable[[Principal, Any], bool]:
    return lambda principal, owner_id: acts_for(principal, owner_id, scope)


AS_OBJECT = Rule(OF_OBJECT, OF_OBJECT, OF_OBJECT, OF_OBJECT)
"""Every caller who may see the object."""

ADMINS = Rule()
STAFF = Rule(support=YES)
"""Admins and support."""
LOCATIONS = Rule(YES, YES, support=YES)
LOCATION = Rule(YES, YES, OWN_DOOR, support=YES, allows=may_see_location, subjects=("location_id",))
OWNER_LOOKUP = Rule(ORGANIZATIONS, BOUND, support=YES, allows=may_look_up_owner)
PROFILE = Rule(OWN, Scope.OWNERS_READ, support=YES, allows=_acts(Scope.OWNERS_READ))
NOTIFICATIONS = Rule(OWN, support=YES, allows=may_see_notifications)
EXPORT = replace(NOTIFICATIONS, support=NO)
LOCKERS = Rule(ORGANIZATIONS, Scope.LOCKERS_READ, support=YES, allows=may_see_lockers)
LOCKER = Rule(
    ORGANIZATIONS,
    Scope.LOCKERS_READ,
    OWN_LOCKER,
    support=YES,
    allows=may_see_locker,
    subjects=("owner_id", "locker_id"),
)
LOCKER_LOOKUP = Rule(
    FOUND,
    Scope.LOCKERS_READ,
    OWN_LOCKER,
    allows=may_find_locker,
    subjects=("owner_id", "locker_id", "reservable_by"),
    or_offered=True,
    support=YES,
)
BUSY = replace(LOCKER_LOOKUP, device=NO)
OFFERS = Rule(OFFERED, Scope.RESERVATIONS_WRITE, support=YES)
NEXT_RESERVATIONS = Rule(
    OWN, Scope.RESERVATIONS_READ, OWN_LOCKER, YES, allows=may_see_next_reservations, subjects=("owner_id", "locker_id")
)
RESERVATIONS = Rule(OWN, Scope.RESERVATIONS_READ, support=YES, allows=_acts(Scope.RESERVATIONS_READ))
RESERVATION_DETAILS = replace(RESERVATIONS, support=NO)
OWNER_ACTIVITY = Rule(OWN, BOUND, support=YES, allows=may_follow_owner)
EVENTS = Rule(OWN, Scope.EVENTS_READ, support=YES, allows=_acts(Scope.EVENTS_READ))
BOOKINGS = Rule(OWN, Scope.BOOKINGS_READ, support=YES, allows=_acts(Scope.BOOKINGS_READ))
LOCKER_CODE_LIST = Rule(NO, NO, OWN_DOOR, support=YES, allows=is_device_of, subjects=("locker_id",))
LOCATION_CODE_LIST = Rule(NO, NO, OWN_DOOR, support=YES, allows=is_device_at, subjects=("location_id",))
CODES = Rule(OWN, Scope.CODES_READ, support=YES, allows=_acts(Scope.CODES_READ))
WEBHOOKS = Rule(OWN, Scope.WEBHOOKS_READ, support=YES, allows=may_see_webhook)

# The rules of mutations only say who may use them at all; the write decides for whom, by what it reads anyway.
OWNER_CHANGES = Rule(OWN, Scope.OWNERS_WRITE)
LOCKER_CHANGES = Rule(OWN, Scope.LOCKERS_WRITE)
RESERVATION_CREATION = Rule(FOUND, Scope.RESERVATIONS_WRITE)
OFFERED_RESERVATION = replace(OFFERS, support=NO)
RESERVATION_CHANGES = Rule(OWN, Scope.RESERVATIONS_WRITE)
EVENT_RECORDING = Rule(NO, Scope.EVENTS_WRITE, OWN_LOCKER)
BOOKING_CHANGES = Rule(OWN, Scope.BOOKINGS_WRITE)
CODE_CHANGES = Rule(OWN, Scope.CODES_WRITE)
LOCKOUT_CLEARING = replace(CODE_CHANGES, support=YES)
WEBHOOK_CHANGES = Rule(OWN, Scope.WEBHOOKS_WRITE)
DOOR_DEVICES = Rule(NO, NO, OWN_DOOR)
