"""The operations that may reach the store, as frozen values that render themselves to the exact request.

Each carries the id of the contract that it serves. A name written `#version` in an expression stands for the
attribute `version`, always, so that no reserved word can get in the way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias
from uuid import uuid4

from loaders.table.values import item_to_wire

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "Action",
    "BatchGet",
    "Between",
    "Get",
    "IndexKey",
    "IndexPartition",
    "Key",
    "KeyRange",
    "Operation",
    "Place",
    "Prefix",
    "Put",
    "Query",
    "Step",
    "Transact",
]

_NAME = re.compile(r"#(\w+)")


class Key(NamedTuple):
    """The primary key of an item."""

    pk: str
    sk: str

    @property
    def wire(self) -> dict[str, Any]:
        """As the request spells it."""
        return {"PK": {"S": self.pk}, "SK": {"S": self.sk}}


class IndexKey(NamedTuple):
    """Where an item stands in the index: its primary key and its key there."""

    pk: str
    sk: str
    index_pk: str
    index_sk: str

    @property
    def wire(self) -> dict[str, Any]:
        """As the request spells it."""
        return {name: {"S": value} for name, value in zip(INDEX_NAMES, self, strict=True)}


Place: TypeAlias = Key | IndexKey

INDEX = "GSI1"
INDEX_NAMES = ("PK", "SK", "GSI1PK", "GSI1SK")


@dataclass(frozen=True, slots=True)
class _OfTable:
    """A range of the table itself."""

    pk: str

    index: ClassVar[str | None] = None
    names: ClassVar[tuple[str, ...]] = ("PK", "SK")

    @staticmethod
    def place(names: Mapping[str, Any]) -> Place:
        """The place that an item, or a cursor, names."""
        return Key(names["PK"], names["SK"])


@dataclass(frozen=True, slots=True)
class Prefix(_OfTable):
    """All sort keys of a partition that begin alike."""

    prefix: str

    def __contains__(self, key: Place) -> bool:
        return key.pk == self.pk and key.sk.startswith(self.prefix)

    @property
    def condition(self) -> tuple[str, dict[str, str]]:
        """The key condition and its values."""
        return "#PK = :pk AND begins_with(#SK, :prefix)", {":pk": self.pk, ":prefix": self.prefix}


@dataclass(frozen=True, slots=True)
class Between(_OfTable):
    """All sort keys of a partition from low to high, both included."""

    low: str
    high: str

    def __contains__(self, key: Place) -> bool:
        return key.pk == self.pk and self.low <= key.sk <= self.high

    @property
    def condition(self) -> tuple[str, dict[str, str]]:
        """The key condition and its values."""
        return "#PK = :pk AND #SK BETWEEN :low AND :high", {
            ":pk": self.pk,
            ":low": self.low,
            ":high": self.high,
        }


@dataclass(frozen=True, slots=True)
class IndexPartition:
    """A whole partition of the index: the lists that cross the table's own partitions."""

    pk: str

    index: ClassVar[str | None] = INDEX
    names: ClassVar[tuple[str, ...]] = INDEX_NAMES

    def __contains__(self, key: Place) -> bool:
        return isinstance(key, IndexKey) and key.index_pk == self.pk

    @staticmethod
    def place(names: Mapping[str, Any]) -> Place:
        """The place that an item, or a cursor, names."""
        return IndexKey(*(names[name] for name in INDEX_NAMES))

    @property
    def condition(self) -> tuple[str, dict[str, str]]:
        """The key condition and its values."""
        return "#GSI1PK = :pk", {":pk": self.pk}


KeyRange: TypeAlias = Prefix | Between | IndexPartition


@dataclass(frozen=True, slots=True)
class Get:
    """One item by its key."""

    contract: str
    key: Key
    consistent: bool = False

    def render(self, table: str) -> dict[str, Any]:
        """The GetItem request."""
        return {"TableName": table, "Key": self.key.wire, "ConsistentRead": self.consistent}


@dataclass(frozen=True, slots=True)
class BatchGet:
    """Up to 100 different items by their keys."""

    contract: str
    keys: tuple[Key, ...]
    consistent: bool = False

    def render(self, table: str) -> dict[str, Any]:
        """The BatchGetItem request."""
        keys = [key.wire for key in self.keys]
        return {"RequestItems": {table: {"Keys": keys, "ConsistentRead": self.consistent}}}


@dataclass(frozen=True, slots=True)
class Query:
    """A bounded stretch of one partition, in order."""

    contract: str
    within: KeyRange
    limit: int
    forward: bool = True
    start: Place | None = None
    consistent: bool = False

    def render(self, table: str) -> dict[str, Any]:
        """The Query request."""
        condition, values = self.within.condition
        index = {} if self.within.index is None else {"IndexName": self.within.index}
        request = {
            "TableName": table,
            **index,
            "KeyConditionExpression": condition,
            **_placeholders([condition], values),
            "Limit": self.limit,
            "ScanIndexForward": self.forward,
            "ConsistentRead": self.consistent,
        }
        return request if self.start is None else request | {"ExclusiveStartKey": self.start.wire}


class Action(StrEnum):
    """What a step of a write does to its item."""

    PUT = "Put"
    UPDATE = "Update"
    DELETE = "Delete"
    CHECK = "ConditionCheck"


@dataclass(frozen=True, slots=True)
class Step:
    """One item's part in a write: its new attributes, and what must be true of it as it is.

    `name` is the step's role; a refusal is reported by it, never by a position.
    """

    name: str
    action: Action
    key: Key
    attributes: Mapping[str, Any] = field(default_factory=dict)
    condition: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)

    def render(self, table: str) -> dict[str, Any]:
        """The step inside a TransactWriteItems request."""
        request: dict[str, Any] = {"TableName": table}
        expressions = [] if self.condition is None else [self.condition]
        values = dict(self.values)
        if self.action is Action.PUT:
            request["Item"] = self.key.wire | item_to_wire(self.attributes)
        else:
            request["Key"] = self.key.wire
        if self.action is Action.UPDATE:
            request["UpdateExpression"] = _set_expression(self.attributes)
            expressions.append(request["UpdateExpression"])
            values |= {f":{name}": value for name, value in self.attributes.items() if value is not None}
        if self.condition is not None:
            request["ConditionExpression"] = self.condition
            request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        return {self.action.value: request | _placeholders(expressions, values)}


@dataclass(frozen=True, slots=True)
class Put:
    """One new item, written only where none is."""

    contract: str
    key: Key
    attributes: Mapping[str, Any]
    condition: str

    def render(self, table: str) -> dict[str, Any]:
        """The PutItem request."""
        step = Step("item", Action.PUT, self.key, self.attributes, self.condition)
        request: dict[str, Any] = step.render(table)[Action.PUT]
        return request


@dataclass(frozen=True, slots=True)
class Transact:
    """Up to 100 steps, all or none; the token makes sending it again harmless."""

    contract: str
    steps: tuple[Step, ...]
    token: str = field(default_factory=lambda: str(uuid4()))

    def render(self, table: str) -> dict[str, Any]:
        """The TransactWriteItems request."""
        return {
            "TransactItems": [step.render(table) for step in self.steps],
            "ClientRequestToken": self.token,
        }


Operation: TypeAlias = Get | BatchGet | Query | Put | Transact


def _set_expression(attributes: Mapping[str, Any]) -> str:
    """An attribute set to None is removed: an absent one is how the table says "none"."""
    present = [f"#{name} = :{name}" for name, value in attributes.items() if value is not None]
    absent = [f"#{name}" for name, value in attributes.items() if value is None]
    return f"SET {', '.join(present)}" + (f" REMOVE {', '.join(absent)}" if absent else "")


def _placeholders(expressions: list[str], values: Mapping[str, Any]) -> dict[str, Any]:
    names = sorted({name for text in expressions for name in _NAME.findall(text)})
    placeholders: dict[str, Any] = {}
    if names:
        placeholders["ExpressionAttributeNames"] = {f"#{name}": name for name in names}
    if values:
        placeholders["ExpressionAttributeValues"] = item_to_wire(values)
    return placeholders
