"""The phases: what each does to servers and store under load, and what must hold."""

import asyncio
import signal
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from pathlib import Path
from random import Random

from domain.times import Instant, shift
from loaders.table.client import StoreConnection
from loaders.table.clock import utc_now
from loaders.table.embedded import find_binary, run_embedded
from loaders.tools.definition import create_table
from tests.invariants import Items
from tests.torture.faults import CountingWire, Throttling, hanging, noise
from tests.torture.load import SHARED
from tests.torture.model import VIOLATION, Finding
from tests.torture.sender import LOST, UNKNOWN
from tests.torture.stage import Result, Stage, Verdict
from tests.wire import serve_wire

MIXED = {"own": 4, "contend": 3}
READY_SECONDS = 5
ERROR_SECONDS = 3
RECOVERY_SECONDS = 10
MOST_GROWTH_MB = 10
AHEAD = timedelta(minutes=5)
APART = timedelta(seconds=4)


async def kills(stage: Stage, scale: float) -> None:
    """kill -9 of two servers in turn."""
    seconds = await _seconds_of(stage, _scaled(50, scale), lambda number: stage.kill_server(number % 2))
    stage.figures["server kills"] = len(seconds)
    stage.judge("a killed server is ready again within 5 s", max(seconds), READY_SECONDS, "s")


async def store(stage: Stage, scale: float) -> None:
    """kill -9 of the store."""
    seconds = await _seconds_of(stage, _scaled(25, scale), lambda _: stage.kill_store())
    stage.figures["store kills"] = len(seconds)
    stage.judge("requests succeed within 5 s after a kill of the store", max(seconds), READY_SECONDS, "s")


async def _seconds_of(stage: Stage, count: int, kill: Callable[[int], Awaitable[float]]) -> list[float]:
    """The seconds that each of many kills takes under load."""
    seconds = []
    async with stage.load(MIXED):
        for number in range(count):
            await stage.calls(stage.chance.randrange(20, 400))
            seconds.append(await kill(number))
    return seconds


async def retries(stage: Stage, scale: float) -> None:
    """Creations that are sent twice, under conflicts, lost answers and duplicates."""
    clients = {"create": 5, "own": 1, "contend": 3}
    with stage.fault(noise(stage.chance)):
        async with stage.load(clients, _scaled(10_000, scale)):
            pass
    stage.figures["creations sent twice"] = stage.model.repeats


async def throttle(stage: Stage, scale: float) -> None:
    """Every call is throttled for a minute."""
    throttling = Throttling()
    async with stage.load(MIXED):
        await stage.calls(_scaled(500, scale, 100))
        start = time.monotonic()
        with stage.fault(throttling):
            await asyncio.sleep(60 * scale)
            await stage.calls(100)
        end = time.monotonic()
        await stage.calls(_scaled(2000, scale, 400))
    during = [sent for sent in stage.model.requests if sent.end >= start and sent.start <= end]
    stage.figures["throttled calls"] = throttling.calls
    stage.judge("attempts of a request, at most 3", throttling.calls / len(during), 3)
    stage.judge("attempts of a transaction, at most 3", max(throttling.transactions.values(), default=0), 3)
    errors = [sent for sent in stage.model.requests if sent.code in UNKNOWN]
    stage.judge("errors within 3 s", max(sent.seconds for sent in errors), ERROR_SECONDS, "s")
    stage.judge("no error 10 s later", max(0, max(sent.end for sent in errors) - end), RECOVERY_SECONDS, "s")
    stage.verdicts.append(Verdict("throttled requests are answered", "", all(sent.code != LOST for sent in errors)))


async def hangs(stage: Stage, scale: float) -> None:
    async with stage.load(MIXED):
        await stage.calls(_scaled(500, scale, 100))
        with stage.fault(hanging(stage.chance)):
            await asyncio.sleep(60 * scale)
            await stage.calls(200)
        await stage.calls(_scaled(500, scale, 100))
    answered = all(sent.code != LOST for sent in stage.model.requests)
    stage.verdicts.append(Verdict("every request is answered", "", answered))


async def clocks(stage: Stage, scale: float) -> None:
    """The clocks of two servers' machines differ by five minutes: they use the store's time."""
    async with stage.load(MIXED):
        await asyncio.sleep(45 * scale)
        await stage.calls(_scaled(2000, scale, 400))
    items = await stage.dump()
    for server in range(2):
        with stage.client("probe", server) as client:
            for locker_id in SHARED:
                before = shift(utc_now(), -APART)
                shown = (await client.settle("active", locker_id)).payload["activeReservation"]
                # Several where one ends or starts at this very moment.
                expected = set(_active(items, locker_id, before, shift(utc_now(), APART)))
                if (shown and shown["reservationId"]) not in expected:
                    stage.model.findings.append(Finding(VIOLATION, "active", f"{shown} in place of {expected}"))


async def memory(stage: Stage, scale: float) -> None:
    """Many requests, and the memory of the server afterwards."""
    async with stage.load({"read": 12}, steps=_scaled(500_000, scale), processes=2):
        pass
    samples = stage.memory
    warm = statistics.median(samples[len(samples) // 5 :][: max(1, len(samples) // 10)])
    last = statistics.median(samples[-max(1, len(samples) // 10) :])
    stage.figures["MB of memory of the server"] = round(last)
    stage.judge("growth of memory after the first fifth, at most 10 MB", last - warm, MOST_GROWTH_MB, "MB")


PHASES: dict[str, Callable[[Stage, float], Awaitable[None]]] = {
    phase.__name__: phase for phase in (kills, store, retries, throttle, hangs, clocks, memory)
}


async def run_phase(phase: str, scale: float, seed: int, folder: Path) -> Result:
    """Runs one phase on a store, a table and servers of its own."""
    table = f"torture-{phase}"
    data = folder / "data"
    async with run_embedded(find_binary(None), data) as store_url, serve_wire(CountingWire(store_url)) as wire:
        await create_table(StoreConnection(table, "eu-central-1", store_url, local=True))
        stage = Stage(folder, table, store_url, wire, Random(f"{phase} {seed}"))
        try:
            await stage.start(store_url if phase == "memory" else wire.url)
            if phase != "memory":
                await stage.start(wire.url, AHEAD if phase == "clocks" else timedelta())
            await stage.prepare()
            await PHASES[phase](stage, scale)
            return await stage.finish(phase, APART)
        finally:
            for server in stage.servers:
                if server.process.poll() is None:
                    server.end(signal.SIGKILL)


def _scaled(count: int, scale: float, least: int = 2) -> int:
    return max(least, round(count * scale))


def _active(items: Items, locker_id: str, start: Instant, end: Instant) -> Iterator[str | None]:
    """The reservations that are active between two times, and None if at some time none is."""
    free_from: str = start
    reservations = [
        item
        for (pk, _), item in items.items()
        if pk == f"LOCKER#{locker_id}" and item["entityType"] == "RESERVATION" and item["status"] == "ACTIVE"
    ]
    for item in sorted(reservations, key=lambda item: str(item["startAt"])):
        if item["startAt"] <= end and start < item["endAt"]:
            yield str(item["reservationId"])
            if free_from < item["startAt"]:
                yield None
            free_from = item["endAt"]
    if free_from <= end:
        yield None
