"""SIGTERM and SIGHUP: readiness fails first, requests are accepted for a while, and none that is running is lost."""

from __future__ import annotations

import asyncio
import signal
import time
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.api import CREATE_OWNER
from tests.e2e.serving import eventually, start
from tests.wire import Hold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.wire import Wire

QUERY = {"query": "{ __typename }"}


@pytest.fixture(autouse=True)
def _no_nohup() -> Iterator[None]:
    """A server inherits from tests that run under `nohup` that it ignores SIGHUP."""
    before = signal.signal(signal.SIGHUP, lambda *_: None)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGHUP])
async def test_on_a_signal_readiness_fails_while_requests_are_still_accepted_and_none_is_lost(
    tmp_path: Path, wire: Wire, table: str, dump: Callable[[], Any], stop: int
) -> None:
    settings = {
        "SMARTLOCKER_ENDPOINT_URL": wire.url,
        "SMARTLOCKER_TABLE_NAME": table,
        "SMARTLOCKER_DRAIN_SECONDS": "300",
    }
    server = await asyncio.to_thread(start, tmp_path / "run", **settings)
    try:
        ready, health = (server.url.replace("/graphql", path) for path in ("/ready", "/health"))
        wire.fault = hold = Hold("TransactWriteItems")
        async with httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=50)) as client:
            assert (await client.get(ready)).text == "ready"

            async def create(number: int) -> httpx.Response:
                values = {"ownerId": f"o{number}", "kind": "USER", "name": "Ada"}
                return await client.post(server.url, json={"query": CREATE_OWNER, "variables": {"input": values}})

            # given requests that run
            first = [asyncio.create_task(create(number)) for number in range(5)]
            await hold.arrivals(5)
            # when
            server.process.send_signal(stop)
            # then it is not ready, but alive, and accepts requests on connections that it closes
            async with asyncio.timeout(60):
                while (refused := await client.get(ready)).status_code == 200:
                    pass
            assert (refused.status_code, refused.text) == (503, "stopping")
            hold.release()
            assert (await client.get(health)).text == "ok"
            answer = await client.post(server.url, json=QUERY)
            assert answer.json() == {"data": {"__typename": "Query"}}
            assert answer.headers["connection"] == "close"
            last = [asyncio.create_task(create(number)) for number in range(5, 10)]
            answers = await asyncio.gather(*first, *last)
            assert {answer.json()["data"]["createOwner"]["owner"]["version"] for answer in answers} == {1}
        assert await asyncio.to_thread(server.end, stop) == 0
        with pytest.raises(httpx.ConnectError):
            await asyncio.to_thread(httpx.get, health)
        assert len([key for key in await dump() if key[0].startswith("OWNER#o")]) == 10
        assert "Traceback" not in server.stderr
    finally:
        if server.process.poll() is None:
            server.end(signal.SIGKILL)


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGHUP])
def test_when_its_time_to_drain_is_over_the_server_ends_by_itself(
    tmp_path: Path, store_url: str, table: str, stop: int
) -> None:
    settings = {"SMARTLOCKER_ENDPOINT_URL": store_url, "SMARTLOCKER_TABLE_NAME": table}
    server = start(tmp_path / "run", **settings, SMARTLOCKER_DRAIN_SECONDS="1")
    began = time.monotonic()
    assert server.end(stop) == 0
    assert time.monotonic() - began >= 1


@pytest.mark.parametrize(
    ("signals", "workers"),
    [
        ([signal.SIGINT], "1"),
        ([signal.SIGTERM, signal.SIGTERM], "1"),
        ([signal.SIGHUP, signal.SIGINT], "1"),
        ([signal.SIGINT], "2"),
        ([signal.SIGHUP, signal.SIGTERM], "2"),
    ],
)
def test_sigint_or_a_second_signal_stops_at_once(
    tmp_path: Path, store_url: str, table: str, signals: list[int], workers: str
) -> None:
    settings = {
        "SMARTLOCKER_ENDPOINT_URL": store_url,
        "SMARTLOCKER_TABLE_NAME": table,
        "SMARTLOCKER_WORKERS": workers,
    }
    server = start(tmp_path / "run", **settings, SMARTLOCKER_DRAIN_SECONDS="300")
    ready = server.url.replace("/graphql", "/ready")
    first, *second = signals
    server.process.send_signal(first)
    for number in second:
        eventually(lambda: httpx.get(ready, timeout=60).status_code == 503)
        server.process.send_signal(number)
    assert server.process.wait(60) == 0
