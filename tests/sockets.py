"""WebSocket connections and streams of events on the wire: as clients have them, and byte by byte."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx
from starlette.applications import Starlette
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode
from websockets.typing import Subprotocol

from server.http.health import Readiness
from server.process.http_server import HttpServer
from server.settings import Settings

PROTOCOL = "graphql-transport-ws"
PATIENCE = 60
ACKNOWLEDGED = {"type": "connection_ack"}


class Socket:
    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    async def send(self, **message: Any) -> None:
        await self.connection.send(json.dumps(message))

    async def receive(self) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            message: dict[str, Any] = json.loads(await self.connection.recv())
        return message

    async def subscribe(self, name: str, query: str, **payload: Any) -> None:
        await self.send(id=name, type="subscribe", payload={"query": query, **payload})

    async def complete(self, name: str) -> None:
        await self.send(id=name, type="complete")

    async def answer(self, name: str, query: str, **payload: Any) -> dict[str, Any]:
        """The one result of a query or mutation, while nothing else is sent."""
        await self.subscribe(name, query, **payload)
        result = await self.receive()
        assert (result["id"], result["type"]) == (name, "next"), result
        assert await self.receive() == {"id": name, "type": "complete"}
        answered: dict[str, Any] = result["payload"]
        return answered

    async def errors(self, name: str, query: str | None = None, **payload: Any) -> list[dict[str, Any]]:
        """The errors of an operation that is refused."""
        await self.send(id=name, type="subscribe", payload={**({} if query is None else {"query": query}), **payload})
        result = await self.receive()
        assert (result["id"], result["type"]) == (name, "error"), result
        errors: list[dict[str, Any]] = result["payload"]
        return errors

    async def all_before_the_end(self) -> list[dict[str, Any]]:
        """The messages until the server closes the connection."""
        messages = []
        try:
            while True:
                messages.append(await self.receive())
        except ConnectionClosed:
            return messages

    async def ended(self) -> tuple[int, str]:
        """Code and reason with which the server closes the connection."""
        await self.all_before_the_end()
        received = self.connection.protocol.close_rcvd
        return (1006, "") if received is None else (received.code, received.reason)


@asynccontextmanager
async def opened(
    url: str, headers: Mapping[str, str] | None = None, protocols: tuple[str, ...] = (PROTOCOL,), **options: Any
) -> AsyncIterator[Socket]:
    """A connection before its first message."""
    names = [Subprotocol(name) for name in protocols]
    async with connect(
        url.replace("http", "ws", 1),
        subprotocols=names or None,
        additional_headers=headers,
        open_timeout=PATIENCE,
        proxy=None,
        **{"compression": None, **options},
    ) as connection:
        yield Socket(connection)


@asynccontextmanager
async def acknowledged(
    url: str, payload: dict[str, Any] | None = None, headers: Mapping[str, str] | None = None, **options: Any
) -> AsyncIterator[Socket]:
    """A connection on which operations may begin."""
    async with opened(url, headers, **options) as client:
        await client.send(type="connection_init", **({} if payload is None else {"payload": payload}))
        assert await client.receive() == ACKNOWLEDGED
        yield client


def head(*lines: str, path: str = "/graphql", method: str = "GET", **changed: str | None) -> bytes:
    """The head of an upgrade; a header is changed, or left out if it is None."""
    headers = {
        "Host": "127.0.0.1",
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(bytes(16)).decode(),
        "Sec-WebSocket-Protocol": PROTOCOL,
    }
    headers |= {name.replace("_", "-"): value for name, value in changed.items()}  # type: ignore[misc]
    written = [f"{name}: {value}" for name, value in headers.items() if value is not None]
    return "\r\n".join([f"{method} {path} HTTP/1.1", *written, *lines, "", ""]).encode("latin-1")


def frame(data: bytes | str, opcode: Opcode = Opcode.TEXT, *, fin: bool = True, rsv1: bool = False) -> bytes:
    content = data.encode() if isinstance(data, str) else data
    first, *rest = Frame(opcode, content, fin=fin).serialize(mask=True)
    return bytes([first | rsv1 << 6, *rest])


class RawSocket:
    """A connection whose bytes are the test's own."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def write(self, *parts: bytes) -> None:
        self.writer.write(b"".join(parts))

    async def response(self) -> tuple[int, dict[str, str], str]:
        """Status, headers and text of a response to the head."""
        async with asyncio.timeout(PATIENCE):
            lines = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").splitlines()
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:-1])}
            text = (await self.reader.readexactly(int(headers.get("content-length", 0)))).decode()
        return int(lines[0].split(" ")[1]), headers, text

    async def frame(self) -> tuple[Opcode, bytes]:
        async with asyncio.timeout(PATIENCE):
            first, size = await self.reader.readexactly(2)
            if size > 125:
                size = int.from_bytes(await self.reader.readexactly(2 if size == 126 else 8))
            return Opcode(first & 15), await self.reader.readexactly(size)

    async def ended(self) -> tuple[int, str]:
        """Code and reason with which the server closes the connection; whatever comes before is passed over."""
        while True:
            try:
                opcode, data = await self.frame()
            except (asyncio.IncompleteReadError, ConnectionError):
                return 1006, ""
            if opcode is Opcode.CLOSE:
                return int.from_bytes(data[:2]), data[2:].decode()


@asynccontextmanager
async def raw(url: str, *parts: bytes) -> AsyncIterator[RawSocket]:
    """A connection on which these bytes are sent at once."""
    address = httpx.URL(url)
    reader, writer = await asyncio.open_connection(address.host, address.port)
    client = RawSocket(reader, writer)
    client.write(*parts)
    try:
        yield client
    finally:
        writer.transport.abort()


@asynccontextmanager
async def upgraded(url: str, *parts: bytes) -> AsyncIterator[RawSocket]:
    """A connection after its handshake, on which these frames are sent at once."""
    async with raw(url, head()) as client:
        assert (await client.response())[0] == 101
        client.write(*parts)
        yield client


class Listening:
    """An application that listens on a port, in the process of the test."""

    def __init__(self, app: Starlette, settings: Settings, readiness: Readiness) -> None:
        self.server = HttpServer(app, settings, readiness)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/graphql"
        self._has_stopped = False

    async def start(self) -> None:
        self.server.config.load()
        self.server.lifespan = self.server.config.lifespan_class(self.server.config)
        await self.server.startup([self._listener])

    async def stop(self) -> None:
        if not self._has_stopped:
            self._has_stopped = True
            await self.server.shutdown([self._listener])


@asynccontextmanager
async def listening(app: Starlette, settings: Settings, readiness: Readiness) -> AsyncIterator[Listening]:
    server = Listening(app, settings, readiness)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
