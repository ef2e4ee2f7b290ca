"""Reads the table's state beside the requests: whether the table can be used, and whether the store works.

The budgets of callers are read with it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from loaders.reads.caller_budgets import KnownBudgets
from loaders.reads.table_state import TableWatch
from loaders.table.client import Store
from loaders.table.health import StoreHealth

_IDLE_SECONDS = 2
"""After how long without a read that has succeeded one is sent to see whether the store works."""
_CHECK_SECONDS = 1


@asynccontextmanager
async def watching(
    store: Store, health: StoreHealth, table: TableWatch, budgets: KnownBudgets | None = None
) -> AsyncIterator[None]:
    """While the block runs, reads the table's state: at the start, when it is due, and when nothing else is read.

    The budgets are read whenever it is.
    """
    await _read(store, table, budgets)
    if not (health.clock.is_known or table.is_due):
        await _read(store, table)  # the first one was too slow to tell the time, as it opened the connection
    watch = asyncio.create_task(_watch(store, health, table, budgets))
    try:
        yield
    finally:
        watch.cancel()
        with suppress(asyncio.CancelledError):
            await watch


async def _watch(store: Store, health: StoreHealth, table: TableWatch, budgets: KnownBudgets | None) -> None:
    while True:
        await asyncio.sleep(_CHECK_SECONDS)
        is_idle = health.timer() - health.reads.succeeded_at >= _IDLE_SECONDS
        if is_idle or table.is_due or not health.clock.is_known:
            await _read(store, table, budgets)
        health.check()


async def _read(store: Store, table: TableWatch, budgets: KnownBudgets | None = None) -> None:
    with suppress(Exception):  # the transport has told the health of it; what is known of the table expires
        await table.read(store)
        if budgets is not None:
            await budgets.read(store)
    table.log()
