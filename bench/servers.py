"""The servers that are compared, and how each is started."""

from __future__ import annotations

import base64
import json
import secrets
import shutil
import sys
import time
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from jwt.algorithms import RSAAlgorithm

from bench.data import locker_id
from bench.processes import running
from tests.npm import installed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from bench.processes import Process

__all__ = [
    "CONTROL",
    "DEVELOPMENT",
    "LIVE",
    "LIVE_MERCURIUS",
    "MERCURIUS",
    "PRODUCTION",
    "SERVERS",
    "Server",
    "ServerKind",
    "authorization_of",
    "flooded",
    "node_folder",
    "started",
]

TABLE = "SmartLocker"
DEVELOPMENT = "SmartLocker"
PRODUCTION = "SmartLocker, production"
MERCURIUS = "Mercurius with JIT"
CONTROL = "Mercurius, hand-made client"
LIVE_MERCURIUS = "Mercurius with mqemitter"

_ROOT = Path(__file__).parent.parent
_PEERS = Path(__file__).parent / "peers"
_ISSUER = "https://issuer.example.com/"
_CODE_KEYS = f"bench:{base64.b64encode(secrets.token_bytes(32)).decode()}"
_AUDIENCE = "https://lockers.example.com/"
_TOKEN_SECONDS = 24 * 3600
_ENOUGH_UNITS = str(10**12)
_ADMIN = {"role": "admin"}
_KEY = "key.pem"


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers.

    Args:
        name: its name in the report.
        process: its process.
        port: where it listens.
        folder: its files.
        headers: what every request to it carries.
    """

    name: str
    process: Process
    port: int
    folder: Path
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ServerKind:
    """How a server is started: its command, its environment on a store, and the headers of its requests."""

    name: str
    command: tuple[str | Path, ...]
    greeting: str
    prepare: Callable[[str, Path], tuple[dict[str, str], dict[str, str]]]


def node_folder(folder: Path) -> Path:
    """A folder with the Node programs beside their packages, which are kept outside of the repository."""
    shutil.copytree(_PEERS, folder / "peers")
    (folder / "peers/node_modules").symlink_to(installed(_PEERS) / "node_modules")
    return folder / "peers"


def _node_peer(endpoint: str, folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    node_folder(folder)
    return _peer(endpoint, folder)


def _peer(endpoint: str, folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    key_set, headers = _credentials(folder)
    return {
        "ENDPOINT_URL": endpoint,
        "TABLE": TABLE,
        "ISSUER": _ISSUER,
        "AUDIENCE": _AUDIENCE,
        "JWKS": key_set,
        "NODE_ENV": "production",
        "PYTHONPATH": str(_ROOT),
    }, headers


def _development(endpoint: str, folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    return {
        "PYTHONPATH": str(_ROOT),
        "SMARTLOCKER_ENDPOINT_URL": endpoint,
        "SMARTLOCKER_TABLE_NAME": TABLE,
        "SMARTLOCKER_DATA_DIR": str(folder / "data"),
        "SMARTLOCKER_PORT": "0",
        "SMARTLOCKER_DRAIN_SECONDS": "0",
        "SMARTLOCKER_FOLLOW": "off",  # the peers follow nothing, and the stub answers only what it has recorded
    }, {}


def _production(endpoint: str, folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The limits of callers stay on, at values that are never reached: the benchmark is one caller."""
    settings, headers = _limited(endpoint, folder)
    return settings | {
        "SMARTLOCKER_RATE_LIMIT_UNITS": _ENOUGH_UNITS,
        "SMARTLOCKER_MAX_CONCURRENT_PER_CALLER": "200",
    }, headers


def _limited(
    endpoint: str, folder: Path, units: str | None = None, caller: Mapping[str, str] = _ADMIN
) -> tuple[dict[str, str], dict[str, str]]:
    """The usual limits; with `units`, another rate limit."""
    settings, _ = _development(endpoint, folder)
    key_set, headers = _credentials(folder, caller)
    return settings | {
        "SMARTLOCKER_PROFILE": "production",
        "SMARTLOCKER_JWT_ISSUER": _ISSUER,
        "SMARTLOCKER_JWT_AUDIENCE": _AUDIENCE,
        "SMARTLOCKER_JWKS": key_set,
        "SMARTLOCKER_CODE_KEYS": _CODE_KEYS,
        **({} if units is None else {"SMARTLOCKER_RATE_LIMIT_UNITS": units}),
    }, headers


def _credentials(folder: Path, caller: Mapping[str, str] = _ADMIN) -> tuple[str, dict[str, str]]:
    """An issuer's key set as a file, and the headers with a token of it."""
    key = rsa.generate_private_key(65537, 2048)
    (folder / _KEY).write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public: dict[str, Any] = json.loads(RSAAlgorithm.to_jwk(key.public_key()))
    key_set = folder / "keys.json"
    key_set.write_text(json.dumps({"keys": [public | {"alg": "RS256", "use": "sig", "kid": "bench"}]}))
    return str(key_set), {"Authorization": _authorization(folder, "bench", caller)}


def authorization_of(server: Server, subject: str) -> str:
    """The credentials of an admin."""
    return _authorization(server.folder, subject, _ADMIN)


def _authorization(folder: Path, subject: str, caller: Mapping[str, str]) -> str:
    now = int(time.time())
    claims = {
        "iss": _ISSUER,
        "aud": _AUDIENCE,
        "sub": subject,
        "iat": now,
        "exp": now + _TOKEN_SECONDS,
        **caller,
    }
    return f"Bearer {jwt.encode(claims, (folder / _KEY).read_bytes(), 'RS256', headers={'kid': 'bench'})}"


_SERVE = (Path(sys.executable).parent / "smartlocker", "serve")
_LISTENING = "listening "
SERVERS = (
    ServerKind(DEVELOPMENT, _SERVE, "SmartLocker serves ", _development),
    ServerKind(PRODUCTION, _SERVE, "SmartLocker serves ", _production),
    ServerKind(MERCURIUS, ("node", "peers/mercurius.mjs", "sdk"), _LISTENING, _node_peer),
    ServerKind("Apollo Server", ("node", "peers/apollo.mjs"), _LISTENING, _node_peer),
    ServerKind(CONTROL, ("node", "peers/mercurius.mjs", "raw"), _LISTENING, _node_peer),
    ServerKind("plain Strawberry", (sys.executable, "-m", "bench.peers.plain_strawberry"), _LISTENING, _peer),
)
LIVE = (
    ServerKind(PRODUCTION, _SERVE, "SmartLocker serves ", _production),
    ServerKind(f"{PRODUCTION}, second server", _SERVE, "SmartLocker serves ", _production),
    ServerKind(LIVE_MERCURIUS, ("node", "peers/mercurius-live.mjs"), _LISTENING, _node_peer),
)


def flooded() -> tuple[ServerKind, ...]:
    """Two servers in production, called by a device: one with the usual rate limit, one that never reaches its own."""
    device = {"role": "device", "lockerId": locker_id(0)}
    return tuple(
        ServerKind(PRODUCTION, _SERVE, "SmartLocker serves ", partial(_limited, units=units, caller=device))
        for units in (None, _ENOUGH_UNITS)
    )


@asynccontextmanager
async def started(
    kinds: tuple[ServerKind, ...], endpoint: str, folder: Path, cores: str | None
) -> AsyncIterator[list[Server]]:
    """The servers on one store, for as long as the block runs."""
    async with AsyncExitStack() as stack:
        processes = []
        for number, kind in enumerate(kinds):
            own = folder / f"server-{number}"
            own.mkdir(parents=True)
            environment, headers = kind.prepare(endpoint, own)
            processes.append((stack.enter_context(running(kind.command, environment, own, cores)), own, headers))
        servers = []
        for kind, (process, own, headers) in zip(kinds, processes, strict=True):
            place = await process.wait_for_line(kind.greeting)
            port = urlsplit(place).port if "://" in place else int(place)
            assert port is not None  # noqa: S101  # every greeting has one
            servers.append(Server(kind.name, process, port, own, headers))
        yield servers
