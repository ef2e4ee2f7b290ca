"""The locker's state machine: a table and one function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.errors import InvalidTransitionError
from domain.models import LockerStatus

if TYPE_CHECKING:
    from domain.models import Locker

__all__ = ["STEPS", "check_transition"]

STEPS: dict[LockerStatus, tuple[LockerStatus, ...]] = {
    LockerStatus.AVAILABLE: (LockerStatus.OCCUPIED, LockerStatus.MAINTENANCE),
    LockerStatus.OCCUPIED: (LockerStatus.AVAILABLE, LockerStatus.MAINTENANCE),
    LockerStatus.MAINTENANCE: (LockerStatus.AVAILABLE,),
}


def check_transition(locker: Locker, wanted: LockerStatus) -> None:
    """Refuses a step that the table does not name, staying in place included."""
    allowed = STEPS[locker.status]
    if wanted not in allowed:
        raise InvalidTransitionError(locker, wanted, allowed)
