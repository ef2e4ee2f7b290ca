import signal
import stat
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx

from loaders.contracts.maintenance import TRANSFER_SCAN
from loaders.table.client import StoreConnection, open_store
from loaders.table.clock import utc_now
from loaders.table.embedded import DATABASE, find_binary, run_embedded
from loaders.table.values import item_from_wire
from tests.api import CREATE_OWNER
from tests.e2e.serving import Server, command, eventually, serving, start
from tests.invariants import check_invariants

OWNER = "query ($ownerId: ID!) { owner(ownerId: $ownerId) { name } }"


class Writer(threading.Thread):
    """Creates owners, one after another, for as long as the server answers."""

    def __init__(self, server: Server) -> None:
        super().__init__()
        self._server = server
        self.acknowledged: list[str] = []

    def run(self) -> None:
        with suppress(httpx.TransportError):
            while True:
                owner_id = f"new-{len(self.acknowledged):05}"
                values = {"ownerId": owner_id, "kind": "USER", "name": owner_id}
                self._server.ask(CREATE_OWNER, input=values)
                self.acknowledged.append(owner_id)


async def dump(data: Path) -> dict[tuple[str, str], dict[str, Any]]:
    async with (
        run_embedded(find_binary(None), data) as url,
        open_store(StoreConnection("SmartLocker", "eu-central-1", url, local=True)) as store,
    ):
        found = [item_from_wire(item) async for page in TRANSFER_SCAN.pages(store) for item in page.items]
    return {(str(item["PK"]), str(item["SK"])): item for item in found if item["PK"] != "TABLE"}


async def test_the_restore_drill(tmp_path: Path, furnished: Path) -> None:
    backup, restored = tmp_path / "lockers.backup", tmp_path / "restored"
    # a server that is written to
    server = start(tmp_path / "first", data_dir=furnished)
    try:
        writer = Writer(server)
        writer.start()
        eventually(lambda: len(writer.acknowledged) >= 10)
        # is backed up
        before = list(writer.acknowledged)
        assert command("backup", backup, data_dir=furnished).stdout.startswith(
            f"{furnished} is backed up to {backup} ("
        )
        during = len(writer.acknowledged)
        assert during > len(before)
        eventually(lambda: len(writer.acknowledged) > during)
    finally:
        server.end(signal.SIGKILL)  # and dies
    writer.join()
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    # a new directory gets the backup
    assert command("restore", backup, data_dir=restored).stdout == f"{backup} is restored to {restored}\n"
    assert stat.S_IMODE((restored / DATABASE).stat().st_mode) == 0o600
    # and a new server all that was acknowledged before it
    with serving(tmp_path / "second", data_dir=restored) as second:
        for owner_id in before:
            assert second.ask(OWNER, ownerId=owner_id) == {"owner": {"name": owner_id}}
    items = await dump(restored)
    check_invariants(items, utc_now())
    assert items.keys() < (await dump(furnished)).keys()
