"""The table that a command uses."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

import typer

from loaders.table.client import DynamoStore, StoreConnection, open_store
from loaders.table.clock import StoreClock
from loaders.table.health import StoreHealth, WatchedTransport
from loaders.table.transport import ATTEMPTS
from loaders.tools.definition import check_table, create_table
from loaders.tools.table_state import read_state, require_current
from server.cli.command import CommandError
from server.http.movable_clock import MovableClock
from server.process.store import connect
from server.settings import Settings

Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]
ReadRate = Annotated[float, typer.Option(min=1, help="The most items to read in a second.")]


@asynccontextmanager
async def open_table(
    settings: Settings, *, creates: bool = False, any_state: bool = False
) -> AsyncIterator[tuple[StoreConnection, DynamoStore, StoreClock | MovableClock]]:
    """Opens the table and checks its definition and, unless `any_state` will do, that it can be used.

    With `creates`, the embedded store creates a missing table. Yields the time of the table's rules too.
    """
    async with connect(settings) as connection:
        if creates and settings.is_embedded:
            await create_table(connection)
        await check_table(connection)
        async with open_timed(connection) as (store, clock):
            if not any_state:
                await require_current(store)
            yield connection, store, rules_clock(settings, clock)


def rules_clock(settings: Settings, store_clock: StoreClock) -> StoreClock | MovableClock:
    """The clock of a table's rules. One that a test server has set ahead is known by the data directory alone."""
    is_movable = settings.has_test_clock or (settings.is_embedded and not settings.is_production)
    return MovableClock(store_clock, settings.data_dir) if is_movable else store_clock


@asynccontextmanager
async def open_timed(connection: StoreConnection) -> AsyncIterator[tuple[DynamoStore, StoreClock]]:
    """Opens a table that exists, and learns the store's time; without it, writes are refused."""
    health = StoreHealth()
    async with open_store(connection) as opened:
        store = DynamoStore(WatchedTransport(opened.transport, health), opened.table)
        for _ in range(ATTEMPTS):
            if not health.clock.is_known:
                await read_state(store)
        yield store, health.clock


def confirm(question: str, *, yes: bool, refused: str = "nothing was done", err: bool = False) -> None:
    if not yes and not typer.confirm(question, err=err):
        raise CommandError(refused)
