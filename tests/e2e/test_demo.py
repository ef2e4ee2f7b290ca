"""Demo data: the same every time, and never much of it in memory."""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING, Any, NoReturn

from domain.times import Instant
from loaders import demo
from loaders.demo import DemoShape, demo_pieces, load_demo

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

    from loaders.table.operations import BatchGet, Get, Put, Query, Transact

NOW = Instant("2026-03-01T12:00:00.000Z")


class CountingStore:
    """A store that takes its time, forgets everything, and counts."""

    def __init__(self) -> None:
        self.pulled = 0
        self.acknowledged = 0
        self.running = 0
        self.most_running = 0
        self.most_ahead = 0
        self.sizes: list[int] = []

    async def transact(self, operation: Transact) -> None:
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        self.sizes.append(len(operation.steps))
        await asyncio.sleep(0)
        self.acknowledged += len(operation.steps)
        self.running -= 1

    async def get(self, operation: Get) -> NoReturn:
        raise AssertionError(operation)

    async def batch_get(self, operation: BatchGet) -> NoReturn:
        raise AssertionError(operation)

    async def query(self, operation: Query) -> NoReturn:
        raise AssertionError(operation)

    async def put(self, operation: Put) -> NoReturn:
        raise AssertionError(operation)

    def watch(self, pieces: Iterator[Any]) -> Iterator[Any]:
        """The pieces, each counted when it is made."""
        for piece in pieces:
            self.pulled += len(piece)
            self.most_ahead = max(self.most_ahead, self.pulled - self.acknowledged)
            yield piece


def test_demo_data_is_the_same_for_the_same_moment() -> None:
    shape = DemoShape()
    assert list(demo_pieces(shape, NOW)) == list(demo_pieces(shape, NOW))


def test_demo_data_of_a_day_differs_only_in_which_reservation_is_ahead() -> None:
    morning, evening = (
        {
            key: item
            for piece in demo_pieces(DemoShape(), Instant(f"2026-03-01T{hour}:00:00.000Z"))
            for key, item in piece
        }
        for hour in ("01", "23")
    )
    assert morning.keys() == evening.keys()
    changed = {key.sk for key in morning if morning[key] != evening[key]}
    assert changed == {"RES#ACTIVE"}


def test_demo_data_is_as_much_as_was_asked_for() -> None:
    items = [item for piece in demo_pieces(DemoShape(5, 17, 40), NOW) for _, item in piece]
    kinds = [item["entityType"] for item in items]
    assert {kind: kinds.count(kind) for kind in ("OWNER", "LOCKER", "OWNER_LOCKER", "ACCESS_EVENT")} == {
        "OWNER": 5,
        "LOCKER": 17,
        "OWNER_LOCKER": 17,
        "ACCESS_EVENT": 40,
    }


def test_demo_data_of_any_size_begins_at_once() -> None:
    endless = demo_pieces(DemoShape(10**12, 10**12, 10**12), NOW)
    owners = list(itertools.islice(endless, 3))
    assert [piece[0][0].pk for piece in owners] == ["OWNER#owner-0001", "OWNER#owner-0002", "OWNER#owner-0003"]


async def test_a_demo_load_holds_no_more_than_a_few_transactions(monkeypatch: pytest.MonkeyPatch) -> None:
    store, shape = CountingStore(), DemoShape(40, 400, 4000)
    wanted = sum(map(len, demo_pieces(shape, NOW)))
    monkeypatch.setattr(demo, "demo_pieces", lambda shape, now: store.watch(demo_pieces(shape, now)))
    steps: list[int] = []
    assert await load_demo(store, shape, NOW, steps.append) == wanted
    assert wanted == store.pulled == store.acknowledged == sum(store.sizes)
    assert wanted > 4880  # the owners, the lockers and the events alone
    assert sum(steps) == 40 + 12 + 400 + 4000
    assert store.most_running == 4
    assert max(store.sizes) <= 100
    # Four transactions on their way, one packed, and the piece that no longer fitted into it.
    assert store.most_ahead <= 5 * 100 + 30
