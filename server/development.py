"""The development profile: a secret of its own, tokens for whoever is to be played, and demo tokens for GraphiQL."""

from __future__ import annotations

import os
import re
import secrets
import time
from contextlib import suppress
from datetime import timedelta
from ipaddress import ip_address
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Final

import jwt
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from domain.principal import Principal, Role
from loaders.demo import owner_id
from server.claims import claims_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from starlette.requests import Request
    from starlette.responses import Response

__all__ = [
    "DEVELOPMENT_ALGORITHM",
    "DEVELOPMENT_AUDIENCE",
    "DEVELOPMENT_ISSUER",
    "demo_tokens",
    "development_token",
    "is_loopback",
    "read_secret",
]

DEVELOPMENT_ALGORITHM: Final = "HS256"
DEVELOPMENT_ISSUER: Final = "smartlocker-development"
DEVELOPMENT_AUDIENCE: Final = "smartlocker"
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(:[0-9]{1,5})?")
_DEMO_OWNER = owner_id(1)
_DEMO_LIFETIME = timedelta(hours=12)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine alone."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def read_secret(folder: Path) -> str | None:
    """The secret that development tokens are signed with, if one was made."""
    try:
        return _secret_path(folder).read_text()
    except FileNotFoundError:
        return None


def development_token(folder: Path, principal: Principal, lifetime: timedelta) -> str:
    """A token that a development server on the same folder takes."""
    now = int(time.time())
    claims = claims_of(principal) | {
        "iss": DEVELOPMENT_ISSUER,
        "aud": DEVELOPMENT_AUDIENCE,
        "iat": now,
        "exp": now + int(lifetime.total_seconds()),
    }
    return jwt.encode(claims, read_secret(folder) or _make_secret(folder), DEVELOPMENT_ALGORITHM)


def demo_tokens(folder: Path) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint from which GraphiQL's page gets the tokens of those whom it can sign in as."""
    people = {
        "Demo admin": Principal(subject="demo-admin", role=Role.ADMIN),
        f"Demo owner {_DEMO_OWNER}": Principal(subject=_DEMO_OWNER, role=Role.OWNER, owner_id=_DEMO_OWNER),
    }

    async def endpoint(request: Request) -> Response:
        if not _is_of_this_page(request):
            raise HTTPException(403)
        tokens = [
            {"name": name, "token": development_token(folder, principal, _DEMO_LIFETIME)}
            for name, principal in people.items()
        ]
        return JSONResponse(tokens, headers={"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"})

    return endpoint


def _is_of_this_page(request: Request) -> bool:
    """Not so for another site's page, nor for a name that somebody made to lead here."""
    # The header itself: for one that is malformed, the request's URL names the address that was listened on.
    host = _HOST.fullmatch(request.headers.get("host", ""))
    site = request.headers.get("sec-fetch-site", "same-origin")
    return host is not None and is_loopback(host["name"].strip("[]")) and site in {"same-origin", "none"}


def _make_secret(folder: Path) -> str:
    """Makes the secret, whole and readable by its owner alone, unless somebody else is faster."""
    folder.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile("w", dir=folder) as file:
        file.write(secrets.token_hex(32))
        file.flush()
        with suppress(FileExistsError):
            os.link(file.name, _secret_path(folder))
    return _secret_path(folder).read_text()


def _secret_path(folder: Path) -> Path:
    return folder / "development.secret"
