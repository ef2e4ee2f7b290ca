import re
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from tests import places
from tests.api import UPDATE_STATUS, Api
from tests.conftest import OpenApi
from tests.over_http import post
from tests.wire import Answer, Wire

DOCS = Path(__file__).parents[3] / "docs"
NESTED = """query Lockers { owner(ownerId: "acme") { name
  lockers { nodes { lockerId owner { name } latestEvent { eventId } } }
} }"""
TRACE = "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331"
OWNER = 'query Owner { owner(ownerId: "acme") { name } }'


class Traced:
    """Servers whose spans stay here; what each sent is seen when it has ended."""

    def __init__(self, open_api: OpenApi) -> None:
        self._open_api = open_api

    async def post(self, query: str, headers: dict[str, str] | None = None, **content: Any) -> list[ReadableSpan]:
        """The spans of one request, ordered by their beginnings."""
        exporter = InMemorySpanExporter()
        async with self._open_api(span_exporter=exporter, tracing="otlp") as api:
            await post(api, query, headers=headers, **content)
        return sorted(exporter.get_finished_spans(), key=lambda span: (span.start_time or 0, -(span.end_time or 0)))


@pytest_asyncio.fixture
async def traced(api: Api, wire: Wire, open_api: OpenApi, monkeypatch: pytest.MonkeyPatch) -> Traced:
    for name in ("OTEL_TRACES_SAMPLER", "OTEL_SDK_DISABLED", "OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"):
        monkeypatch.delenv(name, raising=False)
    await api.owner("acme", email="acme@example.com")
    await api.locker("l1", "acme")
    await api.locker("l2", "acme")
    wire.reset()
    return Traced(open_api)


def only_operation(spans: list[ReadableSpan]) -> ReadableSpan:
    (operation,) = [span for span in spans if span.kind is SpanKind.CLIENT]
    return operation


def tree(spans: list[ReadableSpan]) -> dict[str, list[str]]:
    """The names of the spans below each span, in the order of the alphabet; every child lies within its parent."""
    by_id = {span.context.span_id: span for span in spans if span.context}
    found: dict[str, list[str]] = {}
    for span in spans:
        parent = by_id.get(span.parent.span_id) if span.parent else None
        if parent is not None:
            assert (parent.start_time or 0) <= (span.start_time or 0) <= (span.end_time or 0) <= (parent.end_time or 0)
            found.setdefault(parent.name, []).append(span.name)
    return {parent: sorted(children) for parent, children in found.items()}


async def test_a_request_is_over_its_steps_and_these_are_over_their_operations(traced: Traced, table: str) -> None:
    spans = await traced.post(NESTED)
    assert tree(spans) == {
        "query Lockers": ["step owner", "step owner.lockers", "step owner.lockers.nodes.latestEvent"],
        "step owner": [f"GetItem {table}"],
        "step owner.lockers": [f"Query {table}"],
        "step owner.lockers.nodes.latestEvent": [f"Query {table}", f"Query {table}"],
    }
    (events,) = [span for span in spans if span.name == "step owner.lockers.nodes.latestEvent"]
    assert events.attributes == {"graphql.field.path": "owner.lockers.nodes.latestEvent", "smartlocker.merged": 2}
    assert events.kind is SpanKind.INTERNAL


async def test_the_span_of_a_request_has_its_operation_and_outcome(traced: Traced) -> None:
    request, *_ = await traced.post(OWNER)
    assert request.kind is SpanKind.SERVER
    assert request.status.status_code is StatusCode.UNSET
    assert request.resource.attributes["service.name"] == "smartlocker"
    attributes = dict(request.attributes or {})
    assert re.fullmatch(r"[0-9A-Z]{26}", str(attributes.pop("smartlocker.request_id")))
    assert attributes == {
        "graphql.operation.type": "query",
        "graphql.operation.name": "Owner",
        "http.request.method": "POST",
        "http.response.status_code": 200,
        "smartlocker.code": "OK",
    }


async def test_an_operations_span_has_its_contract_and_what_it_took(traced: Traced, wire: Wire, table: str) -> None:
    operation = only_operation(await traced.post(OWNER))
    (call,) = wire.calls
    assert call.request["ReturnConsumedCapacity"] == "TOTAL"
    assert (operation.kind, operation.status.status_code) == (SpanKind.CLIENT, StatusCode.UNSET)
    assert operation.attributes == {
        "db.system.name": "aws.dynamodb",
        "db.collection.name": table,
        "db.operation.name": "GetItem",
        "db.response.returned_rows": 1,
        "smartlocker.contract": "QC-20",
        "smartlocker.read_units": call.units,
        "smartlocker.write_units": 0.0,
        "smartlocker.attempts": 1,
        "smartlocker.pages": 1,
        "smartlocker.outcome": "ok",
    }


async def test_a_mutation_has_its_operations_and_the_code_of_its_user_error(traced: Traced, table: str) -> None:
    change = {"input": {"lockerId": "l1", "newStatus": "OCCUPIED", "expectedVersion": 1}}
    spans = await traced.post(UPDATE_STATUS, variables=change)
    assert tree(spans) == {
        "mutation": ["step updateLockerStatus"],
        "step updateLockerStatus": [f"GetItem {table}", f"TransactWriteItems {table}"],
    }
    assert (spans[-1].attributes or {})["smartlocker.write_units"] == 10
    request, *_ = await traced.post(UPDATE_STATUS, variables=change)
    attributes = request.attributes or {}
    assert (attributes["smartlocker.code"], attributes["error.type"]) == ("VERSION_CONFLICT", "VERSION_CONFLICT")
    assert request.status.status_code is StatusCode.UNSET


async def test_a_store_that_is_down_is_an_error_of_the_request_and_of_the_operation(traced: Traced, wire: Wire) -> None:
    wire.fault = lambda _: Answer.error("ThrottlingException")
    request, *below = await traced.post(OWNER)
    operation = only_operation(below)
    for span in (request, operation):
        assert span.status.status_code is StatusCode.ERROR
        assert (span.attributes or {})["error.type"] == "UNAVAILABLE"
    assert (operation.attributes or {})["smartlocker.attempts"] == 3


async def test_a_clients_trace_is_continued_and_its_state_is_in_no_span_and_no_log(
    traced: Traced, caplog: pytest.LogCaptureFixture
) -> None:
    for state in ("vendor=canary", "canary!!", "canary=", "a=canary,a=canary"):
        headers = {"traceparent": f"00-{TRACE}-01", "tracestate": state, "baggage": state}
        request, *below = await traced.post(OWNER, headers)
        assert request.parent
        for span in (request, *below):
            assert span.context
            assert f"{span.context.trace_id:032x}-{request.parent.span_id:016x}" == TRACE
            assert not span.context.trace_state
    assert "canary" not in caplog.text


async def test_a_request_that_is_not_sampled_has_no_spans_and_asks_for_no_capacity(traced: Traced, wire: Wire) -> None:
    assert await traced.post(OWNER, {"traceparent": f"00-{TRACE}-00"}) == []
    assert ["ReturnConsumedCapacity" in call.request for call in wire.calls] == [False]


async def test_a_malformed_trace_is_not_continued(traced: Traced) -> None:
    for header in ("nonsense", "00-0-0-01", ""):
        request, *_ = await traced.post(OWNER, {"traceparent": header})
        assert request.parent is None


async def test_a_refused_request_is_one_span(traced: Traced) -> None:
    (request,) = await traced.post("query Owner {")
    assert request.name == "GraphQL"
    assert (request.attributes or {})["error.type"] == "GRAPHQL_PARSE_FAILED"


async def test_a_page_for_people_and_a_strange_method(open_api: OpenApi) -> None:
    exporter = InMemorySpanExporter()
    async with open_api(span_exporter=exporter, tracing="otlp") as api:
        await api.client.get("/graphql", headers={"Accept": "text/html"})
        await api.client.request("SECRET", "/graphql")
    (request,) = exporter.get_finished_spans()
    attributes = request.attributes or {}
    assert (attributes["http.request.method"], attributes["http.response.status_code"]) == ("_OTHER", 405)


async def test_the_service_has_the_name_of_the_environment(traced: Traced, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "lockers-of-rome")
    request, *_ = await traced.post(OWNER)
    assert request.resource.attributes["service.name"] == "lockers-of-rome"


async def test_spans_go_by_otlp_where_the_environment_says(open_api: OpenApi, monkeypatch: pytest.MonkeyPatch) -> None:
    received: list[tuple[str, bytes]] = []

    async def take(request: web.Request) -> web.Response:
        received.append((request.path, await request.read()))
        return web.Response()

    collector = web.Application()
    collector.router.add_post("/{path:.*}", take)
    runner = web.AppRunner(collector, shutdown_timeout=1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://{host}:{port}")
    async with open_api(tracing="otlp") as api:
        await api.send("query Otlp { __typename }")
    await runner.cleanup()
    ((path, body),) = received
    assert path == "/v1/traces"
    assert b"query Otlp" in body


async def test_every_attribute_is_documented(traced: Traced, api: Api) -> None:
    await places.create_location(api, 0, code="rome")
    spans = await traced.post("query Places { locations { nodes { name } } }") + await traced.post(NESTED)
    spans += await traced.post("{ nothing }", {"X-Request-Id": "mine"})
    page = (DOCS / "operations.md").read_text().split("\n### Spans\n")[1].split("\n### ")[0]
    used = {name for span in spans for name in span.attributes or {}}
    assert "aws.dynamodb.index_name" in used
    assert set(re.findall(r"`([a-z_]+(?:\.[a-z_]+)+)`", page)) == used
