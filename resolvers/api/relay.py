"""Relay's conventions on the cursor contract: nodes with global ids, and connections in both directions."""

from typing import Generic, TypeVar

import strawberry

from domain.times import Day, Instant
from resolvers.bindings.base import Argument, column, described, embedded

N = TypeVar("N")


@strawberry.interface(description="An object with a global id.")
class Node:
    """Implemented by every entity; how its id is made is declared with the entity."""

    id: strawberry.ID = column("Opaque global id of the object, for `node` and `nodes`.")


@described
class PageInfo:
    """Position of a page in its list."""

    has_next_page: bool = column("Whether there are more items after this page.")
    has_previous_page: bool = column("Whether there are more items before this page.")
    start_cursor: str | None = column("Cursor of the first item of the page.")
    end_cursor: str | None = column("Cursor of the last item of the page.")


@described
class Edge(Generic[N]):
    """An item of a page with its cursor."""

    cursor: str = column("Opaque cursor of the item in this list.")
    node: N = embedded("The item.", are_items=True)


@described
class Connection(Generic[N]):
    """A page of items."""

    edges: list[Edge[N]] = embedded("Items of the page, each with its cursor.", of_page=True)
    nodes: list[N] = embedded("Items of the page.", of_page=True, are_items=True)
    page_info: PageInfo = embedded("Position of the page in the list.")
    next_cursor: str | None = column(
        "Cursor for the next page: send it as `after`, or as `before` when paging backward. Null exactly when there "
        "are no more items."
    )


@strawberry.input(description="A time window. Both bounds are included; a bound that is left out is open.")
class TimeWindow:
    from_: Instant | None = strawberry.field(name="from", default=strawberry.UNSET, description="Earliest time.")
    to: Instant | None = strawberry.field(default=strawberry.UNSET, description="Latest time.")


@strawberry.input(description="A span of time, from its start until just before its end.")
class TimeSpan:
    from_: Instant = strawberry.field(name="from", description="Start of the span.")
    to: Instant = strawberry.field(description="End of the span.")


@strawberry.input(description="A range of days. Both days are included; a bound that is left out is open.")
class DateRange:
    from_: Day | None = strawberry.field(name="from", default=strawberry.UNSET, description="First day.")
    to: Day | None = strawberry.field(default=strawberry.UNSET, description="Last day.")


def in_window(subject: str) -> Argument:
    return Argument("window", TimeWindow | None, f"Time window that the {subject} must lie in.")
