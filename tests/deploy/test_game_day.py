"""Brings about the fault of every alert at a running server, and sees that exactly its alert fires."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest_asyncio

from domain.authorization import DEVELOPMENT_ADMIN
from domain.commands.budgets import SetCallerBudget
from domain.webhooks import DeliveryStatus
from loaders.backend import Backend
from loaders.table.client import DynamoStore
from loaders.table.transport import Transport
from loaders.tools.table_state import set_read_only
from loaders.writes.budgets import set_caller_budget
from tests import webhooks
from tests.api import CREATE_OWNER, Api
from tests.conftest import CODE_KEYS
from tests.deploy.monitoring import ALERTS, PANELS
from tests.deploy.promql import Scrape, evaluate
from tests.e2e.serving import COMMAND, Server, start
from tests.tables import PlainClient, put
from tests.wire import Answer, Call, Wait, Wire

OWNER = 'query Owner { owner(ownerId: "ada") { name } }'
DAMAGED = 'query Damaged { owner(ownerId: "damaged") { name } }'
DELETE = 'mutation { deleteWebhook(input: {webhookId: "w1"}) { userErrors { code } } }'
CONSEQUENCES = ("SmartLockerUnavailable", "SmartLockerSlow", "SmartLockerStoreRetries")
"""Alerts that trouble of the store brings about besides its own."""
KEYS = [("OWNER#ada", "META")]
_PATIENCE_SECONDS = 60
DOWN = Answer(500, {"__type": "com.amazonaws.dynamodb.v20120810#InternalServerError", "message": "down"})


class Day:
    """A server behind the proxy of faults, with what was scraped of it in a drill."""

    def __init__(self, server: Server, client: httpx.AsyncClient, wire: Wire) -> None:
        self.server = server
        self.wire = wire
        self.fired: set[str] = set()
        self._client = client
        self._scrapes: list[Scrape] = []

    async def ask(self, *documents: str) -> None:
        """Sends documents at once, whatever the answers are."""
        await asyncio.gather(*(self._client.post("/graphql", json={"query": text}) for text in documents))

    async def scrape(self) -> None:
        self._scrapes.append(Scrape(time.monotonic(), (await self._client.get("/metrics")).text))

    def firing(self) -> set[str]:
        return {name for name, rule in ALERTS.items() if evaluate(rule["expr"], self._scrapes)}

    async def drill(self, *alerts: str, cause: Callable[[], Awaitable[Any]], may_fire: str = "") -> None:
        """Repeats a cause until these alerts fire, and no others."""
        await cause()  # a series that is not there before has no rate
        self._scrapes.clear()
        await self.scrape()
        await self._until(cause, lambda: self.firing() >= set(alerts))
        assert self.firing() <= {*alerts, *CONSEQUENCES, may_fire}
        self.fired |= set(alerts)

    async def recover(self) -> None:
        """Ends the faults, and waits until no alert fires."""
        self.wire.reset()

        async def begin_anew() -> None:
            self._scrapes.clear()
            for _ in range(2):
                await self.ask(OWNER)
                await self.scrape()

        await self._until(begin_anew, lambda: not self.firing())

    async def _until(self, act: Callable[[], Awaitable[Any]], is_done: Callable[[], bool]) -> None:
        ends_at = time.monotonic() + _PATIENCE_SECONDS
        while True:
            await act()
            await self.scrape()
            if is_done():
                return
            assert time.monotonic() < ends_at, self.firing()
            await asyncio.sleep(0.5)

    async def end(self) -> None:
        """Ends the server: what is scraped then is empty."""
        await asyncio.to_thread(self.server.end)
        self._scrapes = [Scrape(time.monotonic(), "")]
        self.fired |= self.firing() & {"SmartLockerDown"}

    def panels_without_value(self) -> list[str]:
        return [title for title, expression in PANELS if not evaluate(expression, self._scrapes)]


@pytest_asyncio.fixture
async def day(tmp_path: Path, wire: Wire, table: str, api: Api, backend: Backend) -> AsyncIterator[Day]:
    """A day that begins with a delivery that waits, of months ago by the clock of the server."""
    await webhooks.create(api, url="http://127.0.0.1:9/", all=True)
    await webhooks.deliver(backend, "w1", status=DeliveryStatus.WAITING)
    settings = {
        "endpoint_url": wire.url,
        "table_name": table,
        "metrics": "on",
        "code_keys": CODE_KEYS,
        "rate_limit_units": 600,
        "rate_limit_burst": 300,
    }
    server = await asyncio.to_thread(start, tmp_path / "run", [COMMAND], **settings)
    async with httpx.AsyncClient(base_url=server.url.removesuffix("/graphql"), timeout=60) as client:
        try:
            yield Day(server, client, wire)
        finally:
            if server.process.poll() is None:
                await asyncio.to_thread(server.end)


async def set_budget(backend: Backend, units: int | None) -> None:
    """Gives the only caller another budget, or the usual one again."""
    command = SetCallerBudget(subject=DEVELOPMENT_ADMIN.subject, units_per_minute=units)
    await set_caller_budget(backend, command, DEVELOPMENT_ADMIN)


async def test_every_alert_fires_for_its_fault_and_for_no_other(
    day: Day, plain_client: PlainClient, table: str, transport: Transport, backend: Backend
) -> None:
    wire = day.wire
    create = CREATE_OWNER.replace("($input: CreateOwnerInput!)", "").replace(
        "$input", '{ownerId: "ada", kind: USER, name: "Ada"}'
    )
    await day.ask(create)
    await put(plain_client, table, {"PK": "OWNER#damaged", "SK": "META", "entityType": "OWNER"})

    await day.drill("SmartLockerWebhooksUndelivered", cause=lambda: asyncio.sleep(0))
    await day.ask(DELETE)

    def owner_reads(fault: Callable[[], Any]) -> Callable[[Call], Any]:
        return lambda call: fault() if call.keys == KEYS else None

    wire.fault = owner_reads(lambda: Wait(1.3))
    undelivered = "SmartLockerWebhooksUndelivered"  # until the server has read that the webhook is gone
    await day.drill("SmartLockerSlow", cause=lambda: day.ask(*[OWNER] * 5), may_fire=undelivered)
    await day.recover()

    await day.drill("SmartLockerInternalErrors", cause=lambda: day.ask(DAMAGED))
    await day.recover()

    throttled = Answer.error("ThrottlingException")
    answers = iter([throttled, None] * 100)
    wire.fault = owner_reads(lambda: next(answers))
    await day.drill("SmartLockerStoreRetries", cause=lambda: day.ask(OWNER))
    await day.recover()

    wire.fault = owner_reads(lambda: throttled)
    await day.drill("SmartLockerUnavailable", cause=lambda: day.ask(OWNER))
    await day.recover()

    wire.fault = lambda _: DOWN
    await day.drill("SmartLockerStoreDown", "SmartLockerNobodyFollows", cause=lambda: asyncio.sleep(0.5))
    await day.recover()

    store = DynamoStore(transport, table)
    await set_budget(backend, 1)
    await set_read_only(store, is_read_only=True)
    await day.drill("SmartLockerReadOnly", "SmartLockerRateLimited", cause=lambda: day.ask(OWNER))
    assert set(day.panels_without_value()) <= {"Retries and conflicts", "Keys of a BatchGetItem"}  # no load causes them
    await set_budget(backend, None)
    await set_read_only(store, is_read_only=False)
    await day.recover()

    wire.now = lambda: time.time() + 300
    wire.fault = lambda call: DOWN if call.operation == "Query" else None
    # Budgets are kept by the store's time.
    skewed = ("SmartLockerClockSkew", "SmartLockerFollowerLag")
    await day.drill(*skewed, cause=lambda: day.ask(OWNER), may_fire="SmartLockerRateLimited")

    await day.end()
    assert day.fired == set(ALERTS)
