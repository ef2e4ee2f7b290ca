"""Rate limits: the budget of each caller, kept in the memory of this process."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

from domain.budgets import Budget, BudgetState


class CallerBudgets(Protocol):
    async def take(self, caller: str, units: float, taken: float = 0, *, may_owe: bool = False) -> BudgetState:
        """Charges a request to its caller, beyond the units that it was charged before; returns the budget afterwards.

        If the budget is too low nothing is charged, and its state says when to retry. With `may_owe`, for work that has
        been done, it may go below zero.
        """


class ProcessBudgets:
    """Budgets in the memory of this process; of very many, the least recently used one is dropped first.

    `now` returns microseconds since 1970.
    """

    def __init__(self, budget: Budget, now: Callable[[], int], max_callers: int = 10_000) -> None:
        self._budget = budget
        self._now = now
        self._max_callers = max_callers
        self._full_at: OrderedDict[str, int] = OrderedDict()

    async def take(self, caller: str, units: float, taken: float = 0, *, may_owe: bool = False) -> BudgetState:
        self._full_at[caller], state = self._budget.charge(
            self._full_at.pop(caller, 0), self._now(), units, taken, may_owe=may_owe
        )
        if len(self._full_at) > self._max_callers:
            self._full_at.popitem(last=False)
        return state
