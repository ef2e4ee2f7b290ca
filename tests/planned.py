"""Holds every request of the suite against its plan: it does no more than the worst case, and no less than is certain.

For each contract, reads by key, Queries and writes are counted at the seam. None may be more than the plan says. Where
the plan is exact they may not be fewer than it says is always sent either: where nothing is conditional, that is all.
The second half is asked only where everything was found and every mutation wrote what it should at its first attempt: a
null, an error, a repeat that is answered with the first result and a write that met another one leave reads out.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from loaders.batch import open_loaders
from loaders.cost import ALWAYS
from resolvers.context import Context
from resolvers.schema import SmartLockerSchema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strawberry.types import ExecutionResult

    from loaders.backend import Backend
    from loaders.batch import Loaders
    from loaders.table.client import QueryPage, Store
    from loaders.table.operations import BatchGet, Get, Key, Put, Query, Transact
    from loaders.table.values import Item
    from resolvers.plan import Plan, PlanNode
    from tests.wire import Wire

__all__ = ["planned"]

KINDS = {
    "GetItem": "by key",
    "BatchGetItem": "by key",
    "Query": "Query",
    "PutItem": "write",
    "TransactWriteItems": "write",
}
READS = frozenset({"GetItem", "BatchGetItem", "Query"})


@dataclass
class CountingStore:
    """Passes everything on, and counts it for one request."""

    store: Store
    sent: Counter[tuple[str, str]] = field(default_factory=Counter)
    items: int = 0
    written: int = 0
    refused: int = 0

    async def get(self, operation: Get) -> Item | None:
        self.sent[operation.contract, "by key"] += 1
        item = await self.store.get(operation)
        self.items += item is not None
        return item

    async def batch_get(self, operation: BatchGet) -> dict[Key, Item]:
        self.sent[operation.contract, "by key"] += 1
        found = await self.store.batch_get(operation)
        self.items += len(found)
        return found

    async def query(self, operation: Query) -> QueryPage:
        self.sent[operation.contract, "Query"] += 1
        page = await self.store.query(operation)
        self.items += len(page.items)
        return page

    async def put(self, operation: Put) -> None:
        await self._write(operation, self.store.put)

    async def transact(self, operation: Transact) -> None:
        await self._write(operation, self.store.transact)

    async def _write(self, operation: Any, write: Any) -> None:
        self.sent[operation.contract, "write"] += 1
        try:
            await write(operation)
        except Exception:
            self.refused += 1
            raise
        self.written += 1


@contextmanager
def planned(wire: Wire) -> Iterator[list[str]]:
    """Watches every request that is served here; yields what went beyond a plan."""
    wrong: list[str] = []
    running: set[int] = set()
    met: set[int] = set()
    execute = SmartLockerSchema.execute

    def counting_context(backend: Backend, loaders: Loaders, *more: Any, **named: Any) -> Context:
        assert loaders
        counted = replace(backend, store=CountingStore(backend.store))
        return Context(counted, open_loaders(counted, named["trace"]), *more, **named)

    async def watched(self: SmartLockerSchema, *args: Any, **named: Any) -> ExecutionResult:
        context: Context = named["context_value"]
        calls, first, own_id = wire.calls, len(wire.calls), id(context)
        running.add(own_id)
        if len(running) > 1:
            met.update(running)
        try:
            result = await execute(self, *args, **named)
        finally:
            running.remove(own_id)
            alone = own_id not in met
            met.discard(own_id)
        store = context.backend.store
        if isinstance(store, CountingStore):
            problems = list(_problems(context.admission.plan, store, result, only_plan=context.admission.only_plan))
            own = calls[first:] if alone and calls is wire.calls else []
            problems += _unit_problems(context.admission.plan, store, own)
            wrong.extend(f"{problem} in {args[0]} with {named.get('variable_values')}" for problem in problems)
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("server.app.Context", counting_context)
        patch.setattr(SmartLockerSchema, "execute", watched)
        yield wrong


def _problems(plan: Plan | None, store: CountingStore, result: ExecutionResult, *, only_plan: bool) -> Iterator[str]:
    if plan is None or only_plan:
        if store.sent:
            yield f"ran {store.sent} without a plan"
        return
    worst: Counter[tuple[str, str]] = Counter()
    certain: Counter[tuple[str, str]] = Counter()
    for charge in plan.charges:
        kind = charge.contract, KINDS[charge.operation]
        worst[kind] += charge.cost.operations
        certain[kind] += charge.cost.operations if charge.when == ALWAYS else 0
    if not store.sent <= worst:
        yield f"sent {store.sent}, planned {worst}"
    if store.items > plan.total.items:
        yield f"read {store.items} items, planned {plan.total.items}"
    if plan.is_exact and _went_well(plan, store, result) and not certain <= store.sent:
        yield f"sent {store.sent}, but {certain} is certain"


def _unit_problems(plan: Plan | None, store: CountingStore, calls: list[Any]) -> Iterator[str]:
    """Where it was the only request and nothing was sent again, the store's own measure is held against the plan."""
    if plan is None or len(calls) != sum(store.sent.values()):
        return
    units = sum(call.units for call in calls if call.operation in READS)
    if units > plan.total.read_units:
        yield f"took {units} read units, planned {plan.total.read_units}"


def _went_well(plan: Plan, store: CountingStore, result: ExecutionResult) -> bool:
    mutations = sum(node.field.startswith("Mutation.") for node in plan.tree)
    return (
        not result.errors
        and store.refused == 0
        and store.written >= mutations
        and all(_was_found(node, result.data) for node in plan.tree)
    )


def _was_found(node: PlanNode, data: Any) -> bool:
    value = (data or {}).get(node.path.rsplit(".", 1)[-1])
    if value is None or isinstance(value, list):
        return False
    return all(_was_found(child, value) for child in node.children)
