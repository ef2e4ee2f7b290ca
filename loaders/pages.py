"""Pages of a list: which one a client asks for, and what it is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from domain.errors import BadInputError
from domain.times import EARLIEST, FIRST_DAY, LAST_DAY, LATEST
from loaders.cursors import encode_cursor
from loaders.table.positions import Position

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class PageRequest:
    """The part of a list that a client asks for: a number of items from one end, or from a cursor on."""

    size: int
    backward: bool = False
    cursor: str | None = None

    @property
    def cursor_argument(self) -> str:
        return "before" if self.backward else "after"


@dataclass(frozen=True, slots=True)
class Window(Generic[T]):
    """A window of times or days; both bounds are included."""

    start: T
    end: T
    argument: str = "window"

    def __post_init__(self) -> None:
        if self.start > self.end:  # type: ignore[operator]  # both are text that sorts by time
            message = f"{self.argument}.from must not be after {self.argument}.to."
            raise BadInputError(message, (self.argument, "from"))


ALL_TIMES = Window(EARLIEST, LATEST)
ALL_DAYS = Window(FIRST_DAY, LAST_DAY)


class Edge(NamedTuple):
    cursor: str
    node: Any


class Page(Generic[T]):
    """A page of a list. Positions and cursors are made only where they are asked for.

    `damage` is what is wrong with an item that was left out of it.
    """

    __slots__ = ("_bounds", "_last", "_places", "_position_of", "damage", "has_next_page", "has_previous_page", "nodes")

    def __init__(
        self,
        nodes: list[T],
        places: list[Any],
        position_of: Callable[[Any], Position],
        *,
        has_next_page: bool,
        has_previous_page: bool,
        last: Any,
    ) -> None:
        self.nodes = nodes
        self._places = places
        self._position_of = position_of
        self._bounds = (places[0], places[-1]) if places else None
        self._last = last
        self.has_next_page = has_next_page
        self.has_previous_page = has_previous_page
        self.damage: Exception | None = None

    @classmethod
    def of(
        cls,
        nodes: list[T],
        places: list[Any],
        request: PageRequest,
        found: int,
        position_of: Callable[[Any], Position] = lambda place: place,
    ) -> Page[T]:
        """Makes a page of what a request found, in the order in which it was read.

        `places` are the positions of its nodes, or whatever `position_of` takes them from.
        """
        has_more = found > request.size
        last = places[-1] if has_more else None
        came_from = request.cursor is not None
        if request.backward:
            nodes, places = nodes[::-1], places[::-1]
            return cls(nodes, places, position_of, has_next_page=came_from, has_previous_page=has_more, last=last)
        return cls(nodes, places, position_of, has_next_page=has_more, has_previous_page=came_from, last=last)

    def with_nodes(self, nodes: Sequence[U | None]) -> Page[U]:
        """The same page with other nodes in place of its own; those that are None are left out."""
        page: Page[U] = Page(
            [node for node in nodes if node is not None],
            [place for place, node in zip(self._places, nodes, strict=True) if node is not None],
            self._position_of,
            has_next_page=self.has_next_page,
            has_previous_page=self.has_previous_page,
            last=self._last,
        )
        page._bounds, page.damage = self._bounds, self.damage
        return page

    @property
    def positions(self) -> list[Position]:
        return [self._position_of(place) for place in self._places]

    @property
    def edges(self) -> list[Edge]:
        return [Edge(encode_cursor(place), node) for place, node in zip(self.positions, self.nodes, strict=True)]

    @property
    def page_info(self) -> Page[T]:
        """Where the page is in its list: its own attributes say it."""
        return self

    @property
    def start_cursor(self) -> str | None:
        return None if self._bounds is None else encode_cursor(self._position_of(self._bounds[0]))

    @property
    def end_cursor(self) -> str | None:
        return None if self._bounds is None else encode_cursor(self._position_of(self._bounds[1]))

    @property
    def next_cursor(self) -> str | None:
        """Cursor to continue from in the same direction; None exactly when there is nothing more."""
        return None if self._last is None else encode_cursor(self._position_of(self._last))


def page_request(
    *, first: int | None, after: str | None, last: int | None, before: str | None, default: int, maximum: int
) -> PageRequest:
    """Reads the four paging arguments.

    Raises:
        BadInputError: where they contradict each other or ask for a page of a size that is not allowed.
    """
    backward = last is not None or before is not None
    if backward and (first is not None or after is not None):
        raise BadInputError("Use first and after, or last and before, but not both.", ("last",))
    name, size = ("last", last) if backward else ("first", first)
    if size is None:
        size = default
    if not 1 <= size <= maximum:
        raise BadInputError(f"{name} must be from 1 to {maximum}, not {size}.", (name,))
    return PageRequest(size, backward, before if backward else after)
