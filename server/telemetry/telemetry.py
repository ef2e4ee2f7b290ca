"""Telemetry of the application: metrics, spans and the request log, from one observation of each request."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, TypeAlias

from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from loaders.table.client import DynamoStore
from loaders.table.health import StoreHealth
from loaders.table.recording import RecordedStore
from server.settings import Settings
from server.telemetry.observation import OBSERVATION, Observation
from server.telemetry.request_log import RequestLog

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

    from loaders.following.attempts import DeliveryWatcher
    from loaders.following.loop import Progress
    from loaders.table.recording import Recorder
    from server.telemetry.metrics import Metrics
    from server.telemetry.shared_metrics import SharedMetrics

Watcher: TypeAlias = Callable[[Observation], Callable[[], None]]
"""Called at the start of a request; returns the function to call at its end."""


class Telemetry:
    """The telemetry that the settings turn on; operations of trusted documents always have their own metrics."""

    def __init__(
        self,
        settings: Settings,
        trusted: Iterable[str],
        exporter: SpanExporter | None,
        health: StoreHealth | None = None,
        is_read_only: Callable[[], bool] = lambda: False,
        shared_metrics: SharedMetrics | None = None,
        write_line: Callable[[str], None] | None = None,
    ) -> None:
        self._metrics: Metrics | None = None
        if settings.metrics == "on":
            from server.telemetry.metrics import Metrics  # noqa: PLC0415  # the library is loaded only if it is used

            self._metrics = Metrics(trusted, health, is_read_only, shared_metrics)
        self._spans: Spans | None = None
        if settings.tracing == "otlp":
            from server.telemetry.spans import Spans  # noqa: PLC0415  # as above

            self._spans = Spans(settings.table_name, exporter)
        names_callers = settings.request_log_caller == "on"
        log = RequestLog(names_callers, write_line) if settings.logs_requests else None
        parts = (self._metrics, self._spans, log)
        self._watchers: list[Watcher] = [part.watch for part in parts if part is not None]

    def routes(self) -> list[Route]:
        return [] if self._metrics is None else [Route("/metrics", self._metrics.page)]

    def measured(self, store: DynamoStore) -> DynamoStore | RecordedStore:
        """The store for authentication and rate limits, whose operations metrics count too."""
        return store if self._metrics is None else RecordedStore(store, self._metrics)

    @property
    def note_introspection(self) -> Callable[[], None] | None:
        return None if self._metrics is None else self._metrics.note_introspection

    @property
    def recorder(self) -> Recorder | None:
        """Counts operations of the store that belong to no request."""
        return self._metrics

    @property
    def meter(self) -> Metrics | None:
        """Counts subscriptions and their events."""
        return self._metrics

    @property
    def progress(self) -> Progress | None:
        """Is told how far followers of the log have got."""
        return self._metrics

    @property
    def deliveries(self) -> DeliveryWatcher | None:
        """Is told how deliveries of webhooks go."""
        return self._metrics

    def observe(self, app: ASGIApp) -> ASGIApp:
        """The application with its requests observed; if all telemetry is off, the application itself."""
        return _ObservedApp(app, self.observing) if self._watchers else app

    @contextmanager
    def observing(self, method: str, scope: Scope) -> Iterator[Observation | None]:
        """Observes a request that is answered in the block; if all telemetry is off, there is no observation."""
        if not self._watchers:
            yield None
            return
        client = scope.get("client")
        observation = Observation(method, scope["headers"], client[0] if client else None)
        observation.finishers = [watch(observation) for watch in self._watchers]
        token = OBSERVATION.set(observation)
        try:
            yield observation
        finally:
            OBSERVATION.reset(token)
            observation.finished()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        try:
            yield
        finally:
            if self._spans is not None:
                await self._spans.close()


class _ObservedApp:
    def __init__(
        self, app: ASGIApp, observing: Callable[[str, Scope], AbstractContextManager[Observation | None]]
    ) -> None:
        self._app = app
        self._observing = observing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._observing(scope["method"], scope) as observation:

            async def send_and_observe(message: Message) -> None:
                if message["type"] == "http.response.start" and observation is not None:
                    observation.response_started(message["status"], dict(message["headers"]).get(b"content-type", b""))
                await send(message)

            await self._app(scope, receive, send_and_observe)
