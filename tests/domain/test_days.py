"""Days: a date has one form, and which day it is depends on where one stands."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.times import Day, Instant, count_days, day_in, days_between, parse_day

DATES = st.dates(date(1, 1, 1), date(9999, 12, 31))
FEW = st.integers(0, 400)


@pytest.mark.parametrize("text", ["2026-03-01", "2024-02-29", "2000-02-29", "0001-01-01", "0999-12-31", "9999-12-31"])
def test_a_date_is_kept_as_it_is(text: str) -> None:
    assert parse_day(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-3-1",
        "2026-03-1",
        "20260301",
        "2026/03/01",
        "01-03-2026",
        "2026-W09-7",
        "2026-060",
        "2026-03-01T00:00:00Z",
        " 2026-03-01",
        "2026-03-01\n",
        "-026-03-01",
        "12026-03-01",
        "\u0662026-03-01",  # a digit, but not an ASCII one
        "today",
    ],
)
def test_a_date_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^is not a date such as 2026-03-01$"):
        parse_day(text)


@pytest.mark.parametrize(
    "text",
    ["2026-02-29", "1900-02-29", "2026-02-30", "2026-04-31", "2026-13-01", "2026-00-10", "2026-01-00", "0000-01-01"],
)
def test_a_date_that_does_not_exist_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^is not a date that exists \(.+\)$"):
        parse_day(text)


@given(st.text(max_size=12) | DATES.map(date.isoformat))
def test_any_text_is_a_date_that_python_knows_or_a_clear_refusal(text: str) -> None:
    try:
        known = len(text) == 10 and date.fromisoformat(text).isoformat() == text
    except ValueError:
        known = False
    if known:
        assert parse_day(text) == text
    else:
        with pytest.raises(ValueError, match=r"^is not a date "):
            parse_day(text)


@given(DATES, DATES)
def test_days_as_text_are_in_the_order_of_time(one: date, other: date) -> None:
    assert (parse_day(one.isoformat()) < parse_day(other.isoformat())) is (one < other)


@pytest.mark.parametrize(
    ("zone", "now", "day"),
    [
        ("UTC", "2026-03-01T00:00:00.000Z", "2026-03-01"),
        ("UTC", "2026-02-28T23:59:59.999Z", "2026-02-28"),
        ("Europe/Rome", "2026-02-28T22:59:59.999Z", "2026-02-28"),
        ("Europe/Rome", "2026-02-28T23:00:00.000Z", "2026-03-01"),
        ("Europe/Rome", "2026-06-30T21:59:59.999Z", "2026-06-30"),  # summer: two hours ahead
        ("Europe/Rome", "2026-06-30T22:00:00.000Z", "2026-07-01"),
        ("America/New_York", "2026-03-01T04:59:59.999Z", "2026-02-28"),
        ("America/New_York", "2026-03-01T05:00:00.000Z", "2026-03-01"),
        ("Asia/Kathmandu", "2026-03-01T18:14:59.999Z", "2026-03-01"),  # a quarter of an hour off
        ("Asia/Kathmandu", "2026-03-01T18:15:00.000Z", "2026-03-02"),
        ("Pacific/Kiritimati", "2026-03-01T09:59:59.999Z", "2026-03-01"),  # the first to begin a day, 14 hours ahead
        ("Pacific/Kiritimati", "2026-03-01T10:00:00.000Z", "2026-03-02"),
        ("Pacific/Kiritimati", "2026-12-31T10:00:00.000Z", "2027-01-01"),
        ("Pacific/Pago_Pago", "2026-03-01T10:59:59.999Z", "2026-02-28"),  # the last, 11 hours behind
        ("Pacific/Pago_Pago", "2026-03-01T11:00:00.000Z", "2026-03-01"),
        ("Pacific/Pago_Pago", "2027-01-01T10:59:59.999Z", "2026-12-31"),
    ],
)
def test_today_is_the_places_own(zone: str, now: str, day: str) -> None:
    assert day_in(zone, Instant(now)) == day


def test_for_an_hour_a_day_three_dates_are_today_somewhere() -> None:
    now = Instant("2026-03-01T10:30:00.000Z")
    zones = ("Pacific/Pago_Pago", "UTC", "Pacific/Kiritimati")
    assert [day_in(zone, now) for zone in zones] == ["2026-02-28", "2026-03-01", "2026-03-02"]


def test_a_place_that_moved_over_the_date_line_had_no_such_day() -> None:
    last = day_in("Pacific/Apia", Instant("2011-12-30T09:59:59.999Z"))
    following = day_in("Pacific/Apia", Instant("2011-12-30T10:00:00.000Z"))
    assert (last, following) == ("2011-12-29", "2011-12-31")


@pytest.mark.parametrize(
    ("first", "last", "count"),
    [
        ("2026-03-01", "2026-03-01", 1),
        ("2026-02-28", "2026-03-01", 2),
        ("2024-02-28", "2024-03-01", 3),
        ("2025-12-31", "2026-01-01", 2),
        ("2026-01-01", "2026-12-31", 365),
        ("2026-01-01", "2026-04-02", 92),
        ("9999-12-30", "9999-12-31", 2),
        ("2026-03-02", "2026-03-01", 0),
        ("2026-03-03", "2026-03-01", -1),
    ],
)
def test_days_are_counted_with_both_ends(first: str, last: str, count: int) -> None:
    assert count_days(Day(first), Day(last)) == count
    assert len(days_between(Day(first), Day(last))) == max(count, 0)


def test_the_days_between_two_are_all_of_them_in_order() -> None:
    assert days_between(Day("2024-02-27"), Day("2024-03-01")) == [
        "2024-02-27",
        "2024-02-28",
        "2024-02-29",
        "2024-03-01",
    ]
    assert days_between(Day("9999-12-31"), Day("9999-12-31")) == ["9999-12-31"]
    assert days_between(Day("0001-01-01"), Day("0001-01-02")) == ["0001-01-01", "0001-01-02"]


@given(st.dates(date(1, 1, 1), date(9998, 1, 1)), FEW)
def test_each_day_follows_the_one_before_it(first: date, more: int) -> None:
    last = first + timedelta(days=more)
    days = days_between(Day(first.isoformat()), Day(last.isoformat()))
    assert (days[0], days[-1], len(days)) == (first.isoformat(), last.isoformat(), more + 1)
    assert days == sorted(set(days))
