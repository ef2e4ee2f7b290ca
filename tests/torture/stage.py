"""The stage of a phase: store, proxy, servers and clients, the faults, and the results."""

import asyncio
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

from loaders.table.client import StoreConnection, open_transport
from loaders.table.clock import utc_now
from tests.e2e.serving import ROOT, Server, offspring_of, start
from tests.invariants import Items
from tests.tables import PlainClient
from tests.torture.faults import CountingWire, LosingTransactions
from tests.torture.load import SHARED, Client, Spec
from tests.torture.model import FINDINGS, OK, Finding, Model, Request, compare
from tests.torture.sender import UNKNOWN
from tests.wire import Until

PROGRAM = (sys.executable, "-m", "tests.torture.skewed")
PROCESSES = 3
DEADLINE_SECONDS = 10.5  # of the server, and what its answer takes to arrive


@dataclass(frozen=True)
class Verdict:
    """Something that must hold; figures depend on the machine where they are measured in seconds or megabytes."""

    text: str
    measured: str
    holds: bool
    depends_on_machine: bool = False


@dataclass
class Result:
    phase: str
    requests: list[Request]
    findings: list[Finding]
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
    verdicts: list[Verdict] = field(default_factory=list)
    figures: dict[str, int] = field(default_factory=dict)
    memory: list[float] = field(default_factory=list)

    @property
    def ports(self) -> list[int]:
        return [int(settings["SMARTLOCKER_PORT"]) for settings in self.settings]

    async def start(self, url: str, ahead: timedelta = timedelta()) -> None:
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
        client = Client(name, self.ports if server is None else [self.ports[server]], self.model)
        yield client
        client.hang_up()

    @asynccontextmanager
    async def load(
        self, clients: dict[str, int], steps: int | None = None, processes: int = PROCESSES
    ) -> AsyncIterator[None]:
        """Processes of clients: as long as the block runs, or until they have done their steps."""
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        paths = [self.folder / f"clients-{number}" for number in range(processes)]
        sampler = asyncio.create_task(self._sample_memory())
        with ExitStack() as stack:
            running = []
            for number, path in enumerate(paths):
                share = None if steps is None else -(-steps // processes)
                seed = f"{self.chance.randrange(10**6)}-{number}"
                spec = json.dumps(asdict(Spec(seed, self.ports, clients, share, str(path))))
                command = [sys.executable, "-m", "tests.torture.load", spec]
                process = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)  # noqa: ASYNC220  # no time
                running.append(stack.enter_context(process))
            try:
                yield
            finally:
                for process in running if steps is None else []:
                    assert process.stdin is not None
                    process.stdin.close()
                statuses = [await asyncio.to_thread(process.wait) for process in running]
                sampler.cancel()
        assert statuses == [0] * processes
        for path in paths:
            self.model.add(pickle.loads(path.read_bytes()))  # noqa: S301  # written by a process of ours

    async def calls(self, count: int) -> None:
        """Waits until so many more calls have reached the proxy."""
        target = self.wire.count + count
        await _until(lambda: self.wire.count >= target)

    async def kill_server(self, number: int) -> float:
        """Kills a server and starts it again; returns after how many seconds it serves."""
        begin = time.monotonic()
        self.servers[number].end(signal.SIGKILL)
        self.servers[number] = await self._started(self.settings[number])
        return time.monotonic() - begin

    async def kill_store(self) -> float:
        """Kills the store after a change that it did not answer; returns after how many seconds requests succeed."""
        losing, back = LosingTransactions(), asyncio.Event()
        self.wire.fault = losing
        await _until(lambda: losing.lost > 0)
        # What comes meanwhile waits at the proxy: so what the server sends again meets a store without a memory of it.
        self.wire.fault = lambda _: Until(back)
        begin = time.monotonic()
        old = self._store_process()
        os.kill(old, signal.SIGKILL)
        await _until(lambda: _listens(self.store_url) and self._store_process(old) != old)
        back.set()
        self.wire.fault = lambda _: None
        with self.client("probe") as client:
            await client.settle("locker", SHARED[0])
        return time.monotonic() - begin

    @contextmanager
    def fault(self, rule: Callable[[Any], Any]) -> Iterator[None]:
        """A rule of the proxy for as long as the block runs."""
        self.wire.fault = rule
        yield
        self.wire.fault = lambda _: None

    def judge(self, text: str, measured: float, most: float, unit: str = "") -> None:
        """A verdict about a figure; one in a unit depends on the machine."""
        shown = f"{measured:.2f}".rstrip("0").rstrip(".") + (unit and f" {unit}")
        self.verdicts.append(Verdict(text, shown, measured <= most, depends_on_machine=bool(unit)))

    async def finish(self, phase: str, skew: timedelta) -> Result:
        """Compares the table with what clients know, when nothing is under way any more."""
        await _until(lambda: not self.wire.running)
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
        return Result(phase, requests, findings, verdicts + self.verdicts, figures | self.figures)

    async def dump(self) -> Items:
        """All items of the table, without its format version."""
        async with open_transport(StoreConnection(self.table, "eu-central-1", self.store_url, local=True)) as opened:
            return await PlainClient(opened).records(self.table)

    async def _started(self, settings: dict[str, str]) -> Server:
        run = sum(path.name.startswith("server-") for path in self.folder.iterdir())
        return await asyncio.to_thread(start, self.folder / f"server-{run}", PROGRAM, **settings)

    def _store_process(self, default: int = 0) -> int:
        for process, program in offspring_of(os.getpid()).items():
            with suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
                if program == "dynoxide" and str(self.folder) in Path(f"/proc/{process}/cmdline").read_text():
                    return process
        return default

    async def _sample_memory(self) -> None:
        while True:
            self.memory.append(_resident_mb(self.servers[0].process.pid))
            await asyncio.sleep(0.5)


async def _until(is_so: Callable[[], bool]) -> None:
    while not is_so():  # noqa: ASYNC110  # the proxy and the store have no event for it
        await asyncio.sleep(0.005)


def _listens(url: str) -> bool:
    address = urlsplit(url)
    with socket.socket() as probe:
        return probe.connect_ex((address.hostname, address.port)) == 0


def _resident_mb(process: int) -> float:
    try:
        pages = Path(f"/proc/{process}/statm").read_text().split()[1]
    except (FileNotFoundError, ProcessLookupError):  # it was killed
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 2**20


def _free_port() -> int:
    """A port that no other program gets while a killed server is down: below those that the system gives."""
    while True:
        port = Random().randrange(20_000, 32_768)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
