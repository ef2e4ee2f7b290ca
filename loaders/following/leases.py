"""The leases of the parts of the log: one process at a time follows a part.

Wall clocks are never compared. A holder changes its lease every few seconds; who sees no change for longer, by its own
timer, takes it over with a higher number. A holder that was stopped meanwhile may still think that it holds it: so
every write of its lease, and with it of the positions, is conditioned on the number.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import replace
from typing import NamedTuple

from domain.times import Instant
from loaders import keys
from loaders.codecs import LOG_LEASE, LogLease
from loaders.contracts.following import HOLD_LEASE, LOG_LEASES
from loaders.table.client import Store
from loaders.table.errors import ConditionFailedError

logger = logging.getLogger(__name__)


class LeaseTimes(NamedTuple):
    """In seconds by the machine's timer."""

    renewed_after: float = 3.0
    held_for: float = 8.0
    """For how long after it was last renewed its holder works on."""
    taken_after: float = 10.0
    """For how long it must not have changed to be taken over."""


LEASE_TIMES = LeaseTimes()


async def unfollowed(store: Store, wait: Callable[[float], Awaitable[None]] = asyncio.sleep) -> list[int]:
    """The parts of the log that nobody follows: their leases were never taken, given back, or are not renewed.

    If somebody seems to, it waits until a lease must have been renewed.
    """

    async def leases() -> list[LogLease | Exception | None]:
        return await LOG_LEASES.read_many(store, [(shard,) for shard in range(keys.LOG_SHARDS)], consistent=True)

    before = await leases()
    held = [isinstance(lease, LogLease) and lease.holder is not None for lease in before]
    after = before
    if any(held):
        await wait(LEASE_TIMES.held_for)
        after = await leases()
    return [shard for shard, is_held in enumerate(held) if not is_held or before[shard] == after[shard]]


class _Held(NamedTuple):
    lease: LogLease
    sent_at: float
    """When it was last written, before the request was sent."""


class Leases:
    """The leases that this process holds, and what it has seen of the others."""

    def __init__(
        self,
        store: Store,
        holder: str,
        shards: Collection[int],
        timer: Callable[[], float],
        times: LeaseTimes = LEASE_TIMES,
    ) -> None:
        self._store = store
        self._holder = holder
        self._shards = shards
        self._timer = timer
        self._times = times
        self._held: dict[int, _Held] = {}
        self._seen: dict[int, tuple[LogLease | None, float]] = {}

    @property
    def held(self) -> dict[int, LogLease]:
        """The leases on which this process may work now."""
        now = self._timer()
        return {shard: held.lease for shard, held in self._held.items() if now - held.sent_at < self._times.held_for}

    async def take(self) -> None:
        """Looks at the leases of others, and takes those that nobody holds or that have not changed for long enough."""
        others = [shard for shard in self._shards if shard not in self._held]
        if not others:
            return
        found = await LOG_LEASES.read_many(self._store, [(shard,) for shard in others])
        now = self._timer()
        for shard, lease in zip(others, found, strict=True):
            if isinstance(lease, Exception):
                raise lease
            seen, since = self._seen.get(shard, (None, now))
            if seen != lease or shard not in self._seen:
                since = now
            self._seen[shard] = lease, since
            if lease is None or lease.holder is None or now - since >= self._times.taken_after:
                await self._take(shard, lease)

    async def renew(self, positions: Mapping[int, Mapping[str, Instant]]) -> None:
        """Renews those that are due, with the positions of their followers."""
        now = self._timer()
        for shard, held in list(self._held.items()):
            if now - held.sent_at >= self._times.renewed_after:
                latest = positions.get(shard, held.lease.positions)
                await self._renew(held.lease, replace(held.lease, counter=held.lease.counter + 1, positions=latest))

    async def give_back(self, positions: Mapping[int, Mapping[str, Instant]]) -> None:
        """Gives all back, so that others need not wait."""
        for shard, held in list(self._held.items()):
            last = positions.get(shard, held.lease.positions)
            await self._renew(
                held.lease, replace(held.lease, counter=held.lease.counter + 1, positions=last, holder=None)
            )
            self._held.pop(shard, None)

    async def _take(self, shard: int, seen: LogLease | None) -> None:
        if seen is None:
            lease = LogLease(shard=shard, number=1, counter=1, positions={}, holder=self._holder)
            step = HOLD_LEASE.record_step("first lease", lease)
        else:
            lease = replace(seen, number=seen.number + 1, counter=seen.counter + 1, holder=self._holder)
            step = HOLD_LEASE.record_step("taken lease", lease, seenNumber=seen.number, seenCounter=seen.counter)
        sent_at = self._timer()
        try:
            await self._store.put(HOLD_LEASE.put(step))
        except ConditionFailedError as error:
            if error.item is None or LOG_LEASE.decode(error.item) != lease:
                return  # another process was faster; otherwise it is ours, and the first answer was lost
        self._held[shard] = _Held(lease, sent_at)
        del self._seen[shard]
        logger.info("this process follows part %s of the log", shard)

    async def _renew(self, held: LogLease, lease: LogLease) -> None:
        step = HOLD_LEASE.record_step("held lease", lease, number=held.number, holder=self._holder)
        sent_at = self._timer()
        try:
            await self._store.put(HOLD_LEASE.put(step))
        except ConditionFailedError:
            del self._held[held.shard]
            logger.warning("another process has taken over part %s of the log", held.shard)
        else:
            self._held[held.shard] = _Held(lease, sent_at)
