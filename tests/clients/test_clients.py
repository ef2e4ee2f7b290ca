"""Real clients against the server as its users start it: what they are built for works without a special case."""

import hashlib
import json
import re
from contextlib import AbstractContextManager
from itertools import chain
from pathlib import Path
from typing import Any

import httpx
import pytest
from gql import Client, gql
from gql.transport.aiohttp import AIOHTTPTransport
from gql.transport.exceptions import TransportQueryError

from loaders.tools.demo import locker_id, owner_id
from tests.clients.conftest import ROOT, Opener, Project
from tests.npm import pinned

HERE = Path(__file__).parent
PAGE = (ROOT / "docs" / "web-clients.md").read_text()
BLOCKS: dict[str, str] = dict(re.findall(r"`([\w./]+\.(?:ts|json))`:\n\n```\w+\n(.+?)```", PAGE, re.DOTALL))
OWNER = owner_id(0)
EVERY_LOCKER = [locker_id(number) for number in range(230)]
GRAPHQL = "application/graphql-response+json; charset=utf-8"


@pytest.fixture(scope="session")
def codegen_manifest(project: Project) -> Path:
    """The trusted documents that graphql-codegen writes beside its types, of the code of docs/web-clients.md."""
    folder = project.folder / "codegen"
    (folder / "src").mkdir()
    for name, code in BLOCKS.items():
        (folder / name).write_text(code.replace('"src/*.ts"', '"src/*.ts", "application.ts"'))
    (folder / "schema.graphql").symlink_to(project.folder / "schema.graphql")
    project.tool("graphql-codegen", "--config", "codegen.json", within="codegen")
    return folder / "src" / "gql" / "persisted-documents.json"


def test_relay_compiler_accepts_the_schema_with_paginated_connections(project: Project, relay_manifest: Path) -> None:
    documents = json.loads(relay_manifest.read_text())
    assert {hashlib.sha256(text.encode()).hexdigest() for text in documents.values()} == {
        document.removeprefix("sha256:") for document in documents
    }
    names = sorted(text.split("(")[0] for text in documents.values())
    assert names == [
        "mutation documentsRenameMutation",
        "query documentsBackwardPageQuery",
        "query documentsBackwardQuery",
        "query documentsForwardPageQuery",
        "query documentsForwardQuery",
        "query documentsLockerQuery",
        "subscription documentsChangesSubscription",
    ]
    artifact = (project.folder / "relay" / "artifacts" / "documents_forward.graphql.js").read_text()
    assert '"connection"' in artifact


def test_relay_pages_every_locker_once_both_ways_with_nothing_but_trusted_documents(
    project: Project, relay_manifest: Path, open_server: Opener, own_locker: str
) -> None:
    with only(open_server, relay_manifest) as url:
        came = project.node("relay/pages.mjs", url, OWNER, own_locker)
    # 25 first, then 50 at a time.
    assert came["forward"] == {"pages": 6, "lockerIds": EVERY_LOCKER}
    assert came["backward"] == {"pages": 6, "lockerIds": EVERY_LOCKER}
    assert came["renameLocker"] == {"locker": {"alias": "By Relay", "version": 2}, "userErrors": []}
    assert came["sent"] == [["documentId", "variables"]] * 13


def test_apollo_client_pages_every_locker_once_both_ways(project: Project, server_url: str) -> None:
    came = project.node("apollo-pages.mjs", server_url, OWNER)
    assert came["forward"] == {"pages": 5, "lockerIds": EVERY_LOCKER}
    assert came["backward"] == {"pages": 5, "lockerIds": EVERY_LOCKER}


def test_apollos_persisted_query_link_sends_a_document_once_then_its_hash(project: Project, server_url: str) -> None:
    came = project.node("apollo-persisted.mjs", server_url, OWNER)
    for way, method in (("post", "POST"), ("get", "GET")):
        hash_alone = {"method": method, "document": False, "hash": True}
        assert came[way]["sent"] == [hash_alone, {"method": "POST", "document": True, "hash": True}, hash_alone]
        assert came[way]["names"] == ["Metro Parcel 1"] * 2


def test_urql_queries_and_mutates_with_its_accept_header(project: Project, server_url: str, own_locker: str) -> None:
    came = project.node("urql.mjs", server_url, OWNER, own_locker)
    assert came["query"]["data"]["owner"]["name"] == "Metro Parcel 1"
    assert came["missing"] == {"data": {"owner": None}, "codes": ["NOT_FOUND"]}
    renamed = came["mutation"]["data"]["renameLocker"]
    assert (renamed["locker"]["alias"], renamed["locker"]["version"], renamed["userErrors"]) == ("By urql", 2, [])
    (conflict,) = came["refused"]["data"]["renameLocker"]["userErrors"]
    assert (conflict["code"], conflict["currentVersion"]) == ("VERSION_CONFLICT", 2)
    activity = came["renamed"]["data"]["lockerActivity"]
    assert (activity["kind"], activity["locker"]["alias"]) == ("LOCKER_CHANGED", "By urql")
    *others, subscription = came["answered"]
    assert len(others) == 4
    for answer in others:
        assert answer["accept"].startswith("application/graphql-response+json, ")
        assert "text/event-stream" in answer["accept"]
        assert answer["contentType"] == GRAPHQL
    assert subscription["contentType"] == "text/event-stream; charset=utf-8"


def test_the_code_for_web_clients_compiles_pages_meets_conflicts_and_sends_trusted_hashes(
    project: Project, codegen_manifest: Path, open_server: Opener, own_locker: str
) -> None:
    # The application says by @ts-expect-error what must not compile.
    project.tool("tsc", within="codegen")
    with only(open_server, codegen_manifest, **dict(re.findall(r"(SMARTLOCKER_CORS_ORIGINS)=(\S+)", PAGE))) as url:
        token = httpx.get(f"{url}/tokens").json()[0]["token"]
        came = project.node("codegen/built/application.js", url, token, OWNER, own_locker)
        proxied = project.node("codegen/proxied.mjs", url)
    assert (came["locker"]["status"], came["locker"]["version"]) == ("AVAILABLE", 1)
    now = {"locker": {"status": "MAINTENANCE", "version": 2}}
    assert came["changed"] == now | {"isConflict": False, "message": None}
    assert came["refused"] == now | {"isConflict": True, "message": came["refused"]["message"]}
    assert came["ways"] == [{"method": method, "document": False} for method in ("GET", "POST", "POST")]
    assert [len(page) for page in came["forward"]] == [25] * 9 + [5]
    assert [*chain(*came["forward"])] == [*chain(*came["backward"])] == EVERY_LOCKER
    assert proxied == {"other": 403, "proxy": 200, "cors": "http://localhost:5173"}


async def test_pythons_gql_validates_by_introspection_queries_and_mutates(server_url: str, own_locker: str) -> None:
    client = Client(transport=AIOHTTPTransport(server_url), fetch_schema_from_transport=True)
    rename = gql(
        "mutation ($input: RenameLockerInput!) {"
        " renameLocker(input: $input) { locker { alias version } userErrors { code } } }"
    )
    owner = gql("query ($ownerId: ID!) { owner(ownerId: $ownerId) { name lockers(first: 2) { nodes { lockerId } } } }")
    async with client as session:
        rename.variable_values = {"input": {"lockerId": own_locker, "alias": "By gql", "expectedVersion": 1}}
        answer: dict[str, Any] = await session.execute(rename)
        assert answer == {"renameLocker": {"locker": {"alias": "By gql", "version": 2}, "userErrors": []}}
        owner.variable_values = {"ownerId": OWNER}
        lockers = [{"lockerId": locker} for locker in EVERY_LOCKER[:2]]
        assert await session.execute(owner) == {"owner": {"name": "Metro Parcel 1", "lockers": {"nodes": lockers}}}
        owner.variable_values = {"ownerId": "nobody"}
        with pytest.raises(TransportQueryError) as missing:
            await session.execute(owner)
    (error,) = missing.value.errors or []
    assert error["extensions"]["code"] == "NOT_FOUND"


def test_where_only_trusted_documents_run_a_client_with_others_is_refused(
    project: Project, relay_manifest: Path, open_server: Opener, own_locker: str
) -> None:
    with only(open_server, relay_manifest) as url:
        came = project.node("urql.mjs", url, OWNER, own_locker)
    assert {came[name]["codes"][0] for name in ("query", "missing", "mutation", "refused")} == {"FORBIDDEN"}


def test_the_lock_pins_every_package_by_its_hash_and_names_no_registry() -> None:
    packages = pinned(HERE)
    assert len(packages) > 100
    for place, package in packages.items():
        assert package["integrity"].startswith("sha512-"), place
        assert "resolved" not in package, place


def only(open_server: Opener, manifest: Path, **settings: str) -> AbstractContextManager[str]:
    """A server that runs the documents of a manifest and nothing else."""
    documents = {"SMARTLOCKER_TRUSTED_DOCUMENTS": "only", "SMARTLOCKER_TRUSTED_DOCUMENTS_FILE": str(manifest)}
    return open_server(**documents, **settings)
