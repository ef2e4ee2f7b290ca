import asyncio
import os
import shutil
import signal
from pathlib import Path

import pytest

from loaders.table.client import StoreConnection
from loaders.table.embedded import find_binary, run_embedded
from loaders.tools.definition import create_table, describe_table
from loaders.tools.table_state import TableProblemError
from tests.api import CREATE_OWNER
from tests.e2e.serving import Server, eventually, is_running, is_there, offspring_of, serving, start

OWNER = "query ($ownerId: ID!) { owner(ownerId: $ownerId) { name version } }"


def create_owners(server: Server, *owner_ids: str) -> None:
    for owner_id in owner_ids:
        payload = server.ask(CREATE_OWNER, input={"ownerId": owner_id, "kind": "USER", "name": owner_id})
        assert payload["createOwner"] == {"owner": {"ownerId": owner_id, "version": 1}, "userErrors": []}


def test_a_killed_server_takes_its_store_along_and_a_new_one_starts_at_once_with_all_that_was_acknowledged(
    tmp_path: Path, furnished: Path
) -> None:
    server = start(tmp_path / "first", data_dir=furnished)
    create_owners(server, "ada", "bob")
    offspring = server.offspring
    assert "dynoxide" in offspring.values()
    assert server.end(signal.SIGKILL) == -signal.SIGKILL
    with serving(tmp_path / "second", data_dir=furnished) as second:
        for owner_id in ("ada", "bob"):
            assert second.ask(OWNER, ownerId=owner_id) == {"owner": {"name": owner_id, "version": 1}}
        create_owners(second, "cem")
        assert "Loading demo data" not in second.stderr
        eventually(lambda: not any(map(is_running, offspring)))


def test_a_killed_store_is_started_again_with_all_that_was_acknowledged(tmp_path: Path, furnished: Path) -> None:
    with serving(tmp_path / "run", data_dir=furnished) as server:
        create_owners(server, "ada", "bob")
        before = server.offspring
        os.kill(server.store, signal.SIGKILL)
        assert server.get("/health").text == "ok"
        eventually(lambda: "errors" not in server.try_to_ask(OWNER, ownerId="ada"))
        for owner_id in ("ada", "bob"):
            assert server.ask(OWNER, ownerId=owner_id) == {"owner": {"name": owner_id, "version": 1}}
        create_owners(server, "cem")
        eventually(lambda: not any(map(is_running, before)))
        after = server.offspring
        assert sorted(after.values()) == sorted(before.values())
        eventually(lambda: "the embedded store ended with status 137: starting it again" in server.stderr)
        assert server.end() == 0
        eventually(lambda: not any(map(is_running, after)))
        assert "Traceback" not in server.stderr


async def test_a_store_that_cannot_start_again_is_tried_until_it_can(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    binary = tmp_path / "own-store"
    shutil.copy(find_binary(None), binary)
    async with run_embedded(binary, tmp_path / "data") as url:
        connection = StoreConnection("some-table", "eu-central-1", url, local=True)
        assert await create_table(connection)
        (store,) = [number for number, program in offspring_of(os.getpid()).items() if program == "own-store"]
        binary.rename(tmp_path / "aside")
        os.kill(store, signal.SIGKILL)
        async with asyncio.timeout(60):
            while (tmp_path / "data" / "store.log").read_text().count("not found") < 3:  # noqa: ASYNC110  # a log has no event
                await asyncio.sleep(0.05)
        told = f"the embedded store {binary} did not start: see store.log in the data directory"
        assert caplog.messages.count(f"{told}: trying again until it starts") == 1
        with pytest.raises(TableProblemError, match="cannot be reached"):
            await describe_table(connection)
        (tmp_path / "aside").rename(binary)
        async with asyncio.timeout(60):
            while not await is_there(connection):  # noqa: ASYNC110  # nor has a store
                await asyncio.sleep(0.05)
