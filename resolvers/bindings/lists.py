"""Fields that find many objects: pages, the newest of a list, and lists that are read as a whole."""

from __future__ import annotations

import asyncio
import logging
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from domain.authorization import is_admin, searched_audiences
from domain.errors import BadInputError
from loaders.contracts.base import Order
from loaders.contracts.cost import Cost
from loaders.contracts.reading import without_damage
from loaders.conversion import DamagedItemError
from loaders.keys import masked
from loaders.pages import ALL_TIMES, Window, page_request
from loaders.table.recording import asking
from resolvers.bindings.base import Argument, Charge, Reading, bound_field, look_up_charge
from resolvers.bindings.references import NAMED_BUT_NOT_FOUND, load_named
from resolvers.bindings.rules import AS_OBJECT, Rule

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence

    from loaders.contracts.base import Contract
    from loaders.contracts.reading import ReadOne, ReadPage
    from loaders.pages import Page, PageRequest
    from loaders.table.client import Store
    from resolvers.bindings.base import FieldStep
    from resolvers.request_state import ArgumentContext, RequestState

logger = logging.getLogger(__name__)

LARGE_PAGE = "only where a page has more than 1 MB"

PAGING = (
    Argument("first", int | None, "Number of items from the start of the list, or after the cursor `after`."),
    Argument("after", str | None, "Cursor after which the page starts."),
    Argument("last", int | None, "Number of items from the end of the list, or before the cursor `before`."),
    Argument("before", str | None, "Cursor before which the page ends."),
)
"""The arguments of every list."""


@dataclass(frozen=True, slots=True)
class BoundPage:
    """The page that one request asks for: of which contract, with which key parts after the parent's."""

    contract: ReadPage[Any]
    request: PageRequest
    order: Order
    keys: tuple[tuple[Any, ...], ...]
    """One for each list that the page is made of: more than one where lists are merged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages(Reading):
    """A page of a list for each parent.

    A list whose items are copies says in `full` which contract reads the records; they are read only where a field
    needs more than the copies have. `narrowed` is the argument that selects another contract, whose range takes the
    argument's value too.
    """

    contract: ReadPage[Any]
    window: Window[Any] | None = None
    """The widest window, where the list can be narrowed to one."""
    full: ReadOne[Any] | None = None
    full_key: str = ""
    full_rule: Rule = AS_OBJECT
    narrowed: tuple[str, ReadPage[Any]] | None = None
    merged: tuple[str, tuple[Any, ...]] | None = None
    """The argument that is a part of the contract's own range, and its values: without it, their lists are merged."""
    offers: ReadPage[Any] | None = None
    """What callers other than admins see in place of the whole list: what is offered to their audiences, merged."""
    overlapping: tuple[ReadPage[Any], ReadPage[Any]] | None = None
    """What reads a window with the argument `overlapping`: the list, and the item before, which may reach into it."""

    @property
    def contracts(self) -> tuple[Contract, ...]:
        return (
            self.contract,
            *(() if self.narrowed is None else (self.narrowed[1],)),
            *(() if self.offers is None else (self.offers,)),
            *(() if self.full is None else (self.full,)),
            *(() if self.overlapping is None else self.overlapping),
        )

    def bind(self, values: Mapping[str, Any], request: ArgumentContext) -> BoundPage:
        sizes = request.page_sizes
        wanted = page_request(
            first=values.get("first"),
            after=values.get("after"),
            last=values.get("last"),
            before=values.get("before"),
            default=sizes.default,
            maximum=sizes.maximum,
        )
        contract, key = self.contract, tuple[Any, ...]()
        if self.window is not None:
            window = _window(values.get("window"), self.window)
            key = (*key, window.start, window.end)
        if self.overlapping is not None and values.get("overlapping") is not None:
            if values.get("window") is not None:
                raise BadInputError("Use window or overlapping, but not both.", ("overlapping",))
            window = _window(values["overlapping"], ALL_TIMES, "overlapping")
            contract, key = self.overlapping[0], (window.start, window.end)
        if self.narrowed is not None and values.get(self.narrowed[0]) is not None:
            contract, key = self.narrowed[1], (values[self.narrowed[0]],)
        keys: tuple[tuple[Any, ...], ...] = (key,)
        if self.offers is not None:
            owner_ids = values.get("owner_ids")
            if not is_admin(request.principal):
                if contract is not self.contract:
                    raise BadInputError("Only admins can select a status.", ("status",))
                contract, keys = self.offers, tuple(searched_audiences(request.principal, owner_ids))
            elif owner_ids is not None:
                raise BadInputError("Admins get all lockers: leave out ownerIds.", ("ownerIds",))
        if self.merged is not None:
            argument, every = self.merged
            keys = tuple((value,) for value in (every if values.get(argument) is None else (values[argument],)))
        return BoundPage(contract, wanted, values.get("order_by") or contract.orders[0], keys)

    def price(self, step: FieldStep, parents: int, bound: BoundPage) -> list[Charge]:
        """See Reading: one Query for each parent, and the records where the copies do not suffice."""
        contract, size = bound.contract, bound.request.size
        expected, maximum = contract.expected(size), contract.maximum(size)
        queries = parents * len(bound.keys)
        charges = [Charge(contract, "Query", expected * queries, _once(maximum) * queries)]
        if self.overlapping is not None and contract is self.overlapping[0]:
            before = self.overlapping[1]
            charges.append(Charge(before, "Query", before.expected(1) * parents, before.maximum(1) * parents))
        if maximum.operations > 1:
            more = Cost(maximum.operations - 1) * queries
            charges.append(Charge(contract, "Query", maximum=more, condition=LARGE_PAGE))
        if self.reads_records(step, bound):
            assert self.full is not None  # noqa: S101  # reads_records says so
            charges += [
                look_up_charge(self.full, size * parents),
                look_up_charge(self.full, size * parents, consistent=True, condition=NAMED_BUT_NOT_FOUND),
            ]
        return charges

    def price_key(self, bound: BoundPage) -> Hashable:
        return bound.contract.id, bound.request.size, len(bound.keys)

    def page_size(self, bound: BoundPage) -> int:
        return bound.request.size

    def reads_records(self, step: FieldStep, bound: BoundPage) -> bool:
        """Whether a field needs more than the copies have."""
        return self.full is not None and not (step.uses - {"*steps"}) <= bound.contract.codec.attributes

    async def fetch(self, step: FieldStep, rows: Sequence[Any], bound: BoundPage, request: RequestState) -> list[Any]:
        contract, store = bound.contract, request.backend.store

        def read(key: Any) -> Awaitable[Page[Any]]:
            parent = () if self.key is None else (key,)
            if len(bound.keys) > 1:
                ranges = [(*parent, *part) for part in bound.keys]
                return contract.merged_page(store, bound.request, bound.order, ranges, request.queries)
            if self.overlapping is not None and contract is self.overlapping[0]:
                return self._overlapping_page(store, bound, key)
            return contract.page(store, bound.request, bound.order, *parent, *bound.keys[0])

        return await query_each(read, self.row_keys(rows), step.path, request, takes_slot=len(bound.keys) == 1)

    async def _overlapping_page(self, store: Store, bound: BoundPage, key: Any) -> Page[Any]:
        """A page of a list that begins with the item before the window, where that reaches into it.

        The item may be gone when its cursor comes back.
        """
        assert self.overlapping is not None  # noqa: S101  # see fetch
        start, end = bound.keys[0]
        before = await self.overlapping[1].first(store, key, start)
        first = before.start_at if before is not None and before.end_at > start else start
        contract, cursors = bound.contract, bound.contract.range(key, ALL_TIMES.start, end)
        return await contract.page(store, bound.request, bound.order, key, first, end, cursors=cursors)

    async def records(self, step: FieldStep, found: Sequence[Any], request: RequestState) -> list[Any]:
        """The pages with records in the place of copies.

        A copy without a record is left out and logged, and so is a damaged record: one of them must not empty the page.
        So is a record that was transferred since its copy was read to an owner that the caller may not see.
        """
        assert self.full is not None  # noqa: S101  # see reads_records
        listed = [page for page in found if page is not None and not isinstance(page, Exception)]
        copies = [copy for page in listed for copy in page.nodes]
        if not copies:
            return list(found)
        keys = [(getattr(copy, self.full_key),) for copy in copies]
        records = await load_named(self.full, keys, step, request, must_exist=True)
        if not self._shows_all(records, request):
            records = [self._shown(copy, record, request) for copy, record in zip(copies, records, strict=True)]
        left = iter(records)
        complete: list[Any] = []
        for page in found:
            if page is None or isinstance(page, Exception):
                complete.append(page)
                continue
            shown = list(islice(left, len(page.nodes)))
            failure = None
            if any(issubclass(kind, Exception) for kind in set(map(type, shown))):
                failure = next((record for record in shown if is_failure(record)), None)
            complete.append(failure or without_damage(page.with_nodes(shown)))
        return complete

    def _shows_all(self, records: list[Any], request: RequestState) -> bool:
        permits_all = self.full_rule.allows is None or is_admin(request.principal)
        return permits_all and type(None) not in set(map(type, records))

    def _shown(self, copy: Any, record: Any, request: RequestState) -> Any:
        if record is None:
            assert self.full is not None  # noqa: S101  # as above
            logger.error("a copy names %s, which does not exist", masked(self.full.key(getattr(copy, self.full_key))))
            return None
        is_shown = isinstance(record, Exception) or self.full_rule.permits(request.principal, record)
        return record if is_shown else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Latest(Reading):
    """The first item of a list for each parent."""

    contract: ReadPage[Any]

    def price(self, step: FieldStep, parents: int, bound: Any) -> list[Charge]:
        return [Charge(self.contract, "Query", self.contract.expected(1) * parents, self.contract.maximum(1) * parents)]

    async def fetch(self, step: FieldStep, rows: Sequence[Any], bound: Any, request: RequestState) -> list[Any]:
        store = request.backend.store
        keys = self.row_keys(rows)
        return await query_each(lambda key: self.contract.first(store, key), keys, step.path, request)


class WholeList(list[Any]):
    """What a list shows; `damage` is what is wrong with an item of it."""

    damage: Exception | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole(Reading):
    """A list that its arguments bound, read at once for each parent and shown by a function."""

    contract: ReadPage[Any]
    key_of: Callable[[Mapping[str, Any]], tuple[Any, ...]]
    size_of: Callable[[tuple[Any, ...]], int]
    rows_of: Callable[[tuple[Any, ...]], int]
    show: Callable[[Mapping[str, Any], tuple[Any, ...]], list[Any]]

    def bind(self, values: Mapping[str, Any], request: ArgumentContext) -> Any:
        return self.key_of(values)

    def price(self, step: FieldStep, parents: int, bound: Any) -> list[Charge]:
        size = self.size_of(bound)
        expected, maximum = self.contract.expected(size), self.contract.maximum(size)
        return [Charge(self.contract, "Query", expected * parents, maximum * parents)]

    def price_key(self, bound: Any) -> Hashable:
        return self.size_of(bound), self.rows_of(bound)

    def below(self, parents: int, bound: Any) -> int:
        return parents * self.rows_of(bound)

    async def fetch(self, step: FieldStep, rows: Sequence[Any], bound: Any, request: RequestState) -> list[Any]:
        async def read(key: Any) -> WholeList:
            found = await request.loaders.whole(self.contract, (key, *bound))
            shown = WholeList(self.show(found, bound))
            shown.damage = next((item for item in found.values() if isinstance(item, DamagedItemError)), None)
            return shown

        return await query_each(read, self.row_keys(rows), step.path, request)


async def query_each(
    read: Callable[[Any], Awaitable[Any]],
    keys: Sequence[Any],
    path: str,
    request: RequestState,
    *,
    takes_slot: bool = True,
) -> list[Any]:
    """Sends one Query for each different key, sixteen at a time in the whole request; errors are values.

    What sends several for a key at the same time takes a slot for each of them itself.
    """
    queries = request.queries if takes_slot else nullcontext()

    async def bounded(key: Any) -> Any:
        try:
            async with queries:
                return await read(key)
        except Exception as error:  # noqa: BLE001  # an error is a value here
            return error

    different = list(dict.fromkeys(keys))
    with asking(path):
        if len(different) == 1:
            found = [await bounded(different[0])]
        else:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(bounded(key)) for key in different]
            found = [task.result() for task in tasks]
    by_key = dict(zip(different, found, strict=True))
    return [by_key[key] for key in keys]


def is_failure(record: Any) -> bool:
    """Whether a record could not be read at all; what is damaged is read, but not shown."""
    return isinstance(record, Exception) and not isinstance(record, DamagedItemError)


def _window(window: Mapping[str, Any] | None, widest: Window[Any], argument: str = "window") -> Window[Any]:
    given = window or {}
    return Window(given.get("from_") or widest.start, given.get("to") or widest.end, argument)


def _once(cost: Cost) -> Cost:
    return Cost(1, cost.items, cost.read_units)


def pages(contract: ReadPage[Any], *, description: str, arguments: Sequence[Argument] = (), **binding: Any) -> Any:
    """A field with a page of a list; the arguments for its order and pages come from the contract."""
    order = Argument("order_by", Order, "Sort direction.", contract.orders[0])
    arguments = [*arguments, *([order] if len(contract.orders) > 1 else ()), *PAGING]
    return bound_field(Pages(contract=contract, **binding), description, arguments)
