"""A budget that refills by itself: what may be spent now, what is left, and when there is more."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Budget", "RateState"]

_MINUTE = 60_000_000
_SECOND = 1_000_000


class RateState(NamedTuple):
    """How a budget stands after somebody has asked for some of it."""

    limit: int
    """The most units that can be saved up."""
    remaining: int
    """The units that are left."""
    reset_seconds: int
    """After how long it is whole again."""
    retry_seconds: int
    """After how long there is enough for what was asked; 0 where it was given."""


@dataclass(frozen=True, slots=True)
class Budget:
    """So many units a minute, of which so many can be saved up.

    All that has to be remembered of somebody is `full_at`, the moment at which the budget is whole again. Moments are
    microseconds since 1970.
    """

    per_minute: int
    burst: int

    @property
    def window(self) -> int:
        """How long an empty budget takes to be whole."""
        return self.burst * self._unit

    def price(self, units: float) -> int:
        """How long these units take to come back. What costs more than all that can be saved up takes all of it."""
        return min(math.ceil(units * self._unit), self.window)

    def given(self, full_at: int, now: int) -> RateState:
        """The state after what was asked for was given."""
        return self._state(full_at, now, 0)

    def refused(self, full_at: int, now: int, price: int) -> RateState:
        """The state where there is not enough: nothing was taken."""
        return self._state(full_at, now, full_at + price - self.window - now)

    @property
    def _unit(self) -> int:
        """How long one unit takes to come back."""
        return math.ceil(_MINUTE / self.per_minute)

    def _state(self, full_at: int, now: int, wait: int) -> RateState:
        owed = max(full_at - now, 0)
        return RateState(
            self.burst,
            max((self.window - owed) // self._unit, 0),
            math.ceil(owed / _SECOND),
            math.ceil(wait / _SECOND),
        )
