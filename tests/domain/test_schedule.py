from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import BadInputError
from domain.models import LockerId, OwnerId, Reservation, ReservationId, ReservationSlot, ReservationStatus
from domain.schedule import (
    check_end_after_start,
    check_event_time,
    check_reservation_window,
    effective_status,
    free_slot,
    has_ended,
    is_current,
    overlaps,
)
from domain.times import EARLIEST, Instant, shift

UPCOMING, ACTIVE, COMPLETED, EXPIRED, CANCELLED = ReservationStatus
NOON = Instant("2026-03-01T12:00:00.000Z")
LONGEST = timedelta(days=30)
WEEK = timedelta(days=7)
FIVE_MINUTES = timedelta(minutes=5)
END = ("input", "endAt")


def at(milliseconds: int) -> Instant:
    return shift(NOON, timedelta(milliseconds=milliseconds))


def reservation(start: int, end: int, status: ReservationStatus = ACTIVE) -> Reservation:
    """A reservation between two times in milliseconds after noon."""
    return Reservation(
        reservation_id=ReservationId("r1"),
        locker_id=LockerId("l1"),
        owner_id=OwnerId("ada"),
        start_at=at(start),
        end_at=at(end),
        status=status,
        created_at=NOON,
        updated_at=NOON,
    )


@given(*[st.integers(-8, 8)] * 2, *[st.integers(1, 8)] * 2, st.sampled_from(ReservationStatus))
def test_an_active_reservation_overlaps_a_window_that_shares_a_millisecond_with_it(
    start: int, other_start: int, length: int, other_length: int, status: ReservationStatus
) -> None:
    shared = set(range(start, start + length)) & set(range(other_start, other_start + other_length))
    found = overlaps(reservation(start, start + length, status), at(other_start), at(other_start + other_length))
    assert found is (bool(shared) and status is ACTIVE)


@pytest.mark.parametrize(("now", "status"), [(-1, UPCOMING), (0, ACTIVE), (99, ACTIVE), (100, EXPIRED), (101, EXPIRED)])
def test_a_window_includes_its_start_and_excludes_its_end(now: int, status: ReservationStatus) -> None:
    ended = status is EXPIRED
    assert is_current(reservation(0, 100), at(now)) is (status is ACTIVE)
    assert has_ended(reservation(0, 100), at(now)) is ended
    assert effective_status(reservation(0, 100), at(now)) is status
    started = replace(reservation(0, 100), started_at=at(0))
    assert effective_status(started, at(now)) is (COMPLETED if ended else status)
    for stored in (CANCELLED, COMPLETED):
        assert effective_status(reservation(0, 100, stored), at(now)) is stored


def slot(name: str, end: int) -> ReservationSlot:
    place = {"owner_id": OwnerId("ada"), "locker_id": LockerId("l1"), "reservation_id": ReservationId("r1")}
    return ReservationSlot(slot=name, start_at=at(0), end_at=at(end), **place)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("taken", "most", "free"),
    [
        ([], 1, {"0000"}),
        ([], 0, {None}),
        ([("0000", 1)], 2, {"0001"}),
        ([("0000", 0)], 1, {"0000"}),  # its reservation has ended
        ([("0000", 0)], 2, {"0001"}),  # but perhaps not by another clock
        ([("0000", 1), ("0001", 1)], 2, {None}),
        ([("0001", 1)], 3, {"0000", "0002"}),
        ([("0007", 1), ("0008", 0)], 2, {"0000"}),  # one from a time with a higher limit
        ([("0006", 1), ("0007", 1)], 2, {None}),
    ],
)
def test_an_owner_takes_as_many_slots_as_it_may(taken: list[tuple[str, int]], most: int, free: set[str | None]) -> None:
    slots = [slot(name, end) for name, end in taken]
    assert {free_slot(slots, most, at(0), str(number)) for number in range(50)} == free


def test_a_window_may_start_in_the_past_and_be_as_long_as_the_longest() -> None:
    check_end_after_start(at(0), at(1), "endAt")
    check_reservation_window(at(-100), at(1), NOON, LONGEST, "endAt")
    check_reservation_window(at(1), shift(at(1), LONGEST), NOON, LONGEST, "endAt")


def test_an_event_may_be_five_minutes_ahead_or_arbitrarily_late() -> None:
    check_event_time(shift(NOON, FIVE_MINUTES), NOON, None, ("input", "timestamp"))
    check_event_time(EARLIEST, NOON, None, ("input", "timestamp"))


@pytest.mark.parametrize(
    ("check", "message", "path"),
    [
        *[
            (
                lambda end=end: check_end_after_start(at(0), at(end), "newEndAt"),
                "newEndAt must be after the start",
                ("input", "newEndAt"),
            )
            for end in (0, -1)
        ],
        *[
            (
                lambda end=end: check_reservation_window(at(-100), at(end), NOON, LONGEST, "endAt"),
                "endAt must be in the future",
                END,
            )
            for end in (0, -1)
        ],
        (
            lambda: check_reservation_window(at(0), shift(at(1), LONGEST), NOON, LONGEST, "endAt"),
            "a reservation must not be longer than 30 days",
            END,
        ),
        (
            lambda: check_reservation_window(at(0), at(5_400_001), NOON, timedelta(minutes=90), "endAt"),
            "a reservation must not be longer than 90 minutes",
            END,
        ),
        (
            lambda: check_event_time(shift(at(1), FIVE_MINUTES), NOON, None, ("input", "events", "3", "timestamp")),
            "timestamp must not be more than 5 minutes in the future",
            ("input", "events", "3", "timestamp"),
        ),
        (
            lambda: check_event_time(shift(NOON, -WEEK), NOON, WEEK, ("input", "timestamp")),
            "timestamp must not be 7 days ago or more: events are kept no longer",
            ("input", "timestamp"),
        ),
    ],
)
def test_a_time_outside_the_rules_is_rejected(check: Callable[[], None], message: str, path: tuple[str, ...]) -> None:
    with pytest.raises(BadInputError) as error:
        check()
    assert (error.value.message, error.value.path) == (message, path)
