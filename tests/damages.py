"""Damage to single items: an item that is lost, and each attribute that is lost or has another value of its kind."""

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

from domain.times import Instant, is_instant, shift
from loaders.tools.kinds import CODECS

Item = dict[str, Any]


def damages(item: Item) -> Iterator[tuple[str, str, Item | None]]:
    """Which attribute is damaged, how, and what is left of the item; first the item as a whole is lost."""
    yield "the item", "lost", None
    for name in sorted(item.keys() - {"PK", "SK"}):
        yield name, "lost", {key: value for key, value in item.items() if key != name}
        yield name, "changed", item | {name: _other(item, name)}


def _other(item: Item, name: str) -> Any:
    value = item[name]
    kinds = CODECS[item["entityType"]][0].kinds if item.get("entityType") in CODECS else {}
    kind, _ = kinds.get(name, (None, False))
    if isinstance(kind, type) and issubclass(kind, Enum):
        members = [member.value for member in kind]
        return members[(members.index(value) + 1) % len(members)]
    match value:
        case bool():
            return not value
        case int() | Decimal():
            return value + 1
        case list():
            return value[:-1] if value else ["x"]
        case dict():
            return value | {"x": 1}
        case _:
            return shift(Instant(value), timedelta(hours=1)) if is_instant(value) else f"{value}x"
