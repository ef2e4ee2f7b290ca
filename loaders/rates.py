"""Budgets in the table: one for all servers that share it."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Protocol

from domain.errors import UnavailableError
from loaders import keys
from loaders.contracts.rates import QC_50
from loaders.table.errors import ConditionFailedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.rates import Budget, RateState
    from loaders.table.updates import Update
    from loaders.table.values import Item

__all__ = ["TableRates"]

# The third is for a record that expired meanwhile.
_ROUNDS = 3
_SECOND = 1_000_000


class Updating(Protocol):
    """All that is asked of the store here."""

    async def update(self, operation: Update) -> Item:
        """The item as it is after the change, or raises ConditionFailedError."""


class TableRates:
    """Asks the table, which decides.

    Args:
        store: where the table is, once it is open.
        budget: what everybody has.
        now: microseconds since 1970, by a clock that agrees with the other servers'.
    """

    def __init__(self, store: Callable[[], Updating], budget: Budget, now: Callable[[], int]) -> None:
        self._store = store
        self._budget = budget
        self._now = now

    async def take(self, caller: str, units: float, taken: int = 0) -> RateState:
        """Spends units of a caller's budget, but for those that the same request has taken before.

        Where there is not enough, the state says when there will be, for the request as a whole.
        """
        whole = self._budget.price(units)
        price = whole - self._budget.price(taken)
        # A caller's name is somebody else's text of any length, and who they are is nobody's business here.
        key = keys.rate(sha256(caller.encode()).hexdigest())
        # One moment for all rounds: what is owed only grows, so whoever lost a race to it finds it spent the next time.
        now = self._now()
        latest = now + self._budget.window - price
        expires = {"expiresAt": (now + self._budget.window) // _SECOND + 1}
        for _ in range(_ROUNDS):
            try:
                item = await self._store().update(
                    QC_50.update("spent", key, expires, {"fullAt": price}, now=now, latest=latest)
                )
                return self._budget.given(_full_at(item), now)
            except ConditionFailedError as error:
                owed = _full_at(error.item)
            if owed > latest:
                return self._budget.refused(owed, now, whole)
            try:
                await self._store().update(QC_50.update("whole", key, {"fullAt": now + price, **expires}, now=now))
                return self._budget.given(now + price, now)
            except ConditionFailedError:
                continue  # another request came first, so it is not whole any more
        raise UnavailableError("The budget cannot be read: try again in a moment.")


def _full_at(item: Item | None) -> int:
    return int(str(item["fullAt"])) if item else 0
