"""Figures as they are stored, what a count of the table gives, and the log told to their follower at once."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from domain.times import EARLIEST, Instant, shift
from loaders import keys
from loaders.backend import Backend
from loaders.codecs import LogLease
from loaders.contracts.following import HOLD_LEASE, LOG_LEASES, LOG_TAIL
from loaders.following.figures import FiguresFollower
from loaders.following.followers import Fence
from loaders.log import activities_of

Counts = dict[str, dict[str, int]]
"""Figures by the partition of the location or owner."""


def lease(shard: int, position: Instant) -> LogLease:
    return LogLease(shard=shard, number=1, counter=1, positions={"figures": position}, holder="test")


async def follow(backend: Backend) -> None:
    """Tells the follower of figures what it was not told before, as if all of it were older than the horizon."""
    for shard in range(keys.LOG_SHARDS):
        found = await LOG_LEASES.read(backend.store, shard, consistent=True)
        if found is None:
            await backend.store.put(HOLD_LEASE.put(HOLD_LEASE.record_step("first lease", lease(shard, EARLIEST))))
        since = EARLIEST if found is None else shift(found.positions["figures"], timedelta(milliseconds=1))
        entries, is_all = await LOG_TAIL.read(backend.store, shard, since, consistent=True)
        assert is_all
        told = [activity for _, entry in entries for activity in activities_of(entry)]  # type: ignore[arg-type]
        if told:
            until = told[-1].occurred_at
            await FiguresFollower(backend).apply(shard, told, until, Fence(shard, 1))
            step = HOLD_LEASE.record_step("held lease", lease(shard, until), number=1, holder="test")
            await backend.store.put(HOLD_LEASE.put(step))


def stored(items: Iterable[Mapping[str, Any]]) -> Counts:
    """The figures that the table has, those of an owner added."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for item in items:
        if item["entityType"] in {"LOCATION_FIGURES", "OWNER_FIGURES"}:
            place = item["SK"] if item["PK"] == "FIGURES" else item["PK"]
            found[place].update(item["counts"])
    return _without_zeros(found)


def counted(items: Iterable[Mapping[str, Any]]) -> Counts:
    """The figures that lockers and reservations give."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for item in items:
        location, owner = f"LOCATION#{item.get('locationId')}", f"OWNER#{item.get('ownerId')}"
        figures = []
        if item["entityType"] == "LOCKER":
            figures.append(f"{item['status']}.{item['size']}")
            figures += ["overdue"] if "overdueSince" in item else []
        elif item["entityType"] == "RESERVATION" and item["status"] == "ACTIVE" and "endedAs" not in item:
            figures.append("reservations")
        for figure in figures:
            found[owner][figure] += 1
            if "locationId" in item:
                found[location][figure] += 1
    return _without_zeros(found)


def of_owner(items: Mapping[Any, Mapping[str, Any]], owner_id: str) -> dict[str, Any]:
    """The only item of figures that an owner has."""
    (found,) = [
        item for item in items.values() if item["entityType"] == "OWNER_FIGURES" and item["ownerId"] == owner_id
    ]
    return dict(found)


def _without_zeros(found: Mapping[str, Mapping[str, int]]) -> Counts:
    kept = {place: {name: int(number) for name, number in own.items() if number} for place, own in found.items()}
    return {place: own for place, own in sorted(kept.items()) if own}
