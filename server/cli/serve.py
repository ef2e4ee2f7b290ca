"""The command `smartlocker serve`."""

import gc
import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import typer
import uvloop
from typer.core import TyperCommand

from domain.errors import UnavailableError
from loaders.following.registry import FollowingParts
from loaders.table.client import StoreConnection
from loaders.tools.definition import check_table
from loaders.tools.table_state import record_code_keys
from server.app import Parts, create_app
from server.auth.code_keys import read_ring
from server.cli.check import check_profile
from server.cli.command import CommandError, read_settings, unknown_variables
from server.cli.demo_data import prepare
from server.cli.main import Injected
from server.cli.settings_commands import descriptions, shown_default
from server.cli.table import open_timed
from server.http.health import Readiness
from server.process.http_server import HttpServer
from server.process.store import connect, watched_store
from server.process.workers import Supervisor, WorkerConfig, WorkerServer
from server.settings import Settings, variable_of
from server.telemetry.logs import configured_logging

logger = logging.getLogger(__name__)

# The oldest generation too: documents that were validated end there, and memory would grow for long.
_GC_THRESHOLDS = (10_000, 10, 10)


class _ServeCommand(TyperCommand):
    def format_help(self, ctx: Any, formatter: Any) -> None:
        super().format_help(ctx, formatter)
        typer.echo("Settings, from environment variables:\n")
        for name, description in descriptions().items():
            typer.echo(f"  {variable_of(name)} (default: {shown_default(name)})\n      {description}")


serve_app = typer.Typer(add_completion=False)


@serve_app.command(cls=_ServeCommand)
def serve(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(help="Address to listen on; SMARTLOCKER_HOST.")] = None,
    port: Annotated[str | None, typer.Option(help="Port to listen on; SMARTLOCKER_PORT.")] = None,
    profile: Annotated[
        str | None, typer.Option(help="The profile, development or production; SMARTLOCKER_PROFILE.")
    ] = None,
    workers: Annotated[str | None, typer.Option(help="Number of server processes; SMARTLOCKER_WORKERS.")] = None,
) -> None:
    """Run the server; without SMARTLOCKER_ENDPOINT_URL also the embedded store, with demo data the first time."""
    gc.disable()  # until what lives as long as the process is made: `_settle_memory`
    settings = read_settings(host=host, port=port, profile=profile, workers=workers)
    check_profile(settings)
    config = WorkerConfig.of_this_process()
    given: Injected = context.obj
    uvloop.run(_serve(settings, given) if config is None else _serve_as_worker(settings, given, config))


async def _serve(settings: Settings, given: Injected) -> None:
    with configured_logging(settings) as write_line, listen(settings) as listener:
        for line in unknown_variables():
            logger.warning(line)
        async with connect(settings, serves=True) as connected:
            connection = replace(connected, timeouts=given.timeouts or connected.timeouts)
            if settings.is_embedded:
                await prepare(settings, connection)
            else:
                await check_table(connection)
            if settings.code_keys is not None:
                await _check_code_keys(settings, connection)
            greet = partial(_print_greeting, settings, connection, listener.getsockname()[1])
            if settings.workers > 1:
                _settle_memory()
                await Supervisor(settings, connection, listener, greet).run()
                return
            readiness = Readiness(watched_store(settings, given.machine))
            parts = Parts(
                readiness=readiness,
                observer=given.observer,
                following=_following(settings, given),
                write_line=write_line,
            )
            app = create_app(settings, connection, parts)
            server = HttpServer(app, settings, readiness)
            greet()
            _settle_memory()
            await server.serve(sockets=[listener])


async def _serve_as_worker(settings: Settings, given: Injected, config: WorkerConfig) -> None:
    with configured_logging(settings) as write_line:
        readiness = Readiness(watched_store(settings, given.machine))
        parts = Parts(
            readiness=readiness,
            observer=given.observer,
            # One worker is enough: if it dies, its successor takes its leases as soon as another worker could.
            following=_following(settings, given) if config.number == 0 else None,
            shared_budgets=config.budgets,
            shared_metrics=config.shared_metrics,
            write_line=write_line,
        )
        app = create_app(settings, config.connection, parts)
        server = WorkerServer(app, settings, readiness, config)
        _settle_memory()
        await server.serve(sockets=[])


def _following(settings: Settings, given: Injected) -> FollowingParts | None:
    follows = settings.follow == "on" and not settings.is_read_only
    return given.following or FollowingParts() if follows else None


async def _check_code_keys(settings: Settings, connection: StoreConnection) -> None:
    """Logs which keys that access codes may need are not in the ring. The table records them, so nothing is scanned."""
    ring = read_ring(settings)
    new = set() if settings.is_read_only else {ring.current.key_id}
    try:
        async with open_timed(connection) as (store, _):
            recorded = await record_code_keys(store, lambda ids: (*ids, *(new - set(ids))))
    except UnavailableError as error:
        logger.warning("the keys of access codes cannot be compared with SMARTLOCKER_CODE_KEYS: %s", error)
        return
    missing = set(recorded) - {key.key_id for key in ring.keys}
    if missing:
        text = "access codes may need keys that are not in SMARTLOCKER_CODE_KEYS: %s; see `smartlocker codes keys`"
        logger.error(text, ", ".join(sorted(missing)))


def _settle_memory() -> None:
    """Starts the garbage collector, which leaves out what lives as long as the process: to walk it takes long."""
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)
    gc.enable()


@contextmanager
def listen(settings: Settings) -> Iterator[socket.socket]:
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
                f"cannot listen on port {settings.port} of {settings.host} ({error.strerror}): set --port or --host "
                "(SMARTLOCKER_PORT, SMARTLOCKER_HOST)"
            ) from error
        yield listener


def _print_greeting(settings: Settings, connection: StoreConnection, port: int) -> None:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    address = f"http://{host}:{port}/graphql"
    data = (
        settings.data_dir.resolve() if settings.is_embedded else connection.endpoint_url or f"AWS {connection.region}"
    )
    credentials = "" if settings.profile == "development" else ' -H "Authorization: Bearer $TOKEN"'
    typer.echo(f"SmartLocker serves {address}")
    typer.echo(f"Data: {data}, table {settings.table_name}")
    typer.echo("Open it in a browser, or run:" if settings.shows_graphiql else "To try it, run:")
    body = '{"query": "{ viewer { role } locations(first: 3) { nodes { code name } } }"}'
    typer.echo(f"  curl -s {address}{credentials} -H 'Content-Type: application/json' -d '{body}'")
