"""The commands `smartlocker table …` and `smartlocker migrate`."""

import asyncio
from functools import partial
from typing import Annotated, Any, Literal

import typer

from domain.models import LocationId
from loaders.backend import Backend
from loaders.contracts.maintenance import EXPIRY_SCAN
from loaders.tools.definition import check_table, create_table, describe_table
from loaders.tools.expiry import expire_items
from loaders.tools.migration import Migration, migration_cost
from loaders.tools.table_state import drain_seconds, set_read_only
from loaders.tools.target import Report
from server.auth.code_keys import read_ring
from server.cli.command import CommandError, asynchronous, load_settings
from server.cli.demo_data import make_demo_table, require_demo_store
from server.cli.table import ReadRate, Yes, confirm, open_table
from server.new_ids import new_id
from server.process.store import connect
from server.settings import Settings

table_app = typer.Typer(help="Manage the table.", no_args_is_help=True, add_completion=False)


@table_app.command("create")
@asynchronous
async def table_create(
    demo: Annotated[bool, typer.Option("--demo", help="Load demo data into a table that is created.")] = False,
) -> None:
    """Create the table, unless it exists."""
    settings = load_settings()
    if demo:
        require_demo_store(settings)
    async with connect(settings) as connection:
        if demo and await describe_table(connection) is None:
            await make_demo_table(settings, connection)
            is_new = True
        else:
            is_new = await create_table(connection)
    typer.echo(f"table {settings.table_name} {'created' if is_new else 'already exists'}")


@table_app.command("describe")
@asynchronous
async def table_describe() -> None:
    """Describe the table and check its definition."""
    settings = load_settings()
    async with connect(settings) as connection:
        description = await describe_table(connection)
        if description is None:
            raise CommandError(
                f"the table {settings.table_name} does not exist: create it with `smartlocker table create`"
            )
        _print_description(description)
        await check_table(connection)


@table_app.command("expire")
@asynchronous
async def table_expire(
    yes: Yes = False,
    rate: ReadRate = 1000,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count the items that would be deleted.")] = False,
) -> None:
    """Delete what is kept no longer: what the embedded store keeps, and by the present settings. Reads the table."""
    settings = load_settings()
    async with open_table(settings) as (connection, store, clock):
        cost = EXPIRY_SCAN.cost_text(await describe_table(connection) or {})
        typer.echo(f"Looking for expired items {cost}.", err=True)
        confirm("Delete expired items?", yes=yes or dry_run)
        backend = Backend(store, clock, new_id, clock.stamp, settings.longest_reservation, retention=settings.retention)
        count = await expire_items(store, backend, items_per_second=rate, dry_run=dry_run)
    typer.echo(f"{count} expired item{'' if count == 1 else 's'} {'found' if dry_run else 'deleted'}")


@table_app.command("read-only")
@asynchronous
async def table_read_only(
    context: typer.Context, mode: Annotated[Literal["on", "off"], typer.Argument(help="Whether changes are refused.")]
) -> None:
    """Let all servers refuse changes, for maintenance, or accept them again. Ends when none changes the table."""
    settings = load_settings()
    async with open_table(settings) as (_, store, _):
        await set_read_only(store, is_read_only=mode == "on")
    if mode == "on":
        await _wait_for_servers(context, settings, "no server changes the table")
    typer.echo(f"table {settings.table_name} is {'read-only' if mode == 'on' else 'no longer read-only'}")


@asynchronous
async def migrate(
    context: typer.Context,
    yes: Yes = False,
    rate: ReadRate = 1000,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count the items that would be changed.")] = False,
    location: Annotated[
        str | None, typer.Option(help="Id of the location of bookings and events that another program wrote.")
    ] = None,
) -> None:
    """Bring items that older versions or other programs wrote to today's form; can be interrupted and run again."""
    settings = load_settings()
    async with open_table(settings, any_state=True) as (connection, store, clock):
        cost = migration_cost(await describe_table(connection) or {})
        typer.echo(f"Migrating table {settings.table_name} {cost}.")
        confirm("Migrate the table?", yes=yes or dry_run, refused="the table was not migrated")
        place = None if location is None else LocationId(location)

        drained = partial(_wait_for_servers, context, settings, "no server serves the table")
        # The secrets of development are those of the embedded store's servers only.
        ring = read_ring(settings) if settings.is_embedded or settings.code_keys is not None else None
        migration = Migration(store, items_per_second=rate, progress=_show_progress, location_id=place, ring=ring)
        report = await (migration.count(clock()) if dry_run else migration.run(clock(), drained))
        _show_report(report)
        if dry_run:
            typer.echo(f"table {settings.table_name} was not changed")
        else:
            typer.echo(f"table {settings.table_name} is migrated: {report.written} items written")


async def _wait_for_servers(context: typer.Context, settings: Settings, until: str) -> None:
    seconds = drain_seconds(settings.request_seconds)
    typer.echo(f"waiting {seconds:g} s until {until}", err=True)
    await (context.obj.sleep or asyncio.sleep)(seconds)


def _show_progress(report: Report) -> None:
    typer.echo(f"{report.read} items read, {report.written} written", err=True)


def _show_report(report: Report) -> None:
    """Prints what was converted and what has no place: kinds, names and numbers, but no values."""
    for kind, count in sorted(report.converted.items()):
        typer.echo(f"{kind}: {count} of another form")
    for owner_id in report.new_owners:
        typer.echo(f"OWNER: {owner_id} has no record, and gets one with the id as name")
    for (kind, obstacle), count in sorted(report.left.items()):
        typer.echo(f"{kind}: {count} left as they are ({obstacle})")
    for kind, count in sorted(report.unknown.items()):
        typer.echo(f"{kind}: {count} of a kind that is not known, left as they are")
    for (kind, attribute), count in sorted(report.unplaced.items()):
        typer.echo(f"{kind} {attribute}: not placed, kept on {count}")


def _print_description(description: dict[str, Any]) -> None:
    count = description["ItemCount"]
    items = f"{count} item{'' if count == 1 else 's'}"
    typer.echo(f"table {description['TableName']}: {description['TableStatus']}, {items}")
    typer.echo(f"keys: {', '.join(key['AttributeName'] for key in description['KeySchema'])}")
    for index in description.get("GlobalSecondaryIndexes", []):
        names = ", ".join(key["AttributeName"] for key in index["KeySchema"])
        typer.echo(f"index {index['IndexName']}: {names}")
