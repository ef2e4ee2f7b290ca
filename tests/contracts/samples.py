"""Values of examples: short and readable, or each as long as it can be; and records made of them."""

from __future__ import annotations

import json
import types
from dataclasses import dataclass, fields, is_dataclass
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from domain.access_codes import CodeId
from domain.api_keys import ApiKeyId
from domain.bookings import BookingId
from domain.models import EventId, LocationId, LockerId, OwnerId, ReservationId
from domain.times import Day, Instant, shift

if TYPE_CHECKING:
    from collections.abc import Mapping

M = TypeVar("M")

NOON = Instant("2026-03-01T12:00:00.000Z")
DAY = Day("2026-03-10")
_NAME, _TEXT = "😀" * 200, "😀" * 2000
_ADDRESS = ("formatted_address", "street", "city", "region", "postal_code", "country", "place_id")
_METADATA_BYTES = 16 * 1024


def at(number: int) -> Instant:
    """So many minutes after noon."""
    return shift(NOON, timedelta(minutes=number))


def day(number: int) -> Day:
    """So many days after the first of the year."""
    return Day((date(2026, 1, 1) + timedelta(days=number)).isoformat())


def numbers() -> dict[str, Any]:
    """The metadata that grows most in the table: 16 KB of JSON, all of it numbers of one digit."""
    metadata = {"a": [1] * ((_METADATA_BYTES - len('{"a":[]}') + 1) // 2)}
    assert len(json.dumps(metadata, separators=(",", ":"))) == _METADATA_BYTES - 1
    return metadata


@dataclass(frozen=True, kw_only=True)
class Names:
    """What the examples call things."""

    owner: OwnerId
    other_owner: OwnerId
    locker: LockerId
    location: LocationId
    other_location: LocationId
    booking: BookingId
    reservation: ReservationId
    between: ReservationId
    later: ReservationId
    event: EventId
    calendar_event: str
    payment: str
    key: ApiKeyId
    code_id: CodeId
    change: str | None
    subject: str
    name: str
    text: str
    email: str
    other_email: str
    phone: str
    reference: str
    code: str
    other_code: str
    time_zone: str
    place: Mapping[str, Any]
    metadata: dict[str, Any] | None
    key_owners: tuple[OwnerId, ...]
    features: tuple[str, ...]


SHORT = Names(
    owner=OwnerId("ada"),
    other_owner=OwnerId("bob"),
    locker=LockerId("l1"),
    location=LocationId("01HX0000000000000000000001"),
    other_location=LocationId("01HX0000000000000000000002"),
    booking=BookingId("b1"),
    reservation=ReservationId("r1"),
    between=ReservationId("r2"),
    later=ReservationId("r3"),
    event=EventId("e1"),
    calendar_event="c1",
    payment="p1",
    key=ApiKeyId("k1"),
    code_id=CodeId("c1"),
    change="change-1",
    subject="root",
    name="A name",
    text="A text",
    email="Ada@example.com",
    other_email="new@example.com",
    phone="+390612345",
    reference="order 4711",
    code="rome",
    other_code="oslo",
    time_zone="Europe/Rome",
    place={"city": "Rome", "lat": Decimal("41.9")},
    metadata={"door": 1},
    key_owners=(OwnerId("ada"),),
    features=("charging",),
)
LONGEST = Names(
    owner=OwnerId("o" * 64),
    other_owner=OwnerId("o" * 63 + "p"),
    locker=LockerId("l" * 64),
    location=LocationId("0" * 25 + "A"),
    other_location=LocationId("0" * 25 + "B"),
    booking=BookingId("b" * 64),
    reservation=ReservationId("r" * 64),
    between=ReservationId("s" * 64),
    later=ReservationId("t" * 64),
    event=EventId("e" * 64),
    calendar_event="c" * 64,
    payment="p" * 64,
    key=ApiKeyId("k" * 64),
    code_id=CodeId("c" * 64),
    change="c" * 64,
    subject="s" * 255,
    name=_NAME,
    text=_TEXT,
    email="a" * 64 + "@" + "b" * 185 + ".com",
    other_email="c" * 64 + "@" + "b" * 185 + ".com",
    phone="+" + "1" * 30,
    reference="#" * 64,
    code="c" * 40,
    other_code="d" * 40,
    time_zone="America/Argentina/ComodRivadavia",
    place=dict.fromkeys(_ADDRESS, _NAME) | {"lat": Decimal("-12." + "3" * 36), "lng": Decimal("-123." + "4" * 35)},
    metadata=numbers(),
    key_owners=tuple(OwnerId(f"{number:064d}") for number in range(25)),
    features=tuple(f"{number:032d}" for number in range(8)),
)
_LONG: dict[str, Any] = {
    "description": _TEXT,
    "reason": _TEXT,
    "reference": LONGEST.reference,
    "message": f"Your booking for 2026-03-01 was rejected: {_TEXT}",
    "metadata": {"a": "x" * (_METADATA_BYTES - len('{"a":""}'))},
    "owner_ids": LONGEST.key_owners,
    "features": LONGEST.features,
    "created_by": LONGEST.subject,
    "issued_by": LONGEST.subject,
    "revoked_by": LONGEST.subject,
    "reveals": (f"{NOON} {'r' * 64}#{10**9} {LONGEST.subject}",) * 10,
    "decided_by_subject": LONGEST.subject,
    "digest": "f" * 64,
    "last_change": "c" * 64 + "#" + "f" * 64,
    "code": LONGEST.code,
    "time_zone": LONGEST.time_zone,
    "currency": "EUR",
    "amount": Decimal("12345678901234.5678"),
    "attendees": 99_999,
    **{name: LONGEST.place[name] for name in ("lat", "lng")},
}


def record(model: type[M], number: int, *, longest: bool = False, **given: Any) -> M:
    """The nth record of a kind: times and days follow the number, everything else is the same."""
    assert is_dataclass(model)
    hints = get_type_hints(model)
    values = {
        field.name: given[field.name] if field.name in given else _value(field.name, hints[field.name], number, longest)
        for field in fields(model)
    }
    return model(**values)


def _value(name: str, hint: Any, number: int, longest: bool) -> Any:  # noqa: FBT001, PLR0911  # a table of types
    if get_origin(hint) in {Union, types.UnionType}:
        return _value(name, get_args(hint)[0], number, longest) if longest else None
    if longest and name in _LONG and not is_dataclass(hint):
        return _LONG[name]
    if hint is Instant:
        return at(number)
    if hint is Day:
        return day(number)
    kind = getattr(hint, "__supertype__", hint)
    if is_dataclass(kind):
        return record(cast("type[Any]", kind), number, longest=longest)
    if get_origin(kind) is tuple:
        return tuple(get_args(kind)[0])[-1:] if _is_enum(get_args(kind)[0]) else ("one",)
    if _is_enum(kind):
        return list(kind)[-1]
    if kind in {int, bool}:
        return kind(1)
    if kind is Decimal:
        return Decimal("1.5")
    return ("x" * 64 if name.endswith("id") else _NAME) if longest else "text"


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Enum)
