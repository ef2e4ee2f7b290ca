"""What a request took is told in every answer to whoever asks, also where the request is refused as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.principals import owner
from tests.wire import Hold

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from tests.api import Api
    from tests.wire import Wire

OWNER = '{ owner(ownerId: "ada") { name } }'
COST = {"operations": 1, "items": 1, "readUnits": 0.5, "writeUnits": 0}
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
    asked = content if by_header else content | {"extensions": {"cost": True}}
    headers = {"SmartLocker-Cost": "1"} if by_header else {}
    answer = (await api.client.post("/graphql", json=asked, headers=headers)).json()
    assert [error["extensions"]["code"] for error in answer["errors"]] == [code]
    assert answer["extensions"] == {"cost": NOTHING}
    assert "extensions" not in (await api.client.post("/graphql", json=content)).json()
    declined = content | {"extensions": {"cost": False}}
    assert "extensions" not in (await api.client.post("/graphql", json=declined, headers=headers)).json()
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
async def test_a_request_that_cannot_be_read_has_a_cost_where_a_header_asks(
    development_api: Api, wire: Wire, body: bytes, headers: dict[str, str], status: int
) -> None:
    sent = {"Content-Type": "application/json", "SmartLocker-Cost": "1"} | headers
    response = await development_api.client.post("/graphql", content=body, headers=sent)
    assert response.status_code == status
    told = response.json().get("extensions")
    assert told == (None if b"5" in body else {"cost": NOTHING})
    assert not wire.calls


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": "Bearer nonsense"}, 401),
        ({"Origin": "https://elsewhere.example"}, 403),
        ({"Accept": "text/plain"}, 406),
    ],
)
async def test_a_url_asks_for_the_cost_of_a_refusal_too(
    development_api: Api, wire: Wire, headers: dict[str, str], status: int
) -> None:
    for extensions, told in (('{"cost": true}', {"cost": NOTHING}), ('{"cost": false}', None), ("{", None)):
        parameters = {"query": OWNER, "variables": "{", "extensions": extensions}
        response = await development_api.client.get("/graphql", params=parameters, headers=headers)
        assert response.status_code == status
        assert response.json().get("extensions") == told
    assert not wire.calls


async def test_a_request_over_its_callers_budget_has_the_price_that_was_too_much(
    open_api: Callable[..., AbstractAsyncContextManager[Api]], wire: Wire
) -> None:
    many = " ".join(f'o{number}: owner(ownerId: "{number}") {{ name }}' for number in range(9))
    content = {"query": f"{{ {many} }}", "extensions": {"cost": True}}
    async with open_api(rate_limit_units=60, rate_limit_burst=10) as api:
        answers = [await api.client.post("/graphql", json=content) for _ in range(3)]
    response = answers[-1]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    told = response.json()["extensions"]
    assert set(told) == {"cost", "rateLimit"}
    price = {"operations": 9, "items": 9, "readUnits": 4.5, "writeUnits": 0}
    assert told["cost"] == NOTHING | {"expected": price, "maximum": price}
    assert len(wire.calls) == 2


async def test_of_what_a_request_took_before_it_was_given_up_only_admins_know(
    open_api: Callable[..., AbstractAsyncContextManager[Api]], wire: Wire
) -> None:
    hold = Hold()
    async with open_api(request_seconds=1.5) as api:
        await api.send(OWNER)  # the first request takes longer than others
        wire.fault = hold
        for caller, actual in ((api, COST | {"items": 0, "readUnits": 0}), (api.by(owner("ada")), None)):
            headers = caller.headers | {"SmartLocker-Cost": "1"}
            response = await caller.client.post("/graphql", json={"query": OWNER}, headers=headers)
            assert response.status_code == 504
            priced = NOTHING | {"expected": COST, "maximum": COST}
            assert response.json()["extensions"]["cost"] == priced | {"actual": actual}
        hold.release()
