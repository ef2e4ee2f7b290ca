"""Loaders on BatchGetItem, one for each contract that a request uses: every key once, order restored."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from aiodataloader import DataLoader

from loaders.contracts.base import MAX_ITEMS
from loaders.contracts.reading import in_batches
from loaders.table.recording import asking

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence
    from typing import Self

    from loaders.contracts.reading import ReadOne, ReadPage
    from loaders.conversion import DamagedItemError
    from loaders.table.client import Store

T = TypeVar("T")
KeyParts = tuple[Any, ...]


class _Batch:
    """Keys that are going to be read together, and who waits for them."""

    __slots__ = ("asked", "done", "keys", "path")

    def __init__(self, done: asyncio.Future[None], path: str) -> None:
        self.keys: list[KeyParts] = []
        self.done = done
        self.path = path
        self.asked = 0


class RecordLoader(DataLoader[KeyParts, T | None], Generic[T]):
    """Loads the records of one contract for one request.

    `load_bulk` reads many keys with one future for all of them, where `load_many` makes one for each. Both share what
    was read before, what is being read, and the batch function.
    """

    max_batch_size = MAX_ITEMS

    def __init__(
        self, contract: ReadOne[T], store: Store, start: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]
    ) -> None:
        self._contract = contract
        self._store = store
        self._start = start
        self._records: dict[KeyParts, T | Exception | None] = {}
        self._in_flight: dict[KeyParts, _Batch] = {}
        self._next: _Batch | None = None
        self._is_set_up = False
        """Whether `load` was used, which alone needs what the base class keeps."""

    async def batch_load_fn(self, keys: list[KeyParts]) -> list[T | None]:
        """Reads one batch; an item that is damaged or was left unread is an error in its place."""
        found = await self._contract.read_many(self._store, keys)
        self._records.update(zip(keys, found, strict=True))
        return found  # type: ignore[return-value]  # aiodataloader raises what is an exception

    def load(self, key: KeyParts) -> asyncio.Future[T | None]:
        """Loads one record."""
        if not self._is_set_up:
            self._is_set_up = True
            super().__init__()
        if key in self._records and key not in self._cache:
            self.prime(key, self._records[key])  # type: ignore[arg-type]  # as above
        return super().load(key)

    async def load_bulk(
        self, keys: Sequence[KeyParts], path: str = "", *, alone: bool = False
    ) -> list[T | Exception | None]:
        """Loads many records, in the order of their keys; errors are values. `path` says on whose behalf.

        Where nobody else loads records of this kind, `alone`, one batch is read at once, without a task.
        """
        if alone and len(keys) <= MAX_ITEMS:
            return await self._load_alone(keys, path)
        records, in_flight = self._records, self._in_flight
        batches: dict[_Batch, None] = {}
        for key in keys:
            if key not in records:
                batch = in_flight.get(key)
                if batch is None:
                    batch = self._next
                    if batch is None or len(batch.keys) >= MAX_ITEMS:
                        batch = self._open_batch(path)
                    batch.keys.append(key)
                    in_flight[key] = batch
                batch.asked += 1
                batches[batch] = None
        failed: dict[KeyParts, Exception] = {}
        for batch in batches:
            try:
                await asyncio.shield(batch.done)
            except Exception as error:  # noqa: BLE001  # an error is a value here
                failed.update(dict.fromkeys(batch.keys, error))
        if failed:
            return [failed[key] if key in failed else records[key] for key in keys]
        return [records[key] for key in keys]

    async def _load_alone(self, keys: Sequence[KeyParts], path: str) -> list[T | Exception | None]:
        records = self._records
        wanted = [key for key in dict.fromkeys(keys) if key not in records]
        if wanted:
            try:
                with asking(path, len(keys)):
                    await self.batch_load_fn(wanted)
            except Exception as error:  # noqa: BLE001  # an error is a value here
                return [records.get(key, error) for key in keys]
        return [records[key] for key in keys]

    async def load_strongly(self, keys: Sequence[KeyParts]) -> list[T | Exception | None]:
        """Reads records that are named elsewhere but were not found: a plain read may be too early for them.

        Errors are values.
        """
        found = await in_batches(partial(self._contract.read_many, self._store, consistent=True), keys)
        self._records.update(
            (key, record) for key, record in zip(keys, found, strict=True) if not isinstance(record, Exception)
        )
        return found

    def clear_all(self) -> Self:
        """Forgets everything that was read."""
        self._records = {}
        self._in_flight = {}
        return super().clear_all() if self._is_set_up else self

    def _open_batch(self, path: str) -> _Batch:
        """A new batch that takes the next keys."""
        loop = asyncio.get_running_loop()
        self._next = batch = _Batch(loop.create_future(), path)
        # All requests of one turn of the event loop share the batch.
        loop.call_soon(self._dispatch, batch)
        return batch

    def _dispatch(self, batch: _Batch) -> None:
        if self._next is batch:
            self._next = None
        self._start(self._read(batch))

    async def _read(self, batch: _Batch) -> None:
        try:
            with asking(batch.path, batch.asked):
                await self.batch_load_fn(batch.keys)
        except Exception as error:  # noqa: BLE001  # it is told to everyone who waits
            # Not kept: the same key asked for later in the request is read again.
            for key in batch.keys:
                self._in_flight.pop(key, None)
            if not batch.done.done():
                batch.done.set_exception(error)
                batch.done.exception()  # no reader may be left to see it
        except BaseException:
            batch.done.cancel()
            raise
        else:
            for key in batch.keys:
                self._in_flight.pop(key, None)
            if not batch.done.done():
                batch.done.set_result(None)


class Loaders:
    """The loaders of one request, each created on first use; nothing that they read outlives the request."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._loaders: dict[str, RecordLoader[Any]] = {}
        self._ranges: dict[tuple[str, KeyParts], asyncio.Task[Any]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._is_stopped = False

    def of(self, contract: ReadOne[T]) -> RecordLoader[T]:
        """The loader of a contract's records."""
        loader = self._loaders.get(contract.id)
        if loader is None:
            loader = self._loaders[contract.id] = RecordLoader(contract, self._store, self._start)
        return loader

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
        self._is_stopped = True
        # A loader refers to its starter, this one: left to the garbage collector, what it read would stay for long.
        self._loaders.clear()
        for task in self._tasks:
            task.cancel()

    def _start(self, reading: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.ensure_future(reading)
        if self._is_stopped:
            task.cancel()
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
