"""The connection to the table: embedded store, endpoint URL or AWS."""

from __future__ import annotations

import os
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
    """Connects to the table; runs the embedded store, if it is used, while the block runs."""
    if settings.is_embedded:
        binary = find_binary(settings.store_binary)
        async with run_embedded(binary, settings.data_dir) as endpoint:
            yield Connection(settings.table_name, settings.region, endpoint, local=True)
    elif settings.endpoint_url == "aws":
        yield Connection(settings.table_name, settings.region)
    else:
        yield Connection(settings.table_name, settings.region, settings.endpoint_url, local=_is_local(settings))


def _is_local(settings: Settings) -> bool:
    """Whether the URL is a local store, which takes no AWS credentials: these are not sent over HTTP unless set."""
    is_plain = str(settings.endpoint_url).startswith("http://")
    return is_plain and not {"AWS_ACCESS_KEY_ID", "AWS_PROFILE"} & os.environ.keys()
