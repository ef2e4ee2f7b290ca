import gzip
import json
import time
from itertools import product
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
import pytest_asyncio

from domain.ids import check_ulid
from server.new_ids import new_id
from tests.api import Api, mutation, unchanged
from tests.conftest import Dump
from tests.over_http import GRAPHQL, JSON, assert_rejected, only_error
from tests.wire import Wire

QUERY = '{ owner(ownerId: "ada") { name } }'
NAMED = 'query One { owner(ownerId: "ada") { name } } query Two { owner(ownerId: "ada") { version } } %s'
MUTATION = 'mutation Make { createOwner(input: { ownerId: "eve", kind: USER, name: "Eve" }) { owner { name } } }'
FOUND = {"data": {"owner": {"name": "ada"}}}


@pytest_asyncio.fixture
async def ada(api: Api, wire: Wire) -> httpx.AsyncClient:
    await api.owner("ada")
    wire.reset()
    return api.client


async def post(client: httpx.AsyncClient, content: Any, **headers: str) -> httpx.Response:
    body = content if isinstance(content, bytes | str) else json.dumps(content)
    return await client.post("/graphql", content=body, headers={"Content-Type": JSON, **headers})


def url(**parameters: str) -> str:
    return f"/graphql?{urlencode(parameters)}"


def assert_refused(response: httpx.Response, status: int, message: str, accept: str = JSON) -> None:
    assert_rejected(response, "BAD_USER_INPUT", status, message, accept)
    assert set(response.json()) == {"errors"}
    assert response.headers["cache-control"] == "no-store"


async def test_a_query_with_variables_and_a_name_comes_in_the_body_or_in_the_url(ada: httpx.AsyncClient) -> None:
    document = "query One ($id: ID!) { owner(ownerId: $id) { name } } query Two { __typename }"
    named = {"query": document, "operationName": "One", "variables": {"id": "ada"}, "extensions": {"any": 1}}
    for content in ({"query": QUERY}, {"query": QUERY, "variables": None, "operationName": None}, named):
        texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in content.items()}
        in_url = url(**texts | ({} if texts.get("operationName", "null") != "null" else {"operationName": ""}))
        for response in (await post(ada, content), await ada.get(in_url)):
            assert (response.status_code, response.json()) == (200, FOUND)
            assert response.headers["content-type"] == f"{JSON}; charset=utf-8"


async def test_the_named_one_of_several_operations_is_run(ada: httpx.AsyncClient) -> None:
    document = NAMED % MUTATION
    for name, data in (("One", {"owner": {"name": "ada"}}), ("Two", {"owner": {"version": 1}})):
        assert (await post(ada, {"query": document, "operationName": name})).json() == {"data": data}
        assert (await ada.get(url(query=document, operationName=name))).json() == {"data": data}
    response = await post(ada, {"query": document, "operationName": "Make"})
    assert response.json() == {"data": {"createOwner": {"owner": {"name": "Eve"}}}}


@pytest.mark.parametrize("name", [{}, {"operationName": "Three"}, {"operationName": ""}])
@pytest.mark.parametrize(("accept", "status"), [(JSON, 200), (GRAPHQL, 400)])
async def test_an_operation_that_no_name_picks_is_refused(
    ada: httpx.AsyncClient, wire: Wire, name: dict[str, str], accept: str, status: int
) -> None:
    message = "Send the operationName of one of the document's operations: One, Two, Make."
    document = NAMED % MUTATION
    for response in (
        await post(ada, {"query": document, **name}, Accept=accept),
        await ada.get(url(query=document, **name), headers={"Accept": accept}),
    ):
        assert (response.status_code, response.headers["content-type"]) == (status, f"{accept}; charset=utf-8")
        assert only_error(response, "BAD_USER_INPUT", 400)["message"] == message
    unnamed = await post(ada, {"query": QUERY, "operationName": "One"}, Accept=accept)
    message = "The document's operation has no name: send no operationName."
    assert only_error(unnamed, "BAD_USER_INPUT", 400)["message"] == message
    assert not wire.calls


@pytest.mark.parametrize("accept", [JSON, GRAPHQL])
async def test_get_runs_no_mutation(ada: httpx.AsyncClient, dump: Dump, accept: str) -> None:
    async with unchanged(dump):
        for parameters in (
            {"query": MUTATION},
            {"query": NAMED % MUTATION, "operationName": "Make"},
        ):
            response = await ada.get(url(**parameters), headers={"Accept": accept})
            assert_refused(response, 405, "GET is for queries and subscriptions: send mutations by POST.", accept)
            assert response.headers["allow"] == "POST"


async def test_another_method_is_rejected_with_the_allowed_ones(ada: httpx.AsyncClient, dump: Dump) -> None:
    async with unchanged(dump):
        for method, accept in product(("PUT", "PATCH", "DELETE", "OPTIONS"), (JSON, GRAPHQL)):
            response = await ada.request(method, "/graphql", json={"query": MUTATION}, headers={"Accept": accept})
            assert_refused(response, 405, "Send GraphQL requests by GET or POST.", accept)
            assert response.headers["allow"] == "GET, POST"


async def test_a_body_of_another_media_type_is_rejected(ada: httpx.AsyncClient, dump: Dump) -> None:
    types = (
        "",
        "text/plain",
        "application/graphql",
        "application/x-www-form-urlencoded",
        "multipart/mixed; boundary=x",
        "application/json; charset=iso-8859-1",
        'application/json; Charset="utf-16"',
        "application/jsonp",
    )
    async with unchanged(dump):
        for content_type, accept in product(types, (JSON, GRAPHQL)):
            headers = {"Accept": accept} | ({"Content-Type": content_type} if content_type else {})
            response = await ada.post("/graphql", content=json.dumps({"query": MUTATION}), headers=headers)
            assert_refused(response, 415, "Send the body as application/json in UTF-8.", accept)
            assert response.headers["accept"] == JSON


async def test_uploads_are_refused(ada: httpx.AsyncClient, dump: Dump) -> None:
    # As the GraphQL multipart request specification has it.
    parts: dict[str, tuple[str | None, str | bytes]] = {
        "operations": (None, json.dumps({"query": MUTATION, "variables": {"file": None}})),
        "map": (None, '{"0": ["variables.file"]}'),
        "0": ("a.txt", b"content"),
    }
    async with unchanged(dump):
        for accept in (JSON, GRAPHQL):
            response = await ada.post("/graphql", files=parts, headers={"Accept": accept})
            assert_refused(response, 415, "File uploads are not supported: send the body as application/json.", accept)
            assert response.headers["accept"] == JSON


async def test_a_compressed_body_is_refused(ada: httpx.AsyncClient) -> None:
    response = await post(ada, gzip.compress(json.dumps({"query": QUERY}).encode()), **{"Content-Encoding": "gzip"})
    assert_refused(response, 415, "Compressed bodies are not supported: send the body uncompressed.")
    assert response.headers["accept-encoding"] == "identity"


async def test_the_media_types_spelling_and_parameters_do_not_matter(ada: httpx.AsyncClient) -> None:
    for content_type in ('application/json;charset="UTF-8"', "Application/JSON", " application/json ;x=y"):
        headers = {"Content-Type": content_type}
        assert (await ada.post("/graphql", content=json.dumps({"query": QUERY}), headers=headers)).json() == FOUND


async def test_a_body_may_have_256_kilobytes_and_no_byte_more(ada: httpx.AsyncClient, wire: Wire) -> None:
    body = json.dumps({"query": QUERY})
    longest = body + " " * (256 * 1024 - len(body))
    assert (await post(ada, longest)).json() == FOUND
    wire.reset()
    for length, accept in ((1, JSON), (1024, GRAPHQL), (1024 * 1024, JSON)):
        response = await post(ada, longest + " " * length, Accept=accept)
        assert_refused(response, 413, "The body is larger than 256 KB.", accept)
    assert not wire.calls


NOT_JSON = "The %s is not valid JSON: %s: line %d column %d (char %d)."
TOO_MANY = "The JSON has more than 10,000 values."
TOO_DEEP = "The JSON is nested deeper than 32 levels."
NO_OBJECT = "The request must be a JSON object."
NO_BATCH = "Batching is not supported: send one request as a JSON object."
NO_QUERY = "Send a GraphQL document as query, or the id of a known document as documentId."
NO_VARIABLES = "variables must be a JSON object."
NO_EXTENSIONS = "extensions must be a JSON object."
NO_HASH = "extensions.persistedQuery must have a version and a sha256Hash."
NOT_VERSION_1 = "extensions.persistedQuery must have version 1."

QUERIED = b'{"query": "{ __typename }", '
INVALID_BODIES = [
    (b"", NOT_JSON % ("body", "Input is a zero-length, empty document", 1, 1, 0)),
    (QUERIED + b"}", NOT_JSON % ("body", "trailing comma is not allowed", 1, 27, 26)),
    (
        QUERIED + b'"variables": {"a": NaN}}',
        NOT_JSON % ("body", "unexpected character, expected a JSON value", 1, 48, 47),
    ),
    (
        QUERIED + b'"variables": {"a": Infinity}}',
        NOT_JSON % ("body", "unexpected character, expected a JSON value", 1, 48, 47),
    ),
    (b'{"query": "\xff"}', NOT_JSON % ("body", "str is not valid UTF-8: surrogates not allowed", 1, 1, 0)),
    (b'{"query": "\\ud800"}', NOT_JSON % ("body", "no low surrogate in string", 1, 12, 11)),
    (b'{"query": "{ __typename }"} {}', NOT_JSON % ("body", "unexpected content after document", 1, 29, 28)),
    (b"[" * 100_000, NO_BATCH),
    (b' \n[{"query": "{ __typename }"}, nonsense', NO_BATCH),
    (b'{"variables": ' + b"[" * 31 + b"]" * 31 + b"}", NO_VARIABLES),
    (b'{"variables": ' + b"[" * 32 + b"]" * 32 + b"}", TOO_DEEP),
    (QUERIED + b'"variables": ' + b'{"a":' * 2000 + b"1" + b"}" * 2000 + b"}", TOO_DEEP),
    (b"null", NO_OBJECT),
    (b'"{ __typename }"', NO_OBJECT),
    (b"[]", NO_BATCH),
    (b"{}", NO_QUERY),
    (b'{"query": null}', NO_QUERY),
    (b'{"query": " \\n"}', NO_QUERY),
    (b'{"query": ["{ __typename }"]}', "query must be a string."),
    (QUERIED + b'"variables": "{}"}', NO_VARIABLES),
    (QUERIED + b'"variables": 0}', NO_VARIABLES),
    (QUERIED + b'"operationName": 1}', "operationName must be a string."),
    (QUERIED + b'"extensions": []}', NO_EXTENSIONS),
    (QUERIED + b'"extensions": {"persistedQuery": 1}}', NO_HASH),
    (QUERIED + b'"extensions": {"persistedQuery": {"version": 1}}}', NO_HASH),
    (b'{"extensions": {"persistedQuery": {"version": 1, "sha256Hash": 1}}}', NO_HASH),
    (b'{"extensions": {"persistedQuery": {"version": 2, "sha256Hash": "a"}}}', NOT_VERSION_1),
    (b'{"documentId": 1}', "documentId must be a string."),
    (b'{"id": "a", "doc_id": "a"}', NO_QUERY),
    (QUERIED + b'"documentId": "a"}', "Send either documentId, or query or extensions.persistedQuery."),
]


async def test_a_body_that_is_no_graphql_request_is_rejected(ada: httpx.AsyncClient, wire: Wire) -> None:
    for (body, message), accept in product(INVALID_BODIES, (JSON, GRAPHQL)):
        assert_refused(await post(ada, body, Accept=accept), 400, message, accept)
    assert not wire.calls


async def test_a_request_may_have_10_000_values_and_none_more(ada: httpx.AsyncClient, wire: Wire) -> None:
    """The query, the variables and their list count too; what a text holds does not."""
    for item in (1, "a", "[1,{", 'a",\\"', None, 0.5):
        values = [item] * 9997
        body = {"query": QUERY, "variables": {"a": values}}
        assert (await post(ada, body)).json() == FOUND
        wire.reset()
        values.append(item)
        for accept in (JSON, GRAPHQL):
            assert_refused(await post(ada, body, Accept=accept), 400, TOO_MANY, accept)
        assert not wire.calls


async def test_the_values_of_a_key_count_as_often_as_it_is_written(ada: httpx.AsyncClient) -> None:
    values = b",".join([b'"a": [1, 2, 3, 4]'] * 2000)
    assert_refused(await post(ada, b'{"query": "{ __typename }", "variables": {' + values + b"}}"), 400, TOO_MANY)


async def test_a_list_may_have_50_objects_and_none_more(ada: httpx.AsyncClient, wire: Wire) -> None:
    lists: list[list[Any]] = [[1, {}] * 50, [{"b": 1}] * 50]
    assert (await post(ada, {"query": QUERY, "variables": {"a": lists}})).json() == FOUND
    wire.reset()
    lists[1].append({})
    message = "A list of the JSON has more than 50 objects."
    assert_refused(await post(ada, {"query": QUERY, "variables": {"a": lists}}), 400, message)
    assert not wire.calls


async def test_as_many_events_as_may_be_with_rich_metadata_fit_in_a_request(one: Api) -> None:
    metadata: dict[str, Any] = {f"key{number}": ["x" * 20, number, {}, None, True] for number in range(50)}
    event = {"lockerId": "l1", "action": "OPEN", "actorId": "ada", "result": "SUCCESS", "metadata": metadata}
    events = mutation("recordAccessEvents", "accessEvents { eventId }")
    assert len((await one.mutate(events, events=[event] * 25))["accessEvents"]) == 25


async def test_metadata_of_16_kb_fits_in_a_request_with_any_content(one: Api) -> None:
    metadata: dict[str, Any] = {"a": [1] * ((16 * 1024 - len('{"a":[]}') + 1) // 2)}
    assert (await one.event("l1", metadata=metadata))["metadata"] == metadata


async def test_a_url_that_is_no_graphql_request_is_rejected(ada: httpx.AsyncClient, wire: Wire) -> None:
    for parameters, message in (
        ({}, NO_QUERY),
        ({"query": ""}, NO_QUERY),
        ({"query": QUERY, "variables": "{"}, NOT_JSON % ("parameter variables", "unexpected end of data", 1, 2, 1)),
        ({"query": QUERY, "variables": "[]"}, NO_VARIABLES),
        ({"query": QUERY, "extensions": "{"}, NOT_JSON % ("parameter extensions", "unexpected end of data", 1, 2, 1)),
        ({"query": QUERY, "extensions": "[]"}, NO_EXTENSIONS),
    ):
        assert_refused(await ada.get(url(**parameters)), 400, message)
    assert not wire.calls


async def test_the_responses_media_type_is_negotiated(ada: httpx.AsyncClient) -> None:
    for accept, media_type in (("*/*", JSON), ("", JSON), (GRAPHQL, GRAPHQL), (f"{JSON}, {GRAPHQL};q=0.9", JSON)):
        response = await post(ada, {"query": QUERY}, Accept=accept)
        assert (response.status_code, response.json()) == (200, FOUND)
        assert response.headers["content-type"] == f"{media_type}; charset=utf-8"
    twice = [("Accept", "text/html;q=0.5"), ("Accept", GRAPHQL)]
    response = await ada.get(url(query=QUERY), headers=twice)
    assert response.headers["content-type"] == f"{GRAPHQL}; charset=utf-8"


async def test_a_client_that_accepts_neither_media_type_is_rejected(ada: httpx.AsyncClient, wire: Wire) -> None:
    message = "The response is application/graphql-response+json or application/json: accept one of them."
    for accept in ("text/html", f"{JSON};q=0", "nonsense"):
        assert_refused(await post(ada, {"query": QUERY}, Accept=accept), 406, message)
        assert_refused(await ada.get(url(query=QUERY), headers={"Accept": accept}), 406, message)
    assert not wire.calls


def test_ids_are_unique_ulids_of_their_time() -> None:
    before = time.time_ns() // 1_000_000
    ids = [check_ulid(new_id()) for _ in range(1000)]
    after = time.time_ns() // 1_000_000
    assert len(set(ids)) == len(ids)
    for found in (ids[0], ids[-1]):
        digits = ["0123456789ABCDEFGHJKMNPQRSTVWXYZ".index(digit) for digit in found[:10]]
        assert before <= sum(digit << 5 * place for place, digit in enumerate(reversed(digits))) <= after


async def test_every_answer_has_an_id_of_its_own_and_is_not_to_be_stored(ada: httpx.AsyncClient) -> None:
    responses = [
        await post(ada, {"query": QUERY}),
        await ada.get(url(query=QUERY)),
        await post(ada, {"query": "{"}),
        await post(ada, b"{"),
        await ada.put("/graphql"),
        await ada.get("/graphql", headers={"Accept": "text/html"}),
    ]
    ids = [response.headers["x-request-id"] for response in responses]
    assert len(set(ids)) == len(ids)
    assert {len(request_id) for request_id in ids} == {26}
    assert {response.headers["cache-control"] for response in responses} == {"no-store"}
    assert {response.headers["vary"] for response in responses} == {"Accept, Accept-Encoding"}
    assert not [name for response in responses for name in response.headers if name in {"etag", "last-modified"}]


async def test_a_browser_is_shown_a_page_to_try_queries_on(ada: httpx.AsyncClient, wire: Wire) -> None:
    accept = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
    response = await ada.get("/graphql", headers=accept)
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert "GraphiQL" in response.text
    assert not wire.calls
    # A link to a query is answered, in a browser too.
    assert (await ada.get(url(query=QUERY), headers=accept)).json() == FOUND
    # JSON is preferred to HTML here.
    refused = await ada.get("/graphql", headers={"Accept": f"{JSON}, text/html;q=0.9"})
    assert_refused(refused, 400, NO_QUERY)


async def test_the_root_leads_to_the_endpoint_and_there_is_nothing_else(ada: httpx.AsyncClient) -> None:
    response = await ada.get("/")
    assert (response.status_code, response.headers["location"]) == (307, "/graphql")
    for path in ("/nothing", "/graphiql"):
        response = await ada.post(path)
        there = "There is nothing at this path. GraphQL is at /graphql, health checks at /health and /ready."
        assert (response.status_code, response.text) == (404, there)
