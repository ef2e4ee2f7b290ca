"""Two servers that deliver webhooks and are killed again and again, to endpoints that fail at random: all is delivered.

`make webhooks` kills 25 times while 2,000 things happen, with the leases and the horizon of a real server.
"""

import asyncio
import os
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import httpx
from aiohttp import web
from standardwebhooks import Webhook

from domain.activity import Activity, ActivityKind
from server.new_ids import new_id
from tests.conftest import Dump
from tests.e2e.clusters import CREATE, SHARDS, Cluster, logged

KILLS = int(os.environ.get("WEBHOOK_KILLS", "2"))
EVENTS = int(os.environ.get("WEBHOOK_EVENTS", "60"))
HANGING = 20
HOOK = """mutation { createWebhook(input: {webhookId: "%s", url: "%s", all: true, kinds: [OWNER_CREATED]}) {
  secret userErrors { message } } }"""


class Receiver:
    """Keeps ids. Some messages it fails at random, each once: with a status, or by losing the answer."""

    def __init__(self) -> None:
        self.secrets: dict[str, str] = {}
        self.kept: dict[str, dict[str, float]] = {}
        """When each id was kept, by endpoint."""
        self.attempts: Counter[str] = Counter()
        self.again = 0
        """Messages that were kept already."""
        self._random = random.Random(7)
        self._seen: set[tuple[str, str]] = set()
        self._hanging = asyncio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        app = web.Application()
        app.router.add_post("/{name}", self._receive)
        runner = web.AppRunner(app, shutdown_timeout=0)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            self._hanging.set()
            await runner.cleanup()

    async def _receive(self, request: web.Request) -> web.StreamResponse:
        name, body = request.match_info["name"], await request.read()
        if name.startswith("hang"):
            await self._hanging.wait()
        content = Webhook(self.secrets[name]).verify(body, dict(request.headers))
        assert content["type"] == ActivityKind.OWNER_CREATED
        self.attempts[name] += 1
        own, message_id = self.kept.setdefault(name, {}), request.headers["webhook-id"]
        fault = 1.0 if (name, message_id) in self._seen else self._random.random()
        self._seen.add((name, message_id))
        if fault < 0.2:
            return web.Response(status=500)
        self.again += message_id in own
        own.setdefault(message_id, time.monotonic())
        if fault < 0.3 and request.transport is not None:
            request.transport.abort()  # it was kept, and the answer is lost
        return web.Response(status=204)


async def ask(url: str, query: str) -> Any:
    async with httpx.AsyncClient(timeout=30) as client:
        return (await client.post(url, json={"query": query})).json()["data"]


async def create(receiver: Receiver, base: str, url: str, name: str) -> None:
    payload = (await ask(url, HOOK % (name, f"{base}/{name}")))["createWebhook"]
    assert payload["userErrors"] == []
    receiver.secrets[name] = payload["secret"]


async def happen(urls: Callable[[], list[str]], number: int, pause: float) -> None:
    """Creates owners, at whichever server answers."""
    for turn in count():
        if number == 0:
            return
        try:
            answer = await ask(urls()[turn % 2], CREATE % new_id())
            number -= bool(answer)
        except (httpx.TransportError, KeyError):
            pass
        await asyncio.sleep(pause)


async def created(dump: Dump) -> list[Activity]:
    """All owners that were created, as the log tells it."""
    found = [activity for shard in SHARDS for activity in await logged(dump, shard)]
    return [activity for activity in found if activity.happening.kind is ActivityKind.OWNER_CREATED]


async def until_kept(receiver: Receiver, names: list[str], ids: set[str], seconds: float) -> None:
    def is_kept() -> bool:
        return all(ids <= receiver.kept.get(name, {}).keys() for name in names)

    async with asyncio.timeout(seconds):
        while not is_kept():  # noqa: ASYNC110  # others send
            await asyncio.sleep(0.05)


async def test_killed_servers_deliver_everything_to_endpoints_that_fail(cluster: Cluster, dump: Dump) -> None:
    receiver, names = Receiver(), ["one", "two", "three"]
    async with receiver.running() as base:
        cluster.servers += await asyncio.gather(cluster.started(), cluster.started())
        await cluster.until(lambda leases: len(leases) == len(SHARDS))
        for name in names:
            await create(receiver, base, cluster.urls[0], name)
        load = asyncio.create_task(happen(lambda: cluster.urls, EVENTS, KILLS * 10 / EVENTS if KILLS >= 25 else 0.02))
        took = [await cluster.kill(0)]
        for number in range(1, KILLS):
            cluster.servers[1 - number % 2] = await cluster.started()
            took.append(await cluster.kill(number % 2))
        await load
        ids = {activity.activity_id for activity in await created(dump)}
        await until_kept(receiver, names, ids, 120)
        assert len(ids) >= EVENTS
        assert all(receiver.kept[name].keys() == ids for name in names)
        sent = sum(receiver.attempts.values())
        print(f"{len(ids)} events, {KILLS} kills, {sent} attempts, {receiver.again} of them again")  # noqa: T201

        if KILLS >= 25:
            living = cluster.servers[KILLS % 2].url
            for number in range(HANGING):
                await create(receiver, base, living, f"hang{number}")
            await happen(lambda: [living, living], 200, 0)
            began, more = time.monotonic(), {activity.activity_id for activity in await created(dump)}
            await until_kept(receiver, names, more, 30)
            print(f"beside {HANGING} that hang, 200 events after {time.monotonic() - began:.1f} s")  # noqa: T201
