"""Checks of the Host and Origin headers."""

import logging
from collections.abc import Iterable, Sequence

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from server.http_errors import HttpError
from server.settings import is_origin

logger = logging.getLogger(__name__)

MAX_LOGGED_ORIGINS = 100
"""How many refused origins are logged: clients choose them."""

_ANY_HOST = "*"
_MAX_ORIGIN_LENGTH = 300


class RefusedOrigins:
    """Logs each refused origin once, with the setting that allows it; what is no origin is not logged."""

    def __init__(self) -> None:
        self._logged: set[str] = set()

    def note(self, origin: str) -> None:
        origin = origin[: _MAX_ORIGIN_LENGTH + 1].lower()
        if len(self._logged) >= MAX_LOGGED_ORIGINS or origin in self._logged:
            return
        if len(origin) <= _MAX_ORIGIN_LENGTH and is_origin(origin):
            self._logged.add(origin)
            logger.warning("requests from pages of %s are refused: add it to SMARTLOCKER_CORS_ORIGINS", origin)


class Cors(CORSMiddleware):
    """CORS by list, without browser credentials: callers send a header, never a cookie.

    A preflight that is refused because of its origin is logged.
    """

    def __init__(self, app: ASGIApp, origins: Sequence[str], refused: RefusedOrigins) -> None:
        super().__init__(
            app,
            allow_origins=origins,
            allow_methods=["GET", "POST"],
            allow_headers=["*"],
            expose_headers=["Retry-After", "X-Request-Id"],
        )
        self._refused = refused

    def preflight_response(self, request_headers: Headers) -> Response:
        if not self.is_allowed_origin(request_headers["origin"]):
            self._refused.note(request_headers["origin"])
        return super().preflight_response(request_headers)


class HostOriginCheck:
    """Rejects unknown host names, which prevents DNS rebinding, and pages of other origins.

    Host names have no port; `*` allows any name. Origins are spelled as browsers send them.
    """

    def __init__(self, hosts: Iterable[str], origins: Iterable[str], refused: RefusedOrigins) -> None:
        self._hosts = {name.lower() for name in hosts}
        self._origins = frozenset(origins)
        self._refused = refused

    def check(self, request: Request) -> None:
        host = request.headers.get("host", "").lower()
        if _ANY_HOST not in self._hosts and _without_port(host) not in self._hosts:
            raise HttpError(403, "The host name is not allowed: add it to SMARTLOCKER_ALLOWED_HOSTS.", "FORBIDDEN")
        origin = request.headers.get("origin")
        if origin is None or origin in self._origins:
            return
        # Compared without the scheme: behind a proxy that terminates TLS, only the browser knows it.
        if not _is_same_host(origin.lower(), host):
            self._refused.note(origin)
            raise HttpError(403, "The origin is not allowed: add it to SMARTLOCKER_CORS_ORIGINS.", "FORBIDDEN")


def _is_same_host(origin: str, host: str) -> bool:
    scheme, separator, rest = origin.partition("://")
    return scheme in {"http", "https"} and bool(separator) and rest == host


def _without_port(host: str) -> str:
    """A host without its port; an IPv6 address is in brackets and contains colons."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host
