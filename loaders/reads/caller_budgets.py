"""The budgets that admins have set for callers, as a server knows them: read beside the requests."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from domain.budgets import Budget
from loaders.contracts.base import Order
from loaders.contracts.budgets import CALLER_BUDGETS
from loaders.pages import PageRequest
from loaders.table.client import Store

_READ_SECONDS = 5


@asynccontextmanager
async def known_budgets(store: Store, budgets: dict[str, Budget]) -> AsyncIterator[None]:
    """While the block runs, keeps the budgets by caller as they are in the table. A start does not wait for them."""
    task = asyncio.create_task(_watch(store, budgets))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _watch(store: Store, budgets: dict[str, Budget]) -> None:
    while True:
        await asyncio.sleep(_READ_SECONDS)
        await _read(store, budgets)


async def _read(store: Store, budgets: dict[str, Budget]) -> None:
    found: dict[str, Budget] = {}
    cursor: str | None = None
    with suppress(Exception):  # those that are known stay, and the store's health is told by others
        while True:
            page = await CALLER_BUDGETS.page(
                store, PageRequest(CALLER_BUDGETS.page_rule.maximum, cursor=cursor), Order.ASC
            )
            found |= {one.caller: Budget(one.units_per_minute, one.burst) for one in page.nodes}
            cursor = page.next_cursor
            if cursor is None:
                budgets.clear()
                budgets.update(found)
                return
