"""Budgets in the table, shared by all servers."""

from collections.abc import Callable
from hashlib import sha256

from domain.budgets import Budget, BudgetState
from domain.errors import UnavailableError
from loaders.contracts.budgets import SPEND_BUDGET
from loaders.table.client import DynamoStore
from loaders.table.errors import ConditionFailedError
from loaders.table.recording import RecordedStore
from loaders.table.values import Item

# The budget of a caller with many requests at once may be whole again and spent again between two steps of a charge.
_ROUNDS = 10
_SECOND = 1_000_000
# Of whole budgets: a record must not expire while something is owed.
_MOST_OWED = 1000


class TableBudgets:
    """Charges budgets with conditional updates of the table.

    `store` returns the store once it is open, `now` microseconds since 1970 by a clock that agrees with other servers'.
    """

    def __init__(
        self, store: Callable[[], DynamoStore | RecordedStore], budget: Budget, now: Callable[[], int]
    ) -> None:
        self._store = store
        self._budget = budget
        self._now = now

    async def take(self, caller: str, units: float, taken: float = 0, *, may_owe: bool = False) -> BudgetState:
        """Charges a caller's budget with units, less those that the same request was charged before.

        Where the budget does not suffice, the state says when it will, for the request as a whole. With `may_owe` it
        is charged nevertheless.
        """
        whole = self._budget.refill_time(units)
        price = whole - self._budget.refill_time(taken)
        # A caller's name may have any length, and it is not stored in clear.
        place = (sha256(caller.encode()).hexdigest(),)
        # One time for all rounds: only what others give back can make the budget whole again by then.
        now = self._now()
        span = self._budget.window * (_MOST_OWED if may_owe else 1)
        latest = now + span - price
        expires = {"expiresAt": (now + span) // _SECOND + 1}
        for _ in range(_ROUNDS):
            try:
                owing = SPEND_BUDGET.step("spent", place, expires, added={"fullAt": price}, now=now, latest=latest)
                item = await self._store().update(SPEND_BUDGET.update(owing))
                return self._budget.accepted(_full_at(item), now)
            except ConditionFailedError as error:
                owed = _full_at(error.item)
            if owed > latest:
                return self._budget.rejected(owed, now, whole)
            if price <= 0:
                return self._budget.accepted(owed, now)  # it is whole by now: there is nothing to give back
            try:
                whole_again = SPEND_BUDGET.step("whole", place, {"fullAt": now + price, **expires}, now=now)
                await self._store().update(SPEND_BUDGET.update(whole_again))
                return self._budget.accepted(now + price, now)
            except ConditionFailedError:
                continue  # a concurrent request was charged first
        raise UnavailableError("The rate limit cannot be checked. Try again.")


def _full_at(item: Item | None) -> int:
    return int(str(item["fullAt"])) if item else 0
