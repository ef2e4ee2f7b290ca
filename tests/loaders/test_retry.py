import asyncio
import random

import pytest

from loaders.table.retry import pause


@pytest.mark.parametrize(
    ("bound", "expected"),
    [(1, [0.02, 0.04, 0.08, 0.16, 0.25, 0.25, 0.25]), (0, [0.0] * 7)],
    ids=["the longest pause doubles up to a quarter of a second", "the shortest is none, so that writers part"],
)
async def test_there_is_a_pause_before_each_attempt_but_the_first(
    monkeypatch: pytest.MonkeyPatch, bound: int, expected: list[float]
) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    monkeypatch.setattr(random, "uniform", lambda *bounds: bounds[bound])
    for attempt in range(8):
        await pause(attempt)
        assert len(pauses) == attempt
    assert pauses == expected
