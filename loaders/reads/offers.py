"""Searches a location for lockers that are offered to a caller and free in a time window.

What is found is a hint: only the transaction that makes a reservation decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any

from domain.authorization import MOST_AUDIENCES
from domain.models import LockerId, LockerSize
from domain.schedule import is_free
from loaders import keys
from loaders.contracts.base import Order
from loaders.contracts.locations import LOCATION_OFFERS, LOCATION_OFFERS_OF_SIZE
from loaders.contracts.reservations import RESERVATION_BEFORE
from loaders.cursors import encode_cursor
from loaders.pages import PageRequest
from loaders.table.retry import together

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence

    from domain.authorization import Audience
    from domain.models import LocationId, LockerOffer
    from domain.times import Instant
    from loaders.pages import Page
    from loaders.table.client import Store

    Pointers = Callable[[list[tuple[Any, ...]]], Awaitable[list[Any]]]

MOST_CANDIDATES = 50
AT_ONCE = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is looked for; the seed, which differs from caller to caller, says where among the offers to begin."""

    location_id: LocationId
    size: LockerSize | None
    start_at: Instant
    end_at: Instant
    audiences: Sequence[Audience]
    seed: str


class Search:
    """One search: `pointers` reads the active pointers of up to 25 lockers, `slots` bounds the Queries at once."""

    def __init__(self, store: Store, wanted: Wanted, pointers: Pointers, slots: asyncio.Semaphore) -> None:
        self._store = store
        self._wanted = wanted
        self._pointers = pointers
        self._slots = slots
        self._skips = len(wanted.audiences) > MOST_AUDIENCES
        self._is_over = False

    @property
    def is_complete(self) -> bool:
        """Whether everything that is offered to the caller was looked at."""
        return self._is_over and not self._skips

    async def free(self) -> AsyncIterator[LockerOffer]:
        """The free ones of 50 offers at most: first those after the place where the search begins, then the others."""
        left = MOST_CANDIDATES
        for backward in (False, True):
            found = await self._offers(backward=backward) if left else None
            if found is None or len(found) > left:
                self._skips = True
            candidates = (found or [])[:left]
            left -= len(candidates)
            for first in range(0, len(candidates), AT_ONCE):
                for offer in await self._free(candidates[first : first + AT_ONCE]):
                    yield offer
        self._is_over = True

    async def _offers(self, *, backward: bool) -> list[LockerOffer]:
        """The offers to each audience in turn."""
        audiences = self._wanted.audiences[:MOST_AUDIENCES]
        pages = await together((self._page(audience, backward=backward) for audience in audiences), self._slots)
        if any(page.next_cursor is not None or page.damage is not None for page in pages):
            self._skips = True
        in_turn = chain.from_iterable(zip_longest(*(page.nodes for page in pages)))
        return [offer for offer in in_turn if offer is not None]

    def _page(self, audience: Audience, *, backward: bool) -> Coroutine[Any, Any, Page[LockerOffer]]:
        wanted, lot = self._wanted, keys.lot_of(self._wanted.seed)
        sizes = sorted(LockerSize) if wanted.size is None else [wanted.size]
        size = sizes[int(lot, 16) % len(sizes)]
        start = encode_cursor(keys.offer(wanted.location_id, *audience, size, lot, LockerId("")))
        request = PageRequest(MOST_CANDIDATES, backward, start)
        if wanted.size is None:
            return LOCATION_OFFERS.page(self._store, request, Order.ASC, wanted.location_id, *audience)
        return LOCATION_OFFERS_OF_SIZE.page(self._store, request, Order.ASC, wanted.location_id, *audience, size)

    async def _free(self, offers: list[LockerOffer]) -> list[LockerOffer]:
        start, end = self._wanted.start_at, self._wanted.end_at
        pointers = await self._pointers([(offer.locker_id,) for offer in offers])
        failure = next((pointer for pointer in pointers if isinstance(pointer, Exception)), None)
        if failure is not None:
            raise failure
        told = {offer.locker_id: is_free(pointer, start, end) for offer, pointer in zip(offers, pointers, strict=True)}
        unsure = [locker_id for locker_id, free in told.items() if free is None]
        searches = (RESERVATION_BEFORE.first(self._store, locker_id, end) for locker_id in unsure)
        latest = await together(searches, self._slots)
        for locker_id, reservation in zip(unsure, latest, strict=True):
            told[locker_id] = reservation is None or reservation.end_at <= start
        return [offer for offer in offers if told[offer.locker_id]]
