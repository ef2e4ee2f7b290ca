"""Half days of a location's calendar."""

from __future__ import annotations

from dataclasses import replace

import pytest

from domain.bookings import CalendarSlot, DaySlot, Duration, check_calendar_window, free_slots, slots_in
from domain.errors import BadInputError
from domain.models import LocationId, OwnerId
from domain.times import Day, Instant

MORNING, AFTERNOON = DaySlot.MORNING, DaySlot.AFTERNOON
BOTH = (MORNING, AFTERNOON)
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


def test_a_full_day_takes_both_half_days() -> None:
    assert [slots_in(duration) for duration in Duration] == [(MORNING,), (AFTERNOON,), BOTH]


def test_half_days_that_are_not_taken_are_free() -> None:
    taken = [
        replace(TAKEN, slot=AFTERNOON),
        *(replace(TAKEN, date=SECOND, slot=slot) for slot in (AFTERNOON, MORNING)),
    ]
    assert list(free_slots([], FIRST, THIRD).items()) == [(FIRST, BOTH), (SECOND, BOTH), (THIRD, BOTH)]
    assert free_slots(taken, FIRST, THIRD) == {FIRST: (MORNING,), SECOND: (), THIRD: BOTH}
    assert free_slots([TAKEN], FIRST, FIRST) == {FIRST: (AFTERNOON,)}
    assert free_slots([TAKEN], SECOND, SECOND) == {SECOND: BOTH}


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("2026-03-01", "2026-03-01"),
        ("2026-01-01", "2026-04-02"),  # 92 days
        ("2024-01-01", "2024-04-01"),  # 92 days in a leap year
        ("9999-10-01", "9999-12-31"),
    ],
)
def test_a_calendar_window_may_have_1_to_92_days(first: str, last: str) -> None:
    check_calendar_window(Day(first), Day(last))


@pytest.mark.parametrize(
    ("first", "last", "side", "message"),
    [
        ("2026-01-01", "2026-04-03", "to", "window must have at most 92 days."),
        ("2024-01-01", "2024-04-02", "to", "window must have at most 92 days."),
        ("0001-01-01", "9999-12-31", "to", "window must have at most 92 days."),
        ("2026-03-02", "2026-03-01", "from", "window.from must not be after window.to."),
        ("2027-01-01", "2026-12-31", "from", "window.from must not be after window.to."),
    ],
)
def test_a_calendar_window_that_is_too_long_or_reversed_is_rejected(
    first: str, last: str, side: str, message: str
) -> None:
    with pytest.raises(BadInputError) as error:
        check_calendar_window(Day(first), Day(last))
    assert (error.value.message, error.value.path) == (message, ("window", side))
