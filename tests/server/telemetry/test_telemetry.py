import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from server.settings import Settings
from server.telemetry.logs import configured_logging
from tests.api import CREATE_OWNER
from tests.conftest import OpenApi
from tests.over_http import post
from tests.wire import Wire

CANARY = "canary"
OWNER = '{ owner(ownerId: "ada") { name } }'


async def test_telemetry_adds_nothing_to_an_answer_or_an_explanation(open_api: OpenApi, wire: Wire) -> None:
    exporter = InMemorySpanExporter()
    async with open_api(metrics="on", tracing="otlp", span_exporter=exporter) as api:
        await api.owner("ada")
        wire.reset()
        assert await api.send(OWNER) == {"data": {"owner": {"name": "ada"}}}
        answer = (await post(api, OWNER, extensions={"explain": True, "cost": True})).json()
    (operation,) = answer["extensions"]["explain"]["operations"]
    assert (operation["readUnits"], operation["path"]) == (0.5, "owner")
    assert answer["extensions"]["cost"]["actual"]["readUnits"] == 0.5
    assert len(wire.calls) == 2


async def test_metrics_spans_and_log_have_no_values(open_api: OpenApi, capsys: pytest.CaptureFixture[str]) -> None:
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
