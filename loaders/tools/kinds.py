"""The kinds of items that this version writes: by their keys, with the attributes that each may have."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from inspect import signature
from typing import TYPE_CHECKING, Any

from loaders import codecs, keys
from loaders.conversion import Codec, DamagedItemError
from loaders.table.positions import Key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from loaders.table.values import Item

CODECS: dict[str, tuple[Codec[Any], ...]] = {}
"""The codecs by which requests read each kind."""
for _codec in vars(codecs).values():
    if isinstance(_codec, Codec):
        CODECS[_codec.entity_type] = (*CODECS.get(_codec.entity_type, ()), _codec)

RATE, PENDING = "RATE", "PENDING_BOOKINGS"
_KEY = frozenset({"PK", "SK", "GSI1PK", "GSI1SK", "entityType"})
_BESIDES = {
    **{kind: {"fingerprint"} for kind in ("LOCKER", "OWNER", "LOCATION", "PAYMENT")},
    PENDING: {"ownerId", "pendingBookings"},
    RATE: {"fullAt", "expiresAt"},
}
"""Attributes that no codec reads."""
_FREE_TEXT = {"door": "(?:LOCKER|LOCATION)#[^#]+", **dict.fromkeys(("email", "code", "reference"), ".+")}


def _pattern(builder: Callable[..., Key]) -> re.Pattern[str]:
    """The keys that a builder makes, as partition and sort key."""
    names = signature(builder).parameters
    spelled = re.escape(" ".join(builder(*(f"<{name}>" for name in names))))
    for name in names:
        spelled = spelled.replace(f"<{name}>", f"(?:{_FREE_TEXT.get(name, '[^#]+')})")
    return re.compile(spelled)


_PATTERNS = {kind: _pattern(found[0].key) for kind, found in CODECS.items()}
_PATTERNS |= {PENDING: _pattern(keys.pending_count), RATE: _pattern(keys.rate)}


def kind_at(key: Key, item: Mapping[str, Any]) -> str | None:
    """The kind of item that requests expect at the key of an item; None if they read none there."""
    text, named = " ".join(key), item.get("entityType")
    if isinstance(named, str) and named in _PATTERNS and _PATTERNS[named].fullmatch(text):
        return named  # the usual case, at once
    return next((kind for kind, pattern in _PATTERNS.items() if pattern.fullmatch(text)), None)


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
    try:
        for codec in CODECS.get(kind_at(key, item) or "", ()):
            codec.decode(item)
    except DamagedItemError as damage:
        return str(damage)
    return None
