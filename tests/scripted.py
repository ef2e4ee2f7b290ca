"""A store that answers with what a test has written, byte by byte: for faults of HTTP itself."""

import asyncio
import json
import os
import socket
import ssl
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Reply", "Request", "ScriptedStore", "failed", "ok", "open_scripted"]


@dataclass(frozen=True)
class Reply:
    """A reply of the store: bytes, once an event has happened; then the connection may be closed."""

    data: bytes
    closes: bool = False
    after: asyncio.Event | None = None


def ok(body: Any = None, *, headers: str = "", status: str = "200 OK", **more: Any) -> Reply:
    """A whole answer, with its checksum; a body that is bytes is sent as it is."""
    content = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(content)}\r\nx-amz-crc32: {zlib.crc32(content)}\r\n{headers}\r\n"
    return Reply(head.encode() + content, **more)


def failed(code: str, status: int = 400, **more: Any) -> Reply:
    """An error as DynamoDB sends it."""
    body = {"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": "why", **more}
    return ok(body, status=f"{status} Error")


@dataclass(frozen=True)
class Request:
    """One request, and the number of the connection that it came on."""

    connection: int
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def content(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.body)
        return content


@dataclass
class ScriptedStore:
    """Answers request after request with the next reply of its script, and with `{}` behind its end."""

    url: str = ""
    script: list[Reply] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    connections: list[asyncio.StreamWriter] = field(default_factory=list)
    _arrived: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    _closed: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))

    async def arrivals(self, count: int = 1) -> None:
        """Waits until so many more requests have arrived."""
        for _ in range(count):
            await self._arrived.acquire()

    async def closures(self, count: int = 1) -> None:
        """Waits until so many more connections have ended."""
        for _ in range(count):
            await self._closed.acquire()

    def shut(self, connection: int) -> None:
        """Closes a connection at once, before the event loop runs again."""
        with socket.socket(fileno=os.dup(self.connections[connection].get_extra_info("socket").fileno())) as end:
            end.shutdown(socket.SHUT_RDWR)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = len(self.connections)
        self.connections.append(writer)
        try:
            while await self._reply(number, reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client has closed it
        finally:
            writer.close()
            self._closed.release()

    async def _reply(self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        pairs = [line.partition(": ") for line in lines if line]
        headers = {name.lower(): value for name, _, value in pairs}
        body = await reader.readexactly(int(headers["content-length"]))
        self.requests.append(Request(number, first.split(" ")[1], headers, body))
        reply = self.script.pop(0) if self.script else ok()
        self._arrived.release()
        if reply.after is not None:
            await _unless_closed(reply.after, reader)
        writer.write(reply.data)
        await writer.drain()
        return not reply.closes


async def _unless_closed(event: asyncio.Event, reader: asyncio.StreamReader) -> None:
    """Waits for an event, or until the client closes the connection."""
    happens, ends = asyncio.ensure_future(event.wait()), asyncio.ensure_future(reader.read(1))
    await asyncio.wait({happens, ends}, return_when=asyncio.FIRST_COMPLETED)
    happens.cancel()
    if ends.done():
        raise ConnectionError
    ends.cancel()
    await asyncio.wait({ends})


@asynccontextmanager
async def open_scripted(host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> AsyncIterator[ScriptedStore]:
    store = ScriptedStore()
    server = await asyncio.start_server(store.serve, host, 0, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    name = "localhost" if tls else f"[{host}]" if ":" in host else host
    store.url = f"{'https' if tls else 'http'}://{name}:{port}"
    try:
        yield store
    finally:
        server.close()
        for connection in store.connections:
            connection.close()
