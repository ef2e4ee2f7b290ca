"""State machine of a locker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.errors import InvalidTransitionError
from domain.models import LockerStatus

if TYPE_CHECKING:
    from domain.models import Locker, LockerSummary

TRANSITIONS: dict[LockerStatus, tuple[LockerStatus, ...]] = {
    LockerStatus.AVAILABLE: (LockerStatus.OCCUPIED, LockerStatus.MAINTENANCE),
    LockerStatus.OCCUPIED: (LockerStatus.AVAILABLE, LockerStatus.MAINTENANCE),
    LockerStatus.MAINTENANCE: (LockerStatus.AVAILABLE,),
}


def is_in_service(locker: Locker | LockerSummary) -> bool:
    """Whether the locker accepts reservations, and opens for them."""
    return locker.status is not LockerStatus.MAINTENANCE


def check_transition(locker: Locker, new_status: LockerStatus) -> None:
    """Rejects a transition that is not in the table; the current status is not a valid new status."""
    allowed = TRANSITIONS[locker.status]
    if new_status not in allowed:
        raise InvalidTransitionError(locker, new_status, allowed)
