"""For how long what is stored is kept."""

from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple, Protocol, TypeVar

from domain.times import EARLIEST, Instant, shift, to_seconds

_SECOND = len("2026-03-01T12:00:00")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """None keeps something permanently."""

    log: timedelta = timedelta(days=30)
    history: timedelta = timedelta(days=400)
    events: timedelta | None = None
    """From the time of an access event."""
    details: timedelta | None = None
    """From the start of a reservation."""


class Kept(NamedTuple):
    """How long items are kept: by which retention, from the time in which attribute, and whether that is a stamp."""

    retention: str
    time: str
    is_logged: bool = False


KEPT_LOG = Kept("log", "stamp", is_logged=True)
KEPT_HISTORY = Kept("history", "occurred_at", is_logged=True)
KEPT_EVENTS = Kept("events", "timestamp")
KEPT_DETAILS = Kept("details", "start_at")


class Expiring(Protocol):
    @property
    def expires_at(self) -> int | None:
        """Seconds since 1970."""


E = TypeVar("E", bound=Expiring)


def unexpired(record: E | None, now: Instant) -> E | None:
    """The record, unless it has expired: not every store deletes it then."""
    if record is None or record.expires_at is None or record.expires_at > to_seconds(now):
        return record
    return None


def expiry(time: Instant, kept: timedelta | None) -> int | None:
    """When the store may delete what is kept so long from a time on, in seconds since 1970."""
    return None if kept is None else to_seconds(shift(time, kept))


def first_kept(now: Instant, kept: timedelta | None) -> Instant:
    """The earliest time of which something has not expired now; an expiry is a whole second."""
    second = timedelta(seconds=1)
    return EARLIEST if kept is None else shift(Instant(f"{now[:_SECOND]}.000Z"), second - kept)
