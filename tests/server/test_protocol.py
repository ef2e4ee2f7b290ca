"""The server's HTTP by itself, before an application of three lines: what is refused, and who waits for whom."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from uvicorn.server import ServerState

from server.protocol import DeadlineProtocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request

LARGE = 16 * 1024 * 1024  # more than any buffer between here and there
GET = b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n"
SMALL = b"GET /unread HTTP/1.1\r\nHost: localhost\r\n\r\n"
CHUNKED = b"POST /read HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNK = b"1\r\nx\r\n"
END = b"0\r\n\r\n"
LINES = (b"X-Large: " + b"a" * 991 + b"\r\n") * 30


async def read(request: Request) -> Response:
    try:
        return PlainTextResponse(str(len(await request.body())))
    except ClientDisconnect:
        return PlainTextResponse("nobody reads this")


async def unread(_: Request) -> Response:
    return PlainTextResponse("done")


async def large(_: Request) -> Response:
    return Response(b"a" * LARGE)


@pytest_asyncio.fixture
async def port() -> AsyncIterator[int]:
    app = Starlette(
        routes=[
            Route("/read", read, methods=["HEAD", "POST"]),
            Route("/unread", unread, methods=["GET", "POST"]),
            Route("/large", large),
        ]
    )
    config = uvicorn.Config(app, log_config=None)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: DeadlineProtocol(config, ServerState(), {}), "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def answer_to(port: int, *parts: bytes) -> bytes:
    """All that comes back until the server closes; each part is sent once the one before has arrived."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for part in parts:
        writer.write(part)
        await asyncio.sleep(0.1)
    async with asyncio.timeout(3):
        answer = await reader.read()
    writer.close()
    return answer


async def test_a_body_of_2048_chunks_is_taken_and_one_more_refused(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for _ in range(2):  # they are counted anew for each body
        writer.write(CHUNKED + CHUNK * 2048 + END)
        assert (await reader.readuntil(b"2048")).startswith(b"HTTP/1.1 200 ")
    writer.write(CHUNKED + CHUNK * 2049 + END)
    answer = await reader.read()
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"\r\nconnection: close\r\n" in answer.lower()
    assert b"\r\nx-content-type-options: nosniff\r\n" in answer.lower()
    assert answer.endswith(b"The body may have 2,048 chunks at most.")
    writer.close()


@pytest.mark.parametrize("path", [b"/read", b"/unread"])
async def test_very_many_chunks_take_little_time(port: int, path: bytes) -> None:
    began = time.process_time()
    answer = await answer_to(port, CHUNKED.replace(b"/read", path) + CHUNK * 260_000 + END)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert time.process_time() - began < 0.5


@pytest.mark.parametrize(
    "parts",
    [
        [CHUNKED + CHUNK + b"ZZZ\r\n"],
        [CHUNKED + CHUNK, b"ZZZ\r\n"],
        [CHUNKED.replace(b"/read", b"/unread") + CHUNK + b"ZZZ\r\n"],
        [CHUNKED.replace(b"POST", b"HEAD") + b"ZZZ\r\n"],
        [CHUNKED.replace(b"Transfer", b"Expect: 100-continue\r\nTransfer") + b"ZZZ\r\n"],
    ],
    ids=["at once", "in parts", "that nobody wants", "of a HEAD", "unasked"],
)
async def test_a_broken_body_is_refused_and_the_application_hears_of_a_disconnect(
    port: int, caplog: pytest.LogCaptureFixture, parts: list[bytes]
) -> None:
    answer = await answer_to(port, *parts)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1
    assert worst(caplog) == logging.WARNING


@pytest.mark.parametrize("rest", [b"ZZZ\r\n", CHUNK * 2049], ids=["broken", "too many"])
async def test_a_bad_rest_of_a_body_that_was_answered_already_only_closes(
    port: int, caplog: pytest.LogCaptureFixture, rest: bytes
) -> None:
    answer = await answer_to(port, CHUNKED.replace(b"/read", b"/unread"), rest)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.endswith(b"done")
    assert worst(caplog) == logging.WARNING


def worst(caplog: pytest.LogCaptureFixture) -> int:
    return max(record.levelno for record in caplog.records)


@pytest.mark.parametrize(
    "sent",
    [SMALL + GET[:-2] + LINES + b"\r\n", CHUNKED + b"0\r\n" + LINES + b"\r\n"],
    ids=["a next header", "a trailer"],
)
async def test_what_is_like_a_header_has_its_limit_too(port: int, sent: bytes) -> None:
    answer = await answer_to(port, sent)
    assert answer.count(b"HTTP/1.1 431 ") == 1
    assert answer.endswith(b"The header may have 16 KB at most.")


async def test_requests_sent_at_once_are_answered_one_by_one(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write((SMALL + CHUNKED + CHUNK * 20 + END) * 500)
    for _ in range(500):
        assert (await reader.readuntil(b"done")).count(b"HTTP/1.1 200 ") == 1
        assert (await reader.readuntil(b"\r\n\r\n20")).count(b"HTTP/1.1 200 ") == 1
    writer.close()


async def ask_for_much(port: int) -> socket.socket:
    """A client with hardly any room for the answer."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.setblocking(False)  # noqa: FBT003  # the socket's own way of asking
    loop = asyncio.get_running_loop()
    await loop.sock_connect(client, ("127.0.0.1", port))
    await loop.sock_sendall(client, GET)
    return client


async def received(client: socket.socket, size: int) -> int:
    """How many bytes come, up to that size."""
    loop = asyncio.get_running_loop()
    got = 0
    while got < size and (data := await loop.sock_recv(client, min(1 << 20, size - got))):
        got += len(data)
    return got


async def test_a_slow_reader_has_its_time_and_then_a_pause_like_others(port: int) -> None:
    loop = asyncio.get_running_loop()
    with await ask_for_much(port) as client:
        await asyncio.sleep(7)  # more than an idle connection may last
        assert await received(client, LARGE) == LARGE
        await asyncio.sleep(4)
        await loop.sock_sendall(client, SMALL)
        await asyncio.sleep(0.5)
        assert (await loop.sock_recv(client, 1 << 20)).endswith(b"done")
        began = time.monotonic()
        assert await loop.sock_recv(client, 1) == b""
        assert 4 < time.monotonic() - began < 7


async def test_a_client_that_reads_nothing_is_dropped_in_time(port: int) -> None:
    with await ask_for_much(port) as client:
        await asyncio.sleep(11)
        assert await received(client, LARGE) < LARGE
