import json
import logging
import re
from typing import Any

import pytest
import pytest_asyncio
from graphql import GraphQLError
from starlette.requests import Request

from domain.authorization import Principal
from loaders.conversion import DamagedItemError
from server.http.error_format import format_errors
from tests.api import Api, unchanged
from tests.conftest import Dump, OpenApi
from tests.over_http import GRAPHQL, JSON, assert_rejected, only_error, post
from tests.wire import Answer, Lose, Wire

LOCKER = '{ locker(lockerId: "l1") { lockerId status } }'
RENAME = """mutation {
  renameLocker(input: { lockerId: "l1", alias: "B", expectedVersion: 1 }) { locker { alias } userErrors { code } }
}"""
SECRET = "s3cret-token"  # noqa: S105  # stands for what must never be shown
KIND = "mutation ($kind: AccessCodeKind!) { createAccessCode(input: { kind: $kind }) { digits } }"
AT_INPUT = "Argument 'input' has invalid value at "
KINDS = "Expected RESERVATION, ONE_TIME, COURIER, STANDING or BOOKING."
LITERAL = "mutation { createAccessCode(input: { kind: %s, validUntil: %s }) { digits } }"


@pytest_asyncio.fixture
async def damaged(one: Api, plain_client: Any, table: str) -> Api:
    """The same, but the locker's record has a status that no locker has."""
    await plain_client.update_item(
        TableName=table,
        Key={"PK": {"S": "LOCKER#l1"}, "SK": {"S": "META"}},
        UpdateExpression="SET #status = :bad",
        ExpressionAttributeNames={"#status": "status"},
        ExpressionAttributeValues={":bad": {"S": SECRET}},
    )
    return one


def logged(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in caplog.records if record.name == "server.http.error_format"]


@pytest.mark.parametrize(
    ("query", "field", "data"),
    [
        (LOCKER, "locker", {"locker": None}),
        (LOCKER.replace('"l1"', '"l1", consistent: true'), "locker", {"locker": None}),
        (RENAME, "renameLocker", None),
    ],
)
async def test_an_unexpected_failure_is_masked_and_logged_under_the_requests_id(
    damaged: Api, dump: Dump, caplog: pytest.LogCaptureFixture, query: str, field: str, data: dict[str, None] | None
) -> None:
    async with unchanged(dump):
        response = await post(damaged, query)
    request_id = response.headers["x-request-id"]
    error = only_error(response, "INTERNAL_SERVER_ERROR", 500)
    assert (response.status_code, response.json()["data"], error["path"]) == (200, data, [field])
    assert error["message"] == f"Internal server error. Quote the request id {request_id} when you report it."
    assert len(error["extensions"]) == 3
    for hidden in ("Damaged", "LOCKER#", "META", "status\\", SECRET, "Traceback", ".py"):
        assert hidden not in response.text
    (record,) = logged(caplog)
    assert (record.levelno, record.getMessage()) == (logging.ERROR, f"request {request_id} failed at ['{field}']")
    assert record.exc_info is not None
    assert isinstance(record.exc_info[1], DamagedItemError)
    assert "Traceback" in caplog.text
    assert "item LOCKER / META (a16ece53ad8b) has no valid status" in caplog.text


async def test_a_failure_leaves_the_rest_of_the_answer_alone(damaged: Api) -> None:
    query = '{ locker(lockerId: "l1") { status } owner(ownerId: "ada") { name lockers { nodes { alias } } } }'
    answer = (await post(damaged, query)).json()
    assert answer["data"] == {"locker": None, "owner": {"name": "ada", "lockers": {"nodes": [{"alias": None}]}}}
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["INTERNAL_SERVER_ERROR"]


async def test_an_expected_refusal_is_not_logged(one: Api, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "server"):
        for query in ('{ locker(lockerId: "no") { id } }', "{ unknown }", "{", '{ locker(lockerId: "#") { id } }'):
            assert "errors" in (await post(one, query)).json()
    assert logged(caplog) == []


async def test_an_argument_that_must_not_be_null_is_named(one: Api) -> None:
    query = 'query ($no: Boolean) { locker(lockerId: "l1", consistent: $no) { alias } }'
    error = only_error(await post(one, query, variables={"no": None}), "BAD_USER_INPUT", 400)
    assert error["extensions"]["inputPath"] == ["consistent"]


@pytest.mark.parametrize(
    ("query", "kind", "message"),
    [
        (KIND, f"{SECRET}, found: 1", KINDS),
        (KIND, f"{SECRET}' does not exist in 'Role' enum.", KINDS),
        (KIND, "STANDIN", KINDS),
        (KIND, [SECRET], KINDS),
        (LITERAL % (f'"{SECRET}: a"', "null"), None, f"{AT_INPUT}.kind: {KINDS}"),
        (LITERAL % ("STANDIN", "null"), None, f"{AT_INPUT}.kind: {KINDS}"),
        (
            LITERAL % ("STANDING", f'"{SECRET}"'),
            None,
            f"{AT_INPUT}.validUntil: DateTime value is not an RFC 3339 time such as 2026-03-01T09:30:00Z.",
        ),
        (LITERAL % (f'STANDING "{SECRET}, found: 1"', "null"), None, "Syntax Error: Expected Name, found String."),
        (
            KIND.replace("AccessCodeKind", "CreateAccessCodeInput").replace("{ kind: $kind }", "$kind"),
            {"kind": "STANDING", SECRET: 1},
            "Expected value of type 'CreateAccessCodeInput' not to include an unknown field.",
        ),
        (f'{{ """{SECRET}""" }}', None, "Syntax Error: Expected Name, found BlockString."),
    ],
)
async def test_an_error_about_a_value_does_not_quote_it(one: Api, query: str, kind: Any, message: str) -> None:
    response = await post(one, query, variables={} if kind is None else {"kind": kind})
    (error,) = response.json()["errors"]
    assert error["message"].removeprefix("Variable '$kind' has invalid value: ") == message


@pytest.mark.parametrize(
    ("event", "place"),
    [
        ({"action": "OPN"}, ["action"]),
        ({"action": None}, ["action"]),
        ({"lockerId": "l1", "actor": "ada"}, ["actor"]),
        ({"result": "SUCCESS", "action": "OPEN"}, ["lockerId"]),
        ({"lockerId": "l1", "no word": SECRET}, []),
    ],
)
async def test_wrong_and_unknown_values_are_named_by_path(one: Api, event: dict[str, Any], place: list[str]) -> None:
    """In the variables, and as far as such a name can be written in a document, there too."""
    record = "mutation %s { recordAccessEvents(input: %s) { userErrors { code } } }"
    good = {"lockerId": "l1", "action": "OPEN", "actorId": "ada", "result": "SUCCESS"}
    whole = event if place == ["lockerId"] else good | event
    values = {"events": [good, whole]}
    response = await post(one, record % ("($i: RecordAccessEventsInput!)", "$i"), variables={"i": values})
    assert ["i", "events", "1", *place] in [error["extensions"].get("inputPath") for error in response.json()["errors"]]
    assert SECRET not in response.text
    if not place:
        return
    written = re.sub(r'"(\w+)":', r"\1:", json.dumps(values)).replace('"OPEN"', "OPEN").replace('"SUCCESS"', "SUCCESS")
    response = await post(one, record % ("", written.replace('"OPN"', "OPN")))
    (error,) = [
        error
        for error in response.json()["errors"]
        if error["extensions"]["inputPath"] == ["input", "events", "1", *place]
    ]
    assert (error["extensions"]["code"], len(error["locations"])) == ("GRAPHQL_VALIDATION_FAILED", 1)


@pytest.mark.parametrize(
    "fault",
    [
        Answer.error("ThrottlingException"),
        Answer(500, {"__type": "com.amazonaws.dynamodb.v20120810#InternalServerError", "message": SECRET}),
        Answer(503, {"message": SECRET}),
        Lose(),
    ],
)
async def test_a_store_that_does_not_answer_is_unavailable_and_the_same_query_succeeds_later(
    one: Api, wire: Wire, caplog: pytest.LogCaptureFixture, fault: Answer | Lose
) -> None:
    wire.fault = lambda _: fault
    response = await post(one, LOCKER)
    error = only_error(response, "UNAVAILABLE", 503)
    assert (response.json()["data"], error["path"]) == ({"locker": None}, ["locker"])
    assert error["message"].endswith(": try again in a moment.")
    assert SECRET not in response.text
    assert wire.operations == {"GetItem": 3}
    assert logged(caplog) == []
    wire.fault = lambda _: None
    assert (await post(one, LOCKER)).json() == {"data": {"locker": {"lockerId": "l1", "status": "AVAILABLE"}}}


async def test_a_missing_table_is_a_failure_of_ours_and_masked(
    one: Api, plain_client: Any, table: str, caplog: pytest.LogCaptureFixture
) -> None:
    await plain_client.delete_table(TableName=table)
    response = await post(one, LOCKER)
    only_error(response, "INTERNAL_SERVER_ERROR", 500)
    assert table not in response.text
    assert response.headers["x-request-id"] in caplog.text


def test_the_extensions_of_an_unexpected_exception_are_masked(caplog: pytest.LogCaptureFixture) -> None:
    error = GraphQLError(SECRET, original_error=RuntimeError(SECRET), extensions={"leak": SECRET})
    assert SECRET not in json.dumps(format_errors([error], "id1", executed=True))
    assert "id1" in caplog.text


@pytest.mark.parametrize("accept", [JSON, GRAPHQL])
@pytest.mark.parametrize("profile", ["development", "production"])
async def test_a_failure_outside_the_schema_is_masked_too(
    open_api: OpenApi, profile: str, accept: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(_: Request) -> Principal:
        raise RuntimeError(SECRET)

    async with open_api(profile=profile, authenticator=broken) as api:
        response = await post(api, "{ __typename }", accept)
    assert_rejected(response, "INTERNAL_SERVER_ERROR", 500, accept=accept)
    for hidden in (SECRET, "RuntimeError", "Traceback"):
        assert hidden not in response.text
    assert SECRET in caplog.text
