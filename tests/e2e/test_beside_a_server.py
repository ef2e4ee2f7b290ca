import asyncio
import sys
from pathlib import Path

import pytest

from loaders.table.embedded import find_binary, run_embedded, share_embedded
from tests.api import CREATE_OWNER, UPDATE_STATUS
from tests.e2e.serving import command, refusal_of, serving
from tests.issuer import bearer

OWNER = '{ owner(ownerId: "owner-0001") { name } }'
STATE = """{ owner(ownerId: "owner-0001") { name lockers { nodes { lockerId alias status version } } }
  mine: owner(ownerId: "mine") { name }
  locker(lockerId: "locker-000001") { reservations { nodes { reservationId } } } }"""
MODULE = (sys.executable, "-m", "server.cli.main")
PARTNER = ("--role", "partner", "--name", "Hall", "--owner", "owner-0001", "--scope", "owners:read")


def test_a_key_that_is_made_beside_the_server_works_at_once(tmp_path: Path, furnished: Path) -> None:
    with serving(tmp_path / "run", data_dir=furnished) as server:
        assert (furnished / "endpoint").stat().st_mode & 0o777 == 0o600
        secret = command("keys", "create", *PARTNER, data_dir=furnished).stdout.strip()
        assert server.post(OWNER, bearer(secret)).json()["data"] == {"owner": {"name": "Metro Parcel 1"}}
        assert "Hall" in command("keys", "list", data_dir=furnished).stdout
    assert not (furnished / "endpoint").exists()
    assert "Hall" in command("keys", "list", data_dir=furnished).stdout


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
    with serving(tmp_path / "run", data_dir=furnished) as server:
        first = server.try_to_ask(STATE)["data"]
        assert first["mine"] is None
        server.ask(CREATE_OWNER, input={"ownerId": "mine", "kind": "USER", "name": "Me"})
        change = {"lockerId": "locker-000001", "newStatus": "MAINTENANCE", "expectedVersion": 1}
        server.ask(UPDATE_STATUS, input=change)
        assert server.try_to_ask(STATE)["data"] != first
        reset = command("demo", "reset", "--yes", program=MODULE, data_dir=furnished)
        assert reset.stdout == "table SmartLocker has its first demo data again\n"
        assert server.try_to_ask(STATE)["data"] == first
    assert not (furnished / "demo-unfinished").exists()


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"profile": "production"}, "the development profile only"),
        ({"endpoint_url": "https://127.0.0.1:1"}, "the embedded store or a local endpoint only"),
    ],
)
@pytest.mark.parametrize("words", [("demo", "load"), ("demo", "reset", "--yes"), ("table", "create", "--demo")])
def test_demo_data_is_for_development_only_and_never_far_away(
    tmp_path: Path, words: tuple[str, ...], settings: dict[str, str], reason: str
) -> None:
    assert refusal_of(*words, data_dir=tmp_path / "data", **settings) == f"demo data is for {reason}"
    assert not (tmp_path / "data").exists()


def test_only_a_table_of_demo_data_is_reset_and_only_when_confirmed(tmp_path: Path, furnished: Path) -> None:
    command("table", "create", data_dir=tmp_path / "other")
    refused = refusal_of("demo", "reset", "--yes", data_dir=tmp_path / "other")
    assert refused == "table SmartLocker has no demo data, so it is not reset"
    declined = command("demo", "reset", status=1, answer="n\n", data_dir=furnished)
    assert declined.stderr == "smartlocker: the demo data was not reset\n"
