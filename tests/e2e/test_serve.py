"""The life of a server: its first start, what it says, how it ends, and what is there when it starts again."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.api import CREATE_OWNER, UPDATE_STATUS
from tests.e2e.reports import KEPT
from tests.e2e.serving import COMMAND, eventually, is_running, refusal_of, serving, start
from tests.wire import Hold

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.wire import Wire

LOCKER = "query ($lockerId: ID!) { locker(lockerId: $lockerId) { lockerId status version owner { name } } }"


def test_a_first_start_makes_the_table_with_demo_data_and_prints_a_query_that_works(tmp_path: Path) -> None:
    with serving(tmp_path / "run", SMARTLOCKER_DATA_DIR=str(tmp_path / "data")) as server:
        port = httpx.URL(server.url).port
        assert server.greeting[:3] == [
            f"SmartLocker serves http://127.0.0.1:{port}/graphql",
            f"Data: {tmp_path / 'data'}, table SmartLocker",
            "Open it in a browser, or run:",
        ]
        command = server.greeting[3].strip()
        assert command.startswith(f"curl -s http://127.0.0.1:{port}/graphql ")
        answer = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
        assert json.loads(answer.stdout) == {
            "data": {
                "owner": {
                    "name": "Metro Parcel 1",
                    "lockers": {
                        "nodes": [
                            {"lockerId": "locker-000001", "alias": "Bike Cellar 1", "status": "AVAILABLE"},
                            {"lockerId": "locker-000013", "alias": "Reading Room 13", "status": "AVAILABLE"},
                            {"lockerId": "locker-000025", "alias": "Reading Room 25", "status": "AVAILABLE"},
                        ]
                    },
                }
            }
        }
        assert server.plans == [KEPT]
        home = server.url.removesuffix("graphql")
        page = httpx.get(home, headers={"Accept": "text/html"}, follow_redirects=True, timeout=60)
        assert (page.status_code, str(page.url)) == (200, server.url)
        assert page.text.lstrip().lower().startswith("<!doctype html>")
        eventually(lambda: "INFO:     Application startup complete." in server.stderr)
        assert "Loading demo data" in server.stderr
        assert (tmp_path / "data" / "smartlocker.db").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_server_and_store_with_status_0(tmp_path: Path, furnished: Path, number: int) -> None:
    server = start(tmp_path / "run", SMARTLOCKER_DATA_DIR=str(furnished))
    offspring = server.offspring
    assert "dynoxide" in offspring.values()
    # As a terminal does it: to everybody in the server's group.
    os.killpg(server.process.pid, number)
    assert server.process.wait(60) == 0
    eventually(lambda: not any(map(is_running, offspring)))
    assert "Traceback" not in server.stderr


def test_data_survives_a_restart_and_demo_data_is_not_loaded_again(tmp_path: Path, furnished: Path) -> None:
    change = {"lockerId": "locker-000001", "newStatus": "OCCUPIED", "expectedVersion": 1}
    with serving(tmp_path / "first", SMARTLOCKER_DATA_DIR=str(furnished)) as first:
        payload = first.ask(UPDATE_STATUS, input=change)["updateLockerStatus"]
        assert payload == {
            "locker": {"lockerId": "locker-000001", "status": "OCCUPIED", "version": 2},
            "userErrors": [],
        }
    with serving(tmp_path / "second", SMARTLOCKER_DATA_DIR=str(furnished)) as second:
        assert second.ask(LOCKER, lockerId="locker-000001")["locker"] == {
            "lockerId": "locker-000001",
            "status": "OCCUPIED",
            "version": 2,
            "owner": {"name": "Metro Parcel 1"},
        }
        assert "Loading demo data" not in second.stderr


@pytest.mark.parametrize("workers", [1, 2])
async def test_a_request_in_flight_is_answered_before_sigterm_ends_the_server(
    tmp_path: Path, wire: Wire, table: str, dump: Callable[[], Any], workers: int
) -> None:
    settings = {"SMARTLOCKER_ENDPOINT_URL": wire.url, "SMARTLOCKER_TABLE_NAME": table}
    server = await asyncio.to_thread(start, tmp_path / "run", **settings, SMARTLOCKER_WORKERS=str(workers))
    try:
        wire.fault = hold = Hold("TransactWriteItems")
        async with httpx.AsyncClient(timeout=60) as client:
            body = {"query": CREATE_OWNER, "variables": {"input": {"ownerId": "ada", "kind": "USER", "name": "Ada"}}}
            request = asyncio.create_task(client.post(server.url, json=body))
            await hold.arrivals()
            server.process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(eventually, lambda: server.stderr.count("Shutting down") == workers)
            hold.release()
            answer = await request
        assert answer.json() == {"data": {"createOwner": {"owner": {"ownerId": "ada", "version": 1}, "userErrors": []}}}
        assert ("OWNER#ada", "META") in await dump()
        assert await asyncio.to_thread(server.process.wait, 60) == 0
    finally:
        if server.process.poll() is None:
            server.end(signal.SIGKILL)


def test_the_bare_command_serves_and_leaves_nothing_in_its_folder(tmp_path: Path, furnished: Path) -> None:
    with serving(tmp_path / "run", [COMMAND], SMARTLOCKER_DATA_DIR=str(furnished)) as server:
        assert httpx.get(server.url.replace("/graphql", "/ready"), timeout=60).text == "ready"
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["stderr", "stdout"]


def test_at_an_endpoint_it_serves_the_table_made_there_and_starts_no_store(tmp_path: Path, store_url: str) -> None:
    settings = {"SMARTLOCKER_ENDPOINT_URL": store_url, "SMARTLOCKER_TABLE_NAME": f"e2e-{tmp_path.name}"}
    made = subprocess.run(
        [COMMAND, "table", "create"], env=os.environ | settings, capture_output=True, text=True, check=True
    )
    assert made.stdout == f"table e2e-{tmp_path.name} created\n"
    with serving(tmp_path / "run", **settings, SMARTLOCKER_LOG_LEVEL="error") as server:
        assert server.greeting[1] == f"Data: {store_url}, table e2e-{tmp_path.name}"
        values = {"ownerId": "ada", "kind": "USER", "name": "Ada"}
        assert server.ask(CREATE_OWNER, input=values)["createOwner"]["userErrors"] == []
        assert server.ask('{ owner(ownerId: "ada") { name } }') == {"owner": {"name": "Ada"}}
        missing = server.try_to_ask(LOCKER, lockerId="locker-000001")  # no demo data was requested
        assert missing["errors"][0]["message"] == "Locker locker-000001 does not exist."
        assert server.offspring == {}
        assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["plans", "stderr", "stdout"]
        assert server.stderr == ""  # at this level, all is well is not worth a line


def test_the_log_holds_no_part_of_a_url(tmp_path: Path, furnished: Path) -> None:
    with serving(tmp_path / "run", SMARTLOCKER_DATA_DIR=str(furnished), SMARTLOCKER_LOG_LEVEL="debug") as server:
        document = '{ ownerByEmail(email: "private-person@example.com") { name } }'
        found = httpx.get(server.url, params={"query": document}, timeout=60)
        assert found.json()["data"] == {"ownerByEmail": None}
        mistake = {"query": "{ private-mistake", "variables": "private-variables"}
        refused = httpx.get(server.url, params=mistake, timeout=60)
        assert refused.status_code == 400
    assert "Application shutdown complete" in server.stderr
    for written in (server.stdout, server.stderr):
        assert "private" not in written
        assert "ownerByEmail" not in written
        assert "GET /" not in written


def test_a_first_start_that_was_cut_short_is_finished_by_the_next(tmp_path: Path) -> None:
    run, data = tmp_path / "run", tmp_path / "data"
    settings = {"SMARTLOCKER_DATA_DIR": str(data)}
    made = subprocess.run(
        [COMMAND, "table", "create"], env=os.environ | settings, capture_output=True, text=True, check=True
    )
    assert made.stdout == "table SmartLocker created\n"
    (data / "demo-unfinished").touch()  # as a start leaves it that was killed while it loaded
    with serving(run, **settings) as server:
        assert server.ask(LOCKER, lockerId="locker-000060")["locker"]["lockerId"] == "locker-000060"
        assert not (data / "demo-unfinished").exists()


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        taken_port = listener.getsockname()[1]
        line = refusal_of("serve", SMARTLOCKER_PORT=str(taken_port), SMARTLOCKER_DATA_DIR=str(tmp_path / "data"))
    assert line == (
        f"cannot listen on port {taken_port} of 127.0.0.1 (Address already in use): "
        "set --port or --host (SMARTLOCKER_PORT, SMARTLOCKER_HOST)"
    )
    assert not (tmp_path / "data").exists()
