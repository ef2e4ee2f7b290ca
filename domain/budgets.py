"""Token-bucket budgets: how much a caller may spend, how much remains, and when to retry."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

_MINUTE = 60_000_000
_SECOND = 1_000_000


class BudgetState(NamedTuple):
    limit: int
    """Capacity in units."""
    remaining: int
    reset_seconds: int
    """Seconds until the budget is full."""
    retry_seconds: int
    """Seconds until there are enough units for the request; 0 if it was accepted."""


@dataclass(frozen=True, slots=True)
class Budget:
    """A budget of `burst` units that refills at `per_minute` units a minute.

    The only state to store per caller is `full_at`, the time at which the budget is full again. Times are microseconds
    since 1970, durations microseconds.
    """

    per_minute: int
    burst: int
    window: int = field(init=False)
    """Time in which an empty budget becomes full."""
    _unit: int = field(init=False)
    """Time in which one unit refills."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_unit", math.ceil(_MINUTE / self.per_minute))
        object.__setattr__(self, "window", self.burst * self._unit)

    def refill_time(self, units: float) -> int:
        """Time in which these units refill, at most the whole window: a larger request empties the budget."""
        return min(math.ceil(units * self._unit), self.window)

    def charge(
        self, full_at: int, now: int, units: float, taken: float, *, may_owe: bool = False
    ) -> tuple[int, BudgetState]:
        """When the budget is full after a request, and its state; `taken` is what the request was charged before.

        If the budget is too low, nothing is charged, unless it `may_owe` what has been used already.
        """
        whole = self.refill_time(units)
        price = whole - self.refill_time(taken) if taken else whole
        full_at = max(full_at, now)
        if may_owe or full_at + price <= now + self.window:
            return full_at + price, self.accepted(full_at + price, now)
        return full_at, self.rejected(full_at, now, whole)

    def accepted(self, full_at: int, now: int) -> BudgetState:
        """State after a request that was accepted; `full_at` includes its units."""
        return self._state(full_at, now, 0)

    def rejected(self, full_at: int, now: int, refill_time: int) -> BudgetState:
        """State after a request that was rejected and spent nothing; `refill_time` is that of its units."""
        return self._state(full_at, now, full_at + refill_time - self.window - now)

    def _state(self, full_at: int, now: int, wait: int) -> BudgetState:
        missing = max(full_at - now, 0)
        return BudgetState(
            self.burst,
            max((self.window - missing) // self._unit, 0),
            math.ceil(missing / _SECOND),
            math.ceil(wait / _SECOND),
        )
