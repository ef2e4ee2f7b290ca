"""The clock of a server process."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from domain.schedule import MAX_STORE_CLOCK_SKEW
from domain.times import Instant, shift

if TYPE_CHECKING:
    from collections.abc import Callable

_MAX_SKEW_MICROSECONDS = MAX_STORE_CLOCK_SKEW // timedelta(microseconds=1)


def utc_now() -> Instant:
    """The current time of this machine."""
    second, millisecond = divmod(time.time_ns() // 1_000_000, 1000)
    return Instant(f"{_second(second)}.{millisecond:03d}Z")


@lru_cache(1)
def _second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).isoformat()[:19]


class ServerClock:
    """Never goes back, so what a process writes later has no earlier time, even if the machine's clock is corrected.

    It stands still until the machine's clock has caught up. A correction by more than the tolerated skew is followed at
    once: before it, the server refused writes.
    """

    def __init__(self, machine: Callable[[], Instant] = utc_now) -> None:
        self._machine = machine
        self._latest = machine()
        self._latest_microsecond = 0

    def microseconds(self) -> int:
        """The current time of this machine in microseconds since 1970; it never goes back, as the time does."""
        now = time.time_ns() // 1000
        if now > self._latest_microsecond or now < self._latest_microsecond - _MAX_SKEW_MICROSECONDS:
            self._latest_microsecond = now
        return self._latest_microsecond

    def __call__(self) -> Instant:
        """The current time."""
        now = self._machine()
        if now > self._latest or (now != self._latest and now < shift(self._latest, -MAX_STORE_CLOCK_SKEW)):
            self._latest = now
        return self._latest
