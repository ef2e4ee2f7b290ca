"""Python values as DynamoDB's typed JSON and back; numbers stay exact, so there is no float."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

import msgspec

from domain.models import Json

Item: TypeAlias = Mapping[str, Json]
WireValue: TypeAlias = dict[str, Any]
WireItem: TypeAlias = dict[str, WireValue]


class WireText(msgspec.Struct, gc=False, eq=False):
    S: str


class ReadItem(msgspec.Struct, gc=False, eq=False, kw_only=True):
    """An item that was read into its record while its JSON was parsed."""

    PK: WireText
    SK: WireText
    GSI1PK: WireText | None = None
    GSI1SK: WireText | None = None
    record: Any = None


FoundItem: TypeAlias = WireItem | ReadItem


@dataclass(frozen=True, slots=True)
class OtherValue:
    """A value of a type that no item of ours has, as it is stored."""

    wire: WireValue


def to_wire(value: Any) -> WireValue:  # noqa: PLR0911  # one for each type
    match value:
        case str():
            return {"S": str(value)}  # an enum's member becomes its plain text
        case bool():
            return {"BOOL": value}
        case int() | Decimal():
            return {"N": str(value)}
        case None:
            return {"NULL": True}
        case Mapping():
            return {"M": item_to_wire(value)}
        case list() | tuple():
            return {"L": [to_wire(child) for child in value]}
        case OtherValue():
            return value.wire
        case _:
            raise TypeError(f"{type(value).__name__} cannot be stored exactly")


def from_wire(value: WireValue) -> Json:
    ((tag, content),) = value.items()
    match tag:
        case "S" | "BOOL":
            return content  # type: ignore[no-any-return]
        case "N":
            return _number(content)
        case "NULL":
            return None
        case "M":
            return item_from_wire(content)
        case "L":
            return [from_wire(child) for child in content]
        case _:
            raise TypeError(f"no item of this table has a value of type {tag}")


def item_to_wire(item: Mapping[str, Any]) -> WireItem:
    return {name: to_wire(value) for name, value in item.items()}


def item_from_wire(item: WireItem) -> dict[str, Json]:
    return {name: from_wire(value) for name, value in item.items()}


def any_item_from_wire(item: WireItem) -> dict[str, Any]:
    """A whole item that may have attributes of any type: those that another program wrote stay as they are."""
    return {name: _any_from_wire(value) for name, value in item.items()}


def _any_from_wire(value: WireValue) -> Json | OtherValue:
    try:
        return from_wire(value)
    except TypeError:
        return OtherValue(value)


def _number(text: str) -> int | Decimal:
    number = Decimal(text)
    return int(number) if number == number.to_integral_value() else number


def attributes_of(item: Item) -> dict[str, Any]:
    """The attributes of an item without its key."""
    return {name: value for name, value in sorted(item.items()) if name not in {"PK", "SK"}}
