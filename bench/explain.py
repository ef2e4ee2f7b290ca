"""What explaining costs, asked for and not: `python -m bench.explain`."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import strawberry
from aiodataloader import DataLoader

from bench.harness import Variant, open_app, print_tables
from loaders.batch import EntityByIdLoader, RequestLoader
from resolvers.schema import SmartLockerSchema

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["VARIANTS", "WITHOUT", "main"]


@contextmanager
def _without_hooks() -> Iterator[None]:
    """The code as it would be if nothing could be explained: every place that asks whether to is taken out."""

    async def read(self: Any, ids: list[Any]) -> list[Any]:
        wanted = [self._key(entity_id) for entity_id in ids]
        if len(wanted) == 1:
            item = await self._backend.store.get(self._contract.get(wanted[0]))
            found = {} if item is None else {wanted[0]: item}
        else:
            found = await self._backend.store.batch_get(self._contract.batch(wanted))
        return [self._codec.decode(found[key]) if key in found else None for key in wanted]

    with (
        patch.object(RequestLoader, "load", DataLoader.load),
        patch.object(EntityByIdLoader, "read", read),
        patch.object(SmartLockerSchema, "_get_middleware_manager", strawberry.Schema._get_middleware_manager),  # noqa: SLF001  # what it overrides
        patch("server.http.trace_of", lambda _: None),
        patch("server.http.check_explain", lambda *_: None),
        patch("server.http.asks_early_for_cost", lambda *_: False),
        patch("server.http.asks_for_cost", lambda *_: False),
        patch("server.incoming._explain", lambda *_: "off"),
        patch("server.incoming._cost", lambda *_: False),
    ):
        yield


WITHOUT = "without the hooks"
VARIANTS = [
    Variant(WITHOUT, _without_hooks, {}),
    Variant("without the hooks, again", _without_hooks, {}),
    Variant("not asked for", nullcontext, {}),
    Variant("cost", nullcontext, {"cost": True}),
    Variant("explained", nullcontext, {"explain": True}),
]


async def _measure() -> None:
    async with open_app() as app:
        await print_tables(app, VARIANTS, WITHOUT)


def main() -> None:
    """Prints a table for each document."""
    asyncio.run(_measure())


if __name__ == "__main__":
    main()
