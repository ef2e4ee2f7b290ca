"""Several server processes on one port: the supervisor accepts connections, workers serve them.

A worker is the same command in a new process. It has a channel to the supervisor, a pair of sockets, over which it gets
connections and orders; the end of the channel tells it that the supervisor has died.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import signal
import socket
import sys
from collections import deque
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from loaders.table.client import StoreConnection
from loaders.table.http_client import Timeouts
from server.limits.shared_budgets import budget_memory
from server.process.http_server import HttpServer, stop_signals

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.applications import Starlette

    from server.http.health import Readiness
    from server.settings import Settings
    from server.telemetry.shared_metrics import SharedMetrics

logger = logging.getLogger(__name__)

_VARIABLE: Final = "SMARTLOCKER_INHERITANCE"
# Orders to a worker; a connection comes with its first byte.
_CONNECTION, _DRAIN, _STOP = b"c", b"d", b"s"
# What a worker says.
_READY, _LEAVING = b"r", b"l"

_BACKLOG: Final = 2048
_CONNECTIONS_AT_ONCE: Final = 64
_FULL_PAUSE_SECONDS: Final = 0.01
_ERROR_PAUSE_SECONDS: Final = 1
_RESTART_PAUSE_SECONDS: Final = 0.2
_LONGEST_PAUSE_SECONDS: Final = 10.0


@dataclass(frozen=True)
class Inheritance:
    """What a worker gets from the supervisor."""

    number: int
    channel: int
    """Descriptor of the channel to the supervisor."""
    connection: StoreConnection
    budgets: int | None
    """Descriptor of the memory for budgets."""
    metrics: str | None
    """Directory of the metrics."""

    @classmethod
    def of_this_process(cls) -> Inheritance | None:
        """The inheritance of a worker; None if this process is no worker."""
        text = os.environ.pop(_VARIABLE, None)
        if text is None:
            return None
        fields: dict[str, Any] = json.loads(text)
        connection = fields["connection"] | {"timeouts": Timeouts(*fields["connection"]["timeouts"])}
        return cls(**fields | {"connection": StoreConnection(**connection)})

    @property
    def shared_metrics(self) -> SharedMetrics | None:
        """Where the worker counts."""
        return None if self.metrics is None else _shared_metrics(self.metrics, self.number)

    def environment(self) -> dict[str, str]:
        """The environment of the worker."""
        return os.environ | {_VARIABLE: json.dumps(asdict(self))}


class WorkerServer(HttpServer):
    """Serves the connections that the supervisor accepts."""

    def __init__(self, app: Starlette, settings: Settings, readiness: Readiness, inheritance: Inheritance) -> None:
        super().__init__(app, settings, readiness)
        self._channel = socket.socket(fileno=inheritance.channel)
        self._channel.settimeout(0)
        self._metrics = inheritance.metrics
        self._starting: set[asyncio.Task[None]] = set()
        self._is_orphaned = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Starts, and tells the supervisor."""
        await super().startup(sockets)
        asyncio.get_running_loop().add_reader(self._channel, self._obey)
        self._say(_READY)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stops; without a supervisor, removes what it would have removed."""
        await super().shutdown(sockets)
        if self._is_orphaned and self._metrics is not None:
            shutil.rmtree(self._metrics, ignore_errors=True)

    def _stop(self, _: int) -> None:
        """Asks to be stopped: the supervisor then sends no more connections."""
        self._say(_LEAVING)

    def _say(self, word: bytes) -> None:
        with suppress(OSError):  # the supervisor has died; the end of the channel says so too
            self._channel.send(word)

    def _obey(self) -> None:
        try:
            order, descriptors, _, _ = socket.recv_fds(self._channel, 1, 1)
        except OSError:
            order, descriptors = b"", []
        if order == _CONNECTION:
            if not descriptors:
                logger.warning("a connection was lost: too many open files")
                return
            task = asyncio.create_task(self._open(socket.socket(fileno=descriptors[0])))
            self._starting.add(task)
            task.add_done_callback(self._starting.discard)
            return
        self._readiness.is_stopping = True
        if order == _DRAIN:
            return
        asyncio.get_running_loop().remove_reader(self._channel)
        self._is_orphaned = not order
        self.handle_exit(signal.SIGTERM, None)

    async def _open(self, connection: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        connection.settimeout(0)
        with suppress(OSError):  # the client is gone
            await loop.connect_accepted_socket(
                lambda: self.config.http_protocol_class(  # type: ignore[call-arg]  # as uvicorn does
                    config=self.config, server_state=self.server_state, app_state=self.lifespan.state, _loop=loop
                ),
                connection,
            )


class _Worker:
    """A worker, as the supervisor sees it."""

    def __init__(self, number: int, process: asyncio.subprocess.Process, channel: socket.socket) -> None:
        self.number = number
        self.process = process
        self.channel = channel
        self.has_been_ready = False

    async def order(self, order: bytes) -> None:
        """Sends an order, after all connections that were sent before."""
        with suppress(OSError):  # it has died
            await asyncio.get_running_loop().sock_sendall(self.channel, order)

    def end(self) -> None:
        """Kills the worker."""
        with suppress(ProcessLookupError):
            self.process.kill()


class Supervisor:
    """Starts the workers, replaces those that die, gives each connection to the next one, and stops them.

    Args:
        settings: the settings of the server.
        connection: the table that workers use.
        listener: the socket whose connections they serve.
        announce: called once, when all workers are ready.
    """

    def __init__(
        self, settings: Settings, connection: StoreConnection, listener: socket.socket, announce: Callable[[], None]
    ) -> None:
        self._settings = settings
        self._connection = connection
        self._listener = listener
        self._announce = announce
        self._is_announced = False
        self._workers: dict[int, _Worker] = {}
        self._ready: deque[_Worker] = deque()
        self._held: socket.socket | None = None
        self._budgets: int | None = None
        self._metrics: str | None = None
        self._tasks = asyncio.TaskGroup()
        self._is_told_to_stop = asyncio.Event()
        self._is_hurried = asyncio.Event()
        self._is_stopping = False
        self._has_failed = False

    async def run(self) -> None:
        """Serves until a signal stops it."""
        loop = asyncio.get_running_loop()
        with ExitStack() as stack:
            if self._settings.budget is not None and self._settings.rate_limit_store == "process":
                self._budgets = stack.enter_context(budget_memory())
            if self._settings.metrics == "on":
                self._metrics = stack.enter_context(TemporaryDirectory(prefix="smartlocker-"))
                for number in range(self._settings.workers):
                    _shared_metrics(self._metrics, number).create()
            for signal_number in stop_signals():
                loop.add_signal_handler(signal_number, self._signalled, signal_number)
            self._listener.settimeout(0)
            self._listener.listen(_BACKLOG)
            async with self._tasks:
                for number in range(self._settings.workers):
                    self._tasks.create_task(self._keep(number))
                await self._stop_when_told()
        if self._has_failed:
            sys.exit(1)  # the worker has said why

    async def _keep(self, number: int) -> None:
        """Runs one worker, again and again."""
        pause = _RESTART_PAUSE_SECONDS
        while not self._is_told_to_stop.is_set():
            has_been_ready = await self._run(number)
            if not self._is_announced and not self._is_told_to_stop.is_set():
                self._has_failed = True
                self._is_told_to_stop.set()
                self._is_hurried.set()
            pause = _RESTART_PAUSE_SECONDS if has_been_ready else min(2 * pause, _LONGEST_PAUSE_SECONDS)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._is_told_to_stop.wait(), pause)

    async def _run(self, number: int) -> bool:
        """Runs a worker until it ends; returns whether it has been ready."""
        try:
            worker = await self._start(number)
        except OSError as error:
            logger.error("worker %s cannot be started: %s", number, error.strerror)  # noqa: TRY400  # it is no bug
            return False
        try:
            if self._is_told_to_stop.is_set():
                worker.end()
            status = await worker.process.wait()
        finally:
            self._forget(worker)
        if not self._is_told_to_stop.is_set():
            logger.error("worker %s ended with status %s", number, status)
        return worker.has_been_ready

    async def _start(self, number: int) -> _Worker:
        channel, its_end = socket.socketpair()
        with its_end:
            inheritance = Inheritance(number, its_end.fileno(), self._connection, self._budgets, self._metrics)
            try:
                process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    *sys.orig_argv[1:],
                    stdin=asyncio.subprocess.DEVNULL,
                    env=inheritance.environment(),
                    pass_fds=[its_end.fileno(), *([] if self._budgets is None else [self._budgets])],
                    start_new_session=True,  # Ctrl-C in a terminal reaches the supervisor alone
                )
            except OSError:
                channel.close()
                raise
        channel.settimeout(0)
        self._workers[number] = worker = _Worker(number, process, channel)
        asyncio.get_running_loop().add_reader(channel, self._hear, worker)
        return worker

    def _forget(self, worker: _Worker) -> None:
        """Forgets a worker that has ended; if it has not, the end of its channel ends it."""
        self._retire(worker)
        asyncio.get_running_loop().remove_reader(worker.channel)
        worker.channel.close()
        del self._workers[worker.number]
        if self._metrics is not None:
            _shared_metrics(self._metrics, worker.number).reset_gauges()

    def _retire(self, worker: _Worker) -> None:
        with suppress(ValueError):
            self._ready.remove(worker)

    def _hear(self, worker: _Worker) -> None:
        try:
            word = worker.channel.recv(1)
        except OSError:
            word = b""
        if word == _READY:
            worker.has_been_ready = True
            self._ready.append(worker)
            self._accept_again()
            if len(self._ready) == self._settings.workers and not self._is_announced:
                self._is_announced = True
                self._announce()
        else:
            self._retire(worker)
            asyncio.get_running_loop().remove_reader(worker.channel)
            if word == _LEAVING:
                self._tasks.create_task(worker.order(_STOP))

    def _accept(self) -> None:
        for _ in range(_CONNECTIONS_AT_ONCE):
            try:
                if self._held is None:
                    self._held, _ = self._listener.accept()
            except BlockingIOError:
                return
            except OSError as error:
                logger.warning("cannot accept connections (%s): trying again", error.strerror)
                self._pause(_ERROR_PAUSE_SECONDS)
                return
            if not self._pass_on(self._held):
                self._pause(_FULL_PAUSE_SECONDS)
                return
            self._held.close()
            self._held = None

    def _pause(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._listener)
        loop.call_later(seconds, self._accept_again)

    def _accept_again(self) -> None:
        if not self._is_stopping:
            asyncio.get_running_loop().add_reader(self._listener, self._accept)

    def _pass_on(self, connection: socket.socket) -> bool:
        """Gives a connection to the next worker whose channel is not full."""
        for _ in range(len(self._ready)):
            worker = self._ready[0]
            self._ready.rotate(-1)
            with suppress(OSError):
                socket.send_fds(worker.channel, [_CONNECTION], [connection.fileno()])
                return True
        return False

    def _signalled(self, number: int) -> None:
        if self._is_stopping:
            for worker in self._workers.values():
                worker.end()
        if number == signal.SIGINT or self._is_told_to_stop.is_set():
            self._is_hurried.set()
        self._is_told_to_stop.set()

    async def _stop_when_told(self) -> None:
        await self._is_told_to_stop.wait()
        for worker in self._workers.values():
            if not worker.has_been_ready:
                worker.end()
        if not self._is_hurried.is_set() and self._ready:
            await asyncio.gather(*(worker.order(_DRAIN) for worker in self._ready))
            with suppress(TimeoutError):
                await asyncio.wait_for(self._is_hurried.wait(), self._settings.drain_seconds)
        self._is_stopping = True
        asyncio.get_running_loop().remove_reader(self._listener)
        self._listener.close()
        if self._held is not None:
            self._held.close()
        await asyncio.gather(*(worker.order(_STOP) for worker in self._workers.values()))


def _shared_metrics(directory: str, number: int) -> SharedMetrics:
    from server.telemetry.shared_metrics import SharedMetrics  # noqa: PLC0415  # the library is loaded only if needed

    return SharedMetrics(Path(directory), number)
