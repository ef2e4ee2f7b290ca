"""The state of one request: who asks, with what, within which limits, and its plan."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

from domain.authorization import Principal
from domain.budgets import BudgetState
from domain.errors import QueryTooComplexError
from domain.times import EARLIEST, Instant, shift
from loaders.backend import Backend
from loaders.contracts.reading import ReadPage
from loaders.dataloaders import Loaders
from loaders.table.client import DynamoStore
from loaders.table.recording import RecordedStore
from loaders.trace import Trace

if TYPE_CHECKING:
    from resolvers.limits import Limit
    from resolvers.plan.price import Price

_QUERIES_AT_ONCE = 16
_SHARE_FOR_WRITES = 0.7


@dataclass(frozen=True, slots=True)
class PageSizes:
    default: int
    maximum: int


class FairLock:
    """Lets only one request at a time take the processor for long, and all others go on before the next one does."""

    __slots__ = ("_lock", "_since", "_timer")

    # As many passes of the event loop as it takes to accept a connection, read a request and answer it.
    _PASSES = 10
    # No longer than a usual request takes the processor.
    _SHORT_S = 0.0005

    def __init__(self, timer: Callable[[], float] = time.perf_counter) -> None:
        self._lock = asyncio.Lock()
        self._timer = timer
        self._since = 0.0

    async def __aenter__(self) -> None:
        await self._lock.acquire()
        self._since = self._timer()

    async def __aexit__(self, *error: object) -> None:
        try:
            if self._timer() - self._since > self._SHORT_S:
                for _ in range(self._PASSES):
                    await asyncio.sleep(0)
        finally:
            self._lock.release()


class Budget(Protocol):
    @property
    def is_limited(self) -> bool:
        """Whether there is a rate limit: then what the request takes is measured in any case."""

    @property
    def state(self) -> BudgetState | None:
        """The caller's budget after the latest charge, if there is a rate limit."""

    async def charge(self, price: Price) -> None:
        """Takes the price from the budget; raises where there is not enough."""

    async def spend(self, units: float) -> None:
        """Takes work that is done in any case from the budget, which may go below zero."""


class ArgumentContext(Protocol):
    """The part of a request's state by which arguments are checked."""

    principal: Principal
    page_sizes: PageSizes
    hides_suggestions: bool
    """Whether error messages leave out the names of what exists."""


@dataclass(slots=True)
class RequestState:
    """Lives for one request; every part of it is passed in or created here, except what its execution finds out."""

    backend: Backend
    principal: Principal
    variables: Mapping[str, Any]
    """The raw variables of the request."""
    page_sizes: PageSizes
    limit: Limit
    budget: Budget
    fair_lock: FairLock
    """Of all requests of the server."""
    trace: Trace | None = None
    """Where the request's operations are recorded, if it is explained, observed or metered."""
    plan_only: bool = False
    """Whether the request is only priced and explained, not run."""
    hides_suggestions: bool = False
    note_introspection: Callable[[], None] | None = None
    """Counts what graphql-core executes."""
    lasts: timedelta = timedelta.max
    """How long the request may take."""
    settled_until: Instant | None = None
    """Of a subscription: up to when the client has all activities. What they name is read strongly, then."""
    kept_until: Instant | None = field(default=None, init=False)
    """Up to when everything is in the histories that were read, if a cursor is asked of them."""
    price: Price | None = field(default=None, init=False)
    has_hidden: bool = field(default=False, init=False)
    """Whether something was read that the response leaves out without an error."""
    loaders: Loaders = field(init=False)
    now: Instant = field(init=False)
    """The time of all that is read; after a write, a time that is not before it."""
    _began: Instant = field(init=False)
    _queries: asyncio.Semaphore | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.now = self._began = self.backend.clock()
        if self.trace is None:
            self.loaders = self._new_loaders()
        else:
            self.record(self.trace)

    def record(self, trace: Trace) -> None:
        store = self.backend.store
        assert isinstance(store, DynamoStore)  # noqa: S101  # a request is recorded once
        self.trace = trace
        self.backend = self.backend.with_store(RecordedStore(store, trace))
        self.loaders = self._new_loaders()

    def _new_loaders(self) -> Loaders:
        return Loaders(self.backend, strongly=self.settled_until is not None)

    def kept_since(self, contract: ReadPage[Any]) -> Instant:
        """The time before which a list shows nothing any more."""
        return EARLIEST if contract.kept is None else self.backend.kept_since(contract.kept)

    @property
    def queries(self) -> asyncio.Semaphore:
        """Bounds how many Queries of the request run at once: a list inside a list sends one for each parent."""
        if self._queries is None:
            self._queries = asyncio.Semaphore(_QUERIES_AT_ONCE)
        return self._queries

    def has_time(self) -> bool:
        """Whether another write can begin: the last one, and what is read after it, must end before the deadline."""
        return self.backend.clock() < shift(self._began, self.lasts * _SHARE_FOR_WRITES)

    def start_metering(self, *, stops: bool) -> None:
        """From here on measures the request, unless its price shows that it cannot exceed its limit.

        With `stops` it is stopped where it exceeds the limit. A mutation is not: what it has written must be told.
        """
        limit = self.limit
        may_exceed = self.price is not None and limit.exceeded_by(self.price.maximum) is not None
        if not (may_exceed or self.budget.is_limited):
            return
        trace = self.trace or Trace()
        if self.trace is None:
            self.record(trace)
        trace.wants_units = True
        if not stops:
            return

        def guard(trace: Trace) -> None:
            over = limit.exceeded_by(trace.spent()) if trace.records else None
            if over is not None:
                raise QueryTooComplexError(
                    f"The request was stopped after {over}. Ask for smaller pages, or send several requests."
                )

        trace.guard = guard

    def close(self) -> None:
        """Ends whatever still reads for the request."""
        self.loaders.stop()
