"""From settings to a table that can be used: embedded, at an endpoint, or at AWS."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from loaders.table.client import Connection
from loaders.table.embedded import find_binary, run_embedded

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from server.settings import Settings

__all__ = ["connect"]


@asynccontextmanager
async def connect(settings: Settings) -> AsyncIterator[Connection]:
    """The connection to the table, with the embedded store running for as long as it is needed."""
    if settings.is_embedded:
        binary = find_binary(settings.store_binary)
        async with run_embedded(binary, settings.data_dir) as endpoint:
            yield Connection(settings.table_name, settings.region, endpoint, local=True)
    else:
        endpoint_url = None if settings.endpoint_url == "aws" else settings.endpoint_url
        yield Connection(settings.table_name, settings.region, endpoint_url)
