"""The settings, from environment variables `SMARTLOCKER_…`."""

from __future__ import annotations

import base64
import binascii
import json
import re
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, FilePath, SecretStr, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from domain.access_codes import CodeRing
from domain.budgets import Budget
from domain.retention import Retention
from loaders.contracts.base import MAX_ITEMS
from resolvers.limits import DocumentLimits, Limit

PREFIX = "SMARTLOCKER_"

ClaimName: TypeAlias = Literal["role", "ownerId", "organizations", "partnerOf", "lockerId", "locationId", "scope"]

# The hosts that the SDK accepts; it would fail with a traceback for any other.
_HOST = re.compile(r"[A-Za-z0-9.-]+|[0-9A-Fa-f:.]+")

_ORIGIN = re.compile(r"https?://([a-z0-9.-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")
_PRODUCTION_UNITS = 60_000


def variable_of(name: str) -> str:
    return PREFIX + name.upper()


def is_loopback(host: str) -> bool:
    """Whether a host is reachable from this machine only."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


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
            raise ValueError("must be a URL or the path of an existing file")
        return value
    try:
        parts = urlsplit(value)
        is_local_http = parts.scheme == "http" and is_loopback(parts.hostname or "")
        has_scheme = parts.scheme == "https" or is_local_http
        usable = has_scheme and parts.hostname and parts.port != 0 and "@" not in parts.netloc
    except ValueError:
        usable = False
    if not usable:
        raise ValueError("must be an https URL without user name and password")
    return value


def _split(value: object) -> object:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def is_origin(value: str) -> bool:
    """Whether a text, in lower case, is an origin that can be allowed."""
    return _ORIGIN.fullmatch(value) is not None


def _check_origin(value: str) -> str:
    """In lower case, as browsers send it."""
    if not is_origin(value.lower()):
        raise ValueError("must be origins such as https://app.example.com, without a path or trailing slash")
    return value.lower()


def parse_ring(text: str) -> CodeRing:
    """The ring that a setting names, as `<id>:<base64>` for each key, or a ValueError that contains no secret."""
    pairs = [part.strip().partition(":") for part in text.split(",") if part.strip()]
    try:
        if all(colon for _, colon, _ in pairs):
            return CodeRing.of([(key_id, base64.b64decode(secret, validate=True)) for key_id, _, secret in pairs])
    except binascii.Error:
        pass
    raise ValueError("must be keys <id>:<base64>, such as k1:$(openssl rand -base64 32), separated by commas")


def _check_ring(value: SecretStr) -> SecretStr:
    parse_ring(value.get_secret_value())
    return value


class ContradictionError(ValueError):
    """Settings that are valid by themselves, but not together."""

    def __init__(self, settings: Settings, texts: list[str]) -> None:
        super().__init__("; and ".join(texts))
        self.settings = settings
        self.texts = texts


def _json(value: object) -> object:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        raise ValueError("must be valid JSON") from None


_Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]
_Origins = Annotated[tuple[Annotated[str, AfterValidator(_check_origin)], ...], NoDecode, BeforeValidator(_split)]
_Count = Annotated[int, Field(ge=1)]


class Settings(BaseSettings):
    """The settings, each with its description; every one has a default that works for a first try."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, frozen=True)

    endpoint_url: Annotated[str, AfterValidator(_check_endpoint)] | None = None
    """Where the table is: `aws` for AWS's endpoint and credential chain, or the URL of any service that speaks
    DynamoDB's protocol. Unset: the embedded store."""
    region: str = "eu-central-1"
    """AWS region."""
    table_name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{3,255}$")] = "SmartLocker"
    """Name of the table."""
    data_dir: Path = Path(".smartlocker")
    """Directory of the embedded store's data and of the secrets of development: tokens, access codes."""
    store_binary: Path | None = None
    """Path of a dynoxide binary for the embedded store. Unset: downloaded once through npm."""
    store_client: Literal["raw", "sdk"] = "raw"
    """The client for data operations: `raw` is SmartLocker's own, `sdk` the AWS SDK's. Endpoints and credentials of
    AWS come from the SDK in both cases."""
    allow_embedded_store: bool = False
    """Whether the production profile may use the embedded store, which checks no credentials."""
    host: str = "127.0.0.1"
    """Address to listen on."""
    port: Annotated[int, Field(ge=0, le=65535)] = 8000
    """Port to listen on; 0 picks a free port."""
    workers: Annotated[int, Field(ge=1, le=64)] = 1
    """Number of server processes (workers) that share the port; about one per core."""
    profile: Literal["development", "production"] = "development"
    """`development`: requests without credentials act as an admin, and the server listens on loopback only.
    `production`: every request needs credentials."""
    jwt_issuer: str | None = None
    """Required value of the tokens' `iss` claim."""
    jwt_audience: str | None = None
    """Required value of the tokens' `aud` claim."""
    jwks: Annotated[str, AfterValidator(_check_jwks)] | None = None
    """The issuer's public keys: the `https` URL of a JWKS, or a file."""
    jwt_claims: Annotated[dict[ClaimName, str], NoDecode, BeforeValidator(_json)] = {}
    """Object from SmartLocker's claim names to the issuer's names."""
    longest_reservation_days: Annotated[int, Field(ge=1, le=3650)] = 30
    """Longest allowed reservation, in days. Raise it at any time; lower it only when no live reservation is longer."""
    log_days: Annotated[int, Field(ge=2, le=3650)] = 30
    """For how many days the log of all changes is kept. What nobody has followed for as long is in no history."""
    history_days: Annotated[int, Field(ge=1, le=3650)] = 400
    """For how many days the history of lockers, locations and owners is kept."""
    event_days: Annotated[int, Field(ge=7, le=3650)] | None = None
    """For how many days access events are kept, from the time at which they happened. Unset: permanently."""
    details_days: Annotated[int, Field(ge=1, le=3650)] | None = None
    """For how many days the details of a reservation, its recipient and metadata, are kept, from its start. Not
    shorter than the longest reservation. Unset: permanently."""
    webhook_secret_hours: Annotated[int, Field(ge=0, le=720)] = 24
    """For how many hours the secret of a webhook stays valid after it was replaced."""
    code_keys: Annotated[SecretStr, AfterValidator(_check_ring)] | None = None
    """Secrets from which the digits of access codes and the secrets of webhooks are derived: 1 to 3 keys
    `<id>:<base64>` of 32 bytes or more, separated by commas, the current first. Required in production. Unset:
    development creates a file in the data directory."""
    max_pending_bookings: _Count = 20
    """Bookings of one owner that may wait for a decision at the same time."""
    max_live_reservations: Annotated[int, Field(ge=1, le=1000)] = 20
    """Reservations of one owner that have not ended, at the same time."""
    live_reservations: Annotated[dict[str, Annotated[int, Field(ge=0, le=1000)]], NoDecode, BeforeValidator(_json)] = {}
    """Object from owner ids to other limits, for example for the organization of a partner."""
    page_size: _Count = 25
    """Page size when a request names none."""
    page_size_max: Annotated[int, Field(ge=1, le=MAX_ITEMS)] = MAX_ITEMS
    """Largest page size that a request may name."""
    max_read_units: _Count = 25_000
    """Maximum read capacity units of one request."""
    max_operations: _Count = 1500
    """Maximum store operations of one request."""
    max_items: _Count = 20_000
    """Maximum items that one request may ask for, with full pages."""
    trusted_documents_file: FilePath | None = None
    """Manifest of trusted documents as relay-compiler and graphql-codegen write it; read at startup."""
    trusted_documents: Literal["also", "only"] = "also"
    """`also`: all documents are accepted. `only`: only trusted documents are."""
    persisted_queries: Annotated[int, Field(ge=0, le=100_000)] = 1000
    """Number of documents kept for automatic persisted queries, 8 MB at most; 0 turns them off."""
    explain: Literal["everyone", "admins", "nobody"] | None = None
    """Who may ask for explanations. Unset: everyone in development, admins in production."""
    graphiql: Literal["on", "off"] | None = None
    """Whether browsers get GraphiQL. Unset: in development only."""
    dashboard: Literal["on", "off"] | None = None
    """Whether the dashboard is at /dashboard. Unset: in development only."""
    test_clock: Literal["on", "off"] = "off"
    """`on`: tests can set the time at /development/clock. In development only, with a local store and one worker."""
    allowed_hosts: _Names = ("localhost", "127.0.0.1", "[::1]")
    """Host names that requests may use, in addition to the address listened on; `*` allows any name."""
    cors_origins: _Origins = ()
    """Other origins whose pages may send requests, such as https://app.example.com."""
    max_tokens: _Count = 1000
    """Maximum tokens of a document, and maximum comments."""
    max_aliases: Annotated[int, Field(ge=0)] = 15
    """Maximum aliases of a document."""
    max_depth: _Count = 10
    """Maximum depth of a document."""
    max_directives: Annotated[int, Field(ge=0)] = 50
    """Maximum directives of a document."""
    max_root_fields: _Count = 10
    """Maximum root fields of an operation."""
    request_seconds: Annotated[float, Field(gt=0, le=300)] = 10
    """Deadline of a request, in seconds."""
    max_concurrent_requests: _Count = 256
    """GraphQL requests that run at the same time; further ones are rejected immediately."""
    max_concurrent_per_caller: _Count | None = None
    """How many of them may be of one caller; a further one is rejected with 429. Unset: no limit in development, a
    quarter of all in production."""
    max_subscriptions: _Count = 10_000
    """Subscriptions of each server process at the same time."""
    max_subscriptions_per_caller: _Count = 200
    """How many of them may be of one caller."""
    max_subscriptions_per_connection: _Count = 20
    """Operations that run at the same time on one WebSocket."""
    rate_limit_units: Annotated[int, Field(ge=0)] | None = None
    """Capacity units that each caller may spend per minute; 0 turns the limit off. Unset: no limit in development,
    60,000 in production."""
    rate_limit_burst: _Count | None = None
    """Capacity units that a caller can save up. Unset: the units of one minute."""
    rate_limit_store: Literal["process", "table"] = "process"
    """Where budgets are kept: `process`, in the memory of each server, shared by its workers; `table`, shared by
    all servers."""
    idle_seconds: Annotated[int, Field(ge=1, le=3600)] = 5
    """Seconds after which a connection without a request is closed. Behind a load balancer, more than it keeps a
    connection itself: it would send a request on one that is being closed."""
    drain_seconds: Annotated[float, Field(ge=0, le=300)] = 5
    """Seconds for which the server keeps accepting requests after SIGTERM or SIGHUP, while /ready reports 503."""
    read_only: Literal["off", "on"] = "off"
    """`on`: this server refuses mutations and follows no log, as if the table were read-only."""
    follow: Literal["on", "off"] = "on"
    """Whether the server follows the log: keeps history and figures, sends webhooks, and notices what becomes due. Turn
    it off if `smartlocker follow` does."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Lowest level that is logged."""
    log_format: Literal["auto", "readable", "json"] = "auto"
    """Format of log lines. `auto`: JSON in production, readable otherwise."""
    request_log: Literal["on", "off"] | None = None
    """Whether each request is logged, at level info. Unset: in production only."""
    request_log_caller: Literal["on", "off"] = "on"
    """Whether the request log names callers: subject, role, API key id and client address."""
    metrics: Literal["off", "on"] = "off"
    """`on`: Prometheus metrics at /metrics. Keep that path inside your network."""
    tracing: Literal["off", "otlp"] = "off"
    """`otlp`: OpenTelemetry spans by OTLP, configured with the standard OTEL_ variables."""

    @model_validator(mode="after")
    def _check_together(self) -> Settings:
        contradictions = {
            "SMARTLOCKER_PAGE_SIZE must not exceed SMARTLOCKER_PAGE_SIZE_MAX": self.page_size > self.page_size_max,
            "SMARTLOCKER_DETAILS_DAYS must not be less than SMARTLOCKER_LONGEST_RESERVATION_DAYS": (
                self.details_days is not None and self.details_days < self.longest_reservation_days
            ),
            "SMARTLOCKER_TRUSTED_DOCUMENTS=only needs SMARTLOCKER_TRUSTED_DOCUMENTS_FILE": (
                self.trusted_documents == "only" and self.trusted_documents_file is None
            ),
            "SMARTLOCKER_TEST_CLOCK=on needs SMARTLOCKER_WORKERS=1": self.has_test_clock and self.workers > 1,
            "SMARTLOCKER_JWT_ISSUER, SMARTLOCKER_JWT_AUDIENCE and SMARTLOCKER_JWKS belong together: set all or none": (
                len({value is None for value in (self.jwt_issuer, self.jwt_audience, self.jwks)}) > 1
            ),
        }
        found = [text for text, is_found in contradictions.items() if is_found]
        if found:
            raise ContradictionError(self, found)
        return self

    @property
    def is_embedded(self) -> bool:
        return self.endpoint_url is None

    @property
    def limit(self) -> Limit:
        return Limit(self.max_read_units, self.max_operations, self.max_items)

    @property
    def explainers(self) -> Literal["everyone", "admins", "nobody"]:
        return self.explain or ("admins" if self.is_production else "everyone")

    @property
    def is_production(self) -> bool:
        return self.profile == "production"

    @property
    def is_read_only(self) -> bool:
        return self.read_only == "on"

    @property
    def shows_graphiql(self) -> bool:
        return not self.is_production if self.graphiql is None else self.graphiql == "on"

    @property
    def shows_dashboard(self) -> bool:
        return not self.is_production if self.dashboard is None else self.dashboard == "on"

    @property
    def has_test_clock(self) -> bool:
        return self.test_clock == "on" and not self.is_production

    @property
    def logs_requests(self) -> bool:
        """Whether the request log is on, at a level that is logged."""
        is_on = self.is_production if self.request_log is None else self.request_log == "on"
        return is_on and self.log_level in {"debug", "info"}

    @property
    def hosts(self) -> tuple[str, ...]:
        return (*self.allowed_hosts, f"[{self.host}]" if ":" in self.host else self.host)

    @property
    def document_limits(self) -> DocumentLimits:
        return DocumentLimits(
            self.max_tokens, self.max_aliases, self.max_depth, self.max_directives, self.max_root_fields
        )

    @property
    def concurrent_per_caller(self) -> int | None:
        """How many requests of one caller run at the same time; None if only the number of all is limited."""
        if self.max_concurrent_per_caller is None and self.is_production:
            return max(1, self.max_concurrent_requests // 4)
        return self.max_concurrent_per_caller

    @property
    def budget(self) -> Budget | None:
        """The budget of each caller; None if there is no rate limit."""
        units = self.rate_limit_units
        if units is None and self.is_production:
            units = _PRODUCTION_UNITS
        return Budget(units, self.rate_limit_burst or units) if units else None

    @property
    def retention(self) -> Retention:
        return Retention(
            log=timedelta(days=self.log_days),
            history=timedelta(days=self.history_days),
            events=None if self.event_days is None else timedelta(days=self.event_days),
            details=None if self.details_days is None else timedelta(days=self.details_days),
        )

    @property
    def longest_reservation(self) -> timedelta:
        return timedelta(days=self.longest_reservation_days)
