import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio

from domain.times import shift
from tests.api import Api, mutation
from tests.conftest import NOW, Clock, OpenApi
from tests.over_http import assert_rejected, post
from tests.principals import admin, owner
from tests.races.holding import Held
from tests.wire import Wire

SET = mutation("setCallerBudget", "callerBudget { subject unitsPerMinute burst setAt setBy }")
LIST = "{ callerBudgets { nodes { subject unitsPerMinute burst } } }"
LIMIT = "{ viewer { rateLimit { limit } } }"


@pytest_asyncio.fixture
async def root(api: Api) -> AsyncIterator[Api]:
    yield api.by(admin("root"))


async def limits(api: Api) -> dict[str, int]:
    """The most that each of two callers can save up."""
    answers = {name: await api.by(owner(name)).run(LIMIT) for name in ("ada", "bob")}
    return {name: answer["viewer"]["rateLimit"]["limit"] for name, answer in answers.items()}


async def until(api: Api, expected: dict[str, int]) -> None:
    async with asyncio.timeout(60):
        while await limits(api) != expected:  # noqa: ASYNC110  # there is no event
            await asyncio.sleep(0.5)


async def test_an_admin_sets_lists_and_removes_the_budget_of_a_caller(root: Api) -> None:
    assert (await root.done(SET, subject="ada", unitsPerMinute=100, burst=500))["callerBudget"] == {
        "subject": "ada",
        "unitsPerMinute": 100,
        "burst": 500,
        "setAt": NOW,
        "setBy": "root",
    }
    await root.done(SET, subject="key:k1", unitsPerMinute=7)
    await root.done(SET, subject="ada", unitsPerMinute=200)
    assert (await root.run(LIST))["callerBudgets"]["nodes"] == [
        {"subject": "ada", "unitsPerMinute": 200, "burst": 200},
        {"subject": "key:k1", "unitsPerMinute": 7, "burst": 7},
    ]
    for _ in range(2):
        assert (await root.done(SET, subject="ada"))["callerBudget"] is None
    assert [node["subject"] for node in (await root.run(LIST))["callerBudgets"]["nodes"]] == ["key:k1"]


@pytest.mark.parametrize(
    ("values", "path"),
    [
        ({"subject": "ada", "burst": 5}, "burst"),
        ({"subject": "ada", "unitsPerMinute": 0}, "unitsPerMinute"),
        ({"subject": "", "unitsPerMinute": 1}, "subject"),
        ({"subject": "\u00e4da", "unitsPerMinute": 1}, "subject"),
    ],
)
async def test_bad_input_sets_nothing(root: Api, values: dict[str, Any], path: str) -> None:
    (error,) = (await root.mutate(SET, **values))["userErrors"]
    assert (error["code"], error["path"]) == ("BAD_USER_INPUT", ["input", path])
    assert (await root.run(LIST))["callerBudgets"]["nodes"] == []


async def test_of_two_at_once_the_later_one_stays(root: Api, clock: Clock, wire: Wire) -> None:
    wire.fault = held = Held(lambda call: call.operation == "TransactWriteItems")
    first = asyncio.create_task(root.done(SET, subject="ada", unitsPerMinute=1))
    await held.reached()
    wire.fault = lambda _: None
    clock.move(seconds=1)
    await root.done(SET, subject="ada", unitsPerMinute=2)
    held.release()
    shown = (await first)["callerBudget"]
    assert (shown["unitsPerMinute"], shown["setAt"]) == (2, shift(NOW, timedelta(seconds=1)))
    assert (await root.run(LIST))["callerBudgets"]["nodes"][0]["unitsPerMinute"] == 2


@pytest.mark.parametrize("store", ["process", "table"])
async def test_a_caller_with_a_budget_of_its_own_is_held_to_it(root: Api, open_api: OpenApi, store: str) -> None:
    await root.done(SET, subject="ada", unitsPerMinute=3)
    async with open_api(rate_limit_units=1000, rate_limit_store=store) as limited:
        await until(limited, {"ada": 3, "bob": 1000})
        for _ in range(3):
            await post(limited.by(owner("ada")), LIMIT)
        assert_rejected(await post(limited.by(owner("ada")), LIMIT), "RATE_LIMITED", 429)
        await limited.by(owner("bob")).run(LIMIT)


async def test_a_server_notices_a_budget_that_is_set_while_it_runs(open_api: OpenApi) -> None:
    async with open_api(rate_limit_units=1000) as limited:
        assert await limits(limited) == {"ada": 1000, "bob": 1000}
        await limited.by(admin("root")).done(SET, subject="ada", unitsPerMinute=30)
        await until(limited, {"ada": 30, "bob": 1000})
