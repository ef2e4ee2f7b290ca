"""Items and models: one strict codec for each kind of item, derived from the model's fields.

An attribute is named as its field, in camelCase; a field that is None has no attribute. The fields of a record within
a model are attributes of the same item. An item that does not decode exactly is completed, if it has an older form
(see `loaders.old_items`), or reported as damaged.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from decimal import Decimal
from enum import Enum
from functools import cache, cached_property
from inspect import signature
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from pydantic.alias_generators import to_camel

from domain.access_codes import AccessCode, Attempt, CodeClaim, CodeDoor, Lockout
from domain.api_keys import ApiKey
from domain.bookings import Booking, BookingId, BookingStatus, CalendarSlot, DayPart, Notification, Payment
from domain.errors import InternalError
from domain.models import (
    AccessEvent,
    ActivePointer,
    EventId,
    Location,
    LocationId,
    Locker,
    LockerId,
    LockerOffer,
    LockerSummary,
    Owner,
    OwnerId,
    Reservation,
    ReservationDetails,
    ReservationId,
    ReservationSlot,
)
from domain.times import EARLIEST, Day, Instant, is_instant
from loaders import keys
from loaders.old_items import completed
from loaders.table.positions import Key
from loaders.table.values import ReadItem, WireItem, WireText, item_from_wire

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from loaders.table.values import FoundItem, Item

M = TypeVar("M")

_TAGS = {int: "N", Decimal: "N", bool: "BOOL", dict: "M"}
"""The types of the store other than text."""
_LEAN: dict[str, Any] = {"gc": False, "eq": False, "kw_only": True}


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
class AnyClaim:
    """The reservation that a request for any locker led to, and the fingerprint of the request."""

    owner_id: OwnerId
    reservation_id: ReservationId
    locker_id: LockerId
    start_at: Instant
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceClaim:
    """The reservation of an owner that has this reference."""

    owner_id: OwnerId
    reference: str
    locker_id: LockerId
    start_at: Instant
    reservation_id: ReservationId


@dataclass(frozen=True, slots=True, kw_only=True)
class EventClaim:
    """The time of the event with this id, and the fingerprint of the request that recorded it."""

    event_id: EventId
    locker_id: LockerId | None
    timestamp: Instant
    fingerprint: str
    location_id: LocationId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailClaim:
    """The owner of an e-mail address."""

    owner_id: OwnerId


@dataclass(frozen=True, slots=True, kw_only=True)
class LocationCode:
    """The location that a code belongs to, permanently."""

    location_id: LocationId
    code: str
    created_at: Instant | None = None
    """When it was claimed; claims of an earlier version do not say it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarClaim:
    """The day of the calendar event with this id, and the fingerprint of the request that created it."""

    event_id: str
    location_id: LocationId
    date: Day
    duration: DayPart
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """The number of changes to a locker's reservations, and the reservation changed last, with its revision.

    `changed_removed` where that change removed its live copy. `has_old` while reservations of an older form may be
    left; `has_live` once every live reservation has its copy, which earlier versions did not write, and `lacks_ended`
    where those that ended long ago have none, until the table is migrated.
    """

    revision: int
    changed_start_at: Instant | None = None
    changed_reservation_id: ReservationId | None = None
    changed_revision: int | None = None
    changed_removed: bool | None = None
    has_old: bool | None = None
    has_live: bool | None = None
    lacks_ended: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReservation:
    """A reservation, the revision of the guard that wrote it, and its slot; older items have none."""

    reservation: Reservation
    revision: int | None = None
    slot: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedBooking:
    """A booking and the fingerprint of the request that created it."""

    booking: Booking
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAccessCode:
    """An access code and the fingerprint of the request that created it."""

    code: AccessCode
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFormat:
    """The format version of the table, and where a migration to the next one continues, if one is under way."""

    format_version: int
    revision: int
    migrating_to: int | None = None
    position_pk: str | None = None
    position_sk: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OldUser:
    """A user, as another program wrote it."""

    user_id: str
    name: str
    created_at: Instant
    email: str | None = None
    phone: str | None = None
    role: str = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class OldBooking:
    """A booking, as another program wrote it."""

    booking_id: BookingId
    user_id: OwnerId
    date: Day
    duration: DayPart
    event_description: str
    attendees: int
    status: str
    requested_at: Instant

    @property
    def current_status(self) -> BookingStatus | None:
        """Its status in today's spelling, if there is one."""
        return next((status for status in BookingStatus if status == self.status.upper()), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class OldEvent:
    """An event of a day in the calendar, as another program wrote it."""

    event_id: str
    date: Day
    time_slot: str
    title: str
    created_by: OwnerId
    booking_id: BookingId | None = None
    created_at: Instant = EARLIEST


@dataclass(frozen=True, slots=True)
class _ListOf:
    """The type of a field that holds several strings of one kind."""

    kind: type[str]

    def decode(self, value: Any) -> tuple[str, ...]:
        if type(value) is not list or any(type(part) is not str for part in value):
            raise ValueError(value)
        return tuple(map(self.kind, value))


class Codec(Generic[M]):
    """One kind of item: its key, its size, and the conversion of a model into its attributes and back.

    `index` gives an item's place in the index, where its kind has one. `largest` and `usual` are bytes.
    """

    def __init__(
        self,
        model: type[M],
        entity_type: str,
        key: Callable[..., Key] = Key,
        *,
        index: Callable[[M], dict[str, str]] = lambda _: {},
        largest: int = 0,
        usual: int = 0,
    ) -> None:
        hints = get_type_hints(model)
        members = fields(model)  # type: ignore[arg-type]  # every model is a dataclass
        self._model = model
        self.entity_type = entity_type
        self.key = key
        self.index = index
        self.largest = largest
        self.usual = usual
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

    def at(self, key: Callable[..., Key], largest: int | None = None) -> Codec[M]:
        """The same kind of item where its key is built of other values, or where it is smaller."""
        sizes = {"largest": largest or self.largest, "usual": self.usual}
        return Codec(self._model, self.entity_type, key, index=self.index, **sizes)

    def key_of(self, model: M) -> Key:
        """The key of the item that holds the model."""
        return self.key(*(value_of(model) for value_of in self._key_values))

    @cached_property
    def _key_values(self) -> list[attrgetter[Any]]:
        """A key's builder names its arguments as the model, or a record within it, names its fields."""
        inner = {name: f"{member}.{name}" for member, codec in self._records.items() for name in codec.attributes}
        return [attrgetter(inner.get(name, name)) for name in signature(self.key).parameters]

    def encode(self, model: M) -> dict[str, Any]:
        """The item's attributes and its place in the index, without its key."""
        attributes: dict[str, Any] = {"entityType": self.entity_type}
        for name, codec in self._records.items():
            attributes |= codec.encode(getattr(model, name))
        for name, attribute, _, _ in self._fields:
            value = getattr(model, name)
            if value is not None:
                attributes[attribute] = list(value) if type(value) is tuple else value
        return attributes | self.index(model)

    def decode(self, item: Item) -> M:
        """The model that the item holds, in today's form or an older one."""
        try:
            return self._decode(item)
        except DamagedItemError:
            complete = completed(self.entity_type, item)
            if complete is None:
                raise
            return self._decode(complete)

    def is_current(self, item: Item) -> bool:
        """Whether the item has today's form."""
        try:
            self._decode(item)
        except DamagedItemError:
            return False
        return True

    def _decode(self, item: Item) -> M:
        if item.get("entityType") != self.entity_type:
            raise DamagedItemError(f"{_where(item)} is {item.get('entityType')!r}, not {self.entity_type!r}")
        values: dict[str, Any] = {name: codec._decode(item) for name, codec in self._records.items()}  # noqa: SLF001  # its own kind
        for name, attribute, kind, optional in self._fields:
            if attribute not in item and attribute in self._defaults:
                values[name] = self._defaults[attribute]
                continue
            try:
                values[name] = _decoded(item.get(attribute), kind, optional=optional)
            except ValueError:
                raise DamagedItemError(f"{_where(item)} has no valid {attribute}") from None
        return self._model(**values)

    def read(self, item: FoundItem) -> M:
        """The model that an item holds.

        A usual item has the codec's shape, and may have been read already; whatever the shape does not expect is
        decoded again, attribute by attribute, and then is either read or reported as damaged.
        """
        if isinstance(item, ReadItem):
            return item.record  # type: ignore[no-any-return]  # this codec's
        try:
            return self.read(msgspec.convert(item, self.shape))
        except (msgspec.ValidationError, ArithmeticError):
            pass
        try:
            plain = item_from_wire(item)
        except TypeError as error:
            raise DamagedItemError(f"{_where(item_from_wire(_key_of(item)))} has a value of another type") from error
        return self.decode(plain)

    def try_read(self, item: FoundItem) -> M | DamagedItemError:
        """The model that the item holds, or what is wrong with the item: one of many must not fail the others."""
        try:
            return self.read(item)
        except DamagedItemError as damage:
            return damage

    def try_read_all(self, items: Sequence[FoundItem]) -> list[M | DamagedItemError]:
        """The same for many items."""
        try:
            return [item.record for item in items]  # type: ignore[union-attr]  # as a rule, all have one
        except AttributeError:
            return [self.try_read(item) for item in items]

    @cached_property  # most codecs of a process are never used
    def shape(self) -> type[ReadItem]:
        """A generated class: its items read themselves, without a loop, once their attributes are parsed.

        The constructor of a frozen dataclass takes several times as long as the assignments to its slots. So a record
        is filled while it is of a class that has the same slots and is not frozen, and then becomes one of its own.
        """
        scope: dict[str, Any] = {"item_from_wire": item_from_wire, "old": _old_time, "UNSET": msgspec.UNSET}
        source = "\n    ".join(["def read(item):", *self._filling("record", scope), "item.record = record"])
        # All names come from the models, so nothing of a client's becomes code.
        exec(compile(source, f"<reader of {self.entity_type}>", "exec"), scope)  # noqa: S102  # see above
        return msgspec.defstruct(  # type: ignore[return-value]  # of its base
            f"Read_{self.entity_type}",
            [("entityType", _tagged("S", Literal[self.entity_type])), *self._parsed.values()],
            bases=(ReadItem,),
            namespace={"__post_init__": scope["read"]},
            **_LEAN,
        )

    @property
    def _parsed(self) -> dict[str, tuple[str, Any] | tuple[str, Any, Any]]:
        """The attributes that are parsed: name, type, and UNSET for those that an item may lack."""
        parsed: dict[str, tuple[str, Any] | tuple[str, Any, Any]] = {}
        for codec in self._records.values():
            parsed |= codec._parsed  # noqa: SLF001  # its own kind
        for _, attribute, kind, optional in self._fields:
            tagged = _tagged_kind(kind)
            is_certain = not optional and attribute not in self._defaults
            parsed[attribute] = (
                (attribute, tagged) if is_certain else (attribute, tagged | msgspec.UnsetType, msgspec.UNSET)
            )
        return parsed

    def _filling(self, record: str, scope: dict[str, Any]) -> list[str]:
        """The lines of code that create a record and fill its slots."""
        scope[f"model_{record}"] = self._model
        scope[f"draft_{record}"] = type("Draft", (), {"__slots__": self._model.__slots__})  # type: ignore[attr-defined]
        lines = [f"{record} = draft_{record}()"]
        for name, codec in self._records.items():
            lines += codec._filling(f"{record}_{name}", scope)  # noqa: SLF001  # its own kind
            lines.append(f"{record}.{name} = {record}_{name}")
        for name, attribute, kind, optional in self._fields:
            value = _expression(f"item.{attribute}", kind)
            if optional or attribute in self._defaults:
                scope[f"default_{record}_{name}"] = self._defaults.get(attribute)
                value = f"default_{record}_{name} if item.{attribute} is UNSET else {value}"
            lines.append(f"{record}.{name} = {value}")
        return [*lines, f"{record}.__class__ = model_{record}"]


def _decoded(value: Any, kind: Any, *, optional: bool) -> Any:
    """The value of an attribute, if it is of its kind."""
    if value is None and optional:
        return None
    if isinstance(kind, _ListOf):
        return kind.decode(value)
    if kind is not Instant and issubclass(kind, Enum):
        return kind(value)
    if kind is Decimal and type(value) is int:
        return Decimal(value)
    if not (is_instant(value) if kind is Instant else type(value) is kind):
        raise ValueError(value)
    return value


def _expression(item: str, kind: Any) -> str:
    """The code that reads one parsed value of this kind."""
    if isinstance(kind, _ListOf):
        return f"(tuple([part.S for part in parts]) if (parts := {item}.L) else ())"
    if kind is Instant:  # of its fixed form, only the length and the end are checked here
        return f"(time if (time := {item}.S)[23:] == 'Z' else old(time))"
    if kind is int:
        return f"int({item}.N)"
    if kind is dict:
        return f"item_from_wire({item}.M)"
    return f"{item}.{_TAGS.get(kind, 'S')}"


def _tagged_kind(kind: Any) -> Any:
    """What parses a value of this kind, with its tag; enums and decimals come out as such."""
    if isinstance(kind, _ListOf):
        part: Any = _tagged_kind(kind.kind)
        return _tagged("L", list[part])
    if kind is Instant or kind is str:
        return WireText
    return _tagged(_TAGS.get(kind, "S"), {int: str, dict: WireItem}.get(kind, kind))


@cache
def _tagged(tag: str, kind: Any) -> Any:
    return msgspec.defstruct(tag, [(tag, kind)], **_LEAN)


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
    """The class behind a NewType; an instant has a form of its own."""
    return kind if kind is Instant else getattr(kind, "__supertype__", kind)


def _old_time(time: str) -> str:
    raise ValueError(time)


def _key_of(item: WireItem) -> WireItem:
    return {name: item[name] for name in ("PK", "SK") if name in item}


def _where(item: Item) -> str:
    return f"item {keys.masked(Key.of_item(item))}"


LOCKER = Codec(Locker, "LOCKER", keys.locker, largest=2000, usual=350)
OWNER_LOCKER = Codec(LockerSummary, "OWNER_LOCKER", keys.owner_locker, largest=2000, usual=300)
OWNER = Codec(Owner, "OWNER", keys.owner, largest=2000, usual=350)
EMAIL_CLAIM = Codec(EmailClaim, "EMAIL_CLAIM", keys.email_claim, largest=2000, usual=200)
RESERVATION = Codec(Reservation, "RESERVATION", keys.reservation, largest=1900, usual=350)
STORED_RESERVATION = Codec(StoredReservation, "RESERVATION", keys.reservation, largest=1900, usual=350)
LIVE_RESERVATION = Codec(Reservation, "LIVE_RESERVATION", keys.live_reservation, largest=1900, usual=350)
STORED_LIVE_RESERVATION = Codec(StoredReservation, "LIVE_RESERVATION", keys.live_reservation, largest=1900, usual=350)
OWNER_RESERVATION = Codec(Reservation, "OWNER_RESERVATION", keys.owner_reservation, largest=1900, usual=350)
ACTIVE_POINTER = Codec(ActivePointer, "RESERVATION_ACTIVE", keys.active_pointer, largest=1900, usual=400)
RESERVATION_CLAIM = Codec(ReservationClaim, "RESERVATION_CLAIM", keys.reservation_claim, largest=600, usual=300)
ANY_CLAIM = Codec(AnyClaim, "ANY_LOCKER_CLAIM", keys.any_claim, largest=600, usual=350)
REFERENCE_CLAIM = Codec(ReferenceClaim, "REFERENCE_CLAIM", keys.reservation_reference, largest=600, usual=250)
RESERVATION_DETAILS = Codec(
    ReservationDetails, "RESERVATION_DETAILS", keys.reservation_details, largest=27_500, usual=400
)
RESERVATION_SLOT = Codec(ReservationSlot, "RESERVATION_SLOT", keys.reservation_slot, largest=600, usual=300)
GUARD = Codec(Guard, "RESERVATION_GUARD", keys.reservation_guard, largest=600, usual=250)
LOCATION = Codec(
    Location,
    "LOCATION",
    keys.location,
    index=lambda one: keys.location_index(one.status, one.created_at, one.location_id),
    largest=8000,
    usual=700,
)
LOCATION_CODE = Codec(LocationCode, "LOCATION_CODE", keys.location_code, largest=600, usual=200)
LOCKER_OFFER = Codec(LockerOffer, "LOCKER_OFFER", keys.offer, largest=2000, usual=250)
LOCATION_LOCKER = Codec(LockerSummary, "LOCATION_LOCKER", keys.location_locker, largest=2000, usual=300)
BOOKING = Codec(
    Booking,
    "BOOKING",
    keys.booking,
    index=lambda one: keys.pending_index(one.requested_at, one.booking_id) if one.is_pending else {},
    largest=19_300,
    usual=700,
)
REQUESTED_BOOKING = Codec(RequestedBooking, "BOOKING", keys.booking, largest=19_300, usual=700)
OWNER_BOOKING = Codec(Booking, "OWNER_BOOKING", keys.owner_booking, largest=19_300, usual=700)
CALENDAR_SLOT = Codec(CalendarSlot, "CALENDAR_SLOT", keys.calendar_slot, largest=2600, usual=400)
CALENDAR_CLAIM = Codec(CalendarClaim, "CALENDAR_EVENT_CLAIM", keys.calendar_claim, largest=1800, usual=300)
PAYMENT = Codec(Payment, "PAYMENT", keys.payment, largest=1800, usual=350)
NOTIFICATION = Codec(Notification, "NOTIFICATION", keys.notification, largest=9000, usual=450)
API_KEY = Codec(
    ApiKey,
    "API_KEY",
    keys.api_key,
    index=lambda one: keys.api_key_index(one.created_at, one.key_id),
    largest=4000,
    usual=700,
)
# 16 KB of JSON take up to 24 KB in the table: an element `1,` has two bytes in JSON and three in the table.
ACCESS_EVENT = Codec(AccessEvent, "ACCESS_EVENT", keys.door_event, largest=25_600, usual=350)
EVENT_CLAIM = Codec(EventClaim, "ACCESS_EVENT_CLAIM", keys.door_event_claim, largest=600, usual=300)
TABLE_FORMAT = Codec(TableFormat, "TABLE_FORMAT", keys.table_format, largest=500, usual=200)
ACCESS_CODE = Codec(
    AccessCode,
    "ACCESS_CODE",
    keys.access_code,
    index=lambda one: {} if one.purpose is None else keys.purpose_index(one.purpose, one.code_id),
    largest=6400,
    usual=600,
)
STORED_ACCESS_CODE = Codec(StoredAccessCode, "ACCESS_CODE", keys.access_code, largest=6400, usual=600)
CODE_CLAIM = Codec(CodeClaim, "CODE_CLAIM", keys.code_claim, largest=800, usual=200)
CODE_DOOR = Codec(CodeDoor, "CODE_DOOR", keys.code_door, largest=8000, usual=700)
LOCKOUT = Codec(Lockout, "LOCKOUT", keys.lockout, largest=800, usual=200)
ATTEMPT = Codec(Attempt, "ACCESS_ATTEMPT", keys.attempt, largest=800, usual=300)
OLD_USER = Codec(OldUser, "User")
OLD_BOOKING = Codec(OldBooking, "Booking", keys.old_booking, largest=19_300, usual=700)
OLD_EVENT = Codec(OldEvent, "Event")
