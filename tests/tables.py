"""Tables of tests, past the code that is tested: creating, filling and looking at them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from uuid import uuid4

from loaders.reads.table_state import FIRST_STATE
from loaders.table.client import DynamoStore
from loaders.table.transport import Transport
from loaders.table.values import any_item_from_wire, item_to_wire
from loaders.tools.definition import definition
from loaders.tools.table_state import CURRENT_STATE, save_state

_AT_ONCE = 25


async def put(client: PlainClient, table: str, *items: dict[str, Any]) -> None:
    """Writes items, whatever is there."""
    await client.fill(table, [item_to_wire(item) for item in items])


class PlainClient:
    """Sends operations under the names that the SDK has for them, in a fifth of its time."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    def __getattr__(self, method: str) -> Callable[..., Awaitable[dict[str, Any]]]:
        operation = method.title().replace("_", "")

        async def send(**request: Any) -> dict[str, Any]:
            return (await self.transport.send(operation, request)).body

        return send

    async def new_table(self) -> str:
        """An empty table of the current format."""
        name = f"test-{uuid4()}"
        await self.create_table(**definition(name))
        await save_state(DynamoStore(self.transport, name), FIRST_STATE, CURRENT_STATE)
        return name

    async def fill(self, table: str, items: Sequence[dict[str, Any]]) -> None:
        """Writes items in the store's own form, whatever is there."""
        for first in range(0, len(items), _AT_ONCE):
            puts = [{"PutRequest": {"Item": item}} for item in items[first : first + _AT_ONCE]]
            answer = await self.batch_write_item(RequestItems={table: puts})
            assert not answer["UnprocessedItems"]

    async def items(self, table: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        start: dict[str, Any] = {}
        while True:
            page = await self.scan(TableName=table, **start)
            found += page["Items"]
            if "LastEvaluatedKey" not in page:
                return sorted(found, key=lambda item: (item["PK"]["S"], item["SK"]["S"]))
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    async def records(self, table: str) -> dict[tuple[str, str], dict[str, Any]]:
        """All items by key, without the table's format version."""
        found = [any_item_from_wire(item) for item in await self.items(table)]
        return {(str(item["PK"]), str(item["SK"])): item for item in found if item["PK"] != "TABLE"}
