"""The headers of requests, and the security headers of every response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from starlette.datastructures import Headers
from starlette.requests import Request

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from server.http.health import Readiness

__all__ = ["SECURITY_HEADERS", "HttpRequest", "RequestHeaders", "SecurityHeaders"]

SECURITY_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}
# Sent over TLS only: browsers ignore it otherwise, and a host name tested without TLS must not be bound to TLS.
_TLS_ONLY: Final = {"Strict-Transport-Security": "max-age=31536000"}


def _raw(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]


_PLAIN_RAW: Final = _raw(SECURITY_HEADERS)
_TLS_RAW: Final = _raw(SECURITY_HEADERS | _TLS_ONLY)
_NAMES: Final = frozenset(name for name, _ in _TLS_RAW)
_CLOSE: Final = (b"connection", b"close")
_KEPT: Final = "smartlocker.headers"


class RequestHeaders(Headers):
    """The headers of a request, decoded once, as many of them are looked up."""

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope=scope)
        self._first = {name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(self._list)}
        self._are_unique = len(self._first) == len(self._list)

    @classmethod
    def of(cls, scope: Scope) -> RequestHeaders:
        """The headers of a request, which are kept with it."""
        headers: RequestHeaders | None = scope.get(_KEPT)
        if headers is None:
            headers = scope[_KEPT] = cls(scope)
        return headers

    def get(self, key: str, default: Any = None) -> Any:
        """The first header of this name."""
        return self._first.get(key.lower(), default)

    def getlist(self, key: str) -> list[str]:
        """All headers of this name."""
        if not self._are_unique:
            return super().getlist(key)
        value = self._first.get(key.lower())
        return [] if value is None else [value]


class HttpRequest(Request):
    """A request whose headers are decoded once."""

    @property
    def headers(self) -> RequestHeaders:
        """The headers."""
        return RequestHeaders.of(self.scope)


class SecurityHeaders:
    """ASGI middleware that adds security headers to every response, unless the response has its own."""

    def __init__(self, app: ASGIApp, readiness: Readiness) -> None:
        self._app = app
        self._readiness = readiness

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message["headers"]]
                names = _NAMES.intersection([name for name, _ in headers])
                wanted = _PLAIN_RAW if scope.get("scheme", "http") == "http" else _TLS_RAW
                headers += [header for header in wanted if header[0] not in names] if names else wanted
                if self._readiness.is_stopping:
                    # The connection closes soon: a client that reuses it would lose a request.
                    headers.append(_CLOSE)
                message["headers"] = headers
            await send(message)

        await self._app(scope, receive, send_with_headers)
