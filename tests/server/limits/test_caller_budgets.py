import asyncio
import itertools
from dataclasses import replace
from typing import Any, Literal

import httpx
import pytest

from domain.authorization import DEVELOPMENT_ADMIN
from domain.budgets import Budget
from loaders.backend import Backend
from loaders.tools.demo import DemoShape, load_demo
from loaders.writes.budgets import TableBudgets
from resolvers.request_state import RequestState
from server.limits.caller_budgets import ProcessBudgets
from server.limits.shared_budgets import SharedBudgets, budget_memory
from server.settings import Settings
from tests.api import Api
from tests.conftest import NOW, Clock, Dump, OpenApi
from tests.over_http import GRAPHQL, JSON, assert_rejected, post
from tests.server.deadlines import held_until_its_deadline
from tests.wire import Answer, Call, Hold, Lose, Wire

QUERY = "{ __typename }"
# Six reads of half a unit each.
THREE = "{ " + " ".join(f'a{number}: owner(ownerId: "{number}") {{ name }}' for number in range(6)) + " }"
COPIES = [
    {
        "PK": {"S": "OWNER#ada"},
        "SK": {"S": f"LOCKER#l{number}"},
        "entityType": {"S": "OWNER_LOCKER"},
        "lockerId": {"S": f"l{number}"},
        "ownerId": {"S": "ada"},
        "alias": {"S": "Hall"},
        "status": {"S": "AVAILABLE"},
        "reservableBy": {"S": "MEMBERS"},
        "size": {"S": "M"},
        "features": {"L": []},
        "updatedAt": {"S": "2026-03-01T12:00:00.000Z"},
    }
    for number in range(2)
]
BOTH = pytest.mark.parametrize("store", ["process", "table"])


async def ask(api: Api, query: str = QUERY, accept: str = JSON, **content: Any) -> httpx.Response:
    return await post(api, query, accept, **content)


async def left(api: Api, query: str = QUERY, **content: Any) -> int:
    response = await ask(api, query, **content)
    return int(response.json()["extensions"]["rateLimit"]["remaining"])


class Broken:
    def started(self, state: RequestState) -> None:
        raise RuntimeError(state)

    def finished(self, *_: object) -> None:
        """Is never called."""


@BOTH
async def test_a_response_reports_the_remaining_budget(open_api: OpenApi, clock: Clock, store: str) -> None:
    async with open_api(rate_limit_units=60, rate_limit_burst=10, rate_limit_store=store) as api:
        for remaining in (9, 8, 7):
            answer = (await ask(api)).json()
            assert answer["data"] == {"__typename": "Query"}
            state = {"limit": 10, "remaining": remaining, "resetSeconds": 10 - remaining}
            assert answer["extensions"] == {"rateLimit": state}
        clock.move(seconds=2)
        assert await left(api) == 8
        clock.move(hours=1)
        assert await left(api) == 9


@BOTH
@pytest.mark.parametrize("accept", [JSON, GRAPHQL])
async def test_a_budget_that_is_spent_refuses_until_there_is_enough(
    open_api: OpenApi, wire: Wire, clock: Clock, store: str, accept: str
) -> None:
    async with open_api(rate_limit_units=30, rate_limit_burst=2, rate_limit_store=store) as api:
        await ask(api)
        await ask(api)
        wire.reset()
        refused = await ask(api, '{ owner(ownerId: "ada") { name } }', accept)
        assert_rejected(refused, "RATE_LIMITED", 429, "The rate limit is exceeded: try again in 2 s.", accept)
        assert refused.headers["retry-after"] == "2"
        assert refused.json()["extensions"] == {"rateLimit": {"limit": 2, "remaining": 0, "resetSeconds": 4}}
        assert not wire.of("GetItem")
        clock.move(seconds=1.999)
        assert (await ask(api)).status_code == 429
        clock.move(seconds=0.001)
        assert (await ask(api)).status_code == 200
        assert (await ask(api)).status_code == 429


@BOTH
async def test_a_rejected_request_is_charged_and_its_response_has_the_budget(open_api: OpenApi, store: str) -> None:
    json = {"Content-Type": "application/json"}
    rejected: list[tuple[str, dict[str, str], int]] = [
        ("{", json, 400),
        ("[]", json, 400),
        ("{}", {"Content-Type": "text/plain"}, 415),
        ('{"query": ""}', json, 400),
        ('{"query": "{ unknown }"}', json, 200),
        ('{"query": "{ __typename }", "operationName": "Unknown"}', json, 200),
        ('{"documentId": "unknown"}', json, 200),
    ]
    async with open_api(rate_limit_units=60, rate_limit_burst=len(rejected), rate_limit_store=store) as api:
        for number, (body, headers, status) in enumerate(rejected, 1):
            response = await api.client.post("/graphql", content=body, headers=headers)
            assert (response.status_code, "data" in response.json()) == (status, False)
            assert response.json()["extensions"]["rateLimit"]["remaining"] == len(rejected) - number
        for body in ("{", '{"query": "{"}', '{"query": "{ unknown }"}'):
            spent = await api.client.post("/graphql", content=body, headers=json)
            assert spent.status_code == 429  # before anything is read


async def test_a_request_that_is_rejected_or_fails_reports_the_remaining_budget(open_api: OpenApi, wire: Wire) -> None:
    owner = '{ owner(ownerId: "ada") { name } }'
    limits: dict[str, Any] = {"rate_limit_units": 60, "rate_limit_burst": 5, "max_concurrent_requests": 1}
    given_up = await held_until_its_deadline(open_api, wire, lambda api: ask(api, owner), **limits)
    wire.fault = hold = Hold()
    async with open_api(**limits) as api:
        running = asyncio.create_task(ask(api, owner))
        await hold.arrivals()
        turned_away = await ask(api, owner)
        hold.release()
        await running
    async with open_api(observer=Broken(), **limits) as api:
        failed = await ask(api, owner)
    answers = [given_up, turned_away, failed]
    assert [answer.status_code for answer in answers] == [504, 503, 500]
    assert [answer.json()["extensions"]["rateLimit"]["remaining"] for answer in answers] == [4, 3, 4]


@BOTH
async def test_each_caller_has_its_own_budget_also_token_and_key_of_one_name(open_api: OpenApi, store: str) -> None:
    key = replace(DEVELOPMENT_ADMIN, subject="key:k1", by_key=True)
    longest = replace(DEVELOPMENT_ADMIN, subject="#\x00é" * 1000)
    async with open_api(rate_limit_units=1, rate_limit_store=store) as api:
        for principal in (DEVELOPMENT_ADMIN, longest, replace(key, by_key=False), key):
            api.client.headers.update(api.by(principal).headers)
            assert [(await ask(api)).status_code for _ in range(2)] == [200, 429]


@BOTH
async def test_requests_at_once_never_get_more_than_the_budget(open_api: OpenApi, store: str) -> None:
    async with open_api(rate_limit_units=7, rate_limit_store=store) as api:
        answers = await asyncio.gather(*(ask(api) for _ in range(40)))
    given = [answer.status_code for answer in answers].count(200)
    assert given == 7 if store == "process" else 0 < given <= 7


async def test_two_servers_share_one_budget_in_the_table(open_api: OpenApi, dump: Dump, wire: Wire) -> None:
    shared = {"rate_limit_units": 20, "rate_limit_store": "table"}
    async with open_api(**shared) as first, open_api(**shared) as second:
        answers = await asyncio.gather(*(ask(api) for _ in range(15) for api in (first, second)))
    # A call that a busy machine had to send twice is paid for twice, so the store's own count is the exact one.
    assert len([call for call in wire.calls if call.status == 200]) == 20
    given = [answer.json()["extensions"]["rateLimit"]["remaining"] for answer in answers if answer.status_code == 200]
    assert len(given) == len(set(given)) <= 20
    assert {answer.status_code for answer in answers} == {200, 429}
    assert set(wire.operations) == {"UpdateItem"}
    ((key, item),) = (await dump()).items()
    assert key[0].startswith("RATE#")
    assert "development" not in str(item)
    assert item["expiresAt"] == 1772366400 + 61


@pytest.mark.parametrize("kind", [ProcessBudgets, TableBudgets, SharedBudgets])
async def test_a_budget_that_an_admin_sets_begins_whole(kind: Any, backend: Backend) -> None:
    others = {"ada": Budget(1, 1)}
    with budget_memory() as memory:
        place = {ProcessBudgets: (), TableBudgets: (lambda: backend.store,), SharedBudgets: (memory,)}[kind]
        budgets = kind(*place, Budget(60, 2), lambda: 0, others)
        assert [(await budgets.take("ada", 1)).retry_seconds for _ in range(2)] == [0, 60]
        others.clear()
        assert [(await budgets.take("ada", 1)).retry_seconds for _ in range(3)] == [0, 0, 1]


async def test_a_budget_in_the_process_is_not_shared(open_api: OpenApi, wire: Wire) -> None:
    async with open_api(rate_limit_units=1) as first, open_api(rate_limit_units=1) as second:
        assert [(await ask(api)).status_code for api in (first, second, first, second)] == [200, 200, 429, 429]
    assert not wire.calls


async def test_a_lost_answer_of_the_table_is_paid_for_and_never_too_little(open_api: OpenApi, wire: Wire) -> None:
    async with open_api(rate_limit_units=60, rate_limit_burst=10, rate_limit_store="table") as api:
        await ask(api)
        lost = iter([Lose()])
        wire.fault = lambda _: next(lost, None)
        assert await left(api) in {7, 8}


async def test_the_budgets_in_memory_are_limited_and_the_least_recently_used_is_dropped() -> None:
    limiter = ProcessBudgets(Budget(per_minute=1, burst=1), lambda: 0, max_callers=2)
    assert [(await limiter.take(who, 1)).retry_seconds for who in "abac"] == [0, 0, 60, 0]
    assert [(await limiter.take(who, 1)).retry_seconds for who in "acb"] == [60, 60, 0]


@BOTH
async def test_a_request_costs_what_its_plan_always_takes(open_api: OpenApi, clock: Clock, store: str) -> None:
    async with open_api(rate_limit_units=60, rate_limit_burst=17, rate_limit_store=store) as api:
        assert await left(api, THREE, extensions={"explain": "plan"}) == 9
        assert await left(api, THREE) == 6
        assert await left(api, THREE) == 3
        for _ in range(2):
            await ask(api)
        refused = await ask(api, THREE)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "3")
        assert refused.json()["extensions"]["rateLimit"] == {"limit": 17, "remaining": 0, "resetSeconds": 17}
        clock.move(seconds=3)
        assert (await ask(api, THREE)).status_code == 200  # after Retry-After the budget suffices


BOARD = """{ locations(first: 20) { nodes { name lockers(first: 50) { nodes { alias status
  owner { name } activeReservation { endAt owner { name } } } } } } }"""


async def test_a_wall_board_that_is_polled_every_two_seconds_stays_within_the_default_budget(
    open_api: OpenApi, backend: Backend, clock: Clock
) -> None:
    await load_demo(backend.store, DemoShape(lockers=240, events=0), NOW, lambda _: None)
    budget = Settings(profile="production").budget
    assert budget is not None
    async with open_api(rate_limit_units=budget.per_minute) as api:
        for _ in range(30):
            answer = (await ask(api, BOARD, extensions={"cost": True})).json()
            assert len(answer["data"]["locations"]["nodes"]) == 12
            price, measured = (answer["extensions"]["cost"][name]["readUnits"] for name in ("expected", "actual"))
            clock.move(seconds=2)
        assert price > measured * 4
        assert answer["extensions"]["rateLimit"]["remaining"] >= budget.burst - measured * 2


@BOTH
async def test_requests_need_what_is_expected_and_pay_what_they_took(open_api: OpenApi, wire: Wire, store: str) -> None:
    query = """{ owner(ownerId: "ada") { name lockers(first: 50) { nodes { alias } } } }"""
    async with open_api(rate_limit_units=60, rate_limit_store=store) as api:
        await ask(api, query)  # the document is known from now on
        before = await left(api)
        assert await left(api, query) == before - 1
        # A store that fails does not say what it took, so nothing is given back.
        wire.fault = lambda call: Answer.error("ThrottlingException") if call.operation == "Query" else None
        failed = await left(api, query)
        assert failed == before - 4
        wire.reset()
        while await left(api) > 1:
            pass
        wire.reset()
        assert (await ask(api, query)).status_code == 429
        assert not wire.of("Query")


@BOTH
async def test_a_request_above_the_burst_runs_on_a_full_budget(open_api: OpenApi, clock: Clock, store: str) -> None:
    async with open_api(rate_limit_units=60, rate_limit_burst=2, rate_limit_store=store) as api:
        await ask(api, THREE)  # the document is known from now on
        clock.move(minutes=1)
        assert await left(api, THREE) == 0
        clock.move(seconds=1)
        assert (await ask(api, THREE)).headers["retry-after"] == "2"
        clock.move(seconds=2)
        assert (await ask(api, THREE)).status_code == 200


@pytest.mark.parametrize("accept", [JSON, GRAPHQL])
@pytest.mark.parametrize("answered", [0, 1])
async def test_a_store_that_fails_at_any_charge_is_reported_as_unavailable(
    open_api: OpenApi, wire: Wire, accept: str, answered: int
) -> None:
    async with open_api(rate_limit_units=60, rate_limit_store="table") as api:
        await ask(api)
        wire.reset()
        wire.fault = lambda _: Answer.error("ThrottlingException") if len(wire.calls) > answered else None
        refused = await ask(api, THREE, accept)
        assert_rejected(refused, "UNAVAILABLE", 503, accept=accept)
        assert refused.headers["retry-after"] == "1"
        assert ("extensions" in refused.json()) is (answered > 0)
        assert set(wire.operations) == {"UpdateItem"}


@pytest.mark.parametrize(
    ("profile", "units", "budget"),
    [
        ("development", None, None),
        ("development", 6, Budget(6, 6)),
        ("production", None, Budget(60_000, 60_000)),
        ("production", 0, None),
        ("production", 6, Budget(6, 6)),
    ],
)
def test_production_has_a_limit_unless_it_is_turned_off(
    profile: Literal["development", "production"], units: int | None, budget: Budget | None
) -> None:
    assert Settings(profile=profile, rate_limit_units=units).budget == budget


async def test_requests_of_one_caller_that_meet_in_the_table_are_all_served(backend: Backend) -> None:
    # By a clock that runs so fast that the budget is whole again whenever anybody looks.
    moments = itertools.count(1_772_366_400_000_000, 2000)
    store: Any = backend.store
    limiter = TableBudgets(lambda: store, Budget(60_000, 60_000), lambda: next(moments))
    for _ in range(10):
        states = await asyncio.gather(*(limiter.take("ada", 1) for _ in range(32)))
        assert {state.retry_seconds for state in states} == {0}


async def test_a_budget_that_is_whole_by_the_end_of_a_request_is_not_written_again(
    backend: Backend, wire: Wire
) -> None:
    store: Any = backend.store
    moments = iter([1_772_366_400_000_000, 1_772_366_401_000_000])
    budgets = TableBudgets(lambda: store, Budget(60_000, 60_000), lambda: next(moments))
    await budgets.take("ada", 20)
    wire.reset()
    assert (await budgets.take("ada", 1, 20, may_owe=True)).remaining == 60_000
    assert wire.operations == {"UpdateItem": 1}


async def test_a_charge_between_those_of_requests_that_give_units_back_is_made(backend: Backend) -> None:
    store: Any = backend.store
    moment, budget = 1_772_366_400_000_000, Budget(60_000, 60_000)
    others = TableBudgets(lambda: store, budget, lambda: moment - 10_000)

    class Between:
        """The store, in which the budget is spent, or whole again, before every step of three rounds."""

        steps = itertools.count()

        async def update(self, operation: Any) -> Any:
            step = next(self.steps)
            if 0 < step < 6:
                await others.take("ada", *((20,) if step % 2 else (1, 20)), may_owe=True)
            return await store.update(operation)

    between: Any = Between()
    state = await TableBudgets(lambda: between, budget, lambda: moment).take("ada", 1)
    assert state.retry_seconds == 0


# One that validation refuses, with 110 fragments that nobody uses: 776 tokens, 111 selections.
UNUSED = "{ __typename } " + " ".join(f"fragment F{number} on Query {{ __typename }}" for number in range(110))
SCHEMA = "{ __schema { types { fields { name type { name } } } } }"


@BOTH
async def test_an_unknown_document_is_charged_by_its_size_also_if_refused(open_api: OpenApi, store: str) -> None:
    known = '{ owner(ownerId: "a") { ' + "name " * 60 + "} }"
    unreadable = "{ a(" + "b" * 1000
    async with open_api(rate_limit_units=1000, rate_limit_store=store) as api:
        units_left = 1000
        for document, units in (
            *((UNUSED, 88), (UNUSED, 88), (unreadable, 50), ("{ a(" + "b" * 50, 2), ("{ " + "a " * 20 + "}", 2)),
            *((known, 13), (known, 1), (QUERY, 1)),
        ):
            units_left -= units
            assert await left(api, document) == units_left, document[:20]


async def test_introspection_is_charged_and_executed_once_for_a_document_and_its_variables(open_api: OpenApi) -> None:
    named = "query ($name: String!) { __type(name: $name) { name } }"
    async with open_api(rate_limit_units=1000) as api:
        units_left = 1000
        for document, variables, units in (
            (SCHEMA, {}, 202),
            (SCHEMA, {}, 1),
            ("query Named " + SCHEMA, {"unused": 1}, 2),
            (named, {"name": "Owner"}, 22),
            (named, {"name": "Locker"}, 21),
            (named, {"name": "Owner"}, 1),
        ):
            units_left -= units
            response = await ask(api, document, variables=variables)
            assert response.json()["extensions"]["rateLimit"]["remaining"] == units_left
            if "name" in variables:
                assert response.json()["data"] == {"__type": {"name": variables["name"]}}


@BOTH
async def test_work_that_is_done_is_owed_beyond_the_budget(open_api: OpenApi, clock: Clock, store: str) -> None:
    async with open_api(rate_limit_units=60, rate_limit_store=store) as api:
        await ask(api)
        assert await left(api, UNUSED) == 0
        refused = await ask(api)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "3")
        clock.move(seconds=2)
        assert (await ask(api)).status_code == 429
        clock.move(seconds=1)
        assert (await ask(api)).status_code == 200


async def test_what_a_request_took_until_its_deadline_is_charged(open_api: OpenApi, wire: Wire) -> None:
    query = """{ owner(ownerId: "ada") { lockers(first: 2) { nodes { activeReservation { status } } } } }"""

    def make_expensive(call: Call) -> None:
        if call.operation == "Query":
            call.response = {"Items": COPIES, "Count": 2, "ConsumedCapacity": {"CapacityUnits": 40}}

    async def ask_expensively(api: Api) -> httpx.Response:
        wire.amend = make_expensive
        return await ask(api, query)

    limits: dict[str, Any] = {"rate_limit_units": 600, "observer": None}
    given_up = await held_until_its_deadline(open_api, wire, ask_expensively, "BatchGetItem", **limits)
    assert given_up.json()["extensions"]["rateLimit"]["remaining"] <= 600 - 40
