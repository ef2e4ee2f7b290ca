"""The HTTP server of the process and its graceful shutdown."""

from __future__ import annotations

import asyncio
import math
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette

from server.http.health import Readiness
from server.process.protocol import DeadlineProtocol
from server.settings import Settings


def stop_signals() -> list[int]:
    """The signals that stop a server; SIGHUP does unless it is ignored, as `nohup` has it."""
    hangup = [] if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN else [signal.SIGHUP]
    return [signal.SIGINT, signal.SIGTERM, *hangup]


class HttpServer(uvicorn.Server):
    """Stops on a signal and lets its caller clean up; uvicorn would raise the signal again.

    On SIGTERM or SIGHUP it first reports that it is not ready and keeps serving for a while, so that a load balancer
    can send requests elsewhere. SIGINT, or a second signal, stops it at once.
    """

    def __init__(self, app: Starlette, settings: Settings, readiness: Readiness) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=DeadlineProtocol,
                ws="none",
                log_config=None,
                log_level=settings.log_level,
                lifespan="on",
                access_log=False,  # it would contain what clients put into a URL
                server_header=False,
                timeout_graceful_shutdown=math.ceil(settings.request_seconds),
            )
        )
        self._readiness = readiness
        self._drain_seconds = settings.drain_seconds

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in stop_signals():
            loop.add_signal_handler(number, self._stop, number)
        yield

    def _stop(self, number: int) -> None:
        drains = number != signal.SIGINT and not self._readiness.is_stopping
        self._readiness.is_stopping = True
        if drains:
            asyncio.get_running_loop().call_later(self._drain_seconds, self.handle_exit, number, None)
        else:
            self.handle_exit(number, None)
