"""Catching up with a place since a cursor: its history as far as that was kept, and the log from there on."""

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import NamedTuple

from domain.activity import Activity, PastActivity, history_places, past_activity
from domain.errors import ResyncRequiredError
from domain.times import EARLIEST, LATEST, Instant, shift
from loaders import keys
from loaders.backend import Backend
from loaders.codecs import ACTIVITY, LogEntry, LogLease
from loaders.concurrency import together
from loaders.contracts.activity import MISSED_ACTIVITY, WHOLE_LOG
from loaders.contracts.following import LOG_LEASES, LOG_TAIL
from loaders.conversion import DamagedItemError
from loaders.cursors import encode_cursor
from loaders.following.tail import TICK, activities_in
from loaders.log import HORIZON
from loaders.table.client import Store
from loaders.table.positions import Position

LEASES = [(shard,) for shard in range(keys.LOG_SHARDS)]
"""The keys of the leases of all parts of the log."""
_HISTORY = "history"
"""The name of the follower that keeps history."""
_MARGIN = timedelta(minutes=1)
"""Of the time for which something is kept: nothing expires while it is read."""


class Missed(NamedTuple):
    """Activities of a place, and up to when these and those before them are all."""

    until: Instant
    activities: list[PastActivity]


def cursor_at(place: str, at: Instant) -> str:
    return encode_cursor(keys.activities(place, at).beginning)


async def missed(backend: Backend, place: str, after: Position) -> AsyncIterator[Missed]:
    """Everything after a cursor, oldest first; what was written within the horizon before now may be told again.

    Raises a ResyncRequiredError, with a cursor to go on from, if some of it is not kept any more.
    """
    store, now = backend.store, backend.stamp().at
    settled = shift(now, -HORIZON)
    if keys.activity_time_of(after) > settled:
        after = keys.activities(place, settled).beginning
    start = keys.activity_time_of(after)
    kept = EARLIEST if place == WHOLE_LOG else kept_until(await LOG_LEASES.read_many(store, LEASES, consistent=True))
    history_starts = shift(now, _MARGIN - backend.retention.history)
    log_starts = shift(now, _MARGIN - backend.retention.log)
    if max(start, kept) < log_starts or (start < kept and start < history_starts):
        raise ResyncRequiredError(cursor_at(place, settled))
    position = after if start < kept else None
    while position is not None:
        found, is_all = await MISSED_ACTIVITY.read(store, place, start, kept, consistent=True, after=position)
        position = None if is_all else found[-1][0]
        yield Missed(kept, [row for _, row in found if not isinstance(row, DamagedItemError)])
    async for until, activities in _logged(store, shift(kept, TICK) if start < kept else start):
        own = [one for one in activities if place == WHOLE_LOG or place in history_places(one.happening)]
        rows = [past_activity(one, place, 0) for one in own]
        yield Missed(min(until, settled), [row for row in rows if ACTIVITY.key_of(row) > after])


def kept_until(leases: Sequence[LogLease | Exception | None]) -> Instant:
    """Up to when everything that was logged is in history, given the leases of all parts of the log."""
    for lease in leases:
        if isinstance(lease, Exception):
            raise lease
    return min(lease.positions.get(_HISTORY, EARLIEST) if isinstance(lease, LogLease) else EARLIEST for lease in leases)


async def _logged(store: Store, start: Instant) -> AsyncIterator[tuple[Instant, list[Activity]]]:
    """The log since a time, in order: lists of activities, each with the time up to which there are no others."""
    after: dict[int, Position | None] = dict.fromkeys(range(keys.LOG_SHARDS))
    waiting: dict[tuple[str, int], LogEntry | DamagedItemError] = {}
    until = EARLIEST
    while after:
        # Only the parts that are furthest behind: what was read of the others waits.
        behind = [shard for shard, last in after.items() if last is None or keys.log_stamp_of(last.sk) == until]
        reads = (LOG_TAIL.read(store, shard, start, consistent=True, after=after[shard]) for shard in behind)
        for shard, (found, is_all) in zip(behind, await together(reads), strict=True):
            waiting |= {(place.sk, shard): entry for place, entry in found}
            if is_all:
                del after[shard]
            else:
                after[shard] = found[-1][0]
        until = min((keys.log_stamp_of(last.sk) for last in after.values() if last is not None), default=LATEST)
        ready = [key for key in sorted(waiting) if keys.log_stamp_of(key[0]) < until]
        told = {one.activity_id: one for one in activities_in(waiting.pop(key) for key in ready)}
        yield shift(until, -TICK) if after else LATEST, [*told.values()]
