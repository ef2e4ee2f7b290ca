"""Keeps the history of lockers, locations and owners: a copy of each activity under every object that it concerns."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from domain.activity import Activity, PastActivity, actor_place, history_places, past_activity
from domain.times import Instant, shift, to_seconds
from loaders.concurrency import together
from loaders.contracts.activity import KEEP_HISTORY
from loaders.following.followers import Fence
from loaders.table.client import Store

_WRITES_AT_ONCE = 32


def copies_of(activity: Activity, retention: timedelta) -> list[PastActivity]:
    """The same ones whenever they are made: each expires so long after the activity, not after it was copied."""
    expires_at = to_seconds(shift(activity.occurred_at, retention))
    places = history_places(activity.happening) + actor_place(activity)
    return [past_activity(activity, place, expires_at) for place in places]


@dataclass(frozen=True, slots=True)
class HistoryFollower:
    """Follows the log at once: a copy that is made again has the same key and content."""

    store: Store
    retention: timedelta
    name: str = "history"
    is_ordered: bool = False

    async def apply(self, shard: int, activities: Sequence[Activity], until: Instant, fence: Fence) -> None:  # noqa: ARG002  # see Follower
        copies = [copy for activity in activities for copy in copies_of(activity, self.retention)]
        permits = asyncio.Semaphore(_WRITES_AT_ONCE)
        await together(map(self._keep, copies), permits)

    async def _keep(self, copy: PastActivity) -> None:
        await self.store.put(KEEP_HISTORY.put(KEEP_HISTORY.record_step("copy", copy)))
