"""The DataLoaders of a request, on BatchGetItem: every key once, and what is asked at the same time is one read."""

import asyncio
from collections.abc import Sequence
from typing import Any, Generic, Self, TypeVar

from aiodataloader import DataLoader, Loader, dispatch_queue_batch, failed_dispatch

from domain.times import EARLIEST
from loaders.backend import Backend
from loaders.concurrency import is_only_one, together
from loaders.contracts.base import MAX_ITEMS, Consistency
from loaders.contracts.reading import ReadOne, ReadPage
from loaders.conversion import DamagedItemError
from loaders.table.recording import asking

T = TypeVar("T")
KeyParts = tuple[Any, ...]


class _Batch(asyncio.Future[list[Any]]):
    """Up to 100 different keys that are read together, and the future of their records in the same order."""

    keys: list[KeyParts]
    path: str
    """On whose behalf they are read: the first who asked."""
    asked = 0
    """For how many objects."""


class _GivenUpError(Exception):
    """Who was reading a batch was canceled: who waits for it reads it again."""


class RecordLoader(DataLoader[_Batch, list[Any]], Generic[T]):
    """Loads the records of one contract, with one consistency, for one request.

    It is a DataLoader of batches: who asks for keys adds them to the batch at the end of the queue, and the cache has,
    for each key, the batch that has it. A future, a task and an entry for each of 100 keys take nine times as long.
    """

    max_batch_size = 1

    def __init__(self, contract: ReadOne[T], backend: Backend, *, consistent: bool) -> None:
        # Not by DataLoader's own `__init__`: it inspects `batch_load_fn`, which takes longer than to load one record.
        self.loop = asyncio.get_running_loop()
        self._cache = {}
        self._queue = []
        self._contract = contract
        self._backend = backend
        self._consistent = consistent

    async def load_bulk(self, keys: Sequence[KeyParts], path: str = "") -> list[T | Exception | None]:
        """Loads many records, in the order of their keys; errors are values. `path` says on whose behalf.

        An item that is damaged or was left unread is an error in its place. A batch that fails is not kept: the same
        key asked for later in the request is read again.
        """
        cache: dict[KeyParts, _Batch] = self._cache  # type: ignore[assignment]  # of keys, each with its batch
        wanted = dict.fromkeys(keys)
        if not cache and 1 <= len(wanted) == len(keys) <= MAX_ITEMS and is_only_one():
            return await self._load_alone(keys, path)
        new = [key for key in wanted if key not in cache] if cache else [*wanted]
        leads = not self._queue
        batches = self._enqueue(new, path)
        if len(new) < len(wanted):
            batches = [*dict.fromkeys([cache[key] for key in wanted])]
        for batch in batches:
            batch.asked += len(keys)
        if leads and new:
            await self._dispatch()
        records: dict[KeyParts, Any] = {}
        for batch in batches:
            try:
                found = batch.result() if batch.done() else await asyncio.shield(batch)
            except _GivenUpError:
                return await self.load_bulk(keys, path)
            except Exception as error:  # noqa: BLE001  # an error is a value here
                found = [error] * len(batch.keys)
            if len(batches) == 1 and len(found) == len(keys) == len(new):
                return found  # in this order, and nothing else
            records.update(zip(batch.keys, found, strict=True))
        return [records[key] for key in keys]

    async def _load_alone(self, keys: Sequence[KeyParts], path: str) -> list[T | Exception | None]:
        """Loads the first records while nothing else of the request runs: nobody else can ask, so it takes no queue."""
        try:
            with asking(path, len(keys)):
                found = await self._read(keys)
        except Exception as error:  # noqa: BLE001  # as above
            return [error] * len(keys)
        self._keep(keys, found)
        return found

    def _enqueue(self, keys: list[KeyParts], path: str) -> list[_Batch]:
        """Adds different new keys to the last batch of the queue, and to further ones where it is full."""
        queue, batches = self._queue, []
        while keys:
            batch = queue[-1].key if queue else None
            if batch is None or len(batch.keys) == MAX_ITEMS:
                batch = _Batch(loop=self.loop)
                batch.keys, batch.path = [], path
                queue.append(Loader(batch, batch))
            free = MAX_ITEMS - len(batch.keys)
            batch.keys += keys[:free]
            self._cache.update(dict.fromkeys(keys[:free], batch))
            keys = keys[free:]
            batches.append(batch)
        return batches

    async def _dispatch(self) -> None:
        """Reads the queue once everyone who is ready now has asked. Who asked first does it, so it takes no task."""
        queue: list[Loader] = []
        try:
            if not is_only_one():
                await asyncio.sleep(0)
            queue, self._queue = self._queue, []
            if len(queue) == 1:
                await dispatch_queue_batch(self, queue)
            else:
                await together([dispatch_queue_batch(self, [entry]) for entry in queue])
        except BaseException:
            if not queue:
                queue, self._queue = self._queue, []
            for entry in queue:
                if not entry.future.done():
                    failed_dispatch(self, [entry], _GivenUpError())
                    entry.future.exception()  # nobody may be left to see it
            raise

    async def batch_load_fn(self, batches: list[_Batch]) -> list[list[Any]]:
        (batch,) = batches
        with asking(batch.path, batch.asked):
            return [await self._read(batch.keys)]

    async def _read(self, keys: Sequence[KeyParts]) -> list[T | Exception | None]:
        """Reads records; those that are kept no longer count as deleted, even if the store has not done so yet."""
        contract, backend = self._contract, self._backend
        found = await contract.read_many(backend.store, keys, consistent=self._consistent)
        kept = contract.kept
        since = EARLIEST if kept is None else backend.kept_since(kept)
        if kept is None or since == EARLIEST:
            return found
        return [None if getattr(record, kept.time, since) < since else record for record in found]

    def clear(self, batch: _Batch) -> Self:
        """Forgets the keys of a batch, so that they are read again."""
        for key in batch.keys:
            self._cache.pop(key, None)  # type: ignore[arg-type]  # as above
        return self

    def keep(self, key: KeyParts, record: T) -> None:
        """Replaces what was read by a newer record."""
        self._keep([key], [record])

    def _keep(self, keys: Sequence[KeyParts], records: list[Any]) -> None:
        batch = _Batch(loop=self.loop)
        batch.keys = [*keys]
        batch.set_result(records)
        self._cache.update(dict.fromkeys(keys, batch))


class Loaders:
    """The loaders of one request, each created on first use; nothing that they read outlives the request.

    With `strongly`, they read strongly wherever a contract allows it.
    """

    def __init__(self, backend: Backend, *, strongly: bool = False) -> None:
        self._backend = backend
        self._strongly = strongly
        self._loaders: dict[tuple[str, bool], RecordLoader[Any]] = {}
        self._ranges: dict[tuple[str, KeyParts], asyncio.Task[Any]] = {}

    def of(self, contract: ReadOne[T], *, consistent: bool = False) -> RecordLoader[T]:
        """The loader of a contract's records; strongly consistent reads have one of their own."""
        consistent |= self._strongly and contract.consistency is Consistency.EVENTUAL_OR_STRONG
        key = contract.id, consistent or contract.consistency is Consistency.STRONG
        loader = self._loaders.get(key)
        if loader is None:
            loader = self._loaders[key] = RecordLoader(contract, self._backend, consistent=consistent)
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
            task = asyncio.ensure_future(contract.whole(self._backend.store, *key))
            self._ranges[contract.id, key] = task
        return await asyncio.shield(task)

    def forget(self) -> None:
        """Drops what was read so far, because a write may have changed it."""
        self._loaders.clear()
        self._ranges.clear()

    def stop(self) -> None:
        """Cancels Queries that are still running for several places, and drops what was read."""
        self._loaders.clear()
        for task in self._ranges.values():
            task.cancel()
