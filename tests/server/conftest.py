"""Commands, run as `smartlocker` runs them."""

import asyncio
import io
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from domain.times import Instant
from server.cli.main import Injected, main


class Result(NamedTuple):
    """Status and output of a command."""

    status: int
    out: str
    err: str


async def no_wait(_: float) -> None:
    """Lets no time pass: no server of the test's table must be waited for."""


Run = Callable[..., Result]
RunOnTable = Callable[..., Awaitable[Result]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Runs a command with settings, in this process, on a data directory of the test's own."""

    def command(
        *words: str | Path, stdin: str = "", clock: Callable[[], Instant] | None = None, **settings: str
    ) -> Result:
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["smartlocker", *map(str, words)])
            patch.setattr(sys, "stdin", io.StringIO(stdin))
            for name, value in ({"data_dir": str(tmp_path)} | settings).items():
                patch.setenv(f"SMARTLOCKER_{name.upper()}", value)
            with pytest.raises(SystemExit) as ended:
                main(Injected(sleep=no_wait, clock=clock))
        return Result(int(ended.value.code or 0), *capsys.readouterr())

    return command


@pytest.fixture
def on_table(run: Run, store_url: str, table: str) -> RunOnTable:
    """Runs a command on the test's table."""

    async def command(*words: str | Path, **settings: Any) -> Result:
        settings = {"endpoint_url": store_url, "table_name": table, **settings}
        return await asyncio.to_thread(run, *words, **settings)

    return command
