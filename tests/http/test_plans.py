from typing import Any

import pytest

from tests.api import CREATE_OWNER, Api
from tests.conftest import OpenApi
from tests.over_http import GRAPHQL, JSON
from tests.over_http import post as sent
from tests.wire import Wire

LATEST = '{ owner(ownerId: "ada") { name lockers(first: 2) { nodes { latestEvent { action } } } } }'
EVENTS = """query ($first: Int!) { locations(status: ACTIVE, first: $first) { nodes {
  lockers(first: $first) { nodes { accessEvents(first: $first) { nodes { action } } } }
} } }"""
PLAN = {"explain": "plan"}


async def post(api: Api, query: str, extensions: Any = None, accept: str = GRAPHQL, **variables: Any) -> Any:
    return await sent(api, query, accept, variables=variables, extensions=extensions)


async def test_a_document_that_would_take_too_much_has_a_plan_and_is_refused_unread(api: Api, wire: Wire) -> None:
    response = await post(api, EVENTS, first=100)
    (error,) = response.json()["errors"]
    assert (response.status_code, set(response.json())) == (400, {"errors"})
    assert error["extensions"] == {
        "code": "QUERY_TOO_COMPLEX",
        "status": 400,
        "expected": {"operations": 10_101, "items": 1_020_201, "readUnits": 45_409, "writeUnits": 0},
        "admitted": {"operations": 12_626, "items": 1_020_201, "readUnits": 45_409, "writeUnits": 0},
        "limit": {"readUnits": 25_000, "operations": 1500, "items": 20_000},
        "field": "locations.nodes.lockers.nodes.accessEvents",
        "requestId": response.headers["x-request-id"],
    }
    for reported in ("45,409 read units", "25,000", "locations.nodes.lockers.nodes.accessEvents"):
        assert reported in error["message"]
    plan = (await post(api, EVENTS, PLAN, first=100)).json()["extensions"]["explain"]
    assert plan["totals"]["admitted"] == error["extensions"]["admitted"]
    assert wire.calls == []
    assert (await post(api, EVENTS, first=10)).status_code == 200


@pytest.mark.parametrize(
    ("settings", "is_allowed"),
    [
        ({"max_read_units": 2, "max_operations": 4, "max_items": 6}, True),
        ({"max_read_units": 1}, False),
        ({"max_operations": 3}, False),
        ({"max_items": 5}, False),
    ],
)
async def test_the_limit_can_be_set_and_met(open_api: OpenApi, settings: dict[str, int], *, is_allowed: bool) -> None:
    async with open_api(**settings) as api:
        answer = await api.send(LATEST)
    code = answer["errors"][0]["extensions"]["code"]
    assert code == ("NOT_FOUND" if is_allowed else "QUERY_TOO_COMPLEX")


@pytest.mark.parametrize(
    ("values", "path"),
    [
        ({"kind": "USR", "name": "Ada"}, ["input", "kind"]),
        ({"kind": "USER", "name": 1}, ["input", "name"]),
        ({"kind": "USER"}, ["input", "name"]),
        ([[]] * 20, ["input"]),
        (None, ["input"]),
    ],
)
@pytest.mark.parametrize("accept", [GRAPHQL, JSON])
async def test_invalid_variables_are_refused_alike_for_a_plan_and_a_run(
    api: Api, wire: Wire, values: Any, path: list[str], accept: str
) -> None:
    ran, planned = [await post(api, CREATE_OWNER, extensions, accept, input=values) for extensions in (None, PLAN)]
    reported = [response.text.replace(response.headers["x-request-id"], "") for response in (ran, planned)]
    assert (planned.status_code, reported[1]) == (ran.status_code, reported[0])
    extensions = planned.json()["errors"][0]["extensions"]
    assert (extensions["code"], extensions["inputPath"]) == ("BAD_USER_INPUT", path)
    assert wire.calls == []
