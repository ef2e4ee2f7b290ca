"""Verification of API keys, with a short-lived cache."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from domain.api_keys import ApiKey, ApiKeyId, parse_key_id, principal_for_key, verify_key
from domain.authorization import Principal
from domain.errors import UnavailableError
from domain.times import Instant
from server.http_errors import InvalidCredentialsError

# A revoked or suspended key is rejected within five seconds; a read takes part of that time.
_CACHE_SECONDS = 3
_CACHE_SIZE = 10_000
_MAX_READS = 16
_MAX_WAITING = 100


class _CachedKey(NamedTuple):
    until: float
    api_key: ApiKey | None


class ApiKeyVerifier:
    """Verifies API keys against the table.

    Each result is cached for a few seconds, also that a key does not exist, so repeating an invalid key does not reach
    the store. Existing and missing keys have separate caches: made-up keys cannot evict real ones. If too many keys
    are being read, only ids that are not cached are rejected.
    """

    def __init__(
        self,
        read: Callable[[ApiKeyId], Awaitable[ApiKey | None]],
        clock: Callable[[], Instant],
        timer: Callable[[], float] = time.monotonic,
        used: Callable[[ApiKey], None] = lambda _: None,
    ) -> None:
        self._read = read
        self._clock = clock
        self._timer = timer
        self._used = used
        self._existing: OrderedDict[ApiKeyId, _CachedKey] = OrderedDict()
        self._missing: OrderedDict[ApiKeyId, _CachedKey] = OrderedDict()
        self._reads: dict[ApiKeyId, asyncio.Future[ApiKey | None]] = {}
        self._read_slots = asyncio.Semaphore(_MAX_READS)

    async def principal(self, secret: str) -> Principal:
        """Raises an InvalidCredentialsError for a wrong key, and an UnavailableError if it cannot be read now."""
        key_id = parse_key_id(secret)
        api_key = None if key_id is None else await self._find(key_id)
        if api_key is None or not verify_key(api_key, secret):
            raise InvalidCredentialsError("The API key is unknown.")
        if api_key.revoked_at is not None:
            raise InvalidCredentialsError("The API key was revoked.")
        if api_key.suspended_at is not None:
            raise InvalidCredentialsError("The API key is suspended.")
        if api_key.expires_at is not None and api_key.expires_at <= self._clock():
            raise InvalidCredentialsError("The API key has expired.")
        self._used(api_key)
        return principal_for_key(api_key)

    async def _find(self, key_id: ApiKeyId) -> ApiKey | None:
        for cache in (self._existing, self._missing):
            cached = cache.get(key_id)
            if cached is not None and cached.until > self._timer():
                cache.move_to_end(key_id)
                return cached.api_key
        read = self._reads.get(key_id)
        if read is None:
            if key_id not in self._existing and len(self._reads) >= _MAX_READS + _MAX_WAITING:
                raise UnavailableError("Too many API keys are being looked up: try again in a moment.")
            read = self._reads[key_id] = asyncio.ensure_future(self._read_and_cache(key_id))
        # A client that disconnects must not cancel the read of others that wait for it.
        return await asyncio.shield(read)

    async def _read_and_cache(self, key_id: ApiKeyId) -> ApiKey | None:
        try:
            async with self._read_slots:
                until = self._timer() + _CACHE_SECONDS
                api_key = await self._read(key_id)
        finally:
            del self._reads[key_id]
        cache = self._missing if api_key is None else self._existing
        cache[key_id] = _CachedKey(until, api_key)
        cache.move_to_end(key_id)
        if len(cache) > _CACHE_SIZE:
            cache.popitem(last=False)
        return api_key
