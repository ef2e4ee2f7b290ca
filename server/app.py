"""The composition root: everything is made here and passed down."""

from __future__ import annotations

from contextlib import asynccontextmanager
from datetime import UTC, datetime
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
from loaders.table.client import Connection, DynamoStore, open_store
from resolvers.context import Context
from resolvers.schema import build_schema
from server.documents import Documents, read_manifest
from server.gate import Gate
from server.graphiql import graphiql_asset
from server.headers import SafeHeaders
from server.health import Readiness, health_routes
from server.http import GraphQLEndpoint
from server.limits import RequestLimits
from server.rates import ProcessRates

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from starlette.requests import Request

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
) -> Starlette:
    """The application on a table that is there."""
    readiness = readiness or Readiness()
    stores: list[DynamoStore] = []
    backends: list[Backend] = []
    manifest = settings.trusted_documents_file
    documents = Documents(
        {} if manifest is None else read_manifest(manifest),
        only_trusted=settings.trusted_documents == "only",
        most_kept=settings.persisted_queries,
    )

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with open_store(connection) as store:
            stores.append(store)
            backends.append(Backend(store, clock, new_id, settings.longest_reservation))
            yield
            backends.clear()
            stores.clear()

    def new_context() -> Context:
        (backend,) = backends
        return Context(backend, open_loaders(backend), DEVELOPMENT_ADMIN, settings.page_size, settings.page_size_max)

    endpoint = GraphQLEndpoint(
        build_schema(settings.document_limits, is_guarded=settings.is_production),
        new_context,
        new_id,
        documents,
        Gate(settings.hosts, settings.cors_origins),
        RequestLimits(
            settings.request_seconds, settings.max_concurrent_requests, _rates(settings, lambda: stores[0], clock)
        ),
        shows_graphiql=settings.shows_graphiql,
    )
    pages = [Route("/graphql/assets/{name}", graphiql_asset)] if settings.shows_graphiql else []
    return Starlette(
        routes=[Route("/graphql", endpoint), *pages, *health_routes(readiness), Route("/", _home)],
        middleware=[Middleware(SafeHeaders, readiness), *_cors(settings)],
        lifespan=lifespan,
    )


def _rates(settings: Settings, store: Callable[[], DynamoStore], clock: Callable[[], Instant]) -> Rates | None:
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
