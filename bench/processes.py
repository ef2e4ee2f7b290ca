"""The processes of a run: how they are started on their cores, measured and ended."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = [
    "Client",
    "Cores",
    "Figures",
    "Process",
    "ProcessError",
    "end_on_signal",
    "open_client",
    "pinned",
    "process_cpu_seconds",
    "running",
]

_START_SECONDS = 30
_END_SECONDS = 10
_TICKS = os.sysconf("SC_CLK_TCK")
_HERE = Path(__file__).parent


class ProcessError(Exception):
    """A process did not start, or ended."""


@dataclass(frozen=True, slots=True)
class Cores:
    """Which cores the server has, and which everything else has; None where cores cannot be chosen."""

    server: str | None
    others: str | None

    @property
    def other_count(self) -> int:
        """How many cores the client and the store share."""
        return (os.cpu_count() or 1) if self.others is None else len(self.others.split(","))

    @classmethod
    def found(cls) -> Cores:
        """The server has a core of its own where there are two or more."""
        if shutil.which("taskset") is None or not hasattr(os, "sched_getaffinity"):
            return cls(None, None)
        first, *others = sorted(os.sched_getaffinity(0))
        return cls(str(first), ",".join(map(str, others))) if others else cls(None, None)


class Process:
    """One running program and all that it starts.

    Args:
        popen: the program.
        folder: where its output goes.
    """

    def __init__(self, popen: subprocess.Popen[bytes], folder: Path) -> None:
        self._popen = popen
        self._folder = folder

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._popen.pid

    def output(self) -> str:
        """All that it has written so far."""
        return "".join((self._folder / name).read_text() for name in ("stdout", "stderr"))

    async def wait_for_line(self, beginning: str) -> str:
        """The rest of the first line of its output that begins so."""
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            for line in (self._folder / "stdout").read_text().splitlines(keepends=True):
                if line.startswith(beginning) and line.endswith("\n"):
                    return line.removeprefix(beginning).strip()
            if self._popen.poll() is not None:
                break
            await asyncio.sleep(0.05)
        raise ProcessError(f"{self._popen.args!r} did not start:\n{self.output()[-2000:]}")

    def cpu_seconds(self) -> float:
        """The CPU time that it has taken so far, with its children's."""
        return process_cpu_seconds(self.pid)

    def resident_megabytes(self) -> float:
        """Its memory."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def end(self) -> None:
        """Ends it."""
        if self._popen.poll() is None:
            self._popen.send_signal(signal.SIGTERM)
            try:
                self._popen.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                self._popen.kill()
                self._popen.wait()


def end_on_signal() -> None:
    """Has SIGTERM cancel the current task, so that a run that is ended ends all its processes."""
    task = asyncio.current_task()
    assert task is not None  # noqa: S101  # this is called by a coroutine
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)


@contextmanager
def running(
    command: Sequence[str | Path], environment: Mapping[str, str], folder: Path, cores: str | None
) -> Iterator[Process]:
    """A program on some cores, for as long as the block runs."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        popen = subprocess.Popen(  # noqa: S603  # the programs of the benchmark
            [*pinned(cores), *command],
            env=os.environ | dict(environment),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
        )
    process = Process(popen, folder)
    try:
        yield process
    finally:
        process.end()


def pinned(cores: str | None) -> list[str]:
    """The beginning of a command that runs on these cores only."""
    return [] if cores is None else ["taskset", "--cpu-list", cores]


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of one run as the client saw it; times are in milliseconds."""

    requests: int
    seconds: float
    p50: float
    p99: float
    used: tuple[int, ...]


class Client:
    """The closed-loop client: a process of its own, which makes one run after another."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def run(self, what: str, **run: Any) -> Figures:
        """Sends requests for as long as the run says.

        Raises:
            ProcessError: where a single response was an error.
        """
        assert self._process.stdin is not None  # noqa: S101  # it was started so
        assert self._process.stdout is not None  # noqa: S101  # as above
        self._process.stdin.write(json.dumps(run).encode() + b"\n")
        await self._process.stdin.drain()
        line = await asyncio.wait_for(self._process.stdout.readline(), run["seconds"] + 60)
        if not line:
            raise ProcessError("the client ended")
        result = json.loads(line)
        if result["errors"] or not result["requests"]:
            raise ProcessError(f"{what}: {result['errors']} errors, the first: {result['error']}")
        return Figures(result["requests"], result["seconds"], result["p50"], result["p99"], tuple(result["used"]))

    def cpu_seconds(self) -> float:
        """The CPU time that it has taken so far."""
        return process_cpu_seconds(self._process.pid)

    def end(self) -> None:
        """Ends the process."""
        if self._process.returncode is None:
            self._process.terminate()


async def open_client(cores: str | None) -> Client:
    """A client on some cores; the caller ends it."""
    process = await asyncio.create_subprocess_exec(
        *pinned(cores),
        "node",
        str(_HERE / "load.mjs"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        limit=2**20,
    )
    return Client(process)


def process_cpu_seconds(pid: int) -> float:
    """The CPU time that a process has taken so far, with its children's."""
    return sum(map(_cpu_ticks, [pid, *_descendants(pid)])) / _TICKS


def _cpu_ticks(pid: int) -> int:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0
    # After the name, which may contain anything: user and system time of the process and of children that ended.
    fields = stat.rpartition(")")[2].split()
    return sum(map(int, fields[11:15]))


def _descendants(pid: int) -> list[int]:
    found = []
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            direct = [int(child) for child in children.read_text().split()]
        except OSError:
            continue
        for child in direct:
            found += [child, *_descendants(child)]
    return found
