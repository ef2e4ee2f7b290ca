"""The two profiles as servers: who is served, who is not, and what the log never holds."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

import httpx

from tests.conftest import CODE_KEYS
from tests.e2e.serving import COMMAND, serving
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
