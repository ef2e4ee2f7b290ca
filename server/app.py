"""The composition root: creates all parts of the application and connects them."""

from __future__ import annotations

import os
import time
from contextlib import asynccontextmanager, nullcontext
from functools import cache, partial, reduce
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import RedirectResponse
from starlette.routing import Route

from domain.authorization import DEVELOPMENT_ADMIN
from domain.times import Instant, to_datetime
from loaders.backend import Backend
from loaders.contracts.api_keys import API_KEY_BY_ID
from loaders.reads.watching import watching
from loaders.table.client import DynamoStore, StoreConnection, open_store
from loaders.table.health import WatchedTransport
from loaders.table.recording import RecordedStore
from loaders.writes.budgets import TableRates
from resolvers.request_state import PageSizes, RequestState, Turn
from resolvers.schema import build_schema
from server.auth.api_keys import ApiKeyVerifier
from server.auth.authenticator import CredentialAuthenticator
from server.auth.code_keys import read_ring
from server.auth.development import demo_tokens, read_secret
from server.clock import ServerClock
from server.http.endpoint import GraphQLEndpoint
from server.http.graphiql import graphiql_asset
from server.http.headers import SecurityHeaders
from server.http.health import Readiness, health_routes
from server.http.host_origin import Cors, HostOriginCheck, RefusedOrigins
from server.http.persisted_documents import PersistedDocuments, read_manifest
from server.limits.caller_budgets import ProcessBudgets
from server.limits.request_limits import RequestLimits
from server.limits.shared_budgets import SharedBudgets
from server.telemetry.telemetry import Telemetry

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from opentelemetry.sdk.trace.export import SpanExporter
    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

    from domain.authorization import Principal
    from loaders.trace import Trace
    from server.auth.authenticator import Authenticator
    from server.auth.tokens import Issuer, TokenVerifier
    from server.http.observer import RequestObserver
    from server.limits.caller_budgets import CallerBudgets
    from server.settings import Settings
    from server.telemetry.shared_metrics import SharedMetrics

_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_DIGIT_PAIRS = [first + second for first in _DIGITS for second in _DIGITS]
"""Of a ULID, for ten bits each."""


def new_id() -> str:
    """A new ULID: unique, and sorted by its creation time."""
    value = time.time_ns() // 1_000_000 << 80 | int.from_bytes(os.urandom(10))
    return "".join([_DIGIT_PAIRS[value >> shift & 1023] for shift in range(120, -1, -10)])


def create_app(
    settings: Settings,
    connection: StoreConnection,
    *,
    clock: Callable[[], Instant] | None = None,
    readiness: Readiness | None = None,
    authenticator: Authenticator | None = None,
    observer: RequestObserver | None = None,
    span_exporter: SpanExporter | None = None,
    shared_budgets: int | None = None,
    shared_metrics: SharedMetrics | None = None,
) -> Starlette:
    """Creates the ASGI application on an existing table.

    Args:
        settings: the settings of the server.
        connection: the table to use; it must exist.
        clock: returns the current time. Default: the machine's, which never goes back.
        readiness: whether the server accepts new requests, as `/ready` reports it. If it has a store, that is watched.
        authenticator: identifies the caller of a request. Default: bearer tokens and API keys, as the settings say.
        observer: is called at the start and at the end of every GraphQL request.
        span_exporter: where spans go if tracing is on. Default: OTLP.
        shared_budgets: descriptor of the memory with the budgets of all workers, if the server has several.
        shared_metrics: where this worker counts, if the server has several.
    """
    clock = clock or ServerClock()
    readiness = readiness or Readiness()
    turn = Turn()
    backends: list[tuple[DynamoStore, Backend]] = []
    manifest = settings.trusted_documents_file
    trusted = {} if manifest is None else read_manifest(manifest)
    telemetry = Telemetry(settings, trusted.values(), span_exporter, readiness.store, shared_metrics)
    documents = PersistedDocuments(
        trusted,
        only_trusted=settings.trusted_documents == "only",
        cache_size=settings.persisted_queries,
    )

    def shared_store() -> DynamoStore | RecordedStore:
        return telemetry.measured(backends[0][0])

    issuer = _issuer(settings)
    authenticator = authenticator or CredentialAuthenticator(
        cache(partial(_token_verifier, settings, issuer)),
        ApiKeyVerifier(lambda key_id: API_KEY_BY_ID.read(shared_store(), key_id, consistent=True), clock),
        None if settings.is_production else DEVELOPMENT_ADMIN,
    )

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        keys = nullcontext() if issuer is None else issuer.keys.refreshing()
        async with telemetry.running(), _opened(connection, readiness, clock) as store, keys:
            backend = Backend(
                store,
                clock,
                new_id,
                settings.longest_reservation,
                settings.max_pending_bookings,
                settings.max_live_reservations,
                settings.live_reservations,
                code_ring=cache(partial(read_ring, settings)),
            )
            backends.append((store, backend))
            yield
            backends.clear()

    page_sizes, limit = PageSizes(settings.page_size, settings.page_size_max), settings.limit
    has_budgets = settings.budget is not None

    def new_state(principal: Principal, trace: Trace | None) -> RequestState:
        ((store, backend),) = backends

        def recorded(trace: Trace) -> Backend:
            return backend.with_store(RecordedStore(store, trace))

        return RequestState(
            backend if trace is None else recorded(trace),
            principal,
            page_sizes,
            limit,
            recorded,
            trace,
            measures_all=has_budgets,
            turn=turn,
            note_introspection=telemetry.note_introspection,
        )

    refused_origins = RefusedOrigins()
    endpoint = GraphQLEndpoint(
        build_schema(settings.document_limits, hides_suggestions=settings.is_production),
        authenticator,
        new_state,
        new_id,
        documents,
        settings.explainers,
        HostOriginCheck(settings.hosts, settings.cors_origins, refused_origins),
        RequestLimits(
            settings.request_seconds,
            settings.max_concurrent_requests,
            settings.concurrent_per_caller,
            limit,
            _budgets(settings, shared_store, clock, shared_budgets),
        ),
        require_usable_table=readiness.require_usable_table,
        shows_graphiql=settings.shows_graphiql,
        observer=observer,
    )
    middleware = [
        Middleware(SecurityHeaders, readiness),
        *([Middleware(Cors, settings.cors_origins, refused_origins)] if settings.cors_origins else []),
    ]
    observed = telemetry.observe(endpoint)
    app = _Application(
        reduce(lambda inner, outer: outer.cls(inner, *outer.args, **outer.kwargs), reversed(middleware), observed),
        routes=[
            Route("/graphql", observed),
            Route("/graphql/", observed),
            *telemetry.routes(),
            *_pages(settings),
            *health_routes(readiness),
            Route("/", _home),
        ],
        middleware=middleware,
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # it would redirect to the host that the client sends
    return app


@asynccontextmanager
async def _opened(
    connection: StoreConnection, readiness: Readiness, clock: Callable[[], Instant]
) -> AsyncIterator[DynamoStore]:
    async with open_store(connection) as store:
        if readiness.store is None or readiness.table is None:
            yield store
            return
        watched = DynamoStore(WatchedTransport(store.transport, readiness.store, clock), store.table)
        async with watching(watched, readiness.store, readiness.table):
            yield watched


class _Application(Starlette):
    """An application with a short way to the GraphQL endpoint: routing takes a tenth of a small query's time."""

    def __init__(self, graphql: ASGIApp, **parts: Any) -> None:
        super().__init__(**parts)
        self._graphql = graphql

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == "/graphql":
            await self._graphql(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


def _pages(settings: Settings) -> list[Route]:
    """The files of the GraphiQL page; in development, also the tokens of its demo callers."""
    if not settings.shows_graphiql:
        return []
    pages = [Route("/graphql/assets/{name}", graphiql_asset)]
    if not settings.is_production:
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


def _budgets(
    settings: Settings,
    store: Callable[[], DynamoStore | RecordedStore],
    clock: Callable[[], Instant],
    shared: int | None,
) -> CallerBudgets | None:
    def now() -> int:
        if isinstance(clock, ServerClock):
            return clock.microseconds()
        return round(to_datetime(clock()).timestamp() * 1_000_000)

    if settings.budget is None:
        return None
    if settings.rate_limit_store == "table":
        return TableRates(store, settings.budget, now)
    if shared is not None:
        return SharedBudgets(shared, settings.budget, now)
    return ProcessBudgets(settings.budget, now)


async def _home(_: Request) -> RedirectResponse:
    return RedirectResponse("/graphql")
