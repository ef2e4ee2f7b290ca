"""The DataLoaders of a request, on BatchGetItem: every key once, and what is asked at the same time is one read."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from aiodataloader import DataLoader, Loader

from loaders.contracts.base import MAX_ITEMS, Consistency
from loaders.table.recording import asking

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    from loaders.contracts.reading import ReadOne, ReadPage
    from loaders.conversion import DamagedItemError
    from loaders.table.client import Store

T = TypeVar("T")
KeyParts = tuple[Any, ...]


class _Batch(asyncio.Future[dict[KeyParts, Any]]):
    """The future of up to 100 records that are read together, by their keys."""

    path = ""
    """On whose behalf they are read: the first who asked."""
    asked = 0
    """For how many objects."""


class _Reads:
    """What a request is reading; it is no part of the loaders, so that nothing refers to itself."""

    __slots__ = ("is_stopped", "tasks")

    def __init__(self) -> None:
        self.tasks: set[asyncio.Task[Any]] = set()
        self.is_stopped = False


class RecordLoader(DataLoader[KeyParts, dict[KeyParts, Any]], Generic[T]):
    """Loads the records of one contract, with one consistency, for one request.

    It is a DataLoader whose keys share the future of their batch: a future for each of 100 keys takes nine times as
    long. An item that is damaged or was left unread is an error in its place. A batch that fails is not kept, so the
    same key asked for later in the request is read again.
    """

    max_batch_size = MAX_ITEMS

    def __init__(self, contract: ReadOne[T], store: Store, reads: _Reads, *, consistent: bool) -> None:
        super().__init__(loop=asyncio.get_running_loop())
        self._contract = contract
        self._store = store
        self._reads = reads
        self._consistent = consistent

    def load(self, key: KeyParts) -> asyncio.Future[dict[KeyParts, Any]]:
        """The batch that has a key: it was read, is being read, or is going to be."""
        if key not in self._cache:
            self._enqueue([key], "")
        return self._cache[key]

    async def load_bulk(self, keys: Sequence[KeyParts], path: str = "") -> list[T | Exception | None]:
        """Loads many records, in the order of their keys; errors are values. `path` says on whose behalf."""
        cache = self._cache
        new = [key for key in keys if key not in cache]
        if new:
            self._enqueue(list(dict.fromkeys(new)), path)
        batches: list[Any] = [cache[key] for key in keys]
        found: dict[Any, Any] = dict.fromkeys(batches)
        for batch in batches if len(found) > 1 else batches[:1]:
            batch.asked += 1 if len(found) > 1 else len(keys)
        for batch in found:
            try:
                found[batch] = batch.result() if batch.done() else await asyncio.shield(batch)
            except Exception as error:  # noqa: BLE001  # an error is a value here
                found[batch] = error
        if len(found) == 1:
            (records,) = found.values()
            return [records] * len(keys) if isinstance(records, Exception) else [records[key] for key in keys]
        return [
            records if isinstance(records := found[batch], Exception) else records[key]
            for batch, key in zip(batches, keys, strict=True)
        ]

    def _enqueue(self, keys: list[KeyParts], path: str) -> None:
        """Adds different new keys to the queue; the first in it has the queue dispatched."""
        cache, rest = self._cache, keys
        while rest:
            queue = self._queue
            free = -len(queue) % MAX_ITEMS
            if free:
                batch: Any = queue[-1].future
            else:
                batch, free = _Batch(loop=self.loop), MAX_ITEMS
                batch.path = path
            first, *others = rest[:free]
            rest = rest[free:]
            cache[first] = batch
            self.do_resolve_reject(first, batch)
            cache.update(dict.fromkeys(others, batch))
            self._queue += [Loader(key, batch) for key in others]

    async def batch_load_fn(self, keys: list[KeyParts]) -> list[dict[KeyParts, Any]]:
        """Reads one batch."""
        batch: Any = self._cache[keys[0]]
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  # the loader runs it in one
        tasks = self._reads.tasks
        tasks.add(task)
        if self._reads.is_stopped:
            task.cancel()
        try:
            with asking(batch.path, batch.asked):
                found = await self._contract.read_many(self._store, keys, consistent=self._consistent)
        except asyncio.CancelledError:
            batch.cancel()
            raise
        finally:
            tasks.discard(task)
        return [dict(zip(keys, found, strict=True))] * len(keys)

    def keep(self, key: KeyParts, record: T) -> None:
        """Replaces what was read by a newer record."""
        batch = self._cache[key] = _Batch(loop=self.loop)
        batch.set_result({key: record})


class Loaders:
    """The loaders of one request, each created on first use; nothing that they read outlives the request."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._loaders: dict[tuple[str, bool], RecordLoader[Any]] = {}
        self._ranges: dict[tuple[str, KeyParts], asyncio.Task[Any]] = {}
        self._reads = _Reads()

    def of(self, contract: ReadOne[T], *, consistent: bool = False) -> RecordLoader[T]:
        """The loader of a contract's records; strongly consistent reads have one of their own."""
        key = contract.id, consistent or contract.consistency is Consistency.STRONG
        loader = self._loaders.get(key)
        if loader is None:
            loader = self._loaders[key] = RecordLoader(contract, self._store, self._reads, consistent=consistent)
        return loader

    async def load_existing(
        self, contract: ReadOne[T], keys: Sequence[KeyParts], path: str
    ) -> list[T | Exception | None]:
        """Loads records that something else names. Those that an eventual read does not find are read strongly."""
        loader = self.of(contract)
        found = await loader.load_bulk(keys, path)
        if type(None) in set(map(type, found)) and contract.consistency is Consistency.EVENTUAL_OR_STRONG:
            missing = list(dict.fromkeys(key for key, record in zip(keys, found, strict=True) if record is None))
            records = await self.of(contract, consistent=True).load_bulk(missing, path)
            strongly = dict(zip(missing, records, strict=True))
            for key, record in strongly.items():
                if record is not None and not isinstance(record, Exception):
                    loader.keep(key, record)
            found = [strongly.get(key) if record is None else record for key, record in zip(keys, found, strict=True)]
        return found

    async def whole(self, contract: ReadPage[T], key: KeyParts) -> dict[str, T | DamagedItemError]:
        """All items of a range by sort key; places of a request that need the same range share one Query."""
        task = self._ranges.get((contract.id, key))
        if task is None:
            task = self._ranges[contract.id, key] = self._start(contract.whole(self._store, *key))
        return await asyncio.shield(task)

    def forget(self) -> None:
        """Drops what was read so far, because a write may have changed it."""
        self._loaders.clear()
        self._ranges.clear()

    def stop(self) -> None:
        """Cancels what is still being read, and drops what was."""
        self._reads.is_stopped = True
        self._loaders.clear()
        for task in self._reads.tasks:
            task.cancel()

    def _start(self, reading: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.ensure_future(reading)
        if self._reads.is_stopped:
            task.cancel()
        self._reads.tasks.add(task)
        task.add_done_callback(self._reads.tasks.discard)
        return task
