"""The commands `smartlocker demo …`."""

from typing import Annotated

import typer

from loaders.tools.definition import check_table
from loaders.tools.demo import DemoShape
from server.cli.command import CommandError, asynchronous, load_settings
from server.cli.demo_data import has_demo_data, load, make_demo_table, require_demo_store
from server.cli.table import Yes, confirm, open_table
from server.process.store import connect

demo_app = typer.Typer(help="Manage demo data.", no_args_is_help=True, add_completion=False)


@demo_app.command("load")
@asynchronous
async def demo_load(
    context: typer.Context,
    owners: Annotated[int, typer.Option(min=1, help="Number of owners.")] = DemoShape().owners,
    lockers: Annotated[int, typer.Option(min=1, help="Number of lockers of all owners.")] = DemoShape().lockers,
    events: Annotated[int, typer.Option(min=0, help="Number of access events of all lockers.")] = DemoShape().events,
) -> None:
    """Load demo data, in development, on the embedded store or a local endpoint; existing items are not changed."""
    shape = DemoShape(owners, lockers, events)
    settings = load_settings()
    require_demo_store(settings)
    async with open_table(settings, creates=True) as (connection, *_):
        written = await load(settings, connection, shape, context.obj.clock)
    typer.echo(f"{written} items written")


@demo_app.command("reset")
@asynchronous
async def demo_reset(yes: Yes = False) -> None:
    """Replace the table by a new one with demo data; in development, on the embedded store or a local endpoint."""
    settings = load_settings()
    require_demo_store(settings)
    async with connect(settings) as connection:
        await check_table(connection)
        if not await has_demo_data(connection):
            raise CommandError(f"table {settings.table_name} has no demo data, so it is not reset")
        question = f"Delete everything in table {settings.table_name} and load demo data?"
        confirm(question, yes=yes, refused="the demo data was not reset")
        await make_demo_table(settings, connection, replaces=True)
    typer.echo(f"table {settings.table_name} has its first demo data again")
