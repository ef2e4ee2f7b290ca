import sys
import time
from types import FrameType
from typing import Any

import httpx
import pytest

from tests.api import Api
from tests.attacks import attacks, large_documents, wide_requests
from tests.wire import Wire

ATTACKS = attacks()
LARGE_DOCUMENTS = large_documents()
WIDE_REQUESTS = wide_requests()
CODES = {"QUERY_TOO_COMPLEX", "GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED", "BAD_USER_INPUT"}
HEADERS = {"Content-Type": "application/json", "Accept": "application/graphql-response+json"}
MAX_CALLS = 500_000  # a tenth of a second or so
MAX_CPU_SECONDS = 5


async def send(api: Api, body: bytes) -> httpx.Response:
    """The response to a request that takes little work.

    Its function calls are counted, whose number does not depend on the machine. A single call that takes very long,
    such as a regular expression that backtracks, shows in the CPU time, whose limit any machine keeps.
    """
    calls = 0

    def count(_: FrameType, event: str, __: Any) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    began = time.process_time()
    sys.setprofile(count)
    try:
        response = await api.client.post("/graphql", content=body, headers=HEADERS)
    finally:
        sys.setprofile(None)
    assert calls < MAX_CALLS
    assert time.process_time() - began < MAX_CPU_SECONDS
    return response


@pytest.mark.parametrize("name", ATTACKS)
async def test_an_attack_is_refused_with_little_work_and_without_a_read(api: Api, wire: Wire, name: str) -> None:
    response = await send(api, ATTACKS[name])
    errors = response.json()["errors"]
    assert "data" not in response.json()
    assert 400 <= response.status_code < 500, response.text
    assert {error["extensions"]["code"] for error in errors} <= CODES
    assert all(error["message"] for error in errors)
    assert len(errors) <= 11
    assert len(response.content) < 64 * 1024
    assert not wire.calls
    assert await api.run("{ __typename }") == {"__typename": "Query"}


@pytest.mark.parametrize("name", LARGE_DOCUMENTS)
async def test_a_document_within_the_limits_is_answered_with_little_work(api: Api, name: str) -> None:
    await api.owner("a")
    response = await send(api, LARGE_DOCUMENTS[name])
    assert (response.status_code, response.json().get("errors")) == (200, None)


@pytest.mark.parametrize("name", WIDE_REQUESTS)
async def test_a_request_with_the_most_values_is_refused_with_little_work(api: Api, wire: Wire, name: str) -> None:
    response = await send(api, WIDE_REQUESTS[name])
    assert response.status_code == 200
    assert "BAD_USER_INPUT" in response.text
    assert not wire.calls
