"""Real clients that subscribe, those of docs/live.md among them: they miss nothing while the network is down."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from domain.times import EARLIEST
from tests.api import mutation
from tests.clients.conftest import ROOT, Opener, Project
from tests.network import network_to

PAGE = (ROOT / "docs" / "live.md").read_text()
BLOCKS: dict[str, str] = dict(
    re.findall(r"^`(\w+\.(?:js|py))`[^\n]*:\n\n```\w+\n(.+?)```", PAGE, re.DOTALL | re.MULTILINE)
)
CLIENTS = ["apollo", "fetch", "relay", "socket", "sse", "urql"]
UPDATE = mutation("updateLockerStatus", "locker { version }")


@pytest.fixture(scope="module")
def live_server(open_server: Opener, relay_manifest: Path) -> Iterator[str]:
    with open_server(SMARTLOCKER_TRUSTED_DOCUMENTS_FILE=str(relay_manifest)) as url:
        yield url


def test_every_client_sees_changes_and_misses_none_whatever_happens_to_clock_and_network(
    project: Project, live_server: str, own_locker: str
) -> None:
    for name, code in BLOCKS.items():
        (project.folder / "live" / name).write_text(code)
    came = project.node("live/drive.mjs", live_server, own_locker, *CLIENTS)
    for name in CLIENTS:
        shown = [(locker["version"], locker["status"]) for locker in came["shown"][name]]
        assert shown == [(1, "AVAILABLE"), (2, "OCCUPIED"), (3, "AVAILABLE")], name
    assert came["queries"] == 2 * len(CLIENTS), "each has queried once more, where activities were missing"
    assert came["shown"]["socket"][-1]["closes"] == [4403, 1006], "a token that has ended is replaced"


async def test_pythons_gql_sees_changes_and_misses_and_repeats_none(live_server: str, own_locker: str) -> None:
    async with network_to(live_server) as network, httpx.AsyncClient(timeout=60) as client:

        async def set_status(status: str, version: int) -> None:
            change = {"lockerId": own_locker, "newStatus": status, "expectedVersion": version}
            answer = await client.post(live_server, json={"query": UPDATE, "variables": {"input": change}})
            assert answer.json()["data"]["updateLockerStatus"]["locker"]["version"] == version + 1

        page: dict[str, Any] = {}
        exec(BLOCKS["following.py"].replace("127.0.0.1:8000", f"127.0.0.1:{network.port}"), page)  # noqa: S102  # of our page
        token = (await client.get(f"{live_server}/tokens")).json()[0]["token"]
        tokens = [token] * 3 + ["ended"]
        activities = page["follow"](own_locker, tokens.pop, EARLIEST)
        assert await anext(activities) is None, "some are missing"
        await set_status("OCCUPIED", 1)
        seen = [await anext(activities)]
        while seen[-1]["version"] < 2:
            seen.append(await anext(activities))
        network.cut()
        await set_status("AVAILABLE", 2)
        seen.append(await anext(activities))
        assert [(one["kind"], one["version"]) for one in seen] == [
            ("LOCKER_REGISTERED", 1),
            ("LOCKER_STATUS_CHANGED", 2),
            ("LOCKER_STATUS_CHANGED", 3),
        ]
        assert not tokens
        await activities.aclose()
