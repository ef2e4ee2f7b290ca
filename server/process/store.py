"""The connection to the table: embedded store, endpoint URL or AWS."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext

from loaders.table.client import StoreConnection
from loaders.table.clock import StoreClock
from loaders.table.embedded import DatabaseFile, find_binary, run_embedded, share_embedded
from loaders.table.health import StoreHealth
from server.settings import Settings


@asynccontextmanager
async def connect(settings: Settings, *, serves: bool = False) -> AsyncIterator[StoreConnection]:
    """Connects to the table while the block runs.

    The embedded store is run by the server, and commands use it there; without a server they run it themselves.
    """
    store: AbstractAsyncContextManager[str | None]
    if settings.is_embedded:
        binary, data = find_binary(settings.store_binary), settings.data_dir
        store = run_embedded(binary, data, shared=True) if serves else share_embedded(binary, data)
    else:
        store = nullcontext(None if settings.endpoint_url == "aws" else settings.endpoint_url)
    async with store as endpoint:
        local = is_local(settings)
        yield StoreConnection(settings.table_name, settings.region, endpoint, local=local, client=settings.store_client)


def watched_store(settings: Settings, machine: Callable[[], float]) -> StoreHealth:
    """The health of the store that is connected; of the embedded one also whether its file is still there."""
    clock = StoreClock(machine=machine)
    if settings.is_embedded:
        return StoreHealth(find_problem=DatabaseFile(settings.data_dir).problem, clock=clock)
    return StoreHealth(clock=clock)


def is_local(settings: Settings) -> bool:
    """Whether the store is local and takes no AWS credentials: these are not sent over HTTP unless set."""
    is_plain = str(settings.endpoint_url).startswith("http://")
    return settings.is_embedded or (is_plain and not {"AWS_ACCESS_KEY_ID", "AWS_PROFILE"} & os.environ.keys())
