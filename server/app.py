"""The composition root: creates all parts of the application and connects them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache, partial, reduce
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from domain.api_keys import ApiKey, ApiKeyId
from domain.authorization import DEVELOPMENT_ADMIN
from domain.times import Instant, to_datetime
from domain.webhooks import Answer
from loaders.contracts.api_keys import API_KEY_BY_ID
from loaders.following.loop import Following
from loaders.following.registry import FollowingParts
from loaders.reads.caller_budgets import KnownBudgets
from loaders.table.client import StoreConnection
from loaders.table.clock import StoreClock
from loaders.writes.budgets import TableBudgets
from resolvers.execution import Executor
from server.auth.api_keys import ApiKeyVerifier
from server.auth.authenticator import Authenticator, CredentialAuthenticator
from server.auth.development import demo_tokens, read_secret
from server.auth.key_uses import KeyUses
from server.http.built_pages import BuiltPage
from server.http.endpoint import GraphQLEndpoint
from server.http.headers import SecurityHeaders
from server.http.health import Readiness, health_routes
from server.http.host_origin import Cors, HostOriginCheck, RefusedOrigins
from server.http.movable_clock import MovableClock
from server.http.operations import Operations, RequestObserver
from server.http.persisted_documents import PersistedDocuments, read_manifest
from server.http.request_states import RequestStates
from server.limits.caller_budgets import CallerBudgets, ProcessBudgets
from server.limits.request_limits import RequestLimits
from server.limits.shared_budgets import SharedBudgets
from server.live.queries import LiveQueries, SubscriptionLimits
from server.live.stream import EventStream
from server.live.websocket import WebSocketEndpoint
from server.new_ids import new_id
from server.settings import Settings
from server.telemetry.telemetry import Telemetry

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

    from server.auth.tokens import Issuer, TokenVerifier
    from server.telemetry.shared_metrics import SharedMetrics
    from server.webhooks.sender import WebhookSender


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Parts of an application that a caller may replace."""

    clock: Callable[[], Instant] | None = None
    """Returns the current time. Default: the store's, as far as it is watched."""
    readiness: Readiness = field(default_factory=Readiness)
    """Whether the server accepts new requests, as `/ready` reports it. If it has a store, that is watched."""
    authenticator: Authenticator | None = None
    """Identifies the caller of a request. Default: bearer tokens and API keys, as the settings say."""
    observer: RequestObserver | None = None
    """Is called at the start and at the end of every GraphQL request."""
    executor: Executor | None = None
    """Executes documents. Default: one with the limits that the settings say."""
    span_exporter: SpanExporter | None = None
    """Where spans go if tracing is on. Default: OTLP."""
    shared_budgets: int | None = None
    """Descriptor of the memory with the budgets of all workers, if the server has several."""
    following: FollowingParts | None = None
    """Who follows the log in this process, if anyone does."""
    shared_metrics: SharedMetrics | None = None
    """Where this worker counts, if the server has several."""
    write_line: Callable[[str], None] | None = None
    """Writes a line to a log in JSON. Default: lines go through `logging`."""


def create_app(settings: Settings, connection: StoreConnection, parts: Parts | None = None) -> Starlette:
    """Creates the ASGI application on an existing table."""
    parts = parts or Parts()
    readiness = parts.readiness
    store_clock = StoreClock() if readiness.store is None else readiness.store.clock
    clock = parts.clock or _clock(settings, store_clock)
    trusted = {} if settings.trusted_documents_file is None else read_manifest(settings.trusted_documents_file)
    is_read_only = partial(_is_read_only, settings, readiness)
    telemetry = Telemetry(
        settings,
        trusted.values(),
        parts.span_exporter,
        readiness.store,
        is_read_only,
        parts.shared_metrics,
        parts.write_line,
    )
    states = RequestStates(settings, connection, clock, new_id, store_clock.stamp, telemetry)
    issuer = _issuer(settings)
    budgets = None if settings.budget is None else KnownBudgets()
    refused_origins = RefusedOrigins()
    limits = RequestLimits(
        settings.request_seconds,
        settings.max_concurrent_requests,
        settings.concurrent_per_caller,
        settings.limit,
        _budgets(settings, states, clock, parts.shared_budgets, budgets),
    )
    operations = Operations(
        parts.executor or Executor(settings.document_limits, hides_suggestions=settings.is_production),
        states.new,
        PersistedDocuments(
            trusted, only_trusted=settings.trusted_documents == "only", cache_size=settings.persisted_queries
        ),
        settings.explainers,
        limits,
        is_read_only,
        parts.observer,
    )
    most = SubscriptionLimits(settings.max_subscriptions_per_caller, settings.max_subscriptions)
    read_key = partial(_read_key, states)
    live = LiveQueries(lambda: states.backend, states.new_live, limits, most, new_id, read_key, telemetry.meter)
    states.listener = live.log
    graphiql = BuiltPage("graphiql") if settings.shows_graphiql else None
    check = HostOriginCheck(settings.hosts, settings.cors_origins, refused_origins)
    uses = KeyUses(lambda: states.store, clock, lambda: readiness.is_usable and not is_read_only())
    authenticate = parts.authenticator or _authenticator(settings, issuer, read_key, clock, uses.note)
    endpoint = GraphQLEndpoint(
        operations,
        authenticate,
        new_id,
        check,
        limits,
        require_usable_table=readiness.require_usable_table,
        graphiql_page=None if graphiql is None else graphiql.page,
        new_stream=partial(EventStream, live),
    )
    sockets = WebSocketEndpoint(
        operations,
        authenticate,
        new_id,
        check,
        limits,
        live,
        readiness.require_usable_table,
        settings.max_subscriptions_per_connection,
        telemetry.observing,
    )
    observed = telemetry.observe(endpoint)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        keys = nullcontext() if issuer is None else issuer.keys.refreshing()
        following = _following(states, telemetry, parts)
        async with telemetry.running(), states.open(readiness, budgets), keys, uses.running(), following:
            try:
                yield
            finally:
                await live.log.close()

    application = _Application(
        observed,
        sockets,
        routes=[
            *telemetry.routes(),
            *_pages(settings, graphiql),
            *health_routes(readiness),
            *(clock.routes() if isinstance(clock, MovableClock) else ()),
            Route("/", _home),
        ],
        middleware=[
            Middleware(SecurityHeaders, readiness),
            *([Middleware(Cors, settings.cors_origins, refused_origins)] if settings.cors_origins else []),
        ],
        lifespan=lifespan,
    )
    application.state.end_streams = live.stop
    return application


def create_follower(settings: Settings, connection: StoreConnection, parts: Parts) -> Starlette:
    """Creates an application that only follows the log, and tells how it is."""
    assert parts.readiness.store is not None  # noqa: S101  # the order of the log depends on its time
    telemetry = Telemetry(settings, (), None, parts.readiness.store, partial(_is_read_only, settings, parts.readiness))
    clock = parts.readiness.store.clock
    states = RequestStates(settings, connection, _clock(settings, clock), new_id, clock.stamp, telemetry)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with telemetry.running(), states.open(parts.readiness), _following(states, telemetry, parts):
            yield

    return Starlette(routes=[*telemetry.routes(), *health_routes(parts.readiness)], lifespan=lifespan)


def _clock(settings: Settings, store_clock: StoreClock) -> Callable[[], Instant]:
    return MovableClock(store_clock, settings.data_dir) if settings.has_test_clock else store_clock


def _is_read_only(settings: Settings, readiness: Readiness) -> bool:
    return settings.is_read_only or readiness.is_read_only


class _LazySender:
    """Opens the client of webhooks when the first one is sent: aiohttp takes long to load."""

    def __init__(self, stack: AsyncExitStack, allows_local: bool) -> None:  # noqa: FBT001  # a value of the settings
        self._stack = stack
        self._allows_local = allows_local
        self._sender: WebhookSender | None = None

    async def send(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        if self._sender is None:
            from server.webhooks.sender import WebhookSender  # noqa: PLC0415  # see above

            self._sender = await self._stack.enter_async_context(WebhookSender(allows_local=self._allows_local))
        return await self._sender.send(url, headers, body)


@asynccontextmanager
async def _following(states: RequestStates, telemetry: Telemetry, parts: Parts) -> AsyncIterator[None]:
    if parts.following is None:
        yield
        return
    backend, (followers, sweepers, times, horizon, webhooks) = states.backend, parts.following
    async with AsyncExitStack() as stack:
        senders = []
        if webhooks is not None:
            sender = _LazySender(stack, backend.allows_local_webhooks)
            senders.append(webhooks(backend, sender, telemetry.deliveries, horizon))
        following = Following(
            backend,
            [*followers(backend), *senders],
            sweepers(backend),
            telemetry.progress,
            lambda: parts.readiness.is_usable and not parts.readiness.is_read_only,
            times,
            horizon,
            senders,
        )
        async with following.running():
            yield


class _Application(Starlette):
    """An application with a short way to the GraphQL endpoint: routing takes a tenth of a small query's time."""

    def __init__(
        self,
        endpoint: ASGIApp,
        sockets: ASGIApp,
        *,
        routes: list[Route],
        middleware: list[Middleware],
        lifespan: Any,
    ) -> None:
        paths = [
            route
            for path in ("/graphql", "/graphql/")
            for route in (Route(path, endpoint), WebSocketRoute(path, sockets))
        ]
        super().__init__(
            routes=[*paths, *routes],
            middleware=middleware,
            exception_handlers={HTTPStatus.NOT_FOUND: _no_such_path},
            lifespan=lifespan,
        )
        self.router.redirect_slashes = False  # it would redirect to the host that the client sends
        self._endpoint = reduce(
            lambda inner, outer: outer.cls(inner, *outer.args, **outer.kwargs), reversed(middleware), endpoint
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == "/graphql":
            await self._endpoint(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


def _pages(settings: Settings, graphiql: BuiltPage | None) -> list[Route]:
    """The files of the pages; in development, also the tokens of their demo callers."""
    pages = [] if graphiql is None else [Route("/graphql/assets/{name}", graphiql.asset)]
    if settings.shows_dashboard:
        dashboard = BuiltPage("dashboard")

        async def page(_: Request) -> Response:
            return dashboard.page()

        pages += [Route("/dashboard", page), Route("/dashboard/", page)]
        pages.append(Route("/dashboard/assets/{name}", dashboard.asset))
    if pages and not settings.is_production:
        tokens = demo_tokens(settings.data_dir)
        # The page asks for them below its own address, which may be /graphql/.
        pages += [Route("/graphql/tokens", tokens), Route("/graphql//tokens", tokens)]
    return pages


def _issuer(settings: Settings) -> Issuer | None:
    name, audience, location = settings.jwt_issuer, settings.jwt_audience, settings.jwks
    if name is None or audience is None or location is None:
        return None
    from server.auth.jwks import key_source  # noqa: PLC0415  # loaded only if it is used, as it takes long
    from server.auth.tokens import Issuer  # noqa: PLC0415  # as above

    return Issuer(name, audience, key_source(location, settings.request_seconds), settings.jwt_claims)


def _token_verifier(settings: Settings, issuer: Issuer | None) -> TokenVerifier:
    from server.auth.tokens import TokenVerifier  # noqa: PLC0415  # as above

    return TokenVerifier(issuer, None if settings.is_production else partial(read_secret, settings.data_dir))


async def _read_key(states: RequestStates, key_id: ApiKeyId) -> ApiKey | None:
    return await API_KEY_BY_ID.read(states.store, key_id, consistent=True)


def _authenticator(
    settings: Settings,
    issuer: Issuer | None,
    read_key: Callable[[ApiKeyId], Awaitable[ApiKey | None]],
    clock: Callable[[], Instant],
    used: Callable[[ApiKey], None],
) -> Authenticator:
    return CredentialAuthenticator(
        cache(partial(_token_verifier, settings, issuer)),
        ApiKeyVerifier(read_key, clock, used=used),
        None if settings.is_production else DEVELOPMENT_ADMIN,
    )


def _budgets(
    settings: Settings,
    states: RequestStates,
    clock: Callable[[], Instant],
    shared: int | None,
    known: KnownBudgets | None,
) -> CallerBudgets | None:
    def now() -> int:
        if isinstance(clock, StoreClock):
            return clock.microseconds()
        return round(to_datetime(clock()).timestamp() * 1_000_000)

    if settings.budget is None or known is None:
        return None
    others = known.by_caller
    if settings.rate_limit_store == "table":
        return TableBudgets(lambda: states.store, settings.budget, now, others)
    if shared is not None:
        return SharedBudgets(shared, settings.budget, now, others)
    return ProcessBudgets(settings.budget, now, others)


async def _no_such_path(*_: Any) -> PlainTextResponse:
    return PlainTextResponse(
        "There is nothing at this path. GraphQL is at /graphql, health checks at /health and /ready.", 404
    )


async def _home(_: Request) -> RedirectResponse:
    return RedirectResponse("/graphql")
