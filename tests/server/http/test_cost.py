from typing import Any

import pytest

from domain.authorization import DEVELOPMENT_ADMIN, Principal
from tests.api import Api
from tests.conftest import OpenApi
from tests.over_http import post
from tests.principals import owner
from tests.server.deadlines import held_until_its_deadline
from tests.wire import Wire

OWNER = '{ owner(ownerId: "ada") { name } }'
COST = {"operations": 1, "items": 1, "readUnits": 0.5, "writeUnits": 0}
ASKED: dict[str, Any] = {"extensions": {"cost": True}}
DECLINED: dict[str, Any] = {"extensions": {"cost": False}}
NOTHING = {
    "expected": None,
    "maximum": None,
    "actual": dict.fromkeys(COST, 0),
    "limit": {"readUnits": 25_000, "operations": 1500, "items": 20_000},
}


@pytest.mark.parametrize("by_header", [True, False])
@pytest.mark.parametrize(
    ("content", "code"),
    [
        ({"query": OWNER, "operationName": "Unknown"}, "BAD_USER_INPUT"),
        ({"query": ""}, "BAD_USER_INPUT"),
        ({"query": OWNER, "variables": []}, "BAD_USER_INPUT"),
        ({"documentId": "unknown"}, "PERSISTED_QUERY_NOT_FOUND"),
    ],
)
async def test_a_request_that_is_refused_as_a_whole_has_a_cost(
    api: Api, wire: Wire, content: dict[str, Any], code: str, *, by_header: bool
) -> None:
    headers = {"SmartLocker-Cost": "1"} if by_header else {}
    answer = (await post(api, None, headers=headers, **content | ({} if by_header else ASKED))).json()
    assert [error["extensions"]["code"] for error in answer["errors"]] == [code]
    assert answer["extensions"] == {"cost": NOTHING}
    assert "extensions" not in (await post(api, None, **content)).json()
    assert "extensions" not in (await post(api, None, headers=headers, **content | DECLINED)).json()
    assert not wire.calls


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", {}, 400),
        (b"[]", {}, 400),
        (b'{"extensions": []}', {}, 400),
        (b'{"extensions": {"cost": 5}}', {"SmartLocker-Cost": "1"}, 400),
        (b"{}", {"Authorization": "Bearer nonsense"}, 401),
        (b"{}", {"Host": "elsewhere.example"}, 403),
        (b"{}", {"Accept": "text/plain"}, 406),
        (b"{}", {"Content-Type": "text/plain"}, 415),
    ],
)
async def test_a_request_that_cannot_be_parsed_has_a_cost_if_a_header_requests_it(
    development_api: Api, wire: Wire, body: bytes, headers: dict[str, str], status: int
) -> None:
    sent = {"Content-Type": "application/json", "SmartLocker-Cost": "1"} | headers
    response = await development_api.client.post("/graphql", content=body, headers=sent)
    assert response.status_code == status
    reported = response.json().get("extensions")
    assert reported == (None if b"5" in body else {"cost": NOTHING})
    assert not wire.calls


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": "Bearer nonsense"}, 401),
        ({"Origin": "https://elsewhere.example"}, 403),
        ({"Accept": "text/plain"}, 406),
    ],
)
async def test_the_cost_of_a_refused_request_can_be_requested_by_url(
    development_api: Api, wire: Wire, headers: dict[str, str], status: int
) -> None:
    for extensions, reported in (('{"cost": true}', {"cost": NOTHING}), ('{"cost": false}', None), ("{", None)):
        parameters = {"query": OWNER, "variables": "{", "extensions": extensions}
        response = await development_api.client.get("/graphql", params=parameters, headers=headers)
        assert response.status_code == status
        assert response.json().get("extensions") == reported
    assert not wire.calls


async def test_a_request_over_the_budget_of_its_caller_shows_its_price(open_api: OpenApi, wire: Wire) -> None:
    many = " ".join(f'o{number}: owner(ownerId: "{number}") {{ name }}' for number in range(9))
    async with open_api(rate_limit_units=60, rate_limit_burst=24) as api:
        answers = [await post(api, f"{{ {many} }}", **ASKED) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    reported = answers[-1].json()["extensions"]
    assert set(reported) == {"cost", "rateLimit"}
    price = {"operations": 9, "items": 9, "readUnits": 4.5, "writeUnits": 0}
    assert reported["cost"] == NOTHING | {"expected": price, "maximum": price}
    assert len(wire.calls) == 2


@pytest.mark.parametrize(
    ("principal", "actual"), [(DEVELOPMENT_ADMIN, COST | {"items": 0, "readUnits": 0}), (owner("ada"), None)]
)
async def test_the_cost_of_a_request_that_timed_out_is_shown_to_admins_only(
    open_api: OpenApi, wire: Wire, principal: Principal, actual: dict[str, float] | None
) -> None:
    response = await held_until_its_deadline(open_api, wire, lambda api: post(api.by(principal), OWNER, **ASKED))
    priced = NOTHING | {"expected": COST, "maximum": COST}
    assert response.json()["extensions"]["cost"] == priced | {"actual": actual}
