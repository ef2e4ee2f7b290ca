"""Shared by all commands: settings, errors and the check of generated files."""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Callable, Coroutine
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

import typer
import uvloop
from pydantic import ValidationError
from pydantic_settings import SettingsError

from domain.errors import OperatorError
from server.settings import PREFIX, Settings, variable_of

if TYPE_CHECKING:
    from rich.console import Console

_P = ParamSpec("_P")
_TABLE_WIDTH = 160
_FIELD = re.compile(r'field "(\w+)"')


class CommandError(OperatorError):
    """The command failed; the message is shown to the user."""


def asynchronous(command: Callable[_P, Coroutine[Any, Any, None]]) -> Callable[_P, None]:
    @wraps(command)
    def run(*args: _P.args, **options: _P.kwargs) -> None:
        uvloop.run(command(*args, **options))

    return run


def load_settings() -> Settings:
    """The settings from the environment; variables that are no settings are reported."""
    for line in unknown_variables():
        typer.echo(f"smartlocker: {line}", err=True)
    return read_settings()


def read_settings(**options: str | None) -> Settings:
    """The settings from a command's options and, where an option is not used, from the environment."""
    try:
        return Settings(**{name: value for name, value in options.items() if value is not None})  # type: ignore[arg-type]
    except SettingsError as error:
        (name,) = _FIELD.findall(str(error))
        raise CommandError(f"{variable_of(name)}: must be valid JSON") from None
    except ValidationError as error:
        problems: dict[str, str] = {}
        for detail in error.errors():
            name = str(detail["loc"][0]) if detail["loc"] else ""
            option = f" (--{name})" if name in options else ""
            problem = detail["msg"].removeprefix("Value error, ")
            problems.setdefault(name, f"{variable_of(name)}{option}: {problem}" if name else problem)
        raise CommandError("; and ".join(problems.values())) from None


def unknown_variables() -> list[str]:
    """A line for each variable of the environment that looks like a setting and is none."""
    known = {variable_of(name).removeprefix(PREFIX): name for name in Settings.model_fields}
    lines = []
    for variable in sorted(os.environ):
        name = variable.upper().removeprefix(PREFIX)
        if variable.upper().startswith(PREFIX) and name not in known:
            (nearest,) = difflib.get_close_matches(name, known, 1, cutoff=0)
            lines.append(f"{variable} is not a setting and has no effect; the nearest setting is {PREFIX}{nearest}")
    return lines


def check_generated(path: Path, expected: str, command: str) -> None:
    """Fails if a generated file is out of date; `command` generates it."""
    if not path.exists() or path.read_text() != expected:
        raise CommandError(f"{path} is out of date: run `{command}`")
    typer.echo(f"{path} is up to date")


def table_console() -> Console:
    """The console for tables: as wide as the terminal; without a terminal, wide enough for a table."""
    from rich.console import Console  # noqa: PLC0415  # a server prints no tables

    return Console(width=None if sys.stdout.isatty() else _TABLE_WIDTH)
