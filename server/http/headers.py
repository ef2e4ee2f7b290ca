"""The headers of requests, and the security headers of every response."""

from typing import Final

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.http.health import Readiness

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
_CONNECTIONS: Final = frozenset({"http", "websocket"})
_STARTS: Final = frozenset({"http.response.start", "websocket.accept", "websocket.http.response.start"})
_PLAIN_SCHEMES: Final = frozenset({"http", "ws"})


class RequestHeaders(dict[str, str]):
    """The headers of a request by their names in lower case, the first of each name; decoded once."""

    def __init__(self, raw: list[tuple[bytes, bytes]]) -> None:
        super().__init__([(name.decode("latin-1"), value.decode("latin-1")) for name, value in reversed(raw)])
        self._raw = raw

    def getlist(self, name: str) -> list[str]:
        if name not in self:
            return []
        if len(self) == len(self._raw):
            return [self[name]]
        encoded = name.encode("latin-1")
        return [value.decode("latin-1") for found, value in self._raw if found == encoded]


class HttpRequest(Request):
    """A request whose headers are decoded once, as a dozen of them are looked up."""

    headers: RequestHeaders = None  # type: ignore[assignment]  # these are slow properties of other requests
    method: str = ""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        super().__init__(scope, receive)
        self.headers = RequestHeaders(scope["headers"])
        self.method = scope["method"]


class SecurityHeaders:
    """ASGI middleware that adds security headers to every response, unless the response has its own."""

    def __init__(self, app: ASGIApp, readiness: Readiness) -> None:
        self._app = app
        self._readiness = readiness

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in _CONNECTIONS:
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] in _STARTS:
                headers = [*message.get("headers", ())]
                names = _NAMES.intersection([name for name, _ in headers])
                wanted = _PLAIN_RAW if scope.get("scheme", "http") in _PLAIN_SCHEMES else _TLS_RAW
                headers += [header for header in wanted if header[0] not in names] if names else wanted
                if self._readiness.is_stopping and scope["type"] == "http":
                    # The connection closes soon: a client that reuses it would lose a request.
                    headers.append(_CLOSE)
                message["headers"] = headers
            await send(message)

        await self._app(scope, receive, send_with_headers)
