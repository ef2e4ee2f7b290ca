"""Telemetry as a whole: what is off is not there, and nothing that clients say gets into what is on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from starlette.routing import Route

from loaders.table.client import Connection, DynamoStore
from server.app import create_app
from server.http.endpoint import GraphQLEndpoint
from server.settings import Settings
from server.telemetry.logs import configured_logging
from tests.api import CREATE_OWNER

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from resolvers.request import RequestState
    from tests.api import Api
    from tests.wire import Wire

    OpenApi = Callable[..., AbstractAsyncContextManager[Api]]

ROOT = Path(__file__).parents[3]
PRODUCTION = {"profile": "production"}
CANARY = "canary"
OWNER = '{ owner(ownerId: "ada") { name } }'


def endpoint(**settings: Any) -> Any:
    """What serves /graphql."""
    app = create_app(Settings(**settings), Connection("none", "eu-central-1"))
    (route,) = [route for route in app.routes if isinstance(route, Route) and route.path == "/graphql"]
    return route.app


def test_with_everything_off_nothing_stands_before_the_endpoint() -> None:
    for settings in ({}, {**PRODUCTION, "request_log": "off"}, {"request_log": "on", "log_level": "warning"}):
        assert type(endpoint(**settings)) is GraphQLEndpoint
    for settings in (PRODUCTION, {"request_log": "on"}, {"metrics": "on"}):
        assert type(endpoint(**settings)) is not GraphQLEndpoint


@pytest.mark.parametrize(
    ("settings", "loaded"),
    [
        ({}, []),
        ({"metrics": "on"}, ["prometheus_client"]),
        ({"tracing": "otlp"}, ["opentelemetry"]),
    ],
)
def test_a_library_is_loaded_only_for_what_is_on(settings: dict[str, str], loaded: list[str]) -> None:
    program = f"""
import sys
import server.cli.main
from loaders.table.client import Connection
from server.app import create_app
from server.settings import Settings
create_app(Settings(**{settings!r}), Connection("none", "eu-central-1"))
print([name for name in ("prometheus_client", "opentelemetry") if name in sys.modules])
"""
    found = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == str(loaded)


async def test_by_default_development_records_nothing_and_the_store_is_asked_as_it_always_was(
    open_api: OpenApi, wire: Wire
) -> None:
    class NothingRecorded:
        def started(self, state: RequestState) -> RequestState:
            assert state.trace is None
            assert type(state.backend.store) is DynamoStore
            return state

        def finished(self, *_: object) -> None:
            """Nothing is left to check."""

    async with open_api(observer=NothingRecorded()) as api:
        await api.owner("ada")
        wire.reset()
        await api.run(OWNER)
    assert [sorted(call.request) for call in wire.calls] == [["ConsistentRead", "Key", "TableName"]]


async def test_telemetry_adds_nothing_to_an_answer_and_explanations_work_beside_it(
    open_api: OpenApi, wire: Wire
) -> None:
    exporter = InMemorySpanExporter()
    async with open_api(metrics="on", tracing="otlp", span_exporter=exporter) as api:
        await api.owner("ada")
        wire.reset()
        assert await api.send(OWNER) == {"data": {"owner": {"name": "ada"}}}
        asked = {"query": OWNER, "extensions": {"explain": True, "cost": True}}
        answer = (await api.client.post("/graphql", json=asked)).json()
    (operation,) = answer["extensions"]["explain"]["operations"]
    assert (operation["readUnits"], operation["path"]) == (0.5, "owner")
    assert answer["extensions"]["cost"]["actual"]["readUnits"] == 0.5
    assert len(wire.calls) == 2


async def test_no_value_of_a_client_is_in_metrics_spans_or_the_log(
    open_api: OpenApi, capsys: pytest.CaptureFixture[str]
) -> None:
    exporter = InMemorySpanExporter()
    secret = {"Authorization": f"Bearer {CANARY}", "Cookie": CANARY, "User-Agent": CANARY, "X-Api-Key": CANARY}
    secret |= {"tracestate": f"vendor={CANARY}", "baggage": f"a={CANARY}"}
    by_email = f'{{ ownerByEmail(email: "{CANARY}@example.com") {{ name }} }}'
    with configured_logging(Settings(log_level="debug")):
        on = {"metrics": "on", "tracing": "otlp", "request_log": "on", "log_level": "debug"}
        async with open_api(span_exporter=exporter, **on) as api:
            values = {"ownerId": CANARY, "kind": "USER", "name": CANARY, "email": f"{CANARY}@example.com"}
            for content in (
                {"query": CREATE_OWNER, "variables": {"input": values}},
                {"query": CREATE_OWNER, "variables": {"input": values | {"name": f"{CANARY}2"}}},
                {"query": CREATE_OWNER, "variables": {"input": CANARY}},
                {"query": by_email},
                {"query": "query ($id: ID!) { owner(ownerId: $id) { name } }", "variables": {"id": CANARY}},
                {"query": f'{{ owner(ownerId: "{CANARY}") {{ lockers(after: "{CANARY}") {{ nodes {{ id }} }} }} }}'},
                {"query": f"{{ {CANARY} }}"},
                {"query": f"{{ {CANARY}"},
                {"query": OWNER, "operationName": CANARY},
                {"documentId": CANARY},
                {"query": OWNER, "extensions": {"persistedQuery": {"version": 1, "sha256Hash": CANARY}}},
            ):
                await api.client.post("/graphql", json=content, headers=secret)
            await api.client.get(f"/graphql?{CANARY}={CANARY}", params={"query": by_email}, headers=secret)
            await api.client.post("/graphql", content=CANARY.encode(), headers=secret)
            await api.client.request(CANARY.upper(), "/graphql", headers=secret)
            metrics = (await api.client.get("/metrics")).text
    log = capsys.readouterr().err
    spans = [span.to_json() for span in exporter.get_finished_spans()]
    assert (log.count("INFO:     request "), len([span for span in spans if "SpanKind.SERVER" in span])) == (14, 14)
    for text in (metrics, log, *spans):
        assert CANARY not in text.lower()


async def test_spans_that_are_left_are_sent_when_the_server_ends(open_api: OpenApi) -> None:
    exporter = InMemorySpanExporter()
    async with open_api(tracing="otlp", span_exporter=exporter) as api:
        await api.send("{ __typename }")
    assert [span.name for span in exporter.get_finished_spans()] == ["query"]
