from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.times import (
    EARLIEST,
    LATEST,
    Day,
    Instant,
    count_days,
    days_between,
    instant_of,
    local_day,
    parse_day,
    parse_instant,
    shift,
    to_datetime,
    to_instant,
)

ZONES = st.timedeltas(timedelta(hours=-23, minutes=-59), timedelta(hours=23, minutes=59)).map(
    lambda offset: timezone(timedelta(minutes=offset // timedelta(minutes=1)))
)
# A day of margin, so that no time zone leads out of the range of instants.
DATETIMES = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=ZONES)  # noqa: DTZ001  # zones are drawn
DATES = st.dates(date(1, 1, 1), date(9999, 12, 31))

NO_ZONE = r"has no time zone: add Z or an offset such as \+02:00"
BAD_HOUR = r"has an invalid hour: a day ends at 23:59:59\.999"
BAD_TIME = r"is not a valid time \(.+\)"
NO_TIME = r"is not an RFC 3339 time such as 2026-03-01T09:30:00Z"


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-03-01T09:30:00Z", "2026-03-01T09:30:00.000Z"),
        ("2026-03-01T09:30:00.5Z", "2026-03-01T09:30:00.500Z"),
        ("2026-03-01T09:30:00.05Z", "2026-03-01T09:30:00.050Z"),
        ("2026-03-01t09:30:00z", "2026-03-01T09:30:00.000Z"),
        ("2026-03-01T00:30:00+02:00", "2026-02-28T22:30:00.000Z"),
        ("2026-12-31T23:30:00-05:30", "2027-01-01T05:00:00.000Z"),
        ("2026-03-01T09:30:00+00:00", "2026-03-01T09:30:00.000Z"),
        ("2026-03-01T09:30:00-00:00", "2026-03-01T09:30:00.000Z"),
        ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"),
        ("0001-01-01T00:00:00Z", EARLIEST),
        ("9999-12-31T23:59:59.999Z", LATEST),
        # Truncated, never rounded up.
        ("2026-03-01T09:30:00.1239Z", "2026-03-01T09:30:00.123Z"),
        ("2026-03-01T09:30:00.9999Z", "2026-03-01T09:30:00.999Z"),
        ("9999-12-31T23:59:59.999999999Z", LATEST),
    ],
)
def test_an_instant_is_in_utc_with_three_decimals(text: str, instant: str) -> None:
    assert parse_instant(text) == instant


@pytest.mark.parametrize(
    ("message", "texts"),
    [
        (NO_ZONE, ["2026-03-01T09:30:00", "2026-03-01T09:30:00.500", "2026-03-01t09:30:00"]),
        (BAD_HOUR, ["2026-03-01T24:00:00Z", "2026-03-01T24:00:00.000Z", "2026-03-01T24:00:01+02:00"]),
        (BAD_HOUR, ["9999-12-31T24:00:00Z"]),
        (BAD_TIME, ["0000-01-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z"]),
        (BAD_TIME, ["2026-03-00T00:00:00Z", "2026-03-01T25:00:00Z", "2026-03-01T23:60:00Z", "2026-03-01T23:59:60Z"]),
        (BAD_TIME, ["0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59.999-00:01"]),
        (NO_TIME, ["", "now", "2026-03-01", "2026-03-01T09:30Z", "2026-03-01 09:30:00Z", "2026-03-01T09:30:00,5Z"]),
        (NO_TIME, ["2026-03-01T09:30:00.Z", "2026-03-01T09:30:00.0123456789Z", "2026-03-01T09:30:00+0200"]),
        (NO_TIME, ["2026-03-01T09:30:00+02", "2026-03-01T09:30:00Z ", " 2026-03-01T09:30:00Z"]),
        (NO_TIME, ["2026-03-01T09:30:00Z\n", "2026-W09-7T09:30:00Z", "20260301T093000Z", "12026-03-01T09:30:00Z"]),
        (NO_TIME, ["2026-03-01T09:30:00+24:00", "2026-03-01T09:30:00-99:00", "2026-03-01T09:30:00+01:60"]),
        (NO_TIME, ["-2026-03-01T09:30:00Z", "26-03-01T09:30:00Z", "1772357400"]),
        (NO_TIME, ["\u0662\u0660\u0662\u0666-03-01T09:30:00Z", "2026-03-01T09:30:0\uff10Z"]),  # digits outside ASCII
    ],
)
def test_an_invalid_time_is_rejected_with_the_reason(message: str, texts: list[str]) -> None:
    for text in texts:
        with pytest.raises(ValueError, match=f"^{message}$"):
            parse_instant(text)


@given(DATETIMES, DATETIMES)
def test_instants_sort_as_text_in_the_order_of_time(one: datetime, other: datetime) -> None:
    instants = [to_instant(one), to_instant(other)]
    datetimes = [to_datetime(instant) for instant in instants]
    assert (instants[0] < instants[1]) == (datetimes[0] < datetimes[1])
    assert (instants[0] == instants[1]) == (datetimes[0] == datetimes[1])
    assert EARLIEST <= instants[0] <= LATEST


@given(DATETIMES)
def test_an_instant_is_exact_to_the_millisecond_and_parses_to_itself(value: datetime) -> None:
    instant = to_instant(value)
    assert len(instant) == 24
    assert to_datetime(instant).tzinfo is UTC
    assert timedelta(0) <= value - to_datetime(instant) < timedelta(milliseconds=1)
    assert parse_instant(instant) == parse_instant(value.isoformat()) == instant


def test_a_datetime_without_time_zone_is_rejected() -> None:
    with pytest.raises(ValueError, match=r"^the datetime has no time zone$"):
        to_instant(datetime(2026, 3, 1))  # noqa: DTZ001  # this is what is tested


@pytest.mark.parametrize(
    ("instant", "by", "shifted"),
    [
        ("2026-03-01T00:00:00.000Z", timedelta(milliseconds=-1), "2026-02-28T23:59:59.999Z"),
        ("2026-03-01T00:00:00.000Z", timedelta(days=30), "2026-03-31T00:00:00.000Z"),
        ("0001-01-15T00:00:00.000Z", timedelta(days=-30), EARLIEST),
        ("9999-12-15T00:00:00.000Z", timedelta(days=30), LATEST),
        (EARLIEST, timedelta(milliseconds=-1), EARLIEST),
        (LATEST, timedelta(milliseconds=1), LATEST),
    ],
)
def test_a_shifted_instant_stays_in_range(instant: str, by: timedelta, shifted: str) -> None:
    assert shift(Instant(instant), by) == shifted


@pytest.mark.parametrize(
    ("message", "texts"),
    [
        (r"is not a date such as 2026-03-01", ["", "2026-3-1", "2026-03-1", "20260301", "2026/03/01", "01-03-2026"]),
        (r"is not a date such as 2026-03-01", ["2026-W09-7", "2026-060", "2026-03-01T00:00:00Z", " 2026-03-01"]),
        (r"is not a date such as 2026-03-01", ["2026-03-01\n", "-026-03-01", "12026-03-01", "\u0662026-03-01"]),
        (r"is not a valid date \(.+\)", ["2026-02-29", "1900-02-29", "2026-02-30", "2026-04-31", "2026-13-01"]),
        (r"is not a valid date \(.+\)", ["2026-00-10", "2026-01-00", "0000-01-01"]),
    ],
)
def test_an_invalid_date_is_rejected_with_the_reason(message: str, texts: list[str]) -> None:
    for text in texts:
        with pytest.raises(ValueError, match=f"^{message}$"):
            parse_day(text)


@given(st.text(max_size=12) | DATES.map(date.isoformat))
def test_a_text_is_a_valid_date_or_is_rejected(text: str) -> None:
    try:
        is_date = len(text) == 10 and date.fromisoformat(text).isoformat() == text
    except ValueError:
        is_date = False
    if is_date:
        assert parse_day(text) == text
    else:
        with pytest.raises(ValueError, match=r"^is not a (valid )?date "):
            parse_day(text)


@pytest.mark.parametrize(
    ("zone", "midnight", "day"),
    [
        ("UTC", "2026-03-01T00:00:00.000Z", "2026-03-01"),
        ("Europe/Rome", "2026-02-28T23:00:00.000Z", "2026-03-01"),
        ("Europe/Rome", "2026-06-30T22:00:00.000Z", "2026-07-01"),  # summer time
        ("America/New_York", "2026-03-01T05:00:00.000Z", "2026-03-01"),
        ("Asia/Kathmandu", "2026-03-01T18:15:00.000Z", "2026-03-02"),  # offset of 5:45 hours
        ("Pacific/Kiritimati", "2026-12-31T10:00:00.000Z", "2027-01-01"),  # the first zone to start a day
        ("Pacific/Pago_Pago", "2026-03-01T11:00:00.000Z", "2026-03-01"),  # the last zone to start a day
        ("Pacific/Apia", "2011-12-31T10:00:00.000Z", "2012-01-01"),
        ("Africa/Cairo", "2027-04-29T22:00:00.000Z", "2027-04-30"),  # begins at one o'clock
    ],
)
def test_a_day_starts_at_midnight_of_its_time_zone(zone: str, midnight: str, day: str) -> None:
    assert local_day(zone, Instant(midnight)) == day
    before = shift(Instant(midnight), timedelta(milliseconds=-1))
    previous = (date.fromisoformat(day) - timedelta(days=1)).isoformat()
    assert local_day(zone, before) == previous
    assert instant_of(Day(day), 0, zone) == instant_of(Day(previous), 24, zone) == midnight


def test_a_time_zone_that_crossed_the_date_line_skipped_a_day() -> None:
    last = local_day("Pacific/Apia", Instant("2011-12-30T09:59:59.999Z"))
    following = local_day("Pacific/Apia", Instant("2011-12-30T10:00:00.000Z"))
    assert (last, following) == ("2011-12-29", "2011-12-31")


@pytest.mark.parametrize(
    ("first", "last", "count"),
    [
        ("2026-03-01", "2026-03-01", 1),
        ("2026-02-28", "2026-03-01", 2),
        ("2024-02-28", "2024-03-01", 3),
        ("2026-01-01", "2026-12-31", 365),
        ("0001-01-01", "0001-01-02", 2),
        ("9999-12-30", "9999-12-31", 2),
        ("2026-03-02", "2026-03-01", 0),
        ("2026-03-03", "2026-03-01", -1),
    ],
)
def test_days_are_counted_with_both_ends(first: str, last: str, count: int) -> None:
    assert count_days(Day(first), Day(last)) == count
    assert len(days_between(Day(first), Day(last))) == max(count, 0)


@given(st.dates(date(1, 1, 1), date(9998, 1, 1)), st.integers(0, 400))
def test_the_days_between_two_days_are_consecutive(first: date, more: int) -> None:
    days = days_between(Day(first.isoformat()), Day((first + timedelta(days=more)).isoformat()))
    assert days == [(first + timedelta(days=number)).isoformat() for number in range(more + 1)]
