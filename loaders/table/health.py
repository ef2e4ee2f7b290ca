"""Whether the store works, judged from the requests that reach it."""

import logging
import time
from collections.abc import Callable
from typing import Any

from loaders.table.clock import StoreClock
from loaders.table.errors import is_trouble
from loaders.table.transport import Answer, NoAnswerError, RefusedRequestError, Transport
from loaders.table.values import ReadItem

logger = logging.getLogger(__name__)

GRACE_SECONDS = 10
"""For how long no request may succeed before the store counts as down: a stall is shorter."""

_MAX_CAUSES = 10
# What SQLite says of itself. Nothing else of a store's message is logged, as it may quote what it was sent.
_REASONS = (
    "database or disk is full",
    "disk I/O error",
    "database disk image is malformed",
    "unable to open database file",
    "attempt to write a readonly database",
    "file is not a database",
    "database is locked",
)
_READS = frozenset({"GetItem", "BatchGetItem", "Query", "Scan"})
_TIMED_WRITES = frozenset({"PutItem", "TransactWriteItems"})
"""The writes of requests, which contain times of this server. An UpdateItem charges a budget: a query needs it too."""


class _Requests:
    """The requests of one kind: since when none has succeeded, and why."""

    def __init__(self, kind: str, timer: Callable[[], float]) -> None:
        self._kind = kind
        self._timer = timer
        self._causes: set[str] = set()
        self._failing_since: float | None = None
        self._failed_at = 0.0
        self.succeeded_at = timer()

    def succeeded(self) -> None:
        self.succeeded_at = self._timer()
        self._failing_since = None
        if self._causes and self.succeeded_at - self._failed_at >= GRACE_SECONDS:
            self._causes.clear()
            logger.warning("%ss succeed again in the store", self._kind)

    def failed(self, began: float, cause: str) -> None:
        if self._failing_since is None:
            self._failing_since = max(began, self.succeeded_at)
        self._failed_at = self._timer()
        if cause not in self._causes and len(self._causes) < _MAX_CAUSES:
            self._causes.add(cause)
            logger.error("a %s failed in the store: %s", self._kind, cause)

    @property
    def is_up(self) -> bool:
        return self._failing_since is None or self._timer() - self._failing_since < GRACE_SECONDS


class StoreHealth:
    """Whether reads and writes succeed; logs every change once, with its cause.

    `find_problem` says what else is wrong with the store although it answers, if anything is. `clock` is kept at the
    store's time.
    """

    def __init__(
        self,
        timer: Callable[[], float] = time.monotonic,
        find_problem: Callable[[], str | None] = lambda: None,
        clock: StoreClock | None = None,
    ) -> None:
        self.timer = timer
        self.clock = clock or StoreClock()
        self.reads = _Requests("read", timer)
        self.writes = _Requests("write", timer)
        self._find_problem = find_problem
        self._problem: str | None = None
        self._was_up = True

    @property
    def is_read_up(self) -> bool:
        """False while no read has succeeded for some time, or the data is about to be lost."""
        return self._problem is None and self.reads.is_up

    @property
    def is_write_up(self) -> bool:
        """The same of writes."""
        return self._problem is None and self.writes.is_up

    def check(self) -> None:
        self.clock.check()
        problem = self._find_problem()
        if problem != self._problem:
            self._problem = problem
            logger.error("%s", problem or "the problem of the store is solved")
        if self.is_read_up != self._was_up:
            self._was_up = self.is_read_up
            if self._was_up:
                logger.warning("the store is up again: the server is ready")
            else:
                logger.error("the store is down: the server is not ready until a read succeeds")


class WatchedTransport:
    """A transport whose answers tell whether the store works, and its time."""

    def __init__(self, transport: Transport, health: StoreHealth) -> None:
        self._transport = transport
        self._health = health

    async def send(self, operation: str, request: dict[str, Any], shape: type[ReadItem] | None = None) -> Answer:
        """See Transport. A write is refused while the store's time is not known."""
        health = self._health
        if operation in _TIMED_WRITES:
            health.clock.require_known()
        requests = health.reads if operation in _READS else health.writes
        began, sent = health.timer(), health.clock.timer()
        try:
            answer = await self._transport.send(operation, request, shape)
        except NoAnswerError as error:
            requests.failed(began, str(error))
            raise
        except RefusedRequestError as error:
            if is_trouble(error):
                requests.failed(began, cause_of(error))
            raise
        requests.succeeded()
        health.clock.compare(sent, answer.date)
        return answer


def cause_of(error: RefusedRequestError) -> str:
    """The error's code, and its reason where that is known to say nothing of a request."""
    reason = next((reason for reason in _REASONS if reason in error.message), None)
    code = error.code or f"status {error.status}"
    return f"{code}: {reason}" if reason else code
