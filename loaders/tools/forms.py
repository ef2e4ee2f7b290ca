"""The forms in which other programs and earlier versions wrote items, and how their attributes become those of today.

Nothing is guessed: an attribute is placed if it is one of today's, under its own name or a known other one, and its
value can be spelled as today. Whatever has no place is kept as it is, beside the attributes of the record.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum
from functools import cache
from itertools import chain, count
from typing import Any, Generic, TypeVar

from domain.ids import check_id
from domain.text import check_currency
from domain.times import Instant, parse_day, to_instant
from loaders.conversion import Codec, ListOf
from loaders.table.positions import Key
from loaders.table.values import Item

M = TypeVar("M")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FINER_THAN_MILLISECONDS = re.compile(r"[.,]\d{3}\d*[1-9]")
_ADDRESS = frozenset({"PK", "SK", "GSI1PK", "GSI1SK", "entityType", "itemType"})
"""Where an item is and of which kind: never facts of their own."""
_KEYS = {
    kind: re.compile(spelling)
    for kind, spelling in {
        "LOCKER": r"LOCKER#(?P<lockerId>[^#]+) META",
        "LOCKER_STATE": r"LOCKER#(?P<lockerId>[^#]+) STATE",
        "OWNER_LOCKER": r"OWNER#(?P<ownerId>[^#]+) LOCKER#(?P<lockerId>[^#]+)",
        "RESERVATION": r"LOCKER#(?P<lockerId>[^#]+) RES#(?P<startAt>[^#]+)#(?P<reservationId>[^#]+)",
        "RESERVATION_ACTIVE": r"LOCKER#(?P<lockerId>[^#]+) RES#ACTIVE",
        "ACCESS_EVENT": r"LOCKER#(?P<lockerId>[^#]+) EVT#(?P<timestamp>[^#]+)#(?P<eventId>[^#]+)",
        "LOCATION": r"LOCATION#(?P<locationId>[^#]+) META",
        "LOCATION_CODE": r"LOCATION_CODE#(?P<code>.+) META",
        "OWNER": r"OWNER#(?P<ownerId>[^#]+) META",
        "BOOKING": r"BOOKING#(?P<bookingId>[^#]+) META",
        "User": r"USER#(?P<ownerId>[^#]+) METADATA",
        "UserBooking": r"USER#(?P<ownerId>[^#]+) BOOKING#(?P<bookingId>[^#]+)",
        "Booking": r"BOOKING#(?P<bookingId>[^#]+) METADATA",
        "Event": r"EVENT#(?P<date>[^#]+) (?P<duration>MORNING|AFTERNOON|FULL_?DAY)",
        "PAYMENT": r"BOOKING#(?P<bookingId>[^#]+) PAYMENT#(?P<paymentId>[^#]+)",
        "Notification": r"USER#(?P<ownerId>[^#]+) NOTIFICATION#(?:(?P<createdAt>[^#]+)#)?(?P<notificationId>[^#]+)",
    }.items()
}
"""The keys of the items that are converted, as partition and sort key, with the attributes that they tell."""
_TYPES = {"LOCATION_CODE": "LOCATIONCODELOOKUP"}
"""Other names of a kind."""
_NAMES = {
    "OWNER_LOCKER": {"lockerAlias": "alias"},
    "LOCATION": {"locationCode": "code"},
    "LOCATION_CODE": {"locationCode": "code"},
    "User": {"userId": "ownerId"},
    "Booking": {"userId": "ownerId", "eventDescription": "description", "createdAt": "requestedAt"},
    "UserBooking": {"userId": "ownerId", "eventDescription": "description"},
    "Event": {"timeSlot": "duration"},
    "PAYMENT": {"createdAt": "recordedAt"},
    "Notification": {"userId": "ownerId"},
}
"""Names of attributes that are others today."""
_CHECKS = {
    **dict.fromkeys(("lockerId", "ownerId", "reservationId", "eventId", "locationId", "bookingId"), check_id),
    **dict.fromkeys(("paymentId", "notificationId"), check_id),
    "date": parse_day,
    "currency": check_currency,
}


class NotConvertedError(Exception):
    """An item cannot have today's form; the text is the attribute that is missing or has no valid value."""


def form_of(item: Item) -> tuple[str, dict[str, str]] | None:
    """The kind of an item that may have another form, and the attributes that its key tells; None for all others."""
    text = " ".join(Key.of_item(item))
    for kind, spelling in _KEYS.items():
        found = spelling.fullmatch(text)
        if found is not None:
            named = _plain(item.get("entityType", item.get("itemType", kind)))
            told = {name: value for name, value in found.groupdict().items() if value is not None}
            return (kind, told) if named in {_plain(kind), _TYPES.get(kind)} else None
    return None


class Draft(Generic[M]):
    """A record in the making, of one or several items: attributes of today, and what has no place among them.

    `told` is what the key of the record tells. Of two items that tell different values, the first decides, and the
    other value is kept.
    """

    def __init__(self, codec: Codec[M], **told: Any) -> None:
        self.codec = codec
        self.placed: dict[str, Any] = {}
        self.kept: dict[str, Any] = {}
        for name, value in told.items():
            if not self.place(name, value):
                raise NotConvertedError(name)

    def place(self, name: str, value: Any) -> bool:
        """Places a value, unless it has another already; returns whether it is there now."""
        try:
            current = adapted(value, self.codec.kinds[name][0], name)
        except (KeyError, ValueError):
            return False
        is_finer = self.codec.kinds[name][0] is Instant and _FINER_THAN_MILLISECONDS.search(str(value)) is not None
        return bool(self.placed.setdefault(name, current) == current) and not is_finer

    def add(self, kind: str, item: Item, told: Mapping[str, str] | None = None, *, without: Iterable[str] = ()) -> None:
        """Places what the key of an item of this kind tells, then what the item itself tells, and keeps the rest."""
        for name, text in (told or {}).items():
            if not self.place(name, text):
                self.keep(kind, name, text)
        names = _NAMES.get(kind, {})
        for name in sorted(item, key=lambda name: (name in names, name)):
            ours, value = names.get(name, name), item[name]
            if name in _ADDRESS or name in without or (value is None and ours in self.codec.kinds):
                continue
            if not self.place(ours, value):
                self.keep(kind, name, value)

    def keep(self, kind: str, name: str, value: Any) -> None:
        """Keeps a value that has no place, under its own name if that is free."""
        others = (f"{kind}.{name}{number or ''}" for number in count())
        for place in chain([name], others):
            if place not in self.codec.kinds and self.kept.setdefault(place, value) == value:
                return

    def default(self, name: str, *values: Any) -> None:
        """Places the first of the values that there is, where the items tell none."""
        for value in values:
            if name not in self.placed and value is not None:
                self.place(name, value)

    def record(self) -> M:
        for name, (_, is_required) in self.codec.kinds.items():
            if is_required and name not in self.placed:
                raise NotConvertedError(name)
        return self.codec.decode({"entityType": self.codec.entity_type, **self.placed})

    def attributes(self, record: M) -> dict[str, Any]:
        """The attributes of the item that holds the record, with what is kept beside it."""
        return self.kept | self.codec.encode(record)


def adapted(value: Any, kind: Any, name: str) -> Any:
    """A value as today's items have it; raises ValueError where it has no such form."""
    if kind is Instant:
        return _time(value)
    if isinstance(kind, ListOf):
        return list(kind.decode(value))
    if issubclass(kind, Enum):
        return kind(_spellings(kind).get(_plain(value)))
    if kind is Decimal and type(value) is int:
        return Decimal(value)
    if type(value) is not kind:
        raise ValueError(value)
    return _CHECKS[name](value) if name in _CHECKS else value


@cache
def _spellings(kind: type[Enum]) -> dict[str, Enum]:
    return {_plain(member): member for member in kind}


def _plain(name: Any) -> str:
    """A name without what spellings differ in."""
    return str(name).upper().replace("_", "")


def _time(value: Any) -> Instant:
    """A time in today's form: from ISO 8601, in UTC unless it says otherwise, or from milliseconds since 1970."""
    try:
        if isinstance(value, str) and value.isdecimal():  # fromisoformat would read a year in the first digits
            value = int(value)
        if type(value) is int:
            return to_instant(_EPOCH + timedelta(milliseconds=value))
        time = datetime.fromisoformat(value)
        return to_instant(time if time.tzinfo else time.replace(tzinfo=UTC))
    except (TypeError, OverflowError) as error:
        raise ValueError(value) from error
