"""Servers that write, readers that follow the log, and a time that passes with what they do.

No clock of the machine is read: the time is the store's, and it goes on with every transaction that is sent, but never
while a request has been under way for longer than `_ON_THE_WAY`. So a busy machine changes nothing.
"""

import asyncio
import heapq
import math
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import count
from random import Random
from typing import Any

from domain.activity import Activity
from domain.authorization import DEVELOPMENT_ADMIN
from domain.commands.lockers import RegisterLocker, RenameLocker
from domain.commands.owners import CreateOwner
from domain.errors import SmartLockerError
from domain.models import LockerId, OwnerId, OwnerKind
from domain.times import EARLIEST, Instant
from loaders import keys
from loaders.backend import Backend
from loaders.contracts.lockers import LOCKER_BY_ID
from loaders.following.followers import Fence
from loaders.following.tail import LogTail
from loaders.table.client import DynamoStore, StoreConnection, open_transport
from loaders.table.clock import StoreClock
from loaders.table.errors import TransactionRefusedError
from loaders.table.health import StoreHealth, WatchedTransport
from loaders.table.operations import Transact
from loaders.table.transport import Answer, Transport
from loaders.writes.lockers import register_locker, rename_locker
from loaders.writes.owners import create_owner
from server.new_ids import new_id
from tests.conftest import PATIENT
from tests.torture.faults import noise
from tests.wire import Answer as WireAnswer
from tests.wire import Call, Lose, Twice, Until, Wire

SHARDS = range(keys.LOG_SHARDS)
LOCKERS = [LockerId(f"locker-{number}") for number in range(50)]
OWNER = OwnerId("ada")
_ON_THE_WAY = 1.5
"""For how many seconds a request is under way at most, unless it is delayed."""
_LONGEST_DELAY = 8.0
_STOPPED = 60.0
_STOPPED_ONCE_IN = 75
_WRITERS = 4


@dataclass(eq=False)
class World:
    """The time, what waits for it, and what keeps it from passing."""

    wire: Wire
    table: str
    chance: Random
    seconds_each: float
    """How much time passes with each transaction."""
    now: float = 1_772_366_400.5
    owed: float = 0.0
    on_the_way: dict[str, float] = field(default_factory=dict)
    """When each request was sent, by its token."""
    figures: dict[str, int] = field(default_factory=dict)
    transactions: Iterator[int] = field(default_factory=lambda: count(1))
    _sleeping: list[tuple[float, int, asyncio.Event]] = field(default_factory=list)
    _numbers: Any = field(default_factory=count)

    def count(self, name: str) -> None:
        self.figures[name] = self.figures.get(name, 0) + 1

    async def sleep(self, seconds: float) -> None:
        await self.after(seconds).wait()

    def after(self, seconds: float) -> asyncio.Event:
        event = asyncio.Event()
        heapq.heappush(self._sleeping, (self.now + seconds, next(self._numbers), event))
        return event

    async def run(self) -> None:
        """Lets time pass: as much as transactions take and, if nothing else happens, up to the next who waits."""
        idle = 0
        while True:
            await asyncio.sleep(0.001 if idle < 3 else 0)
            latest = min(self.on_the_way.values(), default=math.inf) + _ON_THE_WAY
            idle = 0 if self.on_the_way else idle + 1
            wanted = self.owed
            if idle >= 3 and self._sleeping:
                wanted = max(wanted, self._sleeping[0][0] - self.now)
            self.now = max(self.now, min(self.now + min(wanted, 1.0), latest))
            self.owed = max(0.0, self.owed - 1.0) if wanted else 0.0
            while self._sleeping and self._sleeping[0][0] <= self.now:
                heapq.heappop(self._sleeping)[2].set()

    def fault(self, call: Call) -> WireAnswer | Lose | Twice | Until | None:
        """Delays, repeats, refuses or loses a transaction between its server and the store."""
        if call.operation != "TransactWriteItems":
            return None
        if self.chance.random() < 0.1:
            self.count("transactions delayed")
            token, event = call.request["ClientRequestToken"], self.after(self.chance.uniform(0.1, _LONGEST_DELAY))
            self.on_the_way.pop(token, None)
            return Until(event)
        fault = noise(self.chance)(call)
        if fault is not None:
            self.count({Lose: "answers lost", Twice: "transactions sent twice"}.get(type(fault), "conflicts"))
        return fault


class _Paced:
    """A transport that says what is on its way, so that time waits for it."""

    def __init__(self, world: World, transport: Transport) -> None:
        self._world = world
        self._transport = transport

    async def send(self, operation: str, request: dict[str, Any], shape: Any = None) -> Answer:
        world = self._world
        token = request.get("ClientRequestToken") or new_id()
        world.on_the_way[token] = world.now
        world.owed += world.seconds_each if operation == "TransactWriteItems" else 0
        try:
            return await self._transport.send(operation, request, shape)
        finally:
            world.on_the_way.pop(token, None)


class _Stopping(DynamoStore):
    """A store whose server is now and then stopped between the stamp of a transaction and its sending."""

    def __init__(self, world: World, transport: Transport) -> None:
        super().__init__(transport, world.table)
        self._world = world

    async def transact(self, operation: Transact) -> None:
        if next(self._world.transactions) % _STOPPED_ONCE_IN == 0:
            self._world.count("writers stopped for 60 s")
            await self._world.sleep(_STOPPED)
        await super().transact(operation)


@asynccontextmanager
async def server(world: World, ahead: float) -> AsyncIterator[Backend]:
    """The data layer of a server whose machine's clock is so many seconds ahead, and whose timer began some time."""
    began = world.chance.uniform(0, 1e6)
    clock = StoreClock(lambda: world.now - began, lambda: world.now + ahead)
    connection = StoreConnection(world.table, "eu-central-1", world.wire.url, local=True, timeouts=PATIENT)
    async with open_transport(connection) as opened:
        watched = WatchedTransport(_Paced(world, opened), StoreHealth(clock=clock))
        store = _Stopping(world, watched)
        backend = Backend(store, clock, new_id, clock.stamp, timedelta(days=30))
        while not clock.is_known:
            await DynamoStore(watched, world.table).transport.send(
                "GetItem", {"TableName": world.table, "Key": keys.table_state().wire}
            )
        yield backend


class Writers:
    """Servers that write until enough changes are acknowledged; each is killed now and then, and started again."""

    def __init__(self, world: World, changes: int) -> None:
        self._world = world
        self._left = changes
        self.created: set[str] = set()
        """The owners whose creation was acknowledged."""

    async def prepare(self) -> None:
        async with server(self._world, 0) as backend:
            await _insist(
                lambda: create_owner(backend, CreateOwner(owner_id=OWNER, kind=OwnerKind.USER, name="Ada"), _ADMIN)
            )
            for locker_id in LOCKERS:
                command = RegisterLocker(locker_id=locker_id, owner_id=OWNER)
                await _insist(partial(register_locker, backend, command, _ADMIN))

    async def run(self, ahead: float) -> None:
        world = self._world
        while self._left > 0:
            async with server(world, ahead) as backend:
                works = [asyncio.create_task(self._write(backend)) for _ in range(_WRITERS)]
                killed = asyncio.create_task(world.sleep(world.chance.uniform(20, 100)))
                running = set(works)
                while running and not killed.done():
                    ended, _ = await asyncio.wait([killed, *running], return_when=asyncio.FIRST_COMPLETED)
                    running -= {*ended}
                    await asyncio.gather(*ended)  # raises what has failed
                world.count("servers killed" if killed.done() else "servers ended")
                await _end([killed, *works])

    async def _write(self, backend: Backend) -> None:
        chance = self._world.chance
        while self._left > 0:
            try:
                if chance.random() < 0.5:
                    owner_id = OwnerId(new_id())
                    await create_owner(backend, CreateOwner(owner_id=owner_id, kind=OwnerKind.USER, name="Bob"), _ADMIN)
                    self.created.add(owner_id)
                else:
                    locker = await LOCKER_BY_ID.read(backend.store, chance.choice(LOCKERS), consistent=True)
                    assert locker is not None
                    command = RenameLocker(locker_id=locker.locker_id, alias=new_id(), expected_version=locker.version)
                    await rename_locker(backend, command, _ADMIN)
            except (SmartLockerError, TransactionRefusedError) as error:
                self._world.count(f"writes refused: {type(error).__name__}")
            else:
                self._left -= 1


@dataclass(eq=False)
class Reader:
    """Follows the whole log, as history does and as figures do, and begins anew at its positions now and then."""

    world: World
    ahead: float
    horizon: timedelta
    seen: dict[str, None] = field(default_factory=dict)
    """Ids of what it was told at once."""
    ordered: dict[int, list[str]] = field(default_factory=lambda: {shard: [] for shard in SHARDS})
    """Ids of what it was told in order, by part of the log."""
    positions: dict[int, dict[str, Instant]] = field(default_factory=dict)

    async def run(self) -> None:
        while True:
            async with server(self.world, self.ahead) as backend:
                tails = [self._tail(backend, shard) for shard in SHARDS]
                for _ in range(self.world.chance.randrange(1, 40)):
                    await self.world.sleep(self.world.chance.uniform(0.5, 3))
                    for tail in tails:
                        await tail.step()
                        self.positions[tail.fence.shard] = tail.positions
                self.world.count("readers reconnected")

    def _tail(self, backend: Backend, shard: int) -> LogTail:
        followers = [_Follower("at once", self._see), _Follower("in order", self._order, is_ordered=True)]
        known = self.positions.get(shard, {})
        clock: Any = backend.clock
        return LogTail(backend, Fence(shard, 1), followers, known, clock.timer, horizon=self.horizon)

    def _see(self, _: int, activities: Sequence[Activity]) -> None:
        self.seen |= dict.fromkeys(activity.activity_id for activity in activities)

    def _order(self, shard: int, activities: Sequence[Activity]) -> None:
        self.ordered[shard] += [activity.activity_id for activity in activities]

    def has_passed(self, stamp: Instant) -> bool:
        found = [position for known in self.positions.values() for position in known.values()]
        return len(found) == 2 * len(SHARDS) and min(found, default=EARLIEST) > stamp


@dataclass(frozen=True)
class _Follower:
    name: str
    tell: Callable[[int, Sequence[Activity]], None]
    is_ordered: bool = False

    async def apply(self, shard: int, activities: Sequence[Activity], until: Instant, fence: Fence) -> None:
        del until, fence
        self.tell(shard, activities)


_ADMIN = DEVELOPMENT_ADMIN


async def _insist(write: Callable[[], Coroutine[Any, Any, Any]]) -> None:
    """Sends a write again until it is acknowledged."""
    while True:
        with suppress(SmartLockerError):
            await write()
            return


async def _end(tasks: Sequence[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def play(world: World, changes: int, horizon: timedelta) -> tuple[Writers, list[Reader]]:
    """Writers on three servers whose clocks are four minutes apart, and two readers, until all has been read."""
    world.wire.now, world.wire.fault = (lambda: world.now), world.fault
    writers = Writers(world, changes)
    readers = [Reader(world, ahead, horizon) for ahead in (-120, 120)]
    async with AsyncExitStack() as stack:
        time = asyncio.create_task(world.run())
        stack.push_async_callback(_end, [time])
        await writers.prepare()
        reading = [asyncio.create_task(reader.run()) for reader in readers]
        stack.push_async_callback(_end, reading)
        await asyncio.gather(*(writers.run(ahead) for ahead in (-120, 0, 120)))
        end = StoreClock(lambda: world.now, lambda: world.now)()
        while not all(reader.has_passed(end) for reader in readers):
            for task in reading:
                if task.done():
                    task.result()
            await world.sleep(1)
    return writers, readers
