"""Settings from the environment, each as `SMARTLOCKER_…`."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, FilePath, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from loaders.contract import MOST_ITEMS

__all__ = ["Settings"]

# What the SDK takes as a host: it would refuse any other with a traceback.
_HOST = re.compile(r"[A-Za-z0-9.-]+|[0-9A-Fa-f:.]+")


def _check_endpoint(value: str) -> str:
    try:
        parts = urlsplit(value)
        usable = parts.scheme in {"http", "https"} and parts.port != 0 and _HOST.fullmatch(parts.hostname or "")
    except ValueError:
        usable = False
    if value != "aws" and not usable:
        raise ValueError("must be aws or a URL such as http://127.0.0.1:8001")
    return value


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
    data_dir: Path = Field(default=Path(".smartlocker"), description="Where the embedded store keeps its data.")
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
    explain: Literal["everyone", "admins", "nobody"] = Field(
        default="everyone", description="Who may ask how a request was answered."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="What is logged.")
    log_format: Literal["auto", "readable", "json"] = Field(
        default="auto", description="How lines of the log are written. `auto`: as JSON in production, else readable."
    )
    request_log: Literal["on", "off"] = Field(
        default="on", description="Whether the log has a line for every request, at the level info."
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

    @property
    def is_embedded(self) -> bool:
        """Whether the store runs as part of this process."""
        return self.endpoint_url is None

    @property
    def longest_reservation(self) -> timedelta:
        """The longest reservation as a duration."""
        return timedelta(days=self.longest_reservation_days)
