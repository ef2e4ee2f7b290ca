"""HTTP/1.1 with deadlines and size limits: uvicorn by itself waits for ever for a client that sends or reads slowly."""

from __future__ import annotations

import asyncio
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

import httptools
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.httptools_impl import (
    HEADER_RE,
    HEADER_VALUE_RE,
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from server.http.headers import SECURITY_HEADERS

if TYPE_CHECKING:
    from uvicorn._types import ASGISendEvent

_HEADER_BYTES: Final = 16 * 1024
_CHUNKS: Final = 2048
_IDLE_SECONDS: Final = 5
_HEADER_SECONDS: Final = 5
_BODY_SECONDS: Final = 10
_READING_SECONDS: Final = 10
_PARTING_SECONDS: Final = 1
# The parser knows no limit for a header, so it is given what could be one in small pieces.
_PIECE_BYTES: Final = 4096
_CLOSE: Final = b"connection: close\r\n"
_FORWARDED: Final = frozenset({b"x-forwarded-for", b"x-forwarded-proto"})
_IDLE, _HEAD, _BODY, _RESPONSE = "idle", "head", "body", "response"
_SECONDS: Final = {_IDLE: _IDLE_SECONDS, _HEAD: _HEADER_SECONDS, _BODY: _BODY_SECONDS}
_LEAST_SECONDS: Final = min(_SECONDS.values())
_HEADER_TOO_LARGE: Final = f"The header is larger than {_HEADER_BYTES // 1024} KB."
_REASONS: Final = {400: "Bad Request", 413: "Content Too Large", 431: "Request Header Fields Too Large"}


class _RefusedError(Exception):
    """The request exceeds a limit or breaks the protocol."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class DeadlineProtocol(HttpToolsProtocol):
    """Closes a connection whose head, body or reading of the response takes too long or is too large."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Waits for a first request."""
        super().connection_made(transport)
        self._phase = ""
        self._is_in_head = True
        self._head_bytes = self._header_bytes = 0
        self._chunks = 0
        self._is_new_chunk = False
        self._refusal: _RefusedError | None = None
        self._is_refused = False
        self._deferred: _RefusedError | None = None
        self._sending: asyncio.TimerHandle | None = None
        self._due: float | None = None
        self._reading: asyncio.TimerHandle | None = None
        # Writing pauses as soon as something is left, and resumes when nothing is: so we know how long a client reads.
        transport.set_write_buffer_limits(0)
        self._enter(_HEAD)

    def data_received(self, data: bytes) -> None:
        """Parses what has come."""
        while data and not self._is_refused and not self.transport.is_closing():
            piece, data = data[:_PIECE_BYTES], data[_PIECE_BYTES:]
            if self._is_in_head:
                self._head_bytes += len(piece)
            super().data_received(piece)
            if self._is_in_head and self._head_bytes > _HEADER_BYTES and not self._is_refused:
                self._refuse(_RefusedError(431, _HEADER_TOO_LARGE))

    def on_message_begin(self) -> None:
        """Starts to count the head of a request."""
        super().on_message_begin()
        self._is_in_head = True
        self._head_bytes = self._header_bytes = 0
        if self._phase == _IDLE:
            self._enter(_HEAD)

    def on_headers_complete(self) -> None:
        """Starts a request whose head is complete."""
        names = {name for name, _ in self.headers}
        if b"transfer-encoding" in names and b"content-length" in names:
            self._fail(_RefusedError(400, "Send Content-Length or Transfer-Encoding, not both."))
        if self._header_bytes + len(self.url) > _HEADER_BYTES:
            self._fail(_RefusedError(431, _HEADER_TOO_LARGE))
        self._is_in_head = False
        self._head_bytes = self._chunks = 0
        self._start_cycle(names)
        self._enter(_BODY)

    def _start_cycle(self, names: set[bytes]) -> None:
        """Starts the request, or lets it wait for those before it; uvicorn's own takes twice as long."""
        parser, scope = self.parser, self.scope
        version = parser.get_http_version()
        scope["method"] = parser.get_method().decode("ascii")
        scope["http_version"] = version
        url = httptools.parse_url(self.url)
        path = url.path.decode("ascii")
        scope["path"] = unquote(path) if "%" in path else path
        scope["raw_path"] = url.path
        scope["query_string"] = url.query or b""
        before = self.cycle
        self.cycle = _Cycle(
            scope=scope,
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=False,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=self.expect_100_continue,
            keep_alive=version != "1.0" and parser.should_keep_alive(),
            on_response=self.on_response_complete,
        )
        app = self.app
        if isinstance(app, ProxyHeadersMiddleware) and names.isdisjoint(_FORWARDED):
            app = app.app
        if before is None or before.response_complete:
            self._start_asgi_task(self.cycle, app)
        else:
            self.flow.pause_reading()
            self.pipeline.appendleft((self.cycle, app))

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
            name = name.lower()
            if name == b"expect" and value.lower() == b"100-continue":
                self.expect_100_continue = True
            self.headers.append((name, value))
        else:
            self._head_bytes += len(name) + len(value)
            if self._head_bytes > _HEADER_BYTES:
                self._fail(_RefusedError(431, _HEADER_TOO_LARGE))

    def on_message_complete(self) -> None:
        """Waits for the response."""
        super().on_message_complete()
        self._enter(_RESPONSE)

    def on_response_complete(self) -> None:
        """Waits for the client to read it, and for a next request."""
        self.server_state.total_requests += 1
        if not self.transport.is_closing():
            self.flow.resume_reading()
            if self.pipeline:
                self._start_asgi_task(*self.pipeline.pop())
        if self._deferred is not None and self.cycle.response_complete:
            self._refuse(self._deferred)
        self._rest()

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
        """Waits for nothing any more."""
        self._cancel_sending()
        self._cancel_reading()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answers a request that the parser refused."""
        self._refuse(self._refusal or _RefusedError(400, msg))

    def _fail(self, refusal: _RefusedError) -> None:
        """Stops the parser, which then asks for the refusal."""
        self._refusal = refusal
        raise refusal

    def _refuse(self, refusal: _RefusedError) -> None:
        self._is_refused = True
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
            self.transport.write(f"HTTP/1.1 {refusal.status} {_REASONS[refusal.status]}\r\n{head}\r\n".encode() + text)
        # Closing at once, with more of the request to come, would take the response back before it is read.
        self.transport.write_eof()
        self._cancel_sending()
        self._sending = self.loop.call_later(_PARTING_SECONDS, self.transport.abort)

    def _rest(self) -> None:
        """Once the response is read, waits for a next request, which has its whole time when it begins."""
        is_answered = self.cycle is None or self.cycle.response_complete
        if is_answered and self._phase == _RESPONSE and not self.flow.write_paused and not self._is_refused:
            self._enter(_IDLE)

    def _enter(self, phase: str) -> None:
        """Starts the deadline of what the client does next. One timer serves many: it looks which one is due."""
        if phase == self._phase or self._is_refused:
            return
        self._phase = phase
        seconds = _SECONDS.get(phase)
        self._due = None if seconds is None else self.loop.time() + seconds
        if self._sending is None and seconds is not None:
            self._sending = self.loop.call_later(_LEAST_SECONDS, self._check_due)

    def _check_due(self) -> None:
        self._sending = None
        if self._due is None:
            return
        left = self._due - self.loop.time()
        if left > 0:
            self._sending = self.loop.call_later(min(left, _LEAST_SECONDS), self._check_due)
        else:
            self.transport.abort()

    def _cancel_sending(self) -> None:
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None

    def _cancel_reading(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None


@lru_cache(256)  # almost all headers of responses are the same
def _line(name: bytes, value: bytes) -> bytes:
    """A header as a line; uvicorn rejects what is no header."""
    if HEADER_RE.search(name) or HEADER_VALUE_RE.search(value):
        raise RuntimeError("Invalid HTTP header.")
    return name + b": " + value + b"\r\n"


class _Cycle(RequestResponseCycle):
    """A request whose response, if it has one part of a known length, is sent in one piece."""

    _start: Any = None

    async def send(self, message: ASGISendEvent) -> None:
        """Keeps the head until there is a body."""
        if message["type"] == "http.response.start" and not self.response_started:
            self._start = message
            return
        start, self._start = self._start, None
        if start is None:
            await super().send(message)
            return
        body: Any = message.get("body", b"")
        length = (b"content-length", b"%d" % len(body))
        is_whole = message["type"] == "http.response.body" and not message.get("more_body", False)
        if not is_whole or length not in start["headers"] or self.scope["method"] == "HEAD":
            await super().send(start)
            await super().send(message)
            return
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            return
        lines = [STATUS_LINE[start["status"]], *[_line(*header) for header in start["headers"]]]
        if _CLOSE in lines:
            self.keep_alive = False
        elif not self.keep_alive:
            lines.append(_CLOSE)
        self.response_started = self.response_complete = True
        self.waiting_for_100_continue = False
        self.transport.write(b"".join([*lines, b"\r\n", body]))
        self.message_event.set()
        if not self.keep_alive:
            self.transport.close()
        self.on_response()
