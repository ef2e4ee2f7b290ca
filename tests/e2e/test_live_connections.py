"""Connections with subscriptions: their limits, what they cost, how they end, and that nothing is left of them."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from domain.authorization import Principal
from loaders import keys
from loaders.following.catching_up import cursor_at
from loaders.table.client import StoreConnection
from loaders.table.clock import utc_now
from resolvers.execution import Executor
from server.app import Parts, create_app
from server.auth.authenticator import Authenticator
from server.http.headers import SECURITY_HEADERS
from server.http.health import Readiness
from server.settings import Settings
from tests.api import CREATE_OWNER, mutation
from tests.conftest import PATIENT
from tests.principals import HEADER, owner, principal_of_header, spelled
from tests.sockets import PATIENCE, Listening, Socket, acknowledged, frame, head, listening, opened, raw, upgraded
from tests.wire import Hold, Wire

ACTIVITY = "subscription ($after: String) { activity(after: $after) { owner { ownerId } } }"
LOCATION = 'subscription { locationActivity(locationId: "missing") { kind } }'
OWN = 'subscription { ownerActivity(ownerId: "%s") { kind } }'
CREATE_KEY = mutation("createApiKey", "secret")
REVOKE_KEY = mutation("revokeApiKey", "apiKey { revokedAt }")
EVENTS = {"Accept": "text/event-stream"}
OURS = re.compile(r"/(server|loaders|resolvers|uvicorn)/")
READING = re.compile(r"/loaders/following/live.py _read$")
TYPENAME = "{ __typename }"

Serve = Callable[..., AbstractAsyncContextManager[Listening]]


@pytest.fixture
def serve(wire: Wire, table: str, usual_executor: Executor) -> Serve:
    """A server in the process of the test, on its table through the proxy."""

    @asynccontextmanager
    async def serve(
        authenticator: Authenticator | None = principal_of_header, **values: Any
    ) -> AsyncIterator[Listening]:
        settings = Settings(table_name=table, **{"request_seconds": 120, **values})
        connection = StoreConnection(table, "eu-central-1", wire.url, local=True, timeouts=PATIENT)
        readiness = Readiness()
        parts = Parts(authenticator=authenticator, readiness=readiness, executor=usual_executor)
        app = create_app(settings, connection, parts)
        async with listening(app, settings, readiness) as server:
            yield server

    return serve


@asynccontextmanager
async def nothing_left(server: Listening) -> AsyncIterator[None]:
    """Holds where all tasks and connections of the block end by themselves; the log is read for a while longer."""
    before = tasks()
    yield
    state = server.server.server_state
    await until(lambda: tasks() - before <= tasks(READING) and not state.connections and not state.tasks)


def tasks(wanted: re.Pattern[str] = OURS) -> set[Any]:
    """The tasks of the product and of uvicorn; those of the proxy and of clients are not counted."""
    running = {task: getattr(task.get_coro(), "cr_code", None) for task in asyncio.all_tasks()}
    return {
        task
        for task, code in running.items()
        if code is not None and wanted.search(f"{code.co_filename} {code.co_name}")
    }


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not is_so():  # noqa: ASYNC110  # client and server take turns in one loop
            await asyncio.sleep(0.01)


def now() -> dict[str, str]:
    """Variables with which a subscription tells all that happens after this call."""
    return {"after": cursor_at("log:all", utc_now())}


def by(name: str) -> dict[str, str]:
    principal: Principal = owner(name)
    return {HEADER: spelled(principal)}


async def create(server: Listening, owner_id: str) -> None:
    async with httpx.AsyncClient(timeout=PATIENCE) as client:
        values = {"ownerId": owner_id, "kind": "USER", "name": "Ada"}
        response = await client.post(server.url, json={"query": CREATE_OWNER, "variables": {"input": values}})
        assert response.json()["data"]["createOwner"]["owner"]["ownerId"] == owner_id


def told(owner_id: str) -> dict[str, Any]:
    return {"data": {"activity": {"owner": {"ownerId": owner_id}}}}


async def hear(client: Socket | Stream, owner_id: str) -> None:
    """Waits until a client was told of an owner; what happened shortly before may be told again."""
    payload = None
    while payload != told(owner_id):
        payload = (await client.receive())["payload"] if isinstance(client, Socket) else (await client.event())[2]


class Stream:
    """A stream of server-sent events."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._parts = self._split()

    async def _split(self) -> AsyncIterator[str]:
        text = ""
        async for more in self.response.aiter_raw():
            *parts, text = (text + more.decode()).split("\n\n")
            for part in parts:
                yield part
        assert not text

    async def part(self) -> str | None:
        """The next event or comment; None at the end."""
        async with asyncio.timeout(PATIENCE):
            return await anext(self._parts, None)

    async def event(self) -> tuple[str, str | None, Any]:
        """Name, id and data of the next event."""
        part: str | None = ":"
        while part == ":":
            part = await self.part()
        assert part is not None
        found = re.fullmatch(r"event: (\w+)\n(?:id: (\S+)\n)?data:(?: (.*))?", part)
        assert found is not None, part
        return found[1], found[2], None if found[3] is None else json.loads(found[3])


@asynccontextmanager
async def streaming(
    server: Listening,
    query: str,
    variables: dict[str, Any] | None = None,
    headers: dict[str, str] | None = None,
    method: str = "POST",
) -> AsyncIterator[Stream]:
    content = {"query": query, "variables": variables or {}}
    sent: dict[str, Any] = {"json": content}
    if method == "GET":
        sent = {"params": content | {"variables": json.dumps(variables or {})}}
    async with (
        httpx.AsyncClient(timeout=PATIENCE) as client,
        client.stream(method, server.url, headers=EVENTS | (headers or {}), **sent) as response,
    ):
        yield Stream(response)


@pytest.mark.parametrize("method", ["POST", "GET"])
async def test_a_stream_has_its_headers_a_comment_and_events_with_cursors_to_go_on_from(
    serve: Serve, method: str
) -> None:
    async with serve() as server, nothing_left(server):
        async with streaming(server, ACTIVITY, now(), {"Accept-Encoding": "gzip, br"}, method) as stream:
            headers = stream.response.headers
            assert stream.response.status_code == 200
            assert headers["content-type"] == "text/event-stream; charset=utf-8"
            assert headers["cache-control"] == "no-cache, no-transform"
            assert headers["x-accel-buffering"] == "no"
            assert "content-encoding" not in headers
            assert headers["x-request-id"]
            assert all(headers[name] == value for name, value in SECURITY_HEADERS.items())
            assert await stream.part() == ":"
            await create(server, "ada")
            name, cursor, data = await stream.event()
            assert (name, data) == ("next", told("ada"))
        await create(server, "bob")
        # the id wins over the argument, with which there would be nothing
        async with streaming(server, ACTIVITY, now(), {"Last-Event-ID": cursor or ""}, method) as stream:
            await hear(stream, "bob")


@pytest.mark.parametrize(
    ("content", "headers", "code"),
    [
        ({"query": "subscription { nothing }"}, {}, "GRAPHQL_VALIDATION_FAILED"),
        ({"query": "subscription {"}, {}, "GRAPHQL_PARSE_FAILED"),
        ({"documentId": "sha256:" + "0" * 64}, {}, "PERSISTED_QUERY_NOT_FOUND"),
        ({"query": ACTIVITY, "variables": {"after": "x"}}, {}, "INVALID_CURSOR"),
        ({"query": ACTIVITY}, {"Last-Event-ID": "x"}, "INVALID_CURSOR"),
        ({"query": ACTIVITY}, by("ada"), "FORBIDDEN"),
        ({"query": LOCATION}, {}, "NOT_FOUND"),
    ],
)
async def test_a_subscription_that_cannot_begin_is_one_event_with_errors_and_complete(
    serve: Serve, content: dict[str, Any], headers: dict[str, str], code: str
) -> None:
    async with (
        serve() as server,
        nothing_left(server),
        httpx.AsyncClient(timeout=PATIENCE) as client,
        client.stream("POST", server.url, json=content, headers=EVENTS | headers) as response,
    ):
        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        stream = Stream(response)
        assert await stream.part() == ":"
        name, cursor, data = await stream.event()
        assert (name, cursor, data["errors"][0]["extensions"]["code"]) == ("next", None, code)
        assert await stream.part() == "event: complete\ndata:"
        assert await stream.part() is None


async def test_queries_are_answered_as_json_and_subscriptions_need_a_client_that_accepts_events(serve: Serve) -> None:
    async with serve() as server, nothing_left(server), httpx.AsyncClient(timeout=PATIENCE) as client:
        for accept in ("text/event-stream", "text/event-stream, application/json", "*/*"):
            for document in (TYPENAME, "mutation { __typename }"):
                answer = await client.post(server.url, json={"query": document}, headers={"Accept": accept})
                assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json; charset=utf-8")
                assert answer.json()["data"]
        for accept in ("application/json", "application/graphql-response+json", "text/event-stream;q=0, */*"):
            answer = await client.post(server.url, json={"query": ACTIVITY}, headers={"Accept": accept})
            assert answer.status_code == 406
            assert "text/event-stream" in answer.json()["errors"][0]["message"]
        assert (
            await client.get(server.url, params={"query": "mutation { __typename }"}, headers=EVENTS)
        ).status_code == 405


async def test_a_subscription_holds_neither_a_permit_nor_a_deadline(serve: Serve, wire: Wire) -> None:
    async with (
        serve(max_concurrent_requests=1, request_seconds=1) as server,
        streaming(server, ACTIVITY, now()) as stream,
        acknowledged(server.url) as client,
    ):
        await client.subscribe("1", ACTIVITY, variables=now())
        assert await stream.part() == ":"
        await create(server, "ada")
        await hear(stream, "ada")
        await hear(client, "ada")
        # a request that begins after them has its deadline, and they go on
        wire.fault = hold = Hold("GetItem")
        (error,) = await client.errors("2", '{ owner(ownerId: "ada") { name } }')
        assert error["extensions"]["code"] == "TIMEOUT"
        hold.release()
        await create(server, "bob")
        await hear(stream, "bob")
        await hear(client, "bob")


async def _first_message(client: Socket, name: str, document: str) -> dict[str, Any]:
    await client.subscribe(name, document)
    message = await client.receive()
    if message["type"] == "next":
        assert await client.receive() == {"id": name, "type": "complete"}
    return message


async def test_a_socket_a_caller_and_a_process_have_so_many_subscriptions_and_no_more(serve: Serve) -> None:
    async def refusal(stream: Stream) -> str:
        code: str = (await stream.event())[2]["errors"][0]["extensions"]["code"]
        return code

    limits = {"connection": 2, "caller": 3}
    settings = {f"max_subscriptions_per_{name}": limit for name, limit in limits.items()}
    async with serve(**settings, max_subscriptions=4) as server, nothing_left(server):
        for owner_id in ("ada", "bob"):
            await create(server, owner_id)
        async with AsyncExitStack() as stack:
            first = await stack.enter_async_context(acknowledged(server.url, headers=by("ada")))
            for name in "ab":
                await first.subscribe(name, OWN % "ada")
            for document in (OWN % "ada", TYPENAME):
                (error,) = await first.errors("c", document)
                assert error["extensions"]["code"] == "RATE_LIMITED"
            await first.complete("a")
            while (await _first_message(first, "c", TYPENAME))["type"] == "error":
                pass  # until what it has begun has ended
            await first.subscribe("a", OWN % "ada")
            second = await stack.enter_async_context(acknowledged(server.url, headers=by("ada")))
            for name in "ab":
                await second.subscribe(name, OWN % "ada")
            error = (await second.receive())["payload"][0]  # of whichever comes last
            assert error["extensions"]["code"] == "RATE_LIMITED"
            assert "3 subscriptions" in error["message"]
            refused = await stack.enter_async_context(streaming(server, OWN % "ada", headers=by("ada")))
            assert await refusal(refused) == "RATE_LIMITED"
            other = await stack.enter_async_context(acknowledged(server.url, headers=by("bob")))
            for name in "ab":
                await other.subscribe(name, OWN % "bob")
            error = (await other.receive())["payload"][0]
            assert error["extensions"]["code"] == "UNAVAILABLE"
            assert error["extensions"]["retryAfter"]
        async with acknowledged(server.url, headers=by("bob")) as client:
            await client.subscribe("a", OWN % "bob")
            assert (await client.answer("b", TYPENAME))["data"]


async def test_idle_connections_cost_no_request_beyond_the_end_of_the_log_and_without_any_it_is_not_read(
    serve: Serve, wire: Wire
) -> None:
    async with serve() as server:
        async with nothing_left(server), AsyncExitStack() as stack:
            for _ in range(10):
                client = await stack.enter_async_context(acknowledged(server.url))
                for name in "ab":
                    await client.subscribe(name, ACTIVITY)
                assert (await client.answer("c", TYPENAME))["data"]
            assert wire.calls
            wire.reset()
            await until(lambda: len(wire.calls) >= 3 * keys.LOG_SHARDS)
            read = Counter(call.request["ExpressionAttributeValues"][":pk"]["S"] for call in wire.of("Query"))
            assert wire.operations == {"Query": len(wire.calls)}
            assert len(read) == keys.LOG_SHARDS
            assert max(read.values()) - min(read.values()) <= 1
        await until(lambda: not tasks(READING))


@pytest.mark.parametrize("transport", ["socket", "stream"])
@pytest.mark.parametrize("held", ["Query", "GetItem"])
async def test_a_client_that_goes_while_it_catches_up_or_begins_leaves_nothing(
    serve: Serve, wire: Wire, transport: str, held: str
) -> None:
    async with serve() as server:
        await create(server, "ada")
        async with nothing_left(server):
            wire.fault = hold = Hold(held)
            document = 'subscription ($after: String) { ownerActivity(ownerId: "ada", after: $after) { kind } }'
            after = {"after": cursor_at("owner:ada", utc_now())}
            if transport == "socket":
                async with acknowledged(server.url) as client:
                    await client.subscribe("1", document, variables=after)
                    await hold.arrivals(1)
            else:
                task = asyncio.create_task(_read(server, document, after))
                await hold.arrivals(1)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            hold.release()


async def _read(server: Listening, document: str, variables: dict[str, str]) -> None:
    async with streaming(server, document, variables) as stream:
        while await stream.part() is not None:
            pass


async def test_an_operation_that_is_completed_before_it_has_begun_sends_nothing(serve: Serve, wire: Wire) -> None:
    async with serve() as server, nothing_left(server):
        await create(server, "ada")
        async with acknowledged(server.url) as client:
            wire.fault = hold = Hold("GetItem")
            await client.subscribe("1", OWN % "ada")
            await hold.arrivals(1)
            await client.complete("1")
            assert (await client.answer("1", TYPENAME))["data"]
            hold.release()
            await client.subscribe("1", ACTIVITY, variables=now())
            await create(server, "bob")
            await hear(client, "bob")


@pytest.mark.parametrize("held", ["TransactWriteItems", "Query"])
async def test_a_server_that_stops_answers_what_runs_ends_streams_and_closes_sockets(
    serve: Serve, wire: Wire, held: str
) -> None:
    async with serve() as server:
        await create(server, "ada")
        async with nothing_left(server), AsyncExitStack() as stack:
            idle = await stack.enter_async_context(acknowledged(server.url))
            following = await stack.enter_async_context(acknowledged(server.url))
            await following.subscribe("1", ACTIVITY, variables=now())
            stream = await stack.enter_async_context(streaming(server, ACTIVITY, now()))
            await create(server, "bob")
            await hear(following, "bob")
            await hear(stream, "bob")
            # given a mutation that runs, or subscriptions that are about to begin
            wire.fault = hold = Hold(held)
            running = await stack.enter_async_context(acknowledged(server.url))
            values = {"ownerId": "eve", "kind": "USER", "name": "Eve"}
            if held == "Query":
                await running.subscribe("1", ACTIVITY, variables=now())
            else:
                await running.subscribe("1", CREATE_OWNER, variables={"input": values})
            beginning = await stack.enter_async_context(streaming(server, ACTIVITY, now()))
            await hold.arrivals(1)
            # when
            stopping = asyncio.create_task(server.stop())
            # then
            assert await idle.ended() == await following.ended() == (1012, "The server is stopping")
            parts = [await stream.part(), await stream.part()]
            assert {*parts} <= {":", None}
            assert parts[-1] is None
            hold.release()
            seen = await running.all_before_the_end()
            assert [message["type"] for message in seen] == (["next", "complete"] if held != "Query" else [])
            assert await running.ended() == (1012, "The server is stopping")
            assert await beginning.part() == ":"
            assert await beginning.part() is None
            await stopping
            with pytest.raises(ConnectionRefusedError):
                await stack.enter_async_context(raw(server.url))


async def test_sockets_and_streams_end_when_their_api_key_is_revoked_or_expires(serve: Serve) -> None:
    async with serve(None) as server, nothing_left(server), AsyncExitStack() as stack:
        client = await stack.enter_async_context(httpx.AsyncClient(timeout=PATIENCE))

        async def send(document: str, **values: Any) -> Any:
            answer = await client.post(server.url, json={"query": document, "variables": {"input": values}})
            return answer.json()["data"]

        await create(server, "ada")
        soon = datetime.now(UTC) + timedelta(seconds=3)
        about = {"name": "x", "role": "PARTNER", "ownerIds": ["ada"], "scopes": ["OWNERS_READ"]}
        lives = {"revoked": {}, "expires": {"expiresAt": soon.isoformat()}}
        connections = []
        for key_id, life in lives.items():
            secret = (await send(CREATE_KEY, keyId=key_id, **about, **life))["createApiKey"]["secret"]
            signed = {"Authorization": f"Bearer {secret}"}
            socket = await stack.enter_async_context(acknowledged(server.url, signed))
            await socket.subscribe("1", OWN % "ada")
            assert (await socket.answer("2", TYPENAME))["data"]
            stream = await stack.enter_async_context(streaming(server, OWN % "ada", headers=signed))
            assert await stream.part() == ":"
            connections.append((socket, stream, signed))
        await send(REVOKE_KEY, keyId="revoked")
        for socket, stream, signed in connections:
            assert await socket.ended() == (4403, "Forbidden")
            parts = [await stream.part(), await stream.part()]
            assert {*parts} <= {":", None}  # no `complete`: the client comes back
            assert parts[-1] is None
            async with opened(server.url, signed) as again:
                await again.send(type="connection_init")
                with suppress(ConnectionClosed):  # unless the key is still remembered as valid
                    await again.subscribe("1", OWN % "ada")
                assert await again.ended() == (4403, "Forbidden")


async def test_half_open_connections_are_closed_after_5_seconds_and_a_stream_has_a_comment_after_12(
    serve: Serve,
) -> None:
    """They take their time, so they take it together."""

    async with serve() as server, nothing_left(server), AsyncExitStack() as stack:
        stream = await stack.enter_async_context(streaming(server, ACTIVITY))
        assert await stream.part() == ":"
        silent = [await stack.enter_async_context(upgraded(server.url)) for _ in range(50)]
        halves = [await stack.enter_async_context(upgraded(server.url, frame("{}")[:-1])) for _ in range(50)]
        heads = [await stack.enter_async_context(raw(server.url, head()[:-2])) for _ in range(50)]
        nothing = [await stack.enter_async_context(raw(server.url)) for _ in range(50)]
        async with httpx.AsyncClient(timeout=PATIENCE) as client:
            assert (await client.get(server.url.replace("graphql", "health"))).text == "ok"
        ends = await asyncio.gather(*[client.ended() for client in silent + halves])
        assert {*ends} == {(4408, "Connection initialisation timeout")}
        assert {await client.reader.read() for client in heads + nothing} == {b""}
        assert await stream.part() == ":"
        assert len(server.server.server_state.connections) == 1
