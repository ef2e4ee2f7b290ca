"""HTTP/1.1 with deadlines: uvicorn itself waits forever for clients that send or read slowly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from server.http.headers import SECURITY_HEADERS

if TYPE_CHECKING:
    import asyncio

__all__ = ["DeadlineProtocol"]

_MAX_HEADER_BYTES: Final = 16 * 1024
_MAX_CHUNKS: Final = 2048
_HEADER_SECONDS: Final = 5
_BODY_SECONDS: Final = 10
_READ_SECONDS: Final = 10
_CLOSE_SECONDS: Final = 1
# The parser checks the size of a header, or of a body's trailer, between one piece and the next.
_PIECE_BYTES: Final = {h11.IDLE: 1024, h11.SEND_BODY: 16 * 1024}


class DeadlineProtocol(H11Protocol):
    """Closes the connection of a client that takes too long to send a header or body, or to read a response."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Waits for the first request."""
        super().connection_made(transport)
        self._parser = self.conn = _Parser()
        self._unparsed = bytearray()
        self._send_timer: asyncio.TimerHandle | None = None
        self._read_timer: asyncio.TimerHandle | None = None
        self._phase: object = None
        self._is_idle = False
        self._is_rejected = False
        # Writing pauses while anything is unsent, which shows how long the client takes to read.
        transport.set_write_buffer_limits(0)
        self._update_deadline()

    def data_received(self, data: bytes) -> None:
        """Receives a part of a request, or of several."""
        if self._is_rejected:
            return
        if self._is_idle:
            self._is_idle = False
            self._phase = None  # the deadline of the next header starts now
        self._unparsed += data
        self._parse()

    def on_response_complete(self) -> None:
        """Waits until the client has read the response, and for the next request."""
        super().on_response_complete()
        self._unset_keepalive_if_required()  # uvicorn's keep-alive would start before the response is read
        self._parse()
        self._is_idle = self.conn.their_state is h11.IDLE

    def pause_writing(self) -> None:
        """Starts the deadline for reading: the client reads slower than the server writes."""
        super().pause_writing()
        self._read_timer = self.loop.call_later(_READ_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Ends the deadline for reading: everything was sent."""
        super().resume_writing()
        self._cancel_read_timer()
        self._update_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancels all deadlines."""
        self._cancel_send_timer()
        self._cancel_read_timer()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Rejects the request: 413 or 431 if it is too large, else 400."""
        self._is_rejected = True
        if self.cycle is not None:  # the application must neither wait for the rest nor respond
            self.cycle.disconnected = True
            self.cycle.waiting_for_100_continue = False
            self.cycle.message_event.set()
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            self._respond(*self._rejection(msg))
        # Closing now, with more of the request in transit, would reset the connection before the response is read.
        self.transport.write_eof()
        self._cancel_send_timer()
        self._send_timer = self.loop.call_later(_CLOSE_SECONDS, self.transport.abort)

    def _rejection(self, msg: str) -> tuple[int, str]:
        if self._parser.chunks > _MAX_CHUNKS:
            return 413, f"The body has more than {_MAX_CHUNKS:,} chunks."
        if len(self.conn.trailing_data[0]) > _MAX_HEADER_BYTES:
            return 431, f"The header is larger than {_MAX_HEADER_BYTES // 1024} KB."
        return 400, msg

    def _respond(self, status: int, text: str) -> None:
        """Writes a response by a separate writer: the parser would not allow a body for HEAD."""
        writer = h11.Connection(h11.SERVER)
        headers = [("Content-Type", "text/plain; charset=utf-8"), ("Connection", "close"), *SECURITY_HEADERS.items()]
        response = h11.Response(status_code=status, headers=headers)
        for event in (response, h11.Data(data=text.encode()), h11.EndOfMessage()):
            self.transport.write(writer.send(event) or b"")

    def _parse(self) -> None:
        """Parses the received data in small pieces up to the end of one request; the next waits for its response."""
        while self._unparsed and not self._is_rejected and not self.transport.is_closing():
            size = _PIECE_BYTES.get(self.conn.their_state)
            if size is None:
                self.flow.pause_reading()
                break
            piece = bytes(self._unparsed[:size])
            del self._unparsed[:size]
            super().data_received(piece)
        self._update_deadline()

    def _update_deadline(self) -> None:
        """Starts a new deadline when the client begins another part of its request."""
        phase = self.conn.their_state
        if phase is h11.IDLE and self.flow.write_paused:
            phase = h11.DONE  # the client still reads the last response, which has its own deadline
        if phase is self._phase or self._is_rejected:
            return
        self._phase = phase
        self._cancel_send_timer()
        seconds = {h11.IDLE: _HEADER_SECONDS, h11.SEND_BODY: _BODY_SECONDS}.get(phase)
        if seconds is not None:
            self._send_timer = self.loop.call_later(seconds, self.transport.abort)

    def _cancel_send_timer(self) -> None:
        if self._send_timer is not None:
            self._send_timer.cancel()
            self._send_timer = None

    def _cancel_read_timer(self) -> None:
        if self._read_timer is not None:
            self._read_timer.cancel()
            self._read_timer = None


class _Parser(h11.Connection):
    """Rejects bodies of very many chunks, which take far more time than their size suggests."""

    def __init__(self) -> None:
        super().__init__(h11.SERVER, _MAX_HEADER_BYTES)
        self.chunks = 0

    def next_event(self) -> h11.Event | type[h11.NEED_DATA | h11.PAUSED]:
        """The next event of a request."""
        event = super().next_event()
        if isinstance(event, h11.Request):
            self.chunks = 0
        elif isinstance(event, h11.Data) and event.chunk_start:
            self.chunks += 1
            if self.chunks > _MAX_CHUNKS:
                raise h11.RemoteProtocolError("too many chunks")
        return event
