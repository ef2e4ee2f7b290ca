"""Checks of the Host and Origin headers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from server.http_errors import HttpError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request

__all__ = ["HostOriginCheck"]

_ANY_HOST = "*"


class HostOriginCheck:
    """Rejects unknown host names, which prevents DNS rebinding, and pages of other origins.

    Args:
        hosts: the host names of this server, without a port; `*` allows any name.
        origins: the other origins whose pages may send requests, as browsers send them.
    """

    def __init__(self, hosts: Iterable[str], origins: Iterable[str]) -> None:
        self._hosts = {name.lower() for name in hosts}
        self._origins = frozenset(origins)

    def check(self, request: Request) -> None:
        """Checks a request.

        Raises:
            HttpError: 403 if the host or the origin is not allowed.
        """
        host = request.headers.get("host", "").lower()
        if _ANY_HOST not in self._hosts and _without_port(host) not in self._hosts:
            raise HttpError(403, "The host name is not allowed: add it to SMARTLOCKER_ALLOWED_HOSTS.", "FORBIDDEN")
        origin = request.headers.get("origin")
        if origin is None or origin in self._origins:
            return
        # Compared without the scheme: behind a proxy that terminates TLS, only the browser knows it.
        if not _is_same_host(origin.lower(), host):
            raise HttpError(403, "The origin is not allowed: add it to SMARTLOCKER_CORS_ORIGINS.", "FORBIDDEN")


def _is_same_host(origin: str, host: str) -> bool:
    """Whether an origin is valid and has this host."""
    scheme, separator, rest = origin.partition("://")
    return scheme in {"http", "https"} and bool(separator) and rest == host


def _without_port(host: str) -> str:
    """A host without its port; an IPv6 address is in brackets and contains colons."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host
