"""The deadlines of requests: all are equally long, so they expire in the order in which they began, by one timer."""

import asyncio
from types import TracebackType
from typing import Any


class Deadlines:
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._running: dict[Deadline, float] = {}
        """When each expires, in this order."""
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, deadline: "Deadline") -> None:
        loop = asyncio.get_running_loop()
        self._running[deadline] = loop.time() + self._seconds
        if self._timer is None:
            self._timer = loop.call_later(self._seconds, self._expire, loop)

    def end(self, deadline: "Deadline") -> None:
        self._running.pop(deadline, None)

    def _expire(self, loop: asyncio.AbstractEventLoop) -> None:
        """Expires what is due. The timer is for the first that ran when it was set, which may have ended since."""
        self._timer = None
        now = loop.time()
        while self._running:
            deadline, due = next(iter(self._running.items()))
            if due > now:
                self._timer = loop.call_at(due, self._expire, loop)
                return
            del self._running[deadline]
            deadline.expire()


class Deadline:
    """Cancels what runs in the block when it expires, and raises a TimeoutError then, as `asyncio.timeout` does."""

    __slots__ = ("_cancelling", "_deadlines", "_task", "is_expired")

    def __init__(self, deadlines: Deadlines) -> None:
        self._deadlines = deadlines
        self.is_expired = False

    def __enter__(self) -> None:
        task: asyncio.Task[Any] | None = asyncio.current_task()
        assert task is not None  # noqa: S101  # a request runs in one
        self._task, self._cancelling = task, task.cancelling()
        self._deadlines.begin(self)

    def expire(self) -> None:
        self.is_expired = True
        self._task.cancel()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self.is_expired:
            self._deadlines.end(self)
        elif self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error
