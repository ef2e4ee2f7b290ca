"""The locker's state machine, step by step."""

from __future__ import annotations

import pytest

from domain.errors import InvalidTransitionError
from domain.lifecycle import STEPS, check_transition
from domain.models import Locker, LockerId, LockerStatus, OwnerId
from domain.times import Instant

AVAILABLE, OCCUPIED, MAINTENANCE = LockerStatus.AVAILABLE, LockerStatus.OCCUPIED, LockerStatus.MAINTENANCE
NOW = Instant("2026-03-01T12:00:00.000Z")


def locker_in(status: LockerStatus) -> Locker:
    return Locker(
        locker_id=LockerId("l1"),
        owner_id=OwnerId("acme"),
        status=status,
        alias=None,
        created_at=NOW,
        updated_at=NOW,
        version=7,
    )


@pytest.mark.parametrize(
    ("status", "wanted"),
    [
        (AVAILABLE, OCCUPIED),
        (AVAILABLE, MAINTENANCE),
        (OCCUPIED, AVAILABLE),
        (OCCUPIED, MAINTENANCE),
        (MAINTENANCE, AVAILABLE),
    ],
)
def test_a_step_of_the_state_machine_is_allowed(status: LockerStatus, wanted: LockerStatus) -> None:
    check_transition(locker_in(status), wanted)


@pytest.mark.parametrize(
    ("status", "wanted", "allowed", "message"),
    [
        (
            AVAILABLE,
            AVAILABLE,
            (OCCUPIED, MAINTENANCE),
            "A locker cannot go from AVAILABLE to AVAILABLE; from here it may go to OCCUPIED or MAINTENANCE.",
        ),
        (
            OCCUPIED,
            OCCUPIED,
            (AVAILABLE, MAINTENANCE),
            "A locker cannot go from OCCUPIED to OCCUPIED; from here it may go to AVAILABLE or MAINTENANCE.",
        ),
        (
            MAINTENANCE,
            OCCUPIED,
            (AVAILABLE,),
            "A locker cannot go from MAINTENANCE to OCCUPIED; from here it may go to AVAILABLE.",
        ),
        (
            MAINTENANCE,
            MAINTENANCE,
            (AVAILABLE,),
            "A locker cannot go from MAINTENANCE to MAINTENANCE; from here it may go to AVAILABLE.",
        ),
    ],
)
def test_any_other_step_is_a_conflict_that_names_the_ways_out(
    status: LockerStatus, wanted: LockerStatus, allowed: tuple[LockerStatus, ...], message: str
) -> None:
    locker = locker_in(status)
    with pytest.raises(InvalidTransitionError) as refusal:
        check_transition(locker, wanted)
    assert refusal.value.message == message
    assert refusal.value.allowed == allowed
    assert refusal.value.locker is locker
    assert refusal.value.path == ("input", "newStatus")
    assert (refusal.value.code, refusal.value.status, refusal.value.retryable) == ("INVALID_TRANSITION", 409, False)


def test_every_state_has_a_way_out_and_is_in_the_table() -> None:
    assert set(STEPS) == set(LockerStatus)
    assert all(STEPS.values())
