import json
import re
from decimal import Decimal
from typing import Any

import pytest

from tests.api import Api
from tests.conftest import Dump
from tests.wire import Wire

RECORD = """mutation ($input: RecordAccessEventInput!) {
  recordAccessEvent(input: $input) { accessEvent { eventId metadata } userErrors { code message path status } }
}"""
RECORD_LITERAL = """mutation { recordAccessEvent(input: {
  lockerId: "l1", eventId: "e1", action: OPEN, actorId: "ada", result: SUCCESS, metadata: { value: %s }
}) { accessEvent { eventId metadata } userErrors { code message path status } } }"""
LATEST = '{ locker(lockerId: "l1") { latestEvent { metadata } } }'
EVENT = {"lockerId": "l1", "eventId": "e1", "action": "OPEN", "actorId": "ada", "result": "SUCCESS"}

NUMBERS = [
    "0",
    "-0.5",
    "0.1",
    "0.30000000000000004",
    "12345678901234567890.123456789",
    "1e3",
    "1.50",
    "-1E-130",
    "9.9999999999999999999999999999999999999E+125",
    "12345678901234567890123456789012345678",
    "9007199254740993",
]
MONSTERS = {"a tiny one": "1e-99999999999999999999", "a huge one": "1e99999999999999999999", "a long one": "7" * 5000}


async def post(api: Api, query: str, variables: str = "{}") -> Any:
    """The response; the variables are given as text."""
    body = f'{{"query": {json.dumps(query)}, "variables": {variables}}}'
    return await api.client.post("/graphql", content=body, headers={"Content-Type": "application/json"})


async def send_raw(api: Api, query: str, variables: str = "{}") -> Any:
    """The answer with every number as it stands in the text."""
    answer = json.loads((await post(api, query, variables)).text, parse_float=Decimal, parse_int=Decimal)
    assert "errors" not in answer, answer
    return answer["data"]


def as_variables(value: str) -> str:
    return json.dumps({"input": EVENT | {"metadata": {"value": "@"}}}).replace('"@"', value)


@pytest.mark.parametrize("number", NUMBERS)
async def test_a_number_is_exact_and_the_same_in_variable_and_literal(one: Api, number: str, dump: Dump) -> None:
    metadata = {"value": Decimal(number)}
    for sent in ((RECORD_LITERAL % number,), (RECORD, as_variables(number))):
        data = await send_raw(one, *sent)
        recorded = {"accessEvent": {"eventId": "e1", "metadata": metadata}, "userErrors": []}
        assert data["recordAccessEvent"] == recorded
        assert (await send_raw(one, LATEST))["locker"]["latestEvent"]["metadata"] == metadata
    assert (await dump())["LOCKER#l1", "EVT#2026-03-01T12:00:00.000Z#e1"]["metadata"] == metadata


async def test_every_kind_of_json_value_comes_back_as_it_was(one: Api) -> None:
    metadata = {
        "text": "Grüße 🔒 \u0000 \n",
        "yes": True,
        "no": False,
        "nothing": None,
        "list": [1, "two", None, [], {}],
        "deep": {"3": {"4": {"5": {}}}},
    }
    await one.run(RECORD, input=EVENT | {"metadata": metadata})
    assert (await one.run(LATEST))["locker"]["latestEvent"]["metadata"] == metadata


async def test_a_variable_inside_a_literal_is_taken(one: Api) -> None:
    query = RECORD_LITERAL.replace("mutation {", "mutation ($value: JSON) {") % "$value"
    data = await send_raw(one, query, '{"value": {"battery": 0.1}}')
    assert data["recordAccessEvent"]["accessEvent"]["metadata"] == {"value": {"battery": Decimal("0.1")}}


# The limits are tested in the domain; here is one of a size, one of a number and one of another type.
@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"value": "é" * (8 * 1024)}, "metadata must be at most 16 KB; it is 16396 bytes"),
        (
            {"n": 10**38 + 1},
            "metadata must contain only numbers of at most 38 digits and with exponents from -130 to 125",
        ),
        ([{"a": 1}], "metadata must be a JSON object"),
    ],
)
async def test_metadata_beyond_its_limits_is_refused(one: Api, wire: Wire, metadata: object, message: str) -> None:
    data = await one.run(RECORD, input=EVENT | {"metadata": metadata})
    refused = {"code": "BAD_USER_INPUT", "message": message, "path": ["input", "metadata"], "status": 400}
    assert data["recordAccessEvent"] == {"accessEvent": None, "userErrors": [refused]}
    assert not wire.calls


@pytest.mark.parametrize("number", MONSTERS.values(), ids=MONSTERS)
async def test_a_number_out_of_range_in_a_body_is_a_bad_request(one: Api, wire: Wire, number: str) -> None:
    response = await post(one, RECORD, as_variables(number))
    assert (response.status_code, response.headers["content-type"]) == (400, "application/json; charset=utf-8")
    (error,) = response.json()["errors"]
    assert re.fullmatch(
        r"The body is not valid JSON: (number is .+ \(char \d+\)|a number is out of range)\.", error["message"]
    )
    assert error["extensions"]["code"] == "BAD_USER_INPUT"
    assert not wire.calls


@pytest.mark.parametrize("name", ["a tiny one", "a huge one"])
async def test_a_number_out_of_range_in_a_literal_is_refused_in_our_words(one: Api, wire: Wire, name: str) -> None:
    response = await post(one, RECORD_LITERAL % MONSTERS[name])
    assert "data" not in response.json()
    (error,) = response.json()["errors"]
    assert error["message"].endswith("Number is out of range.")
    assert (error["extensions"]["code"], error["extensions"]["status"]) == ("GRAPHQL_VALIDATION_FAILED", 400)
    for word in ("decimal", "Decimal", "int(", "Exceeds the limit", "sys.", "Traceback", "class"):
        assert word not in response.text
    assert not wire.calls
