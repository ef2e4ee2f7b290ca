"""The contracts of commands that read whole tables or partitions; no field can be bound to them."""

import math
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from loaders.contracts.base import MAX_ITEMS, Contract, ContractError
from loaders.contracts.cost import read_units
from loaders.table.client import DynamoStore, ScanPage, Store
from loaders.table.operations import BatchGet, Query, Scan
from loaders.table.positions import Key, KeyRange
from loaders.table.values import WireItem

_USUAL_BYTES = 350
"""Of an item, where the store does not tell the size of its table, as the embedded one."""


@dataclass(frozen=True, kw_only=True)
class ReadTable(Contract):
    """All items of the table, in no order, `page_size` at a time."""

    page_size: int
    consistent: bool = False
    operation: str = field(default="Scan", init=False)

    ALLOWED_OPERATIONS = frozenset({"Scan"})

    def cost_text(self, description: Mapping[str, Any]) -> str:
        items = description.get("ItemCount", 0)
        size = description.get("TableSizeBytes") or items * _USUAL_BYTES
        units = read_units([size], self.operation, consistent=True) + math.ceil(items / self.page_size)
        units = units if self.consistent else units / 2
        return f"reads the whole table once: about {items:,} items, {units:,.0f} read units"

    async def page(self, store: DynamoStore, start: Key | None) -> ScanPage:
        return await store.scan(Scan(self.id, self.page_size, start, self.consistent))

    async def pages(self, store: DynamoStore, start: Key | None = None) -> AsyncIterator[ScanPage]:
        while True:
            page = await self.page(store, start)
            yield page
            start = page.last
            if start is None:
                return


@dataclass(frozen=True, kw_only=True)
class ReadRanges(Contract):
    """All items of one of several ranges, strongly consistent, as they are stored."""

    ranges: tuple[Callable[..., KeyRange], ...]
    page_size: int
    operation: str = field(default="Query", init=False)

    ALLOWED_OPERATIONS = frozenset({"Query"})

    async def items(self, store: Store, wanted: Callable[..., KeyRange], *key: Any) -> AsyncIterator[WireItem]:
        if wanted not in self.ranges:
            raise ContractError(f"{self.id} does not read {wanted.__name__}")
        start = None
        while True:
            page = await store.query(Query(self.id, wanted(*key), self.page_size, start=start, consistent=True))
            for item in page.items:
                yield item  # type: ignore[misc]  # not of one shape
            start = page.last
            if start is None:
                return


@dataclass(frozen=True, kw_only=True)
class ReadItems(Contract):
    """Items of any kind by their keys, strongly consistent, as they are stored."""

    operation: str = field(default="BatchGetItem", init=False)

    ALLOWED_OPERATIONS = frozenset({"BatchGetItem"})

    async def read(self, store: Store, keys: Sequence[Key]) -> Mapping[tuple[str, str], WireItem]:
        """Those that exist, 100 in a request."""
        found: dict[tuple[str, str], WireItem] = {}
        for first in range(0, len(keys), MAX_ITEMS):
            batch = BatchGet(self.id, tuple(keys[first : first + MAX_ITEMS]), consistent=True)
            items = await store.batch_get(batch)
            found |= {Key(*key): item for key, item in items.items()}  # type: ignore[misc]  # not of one shape
        return found
