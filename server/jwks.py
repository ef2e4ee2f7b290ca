"""The issuer's public keys, from a file or a URL, and known anew when they change."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import aiohttp
import orjson
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt import PyJWK

from domain.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager

__all__ = ["ALGORITHMS", "JwksError", "JwksFile", "JwksUrl", "KeySource", "parse_keys", "source_of"]

logger = logging.getLogger(__name__)

ALGORITHMS: Final = ("RS256", "ES256", "EdDSA")
_BYTES = 256 * 1024
_SMALLEST_RSA_BITS = 2048
_TIMEOUT_SECONDS = 5
_REFETCH_SECONDS = 10
_REFRESH_SECONDS = 600
_MOST_STRANGE_IDS = 20
_MOST_WAITING = 1000
# The rest of a request's time is for what the request asks for.
_SHARE_FOR_KEYS = 0.9
_NOT_YET: Final = "The token's key is not known yet"


class JwksError(Exception):
    """The key set cannot be used; the message says why."""


class UnknownKeyError(UnavailableError):
    """The key may have been published since the set was last fetched."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.retry_after_seconds = max(1, math.ceil(seconds))


class KeySource(Protocol):
    """Where the keys that verify tokens come from."""

    def known(self, key_id: str | None) -> PyJWK | None:
        """The key of that id, if it is known already; without an id, the only key that there is."""

    async def find(self, key_id: str | None) -> PyJWK | None:
        """The key of that id, asked for where it is not known; None where there is none.

        Raises:
            UnknownKeyError: where nobody can tell at the moment.
        """

    def kept_fresh(self) -> AbstractAsyncContextManager[None]:
        """Keeps the keys fresh for as long as the block runs."""


def source_of(place: str, request_seconds: float) -> KeySource:
    """The keys at a URL or in a file, for requests that may take so long."""
    return JwksUrl(place, request_seconds) if "://" in place else JwksFile(Path(place))


def parse_keys(content: bytes) -> dict[str | None, PyJWK]:
    """The usable keys of a key set by their ids; one that is alone is also found without an id.

    Only public keys of an allowed algorithm count: with a shared secret, whoever reads the set could make tokens.
    """
    try:
        entries = orjson.loads(content)["keys"]
    except (ValueError, TypeError, KeyError):
        raise JwksError('must be JSON of the form {"keys": [...]}') from None
    found = [key for entry in (entries if isinstance(entries, list) else ()) if (key := _usable(entry)) is not None]
    if not found:
        raise JwksError(f"has no public key for {', '.join(ALGORITHMS)}")
    by_id: dict[str | None, PyJWK] = {key.key_id: key for key in reversed(found) if isinstance(key.key_id, str)}
    return by_id | {None: found[0]} if len(found) == 1 else by_id


def _usable(entry: Any) -> PyJWK | None:
    if not isinstance(entry, dict) or "d" in entry or entry.get("use", "sig") != "sig":
        return None
    uses = entry.get("key_ops", ["verify"])
    if not isinstance(uses, list) or "verify" not in uses:
        return None
    try:
        # What the key itself is decides; a set that says otherwise is wrong about this key.
        key = PyJWK({name: value for name, value in entry.items() if name != "alg"})
    except Exception:  # noqa: BLE001  # whatever is odd about one entry must not cost the others
        return None
    is_short = isinstance(key.key, RSAPublicKey) and key.key.key_size < _SMALLEST_RSA_BITS
    is_allowed = key.algorithm_name in ALGORITHMS and entry.get("alg", key.algorithm_name) == key.algorithm_name
    return key if is_allowed and not is_short else None


class JwksFile:
    """Keys in a file, read again when it changes; what cannot be read leaves the keys as they are."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mark = self._current_mark()
        self._keys = self._read()
        self._trouble: str | None = None

    def known(self, key_id: str | None) -> PyJWK | None:
        """See KeySource."""
        mark = self._current_mark()
        # What could not be read may be readable now without having changed.
        if mark != self._mark or self._trouble is not None:
            self._mark = mark
            self._read_again()
        return self._keys.get(key_id)

    async def find(self, key_id: str | None) -> PyJWK | None:
        """See KeySource."""
        key = self.known(key_id)
        if key is None and self._trouble is not None:
            raise UnknownKeyError("The issuer's keys cannot be read: try again in a moment.", 1)
        return key

    @asynccontextmanager
    async def kept_fresh(self) -> AsyncIterator[None]:
        """See KeySource: each look is a fresh one."""
        yield

    def _current_mark(self) -> tuple[int, ...] | None:
        try:
            status = self._path.stat()
        except OSError:
            return None
        return (status.st_ino, status.st_mtime_ns, status.st_size)

    def _read_again(self) -> None:
        try:
            self._keys = self._read()
            self._trouble = None
        except JwksError as error:
            if str(error) != self._trouble:
                logger.warning("%s; the keys stay as they were", error)
            self._trouble = str(error)

    def _read(self) -> dict[str | None, PyJWK]:
        try:
            return parse_keys(self._path.read_bytes())
        except OSError as error:
            raise JwksError(f"the key set {self._path} cannot be read ({error.strerror})") from error
        except JwksError as error:
            raise JwksError(f"the key set {self._path} {error}") from None


class JwksUrl:
    """Keys at a fixed URL, fetched every ten minutes and, at most once in ten seconds, for an id that is not known.

    While the URL does not answer, the keys stay as they were. Whoever asks for an unknown id within the ten seconds
    waits for their end, since the key may be a new one, unless its own time ends before, or too many ids are asked for:
    most of them are then made up.

    Args:
        url: where the keys are.
        request_seconds: how long a request that asks for a key may take.
        timer: measures the seconds.
    """

    def __init__(self, url: str, request_seconds: float, timer: Callable[[], float] = time.monotonic) -> None:
        self._url = url
        self._patience = request_seconds * _SHARE_FOR_KEYS
        self._timer = timer
        self._keys: dict[str | None, PyJWK] = {}
        self._is_current = False
        self._fetching: asyncio.Task[None] | None = None
        self._fetch_seconds = 0.0
        self._begun = 0
        self._refetch_at = timer()
        self._waiting = 0
        self._strange_ids: set[str | None] = set()
        self._is_crowded = asyncio.Event()

    def known(self, key_id: str | None) -> PyJWK | None:
        """See KeySource."""
        return self._keys.get(key_id)

    async def find(self, key_id: str | None) -> PyJWK | None:
        """See KeySource. None where a set that was fetched since this was asked does not have the key.

        Raises:
            UnknownKeyError: where there is no such set in time: the URL does not answer, or it may not be asked yet.
        """
        try:
            async with asyncio.timeout(self._patience):
                return await self._find(key_id)
        except TimeoutError:
            raise self._unknown(_NOT_YET) from None

    async def _find(self, key_id: str | None) -> PyJWK | None:
        begun_before = self._begun
        until = self._timer() + self._patience
        while key_id not in self._keys:
            if self._fetching is not None:
                await asyncio.shield(self._fetching)
            elif self._begun == begun_before and self._timer() >= self._refetch_at:
                self._refetch_at = self._timer() + _REFETCH_SECONDS
                self._strange_ids.clear()
                self._is_crowded.clear()
                self._begin_fetch()
            elif not self._is_current:
                raise self._unknown("The issuer's keys cannot be fetched")
            elif self._begun > begun_before:
                return None
            else:
                await self._wait(key_id, until)
        return self._keys[key_id]

    async def _wait(self, key_id: str | None, until: float) -> None:
        """Until the keys may be fetched again."""
        # Who cannot wait counts too: else the last few of a flood would wait, and fetch once more.
        if len(self._strange_ids) < _MOST_STRANGE_IDS:
            self._strange_ids.add(key_id)
        elif key_id not in self._strange_ids:
            self._is_crowded.set()
        is_too_late = self._refetch_at + self._fetch_seconds > until
        if is_too_late or self._waiting == _MOST_WAITING:
            raise self._unknown(_NOT_YET)
        self._waiting += 1
        try:
            async with asyncio.timeout(self._refetch_at - self._timer()):
                await self._is_crowded.wait()
        except TimeoutError:
            return
        finally:
            self._waiting -= 1
        raise self._unknown(_NOT_YET)

    def _unknown(self, what: str) -> UnknownKeyError:
        # A fetch that is under way will tell soon.
        seconds = self._refetch_at - self._timer() if self._fetching is None else 0
        return UnknownKeyError(f"{what}: try again in a moment.", seconds)

    @asynccontextmanager
    async def kept_fresh(self) -> AsyncIterator[None]:
        """See KeySource."""
        # Begun before the first request can ask: what is unknown only because nothing was read yet waits for this.
        self._begin_fetch()
        task = asyncio.create_task(self._refresh_for_ever())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _refresh_for_ever(self) -> None:
        while True:
            await self._fetched()
            await asyncio.sleep(_REFRESH_SECONDS if self._is_current else _REFETCH_SECONDS)

    async def _fetched(self) -> None:
        """Fetches the keys; whoever asks meanwhile waits for the same answer."""
        await asyncio.shield(self._begin_fetch())

    def _begin_fetch(self) -> asyncio.Task[None]:
        if self._fetching is None:
            self._begun += 1
            self._fetching = asyncio.create_task(self._fetch())
        return self._fetching

    async def _fetch(self) -> None:
        begun_at = self._timer()
        try:
            self._keys = parse_keys(await _download(self._url))
            self._is_current = True
            self._fetch_seconds = self._timer() - begun_at
        except Exception as error:  # noqa: BLE001  # whatever it is, the next fetch must come
            self._is_current = False
            logger.warning("the key set %s cannot be used, the keys stay as they were: %r", self._url, error)
        finally:
            self._fetching = None


async def _download(url: str) -> bytes:
    timeout = aiohttp.ClientTimeout(total=_TIMEOUT_SECONDS)
    async with (
        aiohttp.ClientSession(timeout=timeout) as session,
        # Not redirected: the address is what somebody decided to trust.
        session.get(url, allow_redirects=False, raise_for_status=True) as response,
    ):
        if response.status != HTTPStatus.OK:
            raise JwksError(f"answered {response.status}")
        content = bytearray()
        async for chunk in response.content.iter_any():
            content += chunk
            if len(content) > _BYTES:
                raise JwksError(f"has more than {_BYTES // 1024} KB")
        return bytes(content)
