"""OpenTelemetry spans: the request, the steps of its plan that read or write, and their store operations.

The spans are created when the request has ended, with the times that were recorded.
"""

import asyncio
from collections.abc import Callable, Iterable
from functools import partial

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import AttributeValue

from loaders.table.operations import Query
from loaders.table.recording import FINISHED, Record
from server.telemetry.observation import OK, REQUEST_ID, Observation

_METHODS = frozenset({"GET", "POST"})


class Spans:
    """Creates the spans of every sampled request, and exports them by OTLP unless there is another exporter."""

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
        """Exports the remaining spans; in a thread, since the export blocks."""
        await asyncio.to_thread(self._provider.shutdown)

    def watch(self, observation: Observation) -> Callable[[], None]:
        """Starts the span of a request, within the client's trace if it sent one; returns the function that ends it."""
        span = self._tracer.start_span(
            "GraphQL",
            # Without tracestate: no span needs it, and the library's warning about an invalid one quotes the client.
            self._context.extract({"traceparent": observation.header(b"traceparent")}),
            SpanKind.SERVER,
            {"http.request.method": observation.method if observation.method in _METHODS else "_OTHER"},
            start_time=observation.started_at,
        )
        if span.is_recording():
            observation.wants_units = True
        return partial(self._finished, observation, span)

    def _finished(self, observation: Observation, span: Span) -> None:
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
                "smartlocker.client_request_id": observation.client_request_id,
                "smartlocker.code": code,
                "error.type": None if code == OK else code,
            },
        )
        if observation.is_server_error:
            span.set_status(Status(StatusCode.ERROR))
        if observation.trace is not None:
            self._add_children(span, observation.trace.records)
        span.end(observation.started_at + observation.duration)

    def _add_children(self, request: Span, records: Iterable[Record]) -> None:
        """One span for each step of the plan, from its first operation to the end of its last."""
        by_path: dict[str, list[Record]] = {}
        for record in records:
            by_path.setdefault(record.path, []).append(record)
        for path, group in by_path.items():
            if not path:
                for record in group:
                    self._operation(record, request)
                continue
            attributes: dict[str, str | int] = {
                "graphql.field.path": path,
                "smartlocker.merged": sum(record.merged for record in group),
            }
            within, start = set_span_in_context(request), group[0].started_at
            step = self._tracer.start_span(f"step {path}", within, attributes=attributes, start_time=start)
            for record in group:
                self._operation(record, step)
            step.end(max(map(_end, group)))

    def _operation(self, record: Record, parent: Span) -> None:
        operation = record.operation
        is_ok = record.outcome == FINISHED
        span = self._tracer.start_span(
            f"{operation.name} {self._table}",
            set_span_in_context(parent),
            SpanKind.CLIENT,
            start_time=record.started_at,
        )
        _set(
            span,
            {
                "db.system.name": "aws.dynamodb",
                "db.collection.name": self._table,
                "db.operation.name": operation.name,
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


def _set(span: Span, attributes: dict[str, AttributeValue | None]) -> None:
    span.set_attributes({name: value for name, value in attributes.items() if value is not None})


def _end(part: Record) -> int:
    """The end; the start if the operation was not awaited."""
    return part.started_at + (part.duration or 0)
