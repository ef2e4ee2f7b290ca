"""Who is asking: what a request must carry, by profile, and what comes of anything else."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from domain.api_keys import ApiKeyId, ApiKeyRole, CreateApiKey, RevokeApiKey, spelled_key
from domain.errors import UnavailableError
from domain.models import LockerId, OwnerId
from domain.principal import Principal, Role, Scope
from loaders.writes.api_keys import create_api_key, revoke_api_key
from server.auth import KeyRing
from server.claims import BadTokenError
from server.development import development_token, read_secret
from tests.issuer import AUDIENCE, ISSUER, bearer, jwk, sign, write_keys
from tests.wire import Answer, Wait

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    import httpx

    from domain.api_keys import ApiKey
    from loaders.backend import Backend
    from tests.api import Api
    from tests.conftest import Clock
    from tests.wire import Call, Wire

    Open = Callable[..., AbstractAsyncContextManager[Api]]

JSON, GRAPHQL = "application/json", "application/graphql-response+json"
QUERY = {"query": "{ __typename }"}
MALFORMED = "The Authorization header must be Bearer, a space, and a token or an API key."
ADMIN_ONLY = "{ apiKeys { nodes { keyId } } }"
HOUR = timedelta(hours=1)


@pytest.fixture
def production(tmp_path: Path) -> dict[str, Any]:
    """The settings of a server in production."""
    path = write_keys(tmp_path / "keys.json", jwk())
    return {
        "profile": "production",
        "jwt_issuer": ISSUER,
        "jwt_audience": AUDIENCE,
        "jwks": str(path),
        "data_dir": tmp_path,
    }


@pytest_asyncio.fixture
async def guarded(open_api: Open, production: dict[str, Any]) -> AsyncIterator[httpx.AsyncClient]:
    async with open_api(**production) as opened:
        yield opened.client


@pytest_asyncio.fixture
async def playground(open_api: Open, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """A server in development."""
    async with open_api(data_dir=tmp_path) as opened:
        yield opened.client


async def ask(client: httpx.AsyncClient, *authorization: str, **content: Any) -> httpx.Response:
    headers = [("Authorization", value) for value in authorization]
    return await client.post("/graphql", json=content or QUERY, headers=headers)


async def partner_key(backend: Backend, **more: Any) -> tuple[ApiKey, str]:
    values = {"role": ApiKeyRole.PARTNER, "owner_ids": ["o1"], "scopes": [Scope.LOCKERS_READ], **more}
    created = await create_api_key(backend, CreateApiKey(name="Courier", **values), "root")
    assert created.secret is not None
    return created.record, created.secret


def message_of(response: httpx.Response) -> str:
    assert response.status_code == 401, response.text
    message: str = response.json()["errors"][0]["message"]
    return message


@pytest.mark.parametrize("accept", [JSON, GRAPHQL])
async def test_in_production_a_request_without_credentials_is_refused_before_its_body_is_read(
    guarded: httpx.AsyncClient, accept: str
) -> None:
    async def endless() -> AsyncIterator[bytes]:
        raise AssertionError("the body was read")
        yield b""

    headers = {"Accept": accept, "Content-Type": JSON}
    for response in (
        await guarded.post("/graphql", content=endless(), headers=headers),
        await guarded.get("/graphql", params=QUERY, headers=headers),
    ):
        assert response.status_code == 401
        assert response.headers["content-type"] == f"{accept}; charset=utf-8"
        assert response.headers["www-authenticate"] == "Bearer"
        (error,) = response.json()["errors"]
        assert error["message"].startswith("This needs credentials: send Authorization: Bearer")
        assert error["extensions"] == {
            "code": "UNAUTHENTICATED",
            "status": 401,
            "requestId": response.headers["x-request-id"],
        }


async def test_a_good_token_is_taken_by_post_and_get_whatever_the_schemes_case(guarded: httpx.AsyncClient) -> None:
    for scheme in ("Bearer", "bearer", "BEARER"):
        assert (await ask(guarded, f"{scheme} {sign()}")).json()["data"] == {"__typename": "Query"}
    response = await guarded.get("/graphql", params=QUERY, headers=bearer(sign()))
    assert response.json()["data"] == {"__typename": "Query"}


@pytest.mark.parametrize("value", ["", "Bearer", "Bearer ", "Basic YTpi", "Token x", "Bearer a b", "Bearer é", "x"])
@pytest.mark.parametrize("profile", ["production", "development"])
async def test_a_header_of_another_form_is_refused_in_both_profiles(
    open_api: Open, production: dict[str, Any], profile: str, value: str
) -> None:
    async with open_api(**production | {"profile": profile}) as api:
        response = await api.client.post("/graphql", json=QUERY, headers=[(b"Authorization", value.encode("latin-1"))])
    assert message_of(response) == MALFORMED
    assert response.headers["www-authenticate"] == 'Bearer error="invalid_token"'


async def test_two_authorization_headers_are_refused_even_if_both_are_good(guarded: httpx.AsyncClient) -> None:
    response = await ask(guarded, f"Bearer {sign()}", f"Bearer {sign()}")
    assert message_of(response) == "The Authorization header must come once."


async def test_credentials_anywhere_else_are_none(guarded: httpx.AsyncClient) -> None:
    for headers in ({"X-API-Key": sign()}, {"Cookie": f"token={sign()}"}):
        response = await guarded.get("/graphql", params=QUERY | {"access_token": sign()}, headers=headers)
        assert response.status_code == 401


async def test_health_and_the_page_need_no_credentials_and_a_wrong_method_is_told_first(
    open_api: Open, production: dict[str, Any]
) -> None:
    async with open_api(**production, graphiql="on") as opened:
        assert (await opened.client.get("/health")).text == "ok"
        page = await opened.client.get("/graphql", headers={"Accept": "text/html"})
        assert page.headers["content-type"].startswith("text/html")
        assert (await opened.client.put("/graphql")).status_code == 405


async def test_in_development_whoever_comes_without_credentials_is_an_admin(playground: httpx.AsyncClient) -> None:
    assert (await ask(playground, query=ADMIN_ONLY)).json() == {"data": {"apiKeys": {"nodes": []}}}


async def test_in_development_a_token_of_its_own_says_who_one_is(playground: httpx.AsyncClient, tmp_path: Path) -> None:
    owner = Principal(subject="ada", role=Role.OWNER, owner_id=OwnerId("o1"))
    admin = Principal(subject="root", role=Role.ADMIN)
    refused = await ask(playground, f"Bearer {development_token(tmp_path, owner, HOUR)}", query=ADMIN_ONLY)
    assert refused.json()["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    taken = await ask(playground, f"Bearer {development_token(tmp_path, admin, HOUR)}", query=ADMIN_ONLY)
    assert taken.json() == {"data": {"apiKeys": {"nodes": []}}}


async def test_the_development_secret_is_made_once_whole_and_for_its_owners_eyes_alone(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "data"
    assert read_secret(folder) is None
    admin = Principal(subject="root", role=Role.ADMIN)
    development_token(folder, admin, HOUR)
    secret = read_secret(folder)
    assert secret is not None
    assert len(secret) == 64
    (path,) = folder.iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    development_token(folder, admin, HOUR)
    assert read_secret(folder) == secret


async def test_a_development_token_is_worth_nothing_elsewhere(
    open_api: Open, production: dict[str, Any], playground: httpx.AsyncClient, tmp_path: Path
) -> None:
    admin = Principal(subject="root", role=Role.ADMIN)
    token = development_token(tmp_path, admin, HOUR)
    async with open_api(**production) as api:  # on the same folder
        assert message_of(await ask(api.client, f"Bearer {token}")) == "The token's algorithm is not allowed here."
    other = development_token(tmp_path / "other", admin, HOUR)
    wrong = "The token is malformed or its signature is wrong."
    assert message_of(await ask(playground, f"Bearer {other}")) == wrong
    async with open_api(data_dir=tmp_path / "nothing") as api:
        assert message_of(await ask(api.client, f"Bearer {token}")) == wrong
    late = development_token(tmp_path, admin, -HOUR)
    assert message_of(await ask(playground, f"Bearer {late}")) == "The token has expired."


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1:8000", "[::1]:8000"])
async def test_in_development_the_page_gets_demo_tokens_that_work(playground: httpx.AsyncClient, host: str) -> None:
    response = await playground.get("/graphql/tokens", headers={"Host": host, "Sec-Fetch-Site": "same-origin"})
    assert response.headers["cache-control"] == "no-store"
    assert not any(name.startswith("access-control-") for name in response.headers)
    tokens = {entry["name"]: entry["token"] for entry in response.json()}
    assert list(tokens) == ["Demo admin", "Demo owner owner-0002"]
    codes = []
    for token in tokens.values():
        answer = (await ask(playground, f"Bearer {token}", query=ADMIN_ONLY)).json()
        codes.append([error["extensions"]["code"] for error in answer.get("errors", [])])
    assert codes == [[], ["FORBIDDEN"]]


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example.com"},
        {"Host": "evil.example.com:8000", "Sec-Fetch-Site": "same-origin"},
        {"Host": "127.0.0.1.example.com"},
        {"Host": "localhost@evil.example.com"},
        {"Host": "[::1"},
        {"Host": ""},
        {"Host": "localhost:8000", "Sec-Fetch-Site": "cross-site"},
        {"Host": "localhost:8000", "Sec-Fetch-Site": "same-site"},
    ],
)
async def test_no_other_page_and_no_other_name_gets_demo_tokens(
    playground: httpx.AsyncClient, headers: dict[str, str]
) -> None:
    response = await playground.get("/graphql/tokens", headers=headers)
    assert response.status_code == 403
    assert "eyJ" not in response.text


async def test_in_production_there_are_no_demo_tokens(guarded: httpx.AsyncClient) -> None:
    assert (await guarded.get("/graphql/tokens", headers={"Host": "localhost"})).status_code == 404


async def test_a_key_is_taken_and_read_once_in_a_while(
    guarded: httpx.AsyncClient, backend: Backend, wire: Wire
) -> None:
    _, secret = await partner_key(backend)
    wire.reset()
    answers = await asyncio.gather(*(ask(guarded, f"Bearer {secret}") for _ in range(50)))
    assert {answer.status_code for answer in answers} == {200}
    (call,) = wire.calls
    assert (call.operation, call.request["ConsistentRead"]) == ("GetItem", True)
    refused = await ask(guarded, f"Bearer {secret}", query=ADMIN_ONLY)
    assert refused.json()["errors"][0]["extensions"]["code"] == "FORBIDDEN"


async def test_a_revoked_key_is_refused_within_five_seconds_by_a_server_that_knew_it(
    guarded: httpx.AsyncClient, backend: Backend
) -> None:
    record, secret = await partner_key(backend)
    assert (await ask(guarded, f"Bearer {secret}")).status_code == 200
    await revoke_api_key(backend, RevokeApiKey(key_id=record.key_id))
    revoked = time.monotonic()
    while (response := await ask(guarded, f"Bearer {secret}")).status_code == 200:
        assert time.monotonic() - revoked < 5
        await asyncio.sleep(0.1)
    assert message_of(response) == "The API key was revoked."


async def test_a_key_ends_when_it_expires(guarded: httpx.AsyncClient, backend: Backend, clock: Clock) -> None:
    _, secret = await partner_key(backend, expires_at="2026-03-01T13:00:00.000Z")
    clock.move(minutes=59)
    assert (await ask(guarded, f"Bearer {secret}")).status_code == 200
    clock.move(minutes=1)
    assert message_of(await ask(guarded, f"Bearer {secret}")) == "The API key has expired."


async def test_a_key_with_one_wrong_character_is_refused_without_a_word_on_what_is_wrong(
    guarded: httpx.AsyncClient, backend: Backend
) -> None:
    record, secret = await partner_key(backend)
    last = "0" if secret[-1] != "0" else "1"
    for wrong in (
        secret[:-1] + last,
        spelled_key(ApiKeyId("other"), secret[-64:]),
        spelled_key(record.key_id, record.digest),
        secret[:-1],
        secret.upper(),
        f"slk_{record.key_id}",
        "slk_",
        f"slk_a#b_{secret[-64:]}",
    ):
        known = "The API key is not known." if wrong.startswith("slk_") else None
        assert message_of(await ask(guarded, f"Bearer {wrong}")) == (
            known or "The token is malformed or its signature is wrong."
        )


async def test_repeating_a_bad_key_does_not_reach_the_store_and_a_malformed_one_never_does(
    guarded: httpx.AsyncClient, wire: Wire
) -> None:
    bogus = spelled_key(ApiKeyId("nobody"), "0" * 64)
    for number in range(100):
        assert (await ask(guarded, f"Bearer {bogus[:-2]}{number:02d}")).status_code == 401
        assert (await ask(guarded, f"Bearer slk_{number}")).status_code == 401
    assert [call.keys for call in wire.calls] == [[("APIKEY#nobody", "META")]]


async def test_while_the_store_is_down_nobody_can_tell_and_afterwards_one_can(
    guarded: httpx.AsyncClient, backend: Backend, wire: Wire
) -> None:
    _, secret = await partner_key(backend)
    wire.fault = lambda _: Answer.error("ThrottlingException")
    response = await ask(guarded, f"Bearer {secret}")
    assert (response.status_code, response.headers["retry-after"]) == (503, "1")
    assert response.json()["errors"][0]["extensions"]["code"] == "UNAVAILABLE"
    wire.reset()
    assert (await ask(guarded, f"Bearer {secret}")).status_code == 200


async def test_a_key_stands_for_its_holder(backend: Backend, clock: Clock) -> None:
    partner, partner_secret = await partner_key(backend, owner_ids=["o1", "o2"])
    device, device_secret = await partner_key(backend, role=ApiKeyRole.DEVICE, owner_ids=[], scopes=[], locker_id="l1")
    records = {record.key_id: record for record in (partner, device)}

    async def read(key_id: ApiKeyId) -> ApiKey | None:
        return records.get(key_id)

    ring = KeyRing(read, clock)
    assert await ring.principal(partner_secret) == Principal(
        subject=f"key:{partner.key_id}",
        role=Role.PARTNER,
        partner_of=frozenset({OwnerId("o1"), OwnerId("o2")}),
        scopes=frozenset({Scope.LOCKERS_READ}),
        by_key=True,
    )
    assert await ring.principal(device_secret) == Principal(
        subject=f"key:{device.key_id}", role=Role.DEVICE, locker_id=LockerId("l1"), by_key=True
    )


async def test_what_is_remembered_of_keys_is_bounded_in_time_and_number(clock: Clock) -> None:
    asked: list[str] = []
    now = 0.0

    async def read(key_id: ApiKeyId) -> ApiKey | None:
        asked.append(key_id)
        return None

    async def try_key(name: str) -> None:
        with pytest.raises(BadTokenError):
            await ring.principal(spelled_key(ApiKeyId(name), "0" * 64))

    ring = KeyRing(read, clock, lambda: now)
    await try_key("first")
    now = 2.9
    await try_key("first")
    assert asked == ["first"]
    now = 3.0
    await try_key("first")
    assert asked == ["first", "first"]
    for number in range(10_000):
        await try_key(str(number))
    await try_key("first")
    assert asked.count("first") == 3
    await try_key("9999")
    assert asked.count("9999") == 1


async def test_a_client_that_goes_away_does_not_end_the_read_for_the_others(backend: Backend, clock: Clock) -> None:
    record, secret = await partner_key(backend)
    asked: list[str] = []
    go_on = asyncio.Event()

    async def read(key_id: ApiKeyId) -> ApiKey | None:
        asked.append(key_id)
        await go_on.wait()
        return record

    ring = KeyRing(read, clock)
    hasty, patient = (asyncio.create_task(ring.principal(secret)) for _ in range(2))
    await asyncio.sleep(0.01)
    hasty.cancel()
    await asyncio.wait([hasty])
    assert not patient.done()
    go_on.set()
    assert (await patient).role is Role.PARTNER
    assert asked == [record.key_id]


async def test_many_made_up_keys_at_once_are_a_few_reads_and_good_ones_are_taken_meanwhile(
    guarded: httpx.AsyncClient, backend: Backend, wire: Wire
) -> None:
    _, secret = await partner_key(backend)
    assert (await ask(guarded, f"Bearer {secret}")).status_code == 200
    wire.reset()
    under_way = most = 0

    def slow(_: Call) -> Wait:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        asyncio.get_running_loop().call_later(0.5, ended)
        return Wait(0.5)

    def ended() -> None:
        nonlocal under_way
        under_way -= 1

    wire.fault = slow
    made_up = [spelled_key(ApiKeyId(f"made-up-{number}"), "0" * 64) for number in range(500)]
    answers = [asyncio.create_task(ask(guarded, f"Bearer {key}")) for key in made_up]
    await asyncio.sleep(0)
    assert (await ask(guarded, f"Bearer {secret}")).status_code == 200
    statuses = [(answer.status_code, answer.headers.get("retry-after")) for answer in await asyncio.gather(*answers)]
    assert set(statuses) == {(401, None), (503, "1")}
    read = {key for call in wire.calls for key, _ in call.keys if key.startswith("APIKEY#made-up")}
    assert statuses.count((401, None)) == len(read)
    assert 1 <= most <= 16


async def test_made_up_keys_neither_push_out_nor_hold_up_those_that_are_known(backend: Backend, clock: Clock) -> None:
    record, secret = await partner_key(backend)
    asked: list[str] = []
    go_on = asyncio.Event()
    go_on.set()
    now = 0.0

    async def read(key_id: ApiKeyId) -> ApiKey | None:
        asked.append(key_id)
        await go_on.wait()
        return record if key_id == record.key_id else None

    async def is_turned_away(number: int) -> bool:
        try:
            await ring.principal(spelled_key(ApiKeyId(str(number)), "0" * 64))
        except BadTokenError:
            return False
        except UnavailableError:
            return True
        raise AssertionError

    ring = KeyRing(read, clock, lambda: now)
    await ring.principal(secret)
    for number in range(10_001):
        await is_turned_away(number)
    await ring.principal(secret)
    assert asked.count(record.key_id) == 1
    now = 3.0  # what is known must be read anew
    go_on.clear()
    made_up = [asyncio.create_task(is_turned_away(number)) for number in range(20_000, 20_500)]
    known = asyncio.create_task(ring.principal(secret))
    await asyncio.sleep(0.01)
    assert len(asked) == 1 + 10_001 + 16
    go_on.set()
    assert (await known).role is Role.PARTNER
    assert sum(await asyncio.gather(*made_up)) == 500 - 116
    assert not await is_turned_away(30_000)
