"""Items and models: one strict codec for each kind of item, derived from the model's fields.

An attribute is named as its field, in camelCase; a field that is None has no attribute. The fields of a record within
a model are attributes of the same item. An item that does not decode exactly is reported as damaged.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic.alias_generators import to_camel

from domain.api_keys import ApiKey
from domain.bookings import Booking, CalendarSlot, Duration, Notification, Payment
from domain.errors import InternalError
from domain.models import (
    AccessEvent,
    ActivePointer,
    EventId,
    Location,
    LocationId,
    Locker,
    LockerId,
    LockerSummary,
    Owner,
    OwnerId,
    Reservation,
    ReservationId,
)
from domain.times import Day, Instant
from loaders import keys
from loaders.table.keys import Key

if TYPE_CHECKING:
    from loaders.table.values import Item

__all__ = [
    "ACCESS_EVENT",
    "ACTIVE_POINTER",
    "API_KEY",
    "BOOKING",
    "CALENDAR_CLAIM",
    "CALENDAR_SLOT",
    "EMAIL_CLAIM",
    "EVENT_CLAIM",
    "GUARD",
    "LOCATION",
    "LOCATION_CODE",
    "LOCATION_LOCKER",
    "LOCKER",
    "NOTIFICATION",
    "OWNER",
    "OWNER_BOOKING",
    "OWNER_LOCKER",
    "OWNER_RESERVATION",
    "PAYMENT",
    "REQUESTED_BOOKING",
    "RESERVATION",
    "RESERVATION_CLAIM",
    "STORED_RESERVATION",
    "TABLE_FORMAT",
    "CalendarClaim",
    "Codec",
    "DamagedItemError",
    "EmailClaim",
    "EventClaim",
    "Guard",
    "LocationCode",
    "RequestedBooking",
    "ReservationClaim",
    "StoredReservation",
    "TableFormat",
    "difference",
]

M = TypeVar("M")


class DamagedItemError(InternalError):
    """An item of the table is not as its kind requires: a fault of the server, never of the client."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservationClaim:
    """The start of the reservation with this id, and the fingerprint of the request that created it."""

    reservation_id: ReservationId
    locker_id: LockerId
    start_at: Instant
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EventClaim:
    """The time of the event with this id, and the fingerprint of the request that recorded it."""

    event_id: EventId
    locker_id: LockerId
    timestamp: Instant
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailClaim:
    """The owner of an e-mail address."""

    owner_id: OwnerId


@dataclass(frozen=True, slots=True, kw_only=True)
class LocationCode:
    """The location that a code belongs to, permanently."""

    location_id: LocationId
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarClaim:
    """The day of the calendar event with this id, and the fingerprint of the request that created it."""

    event_id: str
    location_id: LocationId
    date: Day
    duration: Duration
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """The number of changes to a locker's reservations, and the reservation changed last, with its revision."""

    revision: int
    changed_start_at: Instant | None = None
    changed_reservation_id: ReservationId | None = None
    changed_revision: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReservation:
    """A reservation and the revision of the guard that wrote it; older items have none."""

    reservation: Reservation
    revision: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedBooking:
    """A booking and the fingerprint of the request that created it."""

    booking: Booking
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFormat:
    """The format version of the table, and where a migration to the next one continues, if one is under way."""

    format_version: int
    revision: int
    migrating_to: int | None = None
    position_pk: str | None = None
    position_sk: str | None = None


@dataclass(frozen=True, slots=True)
class _ListOf:
    """The type of a field that holds several strings of one kind."""

    kind: type[str]

    def decode(self, value: Any) -> tuple[str, ...]:
        if type(value) is not list or any(type(part) is not str for part in value):
            raise ValueError(value)
        return tuple(map(self.kind, value))


class Codec(Generic[M]):
    """Converts a model into an item's attributes and back."""

    def __init__(self, model: type[M], entity_type: str) -> None:
        hints = get_type_hints(model)
        members = fields(model)  # type: ignore[arg-type]  # every model is a dataclass
        self._model = model
        self.entity_type = entity_type
        self.attributes = frozenset(member.name for member in members)
        self._records = {
            member.name: Codec(hints[member.name], entity_type)
            for member in members
            if is_dataclass(hints[member.name])
        }
        self._fields = [
            (member.name, to_camel(member.name), *_shape(hints[member.name]))
            for member in members
            if member.name not in self._records
        ]
        # Older items may lack an attribute whose field has a default.
        self._defaults = {to_camel(member.name): member.default for member in members if member.default is not MISSING}

    def encode(self, model: M) -> dict[str, Any]:
        """The item's attributes, without its key."""
        attributes: dict[str, Any] = {"entityType": self.entity_type}
        for name, codec in self._records.items():
            attributes |= codec.encode(getattr(model, name))
        values = ((attribute, getattr(model, name)) for name, attribute, _, _ in self._fields)
        return attributes | {
            name: list(value) if isinstance(value, tuple) else value for name, value in values if value is not None
        }

    def decode(self, item: Item) -> M:
        """The model that the item holds."""
        if item.get("entityType") != self.entity_type:
            raise DamagedItemError(f"{_where(item)} is {item.get('entityType')!r}, not {self.entity_type!r}")
        values: dict[str, Any] = {name: codec.decode(item) for name, codec in self._records.items()}
        for name, attribute, kind, optional in self._fields:
            value: Any = item.get(attribute, self._defaults.get(attribute))
            try:
                if isinstance(kind, _ListOf):
                    value = kind.decode(value)
                elif issubclass(kind, Enum):
                    value = kind(value)
                elif kind is Decimal and type(value) is int:
                    value = Decimal(value)
                elif type(value) is not kind and not (value is None and optional):
                    raise ValueError(value)  # noqa: TRY301  # both errors are reported alike
            except ValueError:
                raise DamagedItemError(f"{_where(item)} has no valid {attribute}") from None
            values[name] = value
        return self._model(**values)

    def try_decode(self, item: Item) -> M | DamagedItemError:
        """The model that the item holds, or what is wrong with the item: one of many must not fail the others."""
        try:
            return self.decode(item)
        except DamagedItemError as damage:
            return damage


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes that an update must set; None stands for an attribute to remove."""
    names = {**before, **after}
    return {name: after.get(name) for name in names if before.get(name) != after.get(name)}


def _shape(hint: Any) -> tuple[Any, bool]:
    """The type of a field's stored value, and whether the attribute may be missing."""
    options = [option for option in get_args(hint) if option is not type(None)]
    optional = get_origin(hint) in {Union, types.UnionType}
    kind = options[0] if optional else hint
    if get_origin(kind) is Mapping:
        return dict, optional
    if get_origin(kind) is tuple:
        return _ListOf(_plain(get_args(kind)[0])), optional
    return _plain(kind), optional


def _plain(kind: Any) -> Any:
    """The class behind a NewType."""
    return getattr(kind, "__supertype__", kind)


def _where(item: Item) -> str:
    return f"item {keys.masked(Key(str(item.get('PK')), str(item.get('SK'))))}"


LOCKER = Codec(Locker, "LOCKER")
OWNER_LOCKER = Codec(LockerSummary, "OWNER_LOCKER")
OWNER = Codec(Owner, "OWNER")
EMAIL_CLAIM = Codec(EmailClaim, "EMAIL_CLAIM")
RESERVATION = Codec(Reservation, "RESERVATION")
STORED_RESERVATION = Codec(StoredReservation, "RESERVATION")
OWNER_RESERVATION = Codec(Reservation, "OWNER_RESERVATION")
ACTIVE_POINTER = Codec(ActivePointer, "RESERVATION_ACTIVE")
RESERVATION_CLAIM = Codec(ReservationClaim, "RESERVATION_CLAIM")
GUARD = Codec(Guard, "RESERVATION_GUARD")
LOCATION = Codec(Location, "LOCATION")
LOCATION_CODE = Codec(LocationCode, "LOCATION_CODE")
LOCATION_LOCKER = Codec(LockerSummary, "LOCATION_LOCKER")
BOOKING = Codec(Booking, "BOOKING")
REQUESTED_BOOKING = Codec(RequestedBooking, "BOOKING")
OWNER_BOOKING = Codec(Booking, "OWNER_BOOKING")
CALENDAR_SLOT = Codec(CalendarSlot, "CALENDAR_SLOT")
CALENDAR_CLAIM = Codec(CalendarClaim, "CALENDAR_EVENT_CLAIM")
PAYMENT = Codec(Payment, "PAYMENT")
NOTIFICATION = Codec(Notification, "NOTIFICATION")
API_KEY = Codec(ApiKey, "API_KEY")
ACCESS_EVENT = Codec(AccessEvent, "ACCESS_EVENT")
EVENT_CLAIM = Codec(EventClaim, "ACCESS_EVENT_CLAIM")
TABLE_FORMAT = Codec(TableFormat, "TABLE_FORMAT")
