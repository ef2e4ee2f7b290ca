import json
import os
import signal
import socket
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api import CREATE_OWNER
from tests.e2e.reports import KEPT
from tests.e2e.serving import COMMAND, command, eventually, is_running, refusal_of, serving, start

LOCKER = "query ($lockerId: ID!) { locker(lockerId: $lockerId) { status version } }"


def test_a_first_start_makes_the_table_with_demo_data_and_prints_a_query_that_works(tmp_path: Path) -> None:
    with serving(tmp_path / "run", data_dir=tmp_path / "data") as server:
        port = httpx.URL(server.url).port
        assert server.greeting[:3] == [
            f"SmartLocker serves http://127.0.0.1:{port}/graphql",
            f"Data: {tmp_path / 'data'}, table SmartLocker",
            "Open it in a browser, or run:",
        ]
        curl = server.greeting[3].strip()
        assert curl.startswith(f"curl -s http://127.0.0.1:{port}/graphql ")
        answer = subprocess.run(["sh", "-c", curl], capture_output=True, text=True, check=True)
        found = json.loads(answer.stdout)["data"]
        assert (found["viewer"], len(found["locations"]["nodes"])) == ({"role": "ADMIN"}, 3)
        assert server.plans == [KEPT]
        page = server.get("/", headers={"Accept": "text/html"}, follow_redirects=True)
        assert (page.status_code, str(page.url)) == (200, server.url)
        assert page.text.lstrip().lower().startswith("<!doctype html>")
        assert server.get("/health", headers={"X-Large": "a" * 17_000}).status_code == 431  # its own HTTP protocol
        eventually(lambda: "INFO:     Application startup complete." in server.stderr)
        assert "Loading demo data" in server.stderr
        assert (tmp_path / "data" / "smartlocker.db").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_server_and_store_and_leaves_nothing_behind(tmp_path: Path, furnished: Path, number: int) -> None:
    server = start(tmp_path / "run", [COMMAND], data_dir=furnished)
    assert server.ready == (200, "ready")
    offspring = server.offspring
    assert "dynoxide" in offspring.values()
    # As a terminal does it: to everybody in the server's group.
    os.killpg(server.process.pid, number)
    assert server.process.wait(60) == 0
    eventually(lambda: not any(map(is_running, offspring)))
    assert "Traceback" not in server.stderr
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["stderr", "stdout"]


def test_at_an_endpoint_it_serves_the_table_made_there_and_starts_no_store(tmp_path: Path, store_url: str) -> None:
    settings: dict[str, Any] = {"endpoint_url": store_url, "table_name": f"e2e-{tmp_path.name}"}
    assert command("table", "create", **settings).stdout == f"table e2e-{tmp_path.name} created\n"
    with serving(tmp_path / "run", **settings, log_level="error") as server:
        assert server.greeting[1] == f"Data: {store_url}, table e2e-{tmp_path.name}"
        values = {"ownerId": "ada", "kind": "USER", "name": "Ada"}
        assert server.ask(CREATE_OWNER, input=values)["createOwner"]["userErrors"] == []
        assert server.ask('{ owner(ownerId: "ada") { name } }') == {"owner": {"name": "Ada"}}
        missing = server.try_to_ask(LOCKER, lockerId="locker-000001")  # no demo data was requested
        assert missing["errors"][0]["message"] == "Locker locker-000001 does not exist."
        assert server.offspring == {}
        assert server.stderr == ""  # at this level, all is well is not worth a line


def test_a_first_start_that_was_cut_short_is_finished_by_the_next(tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert command("table", "create", data_dir=data).stdout == "table SmartLocker created\n"
    (data / "demo-unfinished").touch()  # as a start leaves it that was killed while it loaded
    with serving(tmp_path / "run", data_dir=data) as server:
        assert server.ask(LOCKER, lockerId="locker-000060")["locker"]["version"] == 1
        assert not (data / "demo-unfinished").exists()


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        taken_port = listener.getsockname()[1]
        line = refusal_of("serve", port=taken_port, data_dir=tmp_path / "data")
    assert line == (
        f"cannot listen on port {taken_port} of 127.0.0.1 (Address already in use): "
        "set --port or --host (SMARTLOCKER_PORT, SMARTLOCKER_HOST)"
    )
    assert not (tmp_path / "data").exists()
