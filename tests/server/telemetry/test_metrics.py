import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest_asyncio
from prometheus_client.parser import text_string_to_metric_families

from domain.api_keys import ApiKeyRole
from domain.authorization import DEVELOPMENT_ADMIN
from domain.commands.api_keys import CreateApiKey
from domain.models import LockerId
from loaders.backend import Backend
from loaders.following.leases import LeaseTimes
from loaders.following.registry import FollowingParts
from loaders.following.webhooks import Pace, Webhooks
from loaders.keys import log_shard
from loaders.table.clock import utc_now
from loaders.table.health import StoreHealth
from loaders.writes.api_keys import create_api_key
from server.http.health import Readiness
from server.telemetry.metrics import MAX_NAMES
from tests import webhooks
from tests.api import UPDATE_STATUS, Api
from tests.conftest import OpenApi
from tests.following import Told
from tests.issuer import bearer
from tests.over_http import post
from tests.wire import Answer, Hold, Wire

DOCS = Path(__file__).parents[3] / "docs"
NAMED = 'query Name { owner(ownerId: "ada") { name } }'
CHANGE = {"lockerId": "l1", "newStatus": "OCCUPIED", "expectedVersion": 1}


@pytest_asyncio.fixture
async def counted(open_api: OpenApi, two: Api) -> AsyncIterator[Api]:
    """An owner with two lockers, on a server that has metrics."""
    assert two
    async with open_api(metrics="on") as api:
        yield api


async def samples(api: Api) -> dict[tuple[str, ...], float]:
    """Every sample by its name and its labels' values in the order of their names; no buckets, no times of creation."""
    page = await api.client.get("/metrics")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/plain; version=1.0.0")
    return {
        (sample.name.removeprefix("smartlocker_"), *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(page.text)
        for sample in family.samples
        if not sample.name.endswith(("_bucket", "_created"))
    }


async def test_a_request_is_counted_with_what_it_asked_of_the_store(counted: Api, wire: Wire) -> None:
    await counted.run(NAMED)
    found = await samples(counted)
    assert {call.request["ReturnConsumedCapacity"] for call in wire.calls} == {"TOTAL"}
    assert {key: value for key, value in found.items() if not key[0].endswith("_sum")} == {
        ("build_info", version("smartlocker")): 1,
        ("requests_in_flight",): 0,
        ("requests_total", "OK", "Name"): 1,
        ("request_seconds_count", "Name"): 1,
        ("store_operations_total", "QC-20", "GetItem", "ok"): 1,
        ("store_units_total", "QC-20", "read"): sum(call.units for call in wire.calls),
        ("store_seconds_count", "QC-20"): 1,
        ("retries_total", "QC-20"): 0,
        ("introspections_total",): 0,
        ("log_lines_dropped_total",): 0,
        ("read_only",): 0,
        ("subscriptions",): 0,
        ("subscription_events_total",): 0,
    }
    assert 0 < found["store_seconds_sum", "QC-20"] < found["request_seconds_sum", "Name"] < 60


async def test_a_mutation_counts_its_write_units_and_the_code_of_its_user_error(counted: Api, wire: Wire) -> None:
    await counted.mutate(UPDATE_STATUS, **CHANGE)
    written = sum(call.units for call in wire.of("TransactWriteItems"))
    await counted.mutate(UPDATE_STATUS, **CHANGE)
    found = await samples(counted)
    assert found["store_units_total", "QC-03", "write"] == written == 10
    assert found["requests_total", "OK", "anonymous"] == 1
    assert found["requests_total", "VERSION_CONFLICT", "anonymous"] == 1


async def test_operations_of_keys_and_budgets_are_only_counted(open_api: OpenApi, backend: Backend, wire: Wire) -> None:
    command = CreateApiKey(name="Door", role=ApiKeyRole.DEVICE, locker_id=LockerId("l1"))
    key = await create_api_key(backend, command, DEVELOPMENT_ADMIN)
    wire.reset()
    async with open_api(authenticator=None, metrics="on", rate_limit_units=60, rate_limit_store="table") as api:
        asked = {"explain": True, "cost": True}
        response = await post(api, "{ __typename }", headers=bearer(str(key.secret)), extensions=asked)
        reported = response.json()["extensions"]
        found, calls = await samples(api), [*wire.calls]
    assert (reported["explain"]["operations"], reported["cost"]["actual"]["operations"]) == ([], 0)
    for contract, operation, kind in (("QC-60", "GetItem", "read"), ("QC-50", "UpdateItem", "write")):
        sent = [call for call in calls if call.operation == operation]
        counted = sum(n for key, n in found.items() if key[:3] == ("store_operations_total", contract, operation))
        assert counted == len(sent) > 0
        assert found["store_units_total", contract, kind] == sum(call.units for call in sent) > 0


async def test_a_batch_counts_by_its_size(counted: Api) -> None:
    await counted.run('{ a: locker(lockerId: "l1") { alias } b: locker(lockerId: "l2") { alias } }')
    found = await samples(counted)
    assert (found["batch_size_count", "QC-01"], found["batch_size_sum", "QC-01"]) == (1, 2)


async def test_introspection_which_graphql_core_executes_is_counted(counted: Api) -> None:
    await counted.run("{ __typename }")
    assert (await samples(counted))["introspections_total",] == 0
    await counted.run('{ __schema { description } __type(name: "Owner") { name } }')
    assert (await samples(counted))["introspections_total",] == 2


async def test_conflicts_and_retries_are_counted_by_contract(counted: Api, wire: Wire) -> None:
    faults = iter([Answer.canceled("TransactionConflict", "None")] * 2)
    wire.fault = lambda call: next(faults, None) if call.operation == "TransactWriteItems" else None
    await counted.mutate(UPDATE_STATUS, **CHANGE)
    document = 'mutation { createOwner(input: {ownerId: "ada", kind: USER, name: "B"}) { userErrors { code } } }'
    await counted.run(document)
    found = await samples(counted)
    assert found["retries_total", "QC-03"] == 2
    assert found["conflicts_total", "QC-22"] == 1
    assert found["store_operations_total", "QC-22", "TransactWriteItems", "CONFLICT"] == 1
    assert ("conflicts_total", "QC-03") not in found


async def test_a_store_that_is_down_shows_in_codes_and_outcomes(counted: Api, wire: Wire) -> None:
    wire.fault = lambda _: Answer.error("ThrottlingException")
    await counted.send(NAMED)
    found = await samples(counted)
    assert found["requests_total", "UNAVAILABLE", "Name"] == 1
    assert found["store_operations_total", "QC-20", "GetItem", "UNAVAILABLE"] == 1
    assert found["retries_total", "QC-20"] == 2


async def test_refusals_count_by_their_code_and_pages_do_not(counted: Api) -> None:
    await counted.client.get("/graphql", headers={"Accept": "text/html"})
    await counted.client.put("/graphql")
    await counted.client.post("/graphql", content=b"{", headers={"Content-Type": "application/json"})
    await counted.send("query Broken {")
    await counted.send("query Wrong { nothing }")
    await post(counted, NAMED, operationName="secret@example.com")
    counts = {key[1:]: value for key, value in (await samples(counted)).items() if key[0] == "requests_total"}
    assert counts == {
        ("BAD_USER_INPUT", "none"): 3,
        ("GRAPHQL_PARSE_FAILED", "none"): 1,
        ("GRAPHQL_VALIDATION_FAILED", "Wrong"): 1,
    }


async def test_running_requests_are_counted_as_in_flight(counted: Api, wire: Wire) -> None:
    wire.fault = hold = Hold()
    request = asyncio.create_task(counted.run(NAMED))
    await hold.arrivals()
    assert (await samples(counted))["requests_in_flight",] == 1
    hold.release()
    await request
    assert (await samples(counted))["requests_in_flight",] == 0


async def test_clients_cannot_make_more_series_than_there_are_places(open_api: OpenApi, tmp_path: Path) -> None:
    manifest = tmp_path / "documents.json"
    manifest.write_text(json.dumps({"1": "query Trusted { __typename }", "2": "no document"}))
    async with open_api(metrics="on", trusted_documents_file=manifest) as api:
        for number in range(MAX_NAMES + 5):
            await api.run(f"query Q{number} {{ __typename }}")
        await api.run("query Trusted { __typename }")
        await api.run(f"query Q0{'x' * 500} {{ __typename }}")
        counts = {key[2]: value for key, value in (await samples(api)).items() if key[0] == "requests_total"}
    assert len(counts) == MAX_NAMES + 2
    assert (counts["Q0"], counts[f"Q{MAX_NAMES - 1}"], counts["Trusted"], counts["other"]) == (1, 1, 1, 6)


async def test_every_server_counts_for_itself_if_metrics_are_on(two: Api, counted: Api, open_api: OpenApi) -> None:
    assert (await two.client.get("/metrics")).status_code == 404
    async with open_api(metrics="on") as other:
        await other.run(NAMED)
        assert (await samples(other))["requests_total", "OK", "Name"] == 1
        assert ("requests_total", "OK", "Name") not in await samples(counted)


async def test_every_metric_and_its_labels_are_documented(open_api: OpenApi) -> None:
    async with open_api(metrics="on", readiness=Readiness(StoreHealth()), server_clock=utc_now) as api:
        await api.send('{ a: locker(lockerId: "l1") { alias } b: locker(lockerId: "l2") { alias } }')
        text = (await api.client.get("/metrics")).text
    rows = [row for row in (DOCS / "operations.md").read_text().splitlines() if row.startswith("| `smartlocker_")]
    documented = {row.split("`")[1]: set(row.split("|")[2].replace("`", "").replace(",", " ").split()) for row in rows}
    families = list(text_string_to_metric_families(text))
    names = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE") and "_created" not in line}
    assert set(documented) == names | {"smartlocker_store_up"}  # which only a process that watches its store has
    for family in families:
        for sample in family.samples:
            name = next((name for name in names if sample.name.startswith(name)), None)
            assert name is None or set(sample.labels) - {"le"} == documented[name], sample


def lags_of(found: dict[tuple[str, ...], float]) -> dict[tuple[str, ...], float]:
    return {key: value for key, value in found.items() if key[0] == "follower_lag_seconds"}


def counted_for(found: dict[tuple[str, ...], float]) -> dict[str, float]:
    """How many activities the follower was told, by part."""
    return {key[2]: value for key, value in found.items() if key[0] == "followed_activities_total" and value}


async def test_followers_are_counted_with_how_far_behind_they_are(open_api: OpenApi) -> None:
    told = Told()
    following = FollowingParts(lambda _: [told], lambda _: [], LeaseTimes(0.2, 5, 6), timedelta(0))
    async with open_api(metrics="on", following=following) as api:
        await api.owner("ada")
        shard = str(log_shard("ada"))
        async with asyncio.timeout(60):
            # every part is followed, and one of them had something to tell
            while len(lags_of(found := await samples(api))) < 4 or counted_for(found) != {shard: 1}:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert all(0 <= value < 60 for value in lags_of(found).values())
        assert [found["followed_shards", str(number)] for number in range(4)] == [1, 1, 1, 1]
        assert (await api.client.get("/ready")).text == "ready"


async def test_attempts_of_webhooks_are_counted_and_what_waits_has_an_age(open_api: OpenApi) -> None:
    pace = partial(Webhooks, pace=Pace(0.05, 0.2))
    following = FollowingParts(lambda _: [], lambda _: [], LeaseTimes(0.2, 5, 6), timedelta(0), pace)
    async with open_api(metrics="on", following=following) as api:
        await api.owner("ada")
        await webhooks.create(api, url="http://127.0.0.1:1/", kinds=["LOCKER_REGISTERED"])
        await api.locker("l1", "ada")
        shard = str(log_shard("ada"))

        async def waits() -> dict[tuple[str, ...], float] | None:
            found = await samples(api)
            return found if found.get(("webhook_deliveries_waiting", shard)) else None

        async def attempted() -> dict[str, Any] | None:
            return next((one for one in await webhooks.deliveries(api) if one["attempts"]), None)

        delivery = await webhooks.until(attempted)
        found = await webhooks.until(waits)
        assert found["webhook_attempts_total", "failure"] >= 1
        assert 0 <= found["webhook_oldest_seconds", shard] < 60
        assert (delivery["status"], delivery["statusCode"], delivery["error"]) == ("WAITING", None, "connection")
        await api.done(webhooks.DISABLE, webhookId="w1", expectedVersion=1)

        async def waits_no_more() -> bool:
            found = await samples(api)
            return found["webhook_deliveries_waiting", shard] == found["webhook_oldest_seconds", shard] == 0

        await webhooks.until(waits_no_more)
