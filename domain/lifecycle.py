"""State machine of a locker."""

from domain.errors import InvalidTransitionError, LockerInMaintenanceError, LockerRetiredError
from domain.models import Locker, LockerStatus

TRANSITIONS: dict[LockerStatus, tuple[LockerStatus, ...]] = {
    LockerStatus.AVAILABLE: (LockerStatus.OCCUPIED, LockerStatus.MAINTENANCE),
    LockerStatus.OCCUPIED: (LockerStatus.AVAILABLE, LockerStatus.MAINTENANCE),
    LockerStatus.MAINTENANCE: (LockerStatus.AVAILABLE,),
}
IN_SERVICE = (LockerStatus.AVAILABLE, LockerStatus.OCCUPIED)


def is_in_service(locker: Locker) -> bool:
    """Whether the locker can be reserved, and reservations of it started."""
    return locker.status in IN_SERVICE


def check_not_retired(locker: Locker) -> None:
    if locker.status is LockerStatus.RETIRED:
        raise LockerRetiredError(locker)


def check_in_service(locker: Locker) -> None:
    check_not_retired(locker)
    if not is_in_service(locker):
        raise LockerInMaintenanceError(locker, "is in maintenance")


def check_transition(locker: Locker, new_status: LockerStatus) -> None:
    """Rejects a transition that is not in the table; the current status is not a valid new status."""
    allowed = TRANSITIONS[locker.status]
    if new_status not in allowed:
        raise InvalidTransitionError(locker, new_status, allowed)
