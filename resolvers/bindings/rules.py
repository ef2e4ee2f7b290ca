"""Who may use a field.

A rule first says which callers may use the field at all; that needs nothing but the caller. Whose objects they may use
it for is decided by a predicate on the owner that the parent object, the arguments or the result names.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from domain.authorization import (
    Role,
    Scope,
    acts_for,
    is_admin,
    may_look_up_owner,
    may_see_locker,
    may_see_notifications,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.authorization import Principal

__all__ = [
    "ADMINS",
    "AS_OBJECT",
    "BOOKINGS",
    "BOOKING_CHANGES",
    "EVENTS",
    "EVENT_RECORDING",
    "LOCATIONS",
    "LOCKERS",
    "LOCKER_CHANGES",
    "NOTIFICATIONS",
    "OWNER_CHANGES",
    "OWNER_LOOKUP",
    "PROFILE",
    "RESERVATIONS",
    "RESERVATION_CHANGES",
    "RESERVATION_CREATION",
    "Rule",
]

NO, YES, OWN, OFFERED = "no", "yes", "own", "own, organisation's"
BOUND, OWN_LOCKER, OF_OBJECT = "bound", "own locker", "as the object"


@dataclass(frozen=True, slots=True)
class Rule:
    """What each role may use a field for. Admins may use every field. A partner's entry is a scope or a word.

    `allows` decides for one owner; `subject` is the attribute that names it, of the parent object or the arguments,
    or, with `on_result`, of what was found.
    """

    owner: str = NO
    partner: str = NO
    device: str = NO
    allows: Callable[[Principal, Any], bool] | None = None
    subject: str = "owner_id"
    on_result: bool = False

    def admits(self, principal: Principal) -> bool:
        """Whether a caller may use the field for anything at all."""
        match principal.role:
            case Role.ADMIN:
                return True
            case Role.OWNER:
                return self.owner != NO
            case Role.PARTNER:
                return self.partner in {YES, BOUND, OF_OBJECT} or self.partner in principal.scopes
            case Role.DEVICE:
                return self.device != NO

    def permits(self, principal: Principal, row: Any) -> bool:
        """Whether an admitted caller may use the field for what belongs to the owner that a row names."""
        if self.allows is None or is_admin(principal):
            return True
        return self.allows(principal, getattr(row, self.subject))

    def decided_by_result(self) -> Rule:
        """The same rule, decided by whose the result is."""
        return replace(self, on_result=True)

    def decided_by_visibility(self) -> Rule:
        """The same rule, where more than the owner of one object decides and a function of its own does."""
        return replace(self, allows=None)


def _acts(scope: Scope) -> Callable[[Principal, Any], bool]:
    return lambda principal, owner_id: acts_for(principal, owner_id, scope)


AS_OBJECT = Rule(OF_OBJECT, OF_OBJECT, OF_OBJECT)
"""Every caller who may see the object."""

ADMINS = Rule()
LOCATIONS = Rule(YES, YES)
OWNER_LOOKUP = Rule(OFFERED, BOUND, allows=may_look_up_owner)
PROFILE = Rule(OWN, Scope.OWNERS_READ, allows=_acts(Scope.OWNERS_READ))
NOTIFICATIONS = Rule(OWN, allows=may_see_notifications)
LOCKERS = Rule(OFFERED, Scope.LOCKERS_READ, allows=may_see_locker)
RESERVATIONS = Rule(OWN, Scope.RESERVATIONS_READ, allows=_acts(Scope.RESERVATIONS_READ))
EVENTS = Rule(OWN, Scope.EVENTS_READ, allows=_acts(Scope.EVENTS_READ))
BOOKINGS = Rule(OWN, Scope.BOOKINGS_READ, allows=_acts(Scope.BOOKINGS_READ))

# The rules of mutations only say who may use them at all; the write decides for whom, by what it reads anyway.
OWNER_CHANGES = Rule(OWN, Scope.OWNERS_WRITE)
LOCKER_CHANGES = Rule(OWN, Scope.LOCKERS_WRITE)
RESERVATION_CREATION = Rule(OFFERED, Scope.RESERVATIONS_WRITE)
RESERVATION_CHANGES = Rule(OWN, Scope.RESERVATIONS_WRITE)
EVENT_RECORDING = Rule(NO, Scope.EVENTS_WRITE, OWN_LOCKER)
BOOKING_CHANGES = Rule(OWN, Scope.BOOKINGS_WRITE)
