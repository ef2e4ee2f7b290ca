"""What a client may read of a failure, and what only the log gets."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import pytest_asyncio
from graphql import GraphQLError, GraphQLSyntaxError, Source

from domain.errors import BadInputError, MissingError
from domain.principal import DEVELOPMENT_ADMIN
from loaders.items import DamagedItemError
from loaders.table.client import Connection
from resolvers.plan import Maximum
from resolvers.schema import build_schema
from server.app import create_app
from server.documents import Documents
from server.gate import Gate
from server.http import GraphQLEndpoint
from server.incoming import RefusedError
from server.limits import RequestLimits
from server.problems import describe_errors, request_error
from server.settings import Settings
from tests.api import CREATE_OWNER, unchanged
from tests.wire import Answer, Lose

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.types import Message

    from domain.principal import Principal
    from resolvers.context import Context
    from tests.api import Api
    from tests.wire import Call, Wire

LOCKER = '{ locker(lockerId: "l1") { lockerId status } }'
RENAME = """mutation {
  renameLocker(input: { lockerId: "l1", alias: "B", expectedVersion: 1 }) { locker { alias } userErrors { code } }
}"""
GATE, LIMITS = Gate(["*"], []), RequestLimits(10, 1, Maximum(1, 1, 1), None)
SECRET = "s3cret-token"  # noqa: S105  # stands for what must never be shown


@pytest_asyncio.fixture
async def one(api: Api, wire: Wire) -> Api:
    """An owner with one locker."""
    await api.owner("ada")
    await api.locker("l1", "ada")
    wire.reset()
    return api


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
    assert error["message"] == f"Something went wrong here. The request's id is {request_id}."
    assert error["path"] == [field]
    assert error["extensions"] == {"code": "INTERNAL_SERVER_ERROR", "status": 500, "requestId": request_id}
    for hidden in ("Damaged", "LOCKER#", "META", "status\\", SECRET, "Traceback", ".py"):
        assert hidden not in response.text
    # then: the log
    (record,) = [record for record in caplog.records if record.name == "server.problems"]
    assert record.levelno == logging.ERROR
    assert record.getMessage() == f"request {request_id} failed at ['{field}']"
    assert record.exc_info is not None
    assert isinstance(record.exc_info[1], DamagedItemError)
    assert record.exc_info[1].__traceback__ is not None
    assert "Traceback" in caplog.text
    assert "item LOCKER / META (a16ece53ad8b) has no good status" in caplog.text


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
    assert [record for record in caplog.records if record.name == "server.problems"] == []


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
    assert [record for record in caplog.records if record.name == "server.problems"] == []
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


async def test_a_store_that_nobody_listens_for_is_unavailable_while_the_health_check_is_fine() -> None:
    connection = Connection("nothing", "eu-central-1", "http://127.0.0.1:1", local=True)
    app = create_app(Settings(table_name="nothing"), connection)
    transport = httpx.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as client,
    ):
        response = await client.post("/graphql", json={"query": LOCKER})
        (error,) = response.json()["errors"]
        assert (error["extensions"]["code"], error["extensions"]["status"]) == ("UNAVAILABLE", 503)
        assert "127.0.0.1" not in response.text
        assert (await client.get("/health")).text == "ok"


async def test_a_missing_table_is_a_failure_of_ours_and_masked(
    one: Api, plain_client: Any, table: str, caplog: pytest.LogCaptureFixture
) -> None:
    await plain_client.delete_table(TableName=table)
    response = await post(one, LOCKER)
    (error,) = response.json()["errors"]
    assert error["extensions"]["code"] == "INTERNAL_SERVER_ERROR"
    assert table not in response.text
    assert response.headers["x-request-id"] in caplog.text


async def test_what_the_client_sent_is_not_logged_with_a_refusal_of_its_input(
    one: Api, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        await one.send(CREATE_OWNER, input={"kind": "USER", "name": f"{SECRET}\n", "email": SECRET})
        await one.send(CREATE_OWNER, input={"kind": SECRET, "name": "Eve"})
        await one.send('query ($c: String) { owner(ownerId: "ada") { lockers(after: $c) { nextCursor } } }', c=SECRET)
    ours = [record for record in caplog.records if record.name.startswith(("server", "resolvers", "loaders", "domain"))]
    assert [record for record in ours if SECRET in record.getMessage()] == []


def test_an_error_of_the_whole_request_has_the_form_of_every_other() -> None:
    assert request_error("No.", "BAD_USER_INPUT", 400, "id1") == {
        "message": "No.",
        "extensions": {"code": "BAD_USER_INPUT", "status": 400, "requestId": "id1"},
    }


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
            GraphQLError("Oops", original_error=MissingError("Oops")),
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
    (described,) = describe_errors([error], "id1", executed=executed)
    assert described["message"] == error.message
    assert described["extensions"] == extensions | {"requestId": "id1"}


def test_an_exception_that_nobody_expected_shows_nothing_of_itself(caplog: pytest.LogCaptureFixture) -> None:
    error = GraphQLError(SECRET, original_error=RuntimeError(SECRET), extensions={"leak": SECRET})
    described = describe_errors([error], "id1", executed=True)
    assert SECRET not in json.dumps(described)
    assert "id1" in caplog.text
    assert SECRET in caplog.text


async def test_who_asks_is_known_before_the_body_is_read() -> None:
    async def nobody(_: Request) -> Principal:
        raise RefusedError(401, "Who are you?", "UNAUTHENTICATED")

    def never(*_: object) -> Context:
        raise AssertionError

    async def receive() -> Message:
        raise AssertionError("the body was read")

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    documents = Documents({}, only_trusted=False, most_kept=0)
    endpoint = GraphQLEndpoint(
        build_schema(), nobody, never, lambda: "id1", documents, "everyone", GATE, LIMITS, shows_graphiql=False
    )
    headers = [(b"content-type", b"application/json"), (b"accept", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/graphql", "query_string": b"", "headers": headers}
    await endpoint(scope, receive, send)
    assert sent[0]["status"] == 401
    assert b"UNAUTHENTICATED" in sent[1]["body"]


@pytest.mark.parametrize("accept", ["application/json", "application/graphql-response+json"])
async def test_a_failure_outside_the_schema_is_masked_too(accept: str, caplog: pytest.LogCaptureFixture) -> None:
    async def anybody(_: Request) -> Principal:
        return DEVELOPMENT_ADMIN

    def broken(*_: object) -> Context:
        raise RuntimeError(SECRET)

    documents = Documents({}, only_trusted=False, most_kept=0)
    endpoint = GraphQLEndpoint(
        build_schema(), anybody, broken, lambda: "id1", documents, "everyone", GATE, LIMITS, shows_graphiql=False
    )
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=endpoint), base_url="http://smartlocker") as client:
        response = await client.post("/graphql", json={"query": "{ __typename }"}, headers={"Accept": accept})
    assert response.status_code == 500
    assert response.headers["content-type"] == f"{accept}; charset=utf-8"
    (error,) = response.json()["errors"]
    assert error["extensions"] == {"code": "INTERNAL_SERVER_ERROR", "status": 500, "requestId": "id1"}
    assert SECRET not in response.text
    assert SECRET in caplog.text
