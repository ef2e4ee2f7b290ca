"""The protocol `graphql-transport-ws`, rule by rule, on servers with one and with two processes."""

import asyncio
import hashlib
import json
import shutil
import zlib
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.frames import Opcode

from bench.hostile import ATTACKS, attack, open_sockets, resident_mb
from server.http.headers import SECURITY_HEADERS
from tests.api import CREATE_OWNER
from tests.e2e.serving import Server, eventually, serving
from tests.sockets import ACKNOWLEDGED, Socket, acknowledged, frame, head, opened, raw, upgraded

ACTIVITY = "subscription { activity { owner { ownerId } } }"
TYPENAME = "{ __typename }"
QUERY = {"data": {"__typename": "Query"}}
INIT = {"type": "connection_init"}
SUBSCRIBE = {"id": "1", "type": "subscribe", "payload": {"query": ACTIVITY}}
SECURITY = {name.lower(): value for name, value in SECURITY_HEADERS.items()}
OWNERS = (f"owner-of-a-test-{number}" for number in count())
DEFLATE = "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"
BOMB = zlib.compress(b" " * 10_000_000, wbits=-15)


@pytest.fixture(scope="module", params=[1, 2], ids=["one process", "two workers"])
def server(
    request: pytest.FixtureRequest, first_start: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("sockets")
    store = shutil.copytree(first_start, folder / "data")
    with serving(folder / "run", data_dir=store, workers=request.param) as server:
        yield server
    assert "Traceback" not in server.stderr
    assert "ERROR" not in server.stderr  # nothing that a client does is an error of the server


async def create_owner(client: Socket) -> str:
    """Lets something happen, by a mutation on the connection; what tells of it may come before its answer."""
    owner_id = next(OWNERS)
    values = {"ownerId": owner_id, "kind": "USER", "name": "Ada"}
    await client.subscribe(owner_id, CREATE_OWNER, variables={"input": values})
    return owner_id


async def told(client: Socket, owner_id: str, *names: str) -> list[str]:
    """Waits until subscriptions have told of an owner, and its mutation has ended; returns who has told of anything."""
    waited, seen = {*names, owner_id}, []
    while waited:
        message = await client.receive()
        if message["type"] == "complete":
            waited.discard(message["id"])
        elif message["id"] != owner_id:
            seen.append(message["id"])
            if message["payload"] == {"data": {"activity": {"owner": {"ownerId": owner_id}}}}:
                waited.discard(message["id"])
    return seen


async def follow(client: Socket, name: str) -> None:
    """Begins a subscription, and waits until it tells what happens: the protocol does not say when."""
    await client.subscribe(name, ACTIVITY)
    while name not in await told(client, await create_owner(client)):
        pass


async def test_queries_and_mutations_have_one_result_and_share_the_connection_with_subscriptions(
    server: Server,
) -> None:
    async with acknowledged(server.url) as client:
        assert await client.answer("1", TYPENAME) == QUERY
        two = "query A { __typename } query B { b: __typename }"
        assert await client.answer("1", two, operationName="B") == {"data": {"b": "Query"}}
        await follow(client, "1")
        await follow(client, "2")
        await told(client, await create_owner(client), "1", "2")


async def test_after_complete_nothing_more_comes_and_the_id_may_be_used_again(server: Server) -> None:
    async with acknowledged(server.url) as client:
        await follow(client, "1")
        await follow(client, "2")
        last = await create_owner(client)
        await told(client, last, "1", "2")
        await client.complete("1")
        await client.complete("1")  # what has ended, or never was, may be completed
        await client.complete("never")
        assert "1" not in await told(client, await create_owner(client), "2")
        await client.complete("2")
        assert await client.answer("1", TYPENAME) == QUERY
        await follow(client, "1")


async def test_a_result_that_is_not_wanted_any_more_is_not_sent_and_its_mutation_is_done(server: Server) -> None:
    async with acknowledged(server.url) as client:
        owner_id = await create_owner(client)
        await client.complete(owner_id)
        await client.complete("2")  # before it has begun
        found = f'{{ owner(ownerId: "{owner_id}") {{ ownerId }} }}'
        while (await client.answer("2", found))["data"]["owner"] is None:
            pass


async def test_an_operation_that_cannot_begin_has_an_error_and_one_that_has_run_a_result_with_errors(
    server: Server,
) -> None:
    async with acknowledged(server.url) as client:
        for document, code in [
            ("{", "GRAPHQL_PARSE_FAILED"),
            ("", "BAD_USER_INPUT"),
            ("subscription { nothing }", "GRAPHQL_VALIDATION_FAILED"),
            ("subscription { activity { kind } b: activity { kind } }", "GRAPHQL_VALIDATION_FAILED"),
            ('subscription { activity(after: "x") { kind } }', "INVALID_CURSOR"),
            ("query A { __typename } query B { __typename }", "BAD_USER_INPUT"),
        ]:
            (error, *_) = await client.errors("1", document)
            assert error["extensions"]["code"] == code, error
        missing = "{ locker(lockerId: 1) { lockerId } }"
        answer = await client.answer("1", missing)
        assert answer["errors"][0]["path"] == ["locker"]
        refused = await client.answer("1", CREATE_OWNER, variables={"input": {"name": "", "kind": "USER"}})
        assert refused["data"]["createOwner"]["userErrors"]


async def test_documents_may_be_sent_by_hash(server: Server) -> None:
    document = f"{TYPENAME} # {server.url}"
    sha256 = hashlib.sha256(document.encode()).hexdigest()
    persisted = {"persistedQuery": {"version": 1, "sha256Hash": sha256}}
    async with acknowledged(server.url) as client:
        (error,) = await client.errors("1", extensions=persisted)
        assert error["extensions"]["code"] == "PERSISTED_QUERY_NOT_FOUND"
        assert await client.answer("1", document, extensions=persisted) == QUERY
        for known in ({"extensions": persisted}, {"documentId": f"sha256:{sha256}"}):
            await client.send(id="1", type="subscribe", payload=known)
            assert (await client.receive())["payload"] == QUERY
            assert await client.receive() == {"id": "1", "type": "complete"}


async def test_a_ping_is_answered_with_its_payload_at_any_time_and_a_pong_with_nothing(server: Server) -> None:
    async with opened(server.url) as client:
        await client.send(type="ping")
        assert await client.receive() == {"type": "pong"}
        await client.send(type="pong")
        await client.send(type="pong", payload={"a": 1})
        await client.send(type="ping", payload=None)
        assert await client.receive() == {"type": "pong"}
        await client.send(**INIT)
        assert await client.receive() == ACKNOWLEDGED
        await client.send(type="ping", payload={"a": [1.5, "ä", None]})
        assert await client.receive() == {"type": "pong", "payload": {"a": [1.5, "ä", None]}}
        # and so is a ping of the WebSocket itself
        await (await client.connection.ping(b"x"))


@pytest.mark.parametrize(
    "message",
    [
        b"{}",
        "",
        "{",
        "[]",
        '"connection_init"',
        "{}",
        '{"type": 1}',
        '{"type": "start"}',
        '{"type": "connection_ack"}',
        '{"type": "next", "id": "1", "payload": {}}',
        '{"type": "connection_init", "payload": []}',
        '{"type": "ping", "payload": "x"}',
        '{"type": "ping", "payload": {"a": 123456789012345678901234567890}}',
        '{"type": "pong", "payload": 1}',
        '{"type": "complete"}',
        '{"type": "subscribe", "id": "1"}',
        '{"type": "subscribe", "id": "1", "payload": "{ __typename }"}',
        '{"type": "subscribe", "id": "1", "payload": {}}',
        '{"type": "subscribe", "id": "1", "payload": {"query": 1}}',
        '{"type": "subscribe", "id": "1", "payload": {"query": "{ __typename }", "variables": []}}',
        '{"type": "subscribe", "id": "1", "payload": {"query": "{ __typename }", "extensions": []}}',
        '{"type": "subscribe", "id": "1", "payload": {"query": "{ __typename }", "operationName": 1}}',
        '{"type": "subscribe", "payload": {"query": "{ __typename }"}}',
        '{"type": "subscribe", "id": 1, "payload": {"query": "{ __typename }"}}',
        '{"type": "subscribe", "id": "", "payload": {"query": "{ __typename }"}}',
        json.dumps({"type": "subscribe", "id": "1" * 129, "payload": {"query": TYPENAME}}),
        '{"type": "ping", "payload": ' + '{"a": ' * 40 + "1" + "}" * 41,
        '{"type": "ping", "payload": {"a": [' + "1, " * 10_000 + "1]}}",
    ],
)
async def test_an_invalid_message_closes_the_connection_with_4400(server: Server, message: bytes | str) -> None:
    async with opened(server.url) as client:
        if b"subscribe" in (message if isinstance(message, bytes) else message.encode()):
            await client.send(**INIT)
        await client.connection.send(message)
        code, reason = await client.ended()
        assert code == 4400
        assert reason


@pytest.mark.parametrize(
    ("messages", "code", "reason"),
    [
        ([SUBSCRIBE], 4401, "Unauthorized"),
        ([INIT, INIT], 4429, "Too many initialisation requests"),
        ([INIT | {"payload": {"Authorization": "Bearer x"}}], 4403, "Forbidden"),
        ([INIT | {"payload": {"authorization": "nothing"}}], 4403, "Forbidden"),
        ([INIT | {"payload": {"authorization": "Bearer €"}}], 4403, "Forbidden"),
        ([INIT | {"payload": {"authorization": {"token": "x"}}}], 4403, "Forbidden"),
        ([INIT, SUBSCRIBE, SUBSCRIBE], 4409, "Subscriber for 1 already exists"),
        ([INIT, SUBSCRIBE, SUBSCRIBE | {"payload": {"query": TYPENAME}}], 4409, "Subscriber for 1 already exists"),
        ([INIT, SUBSCRIBE | {"id": "€" * 128}, SUBSCRIBE | {"id": "€" * 128}], 4409, f"Subscriber for {'€' * 36}"),
    ],
)
async def test_a_message_that_is_not_allowed_closes_the_connection_with_its_code(
    server: Server, messages: list[dict[str, Any]], code: int, reason: str
) -> None:
    async with opened(server.url) as client:
        for message in messages:
            await client.send(**message)
        assert await client.ended() == (code, reason)


async def test_credentials_come_in_a_header_or_with_the_init_which_wins(server: Server) -> None:
    wrong = {"Authorization": "Bearer x"}
    async with opened(server.url, wrong) as client:
        await client.send(**INIT)
        assert await client.ended() == (4403, "Forbidden")
    tokens = server.get("/graphql/tokens").json()
    async with acknowledged(server.url, {"Authorization": f"Bearer {tokens[0]['token']}"}, wrong) as client:
        assert "errors" not in await client.answer("1", "{ viewer { role } }")


@pytest.mark.parametrize("protocols", [(), ("graphql-ws",), ("graphql-ws", "other")])
async def test_another_subprotocol_is_closed_with_4406(server: Server, protocols: tuple[str, ...]) -> None:
    async with raw(server.url, head(Sec_WebSocket_Protocol=", ".join(protocols) or None)) as client:
        status, headers, _ = await client.response()
        assert (status, headers.get("sec-websocket-protocol")) == (101, None)
        assert await client.ended() == (4406, "Subprotocol not acceptable")
    async with acknowledged(server.url, protocols=(*protocols, "graphql-transport-ws")):
        pass


@pytest.mark.parametrize(
    ("sent", "code", "reason"),
    [
        ([frame(b'{"type": "ping", "payload": {"a": "\xff"}}')], 1007, ""),
        ([frame(b"\xff" * 200_000, fin=False), frame(b"", Opcode.CONT)], 1007, ""),
        ([frame(BOMB, rsv1=True)], 1002, "reserved bits must be 0"),
        ([b"\x81\x02{}"], 1002, "incorrect masking"),
        ([frame("{}", Opcode.CONT)], 1002, "unexpected continuation frame"),
        ([frame("{", fin=False), frame("{}")], 1002, "expected a continuation frame"),
        ([frame(b"\x03", Opcode.CLOSE)], 1002, "close frame too short"),
        ([frame(" " * 256 * 1024)], 4400, None),
        ([frame(" " * (256 * 1024 + 1))], 1009, "frame with 262145 bytes exceeds limit of 262144 bytes"),
        ([b"\x81\xff" + (1 << 62).to_bytes(8) + bytes(4)], 1009, None),
        ([frame(" " * 200_000, fin=False), frame(" " * 100_000, Opcode.CONT)], 1009, None),
        ([frame("x", Opcode.PING) * 1000], 1008, "Too many frames or bytes"),
        ([frame("x", Opcode.PONG) * 1000], 1008, "Too many frames or bytes"),
        ([frame('{"type": "ping"}') * 11], 4400, "Too much before connection_init"),
        ([frame('{"type": "ping"}' + " " * 17_000)], 4400, "Too much before connection_init"),
        ([frame("{}", fin=False), frame("", Opcode.CONT, fin=False) * 1000], 1008, "Too many frames or bytes"),
        ([frame(json.dumps(INIT)), frame('{"type": "ping"}') * 1000], 1008, "Too many frames or bytes"),
        ([frame(json.dumps(INIT)), *[frame(json.dumps(SUBSCRIBE)), frame('{"type": "complete", "id": "1"}')] * 500],
         1008, "Too many frames or bytes"),
    ],
)  # fmt: skip
async def test_frames_that_are_wrong_too_large_or_too_many_close_the_connection(
    server: Server, sent: list[bytes], code: int, reason: str | None
) -> None:
    async with upgraded(server.url, *sent) as client:
        found = await client.ended()
        assert found[0] == code, found
        assert reason in {None, found[1]}


async def test_a_message_may_come_in_parts_with_pings_between_them(server: Server) -> None:
    parts = [frame("", fin=False), *[frame(letter, Opcode.CONT, fin=False) for letter in json.dumps(INIT)]]
    async with upgraded(server.url, *parts, frame("x", Opcode.PING), frame("", Opcode.CONT)) as client:
        assert await client.frame() == (Opcode.PONG, b"x")
        assert json.loads((await client.frame())[1]) == ACKNOWLEDGED
        client.write(frame(b"\x03\xe8bye", Opcode.CLOSE))
        assert await client.ended() == (1000, "bye")


async def test_a_head_of_15_kb_is_accepted_with_security_headers_and_without_compression(server: Server) -> None:
    large = [f"X-Large-{number}: {'a' * 7000}" for number in range(2)]
    async with raw(server.url, head(*large, DEFLATE)) as client:
        status, headers, _ = await client.response()
        assert status == 101
        assert headers["sec-websocket-protocol"] == "graphql-transport-ws"
        assert headers | SECURITY == headers
        assert "sec-websocket-extensions" not in headers
        client.write(frame(json.dumps(INIT)))
        assert json.loads((await client.frame())[1]) == ACKNOWLEDGED


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (head("X-Large: " + "a" * 17_000), 431),
        (head("X-Large: " + "a" * 9_000), 431),
        (head(*[f"X-{number}: a" for number in range(130)]), 431),
        (head(path="/graphql?" + "a" * 9_000), 414),
        (head("Content-Length: 0", method="POST"), 405),
        (head(Sec_WebSocket_Key=None), 400),
        (head(Sec_WebSocket_Key="x"), 400),
        (head(Sec_WebSocket_Version="8"), 400),
        (head(Host="elsewhere.example"), 403),
        (head(Origin="https://elsewhere.example"), 403),
        (head(Origin="null"), 403),
        (head(path="/elsewhere"), 403),
        (head("Host: 127.0.0.1"), 400),
    ],
)
async def test_an_upgrade_that_is_refused_has_a_response_with_security_headers(
    server: Server, sent: bytes, status: int
) -> None:
    async with raw(server.url, sent) as client:
        found, headers, _ = await client.response()
        assert (found, headers["connection"]) == (status, "close")
        assert headers | SECURITY == headers
        assert await client.reader.read() == b""


@pytest.mark.parametrize("count", [1, 1000])
async def test_frames_before_the_response_to_the_head_end_the_connection(server: Server, count: int) -> None:
    async with raw(server.url, head(), frame("x", Opcode.PING) * count) as client:
        assert await client.ended() == (1006, "")


async def test_hostile_clients_keep_nobody_waiting_and_leave_nothing(server: Server) -> None:
    """`make bench-hostile` measures how long `/health` takes; here are fewer of them, all at once."""
    processes = [server.process.pid, *(one for one, name in server.offspring.items() if name != "dynoxide")]

    def sockets() -> int:
        return sum(map(open_sockets, processes))

    async with httpx.AsyncClient(timeout=10) as client:
        health = server.url.replace("graphql", "health")
        assert (await client.get(health, headers={"Connection": "close"})).text == "ok"
        sockets_before, memory_before = sockets(), sum(map(resident_mb, processes))
        init = frame(json.dumps(INIT))
        attacks = [asyncio.create_task(attack(httpx.URL(health).port or 0, one, init)) for one in ATTACKS.values()]
        try:
            for _ in range(20):
                assert (await client.get(health, headers={"Connection": "close"})).text == "ok"
        finally:
            for one in attacks:
                one.cancel()
            await asyncio.gather(*attacks, return_exceptions=True)
    await asyncio.to_thread(eventually, lambda: sockets() <= sockets_before)
    assert sum(map(resident_mb, processes)) - memory_before < 200
