"""Two servers that follow the log and are killed again and again: nothing is lost, and nothing is counted twice.

`make log` kills 25 times, with the leases and the horizon of a real server.
"""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from server.new_ids import new_id
from tests.conftest import Dump
from tests.e2e.clusters import CREATE, SHARDS, Cluster, logged
from tests.e2e.counting import COUNT, Count, count_key
from tests.e2e.serving import COMMAND, environment

KILLS = int(os.environ.get("FOLLOWING_KILLS", "2"))


class Load:
    """Clients that create owners at both servers, and try again elsewhere if one is dead."""

    def __init__(self, urls: Callable[[], list[str]]) -> None:
        self._urls = urls
        self.acknowledged: list[str] = []

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(self._send(number)) for number in range(3)]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _send(self, number: int) -> None:
        async with httpx.AsyncClient(timeout=30) as client:
            while True:
                owner_id, urls = new_id(), self._urls()
                try:
                    answer = await client.post(urls[number % len(urls)], json={"query": CREATE % owner_id})
                    if answer.json().get("data"):
                        self.acknowledged.append(owner_id)
                except httpx.TransportError:
                    number += 1
                await asyncio.sleep(0.02)


async def test_killed_followers_lose_nothing_and_count_nothing_twice(cluster: Cluster, dump: Dump) -> None:
    cluster.servers += await asyncio.gather(cluster.started(), cluster.started())
    await cluster.until(lambda leases: len(leases) == len(SHARDS))
    load = Load(lambda: cluster.urls)
    async with load.running():
        took = [await cluster.kill(0)]
        for number in range(1, KILLS):
            cluster.servers[1 - number % 2] = await cluster.started()
            took.append(await cluster.kill(number % 2))

    ends = {shard: max(activity.occurred_at for activity in await logged(dump, shard)) for shard in SHARDS}
    await cluster.until(lambda leases: all(leases[shard].positions["counting"] > ends[shard] for shard in SHARDS))
    told = set()
    for shard in SHARDS:
        found = COUNT.decode((await dump())[count_key(shard)])
        activities = [activity for activity in await logged(dump, shard) if activity.occurred_at <= found.position]
        ids = [activity.activity_id for activity in activities]
        assert found == Count(shard=shard).with_all(ids, found.position, found.fence)
        told |= {activity.happening.owner_id for activity in activities}
    assert {*load.acknowledged} <= told
    print(f"{len(told)} changes, {KILLS} kills, taken over after {[round(one, 1) for one in took]} s")  # noqa: T201
    assert 0 < max(took) < 15

    (living,) = [server for server in cluster.servers if server.process.poll() is None]
    assert await asyncio.to_thread(living.end) == 0
    assert {lease.holder for lease in (await cluster.leases()).values()} == {None}


async def test_a_process_of_its_own_follows_beside_a_server_that_does_not(
    cluster: Cluster, at_store: dict[str, str], tmp_path: Path
) -> None:
    cluster.servers.append(await cluster.started(follow="off"))
    with subprocess.Popen(  # noqa: ASYNC220  # no time
        [COMMAND, "follow"], env=environment({"drain_seconds": 0, **at_store}), cwd=tmp_path
    ) as process:
        await cluster.until(lambda leases: len(leases) == len(SHARDS))
        assert {lease.holder for lease in (await cluster.leases()).values()} != {None}
        process.terminate()
    assert process.returncode == 0
    assert {lease.holder for lease in (await cluster.leases()).values()} == {None}
    assert cluster.servers[0].ready == (200, "ready")
