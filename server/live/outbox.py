"""Sends to one client, which is never waited for, and given up if it reads too slowly."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

SEND_AT_ONCE: Final = "smartlocker.send_at_once"
"""Extension of a WebSocket: its `send` sends messages without waiting; False where the client has not read enough."""
_MOST_BYTES = 1024 * 1024
_AT_ONCE_BYTES = 64 * 1024


class Outbox:
    """Sends parts in order, one after another; `overflow` is called once if more than 1 MB waits.

    Where `send_at_once` is given and nothing waits, no task has to run for what is put.
    """

    def __init__(
        self,
        send: Callable[[bytes], Awaitable[None]],
        overflow: Callable[[], None],
        send_at_once: Callable[[Sequence[bytes]], bool] | None = None,
    ) -> None:
        self._send = send
        self._overflow = overflow
        self._send_at_once = send_at_once
        self._waiting: deque[bytes] = deque()
        self._bytes = 0
        self._filled = asyncio.Event()
        self._empty = asyncio.Event()
        self._empty.set()
        self._is_ending = False

    def put(self, *parts: bytes) -> None:
        if self._is_ending:
            return
        size = sum(map(len, parts))
        if (
            self._send_at_once is not None
            and size <= _AT_ONCE_BYTES
            and self._empty.is_set()
            and self._send_at_once(parts)
        ):
            return
        self._waiting.extend(parts)
        self._bytes += size
        self._filled.set()
        self._empty.clear()
        if self._bytes > _MOST_BYTES:
            self.end(at_once=True)
            self._overflow()

    def end(self, *, at_once: bool = False) -> None:
        """Takes nothing more; what waits is sent first, unless it ends at once."""
        self._is_ending = True
        if at_once:
            self._waiting.clear()
        self._filled.set()

    async def drained(self) -> None:
        """Waits until everything was sent."""
        await self._empty.wait()

    async def run(self) -> None:
        """Sends what is put, until it has ended."""
        try:
            while self._waiting or not self._is_ending:
                if not self._waiting:
                    self._filled.clear()
                    self._empty.set()
                    await self._filled.wait()
                    continue
                part = self._waiting.popleft()
                self._bytes -= len(part)
                await self._send(part)
        finally:
            self._is_ending = True
            self._empty.set()
