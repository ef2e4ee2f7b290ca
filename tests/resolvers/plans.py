"""Prices of documents without a server or a store."""

from datetime import timedelta
from typing import Any, cast

from domain.authorization import DEVELOPMENT_ADMIN
from loaders.backend import Backend
from loaders.contracts.cost import Cost
from loaders.table.clock import StoreClock
from resolvers.execution import Executor
from resolvers.limits import DocumentLimits, Limit
from resolvers.plan.price import Price, PricedStep
from resolvers.request_state import FairLock, PageSizes, RequestState
from server.limits.request_limits import RequestBudget
from tests.conftest import NOW

EXECUTOR = Executor(DocumentLimits(tokens=10_000, aliases=1000, depth=100, root_fields=1000))
LIMIT = Limit(25_000, 1500, 20_000)
OWNER = '{ owner(ownerId: "acme") { %s } }'


def request_state(**values: Any) -> RequestState:
    """The state of a request that is only priced."""
    backend = Backend(cast("Any", None), lambda: NOW, lambda: "new", StoreClock().stamp, timedelta(days=30))
    given = {
        "principal": DEVELOPMENT_ADMIN,
        "variables": {},
        "page_sizes": PageSizes(25, 100),
        "limit": LIMIT,
        "budget": RequestBudget(None, DEVELOPMENT_ADMIN),
        "fair_lock": FairLock(),
        "plan_only": True,
    }
    return RequestState(backend, **{**given, **values})


async def price(document: str, **variables: Any) -> Price:
    """The price of a valid document with one operation."""
    state = request_state(variables=variables)
    (operation,) = EXECUTOR.documents.get(document).operations
    result = await EXECUTOR.execute(operation, state)
    assert not result.errors
    assert state.price is not None
    return state.price


def figures(cost: Cost) -> tuple[int, int, float]:
    """Operations, items and read units."""
    return cost.operations, cost.items, cost.read_units


def steps(priced: Price) -> dict[str, PricedStep]:
    """Every step by its response path."""
    return {step.step.path: step for top in priced.tree for step in top.walk()}
