"""Several servers on one table that follow the log, and are killed."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

from domain.activity import Activity
from loaders import keys
from loaders.codecs import LOG_ENTRY, LogLease
from loaders.contracts.following import LOG_LEASES
from loaders.log import activities_of
from loaders.table.client import DynamoStore
from tests.conftest import CODE_KEYS, Dump
from tests.e2e.counting import SECONDS
from tests.e2e.serving import Server, start

PROGRAM = (sys.executable, "-m", "tests.e2e.counting")
TIMES = "3 8 10 30" if {"FOLLOWING_KILLS", "WEBHOOK_KILLS"} & os.environ.keys() else "0.3 1.5 2 3"
SHARDS = range(keys.LOG_SHARDS)
CREATE = 'mutation { createOwner(input: {ownerId: "%s", kind: USER, name: "Bob"}) { userErrors { code } } }'


class Cluster:
    """Two servers on one table, and the parts of the log that they follow."""

    def __init__(self, folder: Path, settings: dict[str, str], store: DynamoStore) -> None:
        self._folder = folder
        self._settings = settings
        self._store = store
        self._starts = count()
        self.servers: list[Server] = []

    @property
    def urls(self) -> list[str]:
        return [server.url for server in self.servers]

    async def started(self, **settings: str) -> Server:
        folder = self._folder / f"server-{next(self._starts)}"
        return await asyncio.to_thread(start, folder, PROGRAM, **self._settings, **settings)

    async def leases(self) -> dict[int, LogLease]:
        """Those that somebody has ever taken."""
        found = await LOG_LEASES.read_many(self._store, [(shard,) for shard in SHARDS], consistent=True)
        return {lease.shard: lease for lease in found if isinstance(lease, LogLease)}

    async def kill(self, number: int) -> float:
        """Kills a server; returns after how many seconds the other has taken over its parts."""
        await asyncio.to_thread(self.servers[number].end, signal.SIGKILL)
        began, last = time.monotonic(), 0.0
        known, missing = await self.leases(), {*SHARDS}
        while missing:
            for shard, lease in (await self.leases()).items():
                is_taken = lease.number > known[shard].number
                if shard in missing and (is_taken or lease.counter > known[shard].counter + 1):
                    missing.remove(shard)
                    last = time.monotonic() - began if is_taken else last
            await asyncio.sleep(0.05)
        return last

    async def until(self, is_so: Callable[[dict[int, LogLease]], bool]) -> None:
        async with asyncio.timeout(120):
            while not is_so(await self.leases()):  # noqa: ASYNC110  # the servers have no event
                await asyncio.sleep(0.05)


@asynccontextmanager
async def open_cluster(folder: Path, settings: dict[str, str], store: DynamoStore) -> AsyncIterator[Cluster]:
    made = Cluster(folder, settings | {SECONDS: TIMES, "code_keys": CODE_KEYS}, store)
    try:
        yield made
    finally:
        for server in made.servers:
            if server.process.poll() is None:
                server.end(signal.SIGKILL)


async def logged(dump: Dump, shard: int) -> list[Activity]:
    items = await dump()
    partition = keys.log_entries(shard).pk
    entries = [LOG_ENTRY.decode(item) for (place, _), item in items.items() if place == partition]
    return [activity for entry in entries for activity in activities_of(entry)]
