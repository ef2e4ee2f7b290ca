"""Commands while a server runs on the embedded store: they use the store that it runs."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import httpx
import pytest

from loaders.table.embedded import find_binary, run_embedded, share_embedded
from tests.api import CREATE_OWNER, UPDATE_STATUS
from tests.conftest import CODE_KEYS
from tests.e2e.serving import ROOT, refusal_of, serving
from tests.issuer import AUDIENCE, ISSUER, bearer, jwk, sign, write_keys

if TYPE_CHECKING:
    from pathlib import Path

SMARTLOCKER = (sys.executable, "-m", "server.cli.main")
STATE = """{ owner(ownerId: "owner-0001") { name lockers { nodes { lockerId alias status version } } }
  mine: owner(ownerId: "mine") { name } locker(lockerId: "locker-000001") { reservations { nodes { startAt } } } }"""


def run(data: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*SMARTLOCKER, *words],
        cwd=ROOT,
        env=os.environ | {"SMARTLOCKER_DATA_DIR": str(data)} | settings,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )


def test_a_key_that_is_made_beside_the_server_works_at_once(tmp_path: Path, furnished: Path) -> None:
    settings = {
        "SMARTLOCKER_PROFILE": "production",
        "SMARTLOCKER_CODE_KEYS": CODE_KEYS,
        "SMARTLOCKER_ALLOW_EMBEDDED_STORE": "true",
        "SMARTLOCKER_JWT_ISSUER": ISSUER,
        "SMARTLOCKER_JWT_AUDIENCE": AUDIENCE,
        "SMARTLOCKER_JWKS": str(write_keys(tmp_path / "keys.json", jwk())),
    }
    make = ("keys", "create", "--role", "partner", "--name", "Hall", "--owner", "owner-0001", "--scope", "owners:read")
    with serving(tmp_path / "run", SMARTLOCKER_DATA_DIR=str(furnished), **settings) as server:
        assert (furnished / "endpoint").stat().st_mode & 0o777 == 0o600
        secret = run(furnished, *make).stdout.strip()
        document = {"query": '{ owner(ownerId: "owner-0001") { name } }'}
        answer = httpx.post(server.url, json=document, headers=bearer(secret), timeout=60)
        assert answer.json()["data"] == {"owner": {"name": "Metro Parcel 1"}}
        assert "Hall" in run(furnished, "keys", "list").stdout
        assert httpx.post(server.url, json=document, headers=bearer(sign()), timeout=60).status_code == 200
    assert not (furnished / "endpoint").exists()
    assert "Hall" in run(furnished, "keys", "list").stdout


async def test_what_a_killed_server_left_behind_misleads_nobody(tmp_path: Path) -> None:
    (tmp_path / "endpoint").write_text("http://127.0.0.1:1")
    binary = find_binary(None)
    async with run_embedded(binary, tmp_path):
        assert not (tmp_path / "endpoint").exists()
    async with share_embedded(binary, tmp_path) as alone:
        assert alone != "http://127.0.0.1:1"


async def test_a_command_waits_for_the_server_that_starts_and_for_a_command_that_runs(tmp_path: Path) -> None:
    binary = find_binary(None)

    async def shared() -> str:
        async with share_embedded(binary, tmp_path) as endpoint:
            return endpoint

    async with run_embedded(binary, tmp_path):  # a command, whose store nobody may use: it ends with the command
        waiting = asyncio.create_task(shared())
        await asyncio.sleep(0)
        assert not waiting.done()
    assert await waiting
    async with run_embedded(binary, tmp_path, shared=True) as endpoint:
        assert await shared() == endpoint


def test_demo_data_is_reset_beside_the_server(tmp_path: Path, furnished: Path) -> None:
    with serving(tmp_path / "run", SMARTLOCKER_DATA_DIR=str(furnished)) as server:
        first = server.try_to_ask(STATE)["data"]
        assert first["mine"] is None
        server.ask(CREATE_OWNER, input={"ownerId": "mine", "kind": "USER", "name": "Me"})
        change = {"lockerId": "locker-000001", "newStatus": "MAINTENANCE", "expectedVersion": 1}
        server.ask(UPDATE_STATUS, input=change)
        assert server.try_to_ask(STATE)["data"] != first
        assert run(furnished, "demo", "reset", "--yes").stdout == "table SmartLocker has its first demo data again\n"
        assert server.try_to_ask(STATE)["data"] == first
    assert not (furnished / "demo-unfinished").exists()


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"SMARTLOCKER_PROFILE": "production"}, "demo data is reset in the development profile only"),
        (
            {"SMARTLOCKER_ENDPOINT_URL": "https://127.0.0.1:1"},
            "demo data is reset in the embedded store or at a local endpoint only",
        ),
    ],
)
def test_demo_data_is_reset_in_development_only_and_never_far_away(
    furnished: Path, settings: dict[str, str], reason: str
) -> None:
    assert refusal_of("demo", "reset", "--yes", SMARTLOCKER_DATA_DIR=str(furnished), **settings) == reason


def test_a_table_without_demo_data_is_not_reset_and_one_with_it_only_when_confirmed(
    tmp_path: Path, furnished: Path
) -> None:
    run(tmp_path / "other", "table", "create")
    assert refusal_of("demo", "reset", "--yes", SMARTLOCKER_DATA_DIR=str(tmp_path / "other")) == (
        "table SmartLocker has no demo data, so it is not reset"
    )
    declined = subprocess.run(
        [*SMARTLOCKER, "demo", "reset"],
        cwd=ROOT,
        env=os.environ | {"SMARTLOCKER_DATA_DIR": str(furnished)},
        input="n\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (declined.returncode, declined.stderr) == (1, "smartlocker: the demo data was not reset\n")
