"""The composition root: everything is made here and passed down."""

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

from domain.principal import DEVELOPMENT_ADMIN
from domain.times import Instant, as_datetime, instant_of
from loaders.backend import Backend
from loaders.batch import open_loaders
from loaders.rates import TableRates
from loaders.reads import api_key
from loaders.table.client import Connection, DynamoStore, open_store
from loaders.table.recording import RecordedStore
from resolvers.admission import Admission
from resolvers.context import Context
from resolvers.schema import build_schema
from server.auth import Authenticator, KeyRing
from server.development import demo_tokens, read_secret
from server.documents import Documents, read_manifest
from server.gate import Gate
from server.graphiql import graphiql_asset
from server.headers import SafeHeaders
from server.health import Readiness, health_routes
from server.http import GraphQLEndpoint
from server.jwks import source_of
from server.limits import RequestLimits
from server.rates import ProcessRates
from server.telemetry import Telemetry
from server.tokens import Issuer, Tokens

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from opentelemetry.sdk.trace.export import SpanExporter
    from starlette.requests import Request

    from domain.principal import Principal
    from loaders.trace import Trace
    from server.rates import Rates
    from server.settings import Settings

__all__ = ["create_app", "new_id", "utc_now"]


def utc_now() -> Instant:
    """The server's clock."""
    return instant_of(datetime.now(UTC))


def new_id() -> str:
    """A ULID: unique, and sorted by when it was made."""
    return str(ULID())


def create_app(
    settings: Settings,
    connection: Connection,
    clock: Callable[[], Instant] = utc_now,
    readiness: Readiness | None = None,
    span_exporter: SpanExporter | None = None,
) -> Starlette:
    """The application on a table that is there."""
    readiness = readiness or Readiness()
    backends: list[tuple[DynamoStore, Backend]] = []
    manifest = settings.trusted_documents_file
    trusted = {} if manifest is None else read_manifest(manifest)
    telemetry = Telemetry(settings, trusted.values(), span_exporter)
    documents = Documents(
        trusted,
        only_trusted=settings.trusted_documents == "only",
        most_kept=settings.persisted_queries,
    )

    def the_store() -> DynamoStore | RecordedStore:
        return telemetry.counted(backends[0][0])

    issuer = _issuer(settings)
    authenticate = Authenticator(
        Tokens(issuer, None if settings.is_production else partial(read_secret, settings.data_dir)),
        KeyRing(lambda key_id: api_key(the_store(), key_id, consistent=True), clock),
        None if settings.is_production else DEVELOPMENT_ADMIN,
    )

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        keys = nullcontext() if issuer is None else issuer.keys.kept_fresh()
        async with telemetry.running(), open_store(connection) as store, keys:
            backends.append((store, Backend(store, clock, new_id, settings.longest_reservation)))
            yield
            backends.clear()

    def new_context(principal: Principal, trace: Trace | None) -> Context:
        ((store, backend),) = backends
        if trace is not None:
            backend = replace(backend, store=RecordedStore(store, trace))
        return Context(
            backend,
            open_loaders(backend, trace),
            principal,
            settings.page_size,
            settings.page_size_max,
            Admission(settings.maximum),
            trace=trace,
        )

    endpoint = GraphQLEndpoint(
        build_schema(settings.document_limits, is_guarded=settings.is_production),
        authenticate,
        new_context,
        new_id,
        documents,
        settings.explainers,
        Gate(settings.hosts, settings.cors_origins),
        RequestLimits(
            settings.request_seconds,
            settings.max_concurrent_requests,
            settings.maximum,
            _rates(settings, the_store, clock),
        ),
        shows_graphiql=settings.shows_graphiql,
    )
    app = Starlette(
        routes=[
            Route("/graphql", telemetry.around(endpoint)),
            *telemetry.routes(),
            *_pages(settings),
            *health_routes(readiness),
            Route("/", _home),
        ],
        middleware=[Middleware(SafeHeaders, readiness), *_cors(settings)],
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # it would redirect to whatever host the client names
    return app


def _pages(settings: Settings) -> list[Route]:
    """What GraphiQL's page asks for; in development, also tokens of those whom it can play."""
    if not settings.shows_graphiql:
        return []
    assets = Route("/graphql/assets/{name}", graphiql_asset)
    return [assets] if settings.is_production else [assets, Route("/graphql/tokens", demo_tokens(settings.data_dir))]


def _issuer(settings: Settings) -> Issuer | None:
    name, audience, place = settings.jwt_issuer, settings.jwt_audience, settings.jwks
    if name is None or audience is None or place is None:
        return None
    return Issuer(name, audience, source_of(place, settings.request_seconds), settings.jwt_claims)


def _rates(
    settings: Settings, store: Callable[[], DynamoStore | RecordedStore], clock: Callable[[], Instant]
) -> Rates | None:
    def now() -> int:
        return round(as_datetime(clock()).timestamp() * 1_000_000)

    if settings.budget is None:
        return None
    if settings.rate_limit_store == "table":
        return TableRates(store, settings.budget, now)
    return ProcessRates(settings.budget, now)


def _cors(settings: Settings) -> list[Middleware]:
    """Callers show who they are by a header, never by a cookie, so no credentials of the browser's are allowed."""
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
