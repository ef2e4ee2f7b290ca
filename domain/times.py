"""Instants in a canonical text form (UTC, milliseconds, `Z`) and calendar days.

The form has a fixed width, so that instants sort as text, in Python and in sort keys of the table.
"""

import re
from datetime import UTC, date, datetime, timedelta
from typing import NewType
from zoneinfo import ZoneInfo

Instant = NewType("Instant", str)
Day = NewType("Day", str)
"""A calendar date, YYYY-MM-DD, in the time zone of its location."""

EARLIEST = Instant("0001-01-01T00:00:00.000Z")
LATEST = Instant("9999-12-31T23:59:59.999Z")
FIRST_DAY = Day("0001-01-01")
LAST_DAY = Day("9999-12-31")

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_RFC_3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?"
    r"(?P<zone>[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?"
)


def is_instant(value: object) -> bool:
    """Whether a value has the canonical form; that it is a time at all is not checked."""
    return isinstance(value, str) and value[23:] == "Z"


def to_instant(value: datetime) -> Instant:
    """Converts an aware datetime, truncated to milliseconds."""
    if value.tzinfo is None:
        raise ValueError("the datetime has no time zone")
    return Instant(value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"))


def parse_instant(text: str) -> Instant:
    """Parses an RFC 3339 time, or raises ValueError with a message for the client."""
    match = _RFC_3339.fullmatch(text)
    if match is None:
        raise ValueError("is not an RFC 3339 time such as 2026-03-01T09:30:00Z")
    if match["zone"] is None:
        raise ValueError("has no time zone: add Z or an offset such as +02:00")
    # Python 3.13 reads 24:00 as the next day, 3.11 rejects it; here it is rejected on every version.
    if text[11:13] == "24":
        raise ValueError("has an invalid hour: a day ends at 23:59:59.999")
    try:
        return to_instant(datetime.fromisoformat(text.upper()))
    except (ValueError, OverflowError) as error:
        raise ValueError(f"is not a valid time ({error})") from error


def to_datetime(instant: Instant) -> datetime:
    return datetime.fromisoformat(instant)


def to_seconds(instant: Instant) -> int:
    """Whole seconds since 1970, as the store's time to live has them."""
    return int(to_datetime(instant).timestamp())


def shift(instant: Instant, by: timedelta) -> Instant:
    """Adds a duration to an instant; the result is limited to EARLIEST and LATEST."""
    try:
        return to_instant(to_datetime(instant) + by)
    except OverflowError:
        return EARLIEST if by < timedelta(0) else LATEST


def parse_day(text: str) -> Day:
    """Parses an RFC 3339 full-date, or raises ValueError with a message for the client."""
    if _DAY.fullmatch(text) is None:
        raise ValueError("is not a date such as 2026-03-01")
    try:
        return Day(date.fromisoformat(text).isoformat())
    except ValueError as error:
        raise ValueError(f"is not a valid date ({error})") from error


def local_day(time_zone: str, now: Instant) -> Day:
    return Day(to_datetime(now).astimezone(ZoneInfo(time_zone)).date().isoformat())


def instant_of(day: Day, hour: int, time_zone: str) -> Instant:
    """The instant of an hour of a day in a time zone; hour 24 is the next midnight. The result is limited to LATEST."""
    try:
        local = datetime.fromisoformat(day) + timedelta(hours=hour)
        return to_instant(local.replace(tzinfo=ZoneInfo(time_zone)))
    except OverflowError:
        return LATEST


def count_days(first: Day, last: Day) -> int:
    """Number of days from `first` to `last`, both included."""
    return (date.fromisoformat(last) - date.fromisoformat(first)).days + 1


def days_between(first: Day, last: Day) -> list[Day]:
    """Days from `first` to `last`, both included."""
    start = date.fromisoformat(first)
    return [Day((start + timedelta(days=number)).isoformat()) for number in range(count_days(first, last))]
