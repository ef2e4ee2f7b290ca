"""`smartlocker` with a follower that counts the log in the table, exactly once whatever dies."""

import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from domain.activity import Activity
from domain.times import EARLIEST, Instant
from loaders.backend import Backend
from loaders.contracts.write_parts import IS_NEW, ItemRead, put
from loaders.contracts.writing import WriteContract
from loaders.conversion import Codec
from loaders.following.followers import Fence
from loaders.following.leases import LeaseTimes
from loaders.following.registry import FollowingParts
from loaders.table.positions import Key
from server.cli.main import Injected, main

SECONDS = "FOLLOWING_SECONDS"
"""The variable with the seconds after which a lease is renewed, not used and taken, and those of the horizon."""


def count_key(shard: int) -> Key:
    return Key(f"COUNT#{shard}", "META")


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    shard: int
    position: Instant = EARLIEST
    activities: int = 0
    digest: int = 0
    fence: int = 0

    def with_all(self, ids: Sequence[str], position: Instant, fence: int) -> "Count":
        return Count(
            shard=self.shard,
            position=position,
            activities=self.activities + len(ids),
            digest=(self.digest + sum(zlib.crc32(name.encode()) for name in ids)) % 2**31,
            fence=fence,
        )


COUNT = Codec(Count, "COUNT", count_key, largest=300, usual=200)
COUNT_ACTIVITIES = WriteContract(
    id="QC-139",
    purpose="Count activities in a test",
    operation="PutItem",
    reads=(ItemRead("count", COUNT),),
    steps=(
        put("first count", COUNT, IS_NEW),
        put("count", COUNT, "#position = :readPosition AND #fence <= :fence"),
    ),
    most_steps=1,
    silent="It is a test's.",
    cardinality="One item for each part of the log.",
    hot_partition="None.",
)


class Counting:
    """Counts each activity once: the item says what it includes, and one that is late finds it changed."""

    name = "counting"
    is_ordered = True

    def __init__(self, backend: Backend) -> None:
        self._store = backend.store

    async def apply(self, shard: int, activities: Sequence[Activity], until: Instant, fence: Fence) -> None:
        found: Count | None = await COUNT_ACTIVITIES.read(self._store, "count", shard)
        known = found or Count(shard=shard)
        if until <= known.position:
            return
        new = [activity.activity_id for activity in activities if activity.occurred_at > known.position]
        counted = known.with_all(new, until, fence.number)
        if found is None:
            step = COUNT_ACTIVITIES.record_step("first count", counted)
        else:
            step = COUNT_ACTIVITIES.record_step("count", counted, readPosition=known.position, fence=fence.number)
        await self._store.put(COUNT_ACTIVITIES.put(step))


if __name__ == "__main__":
    renewed, held, taken, horizon = map(float, os.environ.pop(SECONDS).split())
    main(
        Injected(
            following=FollowingParts(
                followers=lambda backend: [Counting(backend)],
                sweepers=lambda _: [],
                times=LeaseTimes(renewed, held, taken),
                horizon=timedelta(seconds=horizon),
            )
        )
    )
