"""Fixtures of all tests: the real embedded store, a proxy that sees the wire, a table and an app for each test."""

import base64
import functools
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import aioboto3
import httpx
import pytest
import pytest_asyncio
from opentelemetry.sdk.trace.export import SpanExporter

from domain.times import Instant, shift
from loaders.backend import Backend
from loaders.following.registry import FollowingParts
from loaders.table.client import DynamoStore, StoreConnection, open_transport
from loaders.table.clock import StoreClock
from loaders.table.embedded import find_binary, run_embedded
from loaders.table.http_client import Timeouts
from loaders.table.transport import Transport
from resolvers.execution import Executor
from server.app import Parts, create_app
from server.auth.authenticator import Authenticator
from server.http.health import Readiness
from server.http.operations import RequestObserver
from server.new_ids import new_id
from server.settings import Settings, parse_ring
from tests.api import Api
from tests.e2e.reports import beyond_plans
from tests.places import prepare
from tests.planned import PriceCheck
from tests.principals import principal_of_header
from tests.tables import PlainClient
from tests.wire import Wire, open_wire

Prepared = Callable[..., Awaitable[Any]]
Dump = Callable[[], Coroutine[Any, Any, Any]]
OpenApi = Callable[..., AbstractAsyncContextManager[Api]]

CODE_KEYS = f"k1:{base64.b64encode(b'1' * 32).decode()}"
RING = parse_ring(CODE_KEYS)
NOW = Instant("2026-03-01T12:00:00.000Z")
STORE_CLIENT: Any = os.environ.get("SMARTLOCKER_STORE_CLIENT", "raw")
"""The whole suite can run on the SDK's client too."""
MEMORY = "/dev/shm"  # noqa: S108  # a directory of one's own is made there
PATIENT = Timeouts(connect=60, read=60)
"""A busy machine must not fail a test that is not about timeouts."""


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: Instant = NOW) -> None:
        self.now = now

    def __call__(self) -> Instant:
        return self.now

    def move(self, **duration: float) -> None:
        self.now = shift(self.now, timedelta(**duration))


_SESSIONS: dict[Any, Any] = {}


def _session(create: Callable[..., Any], **options: Any) -> Any:
    """The SDK's session: one for all tests with its options and variables saves a tenth of a second in each."""
    variables = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    known = *sorted(options.items()), *sorted(variables.items())
    if known not in _SESSIONS:
        _SESSIONS[known] = create(**options)
    return _SESSIONS[known]


@pytest.fixture(scope="session", autouse=True)
def _no_cloud() -> Iterator[None]:
    """Hides AWS, its credentials and the settings of the user who runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("SMARTLOCKER_", "AWS_"))]:
            patch.delenv(name)
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        patch.setattr(aioboto3, "Session", functools.partial(_session, aioboto3.Session))
        yield


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cases", type=int, help="run at most so many cases of each test, spread over all of them")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    most: int | None = config.getoption("--cases")
    if most is None:
        return
    cases: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        cases[item.nodeid.partition("[")[0]].append(item)
    chosen = {item for some in cases.values() for item in some[:: -(-len(some) // most)]}
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = [item for item in items if item in chosen]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def store_url() -> AsyncIterator[str]:
    """The embedded store, in memory where the system has a directory for that."""
    with TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as folder:
        async with run_embedded(find_binary(None), Path(folder)) as url:
            yield url


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_wire(store_url: str) -> AsyncIterator[Wire]:
    async with open_wire(store_url) as wire:
        yield wire


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def transport(shared_wire: Wire) -> AsyncIterator[Transport]:
    """The transport of all tests that need no app, through the proxy."""
    connection = StoreConnection(
        "none", "eu-central-1", shared_wire.url, local=True, client=STORE_CLIENT, timeouts=PATIENT
    )
    async with open_transport(connection) as opened:
        yield opened


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def plain_client(store_url: str) -> AsyncIterator[PlainClient]:
    """A client that the proxy does not see, for preparing and looking."""
    async with open_transport(
        StoreConnection("none", "eu-central-1", store_url, local=True, timeouts=PATIENT)
    ) as opened:
        yield PlainClient(opened)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest_asyncio.fixture
async def table(plain_client: PlainClient) -> str:
    return await plain_client.new_table()


@pytest.fixture(scope="session")
def _left_items() -> dict[Any, Any]:
    return {}


@pytest.fixture
def prepared(
    plain_client: PlainClient, table: str, clock: Clock, backend: Backend, dump: Dump, _left_items: dict[Any, Any]
) -> Prepared:
    """Prepares the test's empty table by calls; for further tests, with the items that the same calls have left.

    Calls are the same if they are made at the same time with the same arguments. The test's own fixtures are alike in
    all tests, and so are applications with the same settings, to the same caller.
    """
    alike = {id(one): name for name, one in (("client", plain_client), ("backend", backend), ("dump", dump))}

    def meant(argument: Any) -> Any:
        if isinstance(argument, Api):
            return argument.setup, *argument.headers.values()
        return "table" if argument == table else alike.get(id(argument), argument)

    async def prepare(calls: Callable[..., Awaitable[Any]], *arguments: Any) -> Any:
        known = calls, clock.now, *map(meant, arguments)
        if known in _left_items:
            result, clock.now, items = _left_items[known]
            await plain_client.fill(table, items)
        else:
            result = await calls(*arguments)
            _left_items[known] = result, clock.now, await plain_client.items(table)
        return result

    return prepare


@pytest.fixture
def wire(shared_wire: Wire, table: str) -> Iterator[Wire]:
    """Records the requests of the test to the store, from here on."""
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
    return Backend(
        DynamoStore(transport, table), clock, new_id, StoreClock().stamp, timedelta(days=30), code_ring=lambda: RING
    )


@pytest_asyncio.fixture
async def api(open_api: Callable[..., AbstractAsyncContextManager[Api]]) -> AsyncIterator[Api]:
    """The whole application on the test's table."""
    async with open_api() as opened:
        yield opened


@pytest_asyncio.fixture
async def one(api: Api, shared_wire: Wire) -> Api:
    await api.owner("ada")
    await api.locker("l1", "ada")
    shared_wire.reset()
    return api


@pytest_asyncio.fixture
async def two(one: Api, shared_wire: Wire) -> Api:
    await one.locker("l2", "ada")
    shared_wire.reset()
    return one


@pytest_asyncio.fixture
async def room(api: Api, shared_wire: Wire, prepared: Prepared) -> Api:
    """An owner ada, an admin root and a location."""
    await prepared(prepare, api)
    shared_wire.reset()
    return api


@pytest_asyncio.fixture
async def development_api(open_api: Callable[..., AbstractAsyncContextManager[Api]]) -> AsyncIterator[Api]:
    """The same with the authenticator of the development profile: for tests that send credentials."""
    async with open_api(authenticator=None) as opened:
        yield opened


def new_executor(settings: Settings) -> Executor:
    return Executor(settings.document_limits, hides_suggestions=settings.is_production)


@pytest.fixture(scope="session")
def usual_executor() -> Executor:
    """That of all applications with the usual settings, which parse and compile most documents of the suite again."""
    return new_executor(Settings())


@asynccontextmanager
async def open_app(
    settings: Settings, connection: StoreConnection, setup: tuple[Any, ...] = (), **parts: Any
) -> AsyncIterator[Api]:
    """The whole application, without a network."""
    app = create_app(settings, connection, Parts(**{"executor": new_executor(settings), **parts}))
    transport = httpx.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as client,
    ):
        yield Api(client, setup=setup)


@pytest.fixture
def open_api(
    request: pytest.FixtureRequest,
    store_url: str,
    table: str,
    clock: Clock,
    beyond_plan: list[str],
    usual_executor: Executor,
) -> Callable[..., AbstractAsyncContextManager[Api]]:
    """Opens the application with other settings, or a second time: a second server on the same table.

    Its callers are those of the header of tests; with `authenticator=None`, those of the credentials that they send.
    Its requests to the store pass the proxy only in tests that use `wire`.
    """
    check = PriceCheck(beyond_plan.extend)
    url = request.getfixturevalue("wire").url if "wire" in request.fixturenames else store_url

    @asynccontextmanager
    async def opened(
        authenticator: Authenticator | None = principal_of_header,
        observer: RequestObserver | None = check,
        span_exporter: SpanExporter | None = None,
        readiness: Readiness | None = None,
        server_clock: Callable[[], Instant] | None = clock,
        following: FollowingParts | None = None,
        timeouts: Timeouts = PATIENT,
        write_line: Callable[[str], None] | None = None,
        **settings: Any,
    ) -> AsyncIterator[Api]:
        # The deadline of requests is generous: a busy machine must not fail a test.
        own_settings = Settings(table_name=table, **{"request_seconds": 120, "code_keys": CODE_KEYS, **settings})
        connection = StoreConnection(table, "eu-central-1", url, local=True, client=STORE_CLIENT, timeouts=timeouts)
        executor = new_executor(own_settings) if settings else usual_executor
        parts: dict[str, Any] = {"clock": server_clock, "readiness": readiness or Readiness(), "executor": executor}
        parts |= {"authenticator": authenticator, "observer": observer, "span_exporter": span_exporter}
        parts |= {"write_line": write_line, "following": following}
        setup = authenticator, server_clock is clock or server_clock, repr(sorted(settings.items()))
        async with open_app(own_settings, connection, setup, **parts) as api:
            yield api

    return opened


@pytest.fixture
def dump(plain_client: PlainClient, table: str) -> Callable[[], Any]:
    """All items of the test's table by key, without its format version."""
    return functools.partial(plain_client.records, table)
