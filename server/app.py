"""The composition root: everything is made here and passed down."""

from __future__ import annotations

from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.routing import Route
from ulid import ULID

from domain.principal import DEVELOPMENT_ADMIN
from domain.times import Instant, instant_of
from loaders.backend import Backend
from loaders.batch import open_loaders
from loaders.reads import api_key
from loaders.table.client import Connection, DynamoStore, open_store
from loaders.table.recording import RecordedStore
from resolvers.admission import Admission
from resolvers.context import Context
from resolvers.schema import build_schema
from server.auth import Authenticator, KeyRing
from server.development import demo_tokens, read_secret
from server.documents import Documents, read_manifest
from server.graphiql import graphiql_asset
from server.http import GraphQLEndpoint
from server.jwks import source_of
from server.tokens import Issuer, Tokens

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from starlette.requests import Request

    from domain.principal import Principal
    from loaders.trace import Trace
    from server.settings import Settings

__all__ = ["create_app", "new_id", "utc_now"]


def utc_now() -> Instant:
    """The server's clock."""
    return instant_of(datetime.now(UTC))


def new_id() -> str:
    """A ULID: unique, and sorted by when it was made."""
    return str(ULID())


def create_app(settings: Settings, connection: Connection, clock: Callable[[], Instant] = utc_now) -> Starlette:
    """The application on a table that is there."""
    backends: list[tuple[DynamoStore, Backend]] = []
    manifest = settings.trusted_documents_file
    documents = Documents(
        {} if manifest is None else read_manifest(manifest),
        only_trusted=settings.trusted_documents == "only",
        most_kept=settings.persisted_queries,
    )

    issuer = _issuer(settings)
    is_development = settings.profile == "development"
    authenticate = Authenticator(
        Tokens(issuer, partial(read_secret, settings.data_dir) if is_development else None),
        KeyRing(lambda key_id: api_key(backends[0][0], key_id, consistent=True), clock),
        DEVELOPMENT_ADMIN if is_development else None,
    )

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with open_store(connection) as store, nullcontext() if issuer is None else issuer.keys.kept_fresh():
            backends.append((store, Backend(store, clock, new_id, settings.longest_reservation)))
            yield
            backends.clear()

    def new_context(principal: Principal, trace: Trace | None) -> Context:
        ((store, backend),) = backends
        if trace is not None:
            backend = replace(backend, store=RecordedStore(store, trace))
        return Context(
            backend,
            open_loaders(backend, traced=trace is not None),
            principal,
            settings.page_size,
            settings.page_size_max,
            Admission(settings.maximum),
            trace=trace,
        )

    return Starlette(
        routes=[
            Route(
                "/graphql",
                GraphQLEndpoint(build_schema(), authenticate, new_context, new_id, documents, settings.explain),
            ),
            Route("/graphql/assets/{name}", graphiql_asset),
            *([Route("/graphql/tokens", demo_tokens(settings.data_dir))] if is_development else []),
            Route("/health", _health),
            Route("/", _home),
        ],
        lifespan=lifespan,
    )


def _issuer(settings: Settings) -> Issuer | None:
    name, audience, place = settings.jwt_issuer, settings.jwt_audience, settings.jwks
    if name is None or audience is None or place is None:
        return None
    return Issuer(name, audience, source_of(place), settings.jwt_claims)


async def _health(_: Request) -> PlainTextResponse:
    """Alive: touches nothing."""
    return PlainTextResponse("ok")


async def _home(_: Request) -> RedirectResponse:
    return RedirectResponse("/graphql")
