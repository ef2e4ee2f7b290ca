"""The price of a request to the store: operations, items and capacity units, as DynamoDB counts them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

ALWAYS = "always"
MET_OTHERS = "only where other writers were faster"
NOT_WHOLE = "only where the change before is not whole"

LOOKS_FOR_CLAIMED = 5
"""How often what a claim names is looked for: a plain read may see the claim a moment before it."""

USUAL_BYTES = 700
"""The size of a usual item, as far as a write's price is concerned."""

_READ_UNIT = 4096
_ANSWER_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Cost:
    operations: int = 0
    items: int = 0
    read_units: float = 0
    write_units: float = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.operations + other.operations,
            self.items + other.items,
            self.read_units + other.read_units,
            self.write_units + other.write_units,
        )

    def __mul__(self, times: int) -> Cost:
        return Cost(self.operations * times, self.items * times, self.read_units * times, self.write_units * times)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The price of one read that a contract may send.

    `sizes` are the bytes of the largest items it can read, `most` is how often it is sent at most, `when` on
    which condition, and `only` which variants of a write send it, where not all do. `usual` is how many items it
    usually reads, where that is fewer.
    """

    operation: str
    sizes: tuple[int, ...]
    when: str = ALWAYS
    most: int = 1
    consistent: bool = True
    only: tuple[str, ...] = ()
    usual: int | None = None

    def serves(self, variant: str | None) -> bool:
        return not self.only or variant in self.only

    def cost(self, entries: int = 1, most_entries: int = 1) -> Cost:
        """The price for `entries` of the at most `most_entries` entries of an input.

        They share a request that has several items; others are sent for each of them.
        """
        times = self.most if len(self.sizes) > 1 else math.ceil(self.most * entries / most_entries)
        sizes = self.sizes[: math.ceil(len(self.sizes) * entries / most_entries)]
        return Cost(1, len(sizes), read_units(sizes, self.operation, consistent=self.consistent)) * times

    def expected(self, entries: int = 1, most_entries: int = 1) -> Cost:
        """The same for items of usual size and number, sent once."""
        usual = replace(self, sizes=tuple(min(size, USUAL_BYTES) for size in self.sizes[: self.usual]))
        return usual.cost(entries, most_entries)


class PricedRequest(NamedTuple):
    """A request that a write may send, the condition on which it does, and its price."""

    operation: str
    when: str
    maximum: Cost
    expected: Cost


def read_units(sizes: Sequence[int], operation: str, *, consistent: bool = False) -> float:
    """The read units of items of these sizes: a Query counts them together, everything else one by one."""
    together = operation == "Query"
    units = math.ceil(sum(sizes) / _READ_UNIT) if together else sum(math.ceil(size / _READ_UNIT) for size in sizes)
    return units if consistent else units / 2


def page_cost(items: int, item_bytes: int) -> Cost:
    """The most that a Query of so many items takes, eventually consistent.

    The store cuts an answer off at 1 MB, so large items take several requests, and each rounds up for itself.
    """
    requests = math.ceil(items / (_ANSWER_BYTES // item_bytes))
    return Cost(requests, items, math.ceil(items * item_bytes / _READ_UNIT) / 2 + (requests - 1) / 2)
