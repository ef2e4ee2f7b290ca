"""Reads from the store while nothing else does, so that its health is known."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from loaders.contracts.table_format import STORED_FORMAT

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from loaders.table.client import Store
    from loaders.table.health import StoreHealth

_PROBE_SECONDS = 2


@asynccontextmanager
async def probing(store: Store, health: StoreHealth) -> AsyncIterator[None]:
    """While the block runs, reads one small item: at the start, and whenever no read has succeeded for a while."""
    await _read(store)
    probe = asyncio.create_task(_probe(store, health))
    try:
        yield
    finally:
        probe.cancel()
        with suppress(asyncio.CancelledError):
            await probe


async def _probe(store: Store, health: StoreHealth) -> None:
    while True:
        await asyncio.sleep(_PROBE_SECONDS)
        if health.clock() - health.reads.succeeded_at >= _PROBE_SECONDS:
            await _read(store)
        health.check()


async def _read(store: Store) -> None:
    with suppress(Exception):  # the transport has told the health of it
        await STORED_FORMAT.read(store)
