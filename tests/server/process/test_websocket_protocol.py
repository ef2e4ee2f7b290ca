import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import pytest_asyncio
import uvicorn
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket
from uvicorn.server import ServerState
from websockets.frames import Opcode

from server.http.health import Readiness
from server.live.outbox import SEND_AT_ONCE
from server.process.websocket_protocol import WebSocketProtocol
from server.settings import Settings
from tests.server.process.timers import TimedLoop, until
from tests.sockets import PROTOCOL, RawSocket, frame, head, listening, opened

LARGE = 16 * 1024 * 1024  # more than any buffer between client and server


class Sockets:
    """A server of WebSockets, its timers, and how each connection ended for the application."""

    def __init__(self) -> None:
        self.loop = TimedLoop()
        self.state = ServerState()
        self.port = 0
        self.ping_seconds: float | None = None
        self.ends: list[Any] = []
        self.protocol: WebSocketProtocol | None = None

    async def app(self, _scope: Any, receive: Any, send: Any) -> None:
        """Sends back what it gets, or a lot."""
        try:
            await receive()
            await send({"type": "websocket.accept"})
            while (message := await receive())["type"] == "websocket.receive":
                text = message["text"]
                await send({"type": "websocket.send", "text": "x" * LARGE if text == "large" else text})
            self.ends.append(message["code"])
        except OSError:
            self.ends.append("gone")

    def connected(self) -> WebSocketProtocol:
        config = uvicorn.Config(
            self.app,
            interface="asgi3",
            log_config=None,
            ws_ping_interval=self.ping_seconds,
            ws_ping_timeout=30,
            ws_per_message_deflate=False,
        )
        self.protocol = WebSocketProtocol(config, self.state, {}, _loop=self.loop)
        return self.protocol

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[RawSocket]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1024)
        client = RawSocket(reader, writer)
        client.write(head())
        await client.response()
        yield client
        writer.transport.abort()
        await until(lambda: not self.state.connections and not self.state.tasks)
        assert not self.loop.pending

    async def pass_second(self, client: RawSocket) -> None:
        """Lets a second pass, once all that was sent has arrived."""
        client.write(frame("mark", Opcode.PING))
        assert await client.frame() == (Opcode.PONG, b"mark")
        self.loop.move(1)


@pytest_asyncio.fixture
async def sockets(caplog: pytest.LogCaptureFixture) -> AsyncIterator[Sockets]:
    sockets = Sockets()
    server = await asyncio.get_running_loop().create_server(sockets.connected, "127.0.0.1", 0)
    async with server:
        sockets.port = server.sockets[0].getsockname()[1]
        yield sockets
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


async def test_a_ping_is_sent_every_30_seconds_and_must_be_answered_within_30(sockets: Sockets) -> None:
    sockets.ping_seconds = 30
    async with sockets.connect() as client:
        for _ in range(2):
            assert sockets.loop.pending == [30]
            sockets.loop.move(30)
            opcode, data = await client.frame()
            assert opcode is Opcode.PING
            client.write(frame(b"other", Opcode.PONG), frame(data, Opcode.PONG))
            await sockets.pass_second(client)
            assert sockets.loop.pending == [29]
            sockets.loop.move(-1)
        sockets.loop.move(30)
        assert (await client.frame())[0] is Opcode.PING
        sockets.loop.move(30)
        assert await client.ended() == (1006, ""), "at 1011 clients would not come back"


@pytest.mark.parametrize("sent", [b"", frame(b"\x03\xe8", Opcode.CLOSE), frame(b"\xff")], ids=["", "close", "error"])
async def test_a_client_that_does_not_read_is_dropped_after_10_seconds_also_while_it_closes(
    sockets: Sockets, sent: bytes
) -> None:
    async with sockets.connect() as client:
        client.write(frame("large"))
        await until(lambda: 10 in sockets.loop.pending)
        client.write(sent)
        protocol = sockets.protocol
        assert protocol is not None
        await until(lambda: protocol.transport.is_closing() == bool(sent))
        assert sockets.state.connections
        sockets.loop.move(10)
        await until(lambda: len(sockets.ends) == 1)
        assert not sockets.state.connections


async def test_a_message_has_at_most_2048_fragments_however_slowly_they_come(sockets: Sockets) -> None:
    async with sockets.connect() as client:
        client.write(frame("", fin=False))
        for _ in range(30):
            client.write(frame("x", Opcode.CONT, fin=False) * 68)
            await sockets.pass_second(client)
        client.write(frame("x", Opcode.CONT, fin=False) * 6, frame("", Opcode.CONT))
        assert (await client.frame())[1] == b"x" * 2046
        client.write(frame("", fin=False))
        for _ in range(30):
            client.write(frame("", Opcode.CONT, fin=False) * 68)
            await sockets.pass_second(client)
        client.write(frame("", Opcode.CONT, fin=False) * 7)
        assert await client.ended() == (1008, "Too many fragments")


async def test_100_frames_a_second_are_accepted_and_no_more(sockets: Sockets) -> None:
    async with sockets.connect() as client:
        for _ in range(3):
            await sockets.pass_second(client)
            client.write(frame("", Opcode.PONG) * 97)
        client.write(frame("", Opcode.PONG) * 4)
        assert await client.ended() == (1008, "Too many frames or bytes")


async def test_4_mb_a_second_are_accepted_and_no_more(sockets: Sockets) -> None:
    part = "x" * 1_000_000
    async with sockets.connect() as client:
        client.write(frame(part, fin=False))
        for _ in range(3):
            await sockets.pass_second(client)
            client.write(frame(part, Opcode.CONT, fin=False) * 3)
        client.write(frame(part, Opcode.CONT, fin=False) * 2)
        assert await client.ended() == (1008, "Too many frames or bytes")


async def test_messages_are_sent_together_without_a_task_and_none_after_the_end() -> None:
    sent = []

    async def greet(socket: WebSocket) -> None:
        await socket.accept(PROTOCOL)
        send = socket.scope["extensions"][SEND_AT_ONCE]["send"]
        sent.append(send([b'{"number":1}', b'{"number":2}']))
        await socket.close()
        sent.append(send([b'{"number":3}']))

    app = Starlette(routes=[WebSocketRoute("/graphql", greet)])
    async with listening(app, Settings(), Readiness()) as server, opened(server.url) as client:
        assert await client.all_before_the_end() == [{"number": 1}, {"number": 2}]
    assert sent == [True, False]
