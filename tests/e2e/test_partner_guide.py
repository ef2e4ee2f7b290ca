"""The guide "Integrate as a partner", run line by line, as a reader does."""

import contextlib
import json
import re
import socket
import sqlite3
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import fastjsonschema
import pytest

from domain.webhook_bodies import body_schemas
from tests.e2e.guides import BLOCK, printed_by, prints
from tests.e2e.serving import ROOT, environment, eventually, serving

GUIDE = (ROOT / "docs" / "partners.md").read_text()
VALIDATE = fastjsonschema.compile(body_schemas())


def kept(database: Path) -> dict[str, Any]:
    """The data of the deliveries that a receiver has kept, each of its schema, by their types."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        bodies = [VALIDATE(json.loads(body)) for (body,) in connection.execute("SELECT body FROM deliveries")]
    return {body["type"]: body["data"] for body in bodies}


def test_every_line_of_the_guide_runs(tmp_path: Path, furnished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks, names = BLOCK.findall(GUIDE), dict[str, Any]()
    assert sum(2 if output else 1 for *_, output in blocks) == GUIDE.count("\n```") / 2
    with socket.create_server(("127.0.0.1", 0)) as free:
        receiver = f"127.0.0.1:{free.getsockname()[1]}"
    with serving(tmp_path / "run", data_dir=furnished) as server, contextlib.ExitStack() as stack:
        here = {
            ".venv/bin": str(Path(sys.executable).parent),
            "http://127.0.0.1:8000/graphql": server.url,
            "127.0.0.1:8001": receiver,
            "receiver.py 8001": f"receiver.py {receiver.partition(':')[2]}",
            "python3 examples": f"{sys.executable} {ROOT}/examples",
        }
        for language, written, output in blocks:
            block = written
            for there, ours in here.items():
                block = block.replace(there, ours)
            if output:
                # History is about a second behind: a reader takes longer than that.
                eventually(partial(prints, block, names, output))
            elif language == "python":
                for name, value in re.findall(r"export (\w+)=(\S+)", printed_by(block, names)):
                    monkeypatch.setenv(name, value)
            else:
                (name,) = re.findall(r"^export (\w+)=", block) or [None]
                line = f'{block}echo "${name}"' if name else f"exec env {block}"
                shell = subprocess.Popen(
                    ["sh", "-ec", line], cwd=tmp_path, env=environment({"data_dir": furnished}), stdout=subprocess.PIPE
                )
                stack.enter_context(shell)
                stack.callback(shell.kill)
                assert shell.stdout is not None
                said = shell.stdout.readline().decode().strip()
                if name:
                    monkeypatch.setenv(name, said)
                else:
                    assert said == f"http://{receiver}/"
        database = tmp_path / "deliveries.sqlite"
        eventually(lambda: kept(database).keys() == {"reservation.released", "reservation.started", "webhook.test"})
        released = kept(database)["reservation.released"]
        assert (released["reference"], released["version"]) == (names["order"], 3)
        assert "in development webhooks may have URLs of this machine, and of http" in server.stderr
