import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from domain.api_keys import ApiKey, ApiKeyId, ApiKeyRole, format_key
from domain.authorization import DEVELOPMENT_ADMIN, Principal, Role, Scope
from domain.commands.api_keys import CreateApiKey
from domain.models import OwnerId
from loaders.backend import Backend
from loaders.writes.api_keys import create_api_key
from server.auth.development import development_token, read_secret
from tests.api import Api
from tests.codes import CREATE, furnish
from tests.conftest import Clock, OpenApi
from tests.issuer import bearer, production, sign
from tests.over_http import GRAPHQL, JSON, assert_rejected
from tests.wire import Answer, Wire

QUERY = {"query": "{ __typename }"}
MALFORMED = "The Authorization header must be Bearer, a space, and a token or an API key."
ADMIN_ONLY = "{ apiKeys { nodes { keyId } } }"
HOUR = timedelta(hours=1)
ADMIN = Principal(subject="root", role=Role.ADMIN)


@pytest.fixture
def issuer(tmp_path: Path) -> dict[str, Any]:
    return {**production(tmp_path), "data_dir": tmp_path}


@pytest_asyncio.fixture
async def guarded(open_api: OpenApi, issuer: dict[str, Any]) -> AsyncIterator[httpx.AsyncClient]:
    async with open_api(authenticator=None, **issuer) as opened:
        yield opened.client


@pytest_asyncio.fixture
async def playground(open_api: OpenApi, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with open_api(authenticator=None, data_dir=tmp_path) as opened:
        yield opened.client


async def ask(client: httpx.AsyncClient, *authorization: str, **content: Any) -> httpx.Response:
    headers = [("Authorization", value) for value in authorization]
    return await client.post("/graphql", json=content or QUERY, headers=headers)


async def partner_key(backend: Backend, **more: Any) -> tuple[ApiKey, str]:
    values = {"role": ApiKeyRole.PARTNER, "owner_ids": ["o1"], "scopes": [Scope.LOCKERS_READ], **more}
    created = await create_api_key(backend, CreateApiKey(name="Courier", **values), DEVELOPMENT_ADMIN)
    assert created.secret is not None
    return created.record, created.secret


def message_of(response: httpx.Response) -> str:
    assert response.status_code == 401, response.text
    message: str = response.json()["errors"][0]["message"]
    return message


@pytest.mark.parametrize("accept", [JSON, GRAPHQL])
async def test_production_refuses_requests_without_credentials_unread(guarded: httpx.AsyncClient, accept: str) -> None:
    async def endless() -> AsyncIterator[bytes]:
        raise AssertionError("the body was read")
        yield b""

    headers = {"Accept": accept, "Content-Type": JSON}
    for response in (
        await guarded.post("/graphql", content=endless(), headers=headers),
        await guarded.get("/graphql", params=QUERY, headers=headers),
    ):
        assert_rejected(response, "UNAUTHENTICATED", 401, accept=accept)
        assert response.headers["www-authenticate"] == "Bearer"
        message = response.json()["errors"][0]["message"]
        assert message.startswith("Credentials are missing: send Authorization: Bearer")


async def test_a_good_token_is_taken_by_post_and_get_whatever_the_schemes_case(guarded: httpx.AsyncClient) -> None:
    for scheme in ("Bearer", "bearer", "BEARER"):
        assert (await ask(guarded, f"{scheme} {sign()}")).json()["data"] == {"__typename": "Query"}
    response = await guarded.get("/graphql", params=QUERY, headers=bearer(sign()))
    assert response.json()["data"] == {"__typename": "Query"}


@pytest.mark.parametrize("profile", ["production", "development"])
async def test_a_malformed_header_is_always_rejected(open_api: OpenApi, issuer: dict[str, Any], profile: str) -> None:
    async with open_api(authenticator=None, **issuer | {"profile": profile}) as api:
        for value in ("", "Bearer", "Bearer ", "Basic YTpi", "Token x", "Bearer a b", "Bearer é", "x"):
            headers = [(b"Authorization", value.encode("latin-1"))]
            response = await api.client.post("/graphql", json=QUERY, headers=headers)
            assert message_of(response) == MALFORMED
            assert response.headers["www-authenticate"] == 'Bearer error="invalid_token"'


async def test_two_authorization_headers_are_refused_even_if_both_are_good(guarded: httpx.AsyncClient) -> None:
    response = await ask(guarded, f"Bearer {sign()}", f"Bearer {sign()}")
    assert message_of(response) == "Send one Authorization header only."


async def test_credentials_anywhere_else_are_none(guarded: httpx.AsyncClient) -> None:
    for headers in ({"X-API-Key": sign()}, {"Cookie": f"token={sign()}"}):
        response = await guarded.get("/graphql", params=QUERY | {"access_token": sign()}, headers=headers)
        assert response.status_code == 401


async def test_health_the_page_and_wrong_methods_need_no_credentials(open_api: OpenApi, issuer: dict[str, Any]) -> None:
    async with open_api(authenticator=None, **issuer, graphiql="on") as opened:
        assert (await opened.client.get("/health")).text == "ok"
        page = await opened.client.get("/graphql", headers={"Accept": "text/html"})
        assert page.headers["content-type"].startswith("text/html")
        assert (await opened.client.put("/graphql")).status_code == 405


async def test_in_development_a_request_is_made_by_an_admin_or_the_principal_of_its_token(
    playground: httpx.AsyncClient, tmp_path: Path
) -> None:
    owner = Principal(subject="ada", role=Role.OWNER, owner_id=OwnerId("o1"))
    tokens = {who: development_token(tmp_path, who, HOUR) for who in (owner, ADMIN)}
    for credentials in ((), (f"Bearer {tokens[ADMIN]}",)):
        assert (await ask(playground, *credentials, query=ADMIN_ONLY)).json() == {"data": {"apiKeys": {"nodes": []}}}
    refused = await ask(playground, f"Bearer {tokens[owner]}", query=ADMIN_ONLY)
    assert refused.json()["errors"][0]["extensions"]["code"] == "FORBIDDEN"


async def test_every_token_of_a_caller_is_a_credential_of_its_own(
    playground: httpx.AsyncClient, tmp_path: Path
) -> None:
    await furnish(Api(playground))
    ada = Principal(subject="ada", role=Role.OWNER, owner_id=OwnerId("ada"))
    values = {"codeId": "c1", "kind": "RESERVATION", "lockerId": "l1", "reservationId": "r1"}
    body = {"query": CREATE, "variables": {"input": values}}
    first, second = (development_token(tmp_path, ada, hours * HOUR) for hours in (1, 2))
    shown = [
        (await playground.post("/graphql", json=body, headers={"Authorization": f"Bearer {token}"})).json()["data"]
        for token in (first, first, second, second)
    ]
    assert len({one["createAccessCode"]["digits"] for one in shown}) == 1
    assert [len(one["createAccessCode"]["accessCode"]["reveals"]) for one in shown] == [0, 0, 1, 1]


async def test_the_development_secret_is_made_once_whole_and_for_its_owners_eyes_alone(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "data"
    assert read_secret(folder) is None
    development_token(folder, ADMIN, HOUR)
    secret = read_secret(folder)
    assert len(secret or "") == 64
    (path,) = folder.iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    development_token(folder, ADMIN, HOUR)
    assert read_secret(folder) == secret


async def test_a_development_token_is_worth_nothing_elsewhere(
    open_api: OpenApi, issuer: dict[str, Any], playground: httpx.AsyncClient, tmp_path: Path
) -> None:
    token = development_token(tmp_path, ADMIN, HOUR)
    async with open_api(authenticator=None, **issuer) as api:  # on the same folder
        assert message_of(await ask(api.client, f"Bearer {token}")) == "The token's algorithm is not allowed."
    other = development_token(tmp_path / "other", ADMIN, HOUR)
    wrong = "The token is malformed or its signature is invalid."
    assert message_of(await ask(playground, f"Bearer {other}")) == wrong
    async with open_api(authenticator=None, data_dir=tmp_path / "nothing") as api:
        assert message_of(await ask(api.client, f"Bearer {token}")) == wrong
    late = development_token(tmp_path, ADMIN, -HOUR)
    assert message_of(await ask(playground, f"Bearer {late}")) == "The token has expired."


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1:8000", "[::1]:8000"])
async def test_in_development_the_page_gets_demo_tokens_that_work(playground: httpx.AsyncClient, host: str) -> None:
    response = await playground.get("/graphql/tokens", headers={"Host": host, "Sec-Fetch-Site": "same-origin"})
    assert response.headers["cache-control"] == "no-store"
    assert not any(name.startswith("access-control-") for name in response.headers)
    tokens = {entry["name"]: entry["token"] for entry in response.json()}
    assert {entry["name"]: entry["command"] for entry in response.json()} == {
        "Demo admin": None,
        "Demo support": ".venv/bin/smartlocker token --role support",
        "Demo owner owner-0002": ".venv/bin/smartlocker token --role owner --owner owner-0002",
    }
    codes = []
    for token in tokens.values():
        answer = (await ask(playground, f"Bearer {token}", query=ADMIN_ONLY)).json()
        codes.append([error["extensions"]["code"] for error in answer.get("errors", [])])
    assert codes == [[], ["FORBIDDEN"], ["FORBIDDEN"]]


async def test_no_other_page_and_no_other_name_gets_demo_tokens(playground: httpx.AsyncClient) -> None:
    for headers in (
        {"Host": "evil.example.com"},
        {"Host": "evil.example.com:8000", "Sec-Fetch-Site": "same-origin"},
        {"Host": "127.0.0.1.example.com"},
        {"Host": "localhost@evil.example.com"},
        {"Host": "[::1"},
        {"Host": ""},
        {"Host": "localhost:8000", "Sec-Fetch-Site": "cross-site"},
        {"Host": "localhost:8000", "Sec-Fetch-Site": "same-site"},
    ):
        response = await playground.get("/graphql/tokens", headers=headers)
        assert response.status_code == 403
        assert "eyJ" not in response.text


async def test_in_production_there_are_no_demo_tokens(guarded: httpx.AsyncClient) -> None:
    assert (await guarded.get("/graphql/tokens", headers={"Host": "localhost"})).status_code == 404


async def test_a_key_is_read_once_for_many_requests(guarded: httpx.AsyncClient, backend: Backend, wire: Wire) -> None:
    _, secret = await partner_key(backend)
    wire.reset()
    answers = await asyncio.gather(*(ask(guarded, f"Bearer {secret}") for _ in range(10)))
    assert {answer.status_code for answer in answers} == {200}
    (call,) = wire.calls
    assert (call.operation, call.request["ConsistentRead"]) == ("GetItem", True)
    refused = await ask(guarded, f"Bearer {secret}", query=ADMIN_ONLY)
    assert refused.json()["errors"][0]["extensions"]["code"] == "FORBIDDEN"


async def test_a_key_ends_when_it_expires(guarded: httpx.AsyncClient, backend: Backend, clock: Clock) -> None:
    _, secret = await partner_key(backend, expires_at="2026-03-01T13:00:00.000Z")
    clock.move(minutes=59)
    assert (await ask(guarded, f"Bearer {secret}")).status_code == 200
    clock.move(minutes=1)
    assert message_of(await ask(guarded, f"Bearer {secret}")) == "The API key has expired."


async def test_a_wrong_key_is_refused_without_the_reason(guarded: httpx.AsyncClient, backend: Backend) -> None:
    record, secret = await partner_key(backend)
    last = "0" if secret[-1] != "0" else "1"
    for wrong in (
        secret[:-1] + last,
        format_key(ApiKeyId("other"), secret[-64:]),
        format_key(record.key_id, record.digest),
        secret[:-1],
        "slk_",
        f"slk_a#b_{secret[-64:]}",
    ):
        assert message_of(await ask(guarded, f"Bearer {wrong}")) == "The API key is unknown."


async def test_without_the_store_keys_are_unavailable(guarded: httpx.AsyncClient, backend: Backend, wire: Wire) -> None:
    _, secret = await partner_key(backend)
    wire.fault = lambda _: Answer.error("ThrottlingException")
    response = await ask(guarded, f"Bearer {secret}")
    assert_rejected(response, "UNAVAILABLE", 503)
    assert response.headers["retry-after"] == "1"
    wire.reset()
    assert (await ask(guarded, f"Bearer {secret}")).status_code == 200
