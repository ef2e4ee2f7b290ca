"""Follows the log in this process: takes leases, and reads and sweeps the parts that it holds."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from functools import partial
from typing import NoReturn, Protocol

from domain.times import Instant
from loaders import keys
from loaders.backend import Backend
from loaders.codecs import LogLease
from loaders.following.followers import Fence, Follower, Sweeper, Worker
from loaders.following.leases import LEASE_TIMES, Leases, LeaseTimes
from loaders.following.tail import LONGEST_PAUSE, WORK_SECONDS, LogTail, log_failure, log_recovery
from loaders.log import HORIZON
from loaders.table.clock import machine_timer

_STEP_SECONDS = 1.0
_SWEEP_SECONDS = 5.0
_GIVE_BACK_SECONDS = 3


class Progress(Protocol):
    """Is told how far followers have got."""

    def told(self, shard: int, follower: str, activities: int) -> None:
        """A follower was told so many activities."""

    def behind(self, shard: int, seconds: Mapping[str, float] | None) -> None:
        """How many seconds each follower of a part is behind; None if this process does not follow the part."""


class Following:
    """The followers and sweepers of this process, for those parts of the log whose leases it holds.

    Trouble of the store, or of one of them, ends nothing: it is logged once, and tried again after a pause.
    """

    def __init__(
        self,
        backend: Backend,
        followers: Sequence[Follower],
        sweepers: Sequence[Sweeper],
        progress: Progress | None = None,
        is_usable: Callable[[], bool] = lambda: True,
        times: LeaseTimes = LEASE_TIMES,
        horizon: timedelta = HORIZON,
        workers: Sequence[Worker] = (),
    ) -> None:
        self._backend = backend
        self._followers = followers
        self._sweepers = sweepers
        self._progress = progress
        self._is_usable = is_usable
        self._horizon = horizon
        self._workers = workers
        self._leases = Leases(backend.store, backend.new_id(), range(keys.LOG_SHARDS), machine_timer, times)
        self._keep_seconds = min(_STEP_SECONDS, times.renewed_after)
        self._tails: dict[int, LogTail] = {}
        self._tasks: dict[int, list[asyncio.Task[None]]] = {}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Follows while the block runs; then gives the leases back."""
        keeper = asyncio.create_task(repeat("keeping its leases", self._keep, longest_pause=_STEP_SECONDS))
        try:
            yield
        finally:
            await _end([keeper])  # before what it has begun
            await _end([task for tasks in self._tasks.values() for task in tasks])
            with suppress(Exception):  # others then wait until they can take them
                async with asyncio.timeout(_GIVE_BACK_SECONDS):
                    await self._leases.give_back(self._positions)

    @property
    def _positions(self) -> dict[int, dict[str, Instant]]:
        return {shard: tail.positions for shard, tail in self._tails.items()}

    async def _keep(self) -> float:
        """Renews and takes leases, and works for exactly those that are held."""
        failure: Exception | None = None
        try:
            if self._is_usable():
                await self._leases.renew(self._positions)
                await self._leases.take()
        except Exception as error:  # noqa: BLE001  # raised below
            failure = error
        held = self._leases.held
        for shard in range(keys.LOG_SHARDS):
            known = self._tails.get(shard)
            if known is not None and (shard not in held or held[shard].number != known.fence.number):
                del self._tails[shard]
                await _end(self._tasks.pop(shard))
            if shard in held and shard not in self._tails:
                self._begin(held[shard])
        self._report()
        if failure is not None:
            raise failure
        return self._keep_seconds

    def _begin(self, lease: LogLease) -> None:
        fence = Fence(lease.shard, lease.number)
        told = None if self._progress is None else self._progress.told
        tail = LogTail(self._backend, fence, self._followers, lease.positions, machine_timer, told, self._horizon)
        works: dict[str, Callable[[], Awaitable[float]]] = {"reading": partial(self._read, tail)}
        works |= {sweeper.name: partial(self._sweep, sweeper, fence) for sweeper in self._sweepers}
        may_work = partial(self._may_work, fence)
        works |= {worker.name: partial(worker.work, fence, may_work) for worker in self._workers}
        self._tails[lease.shard] = tail
        self._tasks[lease.shard] = [
            asyncio.create_task(repeat(f"{name} in part {lease.shard}", work)) for name, work in works.items()
        ]

    async def _read(self, tail: LogTail) -> float:
        if self._may_work(tail.fence):
            await tail.step()
        return _STEP_SECONDS

    async def _sweep(self, sweeper: Sweeper, fence: Fence) -> float:
        if self._may_work(fence):
            async with asyncio.timeout(WORK_SECONDS):
                if await sweeper.sweep(fence.shard, self._backend.clock(), fence):
                    return _STEP_SECONDS
        return _SWEEP_SECONDS

    def _may_work(self, fence: Fence) -> bool:
        return fence.shard in self._leases.held and self._is_usable()

    def _report(self) -> None:
        if self._progress is not None:
            for shard in range(keys.LOG_SHARDS):
                self._progress.behind(shard, self._tails[shard].lags if shard in self._tails else None)


async def repeat(
    what: str,
    work: Callable[[], Awaitable[float]],
    longest_pause: float = LONGEST_PAUSE,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> NoReturn:
    """Works again and again; `work` returns after how many seconds, counted from its beginning."""
    failures = 0
    while True:
        began = machine_timer()
        try:
            pause = await work()
            if failures:
                log_recovery(what)
            failures = 0
        except Exception as error:  # noqa: BLE001  # whatever it is, the loop goes on
            if not failures:
                log_failure(what, error)
            failures += 1
            pause = min(2.0**failures, longest_pause)
        await sleep(max(0.0, began + pause - machine_timer()))


async def _end(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
