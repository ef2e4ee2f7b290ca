"""Rate limits: one budget for each caller, kept by this process or shared through the table."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.rates import Budget, RateState

__all__ = ["ProcessRates", "Rates"]

_MOST_CALLERS = 10_000


class Rates(Protocol):
    """Where budgets are kept."""

    async def take(self, caller: str, units: float, taken: int = 0) -> RateState:
        """Spends units of a caller's budget, but for those that the same request has taken before.

        Where there is not enough, the state says when there will be, for the request as a whole.
        """


class ProcessRates:
    """Budgets in this process's memory, bounded: whoever has not asked for longest is forgotten first.

    Args:
        budget: what everybody has.
        now: microseconds since 1970.
    """

    def __init__(self, budget: Budget, now: Callable[[], int]) -> None:
        self._budget = budget
        self._now = now
        self._full_at: OrderedDict[str, int] = OrderedDict()

    async def take(self, caller: str, units: float, taken: int = 0) -> RateState:
        """See Rates."""
        now = self._now()
        whole = self._budget.price(units)
        price = whole - self._budget.price(taken)
        owed_until = max(self._full_at.pop(caller, 0), now)
        is_enough = owed_until + price <= now + self._budget.window
        self._full_at[caller] = owed_until + price if is_enough else owed_until
        if len(self._full_at) > _MOST_CALLERS:
            self._full_at.popitem(last=False)
        if is_enough:
            return self._budget.given(owed_until + price, now)
        return self._budget.refused(owed_until, now, whole)
