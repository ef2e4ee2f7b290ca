"""Writers that change lockers and reservations at random, and followers that are killed while they count."""

import asyncio
import random
from collections.abc import Callable, Mapping
from datetime import timedelta
from itertools import count
from typing import Any

from domain.commands import lockers as locker_commands
from domain.commands import reservations as reservation_commands
from domain.commands.events import RecordAccessEvent
from domain.errors import SmartLockerError
from domain.models import (
    AccessAction,
    AccessResult,
    LocationId,
    LockerId,
    LockerSize,
    LockerStatus,
    OwnerId,
    ReservableBy,
)
from domain.times import EARLIEST, Instant, shift
from loaders import keys
from loaders.backend import Backend
from loaders.contracts.lockers import LOCKER_BY_ID
from loaders.following.figures import FiguresFollower
from loaders.following.followers import Fence
from loaders.following.tail import LogTail
from loaders.table.operations import Put
from loaders.writes import events, lockers, reservations
from loaders.writes.moments import end_due_reservations
from tests import places, principals
from tests.conftest import Clock

OWNERS = tuple(map(OwnerId, ("ada", "bob", "cid")))
PLACES = (*(LocationId(places.ulid(number)) for number in range(3)), None)
_ROOT = principals.admin("root")
_AT_ONCE = 12


class Writers:
    """Change a few lockers at random, and let time pass; what is refused does not count."""

    def __init__(self, backend: Backend, clock: Clock, lockers: int, seed: int = 1) -> None:
        self._backend = backend
        self._clock = clock
        self._left = 0
        self._chance = random.Random(seed)
        self._lockers = [LockerId(f"l{number}") for number in range(lockers)]
        self._made = [("l0", "none")]

    async def register(self) -> None:
        for locker_id in self._lockers:
            owner, place = self._chance.choice(OWNERS), self._chance.choice(PLACES)
            command = locker_commands.RegisterLocker(
                locker_id=locker_id, owner_id=owner, location_id=place, reservable_by=ReservableBy.EVERYONE
            )
            await lockers.register_locker(self._backend, command, _ROOT)

    async def run(self, changes: int) -> None:
        """So many changes, several at once."""
        self._left = changes
        await asyncio.gather(*(self._write() for _ in range(_AT_ONCE)))

    async def _write(self) -> None:
        while self._left > 0:
            self._left -= 1
            try:
                await self._change(self._chance.choice(self._lockers))
            except SmartLockerError:
                self._left += 1

    async def _change(self, locker_id: LockerId) -> None:  # noqa: C901  # one of many changes
        chance, backend = self._chance, self._backend
        locker = await LOCKER_BY_ID.read(backend.store, locker_id, consistent=True)
        assert locker is not None
        own: dict[str, Any] = {"locker_id": locker_id, "expected_version": locker.version}
        reserved: dict[str, Any] = dict(zip(("locker_id", "reservation_id"), chance.choice(self._made), strict=True))
        match chance.randrange(13):
            case 0:
                command = locker_commands.MoveLocker(**own, new_location_id=chance.choice(PLACES))
                await lockers.move_locker(backend, command, _ROOT)
            case 1:
                transfer = locker_commands.TransferLocker(**own, new_owner_id=chance.choice(OWNERS))
                await lockers.transfer_locker(backend, transfer, _ROOT)
            case 2:
                configured = locker_commands.ConfigureLocker(**own, size=chance.choice(list(LockerSize)))
                await lockers.configure_locker(backend, configured, _ROOT)
            case 3 | 4:
                status = chance.choice([one for one in LockerStatus if one is not LockerStatus.RETIRED])
                changed = locker_commands.UpdateLockerStatus(**own, new_status=status)
                await lockers.update_locker_status(backend, changed, _ROOT)
            case 5 | 6 | 7:
                await self._reserve(locker_id)
            case 8:
                await reservations.cancel_reservation(
                    backend, reservation_commands.CancelReservation(**reserved), _ROOT
                )
            case 9:
                await reservations.start_reservation(backend, reservation_commands.StartReservation(**reserved), _ROOT)
            case 10:
                await reservations.release_reservation(
                    backend, reservation_commands.ReleaseReservation(**reserved), _ROOT
                )
            case 11:
                self._clock.move(minutes=chance.randrange(20))
                for shard in range(keys.LOG_SHARDS):
                    await end_due_reservations(backend, shard, self._clock.now)
            case _:
                event = RecordAccessEvent(
                    locker_id=locker_id, action=AccessAction.OPEN, actor_id="ada", result=AccessResult.SUCCESS
                )
                await events.record_access_events(backend, [event], _ROOT, [("input",)])

    async def _reserve(self, locker_id: LockerId) -> None:
        start = shift(self._backend.clock(), timedelta(minutes=20 * self._chance.randrange(20)))
        command = reservation_commands.CreateReservation(
            locker_id=locker_id,
            owner_id=self._chance.choice(OWNERS),
            start_at=start,
            end_at=shift(start, timedelta(minutes=20)),
        )
        made = await reservations.create_reservation(self._backend, command, _ROOT)
        self._made.append((made.locker_id, made.reservation_id))


class Killed(BaseException):
    """The process is gone."""


class DyingStore:
    """A store whose process is killed at a write: before it is sent, or before its answer is seen."""

    def __init__(self, backend: Backend, writes: int, *, is_sent: bool) -> None:
        self._store = backend.store
        self._left = writes
        self._is_sent = is_sent

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def put(self, operation: Put) -> None:
        self._left -= 1
        if self._left < 0:
            if self._is_sent:
                await self._store.put(operation)
            raise Killed
        await self._store.put(operation)


class StoppedStore:
    """A store whose process stands still before its first write, until the test lets it go on."""

    def __init__(self, backend: Backend) -> None:
        self._store = backend.store
        self.at_write, self.goes_on = asyncio.Event(), asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def put(self, operation: Put) -> None:
        self.at_write.set()
        await self.goes_on.wait()
        await self._store.put(operation)


class Followers:
    """Followers of figures, of which each is killed after some writes and begins again at the stored positions."""

    def __init__(self, backend: Backend, horizon: timedelta, pause: float = 0, seed: int = 1) -> None:
        self._backend = backend
        self._horizon = horizon
        self._pause = pause
        self._chance = random.Random(seed)
        self._positions: list[Mapping[str, Instant]] = [{} for _ in range(keys.LOG_SHARDS)]

    async def rivals(self, writes: int, until: Callable[[], Instant | None]) -> int:
        """Two at once, of which one only thinks that it holds the leases; returns how many were killed."""
        works = [self.run(self._chance.randrange(1, writes), until) for _ in range(2)]
        outcomes = await asyncio.gather(*works, return_exceptions=True)
        return sum(isinstance(outcome, Killed) for outcome in outcomes)

    async def run(self, writes: int, until: Callable[[], Instant | None]) -> None:
        """Follows until everything up to then is counted and that is stored, if it is not killed before."""
        store: Any = DyingStore(self._backend, writes, is_sent=self._chance.random() < 0.5)
        backend, timer = self._backend.with_store(store), count(step=100).__next__
        tails = [
            LogTail(backend, Fence(shard, 1), [FiguresFollower(backend)], own, timer, horizon=self._horizon)
            for shard, own in enumerate(self._positions)
        ]
        try:
            while (last := until()) is None or min(map(_figures, self._positions)) < last:
                for shard, tail in enumerate(tails):
                    await tail.step()
                    if self._chance.random() < 0.7:  # as a rule, positions are stored in time
                        self._positions[shard] = max(self._positions[shard], tail.positions, key=_figures)
                await asyncio.sleep(self._pause)
        except BaseExceptionGroup as group:
            raise Killed from group


def _figures(positions: Mapping[str, Instant]) -> Instant:
    return positions.get("figures", EARLIEST)
