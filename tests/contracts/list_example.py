"""What an example of a list is, and the names that all of them share."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from domain.bookings import BookingId
from domain.models import LocationId, LockerId, OwnerId
from domain.times import Instant, shift
from loaders.table.operations import IndexKey, Key

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from loaders.contract import Order
    from loaders.pages import Page, Slice, Window
    from loaders.table.client import Store
    from loaders.table.operations import Place

    Read = Callable[[Store, Slice, Order, Window], Awaitable[Page[Any]]]

__all__ = [
    "BOOKING",
    "LOCATION",
    "LOCKER",
    "NAME",
    "NOON",
    "OTHER_BOOKING",
    "OTHER_LOCATION",
    "OTHER_LOCKER",
    "OTHER_OWNER",
    "OWNER",
    "ListExample",
    "Seed",
    "at",
]

Seed = tuple[Key, "Mapping[str, Any]"]

NOON = Instant("2026-03-01T12:00:00.000Z")
OWNER, OTHER_OWNER = OwnerId("o" * 64), OwnerId("o" * 63 + "p")
LOCKER, OTHER_LOCKER = LockerId("l" * 64), LockerId("l" * 63 + "m")
LOCATION, OTHER_LOCATION = LocationId("0" * 25 + "A"), LocationId("0" * 25 + "B")  # the form of a ULID
BOOKING, OTHER_BOOKING = BookingId("b" * 64), BookingId("b" * 63 + "c")
NAME = "😀" * 200


@dataclass(frozen=True, kw_only=True)
class ListExample:
    """The list of one partition; `seed(n)` is its nth item in ascending order, `large` as large as it can be.

    `own` is the partition, of the table or of the index, and how the sort keys of the list begin there.
    """

    read: Read
    seed: Callable[[int], Seed]
    large: Callable[[int], Seed]
    name_of: Callable[[Any], str]
    own: tuple[str, str]
    has_window: bool = False
    in_index: bool = False

    def place(self, number: int) -> Place:
        """Where the nth item stands in the list."""
        key, attributes = self.seed(number)
        return IndexKey(*key, attributes["GSI1PK"], attributes["GSI1SK"]) if self.in_index else key


def at(number: int) -> Instant:
    """So many minutes after noon."""
    return shift(NOON, timedelta(minutes=number))
