"""What every command shares: its settings, files that are generated, and how it says that it cannot do its work."""

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

__all__ = ["CommandError", "compare", "load_settings", "wide_console"]

_WIDE = 160
_FIELD = re.compile(r'field "(\w+)"')


class CommandError(Exception):
    """A command cannot do what was asked; the message is all that its user needs."""


def load_settings() -> Settings:
    """The settings of the environment."""
    try:
        return Settings()
    except SettingsError as error:
        (name,) = _FIELD.findall(str(error))
        raise CommandError(f"SMARTLOCKER_{name.upper()}: must be JSON") from None
    except ValidationError as error:
        first = error.errors()[0]
        variable = "".join(f"SMARTLOCKER_{str(part).upper()}: " for part in first["loc"][:1])
        problem = first["msg"].removeprefix("Value error, ")
        raise CommandError(f"{variable}{problem}") from None


def compare(path: Path, wanted: str, remedy: str) -> None:
    """Fails where a file that is generated is not what would be generated now."""
    if not path.exists() or path.read_text() != wanted:
        raise CommandError(f"{path} is out of date: run `{remedy}`")
    typer.echo(f"{path} is up to date")


def wide_console() -> Console:
    """Where tables are printed: as wide as the terminal, and wide enough for a table where there is none."""
    return Console(width=None if sys.stdout.isatty() else _WIDE)
