"""Development tokens: their secret, `smartlocker token`, and the tokens that GraphiQL offers."""

import os
import re
import secrets
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from domain.authorization import Principal, Role
from loaders.tools.demo import owner_id
from server.auth.claims import claims_of
from server.settings import is_loopback

DEVELOPMENT_ALGORITHM: Final = "HS256"
DEVELOPMENT_ISSUER: Final = "smartlocker-development"
DEVELOPMENT_AUDIENCE: Final = "smartlocker"
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(:[0-9]{1,5})?")
_DEMO_OWNER = owner_id(1)
_DEMO_LIFETIME = timedelta(hours=12)


def read_secret(folder: Path) -> str | None:
    """The secret that signs development tokens; None if it was not created yet."""
    try:
        return _secret_path(folder).read_text()
    except FileNotFoundError:
        return None


def development_token(folder: Path, principal: Principal, lifetime: timedelta) -> str:
    """A token that a development server with the same data directory accepts."""
    import jwt  # noqa: PLC0415  # it loads the whole of cryptography, for which no start of a server has to wait

    now = int(time.time())
    claims = claims_of(principal) | {
        "iss": DEVELOPMENT_ISSUER,
        "aud": DEVELOPMENT_AUDIENCE,
        "iat": now,
        "exp": now + int(lifetime.total_seconds()),
    }
    return jwt.encode(
        claims, read_or_create_secret(_secret_path(folder), lambda: secrets.token_hex(32)), DEVELOPMENT_ALGORITHM
    )


def demo_tokens(folder: Path) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint that gives GraphiQL the tokens of its demo callers, each with the command that creates such a token.

    The admin has no command: a development server runs requests without a token as an admin.
    """
    callers = [
        ("Demo admin", None, Principal(subject="demo-admin", role=Role.ADMIN)),
        (
            "Demo support",
            ".venv/bin/smartlocker token --role support",
            Principal(subject="demo-support", role=Role.SUPPORT),
        ),
        (
            f"Demo owner {_DEMO_OWNER}",
            f".venv/bin/smartlocker token --role owner --owner {_DEMO_OWNER}",
            Principal(subject=_DEMO_OWNER, role=Role.OWNER, owner_id=_DEMO_OWNER),
        ),
    ]

    async def endpoint(request: Request) -> Response:
        if not is_from_own_page(request):
            raise HTTPException(403)
        tokens = [
            {"name": name, "command": command, "token": development_token(folder, principal, _DEMO_LIFETIME)}
            for name, command, principal in callers
        ]
        return JSONResponse(tokens, headers={"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"})

    return endpoint


def is_from_own_page(request: Request) -> bool:
    """False for pages of other sites, and for host names other than loopback (DNS rebinding)."""
    # The header itself: if it is malformed, the request's URL contains the address of the listener.
    host = _HOST.fullmatch(request.headers.get("host", ""))
    site = request.headers.get("sec-fetch-site", "same-origin")
    return host is not None and is_loopback(host["name"].strip("[]")) and site in {"same-origin", "none"}


def read_or_create_secret(path: Path, new: Callable[[], str]) -> str:
    """The content of a secret file.

    If there is none, it is created at once and readable by its owner only, unless another process is faster.
    """
    with suppress(FileNotFoundError):
        return path.read_text()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with NamedTemporaryFile("w", dir=path.parent) as file:
        file.write(new())
        file.flush()
        with suppress(FileExistsError):
            os.link(file.name, path)
    return path.read_text()


def _secret_path(folder: Path) -> Path:
    return folder / "development.secret"
