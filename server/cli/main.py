"""The `smartlocker` command. Each command's module is imported when the command is used, so help comes at once."""

from __future__ import annotations

import gc
import sys
import time
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias

import typer
from typer.core import TyperCommand, TyperGroup

from domain.errors import InternalError, OperatorError, SmartLockerError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from domain.times import Instant
    from loaders.following.registry import FollowingParts
    from loaders.table.http_client import Timeouts
    from server.http.operations import RequestObserver

    Sleep: TypeAlias = Callable[[float], Awaitable[None]]
    Clock: TypeAlias = Callable[[], Instant]

_COMMANDS = {
    "serve": (
        "serve:serve_app",
        "Run the server; without SMARTLOCKER_ENDPOINT_URL also the embedded store, with demo data the first time.",
    ),
    "follow": (
        "follow:follow",
        "Follow the log without serving requests: keep history and figures, send webhooks, notice what becomes due.",
    ),
    "check": ("check:check", "Name all settings that are missing or wrong, before a server is started."),
    "issuer": (
        "issuer:issuer",
        "Issue tokens, to try the production profile on this machine without an identity provider.",
    ),
    "token": ("auth_commands:token", "Create a token for a development server with the same data directory."),
    "explain": (
        "explain:explain",
        "Print the plan of a document with its expected and maximum cost; nothing is run, and no store is needed.",
    ),
    "backup": ("backup_commands:backup_command", "Copy the embedded store's data to a file, while it serves."),
    "restore": ("backup_commands:restore_command", "Restore a backup into an empty data directory."),
    "export": ("backup_commands:export_command", "Write all items of the table to a file."),
    "import": ("backup_commands:import_command", "Write the items of an export to the table."),
    "doctor": ("doctor_commands:doctor_command", "Check the invariants of the table, and repair it."),
    "migrate": ("table_commands:migrate", "Bring items that older versions or other programs wrote to today's form."),
    "table": ("table_commands:table_app", "Manage the table."),
    "demo": ("demo_commands:demo_app", "Manage demo data."),
    "schema": ("schema_commands:schema_app", "Export and check the GraphQL schema."),
    "contracts": ("schema_commands:contracts_app", "The query contracts."),
    "permissions": ("schema_commands:permissions_app", "List and check permissions."),
    "events": ("schema_commands:events_app", "The catalogue of events."),
    "settings": ("settings_commands:settings_app", "List and check the settings."),
    "codes": ("code_commands:codes_app", "Manage access codes."),
    "keys": ("auth_commands:keys_app", "Manage API keys of partners and devices."),
}


class Injected(NamedTuple):
    """Objects that tests pass to a command."""

    observer: RequestObserver | None = None
    """Sees the requests that `serve` executes."""
    clock: Clock | None = None
    """Tells `demo load` the time. Default: the store's."""
    machine: Callable[[], float] = time.time
    """The machine's clock, which `serve` corrects."""
    timeouts: Timeouts | None = None
    """How long `serve` waits for the store."""
    following: FollowingParts | None = None
    """Who follows the log in `serve` and `follow`. Default: all followers and sweepers."""
    sleep: Sleep | None = None
    """The function by which `migrate` waits for servers. Default: asyncio's."""


class _Deferred(TyperCommand):
    """A command that is known by its name and its help until it is used."""

    def __init__(self, name: str, place: str, help_text: str) -> None:
        super().__init__(name, help=help_text)
        self._place = place

    def loaded(self) -> Any:
        module, _, attribute = self._place.partition(":")
        gc.disable()  # nothing that is made while modules load is garbage
        try:
            found = getattr(import_module(f"server.cli.{module}"), attribute)
            if isinstance(found, typer.Typer):
                return typer.main.get_command(found)
            alone = typer.Typer(add_completion=False)
            alone.command()(found)
            return typer.main.get_command(alone)
        finally:
            gc.freeze()  # the collector would look through all of it at once
            gc.enable()

    def make_context(self, *args: Any, **options: Any) -> Any:
        return self.loaded().make_context(*args, **options)


class _Commands(TyperGroup):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        for name, (place, help_text) in _COMMANDS.items():
            self.add_command(_Deferred(name, place, help_text))


app = typer.Typer(cls=_Commands, no_args_is_help=True)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from importlib.metadata import version  # noqa: PLC0415  # takes longer to load than all else here

        typer.echo(f"smartlocker {version('smartlocker')}")
        raise typer.Exit


@app.callback()
def _smartlocker(
    version: Annotated[  # its callback has done all
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None:
    """SmartLocker: a GraphQL API server for physical lockers."""


def main(given: Injected | None = None) -> None:
    """Runs the command; errors that the user can fix are printed as one line."""
    try:
        app(obj=given or Injected())
    except (OperatorError, SmartLockerError, InternalError) as error:
        _fail(" ".join(str(error).split()))
    except OSError as error:
        if error.filename is None:
            raise
        _fail(f"{error.filename} cannot be used ({error.strerror})")


def _fail(message: str) -> None:
    typer.echo(f"smartlocker: {message}", err=True)
    sys.exit(1)


if __name__ == "__main__":
    main()
