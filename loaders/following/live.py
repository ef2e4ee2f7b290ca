"""Tells in this process at once what is logged, while anyone here wants to know.

The ends of all parts of the log are read together for everyone who does; what this process writes itself is told
without a read. Nothing is left out: the last horizon is read again and again, as followers do.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextvars import Context

from domain.activity import Activity
from domain.times import Instant, shift
from loaders import keys
from loaders.backend import Backend
from loaders.concurrency import together
from loaders.following.followers import Fence
from loaders.following.tail import LogTail, log_failure, log_recovery
from loaders.log import HORIZON
from loaders.table.clock import machine_timer

_STEP_SECONDS = 0.5
_LINGER_SECONDS = 5.0
"""For how long the log is read on when nobody wants to know any more: clients come back."""
_LONGEST_PAUSE = 5.0


class LiveLog:
    """Tells each activity once. It is a follower of the log that needs no lease, since it writes nothing."""

    name = "live"
    is_ordered = False

    def __init__(
        self,
        backend: Callable[[], Backend],
        tell: Callable[[Sequence[Activity]], None],
        timer: Callable[[], float] = machine_timer,
    ) -> None:
        self._backend = backend
        self._tell = tell
        self._timer = timer
        self._wanted = 0
        self._left_at = 0.0
        self._beginning = asyncio.Lock()
        self._tails: list[LogTail] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._known: dict[str, Instant] = {}
        """The ids of activities that may be found again, with their times."""

    @property
    def is_listening(self) -> bool:
        return bool(self._tasks)

    @property
    def position(self) -> Instant:
        """Up to when everything was told; only while it is listening."""
        return min(tail.positions[self.name] for tail in self._tails)

    async def join(self) -> None:
        """Listens until `leave` is called as often; what is visible already is not told.

        Raises an UnavailableError if the log cannot be read now.
        """
        self._wanted += 1
        try:
            async with self._beginning:
                if not self._tasks:
                    await self._begin()
        except BaseException:
            self.leave()
            raise

    def leave(self) -> None:
        self._wanted -= 1
        self._left_at = self._timer()

    def tell(self, activities: Sequence[Activity]) -> None:
        """Tells what this process has written, before it finds it in the log."""
        new = [activity for activity in activities if activity.activity_id not in self._known]
        if new:
            self._known.update((activity.activity_id, activity.occurred_at) for activity in new)
            self._tell(new)

    async def apply(self, shard: int, activities: Sequence[Activity], until: Instant, fence: Fence) -> None:  # noqa: ARG002  # see Follower
        if self._tasks:
            self.tell(activities)
        else:
            self._known.update((activity.activity_id, activity.occurred_at) for activity in activities)

    async def close(self) -> None:
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _begin(self) -> None:
        backend = self._backend()
        start = shift(backend.stamp().at, -HORIZON)
        self._known.clear()
        self._tails = [
            LogTail(backend, Fence(shard, 0), (self,), {self.name: start}, self._timer)
            for shard in range(keys.LOG_SHARDS)
        ]
        await together(map(_reach_the_end, self._tails))
        # Not in the context of the request that happens to be the first to join.
        self._tasks = [asyncio.create_task(self._read(tail), context=Context()) for tail in self._tails]

    async def _read(self, tail: LogTail) -> None:
        failures = 0
        while self._wanted or self._timer() - self._left_at < _LINGER_SECONDS:
            pause = _STEP_SECONDS
            try:
                await tail.step()
                if failures:
                    log_recovery(f"{self.name} in part {tail.fence.shard}")
                failures = 0
            except Exception as error:  # noqa: BLE001  # whatever it is, it is read again
                if not failures:
                    log_failure(f"{self.name} in part {tail.fence.shard}", error)
                failures += 1
                pause = min(2.0**failures * _STEP_SECONDS, _LONGEST_PAUSE)
            self._forget()
            await asyncio.sleep(pause)
        self._end()

    def _end(self) -> None:
        """Ends the reading of all parts, as nobody wants to know; who joins meanwhile begins anew."""
        own, tasks, self._tasks = asyncio.current_task(), self._tasks, []
        for task in tasks:
            if task is not own:
                task.cancel()

    def _forget(self) -> None:
        """Forgets what cannot be found again: it is not after the position of any part."""
        position = self.position
        if self._known and next(iter(self._known.values())) <= position:
            self._known = {one: at for one, at in self._known.items() if at > position}


async def _reach_the_end(tail: LogTail) -> None:
    await tail.step()
    while tail.is_behind:
        await tail.step()
