"""The state of each request, made from what all requests share: the table, limits, and the settings."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache, partial

from domain.authorization import Principal
from domain.times import Instant
from loaders.backend import Backend, Listener
from loaders.reads.caller_budgets import KnownBudgets
from loaders.reads.watching import watching
from loaders.table.client import DynamoStore, StoreConnection, open_store
from loaders.table.clock import Stamp
from loaders.table.health import WatchedTransport
from loaders.table.recording import RecordedStore
from loaders.trace import Trace
from resolvers.request_state import FairLock, PageSizes, RequestState
from server.auth.code_keys import read_ring
from server.http.explanation import open_trace
from server.http.health import Readiness
from server.http.request import GraphQLRequest
from server.limits.request_limits import RequestBudget
from server.settings import Settings
from server.telemetry.telemetry import Telemetry


@dataclass(eq=False)
class RequestStates:
    """Makes the states of requests, on a table that is open while the application runs."""

    _settings: Settings
    _connection: StoreConnection
    _clock: Callable[[], Instant]
    _new_id: Callable[[], str]
    _stamp: Callable[[], Stamp]
    _telemetry: Telemetry
    listener: Listener | None = None
    """Is told what this process writes."""
    _backend: Backend = field(init=False)
    store: DynamoStore | RecordedStore = field(init=False)
    """The table for authentication and rate limits, whose operations metrics count too."""

    def __post_init__(self) -> None:
        self._page_sizes = PageSizes(self._settings.page_size, self._settings.page_size_max)
        self._limit = self._settings.limit
        self._hides_suggestions = self._settings.is_production
        self._fair_lock = FairLock()
        self._lasts = timedelta(seconds=self._settings.request_seconds)

    @asynccontextmanager
    async def open(self, readiness: Readiness, budgets: KnownBudgets | None = None) -> AsyncIterator[None]:
        """Opens the table while the block runs, and watches it if the server's readiness depends on it."""
        async with open_store(self._connection) as store:
            if readiness.store is None or readiness.table is None:
                self._use(store)
                yield
                return
            watched = DynamoStore(WatchedTransport(store.transport, readiness.store), store.table)
            async with watching(watched, readiness.store, readiness.table, budgets):
                self._use(watched)
                yield

    @property
    def backend(self) -> Backend:
        """The data layer of what runs beside requests, whose operations metrics count too."""
        return self._backend.with_store(self.store)

    def new(self, principal: Principal, request: GraphQLRequest, budget: RequestBudget) -> RequestState:
        """The state of one request; who asks for it closes it."""
        return RequestState(
            self._backend,
            principal,
            request.variables or {},
            self._page_sizes,
            self._limit,
            budget,
            self._fair_lock,
            open_trace(request),
            request.explain == "plan",
            self._hides_suggestions,
            self._telemetry.note_introspection,
            self._lasts,
        )

    def new_live(
        self, principal: Principal, request: GraphQLRequest, budget: RequestBudget, settled_until: Instant
    ) -> RequestState:
        """The state of one batch of a subscription's activities."""
        return RequestState(
            self._backend,
            principal,
            request.variables or {},
            self._page_sizes,
            self._limit,
            budget,
            self._fair_lock,
            Trace(self._telemetry.recorder),
            hides_suggestions=self._hides_suggestions,
            settled_until=settled_until,
        )

    def _use(self, store: DynamoStore) -> None:
        settings = self._settings
        self.store = self._telemetry.measured(store)
        self._backend = Backend(
            store,
            self._clock,
            self._new_id,
            self._stamp,
            settings.longest_reservation,
            settings.max_pending_bookings,
            settings.max_live_reservations,
            settings.live_reservations,
            code_ring=cache(partial(read_ring, settings)),
            retention=settings.retention,
            listener=self.listener,
            webhook_secret_overlap=timedelta(hours=settings.webhook_secret_hours),
            allows_local_webhooks=not settings.is_production,
        )
