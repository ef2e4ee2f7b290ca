"""When API keys are used: remembered by the hour, and stored in the background, so that no request waits for it."""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from itertools import islice

from domain.api_keys import ApiKey, ApiKeyId
from domain.times import Instant
from loaders.table.client import DynamoStore
from loaders.table.recording import RecordedStore
from loaders.writes.api_keys import store_key_use

logger = logging.getLogger(__name__)

_SECONDS = 60
"""How often hours are stored, on average."""
_MOST_WRITES = 1_000
"""How many keys are stored at a time."""
_LAST_SECONDS = 1
"""How long a server that stops takes for what is left."""


class KeyUses:
    """The hours in which keys were used that are not stored yet, of this process, and of so many keys at most."""

    def __init__(
        self,
        store: Callable[[], DynamoStore | RecordedStore],
        clock: Callable[[], Instant],
        may_write: Callable[[], bool],
        most_keys: int = 10_000,
    ) -> None:
        self._store = store
        self._clock = clock
        self._may_write = may_write
        self._most_keys = most_keys
        self._hour = Instant("")
        self._noted: set[ApiKeyId] = set()
        self._due: dict[ApiKeyId, Instant] = {}

    def note(self, api_key: ApiKey) -> None:
        """Remembers that a key is used now, once an hour, unless the key's record says so."""
        hour, key_id = Instant(f"{self._clock()[:13]}:00:00.000Z"), api_key.key_id
        if hour != self._hour:
            self._hour = hour
            self._noted.clear()
        if key_id in self._noted or (api_key.last_used_at or "") >= hour or len(self._noted) >= self._most_keys:
            return
        self._noted.add(key_id)
        if key_id in self._due or len(self._due) < self._most_keys:
            self._due[key_id] = hour

    async def store_due(self) -> None:
        """Stores what is due, while the table may be changed; what fails comes last the next time."""
        for key_id in [*islice(self._due, _MOST_WRITES)]:
            if not self._may_write():
                return
            hour = self._due.pop(key_id)
            try:
                await store_key_use(self._store(), key_id, hour)
            except BaseException:
                self._due.setdefault(key_id, hour)
                raise

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self._run())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            with suppress(Exception):
                async with asyncio.timeout(_LAST_SECONDS):
                    await self.store_due()

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(_SECONDS * random.uniform(0.5, 1.5))  # so that servers do it at other times
            try:
                await self.store_due()
            except Exception as error:  # noqa: BLE001  # they are stored later
                logger.warning("when API keys were used could not be stored: %s", error)
