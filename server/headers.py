"""Headers that every answer has, whoever made it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from starlette.datastructures import MutableHeaders

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from server.health import Readiness

__all__ = ["SAFE_HEADERS", "SafeHeaders"]

SAFE_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}
# Said only over TLS: a browser ignores it elsewhere, and a name that is tried out without TLS must not be locked to it.
_TLS_ONLY: Final = {"Strict-Transport-Security": "max-age=31536000"}


class SafeHeaders:
    """Adds them to what the application answers; a header that is there already stays."""

    def __init__(self, app: ASGIApp, readiness: Readiness) -> None:
        self._app = app
        self._readiness = readiness

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes everything on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                is_plain = scope.get("scheme", "http") == "http"
                for name, value in (SAFE_HEADERS if is_plain else SAFE_HEADERS | _TLS_ONLY).items():
                    headers.setdefault(name, value)
                if self._readiness.is_stopping:
                    # A client that kept this connection would lose a request to it when it closes.
                    headers["Connection"] = "close"
            await send(message)

        await self._app(scope, receive, send_safely)
