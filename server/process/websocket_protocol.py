"""WebSocket connections within limits: uvicorn by itself answers any number of frames, and waits for any reader."""

import asyncio
import logging
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Final

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame
from websockets.http11 import Request, Response
from websockets.protocol import State
from websockets.server import ServerProtocol

from server.http.headers import SECURITY_HEADERS
from server.live.outbox import SEND_AT_ONCE

_READING_SECONDS: Final = 10
_PARTING_SECONDS: Final = 1
_PIECE_BYTES: Final = 1024
_FRAMES_PER_SECOND: Final = 100
_BYTES_PER_FRAME: Final = 40 * 1024
"""So many bytes take as long as a frame, and count like one: 4 MB in a second are as many as are accepted."""
_FRAGMENTS: Final = 2048
_POLICY_VIOLATION: Final = 1008
_SERVICE_RESTART: Final = 1012

# Not uvicorn's own, and without what is usual: that would log what clients put into a URL.
_logger = logging.getLogger(__name__)
_logger.setLevel(logging.WARNING)
_logger.addFilter(lambda record: not (record.exc_info and isinstance(record.exc_info[1], UnicodeDecodeError)))


class _Handshake(ServerProtocol):
    def reject(self, status: int, text: str) -> Response:
        response = super().reject(status, text)
        response.headers.update(SECURITY_HEADERS)
        return response


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """Closes a connection that sends too many frames, or that does not read for too long.

    Frames are counted while they are parsed, in small pieces: tiny ones take far more time than their bytes.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.logger = _logger
        self.close_timeout = _PARTING_SECONDS
        self.conn = _Handshake(max_size=self.config.ws_max_size, logger=self.logger)
        self._frames = 0.0
        self._counted_since = 0.0
        self._reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        # Writing pauses as soon as something is left: so a client that does not read is noticed, also on closing.
        transport.set_write_buffer_limits(0)

    def data_received(self, data: bytes) -> None:
        if self.handshake_initiated and not self.handshake_complete:
            self.transport.abort()  # a client waits for the response
            return
        for start in range(0, len(data), _PIECE_BYTES):
            if self.transport.is_closing():
                return
            piece = data[start : start + _PIECE_BYTES]
            self._frames += len(piece) / _BYTES_PER_FRAME
            super().data_received(piece)
        if self.conn.handshake_exc is not None and not self.transport.is_closing():
            self._refuse_head()

    def _refuse_head(self) -> None:
        """Answers a head that is valid HTTP, but not for the library, which uvicorn does not notice."""
        refusal = b"".join(self.conn.data_to_send())
        self.handshake_complete = self.close_sent = True
        self.transport.write(refusal or self.conn.reject(HTTPStatus.BAD_REQUEST, "Invalid request.").serialize())
        self.transport.close()

    def handle_events(self) -> None:
        now = self.loop.time()
        if now - self._counted_since >= 1:
            self._counted_since, self._frames = now, 0
        self._frames += len(self.conn.events)
        if self._frames > _FRAMES_PER_SECOND:
            self._fail("Too many frames or bytes")
            return
        super().handle_events()

    def handle_cont(self, event: Frame) -> None:
        """Takes a part of a message; empty ones could otherwise go on without end."""
        super().handle_cont(event)
        if len(self.frames) >= _FRAGMENTS:
            self._fail("Too many fragments")

    def _fail(self, reason: str) -> None:
        self.frames = []
        self.conn.fail(_POLICY_VIOLATION, reason)
        self.handle_parser_exception()

    async def send(self, message: ASGISendEvent) -> None:
        await self.writable.wait()
        if self.close_sent:  # the application cannot know yet
            raise ClientDisconnected
        await super().send(message)
        if message["type"] == "websocket.http.response.body":
            self.handshake_complete = True  # it was refused, as uvicorn does not note

    def shutdown(self) -> None:
        """Tells the application, which answers what runs and then closes the connection."""
        if self.handshake_complete and not self.close_sent:
            self.queue.put_nowait({"type": "websocket.disconnect", "code": _SERVICE_RESTART})
        else:
            super().shutdown()

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if not self.handshake_complete:  # otherwise it was refused
            self.scope["extensions"][SEND_AT_ONCE] = {"send": self.send_at_once}

    def send_at_once(self, texts: Sequence[bytes]) -> bool:
        """Sends messages without a task; none, where the connection ends or the client has not read enough."""
        if not self.writable.is_set() or self.transport.is_closing() or self.conn.state is not State.OPEN:
            return False
        for text in texts:
            self.conn.send_text(text)
        self.transport.write(b"".join(self.conn.data_to_send()))
        return True

    def keepalive_timeout(self) -> None:
        """Drops a client that answers no ping: it may have slept, and at uvicorn's 1011 clients give up for good."""
        self.transport.abort()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._reading = self.loop.call_later(_READING_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._cancel_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_reading()
        super().connection_lost(exc)

    def _cancel_reading(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None
