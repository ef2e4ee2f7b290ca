"""What a client may read of a failure, and what only the log gets."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from graphql import GraphQLError, GraphQLSyntaxError, Source

from domain.errors import BadInputError, NotFoundError
from loaders.codecs import DamagedItemError
from server.http.error_format import format_errors
from tests.api import CREATE_OWNER, unchanged
from tests.wire import Answer, Lose

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    import httpx
    from starlette.requests import Request

    from domain.authorization import Principal
    from tests.api import Api
    from tests.wire import Call, Wire

LOCKER = '{ locker(lockerId: "l1") { lockerId status } }'
RENAME = """mutation {
  renameLocker(input: { lockerId: "l1", alias: "B", expectedVersion: 1 }) { locker { alias } userErrors { code } }
}"""
SECRET = "s3cret-token"  # noqa: S105  # stands for what must never be shown


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


async def post(api: Api, query: str) -> httpx.Response:
    return await api.client.post("/graphql", json={"query": query})


@pytest.mark.parametrize(
    ("query", "field", "data"),
    [
        (LOCKER, "locker", {"locker": None}),
        (LOCKER.replace('"l1"', '"l1", consistent: true'), "locker", {"locker": None}),
        (RENAME, "renameLocker", None),
    ],
)
async def test_an_unexpected_failure_is_masked_and_logged_under_the_requests_id(
    damaged: Api,
    dump: Callable[[], Any],
    caplog: pytest.LogCaptureFixture,
    query: str,
    field: str,
    data: dict[str, None] | None,
) -> None:
    # when
    async with unchanged(dump):
        with caplog.at_level(logging.DEBUG, "server"):
            response = await post(damaged, query)
    # then: the client
    request_id = response.headers["x-request-id"]
    answer = response.json()
    (error,) = answer["errors"]
    assert (response.status_code, answer["data"]) == (200, data)
    assert error["message"] == f"Internal server error. Quote the request id {request_id} when you report it."
    assert error["path"] == [field]
    assert error["extensions"] == {"code": "INTERNAL_SERVER_ERROR", "status": 500, "requestId": request_id}
    for hidden in ("Damaged", "LOCKER#", "META", "status\\", SECRET, "Traceback", ".py"):
        assert hidden not in response.text
    # then: the log
    (record,) = [record for record in caplog.records if record.name == "server.http.error_format"]
    assert record.levelno == logging.ERROR
    assert record.getMessage() == f"request {request_id} failed at ['{field}']"
    assert record.exc_info is not None
    assert isinstance(record.exc_info[1], DamagedItemError)
    assert record.exc_info[1].__traceback__ is not None
    assert "Traceback" in caplog.text
    assert "item LOCKER / META (a16ece53ad8b) has no valid status" in caplog.text


async def test_a_failure_leaves_the_rest_of_the_answer_alone(damaged: Api) -> None:
    query = '{ locker(lockerId: "l1") { status } owner(ownerId: "ada") { name lockers { nodes { alias } } } }'
    answer = (await post(damaged, query)).json()
    assert answer["data"] == {"locker": None, "owner": {"name": "ada", "lockers": {"nodes": [{"alias": None}]}}}
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["INTERNAL_SERVER_ERROR"]


async def test_an_expected_refusal_is_not_logged(one: Api, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "server"):
        for query in (
            '{ locker(lockerId: "nope") { status } }',
            "{ unknown }",
            "{",
            '{ locker(lockerId: "#") { id } }',
        ):
            assert "errors" in (await post(one, query)).json()
    assert [record for record in caplog.records if record.name == "server.http.error_format"] == []


def is_throttled(_: Call) -> Answer:
    return Answer.error("ThrottlingException")


def is_down(_: Call) -> Answer:
    return Answer(500, {"__type": "com.amazonaws.dynamodb.v20120810#InternalServerError", "message": SECRET})


def is_gone(_: Call) -> Answer:
    return Answer(503, {"message": SECRET})


def is_cut_off(_: Call) -> Lose:
    return Lose()


@pytest.mark.parametrize("fault", [is_throttled, is_down, is_gone, is_cut_off])
async def test_a_store_that_does_not_answer_is_unavailable_and_the_same_query_succeeds_later(
    one: Api, wire: Wire, caplog: pytest.LogCaptureFixture, fault: Callable[[Call], Any]
) -> None:
    # given
    wire.fault = fault
    # when
    response = await post(one, LOCKER)
    # then
    request_id = response.headers["x-request-id"]
    (error,) = response.json()["errors"]
    assert response.json()["data"] == {"locker": None}
    assert error["path"] == ["locker"]
    assert error["message"].endswith(": try again in a moment.")
    assert error["extensions"] == {"code": "UNAVAILABLE", "status": 503, "requestId": request_id}
    assert SECRET not in response.text
    assert wire.operations == {"GetItem": 3}
    assert [record for record in caplog.records if record.name == "server.http.error_format"] == []
    wire.fault = lambda _: None
    assert (await post(one, LOCKER)).json() == {"data": {"locker": {"lockerId": "l1", "status": "AVAILABLE"}}}


async def test_a_mutation_that_the_store_never_took_is_unavailable_and_wrote_nothing(
    one: Api, wire: Wire, dump: Callable[[], Any]
) -> None:
    wire.fault = lambda call: Answer(500, {}) if call.operation == "TransactWriteItems" else None
    async with unchanged(dump):
        answer = (await post(one, RENAME)).json()
    assert answer["data"] is None
    (error,) = answer["errors"]
    assert (error["path"], error["extensions"]["code"], error["extensions"]["status"]) == (
        ["renameLocker"],
        "UNAVAILABLE",
        503,
    )
    wire.fault = lambda _: None
    assert (await post(one, RENAME)).json()["data"]["renameLocker"] == {"locker": {"alias": "B"}, "userErrors": []}


async def test_a_missing_table_is_a_failure_of_ours_and_masked(
    one: Api, plain_client: Any, table: str, caplog: pytest.LogCaptureFixture
) -> None:
    await plain_client.delete_table(TableName=table)
    response = await post(one, LOCKER)
    (error,) = response.json()["errors"]
    assert error["extensions"]["code"] == "INTERNAL_SERVER_ERROR"
    assert table not in response.text
    assert response.headers["x-request-id"] in caplog.text


async def test_the_log_of_a_refused_input_holds_no_value_of_the_client(
    one: Api, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        await one.send(CREATE_OWNER, input={"kind": "USER", "name": f"{SECRET}\n", "email": SECRET})
        await one.send(CREATE_OWNER, input={"kind": SECRET, "name": "Eve"})
        await one.send('query ($c: String) { owner(ownerId: "ada") { lockers(after: $c) { nextCursor } } }', c=SECRET)
    ours = [record for record in caplog.records if record.name.startswith(("server", "resolvers", "loaders", "domain"))]
    assert [record for record in ours if SECRET in record.getMessage()] == []


@pytest.mark.parametrize(
    ("error", "executed", "extensions"),
    [
        (GraphQLSyntaxError(Source("{"), 1, "Oops"), False, {"code": "GRAPHQL_PARSE_FAILED", "status": 400}),
        (GraphQLError("Oops"), False, {"code": "GRAPHQL_VALIDATION_FAILED", "status": 400}),
        (GraphQLError("Oops"), True, {"code": "BAD_USER_INPUT", "status": 400}),
        (
            GraphQLError("Variable '$input' has invalid value at .events[3].action: Oops"),
            True,
            {"code": "BAD_USER_INPUT", "status": 400, "inputPath": ["input", "events", "3", "action"]},
        ),
        (
            GraphQLError("Variable '$input' has invalid value: Oops: .really"),
            True,
            {"code": "BAD_USER_INPUT", "status": 400, "inputPath": ["input"]},
        ),
        (
            GraphQLError("Oops", original_error=NotFoundError("Oops")),
            True,
            {"code": "NOT_FOUND", "status": 404},
        ),
        (
            GraphQLError("Oops", original_error=BadInputError("Oops", ("window", "from"))),
            True,
            {"code": "BAD_USER_INPUT", "status": 400, "inputPath": ["window", "from"]},
        ),
    ],
)
def test_each_kind_of_error_has_its_code_and_status(
    error: GraphQLError, extensions: dict[str, Any], *, executed: bool
) -> None:
    (described,) = format_errors([error], "id1", executed=executed)
    assert described["message"] == error.message
    assert described["extensions"] == extensions | {"requestId": "id1"}


def test_an_unexpected_exception_is_masked(caplog: pytest.LogCaptureFixture) -> None:
    error = GraphQLError(SECRET, original_error=RuntimeError(SECRET), extensions={"leak": SECRET})
    described = format_errors([error], "id1", executed=True)
    assert SECRET not in json.dumps(described)
    assert "id1" in caplog.text
    assert SECRET in caplog.text


@pytest.mark.parametrize("accept", ["application/json", "application/graphql-response+json"])
async def test_a_failure_outside_the_schema_is_masked_too(
    open_api: Callable[..., AbstractAsyncContextManager[Api]], accept: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(_: Request) -> Principal:
        raise RuntimeError(SECRET)

    async with open_api(authenticator=broken) as api:
        response = await api.client.post("/graphql", json={"query": "{ __typename }"}, headers={"Accept": accept})
    assert response.status_code == 500
    assert response.headers["content-type"] == f"{accept}; charset=utf-8"
    (error,) = response.json()["errors"]
    request_id = response.headers["x-request-id"]
    assert error["extensions"] == {"code": "INTERNAL_SERVER_ERROR", "status": 500, "requestId": request_id}
    assert SECRET not in response.text
    assert SECRET in caplog.text
