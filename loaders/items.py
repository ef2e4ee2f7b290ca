"""Items and models: one strict codec a kind of item, made from the model's own fields.

An attribute is its field's name in camelCase; a field that is None has no attribute. What does not decode exactly is
damage, and is said so rather than shown half right.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic.alias_generators import to_camel

from domain.api_keys import ApiKey
from domain.bookings import Booking, CalendarSlot, Duration, Notification, Payment
from domain.errors import FaultError
from domain.models import (
    AccessEvent,
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
from loaders.table.operations import Key

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
    "RESERVATION",
    "RESERVATION_CLAIM",
    "CalendarClaim",
    "Codec",
    "DamagedItemError",
    "EmailClaim",
    "EventClaim",
    "Guard",
    "LocationCode",
    "ReservationClaim",
    "difference",
]

M = TypeVar("M")


class DamagedItemError(FaultError):
    """An item of the table is not what its kind must be: a fault of ours, never of the client's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservationClaim:
    """Where the reservation of an id is, and what a repeat of its creation is compared with."""

    reservation_id: ReservationId
    locker_id: LockerId
    start_at: Instant
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EventClaim:
    """Where the event of an id is, and what a repeat of its recording is compared with."""

    event_id: EventId
    locker_id: LockerId
    timestamp: Instant
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailClaim:
    """Whose an e-mail address is."""

    owner_id: OwnerId


@dataclass(frozen=True, slots=True, kw_only=True)
class LocationCode:
    """Which location a code belongs to, for ever."""

    location_id: LocationId
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarClaim:
    """Where the calendar event of an id is, and what a repeat of its creation is compared with."""

    event_id: str
    location_id: LocationId
    date: Day
    duration: Duration
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """How often a locker's reservations were changed, and which of them last, at which revision."""

    revision: int
    changed_start_at: Instant | None = None
    changed_reservation_id: ReservationId | None = None
    changed_revision: int | None = None


@dataclass(frozen=True, slots=True)
class _ListOf:
    """The shape of a field that holds several texts of one kind."""

    kind: type[str]

    def decode(self, value: Any) -> tuple[str, ...]:
        if type(value) is not list or any(type(part) is not str for part in value):
            raise ValueError(value)
        return tuple(map(self.kind, value))


class Codec(Generic[M]):
    """Turns a model into an item's attributes and back."""

    def __init__(self, model: type[M], entity_type: str) -> None:
        hints = get_type_hints(model)
        self._model = model
        self.entity_type = entity_type
        self._fields = [
            (field.name, to_camel(field.name), *_shape(hints[field.name]))
            for field in fields(model)  # type: ignore[arg-type]  # every model is a dataclass
        ]
        # What older items do not have yet.
        self._defaults = {
            to_camel(field.name): field.default
            for field in fields(model)  # type: ignore[arg-type]
            if field.default is not MISSING
        }

    def encode(self, model: M) -> dict[str, Any]:
        """The item's attributes, without its key."""
        values = ((attribute, getattr(model, name)) for name, attribute, _, _ in self._fields)
        return {"entityType": self.entity_type} | {
            name: list(value) if isinstance(value, tuple) else value for name, value in values if value is not None
        }

    def decode(self, item: Item) -> M:
        """The model that the item holds."""
        if item.get("entityType") != self.entity_type:
            raise DamagedItemError(f"{_where(item)} is {item.get('entityType')!r}, not {self.entity_type!r}")
        values: dict[str, Any] = {}
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
                    raise ValueError(value)  # noqa: TRY301  # both ways of being wrong end alike
            except ValueError:
                raise DamagedItemError(f"{_where(item)} has no good {attribute}") from None
            values[name] = value
        return self._model(**values)


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes that an update must set; None stands for one that goes."""
    names = {**before, **after}
    return {name: after.get(name) for name in names if before.get(name) != after.get(name)}


def _shape(hint: Any) -> tuple[Any, bool]:
    """The class of a field's stored value, and whether it may be absent."""
    options = [option for option in get_args(hint) if option is not type(None)]
    optional = get_origin(hint) in {Union, types.UnionType}
    kind = options[0] if optional else hint
    if get_origin(kind) is Mapping:
        return dict, optional
    if get_origin(kind) is tuple:
        return _ListOf(_plain(get_args(kind)[0])), optional
    return _plain(kind), optional


def _plain(kind: Any) -> Any:
    """The class behind a name for it."""
    return getattr(kind, "__supertype__", kind)


def _where(item: Item) -> str:
    return f"item {keys.masked(Key(str(item.get('PK')), str(item.get('SK'))))}"


LOCKER = Codec(Locker, "LOCKER")
OWNER_LOCKER = Codec(LockerSummary, "OWNER_LOCKER")
OWNER = Codec(Owner, "OWNER")
EMAIL_CLAIM = Codec(EmailClaim, "EMAIL_CLAIM")
RESERVATION = Codec(Reservation, "RESERVATION")
OWNER_RESERVATION = Codec(Reservation, "OWNER_RESERVATION")
ACTIVE_POINTER = Codec(Reservation, "RESERVATION_ACTIVE")
RESERVATION_CLAIM = Codec(ReservationClaim, "RESERVATION_CLAIM")
GUARD = Codec(Guard, "RESERVATION_GUARD")
LOCATION = Codec(Location, "LOCATION")
LOCATION_CODE = Codec(LocationCode, "LOCATION_CODE")
LOCATION_LOCKER = Codec(LockerSummary, "LOCATION_LOCKER")
BOOKING = Codec(Booking, "BOOKING")
OWNER_BOOKING = Codec(Booking, "OWNER_BOOKING")
CALENDAR_SLOT = Codec(CalendarSlot, "CALENDAR_SLOT")
CALENDAR_CLAIM = Codec(CalendarClaim, "CALENDAR_EVENT_CLAIM")
PAYMENT = Codec(Payment, "PAYMENT")
NOTIFICATION = Codec(Notification, "NOTIFICATION")
API_KEY = Codec(ApiKey, "API_KEY")
ACCESS_EVENT = Codec(AccessEvent, "ACCESS_EVENT")
EVENT_CLAIM = Codec(EventClaim, "ACCESS_EVENT_CLAIM")
