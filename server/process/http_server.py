"""The HTTP server of the process and its graceful shutdown."""

import asyncio
import math
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import uvicorn
from starlette.applications import Starlette

from server.http.health import Readiness
from server.process.protocol import DeadlineProtocol
from server.process.websocket_protocol import WebSocketProtocol
from server.settings import Settings

_MESSAGE_BYTES = 256 * 1024
_PING_SECONDS = 30


def stop_signals() -> list[int]:
    """The signals that stop a server; SIGHUP does unless it is ignored, as `nohup` has it."""
    hangup = [] if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN else [signal.SIGHUP]
    return [signal.SIGINT, signal.SIGTERM, *hangup]


class HttpServer(uvicorn.Server):
    """Stops on a signal and lets its caller clean up; uvicorn would raise the signal again.

    On SIGTERM or SIGHUP it first reports that it is not ready and keeps serving for a while, so that a load balancer
    can send requests elsewhere. SIGINT, or a second signal, stops it at once.
    """

    def __init__(self, app: Starlette, settings: Settings, readiness: Readiness) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=DeadlineProtocol,
                ws=WebSocketProtocol,
                ws_max_size=_MESSAGE_BYTES,
                ws_ping_interval=_PING_SECONDS,
                ws_ping_timeout=_PING_SECONDS,
                ws_per_message_deflate=False,
                log_config=None,
                log_level=settings.log_level,
                lifespan="on",
                timeout_keep_alive=settings.idle_seconds,
                access_log=False,  # it would contain what clients put into a URL
                server_header=False,
                timeout_graceful_shutdown=math.ceil(settings.request_seconds),
            )
        )
        self._readiness = readiness
        self._drain_seconds = settings.drain_seconds
        self._end_streams: Callable[[], None] = getattr(app.state, "end_streams", lambda: None)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stops. Clients that have connected are served, also those whose connections are not accepted yet.

        Streams of events end, and WebSockets are closed with 1012: their clients connect to another server.
        """
        opening = [self.open_connection(connection) for connection in _accept_all(sockets or [])]
        for server in self.servers:
            server.close()
        await asyncio.gather(*opening)
        self._end_streams()
        await super().shutdown(sockets)

    async def open_connection(self, connection: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        connection.settimeout(0)
        with suppress(OSError):  # the client is gone
            await loop.connect_accepted_socket(
                lambda: self.config.http_protocol_class(  # type: ignore[call-arg]  # as uvicorn does
                    config=self.config, server_state=self.server_state, app_state=self.lifespan.state, _loop=loop
                ),
                connection,
            )

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in stop_signals():
            loop.add_signal_handler(number, self._stop, number)
        yield

    def _stop(self, number: int) -> None:
        drains = number != signal.SIGINT and not self._readiness.is_stopping
        self._readiness.is_stopping = True
        if drains:
            asyncio.get_running_loop().call_later(self._drain_seconds, self.handle_exit, number, None)
        else:
            self.handle_exit(number, None)


def _accept_all(listeners: list[socket.socket]) -> Iterator[socket.socket]:
    for listener in listeners:
        with suppress(OSError):  # none is left
            while True:
                yield listener.accept()[0]
