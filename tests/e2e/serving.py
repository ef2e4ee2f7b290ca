"""`smartlocker` as its user starts it: a process with an environment, its output, and all that it starts in turn."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx

from loaders.table.client import StoreConnection
from loaders.tools.definition import describe_table
from loaders.tools.table_state import TableProblemError
from tests.e2e import reports

COMMAND = Path(sys.executable).parent / "smartlocker"
ROOT = Path(__file__).parents[2]
WATCHED = (sys.executable, "-m", "tests.e2e.watched")
_PATIENCE_SECONDS = 120


class Server:
    """One run of `smartlocker serve`; its output goes to files, so that nothing waits for a reader.

    Its program is not the very command but one around it, which holds each request against its plan.
    """

    def __init__(
        self,
        folder: Path,
        settings: Mapping[str, object],
        program: Sequence[str | Path] = WATCHED,
        options: Sequence[str] = (),
    ) -> None:
        folder.mkdir()
        self._out = folder / "stdout"
        self._err = folder / "stderr"
        self._plans = folder / "plans"
        reports.expect(self._plans)
        with self._out.open("w") as out, self._err.open("w") as err:
            self.process = subprocess.Popen(
                [*program, "serve", *options],
                env=environment({"drain_seconds": 0, reports.VARIABLE: self._plans, "PYTHONPATH": ROOT, **settings}),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    @property
    def stdout(self) -> str:
        return self._out.read_text()

    @property
    def stderr(self) -> str:
        return self._err.read_text()

    @property
    def plans(self) -> list[str]:
        """The result of each request's check against its plan."""
        return self._plans.read_text().splitlines()

    @property
    def greeting(self) -> list[str]:
        """The lines with which it says that it serves."""
        return self.stdout.splitlines()[:4]

    @property
    def url(self) -> str:
        return self.greeting[0].removeprefix("SmartLocker serves ")

    @property
    def offspring(self) -> dict[int, str]:
        """The processes below it, each with the name of its program."""
        return offspring_of(self.process.pid)

    @property
    def store(self) -> int:
        """The process of its store."""
        (found,) = [process for process, program in self.offspring.items() if program == "dynoxide"]
        return found

    @property
    def ready(self) -> tuple[int, str]:
        """Status and text of its readiness."""
        answer = self.get("/ready")
        return answer.status_code, answer.text

    def wait_until_it_serves(self) -> None:
        def is_there() -> bool:
            assert self.process.poll() is None, self.stderr
            return self.stdout.count("\n") >= 4 and self._is_alive()

        eventually(is_there)

    def get(self, path: str, **options: Any) -> httpx.Response:
        """The answer at a path beside /graphql."""
        return httpx.get(self.url.replace("/graphql", path), timeout=_PATIENCE_SECONDS, **options)

    def post(self, query: str, headers: dict[str, str] | None = None) -> httpx.Response:
        """The response to a query, over a connection of its own."""
        return httpx.post(self.url, json={"query": query}, headers=headers, timeout=_PATIENCE_SECONDS)

    def ask(self, query: str, **variables: Any) -> Any:
        """The data of an answer without errors."""
        answer = self.try_to_ask(query, **variables)
        assert "errors" not in answer, answer
        return answer["data"]

    def try_to_ask(self, query: str, **variables: Any) -> dict[str, Any]:
        """The answer, whatever it says."""
        answer = httpx.post(self.url, json={"query": query, "variables": variables}, timeout=_PATIENCE_SECONDS)
        content: dict[str, Any] = answer.json()
        return content

    def end(self, number: int = signal.SIGTERM) -> int:
        """Sends a signal and returns the exit status."""
        self.process.send_signal(number)
        try:
            return self.process.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            for process in (*self.offspring, self.process.pid):
                os.kill(process, signal.SIGKILL)
            self.process.wait()
            raise

    def _is_alive(self) -> bool:
        try:
            return self.get("/health").text == "ok"
        except httpx.TransportError:
            return False


def start(folder: Path, program: Sequence[str | Path] = WATCHED, **settings: Any) -> Server:
    """Starts a server and waits until it serves; the caller ends it.

    Settings are named as in the product; a name in upper case is that of another variable.
    """
    server = Server(folder, settings, program)
    try:
        server.wait_until_it_serves()
    except BaseException:
        server.end(signal.SIGKILL)
        raise
    return server


@contextmanager
def serving(folder: Path, program: Sequence[str | Path] = WATCHED, **settings: Any) -> Iterator[Server]:
    """A server for as long as the block runs, whatever happens in it."""
    server = start(folder, program, **settings)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.end()


@asynccontextmanager
async def running(folder: Path, **settings: Any) -> AsyncIterator[Server]:
    """A server that the block may end, for a test whose event loop goes on meanwhile."""
    server = await asyncio.to_thread(start, folder, **settings)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.end(signal.SIGKILL)


def command(
    *words: object, status: int = 0, program: Sequence[str | Path] = (COMMAND,), answer: str = "", **settings: Any
) -> subprocess.CompletedProcess[str]:
    """A command that has ended with this status."""
    result = subprocess.run(
        [*map(str, program), *map(str, words)],
        env=environment(settings),
        input=answer,
        capture_output=True,
        text=True,
        check=False,
        timeout=_PATIENCE_SECONDS,
    )
    assert result.returncode == status, result
    return result


def refusal_of(*words: str, **settings: Any) -> str:
    """The message of a command that cannot do its work: one line, no traceback, exit status 1, nothing else."""
    result = command(*words, status=1, **settings)
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("smartlocker: "), line
    return line.removeprefix("smartlocker: ")


def eventually(is_so: Callable[[], bool]) -> None:
    """Waits until something is so, and fails if it does not become so in a very long time."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, f"not so after {_PATIENCE_SECONDS} s"
        time.sleep(0.05)


def is_running(process: int) -> bool:
    """Whether a process runs and is not a zombie."""
    return _parent_and_program(process) is not None


def offspring_of(process: int) -> dict[int, str]:
    """The processes below a process, each with the name of its program."""
    everybody = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    living = {number: known for number in everybody if (known := _parent_and_program(number)) is not None}
    found: dict[int, str] = {}
    parents = {process}
    while parents:
        children = {number: program for number, (parent, program) in living.items() if parent in parents}
        found |= children
        parents = set(children)
    return found


def _parent_and_program(process: int) -> tuple[int, str] | None:
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    program, rest = stat[stat.index("(") + 1 :].rsplit(") ", 1)
    state, parent = rest.split()[:2]
    return None if state in {"Z", "X"} else (int(parent), program)


def environment(settings: Mapping[str, object]) -> dict[str, str]:
    named = {"port": 0, **settings}
    return os.environ | {
        name if name.isupper() else f"SMARTLOCKER_{name.upper()}": str(value) for name, value in named.items()
    }


async def is_there(connection: StoreConnection) -> bool:
    try:
        return await describe_table(connection) is not None
    except TableProblemError:
        return False
