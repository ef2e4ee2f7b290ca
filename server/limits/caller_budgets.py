"""Rate limits: the budget of each caller, kept in the memory of this process."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Protocol

from domain.budgets import NO_OTHERS, Budget, BudgetState, account_of


class CallerBudgets(Protocol):
    async def take(self, caller: str, units: float, taken: float = 0, *, may_owe: bool = False) -> BudgetState:
        """Charges a request to its caller, beyond the units that it was charged before; returns the budget afterwards.

        If the budget is too low nothing is charged, and its state says when to retry. With `may_owe`, for work that has
        been done, it may go below zero.
        """


class ProcessBudgets:
    """Budgets in the memory of this process; of very many, the least recently used one is dropped first.

    `now` returns microseconds since 1970; `others` has the callers whose budget is not the usual one.
    """

    def __init__(
        self,
        usual: Budget,
        now: Callable[[], int],
        others: Mapping[str, Budget] = NO_OTHERS,
        max_callers: int = 10_000,
    ) -> None:
        self._usual = usual
        self._now = now
        self._others = others
        self._max_callers = max_callers
        self._full_at: OrderedDict[str, int] = OrderedDict()

    async def take(self, caller: str, units: float, taken: float = 0, *, may_owe: bool = False) -> BudgetState:
        account, budget = account_of(caller, self._usual, self._others)
        self._full_at[account], state = budget.charge(
            self._full_at.pop(account, 0), self._now(), units, taken, may_owe=may_owe
        )
        if len(self._full_at) > self._max_callers:
            self._full_at.popitem(last=False)
        return state
