"""Commands, run as `smartlocker` runs them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

import pytest

from server.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Result(NamedTuple):
    """What a command did."""

    status: int
    out: str
    err: str


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Callable[..., Result]:
    """Runs a command with settings, in this process, on a data directory of the test's own."""

    def command(*words: str, **settings: str) -> Result:
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["smartlocker", *words])
            for name, value in ({"data_dir": str(tmp_path)} | settings).items():
                patch.setenv(f"SMARTLOCKER_{name.upper()}", value)
            with pytest.raises(SystemExit) as ended:
                main()
        return Result(int(ended.value.code or 0), *capsys.readouterr())

    return command
