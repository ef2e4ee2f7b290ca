"""A plan as its reader sees it: expected and measured figures on the same tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loaders.contracts.cost import Cost
from resolvers.plan.price import cost_json

if TYPE_CHECKING:
    from loaders.trace import Trace
    from resolvers.bindings.base import Charge
    from resolvers.plan.price import Limit, Price, PricedStep


def explanation(price: Price, limit: Limit, trace: Trace | None) -> dict[str, Any]:
    """What `extensions.explain` holds; without a trace, the plan of what has not run."""
    measured = None if trace is None else trace.by_step()
    totals = {
        "expected": cost_json(price.expected),
        "admitted": cost_json(price.admitted),
        "maximum": cost_json(price.maximum),
        "limit": limit.as_json(),
        "measured": None if trace is None else trace.totals(),
    }
    explained: dict[str, Any] = {"tree": [_node(priced, measured) for priced in price.tree], "totals": totals}
    if trace is not None:
        explained["operations"] = trace.operations()
    return explained


def _node(priced: PricedStep, measured: dict[tuple[str, str], Cost] | None) -> dict[str, Any]:
    step = priced.step
    return {
        "path": step.path,
        "field": step.field.name,
        "parents": priced.parents,
        "reads": [_read(step.path, charge, measured, priced.charges) for charge in priced.charges],
        "children": [_node(child, measured) for child in priced.children],
    }


def _read(
    path: str, charge: Charge, measured: dict[tuple[str, str], Cost] | None, charges: list[Charge]
) -> dict[str, Any]:
    # What was measured of a contract is not divided among its charges: the first of them shows all of it.
    is_first = next(other for other in charges if other.contract is charge.contract) is charge
    found = None
    if measured is not None and is_first:
        found = cost_json(measured.get((path, charge.contract.id), Cost()))
    return {
        "contract": charge.contract.id,
        "operation": charge.operation,
        "condition": charge.condition,
        "expected": cost_json(charge.expected),
        "maximum": cost_json(charge.maximum),
        "measured": found,
    }
