"""Conversion between items and models, derived from a model's fields.

An attribute is named as its field, in camelCase; a field that is None has no attribute. The fields of a record within
a model are attributes of the same item; attributes that are no field's are ignored. An item that does not decode
exactly is reported as damaged.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from decimal import Decimal
from enum import Enum
from functools import cache, cached_property
from inspect import signature
from operator import attrgetter
from typing import Any, Generic, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from pydantic.alias_generators import to_camel

from domain.errors import InternalError
from domain.times import Instant, is_instant
from loaders import keys
from loaders.table.positions import Key
from loaders.table.values import FoundItem, Item, ReadItem, WireItem, WireText, item_from_wire

M = TypeVar("M")

_TAGS = {int: "N", Decimal: "N", bool: "BOOL", dict: "M"}
"""The types of the store other than text."""
_LEAN: dict[str, Any] = {"gc": False, "eq": False, "kw_only": True}


class DamagedItemError(InternalError):
    """An item of the table is not as its kind requires: a fault of the server, never of the client."""


@dataclass(frozen=True, slots=True)
class ListOf:
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
        # An item may lack an attribute whose field has a default.
        self._defaults = {to_camel(member.name): member.default for member in members if member.default is not MISSING}

    def at(self, key: Callable[..., Key], largest: int | None = None) -> Codec[M]:
        """The same kind of item where its key is built of other values, or where it is smaller."""
        sizes = {"largest": largest or self.largest, "usual": self.usual}
        return Codec(self._model, self.entity_type, key, index=self.index, **sizes)

    def key_of(self, model: M) -> Key:
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

    @cached_property
    def kinds(self) -> dict[str, tuple[Any, bool]]:
        """The type of each attribute's value, and whether an item must have it."""
        kinds = {
            attribute: (kind, not optional and attribute not in self._defaults)
            for _, attribute, kind, optional in self._fields
        }
        for codec in self._records.values():
            kinds |= codec.kinds
        return kinds

    def decode(self, item: Item) -> M:
        if item.get("entityType") != self.entity_type:
            raise DamagedItemError(f"{_where(item)} is {item.get('entityType')!r}, not {self.entity_type!r}")
        values: dict[str, Any] = {name: codec.decode(item) for name, codec in self._records.items()}
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
        scope: dict[str, Any] = {"item_from_wire": item_from_wire, "invalid": _invalid_time, "UNSET": msgspec.UNSET}
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
    if value is None and optional:
        return None
    if isinstance(kind, ListOf):
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
    if isinstance(kind, ListOf):
        return f"(tuple([part.S for part in parts]) if (parts := {item}.L) else ())"
    if kind is Instant:  # of its fixed form, only the length and the end are checked here
        return f"(time if (time := {item}.S)[23:] == 'Z' else invalid(time))"
    if kind is int:
        return f"int({item}.N)"
    if kind is dict:
        return f"item_from_wire({item}.M)"
    return f"{item}.{_TAGS.get(kind, 'S')}"


def _tagged_kind(kind: Any) -> Any:
    """The type that parses a value of this kind with its tag, to an enum or a decimal if it is one."""
    if isinstance(kind, ListOf):
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
        return ListOf(_plain(get_args(kind)[0])), optional
    return _plain(kind), optional


def _plain(kind: Any) -> Any:
    """The class behind a NewType; an instant has a form of its own."""
    return kind if kind is Instant else getattr(kind, "__supertype__", kind)


def _invalid_time(time: str) -> str:
    raise ValueError(time)


def _key_of(item: WireItem) -> WireItem:
    return {name: item[name] for name in ("PK", "SK") if name in item}


def _where(item: Item) -> str:
    return f"item {keys.masked(Key.of_item(item))}"
