import asyncio
import json
import os
import signal
import socket
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.parser import text_string_to_metric_families

from loaders.tools.table_state import CURRENT_STATE
from tests.e2e.serving import Server, eventually, is_running, running, serving, start
from tests.table_state import MARKED, set_state
from tests.wire import Hold, Wire

TYPENAME = {"data": {"__typename": "Query"}}
OWNER = {"query": '{ owner(ownerId: "ada") { name } }'}


def workers_of(server: Server) -> list[int]:
    return sorted(process for process, program in server.offspring.items() if program.startswith("python"))


def metric(server: Server, name: str) -> float:
    """The sum of a metric's samples, as the next worker shows it."""
    page = server.get("/metrics")
    assert page.status_code == 200
    families = text_string_to_metric_families(page.text)
    return sum(sample.value for family in families for sample in family.samples if sample.name == name)


def counted_by_each(folder: Path) -> dict[str, float]:
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
    return dict(server.post("{ __typename }").json())


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


def test_workers_serve_in_turn_on_one_store_and_any_of_them_shows_the_metrics_of_all(
    tmp_path: Path, temporary: Path, furnished: Path
) -> None:
    on = {"metrics": "on", "request_log": "on", "log_format": "json"}
    with serving(tmp_path / "run", workers=2, data_dir=furnished, **on, TMPDIR=temporary) as server:
        assert server.stdout.count("SmartLocker serves") == 1
        assert Counter(server.offspring.values())["dynoxide"] == 1
        assert len(workers_of(server)) == 2
        for _ in range(10):
            assert ask(server) == TYPENAME
        # a request is counted and logged when its response has been sent
        eventually(lambda: server.stderr.count('"event":"request"') == 10)
        assert counted_by_each(temporary) == {"counter_0.db": 5, "counter_1.db": 5}
        for _ in range(2):
            assert metric(server, "smartlocker_requests_total") == 10
            assert metric(server, "smartlocker_request_seconds_count") == 10
            assert metric(server, "smartlocker_requests_in_flight") == 0
            assert metric(server, "smartlocker_followed_shards") == 4  # one of them follows
        # every line is whole
        lines = [json.loads(line) for line in server.stderr.splitlines()]
        assert sum(line["event"] == "request" for line in lines) == 10
        assert len({line["request_id"] for line in lines if "request_id" in line}) == 10
    assert list(temporary.iterdir()) == []


def test_a_caller_has_one_budget_at_all_workers(tmp_path: Path, furnished: Path) -> None:
    limits: dict[str, Any] = {"rate_limit_units": 1, "rate_limit_burst": 8}
    with serving(tmp_path / "run", workers=2, data_dir=furnished, **limits) as server:
        answers = [ask(server) for _ in range(14)]
    remaining = [answer["extensions"]["rateLimit"]["remaining"] for answer in answers if "data" in answer]
    assert remaining == [7, 6, 5, 4, 3, 2, 1, 0]
    assert {answer["errors"][0]["extensions"]["code"] for answer in answers[8:]} == {"RATE_LIMITED"}


async def in_thread(is_so: Callable[[], bool]) -> None:
    await asyncio.to_thread(eventually, is_so)


async def test_a_killed_worker_is_replaced_while_the_other_serves_and_its_counts_are_kept(
    tmp_path: Path, temporary: Path, wire: Wire, at_wire: dict[str, str]
) -> None:
    async with running(tmp_path / "run", workers=2, **at_wire, metrics="on", TMPDIR=temporary) as server:

        def check() -> None:
            for _ in range(6):
                assert ask(server) == TYPENAME

        await asyncio.to_thread(check)
        # given a request in flight at each worker
        wire.fault = hold = Hold("GetItem")
        async with httpx.AsyncClient(timeout=60) as client:
            requests = [asyncio.create_task(client.post(server.url, json=OWNER)) for _ in range(2)]
            await hold.arrivals(2)
            # when
            killed, other = workers_of(server)
            os.kill(killed, signal.SIGKILL)
            await in_thread(lambda: "ended with status -9" in server.stderr)
            # then one of them is answered, and new ones are too
            await asyncio.to_thread(check)
            hold.release()
            answers = await asyncio.gather(*requests, return_exceptions=True)
        assert sorted(isinstance(answer, httpx.Response) for answer in answers) == [False, True]
        await in_thread(lambda: metric(server, "smartlocker_requests_total") == 13)
        # and there are two workers again
        await in_thread(lambda: server.stderr.count("Application startup complete") == 3)
        before = counted_by_each(temporary)

        def has_answered() -> bool:
            check()
            return all(count > before[name] for name, count in counted_by_each(temporary).items())

        await in_thread(has_answered)
        assert len(workers_of(server)) == 2
        assert other in workers_of(server)
        assert await asyncio.to_thread(metric, server, "smartlocker_requests_total") >= 19
        await in_thread(lambda: metric(server, "smartlocker_requests_in_flight") == 0)
        assert await asyncio.to_thread(server.end) == 0


async def test_all_workers_refuse_requests_while_the_table_is_migrated(
    tmp_path: Path, at_wire: dict[str, Any], table: str, plain_client: Any
) -> None:
    def answers(status: int) -> bool:
        """Whether each worker answers so."""
        return {server.post("{ __typename }").status_code for _ in range(4)} == {status} == {server.ready[0]}

    async with running(tmp_path / "run", workers=2, **at_wire) as server:
        assert await asyncio.to_thread(answers, 200)
        await set_state(plain_client, table, MARKED)
        await in_thread(lambda: answers(503))
        await set_state(plain_client, table, CURRENT_STATE)
        await in_thread(lambda: answers(200))
        assert server.stderr.count("all requests are refused: The table is being migrated") == 2
        assert await asyncio.to_thread(server.end) == 0


async def test_a_worker_that_is_told_to_stop_finishes_its_requests_and_is_replaced(
    tmp_path: Path, wire: Wire, at_wire: dict[str, str]
) -> None:
    async with running(tmp_path / "run", workers=2, **at_wire) as server:
        wire.fault = hold = Hold("GetItem")
        async with httpx.AsyncClient(timeout=60) as client:
            requests = [asyncio.create_task(client.post(server.url, json=OWNER)) for _ in range(2)]
            await hold.arrivals(2)
            os.kill(workers_of(server)[0], signal.SIGTERM)
            await in_thread(lambda: "Shutting down" in server.stderr)
            assert [(await asyncio.to_thread(ask, server)) for _ in range(3)] == [TYPENAME] * 3
            hold.release()
            assert [answer.status_code for answer in await asyncio.gather(*requests)] == [200, 200]
        await in_thread(lambda: server.stderr.count("Application startup complete") == 3)
        assert await asyncio.to_thread(server.end) == 0


def test_a_worker_that_does_not_answer_is_replaced_and_does_not_delay_the_end(tmp_path: Path, furnished: Path) -> None:
    with serving(tmp_path / "run", workers=2, data_dir=furnished) as server:
        stopped, other = workers_of(server)
        os.kill(stopped, signal.SIGSTOP)
        eventually(lambda: server.stderr.count("Application startup complete") == 3)
        assert server.stderr.count("does not answer: it is killed") == 1
        assert not is_running(stopped)
        assert other in workers_of(server)
        assert [ask(server) for _ in range(6)] == [TYPENAME] * 6

        os.kill(other, signal.SIGSTOP)
        assert server.end() == 0
        assert not is_running(other)


def test_a_killed_supervisor_leaves_neither_workers_nor_a_store_nor_files_and_its_port_is_free(
    tmp_path: Path, temporary: Path, furnished: Path
) -> None:
    server = start(tmp_path / "run", workers=2, data_dir=furnished, metrics="on", TMPDIR=temporary)
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
    settings = {"data_dir": furnished, "trusted_documents_file": manifest}
    server = Server(tmp_path / "run", settings, options=("--workers", "2"))
    assert server.process.wait(120) == 1
    assert server.stdout == ""
    assert str(manifest) in server.stderr
    assert "ended with status 1" in server.stderr
    assert "Traceback" not in server.stderr
