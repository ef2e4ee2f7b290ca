"""Spans for OpenTelemetry: the request, below it what asked the store, and below that every operation of the store.

What the request did is known when it has ended, and its spans are made then, with the times at which things happened.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from loaders.table.operations import Query
from loaders.table.recording import FINISHED
from loaders.trace import operation_name
from server.observation import OK, REQUEST_ID

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span
    from opentelemetry.util.types import AttributeValue

    from loaders.table.recording import Batch, Record
    from server.observation import Observation

__all__ = ["Spans"]

_METHODS = frozenset({"GET", "POST"})


class Spans:
    """Makes the spans of every request that is sampled.

    Args:
        table: the table's name.
        exporter: where they go; None sends them by OTLP.
    """

    def __init__(self, table: str, exporter: SpanExporter | None) -> None:
        resource = Resource.create().merge(Resource({"service.name": "smartlocker"}))
        self._provider = TracerProvider(
            resource=resource.merge(OTELResourceDetector().detect()), shutdown_on_exit=False
        )
        self._provider.add_span_processor(BatchSpanProcessor(exporter or OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("smartlocker")
        self._context = TraceContextTextMapPropagator()
        self._table = table

    async def close(self) -> None:
        """Sends what is left; on a thread, since it waits for whoever takes it."""
        await asyncio.to_thread(self._provider.shutdown)

    def watch(self, observation: Observation) -> Callable[[], None]:
        """Begins a request's span, as part of its client's trace where that sent one."""
        span = self._tracer.start_span(
            "GraphQL",
            # Its state is left out: no span of ours needs it, and the library warns of a bad one in the client's words.
            self._context.extract({"traceparent": observation.headers.get("traceparent", "")}),
            SpanKind.SERVER,
            {"http.request.method": observation.method if observation.method in _METHODS else "_OTHER"},
            start_time=observation.started_at,
        )
        if span.is_recording():
            observation.wants_units = observation.wants_paths = True
        return partial(self._ended, observation, span)

    def _ended(self, observation: Observation, span: Span) -> None:
        if observation.is_page or not span.is_recording():
            return
        kind, name, code = observation.operation_type, observation.operation_name, observation.code
        if kind is not None:
            span.update_name(f"{kind} {name}" if name else kind)
        _set(
            span,
            {
                "graphql.operation.type": kind,
                "graphql.operation.name": name,
                "http.response.status_code": observation.status,
                "smartlocker.request_id": REQUEST_ID.get(),
                "smartlocker.code": code,
                "error.type": None if code == OK else code,
            },
        )
        if observation.is_fault:
            span.set_status(Status(StatusCode.ERROR))
        if observation.trace is not None:
            self._add_below(span, observation.trace.records)
        span.end(observation.started_at + observation.duration)

    def _add_below(self, request: Span, records: Iterable[Record]) -> None:
        by_asker: dict[int, list[Record]] = {}
        for record in records:
            by_asker.setdefault(id(record.batch or record.asked_by), []).append(record)
        for asked in by_asker.values():
            first, batch = asked[0], asked[0].batch
            if batch is not None:
                parent = self._batch(batch, request)
            elif first.paths:
                parent = self._field(first, request)
            else:
                parent = request
            for record in asked:
                self._operation(record, parent)
            if parent is not request:
                parent.end(max(_end(part) for part in (*asked, batch or first)))

    def _batch(self, batch: Batch, request: Span) -> Span:
        attributes: dict[str, str | int] = {
            "smartlocker.loader": batch.loader,
            "smartlocker.batch.size": batch.size,
            "smartlocker.batch.merged": batch.merged,
        }
        return self._begin(f"load {batch.loader}", request, batch.started_at, attributes)

    def _field(self, first: Record, request: Span) -> Span:
        """From its first operation to the end of its last: what a field does besides takes no time worth telling."""
        path = first.paths[0]
        name = ".".join(part for part in path.split(".") if not part.isdigit())
        return self._begin(f"field {name}", request, first.started_at, {"graphql.field.path": path})

    def _operation(self, record: Record, parent: Span) -> None:
        operation = record.operation
        name = operation_name(operation)
        is_ok = record.outcome == FINISHED
        span = self._begin(f"{name} {self._table}", parent, record.started_at, {}, SpanKind.CLIENT)
        _set(
            span,
            {
                "db.system.name": "aws.dynamodb",
                "db.collection.name": self._table,
                "db.operation.name": name,
                "aws.dynamodb.index_name": operation.within.index if isinstance(operation, Query) else None,
                "db.response.returned_rows": record.returned,
                "smartlocker.contract": record.contract,
                "smartlocker.read_units": 0.0 if record.is_write else record.units,
                "smartlocker.write_units": record.units if record.is_write else 0.0,
                "smartlocker.attempts": record.attempts,
                "smartlocker.pages": record.pages,
                "smartlocker.outcome": record.outcome,
                "error.type": None if is_ok else record.outcome,
            },
        )
        if not is_ok:
            span.set_status(Status(StatusCode.ERROR))
        span.end(_end(record))

    def _begin(
        self,
        name: str,
        parent: Span,
        start: int,
        attributes: dict[str, str | int],
        kind: SpanKind = SpanKind.INTERNAL,
    ) -> Span:
        return self._tracer.start_span(name, set_span_in_context(parent), kind, attributes, start_time=start)


def _set(span: Span, attributes: dict[str, AttributeValue | None]) -> None:
    """What is not there is left out."""
    span.set_attributes({name: value for name, value in attributes.items() if value is not None})


def _end(part: Record | Batch) -> int:
    """What nobody waited for has no end that is known."""
    return part.started_at + (part.duration or 0)
