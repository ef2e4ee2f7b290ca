"""Puts items into a test's table directly, past the code that is tested."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loaders.table.values import item_to_wire

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from loaders.table.keys import Position

_AT_ONCE = 10  # so that no request is beyond 1 MB


class Seeds:
    """The table, seen from outside."""

    def __init__(self, client: Any, table: str) -> None:
        self.client = client
        self.table = table

    async def put(self, items: Iterable[tuple[Position, Mapping[str, Any]]]) -> None:
        """Writes items whatever is there."""
        wanted = [{"PutRequest": {"Item": key.wire | item_to_wire(attributes)}} for key, attributes in items]
        for begin in range(0, len(wanted), _AT_ONCE):
            batch = {self.table: wanted[begin : begin + _AT_ONCE]}
            answer = await self.client.batch_write_item(RequestItems=batch)
            assert not answer["UnprocessedItems"]
