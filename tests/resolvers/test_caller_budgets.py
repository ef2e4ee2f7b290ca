import asyncio
import itertools
from typing import Any

import pytest
import pytest_asyncio

from domain.budgets import Budget
from loaders.backend import Backend
from loaders.reads.caller_budgets import KnownBudgets
from loaders.reads.table_state import TableWatch
from loaders.reads.watching import watching
from loaders.table.health import StoreHealth
from server.http.health import Readiness
from tests.api import Api, mutation, unchanged
from tests.conftest import NOW, Clock, Dump, OpenApi
from tests.over_http import assert_rejected, post
from tests.principals import admin, owner
from tests.wire import Answer, Hold, Wire

SET = mutation("setCallerBudget", "callerBudget { keyId subject callerId unitsPerMinute burst setAt setBy }")
CREATE_KEY = mutation("createApiKey", "apiKey { keyId }")
LIST = "{ callerBudgets { nodes { keyId subject unitsPerMinute burst } } }"
TOLD = "{ activity { nodes { kind actor { subject } keyId callerId changes { field from to } } } }"
LIMIT = "{ viewer { rateLimit { limit } } }"


@pytest_asyncio.fixture
async def root(api: Api) -> Api:
    return api.by(admin("root"))


async def listed(api: Api) -> list[tuple[str, int, int]]:
    found = (await api.run(LIST))["callerBudgets"]["nodes"]
    return [(one["keyId"] or one["subject"], one["unitsPerMinute"], one["burst"]) for one in found]


async def told(api: Api) -> list[tuple[Any, ...]]:
    """Of each change of a budget: who changed it, whose it is, and the units before and after."""
    nodes = (await api.run(TOLD))["activity"]["nodes"]
    return [
        (one["actor"]["subject"], one["keyId"] or one["callerId"], *one["changes"][0].values())
        for one in nodes
        if one["kind"] == "CALLER_BUDGET_CHANGED"
    ]


async def test_an_admin_sets_changes_lists_and_removes_the_budget_of_a_caller(root: Api, wire: Wire) -> None:
    await root.owner("ada")
    await root.locker("l1", "ada")
    await root.done(CREATE_KEY, keyId="k1", name="Door", role="DEVICE", lockerId="l1")
    shown = (await root.done(SET, subject="äda@example.com", unitsPerMinute=100, burst=500))["callerBudget"]
    caller_id = shown.pop("callerId")
    assert shown == {
        "keyId": None,
        "subject": "äda@example.com",
        "unitsPerMinute": 100,
        "burst": 500,
        "setAt": NOW,
        "setBy": "root",
    }
    await root.done(SET, keyId="k1", unitsPerMinute=7)
    await root.done(SET, subject="äda@example.com", unitsPerMinute=200)
    assert await listed(root) == [("k1", 7, 7), ("äda@example.com", 200, 200)]
    assert (await root.done(SET, subject="äda@example.com"))["callerBudget"] is None
    assert await listed(root) == [("k1", 7, 7)]
    assert sorted(await told(root), key=str) == sorted(
        [
            ("root", "k1", "unitsPerMinute", None, "7"),
            ("root", caller_id, "unitsPerMinute", None, "100"),
            ("root", caller_id, "unitsPerMinute", "100", "200"),
            ("root", caller_id, "unitsPerMinute", "200", None),
        ],
        key=str,
    )
    logged = [step for call in wire.of("TransactWriteItems") for step in call.request["TransactItems"][1:]]
    assert "äda" not in str(logged)


@pytest.mark.parametrize(
    ("values", "code", "path"),
    [
        ({"subject": "ada", "burst": 5}, "BAD_USER_INPUT", ["burst"]),
        ({"subject": "ada", "unitsPerMinute": 0}, "BAD_USER_INPUT", ["unitsPerMinute"]),
        ({"subject": "a\nb", "unitsPerMinute": 1}, "BAD_USER_INPUT", ["subject"]),
        ({"subject": "key:k1", "unitsPerMinute": 1}, "BAD_USER_INPUT", ["subject"]),
        ({"unitsPerMinute": 1}, "BAD_USER_INPUT", []),
        ({"subject": "ada", "keyId": "k1", "unitsPerMinute": 1}, "BAD_USER_INPUT", []),
        ({"keyId": "k1", "unitsPerMinute": 1}, "NOT_FOUND", ["keyId"]),
    ],
)
async def test_bad_input_and_unknown_keys_set_nothing(
    root: Api, dump: Dump, values: dict[str, Any], code: str, path: list[str]
) -> None:
    async with unchanged(dump):
        (error,) = (await root.mutate(SET, **values))["userErrors"]
    assert (error["code"], error["path"]) == (code, ["input", *path])


async def test_of_two_at_once_the_later_one_stays_and_both_are_logged(root: Api, clock: Clock, wire: Wire) -> None:
    wire.fault = held = Hold("TransactWriteItems")
    first = asyncio.create_task(root.done(SET, subject="ada", unitsPerMinute=1))
    await held.arrivals()
    wire.fault = lambda _: None
    await root.by(admin("other")).done(SET, subject="ada", unitsPerMinute=2)
    clock.move(seconds=1)  # the log tells them in this order
    held.release()
    assert (await first)["callerBudget"]["unitsPerMinute"] == 1
    assert await listed(root) == [("ada", 1, 1)]
    ((_, caller_id, *_), _) = changes = await told(root)
    assert sorted(changes, key=str) == [
        ("other", caller_id, "unitsPerMinute", None, "2"),
        ("root", caller_id, "unitsPerMinute", "2", "1"),
    ]


async def test_a_server_holds_each_caller_to_its_budget(root: Api, open_api: OpenApi) -> None:
    await root.done(SET, subject="ada", unitsPerMinute=3)
    for store in ("process", "table"):
        watched = Readiness(StoreHealth(lambda: 0.0), TableWatch(lambda: 0.0))  # reads at its start alone
        async with open_api(readiness=watched, rate_limit_units=1000, rate_limit_store=store) as limited:
            ada, bob = limited.by(owner("ada")), limited.by(owner("bob"))
            answers = [await post(ada, LIMIT) for _ in range(4)]
            assert answers[0].json()["data"]["viewer"]["rateLimit"]["limit"] == 3
            assert_rejected(answers[-1], "RATE_LIMITED", 429)
            assert (await bob.run(LIMIT))["viewer"]["rateLimit"]["limit"] == 1000


async def test_a_server_reads_budgets_again_and_keeps_those_it_knows_while_it_cannot(
    root: Api, backend: Backend, wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    known, ticks = KnownBudgets(), itertools.count(0.0, 3)
    idle = StoreHealth(lambda: next(ticks))
    async with watching(backend.store, idle, TableWatch(lambda: 1.0), known):  # its state is never due
        assert known.by_caller == {}
        await root.done(SET, subject="ada", unitsPerMinute=4)
        async with asyncio.timeout(60):
            while not known.by_caller:  # noqa: ASYNC110  # there is no event
                await asyncio.sleep(0.05)
    wire.fault = lambda call: Answer.error("AccessDeniedException") if call.operation == "Query" else None
    for _ in range(2):
        await known.read(backend.store)
    assert known.by_caller == {"token ada": Budget(4, 4)}
    assert [record.getMessage() for record in caplog.records if record.name.startswith("loaders.reads.caller")] == [
        "the budgets of callers cannot be read: those that are known stay"
    ]
    wire.fault = lambda _: None
    await root.done(SET, subject="ada")
    await known.read(backend.store)
    assert known.by_caller == {}
