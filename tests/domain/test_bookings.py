"""Half days: what a duration takes, what is free beside it, and how long a calendar may be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from domain.bookings import (
    LONGEST_CALENDAR_DAYS,
    BookingStatus,
    CalendarSlot,
    DaySlot,
    Duration,
    check_calendar_window,
    free_slots,
    slots_of,
)
from domain.errors import BadInputError
from domain.models import LocationId, OwnerId
from domain.times import Day, Instant

MORNING, AFTERNOON = DaySlot.MORNING, DaySlot.AFTERNOON
FIRST, SECOND, THIRD = Day("2026-02-28"), Day("2026-03-01"), Day("2026-03-02")
TAKEN = CalendarSlot(
    location_id=LocationId("rome"),
    date=FIRST,
    slot=MORNING,
    event_id="e1",
    title="A fair",
    booking_id=None,
    created_by=OwnerId("root"),
    created_at=Instant("2026-02-01T12:00:00.000Z"),
)


def test_a_full_day_is_both_of_its_halves_and_a_half_is_itself() -> None:
    assert {duration: slots_of(duration) for duration in Duration} == {
        Duration.MORNING: (MORNING,),
        Duration.AFTERNOON: (AFTERNOON,),
        Duration.FULL_DAY: (MORNING, AFTERNOON),
    }


def test_a_half_day_is_spelled_as_the_table_has_it() -> None:
    assert [str(slot) for slot in DaySlot] == ["MORNING", "AFTERNOON"]
    assert [str(duration) for duration in Duration] == ["MORNING", "AFTERNOON", "FULL_DAY"]
    assert [str(status) for status in BookingStatus] == ["PENDING", "APPROVED", "REJECTED", "CANCELLED"]


def test_every_half_of_an_empty_calendar_is_free() -> None:
    assert free_slots([], FIRST, THIRD) == dict.fromkeys((FIRST, SECOND, THIRD), (MORNING, AFTERNOON))
    assert list(free_slots([], FIRST, THIRD)) == [FIRST, SECOND, THIRD]


def test_what_is_taken_is_not_free_and_all_else_is() -> None:
    taken = [
        replace(TAKEN, slot=AFTERNOON),
        replace(TAKEN, date=SECOND, slot=AFTERNOON),
        replace(TAKEN, date=SECOND, slot=MORNING),
    ]
    assert free_slots(taken, FIRST, THIRD) == {FIRST: (MORNING,), SECOND: (), THIRD: (MORNING, AFTERNOON)}
    assert free_slots([TAKEN], FIRST, FIRST) == {FIRST: (AFTERNOON,)}


def test_what_is_taken_on_another_day_matters_not() -> None:
    assert free_slots([TAKEN], SECOND, SECOND) == {SECOND: (MORNING, AFTERNOON)}


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("2026-03-01", "2026-03-01"),
        ("2026-01-01", "2026-04-02"),  # 92 days
        ("2024-01-01", "2024-04-01"),  # 92 days, of a leap year
        ("9999-10-01", "9999-12-31"),
    ],
)
def test_a_calendar_of_1_to_92_days_is_allowed(first: str, last: str) -> None:
    check_calendar_window(Day(first), Day(last))


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("2026-01-01", "2026-04-03"),
        ("2024-01-01", "2024-04-02"),
        ("2026-01-01", "2027-01-01"),
        ("0001-01-01", "9999-12-31"),
    ],
)
def test_a_calendar_of_more_than_92_days_is_refused(first: str, last: str) -> None:
    with pytest.raises(BadInputError) as refusal:
        check_calendar_window(Day(first), Day(last))
    assert refusal.value.message == "window may hold 92 days at most."
    assert refusal.value.path == ("window", "to")
    assert LONGEST_CALENDAR_DAYS == 92


@pytest.mark.parametrize(("first", "last"), [("2026-03-02", "2026-03-01"), ("2027-01-01", "2026-12-31")])
def test_a_calendar_that_runs_backwards_is_refused(first: str, last: str) -> None:
    with pytest.raises(BadInputError) as refusal:
        check_calendar_window(Day(first), Day(last))
    assert refusal.value.message == "window.from must not lie after window.to."
    assert refusal.value.path == ("window", "from")
