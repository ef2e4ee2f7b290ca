"""Responses in one piece: the only code that replaces uvicorn's for speed.

uvicorn writes the head and the body of a response separately and checks every header each time. Sending both at once
takes 5 % off the CPU time of a small query. docs/performance.md has the figures, and those of replacements that were
not worth their code.
"""

from functools import lru_cache
from typing import Any, Final

from uvicorn._types import ASGI3Application, ASGISendEvent
from uvicorn.protocols.http.httptools_impl import (
    HEADER_RE,
    HEADER_VALUE_RE,
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

_CLOSE: Final = b"connection: close\r\n"


class OnePieceProtocol(HttpToolsProtocol):
    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        cycle.__class__ = _OnePieceCycle  # uvicorn names its own class in the middle of a long method
        super()._start_asgi_task(cycle, app)


class _OnePieceCycle(RequestResponseCycle):
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


@lru_cache(256)  # almost all headers of responses are the same
def _line(name: bytes, value: bytes) -> bytes:
    """Returns a header as a line; what is no header is rejected, as uvicorn does."""
    if HEADER_RE.search(name) or HEADER_VALUE_RE.search(value):
        raise RuntimeError("Invalid HTTP header.")
    return name + b": " + value + b"\r\n"
