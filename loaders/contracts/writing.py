"""Write contracts: they send the declared reads, build the declared steps, and state the price of both."""

import math
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeVar

from domain.activity import ActivityKind
from loaders import keys
from loaders.codecs import LOG_ENTRY
from loaders.contracts.base import MAX_ITEMS, Contract, ContractError
from loaders.contracts.cost import ALWAYS, MET_OTHERS, USUAL_BYTES, Cost, Part, PricedRequest
from loaders.contracts.reading import in_batches, read_item, read_items
from loaders.contracts.write_parts import AS_READ, BatchRead, DeclaredRead, ItemRead, RangeRead, StepRule, put
from loaders.conversion import difference
from loaders.table.client import Store
from loaders.table.clock import Stamp
from loaders.table.operations import Action, BatchGet, Put, Query, Step, Transact, Update
from loaders.table.positions import Key, Position
from loaders.table.values import Item

R = TypeVar("R", ItemRead, RangeRead)
_WRITE_UNIT = 1024


@dataclass(frozen=True, kw_only=True)
class WriteContract(Contract):
    """An atomic write: `reads` come first, then one request with the steps that apply, `most_steps` at most.

    Where a concurrent write changed what was read, reads and write are repeated, in `rounds` rounds at most.
    `fallbacks` are further requests that it may send. `most_entries` is how many records one input may name, and the
    contract's units are for that many. `variants` are the forms of the write that differ in what they read.
    `item_bytes` is the size of the largest item, where steps are for items of any kind. `settles` is the write that
    each round may send where the change before it was not whole.

    `emits` are the kinds of activities that it logs, in up to `log_entries` items of `log_bytes` at most; a write that
    logs nothing says in `silent` why nobody needs to be told.
    """

    operation: str = "TransactWriteItems"
    steps: tuple[StepRule, ...]
    most_steps: int
    reads: tuple[DeclaredRead, ...] = ()
    fallbacks: tuple[DeclaredRead | Part, ...] = ()
    rounds: int = 1
    most_entries: int = 1
    variants: tuple[str, ...] = ()
    item_bytes: int = 0
    settles: "WriteContract | None" = None
    emits: tuple[ActivityKind, ...] = ()
    log_entries: int = 1
    log_bytes: int = 2000
    silent: str = ""

    ALLOWED_OPERATIONS = frozenset({"TransactWriteItems", "PutItem", "UpdateItem"})

    def __post_init__(self) -> None:
        super().__post_init__()
        if bool(self.emits) is bool(self.silent):
            raise ContractError(f"{self.id} must state what it emits, or why nothing")
        if not self.steps or len({rule.name for rule in self.steps}) != len(self.steps):
            raise ContractError(f"{self.id} must name each of its steps once")
        if not 1 <= self.most_steps <= MAX_ITEMS:
            raise ContractError(f"{self.id} must write 1 to {MAX_ITEMS} items at once")
        for rule in self.steps:
            if rule.size(self.item_bytes) <= 0:
                raise ContractError(f"{self.id} must state the size of its items")
            if rule.condition is None and rule.action in {Action.UPDATE, Action.CHECK}:
                raise ContractError(f"{self.id} must state a condition for {rule.name}: it would create a missing item")
        names = [read.name for read in (*self.reads, *self.fallbacks) if isinstance(read, ItemRead | RangeRead)]
        if len(set(names)) != len(names):
            raise ContractError(f"{self.id} must name each of its reads once")
        for part in map(_part, (*self.reads, *self.fallbacks)):
            if not set(part.only) <= set(self.variants):
                raise ContractError(f"{self.id} has no variant {', '.join(set(part.only) - set(self.variants))}")

    @cached_property
    def rules(self) -> tuple[StepRule, ...]:
        """All steps: those that are stated, and those that log them."""
        log = (put("log", LOG_ENTRY, None, most=self.log_entries, item_bytes=self.log_bytes),) if self.emits else ()
        return (*self.steps, *log)

    @property
    def most_items(self) -> int:
        return self.most_steps + (self.log_entries if self.emits else 0)

    async def read(self, store: Store, name: str, *arguments: Any) -> Any:
        """The record of a declared read, or None where there is none."""
        read = self._declared(ItemRead, name)
        return await read_item(store, self.id, read.codec, arguments, consistent=read.consistent)

    async def read_many(self, store: Store, name: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """The records of a declared read of several keys, None for each that does not exist."""
        read = self._declared(ItemRead, name)
        if not 1 <= len(arguments) <= read.at_once:
            raise ContractError(f"{self.id} reads 1 to {read.at_once} of {name} at once, not {len(arguments)}")
        found = await read_items(store, self.id, read.codec, arguments, consistent=read.consistent)
        for record in found:
            if isinstance(record, Exception):
                raise record
        return found

    async def read_together(
        self, store: Store, writes: int, name: str, arguments: Iterable[tuple[Any, ...]]
    ) -> dict[tuple[str, tuple[Any, ...]], Any]:
        """The records of a declared read for several writes by name and arguments, None for each that does not exist.

        Errors are values: what one write needs must not fail the others.
        """
        read, wanted = self._declared(ItemRead, name), list(dict.fromkeys(arguments))
        most = read.at_once * writes
        if len(wanted) > most:
            raise ContractError(f"{self.id} reads at most {most} of {name} for {writes} writes, not {len(wanted)}")
        read_some = partial(read_items, store, self.id, read.codec, consistent=read.consistent)
        found = await in_batches(read_some, wanted)
        return {(name, place): record for place, record in zip(wanted, found, strict=True)}

    async def read_batch(self, store: Store, **arguments: tuple[Any, ...]) -> dict[str, Any]:
        """The records of a declared batch by their names, None for each that does not exist."""
        operation = self.batch_operation(**arguments)
        found = await store.batch_get(operation)
        return {
            item.name: item.codec.read(found[key]) if key in found else None
            for item, key in zip(self._batch(arguments).items, operation.keys, strict=True)
        }

    async def read_range(self, store: Store, name: str, *arguments: Any) -> AsyncIterator[tuple[Position, Any]]:
        """The records of a declared range one by one, each with its key."""
        codec, start = self._declared(RangeRead, name).codec, None
        while True:
            page = await store.query(self.range_operation(name, *arguments, start=start))
            for place, item in page.placed:
                yield place, codec.read(item)
            start = page.last
            if start is None:
                return

    def batch_operation(self, **arguments: tuple[Any, ...]) -> BatchGet:
        """The request of the declared batch of exactly these items."""
        wanted = (item.codec.key(*arguments[item.name]) for item in self._batch(arguments).items)
        return BatchGet(self.id, tuple(wanted), consistent=True)

    def range_operation(self, name: str, *arguments: Any, start: Position | None = None) -> Query:
        read = self._declared(RangeRead, name)
        return Query(self.id, read.range(*arguments), read.limit, read.forward, start, consistent=True)

    def step(
        self,
        name: str,
        key_arguments: tuple[Any, ...],
        attributes: Mapping[str, Any] | None = None,
        *,
        added: Mapping[str, int] | None = None,
        **values: Any,
    ) -> Step:
        """The step of that name on the item of these key arguments; its condition compares with `values`."""
        rule = self._rule(name)
        return rule.step(rule.key(*key_arguments), attributes or {}, values, added)

    def record_step(self, name: str, record: Any, more: dict[str, Any] | None = None, **values: Any) -> Step:
        """The step of that name that writes a record, and `more` attributes beside it."""
        rule = self._rule(name)
        return rule.step(rule.codec.key_of(record), rule.codec.encode(record) | (more or {}), values)

    def change_step(
        self,
        name: str,
        before: Any,
        after: Any,
        more: dict[str, Any] | None = None,
        *,
        at: tuple[Any, ...] = (),
        **values: Any,
    ) -> Step:
        """The step of that name that writes the difference between a record as it was read and as it becomes.

        `at` are the arguments of its key, where the record does not tell them.
        """
        rule = self._rule(name)
        changes = difference(rule.codec.encode(before), rule.codec.encode(after))
        return rule.step(rule.key(*at) if at else rule.codec.key_of(before), changes | (more or {}), values)

    def as_read_step(self, name: str, item: Item, attributes: Mapping[str, Any] | None = None) -> Step:
        """The step of that name on an item that must be as it was read."""
        rule, names = self._rule(name), sorted(name for name in item if name.isidentifier())
        if rule.condition != AS_READ:
            raise ContractError(f"{self.id} has another condition for {name}")
        condition = " AND ".join(f"#{name} = :{name}AsRead" for name in names)
        values = {f":{name}AsRead": item[name] for name in names}
        return Step(name, rule.action, Key.of_item(item), attributes or {}, condition, values)

    def check_emitted(self, kinds: Iterable[ActivityKind]) -> None:
        if undeclared := set(kinds) - set(self.emits):
            raise ContractError(f"{self.id} does not emit {', '.join(undeclared)}")

    def log_step(self, shard: int, stamp: Stamp, entry_id: str, attributes: dict[str, Any]) -> Step:
        """The step that logs what a transaction does, with these attributes of an entry beside those of its key."""
        own = {"entityType": LOG_ENTRY.entity_type, "shard": shard, "stamp": stamp.at, "entryId": entry_id}
        return Step("log", Action.PUT, keys.log_entry(shard, stamp.at, entry_id), own | attributes, stamp=stamp)

    def transact(self, *steps: Step) -> Transact:
        if self.operation == "UpdateItem" or not 1 <= len(steps) <= self.most_items:
            raise ContractError(f"{self.id} does not write {len(steps)} items in a transaction")
        is_logged = steps[-1].stamp is not None  # what logs a transaction comes last
        if self.emits and not is_logged and any(step.action is not Action.CHECK for step in steps):
            raise ContractError(f"{self.id} must log what it changes")
        self._check_own(steps)
        return Transact(self.id, steps)

    def put(self, step: Step) -> Put:
        if self.operation != "PutItem" or step.action is not Action.PUT:
            raise ContractError(f"{self.id} does not put {step.name} alone")
        self._check_own((step,))
        return Put(self.id, step)

    def update(self, step: Step) -> Update:
        if self.operation != "UpdateItem" or step.action is not Action.UPDATE or step.condition is None:
            raise ContractError(f"{self.id} does not update {step.name} alone")
        self._check_own((step,))
        return Update(self.id, step)

    @property
    def write_units(self) -> int:
        """The most write units: the most expensive steps that fit into one request."""
        return self._units(lambda size: size)

    def _units(self, size_of: Callable[[int], int]) -> int:
        """A transaction writes, and checks, every item of the table twice; the index follows once for each write."""
        is_plain = self.operation == "UpdateItem" or (self.operation == "PutItem" and self.most_steps == 1)
        twice = 1 if is_plain else 2
        units = [
            (twice + rule.index_writes) * math.ceil(size_of(rule.size(self.item_bytes)) / _WRITE_UNIT)
            for rule in self.rules
            for _ in range(rule.most)
        ]
        return sum(sorted(units, reverse=True)[: self.most_items])

    def costs(self, variant: str | None, entries: int) -> list[PricedRequest]:
        """Each request that the variant may send for that many entries."""
        if variant not in (self.variants or (None,)):
            raise ContractError(f"{self.id} has no variant {variant}")
        reads = self._costs_of(self.reads, variant, entries)
        share = entries / self.most_entries
        write = PricedRequest(
            self.operation,
            ALWAYS,
            Cost(1, 0, 0, math.ceil(self.write_units * share)),
            Cost(1, 0, 0, math.ceil(self._units(lambda size: min(size, USUAL_BYTES)) * share)),
        )
        again = [
            request._replace(when=MET_OTHERS, maximum=request.maximum * (self.rounds - 1))
            for request in (*reads, write)
        ]
        others = self._costs_of(self.fallbacks, variant, entries)
        return [*reads, write, *(again if self.rounds > 1 else ()), *others]

    def costs_of_each(self, writes: int) -> list[PricedRequest]:
        """Each request of so many writes that share their first reads."""
        return [
            _shared(request, writes)
            if request.when == ALWAYS and request.operation != self.operation
            else request._replace(maximum=request.maximum * writes, expected=request.expected * writes)
            for request in self.costs(None, self.most_entries)
        ]

    def read_costs(self, writes: int) -> list[PricedRequest]:
        """Each request that precedes so many writes, for a query that shows what they would be decided by."""
        return [_shared(request, writes) for request in self._costs_of(self.reads, None, self.most_entries)]

    def _costs_of(
        self, requests: tuple[DeclaredRead | Part, ...], variant: str | None, entries: int
    ) -> list[PricedRequest]:
        priced = []
        for part in map(_part, requests):
            if part.serves(variant):
                maximum = part.cost(entries, self.most_entries)
                # A batch of one key is sent as a GetItem.
                is_one = (part.operation, maximum.items) == ("BatchGetItem", 1)
                expected = part.expected(entries, self.most_entries)
                priced.append(PricedRequest("GetItem" if is_one else part.operation, part.when, maximum, expected))
        return priced

    def _check_own(self, steps: Sequence[Step]) -> None:
        names = [step.name for step in steps]
        counts = Counter(names) if len(set(names)) < len(names) else dict.fromkeys(names, 1)
        for step in steps:
            rule = self._rule(step.name)
            if step.action is not rule.action or rule.condition not in {step.condition, AS_READ}:
                raise ContractError(f"{self.id} declares another step {step.name}")
            if counts[step.name] > rule.most:
                raise ContractError(f"{self.id} does not write {counts[step.name]} items of {step.name}")

    def _rule(self, name: str) -> StepRule:
        for rule in self.rules:
            if rule.name == name:
                return rule
        raise ContractError(f"{self.id} declares no step {name}")

    def _declared(self, kind: type[R], name: str) -> R:
        for read in (*self.reads, *self.fallbacks):
            if isinstance(read, kind) and read.name == name:
                return read
        raise ContractError(f"{self.id} declares no read {name}")

    def _batch(self, names: Iterable[str]) -> BatchRead:
        wanted = set(names)
        for read in self.reads:
            if isinstance(read, BatchRead) and {item.name for item in read.items} == wanted:
                return read
        raise ContractError(f"{self.id} declares no batch of {', '.join(sorted(wanted))}")


def new_items(steps: Iterable[Step]) -> list[tuple[Key, Mapping[str, Any]]]:
    """The items that steps put, by their keys."""
    return [(step.key, step.attributes) for step in steps if step.action is Action.PUT]


def _part(request: DeclaredRead | Part) -> Part:
    return request if isinstance(request, Part) else request.part


def _shared(request: PricedRequest, writes: int) -> PricedRequest:
    """The price for so many writes, which share their reads by key, 100 keys at a time."""
    maximum, expected = request.maximum * writes, request.expected * writes
    if request.operation == "Query":
        return request._replace(maximum=maximum, expected=expected)
    return PricedRequest(
        "GetItem" if maximum.items == 1 else "BatchGetItem",
        request.when,
        *(replace(cost, operations=math.ceil(cost.items / MAX_ITEMS)) for cost in (maximum, expected)),
    )
