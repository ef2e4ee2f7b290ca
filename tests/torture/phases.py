"""The phases: what each does to servers and store under load, and what must hold."""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections import Counter
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from domain.times import Instant, shift
from loaders.table.client import Connection
from loaders.table.embedded import find_binary, run_embedded
from loaders.table.sdk import open_client
from loaders.table.values import item_from_wire
from loaders.tools.definition import create_table
from server.clock import utc_now
from tests.e2e.serving import ROOT, Server, offspring_of
from tests.torture.faults import CountingWire, LosingTransactions, Throttling, hanging, noise
from tests.torture.load import LOST, SHARED, UNKNOWN, Client, Spec
from tests.torture.model import FINDINGS, OK, VIOLATION, Finding, Model, compare
from tests.wire import Until, serve_wire

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from tests.invariants import Items
    from tests.torture.model import Request

PROGRAM = (sys.executable, "-m", "tests.torture.skewed")
PROCESSES = 3
MIXED = {"own": 4, "contend": 3}
READY_SECONDS = 5
DEADLINE_SECONDS = 10.5  # of the server, and what its answer takes to arrive
ERROR_SECONDS = 3
RECOVERY_SECONDS = 10
MOST_GROWTH_MB = 10
AHEAD = timedelta(minutes=5)


@dataclass(frozen=True)
class Verdict:
    """Something that must hold; figures depend on the machine where they are measured in seconds or megabytes."""

    text: str
    measured: str
    holds: bool
    depends_on_machine: bool = False


@dataclass(frozen=True)
class Mark:
    """A fault on the time axis."""

    text: str
    start: float
    end: float


@dataclass
class Result:
    """The result of a phase."""

    phase: str
    requests: list[Request]
    findings: list[Finding]
    marks: list[Mark]
    verdicts: list[Verdict]
    figures: dict[str, int]
    circumstances: str = ""

    @property
    def holds(self) -> bool:
        return all(verdict.holds for verdict in self.verdicts)


@dataclass
class Stage:
    """Store, proxy and servers of a phase."""

    folder: Path
    table: str
    store_url: str
    wire: CountingWire
    chance: Random
    servers: list[Server] = field(default_factory=list)
    settings: list[dict[str, str]] = field(default_factory=list)
    model: Model = field(default_factory=Model)
    marks: list[Mark] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    figures: dict[str, int] = field(default_factory=dict)
    memory: list[float] = field(default_factory=list)

    @property
    def ports(self) -> list[int]:
        return [int(settings["SMARTLOCKER_PORT"]) for settings in self.settings]

    async def start(self, url: str, ahead: timedelta = timedelta()) -> None:
        """Starts one more server."""
        self.settings.append(
            {
                "SMARTLOCKER_ENDPOINT_URL": url,
                "SMARTLOCKER_TABLE_NAME": self.table,
                "SMARTLOCKER_PORT": str(_free_port()),
                "SMARTLOCKER_MAX_PENDING_BOOKINGS": "1000000",
                "SMARTLOCKER_MAX_LIVE_RESERVATIONS": "1000",
                "CLOCK_AHEAD_SECONDS": str(ahead.total_seconds()),
            }
        )
        self.servers.append(await self._started(self.settings[-1]))

    async def prepare(self) -> None:
        """Creates what all clients share."""
        with self.client("first") as client:
            await client.create_owner("root", role="ADMIN")
            for locker_id in SHARED:
                await client.create_locker(locker_id, "root")

    @contextmanager
    def client(self, name: str, server: int | None = None) -> Iterator[Client]:
        """A client in this process."""
        client = Client(name, self.ports if server is None else [self.ports[server]], self.model)
        yield client
        client.hang_up()

    @asynccontextmanager
    async def load(
        self, clients: dict[str, int], steps: int | None = None, processes: int = PROCESSES
    ) -> AsyncIterator[None]:
        """Processes of clients: as long as the block runs, or until they have done their steps."""
        running: list[tuple[subprocess.Popen[bytes], Path]] = []
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        for number in range(processes):
            path = self.folder / f"clients-{number}"
            share = None if steps is None else -(-steps // processes)
            seed = f"{self.chance.randrange(10**6)}-{number}"
            spec = json.dumps(asdict(Spec(seed, self.ports, clients, share, str(path))))
            command = [sys.executable, "-m", "tests.torture.load", spec]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)  # noqa: ASYNC220  # takes no time
            running.append((process, path))
        sampler = asyncio.create_task(self._sample_memory())
        try:
            yield
        finally:
            for process, _ in running:
                assert process.stdin is not None
                if steps is None:
                    process.stdin.close()
            statuses = [await asyncio.to_thread(process.wait) for process, _ in running]
            sampler.cancel()
            for process, _ in running:
                assert process.stdin is not None
                process.stdin.close()
        assert statuses == [0] * processes
        for _, path in running:
            self.model.add(pickle.loads(path.read_bytes()))  # noqa: S301  # written by a process of ours

    async def calls(self, count: int) -> None:
        """Waits until so many more calls have reached the proxy."""
        target = self.wire.count + count
        while self.wire.count < target:  # noqa: ASYNC110  # the proxy has no event for it
            await asyncio.sleep(0.01)

    async def kill_server(self, number: int) -> float:
        """Kills a server and starts it again; returns after how many seconds it serves."""
        begin = time.monotonic()
        self.servers[number].end(signal.SIGKILL)
        self.servers[number] = await self._started(self.settings[number])
        return self._mark("server killed", begin)

    async def kill_store(self) -> float:
        """Kills the store after a change that it did not answer; returns after how many seconds requests succeed."""
        losing, back = LosingTransactions(), asyncio.Event()
        self.wire.fault = losing
        while not losing.lost:  # noqa: ASYNC110  # as above
            await asyncio.sleep(0.001)
        # What comes meanwhile waits at the proxy: so what the server sends again meets a store without a memory of it.
        self.wire.fault = lambda _: Until(back)
        begin = time.monotonic()
        old = self._store_process()
        os.kill(old, signal.SIGKILL)
        while not await _listens(self.store_url) or self._store_process(old) == old:  # noqa: ASYNC110  # as above
            await asyncio.sleep(0.01)
        back.set()
        self.wire.fault = lambda _: None
        with self.client("probe") as client:
            await client.settle("locker", SHARED[0])
        return self._mark("store killed", begin)

    @asynccontextmanager
    async def fault(self, text: str, rule: Callable[[Any], Any]) -> AsyncIterator[None]:
        """A rule of the proxy for as long as the block runs."""
        begin = time.monotonic()
        self.wire.fault = rule
        yield
        self.wire.fault = lambda _: None
        self._mark(text, begin)

    def judge(self, text: str, measured: float, most: float, unit: str = "") -> None:
        """A verdict about a figure; one in a unit depends on the machine."""
        shown = f"{measured:.2f}".rstrip("0").rstrip(".") + (unit and f" {unit}")
        self.verdicts.append(Verdict(text, shown, measured <= most, depends_on_machine=bool(unit)))

    async def finish(self, phase: str, skew: timedelta) -> Result:
        """Compares the table with what clients know, when nothing is under way any more."""
        while self.wire.running:  # noqa: ASYNC110  # as above
            await asyncio.sleep(0.05)
        findings = [*self.model.findings, *compare(self.model, await self.dump(), utc_now(), skew)]
        counts = Counter(finding.kind for finding in findings)
        verdicts = [Verdict(f"no {kind}", str(counts[kind]), not counts[kind]) for kind in FINDINGS]
        requests = sorted(self.model.requests)
        succeeded = sum(request.code == OK for request in requests)
        verdicts.append(Verdict("requests succeed", str(succeeded), succeeded > 0))
        slowest = max(request.seconds for request in requests)
        self.judge("no request over its deadline (10 s)", slowest, DEADLINE_SECONDS, "s")
        figures = {
            "requests": len(requests),
            "unknown outcomes": sum(request.code in UNKNOWN for request in requests),
            "acknowledged writes checked": len(self.model.present),
            "versions of shared lockers": sum(change.version is not None for change in self.model.history),
        }
        return Result(phase, requests, findings, self.marks, verdicts + self.verdicts, figures | self.figures)

    async def dump(self) -> Items:
        """All items of the table, without its format version."""
        found: Items = {}
        async with open_client(Connection(self.table, "eu-central-1", self.store_url, local=True)) as client:
            start: dict[str, Any] = {}
            while start is not None:
                page = await client.scan(TableName=self.table, **start)
                found |= {(str(item["PK"]), str(item["SK"])): item for item in map(item_from_wire, page["Items"])}
                if "LastEvaluatedKey" not in page:
                    break
                start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
        found.pop(("TABLE", "FORMAT"), None)
        return found

    def _mark(self, text: str, begin: float) -> float:
        end = time.monotonic()
        self.marks.append(Mark(text, begin, end))
        return end - begin

    async def _started(self, settings: dict[str, str]) -> Server:
        run = sum(path.name.startswith("server-") for path in self.folder.iterdir())
        server = Server(self.folder / f"server-{run}", settings, PROGRAM)
        try:
            await asyncio.to_thread(server.wait_until_it_serves)
        except BaseException:
            server.end(signal.SIGKILL)
            raise
        return server

    def _store_process(self, default: int = 0) -> int:
        for process, program in offspring_of(os.getpid()).items():
            if program == "dynoxide" and str(self.folder) in Path(f"/proc/{process}/cmdline").read_text():
                return process
        return default

    async def _sample_memory(self) -> None:
        while True:
            self.memory.append(_resident_mb(self.servers[0].process.pid))
            await asyncio.sleep(0.5)


async def kills(stage: Stage, scale: float) -> None:
    """kill -9 of two servers in turn."""
    async with stage.load(MIXED):
        seconds = []
        for number in range(_scaled(50, scale)):
            await stage.calls(stage.chance.randrange(20, 400))
            seconds.append(await stage.kill_server(number % 2))
    stage.figures["server kills"] = len(seconds)
    stage.judge("a killed server is ready again within 5 s", max(seconds), READY_SECONDS, "s")


async def store(stage: Stage, scale: float) -> None:
    """kill -9 of the store."""
    async with stage.load(MIXED):
        seconds = []
        for _ in range(_scaled(25, scale)):
            await stage.calls(stage.chance.randrange(20, 400))
            seconds.append(await stage.kill_store())
    stage.figures["store kills"] = len(seconds)
    stage.judge("requests succeed within 5 s after a kill of the store", max(seconds), READY_SECONDS, "s")


async def retries(stage: Stage, scale: float) -> None:
    """Creations that are sent twice, under conflicts, lost answers and duplicates."""
    clients = {"create": 5, "own": 1, "contend": 3}
    rule = noise(stage.chance)
    async with stage.fault("conflicts, lost answers, duplicates", rule), stage.load(clients, _scaled(10_000, scale)):
        pass
    stage.figures["creations sent twice"] = stage.model.repeats


async def throttle(stage: Stage, scale: float) -> None:
    """Every call is throttled for a minute."""
    throttling = Throttling()
    async with stage.load(MIXED):
        await stage.calls(500)
        async with stage.fault("throttled", throttling):
            await asyncio.sleep(60 * scale)
            await stage.calls(100)
        await stage.calls(2000)
    (mark,) = stage.marks
    during = [sent for sent in stage.model.requests if sent.end >= mark.start and sent.start <= mark.end]
    stage.figures["throttled calls"] = throttling.calls
    stage.judge("attempts of a request, at most 3", throttling.calls / len(during), 3)
    stage.judge("attempts of a transaction, at most 3", max(throttling.transactions.values(), default=0), 3)
    errors = [sent for sent in stage.model.requests if sent.code in UNKNOWN]
    stage.judge("errors within 3 s", max(sent.seconds for sent in errors), ERROR_SECONDS, "s")
    stage.judge("no error 10 s later", max(0, max(sent.end for sent in errors) - mark.end), RECOVERY_SECONDS, "s")
    stage.verdicts.append(Verdict("throttled requests are answered", "", all(sent.code != LOST for sent in errors)))


async def hangs(stage: Stage, scale: float) -> None:
    """5 % of calls hang."""
    async with stage.load(MIXED):
        await stage.calls(500)
        async with stage.fault("5 % hang", hanging(stage.chance)):
            await asyncio.sleep(60 * scale)
            await stage.calls(200)
        await stage.calls(500)
    answered = all(sent.code != LOST for sent in stage.model.requests)
    stage.verdicts.append(Verdict("every request is answered", "", answered))


async def clocks(stage: Stage, scale: float) -> None:
    """The clocks of two servers differ by five minutes."""
    async with stage.load(MIXED):
        await asyncio.sleep(45 * scale)
        await stage.calls(2000)
    items = await stage.dump()
    for server, ahead in enumerate((timedelta(), AHEAD)):
        with stage.client("probe", server) as client:
            for locker_id in SHARED:
                before = shift(utc_now(), ahead)
                shown = (await client.settle("active", locker_id)).payload["activeReservation"]
                # Two where one ends or starts at this very moment.
                expected = {_active(items, locker_id, now) for now in (before, shift(utc_now(), ahead))}
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
        await create_table(Connection(table, "eu-central-1", store_url, local=True))
        stage = Stage(folder, table, store_url, wire, Random(f"{phase} {seed}"))
        skew = AHEAD if phase == "clocks" else timedelta()
        try:
            await stage.start(store_url if phase == "memory" else wire.url)
            if phase != "memory":
                await stage.start(wire.url, skew)
            await stage.prepare()
            await PHASES[phase](stage, scale)
            # The clocks of two processes on one machine agree to the millisecond that is shown.
            return await stage.finish(phase, skew + timedelta(milliseconds=1))
        finally:
            for server in stage.servers:
                if server.process.poll() is None:
                    server.end(signal.SIGKILL)


def _scaled(count: int, scale: float) -> int:
    return max(2, round(count * scale))


def _active(items: Items, locker_id: str, now: Instant) -> str | None:
    for (pk, _), item in items.items():
        is_reservation = pk == f"LOCKER#{locker_id}" and item["entityType"] == "RESERVATION"
        if is_reservation and item["status"] == "ACTIVE" and item["startAt"] <= now < item["endAt"]:
            return str(item["reservationId"])
    return None


async def _listens(url: str) -> bool:
    try:
        host, port = urlsplit(url).netloc.split(":")
        _, writer = await asyncio.open_connection(host, int(port))
    except OSError:
        return False
    writer.close()
    return True


def _resident_mb(process: int) -> float:
    try:
        pages = Path(f"/proc/{process}/statm").read_text().split()[1]
    except FileNotFoundError:  # it was killed
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 2**20


def _free_port() -> int:
    """A port that no other program gets while a killed server is down: below those that the system gives."""
    while True:
        port = Random().randrange(20_000, 32_768)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
