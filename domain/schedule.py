"""Reservation windows: half-open, never overlapping, expired by the clock alone."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from domain.errors import BadInputError
from domain.models import ReservationStatus
from domain.times import as_datetime, shift

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.models import Reservation
    from domain.times import Instant

__all__ = [
    "EVENT_LEAD",
    "check_ahead",
    "check_event_time",
    "check_order",
    "effective_status",
    "has_ended",
    "is_current",
    "overlaps",
]

EVENT_LEAD = timedelta(minutes=5)


def check_order(start: Instant, end: Instant, end_field: str) -> None:
    """Refuses a window that is empty or backwards."""
    if end <= start:
        raise BadInputError(f"{end_field} must lie after the start", ("input", end_field))


def check_ahead(start: Instant, end: Instant, now: Instant, longest: timedelta, end_field: str) -> None:
    """Refuses a window that is over already, or longer than the longest."""
    path = ("input", end_field)
    if end <= now:
        raise BadInputError(f"{end_field} must lie in the future", path)
    if as_datetime(end) - as_datetime(start) > longest:
        raise BadInputError(f"a reservation may last {_spoken(longest)} at most", path)


def check_event_time(timestamp: Instant, now: Instant, path: Sequence[str]) -> None:
    """Refuses an event from further ahead than clocks drift."""
    if timestamp > shift(now, EVENT_LEAD):
        raise BadInputError(f"timestamp lies more than {_spoken(EVENT_LEAD)} ahead", path)


def has_ended(reservation: Reservation, now: Instant) -> bool:
    """Whether the window is over; its end is not part of it."""
    return reservation.end_at <= now


def is_current(reservation: Reservation, now: Instant) -> bool:
    """Whether now lies inside the window."""
    return reservation.start_at <= now < reservation.end_at


def effective_status(reservation: Reservation, now: Instant) -> ReservationStatus:
    """The status as of now: nothing has to run for a reservation to expire."""
    if reservation.status is ReservationStatus.ACTIVE and has_ended(reservation, now):
        return ReservationStatus.EXPIRED
    return reservation.status


def overlaps(reservation: Reservation, start: Instant, end: Instant) -> bool:
    """Whether a live reservation shares a moment with the window."""
    is_live = reservation.status is ReservationStatus.ACTIVE
    return is_live and reservation.start_at < end and start < reservation.end_at


def _spoken(duration: timedelta) -> str:
    unit, length = ("day", timedelta(days=1)) if duration >= timedelta(days=1) else ("minute", timedelta(minutes=1))
    count = duration / length
    return f"{count:g} {unit}{'' if count == 1 else 's'}"
