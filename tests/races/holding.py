"""A fault that holds a request to the store until something has happened."""

import asyncio
from collections.abc import Callable

from tests.wire import Call, Until


class Held:
    """Holds the first request that fits until it is released."""

    def __init__(self, fits: Callable[[Call], bool]) -> None:
        self._fits = fits
        self._reached = asyncio.Event()
        self._released = asyncio.Event()
        self.reached = self._reached.wait
        self.release = self._released.set

    def __call__(self, call: Call) -> Until | None:
        if self._reached.is_set() or not self._fits(call):
            return None
        self._reached.set()
        return Until(self._released)
