import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest
import pytest_asyncio

from domain.times import shift
from loaders.codecs import TableState
from loaders.following.leases import LeaseTimes
from loaders.following.registry import FollowingParts
from loaders.reads.table_state import READ_SECONDS, VALID_SECONDS, TableWatch
from loaders.table.client import DynamoStore
from loaders.table.clock import utc_now
from loaders.table.health import StoreHealth
from loaders.table.transport import Transport
from loaders.tools.table_state import CURRENT_STATE, being_migrated
from server.http.health import Readiness
from tests.api import CREATE_OWNER, Api, mutation
from tests.conftest import NOW, Dump, OpenApi
from tests.over_http import assert_rejected, post
from tests.places import prepare
from tests.principals import owner
from tests.races.holding import Held
from tests.server.conftest import RunOnTable
from tests.table_state import KEY, UNUSABLE, set_state
from tests.tables import PlainClient
from tests.wire import Answer, Call, Wire

READ_ONLY = "The service is read-only for maintenance: nothing can be changed now. Try again later."
STATE = [(KEY["PK"], KEY["SK"])]
OWNER = {"ownerId": "ada", "kind": "USER", "name": "Ada"}
NAME = '{ owner(ownerId: "ada") { name } }'
RESERVE_ANY = mutation("reserveAnyLocker", "reservation { lockerId }")
INTROSPECTION = "{ __schema { queryType { name } } }"
LISTS = """query ($window: TimeWindow!, $span: TimeSpan!) {
  owner(ownerId: "ada") { lockers(status: AVAILABLE) { nodes { lockerId } } }
  locker(lockerId: "l1") {
    activeReservation { status } nextReservation { status } busy(window: $span) { startAt }
    reservations(overlapping: $window) { nodes { status } }
  }
  locations {
    nodes { lockers(status: AVAILABLE) { nodes { lockerId } } availableLockers(window: $span) { isComplete } }
  }
}"""
"""Every field that relied on a format of the table."""


class Server:
    """A server that watches its table by a clock of the test."""

    def __init__(self) -> None:
        self.now = 0.0
        self.table = TableWatch(lambda: self.now)
        self.readiness = Readiness(StoreHealth(lambda: 0.0), self.table)  # its clock stands, so it is never idle
        self.api: Api

    async def ready(self) -> tuple[int, str]:
        response = await self.api.client.get("/ready")
        return response.status_code, response.text

    async def every_request(self) -> list[httpx.Response]:
        """The responses to requests of all kinds."""
        by_get = self.api.client.get("/graphql", params={"query": "{ __typename }"}, headers=self.api.headers)
        return [
            await post(self.api, NAME),
            await post(self.api, CREATE_OWNER, variables={"input": OWNER}),
            await post(self.api, INTROSPECTION),
            await post(self.api, "{ __typename }", extensions={"explain": "plan"}),
            await post(self.api, "{ nonsense"),
            await post(self.api, None),
            await by_get,
            await self.api.client.post("/graphql", content="nonsense", headers={"Authorization": "Bearer nonsense"}),
        ]

    async def look_again(self) -> None:
        """Lets time pass until the server has read the state again."""
        self.now += READ_SECONDS
        async with asyncio.timeout(60):
            while self.table.is_due:  # noqa: ASYNC110  # the watch has no event
                await asyncio.sleep(0.05)


@pytest_asyncio.fixture
async def server(open_api: OpenApi, wire: Wire) -> AsyncIterator[Server]:
    opened = Server()
    async with open_api(readiness=opened.readiness, server_clock=utc_now) as opened.api:
        wire.reset()
        yield opened


@pytest.mark.parametrize(("state", "reason"), UNUSABLE.values(), ids=UNUSABLE)
async def test_every_request_is_refused_while_the_table_cannot_be_used(
    server: Server, plain_client: PlainClient, table: str, wire: Wire, state: TableState | None, reason: str
) -> None:
    assert await server.ready() == (200, "ready")
    await set_state(plain_client, table, state)
    await server.look_again()
    wire.reset()
    for response in await server.every_request():
        assert_rejected(response, "UNAVAILABLE", 503)
        assert reason in response.json()["errors"][0]["message"]
        assert response.headers["retry-after"]
    assert wire.calls == []
    status, text = await server.ready()
    assert status == 503
    assert reason in text
    assert (await server.api.client.get("/health")).text == "ok"
    await set_state(plain_client, table, CURRENT_STATE)
    await server.look_again()
    await server.api.owner("ada")
    assert await server.ready() == (200, "ready")


async def test_a_read_only_table_is_read_and_not_changed(
    server: Server, on_table: RunOnTable, table: str, wire: Wire, dump: Dump, caplog: pytest.LogCaptureFixture
) -> None:
    bob = {"input": OWNER | {"ownerId": "bob"}}
    await server.api.owner("ada")
    done = await on_table("table", "read-only", "on", request_seconds="7")
    assert (done.status, done.out) == (0, f"table {table} is read-only\n")
    assert done.err == "waiting 27 s until no server changes the table\n"
    await server.look_again()
    before = await dump()
    wire.reset()
    refused = await post(server.api, CREATE_OWNER, variables=bob)
    assert_rejected(refused, "UNAVAILABLE", 503, READ_ONLY)
    assert refused.headers["retry-after"] == "30"
    assert wire.calls == []
    assert (await post(server.api, CREATE_OWNER, variables=bob, extensions={"explain": "plan"})).is_success
    assert await server.api.run(NAME) == {"owner": {"name": "ada"}}
    assert await server.ready() == (200, "ready")
    assert await dump() == before
    assert (await on_table("table", "read-only", "off")).out == f"table {table} is no longer read-only\n"
    await server.look_again()
    await server.api.owner("bob")
    assert caplog.messages == ["changes are refused: the table is read-only", "changes are accepted again"]


async def test_a_read_only_server_refuses_mutations_whatever_the_state(open_api: OpenApi, wire: Wire) -> None:
    async with open_api(read_only="on", metrics="on") as api:
        assert "\nsmartlocker_read_only 1.0\n" in (await api.client.get("/metrics")).text
        assert_rejected(await post(api, CREATE_OWNER, variables={"input": OWNER}), "UNAVAILABLE", 503, READ_ONLY)
        assert await api.run("{ locations { nodes { name } } }") == {"locations": {"nodes": []}}
    assert {call.operation for call in wire.calls} == {"Query"}


async def test_nobody_follows_the_log_of_a_read_only_table(
    open_api: OpenApi, plain_client: PlainClient, table: str, wire: Wire
) -> None:
    await set_state(plain_client, table, replace(CURRENT_STATE, is_read_only=True))
    server = Server()
    following = FollowingParts(times=LeaseTimes(0.05, 5, 6))
    async with open_api(readiness=server.readiness, server_clock=utc_now, following=following):
        await server.look_again()
        assert {call.operation for call in wire.calls} == {"GetItem"}
        await set_state(plain_client, table, CURRENT_STATE)
        await server.look_again()
        async with asyncio.timeout(60):
            while not wire.of("PutItem"):  # noqa: ASYNC110  # the wire has no event
                await asyncio.sleep(0.05)


async def test_a_server_that_starts_on_a_table_that_is_not_migrated_refuses_requests(
    open_api: OpenApi, plain_client: PlainClient, table: str, caplog: pytest.LogCaptureFixture
) -> None:
    await set_state(plain_client, table, None)
    server = Server()
    async with open_api(readiness=server.readiness, server_clock=utc_now) as server.api:
        for response in await server.every_request():
            assert_rejected(response, "UNAVAILABLE", 503)
        await set_state(plain_client, table, CURRENT_STATE)
        await server.look_again()
        await server.api.owner("ada")
    assert caplog.messages == [
        "all requests are refused: The table is not migrated yet: run `smartlocker migrate`.",
        "the table has this version's format: requests are served again",
    ]


async def test_no_request_reads_the_state(server: Server, wire: Wire) -> None:
    api = server.api
    place = await prepare(api)
    await api.locker("l1", "ada", locationId=place)
    start, end = (shift(utc_now(), timedelta(hours=hours)) for hours in (1, 2))
    await api.by(owner("ada")).done(RESERVE_ANY, locationId=place, ownerId="ada", startAt=start, endAt=end)
    await api.run(LISTS, window={"from": start, "to": end}, span={"from": start, "to": end})
    assert len(wire.calls) > 10
    assert [call for call in wire.calls if set(call.keys) & set(STATE)] == []


async def test_a_server_without_the_state_refuses_requests_once_it_is_too_old(server: Server, wire: Wire) -> None:
    await server.api.owner("ada")

    def unreadable(call: Call) -> Answer | None:
        return Answer.error("InternalServerError") if call.keys == STATE else None

    wire.fault = unreadable
    server.now += VALID_SECONDS - 1
    async with asyncio.timeout(60):
        while not any(call.keys == STATE and call.status for call in wire.calls):  # noqa: ASYNC110  # the wire has none
            await asyncio.sleep(0.05)
    assert await server.api.run(NAME) == {"owner": {"name": "ada"}}
    assert await server.ready() == (200, "ready")
    server.now += 1
    for response in await server.every_request():
        assert_rejected(response, "UNAVAILABLE", 503, "The state of the table cannot be read: try again later.")
    assert await server.ready() == (503, "The state of the table cannot be read: try again later.")
    wire.reset()
    await server.look_again()
    assert await server.api.run(NAME) == {"owner": {"name": "ada"}}


async def test_a_migration_converts_nothing_before_a_write_that_was_in_flight_has_ended(
    server: Server, transport: Transport, table: str, wire: Wire
) -> None:
    await server.api.owner("ada")
    wire.fault = held = Held(lambda call: call.operation == "TransactWriteItems" and call.keys[0][0] == "LOCKER#l1")
    writing = asyncio.create_task(server.api.locker("l1", "ada"))
    await held.reached()

    async def drained() -> None:
        await server.look_again()
        assert_rejected(await post(server.api, NAME), "UNAVAILABLE", 503)
        held.release()
        await writing

    async with being_migrated(DynamoStore(transport, table), NOW, drained):
        assert writing.done()
        assert_rejected(await post(server.api, NAME), "UNAVAILABLE", 503)
    await server.look_again()
    assert await server.api.run('{ locker(lockerId: "l1") { lockerId } }') == {"locker": {"lockerId": "l1"}}
