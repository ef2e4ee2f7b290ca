import asyncio
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace

import pytest

from loaders.reads.table_state import TableWatch
from loaders.reads.watching import watching
from loaders.table.client import DynamoStore
from loaders.table.health import GRACE_SECONDS, StoreHealth, WatchedTransport
from loaders.table.transport import Answer, NoAnswerError, RefusedRequestError, Transport
from tests.wire import Wire

FULL = RefusedRequestError("InternalServerError", "database or disk is full", 500, {}, 2)
SILENT = NoAnswerError("no response in time", 2)
THROTTLED = RefusedRequestError("ProvisionedThroughputExceededException", "slow down", 400, {}, 2)
DENIED = RefusedRequestError("AccessDeniedException", "not you", 400, {}, 0)


async def test_an_idle_server_reads_one_item_through_its_contract(
    transport: Transport, wire: Wire, table: str, caplog: pytest.LogCaptureFixture
) -> None:
    health = StoreHealth()
    store = DynamoStore(WatchedTransport(transport, health), table)
    async with watching(store, health, TableWatch()), asyncio.timeout(60):
        while not wire.calls:  # noqa: ASYNC110  # the wire has no event
            await asyncio.sleep(0.05)
    (call, *_) = wire.calls
    assert (call.operation, call.keys) == ("GetItem", [("TABLE", "FORMAT")])
    assert health.is_read_up
    assert caplog.messages == []


async def test_a_server_that_reads_anyway_sends_no_further_reads(transport: Transport, wire: Wire, table: str) -> None:
    checks = []

    def check() -> None:
        checks.append(True)
        health.reads.succeeded()

    health = StoreHealth(lambda: 1.0, find_problem=check)
    store = DynamoStore(WatchedTransport(transport, health), table)
    async with watching(store, health, TableWatch(lambda: 1.0)), asyncio.timeout(60):
        wire.reset()
        while not checks:  # noqa: ASYNC110  # as above
            await asyncio.sleep(0.05)
    assert wire.calls == []


class Watched:
    """A store whose requests end as they are told, each after a while."""

    def __init__(self, find_problem: Callable[[], str | None] = lambda: None) -> None:
        self.now = 100.0
        self.error: Exception | None = None
        self.health = StoreHealth(lambda: self.now, find_problem)
        self._watched = WatchedTransport(SimpleNamespace(send=self._end), self.health)

    async def _end(self, *_: object) -> Answer:
        if self.error is not None:
            raise self.error
        return Answer({}, 0)

    async def send(self, operation: str, error: Exception | None = None, *, seconds: float = 0) -> None:
        """Lets a request end so, after that many seconds."""
        self.error = error
        self.now += seconds
        with suppress(NoAnswerError, RefusedRequestError):
            await self._watched.send(operation, {})
        self.health.check()


async def test_a_stall_of_one_request_is_forgiven(caplog: pytest.LogCaptureFixture) -> None:
    watched = Watched()
    for _ in range(5):
        await watched.send("GetItem", SILENT, seconds=GRACE_SECONDS - 1)
        assert watched.health.is_read_up
        await watched.send("GetItem")
    assert caplog.messages == ["a read failed in the store: no response in time"]


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (FULL, "InternalServerError: database or disk is full"),
        (SILENT, "no response in time"),
        (DENIED, "AccessDeniedException"),
        (RefusedRequestError("", "a client's secret", 502, {}, 2), "status 502"),
    ],
)
async def test_an_outage_is_told_once_and_is_over_with_the_first_read_that_succeeds(
    error: Exception, cause: str, caplog: pytest.LogCaptureFixture
) -> None:
    watched = Watched()
    for _ in range(20):
        await watched.send("Query", error, seconds=1)
    assert not watched.health.is_read_up
    assert watched.health.is_write_up
    await watched.send("BatchGetItem", seconds=1)
    assert watched.health.is_read_up
    await watched.send("BatchGetItem", seconds=GRACE_SECONDS)
    assert caplog.messages == [
        f"a read failed in the store: {cause}",
        "the store is down: the server is not ready until a read succeeds",
        "the store is up again: the server is ready",
        "reads succeed again in the store",
    ]


async def test_writes_that_fail_are_told_and_leave_the_server_ready(caplog: pytest.LogCaptureFixture) -> None:
    watched = Watched()
    await watched.send("GetItem")  # it tells the store's time
    for _ in range(20):
        await watched.send("TransactWriteItems", FULL, seconds=1)
    assert watched.health.is_read_up
    assert not watched.health.is_write_up
    assert caplog.messages == ["a write failed in the store: InternalServerError: database or disk is full"]
    await watched.send("PutItem")
    assert watched.health.is_write_up


async def test_throttling_is_no_outage(caplog: pytest.LogCaptureFixture) -> None:
    watched = Watched()
    for _ in range(60):
        await watched.send("GetItem", THROTTLED, seconds=1)
    assert watched.health.is_read_up
    assert caplog.messages == []


async def test_the_log_does_not_grow_with_the_number_of_causes(caplog: pytest.LogCaptureFixture) -> None:
    watched = Watched()
    for number in range(100):
        await watched.send("GetItem", NoAnswerError(f"cause {number}", 2))
    assert len(caplog.messages) == 10


async def test_a_problem_that_requests_do_not_show_makes_the_store_down(caplog: pytest.LogCaptureFixture) -> None:
    problems: list[str | None] = [None]
    watched = Watched(lambda: problems[0])
    await watched.send("GetItem")
    assert watched.health.is_read_up
    problems[0] = "the file is gone"
    await watched.send("GetItem")
    await watched.send("GetItem")
    assert not watched.health.is_read_up
    assert not watched.health.is_write_up
    assert caplog.messages == ["the file is gone", "the store is down: the server is not ready until a read succeeds"]
