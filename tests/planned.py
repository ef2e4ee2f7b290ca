"""Holds every request of the suite against its plan: it does no more than the worst case, and no less than is certain.

For each contract, reads by key, Queries and writes are counted at the seam. None may be more than the plan says; nor,
where nothing of a contract was read strongly or written, more than it says without fallbacks, which begin like that.
In a document without pages they may not be fewer than it says is always sent either: where nothing is conditional, that
is all. The second half is asked only where everything was found and every mutation wrote what it should at its first
attempt: a null, an error, a repeat that is answered with the first result and a write that met another one leave reads
out. The units that the store says it took are held against the plan too, wherever they are known.

A test's own application is measured on the wire, so that its requests stay as they are; in a server that a test starts
as a process, every request asks the store what it took.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import server.app
from loaders.batch import open_loaders
from loaders.cost import ALWAYS, LARGE_PAGE, UNLESS_READ
from loaders.table.client import DynamoStore
from loaders.table.recording import RecordedStore
from loaders.trace import Trace
from resolvers.context import Context
from resolvers.fieldkinds import REFUSED
from resolvers.planner import WHOSE_LOCKER
from resolvers.schema import SmartLockerSchema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from strawberry.types import ExecutionResult

    from loaders.backend import Backend
    from loaders.batch import Loaders
    from loaders.table.client import QueryPage, Store
    from loaders.table.operations import BatchGet, Get, Key, Operation, Put, Query, Transact
    from loaders.table.values import Item
    from resolvers.plan import Plan, PlanNode
    from tests.wire import Wire

__all__ = ["OnTheWire", "Recorded", "planned"]

KINDS = {
    "GetItem": "by key",
    "BatchGetItem": "by key",
    "Query": "Query",
    "PutItem": "write",
    "TransactWriteItems": "write",
}
WITHOUT_FALLBACKS = frozenset({ALWAYS, UNLESS_READ, LARGE_PAGE, REFUSED, WHOSE_LOCKER})
READS = frozenset({"GetItem", "BatchGetItem", "Query"})


@dataclass
class CountingStore:
    """Passes everything on, and counts it for one request."""

    store: Store
    trace: Trace | None = None
    sent: Counter[tuple[str, str]] = field(default_factory=Counter)
    items: int = 0
    written: int = 0
    refused: int = 0
    strong: set[str] = field(default_factory=set)

    async def get(self, operation: Get) -> Item | None:
        self._count(operation, "by key", is_strong=operation.consistent)
        item = await self.store.get(operation)
        self.items += item is not None
        return item

    async def batch_get(self, operation: BatchGet) -> dict[Key, Item]:
        self._count(operation, "by key", is_strong=operation.consistent)
        found = await self.store.batch_get(operation)
        self.items += len(found)
        return found

    async def query(self, operation: Query) -> QueryPage:
        self._count(operation, "Query", is_strong=operation.consistent)
        page = await self.store.query(operation)
        self.items += len(page.items)
        return page

    async def put(self, operation: Put) -> None:
        await self._write(operation, self.store.put)

    async def transact(self, operation: Transact) -> None:
        await self._write(operation, self.store.transact)

    async def _write(self, operation: Any, write: Any) -> None:
        self._count(operation, "write", is_strong=True)
        try:
            await write(operation)
        except Exception:
            self.refused += 1
            raise
        self.written += 1

    def _count(self, operation: Operation, kind: str, *, is_strong: bool) -> None:
        self.sent[operation.contract, kind] += 1
        if is_strong:
            self.strong.add(operation.contract)


class OnTheWire:
    """Measures what a request took by what went over the wire, where it was the only one under way."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._running: set[int] = set()
        self._met: set[int] = set()

    def counting(self, store: Store, _: Trace | None) -> CountingStore:
        """The store as it is, counted."""
        return CountingStore(store)

    @contextmanager
    def running(self, store: CountingStore) -> Iterator[Callable[[], float | None]]:
        """Gives the read units that were taken while the block ran, if nothing else was sent and nothing again."""
        calls, first, own = self._wire.calls, len(self._wire.calls), id(store)
        self._running.add(own)
        if len(self._running) > 1:
            self._met.update(self._running)

        def units() -> float | None:
            sent = calls[first:]
            is_known = not is_met and calls is self._wire.calls and len(sent) == sum(store.sent.values())
            return sum(call.units for call in sent if call.operation in READS) if is_known else None

        is_met = True
        try:
            yield units
        finally:
            self._running.remove(own)
            is_met = own in self._met
            self._met.discard(own)


class Recorded:
    """Measures what a request took by recording it; one that is recorded anyhow only if that asks for units too."""

    def counting(self, store: Store, trace: Trace | None) -> CountingStore:
        """The store, recorded and counted."""
        if trace is None:
            trace = Trace()
            assert isinstance(store, DynamoStore)
            store = RecordedStore(store, trace)
        return CountingStore(store, trace)

    @contextmanager
    def running(self, store: CountingStore) -> Iterator[Callable[[], float | None]]:
        """Gives the read units that the store said it took, where nothing was sent again."""
        trace = store.trace
        assert trace is not None

        def units() -> float | None:
            is_known = trace.wants_units and not any(record.retries for record in trace.records)
            return trace.units(is_write=False) if is_known else None

        yield units


@contextmanager
def planned(meter: OnTheWire | Recorded, report: Callable[[list[str]], None]) -> Iterator[None]:
    """Watches every request that is served here, and reports of each what went beyond its plan."""
    root: Any = server.app
    schema: Any = SmartLockerSchema
    execute, new_context = schema.execute, root.Context

    def counting_context(backend: Backend, loaders: Loaders, *more: Any, **named: Any) -> Context:
        assert loaders
        counted = replace(backend, store=meter.counting(backend.store, named["trace"]))
        return Context(counted, open_loaders(counted, named["trace"]), *more, **named)

    async def watched(self: SmartLockerSchema, *args: Any, **named: Any) -> ExecutionResult:
        context: Context = named["context_value"]
        store = context.backend.store
        if not isinstance(store, CountingStore):
            return await execute(self, *args, **named)  # type: ignore[no-any-return]
        result: ExecutionResult | None = None
        try:
            with meter.running(store) as units:
                result = await execute(self, *args, **named)
        finally:
            admission = context.admission
            problems = [
                *_problems(admission.plan, store, result, only_plan=admission.only_plan),
                *_unit_problems(admission.plan, units()),
            ]
            report([f"{problem} in {args[0]} with {named.get('variable_values')}" for problem in problems])
        return result

    root.Context, schema.execute = counting_context, watched
    try:
        yield
    finally:
        root.Context, schema.execute = new_context, execute


def _problems(
    plan: Plan | None, store: CountingStore, result: ExecutionResult | None, *, only_plan: bool
) -> Iterator[str]:
    if plan is None or only_plan:
        if store.sent:
            yield f"ran {store.sent} without a plan"
        return
    worst: Counter[tuple[str, str]] = Counter()
    certain: Counter[tuple[str, str]] = Counter()
    for charge in plan.charges:
        kind = charge.contract, KINDS[charge.operation]
        if charge.when in WITHOUT_FALLBACKS or charge.contract in store.strong:
            worst[kind] += charge.cost.operations
        certain[kind] += charge.cost.operations if charge.when == ALWAYS else 0
    if not store.sent <= worst:
        yield f"sent {store.sent}, planned {worst}"
    if store.items > plan.total.items:
        yield f"read {store.items} items, planned {plan.total.items}"
    if result is None:
        return
    if not plan.has_pages and _went_well(plan, store, result) and not certain <= store.sent:
        yield f"sent {store.sent}, but {certain} is certain"


def _unit_problems(plan: Plan | None, units: float | None) -> Iterator[str]:
    if plan is not None and units is not None and units > plan.total.read_units:
        yield f"took {units} read units, planned {plan.total.read_units}"


def _went_well(plan: Plan, store: CountingStore, result: ExecutionResult) -> bool:
    mutations = sum(node.field.startswith("Mutation.") for node in plan.tree)
    return (
        not result.errors
        and store.refused == 0
        and store.written >= mutations
        and all(_was_found(node, result.data or {}) for node in plan.tree)
    )


def _was_found(node: PlanNode, data: Any) -> bool:
    """Whether nothing is missing at a field and below it, as far as anything is certain there."""
    key = node.path.rsplit(".", 1)[-1]
    is_certain = any(charge.when == ALWAYS for below in node.walk() for charge in below.charges)
    if not is_certain or key not in data:  # what is absent is of another type
        return True
    values = data[key] if isinstance(data[key], list) else [data[key]]
    return bool(values) and all(
        value is not None and all(_was_found(child, value) for child in node.children) for value in values
    )
