"""A plan as its reader sees it: expected and measured figures on the same tree."""

from typing import Any

from loaders.contracts.cost import Cost
from loaders.trace import Trace
from resolvers.bindings.base import Charge
from resolvers.limits import Limit
from resolvers.plan.price import Price, PricedStep, cost_json


def explanation(price: Price, limit: Limit, trace: Trace | None) -> dict[str, Any]:
    """The value of `extensions.explain`; without a trace, the plan of what has not run."""
    measured: dict[tuple[str, str], Cost | None] | None = None if trace is None else {**trace.by_step()}
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


def _node(priced: PricedStep, measured: dict[tuple[str, str], Cost | None] | None) -> dict[str, Any]:
    step = priced.step
    return {
        "path": step.path,
        "field": step.field.name,
        "parents": priced.parents,
        "reads": [_read(step.path, charge, measured) for charge in priced.charges],
        "children": [_node(child, measured) for child in priced.children],
    }


def _read(path: str, charge: Charge, measured: dict[tuple[str, str], Cost | None] | None) -> dict[str, Any]:
    found = None
    if measured is not None:
        # It is not divided among the charges of one contract at one path: the first of them shows all of it. Below
        # `nodes`, fields of several types have one path.
        key = path, charge.contract.id
        found, measured[key] = measured.get(key, Cost()), None
    return {
        "contract": charge.contract.id,
        "operation": charge.operation,
        "condition": charge.condition,
        "expected": cost_json(charge.expected),
        "maximum": cost_json(charge.maximum),
        "measured": None if found is None else cost_json(found),
    }
