"""The base of all query contracts, and the principles that are checked at import.

A contract that breaks a principle cannot be created, so a module with one cannot be imported.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from domain.enums import DescribedEnum
from domain.errors import SmartLockerError

MAX_ITEMS = 100
_MAX_WHOLE = 200
_MAX_SMALL = 500
_ID = re.compile(r"QC-(?:[0-9]{2}|[1-9][0-9]{2})")


class ContractError(Exception):
    """The contract breaks a principle, or the code asks it for something it does not allow."""


class Order(DescribedEnum):
    """Sort direction."""

    ASC = "ASC", "Ascending: earliest first."
    DESC = "DESC", "Descending: latest first."


class Consistency(StrEnum):
    EVENTUAL = "eventual"
    EVENTUAL_OR_STRONG = "eventual; strong on request"
    STRONG = "strong"


@dataclass(frozen=True, slots=True)
class PageRule:
    """How many items one read returns.

    `look_ahead` items are read beyond the page to know whether there is a next one. A `whole` list is read at once,
    because its key range alone bounds it. Of items that are small, a page may be larger.
    """

    default: int = 25
    maximum: int = MAX_ITEMS
    look_ahead: int = 1
    whole: bool = False
    is_small: bool = False

    def __post_init__(self) -> None:
        most = _MAX_SMALL if self.is_small else _MAX_WHOLE if self.whole else MAX_ITEMS
        if not 1 <= self.default <= self.maximum <= most:
            raise ContractError(f"a page has 1 to {most} items, and its default must not exceed its maximum")


@dataclass(frozen=True, kw_only=True)
class Contract:
    """The statements of every contract.

    `cardinality` says how many items are expected, `hot_partition` how load could concentrate on one partition.
    """

    id: str
    purpose: str
    operation: str
    cardinality: str
    hot_partition: str
    errors: tuple[type[SmartLockerError], ...] = ()
    note: str = ""

    ALLOWED_OPERATIONS = frozenset[str]()

    def __post_init__(self) -> None:
        if _ID.fullmatch(self.id) is None:
            raise ContractError(f"{self.id!r} is not an id such as QC-01")
        if self.operation not in self.ALLOWED_OPERATIONS:
            raise ContractError(f"{self.id} must not use {self.operation}")
        if not (self.purpose and self.cardinality and self.hot_partition):
            raise ContractError(f"{self.id} must state its purpose, expected cardinality and hot-partition risk")


def registry(contracts: Iterable[Contract]) -> dict[str, Contract]:
    """Returns all contracts by id, each id once."""
    by_id: dict[str, Contract] = {}
    for contract in contracts:
        if contract.id in by_id:
            raise ContractError(f"{contract.id} is defined twice")
        by_id[contract.id] = contract
    return dict(sorted(by_id.items(), key=lambda entry: int(entry[0].removeprefix("QC-"))))
