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

_ATTEMPTS = 8
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

    async def take(self, subject: str, units: float) -> RateState:
        """Spends units of a caller's budget, or says when there will be enough."""
        price = self._budget.price(units)
        # A subject is somebody else's text of any length, and who they are is nobody's business here.
        key = keys.rate(sha256(subject.encode()).hexdigest())
        for _ in range(_ATTEMPTS):
            now = self._now()
            latest = now + self._budget.window - price
            expires = {"expiresAt": (now + self._budget.window) // _SECOND + 1}
            try:
                item = await self._store().update(
                    QC_50.update("spent", key, expires, {"fullAt": price}, now=now, latest=latest)
                )
                return self._budget.given(_full_at(item), now)
            except ConditionFailedError as error:
                owed = _full_at(error.item)
            if owed > latest:
                return self._budget.refused(owed, now, price)
            try:
                await self._store().update(QC_50.update("whole", key, {"fullAt": now + price, **expires}, now=now))
                return self._budget.given(now + price, now)
            except ConditionFailedError:
                continue  # another server came first, so it is not whole any more
        raise UnavailableError("Too many requests of one caller met: try again in a moment.")


def _full_at(item: Item | None) -> int:
    return int(str(item["fullAt"])) if item else 0
