"""The command that migrates a table to the current format."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from loaders.table.client import open_store
from loaders.table.definition import check_table, describe_table
from loaders.table.migration import migrate, migration_cost
from server.cli.command import CommandError, load_settings
from server.process.store import connect

if TYPE_CHECKING:
    from loaders.table.migration import Migrated
    from server.settings import Settings

__all__ = ["table_migrate"]


def table_migrate(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    rate: Annotated[float, typer.Option(min=1, help="The most items to read in a second.")] = 1000,
) -> None:
    """Add to an existing table what older versions did not write; can be interrupted and run again."""

    async def work(settings: Settings) -> None:
        async with connect(settings) as connection:
            await check_table(connection)
            description = await describe_table(connection) or {}
            typer.echo(f"Migrating table {settings.table_name} {migration_cost(description)}.")
            if not yes and not typer.confirm("Migrate the table?"):
                raise CommandError("the table was not migrated")
            async with open_store(connection) as store:
                migrated = await migrate(store, items_per_second=rate, progress=_show)
            typer.echo(f"table {settings.table_name} is migrated: {migrated.changed} items changed")

    asyncio.run(work(load_settings()))


def _show(migrated: Migrated) -> None:
    typer.echo(f"{migrated.read} items read, {migrated.changed} changed", err=True)
