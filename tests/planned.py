"""Compares every request of the suite with its price: what it sends and reads never exceeds the maximum.

Operations are counted per contract and kind, items and capacity units over the whole request.
"""

from collections import Counter
from collections.abc import Callable, Iterator

from loaders.trace import Trace
from resolvers.execution import Result
from resolvers.request_state import RequestState
from server.http.request import GraphQLRequest

KINDS = {
    "GetItem": "by key",
    "BatchGetItem": "by key",
    "Query": "Query",
    "PutItem": "write",
    "TransactWriteItems": "write",
}


class PriceCheck:
    """An observer that records every request and reports what exceeds its price."""

    def __init__(self, report: Callable[[list[str]], None]) -> None:
        self._report = report

    def started(self, state: RequestState) -> None:
        if state.trace is None:
            state.record(Trace())

    def finished(self, state: RequestState, operation: GraphQLRequest, result: Result | None) -> None:
        del result
        self._report([f"{problem} in {operation.query} with {operation.variables}" for problem in _problems(state)])


def _problems(state: RequestState) -> Iterator[str]:
    trace, price = state.trace, state.price
    assert trace is not None
    if price is None or state.plan_only:
        if trace.records:
            yield f"sent {len(trace.records)} operations without a price"
        return
    sent = Counter((record.contract, KINDS[record.operation.name]) for record in trace.records)
    allowed: Counter[tuple[str, str]] = Counter()
    for priced in (priced for top in price.tree for priced in top.walk()):
        for charge in priced.charges:
            allowed[charge.contract.id, KINDS[charge.operation]] += charge.maximum.operations
    if not sent <= allowed:
        yield f"sent {dict(sent)}, priced at {dict(allowed)}"
    spent = trace.spent()
    if spent.items > price.maximum.items:
        yield f"read {spent.items} items, priced at {price.maximum.items}"
    if any(record.retries for record in trace.records):
        return  # what is sent again by the SDK is not priced
    if spent.read_units > price.maximum.read_units:
        yield f"took {spent.read_units} read units, priced at {price.maximum.read_units}"
    if spent.write_units > price.maximum.write_units:
        yield f"took {spent.write_units} write units, priced at {price.maximum.write_units}"
