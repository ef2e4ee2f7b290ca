"""The example of the contract of budgets."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from domain.rates import Budget
from loaders.rates import TableRates
from tests.contracts.examples import Example

if TYPE_CHECKING:
    from loaders.backend import Backend
    from loaders.table.client import DynamoStore

__all__ = ["RATE_EXAMPLES"]


async def _spend(backend: Backend) -> object:
    store = cast("DynamoStore", backend.store)
    return await TableRates(lambda: store, Budget(60, 60), lambda: 1_772_366_400_000_000).take("s" * 1000, 1)


RATE_EXAMPLES: dict[str, Example] = {"QC-50": Example(run=_spend, operations={"UpdateItem": 2})}
