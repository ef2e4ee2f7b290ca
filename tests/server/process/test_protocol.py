import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

import pytest
import pytest_asyncio
import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from uvicorn.server import ServerState

from server.process.protocol import DeadlineProtocol
from tests.server.process.timers import TimedLoop, until

LARGE = 16 * 1024 * 1024  # more than any buffer between client and server
GET = b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n"
SMALL = b"GET /unread HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = b"POST /read HTTP/1.1\r\nHost: localhost\r\n"
BODY = POST + b"Content-Length: 1000\r\n\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
CHUNK = b"1\r\nx\r\n"
END = b"0\r\n\r\n"
UPGRADE = b"GET /unread HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n"
SWITCHED = b"HTTP/1.1 101 Switching Protocols\r\n\r\n"
LINE = b"X-Large: " + b"a" * 991 + b"\r\n"


async def read(request: Request) -> Response:
    try:
        return PlainTextResponse(str(len(await request.body())))
    except ClientDisconnect:
        return PlainTextResponse("nobody reads this")


async def unread(_: Request) -> Response:
    return PlainTextResponse("done")


async def gated(request: Request) -> Response:
    await request.state.gate.wait()
    return PlainTextResponse("done")


async def large(_: Request) -> Response:
    return Response(b"a" * LARGE)


APP = Starlette(
    routes=[
        Route("/read", read, methods=["HEAD", "POST"]),
        Route("/unread", unread, methods=["GET", "POST"]),
        Route("/gated", gated, methods=["GET", "POST"]),
        Route("/large", large),
    ]
)


class Upgraded(asyncio.Protocol):
    """The protocol of an upgrade: it accepts, and sends back what it gets."""

    def __init__(self, **_: Any) -> None:
        self.received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        if not self.received:
            self.transport.write(SWITCHED)
        self.received += data
        if data.endswith(b"bye"):
            self.transport.write(self.received)


class Http:
    """A server, its timers, and what its last connection has received."""

    def __init__(self, loop: TimedLoop) -> None:
        self.loop = loop
        self.state = ServerState()
        self.gate = asyncio.Event()
        self.upgrades: type[asyncio.Protocol] | None = None
        self.idle_seconds = 5
        self.port = 0
        self.received = self.expected = 0
        self.protocol: DeadlineProtocol | None = None

    def connected(self) -> DeadlineProtocol:
        http = self

        class Counted(DeadlineProtocol):
            def data_received(self, data: bytes) -> None:
                super().data_received(data)
                http.received += len(data)

        config = uvicorn.Config(APP, log_config=None, ws=self.upgrades or "none", timeout_keep_alive=self.idle_seconds)
        self.received = 0
        self.protocol = Counted(config, self.state, {"gate": self.gate}, _loop=self.loop)  # type: ignore[arg-type]
        return self.protocol

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        await until(lambda: self.loop.pending == [5])
        yield reader, writer
        writer.close()

    async def send(self, writer: asyncio.StreamWriter, *parts: bytes) -> None:
        """Sends each part once the one before has been received."""
        for part in parts:
            self.expected = self.received + len(part)
            writer.write(part)
            await until(lambda: self.received == self.expected)

    async def exchange(self, *parts: bytes) -> bytes:
        """All that is sent back until the server closes the connection."""
        async with self.connect() as (reader, writer):
            await self.send(writer, *parts)
            await until(lambda: self.protocol is not None and self.loop.pending == [1])
            self.loop.move(1)
            return await reader.read()

    @property
    def is_closing(self) -> bool:
        assert self.protocol is not None
        return self.protocol.transport.is_closing()


@pytest_asyncio.fixture
async def http() -> AsyncIterator[Http]:
    http = Http(TimedLoop())
    server = await asyncio.get_running_loop().create_server(http.connected, "127.0.0.1", 0)
    async with server:
        http.port = server.sockets[0].getsockname()[1]
        yield http


def worst(caplog: pytest.LogCaptureFixture) -> int:
    return max(record.levelno for record in caplog.records)


async def test_a_body_of_2048_chunks_is_accepted_and_one_more_rejected(http: Http) -> None:
    async with http.connect() as (reader, writer):
        for _ in range(2):  # they are counted for each body
            writer.write(CHUNKED + CHUNK * 2048 + END)
            assert (await reader.readuntil(b"2048")).startswith(b"HTTP/1.1 200 ")
        writer.write(CHUNKED + CHUNK * 2049 + END)
        answer = await reader.read()
        assert answer.startswith(b"HTTP/1.1 413 ")
        assert b"\r\nconnection: close\r\n" in answer.lower()
        assert b"\r\nx-content-type-options: nosniff\r\n" in answer.lower()
        assert answer.endswith(b"The body has more than 2,048 chunks.")


@pytest.mark.parametrize("path", [b"/read", b"/unread"])
async def test_chunks_beyond_the_limit_are_not_parsed(http: Http, path: bytes) -> None:
    answer = await http.exchange(CHUNKED.replace(b"/read", path) + CHUNK * 20_000 + END)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert http.protocol is not None
    assert http.protocol._chunks == 2049  # noqa: SLF001  # how far the parser went shows nowhere else


@pytest.mark.parametrize(
    "parts",
    [
        [CHUNKED + CHUNK + b"ZZZ\r\n"],
        [CHUNKED + CHUNK, b"ZZZ\r\n"],
        [CHUNKED.replace(b"/read", b"/unread") + CHUNK + b"ZZZ\r\n"],
        [CHUNKED.replace(b"POST", b"HEAD") + b"ZZZ\r\n"],
        [CHUNKED.replace(b"Transfer", b"Expect: 100-continue\r\nTransfer") + b"ZZZ\r\n"],
        [b"nonsense\r\n\r\n"],
    ],
    ids=["at once", "in parts", "that is not read", "of a HEAD", "before 100-continue", "not HTTP"],
)
async def test_a_broken_request_is_rejected_and_the_application_hears_of_a_disconnect(
    http: Http, caplog: pytest.LogCaptureFixture, parts: list[bytes]
) -> None:
    answer = await http.exchange(*parts)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"x-content-type-options: nosniff\r\n" in answer.lower()
    assert worst(caplog) == logging.WARNING


@pytest.mark.parametrize(
    ("headers", "status", "message"),
    [
        (b"Host: localhost", 400, b"Send one Host header."),
        (b"Host: example.com", 400, b"Send one Host header."),
        (b"Transfer-Encoding: chunked\r\nContent-Length: 6", 400, b"Invalid HTTP request received."),
        (b"Content-Length: 6\r\nTransfer-Encoding: chunked", 400, b"Invalid HTTP request received."),
        (b"Transfer-Encoding: gzip, chunked", 501, b"The only transfer coding that is supported is chunked."),
        (b"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", 501, b"coding that is supported is chunked."),
    ],
)
async def test_ambiguous_headers_are_rejected(http: Http, headers: bytes, status: int, message: bytes) -> None:
    answer = await http.exchange(POST + headers + b"\r\n\r\n" + CHUNK + END)
    assert answer.startswith(b"HTTP/1.1 %d " % status)
    assert answer.endswith(message)
    assert answer.count(b"HTTP/1.1 ") == 1


async def test_a_server_that_stops_waits_a_second_for_the_request_of_a_new_connection(http: Http) -> None:
    for sent in (b"", POST[:20]):
        async with http.connect() as (reader, writer):
            await http.send(writer, sent)
            assert http.protocol is not None
            http.protocol.shutdown()
            http.loop.move(0.75)
            writer.write((CHUNKED + END)[len(sent) :])
            assert (await reader.readuntil(b"\r\n\r\n0")).startswith(b"HTTP/1.1 200 ")
            http.protocol.shutdown()
            assert await reader.read() == b""
    async with http.connect() as (reader, _):
        assert http.protocol is not None
        http.protocol.shutdown()
        http.loop.move(1)
        assert await reader.read() == b""


async def test_a_server_that_stops_refuses_an_upgrade_which_nobody_would_close(http: Http) -> None:
    http.upgrades = Upgraded
    async with http.connect() as (reader, writer):
        await http.send(writer, UPGRADE[:20])
        assert http.protocol is not None
        http.protocol.shutdown()
        writer.write(UPGRADE[20:])
        answer = await reader.readuntil(b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"x-content-type-options: nosniff\r\n" in answer.lower()


@pytest.mark.parametrize("rest", [b"ZZZ\r\n", CHUNK * 2049], ids=["broken", "too many"])
async def test_an_invalid_rest_of_a_body_after_the_response_only_closes_the_connection(
    http: Http, caplog: pytest.LogCaptureFixture, rest: bytes
) -> None:
    async with http.connect() as (reader, writer):
        writer.write(CHUNKED.replace(b"/read", b"/unread"))
        assert (await reader.readuntil(b"done")).startswith(b"HTTP/1.1 200 ")
        writer.write(rest)
        assert await reader.read() == b""
        assert worst(caplog) == logging.WARNING


@pytest.mark.parametrize(
    "parts",
    [
        [POST + LINE * 200],
        [POST, *[LINE] * 17],
        [SMALL + GET[:-2] + LINE * 30 + b"\r\n"],
        [CHUNKED + b"0\r\n" + LINE * 30 + b"\r\n"],
    ],
    ids=["a header", "a header in parts", "a next header", "a trailer"],
)
async def test_a_header_above_16_kb_is_rejected(http: Http, parts: list[bytes]) -> None:
    answer = await http.exchange(*parts)
    assert answer.count(b"HTTP/1.1 431 ") == 1
    assert answer.endswith(b"The header is larger than 16 KB.")


async def test_a_header_of_15_kb_is_accepted(http: Http) -> None:
    async with http.connect() as (reader, writer):
        writer.write(SMALL[:-2] + LINE * 15 + b"\r\n")
        assert (await reader.readuntil(b"done")).startswith(b"HTTP/1.1 200 ")


class Sent:
    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self.parts: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        self.parts.append(data)
        self._transport.write(data)


async def test_the_body_of_every_response_of_a_connection_is_sent_with_its_head(http: Http) -> None:
    async with http.connect() as (reader, writer):
        assert http.protocol is not None
        sent = Sent(http.protocol.transport)
        http.protocol.transport = sent  # type: ignore[assignment]  # it has all that a transport has
        for _ in range(10):
            writer.write(SMALL)
            await reader.readuntil(b"done")
        assert [(part[:13], part[-4:]) for part in sent.parts] == [(b"HTTP/1.1 200 ", b"done")] * 10


@pytest.mark.parametrize("request_", [SMALL[:-2] + b"Connection: close\r\n\r\n", SMALL.replace(b"1.1", b"1.0")])
async def test_a_connection_that_the_client_closes_ends_after_the_response(http: Http, request_: bytes) -> None:
    async with http.connect() as (reader, writer):
        writer.write(request_)
        response = await reader.read()
        assert response.startswith(b"HTTP/1.1 200 ")
        assert b"\r\nconnection: close\r\n" in response
        assert response.endswith(b"\r\n\r\ndone")


async def test_a_client_that_waits_for_100_continue_gets_it_before_it_sends_the_body(http: Http) -> None:
    async with http.connect() as (reader, writer):
        writer.write(BODY[:-2] + b"Expect: 100-continue\r\n\r\n")
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(b"x" * 1000)
        assert (await reader.readuntil(b"\r\n\r\n1000")).startswith(b"HTTP/1.1 200 ")


async def test_requests_sent_at_once_are_answered_one_by_one(http: Http) -> None:
    async with http.connect() as (reader, writer):
        writer.write((SMALL + CHUNKED + CHUNK * 20 + END) * 100)
        for _ in range(100):
            assert (await reader.readuntil(b"done")).count(b"HTTP/1.1 200 ") == 1
            assert (await reader.readuntil(b"\r\n\r\n20")).count(b"HTTP/1.1 200 ") == 1


GATED = SMALL.replace(b"/unread", b"/gated")


@pytest.mark.parametrize(
    "sent",
    [GATED, GATED + GET[:-2] + LINE * 30, UPGRADE.replace(b"/unread", b"/gated")],
    ids=["complete", "before a header that is too large", "for an upgrade"],
)
async def test_a_request_that_is_complete_has_no_deadline_of_its_connection(http: Http, sent: bytes) -> None:
    async with http.connect() as (reader, writer):
        await http.send(writer, sent)
        http.loop.move(60)
        assert not http.is_closing
        http.gate.set()
        assert (await reader.readuntil(b"done")).startswith(b"HTTP/1.1 200 ")


SLOW_REQUESTS = {
    "nothing": (b"", b"", 5),
    "half a header": (POST, b"", 5),
    "a header by drops": (POST, b"a: b\r\n", 5),
    "half a body": (BODY + b"x", b"", 10),
    "a body by drops": (BODY, b"x", 10),
    "half a chunk": (CHUNKED + b"5\r\nx", b"", 10),
    "chunks by drops": (CHUNKED, CHUNK, 10),
    "a body that is not read": (BODY.replace(b"/read", b"/nowhere"), b"x", 10),
}


@pytest.mark.parametrize(("sent", "drop", "seconds"), SLOW_REQUESTS.values(), ids=SLOW_REQUESTS)
async def test_a_slow_request_is_closed_at_its_deadline(http: Http, sent: bytes, drop: bytes, seconds: int) -> None:
    async with http.connect() as (reader, writer):
        await http.send(writer, sent)
        for _ in range(seconds - 1):
            http.loop.move(1)
            await http.send(writer, drop)
            assert not http.is_closing
        http.loop.move(1)
        assert http.is_closing
        with suppress(ConnectionError):
            await reader.read()


async def test_an_idle_connection_is_kept_for_as_long_as_the_server_is_told(http: Http) -> None:
    http.idle_seconds = 75
    async with http.connect() as (reader, writer):
        await http.send(writer, POST + b"Content-Length: 1\r\n\r\nx")
        await reader.readuntil(b"\r\n\r\n1")
        http.loop.move(74.75)
        assert not http.is_closing
        http.loop.move(0.25)
        assert http.is_closing


async def test_a_slow_client_within_its_deadlines_is_served_and_an_idle_connection_closed_after_five_seconds(
    http: Http,
) -> None:
    request = POST + b"Content-Length: 20\r\n\r\n" + b"x" * 20
    async with http.connect() as (reader, writer):
        for idle_seconds in (0, 4.75):  # the second on the same connection
            http.loop.move(idle_seconds)
            await http.send(writer, request[:40])
            http.loop.move(4.75)
            await http.send(writer, request[40:-10])
            http.loop.move(9.75)
            await http.send(writer, request[-10:])
            assert (await reader.readuntil(b"\r\n\r\n20")).startswith(b"HTTP/1.1 200 OK\r\n")
        http.loop.move(4.75)
        assert not http.is_closing
        http.loop.move(0.25)
        assert http.is_closing


async def request_large(http: Http) -> socket.socket:
    """A client with hardly any room for the response, once the server waits for it."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.setblocking(False)  # noqa: FBT003  # the socket's own signature
    loop = asyncio.get_running_loop()
    await loop.sock_connect(client, ("127.0.0.1", http.port))
    await loop.sock_sendall(client, GET)
    await until(lambda: 10 in http.loop.pending)
    return client


async def received(client: socket.socket, size: int) -> int:
    loop = asyncio.get_running_loop()
    got = 0
    while got < size and (data := await loop.sock_recv(client, min(1 << 20, size - got))):
        got += len(data)
    return got


async def test_a_slow_reader_has_ten_seconds_and_then_the_time_of_an_idle_connection(http: Http) -> None:
    with await request_large(http) as client:
        http.loop.move(9.75)
        first = await asyncio.get_running_loop().sock_recv(client, 4096)
        left = first.index(b"\r\n\r\n") + 4 + LARGE - len(first)
        assert await received(client, left) == left
        await until(lambda: http.loop.pending == [5])
        http.loop.move(4.75)
        assert not http.is_closing
        http.loop.move(0.25)
        assert http.is_closing


@pytest.mark.parametrize("reads", [0, 1024], ids=["nothing", "by drops"])
async def test_a_client_that_does_not_read_the_response_is_dropped(http: Http, reads: int) -> None:
    with await request_large(http) as client:
        for _ in range(9):
            http.loop.move(1)
            assert await received(client, reads) == reads
        assert not http.is_closing
        http.loop.move(1)
        assert http.is_closing


@pytest.mark.parametrize(
    "parts",
    [
        [UPGRADE + b"hello bye"],
        [UPGRADE[:30], UPGRADE[30:], b"hello", b" bye"],
        [SMALL, UPGRADE + b"a" * 10_000 + b"bye"],
    ],
    ids=["at once", "in parts", "after another request"],
)
async def test_an_upgrade_leaves_with_all_that_follows_and_no_request_or_timer(http: Http, parts: list[bytes]) -> None:
    http.upgrades = Upgraded
    sent = b"".join(parts)
    async with http.connect() as (reader, writer):
        for part in parts:
            writer.write(part)
            if part == SMALL:
                await reader.readuntil(b"done")
                sent = sent.removeprefix(SMALL)
        assert await reader.readexactly(len(SWITCHED)) == SWITCHED
        assert await reader.readexactly(len(sent)) == sent
        assert http.loop.pending == []
        assert not http.state.connections
        assert http.state.total_requests == (SMALL in parts)
        assert not http.state.tasks


async def test_an_upgrade_behind_a_request_that_is_not_answered_yet_is_answered_as_a_request(http: Http) -> None:
    http.upgrades = Upgraded
    async with http.connect() as (reader, writer):
        writer.write(SMALL + UPGRADE)
        for _ in range(2):
            assert (await reader.readuntil(b"done")).startswith(b"HTTP/1.1 200 ")


async def test_without_a_protocol_for_it_an_upgrade_is_answered_as_a_request_and_others_follow(http: Http) -> None:
    async with http.connect() as (reader, writer):
        for sent in (UPGRADE + SMALL, UPGRADE, SMALL):
            writer.write(sent)
            for _ in range(sent.count(b"GET")):
                assert (await reader.readuntil(b"done")).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("parts", [1, 2, 7])
async def test_an_upgrade_that_is_answered_as_a_request_has_its_body_and_others_follow(http: Http, parts: int) -> None:
    length = b"\r\nContent-Length: %d\r\n\r\n" % len(SMALL)
    request = UPGRADE.replace(b"GET /unread", b"POST /read").replace(b"\r\n\r\n", length) + SMALL
    for sent in (request + SMALL, request + request):
        async with http.connect() as (reader, writer):
            await http.send(
                writer, *(sent[at : at + len(sent) // parts + 1] for at in range(0, len(sent), len(sent) // parts + 1))
            )
            assert (await reader.readuntil(b"%d" % len(SMALL))).startswith(b"HTTP/1.1 200 ")
            last = b"done" if sent.endswith(SMALL + SMALL) else b"\r\n\r\n%d" % len(SMALL)
            assert (await reader.readuntil(last)).startswith(b"HTTP/1.1 200 ")


async def test_a_body_of_an_upgrade_that_does_not_arrive_ends_the_connection(http: Http) -> None:
    async with http.connect() as (reader, writer):
        await http.send(
            writer,
            UPGRADE.replace(b"GET /unread", b"POST /read").replace(b"\r\n\r\n", b"\r\nContent-Length: 3\r\n\r\nx"),
        )
        http.loop.move(9.75)
        assert not http.is_closing
        http.loop.move(0.25)
        with suppress(ConnectionError):
            assert await reader.read() == b""


async def test_the_chunked_body_of_an_upgrade_that_is_answered_as_a_request_is_no_request(http: Http) -> None:
    request = UPGRADE.replace(b"GET /unread", b"POST /gated").replace(
        b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    async with http.connect() as (reader, writer):
        await http.send(writer, request + b"%x\r\n" % len(SMALL) + SMALL + b"\r\n" + END + SMALL)
        http.loop.move(60)
        assert not http.is_closing
        http.gate.set()
        answer = await reader.read()
        assert answer.count(b"HTTP/1.1 200 ") == 1
        assert b"\r\nconnection: close\r\n" in answer
        assert answer.endswith(b"\r\n\r\ndone")
