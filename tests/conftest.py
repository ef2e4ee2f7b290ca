"""Fixtures of all tests: the real embedded store, a proxy that sees the wire, a table and an app for each test."""

from __future__ import annotations

import base64
import functools
import os
from contextlib import asynccontextmanager
from copy import copy
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import aioboto3
import httpx
import pytest
import pytest_asyncio
from graphql import validate

from domain.times import Instant, shift
from loaders.backend import Backend
from loaders.table.client import Connection, DynamoStore, open_store
from loaders.table.definition import definition
from loaders.table.embedded import find_binary, run_embedded
from loaders.table.http_client import Timeouts
from loaders.table.sdk import SdkTransport, open_client
from loaders.table.values import item_from_wire
from loaders.table_format import CURRENT_FORMAT, FIRST_FORMAT, saving
from resolvers.plan.introspection import IntrospectionAnswers
from resolvers.plan.schema import BoundSchema
from server.app import create_app, new_id
from server.settings import Settings, parse_ring
from tests.api import Api
from tests.e2e.reports import beyond_plans
from tests.planned import PriceCheck
from tests.principals import principal_of_header
from tests.wire import Wire, open_wire

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from contextlib import AbstractAsyncContextManager

    from opentelemetry.sdk.trace.export import SpanExporter

    from loaders.table.transport import Transport
    from server.auth.authenticator import Authenticator
    from server.http.health import Readiness
    from server.http.observer import RequestObserver

CODE_KEYS = f"k1:{base64.b64encode(b'1' * 32).decode()}"
RING = parse_ring(CODE_KEYS)
NOW = Instant("2026-03-01T12:00:00.000Z")
STORE_CLIENT: Any = os.environ.get("SMARTLOCKER_STORE_CLIENT", "raw")
"""The whole suite can run on the SDK's client too."""
PATIENT = Timeouts(connect=60, read=60)
"""A busy machine must not fail a test that is not about timeouts."""


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: Instant = NOW) -> None:
        self.now = now

    def __call__(self) -> Instant:
        return self.now

    def move(self, **duration: float) -> None:
        """Lets time pass."""
        self.now = shift(self.now, timedelta(**duration))


@pytest.fixture(scope="session", autouse=True)
def _no_cloud() -> Iterator[None]:
    """Hides AWS, its credentials and the settings of the user who runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("SMARTLOCKER_", "AWS_"))]:
            patch.delenv(name)
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        # A session reads the SDK's service descriptions from disk; one for all tests saves a tenth of a second in each.
        patch.setattr(aioboto3, "Session", functools.cache(aioboto3.Session))
        yield


@pytest.fixture(scope="session", autouse=True)
def _shared_work() -> Iterator[None]:
    """Every app has its own documents and answers, but binding fields and validating the same text again is shared."""
    bind = functools.cache(BoundSchema)
    validated: dict[Any, Any] = {}

    def bound(schema: Any) -> BoundSchema:
        own = copy(bind(schema))
        own.introspection_answers = IntrospectionAnswers()
        return own

    def validate_once(schema: Any, document: Any, rules: Any, **options: Any) -> Any:
        known = id(schema), document.loc.source.body, *options.values()
        if known not in validated:
            validated[known] = validate(schema, document, rules, **options)
        return validated[known]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("resolvers.schema.BoundSchema", bound)
        patch.setattr("resolvers.documents.cache.validate", validate_once)
        yield


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def store_url(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """The embedded store."""
    async with run_embedded(find_binary(None), tmp_path_factory.mktemp("store")) as url:
        yield url


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_wire(store_url: str) -> AsyncIterator[Wire]:
    async with open_wire(store_url) as wire:
        yield wire


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def store_client(shared_wire: Wire) -> AsyncIterator[Any]:
    """One low-level client for all tests that need no app, through the proxy."""
    async with open_client(Connection("none", "eu-central-1", shared_wire.url, local=True, timeouts=PATIENT)) as client:
        yield client


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def transport(shared_wire: Wire) -> AsyncIterator[Transport]:
    """The transport of all tests that need no app, through the proxy."""
    connection = Connection("none", "eu-central-1", shared_wire.url, local=True, client=STORE_CLIENT, timeouts=PATIENT)
    async with open_store(connection) as store:
        yield store.transport


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def plain_client(store_url: str) -> AsyncIterator[Any]:
    """A client that the proxy does not see, for preparing and looking."""
    async with open_client(Connection("none", "eu-central-1", store_url, local=True, timeouts=PATIENT)) as client:
        yield client


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest_asyncio.fixture
async def table(plain_client: Any) -> str:
    """A table of the test's own."""
    name = f"test-{uuid4()}"
    await plain_client.create_table(**definition(name))
    await DynamoStore(SdkTransport(plain_client), name).transact(saving(FIRST_FORMAT, CURRENT_FORMAT)[0])
    return name


@pytest.fixture
def wire(shared_wire: Wire, table: str) -> Iterator[Wire]:
    """What the test sends to the store, from here on."""
    assert table
    shared_wire.reset()
    yield shared_wire
    shared_wire.reset()


@pytest.fixture(autouse=True)
def beyond_plan() -> Iterator[list[str]]:
    """Every request to an application of ours is held against its plan; what was wrong fails the test."""
    wrong: list[str] = []
    yield wrong
    wrong += beyond_plans()
    assert not wrong, "\n".join(wrong)


@pytest.fixture
def backend(transport: Transport, table: str, clock: Clock) -> Backend:
    """The data layer on the test's table, through the proxy."""
    return Backend(DynamoStore(transport, table), clock, new_id, timedelta(days=30), code_ring=lambda: RING)


@pytest_asyncio.fixture
async def api(open_api: Callable[..., AbstractAsyncContextManager[Api]]) -> AsyncIterator[Api]:
    """The whole application on the test's table, through the proxy."""
    async with open_api() as opened:
        yield opened


@pytest_asyncio.fixture
async def development_api(open_api: Callable[..., AbstractAsyncContextManager[Api]]) -> AsyncIterator[Api]:
    """The same with the authenticator of the development profile: for tests that send credentials."""
    async with open_api(authenticator=None) as opened:
        yield opened


@pytest.fixture
def open_api(
    wire: Wire, table: str, clock: Clock, beyond_plan: list[str]
) -> Callable[..., AbstractAsyncContextManager[Api]]:
    """Opens the application with other settings, or a second time: a second server on the same table.

    Its callers are those of the header of tests; with `authenticator=None`, those of the credentials that they send.
    """
    check = PriceCheck(beyond_plan.extend)

    @asynccontextmanager
    async def opened(
        authenticator: Authenticator | None = principal_of_header,
        observer: RequestObserver | None = check,
        span_exporter: SpanExporter | None = None,
        readiness: Readiness | None = None,
        server_clock: Callable[[], Instant] = clock,
        timeouts: Timeouts = PATIENT,
        **settings: Any,
    ) -> AsyncIterator[Api]:
        app = create_app(
            # The deadline of requests is generous: a busy machine must not fail a test.
            Settings(table_name=table, **{"request_seconds": 120, "code_keys": CODE_KEYS, **settings}),
            Connection(table, "eu-central-1", wire.url, local=True, client=STORE_CLIENT, timeouts=timeouts),
            clock=server_clock,
            readiness=readiness,
            authenticator=authenticator,
            observer=observer,
            span_exporter=span_exporter,
        )
        transport = httpx.ASGITransport(app=app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as client,
        ):
            yield Api(client)

    return opened


@pytest_asyncio.fixture
async def dump(plain_client: Any, table: str) -> Callable[[], Any]:
    """All items of the test's table by key, without its format version."""

    async def items() -> dict[tuple[str, str], dict[str, Any]]:
        found: dict[tuple[str, str], dict[str, Any]] = {}
        start: dict[str, Any] = {}
        while True:
            page = await plain_client.scan(TableName=table, **start)
            for item in map(item_from_wire, page["Items"]):
                found[str(item["PK"]), str(item["SK"])] = item
            if "LastEvaluatedKey" not in page:
                found.pop(("TABLE", "FORMAT"), None)
                return found
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    return items
