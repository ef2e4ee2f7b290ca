"""Migrations of a test's table, and what tests do to items before."""

from collections.abc import Callable
from typing import Any

from domain.models import LocationId
from domain.times import Instant
from loaders.backend import Backend
from loaders.table.client import DynamoStore
from loaders.table.values import item_to_wire
from loaders.tools.migration import Migration
from loaders.tools.target import Report
from tests.conftest import NOW, RING
from tests.invariants import Items
from tests.source_items import LOCATION


async def no_wait() -> None:
    """No server serves the table."""


def migration(
    store: Any, progress: Callable[[Report], None] = lambda _: None, location: str | None = LOCATION
) -> Migration:
    assert isinstance(store, DynamoStore)
    place = None if location is None else LocationId(location)
    return Migration(store, items_per_second=1e9, progress=progress, location_id=place, ring=RING)


async def run(backend: Backend, now: Instant = NOW, **options: Any) -> Report:
    """Migrates the table; as if no location were given, unless one is."""
    return await migration(backend.store, **{"location": None, **options}).run(now, no_wait)


def of_kind(items: Items, *kinds: str) -> list[dict[str, Any]]:
    return [item for item in items.values() if item.get("entityType") in kinds]


async def strip(plain_client: Any, table: str, item: dict[str, Any], *attributes: str) -> None:
    """Removes attributes of an item."""
    names = {f"#{name}": name for name in attributes}
    await plain_client.update_item(
        TableName=table,
        Key=item_to_wire({"PK": item["PK"], "SK": item["SK"]}),
        UpdateExpression=f"REMOVE {', '.join(names)}",
        ExpressionAttributeNames=names,
    )


async def delete(plain_client: Any, table: str, item: dict[str, Any]) -> None:
    await plain_client.delete_item(TableName=table, Key=item_to_wire({"PK": item["PK"], "SK": item["SK"]}))
