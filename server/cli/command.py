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

from domain.errors import OperatorError
from server.settings import PREFIX, ContradictionError, Settings, variable_of

if TYPE_CHECKING:
    from rich.console import Console

_P = ParamSpec("_P")
_TABLE_WIDTH = 160
_VARIABLE = re.compile(rf"{PREFIX}[A-Z_]+")


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
    settings, problems = find_settings(**options)
    if problems:
        raise CommandError("; and ".join(problems))
    return settings


def find_settings(**options: str | None) -> tuple[Settings, list[str]]:
    """The settings, and all that is wrong with them; a default stands in for a value that is not valid."""
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    problems: dict[str, str] = {}
    while True:
        try:
            return Settings(**given), list(problems.values())
        except ValidationError as error:
            for detail in error.errors():
                if not detail["loc"]:  # all of them are valid by themselves now
                    contradiction: ContradictionError = detail["ctx"]["error"]
                    return contradiction.settings, with_others(list(problems.values()), contradiction.texts)
                name = str(detail["loc"][0])
                option = f" (--{name})" if name in options else ""
                given[name] = Settings.model_fields[name].default
                problem = detail["msg"].removeprefix("Value error, ")
                problems.setdefault(name, f"{variable_of(name)}{option}: {problem}")


def with_others(problems: list[str], others: list[str]) -> list[str]:
    """Problems and those others that name no setting which is wrong already: its default only stands in for it."""
    named = set(_VARIABLE.findall(" ".join(problems)))
    return problems + [other for other in others if not named & set(_VARIABLE.findall(other))]


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
