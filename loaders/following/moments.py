"""The sweeper of moments: it logs what becomes true by time alone."""

from domain.times import Instant
from loaders.backend import Backend
from loaders.following.followers import Fence
from loaders.writes.moments import end_due_reservations


class Moments:
    """Logs the ends of reservations. What keeps an end from being logged twice is its mark, not the lease."""

    name = "moments"

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def sweep(self, shard: int, now: Instant, fence: Fence) -> bool:
        del fence
        return await end_due_reservations(self._backend, shard, now)
