"""The store's time, measured by the Date header of its answers."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from email.utils import formatdate
from random import Random

import pytest

from domain.errors import UnavailableError
from domain.times import Instant
from loaders.contracts.table_state import STATE_OF_TABLE
from loaders.table.client import DynamoStore
from loaders.table.clock import StoreClock
from loaders.table.health import StoreHealth, WatchedTransport

Opener = Callable[..., AbstractAsyncContextManager[DynamoStore]]

ANEW = "the store's clock was set, or this machine stood still: the time is measured anew"


class World:
    """A store and a machine whose timer counts from another moment and drifts; nothing passes but by `answer`."""

    def __init__(self, drift: float = 0.0, machine_ahead: float = 0.0) -> None:
        self.store = 1_772_366_400.4  # 2026-03-01, twelve o'clock
        self.timer = 5_000.0
        self.machine_ahead = machine_ahead
        self._rate = 1 + drift
        self.clock = StoreClock(lambda: self.timer, lambda: self.store + self.machine_ahead)

    def wait(self, seconds: float) -> None:
        self.store += seconds
        self.timer += seconds * self._rate

    def answer(self, there: float = 0.01, back: float = 0.01, *, date: str | None = None, machine: float = 0.0) -> None:
        """The store's answer after that long; its machine's clock may be a little off."""
        sent = self.timer
        self.wait(there)
        told = formatdate(int(self.store + machine), usegmt=True) if date is None else date
        self.wait(back)
        self.clock.compare(sent, told)

    @property
    def error(self) -> float:
        return self.clock.microseconds() / 1e6 - self.store


@pytest.mark.parametrize("seed", range(50))
def test_the_time_is_right_within_two_seconds_and_never_goes_back(seed: int) -> None:
    chance = Random(seed)
    world = World(chance.uniform(-0.0005, 0.0005), chance.choice([-14_400, -1, -0.3, 0, 0.3, 1, 240]))
    slowest = chance.choice([0.01, 0.3, 2.5, 8])
    latest, known = Instant(""), 0
    for _ in range(300):
        world.wait(chance.choice([0.001, 0.3, 1, 2, chance.uniform(0, 60)]))
        machine = chance.uniform(-0.2, 0.2)
        world.answer(chance.uniform(0, slowest) / 2, chance.uniform(0, slowest) / 2, machine=machine)
        if world.clock.is_known:
            known += 1
            assert abs(world.error) <= 2
            assert world.clock() >= latest
            latest = world.clock()
    assert known > 200


@pytest.mark.parametrize(("machine_ahead", "exact"), [(0, 0.001), (240, 0.2), (-240, 0.2)])
def test_the_time_becomes_more_exact_with_each_answer_and_that_of_a_machine_which_is_right_is_exact(
    machine_ahead: float, exact: float
) -> None:
    world = World(machine_ahead=machine_ahead)
    for _ in range(50):
        world.wait(1.07)
        world.answer()
    assert abs(world.error) < exact
    told = datetime.fromisoformat(world.clock()).timestamp()
    assert told == pytest.approx(world.store, abs=exact + 0.001)


def test_no_time_is_known_before_a_quick_answer_and_slow_ones_do_no_harm() -> None:
    world = World(machine_ahead=-3600)
    with pytest.raises(UnavailableError, match="until the server knows the store's time"):
        world.clock.require_known()
    world.answer(3, 3)
    assert not world.clock.is_known
    world.answer()
    assert world.clock.is_known
    exact = world.error
    world.answer(30, 30)
    assert world.clock.is_known
    assert abs(world.error - exact) < 0.2
    world.clock.require_known()


@pytest.mark.parametrize("step", [-86_400, -30, -3, 3, 86_400])
def test_a_step_of_the_stores_clock_is_believed_when_the_next_answer_confirms_it(
    step: float, caplog: pytest.LogCaptureFixture
) -> None:
    world = World()
    world.answer()
    before = world.clock.microseconds()
    world.store += step
    world.answer()
    assert not world.clock.is_known
    world.wait(0.1)
    world.answer()
    assert world.clock.is_known
    assert caplog.messages == [ANEW]
    if step == -3:
        assert world.clock.microseconds() >= before  # it stands still until the store's time has come
        world.wait(3)
    assert abs(world.error) <= 2


def test_a_store_that_renews_the_header_once_a_second_is_not_doubted(caplog: pytest.LogCaptureFixture) -> None:
    chance, world = Random(1), World(machine_ahead=240)
    renewed, latest = world.store, 0
    for _ in range(3000):
        world.wait(chance.uniform(0, 0.1))
        if world.store - renewed > 1:
            renewed = world.store
        world.answer(0.001, 0.001, machine=renewed - world.store)
        assert world.clock.is_known
        assert abs(world.error) <= 2
        assert world.clock.microseconds() >= latest
        latest = world.clock.microseconds()
    assert caplog.messages == []


def test_one_wrong_answer_is_not_believed(caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    world.answer()
    for wrong in (3600, -60):
        world.answer(machine=wrong)
        assert not world.clock.is_known
    for _ in range(2):
        world.answer()
        assert world.clock.is_known
        assert abs(world.error) <= 2
    assert caplog.messages == []


def test_steps_of_the_machines_clock_change_nothing_but_are_told(caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    world.answer()
    for ahead, seconds in ((0, 0), (-7200, -7200), (-7200, -7200), (900, 900), (0.3, 0)):
        world.machine_ahead = ahead
        world.answer()
        world.clock.check()
        assert abs(world.error) <= 1
        assert world.clock.skew_seconds == pytest.approx(seconds, abs=1)
    assert caplog.messages == [
        "this machine's clock is 7199 seconds behind the store's: the server uses the store's time",
        "this machine's clock agrees with the store's again",
    ]


@pytest.mark.parametrize("date", ["", "yesterday"])
def test_if_the_store_does_not_tell_its_time_the_machines_clock_is_used(date: str) -> None:
    world = World(machine_ahead=240)
    world.answer(date=date)
    assert world.clock.is_known
    assert world.clock.skew_seconds is None
    assert world.error == pytest.approx(240, abs=0.5)
    world.machine_ahead = -900
    for _ in range(2):
        world.answer(date=date)
    assert world.error == pytest.approx(-900, abs=0.5)
    for _ in range(2):
        world.answer()
    assert abs(world.error) <= 2
    world.answer(date=date)  # one answer without it is ignored from then on
    assert abs(world.error) <= 2


async def test_both_clients_tell_the_time_of_the_embedded_store(store_url: str, table: str, open_to: Opener) -> None:
    health = StoreHealth()
    async with open_to(store_url) as store:
        watched = DynamoStore(WatchedTransport(store.transport, health), table)
        while not health.clock.is_known:
            await STATE_OF_TABLE.read(watched)
    assert health.clock.skew_seconds is not None
    assert abs(health.clock.skew_seconds) < 1
