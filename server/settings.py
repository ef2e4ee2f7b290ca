"""Settings from the environment, each as `SMARTLOCKER_…`."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, FilePath, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from domain.rates import Budget
from loaders.contract import MOST_ITEMS
from resolvers.limits import DocumentLimits
from resolvers.plan import Maximum
from server.claims import ClaimName  # noqa: TC001  # pydantic reads annotations at run time
from server.development import is_loopback

__all__ = ["Settings"]

# What the SDK takes as a host: it would refuse any other with a traceback.
_HOST = re.compile(r"[A-Za-z0-9.-]+|[0-9A-Fa-f:.]+")

_ORIGIN = re.compile(r"https?://([a-z0-9.-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")
_PRODUCTION_UNITS = 60_000


def _check_endpoint(value: str) -> str:
    try:
        parts = urlsplit(value)
        usable = parts.scheme in {"http", "https"} and parts.port != 0 and _HOST.fullmatch(parts.hostname or "")
    except ValueError:
        usable = False
    if value != "aws" and not usable:
        raise ValueError("must be aws or a URL such as http://127.0.0.1:8001")
    return value


def _check_jwks(value: str) -> str:
    if "://" not in value:
        if not Path(value).is_file():
            raise ValueError("must be a URL or the path of a file that is there")
        return value
    try:
        parts = urlsplit(value)
        is_plain = parts.scheme == "http" and is_loopback(parts.hostname or "")
        usable = (
            (parts.scheme == "https" or is_plain) and parts.hostname and parts.port != 0 and "@" not in parts.netloc
        )
    except ValueError:
        usable = False
    if not usable:
        raise ValueError("must be an https URL, without a name and password")
    return value


def _split(value: object) -> object:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _check_origin(value: str) -> str:
    """In small letters, as browsers send it."""
    if not _ORIGIN.fullmatch(value.lower()):
        raise ValueError("must be origins such as https://app.example.com, without a path or a slash at the end")
    return value.lower()


_Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]
_Origins = Annotated[tuple[Annotated[str, AfterValidator(_check_origin)], ...], NoDecode, BeforeValidator(_split)]
_Count = Annotated[int, Field(ge=1)]


class Settings(BaseSettings):
    """Everything that can be set; each has a default that suits a first try."""

    model_config = SettingsConfigDict(env_prefix="SMARTLOCKER_", env_ignore_empty=True, frozen=True)

    endpoint_url: Annotated[str, AfterValidator(_check_endpoint)] | None = Field(
        default=None,
        description="Where the store is: the URL of anything that speaks DynamoDB's protocol, or `aws` for AWS's own "
        "endpoint and credential chain. Unset: the embedded store.",
    )
    region: str = Field(default="eu-central-1", description="The AWS region.")
    table_name: str = Field(default="SmartLocker", pattern=r"^[A-Za-z0-9_.-]{3,255}$", description="The table's name.")
    data_dir: Path = Field(
        default=Path(".smartlocker"),
        description="Where the embedded store keeps its data, and the development profile its secret.",
    )
    store_binary: Path | None = Field(
        default=None, description="A dynoxide binary for the embedded store. Unset: fetched once through npm."
    )
    host: str = Field(default="127.0.0.1", description="The address to listen on.")
    port: Annotated[int, Field(ge=0, le=65535)] = Field(default=8000, description="The port to listen on; 0 picks one.")
    profile: Literal["development", "production"] = Field(
        default="development",
        description="`development`: whoever comes without credentials is an admin, on loopback alone. `production`: "
        "everybody needs credentials.",
    )
    jwt_issuer: str | None = Field(default=None, description="The issuer of tokens, as their claim `iss` has it.")
    jwt_audience: str | None = Field(default=None, description="This service, as the tokens' claim `aud` has it.")
    jwks: Annotated[str, AfterValidator(_check_jwks)] | None = Field(
        default=None, description="The issuer's public keys: the URL of a JWKS, or a file."
    )
    jwt_claims: dict[ClaimName, str] = Field(
        default={}, description="How the issuer calls the claims that it does not call as SmartLocker does, as JSON."
    )
    longest_reservation_days: Annotated[int, Field(ge=1, le=3650)] = Field(
        default=30,
        description="The longest reservation, in days. Raise it at will; lower it only when no longer reservation is "
        "live, since the look-back for overlaps reaches just this far.",
    )
    page_size: Annotated[int, Field(ge=1)] = Field(
        default=25, description="The items of a page when none is asked for."
    )
    page_size_max: Annotated[int, Field(ge=1, le=MOST_ITEMS)] = Field(
        default=MOST_ITEMS, description="The most items that a page may hold."
    )
    max_read_units: Annotated[int, Field(ge=1)] = Field(
        default=25_000, description="The most read units that one request may take in the worst case."
    )
    max_operations: Annotated[int, Field(ge=1)] = Field(
        default=1500, description="The most operations of the store that one request may take in the worst case."
    )
    max_items: Annotated[int, Field(ge=1)] = Field(
        default=20_000, description="The most items that one request may ask for, its pages counted as full."
    )
    trusted_documents_file: FilePath | None = Field(
        default=None,
        description="A manifest of trusted documents as relay-compiler and graphql-codegen write it, read once.",
    )
    trusted_documents: Literal["also", "only"] = Field(
        default="also", description="Whether trusted documents are run beside all others, or nothing else is."
    )
    persisted_queries: Annotated[int, Field(ge=0, le=100_000)] = Field(
        default=1000,
        description="How many documents are kept for automatic persisted queries, 8 MB at most; 0 turns these off.",
    )
    explain: Literal["everyone", "admins", "nobody"] | None = Field(
        default=None,
        description="Who may ask how a request was answered. Unset: everyone in development, admins in production.",
    )
    graphiql: Literal["on", "off"] | None = Field(
        default=None, description="Whether browsers get GraphiQL. Unset: in development only."
    )
    allowed_hosts: _Names = Field(
        default=("localhost", "127.0.0.1", "[::1]"),
        description="The names of this server, beside the address that it listens on; `*` is any name.",
    )
    cors_origins: _Origins = Field(
        default=(), description="The other origins whose pages may ask, such as https://app.example.com."
    )
    max_tokens: _Count = Field(default=1000, description="The most tokens of a document, and the most comments.")
    max_aliases: Annotated[int, Field(ge=0)] = Field(default=15, description="The most aliases of a document.")
    max_depth: _Count = Field(default=10, description="The most levels of fields in a document.")
    max_directives: Annotated[int, Field(ge=0)] = Field(default=50, description="The most directives of a document.")
    max_root_fields: _Count = Field(default=10, description="The most fields of an operation itself.")
    request_seconds: Annotated[float, Field(gt=0, le=300)] = Field(
        default=10, description="How long a request may take."
    )
    max_concurrent_requests: _Count = Field(
        default=256, description="How many GraphQL requests run at the same time; more are refused at once."
    )
    rate_limit_units: Annotated[int, Field(ge=0)] | None = Field(
        default=None,
        description="The units that each caller may spend in a minute; 0 sets no limit. Unset: none in development, "
        "60,000 in production.",
    )
    rate_limit_burst: _Count | None = Field(
        default=None, description="The most units that a caller can save up. Unset: those of a minute."
    )
    rate_limit_store: Literal["process", "table"] = Field(
        default="process",
        description="Where budgets are kept: by each process for itself, or in the table for all servers together.",
    )
    drain_seconds: Annotated[float, Field(ge=0, le=300)] = Field(
        default=5, description="How long, after SIGTERM, requests are still taken while /ready says no."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="What is logged.")
    log_format: Literal["auto", "readable", "json"] = Field(
        default="auto", description="How lines of the log are written. `auto`: as JSON in production, else readable."
    )
    request_log: Literal["on", "off"] | None = Field(
        default=None,
        description="Whether the log has a line for every request, at the level info. Unset: in production only.",
    )
    metrics: Literal["off", "on"] = Field(default="off", description="Whether /metrics has metrics for Prometheus.")
    tracing: Literal["off", "otlp"] = Field(
        default="off", description="Whether spans are sent by OTLP, to where the standard OTEL_ variables say."
    )

    @model_validator(mode="after")
    def _check_page_sizes(self) -> Settings:
        if self.page_size > self.page_size_max:
            raise ValueError("SMARTLOCKER_PAGE_SIZE must not exceed SMARTLOCKER_PAGE_SIZE_MAX")
        return self

    @model_validator(mode="after")
    def _check_trusted_documents(self) -> Settings:
        if self.trusted_documents == "only" and self.trusted_documents_file is None:
            raise ValueError("SMARTLOCKER_TRUSTED_DOCUMENTS=only needs SMARTLOCKER_TRUSTED_DOCUMENTS_FILE")
        return self

    @model_validator(mode="after")
    def _check_issuer(self) -> Settings:
        if len({value is None for value in (self.jwt_issuer, self.jwt_audience, self.jwks)}) > 1:
            raise ValueError("SMARTLOCKER_JWT_ISSUER, SMARTLOCKER_JWT_AUDIENCE and SMARTLOCKER_JWKS go together")
        return self

    @property
    def is_embedded(self) -> bool:
        """Whether the store runs as part of this process."""
        return self.endpoint_url is None

    @property
    def maximum(self) -> Maximum:
        """The most that one request may take of the store."""
        return Maximum(self.max_read_units, self.max_operations, self.max_items)

    @property
    def explainers(self) -> Literal["everyone", "admins", "nobody"]:
        """Who may ask how a request was answered."""
        return self.explain or ("admins" if self.is_production else "everyone")

    @property
    def is_production(self) -> bool:
        """Whether nobody is served without credentials."""
        return self.profile == "production"

    @property
    def shows_graphiql(self) -> bool:
        """Whether browsers get GraphiQL."""
        return not self.is_production if self.graphiql is None else self.graphiql == "on"

    @property
    def logs_requests(self) -> bool:
        """Whether the log has a line for every request, at a level that is logged."""
        is_on = self.is_production if self.request_log is None else self.request_log == "on"
        return is_on and self.log_level in {"debug", "info"}

    @property
    def hosts(self) -> tuple[str, ...]:
        """Every name of this server."""
        return (*self.allowed_hosts, f"[{self.host}]" if ":" in self.host else self.host)

    @property
    def document_limits(self) -> DocumentLimits:
        """What a document may have."""
        return DocumentLimits(
            self.max_tokens, self.max_aliases, self.max_depth, self.max_directives, self.max_root_fields
        )

    @property
    def budget(self) -> Budget | None:
        """What each caller may spend, if that is limited."""
        units = self.rate_limit_units
        if units is None and self.is_production:
            units = _PRODUCTION_UNITS
        return Budget(units, self.rate_limit_burst or units) if units else None

    @property
    def longest_reservation(self) -> timedelta:
        """The longest reservation as a duration."""
        return timedelta(days=self.longest_reservation_days)
