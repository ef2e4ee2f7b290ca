"""The table that a command uses."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

import typer

from loaders.table.client import DynamoStore, StoreConnection, open_store
from loaders.tools.definition import check_table, create_table
from loaders.tools.table_state import require_current
from server.cli.command import CommandError
from server.process.store import connect
from server.settings import Settings

Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]
ReadRate = Annotated[float, typer.Option(min=1, help="The most items to read in a second.")]


@asynccontextmanager
async def open_table(
    settings: Settings, *, creates: bool = False, any_state: bool = False
) -> AsyncIterator[tuple[StoreConnection, DynamoStore]]:
    """Opens the table and checks its definition and, unless `any_state` will do, that it can be used.

    With `creates`, the embedded store creates a missing table.
    """
    async with connect(settings) as connection:
        if creates and settings.is_embedded:
            await create_table(connection)
        await check_table(connection)
        async with open_store(connection) as store:
            if not any_state:
                await require_current(store)
            yield connection, store


def confirm(question: str, *, yes: bool, refused: str = "nothing was done", err: bool = False) -> None:
    if not yes and not typer.confirm(question, err=err):
        raise CommandError(refused)
