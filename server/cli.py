"""The `smartlocker` command."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from domain.errors import FaultError, SmartLockerError
from loaders.demo import DemoShape, load_demo, owner_id
from loaders.demo_places import LOCATIONS
from loaders.table.client import open_store
from loaders.table.definition import TableProblemError, check_table, create_table, describe_table
from loaders.table.embedded import EmbeddedStoreError
from resolvers.schema import build_schema
from server.app import create_app, utc_now
from server.auth_commands import keys_app, token
from server.command import CommandError, compare, load_settings
from server.contract_commands import contracts_app, explain
from server.documents import ManifestError
from server.health import Readiness
from server.jwks import JwksError
from server.logs import logging_as
from server.measured import MeasurementError
from server.permission_page import permission_page
from server.planning import ExplainError
from server.process import Server
from server.profiles import check_profile
from server.store import connect

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

    from loaders.table.client import Connection
    from server.settings import Settings

__all__ = ["app", "main"]

app = typer.Typer(help="SmartLocker: a GraphQL API server for physical lockers.", no_args_is_help=True)
table_app = typer.Typer(help="The table behind it all.", no_args_is_help=True)
demo_app = typer.Typer(help="Demo data.", no_args_is_help=True)
schema_app = typer.Typer(help="The GraphQL schema as a file.", no_args_is_help=True)
permissions_app = typer.Typer(help="Who may use what.", no_args_is_help=True)
for name, group in (
    ("table", table_app),
    ("demo", demo_app),
    ("schema", schema_app),
    ("contracts", contracts_app),
    ("permissions", permissions_app),
    ("keys", keys_app),
):
    app.add_typer(group, name=name)

_SCHEMA_PATH = Path("schema.graphql")
_PERMISSIONS_PATH = Path("docs/permissions.md")


@app.command()
def serve() -> None:
    """Serve the API; without SMARTLOCKER_ENDPOINT_URL also run the embedded store, with demo data the first time."""
    settings = load_settings()
    check_profile(settings)
    _run(_serve(settings))


app.command()(token)
app.command()(explain)


@table_app.command("create")
def table_create() -> None:
    """Create the table where there is none."""

    async def work(settings: Settings) -> None:
        async with connect(settings) as connection:
            made = await create_table(connection)
        typer.echo(f"table {settings.table_name} {'made' if made else 'is there already'}")

    _run(work(load_settings()))


@table_app.command("describe")
def table_describe() -> None:
    """Say what the store knows of the table."""

    async def work(settings: Settings) -> None:
        async with connect(settings) as connection:
            description = await describe_table(connection)
            if description is None:
                raise CommandError(f"there is no table {settings.table_name}: make it with `smartlocker table create`")
            _print_description(description)
            await check_table(connection)

    _run(work(load_settings()))


@demo_app.command("load")
def demo_load(
    owners: Annotated[int, typer.Option(min=1, help="How many owners.")] = DemoShape().owners,
    lockers: Annotated[
        int, typer.Option(min=1, help="How many lockers, shared out among the owners.")
    ] = DemoShape().lockers,
    events: Annotated[int, typer.Option(min=0, help="How many access events, over all lockers.")] = DemoShape().events,
) -> None:
    """Load demo data; what is there already stays as it is."""
    shape = DemoShape(owners, lockers, events)

    async def work(settings: Settings) -> None:
        async with connect(settings) as connection:
            if settings.is_embedded:
                await create_table(connection)
            await check_table(connection)
            typer.echo(f"{await _load_demo(connection, shape)} items written")

    _run(work(load_settings()))


@schema_app.command("export")
def schema_export(path: Annotated[Path, typer.Option(help="Where to write it.")] = _SCHEMA_PATH) -> None:
    """Write the schema to a file."""
    path.write_text(_schema_text())


@schema_app.command("check")
def schema_check(path: Annotated[Path, typer.Option(help="The file to compare with.")] = _SCHEMA_PATH) -> None:
    """Fail where the file is not the schema."""
    compare(path, _schema_text(), "smartlocker schema export")


@permissions_app.command("list")
def permissions_list() -> None:
    """Say who may use what, as the page docs/permissions.md."""
    typer.echo(permission_page(), nl=False)


@permissions_app.command("check")
def permissions_check(
    path: Annotated[Path, typer.Option(help="The page to compare with.")] = _PERMISSIONS_PATH,
) -> None:
    """Fail where the page is not what the declarations say."""
    compare(path, permission_page(), f"smartlocker permissions list > {path}")


def main() -> None:
    """Runs the command; what its user can mend, and what the store refuses, is said in one line."""
    try:
        app()
    except (
        CommandError,
        EmbeddedStoreError,
        ExplainError,
        FaultError,
        JwksError,
        ManifestError,
        MeasurementError,
        SmartLockerError,
        TableProblemError,
    ) as error:
        typer.echo(f"smartlocker: {' '.join(str(error).split())}", err=True)
        sys.exit(1)


async def _serve(settings: Settings) -> None:
    with logging_as(settings), _listen(settings) as listener:
        async with connect(settings) as connection:
            if settings.is_embedded:
                await _prepare(settings, connection)
            await check_table(connection)
            readiness = Readiness()
            server = Server(create_app(settings, connection, readiness=readiness), settings, readiness)
            _greet(settings, connection, listener.getsockname()[1])
            await server.serve(sockets=[listener])


async def _prepare(settings: Settings, connection: Connection) -> None:
    """The first time: the table and, in development, demo data. A mark on disk tells that this was cut short."""
    unfinished = settings.data_dir / "demo-unfinished"
    if await describe_table(connection) is None:
        if not settings.is_production:
            unfinished.touch()
        await create_table(connection)
    if unfinished.exists():
        await _load_demo(connection, DemoShape())
        unfinished.unlink()


@contextmanager
def _listen(settings: Settings) -> Iterator[socket.socket]:
    listener = socket.socket(socket.AF_INET6 if ":" in settings.host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    with listener:
        try:
            listener.bind((settings.host, settings.port))
            listener.listen()  # a port that is merely bound can be bound again
        except OSError as error:
            place = f"port {settings.port} of {settings.host}"
            raise CommandError(
                f"{place} cannot be used ({error.strerror}): set SMARTLOCKER_PORT or SMARTLOCKER_HOST"
            ) from error
        yield listener


def _greet(settings: Settings, connection: Connection, port: int) -> None:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    address = f"http://{host}:{port}/graphql"
    data = (
        settings.data_dir.resolve() if settings.is_embedded else connection.endpoint_url or f"AWS {connection.region}"
    )
    query = (
        f'{{ owner(ownerId: "{owner_id(0)}") {{ name lockers(first: 3) {{ nodes {{ lockerId alias status }} }} }} }}'
    )
    credentials = "" if settings.profile == "development" else ' -H "Authorization: Bearer $TOKEN"'
    typer.echo(f"SmartLocker serves {address}")
    typer.echo(f"The data is in {data}, table {settings.table_name}")
    typer.echo("Try, in a browser there or with:")
    body = json.dumps({"query": query})
    typer.echo(f"  curl -s {address}{credentials} -H 'Content-Type: application/json' -d '{body}'")


async def _load_demo(connection: Connection, shape: DemoShape) -> int:
    async with open_store(connection) as store:
        with Progress(console=Console(stderr=True)) as progress:
            total = shape.owners + LOCATIONS + shape.lockers + shape.events
            task = progress.add_task("Loading demo data", total=total)
            try:
                return await load_demo(store, shape, utc_now(), lambda pieces: progress.advance(task, pieces))
            except ExceptionGroup as group:
                reason = group.exceptions[0]
                raise CommandError(f"not all demo data is loaded, `smartlocker demo load` goes on: {reason}") from group


def _run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


def _print_description(description: dict[str, Any]) -> None:
    typer.echo(f"table {description['TableName']}: {description['TableStatus']}, {description['ItemCount']} items")
    typer.echo(f"keys: {', '.join(key['AttributeName'] for key in description['KeySchema'])}")
    for index in description.get("GlobalSecondaryIndexes", []):
        names = ", ".join(key["AttributeName"] for key in index["KeySchema"])
        typer.echo(f"index {index['IndexName']}: {names}")


def _schema_text() -> str:
    return build_schema().as_str() + "\n"
