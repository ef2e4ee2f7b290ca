"""When an operation is sent again: so many times, with pauses that grow and are drawn at random."""

from __future__ import annotations

import asyncio
import random

import pytest

from loaders.table.retry import attempts


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that were made, none of which takes any time here."""
    made: list[float] = []

    async def sleep(seconds: float) -> None:
        made.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return made


async def test_there_are_so_many_attempts_and_no_more() -> None:
    assert [attempt async for attempt in attempts(3)] == [0, 1, 2]


async def test_a_first_attempt_that_succeeds_waits_for_nothing(pauses: list[float]) -> None:
    async for _ in attempts(12):
        break
    assert pauses == []


async def test_the_longest_pause_doubles_up_to_a_quarter_of_a_second(
    pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(random, "uniform", lambda _, longest: longest)
    assert len([attempt async for attempt in attempts(8)]) == 8
    assert pauses == [0.02, 0.04, 0.08, 0.16, 0.25, 0.25, 0.25]


async def test_a_pause_is_drawn_from_the_whole_range_so_that_writers_part(
    pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(random, "uniform", lambda shortest, _: shortest)
    assert len([attempt async for attempt in attempts(4)]) == 4
    assert pauses == [0, 0, 0]
