"""Leases of the parts of the log: one process at a time holds one, and who lost it can write nothing under it."""

import asyncio

import pytest

from loaders.backend import Backend
from loaders.codecs import LogLease
from loaders.contracts.following import LOG_LEASES
from loaders.following.leases import Leases, unfollowed
from tests.conftest import NOW
from tests.following import at
from tests.wire import Lose, Meeting, Wire, once

POSITIONS = {0: {"told": NOW}}


class Timer:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def timer() -> Timer:
    return Timer()


class Processes:
    """Processes that may hold the lease of one part."""

    def __init__(self, backend: Backend, timer: Timer) -> None:
        self._backend = backend
        self._timer = timer
        self.one, self.other = (Leases(backend.store, name, [0], timer) for name in ("one", "other"))

    async def stored(self) -> LogLease:
        found = await LOG_LEASES.read(self._backend.store, 0, consistent=True)
        assert found is not None
        return found

    async def pass_time(self, seconds: int, *renewing: Leases) -> None:
        """Second by second: some renew their leases, and the other looks for one to take."""
        for _ in range(seconds):
            self._timer.now += 1
            for leases in renewing:
                await leases.renew(POSITIONS)
            await self.other.take()


@pytest.fixture
def processes(backend: Backend, timer: Timer) -> Processes:
    return Processes(backend, timer)


async def test_a_lease_that_is_renewed_is_never_taken(processes: Processes) -> None:
    await processes.one.take()
    await processes.pass_time(60, processes.one)
    assert (list(processes.one.held), processes.other.held) == ([0], {})
    lease = await processes.stored()
    assert (lease.holder, lease.number, lease.counter, lease.positions) == ("one", 1, 21, {"told": NOW})


async def test_a_lease_that_has_not_changed_for_ten_seconds_is_taken_with_its_positions(
    processes: Processes, timer: Timer
) -> None:
    await processes.one.take()
    await processes.pass_time(4, processes.one)
    killed_at = timer.now
    while not processes.other.held:
        await processes.pass_time(1)
    assert timer.now - killed_at <= 12
    lease = await processes.stored()
    assert (lease.holder, lease.number, lease.positions) == ("other", 2, {"told": NOW})


async def test_who_lost_a_lease_can_write_nothing_under_it(processes: Processes) -> None:
    await processes.one.take()
    await processes.pass_time(12)
    taken = await processes.stored()
    assert processes.one.held == {}  # for long, whatever the table says
    await processes.one.renew({0: {"told": at(NOW, 1)}})
    await processes.one.give_back({0: {"told": at(NOW, 1)}})
    assert await processes.stored() == taken
    assert processes.one.held == {}
    assert list(processes.other.held) == [0]


async def test_a_lease_that_is_given_back_is_taken_at_once(processes: Processes) -> None:
    await processes.one.take()
    await processes.pass_time(1)
    await processes.one.give_back({0: {"told": at(NOW, 5)}})
    assert processes.one.held == {}
    await processes.pass_time(1)
    assert list(processes.other.held) == [0]
    lease = await processes.stored()
    assert (lease.holder, lease.number, lease.positions) == ("other", 2, {"told": at(NOW, 5)})


async def test_who_cannot_renew_for_eight_seconds_does_not_work_until_it_has(
    processes: Processes, timer: Timer
) -> None:
    await processes.one.take()
    timer.now += 8
    assert processes.one.held == {}
    await processes.one.renew(POSITIONS)
    assert list(processes.one.held) == [0]


@pytest.mark.parametrize("is_first", [True, False])
async def test_of_two_processes_that_take_a_lease_at_once_one_gets_it(
    processes: Processes, wire: Wire, *, is_first: bool
) -> None:
    if not is_first:
        await processes.one.take()
        await processes.one.give_back(POSITIONS)
    wire.fault = Meeting(2, "PutItem")
    await asyncio.gather(processes.one.take(), processes.other.take())
    assert len(processes.one.held) + len(processes.other.held) == 1
    assert (await processes.stored()).holder == ("one" if processes.one.held else "other")


@pytest.mark.parametrize("is_first", [True, False])
async def test_a_lost_answer_leaves_the_lease_with_who_took_it(
    processes: Processes, wire: Wire, *, is_first: bool
) -> None:
    if not is_first:
        await processes.one.take()
        await processes.one.give_back(POSITIONS)
    wire.fault = once(Lose(), "PutItem")
    await processes.one.take()
    assert list(processes.one.held) == [0]
    wire.fault = once(Lose(), "PutItem")
    await processes.pass_time(3, processes.one)
    assert list(processes.one.held) == [0]


@pytest.mark.parametrize(("seconds", "followed"), [(0, []), (60, [0])])
async def test_the_doctor_sees_which_parts_nobody_follows(
    backend: Backend, processes: Processes, timer: Timer, seconds: int, followed: list[int]
) -> None:
    await processes.one.take()

    async def wait(_: float) -> None:
        timer.now += seconds
        await processes.one.renew(POSITIONS)

    assert await unfollowed(backend.store, wait) == [shard for shard in range(4) if shard not in followed]
