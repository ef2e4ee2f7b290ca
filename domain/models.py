"""Entities as immutable records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from enum import StrEnum
from typing import Any, NewType, TypeAlias, TypeVar

from domain.times import Instant

LockerId = NewType("LockerId", str)
OwnerId = NewType("OwnerId", str)
ReservationId = NewType("ReservationId", str)
EventId = NewType("EventId", str)
LocationId = NewType("LocationId", str)
Door = NewType("Door", str)
"""The door of a locker, `locker:<id>`, or of a location, `location:<id>`."""

M = TypeVar("M")
Json: TypeAlias = bool | int | Decimal | str | list["Json"] | dict[str, "Json"] | None


class LockerStatus(StrEnum):
    """Current state of a locker."""

    AVAILABLE = "AVAILABLE"
    OCCUPIED = "OCCUPIED"
    MAINTENANCE = "MAINTENANCE"
    RETIRED = "RETIRED"


class ReservableBy(StrEnum):
    """Who may reserve a locker, apart from those who act for its owner."""

    OWNER = "OWNER"
    MEMBERS = "MEMBERS"
    EVERYONE = "EVERYONE"


class LockerSize(StrEnum):
    """Size of a locker."""

    S = "S"
    M = "M"
    L = "L"
    XL = "XL"


class OwnerKind(StrEnum):
    """Kind of an owner."""

    USER = "USER"
    ORGANIZATION = "ORGANIZATION"


class OwnerRole(StrEnum):
    """Administrative role of an owner."""

    USER = "USER"
    ADMIN = "ADMIN"


class LocationStatus(StrEnum):
    """Whether a location accepts lockers and bookings."""

    ACTIVE = "ACTIVE"
    INACTIVE = "INACTIVE"


class ReservationStatus(StrEnum):
    """State of a reservation.

    Stored is only what someone did: ACTIVE until it is CANCELLED or, by its release, COMPLETED. The clock decides on
    the others.
    """

    UPCOMING = "UPCOMING"
    ACTIVE = "ACTIVE"
    COMPLETED = "COMPLETED"
    EXPIRED = "EXPIRED"
    CANCELLED = "CANCELLED"


class ReservationParty(StrEnum):
    """Who ended a reservation."""

    OWNER = "OWNER"
    LOCKER_OWNER = "LOCKER_OWNER"
    ADMIN = "ADMIN"


class AccessAction(StrEnum):
    """Action that was performed or attempted at a locker."""

    OPEN = "OPEN"
    CLOSE = "CLOSE"
    UNLOCK = "UNLOCK"
    LOCK = "LOCK"
    DENIED = "DENIED"
    TAMPER = "TAMPER"
    OVERSTAY = "OVERSTAY"


class AccessResult(StrEnum):
    """Outcome of an access action."""

    SUCCESS = "SUCCESS"
    FAIL = "FAIL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Locker:
    """A locker."""

    locker_id: LockerId
    owner_id: OwnerId
    status: LockerStatus
    alias: str | None
    created_at: Instant
    updated_at: Instant
    version: int
    location_id: LocationId | None = None
    reservable_by: ReservableBy = ReservableBy.MEMBERS
    """Older items have none: before there was a choice, the members of an organization could reserve its lockers."""
    size: LockerSize = LockerSize.M
    """Older items have none; M, in the middle, until the owner says otherwise."""
    features: tuple[str, ...] = ()
    occupied_by: ReservationId | None = None
    """Reservation whose start made the locker OCCUPIED."""
    last_change: str | None = None
    """Token of the latest change, if it has one (see `domain.changes`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockerSummary:
    """The copy of a locker in the locker list of its owner or location."""

    owner_id: OwnerId
    locker_id: LockerId
    status: LockerStatus
    alias: str | None
    updated_at: Instant
    reservable_by: ReservableBy = ReservableBy.MEMBERS
    size: LockerSize = LockerSize.M
    features: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LockerOffer:
    """The copy of a locker in service at a location, for one audience that may reserve it."""

    owner_id: OwnerId
    locker_id: LockerId
    alias: str | None
    reservable_by: ReservableBy
    size: LockerSize
    features: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """A person or organization that owns lockers and makes reservations."""

    owner_id: OwnerId
    kind: OwnerKind
    name: str
    email: str | None
    created_at: Instant
    updated_at: Instant
    version: int
    phone: str | None = None
    role: OwnerRole = OwnerRole.USER
    last_change: str | None = None
    """Token of the latest change, if it has one (see `domain.changes`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Postal address and coordinates, as far as they are known."""

    formatted_address: str | None = None
    street: str | None = None
    city: str | None = None
    region: str | None = None
    postal_code: str | None = None
    country: str | None = None
    place_id: str | None = None
    lat: Decimal | None = None
    lng: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A site with lockers that can also be booked by the day or half day."""

    location_id: LocationId
    code: str
    name: str
    address: Address
    time_zone: str
    status: LocationStatus
    created_at: Instant
    updated_at: Instant
    version: int
    manager_id: OwnerId | None = None
    """Owner who manages the location, and who is told of lockouts of its door."""
    last_change: str | None = None
    """Token of the latest change, if it has one (see `domain.changes`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """A reservation of a locker from `start_at` inclusive to `end_at` exclusive."""

    reservation_id: ReservationId
    locker_id: LockerId
    owner_id: OwnerId
    start_at: Instant
    end_at: Instant
    status: ReservationStatus
    created_at: Instant
    updated_at: Instant
    version: int = 1
    started_at: Instant | None = None
    """Time of the check-in."""
    ended_at: Instant | None = None
    """Time at which it was canceled or released."""
    ended_by: ReservationParty | None = None
    end_reason: str | None = None
    reference: str | None = None
    """Order number of the partner, unique for the owner who reserved."""
    last_change: str | None = None
    """Token of the latest change, if it has one (see `domain.changes`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipient:
    """The person that a partner reserves for."""

    name: str
    email: str | None = None
    phone: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservationDetails:
    """The part of a reservation that only the owner who reserved sees. It never changes and has no copies."""

    locker_id: LockerId
    reservation_id: ReservationId
    recipient_name: str | None
    recipient_email: str | None
    recipient_phone: str | None
    metadata: Mapping[str, Json] | None

    @property
    def recipient(self) -> Recipient | None:
        """The recipient, if there is one."""
        if self.recipient_name is None:
            return None
        return Recipient(name=self.recipient_name, email=self.recipient_email, phone=self.recipient_phone)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservationSlot:
    """One of the live reservations that an owner may have: free if it does not exist or its reservation has ended."""

    owner_id: OwnerId
    slot: str
    locker_id: LockerId
    reservation_id: ReservationId
    start_at: Instant
    end_at: Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivePointer:
    """A locker's earliest reservation that had not ended when the pointer was written.

    `last_end_at` is at least the latest end of the locker's reservations that are not canceled; it is unknown where a
    lost pointer was written again.
    """

    reservation: Reservation
    last_end_at: Instant | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessEvent:
    """An immutable entry in the access log of a locker, or of a location's door."""

    event_id: EventId
    locker_id: LockerId | None
    timestamp: Instant
    recorded_at: Instant
    action: AccessAction
    actor_id: str
    result: AccessResult
    metadata: Mapping[str, Json] | None
    location_id: LocationId | None = None

    @property
    def door(self) -> Door:
        """The door that it happened at."""
        return door_of(self.locker_id, self.location_id)


def door_of(locker_id: LockerId | None, location_id: LocationId | None) -> Door:
    """The door of a locker, or else of a location."""
    return Door(f"location:{location_id}" if locker_id is None else f"locker:{locker_id}")


def locker_of(door: Door) -> LockerId | None:
    """The locker that a door belongs to; None where that is a location."""
    kind, _, name = door.partition(":")
    return LockerId(name) if kind == "locker" else None


def record_from(model: type[M], source: object, **values: Any) -> M:
    """A record with these values, and otherwise those that the source has under the same names."""
    names = [field.name for field in fields(model) if hasattr(source, field.name)]  # type: ignore[arg-type]  # a dataclass
    return model(**{name: getattr(source, name) for name in names} | values)
