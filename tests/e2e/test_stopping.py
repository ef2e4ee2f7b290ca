"""SIGTERM: readiness fails first, requests are taken for a while, and none that is under way is lost."""

from __future__ import annotations

import asyncio
import signal
import time
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.api import CREATE_OWNER
from tests.e2e.serving import start
from tests.wire import Wait

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.wire import Wire

QUERY = {"query": "{ __typename }"}


async def test_on_sigterm_readiness_fails_while_requests_are_still_taken_and_none_is_lost(
    tmp_path: Path, wire: Wire, table: str, dump: Callable[[], Any]
) -> None:
    settings = {
        "SMARTLOCKER_ENDPOINT_URL": wire.url,
        "SMARTLOCKER_TABLE_NAME": table,
        "SMARTLOCKER_DRAIN_SECONDS": "2",
    }
    server = await asyncio.to_thread(start, tmp_path / "run", **settings)
    try:
        ready, health = (server.url.replace("/graphql", path) for path in ("/ready", "/health"))
        wire.fault = lambda call: Wait(1) if call.operation == "TransactWriteItems" else None
        limits = httpx.Limits(max_connections=50)
        async with httpx.AsyncClient(timeout=20, limits=limits) as client:
            assert (await client.get(ready)).text == "ready"

            async def create(number: int) -> httpx.Response:
                values = {"ownerId": f"o{number}", "kind": "USER", "name": "Ada"}
                return await client.post(server.url, json={"query": CREATE_OWNER, "variables": {"input": values}})

            # given requests under way
            first = [asyncio.create_task(create(number)) for number in range(10)]
            await asyncio.sleep(0.3)
            # when
            server.process.send_signal(signal.SIGTERM)
            began = time.monotonic()
            await asyncio.sleep(0.3)
            # then: it says that it is not ready, is alive, and takes requests on connections that it closes
            refused = await client.get(ready)
            assert (refused.status_code, refused.text) == (503, "stopping")
            assert (await client.get(health)).text == "ok"
            answer = await client.post(server.url, json=QUERY)
            assert answer.json() == {"data": {"__typename": "Query"}}
            assert answer.headers["connection"] == "close"
            # until just before the socket closes
            await asyncio.sleep(max(0.0, began + 1.6 - time.monotonic()))
            last = [asyncio.create_task(create(number)) for number in range(10, 20)]
            answers = await asyncio.gather(*first, *last)
            assert {answer.json()["data"]["createOwner"]["owner"]["version"] for answer in answers} == {1}
        assert await asyncio.to_thread(server.process.wait, 20) == 0
        assert time.monotonic() - began >= 2
        with pytest.raises(httpx.ConnectError):
            await asyncio.to_thread(httpx.get, health)
        assert len([key for key in await dump() if key[0].startswith("OWNER#o")]) == 20
        assert "Traceback" not in server.stderr
    finally:
        if server.process.poll() is None:
            server.end(signal.SIGKILL)


@pytest.mark.parametrize("signals", [[signal.SIGINT], [signal.SIGTERM, signal.SIGTERM]])
def test_a_person_does_not_wait(tmp_path: Path, store_url: str, table: str, signals: list[int]) -> None:
    settings = {"SMARTLOCKER_ENDPOINT_URL": store_url, "SMARTLOCKER_TABLE_NAME": table}
    server = start(tmp_path / "run", **settings, SMARTLOCKER_DRAIN_SECONDS="60")
    began = time.monotonic()
    for number in signals:
        server.process.send_signal(number)
        time.sleep(0.2)
    assert server.process.wait(20) == 0
    assert time.monotonic() - began < 15
