"""Items in the forms in which other programs wrote them, exactly as the documents of those forms show them."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from loaders.table.values import item_to_wire

OLD_ITEMS: list[dict[str, Any]] = json.loads(Path(__file__).with_suffix(".json").read_text(), parse_float=Decimal)


async def put(client: Any, table: str, *items: dict[str, Any]) -> None:
    for item in items:
        await client.put_item(TableName=table, Item=item_to_wire(item))
