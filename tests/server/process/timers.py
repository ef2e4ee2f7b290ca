"""An event loop whose timers a test moves by hand."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass
class Timer:
    due: float
    callback: Callable[[], Any]
    is_canceled: bool = False

    def cancel(self) -> None:
        self.is_canceled = True


class TimedLoop:
    """The event loop, but for its timers: their time stands still until it is moved."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._now = 0.0
        self._timers: list[Timer] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loop, name)

    def time(self) -> float:
        return self._now

    def call_later(self, delay: float, callback: Callable[[], Any]) -> Timer:
        self._timers.append(Timer(self._now + delay, callback))
        return self._timers[-1]

    @property
    def pending(self) -> list[float]:
        """The seconds until each timer is due."""
        return [timer.due - self._now for timer in self._timers if not timer.is_canceled]

    def move(self, seconds: float) -> None:
        self._now += seconds
        due = [timer for timer in self._timers if timer.due <= self._now and not timer.is_canceled]
        self._timers = [timer for timer in self._timers if timer not in due]
        for timer in due:
            timer.callback()


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not is_so():  # noqa: ASYNC110  # client and server take turns in one loop
            await asyncio.sleep(0)
