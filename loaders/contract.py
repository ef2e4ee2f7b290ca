"""What a query contract is: an access pattern as data, from which requests, documentation and tests come.

A contract that breaks a principle is refused when it is made, so a module with one cannot even be imported.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from loaders.cost import ALWAYS, MET_OTHERS, Cost, Part, page_cost, read_units
from loaders.table.operations import Action, BatchGet, Get, Query, Step, Transact
from loaders.table.updates import Update

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from domain.errors import SmartLockerError
    from loaders.table.operations import Key, KeyRange, Place

__all__ = [
    "Consistency",
    "Contract",
    "ContractError",
    "GetContract",
    "Order",
    "Page",
    "QueryContract",
    "StepRule",
    "WriteContract",
    "registry",
]

MOST_ITEMS = 100
MOST_WHOLE = 200
_ID = re.compile(r"QC-[0-9]{2}")
_WRITE_UNIT = 1024


class ContractError(Exception):
    """A contract that the principles forbid."""


class Order(StrEnum):
    """The direction in which a list runs."""

    ASC = "ASC"
    DESC = "DESC"


class Consistency(StrEnum):
    """How fresh a read is."""

    EVENTUAL = "eventual"
    EVENTUAL_OR_STRONG = "eventual; strong on request"
    STRONG = "strong"


@dataclass(frozen=True, slots=True)
class Page:
    """How many items one read returns."""

    default: int = 25
    maximum: int = MOST_ITEMS
    look_ahead: int = 1
    whole: bool = False
    """Its key range alone keeps it small enough to be read as one."""

    def __post_init__(self) -> None:
        most = MOST_WHOLE if self.whole else MOST_ITEMS
        if not 1 <= self.default <= self.maximum <= most:
            raise ContractError(f"a page holds 1 to {most} items, its default no more than its maximum")


@dataclass(frozen=True, kw_only=True)
class Contract:
    """What every contract states."""

    id: str
    purpose: str
    operation: str
    fields: tuple[str, ...]
    errors: tuple[type[SmartLockerError], ...] = ()
    note: str = ""
    item_bytes: int

    ALLOWED_OPERATIONS = frozenset[str]()

    def __post_init__(self) -> None:
        if _ID.fullmatch(self.id) is None:
            raise ContractError(f"{self.id!r} is not an id such as QC-01")
        if self.operation not in self.ALLOWED_OPERATIONS:
            raise ContractError(f"{self.id} may not use {self.operation}")
        if not (self.purpose and self.fields and self.item_bytes > 0):
            raise ContractError(f"{self.id} must say its purpose, the fields that use it and its items' size")

    def get(self, key: Key, *, consistent: bool = False) -> Get:
        """Reads one item on behalf of this contract."""
        return Get(self.id, key, consistent)

    def batch(self, keys: Iterable[Key], *, consistent: bool = False) -> BatchGet:
        """Reads several items on behalf of this contract."""
        return BatchGet(self.id, tuple(keys), consistent)

    def query(
        self,
        within: KeyRange,
        *,
        limit: int,
        forward: bool = True,
        start: Place | None = None,
        consistent: bool = False,
    ) -> Query:
        """Reads a stretch of a partition on behalf of this contract."""
        return Query(self.id, within, limit, forward, start, consistent)


@dataclass(frozen=True, kw_only=True)
class GetContract(Contract):
    """One item by its key; where `claim` is given, its key comes from a claim item that is read first.

    `claim_bytes` is given where the claim's size differs from the item's. `fallbacks` are what it takes more of the
    store where the first read does not do: once for each item, or once for each page.
    """

    key: Callable[..., Key]
    claim: Callable[..., Key] | None = None
    claim_bytes: int | None = None
    consistency: Consistency = Consistency.EVENTUAL
    fallbacks: tuple[Part, ...] = ()

    ALLOWED_OPERATIONS = frozenset({"GetItem"})

    @property
    def operations(self) -> int:
        """How many reads it takes."""
        return 1 if self.claim is None else 2

    @property
    def read_units(self) -> float:
        """The most read units, eventually consistent."""
        return self.item_units if self.claim is None else self.claim_units + self.item_units

    @property
    def item_units(self) -> float:
        """The most read units of the item alone."""
        return read_units([self.item_bytes], self.operation)

    @property
    def claim_units(self) -> float:
        """The most read units of the claim alone."""
        return read_units([self.claim_bytes or self.item_bytes], self.operation)


@dataclass(frozen=True, kw_only=True)
class QueryContract(Contract):
    """A bounded, ordered stretch of one partition."""

    range: Callable[..., KeyRange]
    page: Page
    orders: tuple[Order, ...] = (Order.ASC,)
    consistency: Consistency = Consistency.EVENTUAL
    index: str | None = None

    ALLOWED_OPERATIONS = frozenset({"Query"})

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.page, Page):
            raise ContractError(f"{self.id} must have a page: no list is unbounded")
        if not self.orders:
            raise ContractError(f"{self.id} must say its order")
        if self.index is not None and self.consistency is not Consistency.EVENTUAL:
            raise ContractError(f"{self.id} asks for a strong read on an index, which has none")

    @property
    def read_units(self) -> float:
        """The most read units of the largest page, eventually consistent."""
        return self.page_cost(self.page.maximum).read_units

    def page_cost(self, size: int) -> Cost:
        """The most that a page of so many items takes, eventually consistent."""
        return page_cost(size + self.page.look_ahead, self.item_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRule:
    """One item's part in a write: what is done to it, and what must be true of it.

    `most` is how often it may stand in one request; `item_bytes` is given where it differs from the contract's.
    `index_writes` is how often the item is written in the index too: twice where its key there changes.
    """

    name: str
    action: Action
    key: Callable[..., Key]
    condition: str | None
    when: str = "always"
    most: int = 1
    item_bytes: int | None = None
    index_writes: int = 0


@dataclass(frozen=True, kw_only=True)
class WriteContract(Contract):
    """An atomic write: `reads` come first, then one request with the steps that apply, `most_steps` at most.

    Where other writers were faster all of it is done again, in so many `rounds` at most. `fallbacks` are what else it
    may ask of the store. `most_entries` is how many things one input may name; the contract's units are for so many.
    """

    steps: tuple[StepRule, ...]
    most_steps: int
    reads: tuple[Part, ...] = ()
    fallbacks: tuple[Part, ...] = ()
    rounds: int = 1
    most_entries: int = 1

    ALLOWED_OPERATIONS = frozenset({"TransactWriteItems", "PutItem", "UpdateItem"})

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.steps or len({rule.name for rule in self.steps}) != len(self.steps):
            raise ContractError(f"{self.id} must name each of its steps once")
        if not 1 <= self.most_steps <= MOST_ITEMS:
            raise ContractError(f"{self.id} must write 1 to {MOST_ITEMS} items at once")
        for rule in self.steps:
            if rule.condition is None and rule.action in {Action.UPDATE, Action.CHECK}:
                raise ContractError(f"{self.id} must say what {rule.name} assumes: without it a ghost is made")

    def step(self, name: str, key: Key, attributes: Mapping[str, Any] | None = None, **values: Any) -> Step:
        """The step of that name on this item; `values` are what its condition compares with."""
        rule = next(rule for rule in self.steps if rule.name == name)
        compared = {f":{placeholder}": value for placeholder, value in values.items()}
        return Step(name, rule.action, key, attributes or {}, rule.condition, compared)

    def transact(self, *steps: Step) -> Transact:
        """All these steps or none."""
        return Transact(self.id, steps)

    def update(
        self, name: str, key: Key, attributes: Mapping[str, Any], added: Mapping[str, int] | None = None, **values: Any
    ) -> Update:
        """The step of that name alone, without a transaction; each number in `added` grows by as much."""
        step = self.step(name, key, attributes, **values)
        return Update(self.id, key, attributes, str(step.condition), step.values, added or {})

    @property
    def write_units(self) -> int:
        """The most write units: the dearest steps that fit.

        A transaction writes, and checks, every item of the table twice; the index follows once for each write there.
        """
        is_plain = self.operation == "UpdateItem" or (self.operation == "PutItem" and self.most_steps == 1)
        twice = 1 if is_plain else 2
        units = [
            (twice + rule.index_writes) * math.ceil((rule.item_bytes or self.item_bytes) / _WRITE_UNIT)
            for rule in self.steps
            for _ in range(rule.most)
        ]
        return sum(sorted(units, reverse=True)[: self.most_steps])

    def costs(self, field: str, entries: int) -> list[tuple[str, str, Cost]]:
        """The operations that a field may send for so many entries, each with when it does and the most it takes."""
        reads = self._costs_of(self.reads, field, entries)
        write = (self.operation, ALWAYS, Cost(1, 0, 0, math.ceil(self.write_units * entries / self.most_entries)))
        again = [(operation, MET_OTHERS, cost * (self.rounds - 1)) for operation, _, cost in (*reads, write)]
        others = self._costs_of(self.fallbacks, field, entries)
        return [*reads, write, *(again if self.rounds > 1 else ()), *others]

    def _costs_of(self, parts: tuple[Part, ...], field: str, entries: int) -> list[tuple[str, str, Cost]]:
        found = [(part, part.cost(entries, self.most_entries)) for part in parts if part.serves(field)]
        # A batch of one key is sent as a GetItem.
        return [
            ("GetItem" if (part.operation, cost.items) == ("BatchGetItem", 1) else part.operation, part.when, cost)
            for part, cost in found
        ]


def registry(contracts: Iterable[Contract]) -> dict[str, Contract]:
    """All contracts by id, each id once."""
    by_id: dict[str, Contract] = {}
    for contract in contracts:
        if contract.id in by_id:
            raise ContractError(f"{contract.id} is there twice")
        by_id[contract.id] = contract
    return dict(sorted(by_id.items()))
