"""The plan of a document: what it would ask of the store at most, as a tree of fields and their contracts."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as attribute
from typing import TYPE_CHECKING, Any

from domain.errors import TooComplexError
from loaders.cost import ALWAYS, UNLESS_READ, Cost

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Charge", "Maximum", "Plan", "PlanNode"]

_NOTHING = Cost()
_EXPECTED = frozenset({ALWAYS, UNLESS_READ})


@dataclass(frozen=True, slots=True)
class Maximum:
    """The most that one request may take of the store; of items, as far as no fallback is met."""

    read_units: int
    operations: int
    items: int

    @property
    def json(self) -> dict[str, int]:
        """As clients read it."""
        return {"readUnits": self.read_units, "operations": self.operations, "items": self.items}

    def share(self, cost: Cost, expected_items: int) -> float:
        """How much of what is allowed something takes; more than 1 is too much."""
        return max(cost.read_units / self.read_units, cost.operations / self.operations, expected_items / self.items)


@dataclass(slots=True)
class Charge:
    """What a field asks of the store through one contract, and when it does."""

    contract: str
    operation: str
    when: str
    cost: Cost


@dataclass(slots=True, eq=False)
class PlanNode:
    """A field of the document, merged with those of the same response key."""

    path: str
    field: str
    times: int
    charges: list[Charge] = attribute(default_factory=list)
    children: list[PlanNode] = attribute(default_factory=list)

    def charge(self, contract: str, operation: str, when: str, cost: Cost) -> Charge:
        """Adds to what the field asks for."""
        charge = Charge(contract, operation, when, cost)
        self.charges.append(charge)
        return charge

    @property
    def cost(self) -> Cost:
        """What the field itself takes at most, without what is below it."""
        return sum((charge.cost for charge in self.charges), _NOTHING)

    @property
    def expected_items(self) -> int:
        """The items that it asks for itself where its pages are full and no fallback is met."""
        return sum(charge.cost.items for charge in self.charges if charge.when in _EXPECTED)

    def walk(self) -> Iterator[PlanNode]:
        """The field and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()

    @property
    def json(self) -> dict[str, Any]:
        """As clients read it."""
        return {
            "path": self.path,
            "field": self.field,
            "times": self.times,
            "contracts": self._contracts(),
            "children": [child.json for child in self.children],
        }

    def _contracts(self) -> list[dict[str, Any]]:
        merged: dict[tuple[str, str, str], Cost] = {}
        for charge in self.charges:
            key = charge.contract, charge.operation, charge.when
            merged[key] = merged.get(key, _NOTHING) + charge.cost
        return [
            {"id": contract, "operation": operation, **_amounts(cost), "when": when}
            for (contract, operation, when), cost in merged.items()
        ]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a document would ask of the store at most.

    Where it `has_pages`, an empty one leaves out what is below it. In all others, what is always sent is certain, if
    everything that is asked for is there.
    """

    tree: list[PlanNode]
    total: Cost
    expected_operations: int
    expected_units: float
    expected_items: int
    has_pages: bool

    @classmethod
    def of(cls, tree: list[PlanNode], *, has_pages: bool) -> Plan:
        """The plan that these fields make."""
        total = sum((charge.cost for charge in _charges(tree)), _NOTHING)
        certain = sum((charge.cost for charge in _charges(tree) if charge.when == ALWAYS), _NOTHING)
        expected = sum((charge.cost for charge in _charges(tree) if charge.when == UNLESS_READ), certain)
        units = expected.read_units + expected.write_units
        return cls(tree, total, certain.operations, units, expected.items, has_pages)

    @property
    def charges(self) -> Iterator[Charge]:
        """Everything that it asks for."""
        return _charges(self.tree)

    def fits(self, maximum: Maximum) -> bool:
        """Whether it may be run."""
        return maximum.share(self.total, self.expected_items) <= 1

    def check(self, maximum: Maximum) -> None:
        """Raises TooComplexError where it may not be run."""
        if self.fits(maximum):
            return
        heaviest = self._heaviest(maximum) or {}
        total = self.total
        raise TooComplexError(
            f"This could take {_number(total.read_units)} read units and {total.operations} operations of the store, "
            f"and asks for {self.expected_items} items; {maximum.read_units}, {maximum.operations} and {maximum.items} "
            f"are allowed. {heaviest.get('path')} weighs most: ask for smaller pages or less below it.",
            {"worstCase": self.worst_case, "maximum": maximum.json, "heaviest": heaviest},
        )

    @property
    def worst_case(self) -> dict[str, Any]:
        """What it takes at most, as clients read it."""
        return _amounts(self.total)

    def json(self, maximum: Maximum) -> dict[str, Any]:
        """As clients read it."""
        amounts = _amounts(self.total)
        return {
            "tree": [node.json for node in self.tree],
            "totals": {
                "operations": amounts.pop("operations"),
                "expectedOperations": self.expected_operations,
                "expectedItems": self.expected_items,
                **amounts,
            },
            "maximum": maximum.json,
            "heaviest": self._heaviest(maximum),
            "allowed": self.fits(maximum),
        }

    def _heaviest(self, maximum: Maximum) -> dict[str, Any] | None:
        """The field that takes most of what is allowed."""
        found = [node for root in self.tree for node in root.walk() if node.charges]
        if not found:
            return None
        node = max(found, key=lambda node: maximum.share(node.cost, node.expected_items))
        return {
            "path": node.path,
            "readUnits": _number(node.cost.read_units),
            "operations": node.cost.operations,
            "expectedItems": node.expected_items,
        }


def _charges(tree: list[PlanNode]) -> Iterator[Charge]:
    return (charge for root in tree for node in root.walk() for charge in node.charges)


def _amounts(cost: Cost) -> dict[str, Any]:
    return {
        "operations": cost.operations,
        "items": cost.items,
        "readUnits": _number(cost.read_units),
        "writeUnits": _number(cost.write_units),
    }


def _number(units: float) -> float:
    """Units as a whole number where they are one."""
    return int(units) if units == int(units) else units
