"""The log has no gaps: whatever is committed is told to every reader, however late it becomes visible.

`make log` runs it with 20,000 changes.
"""

import os
from collections import Counter
from datetime import timedelta
from random import Random

from loaders.codecs import LOG_ENTRY
from loaders.log import HORIZON, activities_of
from tests.conftest import Dump
from tests.races.log_world import SHARDS, Reader, World, Writers, play
from tests.wire import Wire

CHANGES = int(os.environ.get("LOG_CHANGES", "400"))


async def played(wire: Wire, table: str, changes: int, horizon: timedelta) -> tuple[World, Writers, list[Reader]]:
    """The servers write for five minutes or longer, by their own time."""
    world = World(wire, table, Random(2), max(300 / changes, 0.1))
    return world, *await play(world, changes, horizon)


async def committed(dump: Dump) -> dict[int, list[str]]:
    """The ids of all activities in the log, by part, in order: read by the test itself."""
    items = sorted((await dump()).items())
    return {
        shard: [
            activity.activity_id
            for (partition, _), item in items
            if partition == f"LOG#{shard}"
            for activity in activities_of(LOG_ENTRY.decode(item))
        ]
        for shard in SHARDS
    }


async def test_every_change_is_told_to_both_readers(wire: Wire, table: str, dump: Dump) -> None:
    world, writers, readers = await played(wire, table, CHANGES, HORIZON)
    logged = await committed(dump)
    ids = [name for names in logged.values() for name in names]
    print(f"{len(ids)} changes: {world.figures}")  # noqa: T201  # of a long run
    assert len(ids) == len(set(ids)) >= CHANGES
    owners = {item["PK"] for item in (await dump()).values() if item["entityType"] == "OWNER"}
    assert {f"OWNER#{owner_id}" for owner_id in writers.created} <= owners
    for reader in readers:
        assert set(ids) - reader.seen.keys() == set()
        assert reader.ordered == logged
    assert world.figures.keys() >= {
        "transactions delayed",
        "answers lost",
        "transactions sent twice",
        "conflicts",
        "writers stopped for 60 s",
        "servers killed",
        "readers reconnected",
    }


async def test_without_a_horizon_changes_are_missing(wire: Wire, table: str, dump: Dump) -> None:
    _, _, readers = await played(wire, table, 150, timedelta(0))
    logged = await committed(dump)
    ids = Counter(name for names in logged.values() for name in names)
    for reader in readers:
        assert ids.keys() - reader.seen.keys()
        assert reader.ordered != logged
