"""Lockers of a location that the caller may reserve and that seem to be free."""

from __future__ import annotations

from loaders.reads.offers import MOST_CANDIDATES
from resolvers.bindings.base import column, embedded
from resolvers.entities.base import entity
from resolvers.entities.bindings.available_lockers import Found
from resolvers.entities.lockers import Locker


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
