"""Runs a migration on the test's table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loaders.table.client import DynamoStore
from loaders.table.values import item_to_wire
from loaders.tools.migration import Migrated, Migration
from tests.conftest import NOW

if TYPE_CHECKING:
    from collections.abc import Callable

    from loaders.backend import Backend

FORMAT_ITEM: dict[str, Any] = {"PK": "TABLE", "SK": "FORMAT", "entityType": "TABLE_FORMAT"}


async def no_wait() -> None:
    """No server serves the table."""


def migration(backend: Backend, **options: Any) -> Migration:
    assert isinstance(backend.store, DynamoStore)
    return Migration(backend.store, **{"now": NOW, "drained": no_wait, **options})


async def run(backend: Backend, progress: Callable[[Migrated], None] = lambda _: None, **options: Any) -> Migrated:
    return await migration(backend, **options).run(items_per_second=1e9, progress=progress)


async def delete(plain_client: Any, table: str, item: dict[str, Any]) -> None:
    await plain_client.delete_item(TableName=table, Key=item_to_wire({"PK": item["PK"], "SK": item["SK"]}))
