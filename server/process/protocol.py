"""HTTP/1.1 with deadlines and size limits: uvicorn by itself waits forever for a client that sends or reads slowly."""

import asyncio
from http import HTTPStatus
from typing import Final

import httptools

from server.http.headers import SECURITY_HEADERS
from server.process.one_piece import OnePieceProtocol

_HEADER_BYTES: Final = 16 * 1024
_CHUNKS: Final = 2048
_HEADER_SECONDS: Final = 5
_BODY_SECONDS: Final = 10
_READING_SECONDS: Final = 10
_PARTING_SECONDS: Final = 1
# The parser knows no limit for a header, so it is given what could be one in small pieces.
_PIECE_BYTES: Final = 4096
_INVALID: Final = "Invalid HTTP request received."
_IDLE, _HEAD, _LAST_HEAD, _BODY, _RESPONSE = "idle", "head", "last head", "body", "response"
_SECONDS: Final = {_HEAD: _HEADER_SECONDS, _LAST_HEAD: _PARTING_SECONDS, _BODY: _BODY_SECONDS}
_HEADER_TOO_LARGE: Final = f"The header is larger than {_HEADER_BYTES // 1024} KB."


class _RefusedError(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class DeadlineProtocol(OnePieceProtocol):
    """Closes a connection whose head, body or reading of the response takes too long or is too large.

    A request for an upgrade leaves it: if uvicorn's configuration names a protocol for WebSocket, that protocol gets
    the connection, the head of the request and whatever follows.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._phase = ""
        self._has_deadline = False
        self._is_in_head = True
        self._head_bytes = self._header_bytes = 0
        self._chunks = 0
        self._is_new_chunk = False
        self._refusal: _RefusedError | None = None
        self._ignores_data = False
        self._is_upgrade = False
        self._is_stopping = False
        self._skipped_bytes = 0  # of a body that the parser passes over
        self._deferred: _RefusedError | None = None
        self._sending: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None
        # Writing pauses as soon as something is left, and resumes when nothing is: so we know how long a client reads.
        transport.set_write_buffer_limits(0)
        self._enter(_HEAD)
        self._start_deadline()

    def data_received(self, data: bytes) -> None:
        self._parse(data)
        self._start_deadline()

    def _parse(self, data: bytes) -> None:
        while data and not self._ignores_data and not self.transport.is_closing():
            if self._skipped_bytes:
                body, data = data[: self._skipped_bytes], data[self._skipped_bytes :]
                self._skipped_bytes -= len(body)
                self.on_body(body)
                if not self._skipped_bytes:
                    self.on_message_complete()
                continue
            piece, data = data[:_PIECE_BYTES], data[_PIECE_BYTES:]
            if self._is_in_head:
                self._head_bytes += len(piece)
            try:
                self.parser.feed_data(piece)
            except httptools.HttpParserError:
                self.logger.warning(_INVALID)
                self._refuse(self._refusal or _RefusedError(400, _INVALID))
                return
            except httptools.HttpParserUpgrade as upgrade:
                data = piece[upgrade.args[0] :] + data
                if self._is_upgrade:
                    self._leave(data)
                    return
                self._stay()
            if self._is_in_head and self._head_bytes > _HEADER_BYTES and not self._ignores_data:
                self._refuse(_RefusedError(431, _HEADER_TOO_LARGE))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_in_head = True
        self._head_bytes = self._header_bytes = 0
        if self._phase == _IDLE:
            self._enter(_HEAD)

    def on_headers_complete(self) -> None:
        """Starts a request whose head is complete, unless it asks for an upgrade."""
        if sum(name == b"host" for name, _ in self.headers) > 1:
            self._fail(_RefusedError(400, "Send one Host header."))
        codings = [value.lower() for name, value in self.headers if name == b"transfer-encoding"]
        if codings and codings != [b"chunked"]:
            self._fail(_RefusedError(501, "The only transfer coding that is supported is chunked."))
        if self._header_bytes + len(self.url) > _HEADER_BYTES:
            self._fail(_RefusedError(431, _HEADER_TOO_LARGE))
        asks_for_upgrade = self.parser.should_upgrade()
        if asks_for_upgrade and self._is_stopping:
            self._fail(_RefusedError(503, "The server is stopping: connect again."))
        self._is_in_head = False
        self._head_bytes = self._chunks = 0
        is_idle = (self.cycle is None or self.cycle.response_complete) and not self.flow.write_paused
        self._is_upgrade = is_idle and asks_for_upgrade and super()._should_upgrade()
        if asks_for_upgrade and not self._is_upgrade and self.parser.get_method() != b"CONNECT":
            self._skipped_bytes = next((int(value) for name, value in self.headers if name == b"content-length"), 0)
        super().on_headers_complete()
        self._enter(_BODY)

    def _should_upgrade(self) -> bool:
        return self._is_upgrade

    def _leave(self, rest: bytes) -> None:
        """Hands the connection over to the protocol of the upgrade; nothing of this one is left on it."""
        self._cancel_sending()
        self._has_deadline = True
        self.transport.set_write_buffer_limits()
        self.handle_websocket_upgrade()
        self.parser = None  # type: ignore[assignment]  # it holds this protocol; as uvicorn does at the end
        if rest and not self.transport.is_closing():
            self.transport.get_protocol().data_received(rest)  # type: ignore[attr-defined]  # as all protocols of streams

    def _stay(self) -> None:
        """Goes on after a request for an upgrade that is answered like any other.

        The parser passes over its body. A chunked one must not become the next request, so the connection ends.
        """
        self.logger.warning("Unsupported upgrade request.")
        if self.parser.get_method() == b"CONNECT" or any(name == b"transfer-encoding" for name, _ in self.headers):
            self.cycle.keep_alive = False
            self._ignores_data = True

    def on_chunk_header(self) -> None:
        """A chunk begins; the last one has no data."""
        self._is_new_chunk = True

    def on_body(self, body: bytes) -> None:
        """Counts the chunks of a body: each of them takes far more time than its few bytes."""
        if self._is_new_chunk:
            self._is_new_chunk = False
            self._chunks += 1
            if self._chunks > _CHUNKS:
                self._fail(_RefusedError(413, f"The body has more than {_CHUNKS:,} chunks."))
        super().on_body(body)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Takes a header of a request; one that comes after the body is ignored."""
        if self._is_in_head:
            self._header_bytes += len(name) + len(value) + 4
            super().on_header(name, value)
        else:
            self._head_bytes += len(name) + len(value)
            if self._head_bytes > _HEADER_BYTES:
                self._fail(_RefusedError(431, _HEADER_TOO_LARGE))

    def on_message_complete(self) -> None:
        if self._skipped_bytes:
            return
        super().on_message_complete()
        self._enter(_RESPONSE)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._unset_keepalive_if_required()  # deadlines of idle connections are those below
        if self._deferred is not None and self.cycle.response_complete:
            self._refuse(self._deferred)
        self._rest()

    def shutdown(self) -> None:
        """Stops after the running request; a client that has just connected has a second to send one."""
        if self._phase == _HEAD:
            self._is_stopping = True
            self._enter(_LAST_HEAD)
            self._start_deadline()
        else:
            super().shutdown()

    def pause_writing(self) -> None:
        """The client does not read as fast as we write."""
        super().pause_writing()
        self._reading = self.loop.call_later(_READING_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """The client has read everything."""
        super().resume_writing()
        self._cancel_reading()
        self._rest()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_sending()
        self._cancel_reading()
        super().connection_lost(exc)

    def _fail(self, refusal: _RefusedError) -> None:
        """Stops the parser, which then asks for the refusal."""
        self._refusal = refusal
        raise refusal

    def _refuse(self, refusal: _RefusedError) -> None:
        self._ignores_data = True
        cycle = self.cycle
        if self._is_in_head and cycle is not None and not cycle.response_complete:
            self._deferred = refusal  # of a next request: the response before it comes first
            return
        may_respond = self._is_in_head or not cycle.response_started
        if cycle is not None:  # the application must neither wait for the rest nor answer too
            cycle.disconnected = True
            cycle.waiting_for_100_continue = False
            cycle.message_event.set()
        if may_respond:
            text = str(refusal).encode()
            lines = {
                "content-type": "text/plain; charset=utf-8",
                "content-length": str(len(text)),
                "connection": "close",
                **SECURITY_HEADERS,
            }
            head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
            status = HTTPStatus(refusal.status)
            self.transport.write(f"HTTP/1.1 {status} {status.phrase}\r\n{head}\r\n".encode() + text)
        # Closing at once, with more of the request to come, would take the response back before it is read.
        self.transport.write_eof()
        self._cancel_sending()
        self._sending = self.loop.call_later(_PARTING_SECONDS, self.transport.abort)
        self._has_deadline = True

    def _rest(self) -> None:
        """Once the response is read, waits for a next request, which has its whole time when it begins."""
        is_answered = self.cycle is None or self.cycle.response_complete
        if is_answered and self._phase == _RESPONSE and not self.flow.write_paused and not self._ignores_data:
            self._enter(_IDLE)
            self._start_deadline()

    def _enter(self, phase: str) -> None:
        if phase != self._phase:
            self._phase = phase
            self._has_deadline = False

    def _start_deadline(self) -> None:
        """Starts the deadline of what the client does next, if that has changed."""
        if self._has_deadline:
            return
        self._has_deadline = True
        self._cancel_sending()
        seconds = self.timeout_keep_alive if self._phase == _IDLE else _SECONDS.get(self._phase)
        if seconds is not None:
            self._sending = self.loop.call_later(seconds, self.transport.abort)

    def _cancel_sending(self) -> None:
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None

    def _cancel_reading(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None
