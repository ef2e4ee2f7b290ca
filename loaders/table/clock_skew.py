"""The difference between this server's clock and the store's, which all servers of a table share."""

from __future__ import annotations

import logging
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from domain.errors import UnavailableError
from domain.schedule import MAX_STORE_CLOCK_SKEW
from domain.times import Instant, to_datetime

if TYPE_CHECKING:
    from collections.abc import Callable


logger = logging.getLogger(__name__)

_CHECK_SECONDS = 10
_SECOND = 1.0
_LARGEST = MAX_STORE_CLOCK_SKEW.total_seconds()


class ClockSkew:
    """How far this server's clock is ahead of the store's; logs once when that becomes too far, and when it is not."""

    def __init__(self, timer: Callable[[], float]) -> None:
        self._timer = timer
        self._due_at = timer()
        self.seconds: float | None = None
        """Negative if this server's clock is behind; None if the store does not tell its time."""

    @property
    def is_due(self) -> bool:
        """Whether the next answer of the store is to be compared."""
        return self._timer() >= self._due_at

    @property
    def is_tolerated(self) -> bool:
        """False if another server may be further away than the rules of reservations allow for."""
        return self.seconds is None or abs(self.seconds) <= _LARGEST

    def compare(self, date: str | None, now: Instant) -> None:
        """Compares the Date header of an answer with this server's time at which it came."""
        self._due_at = self._timer() + _CHECK_SECONDS
        try:
            store_time = parsedate_to_datetime(date or "")
        except ValueError:
            return  # a proxy or a store without a clock: nothing is known
        was_tolerated = self.is_tolerated
        ahead = (to_datetime(now) - store_time.replace(tzinfo=store_time.tzinfo or UTC)).total_seconds()
        # The header has whole seconds: the store's time is up to a second later.
        self.seconds = min(0.0, ahead) if ahead < _SECOND else ahead - _SECOND
        if was_tolerated and not self.is_tolerated:
            logger.error("%s: the server is not ready and refuses writes until its clock is right", self._described())
        elif self.is_tolerated and not was_tolerated:
            logger.warning("the clock agrees with the store's again: the server is ready and accepts writes")

    def require_tolerated(self) -> None:
        """Refuses a write whose times would be wrong."""
        if not self.is_tolerated:
            raise UnavailableError(
                f"Writes are refused because {self._described()}. Try again later, or at another server."
            )

    def _described(self) -> str:
        seconds = self.seconds or 0
        direction = "ahead of" if seconds > 0 else "behind"
        return f"this server's clock is {abs(seconds):.0f} seconds {direction} the store's"
