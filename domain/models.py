"""The entities as the rest of the code knows them: frozen, typed, without behaviour of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import NewType, TypeAlias

from domain.times import Instant

__all__ = [
    "AccessAction",
    "AccessEvent",
    "AccessResult",
    "EventId",
    "Json",
    "Location",
    "LocationId",
    "LocationStatus",
    "Locker",
    "LockerId",
    "LockerStatus",
    "LockerSummary",
    "Owner",
    "OwnerId",
    "OwnerKind",
    "OwnerRole",
    "Reservation",
    "ReservationId",
    "ReservationStatus",
]

LockerId = NewType("LockerId", str)
OwnerId = NewType("OwnerId", str)
ReservationId = NewType("ReservationId", str)
EventId = NewType("EventId", str)
LocationId = NewType("LocationId", str)

Json: TypeAlias = bool | int | Decimal | str | list["Json"] | dict[str, "Json"] | None


class LockerStatus(StrEnum):
    """What a locker is doing."""

    AVAILABLE = "AVAILABLE"
    OCCUPIED = "OCCUPIED"
    MAINTENANCE = "MAINTENANCE"


class OwnerKind(StrEnum):
    """A person or an organisation."""

    USER = "USER"
    ORGANIZATION = "ORGANIZATION"


class OwnerRole(StrEnum):
    """What an owner may do beside using lockers."""

    USER = "USER"
    ADMIN = "ADMIN"


class LocationStatus(StrEnum):
    """Whether a location takes anything new."""

    ACTIVE = "ACTIVE"
    INACTIVE = "INACTIVE"


class ReservationStatus(StrEnum):
    """EXPIRED is never stored: it follows from the end and the clock."""

    ACTIVE = "ACTIVE"
    CANCELLED = "CANCELLED"
    EXPIRED = "EXPIRED"


class AccessAction(StrEnum):
    """What was done, or tried, at the locker's door."""

    OPEN = "OPEN"
    CLOSE = "CLOSE"
    UNLOCK = "UNLOCK"
    LOCK = "LOCK"
    DENIED = "DENIED"
    TAMPER = "TAMPER"


class AccessResult(StrEnum):
    """How it went."""

    SUCCESS = "SUCCESS"
    FAIL = "FAIL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Locker:
    """The canonical record of a locker."""

    locker_id: LockerId
    owner_id: OwnerId
    status: LockerStatus
    alias: str | None
    created_at: Instant
    updated_at: Instant
    version: int
    location_id: LocationId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LockerSummary:
    """What an owner's or a location's list shows of a locker without reading the locker itself."""

    owner_id: OwnerId
    locker_id: LockerId
    status: LockerStatus
    alias: str | None
    updated_at: Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """A person or organisation that has lockers and makes reservations."""

    owner_id: OwnerId
    kind: OwnerKind
    name: str
    email: str | None
    created_at: Instant
    updated_at: Instant
    version: int
    phone: str | None = None
    role: OwnerRole = OwnerRole.USER


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A place where lockers stand, and whose room or wall can be booked."""

    location_id: LocationId
    code: str
    name: str
    formatted_address: str | None
    street: str | None
    city: str | None
    region: str | None
    postal_code: str | None
    country: str | None
    place_id: str | None
    lat: Decimal | None
    lng: Decimal | None
    time_zone: str
    status: LocationStatus
    created_at: Instant
    updated_at: Instant
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """A locker held for somebody in the half-open window from start to end."""

    reservation_id: ReservationId
    locker_id: LockerId
    owner_id: OwnerId
    start_at: Instant
    end_at: Instant
    status: ReservationStatus
    created_at: Instant
    updated_at: Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessEvent:
    """What happened at a locker; never changed once written."""

    event_id: EventId
    locker_id: LockerId
    timestamp: Instant
    recorded_at: Instant
    action: AccessAction
    actor_id: str
    result: AccessResult
    metadata: Mapping[str, Json] | None
