"""Windows of time: half-open, so that one may begin in the moment in which another ends."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import BadInputError
from domain.models import LockerId, OwnerId, Reservation, ReservationId, ReservationStatus
from domain.schedule import (
    check_ahead,
    check_event_time,
    check_order,
    effective_status,
    has_ended,
    is_current,
    overlaps,
)
from domain.times import Instant, shift

ACTIVE, CANCELLED, EXPIRED = ReservationStatus.ACTIVE, ReservationStatus.CANCELLED, ReservationStatus.EXPIRED
NOON = Instant("2026-03-01T12:00:00.000Z")
LONGEST = timedelta(days=30)


def at(milliseconds: int) -> Instant:
    return shift(NOON, timedelta(milliseconds=milliseconds))


def held(start: int, end: int, status: ReservationStatus = ACTIVE) -> Reservation:
    """A reservation from and to so many milliseconds after noon."""
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


@pytest.mark.parametrize(
    ("start", "end", "shares"),
    [
        (-100, 0, False),  # ends in the moment in which the other begins
        (-100, 1, True),
        (0, 100, True),
        (10, 90, True),
        (-10, 110, True),
        (99, 200, True),
        (100, 200, False),  # begins in the moment in which the other ends
        (200, 300, False),
        (-200, -100, False),
    ],
)
def test_two_windows_overlap_only_if_they_share_a_moment(start: int, end: int, shares: bool) -> None:  # noqa: FBT001
    assert overlaps(held(0, 100), at(start), at(end)) is shares


@pytest.mark.parametrize("status", [CANCELLED, EXPIRED])
def test_a_reservation_that_is_not_live_is_in_nobodys_way(status: ReservationStatus) -> None:
    assert overlaps(held(0, 100, status), at(0), at(100)) is False


@given(*[st.integers(-8, 8)] * 2, *[st.integers(1, 8)] * 2, st.sampled_from([ACTIVE, CANCELLED]))
def test_overlap_is_the_same_as_a_moment_that_lies_in_both(
    start: int, other_start: int, length: int, other_length: int, status: ReservationStatus
) -> None:
    moments = set(range(start, start + length)) & set(range(other_start, other_start + other_length))
    reservation = held(start, start + length, status)
    expected = bool(moments) and status is ACTIVE
    assert overlaps(reservation, at(other_start), at(other_start + other_length)) is expected


@pytest.mark.parametrize(
    ("now", "current", "ended"),
    [(-1, False, False), (0, True, False), (99, True, False), (100, False, True), (101, False, True)],
)
def test_the_start_belongs_to_a_window_and_the_end_does_not(now: int, current: bool, ended: bool) -> None:  # noqa: FBT001
    assert is_current(held(0, 100), at(now)) is current
    assert has_ended(held(0, 100), at(now)) is ended


@pytest.mark.parametrize(
    ("stored", "now", "status"),
    [
        (ACTIVE, -1, ACTIVE),
        (ACTIVE, 99, ACTIVE),
        (ACTIVE, 100, EXPIRED),
        (CANCELLED, 99, CANCELLED),
        (CANCELLED, 100, CANCELLED),
    ],
)
def test_a_reservation_expires_by_the_clock_alone(
    stored: ReservationStatus, now: int, status: ReservationStatus
) -> None:
    assert effective_status(held(0, 100, stored), at(now)) is status


def test_a_window_that_ends_after_its_start_is_in_order() -> None:
    check_order(at(0), at(1), "endAt")


@pytest.mark.parametrize("end", [0, -1])
def test_a_window_that_is_empty_or_backwards_is_refused(end: int) -> None:
    with pytest.raises(BadInputError) as refusal:
        check_order(at(0), at(end), "newEndAt")
    assert refusal.value.message == "newEndAt must lie after the start"
    assert refusal.value.path == ("input", "newEndAt")


def test_a_window_may_begin_in_the_past_where_its_end_lies_ahead() -> None:
    check_ahead(at(-100), at(1), NOON, LONGEST, "endAt")


@pytest.mark.parametrize("end", [0, -1])
def test_a_window_that_is_over_already_is_refused(end: int) -> None:
    with pytest.raises(BadInputError) as refusal:
        check_ahead(at(-100), at(end), NOON, LONGEST, "endAt")
    assert refusal.value.message == "endAt must lie in the future"
    assert refusal.value.path == ("input", "endAt")


def test_a_window_may_be_as_long_as_the_longest_and_not_a_millisecond_longer() -> None:
    end = shift(at(1), LONGEST)
    check_ahead(at(1), end, NOON, LONGEST, "endAt")
    with pytest.raises(BadInputError) as refusal:
        check_ahead(at(0), end, NOON, LONGEST, "endAt")
    assert refusal.value.message == "a reservation may last 30 days at most"
    assert refusal.value.path == ("input", "endAt")


def test_the_longest_window_is_spoken_of_in_minutes_where_it_is_less_than_a_day() -> None:
    with pytest.raises(BadInputError, match=r"^a reservation may last 90 minutes at most$"):
        check_ahead(NOON, shift(NOON, timedelta(hours=2)), NOON, timedelta(minutes=90), "endAt")


def test_an_event_may_come_from_five_minutes_ahead_and_not_a_millisecond_more() -> None:
    ahead = shift(NOON, timedelta(minutes=5))
    check_event_time(ahead, NOON, ("input", "timestamp"))
    with pytest.raises(BadInputError) as refusal:
        check_event_time(shift(ahead, timedelta(milliseconds=1)), NOON, ("input", "events", "3", "timestamp"))
    assert refusal.value.message == "timestamp lies more than 5 minutes ahead"
    assert refusal.value.path == ("input", "events", "3", "timestamp")


def test_an_event_may_come_as_late_as_it_likes() -> None:
    check_event_time(Instant("0001-01-01T00:00:00.000Z"), NOON, ("input", "timestamp"))
