"""The server as a process: its HTTP, its deadlines, and how it ends."""

from __future__ import annotations

import asyncio
import math
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

import uvicorn

from server.protocol import DeadlineProtocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.applications import Starlette

    from server.health import Readiness
    from server.settings import Settings

__all__ = ["Server"]


class Server(uvicorn.Server):
    """Ends by itself on a signal, and lets what is around it end too: uvicorn would raise the signal again.

    On SIGTERM it first says that it is not ready, so that whoever sends it requests has time to send them elsewhere.
    Any other signal, or a second one, is a person's, who does not want to wait.
    """

    def __init__(self, app: Starlette, settings: Settings, readiness: Readiness) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=DeadlineProtocol,
                log_config=None,
                log_level=settings.log_level,
                lifespan="on",
                access_log=False,  # it would hold what clients put into a URL
                timeout_graceful_shutdown=math.ceil(settings.request_seconds),
            )
        )
        self._readiness = readiness
        self._drain_seconds = settings.drain_seconds

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Listens for as long as the server runs."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._stop, number)
        yield

    def _stop(self, number: int) -> None:
        drains = number == signal.SIGTERM and not self._readiness.is_stopping
        self._readiness.is_stopping = True
        if drains:
            asyncio.get_running_loop().call_later(self._drain_seconds, self.handle_exit, number, None)
        else:
            self.handle_exit(number, None)
