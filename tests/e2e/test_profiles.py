"""The two profiles as servers: who is served, who is not, what refuses to start, and what the log never holds."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.conftest import CODE_KEYS
from tests.e2e.serving import COMMAND, refusal_of, serving
from tests.issuer import AUDIENCE, ISSUER, bearer, jwk, sign, write_keys

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.serving import Server

OWNER = '{ owner(ownerId: "owner-0001") { name } }'
CREATE_KEY = """mutation { createApiKey(input: {name: "Hall", role: DEVICE, lockerId: "locker-000001"}) {
  secret apiKey { keyId createdBy }
} }"""


def ask(server: Server, headers: dict[str, str], query: str = OWNER) -> httpx.Response:
    return httpx.post(server.url, json={"query": query}, headers=headers, timeout=60)


def token_of(data: Path, *words: str) -> str:
    made = subprocess.run(
        [COMMAND, "token", *words],
        env=os.environ | {"SMARTLOCKER_DATA_DIR": str(data)},
        capture_output=True,
        text=True,
        check=True,
    )
    return made.stdout.strip()


def issuer_settings(folder: Path) -> dict[str, str]:
    return {
        "SMARTLOCKER_PROFILE": "production",
        "SMARTLOCKER_CODE_KEYS": CODE_KEYS,
        "SMARTLOCKER_JWT_ISSUER": ISSUER,
        "SMARTLOCKER_JWT_AUDIENCE": AUDIENCE,
        "SMARTLOCKER_JWKS": str(write_keys(folder / "keys.json", jwk())),
    }


def embedded_settings(folder: Path, data: Path) -> dict[str, str]:
    more = {"SMARTLOCKER_ALLOW_EMBEDDED_STORE": "true", "SMARTLOCKER_DATA_DIR": str(data)}
    return issuer_settings(folder) | more


def test_in_production_only_tokens_of_the_issuer_are_accepted_and_the_log_holds_none(
    tmp_path: Path, furnished: Path
) -> None:
    settings = embedded_settings(tmp_path, furnished) | {"SMARTLOCKER_LOG_LEVEL": "debug"}
    development, stranger = token_of(furnished), sign(name="stranger")
    canaries = [development, stranger, sign()]
    write_keys(tmp_path / "keys.json", jwk(name="odd") | {"key_ops": None}, jwk())
    with serving(tmp_path / "run", **settings, SMARTLOCKER_HOST="0.0.0.0") as server:  # noqa: S104  # as it is used
        assert '-H "Authorization: Bearer $TOKEN"' in server.greeting[3]
        assert ask(server, bearer(canaries[-1])).json()["data"] == {"owner": {"name": "Metro Parcel 1"}}
        nobody = ask(server, {})
        assert (nobody.status_code, nobody.headers["www-authenticate"]) == (401, "Bearer")
        for token in (development, stranger):
            assert ask(server, bearer(token)).status_code == 401
        made = ask(server, bearer(sign()), CREATE_KEY).json()["data"]["createApiKey"]
        assert made["apiKey"]["createdBy"] == "ada"
        canaries.append(made["secret"])
        assert ask(server, bearer(made["secret"])).status_code == 200
        write_keys(tmp_path / "keys.json", jwk(), jwk(name="second"))
        assert ask(server, bearer(sign(name="second"))).status_code == 200
    assert "Application shutdown complete" in server.stderr
    for canary in canaries:
        for written in (server.stdout, server.stderr):
            assert canary not in written
            assert canary.rpartition(".")[2][-43:] not in written


def test_production_begins_with_a_table_without_demo_data(tmp_path: Path) -> None:
    settings = embedded_settings(tmp_path, tmp_path / "data")
    query = '{ locations { nodes { code } } owner(ownerId: "owner-0001") { name } }'
    for run in ("first", "again"):
        with serving(tmp_path / run, **settings) as server:
            answer = ask(server, bearer(sign()), query).json()
            assert answer["data"] == {"locations": {"nodes": []}, "owner": None}
            assert [error["extensions"]["code"] for error in answer["errors"]] == ["NOT_FOUND"]
    assert not (tmp_path / "data" / "demo-unfinished").exists()


def test_in_development_a_request_is_made_by_an_admin_or_the_principal_of_its_token(
    tmp_path: Path, furnished: Path
) -> None:
    query = "{ apiKeys { nodes { keyId } } }"
    with serving(tmp_path / "run", SMARTLOCKER_DATA_DIR=str(furnished)) as server:
        assert ask(server, {}, query).json() == {"data": {"apiKeys": {"nodes": []}}}
        owner = token_of(furnished, "--role", "owner", "--owner", "owner-0002")
        refused = ask(server, bearer(owner), query).json()
        assert [error["extensions"]["code"] for error in refused["errors"]] == ["FORBIDDEN"]
        demo: list[dict[str, Any]] = httpx.get(f"{server.url}/tokens", timeout=60).json()
        assert [ask(server, bearer(entry["token"]), query).json().get("data") for entry in demo] == [
            {"apiKeys": {"nodes": []}},
            {"apiKeys": None},
        ]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.com"])  # noqa: S104  # to be refused
def test_in_development_nothing_but_loopback_is_listened_on(tmp_path: Path, host: str) -> None:
    line = refusal_of("serve", SMARTLOCKER_HOST=host, SMARTLOCKER_DATA_DIR=str(tmp_path / "data"))
    assert line == (
        f"in the development profile every caller is an admin, so the server does not listen on {host}: set "
        "--host 127.0.0.1 or --profile production (SMARTLOCKER_HOST, SMARTLOCKER_PROFILE)"
    )
    assert not (tmp_path / "data").exists()


def test_production_does_not_start_without_an_issuer(tmp_path: Path) -> None:
    settings = {"SMARTLOCKER_PROFILE": "production", "SMARTLOCKER_DATA_DIR": str(tmp_path / "data")}
    assert refusal_of("serve", **settings) == (
        "the production profile needs an issuer: set SMARTLOCKER_JWT_ISSUER, SMARTLOCKER_JWT_AUDIENCE and "
        "SMARTLOCKER_JWKS"
    )
    assert not (tmp_path / "data").exists()


NO_CODE_KEYS = (
    "the production profile needs secrets for access codes: set SMARTLOCKER_CODE_KEYS, such as "
    "k1:$(openssl rand -base64 32)"
)


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ("", NO_CODE_KEYS),
        ("k1:c2hvcnQ=", "SMARTLOCKER_CODE_KEYS: must have secrets of 32 bytes or more"),
        ("k1:no base64", "SMARTLOCKER_CODE_KEYS: must be keys such as k1:<base64>, separated by commas"),
        (f"{CODE_KEYS},{CODE_KEYS}", "SMARTLOCKER_CODE_KEYS: must have 1 to 3 keys with different ids"),
    ],
)
def test_production_does_not_start_without_good_secrets_for_access_codes(tmp_path: Path, keys: str, line: str) -> None:
    settings = embedded_settings(tmp_path, tmp_path / "data") | {"SMARTLOCKER_CODE_KEYS": keys}
    assert refusal_of("serve", **settings) == line
    assert not (tmp_path / "data").exists()


def test_production_does_not_use_the_embedded_store_unless_told_to(tmp_path: Path) -> None:
    settings = embedded_settings(tmp_path, tmp_path / "data") | {"SMARTLOCKER_ALLOW_EMBEDDED_STORE": "false"}
    assert refusal_of("serve", **settings) == (
        "the embedded store is not for production: it checks no credentials and runs on one machine; set "
        "SMARTLOCKER_ENDPOINT_URL=aws, or SMARTLOCKER_ALLOW_EMBEDDED_STORE=true to use it nevertheless"
    )
    assert not (tmp_path / "data").exists()


def test_production_does_not_start_with_a_key_set_that_has_no_usable_key(
    tmp_path: Path, store_url: str, table: str
) -> None:
    settings = issuer_settings(tmp_path)
    write_keys(tmp_path / "keys.json", {"kty": "oct", "k": "c2VjcmV0", "alg": "HS256"})
    line = refusal_of("serve", **settings, SMARTLOCKER_ENDPOINT_URL=store_url, SMARTLOCKER_TABLE_NAME=table)
    assert line == f"the key set {tmp_path / 'keys.json'} has no public key for RS256, ES256, EdDSA"
