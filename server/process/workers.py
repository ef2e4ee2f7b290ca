"""Several server processes on one port: the supervisor accepts connections, workers serve them.

A worker is the same command in a new process. Its channel to the supervisor, a pair of sockets, carries connections and
messages of one byte; the end of the channel tells the worker that the supervisor has died.
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
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from starlette.applications import Starlette

from loaders.table.client import StoreConnection
from loaders.table.http_client import Timeouts
from server.http.health import Readiness
from server.limits.shared_budgets import budget_memory
from server.process.http_server import HttpServer, stop_signals
from server.settings import Settings

if TYPE_CHECKING:
    from server.telemetry.shared_metrics import SharedMetrics

logger = logging.getLogger(__name__)

_VARIABLE: Final = "SMARTLOCKER_WORKER_CONFIG"
# Messages of the supervisor; a connection comes as the descriptor with its message.
_CONNECTION, _PING, _DRAIN, _STOP = b"c", b"p", b"d", b"s"
# Messages of a worker.
_READY, _PONG, _LEAVING = b"r", b"a", b"l"

_BACKLOG: Final = 2048
_CONNECTIONS_AT_ONCE: Final = 64
_FULL_PAUSE_SECONDS: Final = 0.01
_ERROR_PAUSE_SECONDS: Final = 1
_RESTART_PAUSE_SECONDS: Final = 0.2
_MAX_RESTART_PAUSE_SECONDS: Final = 10.0
_PING_SECONDS: Final = 1
_MAX_UNANSWERED_PINGS: Final = 5


@dataclass(frozen=True)
class WorkerConfig:
    number: int
    channel: int
    """Descriptor of the channel to the supervisor."""
    connection: StoreConnection
    budgets: int | None
    """Descriptor of the memory for budgets."""
    metrics: str | None

    @classmethod
    def of_this_process(cls) -> WorkerConfig | None:
        """Returns the configuration of this worker; None if this process is not a worker."""
        text = os.environ.pop(_VARIABLE, None)
        if text is None:
            return None
        fields: dict[str, Any] = json.loads(text)
        connection = fields["connection"] | {"timeouts": Timeouts(*fields["connection"]["timeouts"])}
        return cls(**fields | {"connection": StoreConnection(**connection)})

    @property
    def shared_metrics(self) -> SharedMetrics | None:
        return None if self.metrics is None else _shared_metrics(self.metrics, self.number)

    def environment(self) -> dict[str, str]:
        return os.environ | {_VARIABLE: json.dumps(asdict(self))}


class WorkerServer(HttpServer):
    """Serves the connections that the supervisor accepts."""

    def __init__(self, app: Starlette, settings: Settings, readiness: Readiness, config: WorkerConfig) -> None:
        super().__init__(app, settings, readiness)
        self._channel = socket.socket(fileno=config.channel)
        self._channel.settimeout(0)
        self._metrics = config.metrics
        self._opening: set[asyncio.Task[None]] = set()
        self._has_lost_supervisor = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        asyncio.get_running_loop().add_reader(self._channel, self._on_message)
        self._send(_READY)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stops; without a supervisor, removes what it would have removed."""
        await super().shutdown(sockets)
        if self._has_lost_supervisor and self._metrics is not None:
            shutil.rmtree(self._metrics, ignore_errors=True)

    def _stop(self, _: int) -> None:
        """Asks to be stopped: the supervisor then sends no more connections."""
        self._send(_LEAVING)

    def _send(self, message: bytes) -> None:
        with suppress(OSError):  # the supervisor has died; the end of the channel says so too
            self._channel.send(message)

    def _on_message(self) -> None:
        try:
            message, descriptors, _, _ = socket.recv_fds(self._channel, 1, 1)
        except OSError:
            message, descriptors = b"", []
        if message == _PING:
            self._send(_PONG)
        elif message == _CONNECTION:
            if not descriptors:
                logger.warning("a connection was lost: too many open files")
                return
            task = asyncio.create_task(self.open_connection(socket.socket(fileno=descriptors[0])))
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)
        else:
            self._readiness.is_stopping = True
            if message != _DRAIN:
                asyncio.get_running_loop().remove_reader(self._channel)
                self._has_lost_supervisor = not message
                self.handle_exit(signal.SIGTERM, None)


class Heartbeat:
    """Whether a worker answers pings.

    It counts pings instead of reading a clock: while the supervisor or the whole machine is suspended, none is sent and
    no worker is late.
    """

    def __init__(self, ping: Callable[[], None]) -> None:
        self._ping = ping
        self._unanswered = 0
        self._is_last = False

    def is_late(self) -> bool:
        """Sends the next ping, unless the last one was sent; returns whether too many before it have no answer.

        It is called once a second, so a worker has five seconds from the first ping that it does not answer.
        """
        if self._unanswered >= _MAX_UNANSWERED_PINGS:
            return True
        if not self._is_last:
            self._ping()
            self._unanswered += 1
        elif self._unanswered:
            self._unanswered += 1
        return False

    def send_last(self) -> None:
        """Sends a last ping: after it the worker stops, and takes the time that its requests need."""
        if not self._is_last:
            self._is_last = True
            self._ping()
            self._unanswered += 1

    def answered(self) -> None:
        self._unanswered = 0


class _Worker:
    def __init__(self, number: int, process: asyncio.subprocess.Process, channel: socket.socket) -> None:
        self.number = number
        self.process = process
        self.channel = channel
        self.has_been_ready = False
        self.is_killed = False
        self.heartbeat = Heartbeat(self._ping)

    def _ping(self) -> None:
        with suppress(OSError):  # the channel is full, or the worker has died
            self.channel.send(_PING)

    async def send(self, message: bytes) -> None:
        """Sends a message, after all connections that were sent before."""
        with suppress(OSError):  # it has died
            await asyncio.get_running_loop().sock_sendall(self.channel, message)

    async def stop(self) -> None:
        """Lets the worker finish its requests and end."""
        self.heartbeat.send_last()
        await self.send(_STOP)

    def kill(self) -> None:
        self.is_killed = True
        with suppress(ProcessLookupError):
            self.process.kill()


class Supervisor:
    """Starts the workers, gives each connection to the next one, replaces those that die or do not answer, stops them.

    It calls `announce` once, when all workers are ready.
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
        self._accepted: socket.socket | None = None
        self._budgets: int | None = None
        self._metrics: str | None = None
        self._tasks = asyncio.TaskGroup()
        self._stop_requested = asyncio.Event()
        self._skip_drain = asyncio.Event()
        self._is_stopping = False
        self._has_failed = False

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        with ExitStack() as stack:
            if self._settings.budget is not None and self._settings.rate_limit_store == "process":
                self._budgets = stack.enter_context(budget_memory())
            if self._settings.metrics == "on":
                self._metrics = stack.enter_context(TemporaryDirectory(prefix="smartlocker-"))
                for number in range(self._settings.workers):
                    _shared_metrics(self._metrics, number).create()
            for signal_number in stop_signals():
                loop.add_signal_handler(signal_number, self._on_signal, signal_number)
            self._listener.settimeout(0)
            self._listener.listen(_BACKLOG)
            async with self._tasks:
                checks = self._tasks.create_task(self._check_workers())
                workers = [
                    self._tasks.create_task(self._keep_running(number)) for number in range(self._settings.workers)
                ]
                await self._stop_when_requested()
                await asyncio.wait(workers)
                checks.cancel()
        if self._has_failed:
            sys.exit(1)  # the worker has said why

    async def _keep_running(self, number: int) -> None:
        pause = _RESTART_PAUSE_SECONDS
        while not self._stop_requested.is_set():
            has_been_ready = await self._run_worker(number)
            if not self._is_announced and not self._stop_requested.is_set():
                self._has_failed = True
                self._stop_requested.set()
                self._skip_drain.set()
            pause = _RESTART_PAUSE_SECONDS if has_been_ready else min(2 * pause, _MAX_RESTART_PAUSE_SECONDS)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop_requested.wait(), pause)

    async def _run_worker(self, number: int) -> bool:
        """Runs a worker until it ends; returns whether it has been ready."""
        try:
            worker = await self._start_worker(number)
        except OSError as error:
            logger.error("worker %s cannot be started: %s", number, error.strerror)  # noqa: TRY400  # it is no bug
            return False
        try:
            if self._stop_requested.is_set():
                worker.kill()
            status = await worker.process.wait()
        finally:
            self._remove(worker)
        if not self._stop_requested.is_set():
            logger.error("worker %s ended with status %s", number, status)
        return worker.has_been_ready

    async def _start_worker(self, number: int) -> _Worker:
        channel, its_end = socket.socketpair()
        with its_end:
            config = WorkerConfig(number, its_end.fileno(), self._connection, self._budgets, self._metrics)
            try:
                process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    *sys.orig_argv[1:],
                    stdin=asyncio.subprocess.DEVNULL,
                    env=config.environment(),
                    pass_fds=[its_end.fileno(), *([] if self._budgets is None else [self._budgets])],
                    start_new_session=True,  # Ctrl-C in a terminal reaches the supervisor alone
                )
            except OSError:
                channel.close()
                raise
        channel.settimeout(0)
        self._workers[number] = worker = _Worker(number, process, channel)
        asyncio.get_running_loop().add_reader(channel, self._on_worker_message, worker)
        return worker

    def _remove(self, worker: _Worker) -> None:
        """Removes a worker that has ended; if it has not, the end of its channel ends it."""
        self._disconnect(worker)
        worker.channel.close()
        del self._workers[worker.number]
        if self._metrics is not None:
            _shared_metrics(self._metrics, worker.number).reset_gauges()

    def _disconnect(self, worker: _Worker) -> None:
        self._send_no_more(worker)
        asyncio.get_running_loop().remove_reader(worker.channel)

    def _send_no_more(self, worker: _Worker) -> None:
        with suppress(ValueError):
            self._ready.remove(worker)

    def _on_worker_message(self, worker: _Worker) -> None:
        try:
            message = worker.channel.recv(1)
        except BlockingIOError:
            return
        except OSError:
            message = b""
        if message == _PONG:
            worker.heartbeat.answered()
        elif message == _READY:
            worker.has_been_ready = True
            self._ready.append(worker)
            self._resume_accepting()
            if len(self._ready) == self._settings.workers and not self._is_announced:
                self._is_announced = True
                self._announce()
        elif message == _LEAVING:
            self._send_no_more(worker)
            self._tasks.create_task(worker.stop())
        else:
            self._disconnect(worker)

    async def _check_workers(self) -> None:
        """Kills each worker that does not answer; it is then replaced like one that died."""
        while True:
            for worker in self._workers.values():
                if not worker.has_been_ready or worker.is_killed:
                    continue
                self._on_worker_message(worker)  # an answer may have come while this process was suspended
                if worker.heartbeat.is_late():
                    logger.error("worker %s does not answer: it is killed", worker.number)
                    worker.kill()
            await asyncio.sleep(_PING_SECONDS)

    def _accept(self) -> None:
        for _ in range(_CONNECTIONS_AT_ONCE):
            try:
                if self._accepted is None:
                    self._accepted, _ = self._listener.accept()
            except BlockingIOError:
                return
            except OSError as error:
                logger.warning("cannot accept connections (%s): trying again", error.strerror)
                self._pause_accepting(_ERROR_PAUSE_SECONDS)
                return
            if not self._pass_to_worker(self._accepted):
                self._pause_accepting(_FULL_PAUSE_SECONDS)
                return
            self._accepted.close()
            self._accepted = None

    def _pause_accepting(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._listener)
        loop.call_later(seconds, self._resume_accepting)

    def _resume_accepting(self) -> None:
        if not self._is_stopping:
            asyncio.get_running_loop().add_reader(self._listener, self._accept)

    def _pass_to_worker(self, connection: socket.socket) -> bool:
        """Gives a connection to the next worker whose channel is not full."""
        for _ in range(len(self._ready)):
            worker = self._ready[0]
            self._ready.rotate(-1)
            with suppress(OSError):
                socket.send_fds(worker.channel, [_CONNECTION], [connection.fileno()])
                return True
        return False

    def _on_signal(self, number: int) -> None:
        if self._is_stopping:
            for worker in self._workers.values():
                worker.kill()
        if number == signal.SIGINT or self._stop_requested.is_set():
            self._skip_drain.set()
        self._stop_requested.set()

    async def _stop_when_requested(self) -> None:
        await self._stop_requested.wait()
        for worker in self._workers.values():
            if not worker.has_been_ready:
                worker.kill()
        if not self._skip_drain.is_set() and self._ready:
            await asyncio.gather(*(worker.send(_DRAIN) for worker in self._ready))
            with suppress(TimeoutError):
                await asyncio.wait_for(self._skip_drain.wait(), self._settings.drain_seconds)
        self._is_stopping = True
        asyncio.get_running_loop().remove_reader(self._listener)
        self._accept()  # clients that have connected are served
        self._listener.close()
        if self._accepted is not None:
            self._accepted.close()
        await asyncio.gather(*(worker.stop() for worker in self._workers.values()))


def _shared_metrics(directory: str, number: int) -> SharedMetrics:
    from server.telemetry.shared_metrics import SharedMetrics  # noqa: PLC0415  # the library is loaded only if needed

    return SharedMetrics(Path(directory), number)
