import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from tests.api import CREATE_OWNER, REGISTER_LOCKER, UPDATE_STATUS
from tests.e2e.serving import ROOT, Server, command, environment, eventually, running

PROGRAM = (sys.executable, ROOT / "examples" / "watch.py")
REGISTERED = ["LOCKER_REGISTERED", "l1 ada", "by ADMIN development"]


class Watcher:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.kill = process.kill
        self._output = process.stdout

    async def line(self) -> list[str]:
        """The next line that it prints, without its time."""
        assert self._output is not None
        return (await self._output.readline()).decode().strip().split("  ")[1:]


@asynccontextmanager
async def watching(server: Server, state: Path) -> AsyncIterator[Watcher]:
    settings = environment({"URL": server.url, "STATE": state})
    process = await asyncio.create_subprocess_exec(*PROGRAM, "locker", "l1", stdout=subprocess.PIPE, env=settings)
    try:
        yield Watcher(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def change(server: Server, version: int, before: str, after: str) -> list[str]:
    """Changes the locker, and returns the line that tells it."""
    values = {"lockerId": "l1", "newStatus": after, "expectedVersion": version}
    await asyncio.to_thread(server.ask, UPDATE_STATUS, input=values)
    return ["LOCKER_STATUS_CHANGED", "l1 ada", "by ADMIN development", f"status {before} → {after}"]


async def test_the_watcher_prints_each_activity_once_also_after_the_server_and_itself_were_killed(
    tmp_path: Path, at_store: dict[str, str]
) -> None:
    state = tmp_path / "watch.json"

    def has_kept_three() -> bool:
        _, known = json.loads(state.read_text())
        return len(known) == 3  # those that it has printed

    async with AsyncExitStack() as stack:
        async with running(tmp_path / "first", **at_store) as server:
            await asyncio.to_thread(server.ask, CREATE_OWNER, input={"ownerId": "ada", "kind": "USER", "name": "Ada"})
            await asyncio.to_thread(server.ask, REGISTER_LOCKER, input={"lockerId": "l1", "ownerId": "ada"})
            watcher = await stack.enter_async_context(watching(server, state))
            assert await watcher.line() == REGISTERED
            expected = await change(server, 1, "AVAILABLE", "OCCUPIED")
            assert await watcher.line() == expected
        server = await stack.enter_async_context(
            running(tmp_path / "second", **at_store, port=urlsplit(server.url).port)
        )
        expected = await change(server, 2, "OCCUPIED", "MAINTENANCE")
        assert await watcher.line() == expected
        await asyncio.to_thread(eventually, has_kept_three)
        watcher.kill()
        expected = await change(server, 3, "MAINTENANCE", "AVAILABLE")
        again = await stack.enter_async_context(watching(server, state))
        assert await again.line() == expected


def test_the_watcher_says_how_it_is_used() -> None:
    for words in (["door", "l1"], ["locker"], ["locker", "l1", "opened"]):
        assert "python watch.py owner owner-0001" in command(*words, program=PROGRAM, status=1).stderr
