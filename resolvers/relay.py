"""Relay's conventions on the cursor contract: global ids, nodes and connections in both directions."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Annotated, Generic, TypeVar

import strawberry

from domain.times import EARLIEST, LATEST, Instant
from loaders.contract import Order
from loaders.pages import Slice, Window, slice_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from loaders.pages import Page
    from resolvers.context import Info

__all__ = [
    "After",
    "Before",
    "Connection",
    "Edge",
    "First",
    "Last",
    "Node",
    "OrderArgument",
    "PageInfo",
    "TimeWindow",
    "WindowArgument",
    "connection_of",
    "from_global_id",
    "slice_from",
    "to_global_id",
    "window_from",
]

N = TypeVar("N")
M = TypeVar("M")
A = TypeVar("A")

_SEPARATOR = "/"


@strawberry.interface(description="Anything that can be found again by its global id.")
class Node:
    """Implemented by every entity; `key` is its type's name and the parts of its key."""

    key: strawberry.Private[tuple[str, ...]]

    @strawberry.field(description="The opaque global id, for `node` and `nodes`.")
    def id(self) -> strawberry.ID:
        """Made only where it is asked for."""
        return to_global_id(*self.key)


@strawberry.type(description="Where a page stands in its list.")
class PageInfo:
    """All four fields that Relay names."""

    has_next_page: bool = strawberry.field(description="Whether there is more after this page.")
    has_previous_page: bool = strawberry.field(description="Whether there is more before this page.")
    start_cursor: str | None = strawberry.field(description="The cursor of the page's first item.")
    end_cursor: str | None = strawberry.field(description="The cursor of the page's last item.")


@strawberry.type(description="An item of a list, with its place.")
class Edge(Generic[N]):
    """One for each item."""

    cursor: str = strawberry.field(description="The item's place in this list; opaque.")
    node: N = strawberry.field(description="The item.")


@strawberry.type(description="A page of a list.")
class Connection(Generic[N]):
    """Pages by key, never by offset."""

    edges: list[Edge[N]] = strawberry.field(description="The page's items, each with its cursor.")
    nodes: list[N] = strawberry.field(description="The page's items alone.")
    page_info: PageInfo = strawberry.field(description="Where the page stands in its list.")
    next_cursor: str | None = strawberry.field(
        description="What to send as `after` (or as `before`, when paging backward) for the next page; null exactly "
        "when there is nothing more."
    )


@strawberry.input(description="A stretch of time, both bounds included; a bound left out is open.")
class TimeWindow:
    """As the lists by time take it."""

    from_: Instant | None = strawberry.field(name="from", default=strawberry.UNSET, description="The earliest time.")
    to: Instant | None = strawberry.field(default=strawberry.UNSET, description="The latest time.")


First = Annotated[int | None, strawberry.argument(description="How many items from the start, or after `after`.")]
After = Annotated[str | None, strawberry.argument(description="A cursor: the page begins behind it.")]
Last = Annotated[int | None, strawberry.argument(description="How many items from the end, or before `before`.")]
Before = Annotated[str | None, strawberry.argument(description="A cursor: the page ends in front of it.")]
OrderArgument = Annotated[Order, strawberry.argument(description="The direction in which the list runs.")]
WindowArgument = Annotated[
    TimeWindow | None, strawberry.argument(description="Only what lies in this stretch of time.")
]


def slice_from(info: Info, first: int | None, after: str | None, last: int | None, before: str | None) -> Slice:
    """The part of a list that the four arguments name."""
    return slice_of(
        first=_or_none(first),
        after=_or_none(after),
        last=_or_none(last),
        before=_or_none(before),
        default=info.context.page_size,
        maximum=info.context.page_size_max,
    )


def _or_none(value: A | None) -> A | None:
    """An argument left out is as good as null."""
    return None if value is strawberry.UNSET else value


def window_from(window: TimeWindow | None) -> Window:
    """The stretch of time that an argument names."""
    if not window:
        return Window()
    return Window(window.from_ or EARLIEST, window.to or LATEST)


def connection_of(page: Page[M], node_of: Callable[[M], N | None]) -> Connection[N]:
    """The page as a connection; an entry that has no node is left out."""
    edges = [
        Edge(cursor=cursor, node=node)
        for cursor, node in ((cursor, node_of(entry)) for cursor, entry in page.entries)
        if node is not None
    ]
    return Connection(
        edges=edges,
        nodes=[edge.node for edge in edges],
        page_info=PageInfo(
            has_next_page=page.has_next,
            has_previous_page=page.has_previous,
            start_cursor=page.entries[0][0] if page.entries else None,
            end_cursor=page.entries[-1][0] if page.entries else None,
        ),
        next_cursor=page.next_cursor,
    )


def to_global_id(type_name: str, *parts: str) -> strawberry.ID:
    """The opaque id of an entity: its type and the parts of its key."""
    text = _SEPARATOR.join((type_name, *parts))
    return strawberry.ID(base64.urlsafe_b64encode(text.encode()).decode().rstrip("="))


def from_global_id(global_id: str) -> tuple[str, ...]:
    """The type and parts of an id that `to_global_id` made; empty for anything else."""
    try:
        padded = global_id.encode("ascii") + b"=" * (-len(global_id) % 4)
        parts = base64.b64decode(padded, altchars=b"-_", validate=True).decode().split(_SEPARATOR)
    except (ValueError, binascii.Error):
        return ()
    return tuple(parts) if to_global_id(*parts) == global_id else ()
