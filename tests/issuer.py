"""An issuer of tokens: its keys, its key set as a file or at a URL, and the tokens that it signs."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, SECP384R1
from cryptography.hazmat.primitives.asymmetric.ec import generate_private_key as generate_ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key as generate_rsa
from jwt.algorithms import get_default_algorithms

ISSUER = "https://issuer.example.com/"
AUDIENCE = "https://lockers.example.com/"


@cache
def key_of(algorithm: str, name: str = "first") -> Any:
    """A private key for an algorithm; the same for the same name."""
    assert name
    match algorithm:
        case "RS256":
            return generate_rsa(65537, 2048)
        case "short RS256":
            return generate_rsa(65537, 1024)  # noqa: S505  # to be refused
        case "ES256":
            return generate_ec(SECP256R1())
        case "ES384":
            return generate_ec(SECP384R1())
        case _:
            return Ed25519PrivateKey.generate()


def jwk(algorithm: str = "ES256", name: str = "first", **more: Any) -> dict[str, Any]:
    """The public half of a key as a key set has it, its name as its id; None takes an entry away."""
    spoken = algorithm.removeprefix("short ")
    public = get_default_algorithms()[spoken].to_jwk(key_of(algorithm, name).public_key(), as_dict=True)
    entries = {"alg": spoken, "use": "sig", "kid": name, **public, **more}
    return {entry: value for entry, value in entries.items() if value is not None}


def claims(**more: Any) -> dict[str, Any]:
    """The claims of an admin's token that holds for a minute; None takes a claim away."""
    now = int(time.time())
    usual = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ada", "iat": now, "exp": now + 60, "role": "admin"}
    return {name: value for name, value in (usual | more).items() if value is not None}


def sign(algorithm: str = "ES256", name: str = "first", headers: dict[str, Any] | None = None, **more: Any) -> str:
    return jwt.encode(claims(**more), key_of(algorithm, name), algorithm, headers={"kid": name, **(headers or {})})


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def write_keys(path: Path, *keys: dict[str, Any]) -> Path:
    """A key set as a file, put in the place of the one before as a whole."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps({"keys": keys}))
    new.rename(path)
    return path


def production(folder: Path, *keys: dict[str, Any]) -> dict[str, Any]:
    """The settings of a server in production that takes tokens signed by these keys, by default the first one."""
    path = write_keys(folder / "keys.json", *(keys or (jwk(),)))
    return {"profile": "production", "jwt_issuer": ISSUER, "jwt_audience": AUDIENCE, "jwks": str(path)}


class KeyServer:
    """A key set at a URL, which counts how often it is fetched."""

    def __init__(self) -> None:
        self.url = ""
        self.fetches = 0
        self.status = 200
        self.answers = asyncio.Event()
        """Cleared, it holds every request."""
        self.answers.set()
        self.content: Any = {"keys": [jwk()]}

    async def handle(self, _: web.Request) -> web.Response:
        self.fetches += 1
        content = json.dumps(self.content)
        await self.answers.wait()
        headers = {"Location": f"{self.url}/elsewhere"} if self.status == 302 else {}
        return web.Response(status=self.status, text=content, headers=headers)


@asynccontextmanager
async def served_keys() -> AsyncIterator[KeyServer]:
    """Such a server for as long as the block runs."""
    server = KeyServer()
    app = web.Application()
    app.router.add_get("/{tail:.*}", server.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/keys"
    try:
        yield server
    finally:
        await runner.cleanup()
