"""The issuer's public keys (JWKS), from a file or a URL, refreshed when they change."""

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, Protocol

import aiohttp
import orjson
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt import PyJWK

from domain.errors import OperatorError, UnavailableError

logger = logging.getLogger(__name__)

ALGORITHMS: Final = ("RS256", "ES256", "EdDSA")
_MAX_BYTES = 256 * 1024
_MIN_RSA_BITS = 2048
_TIMEOUT_SECONDS = 5
_LOOK_SECONDS = 0.1
_REFRESH_SECONDS = 600
_MAX_UNKNOWN_IDS = 20
_MAX_WAITING = 1000
# The rest of a request's time is for executing it.
_KEY_SHARE_OF_DEADLINE = 0.9
_NOT_KNOWN_YET: Final = "The token's key is not known yet"


class JwksError(OperatorError):
    """The key set cannot be used; the message says why."""


class KeysUnavailableError(UnavailableError):
    """The key may have been published after the set was last fetched."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.retry_after_seconds = max(1, math.ceil(seconds))


class KeySource(Protocol):
    def cached(self, key_id: str | None) -> PyJWK | None:
        """The key with this id, if it is known; without an id, the only key of the set."""

    async def find(self, key_id: str | None) -> PyJWK | None:
        """The key with this id, fetched if it is not known; None if the set does not contain it.

        Raises:
            KeysUnavailableError: if the set cannot be fetched now.
        """

    def refreshing(self) -> AbstractAsyncContextManager[None]:
        """Refreshes the keys while the block runs."""


def key_source(location: str, request_seconds: float) -> KeySource:
    """The keys at a URL or in a file, for requests with this deadline."""
    return JwksUrl(location, request_seconds) if "://" in location else JwksFile(Path(location))


def parse_keys(content: bytes) -> dict[str | None, PyJWK]:
    """The usable keys of a key set by their ids; a single key is also found without an id.

    Only public keys of an allowed algorithm count: with a shared secret, anyone who can read the set could sign tokens.
    """
    try:
        entries = orjson.loads(content)["keys"]
    except (ValueError, TypeError, KeyError):
        raise JwksError('must be JSON of the form {"keys": [...]}') from None
    keys = [key for entry in (entries if isinstance(entries, list) else ()) if (key := _usable_key(entry)) is not None]
    if not keys:
        raise JwksError(f"has no public key for {', '.join(ALGORITHMS)}")
    by_id: dict[str | None, PyJWK] = {key.key_id: key for key in reversed(keys) if isinstance(key.key_id, str)}
    return by_id | {None: keys[0]} if len(keys) == 1 else by_id


def _usable_key(entry: Any) -> PyJWK | None:
    if not isinstance(entry, dict) or "d" in entry or entry.get("use", "sig") != "sig":
        return None
    uses = entry.get("key_ops", ["verify"])
    if not isinstance(uses, list) or "verify" not in uses:
        return None
    try:
        # The algorithm follows from the key itself; an entry with another `alg` is wrong.
        key = PyJWK({name: value for name, value in entry.items() if name != "alg"})
    except Exception:  # noqa: BLE001  # one malformed entry must not make the others unusable
        return None
    is_short = isinstance(key.key, RSAPublicKey) and key.key.key_size < _MIN_RSA_BITS
    is_allowed = key.algorithm_name in ALGORITHMS and entry.get("alg", key.algorithm_name) == key.algorithm_name
    return key if is_allowed and not is_short else None


class JwksFile:
    """Keys in a file, read again when it changes; while it cannot be read, the last keys stay in use.

    For keys that are known, the file is looked at ten times a second at most, since to look takes a system call.
    """

    def __init__(self, path: Path, timer: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._timer = timer
        self._looked_at = timer()
        self._version = self._current_version()
        self._keys = self._read()
        self._error: str | None = None

    def cached(self, key_id: str | None) -> PyJWK | None:
        if self._timer() - self._looked_at >= _LOOK_SECONDS:
            self._look()
        return self._keys.get(key_id)

    async def find(self, key_id: str | None) -> PyJWK | None:
        self._look()
        key = self._keys.get(key_id)
        if key is None and self._error is not None:
            raise KeysUnavailableError("The issuer's keys cannot be read: try again in a moment.", 1)
        return key

    @asynccontextmanager
    async def refreshing(self) -> AsyncIterator[None]:
        """See KeySource: those who ask look at the file."""
        yield

    def _look(self) -> None:
        self._looked_at = self._timer()
        version = self._current_version()
        # A file that could not be read may be readable now without having changed.
        if version != self._version or self._error is not None:
            self._version = version
            self._read_again()

    def _current_version(self) -> tuple[int, ...] | None:
        try:
            status = self._path.stat()
        except OSError:
            return None
        return (status.st_ino, status.st_mtime_ns, status.st_size)

    def _read_again(self) -> None:
        try:
            self._keys = self._read()
            self._error = None
        except JwksError as error:
            if str(error) != self._error:
                logger.warning("%s; the last keys stay in use", error)
            self._error = str(error)

    def _read(self) -> dict[str | None, PyJWK]:
        try:
            return parse_keys(self._path.read_bytes())
        except OSError as error:
            raise JwksError(f"the key set {self._path} cannot be read ({error.strerror})") from error
        except JwksError as error:
            raise JwksError(f"the key set {self._path} {error}") from None


class JwksUrl:
    """Keys at a fixed URL, fetched every ten minutes and, at most once in ten seconds, for an unknown id.

    While the URL does not answer, the last keys stay in use. A request with an unknown id waits until the keys may be
    fetched again, since its key may be new. It does not wait if its deadline comes first, or if there are many unknown
    ids: most of these are made up.
    """

    def __init__(
        self,
        url: str,
        request_seconds: float,
        *,
        refetch_seconds: float = 10,
        timer: Callable[[], float] = time.monotonic,
        timeout: Callable[[float], AbstractAsyncContextManager[object]] = asyncio.timeout,
    ) -> None:
        self._url = url
        self._max_wait_seconds = request_seconds * _KEY_SHARE_OF_DEADLINE
        self._refetch_seconds = refetch_seconds
        self._timer = timer
        self._timeout = timeout
        self._keys: dict[str | None, PyJWK] = {}
        self._is_current = False
        self._fetch_task: asyncio.Task[None] | None = None
        self._fetch_seconds = 0.0
        self._fetches = 0
        self._refetch_at = timer()
        self._waiting = 0
        self._unknown_ids: set[str | None] = set()
        self._has_many_unknown_ids = asyncio.Event()

    def cached(self, key_id: str | None) -> PyJWK | None:
        return self._keys.get(key_id)

    async def find(self, key_id: str | None) -> PyJWK | None:
        """See KeySource. None if a set that was fetched after the call does not contain the key.

        Raises:
            KeysUnavailableError: if there is no such set in time: the URL does not answer, or was asked too recently.
        """
        try:
            async with self._timeout(self._max_wait_seconds):
                return await self._find(key_id)
        except TimeoutError:
            raise self._unknown_key(_NOT_KNOWN_YET) from None

    async def _find(self, key_id: str | None) -> PyJWK | None:
        fetches_before = self._fetches
        until = self._timer() + self._max_wait_seconds
        while key_id not in self._keys:
            if self._fetch_task is not None:
                await asyncio.shield(self._fetch_task)
            elif self._fetches == fetches_before and self._timer() >= self._refetch_at:
                self._refetch_at = self._timer() + self._refetch_seconds
                self._unknown_ids.clear()
                self._has_many_unknown_ids.clear()
                self._start_fetch()
            elif not self._is_current:
                raise self._unknown_key("The issuer's keys cannot be fetched")
            elif self._fetches > fetches_before:
                return None
            else:
                await self._wait_for_refetch(key_id, until)
        return self._keys[key_id]

    async def _wait_for_refetch(self, key_id: str | None, until: float) -> None:
        # Requests that cannot wait count too: otherwise the last few of a flood would wait and cause a fetch.
        if len(self._unknown_ids) < _MAX_UNKNOWN_IDS:
            self._unknown_ids.add(key_id)
        elif key_id not in self._unknown_ids:
            self._has_many_unknown_ids.set()
        is_too_late = self._refetch_at + self._fetch_seconds > until
        if is_too_late or self._waiting == _MAX_WAITING:
            raise self._unknown_key(_NOT_KNOWN_YET)
        self._waiting += 1
        try:
            async with self._timeout(self._refetch_at - self._timer()):
                await self._has_many_unknown_ids.wait()
        except TimeoutError:
            return
        finally:
            self._waiting -= 1
        raise self._unknown_key(_NOT_KNOWN_YET)

    def _unknown_key(self, reason: str) -> KeysUnavailableError:
        # A running fetch ends soon.
        seconds = self._refetch_at - self._timer() if self._fetch_task is None else 0
        return KeysUnavailableError(f"{reason}: try again in a moment.", seconds)

    @asynccontextmanager
    async def refreshing(self) -> AsyncIterator[None]:
        # Started before the first request: keys that are unknown only because nothing was read yet wait for this fetch.
        self._start_fetch()
        task = asyncio.create_task(self._refresh_forever())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _refresh_forever(self) -> None:
        while True:
            await asyncio.shield(self._start_fetch())
            await asyncio.sleep(_REFRESH_SECONDS if self._is_current else self._refetch_seconds)

    def _start_fetch(self) -> asyncio.Task[None]:
        """Starts a fetch, or joins the one that is running."""
        if self._fetch_task is None:
            self._fetches += 1
            self._fetch_task = asyncio.create_task(self._fetch())
        return self._fetch_task

    async def _fetch(self) -> None:
        started_at = self._timer()
        try:
            self._keys = parse_keys(await _download(self._url))
            self._is_current = True
            self._fetch_seconds = self._timer() - started_at
        except Exception as error:  # noqa: BLE001  # whatever fails, the next refresh must run
            self._is_current = False
            logger.warning("the key set %s cannot be used, the last keys stay in use: %r", self._url, error)
        finally:
            self._fetch_task = None


async def _download(url: str) -> bytes:
    timeout = aiohttp.ClientTimeout(total=_TIMEOUT_SECONDS)
    async with (
        aiohttp.ClientSession(timeout=timeout) as session,
        # No redirects: the operator decided to trust this URL, not another.
        session.get(url, allow_redirects=False, raise_for_status=True) as response,
    ):
        if response.status != HTTPStatus.OK:
            raise JwksError(f"answered {response.status}")
        content = bytearray()
        async for chunk in response.content.iter_any():
            content += chunk
            if len(content) > _MAX_BYTES:
                raise JwksError(f"is larger than {_MAX_BYTES // 1024} KB")
        return bytes(content)
