"""Followers of tests, and entries of the log that they are told."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from domain.activity import Activity, ActivityKind, Happening
from domain.models import OwnerId
from domain.times import Instant, shift
from loaders.codecs import LOG_ENTRY, LOG_LEASE, LogEntry, LogLease
from loaders.following.followers import Fence
from loaders.log import encode_happenings
from tests.tables import PlainClient, put


@dataclass(eq=False)
class Told:
    """A follower that remembers what it was told, call by call; it fails as long as the test says so."""

    name: str = "told"
    is_ordered: bool = False
    fails: bool = False
    most: int = 10_000
    """How many activities it can do at once."""
    calls: list[tuple[list[str], Instant]] = field(default_factory=list)

    async def apply(self, shard: int, activities: Sequence[Activity], until: Instant, fence: Fence) -> None:
        assert shard == fence.shard
        if self.fails or len(activities) > self.most:
            raise RuntimeError
        self.calls.append(([activity.activity_id for activity in activities], until))

    @property
    def ids(self) -> list[str]:
        return [name for names, _ in self.calls for name in names]


def at(now: Instant, seconds: float) -> Instant:
    return shift(now, timedelta(seconds=seconds))


CREATED = Happening(kind=ActivityKind.OWNER_CREATED, owner_id=OwnerId("ada"), version=1)


def entry(stamp: Instant, name: str, shard: int = 0, *happenings: Happening) -> dict[str, Any]:
    """An item of the log as it is stored; without happenings, one tells that an owner was created."""
    one = LogEntry(
        shard=shard,
        stamp=stamp,
        entry_id=name,
        happenings=encode_happenings([*enumerate(happenings or [CREATED])]),
        expires_at=1,
    )
    key = LOG_ENTRY.key_of(one)
    return {"PK": key.pk, "SK": key.sk, **LOG_ENTRY.encode(one)}


def lease(shard: int, **positions: Instant) -> dict[str, Any]:
    """The lease of a part of the log that nobody holds, with the positions of followers."""
    one = LogLease(shard=shard, number=1, counter=1, positions=positions, holder=None)
    key = LOG_LEASE.key_of(one)
    return {"PK": key.pk, "SK": key.sk, **LOG_LEASE.encode(one)}


async def log(client: PlainClient, table: str, *entries: dict[str, Any]) -> None:
    await put(client, table, *entries)
