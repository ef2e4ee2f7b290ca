"""Several workers on one port: connections in turn, one budget, one sum of metrics, and none that is missed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
from collections import Counter
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.parser import text_string_to_metric_families

from tests.api import CREATE_OWNER
from tests.e2e.serving import Server, eventually, is_running, serving, start
from tests.wire import Hold

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.wire import Wire

QUERY = {"query": "{ __typename }"}
OWNER = {"query": '{ owner(ownerId: "ada") { name } }'}
WORKERS = {"SMARTLOCKER_WORKERS": "2"}


def workers_of(server: Server) -> list[int]:
    return sorted(process for process, program in server.offspring.items() if program.startswith("python"))


def metric(server: Server, name: str) -> float:
    """The sum of a metric's samples, as the next worker shows it."""
    page = httpx.get(server.url.replace("graphql", "metrics"), timeout=60)
    assert page.status_code == 200
    families = text_string_to_metric_families(page.text)
    return sum(sample.value for family in families for sample in family.samples if sample.name == name)


def counted_by_each(folder: Path) -> dict[str, float]:
    """How many requests each worker has counted."""
    return {
        file.name: sum(
            sample.value
            for family in MultiProcessCollector.merge([str(file)])
            for sample in family.samples
            if sample.name == "smartlocker_requests_total"
        )
        for file in folder.glob("smartlocker-*/counter_*.db")
    }


def ask(server: Server) -> dict[str, Any]:
    """Asks over a connection of its own."""
    answer: dict[str, Any] = httpx.post(server.url, json=QUERY, timeout=60).json()
    return answer


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """The directory for temporary files of a server."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


def test_workers_serve_in_turn_on_one_store_and_any_of_them_shows_the_metrics_of_all(
    tmp_path: Path, temporary: Path, furnished: Path
) -> None:
    settings = WORKERS | {
        "SMARTLOCKER_DATA_DIR": str(furnished),
        "SMARTLOCKER_METRICS": "on",
        "SMARTLOCKER_REQUEST_LOG": "on",
        "SMARTLOCKER_LOG_FORMAT": "json",
        "TMPDIR": str(temporary),
    }
    with serving(tmp_path / "run", **settings) as server:
        assert server.stdout.count("SmartLocker serves") == 1
        assert Counter(server.offspring.values())["dynoxide"] == 1
        assert len(workers_of(server)) == 2
        for _ in range(10):
            assert ask(server) == {"data": {"__typename": "Query"}}
        # a request is counted and logged when its response has been sent
        eventually(lambda: server.stderr.count('"event":"request"') == 10)
        assert counted_by_each(temporary) == {"counter_0.db": 5, "counter_1.db": 5}
        for _ in range(2):
            assert metric(server, "smartlocker_requests_total") == 10
            assert metric(server, "smartlocker_request_seconds_count") == 10
            assert metric(server, "smartlocker_requests_in_flight") == 0
        # every line is whole
        lines = [json.loads(line) for line in server.stderr.splitlines()]
        assert sum(line["event"] == "request" for line in lines) == 10
        assert len({line["request_id"] for line in lines if "request_id" in line}) == 10
    assert list(temporary.iterdir()) == []


def test_a_caller_has_one_budget_at_all_workers(tmp_path: Path, furnished: Path) -> None:
    settings = WORKERS | {
        "SMARTLOCKER_DATA_DIR": str(furnished),
        "SMARTLOCKER_RATE_LIMIT_UNITS": "1",
        "SMARTLOCKER_RATE_LIMIT_BURST": "8",
    }
    with serving(tmp_path / "run", **settings) as server:
        answers = [ask(server) for _ in range(14)]
    remaining = [answer["extensions"]["rateLimit"]["remaining"] for answer in answers if "data" in answer]
    assert remaining == [7, 6, 5, 4, 3, 2, 1, 0]
    assert {answer["errors"][0]["extensions"]["code"] for answer in answers[8:]} == {"RATE_LIMITED"}


async def test_a_killed_worker_is_replaced_while_the_other_serves_and_its_counts_are_kept(
    tmp_path: Path, temporary: Path, wire: Wire, table: str
) -> None:
    settings = WORKERS | {
        "SMARTLOCKER_ENDPOINT_URL": wire.url,
        "SMARTLOCKER_TABLE_NAME": table,
        "SMARTLOCKER_METRICS": "on",
        "TMPDIR": str(temporary),
    }
    server = await asyncio.to_thread(start, tmp_path / "run", **settings)

    def check() -> None:
        for _ in range(6):
            assert ask(server) == {"data": {"__typename": "Query"}}

    try:
        await asyncio.to_thread(check)
        # given a request in flight at each worker
        wire.fault = hold = Hold("GetItem")
        async with httpx.AsyncClient(timeout=60) as client:
            requests = [asyncio.create_task(client.post(server.url, json=OWNER)) for _ in range(2)]
            await hold.arrivals(2)
            # when
            killed, other = workers_of(server)
            os.kill(killed, signal.SIGKILL)
            await asyncio.to_thread(eventually, lambda: "ended with status -9" in server.stderr)
            # then one of them is answered, and new ones are too
            await asyncio.to_thread(check)
            hold.release()
            answers = await asyncio.gather(*requests, return_exceptions=True)
        assert sorted(isinstance(answer, httpx.Response) for answer in answers) == [False, True]
        await asyncio.to_thread(eventually, lambda: metric(server, "smartlocker_requests_total") == 13)
        # and there are two workers again
        await asyncio.to_thread(eventually, lambda: server.stderr.count("Application startup complete") == 3)
        before = counted_by_each(temporary)

        def has_answered() -> bool:
            check()
            return all(count > before[name] for name, count in counted_by_each(temporary).items())

        await asyncio.to_thread(eventually, has_answered)
        assert len(workers_of(server)) == 2
        assert other in workers_of(server)
        assert await asyncio.to_thread(metric, server, "smartlocker_requests_total") >= 19
        await asyncio.to_thread(eventually, lambda: metric(server, "smartlocker_requests_in_flight") == 0)
        assert await asyncio.to_thread(server.end) == 0
    finally:
        if server.process.poll() is None:
            server.end(signal.SIGKILL)


async def test_a_worker_that_is_told_to_stop_finishes_its_requests_and_is_replaced(
    tmp_path: Path, wire: Wire, table: str
) -> None:
    settings = WORKERS | {"SMARTLOCKER_ENDPOINT_URL": wire.url, "SMARTLOCKER_TABLE_NAME": table}
    server = await asyncio.to_thread(start, tmp_path / "run", **settings)
    try:
        wire.fault = hold = Hold("GetItem")
        async with httpx.AsyncClient(timeout=60) as client:
            requests = [asyncio.create_task(client.post(server.url, json=OWNER)) for _ in range(2)]
            await hold.arrivals(2)
            os.kill(workers_of(server)[0], signal.SIGTERM)
            await asyncio.to_thread(eventually, lambda: "Shutting down" in server.stderr)
            assert [(await asyncio.to_thread(ask, server)) for _ in range(3)] == [{"data": {"__typename": "Query"}}] * 3
            hold.release()
            assert [answer.status_code for answer in await asyncio.gather(*requests)] == [200, 200]
        await asyncio.to_thread(eventually, lambda: server.stderr.count("Application startup complete") == 3)
        assert await asyncio.to_thread(server.end) == 0
    finally:
        if server.process.poll() is None:
            server.end(signal.SIGKILL)


async def test_on_sigterm_all_workers_report_it_first_and_no_request_is_lost(
    tmp_path: Path, wire: Wire, table: str, dump: Callable[[], Any]
) -> None:
    settings = WORKERS | {
        "SMARTLOCKER_ENDPOINT_URL": wire.url,
        "SMARTLOCKER_TABLE_NAME": table,
        "SMARTLOCKER_DRAIN_SECONDS": "300",
    }
    server = await asyncio.to_thread(start, tmp_path / "run", **settings)
    try:
        ready = server.url.replace("/graphql", "/ready")

        def refusals() -> list[tuple[int, str]]:
            """What each worker says."""
            answers = [httpx.get(ready, timeout=60) for _ in range(2)]
            return [(answer.status_code, answer.text) for answer in answers]

        assert await asyncio.to_thread(refusals) == [(200, "ready")] * 2
        wire.fault = hold = Hold("TransactWriteItems")
        async with httpx.AsyncClient(timeout=60) as client:

            async def create(name: str) -> httpx.Response:
                values = {"ownerId": name, "kind": "USER", "name": "Ada"}
                return await client.post(server.url, json={"query": CREATE_OWNER, "variables": {"input": values}})

            first = [asyncio.create_task(create(f"o{number}")) for number in range(6)]
            await hold.arrivals(6)
            server.process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(eventually, lambda: refusals() == [(503, "stopping")] * 2)
            hold.release()
            answer = await client.post(server.url, json=QUERY)
            assert answer.json() == {"data": {"__typename": "Query"}}
            assert answer.headers["connection"] == "close"
            last = [asyncio.create_task(create(f"o{number}")) for number in range(6, 10)]
            answers = await asyncio.gather(*first, *last)
            assert {answer.json()["data"]["createOwner"]["owner"]["version"] for answer in answers} == {1}
        assert await asyncio.to_thread(server.end) == 0
        with pytest.raises(httpx.ConnectError):
            await asyncio.to_thread(httpx.get, ready)
        assert len([key for key in await dump() if key[0].startswith("OWNER#o")]) == 10
        assert "Traceback" not in server.stderr
    finally:
        if server.process.poll() is None:
            server.end(signal.SIGKILL)


def test_a_killed_supervisor_leaves_neither_workers_nor_a_store_nor_files_and_its_port_is_free(
    tmp_path: Path, temporary: Path, furnished: Path
) -> None:
    settings = WORKERS | {
        "SMARTLOCKER_DATA_DIR": str(furnished),
        "SMARTLOCKER_METRICS": "on",
        "TMPDIR": str(temporary),
    }
    server = start(tmp_path / "run", **settings)
    offspring = server.offspring
    assert len(workers_of(server)) == 2
    assert server.end(signal.SIGKILL) == -signal.SIGKILL
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", int(server.url.split(":")[2].split("/")[0])))
        again.listen()
    eventually(lambda: not any(map(is_running, offspring)))
    assert list(temporary.iterdir()) == []


def test_a_worker_that_cannot_start_ends_the_server_with_its_message(tmp_path: Path, furnished: Path) -> None:
    manifest = tmp_path / "documents.json"
    manifest.write_text("no JSON")
    settings = {"SMARTLOCKER_DATA_DIR": str(furnished), "SMARTLOCKER_TRUSTED_DOCUMENTS_FILE": str(manifest)}
    server = Server(tmp_path / "run", settings, options=("--workers", "2"))
    assert server.process.wait(120) == 1
    assert server.stdout == ""
    assert str(manifest) in server.stderr
    assert "ended with status 1" in server.stderr
    assert "Traceback" not in server.stderr
