import hashlib
import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
import pytest_asyncio

from server.http.persisted_documents import ManifestError, PersistedDocuments, read_manifest
from server.http.request import GraphQLRequest
from server.http_errors import GraphQLRequestError
from tests.api import Api, unchanged
from tests.conftest import Dump, OpenApi
from tests.over_http import GRAPHQL, JSON, only_error
from tests.wire import Wire

QUERY = "query Named ($id: ID!) { owner(ownerId: $id) { name } }"
OTHER = '{ owner(ownerId: "ada") { version } }'
MUTATION = 'mutation { createOwner(input: { ownerId: "eve", kind: USER, name: "Eve" }) { owner { name } } }'
VARIABLES = {"id": "ada"}
FOUND = {"data": {"owner": {"name": "ada"}}}


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def apq(text: str, **more: Any) -> dict[str, Any]:
    """A request as Apollo's protocol has it: the hash alone, unless the query is given too."""
    return {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": sha(text)}}, "variables": VARIABLES, **more}


async def post(api: Api, content: dict[str, Any], accept: str = JSON) -> httpx.Response:
    return await api.client.post("/graphql", json=content, headers={"Accept": accept})


async def get(api: Api, content: dict[str, Any], accept: str = JSON) -> httpx.Response:
    parameters = {name: value if isinstance(value, str) else json.dumps(value) for name, value in content.items()}
    return await api.client.get(f"/graphql?{urlencode(parameters)}", headers={"Accept": accept})


def assert_refused(response: httpx.Response, http_status: int, message: str, code: str, status: int) -> None:
    assert (response.status_code, set(response.json())) == (http_status, {"errors"})
    assert only_error(response, code, status)["message"] == message


def assert_unknown(response: httpx.Response, http_status: int = 200) -> None:
    assert_refused(response, http_status, "PersistedQueryNotFound", "PERSISTED_QUERY_NOT_FOUND", 404)


def assert_untrusted(response: httpx.Response, http_status: int = 200) -> None:
    message = "Only trusted documents are allowed: send the documentId of one."
    assert_refused(response, http_status, message, "FORBIDDEN", 403)


@pytest_asyncio.fixture
async def ada(api: Api) -> Api:
    await api.owner("ada")
    return api


@pytest.mark.parametrize("send", [post, get])
@pytest.mark.parametrize(("accept", "unknown"), [(JSON, 200), (GRAPHQL, 404)])
async def test_a_query_is_known_by_its_hash(ada: Api, send: Callable[..., Any], accept: str, unknown: int) -> None:
    # The client tries the hash alone,
    assert_unknown(await send(ada, apq(QUERY), accept), unknown)
    # is asked for the document too,
    first = await send(ada, apq(QUERY, query=QUERY), accept)
    assert (first.status_code, first.json()) == (200, FOUND)
    # and need not do so again, by whichever method.
    for again in (await post(ada, apq(QUERY), accept), await get(ada, apq(QUERY), accept)):
        assert (again.status_code, again.json()) == (200, FOUND)
    by_id = await send(ada, {"documentId": f"sha256:{sha(QUERY)}", "variables": VARIABLES}, accept)
    assert by_id.json() == FOUND
    assert_unknown(await send(ada, {"documentId": sha(QUERY), "variables": VARIABLES}, accept), unknown)


@pytest.mark.parametrize("accept", [JSON, GRAPHQL])
async def test_a_hash_of_another_document_is_refused_and_nothing_is_kept(ada: Api, wire: Wire, accept: str) -> None:
    wire.reset()
    for wrong in (sha(OTHER), sha(QUERY).upper(), ""):
        content = apq(QUERY, query=QUERY)
        content["extensions"]["persistedQuery"]["sha256Hash"] = wrong
        for send in (post, get):
            response = await send(ada, content, accept)
            assert_refused(response, 400, "provided sha does not match query", "BAD_USER_INPUT", 400)
    assert_unknown(await post(ada, apq(OTHER)))
    assert_unknown(await post(ada, apq(QUERY)))
    assert not wire.calls


@pytest.mark.parametrize("broken", ["{", "{ unknown }", "query A { __typename } query B { __typename }"])
async def test_a_document_that_cannot_be_run_is_not_kept(ada: Api, broken: str) -> None:
    assert "errors" in (await post(ada, apq(broken, query=broken))).json()
    assert_unknown(await post(ada, apq(broken)))


async def test_a_query_that_fails_in_its_resolver_is_kept_all_the_same(ada: Api) -> None:
    missing = {"variables": {"id": "nobody"}}
    for more in ({"query": QUERY}, {}):
        answer = (await post(ada, apq(QUERY, **more) | missing)).json()
        assert answer["data"] == {"owner": None}


async def test_a_mutation_by_its_hash_goes_by_post_only(ada: Api, dump: Dump) -> None:
    async with unchanged(dump):
        refused = await get(ada, apq(MUTATION, query=MUTATION))
        assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
        assert_unknown(await post(ada, apq(MUTATION)))
    made = {"data": {"createOwner": {"owner": {"name": "Eve"}}}}
    assert (await post(ada, apq(MUTATION, query=MUTATION))).json() == made
    assert (await post(ada, apq(MUTATION))).json() == made
    async with unchanged(dump):
        assert (await get(ada, apq(MUTATION))).status_code == 405


@pytest.mark.parametrize("limits", [{"cache_size": 2}, {"cache_size": 100, "cache_bytes": 1000}])
def test_the_cache_is_limited_in_number_and_bytes_and_drops_the_least_recently_used(limits: dict[str, int]) -> None:
    documents = PersistedDocuments({}, only_trusted=False, **limits)
    first, second, third = (f"{{ __typename }} # {'é' * 200}{number}" for number in range(3))
    for text in (first, second, second):
        documents.add(GraphQLRequest(text, None, sha(text), None, None))
    assert documents.find(GraphQLRequest(None, None, sha(first), None, None)) == first
    documents.add(GraphQLRequest(third, None, sha(third), None, None))
    with pytest.raises(GraphQLRequestError, match="PersistedQueryNotFound"):
        documents.find(GraphQLRequest(None, None, sha(second), None, None))
    for text in (first, third):
        assert documents.find(GraphQLRequest(None, None, sha(text), None, None)) == text


@pytest.mark.parametrize(("accept", "status"), [(JSON, 200), (GRAPHQL, 400)])
async def test_automatic_persisted_queries_can_be_off(open_api: OpenApi, accept: str, status: int) -> None:
    async with open_api(persisted_queries=0) as api:
        text = "{ __typename }"
        for _ in range(2):
            assert (await post(api, apq(text, query=text), accept)).json() == {"data": {"__typename": "Query"}}
            response = await post(api, apq(text), accept)
            assert_refused(response, status, "PersistedQueryNotSupported", "PERSISTED_QUERY_NOT_SUPPORTED", 400)


RELAY = {"0e4a0ba2d6bcbb5bd7b5e3bbd9ad6bb3": QUERY, "5f3e2c9d3b0cfa0c8f4c0a6e4f6d2b1a": MUTATION}
CODEGEN = {hashlib.sha1(text.encode()).hexdigest(): text for text in (QUERY, MUTATION)}  # noqa: S324  # codegen's default
CODEGEN_SHA256 = {sha(text): text for text in (QUERY, MUTATION)}
PREFIXED = {f"sha256:{sha(text)}": text for text in (QUERY, MUTATION)}
MANIFESTS = {"relay": RELAY, "codegen": CODEGEN, "codegen with SHA-256": CODEGEN_SHA256, "prefixed": PREFIXED}


@pytest.fixture
def relay(tmp_path: Path) -> Path:
    path = tmp_path / "relay.json"
    path.write_text(json.dumps(RELAY))
    return path


@pytest.mark.parametrize("manifest", MANIFESTS.values(), ids=MANIFESTS)
@pytest.mark.parametrize("trusted", ["also", "only"])
async def test_a_trusted_document_is_run_by_its_id_or_by_its_hash_and_no_other_is_found(
    ada: Api, open_api: OpenApi, wire: Wire, tmp_path: Path, manifest: dict[str, str], trusted: str
) -> None:
    assert ada
    path, document_id = tmp_path / "manifest.json", next(iter(manifest))
    path.write_text(json.dumps(manifest, indent=2))
    async with open_api(trusted_documents=trusted, trusted_documents_file=path) as api:
        for named in (
            {"documentId": document_id},
            {"documentId": f"sha256:{sha(QUERY)}"},
            {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": sha(QUERY)}}},
            {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": document_id}}},
            {"documentId": document_id, "operationName": "Named"},
        ):
            for send, accept in product((post, get), (JSON, GRAPHQL)):
                response = await send(api, {**named, "variables": VARIABLES}, accept)
                assert (response.status_code, response.json()) == (200, FOUND)
        wire.reset()
        for send, (accept, status) in product((post, get), ((JSON, 200), (GRAPHQL, 404))):
            for unknown in ("nothing", "", f"sha256:{sha(OTHER)}", sha(OTHER), f"md5:{sha(QUERY)}", "sha256:"):
                assert_unknown(await send(api, {"documentId": unknown, "variables": VARIABLES}, accept), status)
            assert_unknown(await send(api, apq(OTHER), accept), status)
        assert not wire.calls


@pytest.mark.parametrize("send", [post, get])
@pytest.mark.parametrize(("accept", "status"), [(JSON, 200), (GRAPHQL, 403)])
async def test_where_only_trusted_documents_are_run_all_else_is_refused(
    ada: Api, open_api: OpenApi, relay: Path, wire: Wire, send: Callable[..., Any], accept: str, status: int
) -> None:
    assert ada
    async with open_api(trusted_documents="only", trusted_documents_file=relay) as api:
        wire.reset()
        for text in (OTHER, f"{QUERY} ", "{ __schema { types { name } } }", "{"):
            assert_untrusted(await send(api, {"query": text, "variables": VARIABLES}, accept), status)
        # Nor is anything learnt from clients.
        assert_untrusted(await send(api, apq(OTHER, query=OTHER), accept), status)
        assert_unknown(await send(api, apq(OTHER), accept), 404 if accept == GRAPHQL else 200)
        assert not wire.calls
        # A trusted document is one however it comes: a client whose hash was forgotten may send it whole.
        for content in ({"query": QUERY, "variables": VARIABLES}, apq(QUERY, query=QUERY)):
            assert (await send(api, content, accept)).json() == FOUND


async def test_other_documents_run_beside_trusted_ones_by_default(ada: Api, open_api: OpenApi, relay: Path) -> None:
    assert ada
    async with open_api(trusted_documents_file=relay, persisted_queries=0) as api:
        assert (await post(api, {"query": OTHER})).json() == {"data": {"owner": {"version": 1}}}
        # With a manifest there is something to find by a hash, so hashes stay supported.
        assert_unknown(await post(api, apq(OTHER)))
        assert (await post(api, apq(QUERY))).json() == FOUND


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is not valid JSON"),
        (b"{", "is not valid JSON"),
        (b'{"a": "\xff"}', "is not valid JSON"),
        (b'{"a": "\\ud800"}', "is not valid JSON"),
        (b"[]", "must be a JSON object from ids to documents"),
        (b'{"a": {"text": "{ __typename }"}}', "must be a JSON object from ids to documents"),
        (b'{"a": " "}', "must be a JSON object from ids to documents"),
        (b'{"sha256:00": "{ __typename }"}', "has a document whose hash is not its id sha256:00"),
    ],
)
def test_a_manifest_that_cannot_be_used_is_refused_by_its_name(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_bytes(content)
    with pytest.raises(ManifestError) as refused:
        read_manifest(path)
    assert str(refused.value) == f"the manifest {path} {problem}"
    path.unlink()
    with pytest.raises(ManifestError, match=r"cannot be read \(No such file or directory\)$"):
        read_manifest(path)
