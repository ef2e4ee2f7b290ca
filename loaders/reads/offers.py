"""Searches locations for lockers that are offered to a caller and free in a time window.

What is found is a hint: only the transaction that makes a reservation decides.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any

from domain.authorization import MOST_AUDIENCES, Audience
from domain.models import LocationId, LockerId, LockerOffer, LockerSize
from domain.schedule import is_free
from domain.times import Instant
from loaders import keys
from loaders.concurrency import outcomes
from loaders.contracts.base import Order
from loaders.contracts.locations import LOCATION_OFFERS, LOCATION_OFFERS_OF_SIZE
from loaders.contracts.reservations import RESERVATION_BEFORE
from loaders.cursors import encode_cursor
from loaders.pages import Page, PageRequest
from loaders.table.client import Store
from loaders.table.positions import Key

Pointers = Callable[[list[tuple[Any, ...]]], Awaitable[list[Any]]]

MOST_CANDIDATES = 50
AT_ONCE = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A search for free lockers. The seed, which differs between callers, says where among the offers to begin."""

    location_id: LocationId
    size: LockerSize | None
    start_at: Instant
    end_at: Instant
    audiences: Sequence[Audience]
    seed: str


class Search:
    """One search: what it has found so far, and what is left to check."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self.free: list[LockerOffer] = []
        """Offers of lockers that are free, in the order of the search."""
        self.failure: Exception | None = None
        self._candidates: list[LockerOffer] = []
        self._skips = len(wanted.audiences) > MOST_AUDIENCES

    @property
    def is_over(self) -> bool:
        return not self._candidates or self.failure is not None

    @property
    def is_complete(self) -> bool:
        """Whether every locker that is offered to the caller was checked."""
        return self.is_over and not self._skips

    def places(self) -> list[tuple[Audience, Key]]:
        """The audiences whose offers are read, and the key at which each begins."""
        wanted, lot = self.wanted, keys.lot_of(self.wanted.seed)
        sizes = sorted(LockerSize) if wanted.size is None else [wanted.size]
        size = sizes[int(lot, 16) % len(sizes)]
        return [
            (audience, keys.offer(wanted.location_id, *audience, size, lot, LockerId("")))
            for audience in wanted.audiences[:MOST_AUDIENCES]
        ]

    def offer(self, pages: Iterable[tuple[Key, Page[LockerOffer], Page[LockerOffer] | None]]) -> None:
        """Takes what is offered: to each audience in turn, first what comes after the place where it begins."""
        after, before = [], []
        for start, first, later in pages:
            if later is not None or first.damage is not None:
                self._skips = True
            divided = sum(place.sk <= start.sk for place in first.positions)
            before.append(first.nodes[:divided])
            after.append(first.nodes[divided:] if later is None else later.nodes)
        in_turn = chain.from_iterable(chain(zip_longest(*after), zip_longest(*before)))
        offers = [offer for offer in in_turn if offer is not None]
        self._skips = self._skips or len(offers) > MOST_CANDIDATES
        self._candidates = offers[:MOST_CANDIDATES]

    def next_candidates(self) -> list[LockerOffer]:
        candidates = self._candidates[:AT_ONCE]
        self._candidates = self._candidates[AT_ONCE:]
        return candidates


async def find_offers(store: Store, searches: Sequence[Search], permits: asyncio.Semaphore) -> None:
    """Reads what is offered to the callers of searches: one Query for each audience, and another for long lists.

    A list of 50 offers or fewer is read as a whole. Of a longer one, the second Query begins at the search's own place.
    """
    asked = [(search, audience, start) for search in searches for audience, start in search.places()]
    firsts = await outcomes((_page(store, search.wanted, audience) for search, audience, _ in asked), permits)
    long = [number for number, page in enumerate(firsts) if not isinstance(page, Exception) and page.has_next_page]
    reads = (_page(store, asked[number][0].wanted, asked[number][1], asked[number][2]) for number in long)
    laters = dict(zip(long, await outcomes(reads, permits), strict=True))
    found: defaultdict[Search, list[Any]] = defaultdict(list)
    for number, ((search, _, start), first) in enumerate(zip(asked, firsts, strict=True)):
        later = laters.get(number)
        failure = next((part for part in (first, later) if isinstance(part, Exception)), None)
        search.failure = search.failure or failure
        found[search].append((start, first, later))
    for search, pages in found.items():
        if search.failure is None:
            search.offer(pages)


def _page(
    store: Store, wanted: Wanted, audience: Audience, start: Key | None = None
) -> Coroutine[Any, Any, Page[LockerOffer]]:
    request = PageRequest(MOST_CANDIDATES, cursor=None if start is None else encode_cursor(start))
    if wanted.size is None:
        return LOCATION_OFFERS.page(store, request, Order.ASC, wanted.location_id, *audience)
    return LOCATION_OFFERS_OF_SIZE.page(store, request, Order.ASC, wanted.location_id, *audience, wanted.size)


async def each_free(
    store: Store, search: Search, pointers: Pointers, permits: asyncio.Semaphore
) -> AsyncIterator[LockerOffer]:
    """The offers of one search that are free, each looked for when the one before was not enough."""
    await find_offers(store, [search], permits)
    while not search.is_over:
        await look_further(store, [search], pointers, permits)
        while search.free and search.failure is None:
            yield search.free.pop(0)
    if search.failure is not None:
        raise search.failure


async def look_further(
    store: Store, searches: Sequence[Search], pointers: Pointers, permits: asyncio.Semaphore
) -> None:
    """Looks at the next 25 offers of each search: one read of all active pointers, and a Query where one does not tell.

    `pointers` reads the active pointers of lockers.
    """
    looked = [(search, search.next_candidates()) for search in searches]
    lockers = list(dict.fromkeys((offer.locker_id,) for _, offers in looked for offer in offers))
    found = dict(zip(lockers, await pointers(lockers), strict=True)) if lockers else {}
    unsure: list[tuple[Search, LockerId]] = []
    told: list[dict[LockerId, Any]] = []
    for search, offers in looked:
        wanted = search.wanted
        states = {offer.locker_id: _is_free(found[(offer.locker_id,)], wanted) for offer in offers}
        told.append(states)
        unsure += [(search, locker_id) for locker_id, state in states.items() if state is None]
    reads = (RESERVATION_BEFORE.first(store, locker_id, search.wanted.end_at) for search, locker_id in unsure)
    latest = dict(zip(unsure, await outcomes(reads, permits), strict=True))
    for (search, offers), states in zip(looked, told, strict=True):
        for offer in offers:
            state = states[offer.locker_id]
            if state is None:
                last = latest[search, offer.locker_id]
                state = last if isinstance(last, Exception) else last is None or last.end_at <= search.wanted.start_at
            if isinstance(state, Exception):
                search.failure = search.failure or state
            elif state:
                search.free.append(offer)


def _is_free(pointer: Any, wanted: Wanted) -> bool | Exception | None:
    return pointer if isinstance(pointer, Exception) else is_free(pointer, wanted.start_at, wanted.end_at)
