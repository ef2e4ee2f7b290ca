"""What telemetry costs, each part by itself, and all of it off: `python -m bench.telemetry`."""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, redirect_stderr
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock, patch

from graphql import OperationDefinitionNode
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from strawberry.schema.exceptions import CannotGetOperationTypeError

from bench.harness import Variant, open_table, print_tables, serving
from resolvers.schema import OneOperation
from server.logs import logging_as
from server.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from opentelemetry.sdk.trace import ReadableSpan
    from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["OFF", "WITHOUT", "Served", "open_served"]

WITHOUT = "without the hooks"
OFF = "all off"
_SETTINGS: dict[str, dict[str, Any]] = {
    OFF: {},
    "line of the log, JSON": {"request_log": "on"},
    "metrics": {"metrics": "on"},
    "spans": {"tracing": "otlp"},
    "all on": {"request_log": "on", "metrics": "on", "tracing": "otlp"},
}


class _Encoded(SpanExporter):
    """Writes spans as they would be sent, and sends them nowhere."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Encodes them."""
        encode_spans(spans).SerializeToString()
        return SpanExportResult.SUCCESS


class Served:
    """Several applications on one table, of which one at a time serves."""

    def __init__(self, apps: dict[str, ASGIApp]) -> None:
        self._apps = apps
        self._current = apps[OFF]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on."""
        await self._current(scope, receive, send)

    def variants(self) -> list[Variant]:
        """One for each application, and twice the one that could not tell anything."""
        served = [Variant(name, partial(self._serving, name), {}) for name in self._apps]
        return [
            Variant(WITHOUT, self._without_hooks, {}),
            Variant(f"{WITHOUT}, again", self._without_hooks, {}),
            *served,
        ]

    @contextmanager
    def _serving(self, name: str) -> Iterator[None]:
        self._current = self._apps[name]
        yield

    @contextmanager
    def _without_hooks(self) -> Iterator[None]:
        """The code as it would be if nothing could be observed: every place that asks whether to is taken out."""

        def on_parse(self: Any) -> Iterator[None]:
            yield
            context = self.execution_context
            if context.graphql_document is None or context._provided_operation_name is not None:  # noqa: SLF001  # as it was
                return
            if sum(isinstance(node, OperationDefinitionNode) for node in context.graphql_document.definitions) > 1:
                raise CannotGetOperationTypeError(None)

        with (
            self._serving(OFF),
            patch.object(OneOperation, "on_parse", on_parse),
            patch("server.http.trace_of", lambda _: None),
            patch("server.http.REQUEST_ID", Mock(set=lambda _: None)),
        ):
            yield


@contextmanager
def _log_to_nowhere() -> Iterator[None]:
    """Lines are made and written, and nobody has to see them."""
    with Path(os.devnull).open("w") as nowhere, redirect_stderr(nowhere), logging_as(Settings(log_format="json")):
        yield


@asynccontextmanager
async def open_served() -> AsyncIterator[Served]:
    """The applications; their log goes nowhere."""
    async with AsyncExitStack() as stack:
        stack.enter_context(_log_to_nowhere())
        connection = await stack.enter_async_context(open_table())
        apps = {}
        for name, more in _SETTINGS.items():
            settings = Settings(table_name=connection.table, **more)
            apps[name] = await stack.enter_async_context(serving(connection, settings, _Encoded()))
        yield Served(apps)


async def _measure() -> None:
    async with open_served() as served:
        await print_tables(served, served.variants(), WITHOUT)


def main() -> None:
    """Prints a table for each document."""
    asyncio.run(_measure())


if __name__ == "__main__":
    main()
