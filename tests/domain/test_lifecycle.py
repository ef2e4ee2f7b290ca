"""State machine of a locker: every pair of statuses."""

from __future__ import annotations

import pytest

from domain.errors import InvalidTransitionError
from domain.lifecycle import check_transition
from domain.models import Locker, LockerId, LockerStatus, OwnerId
from domain.times import Instant

NOW = Instant("2026-03-01T12:00:00.000Z")
ALLOWED = {
    "AVAILABLE": ["OCCUPIED", "MAINTENANCE"],
    "OCCUPIED": ["AVAILABLE", "MAINTENANCE"],
    "MAINTENANCE": ["AVAILABLE"],
}


@pytest.mark.parametrize("new_status", LockerStatus)
@pytest.mark.parametrize("status", LockerStatus)
def test_a_transition_outside_the_table_is_a_conflict_that_lists_the_allowed_statuses(
    status: LockerStatus, new_status: LockerStatus
) -> None:
    locker = Locker(
        locker_id=LockerId("l1"),
        owner_id=OwnerId("acme"),
        status=status,
        alias=None,
        created_at=NOW,
        updated_at=NOW,
        version=7,
    )
    allowed = ALLOWED[status]
    if new_status in allowed:
        check_transition(locker, new_status)
        return
    with pytest.raises(InvalidTransitionError) as error:
        check_transition(locker, new_status)
    message = f"A locker cannot change from {status} to {new_status}. Allowed: {' or '.join(allowed)}."
    assert (error.value.message, error.value.path) == (message, ("input", "newStatus"))
    assert error.value.locker is locker
    assert list(error.value.allowed) == allowed
