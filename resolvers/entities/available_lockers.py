"""Lockers of a location that the caller may reserve and that seem to be free."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from domain.authorization import is_offered, searched_audiences
from domain.errors import BadInputError
from domain.lifecycle import is_in_service
from domain.models import LocationStatus
from domain.models import Locker as Record
from domain.schedule import check_span, future_of
from loaders.contracts.lockers import LOCKER_BY_ID
from loaders.contracts.reservations import ACTIVE_RESERVATION
from loaders.reads.offers import AT_ONCE, MOST_CANDIDATES, Search, Wanted
from loaders.table.recording import asking
from resolvers.bindings.base import Charge, Reading, column, embedded, look_up_charge
from resolvers.bindings.lists import is_failure
from resolvers.bindings.references import NAMED_BUT_NOT_FOUND, load_named
from resolvers.entities.base import entity
from resolvers.entities.lockers import Locker
from resolvers.entities.offer_search import SEARCH_CONTRACTS, search_charges

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from domain.authorization import Audience
    from domain.models import LockerSize
    from domain.times import Instant
    from loaders.contracts.base import Contract
    from resolvers.bindings.base import FieldStep
    from resolvers.request_state import ArgumentContext, RequestState

DEFAULT = 10


class Found(NamedTuple):
    """The result of a search."""

    lockers: list[Record]
    is_complete: bool


@entity(Found)
class AvailableLockers:
    """Lockers that seem to be free. `createReservation` decides whether one can still be reserved."""

    lockers: list[Locker] = embedded(
        "Lockers that the caller may reserve, in service and free in the whole window.", of_page=True
    )
    is_complete: bool = column(
        "Whether every locker that the caller may reserve here was checked. If false, others may be free too: at most "
        f"{MOST_CANDIDATES} are checked, starting at a point that depends on the caller and the window."
    )


class BoundSearch(NamedTuple):
    """The checked arguments of a search."""

    start_at: Instant
    end_at: Instant
    size: LockerSize | None
    first: int
    audiences: Sequence[Audience]


@dataclass(frozen=True, slots=True, kw_only=True)
class Available(Reading):
    """Free lockers of each parent, a location."""

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"location_id", "status"})

    @property
    def contracts(self) -> tuple[Contract, ...]:
        return (*SEARCH_CONTRACTS, LOCKER_BY_ID)

    def bind(self, values: Mapping[str, Any], request: ArgumentContext) -> BoundSearch:
        window, first = values["window"], values.get("first")
        check_span(window["from_"], window["to"])
        first = DEFAULT if first is None else first
        if not 1 <= first <= AT_ONCE:
            raise BadInputError(f"first must be from 1 to {AT_ONCE}, not {first}.", ("first",))
        audiences = searched_audiences(request.principal, values.get("owner_ids"))
        return BoundSearch(window["from_"], window["to"], values.get("size"), first, audiences)

    def price(self, step: FieldStep, parents: int, bound: BoundSearch) -> list[Charge]:
        """See Reading: a Query for each audience, a batch of pointers, and the lockers that are found."""
        audiences = len(bound.audiences)
        found = (
            look_up_charge(LOCKER_BY_ID, bound.first),
            look_up_charge(LOCKER_BY_ID, bound.first, consistent=True, condition=NAMED_BUT_NOT_FOUND),
        )
        return [
            *search_charges(bound.size, audiences, most_audiences=audiences, searches=parents),
            *(replace(one, expected=one.expected * parents, maximum=one.maximum * parents) for one in found),
        ]

    def price_key(self, bound: BoundSearch) -> Hashable:
        return bound.size, bound.first, len(bound.audiences)

    def page_size(self, bound: BoundSearch) -> int:
        return bound.first

    async def fetch(self, step: FieldStep, rows: Sequence[Any], bound: BoundSearch, request: RequestState) -> list[Any]:
        with asking(step.path):
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._found_or_error(step, row, bound, request)) for row in rows]
        return [task.result() for task in tasks]

    async def _found_or_error(
        self, step: FieldStep, location: Any, bound: BoundSearch, request: RequestState
    ) -> Found | Exception:
        try:
            return await self._found(step, location, bound, request)
        except Exception as error:  # noqa: BLE001  # an error is a value here
            return error

    async def _found(self, step: FieldStep, location: Any, bound: BoundSearch, request: RequestState) -> Found:
        if location.status is LocationStatus.INACTIVE:
            return Found([], is_complete=True)
        start, end = future_of(bound.start_at, bound.end_at, request.now)
        wanted = Wanted(
            location_id=location.location_id,
            size=bound.size,
            start_at=start,
            end_at=end,
            audiences=bound.audiences,
            seed=f"{request.principal.subject} {bound.start_at} {bound.end_at}",
        )
        loader = request.loaders.of(ACTIVE_RESERVATION)
        search = Search(request.backend.store, wanted, lambda keys: loader.load_bulk(keys, step.path), request.queries)
        offers = []
        async for offer in search.free():
            offers.append(offer)
            if len(offers) == bound.first:
                break
        keys = [(offer.locker_id,) for offer in offers]
        records = await load_named(LOCKER_BY_ID, keys, step, request, must_exist=True) if keys else []
        failure = next((record for record in records if is_failure(record)), None)
        if failure is not None:
            raise failure
        lockers = [record for record in records if _is_still_offered(record, location.location_id, request)]
        return Found(lockers, search.is_complete)


def _is_still_offered(record: Any, location_id: str, request: RequestState) -> bool:
    """Whether a locker is as its offer says: it may have changed since."""
    return (
        isinstance(record, Record)
        and record.location_id == location_id
        and is_in_service(record)
        and is_offered(request.principal, record.owner_id, record.reservable_by)
    )
