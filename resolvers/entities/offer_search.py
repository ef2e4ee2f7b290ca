"""The price of a search for free lockers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loaders.contracts.locations import LOCATION_OFFERS, LOCATION_OFFERS_OF_SIZE
from loaders.contracts.reservations import ACTIVE_RESERVATION, RESERVATION_BEFORE
from loaders.reads.offers import AT_ONCE, MOST_CANDIDATES
from resolvers.bindings.base import Charge, look_up_charge

if TYPE_CHECKING:
    from domain.models import LockerSize
    from loaders.contracts.base import Contract
    from loaders.contracts.reading import ReadPage

SEARCH_CONTRACTS: tuple[Contract, ...] = (
    LOCATION_OFFERS,
    LOCATION_OFFERS_OF_SIZE,
    ACTIVE_RESERVATION,
    RESERVATION_BEFORE,
)
_TOO_FEW = "only where too few free lockers were found"
_POINTER_DOES_NOT_TELL = "only where a locker's active pointer does not tell whether it is free"


def search_charges(size: LockerSize | None, audiences: int, *, most_audiences: int, searches: int = 1) -> list[Charge]:
    """A Query for each audience and a batch of pointers; more where these do not suffice."""
    offers: ReadPage[Any] = LOCATION_OFFERS if size is None else LOCATION_OFFERS_OF_SIZE
    expected = offers.expected(MOST_CANDIDATES) * (audiences * searches)
    maximum = offers.maximum(MOST_CANDIDATES) * (most_audiences * searches)
    pointers = look_up_charge(ACTIVE_RESERVATION, AT_ONCE)
    # A batch may not be full before the last, where the offers before the starting place follow those after it.
    more_batches = pointers.maximum * (MOST_CANDIDATES // AT_ONCE * searches)
    before = RESERVATION_BEFORE.maximum(1) * (MOST_CANDIDATES * searches)
    return [
        Charge(offers, "Query", expected, maximum),
        Charge(offers, "Query", maximum=maximum, condition=_TOO_FEW),
        Charge(ACTIVE_RESERVATION, pointers.operation, pointers.expected * searches, pointers.maximum * searches),
        Charge(ACTIVE_RESERVATION, pointers.operation, maximum=more_batches, condition=_TOO_FEW),
        Charge(RESERVATION_BEFORE, "Query", maximum=before, condition=_POINTER_DOES_NOT_TELL),
    ]
