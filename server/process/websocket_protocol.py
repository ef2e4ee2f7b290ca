"""WebSocket connections within limits: uvicorn by itself answers any number of frames, and waits for any reader."""

import asyncio
import logging
from typing import Any, Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Response
from websockets.server import ServerProtocol

from server.http.headers import SECURITY_HEADERS

_READING_SECONDS: Final = 10
_PIECE_BYTES: Final = 1024
_FRAMES_PER_SECOND: Final = 200
_POLICY_VIOLATION: Final = 1008
_REASON: Final = "Too many frames"

# Not uvicorn's own, and without what is usual: that would log what clients put into a URL.
_logger = logging.getLogger(__name__)
_logger.setLevel(logging.WARNING)


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
        self.conn = _Handshake(max_size=self.config.ws_max_size, logger=self.logger)
        self._frames = 0
        self._counted_since = 0.0
        self._reading: asyncio.TimerHandle | None = None

    def data_received(self, data: bytes) -> None:
        for start in range(0, len(data), _PIECE_BYTES):
            if self.transport.is_closing():
                return
            super().data_received(data[start : start + _PIECE_BYTES])

    def handle_events(self) -> None:
        now = self.loop.time()
        if now - self._counted_since >= 1:
            self._counted_since, self._frames = now, 0
        self._frames += len(self.conn.events)
        if self._frames > _FRAMES_PER_SECOND:
            self.conn.fail(_POLICY_VIOLATION, _REASON)
            self.handle_parser_exception()
            return
        super().handle_events()

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
