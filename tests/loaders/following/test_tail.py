"""The end of the log as followers are told it: nothing is missing, and what is told in order stays in order."""

import logging
from dataclasses import replace
from itertools import pairwise

import pytest

from domain.times import EARLIEST, Instant
from loaders.backend import Backend
from loaders.contracts.following import LOG_TAIL
from loaders.following.followers import Fence
from loaders.following.tail import LogTail
from loaders.table.clock import Stamp
from tests.conftest import NOW, Clock
from tests.following import Told, at, entry, log
from tests.tables import PlainClient
from tests.wire import Answer, Wire


class World:
    """A part of the log whose time passes if the test says so, and the tail that is read of it."""

    def __init__(self, backend: Backend, clock: Clock, client: PlainClient) -> None:
        self.seconds = 0.0
        self._clock = clock
        self.backend = replace(backend, stamp=lambda: Stamp(clock(), self.seconds))
        self._client = client

    def tail(self, *followers: Told, since: Instant = NOW) -> LogTail:
        positions = {follower.name: since for follower in followers}
        return LogTail(self.backend, Fence(0, 1), followers, positions, lambda: self.seconds)

    async def log(self, *named: tuple[float, str]) -> None:
        """Logs entries with these stamps, in seconds from the beginning."""
        store = self.backend.store
        await log(self._client, store.table, *(entry(at(NOW, stamp), name) for stamp, name in named))  # type: ignore[attr-defined]

    async def pass_time(self, tail: LogTail, seconds: int) -> None:
        """Steps once a second."""
        for _ in range(seconds):
            self.seconds += 1
            self._clock.move(seconds=1)
            await tail.step()


@pytest.fixture
def world(backend: Backend, clock: Clock, plain_client: PlainClient) -> World:
    return World(backend, clock, plain_client)


async def test_the_newest_is_told_soon_however_many_the_last_seconds_have(world: World) -> None:
    told = Told()
    tail = world.tail(told)
    await world.pass_time(tail, 1)
    await world.log(*((1 + number / 1000, f"{number:04}") for number in range(LOG_TAIL.most + 10)))
    await world.pass_time(tail, 2)
    assert len(told.ids) == LOG_TAIL.most + 10


async def test_a_follower_is_told_each_entry_once_and_late_ones_late(world: World) -> None:
    told = Told()
    tail = world.tail(told)
    await world.log((0.5, "first"))
    await world.pass_time(tail, 1)
    assert told.ids == ["first-0"]
    await world.log((10, "third"))
    await world.pass_time(tail, 10)
    await world.log((2, "second"))
    await world.pass_time(tail, 40)
    assert told.ids == ["first-0", "third-0", "second-0"]


async def test_a_follower_that_is_ordered_is_told_what_is_older_than_the_horizon_in_order(world: World) -> None:
    told = Told(is_ordered=True)
    tail = world.tail(told)
    await world.log((0.5, "first"), (20, "third"))
    await world.pass_time(tail, 29)
    assert told.ids == []
    await world.log((1, "second"))
    await world.pass_time(tail, 8)
    assert told.ids == ["first-0", "second-0"]
    await world.pass_time(tail, 20)
    assert told.ids == ["first-0", "second-0", "third-0"]
    for names, until in told.calls:
        assert at(NOW, 20) <= until if "third-0" in names else until < at(NOW, 20)


async def test_entries_of_one_millisecond_are_told_however_many_they_are(world: World) -> None:
    """The time stands still while a server finds that it was ahead of the store's."""
    followers = Told(), Told("ordered", is_ordered=True)
    tail = world.tail(*followers)
    many = [f"e{number:04}" for number in range(LOG_TAIL.most + 1)]
    await world.log(*((1, name) for name in many), (2, "last"))
    await world.pass_time(tail, 50)
    for follower in followers:
        assert follower.ids == [f"{name}-0" for name in (*many, "last")]


async def test_no_position_passes_the_horizon(world: World, clock: Clock) -> None:
    tail = world.tail(Told("early"), Told("late", is_ordered=True))
    for _ in range(50):
        await world.pass_time(tail, 1)
        assert max(tail.positions.values()) <= max(NOW, at(clock.now, -30))
    assert min(tail.positions.values()) >= at(NOW, 15)


async def test_another_process_goes_on_from_the_position(world: World) -> None:
    told = Told(is_ordered=True)
    tail = world.tail(told)
    await world.log((0.5, "first"), (40, "second"))
    await world.pass_time(tail, 36)
    assert told.ids == ["first-0"]
    other = world.tail(again := Told(is_ordered=True), since=tail.positions["told"])
    await world.pass_time(other, 60)
    assert again.ids == ["second-0"]


async def test_a_thousand_entries_at_a_time_never_part_those_of_one_millisecond(world: World) -> None:
    told, early = Told(is_ordered=True), Told("early")
    tail = world.tail(told, early, since=EARLIEST)
    await world.log(*((-100 + number // 3 / 1000, f"{number:04d}") for number in range(1500)))
    await world.pass_time(tail, 2)
    assert told.ids == early.ids == [f"{number:04d}-0" for number in range(1500)]
    (first, until), (second, _) = told.calls
    assert (len(first), len(second)) == (999, 501)
    assert until == at(NOW, -100 + 0.332)


async def test_one_query_a_second_reads_the_last_seconds_and_every_fifth_all_since_the_position(
    world: World, wire: Wire
) -> None:
    tail = world.tail(Told(), Told("ordered", is_ordered=True))
    await world.pass_time(tail, 20)
    wire.reset()
    await world.pass_time(tail, 10)
    assert wire.operations == {"Query": 10}
    strong = [call.request["ConsistentRead"] for call in wire.calls]
    assert strong.count(True) == 2
    starts = {
        call.request["ExpressionAttributeValues"][":low"]["S"] for call in wire.calls if call.request["ConsistentRead"]
    }
    assert starts == {at(NOW, 0.001)}


async def test_a_follower_that_fails_is_told_again_while_others_go_on(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    good, bad = Told("good"), Told("bad", fails=True)
    tail = world.tail(good, bad)
    await world.log((0.5, "first"))
    with caplog.at_level(logging.WARNING):
        await world.pass_time(tail, 30)
        await world.log((30.5, "second"))
        await world.pass_time(tail, 60)
        assert good.ids == ["first-0", "second-0"]
        assert (tail.positions["bad"], tail.positions["good"] > at(NOW, 50)) == (NOW, True)
        assert tail.lags["bad"] == 90
        bad.fails = False
        await world.pass_time(tail, 60)
    assert bad.ids == ["first-0", "second-0"]
    assert caplog.messages == [
        "following the log: bad in part 0 failed, and is tried again",
        "following the log: bad in part 0 works again",
    ]


async def test_a_follower_that_cannot_do_as_much_at_once_is_told_less(world: World) -> None:
    told = Told(is_ordered=True, most=100)
    tail = world.tail(told, since=EARLIEST)
    await world.log(*((-100 + number // 2 / 1000, f"{number:04d}") for number in range(400)))
    await world.pass_time(tail, 60)
    assert told.ids == [f"{number:04d}-0" for number in range(400)]
    for (names, until), (following, _) in pairwise(told.calls):
        assert len(names) % 2 == 0  # none of a millisecond is left for the next call
        assert until == at(NOW, -100 + int(names[-1][:4]) // 2 / 1000)
        assert following[0] > names[-1]


async def test_a_follower_that_is_far_behind_keeps_no_other_waiting(world: World) -> None:
    prompt, slow = Told("prompt"), Told("slow", is_ordered=True)
    tail = LogTail(world.backend, Fence(0, 1), [prompt, slow], {"prompt": NOW, "slow": EARLIEST}, lambda: world.seconds)
    await world.log(*((-500 + number / 10, f"{number:04d}") for number in range(3500)))
    await world.log((1.5, "new"))
    await world.pass_time(tail, 3)
    assert prompt.ids == ["new-0"]
    await world.pass_time(tail, 6)
    assert slow.ids == [f"{number:04d}-0" for number in range(3500)]


async def test_a_damaged_entry_is_logged_and_left_out(
    world: World, plain_client: PlainClient, table: str, caplog: pytest.LogCaptureFixture
) -> None:
    told = Told()
    tail = world.tail(told)
    broken = entry(at(NOW, 0.2), "broken")
    await log(plain_client, table, broken | {"happenings": "[{}]"}, entry(at(NOW, 0.3), "odd") | {"entityType": "X"})
    await world.log((0.5, "whole"))
    with caplog.at_level(logging.ERROR):
        await world.pass_time(tail, 40)
    assert told.ids == ["whole-0"]
    assert len(caplog.messages) == 2
    assert all(message.startswith("left out of the log: ") for message in caplog.messages)


async def test_a_read_that_fails_is_an_error_and_loses_nothing(world: World, wire: Wire) -> None:
    told = Told(is_ordered=True)
    tail = world.tail(told)
    await world.log((0.5, "first"))
    wire.fault = lambda _: Answer.error("ValidationException")
    with pytest.raises(Exception, match="ValidationException"):
        await world.pass_time(tail, 40)
    wire.fault = lambda _: None
    await world.pass_time(tail, 40)
    assert told.ids == ["first-0"]
