"""A request's time, and its place among others."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.api import CREATE_OWNER
from tests.wire import Wait

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    import httpx

    from tests.api import Api
    from tests.wire import Call, Wire

    Opener = Callable[..., AbstractAsyncContextManager[Api]]

OWNER = '{ owner(ownerId: "ada") { name } }'
# Lookups in batches, lists of lists in turns, and an entity whose record is read beside what hangs below it.
WIDE = """{
  owner(ownerId: "ada") {
    name
    lockers(first: 30) { nodes { owner { kind } latestEvent { action } activeReservation { status }
      reservations { nodes { status } } accessEvents { nodes { action } } } }
  }
}"""


async def ask(api: Api, query: str, accept: str = "application/json", **variables: Any) -> httpx.Response:
    content = {"query": query, "variables": variables}
    return await api.client.post("/graphql", json=content, headers={"Accept": accept})


@pytest.mark.parametrize("accept", ["application/json", "application/graphql-response+json"])
async def test_a_request_that_takes_too_long_is_given_up(open_api: Opener, wire: Wire, accept: str) -> None:
    wire.fault = lambda _: Wait(1.5)
    async with open_api(request_seconds=0.3) as api:
        started = time.monotonic()
        response = await ask(api, OWNER, accept)
        assert 0.3 <= time.monotonic() - started < 1.4
    (error,) = response.json()["errors"]
    assert response.status_code == 504
    assert response.headers["content-type"] == f"{accept}; charset=utf-8"
    assert error["message"] == (
        "The request took more than 0.3 s and was given up. Whether a mutation was done is not known: "
        "sent again with the same id, it has one effect."
    )
    assert error["extensions"] == {"code": "TIMEOUT", "status": 504, "requestId": response.headers["x-request-id"]}
    assert "data" not in response.json()


def is_the_proxys(task: asyncio.Task[Any]) -> bool:
    return "RequestHandler" in repr(task)


@pytest.mark.parametrize("slow", ["GetItem", "BatchGetItem", "Query"])
async def test_nothing_goes_on_after_the_deadline(
    open_api: Opener, api: Api, wire: Wire, caplog: pytest.LogCaptureFixture, slow: str
) -> None:
    # given
    await api.owner("ada")
    for number in range(30):
        await api.locker(f"l{number:02d}", "ada")
    lists = [0]

    def hold(call: Call) -> Wait | None:
        if call.operation == "Query":
            lists[0] += 1
        # The list of lockers itself comes at once, so that what hangs below each of them is under way.
        return Wait(1.6) if call.operation == slow and (slow != "Query" or lists[0] != 1) else None

    # when
    async with open_api(request_seconds=1) as hurried:
        before = asyncio.all_tasks()
        wire.reset()
        wire.fault = hold
        assert (await ask(hurried, WIDE)).status_code == 504
        # then: no task of the request is left, and no call is made that was not under way
        await asyncio.sleep(0.05)
        made = len(wire.calls)
        assert made >= 2
        assert [task for task in asyncio.all_tasks() - before if not is_the_proxys(task)] == []
        await asyncio.sleep(2)
        assert len(wire.calls) == made
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_a_mutation_that_was_cut_off_has_one_effect_when_it_is_sent_again(
    open_api: Opener, wire: Wire, dump: Callable[[], Any]
) -> None:
    values = {"ownerId": "ada", "kind": "USER", "name": "Ada"}
    wire.fault = lambda call: Wait(0.5) if call.operation == "TransactWriteItems" else None
    async with open_api(request_seconds=0.3) as api:
        assert (await ask(api, CREATE_OWNER, input=values)).status_code == 504
        await asyncio.sleep(0.7)  # the store had it all along
        wire.reset()
        answer = (await ask(api, CREATE_OWNER, input=values)).json()
    assert answer["data"]["createOwner"] == {"owner": {"ownerId": "ada", "version": 1}, "userErrors": []}
    assert [key for key in await dump() if key[0] == "OWNER#ada"] == [("OWNER#ada", "META")]


async def test_a_body_that_does_not_come_counts_towards_the_deadline(open_api: Opener) -> None:
    async def endless() -> Any:
        yield b'{"query": '
        await asyncio.sleep(5)
        yield b'"{ __typename }"}'

    async with open_api(request_seconds=0.3) as api:
        response = await api.client.post("/graphql", content=endless(), headers={"Content-Type": "application/json"})
        assert response.status_code == 504


async def test_more_requests_than_may_run_are_refused_at_once_while_health_checks_are_answered(
    open_api: Opener, wire: Wire
) -> None:
    arrived = asyncio.Semaphore(0)
    async with open_api(max_concurrent_requests=2) as api:
        await api.owner("ada")

        def hold(_: Call) -> Wait:
            arrived.release()
            return Wait(1)

        wire.fault = hold
        running = [asyncio.create_task(ask(api, OWNER)) for _ in range(2)]
        for _ in running:
            await arrived.acquire()
        made = len(wire.calls)
        for accept in ("application/json", "application/graphql-response+json"):
            started = time.monotonic()
            refused = await ask(api, OWNER, accept)
            assert time.monotonic() - started < 0.5
            (error,) = refused.json()["errors"]
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
            assert error["message"] == "Too many requests run here already: try again in a moment."
            assert (error["extensions"]["code"], error["extensions"]["status"]) == ("UNAVAILABLE", 503)
        for path in ("/health", "/ready"):
            assert (await api.client.get(path)).status_code == 200
        page = await api.client.get("/graphql", headers={"Accept": "text/html"})
        assert page.status_code == 200
        assert len(wire.calls) == made
        assert [(await request).json()["data"] for request in running] == [{"owner": {"name": "ada"}}] * 2
        wire.reset()
        assert (await ask(api, OWNER)).status_code == 200


async def test_bodies_on_their_way_take_no_place(open_api: Opener) -> None:
    go_on = asyncio.Event()

    async def slowly() -> Any:
        yield b'{"query": '
        await go_on.wait()
        yield b'"{ __typename }"}'

    async with open_api(max_concurrent_requests=1) as api:
        header = {"Content-Type": "application/json"}
        slow = [asyncio.create_task(api.client.post("/graphql", content=slowly(), headers=header)) for _ in range(5)]
        await asyncio.sleep(0.1)
        assert (await ask(api, "{ __typename }")).status_code == 200
        go_on.set()
        assert {(await request).status_code for request in slow} <= {200, 503}


@pytest.mark.parametrize("failing", ["{", "{ unknown }", OWNER])
async def test_a_place_is_free_again_whatever_came_of_the_request(open_api: Opener, wire: Wire, failing: str) -> None:
    wire.fault = lambda _: Wait(1)
    async with open_api(max_concurrent_requests=1, request_seconds=0.2) as api:
        for _ in range(3):
            assert (await ask(api, failing)).status_code != 503


async def test_readiness_and_liveness_touch_nothing_while_the_store_stalls(api: Api, wire: Wire) -> None:
    wire.fault = lambda _: Wait(60)
    assert (await api.client.get("/health")).text == "ok"
    assert (await api.client.get("/ready")).text == "ready"
    assert not wire.calls
