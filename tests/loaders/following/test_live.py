"""Activities told in a process as they happen, and those missed by a client that was away: each once, without a gap."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
import pytest_asyncio

from domain.activity import Activity
from domain.authorization import DEVELOPMENT_ADMIN
from domain.commands.owners import CreateOwner
from domain.errors import ResyncRequiredError
from domain.models import OwnerId, OwnerKind
from domain.times import Instant
from loaders import keys
from loaders.backend import Backend
from loaders.contracts.following import LOG_TAIL
from loaders.cursors import decode_cursor, encode_cursor
from loaders.following.catching_up import Missed, cursor_at, missed
from loaders.following.followers import Fence
from loaders.following.history import HistoryFollower
from loaders.following.live import LiveLog
from loaders.table.clock import Stamp, machine_timer
from loaders.writes.owners import create_owner
from tests.conftest import NOW, Clock
from tests.following import at, entry, lease
from tests.history import logged
from tests.tables import PlainClient, put
from tests.wire import Answer, Call, Wire

PLACE = "owner:ada"


class World:
    """A log whose time passes if the test says so."""

    def __init__(self, backend: Backend, clock: Clock, client: PlainClient, table: str) -> None:
        self.clock = clock
        self.seconds = machine_timer()
        self.backend = replace(backend, stamp=lambda: Stamp(clock(), machine_timer()))
        self.log = LiveLog(lambda: self.backend, self._tell, lambda: self.seconds)
        self.backend = replace(self.backend, listener=self.log)
        self.told: list[str] = []
        self._client = client
        self._table = table
        self._has_told = asyncio.Event()

    async def write(self, *named: tuple[float, str], shards: Sequence[int] = (0,)) -> None:
        """Logs entries, with stamps in seconds from now."""
        entries = [entry(at(self.clock(), stamp), name, shard) for stamp, name in named for shard in shards]
        await put(self._client, self._table, *entries)

    async def follow(self, *positions: float) -> None:
        """Stores how far history was kept of each part, in seconds from now, and keeps it so far."""
        follower = HistoryFollower(self.backend.store, timedelta(days=400))
        for shard, position in enumerate(positions):
            until = at(self.clock(), position)
            kept = [one for one in await logged(self.backend.store, shard) if one.occurred_at <= until]
            if kept:
                await follower.apply(shard, kept, until, Fence(shard, 1))
            await put(self._client, self._table, lease(shard, history=until))

    def pass_time(self, seconds: float) -> None:
        self.seconds += seconds
        self.clock.move(seconds=seconds)

    async def until(self, *told: str) -> None:
        """Waits until these were told, in whatever order; time passes if it takes long."""
        async with asyncio.timeout(60):
            while sorted(self.told) != sorted(f"{name}-0" for name in told):
                self._has_told.clear()
                try:
                    await asyncio.wait_for(self._has_told.wait(), 1)
                except TimeoutError:
                    self.pass_time(1)

    async def missed(self, after: str | Instant) -> list[Missed]:
        cursor = after if after.startswith("ey") else cursor_at(PLACE, Instant(after))
        position = decode_cursor(cursor, keys.activities(PLACE), "after")
        return [part async for part in missed(self.backend, PLACE, position)]

    async def missed_ids(self, after: str | Instant) -> list[str]:
        return [row.activity_id.removesuffix("-0") for part in await self.missed(after) for row in part.activities]

    def _tell(self, activities: Sequence[Activity]) -> None:
        self.told += [activity.activity_id for activity in activities]
        self._has_told.set()


@pytest_asyncio.fixture
async def world(backend: Backend, clock: Clock, plain_client: PlainClient, table: str) -> AsyncIterator[World]:
    made = World(backend, clock, plain_client, table)
    yield made
    await made.log.close()


async def test_what_becomes_visible_is_told_once_however_late_and_in_however_many_parts(world: World) -> None:
    await world.write((-20, "before"))
    await world.log.join()
    await world.write((-0.1, "first"), shards=(0, 2))
    await world.until("first")
    world.pass_time(6)
    await world.write((-15, "late"), (-1, "second"))
    await world.until("first", "late", "second")
    for name in ("more", "even more"):
        world.pass_time(20)
        position = world.log.position
        told = [one.removesuffix("-0") for one in world.told]
        await world.write((0, name))
        await world.until(*told, name)
        assert position <= at(world.clock(), -30)
    async with asyncio.timeout(60):
        while world.log.position <= NOW:
            await asyncio.sleep(0.1)
            world.pass_time(1)


async def test_what_this_process_writes_is_told_at_once_and_not_again(world: World, wire: Wire) -> None:
    await world.log.join()
    await world.write((0, "other"))
    await world.until("other")
    wire.fault = lambda call: Answer.error("InternalServerError") if call.operation == "Query" else None
    command = CreateOwner(owner_id=OwnerId("bob"), kind=OwnerKind.USER, name="Bob")
    await create_owner(world.backend, command, DEVELOPMENT_ADMIN)
    assert len(world.told) == 2
    wire.reset()
    world.pass_time(6)
    await world.write((0, "last"), shards=range(4))
    own = world.told[-1].removesuffix("-0")
    await world.until("other", own, "last")


@pytest.mark.parametrize("is_kept", [True, False], ids=["followed", "never followed"])
async def test_everything_since_a_cursor_is_found_in_history_and_in_the_log(world: World, is_kept: bool) -> None:  # noqa: FBT001
    stamps = [-7200, -3600.001, -3600, -3599.999, -3599, -600, -599.999, -30.001, -30, -29.999, -1, 0]
    for number, stamp in enumerate(stamps):
        await world.write((stamp, f"e{number:02}"), shards=(number % 4, 3) if number % 5 == 0 else (number % 4,))
    names = [f"e{number:02}" for number in range(len(stamps))]
    if is_kept:
        await world.follow(-3600, -600, -599.999, -40)
    for number, stamp in enumerate(stamps):
        found = await world.missed_ids(at(world.clock(), stamp))
        assert found == names[min(number, 8) :], stamp
    parts = await world.missed(at(world.clock(), -7200))
    assert parts[-1].until == at(world.clock(), -30)
    first = parts[0].activities[0]
    assert first.activity_id == "e00-0"


async def test_a_cursor_of_an_activity_is_not_told_that_activity_again(world: World) -> None:
    await world.write((-50, "a"), (-50, "b"), (-50, "c"), (-49, "d"))
    await world.follow(-45, -45, -45, -45)
    cursor = encode_cursor(keys.activity(PLACE, at(world.clock(), -50), "b-0"))
    assert await world.missed_ids(cursor) == ["c", "d"]


async def test_what_is_not_kept_any_more_requires_a_resync_with_a_cursor_that_goes_on(world: World) -> None:
    day = 86400.0
    await world.write((-31 * day, "expired"), (-29 * day, "old"), (-10, "new"))
    for too_old in (at(world.clock(), -30 * day), at(world.clock(), -31 * day)):
        with pytest.raises(ResyncRequiredError) as raised:
            await world.missed(too_old)
        assert await world.missed_ids(raised.value.cursor) == ["new"]
    assert await world.missed_ids(at(world.clock(), -30 * day + 120)) == ["old", "new"]
    await world.follow(-20, -20, -20, -20)
    assert await world.missed_ids(at(world.clock(), -31 * day)) == ["expired", "old", "new"]
    with pytest.raises(ResyncRequiredError):
        await world.missed(at(world.clock(), -400 * day))


async def test_much_of_one_part_of_the_log_is_read_in_order_with_little_of_the_others(world: World, wire: Wire) -> None:
    many, few = LOG_TAIL.most + 1, 3
    await world.write(*((-900 + number / 10, f"a{number:04}") for number in range(many)))
    await world.write(*((-800 + 300 * number, f"b{number}") for number in range(few)), shards=(1, 2))
    wire.reset()
    found = await world.missed_ids(at(world.clock(), -1000))
    assert len(found) == many + few
    assert found.index("b0") == 1001
    assert sorted(name for name in found if name[0] == "a") == [name for name in found if name[0] == "a"]
    assert sum(1 for call in wire.of("Query") if _part(call) == "LOG#1") == 1


def _part(call: Call) -> str:
    return str(call.request["ExpressionAttributeValues"][":pk"]["S"])
