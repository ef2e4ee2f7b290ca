"""Plans over HTTP: asked for instead of an answer, and as the limit of what may run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.api import CREATE_OWNER

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from tests.api import Api
    from tests.wire import Wire

GRAPHQL = "application/graphql-response+json"
OWNER = '{ owner(ownerId: "ada") { name lockers(first: 2) { nodes { lockerId } } } }'
EVENTS = """query ($first: Int!) { owner(ownerId: "ada") {
  lockers(first: $first) { nodes { accessEvents(first: $first) { nodes { action } } } }
} }"""
PLAN = {"explain": "plan"}


async def post(api: Api, query: str, extensions: Any = None, accept: str = GRAPHQL, **variables: Any) -> Any:
    content = {"query": query, "variables": variables, "extensions": extensions}
    return await api.client.post("/graphql", json=content, headers={"Accept": accept})


async def test_a_document_that_could_take_too_much_is_refused_and_nothing_reaches_the_store(
    api: Api, wire: Wire
) -> None:
    response = await post(api, EVENTS, first=100)
    (error,) = response.json()["errors"]
    assert (response.status_code, set(response.json())) == (400, {"errors"})
    assert error["extensions"] == {
        "code": "QUERY_TOO_COMPLEX",
        "status": 400,
        "worstCase": {"operations": 301, "items": 10_201, "readUnits": 31718.5, "writeUnits": 0},
        "maximum": {"readUnits": 25_000, "operations": 1500, "items": 20_000},
        "heaviest": {
            "path": "owner.lockers.nodes.accessEvents",
            "readUnits": 31700,
            "operations": 300,
            "expectedItems": 10_100,
        },
        "requestId": response.headers["x-request-id"],
    }
    for told in ("31718.5 read units", "25000", "owner.lockers.nodes.accessEvents"):
        assert told in error["message"]
    assert wire.calls == []
    assert (await post(api, EVENTS, first=25)).status_code == 200


async def test_plain_json_has_the_refusal_with_status_200(api: Api) -> None:
    response = await post(api, EVENTS, accept="application/json", first=100)
    assert response.status_code == 200
    assert response.json()["errors"][0]["extensions"]["code"] == "QUERY_TOO_COMPLEX"


@pytest.mark.parametrize(
    ("settings", "is_allowed"),
    [
        ({"max_read_units": 2, "max_operations": 2}, True),
        ({"max_read_units": 1}, False),
        ({"max_operations": 1}, False),
        ({"max_items": 4}, True),
        ({"max_items": 3}, False),
    ],
)
async def test_the_maximum_is_a_setting_and_may_be_reached(
    open_api: Callable[..., AbstractAsyncContextManager[Api]],
    settings: dict[str, int],
    *,
    is_allowed: bool,
) -> None:
    async with open_api(**settings) as api:
        answer = await api.send(OWNER)
    code = answer["errors"][0]["extensions"]["code"]
    assert code == ("NOT_FOUND" if is_allowed else "QUERY_TOO_COMPLEX")


async def test_a_plan_is_given_without_running_anything(api: Api, wire: Wire) -> None:
    response = await post(api, OWNER, PLAN)
    plan = response.json()["extensions"]["explain"]["plan"]
    assert (response.status_code, response.json()["data"], set(response.json())) == (200, None, {"data", "extensions"})
    assert plan["totals"] == {
        "operations": 2,
        "expectedOperations": 2,
        "expectedItems": 4,
        "items": 4,
        "readUnits": 1.5,
        "writeUnits": 0,
    }
    assert [node["path"] for node in plan["tree"][0]["children"]] == ["owner.lockers"]
    assert wire.calls == []


async def test_a_plan_may_be_asked_for_by_get(api: Api) -> None:
    response = await api.client.get("/graphql", params={"query": OWNER, "extensions": json.dumps(PLAN)})
    assert response.json()["extensions"]["explain"]["plan"]["allowed"] is True


async def test_a_mutation_has_a_plan_that_changes_nothing(api: Api, wire: Wire) -> None:
    response = await post(api, CREATE_OWNER, PLAN, input={"ownerId": "ada", "kind": "USER", "name": "Ada"})
    plan = response.json()["extensions"]["explain"]["plan"]
    assert plan["tree"][0]["contracts"][0]["id"] == "QC-22"
    assert plan["totals"]["writeUnits"] > 0
    assert wire.calls == []


async def test_what_is_not_allowed_still_has_its_plan(api: Api) -> None:
    plan = (await post(api, EVENTS, PLAN, first=100)).json()["extensions"]["explain"]["plan"]
    assert (plan["allowed"], plan["totals"]["readUnits"]) == (False, 31718.5)


@pytest.mark.parametrize(
    "query", ["{", "{ unknown }", "query ($first: Int!) { locations(first: $first) { nextCursor } }"]
)
async def test_what_cannot_run_has_no_plan(api: Api, query: str) -> None:
    response = await post(api, query, PLAN)
    assert (response.status_code, set(response.json())) == (400, {"errors"})


@pytest.mark.parametrize(
    "extensions", [{"explain": "plans"}, {"explain": 1}, {"explain": {}}, {"cost": "yes"}, {"cost": 1}]
)
async def test_another_value_is_refused(api: Api, wire: Wire, extensions: dict[str, Any]) -> None:
    for accept in (GRAPHQL, "application/json"):
        response = await post(api, OWNER, extensions, accept)
        (error,) = response.json()["errors"]
        assert (response.status_code, error["extensions"]["code"]) == (400, "BAD_USER_INPUT")
    assert wire.calls == []


@pytest.mark.parametrize("extensions", [None, {}, {"explain": None, "cost": None}, {"explain": False, "cost": False}])
async def test_without_the_asking_there_is_no_plan(api: Api, extensions: Any) -> None:
    await api.owner("ada")
    answer = (await post(api, OWNER, extensions)).json()
    assert answer == {"data": {"owner": {"name": "ada", "lockers": {"nodes": []}}}}
