"""Faults that hold requests to the store until something has happened."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.wire import Until

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.wire import Call


def until_all_are_sent(operation: str, count: int) -> Callable[[Call], Until | None]:
    """Holds the first requests of an operation until that many have been sent."""
    sent, all_sent = 0, asyncio.Event()

    def fault(call: Call) -> Until | None:
        nonlocal sent
        if call.operation != operation:
            return None
        sent += 1
        if sent >= count:
            all_sent.set()
        return Until(all_sent)

    return fault


class Held:
    """Holds the first request that fits until it is released."""

    def __init__(self, fits: Callable[[Call], bool]) -> None:
        self._fits = fits
        self._reached = asyncio.Event()
        self._released = asyncio.Event()

    def __call__(self, call: Call) -> Until | None:
        """The fault of a call."""
        if self._reached.is_set() or not self._fits(call):
            return None
        self._reached.set()
        return Until(self._released)

    async def reached(self) -> None:
        """Waits until a request is held."""
        await self._reached.wait()

    def release(self) -> None:
        """Lets the request pass."""
        self._released.set()
