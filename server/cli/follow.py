"""The command `smartlocker follow`."""

from dataclasses import replace
from typing import Annotated

import typer
import uvloop

from loaders.following.registry import FollowingParts
from loaders.tools.definition import check_table
from server.app import Parts, create_follower
from server.cli.command import CommandError, read_settings
from server.cli.main import Injected
from server.cli.serve import listen
from server.http.health import Readiness
from server.process.http_server import HttpServer
from server.process.store import connect, watched_store
from server.settings import Settings
from server.telemetry.logs import configured_logging


def follow(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(help="Address to listen on; SMARTLOCKER_HOST.")] = None,
    port: Annotated[str | None, typer.Option(help="Port to listen on; SMARTLOCKER_PORT.")] = None,
) -> None:
    """Follow the log without serving requests: keep history and figures, send webhooks, notice what becomes due."""
    settings = read_settings(host=host, port=port)
    if settings.is_read_only:
        raise CommandError("SMARTLOCKER_READ_ONLY=on: who follows the log changes the table")
    uvloop.run(_follow(settings, context.obj))


async def _follow(settings: Settings, given: Injected) -> None:
    with configured_logging(settings), listen(settings) as listener:
        async with connect(settings) as connected:
            connection = replace(connected, timeouts=given.timeouts or connected.timeouts)
            await check_table(connection)
            readiness = Readiness(watched_store(settings, given.machine))
            parts = Parts(readiness=readiness, following=given.following or FollowingParts())
            server = HttpServer(create_follower(settings, connection, parts), settings, readiness)
            typer.echo(f"SmartLocker follows the log of table {settings.table_name}")
            await server.serve(sockets=[listener])
