"""What all commands share: settings, errors and the check of generated files."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import typer
from pydantic import ValidationError
from pydantic_settings import SettingsError
from rich.console import Console

from server.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["CommandError", "check_generated", "load_settings", "table_console"]

_TABLE_WIDTH = 160
_FIELD = re.compile(r'field "(\w+)"')


class CommandError(Exception):
    """The command failed; the message is shown to the user."""


def load_settings() -> Settings:
    """The settings from the environment."""
    try:
        return Settings()
    except SettingsError as error:
        (name,) = _FIELD.findall(str(error))
        raise CommandError(f"SMARTLOCKER_{name.upper()}: must be valid JSON") from None
    except ValidationError as error:
        first = error.errors()[0]
        variable = "".join(f"SMARTLOCKER_{str(part).upper()}: " for part in first["loc"][:1])
        problem = first["msg"].removeprefix("Value error, ")
        raise CommandError(f"{variable}{problem}") from None


def check_generated(path: Path, expected: str, command: str) -> None:
    """Fails if a generated file is out of date; `command` generates it."""
    if not path.exists() or path.read_text() != expected:
        raise CommandError(f"{path} is out of date: run `{command}`")
    typer.echo(f"{path} is up to date")


def table_console() -> Console:
    """The console for tables: as wide as the terminal; without a terminal, wide enough for a table."""
    return Console(width=None if sys.stdout.isatty() else _TABLE_WIDTH)
