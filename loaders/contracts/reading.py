"""Read contracts: each holds its key or range, codec, order, page and consistency, and runs with exactly these."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Generic, TypeVar

from domain.errors import BadInputError, InvalidCursorError, SmartLockerError
from domain.retention import Kept
from domain.times import EARLIEST, Instant
from loaders.concurrency import together
from loaders.contracts.base import MAX_ITEMS, Consistency, Contract, ContractError, Order, PageRule
from loaders.contracts.cost import Cost, page_cost, read_units
from loaders.conversion import Codec, DamagedItemError
from loaders.cursors import decode_cursor
from loaders.pages import Page, PageRequest
from loaders.table.client import QueryPage, Store
from loaders.table.errors import UnreadKeysError
from loaders.table.operations import BatchGet, Get, Query
from loaders.table.positions import Between, Key, KeyRange, Position
from loaders.table.recording import asking

logger = logging.getLogger(__name__)

M = TypeVar("M")
K = TypeVar("K")


@dataclass(frozen=True, kw_only=True)
class _ReadContract(Contract, Generic[M]):
    """`kept` says how long its items are shown; those of a list have keys by that time."""

    codec: Codec[M]
    kept: Kept | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.codec.usual <= self.codec.largest:
            raise ContractError(f"{self.id} must read items whose largest and usual sizes are stated")


@dataclass(frozen=True, kw_only=True)
class ReadOne(_ReadContract[M]):
    """One item by its key, or up to 100 by theirs.

    A claim's contract says in `then` which contract reads what the claim names.
    """

    consistency: Consistency = Consistency.EVENTUAL
    then: ReadOne[Any] | None = None
    operation: str = field(default="GetItem", init=False)

    ALLOWED_OPERATIONS = frozenset({"GetItem"})

    @property
    def key(self) -> Callable[..., Key]:
        return self.codec.key

    async def read(self, store: Store, *key: Any, consistent: bool = False) -> M | None:
        self._check(1, consistent=consistent)
        is_strong = consistent or self.consistency is Consistency.STRONG
        return await read_item(store, self.id, self.codec, key, consistent=is_strong)

    async def read_many(
        self, store: Store, keys: Sequence[tuple[Any, ...]], *, consistent: bool = False
    ) -> list[M | Exception | None]:
        """Reads up to 100 different items, in the order of their keys.

        An item that is damaged, or that the store left unread, is an error in its place.
        """
        self._check(len(keys), consistent=consistent)
        is_strong = consistent or self.consistency is Consistency.STRONG
        return await read_items(store, self.id, self.codec, keys, consistent=is_strong)

    def _check(self, count: int, *, consistent: bool) -> None:
        if consistent and self.consistency is Consistency.EVENTUAL:
            raise ContractError(f"{self.id} has no strong read")
        if not 1 <= count <= MAX_ITEMS:
            raise ContractError(f"{self.id} reads 1 to {MAX_ITEMS} items at once, not {count}")

    @property
    def maximum_units(self) -> float:
        """Read units of the largest item, in an eventually consistent read."""
        return read_units([self.codec.largest], self.operation)

    @property
    def expected_units(self) -> float:
        """Read units of a usual item, in an eventually consistent read."""
        return read_units([self.codec.usual], self.operation)


@dataclass(frozen=True, kw_only=True)
class ReadKinds(Contract):
    """Items of different kinds, one of each at most, in one request."""

    codecs: tuple[Codec[Any], ...]
    operation: str = field(default="BatchGetItem", init=False)

    ALLOWED_OPERATIONS = frozenset({"BatchGetItem"})

    async def read(self, store: Store, keys: Sequence[tuple[Codec[Any], tuple[Any, ...]]]) -> list[Any]:
        """Reads an item of each of these kinds: None where there is none, and an error for a damaged one."""
        if not {codec for codec, _ in keys} <= set(self.codecs):
            raise ContractError(f"{self.id} does not read all of these kinds")
        if not keys:
            return []
        wanted = [codec.key(*parts) for codec, parts in keys]
        found = await store.batch_get(BatchGet(self.id, tuple(wanted)))
        return [
            codec.try_read(found[key]) if key in found else None for (codec, _), key in zip(keys, wanted, strict=True)
        ]

    def expected(self, codecs: Sequence[Codec[Any]]) -> Cost:
        return Cost(1, len(codecs), read_units([codec.usual for codec in codecs], self.operation))

    def maximum(self, codecs: Sequence[Codec[Any]]) -> Cost:
        return Cost(1, len(codecs), read_units([codec.largest for codec in codecs], self.operation))


@dataclass(frozen=True, kw_only=True)
class ReadPage(_ReadContract[M]):
    """An ordered, bounded range of one partition."""

    range: Callable[..., KeyRange]
    page_rule: PageRule = field(default_factory=PageRule)
    errors: tuple[type[SmartLockerError], ...] = (BadInputError, InvalidCursorError)
    orders: tuple[Order, ...] = (Order.ASC,)
    operation: str = field(default="Query", init=False)

    ALLOWED_OPERATIONS = frozenset({"Query"})

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.page_rule, PageRule):
            raise ContractError(f"{self.id} must have a page: no list is unbounded")
        if not self.orders:
            raise ContractError(f"{self.id} must state its order")
        if self.page_rule.is_small and page_cost(self.page_rule.maximum + 1, self.codec.largest).operations > 1:
            raise ContractError(f"{self.id} has pages of more than 1 MB")

    @property
    def consistency(self) -> Consistency:
        """Lists are eventually consistent, as an index cannot be otherwise."""
        return Consistency.EVENTUAL

    async def page(
        self,
        store: Store,
        request: PageRequest,
        order: Order,
        *key: Any,
        cursors: KeyRange | None = None,
        since: Instant = EARLIEST,
    ) -> Page[M]:
        """Reads one page.

        It reads one item more than the page has: a Query that stops exactly at its Limit says that there may be more,
        so only another item proves that there is. A damaged item is left out and noted: it must not hide the others.

        `cursors` is the range of the list's cursors, where the list may have begun earlier than it does now: a cursor
        from before its beginning then stands for the beginning. So does one from before `since`, the time before which
        items are not kept: those that the store has not deleted yet are not read.
        """
        self._check(request, order)
        within = self.range(*key_since(key, since))
        start = None
        if request.cursor is not None:
            start = decode_cursor(request.cursor, cursors or self.range(*key), request.cursor_argument)
            if isinstance(within, Between) and start not in within:
                start = within.beginning
        found = await self._read(store, request, order, within, start)
        models = self.codec.try_read_all(found.items[: request.size])
        page = Page.of(models, found.items[: request.size], request, len(found.items), found.position_of)
        return without_damage(page)

    async def merged_page(
        self,
        store: Store,
        request: PageRequest,
        order: Order,
        keys: Sequence[tuple[Any, ...]],
        permits: asyncio.Semaphore,
        since: Instant = EARLIEST,
    ) -> Page[M]:
        """Reads one page of several ranges, as if they were one: one Query for each, with one of the permits.

        They are ordered alike, so a position in one of them is a position in all. `since` is as for one page.
        """
        self._check(request, order)
        ranges = [self.range(*key_since(key, since)) for key in keys]
        start = _start_in_any(request, [self.range(*key) for key in keys])
        reads = (self._read(store, request, order, within, start and within.same_rank(*start)) for within in ranges)
        pages = await together(reads, permits)
        # An item that is moving from one range to another may be seen in both.
        found = {
            within.rank(place): (place, item)
            for within, page in zip(ranges, pages, strict=True)
            for place, item in page.placed
        }
        is_reverse = (order is Order.ASC) is request.backward
        shown = [found[rank] for rank in sorted(found, reverse=is_reverse)[: request.size]]
        models = self.codec.try_read_all([item for _, item in shown])
        return without_damage(Page.of(models, [place for place, _ in shown], request, len(found)))

    def _check(self, request: PageRequest, order: Order) -> None:
        if order not in self.orders:
            raise ContractError(f"{self.id} has no order {order}")
        if not 1 <= request.size <= self.page_rule.maximum:
            raise ContractError(f"{self.id} has pages of 1 to {self.page_rule.maximum} items, not {request.size}")

    async def _read(
        self, store: Store, request: PageRequest, order: Order, within: KeyRange, start: Position | None
    ) -> QueryPage:
        forward = (order is Order.ASC) is not request.backward
        query = Query(self.id, within, request.size + self.page_rule.look_ahead, forward, start, shape=self.codec.shape)
        return await store.query(query)

    async def whole(self, store: Store, *key: Any) -> dict[str, M | DamagedItemError]:
        """Reads all items of a range that its keys alone bound, by sort key.

        A damaged item is an error in its place, which it still takes.
        """
        if not self.page_rule.whole:
            raise ContractError(f"{self.id} is read page by page")
        found = await store.query(Query(self.id, self.range(*key), self.page_rule.maximum, shape=self.codec.shape))
        read = {place.sk: self.codec.try_read(item) for place, item in found.placed}
        _log_damage(read.values())
        return read

    async def first(self, store: Store, *key: Any) -> M | None:
        """Reads the first item of a range in the contract's own order."""
        query = Query(self.id, self.range(*key), 1, self.orders[0] is Order.ASC, shape=self.codec.shape)
        found = await store.query(query)
        return self.codec.read(found.items[0]) if found.items else None

    def expected(self, size: int) -> Cost:
        return _page_cost(size + self.page_rule.look_ahead, self.codec.usual)

    def maximum(self, size: int) -> Cost:
        return _page_cost(size + self.page_rule.look_ahead, self.codec.largest)


@dataclass(frozen=True, kw_only=True)
class ReadTail(_ReadContract[M]):
    """The items of a range that grows at its end, up to `most` in order; no field can be bound to it."""

    range: Callable[..., KeyRange]
    most: int
    operation: str = field(default="Query", init=False)

    ALLOWED_OPERATIONS = frozenset({"Query"})

    async def read(
        self, store: Store, *key: Any, consistent: bool, after: Position | None = None
    ) -> tuple[list[tuple[Position, M | DamagedItemError]], bool]:
        """The items with their keys, and whether these are all; a damaged one is an error in its place."""
        shape = self.codec.shape
        query = Query(self.id, self.range(*key), self.most, start=after, consistent=consistent, shape=shape)
        found = await store.query(query)
        return [(place, self.codec.try_read(item)) for place, item in found.placed], found.last is None


def key_since(key: tuple[Any, ...], since: Instant) -> tuple[Any, ...]:
    """The key of a range that ends with its first and last time, from `since` on; an empty range if that is later."""
    if since == EARLIEST:
        return key
    *parent, start, end = key
    return (*parent, min(max(start, since), f"{end}~"), end)


async def read_item(
    store: Store, contract: str, codec: Codec[M], key: tuple[Any, ...], *, consistent: bool
) -> M | None:
    """Reads one item for a contract; see `ReadOne.read`."""
    item = await store.get(Get(contract, codec.key(*key), consistent, shape=codec.shape))
    return None if item is None else codec.read(item)


async def read_items(
    store: Store, contract: str, codec: Codec[M], keys: Sequence[tuple[Any, ...]], *, consistent: bool
) -> list[M | Exception | None]:
    """Reads up to 100 different items of one kind for a contract; see `ReadOne.read_many`."""
    wanted, read = [codec.key(*parts) for parts in keys], codec.try_read
    if len(wanted) == 1:
        item = await store.get(Get(contract, wanted[0], consistent, shape=codec.shape))
        return [None if item is None else read(item)]
    try:
        found = await store.batch_get(BatchGet(contract, tuple(wanted), consistent, shape=codec.shape))
    except UnreadKeysError as error:
        found, unread = error.found, error.unread
        return [read(found[key]) if key in found else error if key in unread else None for key in wanted]
    if len(found) == len(wanted):
        return [*codec.try_read_all([found[key] for key in wanted])]
    return [read(found[key]) if key in found else None for key in wanted]


async def in_batches(
    read: Callable[[Sequence[K]], Awaitable[list[M | Exception | None]]], keys: Sequence[K]
) -> list[M | Exception | None]:
    """Reads any number of keys, 100 at a time; the error of a batch is in the place of each of its items."""

    async def read_batch(first: int) -> list[M | Exception | None]:
        batch = keys[first : first + MAX_ITEMS]
        try:
            with asking(None, len(batch)):
                return await read(batch)
        except Exception as error:  # noqa: BLE001  # an error is a value here
            return [error] * len(batch)

    batches = await together(map(read_batch, range(0, len(keys), MAX_ITEMS)))
    return [record for found in batches for record in found]


def without_damage(page: Page[M | DamagedItemError]) -> Page[M]:
    """The page without its damaged items, each of which is logged."""
    if DamagedItemError not in set(map(type, page.nodes)):
        return page  # type: ignore[return-value]  # nothing of it is damaged
    damages = _log_damage(page.nodes)
    kept = page.with_nodes([None if isinstance(node, DamagedItemError) else node for node in page.nodes])
    kept.damage = page.damage or damages[0]
    return kept


def _log_damage(nodes: Iterable[Any]) -> list[DamagedItemError]:
    damages = [node for node in nodes if isinstance(node, DamagedItemError)]
    for damage in damages:
        logger.error("left out of its list: %s", damage)
    return damages


def _start_in_any(request: PageRequest, ranges: Sequence[KeyRange]) -> tuple[Position, str] | None:
    """The position that a cursor of one of these ranges names, and its rank."""
    if request.cursor is None:
        return None
    for within in ranges:
        try:
            position = decode_cursor(request.cursor, within, request.cursor_argument)
        except InvalidCursorError as error:
            refusal = error
        else:
            return position, within.rank(position)
    raise refusal


_page_cost = lru_cache(4096)(page_cost)
