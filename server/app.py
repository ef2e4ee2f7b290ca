"""The composition root: everything is made here and passed down."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.routing import Route
from ulid import ULID

from domain.principal import DEVELOPMENT_ADMIN
from domain.times import Instant, instant_of
from loaders.backend import Backend
from loaders.batch import open_loaders
from loaders.table.client import Connection, DynamoStore, open_store
from loaders.table.recording import RecordedStore
from resolvers.context import Context
from resolvers.schema import build_schema
from server.documents import Documents, read_manifest
from server.graphiql import graphiql_asset
from server.http import GraphQLEndpoint
from server.telemetry import Telemetry

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from opentelemetry.sdk.trace.export import SpanExporter
    from starlette.requests import Request

    from loaders.trace import Trace
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
    span_exporter: SpanExporter | None = None,
) -> Starlette:
    """The application on a table that is there."""
    backends: list[tuple[DynamoStore, Backend]] = []
    manifest = settings.trusted_documents_file
    trusted = {} if manifest is None else read_manifest(manifest)
    telemetry = Telemetry(settings, trusted.values(), span_exporter)
    documents = Documents(
        trusted,
        only_trusted=settings.trusted_documents == "only",
        most_kept=settings.persisted_queries,
    )

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with telemetry.running(), open_store(connection) as store:
            backends.append((store, Backend(store, clock, new_id, settings.longest_reservation)))
            yield
            backends.clear()

    def new_context(trace: Trace | None) -> Context:
        ((store, backend),) = backends
        if trace is not None:
            backend = replace(backend, store=RecordedStore(store, trace))
        loaders = open_loaders(backend, trace)
        return Context(backend, loaders, DEVELOPMENT_ADMIN, settings.page_size, settings.page_size_max, trace)

    endpoint = GraphQLEndpoint(build_schema(), new_context, new_id, documents, settings.explain)
    return Starlette(
        routes=[
            Route("/graphql", telemetry.around(endpoint)),
            *telemetry.routes(),
            Route("/graphql/assets/{name}", graphiql_asset),
            Route("/health", _health),
            Route("/", _home),
        ],
        lifespan=lifespan,
    )


async def _health(_: Request) -> PlainTextResponse:
    """Alive: touches nothing."""
    return PlainTextResponse("ok")


async def _home(_: Request) -> RedirectResponse:
    return RedirectResponse("/graphql")
