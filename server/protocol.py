"""HTTP/1.1 with deadlines: uvicorn by itself waits for ever for a client that sends or reads slowly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from server.headers import SAFE_HEADERS

if TYPE_CHECKING:
    import asyncio

__all__ = ["DeadlineProtocol"]

_HEADER_BYTES: Final = 16 * 1024
_CHUNKS: Final = 2048
_HEADER_SECONDS: Final = 5
_BODY_SECONDS: Final = 10
_READING_SECONDS: Final = 10
_PARTING_SECONDS: Final = 1
# The parser checks the size of a header, or of a body's trailer, between one piece and the next.
_PIECE_BYTES: Final = {h11.IDLE: 1024, h11.SEND_BODY: 16 * 1024}


class DeadlineProtocol(H11Protocol):
    """Closes a connection whose header, body or reading of the answer takes too long."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Waits for a first request."""
        super().connection_made(transport)
        self._parser = self.conn = _Parser()
        self._unparsed = bytearray()
        self._sending: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None
        self._phase: object = None
        self._is_resting = False
        self._is_refused = False
        # Writing pauses as soon as something is left, and resumes when nothing is: so we know how long a client reads.
        transport.set_write_buffer_limits(0)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Takes a part of a request, or of several."""
        if self._is_refused:
            return
        if self._is_resting:
            self._is_resting = False
            self._phase = None  # after a pause, the next header has its whole time
        self._unparsed += data
        self._parse()

    def on_response_complete(self) -> None:
        """Waits for the client to read it, and for a next request."""
        super().on_response_complete()
        self._unset_keepalive_if_required()  # uvicorn's would begin before the answer is read
        self._parse()
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
        """Tells what is too large from what is wrong."""
        self._is_refused = True
        if self.cycle is not None:  # the application must neither wait for the rest nor answer too
            self.cycle.disconnected = True
            self.cycle.waiting_for_100_continue = False
            self.cycle.message_event.set()
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            self._answer(*self._refusal(msg))
        # Closing at once, with more of the request on its way, would take the answer back before it is read.
        self.transport.write_eof()
        self._forget_sender()
        self._sending = self.loop.call_later(_PARTING_SECONDS, self.transport.abort)

    def _refusal(self, msg: str) -> tuple[int, str]:
        if self._parser.chunks > _CHUNKS:
            return 413, f"The body may have {_CHUNKS:,} chunks at most."
        if len(self.conn.trailing_data[0]) > _HEADER_BYTES:
            return 431, f"The header may have {_HEADER_BYTES // 1024} KB at most."
        return 400, msg

    def _answer(self, status: int, text: str) -> None:
        """Answers whatever was asked: the parser itself would not let us answer HEAD with a text."""
        writer = h11.Connection(h11.SERVER)
        headers = [("Content-Type", "text/plain; charset=utf-8"), ("Connection", "close"), *SAFE_HEADERS.items()]
        response = h11.Response(status_code=status, headers=headers)
        for event in (response, h11.Data(data=text.encode()), h11.EndOfMessage()):
            self.transport.write(writer.send(event) or b"")

    def _parse(self) -> None:
        """Takes what has come, in small pieces, until one request is whole; the next waits for the answer to this."""
        while self._unparsed and not self._is_refused and not self.transport.is_closing():
            size = _PIECE_BYTES.get(self.conn.their_state)
            if size is None:
                self.flow.pause_reading()
                break
            piece = bytes(self._unparsed[:size])
            del self._unparsed[:size]
            super().data_received(piece)
        self._watch()

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


class _Parser(h11.Connection):
    """Refuses a body of very many chunks: each of them takes far more time than its few bytes."""

    def __init__(self) -> None:
        super().__init__(h11.SERVER, _HEADER_BYTES)
        self.chunks = 0

    def next_event(self) -> h11.Event | type[h11.NEED_DATA | h11.PAUSED]:
        """The next part of a request."""
        event = super().next_event()
        if isinstance(event, h11.Request):
            self.chunks = 0
        elif isinstance(event, h11.Data) and event.chunk_start:
            self.chunks += 1
            if self.chunks > _CHUNKS:
                raise h11.RemoteProtocolError("too many chunks")
        return event
