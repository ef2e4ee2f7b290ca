"""How each field reads or writes: one table from which a document's plan is made.

What it costs is in the contracts; here is only which contract a field uses, and in which manner.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from domain.commands import EVENTS_AT_ONCE
from loaders.contract import GetContract, QueryContract, WriteContract
from loaders.contracts import (
    CONTRACTS,
    QC_01,
    QC_02,
    QC_03,
    QC_04,
    QC_05,
    QC_06,
    QC_07,
    QC_08,
    QC_09,
    QC_10,
    QC_11,
    QC_12,
    QC_13,
    QC_14,
    QC_15,
    QC_16,
    QC_20,
    QC_21,
    QC_22,
    QC_30,
    QC_31,
    QC_32,
    QC_33,
    QC_34,
    QC_40,
    QC_41,
    QC_42,
    QC_43,
    QC_44,
    QC_45,
    QC_46,
    QC_47,
    QC_48,
    QC_49,
    QC_60,
    QC_61,
    QC_62,
    QC_63,
)
from loaders.cost import Cost

__all__ = [
    "COSTS",
    "LISTS",
    "NODES",
    "Beside",
    "ByKey",
    "Claimed",
    "Days",
    "Nodes",
    "Paged",
    "Reading",
    "Written",
    "fallback_costs",
    "item_units",
    "page_cost",
    "write_costs",
]


@dataclass(frozen=True, slots=True)
class ByKey:
    """Through the loader of its contract: the same thing once in a request, what is asked in one moment together.

    `argument` names it, where the key is not the parent's to know. `consistent`: an argument of that name reads it
    strongly, by itself.
    """

    contract: GetContract
    argument: str | None = None
    consistent: bool = False


@dataclass(frozen=True, slots=True)
class Beside:
    """Through a loader that needs the parent's id alone, so that it sets off beside the parent's record."""

    contract: GetContract | QueryContract


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claim, then what it names; `loaded`, where that comes through the loader."""

    contract: GetContract
    arguments: tuple[str, ...]
    loaded: bool = False


@dataclass(frozen=True, slots=True)
class Paged:
    """A page for each parent; `lockers` are read themselves where more is asked than the page's copies show."""

    contract: QueryContract
    lockers: bool = False


@dataclass(frozen=True, slots=True)
class Days:
    """What fills the half days of a window, for each parent."""

    contract: QueryContract


@dataclass(frozen=True, slots=True)
class Nodes:
    """Anything by its global id, through the loader of its kind."""

    argument: str


@dataclass(frozen=True, slots=True)
class Written:
    """A mutation; `entries` is the list in its input that says how many things it writes, where there is one.

    `claimed` is the id that, where a client chooses it, is written together with a claim.
    """

    contract: WriteContract
    entries: str | None = None
    claimed: str | None = None


Reading: TypeAlias = ByKey | Beside | Claimed | Paged | Days | Nodes | Written

NODES: dict[str, GetContract] = {
    "Locker": QC_01,
    "Owner": QC_20,
    "Location": QC_31,
    "Booking": QC_41,
    "Reservation": QC_15,
    "AccessEvent": QC_16,
}
"""The contract that reads each kind of node."""

LISTS: dict[str, int] = {
    "CreateCalendarEventPayload.calendarEvents": 2,
    "RecordAccessEventsPayload.accessEvents": EVENTS_AT_ONCE,
}
"""The most items of a list that is no page and that something can be read below."""

COSTS: dict[str, Reading] = {
    "Query.node": Nodes("id"),
    "Query.nodes": Nodes("ids"),
    "Query.locker": ByKey(QC_01, "lockerId", consistent=True),
    "Query.owner": ByKey(QC_20, "ownerId"),
    "Query.ownerByEmail": Claimed(QC_21, ("email",)),
    "Query.reservation": Claimed(QC_15, ("lockerId", "reservationId")),
    "Query.location": ByKey(QC_31, "locationId"),
    "Query.locationByCode": Claimed(QC_31, ("code",), loaded=True),
    "Query.locations": Paged(QC_32),
    "Query.booking": ByKey(QC_41, "bookingId"),
    "Query.pendingBookings": Paged(QC_42),
    "Query.apiKey": ByKey(QC_60, "keyId"),
    "Query.apiKeys": Paged(QC_63),
    "Locker.owner": ByKey(QC_20),
    "Locker.location": ByKey(QC_31),
    "Locker.activeReservation": Beside(QC_07),
    "Locker.latestEvent": Beside(QC_10),
    "Locker.reservations": Paged(QC_05),
    "Locker.accessEvents": Paged(QC_09),
    "Owner.lockers": Paged(QC_02, lockers=True),
    "Owner.reservations": Paged(QC_14),
    "Owner.bookings": Paged(QC_45),
    "Owner.notifications": Paged(QC_48),
    "Reservation.locker": ByKey(QC_01),
    "Reservation.owner": ByKey(QC_20),
    "AccessEvent.locker": ByKey(QC_01),
    "Location.lockers": Paged(QC_34, lockers=True),
    "Location.calendar": Days(QC_44),
    "Location.availability": Days(QC_44),
    "Booking.location": ByKey(QC_31),
    "Booking.owner": ByKey(QC_20),
    "Booking.payments": Paged(QC_47),
    "Notification.booking": ByKey(QC_41),
    "CalendarEvent.booking": ByKey(QC_41),
    "Mutation.createOwner": Written(QC_22),
    "Mutation.updateOwner": Written(QC_22),
    "Mutation.registerLocker": Written(QC_11),
    "Mutation.renameLocker": Written(QC_12),
    "Mutation.moveLocker": Written(QC_12),
    "Mutation.updateLockerStatus": Written(QC_03),
    "Mutation.transferLocker": Written(QC_06),
    "Mutation.createReservation": Written(QC_04),
    "Mutation.cancelReservation": Written(QC_13),
    "Mutation.extendReservation": Written(QC_13),
    "Mutation.recordAccessEvent": Written(QC_08, claimed="eventId"),
    "Mutation.recordAccessEvents": Written(QC_08, entries="events", claimed="eventId"),
    "Mutation.createLocation": Written(QC_30),
    "Mutation.updateLocation": Written(QC_33),
    "Mutation.deactivateLocation": Written(QC_33),
    "Mutation.reactivateLocation": Written(QC_33),
    "Mutation.requestBooking": Written(QC_40),
    "Mutation.approveBooking": Written(QC_43),
    "Mutation.rejectBooking": Written(QC_43),
    "Mutation.cancelBooking": Written(QC_43),
    "Mutation.recordPayment": Written(QC_46),
    "Mutation.createCalendarEvent": Written(QC_49),
    "Mutation.deleteCalendarEvent": Written(QC_49),
    "Mutation.createApiKey": Written(QC_61),
    "Mutation.revokeApiKey": Written(QC_62),
}

_UNITS = {
    contract.id: contract.item_units if isinstance(contract, GetContract) else contract.page_cost(1).read_units
    for contract in CONTRACTS.values()
    if isinstance(contract, GetContract | QueryContract)
}
# A plan is made for every request, so what depends on the contracts alone is kept.
_PAGES: dict[tuple[str, int], Cost] = {}
_WRITES: dict[tuple[str, int], list[tuple[str, str, Cost]]] = {}
_FALLBACKS: dict[tuple[str, int], list[tuple[str, str, Cost]]] = {}


def item_units(contract: GetContract | QueryContract) -> float:
    """The most read units of one item that a loader reads."""
    return _UNITS[contract.id]


def page_cost(contract: QueryContract, size: int) -> Cost:
    """The most that a page of so many items takes."""
    key = contract.id, size
    if key not in _PAGES:
        _PAGES[key] = contract.page_cost(size)
    return _PAGES[key]


def write_costs(contract: WriteContract, field: str, entries: int) -> list[tuple[str, str, Cost]]:
    """What a mutation sends for so many entries of its input."""
    key = field, entries
    if key not in _WRITES:
        _WRITES[key] = contract.costs(field, entries)
    return _WRITES[key]


def fallback_costs(contract: GetContract, entries: int = 1, most_entries: int = 1) -> list[tuple[str, str, Cost]]:
    """What may follow a read, for so many of the most that its fallbacks are declared for."""
    key = contract.id, entries
    if key not in _FALLBACKS:
        _FALLBACKS[key] = [(part.operation, part.when, part.cost(entries, most_entries)) for part in contract.fallbacks]
    return _FALLBACKS[key]
