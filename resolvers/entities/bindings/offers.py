"""Lockers that are offered: those of a location, those of them that seem to be free, and the price of the search."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, NamedTuple

from domain.authorization import Audience, is_offered, searched_audiences, sees_all
from domain.errors import BadInputError
from domain.lifecycle import is_in_service
from domain.models import LocationStatus, Locker, LockerSize
from domain.schedule import check_span, future_of
from domain.times import Instant
from loaders.contracts.base import Contract
from loaders.contracts.locations import LOCATION_OFFERS, LOCATION_OFFERS_OF_SIZE
from loaders.contracts.lockers import LOCKER_BY_ID
from loaders.contracts.reading import ReadPage
from loaders.contracts.reservations import ACTIVE_RESERVATION, RESERVATION_BEFORE
from loaders.reads.offers import AT_ONCE, MOST_CANDIDATES, Search, Wanted, find_offers, look_further
from loaders.table.recording import asking
from resolvers.bindings.base import NULL_WITH_ERROR, Call, Charge, Execution, FieldStep, Reading, look_up_charge
from resolvers.bindings.copies import CopyPages, is_failure
from resolvers.bindings.lists import Lists
from resolvers.bindings.references import NAMED_BUT_NOT_FOUND
from resolvers.request_state import ArgumentContext, RequestState

SEARCH_CONTRACTS: tuple[Contract, ...] = (
    LOCATION_OFFERS,
    LOCATION_OFFERS_OF_SIZE,
    ACTIVE_RESERVATION,
    RESERVATION_BEFORE,
)
_MANY_OFFERS = f"only where more than {MOST_CANDIDATES} lockers are offered"
_TOO_FEW = "only where too few free lockers were found"
_POINTER_DOES_NOT_TELL = "only where a locker's active pointer does not tell whether it is free"


def search_charges(size: LockerSize | None, audiences: int, *, most_audiences: int, searches: int = 1) -> list[Charge]:
    """A Query for each audience, and the pointers of all searches together; more where these do not suffice."""
    offers: ReadPage[Any] = LOCATION_OFFERS if size is None else LOCATION_OFFERS_OF_SIZE
    expected = offers.expected(MOST_CANDIDATES) * (audiences * searches)
    maximum = offers.maximum(MOST_CANDIDATES) * (most_audiences * searches)
    pointers = look_up_charge(ACTIVE_RESERVATION, AT_ONCE * searches)
    more_pointers = pointers.maximum * (MOST_CANDIDATES // AT_ONCE - 1)
    before = RESERVATION_BEFORE.maximum(1) * (MOST_CANDIDATES * searches)
    return [
        Charge(offers, "Query", expected, maximum),
        Charge(offers, "Query", maximum=maximum, condition=_MANY_OFFERS),
        pointers,
        Charge(ACTIVE_RESERVATION, pointers.operation, maximum=more_pointers, condition=_TOO_FEW),
        Charge(RESERVATION_BEFORE, "Query", maximum=before, condition=_POINTER_DOES_NOT_TELL),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedPages(CopyPages):
    """A page of the whole list for who sees all; for other callers of what is `offers` to their audiences, merged."""

    offers: ReadPage[Any]

    @property
    def contracts(self) -> tuple[Contract, ...]:
        return (*super(OfferedPages, self).contracts, self.offers)  # slots leave no other way

    def lists(self, values: Mapping[str, Any], request: ArgumentContext) -> Lists:
        owner_ids = values.get("owner_ids")
        if sees_all(request.principal):
            if owner_ids is not None:
                raise BadInputError("Admins and support get all lockers: leave out ownerIds.", ("ownerIds",))
            return CopyPages.lists(self, values, request)
        if values.get("status") is not None:
            raise BadInputError("Only admins and support can select a status.", ("status",))
        return self.offers, tuple(searched_audiences(request.principal, owner_ids))


DEFAULT = 10


class Found(NamedTuple):
    lockers: list[Locker]
    is_complete: bool


class BoundSearch(NamedTuple):
    start_at: Instant
    end_at: Instant
    size: LockerSize | None
    first: int
    audiences: Sequence[Audience]


@dataclass(frozen=True, slots=True, kw_only=True)
class Available(Reading):
    """Free lockers of each parent, a location."""

    when_null: ClassVar[str] = NULL_WITH_ERROR

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
        audiences, lockers = len(bound.audiences), bound.first * parents
        return [
            *search_charges(bound.size, audiences, most_audiences=audiences, searches=parents),
            look_up_charge(LOCKER_BY_ID, lockers),
            look_up_charge(LOCKER_BY_ID, lockers, consistent=True, condition=NAMED_BUT_NOT_FOUND),
        ]

    def price_key(self, bound: BoundSearch) -> Hashable:
        return bound.size, bound.first, len(bound.audiences)

    def page_size(self, bound: BoundSearch) -> int:
        return bound.first

    async def fetch(self, calls: Sequence[Call], execution: Execution) -> list[Any]:
        """See Reading: all offers, then pointers, 25 of each location, until enough lockers are free, then these."""
        request, path = execution.request, calls[0].step.path
        store, loader = request.backend.store, request.loaders.of(ACTIVE_RESERVATION)
        asked = [(call.bound, location) for call in calls for location in call.rows]
        searches = [
            None if location.status is LocationStatus.INACTIVE else Search(_wanted(bound, location, request))
            for bound, location in asked
        ]
        with asking(path):
            await find_offers(store, [search for search in searches if search is not None], request.queries)
            while going_on := [
                search
                for search, (bound, _) in zip(searches, asked, strict=True)
                if search is not None and not search.is_over and len(search.free) < bound.first
            ]:
                await look_further(store, going_on, lambda keys: loader.load_bulk(keys, path), request.queries)
        offers = [
            [] if search is None or search.failure else search.free[: bound.first]
            for search, (bound, _) in zip(searches, asked, strict=True)
        ]
        keys = [(offer.locker_id,) for own in offers for offer in own]
        found = await request.loaders.load_existing(LOCKER_BY_ID, keys, path)
        records: Iterator[Any] = iter(found)
        return [
            _found(search, bound.first, location, list(islice(records, len(own))), request)
            for search, (bound, location), own in zip(searches, asked, offers, strict=True)
        ]


def _wanted(bound: BoundSearch, location: Any, request: RequestState) -> Wanted:
    start, end = future_of(bound.start_at, bound.end_at, request.now)
    return Wanted(
        location_id=location.location_id,
        size=bound.size,
        start_at=start,
        end_at=end,
        audiences=bound.audiences,
        seed=f"{request.principal.subject} {bound.start_at} {bound.end_at}",
    )


def _found(
    search: Search | None, first: int, location: Any, records: list[Any], request: RequestState
) -> Found | Exception:
    if search is None:
        return Found([], is_complete=True)
    failure = search.failure or next((record for record in records if is_failure(record)), None)
    if failure is not None:
        return failure
    lockers = [record for record in records if _is_still_offered(record, location.location_id, request)]
    return Found(lockers, search.is_complete and len(search.free) < first)


def _is_still_offered(record: Any, location_id: str, request: RequestState) -> bool:
    """Whether a locker is as its offer says: it may have changed since."""
    return (
        isinstance(record, Locker)
        and record.location_id == location_id
        and is_in_service(record)
        and is_offered(request.principal, record.owner_id, record.reservable_by)
    )
