"""The budgets that admins have set for callers, as a server knows them: no request reads them."""

import logging

from domain.budgets import Budget
from loaders.contracts.base import Order
from loaders.contracts.budgets import CALLER_BUDGETS
from loaders.pages import PageRequest
from loaders.table.client import Store

logger = logging.getLogger(__name__)


class KnownBudgets:
    """The budgets as they were last read, by caller. Those that are known stay while they cannot be read."""

    def __init__(self) -> None:
        self.by_caller: dict[str, Budget] = {}
        self._has_failed = False

    async def read(self, store: Store) -> None:
        try:
            found = await _read(store)
        except Exception:
            if not self._has_failed:
                logger.warning("the budgets of callers cannot be read: those that are known stay", exc_info=True)
            self._has_failed = True
        else:
            self.by_caller.clear()
            self.by_caller.update(found)
            self._has_failed = False


async def _read(store: Store) -> dict[str, Budget]:
    found: dict[str, Budget] = {}
    cursor: str | None = None
    while True:
        request = PageRequest(CALLER_BUDGETS.page_rule.maximum, cursor=cursor)
        page = await CALLER_BUDGETS.page(store, request, Order.ASC)
        found |= {one.caller: Budget(one.units_per_minute, one.burst) for one in page.nodes}
        cursor = page.next_cursor
        if cursor is None:
            return found
