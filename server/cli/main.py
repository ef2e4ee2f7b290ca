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

from domain.errors import InternalError, SmartLockerError
from loaders.demo import DemoShape, load_demo, owner_id
from loaders.demo_places import LOCATIONS
from loaders.table.client import open_store
from loaders.table.definition import TableProblemError, check_table, create_table, describe_table
from loaders.table.embedded import EmbeddedStoreError
from resolvers.schema import build_schema
from server.app import create_app, utc_now
from server.auth.jwks import JwksError
from server.cli.auth_commands import keys_app, token
from server.cli.command import CommandError, check_generated, load_settings
from server.cli.contract_commands import contracts_app, explain
from server.cli.explain import ExplainError
from server.cli.permission_page import permission_page
from server.cli.profiles import check_profile
from server.cli.table_commands import table_migrate
from server.http.health import Readiness
from server.http.persisted_documents import ManifestError
from server.process.http_server import HttpServer
from server.process.store import connect
from server.telemetry.logs import configured_logging

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

    from loaders.table.client import Connection
    from server.http.observer import RequestObserver
    from server.settings import Settings

__all__ = ["app", "main"]

app = typer.Typer(help="SmartLocker: a GraphQL API server for physical lockers.", no_args_is_help=True)
table_app = typer.Typer(help="Manage the table.", no_args_is_help=True)
demo_app = typer.Typer(help="Manage demo data.", no_args_is_help=True)
schema_app = typer.Typer(help="Export and check the GraphQL schema.", no_args_is_help=True)
permissions_app = typer.Typer(help="List and check permissions.", no_args_is_help=True)
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
def serve(context: typer.Context) -> None:
    """Run the server; without SMARTLOCKER_ENDPOINT_URL also the embedded store, with demo data the first time."""
    settings = load_settings()
    check_profile(settings)
    _run(_serve(settings, context.obj))


app.command()(token)
app.command()(explain)


@table_app.command("create")
def table_create() -> None:
    """Create the table, unless it exists."""

    async def work(settings: Settings) -> None:
        async with connect(settings) as connection:
            is_new = await create_table(connection)
        typer.echo(f"table {settings.table_name} {'created' if is_new else 'already exists'}")

    _run(work(load_settings()))


@table_app.command("describe")
def table_describe() -> None:
    """Describe the table and check its definition."""

    async def work(settings: Settings) -> None:
        async with connect(settings) as connection:
            description = await describe_table(connection)
            if description is None:
                raise CommandError(
                    f"the table {settings.table_name} does not exist: create it with `smartlocker table create`"
                )
            _print_description(description)
            await check_table(connection)

    _run(work(load_settings()))


table_app.command("migrate")(table_migrate)


@demo_app.command("load")
def demo_load(
    owners: Annotated[int, typer.Option(min=1, help="Number of owners.")] = DemoShape().owners,
    lockers: Annotated[int, typer.Option(min=1, help="Number of lockers of all owners.")] = DemoShape().lockers,
    events: Annotated[int, typer.Option(min=0, help="Number of access events of all lockers.")] = DemoShape().events,
) -> None:
    """Load demo data; existing items are not changed."""
    shape = DemoShape(owners, lockers, events)

    async def work(settings: Settings) -> None:
        async with connect(settings) as connection:
            if settings.is_embedded:
                await create_table(connection)
            await check_table(connection)
            typer.echo(f"{await _load_demo(connection, shape)} items written")

    _run(work(load_settings()))


@schema_app.command("export")
def schema_export(path: Annotated[Path, typer.Option(help="The file to write.")] = _SCHEMA_PATH) -> None:
    """Write the schema to a file."""
    path.write_text(_schema_text())


@schema_app.command("check")
def schema_check(path: Annotated[Path, typer.Option(help="The file to compare with.")] = _SCHEMA_PATH) -> None:
    """Fail if the file differs from the schema."""
    check_generated(path, _schema_text(), "smartlocker schema export")


@permissions_app.command("list")
def permissions_list() -> None:
    """Print the page docs/permissions.md."""
    typer.echo(_permission_text(), nl=False)


@permissions_app.command("check")
def permissions_check(
    path: Annotated[Path, typer.Option(help="The page to compare with.")] = _PERMISSIONS_PATH,
) -> None:
    """Fail if the page differs from the permissions of the schema."""
    check_generated(path, _permission_text(), f"smartlocker permissions list > {path}")


def main(observer: RequestObserver | None = None) -> None:
    """Runs the command; errors that the user can fix are printed as one line.

    Args:
        observer: sees the requests that `serve` executes.
    """
    try:
        app(obj=observer)
    except (
        CommandError,
        EmbeddedStoreError,
        ExplainError,
        InternalError,
        JwksError,
        ManifestError,
        SmartLockerError,
        TableProblemError,
    ) as error:
        typer.echo(f"smartlocker: {' '.join(str(error).split())}", err=True)
        sys.exit(1)


async def _serve(settings: Settings, observer: RequestObserver | None) -> None:
    with configured_logging(settings), _listen(settings) as listener:
        async with connect(settings) as connection:
            if settings.is_embedded:
                await _prepare(settings, connection)
            await check_table(connection)
            readiness = Readiness()
            app = create_app(settings, connection, readiness=readiness, observer=observer)
            server = HttpServer(app, settings, readiness)
            _print_greeting(settings, connection, listener.getsockname()[1])
            await server.serve(sockets=[listener])


async def _prepare(settings: Settings, connection: Connection) -> None:
    """Creates the table and, in development, demo data, at the first start; a file marks an interrupted load."""
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
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # With its protocol named, asyncio turns off Nagle's algorithm for every connection.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    with listener:
        try:
            listener.bind((settings.host, settings.port))
            listener.listen()  # a port that is only bound can be bound again
        except OSError as error:
            raise CommandError(
                f"cannot listen on port {settings.port} of {settings.host} ({error.strerror}): set SMARTLOCKER_PORT or "
                "SMARTLOCKER_HOST"
            ) from error
        yield listener


def _print_greeting(settings: Settings, connection: Connection, port: int) -> None:
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
    typer.echo(f"Data: {data}, table {settings.table_name}")
    typer.echo("Open it in a browser, or run:")
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
                raise CommandError(
                    f"the demo data is incomplete, continue with `smartlocker demo load`: {reason}"
                ) from group


def _run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


def _print_description(description: dict[str, Any]) -> None:
    count = description["ItemCount"]
    items = f"{count} item{'' if count == 1 else 's'}"
    typer.echo(f"table {description['TableName']}: {description['TableStatus']}, {items}")
    typer.echo(f"keys: {', '.join(key['AttributeName'] for key in description['KeySchema'])}")
    for index in description.get("GlobalSecondaryIndexes", []):
        names = ", ".join(key["AttributeName"] for key in index["KeySchema"])
        typer.echo(f"index {index['IndexName']}: {names}")


def _schema_text() -> str:
    return build_schema().sdl() + "\n"


def _permission_text() -> str:
    return permission_page(build_schema().bound)
