"""The composition root: creates all parts of the application and connects them."""

from __future__ import annotations

from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import RedirectResponse
from starlette.routing import Route
from ulid import ULID

from domain.authorization import DEVELOPMENT_ADMIN
from domain.times import Instant, to_datetime, to_instant
from loaders.backend import Backend
from loaders.contracts.api_keys import API_KEY_BY_ID
from loaders.table.client import Connection, DynamoStore, open_store
from loaders.table.recording import RecordedStore
from loaders.table_budgets import TableRates
from resolvers.request import PageSizes, RequestState
from resolvers.schema import build_schema
from server.auth.api_keys import ApiKeyVerifier
from server.auth.authenticator import CredentialAuthenticator
from server.auth.development import demo_tokens, read_secret
from server.auth.jwks import key_source
from server.auth.tokens import Issuer, TokenVerifier
from server.http.endpoint import GraphQLEndpoint
from server.http.graphiql import graphiql_asset
from server.http.headers import SecurityHeaders
from server.http.health import Readiness, health_routes
from server.http.host_origin import HostOriginCheck
from server.http.persisted_documents import PersistedDocuments, read_manifest
from server.limits.caller_budgets import ProcessBudgets
from server.limits.request_limits import RequestLimits
from server.telemetry.telemetry import Telemetry

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from opentelemetry.sdk.trace.export import SpanExporter
    from starlette.requests import Request

    from domain.authorization import Principal
    from loaders.trace import Trace
    from server.auth.authenticator import Authenticator
    from server.http.observer import RequestObserver
    from server.limits.caller_budgets import CallerBudgets
    from server.settings import Settings

__all__ = ["create_app", "new_id", "utc_now"]


def utc_now() -> Instant:
    """The current time."""
    return to_instant(datetime.now(UTC))


def new_id() -> str:
    """A new ULID: unique, and sorted by its creation time."""
    return str(ULID())


def create_app(
    settings: Settings,
    connection: Connection,
    *,
    clock: Callable[[], Instant] = utc_now,
    readiness: Readiness | None = None,
    authenticator: Authenticator | None = None,
    observer: RequestObserver | None = None,
    span_exporter: SpanExporter | None = None,
) -> Starlette:
    """Creates the ASGI application on an existing table.

    Args:
        settings: the settings of the server.
        connection: the table to use; it must exist.
        clock: returns the current time.
        readiness: whether the server accepts new requests, as `/ready` reports it.
        authenticator: identifies the caller of a request. Default: bearer tokens and API keys, as the settings say.
        observer: is called at the start and at the end of every GraphQL request.
        span_exporter: where spans go if tracing is on. Default: OTLP.
    """
    readiness = readiness or Readiness()
    backends: list[tuple[DynamoStore, Backend]] = []
    manifest = settings.trusted_documents_file
    trusted = {} if manifest is None else read_manifest(manifest)
    telemetry = Telemetry(settings, trusted.values(), span_exporter)
    documents = PersistedDocuments(
        trusted,
        only_trusted=settings.trusted_documents == "only",
        cache_size=settings.persisted_queries,
    )

    def shared_store() -> DynamoStore | RecordedStore:
        return telemetry.measured(backends[0][0])

    issuer = _issuer(settings)
    authenticator = authenticator or CredentialAuthenticator(
        TokenVerifier(issuer, None if settings.is_production else partial(read_secret, settings.data_dir)),
        ApiKeyVerifier(lambda key_id: API_KEY_BY_ID.read(shared_store(), key_id, consistent=True), clock),
        None if settings.is_production else DEVELOPMENT_ADMIN,
    )

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        keys = nullcontext() if issuer is None else issuer.keys.refreshing()
        async with telemetry.running(), open_store(connection) as store, keys:
            backends.append((store, Backend(store, clock, new_id, settings.longest_reservation)))
            yield
            backends.clear()

    def new_state(principal: Principal, trace: Trace | None) -> RequestState:
        ((store, backend),) = backends

        def recorded(trace: Trace) -> Backend:
            return replace(backend, store=RecordedStore(store, trace))

        return RequestState(
            backend if trace is None else recorded(trace),
            principal,
            PageSizes(settings.page_size, settings.page_size_max),
            settings.limit,
            recorded,
            trace,
            measures_all=settings.budget is not None,
            note_introspection=telemetry.note_introspection,
        )

    endpoint = GraphQLEndpoint(
        build_schema(settings.document_limits, hides_suggestions=settings.is_production),
        authenticator,
        new_state,
        new_id,
        documents,
        settings.explainers,
        HostOriginCheck(settings.hosts, settings.cors_origins),
        RequestLimits(
            settings.request_seconds,
            settings.max_concurrent_requests,
            settings.limit,
            _budgets(settings, shared_store, clock),
        ),
        shows_graphiql=settings.shows_graphiql,
        observer=observer,
    )
    app = Starlette(
        routes=[
            Route("/graphql", telemetry.observe(endpoint)),
            *telemetry.routes(),
            *_pages(settings),
            *health_routes(readiness),
            Route("/", _home),
        ],
        middleware=[Middleware(SecurityHeaders, readiness), *_cors(settings)],
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # it would redirect to the host that the client sends
    return app


def _pages(settings: Settings) -> list[Route]:
    """The files of the GraphiQL page; in development, also the tokens of its demo callers."""
    if not settings.shows_graphiql:
        return []
    assets = Route("/graphql/assets/{name}", graphiql_asset)
    return [assets] if settings.is_production else [assets, Route("/graphql/tokens", demo_tokens(settings.data_dir))]


def _issuer(settings: Settings) -> Issuer | None:
    name, audience, location = settings.jwt_issuer, settings.jwt_audience, settings.jwks
    if name is None or audience is None or location is None:
        return None
    return Issuer(name, audience, key_source(location, settings.request_seconds), settings.jwt_claims)


def _budgets(
    settings: Settings, store: Callable[[], DynamoStore | RecordedStore], clock: Callable[[], Instant]
) -> CallerBudgets | None:
    def now() -> int:
        return round(to_datetime(clock()).timestamp() * 1_000_000)

    if settings.budget is None:
        return None
    if settings.rate_limit_store == "table":
        return TableRates(store, settings.budget, now)
    return ProcessBudgets(settings.budget, now)


def _cors(settings: Settings) -> list[Middleware]:
    """CORS without browser credentials: callers send a header, never a cookie."""
    if not settings.cors_origins:
        return []
    return [
        Middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST"],
            allow_headers=["*"],
            expose_headers=["Retry-After", "X-Request-Id"],
        )
    ]


async def _home(_: Request) -> RedirectResponse:
    return RedirectResponse("/graphql")
