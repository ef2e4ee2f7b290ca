"""The price of a plan: folded over the tree with one request's page sizes, before anything is read."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as attribute
from typing import TYPE_CHECKING, Any

from domain.errors import QueryTooComplexError
from loaders.contracts.cost import Cost
from resolvers.bindings.base import Charge, Embedded, Reading
from resolvers.limits import Limit

if TYPE_CHECKING:
    from resolvers.plan.compile import Place, PlanStep

_NOTHING = Cost()
_ALLOWANCE = 0.25
_LEAST_ALLOWANCE = 10
_MAX_PRICES = 64
_REFUSED = "refused"
"""Stands for arguments that are wrong: their field asks nothing."""


@dataclass(slots=True)
class PricedStep:
    step: PlanStep
    parents: int
    charges: list[Charge]
    children: list[PricedStep] = attribute(default_factory=list)

    def walk(self) -> Iterator[PricedStep]:
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(slots=True)
class Price:
    """The price of one request.

    `expected` counts full pages of items of usual size. `fallbacks` are reads that are seldom needed. `maximum` is
    never exceeded: it counts the largest items and every fallback.
    """

    tree: list[PricedStep]
    expected: Cost
    fallbacks: Cost
    maximum: Cost
    admitted: Cost = attribute(init=False)
    """The figure that limits and budgets compare: what is expected, and an allowance for fallbacks.

    The allowance is at most a quarter of what is expected: that all fallbacks of a request are needed at once is so
    improbable that it is not refused for them. What it takes beyond is charged afterwards, and it is stopped at the
    limit.
    """

    def __post_init__(self) -> None:
        expected, fallbacks = self.expected, self.fallbacks
        self.admitted = expected + Cost(
            int(_allowed(fallbacks.operations, expected.operations)),
            0,
            _allowed(fallbacks.read_units, expected.read_units),
            _allowed(fallbacks.write_units, expected.write_units),
        )

    def check(self, limit: Limit) -> None:
        """Raises a QueryTooComplexError that names the measure, the most expensive field, and what would help."""
        over = limit.exceeded_by(self.admitted)
        if over is None:
            return
        worst = max((priced for top in self.tree for priced in top.walk()), key=_weight)
        raise QueryTooComplexError(
            f"The request is expected to need {over}. The most expensive field is `{worst.step.path}`: ask for smaller "
            "pages there, or send several requests.",
            {
                "expected": cost_json(self.expected),
                "admitted": cost_json(self.admitted),
                "limit": limit.as_json(),
                "field": worst.step.path,
            },
        )


def _allowed(fallbacks: float, expected: float) -> float:
    return min(fallbacks, max(_LEAST_ALLOWANCE, expected * _ALLOWANCE))


def _weight(priced: PricedStep) -> float:
    return sum(charge.expected.read_units + charge.expected.operations for charge in priced.charges)


def cost_json(cost: Cost) -> dict[str, Any]:
    return {
        "operations": cost.operations,
        "items": cost.items,
        "readUnits": _plain(cost.read_units),
        "writeUnits": _plain(cost.write_units),
    }


def _plain(units: float) -> float:
    return int(units) if units == int(units) else round(units, 3)


def price_of(root: Place, bound: Mapping[PlanStep, Any]) -> Price:
    """Prices an operation with the arguments of one request; requests with pages of the same size have one price."""
    key = tuple([_price_key(step, arguments) for step, arguments in bound.items()])
    price = root.prices.get(key)
    if price is None:
        if len(root.prices) >= _MAX_PRICES:
            root.prices.clear()
        price = root.prices[key] = _price_of(root, bound)
    return price


def _price_key(step: PlanStep, arguments: Any) -> Hashable:
    assert isinstance(step.binding, Reading)  # noqa: S101  # nothing else has arguments
    return _REFUSED if isinstance(arguments, Exception) else step.binding.price_key(arguments)


def _price_of(root: Place, bound: Mapping[PlanStep, Any]) -> Price:
    tree = _steps(root, 1, 1, bound, condition=None)
    if root.type_name == "Subscription":
        _double(tree)
    expected = fallbacks = maximum = _NOTHING
    for top in tree:
        for priced in top.walk():
            for charge in priced.charges:
                expected += charge.expected
                maximum += charge.maximum
                if charge.condition is not None:
                    fallbacks += charge.maximum
    return Price(tree, expected, fallbacks, maximum)


def _double(tree: list[PricedStep]) -> None:
    """Doubles the units: what events name is read strongly, as far as it can be."""
    for top in tree:
        for below in top.children:
            for priced in below.walk():
                priced.charges = [
                    replace(charge, expected=_doubled(charge.expected), maximum=_doubled(charge.maximum))
                    for charge in priced.charges
                ]


def _doubled(cost: Cost) -> Cost:
    return replace(cost, read_units=2 * cost.read_units)


def _steps(
    place: Place, rows: int, page_size: int, bound: Mapping[PlanStep, Any], condition: str | None
) -> list[PricedStep]:
    found: list[PricedStep] = []
    for step in place.steps.values():
        if not step.reads:
            continue
        binding = step.binding
        if isinstance(binding, Embedded):
            many = rows * (page_size if binding.of_page else binding.most)
            for below in step.places.values():
                found += _steps(below, many, page_size, bound, binding.condition or condition)
        elif rows and isinstance(binding, Reading) and not isinstance(bound[step], Exception):
            found.append(_reading(step, binding, rows, bound, condition))
    return found


def _reading(
    step: PlanStep, binding: Reading, rows: int, bound: Mapping[PlanStep, Any], condition: str | None
) -> PricedStep:
    arguments = bound[step]
    charges = binding.price(step, rows, arguments)
    if condition is not None:
        charges = [replace(charge, expected=_NOTHING, condition=charge.condition or condition) for charge in charges]
    priced = PricedStep(step, rows, charges)
    for name, place in step.places.items():
        count = binding.below(rows, arguments, name)
        priced.children += _steps(place, count, binding.page_size(arguments), bound, condition)
    return priced
