"""A small HTTP/1.1 client on asyncio's protocols: one request at a time on each connection, connections kept alive."""

from __future__ import annotations

import asyncio
import select
import ssl
from collections import deque
from typing import NamedTuple, cast
from urllib.parse import urlsplit

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from loaders.table.stamps import check_age

_IDLE_SECONDS = 60
_MAX_RESPONSE_BYTES = 32 * 1024 * 1024
_FIRST_FINAL_STATUS = 200


class HttpClientError(Exception):
    """No usable response came. The request may or may not have been received."""


class HttpResponse(NamedTuple):
    """A whole response; header names are in lower case."""

    status: int
    headers: dict[bytes, bytes]
    body: bytes


class Timeouts(NamedTuple):
    """Seconds until a connection is given up, and until a response is of which nothing more comes."""

    connect: float = 1
    read: float = 2


class ConnectionPool:
    """At most `size` connections to one host; further requests wait for one, in their order."""

    def __init__(self, url: str, size: int, timeouts: Timeouts, tls: ssl.SSLContext | None = None) -> None:
        parts = urlsplit(url)
        default_port = 443 if parts.scheme == "https" else 80
        self._host = parts.hostname or ""
        self._port = parts.port or default_port
        self._timeouts = timeouts
        self._tls = tls
        name = f"[{self._host}]" if ":" in self._host else self._host
        self.host_header = name if self._port == default_port else f"{name}:{self._port}"
        self.path = parts.path or "/"
        self._slots = asyncio.Semaphore(size)
        self._idle: deque[_Connection] = deque()
        self._open: set[_Connection] = set()

    async def request(self, message: bytes) -> HttpResponse:
        """Sends a request and returns its response, or raises HttpClientError where there is none in time."""
        await self._slots.acquire()  # by itself, as `async with` takes two coroutines more
        try:
            connection = self._reusable() or await self._connect()
            try:
                response = await connection.send(message)
            except BaseException:
                connection.abort()  # what is still to come must not answer the next request
                raise
            if connection.is_reusable:
                self._idle.append(connection)
            else:
                connection.abort()
            return response
        finally:
            self._slots.release()

    async def close(self) -> None:
        for connection in list(self._open):
            connection.abort()
        self._idle.clear()

    def _reusable(self) -> _Connection | None:
        """The connection that was used last: those that are not needed any more grow old and are closed."""
        idle = self._idle
        while idle and idle[0].is_stale():
            idle.popleft().abort()
        while idle:
            connection = idle.pop()
            if connection.is_quiet():
                return connection
            connection.abort()
        return None

    async def _connect(self) -> _Connection:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._timeouts.connect):
                _, connection = await loop.create_connection(
                    lambda: _Connection(self._open, self._timeouts.read),
                    self._host,
                    self._port,
                    ssl=self._tls,
                    server_hostname=self._host if self._tls else None,
                )
        except (OSError, TimeoutError) as error:
            raise HttpClientError(f"no connection to {self._host}:{self._port}: {error}") from error
        return connection


class _Connection(asyncio.Protocol):
    """One connection: sends a request, collects its response."""

    def __init__(self, open_connections: set[_Connection], read_seconds: float) -> None:
        self._all = open_connections
        self._read_seconds = read_seconds
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._incoming = select.poll()
        self._parser = HttpResponseParser(self)
        self._response: asyncio.Future[HttpResponse] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        self._headers: dict[bytes, bytes] = {}
        self._body: list[bytes] = []
        self._received = 0
        self._ends_at_close = False
        self.is_closed = False
        self.is_reusable = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass
        self._incoming.register(transport.get_extra_info("socket").fileno(), select.POLLIN)
        self._all.add(self)

    def is_quiet(self) -> bool:
        """Whether a request may be sent: the other side may have closed it, and the event loop not have seen that."""
        return not self.is_closed and not self._incoming.poll(0)

    def is_stale(self) -> bool:
        """Whether it was closed, or not used for long: the last data came `_read_seconds` before it was due."""
        return self.is_closed or self._loop.time() - self._due > _IDLE_SECONDS - self._read_seconds

    def send(self, message: bytes) -> asyncio.Future[HttpResponse]:
        """Sends a request; its response is the result."""
        if self._transport is None or self.is_closed:
            raise HttpClientError("the connection was closed as soon as it was made")
        check_age()
        self._headers, self._body, self._received = {}, [], 0
        self._response = response = self._loop.create_future()
        self._expect_data()
        self._transport.write(message)
        return response

    def data_received(self, data: bytes) -> None:
        response = self._response
        if response is None or response.done():
            self.abort()  # a response that nobody asked for
            return
        self._received += len(data)
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade):
            self._fail("a malformed response")
            self.abort()
        if self._received > _MAX_RESPONSE_BYTES:
            self._fail("too large a response")
        self._expect_data()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        self._all.discard(self)
        if exc is None and self._ends_at_close:
            self._complete()
        self._fail(f"the connection was lost: {exc}" if exc else "the connection was closed")

    def abort(self) -> None:
        self.is_closed = True
        self.is_reusable = False
        if self._transport is not None:
            self._transport.abort()

    def on_message_begin(self) -> None:
        if self._response is None or self._response.done():
            raise HttpClientError("a second response to one request")

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        is_measured = b"content-length" in self._headers or b"transfer-encoding" in self._headers
        self._ends_at_close = not (is_measured or self._parser.should_keep_alive())

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        if self._parser.get_status_code() < _FIRST_FINAL_STATUS:
            self._headers = {}  # an interim response: the final one follows
            return
        self.is_reusable = self._parser.should_keep_alive()
        self._complete()

    def _complete(self) -> None:
        if self._response is not None and not self._response.done():
            response = HttpResponse(self._parser.get_status_code(), self._headers, b"".join(self._body))
            self._response.set_result(response)

    def _fail(self, reason: str) -> None:
        if self._response is not None and not self._response.done():
            self._response.set_exception(HttpClientError(reason))

    def _expect_data(self) -> None:
        """Starts the time until data must come. One timer serves many requests: it looks when the last one began."""
        self._due = self._loop.time() + self._read_seconds
        if self._timer is None:
            self._timer = self._loop.call_later(self._read_seconds, self._check_due)

    def _check_due(self) -> None:
        self._timer = None
        left = self._due - self._loop.time()
        if self._response is None or self._response.done():
            return
        if left > 0:
            self._timer = self._loop.call_later(left, self._check_due)
        else:
            self._fail("no response in time")
