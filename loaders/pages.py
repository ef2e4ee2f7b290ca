"""Pages of a list: which part a client wants, and one Query that reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from domain.errors import BadInputError
from domain.times import EARLIEST, LATEST, Instant
from loaders.contract import Order
from loaders.cursors import decode_cursor, encode_cursor

if TYPE_CHECKING:
    from loaders.contract import QueryContract
    from loaders.items import Codec
    from loaders.table.client import Store
    from loaders.table.operations import KeyRange, Place
    from loaders.table.values import Item

__all__ = ["Page", "Slice", "Window", "read_page", "read_range", "slice_of"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Slice:
    """Which part of a list a client wants: so many items from one end, or from behind a cursor."""

    size: int
    backward: bool = False
    cursor: str | None = None

    @property
    def cursor_argument(self) -> str:
        """The argument that the cursor came in."""
        return "before" if self.backward else "after"


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time, both bounds included."""

    start: Instant = EARLIEST
    end: Instant = LATEST

    def __post_init__(self) -> None:
        if self.start > self.end:
            raise BadInputError("window.from must not lie after window.to.", ("window", "from"))


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """The part of a list, each item with its cursor, and whether there is more on either side."""

    entries: list[tuple[str, T]]
    has_next: bool
    has_previous: bool
    next_cursor: str | None


def slice_of(
    *, first: int | None, after: str | None, last: int | None, before: str | None, default: int, maximum: int
) -> Slice:
    """Understands the four paging arguments.

    Raises:
        BadInputError: where they contradict each other or ask for a page that no contract allows.
    """
    backward = last is not None or before is not None
    if backward and (first is not None or after is not None):
        raise BadInputError("Page with first and after, or with last and before, not with both.", ("last",))
    name, size = ("last", last) if backward else ("first", first)
    if size is None:
        size = default
    if not 1 <= size <= maximum:
        raise BadInputError(f"{name} must be 1 to {maximum}, not {size}.", (name,))
    return Slice(size, backward, before if backward else after)


async def read_page(
    store: Store,
    contract: QueryContract,
    within: KeyRange,
    codec: Codec[T],
    part: Slice,
    order: Order = Order.ASC,
) -> Page[T]:
    """Reads one page.

    It reads one item more than the page holds: a Query that stops exactly at its Limit says that there may be more, so
    only an item in the hand shows that there is.
    """
    cursor = None if part.cursor is None else decode_cursor(part.cursor, within, part.cursor_argument)
    forward = (order is Order.ASC) is not part.backward
    limit = part.size + contract.page.look_ahead
    found = await read_range(store, contract, within, limit=limit, forward=forward, start=cursor)
    has_more = len(found) > part.size
    found = found[: part.size]
    next_cursor = encode_cursor(found[-1][0]) if has_more else None
    if part.backward:
        found.reverse()
    came_from = part.cursor is not None
    return Page(
        entries=[(encode_cursor(key), codec.decode(item)) for key, item in found],
        has_next=came_from if part.backward else has_more,
        has_previous=has_more if part.backward else came_from,
        next_cursor=next_cursor,
    )


async def read_range(
    store: Store,
    contract: QueryContract,
    within: KeyRange,
    *,
    limit: int,
    forward: bool,
    start: Place | None = None,
) -> list[tuple[Place, Item]]:
    """Reads up to `limit` items of a range."""
    operation = contract.query(within, limit=limit, forward=forward, start=start)
    return (await store.query(operation)).items
