"""What a request to the store can take: operations, items and capacity units, as DynamoDB counts them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "ALWAYS",
    "LARGE_PAGE",
    "LOOKS_FOR_CLAIMED",
    "MET_OTHERS",
    "UNLESS_READ",
    "Cost",
    "Part",
    "page_cost",
    "read_units",
]

ALWAYS = "always"
MET_OTHERS = "only where other writers were faster"
LARGE_PAGE = "only where a page is larger than 1 MB"
UNLESS_READ = "unless the same was read before"

LOOKS_FOR_CLAIMED = 5
"""How often what a claim names is looked for: a plain read may see the claim a moment before it."""

_READ_UNIT = 4096
_WRITE_UNIT = 1024
_ANSWER_BYTES = 1024 * 1024
_WRITES = frozenset({"TransactWriteItems", "PutItem"})


@dataclass(frozen=True, slots=True)
class Cost:
    """The most that something takes."""

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
    """One request on the way to an answer: `text` for the documentation, the rest for the plan.

    `sizes` are the bytes of the largest items that it can meet, `most` how often it is sent, `when` on what condition,
    and `fields` which of its contract's fields send it, where not all do.
    """

    operation: str
    sizes: tuple[int, ...]
    text: str = ""
    when: str = ALWAYS
    most: int = 1
    consistent: bool = True
    fields: tuple[str, ...] = ()

    def serves(self, field: str) -> bool:
        """Whether this field sends it."""
        return not self.fields or field in self.fields

    def cost(self, entries: int = 1, most_entries: int = 1) -> Cost:
        """What it takes for so many entries of an input, of so many at most."""
        times = math.ceil(self.most * entries / most_entries)
        sizes = self.sizes[: math.ceil(len(self.sizes) * entries / most_entries)]
        if self.operation in _WRITES:
            once = Cost(1, 0, 0, 2 * sum(math.ceil(size / _WRITE_UNIT) for size in sizes))
        else:
            once = Cost(1, len(sizes), read_units(sizes, self.operation, consistent=self.consistent))
        return once * times


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
