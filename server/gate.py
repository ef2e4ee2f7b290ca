"""Who may talk to this server from a browser: the Host that a request names, the Origin that it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from server.incoming import RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request

__all__ = ["Gate"]

_ANY = "*"


class Gate:
    """Refuses a name that is not this server's, as in DNS rebinding, and pages of other origins.

    Args:
        hosts: the names of this server, without a port; `*` is any name.
        origins: from which other origins pages may ask, as browsers spell them.
    """

    def __init__(self, hosts: Iterable[str], origins: Iterable[str]) -> None:
        self._hosts = {name.lower() for name in hosts}
        self._origins = frozenset(origins)

    def check(self, request: Request) -> None:
        """Raises RefusedError where the request is not for here, or comes from a foreign page."""
        host = request.headers.get("host", "").lower()
        if _ANY not in self._hosts and _name(host) not in self._hosts:
            raise RefusedError(403, "This server has another name: see SMARTLOCKER_ALLOWED_HOSTS.", "FORBIDDEN")
        origin = request.headers.get("origin")
        if origin is None or origin in self._origins:
            return
        # By name alone: behind a proxy that ends TLS, only the browser knows the scheme.
        if not _is_page_of(origin.lower(), host):
            raise RefusedError(403, "Pages of this origin may not ask: see SMARTLOCKER_CORS_ORIGINS.", "FORBIDDEN")


def _is_page_of(origin: str, host: str) -> bool:
    """Whether an origin is that of a page of this very host; text that is no origin at all is of nowhere."""
    scheme, separator, rest = origin.partition("://")
    return scheme in {"http", "https"} and bool(separator) and rest == host


def _name(host: str) -> str:
    """A host without its port; an IPv6 address is in brackets, with colons of its own."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host
