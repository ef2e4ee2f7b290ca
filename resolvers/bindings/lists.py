"""Fields that find many objects: pages, the newest of a list, and lists that are read as a whole."""

from collections.abc import Callable, Coroutine, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from loaders.concurrency import outcomes
from loaders.contracts.base import MAX_ITEMS, Contract, Order
from loaders.contracts.cost import Cost
from loaders.contracts.reading import ReadPage
from loaders.conversion import DamagedItemError
from loaders.pages import Page, PageRequest, Window, page_request
from loaders.table.recording import asking
from resolvers.bindings.base import (
    NULL_WITH_ERROR,
    Argument,
    Call,
    Charge,
    Execution,
    FieldStep,
    Reading,
    bound_field,
    rows_of,
)
from resolvers.request_state import ArgumentContext, RequestState

LARGE_PAGE = "only where a page has more than 1 MB"

PAGING = (
    Argument("first", int | None, "Number of items from the start of the list, or after the cursor `after`."),
    Argument("after", str | None, "Cursor after which the page starts."),
    Argument("last", int | None, "Number of items from the end of the list, or before the cursor `before`."),
    Argument("before", str | None, "Cursor before which the page ends."),
)


Lists: TypeAlias = tuple[ReadPage[Any], tuple[tuple[Any, ...], ...]]
"""The contract that arguments select, and the key parts of each list that the page is made of."""


@dataclass(frozen=True, slots=True)
class BoundPage:
    """The page that one request asks for: of which contract, with which key parts after the parent's."""

    contract: ReadPage[Any]
    request: PageRequest
    order: Order
    keys: tuple[tuple[Any, ...], ...]
    """More than one where lists are merged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages(Reading):
    """A page of a list for each parent.

    `window` is the widest window, where the list can be narrowed to one. `narrowed` is the argument that selects
    another contract, whose range takes the argument's value too.
    """

    contract: ReadPage[Any]
    window: Window[Any] | None = None
    narrowed: tuple[str, ReadPage[Any]] | None = None

    finds_pages: ClassVar[bool] = True
    when_null: ClassVar[str] = NULL_WITH_ERROR

    @property
    def contracts(self) -> tuple[Contract, ...]:
        return (self.contract,) if self.narrowed is None else (self.contract, self.narrowed[1])

    def bind(self, values: Mapping[str, Any], request: ArgumentContext) -> BoundPage:
        sizes = request.page_sizes
        contract, keys = self.lists(values, request)
        # Of small items, a page may have several times as many.
        times = max(1, contract.page_rule.maximum // MAX_ITEMS)
        wanted = page_request(
            first=values.get("first"),
            after=values.get("after"),
            last=values.get("last"),
            before=values.get("before"),
            default=sizes.default,
            maximum=times * sizes.maximum,
        )
        return BoundPage(contract, wanted, values.get("order_by") or contract.orders[0], keys)

    def lists(self, values: Mapping[str, Any], request: ArgumentContext) -> Lists:
        if self.narrowed is not None and values.get(self.narrowed[0]) is not None:
            return self.narrowed[1], ((values[self.narrowed[0]],),)
        if self.window is None:
            return self.contract, ((),)
        window = window_of(values.get("window"), self.window)
        return self.contract, ((window.start, window.end),)

    def price(self, step: FieldStep, parents: int, bound: BoundPage) -> list[Charge]:
        """See Reading: one Query for each parent, or for each list that its page is made of."""
        contract, size = bound.contract, bound.request.size
        expected, maximum = contract.expected(size), contract.maximum(size)
        queries = parents * len(bound.keys)
        once = Cost(1, maximum.items, maximum.read_units)
        charges = [Charge(contract, "Query", expected * queries, once * queries)]
        if maximum.operations > 1:
            more = Cost(maximum.operations - 1) * queries
            charges.append(Charge(contract, "Query", maximum=more, condition=LARGE_PAGE))
        return charges

    def price_key(self, bound: BoundPage) -> Hashable:
        return bound.contract.id, bound.request.size, len(bound.keys)

    def page_size(self, bound: BoundPage) -> int:
        return bound.request.size

    async def fetch(self, calls: Sequence[Call], execution: Execution) -> list[Any]:
        request = execution.request

        async def read(number: int, key: Any) -> Page[Any]:
            with asking(calls[number].step.path):
                page = await self.page(key, calls[number].bound, request)
            if page.nodes:
                execution.note_items(calls[number].step)
            return page

        asked = [(number, key) for number, call in enumerate(calls) for key in self.row_keys(call.rows)]
        different = list(dict.fromkeys(asked))
        found = await outcomes([read(*one) for one in different])
        if len(different) == len(asked):
            return found
        by_place = dict(zip(different, found, strict=True))
        return [by_place[one] for one in asked]

    async def page(self, key: Any, bound: BoundPage, request: RequestState) -> Page[Any]:
        contract, parent = bound.contract, () if self.key is None else (key,)
        store, since = request.backend.store, request.kept_since(contract)
        if len(bound.keys) == 1:
            async with request.queries:
                place = (*parent, *bound.keys[0])
                return await contract.page(store, bound.request, bound.order, *place, since=since)
        ranges = [(*parent, *part) for part in bound.keys]
        return await contract.merged_page(store, bound.request, bound.order, ranges, request.queries)

    def damages(self, results: Sequence[Any]) -> Iterable[tuple[int, Exception]]:
        return damages(results, Page)


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedPages(Pages):
    """A page of lists that differ in one part of their range; `merged` is its argument, and its values.

    Without the argument, the lists of all values are merged.
    """

    merged: tuple[str, tuple[Any, ...]]

    def lists(self, values: Mapping[str, Any], request: ArgumentContext) -> Lists:
        argument, every = self.merged
        given = values.get(argument)
        return self.contract, tuple((value,) for value in (every if given is None else (given,)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Latest(Reading):
    """The first item of a list for each parent."""

    contract: ReadPage[Any]

    def price(self, step: FieldStep, parents: int, bound: Any) -> list[Charge]:
        return [Charge(self.contract, "Query", self.contract.expected(1) * parents, self.contract.maximum(1) * parents)]

    async def fetch(self, calls: Sequence[Call], execution: Execution) -> list[Any]:
        request = execution.request
        store, keys = request.backend.store, self.row_keys(rows_of(calls))
        kept = () if self.contract.kept is None else (request.kept_since(self.contract),)
        return await query_each(lambda key: self.contract.first(store, key, *kept), keys, calls[0].step.path, request)


class WholeList(list[Any]):
    """The items of a list; `damage` is the error of an item that could not be read."""

    damage: Exception | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole(Reading):
    """A list that its arguments bound, read at once for each parent and shown by a function."""

    contract: ReadPage[Any]
    key_of: Callable[[Mapping[str, Any]], tuple[Any, ...]]
    size_of: Callable[[tuple[Any, ...]], int]
    rows_of: Callable[[tuple[Any, ...]], int]
    show: Callable[[Mapping[str, Any], tuple[Any, ...]], list[Any]]

    when_null: ClassVar[str] = NULL_WITH_ERROR

    def bind(self, values: Mapping[str, Any], request: ArgumentContext) -> Any:
        return self.key_of(values)

    def price(self, step: FieldStep, parents: int, bound: Any) -> list[Charge]:
        size = self.size_of(bound)
        expected, maximum = self.contract.expected(size), self.contract.maximum(size)
        return [Charge(self.contract, "Query", expected * parents, maximum * parents)]

    def price_key(self, bound: Any) -> Hashable:
        return self.size_of(bound), self.rows_of(bound)

    def below(self, parents: int, bound: Any, type_name: str) -> int:
        return parents * self.rows_of(bound)

    async def fetch(self, calls: Sequence[Call], execution: Execution) -> list[Any]:
        request = execution.request

        async def read(asked: tuple[Any, tuple[Any, ...]]) -> WholeList:
            key, bound = asked
            found = await request.loaders.whole(self.contract, (key, *bound))
            shown = WholeList(self.show(found, bound))
            shown.damage = next((item for item in found.values() if isinstance(item, DamagedItemError)), None)
            return shown

        asked = [(key, call.bound) for call in calls for key in self.row_keys(call.rows)]
        return await query_each(read, asked, calls[0].step.path, request)

    def damages(self, results: Sequence[Any]) -> Iterable[tuple[int, Exception]]:
        return damages(results, WholeList)


def damages(results: Sequence[Any], kind: type[Page[Any] | WholeList]) -> Iterable[tuple[int, Exception]]:
    """Which of these lists are shown without a damaged item, and what is wrong with it."""
    return [
        (place, found.damage)
        for place, found in enumerate(results)
        if isinstance(found, kind) and found.damage is not None
    ]


async def query_each(
    read: Callable[[Any], Coroutine[Any, Any, Any]], keys: Sequence[Any], path: str, request: RequestState
) -> list[Any]:
    """Sends one Query for each different key, sixteen at a time in the whole request; errors are values."""
    different = list(dict.fromkeys(keys))
    with asking(path):
        found = await outcomes(map(read, different), request.queries)
    by_key = dict(zip(different, found, strict=True))
    return [by_key[key] for key in keys]


def window_of(window: Mapping[str, Any] | None, widest: Window[Any], argument: str = "window") -> Window[Any]:
    given = window or {}
    return Window(given.get("from_") or widest.start, given.get("to") or widest.end, argument)


def pages(
    contract: ReadPage[Any],
    *,
    description: str,
    arguments: Sequence[Argument] = (),
    kind: type[Pages] = Pages,
    **binding: Any,
) -> Any:
    """A field with a page of a list; the arguments for its order and pages come from the contract.

    `kind` is how the page is made, where it is not simply a part of one list.
    """
    order = Argument("order_by", Order, "Sort direction.", contract.orders[0])
    arguments = [*arguments, *([order] if len(contract.orders) > 1 else ()), *PAGING]
    return bound_field(kind(contract=contract, **binding), description, arguments)
