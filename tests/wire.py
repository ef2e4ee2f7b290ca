"""A proxy between the server and the store: records the requests, and injects faults."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any, TypeVar

import aiohttp
import orjson
from aiohttp import web

WRITES = {"TransactWriteItems", "PutItem"}


@dataclass(frozen=True)
class Answer:
    """Do not ask the store: give this answer."""

    status: int
    body: dict[str, Any]

    @classmethod
    def error(cls, code: str, **more: Any) -> Answer:
        """An error as DynamoDB sends it."""
        return cls(400, {"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": code, **more})

    @classmethod
    def canceled(cls, *codes: str) -> Answer:
        """A canceled transaction with one reason for each step."""
        return cls.error("TransactionCanceledException", CancellationReasons=[{"Code": code} for code in codes])


@dataclass(frozen=True)
class Lose:
    """Let the store do it, then drop the connection instead of answering."""


@dataclass(frozen=True)
class Twice:
    """Send the request to the store two times and give the second answer."""


@dataclass(frozen=True)
class Wait:
    """Let this much time pass first."""

    seconds: float


@dataclass(frozen=True)
class Until:
    """Let this happen first."""

    event: asyncio.Event


@dataclass(eq=False)
class Call:
    """One request that reached the store, or was kept from it."""

    operation: str
    request: dict[str, Any]
    status: int = 0
    response: dict[str, Any] = field(default_factory=dict)
    started: float = 0
    ended: float = 0

    @property
    def keys(self) -> list[tuple[str, str]]:
        """The keys that the request names, in order."""
        found: list[dict[str, Any]] = []
        match self.operation:
            case "BatchGetItem":
                found = [key for part in self.request["RequestItems"].values() for key in part["Keys"]]
            case "TransactWriteItems":
                steps = [step for entry in self.request["TransactItems"] for step in entry.values()]
                found = [step.get("Key") or step["Item"] for step in steps]
            case "PutItem":
                found = [self.request["Item"]]
            case "GetItem" | "UpdateItem":
                found = [self.request["Key"]]
        return [(key["PK"]["S"], key["SK"]["S"]) for key in found]

    @property
    def units(self) -> float:
        """The capacity units that the store says it took."""
        capacity = self.response.get("ConsumedCapacity") or []
        parts = capacity if isinstance(capacity, list) else [capacity]
        return float(sum(part["CapacityUnits"] for part in parts))


class Hold:
    """A fault that holds calls until they are released, and counts their arrivals.

    Args:
        operation: which calls; None for all.
    """

    def __init__(self, operation: str | None = None) -> None:
        self._operation = operation
        self._arrived = asyncio.Semaphore(0)
        self._released = asyncio.Event()

    def __call__(self, call: Call) -> Until | None:
        if self._operation not in {None, call.operation}:
            return None
        self._arrived.release()
        return Until(self._released)

    async def arrivals(self, count: int = 1) -> None:
        """Waits until so many more calls have arrived."""
        for _ in range(count):
            await self._arrived.acquire()

    def release(self) -> None:
        """Lets all calls pass, from here on."""
        self._released.set()


class Meeting:
    """A fault that holds the first calls of an operation until so many have arrived, and lets all later ones pass.

    So all have read before any writes, and the store decides.
    """

    def __init__(self, count: int, operation: str = "TransactWriteItems") -> None:
        self._missing = count
        self._operation = operation
        self._is_complete = asyncio.Event()

    def __call__(self, call: Call) -> Until | None:
        if call.operation != self._operation or self._is_complete.is_set():
            return None
        self._missing -= 1
        if self._missing == 0:
            self._is_complete.set()
        return Until(self._is_complete)


class Wire:
    """The calls that passed, and the rule for faults: `fault` looks at a call and says what to do to it.

    `now` is the time that answers tell, in seconds since 1970; None if they tell none.
    """

    def __init__(self, target: str) -> None:
        self.target = target
        self.url = ""
        self.calls: list[Call] = []
        self.fault: Callable[[Call], Answer | Lose | Twice | Until | Wait | None] = lambda _: None
        self.amend: Callable[[Call], None] = lambda _: None
        self.now: Callable[[], float | None] = time.time
        self.running: set[Call] = set()
        self.most_running = 0

    def reset(self) -> None:
        """Forget everything, break nothing."""
        self.calls = []
        self.fault = lambda _: None
        self.amend = lambda _: None
        self.now = time.time
        self.running = set()
        self.most_running = 0

    @property
    def operations(self) -> Counter[str]:
        return Counter(call.operation for call in self.calls)

    def of(self, operation: str) -> list[Call]:
        return [call for call in self.calls if call.operation == operation]

    async def handle(self, request: web.Request) -> web.Response:
        call = Call(request.headers["X-Amz-Target"].split(".")[1], orjson.loads(await request.read()))
        call.started = asyncio.get_running_loop().time()
        self.calls.append(call)
        running = self.running  # what still runs after a reset is not counted any more
        running.add(call)
        self.most_running = max(self.most_running, len(running))
        try:
            return await self._pass_on(request, call)
        finally:
            running.remove(call)
            call.ended = asyncio.get_running_loop().time()

    async def _pass_on(self, request: web.Request, call: Call) -> web.Response:
        fault = self.fault(call)
        if isinstance(fault, Wait):
            await asyncio.sleep(fault.seconds)
        if isinstance(fault, Until):
            await fault.event.wait()
        if isinstance(fault, Answer):
            call.status, call.response = fault.status, fault.body
        else:
            for _ in range(2 if isinstance(fault, Twice) else 1):
                await self._ask(request, call)
        self.amend(call)
        if isinstance(fault, Lose):
            assert request.transport is not None
            request.transport.abort()
        body = orjson.dumps(call.response)
        now = self.now()
        headers = {"Date": "" if now is None else formatdate(int(now), usegmt=True)}
        return web.Response(status=call.status, body=body, content_type="application/x-amz-json-1.0", headers=headers)

    async def _ask(self, request: web.Request, call: Call) -> None:
        passed_on = {
            name: request.headers[name] for name in ("X-Amz-Target", "X-Amz-Date", "Content-Type", "Authorization")
        }
        body = orjson.dumps(call.request | {"ReturnConsumedCapacity": "TOTAL"})
        session: aiohttp.ClientSession = request.app[_SESSION]
        async with session.post(self.target, data=body, headers=passed_on) as answer:
            call.status = answer.status
            call.response = orjson.loads(await answer.read())


SomeWire = TypeVar("SomeWire", bound=Wire)
_SESSION: web.AppKey[aiohttp.ClientSession] = web.AppKey("session", aiohttp.ClientSession)


@asynccontextmanager
async def open_wire(target: str) -> AsyncIterator[Wire]:
    """A proxy in front of a store, on a free port."""
    async with serve_wire(Wire(target)) as wire:
        yield wire


@asynccontextmanager
async def serve_wire(wire: SomeWire) -> AsyncIterator[SomeWire]:
    """The same with a proxy of the caller's kind."""
    application = web.Application(client_max_size=64 * 1024 * 1024)
    application.router.add_post("/", wire.handle)
    async with aiohttp.ClientSession() as session:
        application[_SESSION] = session
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        wire.url = f"http://{host}:{port}"
        yield wire
        await runner.cleanup()


def once(fault: Any, *operations: str) -> Callable[[Call], Any]:
    """The fault at the first call of these operations, and no other."""
    left = [fault]
    return lambda call: left.pop() if left and call.operation in operations else None


def conflict(call: Call) -> Answer:
    """DynamoDB's answer if two transactions meet at an item."""
    steps = len(call.request["TransactItems"])
    return Answer.canceled("TransactionConflict", *["None"] * (steps - 1))


def unlogged(keys: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Keys without those of the log, which has an entry for each write, of its own time and id."""
    return [key for key in keys if not key[0].startswith("LOG#")]
