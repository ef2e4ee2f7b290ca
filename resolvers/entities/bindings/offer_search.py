"""The price of a search for free lockers."""

from __future__ import annotations

from typing import Any

from domain.models import LockerSize
from loaders.contracts.base import Contract
from loaders.contracts.locations import LOCATION_OFFERS, LOCATION_OFFERS_OF_SIZE
from loaders.contracts.reading import ReadPage
from loaders.contracts.reservations import ACTIVE_RESERVATION, RESERVATION_BEFORE
from loaders.reads.offers import AT_ONCE, MOST_CANDIDATES
from resolvers.bindings.base import Charge, look_up_charge

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
