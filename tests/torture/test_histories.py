"""A history of versioned updates by eight clients is linearizable; the checker finds histories that are not."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from domain.times import Instant
from tests.api import mutation
from tests.conftest import NOW
from tests.torture.faults import noise
from tests.torture.model import Change, nonlinear

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.wire import Wire

RENAME = mutation("renameLocker", "locker { alias version updatedAt }")
UPDATES_EACH = 25


@pytest.mark.parametrize("seed", range(3))
async def test_updates_by_eight_clients_are_linearizable_under_lost_answers_and_duplicates(
    api: Api, wire: Wire, dump: Callable[[], Any], seed: int
) -> None:
    await api.owner("ada")
    await api.locker("l1", "ada")
    wire.fault = noise(Random(seed))
    history: list[Change] = []

    async def client(number: int) -> None:
        version = 1
        for update in range(UPDATES_EACH):
            values = {"lockerId": "l1", "alias": f"{number} {update}", "expectedVersion": version}
            start = time.monotonic()
            answer = await api.send(RENAME, input=values)
            end = time.monotonic()
            if "errors" in answer:
                assert answer["errors"][0]["extensions"]["code"] == "UNAVAILABLE"
                history.append(Change("l1", version, None, None, start, end))
                continue
            payload = answer["data"]["renameLocker"]
            shown = payload["locker"]
            if payload["userErrors"]:
                (error,) = payload["userErrors"]
                assert error["__typename"] == "VersionConflictError"
                assert error["currentVersion"] > version
                assert shown["alias"] != values["alias"]
            else:
                history.append(Change("l1", version, shown["version"], Instant(shown["updatedAt"]), start, end))
            version = shown["version"]

    await asyncio.gather(*map(client, range(8)))
    wire.reset()
    final = (await dump())["LOCKER#l1", "META"]["version"]
    assert final > 10
    assert list(nonlinear(history, {"l1": final}, timedelta())) == []


def change(version: int | None, invoked: float, returned: float, updated_at: Instant = NOW) -> Change:
    return Change("l1", (version or 3) - 1, version, updated_at, invoked, returned)


GOOD = [change(2, 0, 5), change(None, 1, 2), change(4, 3, 4)]
BAD = {
    "a version was given twice": [change(2, 0, 1), change(2, 2, 3), change(3, 4, 5), change(4, 6, 7)],
    "nobody made the versions [3]": [change(2, 0, 1), change(4, 2, 3)],
    "the versions {5} were acknowledged, and the last one is 4": [*GOOD, change(5, 6, 7)],
    "version 4 was there before a lower one was asked for": [change(4, 0, 1), change(2, 2, 3), change(3, 2, 4)],
    "version 4 has a time before that of 3": [
        *(change(2, 0, 1), change(3, 2, 3)),
        change(4, 4, 5, Instant("2026-03-01T11:59:00.000Z")),
    ],
}


def test_a_version_that_nobody_was_told_of_is_explained_by_an_unknown_outcome() -> None:
    assert list(nonlinear(GOOD, {"l1": 4}, timedelta())) == []


@pytest.mark.parametrize("problem", BAD)
def test_a_history_that_is_not_linearizable_is_found(problem: str) -> None:
    assert list(nonlinear(BAD[problem], {"l1": 4}, timedelta())) == [f"l1: {problem}"]
