"""What planning costs, which comes before every request: `python -m bench.plan`."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING
from unittest.mock import patch

from strawberry.extensions import SchemaExtension

from bench.harness import Variant, open_app, print_tables
from resolvers.admission import PlanFirst

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["PLANNED", "VARIANTS", "WITHOUT", "main"]


@contextmanager
def _without_plan() -> Iterator[None]:
    """The code as it would be if nothing were planned, or refused for what it could take."""
    with patch.object(PlanFirst, "on_execute", SchemaExtension.on_execute):
        yield


WITHOUT = "without a plan"
PLANNED = "planned"
VARIANTS = [
    Variant(WITHOUT, _without_plan, {}),
    Variant(f"{WITHOUT}, again", _without_plan, {}),
    Variant(PLANNED, nullcontext, {}),
]


async def _measure() -> None:
    async with open_app() as app:
        await print_tables(app, VARIANTS, WITHOUT)


def main() -> None:
    """Prints a table for each document."""
    asyncio.run(_measure())


if __name__ == "__main__":
    main()
