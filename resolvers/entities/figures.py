"""Figures of locations and owners, and the usage of locations by day."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import strawberry

from domain.figures import LIVE, OVERDUE, status_and_size
from domain.figures import LocationUsage as UsageRecord
from domain.models import LockerSize, LockerStatus
from domain.times import Day, Instant
from loaders.contracts.figures import FIGURES_OF_LOCATIONS, USAGE_OF_LOCATIONS
from loaders.contracts.locations import LOCATION_BY_ID
from resolvers.api.relay import Connection
from resolvers.bindings.base import Argument, bound_field, column, embedded
from resolvers.bindings.lists import pages
from resolvers.bindings.references import one
from resolvers.bindings.rules import LOCATIONS, LOCKERS, RESERVATIONS, STAFF
from resolvers.entities.base import entity
from resolvers.entities.bindings.figures import (
    DayPages,
    LocationFiguresOf,
    LocationFiguresPages,
    OwnerFiguresOf,
    ShownLocationFigures,
    ShownOwnerFigures,
    UsageOf,
)
from resolvers.entities.calendar import DateWindow
from resolvers.request_state import RequestState

if TYPE_CHECKING:
    from resolvers.entities.locations import Location

_MOST_COUNTS = len(LockerStatus) * len(LockerSize)
_AS_OF = (
    "Time up to which all changes are counted, usually half a minute ago; null if nothing was counted yet. Changes "
    "after it are missing."
)
_OVERDUE = "Lockers that a reservation still occupies after its end."


@dataclass(frozen=True, slots=True)
class CountedLockers:
    status: LockerStatus
    size: LockerSize
    count: int


def _lockers(row: Any, _: RequestState) -> list[CountedLockers]:
    order = [*LockerStatus], [*LockerSize]
    counted = [
        CountedLockers(*kind, number)
        for figure, number in row.counts.items()
        if (kind := status_and_size(figure)) is not None
    ]
    return sorted(counted, key=lambda count: (order[0].index(count.status), order[1].index(count.size)))


def _count(figure: str) -> Callable[[Any, RequestState], int]:
    return lambda row, _: row.counts.get(figure, 0)


def _number(description: str, figure: str, **more: Any) -> Any:
    return column(description, _count(figure), reads=("counts",), **more)


@entity(CountedLockers)
class LockerCount:
    """Number of lockers with one status and size."""

    status: LockerStatus = column("Status of the lockers.")
    size: LockerSize = column("Size of the lockers.")
    count: int = column("Number of lockers.")


@entity(ShownLocationFigures)
class LocationFigures:
    """Figures of a location. They are counted from what was logged, and are right as of a time shortly before now."""

    location_id: strawberry.ID = column("Id of the location.")
    lockers: list[LockerCount] = embedded(
        "Lockers at the location by status and size; what there is none of is left out.", _lockers, most=_MOST_COUNTS
    )
    live_reservations: int = _number(
        "Reservations that have not ended. One counts where its locker was when it was reserved.", LIVE
    )
    overdue: int = _number(_OVERDUE, OVERDUE)
    as_of: Instant | None = column(_AS_OF)
    location: Annotated[Location, strawberry.lazy("resolvers.entities.locations")] | None = one(
        LOCATION_BY_ID, key="location_id", rule=LOCATIONS, description="The location."
    )


@entity(ShownOwnerFigures)
class OwnerFigures:
    """Figures of an owner. They are counted from what was logged, and are right as of a time shortly before now."""

    lockers: list[LockerCount] = embedded(
        "Lockers of the owner by status and size; what there is none of is left out.", _lockers, most=_MOST_COUNTS
    )
    live_reservations: int | None = _number(
        "Reservations made by the owner that have not ended.", LIVE, rule=RESERVATIONS
    )
    overdue: int = _number(f"{_OVERDUE} Of the owner's lockers.", OVERDUE)
    as_of: Instant | None = column(_AS_OF)


@entity(UsageRecord)
class LocationUsage:
    """Usage of a location on one day, in the time zone of the location."""

    location_id: strawberry.ID = column("Id of the location.")
    date: Day = column("The day.")
    reservations: int = _number("Reservations that were made.", "reservations")
    check_ins: int = _number("Reservations that were checked in.", "checkIns")
    opens: int = _number("How often a door was opened or unlocked, by a device or with an access code.", "opens")
    denials: int = _number("How often access was refused.", "denials")
    no_shows: int = _number("Reservations that ended without a check-in.", "noShows")
    location: Annotated[Location, strawberry.lazy("resolvers.entities.locations")] | None = one(
        LOCATION_BY_ID, key="location_id", rule=LOCATIONS, description="The location."
    )


def location_figures() -> Any:
    return bound_field(
        LocationFiguresOf(key="location_id", rule=STAFF),
        "Lockers, reservations and overdue stays at the location in numbers. For admins and support.",
    )


def location_usage() -> Any:
    return bound_field(
        UsageOf(key="location_id", rule=STAFF),
        "Usage of the location: every day of the range. For admins and support.",
        [Argument("window", DateWindow, "Range of days, at most 92.")],
    )


def owner_figures() -> Any:
    return bound_field(
        OwnerFiguresOf(key="owner_id", rule=LOCKERS),
        "Lockers of the owner, their overdue stays, and the owner's reservations in numbers.",
    )


@strawberry.type
class FiguresQueries:
    location_figures: Connection[LocationFigures] | None = pages(
        FIGURES_OF_LOCATIONS,
        kind=LocationFiguresPages,
        rule=STAFF,
        description="Figures of all locations by `locationId`, up to 500 in a page. Requires an admin or support.",
    )
    location_usage: Connection[LocationUsage] | None = pages(
        USAGE_OF_LOCATIONS,
        kind=DayPages,
        rule=STAFF,
        arguments=[Argument("date", Day, "Day in the time zone of each location.")],
        description="Usage of all locations on one day by `locationId`, up to 500 in a page; a location where nothing "
        "happened is left out. Requires an admin or support.",
    )
