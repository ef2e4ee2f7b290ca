"""The kinds of items that this version writes: by their keys and lists, with the attributes that each may have."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from inspect import signature
from typing import Any

from domain.models import LocationStatus, LockerStatus
from loaders import codecs, keys
from loaders.contracts.reading import ReadPage
from loaders.contracts.registry import CONTRACTS
from loaders.contracts.write_parts import RangeRead
from loaders.contracts.writing import WriteContract
from loaders.conversion import Codec, DamagedItemError
from loaders.table.positions import Between, IndexPartition, Key, KeyRange
from loaders.table.values import Item

CODECS: dict[str, tuple[Codec[Any], ...]] = {}
"""The codecs by which requests read each kind."""
for _codec in vars(codecs).values():
    if isinstance(_codec, Codec):
        CODECS[_codec.entity_type] = (*CODECS.get(_codec.entity_type, ()), _codec)

RATE, PENDING = "RATE", "PENDING_BOOKINGS"
_KEY = frozenset({"PK", "SK", "GSI1PK", "GSI1SK", "entityType"})
_BESIDES = {
    **{kind: {"fingerprint"} for kind in ("LOCKER", "OWNER", "LOCATION", "PAYMENT", "WEBHOOK")},
    PENDING: {"ownerId", "pendingBookings"},
    RATE: {"fullAt", "expiresAt"},
}
"""Attributes that no codec reads."""
_NUMBERS = {PENDING: "pendingBookings", RATE: "fullAt"}
"""The attribute that requests read of the kinds that have no codec."""
_PARTS = {
    "door": "(?:LOCKER|LOCATION)#[^#]+",
    "place": "(?:LOCKER|LOCATION|OWNER|ACTOR|PUBLIC|APIKEY|WEBHOOK|CALLER)#[^#]+",
    "status": "|".join({*LocationStatus, *LockerStatus}),
    **dict.fromkeys(("email", "code", "reference", "purpose", "claim", "recipient_hash"), ".+"),
}
"""The parts of keys that are no ids or times."""


def _pattern(builder: Callable[..., Key | KeyRange]) -> re.Pattern[str]:
    """The keys that a builder makes or that begin as those of its range, as partition and sort key.

    For a range of the index, its partition alone.
    """
    names = signature(builder).parameters
    match builder(*(f"<{name}>" for name in names)):
        case IndexPartition(pk):
            spelled, rest = pk, ""
        case Between(pk, low):
            spelled, rest = f"{pk} {low.partition('#')[0]}#", ".*"
        case Key(pk, sk):
            spelled, rest = f"{pk} {sk}", ""
        case within:
            spelled, rest = f"{within.pk} {within.prefix}", ".*"
    spelled = re.escape(spelled)
    for name in names:
        spelled = spelled.replace(f"<{name}>", f"(?:{_PARTS.get(name, '[^#]+')})")
    return re.compile(spelled + rest, re.DOTALL)


def _list_reads() -> Iterator[tuple[Callable[..., KeyRange], Codec[Any]]]:
    """Every range that requests read, and the codec by which they do."""
    for contract in CONTRACTS.values():
        if isinstance(contract, ReadPage):
            yield contract.range, contract.codec
        elif isinstance(contract, WriteContract):
            reads = (*contract.reads, *contract.fallbacks)
            yield from ((read.range, read.codec) for read in reads if isinstance(read, RangeRead))


_PATTERNS = {kind: _pattern(found[0].key) for kind, found in CODECS.items()}
_PATTERNS |= {PENDING: _pattern(keys.pending_count), RATE: _pattern(keys.rate)}
_LISTS = {_pattern(within): codec.entity_type for within, codec in _list_reads()}


def kind_at(key: Key, item: Mapping[str, Any]) -> str | None:
    """The kind of item that requests expect at the key of an item; None if they read none there."""
    text, named = " ".join(key), item.get("entityType")
    if isinstance(named, str) and named in _PATTERNS and _PATTERNS[named].fullmatch(text):
        return named  # the usual case, at once
    return next((kind for kind, pattern in _PATTERNS.items() if pattern.fullmatch(text)), None)


def kind_read_at(key: Key, item: Mapping[str, Any]) -> str | None:
    """The same, also for an item that is in a list although its key is of no kind."""
    places = (" ".join(key), str(item.get("GSI1PK")))
    return kind_at(key, item) or next(
        (kind for pattern, kind in _LISTS.items() if any(map(pattern.fullmatch, places))), None
    )


@cache
def known_attributes(kind: str) -> frozenset[str]:
    """Every attribute that an item of this kind may have."""
    named: Iterable[Any] = (codec.kinds for codec in CODECS.get(kind, ()))
    return _KEY.union(*named, _BESIDES.get(kind, ()))


def label_of(item: Item) -> str:
    """The name by which a report counts an item of an unknown kind: its own, or how its key begins."""
    named = item.get("entityType", item.get("itemType"))
    key = Key.of_item(item)
    return named if isinstance(named, str) else " / ".join(part.partition("#")[0] for part in key)


def is_current(key: Key, item: Item) -> bool:
    """Whether an item has today's form: all attributes of its kind and no others, and the key that they give."""
    kind = kind_at(key, item)
    if kind is None or not item.keys() <= known_attributes(kind) or damage_of(key, item) is not None:
        return False
    codec = CODECS[kind][0]
    with suppress(AttributeError):  # some keys are built of more than the record
        return codec.key_of(codec.decode(item)) == key
    return True


def damage_of(key: Key, item: Item) -> str | None:
    """Why requests could not read the item at this key; None if they could, or never read it."""
    kind = kind_read_at(key, item) or ""
    try:
        for codec in CODECS.get(kind, ()):
            codec.decode(item)
    except DamagedItemError as damage:
        return str(damage)
    if kind in _NUMBERS and type(item.get(_NUMBERS[kind])) is not int:
        return f"item {keys.masked(key)} has no valid {_NUMBERS[kind]}"
    if kind != (kind_at(key, item) or ""):
        return f"item {keys.masked(key)} is in a list of {kind} and has no key of that kind"
    return None
