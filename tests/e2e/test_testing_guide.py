"""The guide "Test against SmartLocker", run line by line, as a reader does."""

import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.guides import BLOCK, printed_by, prints
from tests.e2e.serving import ROOT, eventually, serving

GUIDE = (ROOT / "docs" / "testing.md").read_text()


def test_every_line_of_the_guide_runs(tmp_path: Path, furnished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ((_, start, _), *blocks), names = BLOCK.findall(GUIDE), dict[str, Any]()
    assert sum(2 if output else 1 for *_, output in blocks) + 1 == GUIDE.count("\n```") / 2
    settings: dict[str, Any] = dict(re.findall(r"(SMARTLOCKER_\w+)=(\S+)", start))
    folder = furnished.rename(tmp_path / settings["SMARTLOCKER_DATA_DIR"])
    with serving(tmp_path / "run", **settings | {"SMARTLOCKER_DATA_DIR": folder}) as server:
        clock = server.url.replace("/graphql", "/development/clock")

        def shown() -> datetime:
            return datetime.fromisoformat(httpx.get(clock).json()["now"])

        ahead = (shown() + timedelta(days=1)).isoformat()
        assert httpx.put(clock, json={"now": ahead}).status_code == 200
        assert httpx.put(clock, json={"now": datetime.now(UTC).isoformat()}).status_code == 409
        assert shown() >= datetime.fromisoformat(ahead)
        here = {
            ".venv/bin": str(Path(sys.executable).parent),
            "http://127.0.0.1:8000/graphql": server.url,
            "http://127.0.0.1:8000": server.url.removesuffix("/graphql"),
            "python3 examples": f"{sys.executable} {ROOT}/examples",
        }
        for language, written, output in blocks:
            block = written
            for there, ours in here.items():
                block = block.replace(there, ours)
            if language == "sh":
                (name,) = re.findall(r"^export (\w+)=", block) or [None]
                line = f'{block}echo "${name}"' if name else block
                shell = ["sh", "-ec", line]
                said = subprocess.run(shell, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
                if name:
                    monkeypatch.setenv(name, said.strip())
                elif "reset" in block:
                    assert shown() < datetime.now(UTC) + timedelta(hours=1), "the clock is reset, too"
                else:
                    assert said == output
            elif output:
                eventually(partial(prints, block, names, output))
            else:
                for name, value in re.findall(r"(\w+)=(\S+)", printed_by(block, names).removeprefix("export ")):
                    monkeypatch.setenv(name, value)
