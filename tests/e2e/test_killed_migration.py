import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from loaders.table.client import DynamoStore
from loaders.tools.table_state import read_state
from tests.migrating import migration, no_wait
from tests.races.holding import Held
from tests.source_items import EXAMPLES, LOCATION, Table
from tests.table_state import set_state
from tests.tables import PlainClient, put
from tests.wire import Call, Wire

SOURCES = [*EXAMPLES, *(item for seed in range(12) for item in Table(seed).items)]


async def command(endpoint: str, table: str, folder: Path) -> asyncio.subprocess.Process:
    settings = {"ENDPOINT_URL": endpoint, "TABLE_NAME": table, "DATA_DIR": str(folder)}
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "server.cli.main", "migrate", "--yes", "--rate", "1000000", "--location", LOCATION),
        env=os.environ | {f"SMARTLOCKER_{name}": value for name, value in settings.items()},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )


@pytest.mark.parametrize("write", [2, 4, 6])  # the first marks the table
async def test_a_killed_migration_is_finished_by_another_run_with_the_same_result(
    write: int, wire: Wire, table: str, plain_client: PlainClient, tmp_path: Path
) -> None:
    await put(plain_client, table, *SOURCES)
    await set_state(plain_client, table, None)
    met = 0

    def is_due(call: Call) -> bool:
        nonlocal met
        met += call.operation == "TransactWriteItems"
        return met == write

    held = Held(is_due)
    wire.fault = held
    first = await command(wire.url, table, tmp_path)
    reached = asyncio.ensure_future(held.reached())
    await asyncio.wait([reached, asyncio.ensure_future(first.wait())], return_when=asyncio.FIRST_COMPLETED)
    assert reached.done(), "the migration ended before"
    first.kill()
    await first.wait()
    held.release()
    began = (await read_state(DynamoStore(plain_client.transport, table))).migrating_since
    assert began is not None
    second = await command(wire.url, table, tmp_path)
    assert await second.wait() == 0

    other: Any = await plain_client.new_table()
    await put(plain_client, other, *SOURCES)
    await migration(DynamoStore(plain_client.transport, other)).run(began, no_wait)
    assert await plain_client.records(table) == await plain_client.records(other)
