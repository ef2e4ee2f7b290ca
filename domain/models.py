"""Entities as immutable records."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from functools import cache
from typing import Any, NewType, TypeAlias, TypeVar

from domain.enums import DescribedEnum
from domain.text import normalize_email, normalize_phone
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


class LockerStatus(DescribedEnum):
    """Status of a locker."""

    AVAILABLE = "AVAILABLE", "The locker can be used."
    OCCUPIED = "OCCUPIED", "The locker is in use."
    MAINTENANCE = "MAINTENANCE", "The locker is out of order and accepts no new reservations."
    RETIRED = "RETIRED", "The locker has left service for good. `updatedAt` is the time at which it was retired."


class ReservableBy(DescribedEnum):
    """Who may reserve a locker, apart from its owner and the partners and admins who act for the owner."""

    OWNER = "OWNER", "Only the owner of the locker, and the partners and admins who act for the owner."
    MEMBERS = "MEMBERS", "Members of the organization that owns the locker."
    EVERYONE = "EVERYONE", "Every owner, and the partners who act for one."


class LockerSize(DescribedEnum):
    """Size of a locker."""

    S = "S", "Small."
    M = "M", "Medium."
    L = "L", "Large."
    XL = "XL", "Extra large."


class OwnerKind(DescribedEnum):
    """Kind of an owner."""

    USER = "USER", "A person."
    ORGANIZATION = "ORGANIZATION", "An organization."


class OwnerRole(DescribedEnum):
    """Role of an owner."""

    USER = "USER", "Regular user without administrative rights."
    ADMIN = "ADMIN", "Administrator who decides bookings and manages calendars."


class LocationStatus(DescribedEnum):
    """Status of a location."""

    ACTIVE = "ACTIVE", "The location accepts lockers and bookings."
    INACTIVE = "INACTIVE", "The location accepts nothing new. Its code stays reserved."


class ReservationStatus(DescribedEnum):
    """Status of a reservation."""

    # Stored is only what someone did: ACTIVE until it is CANCELLED or, by its release, COMPLETED. The clock decides on
    # the others.
    UPCOMING = "UPCOMING", "The reservation has not started yet."
    ACTIVE = "ACTIVE", "The present moment is within the reservation."
    COMPLETED = "COMPLETED", "The reservation was released, or has ended after a check-in."
    EXPIRED = "EXPIRED", "The reservation has ended without a check-in."
    CANCELLED = "CANCELLED", "The reservation was canceled before it started."


class ReservationOutcome(DescribedEnum):
    """Outcome of a reservation whose time was over."""

    COMPLETED = "COMPLETED", "It was checked in, and has left its locker."
    EXPIRED = "EXPIRED", "It was never checked in."
    OCCUPIED = "OCCUPIED", "It still occupied its locker."


class ReservationParty(DescribedEnum):
    """Who ended a reservation."""

    OWNER = "OWNER", "The owner who made the reservation, or a partner of that owner."
    LOCKER_OWNER = "LOCKER_OWNER", "The owner of the locker, or a partner of that owner."
    ADMIN = "ADMIN", "An administrator."


class AccessAction(DescribedEnum):
    """Action at a locker."""

    OPEN = "OPEN", "The door was opened."
    CLOSE = "CLOSE", "The door was closed."
    UNLOCK = "UNLOCK", "The lock was released."
    LOCK = "LOCK", "The lock was set."
    DENIED = "DENIED", "Access was refused."
    TAMPER = "TAMPER", "The locker was tampered with."
    OVERSTAY = "OVERSTAY", "A reservation started while the locker was still occupied by one that had ended."
    OTHER = "OTHER", "Another action of an event that was migrated; `actionName` is the device's own word."


class AccessResult(DescribedEnum):
    """Result of an action at a locker."""

    SUCCESS = "SUCCESS", "The action succeeded."
    FAIL = "FAIL", "The action failed."
    OTHER = "OTHER", "Another result of an event that was migrated; `resultName` is the device's own word."


@dataclass(frozen=True, slots=True, kw_only=True)
class Locker:
    locker_id: LockerId
    owner_id: OwnerId
    status: LockerStatus
    alias: str | None
    created_at: Instant
    updated_at: Instant
    version: int
    location_id: LocationId | None = None
    reservable_by: ReservableBy
    size: LockerSize
    features: tuple[str, ...]
    occupied_by: ReservationId | None = None
    """Reservation whose start made the locker OCCUPIED."""
    overdue_since: Instant | None = None
    """End of the reservation that occupies the locker, once that was logged; it goes with `occupied_by`."""
    transfers: int | None = None
    """How often it got another owner; codes that are not tied to a reservation or booking end with each transfer."""
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
    reservable_by: ReservableBy
    size: LockerSize
    features: tuple[str, ...]


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
    erasure_requested_at: Instant | None = None
    """From then on it has no profile, and nothing new is made for it."""
    erased_at: Instant | None = None
    """When everything else that told who it was had been erased."""
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
    start_at: Instant
    """Start of the reservation, from which on they are kept for a time."""
    expires_at: int | None = None
    """Seconds since 1970, by which the store may delete them; None if they are kept permanently."""
    recipient_hashes: tuple[str, ...] = ()
    """Keyed hashes of the recipient's contacts, by which the reservation is found."""

    @property
    def recipient(self) -> Recipient | None:
        if self.recipient_name is None:
            return None
        return Recipient(name=self.recipient_name, email=self.recipient_email, phone=self.recipient_phone)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipientReservation:
    """A reservation whose recipient has a contact with this keyed hash. It expires with the details."""

    recipient_hash: str
    locker_id: LockerId
    reservation_id: ReservationId
    start_at: Instant
    expires_at: int | None = None


def contact_by(email: str | None = None, phone: str | None = None) -> str | None:
    """An email address or a phone number as it is hashed, whatever its spelling."""
    if email is not None:
        return f"email {normalize_email(email)}"
    return None if phone is None else f"phone {normalize_phone(phone)}"


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
    action_name: str | None = None
    """Own word of the device for an action that is OTHER."""
    result_name: str | None = None
    """Own word of the device for a result that is OTHER."""
    expires_at: int | None = None
    """Seconds since 1970, by which the store may delete it; None if it is kept permanently."""

    @property
    def door(self) -> Door:
        return door_of(self.locker_id, self.location_id)


def door_of(locker_id: LockerId | None, location_id: LocationId | None) -> Door:
    return Door(f"location:{location_id}" if locker_id is None else f"locker:{locker_id}")


def locker_of(door: Door) -> LockerId | None:
    """The locker that a door belongs to; None where that is a location."""
    kind, _, name = door.partition(":")
    return LockerId(name) if kind == "locker" else None


def record_from(model: type[M], source: object, **values: Any) -> M:
    """A record with these values, and otherwise those that the source has under the same names."""
    return model(**{name: getattr(source, name) for name in _names(model) if hasattr(source, name)} | values)  # type: ignore[arg-type]  # a class


@cache
def _names(model: type) -> list[str]:
    return [field.name for field in fields(model)]
