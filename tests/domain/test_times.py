"""Instants: one canonical form, whose order as text is its order in time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.times import EARLIEST, LATEST, Instant, as_datetime, instant_of, parse_instant, shift

ZONES = st.timedeltas(timedelta(hours=-23, minutes=-59), timedelta(hours=23, minutes=59)).map(
    lambda offset: timezone(timedelta(minutes=offset // timedelta(minutes=1)))
)
# A day's margin, so that no zone leads out of the range that an instant can name.
MOMENTS = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=ZONES)  # noqa: DTZ001  # zones are drawn


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-03-01T09:30:00Z", "2026-03-01T09:30:00.000Z"),
        ("2026-03-01T09:30:00.000Z", "2026-03-01T09:30:00.000Z"),
        ("2026-03-01T09:30:00.5Z", "2026-03-01T09:30:00.500Z"),
        ("2026-03-01T09:30:00.05Z", "2026-03-01T09:30:00.050Z"),
        ("2026-03-01T09:30:00.123Z", "2026-03-01T09:30:00.123Z"),
        ("2026-03-01t09:30:00z", "2026-03-01T09:30:00.000Z"),
        ("2026-03-01T09:30:00+02:00", "2026-03-01T07:30:00.000Z"),
        ("2026-03-01T00:30:00+02:00", "2026-02-28T22:30:00.000Z"),
        ("2026-12-31T23:30:00-05:30", "2027-01-01T05:00:00.000Z"),
        ("2026-03-01T09:30:00+00:00", "2026-03-01T09:30:00.000Z"),
        ("2026-03-01T09:30:00-00:00", "2026-03-01T09:30:00.000Z"),
        ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"),
        ("0999-01-01T00:00:00Z", "0999-01-01T00:00:00.000Z"),
        ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
    ],
)
def test_a_time_becomes_utc_with_three_decimals_and_z(text: str, instant: str) -> None:
    assert parse_instant(text) == instant


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-03-01T09:30:00.1239Z", "2026-03-01T09:30:00.123Z"),
        ("2026-03-01T09:30:00.9999Z", "2026-03-01T09:30:00.999Z"),
        ("2026-03-01T09:30:00.123456Z", "2026-03-01T09:30:00.123Z"),
        ("2026-03-01T23:59:59.999999999Z", "2026-03-01T23:59:59.999Z"),
        ("9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999Z"),
    ],
)
def test_what_is_finer_than_a_millisecond_is_cut_off_never_rounded_up(text: str, instant: str) -> None:
    assert parse_instant(text) == instant


@pytest.mark.parametrize("text", ["2026-03-01T09:30:00", "2026-03-01T09:30:00.500", "2026-03-01t09:30:00"])
def test_a_time_with_no_zone_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^has no time zone: add Z or an offset such as \+02:00$"):
        parse_instant(text)


@pytest.mark.parametrize(
    "text",
    ["2026-03-01T24:00:00Z", "2026-03-01T24:00:00.000Z", "2026-03-01T24:00:01+02:00", "9999-12-31T24:00:00Z"],
)
def test_a_day_has_no_hour_24(text: str) -> None:
    with pytest.raises(ValueError, match=r"^has no such hour: a day ends at 23:59:59\.999$"):
        parse_instant(text)


@pytest.mark.parametrize(
    "text",
    [
        "0000-01-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "2026-03-00T00:00:00Z",
        "2026-03-01T25:00:00Z",
        "2026-03-01T23:60:00Z",
        "2026-03-01T23:59:60Z",
        "2026-03-01T09:30:00+24:00",
        "2026-03-01T09:30:00+99:99",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59.999-00:01",
    ],
)
def test_a_time_that_does_not_exist_or_leaves_the_range_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^is not a time that exists \("):
        parse_instant(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2026-03-01",
        "2026-03-01T09:30Z",
        "2026-03-01 09:30:00Z",
        "2026-03-01T09:30:00,5Z",
        "2026-03-01T09:30:00.Z",
        "2026-03-01T09:30:00.0123456789Z",
        "2026-03-01T09:30:00+0200",
        "2026-03-01T09:30:00+02",
        "2026-03-01T09:30:00Z ",
        " 2026-03-01T09:30:00Z",
        "2026-03-01T09:30:00Z\n",
        "2026-W09-7T09:30:00Z",
        "20260301T093000Z",
        "12026-03-01T09:30:00Z",
        "-2026-03-01T09:30:00Z",
        "26-03-01T09:30:00Z",
        "٢٠٢٦-03-01T09:30:00Z",
        "2026-03-01T09:30:0０Z",  # noqa: RUF001  # a fullwidth digit is the point
        "1772357400",
    ],
)
def test_a_time_that_is_not_rfc_3339_is_refused_other_digits_than_ascii_among_it(text: str) -> None:
    with pytest.raises(ValueError, match=r"^is not an RFC 3339 time such as 2026-03-01T09:30:00Z$"):
        parse_instant(text)


def test_half_a_second_past_sorts_after_the_full_second_though_its_spelling_would_not() -> None:
    written = ["2026-03-01T09:30:00Z", "2026-03-01T09:30:00.500Z"]
    assert sorted(written) == written[::-1]
    assert sorted(map(parse_instant, written)) == list(map(parse_instant, written))


@given(MOMENTS, MOMENTS)
def test_canonical_instants_sort_as_text_exactly_as_they_do_in_time(one: datetime, other: datetime) -> None:
    instants = [instant_of(one), instant_of(other)]
    moments = [as_datetime(instant) for instant in instants]
    assert (instants[0] < instants[1]) == (moments[0] < moments[1])
    assert (instants[0] == instants[1]) == (moments[0] == moments[1])
    assert EARLIEST <= instants[0] <= LATEST


@given(MOMENTS)
def test_an_instant_is_the_moment_to_the_millisecond_and_reads_back_as_itself(moment: datetime) -> None:
    instant = instant_of(moment)
    assert len(instant) == 24
    assert timedelta(0) <= moment - as_datetime(instant) < timedelta(milliseconds=1)
    assert parse_instant(instant) == instant
    assert parse_instant(moment.isoformat()) == instant


def test_an_instant_of_a_moment_with_no_zone_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^a time needs a zone, such as Z or \+02:00$"):
        instant_of(datetime(2026, 3, 1))  # noqa: DTZ001  # that it has none is the point


def test_an_instant_as_a_datetime_is_aware() -> None:
    assert as_datetime(Instant("2026-03-01T09:30:00.123Z")) == datetime(2026, 3, 1, 9, 30, 0, 123_000, UTC)


@pytest.mark.parametrize(
    ("instant", "by", "shifted"),
    [
        ("2026-03-01T00:00:00.000Z", timedelta(milliseconds=-1), "2026-02-28T23:59:59.999Z"),
        ("2026-03-01T00:00:00.000Z", timedelta(days=30), "2026-03-31T00:00:00.000Z"),
        ("2026-03-01T00:00:00.000Z", timedelta(0), "2026-03-01T00:00:00.000Z"),
        ("0001-01-15T00:00:00.000Z", timedelta(days=-30), EARLIEST),
        ("9999-12-15T00:00:00.000Z", timedelta(days=30), LATEST),
        (EARLIEST, timedelta(milliseconds=-1), EARLIEST),
        (LATEST, timedelta(milliseconds=1), LATEST),
    ],
)
def test_an_instant_moves_by_a_duration_and_stays_in_range(instant: str, by: timedelta, shifted: str) -> None:
    assert shift(Instant(instant), by) == shifted
