"""Values of examples: short and readable, or each as long as it can be; and keys and records made of them."""

import json
import types
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, make_dataclass
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum
from inspect import signature
from typing import Any, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from domain.access_codes import reservation_purpose
from domain.activity import ActivityKind
from domain.bookings import DaySlot
from domain.models import LockerSize, LockerStatus, ReservableBy, door_of
from domain.times import Day, Instant, shift

Names: TypeAlias = Any

M = TypeVar("M")
K = TypeVar("K")

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


_NAMES: dict[str, tuple[Any, Any]] = {
    "owner": ("ada", "o" * 64),
    "other_owner": ("bob", "o" * 63 + "p"),
    "locker": ("l1", "l" * 64),
    "location": ("01HX0000000000000000000001", "0" * 25 + "A"),
    "other_location": ("01HX0000000000000000000002", "0" * 25 + "B"),
    "booking": ("b1", "b" * 64),
    "reservation": ("r1", "r" * 64),
    "between": ("r2", "s" * 64),
    "later": ("r3", "t" * 64),
    "event": ("e1", "e" * 64),
    "calendar_event": ("c1", "c" * 64),
    "payment": ("p1", "p" * 64),
    "key": ("k1", "k" * 64),
    "webhook": ("w1", "w" * 64),
    "url": ("https://example.com/hook", f"https://example.com/{'h' * 480}"),
    "code_id": ("c1", "c" * 64),
    "change": ("change-1", "c" * 64),
    "subject": ("root", "s" * 255),
    "subjects": (["root"], [f"{number}{'😀' * 199}" for number in range(10)]),
    "name": ("A name", _NAME),
    "text": ("A text", _TEXT),
    "email": ("Ada@example.com", "a" * 64 + "@" + "b" * 185 + ".com"),
    "other_email": ("new@example.com", "c" * 64 + "@" + "b" * 185 + ".com"),
    "phone": ("+390612345", "+" + "1" * 30),
    "reference": ("order 4711", "#" * 64),
    "code": ("rome", "c" * 40),
    "other_code": ("oslo", "d" * 40),
    "time_zone": ("Europe/Rome", "America/Argentina/ComodRivadavia"),
    "place": (
        {"city": "Rome", "lat": Decimal("41.9")},
        dict.fromkeys(_ADDRESS, _NAME) | {"lat": Decimal("-12." + "3" * 36), "lng": Decimal("-123." + "4" * 35)},
    ),
    "metadata": ({"door": 1}, numbers()),
    "key_owners": (["ada"], [f"{number:064d}" for number in range(25)]),
    "features": (["charging"], [f"{number:032d}" for number in range(8)]),
}
_Names = make_dataclass("_Names", _NAMES, frozen=True)
SHORT: Names = _Names(*(short for short, _ in _NAMES.values()))
LONGEST: Names = _Names(*(longest for _, longest in _NAMES.values()))
_LONG: dict[str, Any] = {
    "description": _TEXT,
    "reason": _TEXT,
    "reference": LONGEST.reference,
    "message": f"Your booking for 2026-03-01 was rejected: {_TEXT}",
    "metadata": {"a": "x" * (_METADATA_BYTES - len('{"a":""}'))},
    "owner_ids": tuple(LONGEST.key_owners),
    "features": tuple(LONGEST.features),
    **dict.fromkeys(("created_by", "issued_by", "revoked_by", "set_by", "decided_by_subject"), LONGEST.subject),
    "actor_subject": LONGEST.subject,
    "happenings": "x" * 11_000,
    "happening": "x" * 2000,
    "error": "connection",
    "url": LONGEST.url,
    "kinds": tuple(ActivityKind),
    "outcome": "COMPLETED",
    "changes": ("ownerId", LONGEST.owner, LONGEST.other_owner),
    "reveals": (f"{NOON} {'r' * 64}#{10**9} {LONGEST.subject}",) * 10,
    "digest": "f" * 64,
    "counts": {f"{status}.{size}": 99_999 for status in LockerStatus for size in LockerSize}
    | {"reservations": 999_999, "overdue": 99_999},
    "last_change": "c" * 64 + "#" + "f" * 64,
    "code": LONGEST.code,
    "time_zone": LONGEST.time_zone,
    "currency": "EUR",
    "amount": Decimal("12345678901234.5678"),
    "attendees": 99_999,
    **{name: LONGEST.place[name] for name in ("lat", "lng")},
}


RECIPIENT = f"{'k' * 16}#{'0' * 64}"
"""The name of a recipient under a key with the longest id."""


def arguments_of(builder: Callable[..., Any], names: Names, **given: Any) -> dict[str, Any]:
    """The arguments of a key or a range that have no default, each known by its name."""
    known = {
        "start_at": NOON,
        "timestamp": NOON,
        "occurred_at": NOON,
        "stamp": NOON,
        "shard": 0,
        "place": f"locker:{names.locker}",
        "date": DAY,
        "slot": DaySlot.MORNING,
        "status": LockerStatus.RETIRED,
        "audience": ReservableBy.MEMBERS,
        "size": LockerSize.XL,
        "lot": "0000",
        "email": names.email.lower(),
        "recipient_hash": RECIPIENT,
        "door": door_of(names.locker, None),
        "purpose": reservation_purpose(names.locker, names.reservation),
        **given,
    }

    def value(name: str) -> Any:
        return known[name] if name in known else getattr(names, name, getattr(names, name.removesuffix("_id"), "text"))

    parameters = signature(builder).parameters.items()
    return {name: value(name) for name, parameter in parameters if parameter.default is parameter.empty}


def filled(builder: Callable[..., K], names: Names, **given: Any) -> K:
    """A key or a range of the examples."""
    return builder(**arguments_of(builder, names, **given))


def record(model: type[M], number: int, *, longest: bool = False, **given: Any) -> M:
    """The nth record of a kind: times and days follow the number, everything else is the same."""
    assert is_dataclass(model)
    hints = get_type_hints(model)
    values = {
        field.name: given[field.name] if field.name in given else _value(field.name, hints[field.name], number, longest)
        for field in fields(model)
    }
    return model(**values)


def _value(name: str, hint: Any, number: int, longest: bool) -> Any:  # noqa: C901, FBT001, PLR0911  # a table of types
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
    if get_origin(kind) is Mapping:
        return {}
    if get_origin(kind) is tuple:
        return tuple(get_args(kind)[0])[-1:] if _is_enum(get_args(kind)[0]) else ("one",)
    if get_origin(kind) is Mapping:
        return {"one": NOON}
    if _is_enum(kind):
        return list(kind)[-1]
    if kind in {int, bool}:
        return kind(1)
    if kind is Decimal:
        return Decimal("1.5")
    return ("x" * 64 if name.endswith("id") else _NAME) if longest else "text"


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Enum)
