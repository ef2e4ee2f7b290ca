"""Telemetry of requests: metrics, spans and a line of the log, all from one observation. What is off is not made."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeAlias

from starlette.datastructures import Headers
from starlette.routing import Route

from loaders.table.recording import RecordedStore
from server.observation import OBSERVATION, Observation
from server.request_log import RequestLog

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Sequence

    from opentelemetry.sdk.trace.export import SpanExporter
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from loaders.table.client import DynamoStore
    from server.metrics import Metrics
    from server.settings import Settings
    from server.spans import Spans

    Watcher: TypeAlias = Callable[[Observation], Callable[[], None]]
    """Is told that a request begins, and gives what to call when it has ended."""

__all__ = ["Telemetry"]


class Telemetry:
    """All telemetry of an application, as its settings have it.

    Args:
        settings: what is on.
        documents: the trusted documents, whose operations metrics always know by name.
        exporter: where spans go; None sends them by OTLP.
    """

    def __init__(self, settings: Settings, documents: Iterable[str], exporter: SpanExporter | None) -> None:
        self._metrics = _metrics(documents) if settings.metrics == "on" else None
        self._spans = _spans(settings.table_name, exporter) if settings.tracing == "otlp" else None
        log = RequestLog() if settings.logs_requests else None
        parts = (self._metrics, self._spans, log)
        self._watchers: list[Watcher] = [part.watch for part in parts if part is not None]

    def routes(self) -> list[Route]:
        """What is served beside the API."""
        return [] if self._metrics is None else [Route("/metrics", self._metrics.page)]

    def counted(self, store: DynamoStore) -> DynamoStore | RecordedStore:
        """The store for what is asked around requests, to authenticate and to charge them: metrics count that too."""
        return store if self._metrics is None else RecordedStore(store, self._metrics)

    def around(self, app: ASGIApp) -> ASGIApp:
        """The application under observation; with nothing to tell, the application itself."""
        return _Observed(app, self._watchers) if self._watchers else app

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Sends what is left when the block ends."""
        try:
            yield
        finally:
            if self._spans is not None:
                await self._spans.close()


class _Observed:
    """An application whose requests are observed."""

    def __init__(self, app: ASGIApp, watchers: Sequence[Watcher]) -> None:
        self._app = app
        self._watchers = watchers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        observation = Observation(scope["method"], Headers(scope=scope))

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                observation.answered(message["status"], Headers(raw=message["headers"]).get("content-type", ""))
            await send(message)

        ends = [watch(observation) for watch in self._watchers]
        token = OBSERVATION.set(observation)
        try:
            await self._app(scope, receive, noted)
        finally:
            OBSERVATION.reset(token)
            observation.ended()
            for end in ends:
                end()


def _metrics(documents: Iterable[str]) -> Metrics:
    from server.metrics import Metrics  # noqa: PLC0415  # only who wants metrics pays for their library

    return Metrics(documents)


def _spans(table: str, exporter: SpanExporter | None) -> Spans:
    from server.spans import Spans  # noqa: PLC0415  # as above

    return Spans(table, exporter)
