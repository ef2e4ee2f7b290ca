"""Instants in their one canonical form: UTC, exactly three decimals, `Z`.

The form has a fixed width, so comparing two instants as text compares them as times, in a sort key as in Python.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import NewType
from zoneinfo import ZoneInfo

__all__ = [
    "EARLIEST",
    "LATEST",
    "Day",
    "Instant",
    "as_datetime",
    "count_days",
    "day_in",
    "days_between",
    "instant_of",
    "parse_day",
    "parse_instant",
    "shift",
]

Instant = NewType("Instant", str)
Day = NewType("Day", str)
"""A date of a calendar, as YYYY-MM-DD; in which time zone it begins is its place's matter."""

EARLIEST = Instant("0001-01-01T00:00:00.000Z")
LATEST = Instant("9999-12-31T23:59:59.999Z")

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_RFC_3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?P<zone>[Zz]|[+-][0-9]{2}:[0-9]{2})?"
)


def instant_of(moment: datetime) -> Instant:
    """The canonical form of an aware datetime; what is finer than a millisecond is cut off."""
    if moment.tzinfo is None:
        raise ValueError("a time needs a zone, such as Z or +02:00")
    return Instant(moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"))


def parse_instant(text: str) -> Instant:
    """Reads an RFC 3339 time.

    Raises:
        ValueError: with a message for the client.
    """
    match = _RFC_3339.fullmatch(text)
    if match is None:
        raise ValueError("is not an RFC 3339 time such as 2026-03-01T09:30:00Z")
    if match["zone"] is None:
        raise ValueError("has no time zone: add Z or an offset such as +02:00")
    # Python 3.11 reads 24:00 nowhere and 3.13 reads it as the next day; here it is refused everywhere.
    if text[11:13] == "24":
        raise ValueError("has no such hour: a day ends at 23:59:59.999")
    try:
        return instant_of(datetime.fromisoformat(text.upper()))
    except (ValueError, OverflowError) as error:
        raise ValueError(f"is not a time that exists ({error})") from error


def as_datetime(instant: Instant) -> datetime:
    """The instant as an aware datetime."""
    return datetime.fromisoformat(instant)


def shift(instant: Instant, by: timedelta) -> Instant:
    """The instant moved by a duration, held inside the range that an instant can name."""
    try:
        return instant_of(as_datetime(instant) + by)
    except OverflowError:
        return EARLIEST if by < timedelta(0) else LATEST


def parse_day(text: str) -> Day:
    """Reads an RFC 3339 full-date.

    Raises:
        ValueError: with a message for the client.
    """
    if _DAY.fullmatch(text) is None:
        raise ValueError("is not a date such as 2026-03-01")
    try:
        return Day(date.fromisoformat(text).isoformat())
    except ValueError as error:
        raise ValueError(f"is not a date that exists ({error})") from error


def day_in(time_zone: str, now: Instant) -> Day:
    """Which day it is, now, at a place of that time zone."""
    return Day(as_datetime(now).astimezone(ZoneInfo(time_zone)).date().isoformat())


def count_days(first: Day, last: Day) -> int:
    """How many days lie from the first to the last, both included."""
    return (date.fromisoformat(last) - date.fromisoformat(first)).days + 1


def days_between(first: Day, last: Day) -> list[Day]:
    """Every day from the first to the last, both included."""
    start = date.fromisoformat(first)
    return [Day((start + timedelta(days=number)).isoformat()) for number in range(count_days(first, last))]
