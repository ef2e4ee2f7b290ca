"""HTTP/1.1 with deadlines: uvicorn by itself waits for ever for a client that sends or reads slowly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from server.headers import SAFE_HEADERS

if TYPE_CHECKING:
    import asyncio

__all__ = ["HEADER_BYTES", "DeadlineProtocol"]

HEADER_BYTES: Final = 16 * 1024
_HEADER_SECONDS: Final = 5
_BODY_SECONDS: Final = 10
_READING_SECONDS: Final = 10
_PARTING_SECONDS: Final = 1
# The parser checks a header's size between one piece and the next.
_PIECE_BYTES: Final = 1024
_TOO_LARGE: Final = b"The header may have 16 KB at most."


class DeadlineProtocol(H11Protocol):
    """Closes a connection whose header, body or reading of the answer takes too long."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Waits for a first request."""
        super().connection_made(transport)
        self._sending: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None
        self._phase: object = None
        self._is_resting = False
        self._is_refused = False
        # Writing pauses as soon as something is left, and resumes when nothing is: so we know how long a client reads.
        transport.set_write_buffer_limits(0)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Takes a header in small pieces, the rest as it comes."""
        if self._is_resting:
            self._is_resting = False
            self._phase = None  # after a pause, the next header has its whole time
        while data and not self._is_refused and not self.transport.is_closing():
            size = _PIECE_BYTES if self.conn.their_state is h11.IDLE else len(data)
            super().data_received(data[:size])
            data = data[size:]
        self._watch()

    def on_response_complete(self) -> None:
        """Waits for the client to read it, and for a next request."""
        super().on_response_complete()
        self._unset_keepalive_if_required()  # uvicorn's would begin before the answer is read
        self._watch()
        self._is_resting = self.conn.their_state is h11.IDLE

    def pause_writing(self) -> None:
        """The client does not read as fast as we write."""
        super().pause_writing()
        self._reading = self.loop.call_later(_READING_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """It has made room for all of it."""
        super().resume_writing()
        self._forget_reader()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Waits for nothing any more."""
        self._forget_sender()
        self._forget_reader()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Tells a header that is too large from one that is wrong."""
        is_too_large = len(self.conn.trailing_data[0]) > HEADER_BYTES
        status, text = (431, _TOO_LARGE) if is_too_large else (400, msg.encode())
        headers = [("Content-Type", "text/plain; charset=utf-8"), ("Connection", "close"), *SAFE_HEADERS.items()]
        for event in (h11.Response(status_code=status, headers=headers), h11.Data(data=text), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        if not is_too_large:
            self.transport.close()
            return
        # Closing at once, with more of the header on its way, would take the answer back before it is read.
        self._is_refused = True
        self.transport.write_eof()
        self._forget_sender()
        self._sending = self.loop.call_later(_PARTING_SECONDS, self.transport.abort)

    def _watch(self) -> None:
        """Begins a new wait whenever the client has come to another part of its request."""
        phase = self.conn.their_state
        if phase is h11.IDLE and self.flow.write_paused:
            phase = h11.DONE  # it reads the last answer still, and has a deadline for that
        if phase is self._phase or self._is_refused:
            return
        self._phase = phase
        self._forget_sender()
        seconds = {h11.IDLE: _HEADER_SECONDS, h11.SEND_BODY: _BODY_SECONDS}.get(phase)
        if seconds is not None:
            self._sending = self.loop.call_later(seconds, self.transport.abort)

    def _forget_sender(self) -> None:
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None

    def _forget_reader(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None
