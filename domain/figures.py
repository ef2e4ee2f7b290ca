"""Figures: what the activities of the log add up to, for a location, an owner, and a day of a location."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from domain.activity import ENDS, ActivityKind, Happening
from domain.models import (
    LocationId,
    Locker,
    LockerId,
    LockerSize,
    LockerStatus,
    OwnerId,
    Reservation,
    ReservationId,
)
from domain.times import Day, Instant

LIVE, OVERDUE = "reservations", "overdue"
"""The names of figures; those of lockers are made of status and size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocationFigures:
    """The figures of a location that include all activities up to `position`. Every write increments `revision`."""

    location_id: LocationId
    position: Instant
    revision: int
    counts: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerFigures:
    """The share of an owner's figures that comes from one part of the log; it may be negative."""

    owner_id: OwnerId
    shard: int
    position: Instant
    revision: int
    counts: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class LocationUsage:
    """How often something happened at a location on one of its days."""

    location_id: LocationId
    date: Day
    position: Instant
    revision: int
    counts: Mapping[str, Any]


class Place(NamedTuple):
    """A location or an owner that something is counted for."""

    location_id: LocationId | None = None
    owner_id: OwnerId | None = None


Counts: TypeAlias = Counter[tuple[Place, str]]
"""Figures of places, by their names."""


class Part(NamedTuple):
    """The part of one thing in the figures, before and after an activity.

    A thing is a locker, the overdue stay in a locker, or a reservation; `version` is that of the thing, if it has one.
    """

    thing: tuple[str, ...]
    version: int
    before: Counts
    after: Counts


_USES = {
    ActivityKind.RESERVATION_CREATED: "reservations",
    ActivityKind.RESERVATION_STARTED: "checkIns",
    ActivityKind.ACCESS_CODE_USED: "opens",
    ActivityKind.DOOR_OPENED: "opens",
    ActivityKind.ACCESS_CODE_DENIED: "denials",
    ActivityKind.DOOR_ACCESS_DENIED: "denials",
}
_NO_SHOW = "EXPIRED"
_OF_LOCKERS = frozenset(
    {
        ActivityKind.LOCKER_REGISTERED,
        ActivityKind.LOCKER_CHANGED,
        ActivityKind.LOCKER_STATUS_CHANGED,
        ActivityKind.LOCKER_TRANSFERRED,
        ActivityKind.LOCKER_RETIRED,
    }
)


def usage_of(happening: Happening) -> str | None:
    """As what an activity counts for the day of its location, if it does."""
    if happening.kind is ActivityKind.RESERVATION_ENDED:
        return "noShows" if happening.outcome == _NO_SHOW else None
    return _USES.get(happening.kind)


def status_and_size(figure: str) -> tuple[LockerStatus, LockerSize] | None:
    """The status and the size that a figure of lockers counts; None for other figures."""
    status, dot, size = figure.partition(".")
    return (LockerStatus(status), LockerSize(size)) if dot else None


def parts_of_locker(locker: Locker) -> Iterator[Part]:
    """The parts of a locker in figures."""
    own, is_overdue = (locker.location_id, locker.owner_id), locker.overdue_since is not None
    counts = _counted(_figure(locker.status, locker.size), *own)
    yield Part(("locker", locker.locker_id), locker.version, Counter(), counts)
    yield Part(_stay(locker.locker_id), 0, Counter(), _counted(OVERDUE, *own) if is_overdue else Counter())


def part_of_reservation(made: Reservation, location_id: LocationId | None, *, is_live: bool) -> Part:
    """The part of a reservation in figures, while it is live: for who made it, and where its locker was then."""
    counts = _counted(LIVE, location_id, made.owner_id) if is_live else Counter()
    return Part(_reservation(made.locker_id, made.reservation_id), made.version, Counter(), counts)


def parts_of(happening: Happening) -> list[Part]:
    """The parts of figures that an activity changes."""
    kind, version = happening.kind, happening.version or 0
    if kind in _OF_LOCKERS:
        return _locker_parts(happening)
    if kind is ActivityKind.RESERVATION_OVERDUE:
        after = _counted(OVERDUE, happening.location_id, happening.locker_owner_id)
        return [Part(_stay(happening.locker_id), 0, Counter(), after)]
    thing = _reservation(happening.locker_id, happening.reservation_id)
    if kind is ActivityKind.RESERVATION_CREATED:
        return [Part(thing, version, Counter(), _counted(LIVE, happening.location_id, happening.owner_id))]
    if kind in ENDS:
        return [Part(thing, version, _counted(LIVE, happening.reserved_location_id, happening.owner_id), Counter())]
    return []


def _locker_parts(happening: Happening) -> list[Part]:
    former = {change.field: change.before for change in happening.changes}
    status, size = happening.status, happening.size
    if status is None or size is None:
        raise ValueError(f"{happening.kind} of a locker tells no status and size")
    now = (happening.location_id, happening.owner_id)
    then = (happening.former_location_id if "locationId" in former else now[0], happening.former_owner_id or now[1])
    was = _figure(LockerStatus(former.get("status") or status), LockerSize(former.get("size") or size))
    before = Counter() if happening.kind is ActivityKind.LOCKER_REGISTERED else _counted(was, *then)
    parts = [
        Part(
            ("locker", happening.locker_id or ""), happening.version or 0, before, _counted(_figure(status, size), *now)
        )
    ]
    if happening.is_overdue or "overdue" in former:
        after = _counted(OVERDUE, *now) if happening.is_overdue else Counter()
        parts.append(Part(_stay(happening.locker_id), 0, _counted(OVERDUE, *then), after))
    return parts


def _counted(figure: str, location_id: LocationId | None, owner_id: OwnerId | None) -> Counts:
    places = (Place(location_id=location_id), Place(owner_id=owner_id))
    return Counter({(place, figure): 1 for place in places if any(place)})


def _figure(status: LockerStatus, size: LockerSize) -> str:
    return f"{status}.{size}"


def _stay(locker_id: LockerId | None) -> tuple[str, ...]:
    return "overdue", locker_id or ""


def _reservation(locker_id: LockerId | None, reservation_id: ReservationId | None) -> tuple[str, ...]:
    return "reservation", locker_id or "", reservation_id or ""
