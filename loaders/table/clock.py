"""The time of a server: that of the store, which all servers of a table share."""

import logging
import math
import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache, partial
from typing import NamedTuple

from domain.errors import UnavailableError
from domain.schedule import CLOCK_SKEW
from domain.times import Instant

logger = logging.getLogger(__name__)

_WIDEST = 3.0
"""How wide the interval of the offset may be, in seconds: the time is then right within two seconds."""
_MARGIN = 0.25
"""How far the clocks of a store's machines may be apart, in seconds: each has a `Date` of its own."""
_DOUBTED = 1.0
"""How far an answer must be from all before it to be doubted, in seconds: some servers renew `Date` once a second."""
_DRIFT = 0.001
"""By how much of the passed time the machine's timer and the store's clock may have diverged."""
_LONGEST_PAUSE = CLOCK_SKEW.total_seconds() / 2
"""How far the time must go back to do so: otherwise it stands still for as long."""
_FRACTIONS = [f".{millisecond:03d}Z" for millisecond in range(1000)]

machine_timer: Callable[[], float] = partial(time.clock_gettime, getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
"""Seconds since some moment. Nobody can set it, and it runs while the machine sleeps."""


class Stamp(NamedTuple):
    """A time of the store, and when it was taken by the machine's timer."""

    at: Instant
    taken_at: float
    timer: Callable[[], float] = machine_timer

    @property
    def age(self) -> float:
        """How many seconds ago it was taken."""
        return self.timer() - self.taken_at


class StoreClock:
    """Tells the store's time, within two seconds, and never goes back.

    An answer whose `Date` is the second D came at `received` for a request of the time `sent` by the machine's timer.
    So the store's time is ahead of the timer by D - `received` or more, and by less than D + 1 - `sent`. The offset
    lies in the intersection of these intervals. A slow answer has a wide interval, which tells little; old ones count
    less, since the intersection is widened as time passes. Of its middle half, the time is the one that is nearest to
    the machine's clock: machines that are right agree to the millisecond. If the store does not tell its time, the
    machine's clock is taken for the store's.

    If an answer is far from all before it, either its sender is wrong or a clock was set: the next answer decides.
    """

    def __init__(self, timer: Callable[[], float] = machine_timer, machine: Callable[[], float] = time.time) -> None:
        self.timer = timer
        self._machine = machine
        self._low, self._high = -math.inf, math.inf
        self._doubted: tuple[float, float] | None = None
        self._offset = machine() - timer()
        self._latest = 0.0
        self._date: str | None = None
        self._second: float | None = None
        self._widened_at = timer()
        self._was_off = False
        self._tells_time = False
        self.is_known = False
        """Whether the time is right within two seconds."""

    def __call__(self) -> Instant:
        """The current time."""
        return _instant(self.microseconds())

    def stamp(self) -> Stamp:
        return Stamp(self(), self.timer(), self.timer)

    def microseconds(self) -> int:
        """The current time in microseconds since 1970."""
        now = self.timer() + self._offset
        if now > self._latest or now < self._latest - _LONGEST_PAUSE:
            self._latest = now
        return int(self._latest * 1_000_000)

    @property
    def skew_seconds(self) -> float | None:
        """How far the machine's clock is ahead of the store's; negative if behind, None if the store tells no time."""
        if not self._tells_time:
            return None
        ahead = self._machine() - self.timer()
        return ahead - min(max(ahead, self._low), self._high)

    def compare(self, sent: float, date: str | None) -> None:
        """Compares the timer with the Date header of an answer that has just come; its request was sent at `sent`."""
        received = self.timer()
        if date != self._date:
            self._date, self._second = date, _seconds_of(date)
        if self._second is not None:
            self._tells_time = True
            low, high = self._second - received - _MARGIN, self._second + 1 - sent + _MARGIN
        elif not self._tells_time:
            machine = self._machine() - received
            low, high = machine - _MARGIN, machine + _MARGIN
        else:
            return  # from a proxy
        is_due = received - self._widened_at >= 1
        if is_due:
            drift = _DRIFT * (received - self._widened_at)
            self._low, self._high, self._widened_at = self._low - drift, self._high + drift, received
        if is_due or low > self._low or high < self._high or self._doubted is not None:
            self._narrow(low, high)

    def require_known(self) -> None:
        """Refuses a write whose times could be wrong."""
        if not self.is_known:
            raise UnavailableError("Writes are refused until the server knows the store's time. Try again shortly.")

    def check(self) -> None:
        """Logs once that the machine's clock is wrong, and that it is right again."""
        seconds = self.skew_seconds or 0.0
        is_off = abs(seconds) > _LONGEST_PAUSE
        if is_off and not self._was_off:
            direction = "ahead of" if seconds > 0 else "behind"
            logger.warning(
                "this machine's clock is %.0f seconds %s the store's: the server uses the store's time",
                abs(seconds),
                direction,
            )
        elif self._was_off and not is_off:
            logger.warning("this machine's clock agrees with the store's again")
        self._was_off = is_off

    def _narrow(self, low: float, high: float) -> None:
        distance = max(low - self._high, self._low - high)
        if distance > _DOUBTED:
            if self._doubted is None or low > self._doubted[1] or high < self._doubted[0]:
                self._doubted, self.is_known = (low, high), False
                return
            self._low, self._high = self._doubted
            logger.warning("the store's clock was set, or this machine stood still: the time is measured anew")
        elif distance > 0:
            self._low, self._high = low, high
        elif math.isinf(self._low):
            self._latest = 0.0  # nothing was written before
        self._low, self._high, self._doubted = max(low, self._low), min(high, self._high), None
        quarter = (self._high - self._low) / 4
        ahead = self._machine() - self.timer()
        self._offset = min(max(ahead, self._low + quarter), self._high - quarter)
        self.is_known = 4 * quarter <= _WIDEST


def utc_now() -> Instant:
    """The current time by the machine's clock."""
    return _instant(time.time_ns() // 1000)


def _instant(microseconds: int) -> Instant:
    second, millisecond = divmod(microseconds // 1000, 1000)
    return Instant(_second(second) + _FRACTIONS[millisecond])


@lru_cache(1)
def _second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).isoformat()[:19]


def _seconds_of(date: str | None) -> float | None:
    try:
        found = parsedate_to_datetime(date or "")
    except ValueError:
        return None
    return found.replace(tzinfo=found.tzinfo or UTC).timestamp()
