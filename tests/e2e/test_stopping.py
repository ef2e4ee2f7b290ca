import asyncio
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest

from tests.api import CREATE_OWNER
from tests.conftest import Dump
from tests.e2e.serving import eventually, running, start
from tests.sockets import Socket, acknowledged
from tests.wire import Hold, Wire

FOLLOW = "subscription { activity { kind } }"
TYPENAME = "{ __typename }"


@pytest.fixture(autouse=True)
def _no_nohup() -> Iterator[None]:
    """A server inherits from tests that run under `nohup` that it ignores SIGHUP."""
    before = signal.signal(signal.SIGHUP, lambda *_: None)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize(("stop", "workers"), [(signal.SIGTERM, 1), (signal.SIGHUP, 1), (signal.SIGTERM, 2)])
async def test_on_a_signal_readiness_fails_while_requests_are_still_accepted_and_none_is_lost(
    tmp_path: Path, wire: Wire, at_wire: dict[str, str], dump: Dump, stop: int, workers: int
) -> None:
    async with (
        running(tmp_path / "run", **at_wire, workers=workers, drain_seconds=300) as server,
        httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=50)) as client,
        AsyncExitStack() as stack,
    ):

        async def follow() -> Socket:
            subscriber = await stack.enter_async_context(acknowledged(server.url))
            await subscriber.subscribe("1", FOLLOW)
            assert await subscriber.answer("2", TYPENAME) == {"data": {"__typename": "Query"}}
            return subscriber

        async def create(number: int) -> httpx.Response:
            values = {"ownerId": f"o{number}", "kind": "USER", "name": "Ada"}
            return await client.post(server.url, json={"query": CREATE_OWNER, "variables": {"input": values}})

        async def until(is_so: Callable[[], bool]) -> None:
            await asyncio.to_thread(eventually, is_so)

        # given workers that are ready, and requests that run
        assert await asyncio.to_thread(lambda: server.ready) == (200, "ready")
        subscribers = [await follow() for _ in range(2 * workers)]
        events = {"Accept": "text/event-stream"}
        stream = await stack.enter_async_context(
            client.stream("POST", server.url, json={"query": FOLLOW}, headers=events)
        )
        wire.fault = hold = Hold("TransactWriteItems")
        requests = [asyncio.create_task(create(number)) for number in range(6)]
        await hold.arrivals(6)
        # when
        server.process.send_signal(stop)
        # then none is ready, but they are alive, and accept requests on connections that they close
        await until(lambda: [server.ready for _ in range(workers)] == [(503, "stopping")] * workers)
        assert (await asyncio.to_thread(server.get, "/health")).text == "ok"
        answer = await client.post(server.url, json={"query": "{ __typename }"})
        assert answer.json() == {"data": {"__typename": "Query"}}
        assert answer.headers["connection"] == "close"
        requests += [asyncio.create_task(create(number)) for number in range(6, 10)]
        # nor is any subscriber closed, and others may come
        subscribers.append(await follow())
        for subscriber in subscribers:
            await subscriber.send(type="ping")
            assert await subscriber.receive() == {"type": "pong"}
        await hold.arrivals(4)
        # and what still runs when they are told to end at once is answered first
        server.process.send_signal(stop)
        await until(lambda: server.stderr.count("Shutting down") == workers)
        assert {await subscriber.ended() for subscriber in subscribers} == {(1012, "The server is stopping")}
        assert b"complete" not in b"".join([part async for part in stream.aiter_raw()])
        hold.release()
        answers = await asyncio.gather(*requests)
        assert {answer.json()["data"]["createOwner"]["owner"]["version"] for answer in answers} == {1}
        assert await asyncio.to_thread(server.process.wait, 60) == 0
        with pytest.raises(httpx.ConnectError):
            await client.get(server.url)
        assert len([pk for pk, sk in await dump() if pk.startswith("OWNER#o") and sk == "META"]) == 10
        assert "Traceback" not in server.stderr


def test_after_its_time_to_drain_the_server_ends_by_itself(tmp_path: Path, at_store: dict[str, str]) -> None:
    server = start(tmp_path / "run", **at_store, drain_seconds=1)
    began = time.monotonic()
    assert server.end(signal.SIGHUP) == 0
    assert time.monotonic() - began >= 1


@pytest.mark.parametrize(
    ("signals", "workers"),
    [
        ([signal.SIGTERM, signal.SIGTERM], 1),
        ([signal.SIGINT], 2),
        ([signal.SIGHUP, signal.SIGINT], 2),
    ],
)
def test_sigint_or_a_second_signal_stops_at_once(
    tmp_path: Path, at_store: dict[str, str], signals: list[int], workers: int
) -> None:
    server = start(tmp_path / "run", **at_store, workers=workers, drain_seconds=300)
    first, *second = signals
    server.process.send_signal(first)
    for number in second:
        eventually(lambda: server.ready[0] == 503)
        server.process.send_signal(number)
    assert server.process.wait(60) == 0
