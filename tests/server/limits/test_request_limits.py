import asyncio
import logging
import socket
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any, Literal

import httpx
import pytest

from domain.authorization import DEVELOPMENT_ADMIN
from resolvers.request_state import FairLock
from server.limits.deadlines import Deadline, Deadlines
from server.settings import Settings
from tests.api import CREATE_OWNER, Api
from tests.conftest import Dump, OpenApi
from tests.over_http import GRAPHQL, JSON, assert_rejected, post
from tests.server.deadlines import held_until_its_deadline
from tests.wire import Call, Hold, Until, Wire

SCHEMA = '{ __schema { types { name fields(includeDeprecated: true) { name } } } __type(name: "T%d") { name } }'
OWNER = '{ owner(ownerId: "ada") { name } }'
# Lookups in batches, lists within a list, and an entity whose record is read at the same time as its lists.
WIDE = """{
  owner(ownerId: "ada") {
    name
    lockers(first: 30) { nodes { owner { kind } latestEvent { action } activeReservation { status }
      reservations { nodes { status } } accessEvents { nodes { action } } } }
  }
}"""


async def ask(api: Api, query: str, accept: str = JSON, **variables: Any) -> httpx.Response:
    return await post(api, query, accept, variables=variables)


@pytest.mark.parametrize("accept", [JSON, GRAPHQL])
async def test_a_request_that_takes_too_long_is_canceled(open_api: OpenApi, wire: Wire, accept: str) -> None:
    wire.fault = hold = Hold()
    async with open_api(request_seconds=0.3) as api:
        response = await ask(api, OWNER, accept)
        hold.release()
    message = (
        "The request took longer than 0.3 s and was canceled. A mutation may or may not have been applied: "
        "send it again with the same id, it then has one effect."
    )
    assert_rejected(response, "TIMEOUT", 504, message, accept)


async def test_each_request_has_its_whole_time(open_api: OpenApi, wire: Wire) -> None:
    async with open_api(request_seconds=1) as api:
        await api.owner("ada")
        wire.fault = hold = Hold()
        loop = asyncio.get_running_loop()
        began = {}
        ended = {}

        async def request(number: int) -> int:
            began[number] = loop.time()
            status = (await ask(api, OWNER)).status_code
            ended[number] = loop.time()
            return status

        # given two requests that the store holds, the second of which begins when the first is on its way
        running = [asyncio.create_task(request(0))]
        await hold.arrivals()
        running.append(asyncio.create_task(request(1)))
        # then each is canceled when its own time is over, and later requests are answered
        assert await asyncio.gather(*running) == [504, 504]
        assert [ended[number] - began[number] >= 1 for number in (0, 1)] == [True, True]
        hold.release()
        assert (await ask(api, OWNER)).status_code == 200


async def test_a_canceled_request_is_no_timeout() -> None:
    deadlines, begun = Deadlines(60), asyncio.Event()

    async def work() -> None:
        with Deadline(deadlines):
            begun.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_request_that_is_canceled_as_it_expires_stays_canceled() -> None:
    deadlines = Deadlines(0)

    async def work() -> None:
        with Deadline(deadlines):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                task.cancel()
                raise

    task = asyncio.create_task(work())
    with pytest.raises(asyncio.CancelledError):
        await task


def is_the_proxys(task: asyncio.Task[Any]) -> bool:
    return "RequestHandler" in repr(task)


@pytest.mark.parametrize("operation", ["GetItem", "BatchGetItem", "Query"])
async def test_nothing_goes_on_after_the_deadline(
    open_api: OpenApi, api: Api, wire: Wire, caplog: pytest.LogCaptureFixture, operation: str
) -> None:
    # given a request that waits for its second call of the operation, or its first if there is only one
    await api.owner("ada")
    for number in range(30):
        await api.locker(f"l{number:02d}", "ada")
    hold = Hold(operation)

    def hold_below_the_first_list(call: Call) -> Until | None:
        return None if call.operation == "Query" and len(wire.of("Query")) == 1 else hold(call)

    # when
    async with open_api(request_seconds=1.5) as hurried:
        before = asyncio.all_tasks()
        wire.reset()
        wire.fault = hold_below_the_first_list
        assert (await ask(hurried, WIDE)).status_code == 504
        for _ in range(100):  # cancellation takes a few turns of the loop
            await asyncio.sleep(0)
        # then no task of the request is left, and what is released leads to no more calls
        assert [task for task in asyncio.all_tasks() - before if not is_the_proxys(task)] == []
        sent = len(wire.calls)
        hold.release()
        while wire.running:  # noqa: ASYNC110  # the proxy has no event for it
            await asyncio.sleep(0.01)
        assert len(wire.calls) == sent
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_a_canceled_mutation_has_one_effect_when_repeated(open_api: OpenApi, wire: Wire, dump: Dump) -> None:
    values = {"ownerId": "ada", "kind": "USER", "name": "Ada"}
    await held_until_its_deadline(
        open_api, wire, lambda api: ask(api, CREATE_OWNER, input=values), "TransactWriteItems"
    )
    while wire.running:  # noqa: ASYNC110  # the store gets it nevertheless
        await asyncio.sleep(0.01)
    async with open_api() as api:
        answer = (await ask(api, CREATE_OWNER, input=values)).json()
    assert answer["data"]["createOwner"] == {"owner": {"ownerId": "ada", "version": 1}, "userErrors": []}
    assert [key for key in await dump() if key[0] == "OWNER#ada"] == [("OWNER#ada", "META"), ("OWNER#ada", "NAME")]


async def test_a_body_that_does_not_arrive_counts_towards_the_deadline(open_api: OpenApi) -> None:
    async def endless() -> Any:
        yield b'{"query": '
        await asyncio.Event().wait()

    async with open_api(request_seconds=0.3) as api:
        response = await api.client.post("/graphql", content=endless(), headers={"Content-Type": JSON})
        assert response.status_code == 504


async def test_requests_over_the_limit_are_rejected_and_health_is_answered(open_api: OpenApi, wire: Wire) -> None:
    async with open_api(max_concurrent_requests=2, request_seconds=60) as api:
        await api.owner("ada")
        wire.fault = hold = Hold()
        running = [asyncio.create_task(ask(api, OWNER)) for _ in range(2)]
        await hold.arrivals(2)
        for accept in (JSON, GRAPHQL):
            refused = await ask(api, OWNER, accept)
            message = "Too many requests are running on this server: try again in a moment."
            assert_rejected(refused, "UNAVAILABLE", 503, message, accept)
            assert refused.headers["retry-after"] == "1"
        for path, headers in (("/health", {}), ("/ready", {}), ("/graphql", {"Accept": "text/html"})):
            assert (await api.client.get(path, headers=headers)).status_code == 200
        assert not any(request.done() for request in running)
        hold.release()
        assert [(await request).json()["data"] for request in running] == [{"owner": {"name": "ada"}}] * 2
        assert (await ask(api, OWNER)).status_code == 200


async def test_a_request_whose_body_is_being_sent_takes_no_slot(open_api: OpenApi) -> None:
    begun, go_on = asyncio.Semaphore(0), asyncio.Event()

    async def slowly() -> Any:
        yield b'{"query": '
        begun.release()
        await go_on.wait()
        yield b'"{ __typename }"}'

    async with open_api(max_concurrent_requests=1) as api:
        header = {"Content-Type": JSON}
        slow = [asyncio.create_task(api.client.post("/graphql", content=slowly(), headers=header)) for _ in range(5)]
        for _ in slow:
            await begun.acquire()
        assert (await ask(api, "{ __typename }")).status_code == 200
        go_on.set()
        assert {(await request).status_code for request in slow} <= {200, 503}


@pytest.mark.parametrize("failing", ["{", "{ unknown }", OWNER])
async def test_a_slot_is_free_again_after_any_request(open_api: OpenApi, wire: Wire, failing: str) -> None:
    wire.fault = hold = Hold()
    async with open_api(max_concurrent_requests=1, request_seconds=0.2) as api:
        for _ in range(3):
            assert (await ask(api, failing)).status_code != 503
        hold.release()


async def test_health_checks_do_not_access_the_store(api: Api, wire: Wire) -> None:
    assert (await api.client.get("/health")).text == "ok"
    assert (await api.client.get("/ready")).text == "ready"
    assert not wire.calls


async def test_a_caller_has_a_limit_of_its_own_for_concurrent_requests(open_api: OpenApi, wire: Wire) -> None:
    async with open_api(max_concurrent_per_caller=2) as api:
        await api.owner("ada")
        wire.fault = hold = Hold()
        running = [asyncio.create_task(ask(api, OWNER)) for _ in range(2)]
        await hold.arrivals(2)
        refused = await ask(api, OWNER)
        message = (
            "You have 2 requests running, as many as one caller may (SMARTLOCKER_MAX_CONCURRENT_PER_CALLER): "
            "try again when one has ended."
        )
        assert_rejected(refused, "RATE_LIMITED", 429, message)
        assert refused.headers["retry-after"] == "1"
        other = asyncio.create_task(api.by(replace(DEVELOPMENT_ADMIN, subject="other")).run(OWNER))
        await hold.arrivals()
        hold.release()
        assert [(await request).status_code for request in running] == [200, 200]
        assert await other == {"owner": {"name": "ada"}}
        assert (await ask(api, OWNER)).status_code == 200


async def test_expensive_documents_of_one_caller_do_not_keep_health_checks_waiting(api: Api) -> None:
    finished: list[str] = []

    async def flood(number: int) -> None:
        unused = " ".join(f"fragment F{fragment}x{number} on Query {{ __typename }}" for fragment in range(40))
        await ask(api, f"{{ __typename }} {unused}" if number % 2 else f"query Q{number} {SCHEMA % number}")
        finished.append("flood")

    async def check_health() -> None:
        assert (await api.client.get("/health")).text == "ok"
        finished.append("health")

    async with asyncio.TaskGroup() as group:
        for number in range(40):
            group.create_task(flood(number))
        group.create_task(check_health())
    assert finished.index("health") <= 1, finished  # what ran when it came may end first


@pytest.mark.parametrize(
    ("timer", "expected"),
    [
        (count().__next__, ["work", "answer", "work", "work"]),
        (lambda: 0, ["work", "work", "work"]),
    ],
    ids=["long", "short"],
)
async def test_a_new_connection_is_answered_between_two_pieces_of_work_if_they_are_long(
    timer: Callable[[], float], expected: list[str]
) -> None:
    turn, finished = FairLock(timer), []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b"ok")
        finished.append("answer")
        writer.close()

    async def work() -> None:
        async with turn:
            finished.append("work")

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        with socket.create_connection(server.sockets[0].getsockname()) as probe:
            probe.sendall(b"/health\n")
            await asyncio.gather(*(work() for _ in range(3)))
            assert finished == expected


@pytest.mark.parametrize(
    ("profile", "setting", "most"),
    [("development", None, None), ("development", 3, 3), ("production", None, 64), ("production", 3, 3)],
)
def test_production_limits_the_concurrent_requests_of_a_caller(
    profile: Literal["development", "production"], setting: int | None, most: int | None
) -> None:
    assert Settings(profile=profile, max_concurrent_per_caller=setting).concurrent_per_caller == most
