"""Clients that send or read slowly, too large a header, or what is no request: real connections to a real server."""

from __future__ import annotations

import asyncio
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import pytest_asyncio

from tests.e2e.serving import Server, start

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

SLOW = 200
SECONDS = 15
HEADER = b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
BODY = HEADER + b"Content-Length: 1000\r\n\r\n"
CHUNKED = HEADER + b"Transfer-Encoding: chunked\r\n\r\n"
WHOLE = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest_asyncio.fixture
async def server(tmp_path: Path, store_url: str, table: str) -> AsyncIterator[Server]:
    settings = {"SMARTLOCKER_ENDPOINT_URL": store_url, "SMARTLOCKER_TABLE_NAME": table}
    served = await asyncio.to_thread(start, tmp_path / "run", **settings)
    yield served
    await asyncio.to_thread(served.end)


async def connect(server: Server, **options: Any) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", httpx.URL(server.url).port, **options)


async def is_closed(reader: asyncio.StreamReader) -> bool:
    try:
        while await reader.read(65536):
            pass
    except ConnectionError:
        pass
    return True


async def half_sent(server: Server, sent: bytes) -> float:
    """Sends part of a request, then nothing; how long the connection lived."""
    began = time.monotonic()
    reader, writer = await connect(server)
    writer.write(sent)
    await is_closed(reader)
    writer.close()
    return time.monotonic() - began


async def dripping(server: Server, sent: bytes, drop: bytes) -> float:
    """Sends part of a request, then a little again and again; how long the connection lived."""
    began = time.monotonic()
    reader, writer = await connect(server)
    writer.write(sent)
    closed = asyncio.ensure_future(is_closed(reader))
    while not closed.done():
        writer.write(drop)
        await asyncio.wait([closed], timeout=0.5)
    writer.close()
    return time.monotonic() - began


WAYS: dict[str, Callable[[Server], Any]] = {
    "nothing": lambda server: half_sent(server, b""),
    "half a header": lambda server: half_sent(server, HEADER),
    "half a body": lambda server: half_sent(server, BODY + b'{"query": '),
    "half a chunk": lambda server: half_sent(server, CHUNKED + b"5\r\n{"),
    "a header by drops": lambda server: dripping(server, HEADER, b"a: b\r\n"),
    "a body by drops": lambda server: dripping(server, BODY, b" "),
    "chunks by drops": lambda server: dripping(server, CHUNKED, b"1\r\n \r\n"),
    "a second header by drops": lambda server: dripping(server, WHOLE, b"a"),
    "a body that nobody wants": lambda server: dripping(server, BODY.replace(b"/graphql", b"/nowhere"), b" "),
}


async def test_of_200_slow_connections_none_lives_15_seconds_while_others_are_served(server: Server) -> None:
    ways = list(WAYS.values())
    slow = [asyncio.create_task(ways[number % len(ways)](server)) for number in range(SLOW)]
    began = time.monotonic()
    async with httpx.AsyncClient() as client:
        while not all(task.done() for task in slow) and time.monotonic() - began < SECONDS:
            answer = await client.post(server.url, json={"query": "{ __typename }"}, timeout=5)
            assert answer.json() == {"data": {"__typename": "Query"}}
            assert (await client.get(server.url.replace("/graphql", "/health"), timeout=5)).text == "ok"
            await asyncio.sleep(0.5)
    assert sum(not task.done() for task in slow) == 0
    lived = [task.result() for task in slow]
    assert max(lived) < SECONDS
    assert min(lived) > 4  # and none was cut off before its time
    assert "Traceback" not in server.stderr


async def test_a_slow_client_that_is_not_too_slow_is_served(server: Server) -> None:
    body = b'{"query": "{ __typename }"}'
    request = HEADER + f"Content-Length: {len(body)}\r\n\r\n".encode() + body
    reader, writer = await connect(server)
    for _ in range(2):  # the second on the same connection, after a pause
        for piece in (request[:40], request[40:-10], request[-10:]):
            writer.write(piece)
            await asyncio.sleep(1.5)
        assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"
        await reader.readuntil(b"}}")
    writer.close()


@pytest.mark.parametrize("reads", [False, True], ids=["never", "by drops"])
async def test_a_client_that_does_not_read_its_answer_is_dropped(server: Server, *, reads: bool) -> None:
    page = await asyncio.to_thread(httpx.get, server.url, headers={"Accept": "text/html"})
    script = page.text.split('src="')[1].split('"')[0]
    whole = await asyncio.to_thread(httpx.get, str(httpx.URL(server.url).join(script)))
    size = len(whole.content)
    # given a client with hardly any room for an answer
    loop = asyncio.get_running_loop()
    with socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.setblocking(False)  # noqa: FBT003  # the socket's own way of asking
        await loop.sock_connect(slow, ("127.0.0.1", httpx.URL(server.url).port))
        request = f"GET {script} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: identity\r\n\r\n".encode()
        await loop.sock_sendall(slow, request * 20)
        # when it reads little or nothing for a while
        got = 0
        for _ in range(SECONDS * 2):
            await asyncio.sleep(0.5)
            with suppress(ConnectionError):
                got += len(await loop.sock_recv(slow, 1024)) if reads else 0
        # then what it can still read is not all of it
        with suppress(ConnectionError):
            async with asyncio.timeout(5):
                while data := await loop.sock_recv(slow, 1 << 20):
                    got += len(data)
    assert got < 20 * size


@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "by pieces"])
async def test_a_header_above_16_kb_is_refused_however_it_comes(server: Server, *, at_once: bool) -> None:
    reader, writer = await connect(server)
    line = b"X-Large: " + b"a" * 991 + b"\r\n"
    with suppress(ConnectionError):
        for part in [HEADER + line * 200] if at_once else [HEADER, *[line] * 200]:
            writer.write(part)
            await writer.drain()
    answer = await reader.read(-1)
    writer.close()
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert b"x-content-type-options: nosniff\r\n" in answer.lower()
    assert b"The header may have 16 KB at most." in answer


async def test_a_header_of_15_kb_is_taken(server: Server) -> None:
    async with httpx.AsyncClient() as client:
        headers = {f"X-Large-{number}": "a" * 1000 for number in range(15)}
        answer = await client.post(server.url, json={"query": "{ __typename }"}, headers=headers)
    assert answer.json() == {"data": {"__typename": "Query"}}


async def test_what_is_no_http_is_refused_as_such(server: Server) -> None:
    reader, writer = await connect(server)
    writer.write(b"nonsense\r\n\r\n")
    answer = await reader.read()
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"x-content-type-options: nosniff\r\n" in answer.lower()
    writer.close()


async def test_a_broken_body_is_refused_as_such_and_is_no_failure_of_the_servers(server: Server) -> None:
    reader, writer = await connect(server)
    # given one that the application would refuse too, for another reason
    writer.write(CHUNKED.replace(b"application/json", b"text/plain") + b"1\r\nx\r\nZZZ\r\n")
    answer = await reader.read()
    assert answer.startswith(b"HTTP/1.1 400 ")
    writer.close()
    async with httpx.AsyncClient() as client:  # by then the log has what it gets
        assert (await client.get(server.url.replace("/graphql", "/health"))).text == "ok"
    assert "ERROR" not in server.stderr
