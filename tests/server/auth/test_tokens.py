import asyncio
import base64
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
import pytest_asyncio
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from domain.authorization import Principal, Role, Scope
from domain.models import LocationId, LockerId, OwnerId
from server.auth.claims import claims_of, principal_from
from server.http_errors import InvalidCredentialsError
from tests.conftest import OpenApi
from tests.issuer import AUDIENCE, KeyServer, bearer, claims, jwk, key_of, production, served_keys, sign
from tests.over_http import assert_rejected

UNTRUSTED = "The token is malformed or its signature is invalid."
NOT_ALLOWED = "The token's algorithm is not allowed."
NO_ID = "must be a valid id."
ROLES = "The token's claim role must be one of owner, partner, device, admin, support."
ONE_DOOR = "A device's token needs either lockerId or locationId."
PARTNERS = "A partner's token needs the claims partnerOf and scope."
ALGORITHMS = ["RS256", "ES256", "EdDSA"]


@pytest.fixture
def issuer(tmp_path: Path) -> dict[str, Any]:
    return production(tmp_path, *(jwk(algorithm, algorithm) for algorithm in ALGORITHMS))


@pytest_asyncio.fixture
async def guarded(open_api: OpenApi, issuer: dict[str, Any]) -> AsyncIterator[httpx.AsyncClient]:
    async with open_api(authenticator=None, **issuer) as opened:
        yield opened.client


async def ask(client: httpx.AsyncClient, token: str) -> httpx.Response:
    return await client.post("/graphql", json={"query": "{ __typename }"}, headers=bearer(token))


async def refusal(client: httpx.AsyncClient, token: str) -> str:
    """The message of a token's refusal, which holds nothing of the token."""
    response = await ask(client, token)
    assert_rejected(response, "UNAUTHENTICATED", 401)
    assert response.headers["www-authenticate"] == 'Bearer error="invalid_token"'
    assert len(token) < 10 or token not in response.text
    return str(response.json()["errors"][0]["message"])


def forged(header: dict[str, Any], content: dict[str, Any], signature: bytes = b"") -> str:
    parts = [json.dumps(header).encode(), json.dumps(content).encode(), signature]
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


def in_seconds(seconds: int) -> int:
    return int(time.time()) + seconds


@pytest.mark.parametrize("algorithm", ALGORITHMS)
async def test_a_token_of_each_allowed_algorithm_is_taken(guarded: httpx.AsyncClient, algorithm: str) -> None:
    response = await ask(guarded, sign(algorithm, algorithm))
    assert (response.status_code, response.json()["data"]) == (200, {"__typename": "Query"})


INVALID_CLAIMS: list[tuple[dict[str, Any], str]] = [
    ({"exp": None}, "The token has no claim exp."),
    ({"iss": None}, "The token has no claim iss."),
    ({"aud": None}, "The token has no claim aud."),
    ({"sub": None}, "The token has no claim sub."),
    ({"exp": in_seconds(-(10**6))}, "The token has expired."),
    ({"exp": 0}, "The token has expired."),
    ({"exp": "soon"}, UNTRUSTED),
    ({"nbf": in_seconds(10**6)}, "The token is not valid yet."),
    ({"iat": in_seconds(10**6)}, "The token is not valid yet."),
    ({"exp": float("inf")}, UNTRUSTED),
    ({"exp": 10**309}, "The token's claim exp is too large: it is in seconds since 1970."),
    ({"exp": str(in_seconds(10**6))}, "The token's claim exp must be a number."),
    ({"nbf": str(in_seconds(-(10**6)))}, "The token's claim nbf must be a number."),
    ({"iat": str(in_seconds(-(10**6)))}, "The token's claim iat must be a number."),
    ({"iat": True}, "The token's claim iat must be a number."),
    ({"iss": "https://other.example.com/"}, "The token is from another issuer."),
    ({"aud": "https://other.example.com/"}, "The token is for another audience."),
    ({"aud": ["https://other.example.com/"]}, "The token is for another audience."),
    ({"sub": 5}, UNTRUSTED),
    ({"jti": 5}, UNTRUSTED),
]


async def test_a_token_with_an_invalid_claim_is_rejected(guarded: httpx.AsyncClient) -> None:
    for more, message in INVALID_CLAIMS:
        assert await refusal(guarded, sign(name="ES256", **more)) == message
    for subject in ("", "a\nb", "a" * 256):
        message = "The token's claim sub must have 1 to 255 printable characters."
        assert await refusal(guarded, sign(name="ES256", sub=subject)) == message


async def test_clocks_may_differ_by_thirty_seconds_and_no_more(guarded: httpx.AsyncClient) -> None:
    for good in ({"exp": in_seconds(-1)}, {"nbf": in_seconds(20)}, {"aud": ["https://other.example.com/", AUDIENCE]}):
        assert (await ask(guarded, sign(name="ES256", **good))).status_code == 200
    assert await refusal(guarded, sign(name="ES256", exp=in_seconds(-31))) == "The token has expired."
    assert await refusal(guarded, sign(name="ES256", nbf=in_seconds(10**6))) == "The token is not valid yet."


async def test_no_other_algorithm_is_accepted(guarded: httpx.AsyncClient) -> None:
    for algorithm in ("none", "None", "NONE", "HS256", "HS512", "RS512", "ES384", "PS256", "", None, 5):
        assert await refusal(guarded, forged({"alg": algorithm, "kid": "ES256"}, claims())) == NOT_ALLOWED
        assert await refusal(guarded, forged({"alg": algorithm}, claims(), b"x" * 64)) == NOT_ALLOWED


@pytest.mark.parametrize("form", [PublicFormat.SubjectPublicKeyInfo, PublicFormat.PKCS1])
async def test_the_public_key_is_no_secret_to_sign_with(
    guarded: httpx.AsyncClient, open_api: OpenApi, issuer: dict[str, Any], tmp_path: Path, form: PublicFormat
) -> None:
    public = key_of("RS256", "RS256").public_key().public_bytes(Encoding.PEM, form)
    signer = jwt.get_algorithm_by_name("HS256")
    head = forged({"alg": "HS256", "kid": "RS256", "typ": "JWT"}, claims()).rstrip(".")
    signature = base64.urlsafe_b64encode(signer.sign(head.encode(), public)).decode().rstrip("=")
    assert await refusal(guarded, f"{head}.{signature}") == NOT_ALLOWED
    async with open_api(authenticator=None, **issuer | {"profile": "development", "data_dir": tmp_path}) as api:
        assert await refusal(api.client, f"{head}.{signature}") == UNTRUSTED


async def test_a_key_verifies_by_its_own_algorithm_alone(guarded: httpx.AsyncClient) -> None:
    for algorithm, name in (("ES256", "RS256"), ("EdDSA", "ES256"), ("RS256", "EdDSA")):
        token = jwt.encode(claims(), key_of(algorithm, algorithm), algorithm, headers={"kid": name})
        assert await refusal(guarded, token) == NOT_ALLOWED


@pytest.mark.parametrize(
    "extension", [{"crit": ["exp"]}, {"crit": ["b64"]}, {"crit": []}, {"crit": "b64", "b64": True}]
)
async def test_an_unknown_critical_extension_is_refused(guarded: httpx.AsyncClient, extension: dict[str, Any]) -> None:
    head = forged({"alg": "ES256", "kid": "ES256", **extension}, claims()).rstrip(".")
    signature = jwt.get_algorithm_by_name("ES256").sign(head.encode(), key_of("ES256", "ES256"))
    token = f"{head}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"
    assert await refusal(guarded, token) == UNTRUSTED


async def test_a_token_that_was_tampered_with_is_refused(guarded: httpx.AsyncClient) -> None:
    head, content, signature = sign(name="ES256", role="device", lockerId="l1").split(".")
    other = sign(name="ES256").split(".")[1]
    stranger = jwt.encode(claims(), key_of("ES256", "stranger"), "ES256", headers={"kid": "ES256"})
    for token in (
        f"{head}.{other}.{signature}",
        f"{head}.{content}.",
        f"{head}.{content}",
        f"{head}.{content}.{signature}.{signature}",
        f"{head}..{signature}",
        f"{head}.{content}!.{signature}",
        stranger,
        "x",
        "..",
        "a.b.c",
    ):
        assert await refusal(guarded, token) == UNTRUSTED


async def test_a_key_in_the_token_itself_is_not_looked_at(guarded: httpx.AsyncClient) -> None:
    own = {"jwk": jwk(name="own"), "jku": "http://127.0.0.1:1/keys", "x5u": "http://127.0.0.1:1/"}
    token = sign(name="own", headers=own)
    assert await refusal(guarded, token) == "The token is signed with an unknown key."


async def test_of_several_keys_a_token_must_name_one(guarded: httpx.AsyncClient) -> None:
    token = jwt.encode(claims(), key_of("ES256", "ES256"), "ES256")
    assert await refusal(guarded, token) == "The token is signed with an unknown key."
    strange = forged({"alg": "ES256", "kid": 5}, claims(), b"x" * 64)
    assert await refusal(guarded, strange) == UNTRUSTED


async def test_a_token_that_is_too_long_is_not_parsed(guarded: httpx.AsyncClient) -> None:
    assert await refusal(guarded, sign(name="ES256", ballast="x" * 8192)) == (
        "The token is longer than 8192 characters."
    )


def ada(role: Role, **more: Any) -> Principal:
    return Principal(subject="ada", role=role, **more)


O1, O2 = OwnerId("o1"), OwnerId("o2")
SCOPED = frozenset({Scope.LOCKERS_READ, Scope.EVENTS_WRITE})


@pytest.mark.parametrize(
    ("more", "principal"),
    [
        ({"role": "admin"}, ada(Role.ADMIN)),
        ({"role": "admin", "scope": "lockers:read"}, ada(Role.ADMIN)),
        ({"role": "admin", "ownerId": "o1"}, ada(Role.ADMIN, owner_id=O1)),
        ({"role": "support", "ownerId": "o1", "scope": "codes:write"}, ada(Role.SUPPORT)),
        (
            {"role": "owner", "ownerId": "o1", "organizations": ["o2"]},
            ada(Role.OWNER, owner_id=O1, organizations=frozenset({O2})),
        ),
        ({"role": "owner", "ownerId": "o1"}, ada(Role.OWNER, owner_id=O1)),
        (
            {"role": "partner", "partnerOf": ["o1", "o2"], "scope": "openid lockers:read  events:write"},
            ada(Role.PARTNER, partner_of=frozenset({O1, O2}), scopes=SCOPED),
        ),
        (
            {"role": "partner", "partnerOf": "o1", "scope": ["lockers:read", "other", 5, "events:write"]},
            ada(Role.PARTNER, partner_of=frozenset({O1}), scopes=SCOPED),
        ),
        ({"role": "device", "lockerId": "l1"}, ada(Role.DEVICE, locker_id=LockerId("l1"))),
        ({"role": "device", "locationId": "01HX"}, ada(Role.DEVICE, location_id=LocationId("01HX"))),
    ],
)
def test_claims_become_a_principal_of_their_role_and_of_no_other(more: dict[str, Any], principal: Principal) -> None:
    assert principal_from({"sub": "ada", **more}, {}) == principal
    assert principal_from(claims_of(principal), {}) == principal


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"role": None}, ROLES),
        ({"role": "ADMIN"}, ROLES),
        ({"role": ["admin"]}, ROLES),
        ({"role": "owner"}, f"The token's claim ownerId {NO_ID}"),
        ({"role": "owner", "ownerId": "a#b"}, f"The token's claim ownerId {NO_ID}"),
        ({"role": "owner", "ownerId": 5}, f"The token's claim ownerId {NO_ID}"),
        ({"role": "owner", "ownerId": "o1", "organizations": ["a#b"]}, f"The token's claim organizations {NO_ID}"),
        ({"role": "device"}, ONE_DOOR),
        ({"role": "device", "lockerId": "l1", "locationId": "p1"}, ONE_DOOR),
        ({"role": "device", "locationId": "a#b"}, f"The token's claim locationId {NO_ID}"),
        ({"role": "partner", "scope": "lockers:read"}, PARTNERS),
        ({"role": "partner", "partnerOf": ["o1"], "scope": "openid"}, PARTNERS),
    ],
)
async def test_claims_without_a_valid_principal_are_refused_with_the_name_of_the_claim(
    guarded: httpx.AsyncClient, more: dict[str, Any], message: str
) -> None:
    assert await refusal(guarded, sign(name="ES256", **more)) == message


async def test_the_names_of_claims_can_be_configured(open_api: OpenApi, issuer: dict[str, Any]) -> None:
    async with open_api(
        authenticator=None, **issuer, jwt_claims={"role": "custom:role", "ownerId": "https://x.example.com/owner"}
    ) as api:
        more: dict[str, Any] = {"role": None, "custom:role": "owner"}
        token = sign(name="ES256", **more | {"https://x.example.com/owner": "o1"})
        assert (await ask(api.client, token)).status_code == 200
        message = "The token's claim https://x.example.com/owner must be a valid id."
        assert await refusal(api.client, sign(name="ES256", **more)) == message
    with pytest.raises(InvalidCredentialsError, match="custom:role"):
        principal_from({"sub": "ada"}, {"role": "custom:role"})


@pytest_asyncio.fixture
async def key_server() -> AsyncIterator[KeyServer]:
    async with served_keys() as server:
        yield server


@pytest_asyncio.fixture
async def remote(open_api: OpenApi, issuer: dict[str, Any], key_server: KeyServer) -> AsyncIterator[httpx.AsyncClient]:
    """A server whose issuer's keys are at a URL."""
    async with open_api(authenticator=None, **issuer | {"jwks": key_server.url}) as opened:
        assert (await ask(opened.client, sign())).status_code == 200
        yield opened.client


async def test_keys_rotate_under_load_without_failed_requests(remote: httpx.AsyncClient, key_server: KeyServer) -> None:
    names = ["first"]
    statuses: list[int] = []
    is_over = False

    async def client(number: int) -> None:
        while not is_over:
            answer = await ask(remote, sign(name=names[number % len(names)]))
            statuses.append(answer.status_code)
            await asyncio.sleep(0)  # nothing else here waits for anything

    async def until(count: int) -> None:
        while len(statuses) < count:  # noqa: ASYNC110  # the clients' answers are what time is measured in
            await asyncio.sleep(0.001)

    async with asyncio.TaskGroup() as group:
        for number in range(8):
            group.create_task(client(number))
        await until(50)
        key_server.content = {"keys": [jwk(), jwk(name="second")]}
        names.append("second")  # from now on both sign
        await until(150)
        del names[0]  # from now on only the new one does
        await until(200)
        is_over = True
    assert set(statuses) == {200}
    assert key_server.fetches == 2


async def test_a_token_that_no_key_makes_valid_fetches_none(remote: httpx.AsyncClient, key_server: KeyServer) -> None:
    for more, message in INVALID_CLAIMS:
        head, content, signature = sign(name="second", **more).split(".")
        for token in (f"{head}.{content}.{signature}", f"{head}.{content}."):
            assert await refusal(remote, token) == message
    assert key_server.fetches == 1


async def test_a_token_by_a_key_to_be_fetched_is_verified(remote: httpx.AsyncClient, key_server: KeyServer) -> None:
    key_server.content = {"keys": [jwk(), jwk(name="second")]}
    assert await refusal(remote, sign(headers={"kid": "second"})) == UNTRUSTED
    assert key_server.fetches == 2


async def test_while_keys_cannot_be_read_or_fetched_known_ones_work_and_others_are_unavailable(
    guarded: httpx.AsyncClient, remote: httpx.AsyncClient, key_server: KeyServer, tmp_path: Path
) -> None:
    (tmp_path / "keys.json").write_text("{")
    key_server.status = 500
    for client, known, seconds in ((guarded, "ES256", "1"), (remote, "first", "10")):
        unknown = await ask(client, sign(name="second"))
        assert_rejected(unknown, "UNAVAILABLE", 503)
        assert unknown.headers["retry-after"] == seconds
        assert (await ask(client, sign(name=known))).status_code == 200
