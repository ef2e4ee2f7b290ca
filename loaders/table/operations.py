"""The operations that may reach the store, as frozen values that render themselves to the exact request.

Each carries its name in DynamoDB and the id of the contract that it serves. A name written `#version` in an expression
stands for the attribute `version`, always, so that no reserved word can get in the way.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from os import urandom
from typing import Any, ClassVar, TypeAlias

from loaders.table.clock import Stamp
from loaders.table.positions import Key, KeyRange, Position
from loaders.table.values import ReadItem, item_to_wire

_NAME = re.compile(r"#(\w+)")


@dataclass(frozen=True, slots=True)
class Read:
    """A read. Where all of its items are of one kind, `shape` is the class that reads them."""

    shape: type[ReadItem] | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Get(Read):
    name: ClassVar = "GetItem"
    contract: str
    key: Key
    consistent: bool = False

    def render(self, table: str) -> dict[str, Any]:
        return {"TableName": table, "Key": self.key.wire, "ConsistentRead": self.consistent}


@dataclass(frozen=True, slots=True)
class BatchGet(Read):
    """Up to 100 different items by their keys."""

    name: ClassVar = "BatchGetItem"
    contract: str
    keys: tuple[Key, ...]
    consistent: bool = False

    def render(self, table: str) -> dict[str, Any]:
        keys = [{"PK": {"S": pk}, "SK": {"S": sk}} for pk, sk in self.keys]  # as `Key.wire`
        return {"RequestItems": {table: {"Keys": keys, "ConsistentRead": self.consistent}}}


@dataclass(frozen=True, slots=True)
class Query(Read):
    """A bounded stretch of one partition, in order."""

    name: ClassVar = "Query"
    contract: str
    within: KeyRange
    limit: int
    forward: bool = True
    start: Position | None = None
    consistent: bool = False

    def render(self, table: str) -> dict[str, Any]:
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


@dataclass(frozen=True, slots=True)
class Scan:
    """A stretch of the whole table, in no order, after a key."""

    name: ClassVar = "Scan"
    contract: str
    limit: int
    start: Key | None
    consistent: bool

    def render(self, table: str) -> dict[str, Any]:
        request: dict[str, Any] = {"TableName": table, "Limit": self.limit, "ConsistentRead": self.consistent}
        return request if self.start is None else request | {"ExclusiveStartKey": self.start.wire}


class Action(StrEnum):
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
    added: Mapping[str, int] = field(default_factory=dict)
    """Amounts that an update adds to numbers; a missing number counts as 0."""
    stamp: Stamp | None = None
    """The stamp in its key."""

    def render(self, table: str) -> dict[str, Any]:
        request: dict[str, Any] = {"TableName": table}
        if self.action is Action.PUT and self.condition is None:
            return {self.action.value: request | {"Item": self.key.wire | item_to_wire(self.attributes)}}
        expressions = [] if self.condition is None else [self.condition]
        values = dict(self.values)
        if self.action is Action.PUT:
            request["Item"] = self.key.wire | item_to_wire(self.attributes)
        else:
            request["Key"] = self.key.wire
        if self.action is Action.UPDATE:
            request["UpdateExpression"] = _set_expression(self.attributes)
            if self.added:
                request["UpdateExpression"] += f" ADD {', '.join(f'#{name} :{name}Added' for name in self.added)}"
            expressions.append(request["UpdateExpression"])
            values |= {f":{name}": value for name, value in self.attributes.items() if value is not None}
            values |= {f":{name}Added": number for name, number in self.added.items()}
        if self.condition is not None:
            request["ConditionExpression"] = self.condition
            request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        return {self.action.value: request | _placeholders(expressions, values)}


@dataclass(frozen=True, slots=True)
class Put:
    """One new item, written only where none is."""

    name: ClassVar = "PutItem"
    contract: str
    step: Step

    def render(self, table: str) -> dict[str, Any]:
        request: dict[str, Any] = self.step.render(table)[Action.PUT]
        return request


@dataclass(frozen=True, slots=True)
class Update:
    """One item changed under its condition: for counters, which none reads first.

    Sent again after a lost answer it may be applied twice, so it is not for what has a version.
    """

    name: ClassVar = "UpdateItem"
    contract: str
    step: Step

    def render(self, table: str) -> dict[str, Any]:
        request: dict[str, Any] = self.step.render(table)[Action.UPDATE]
        return request | {"ReturnValues": "ALL_NEW"}


@dataclass(frozen=True, slots=True)
class Transact:
    """Up to 100 steps, all or none; the token makes sending it again harmless."""

    name: ClassVar = "TransactWriteItems"
    contract: str
    steps: tuple[Step, ...]
    token: str = field(default_factory=lambda: urandom(16).hex())

    @property
    def stamp(self) -> Stamp | None:
        return self.steps[-1].stamp  # what logs a transaction comes last

    def render(self, table: str) -> dict[str, Any]:
        return {"TransactItems": [step.render(table) for step in self.steps], "ClientRequestToken": self.token}


Operation: TypeAlias = Get | BatchGet | Query | Scan | Put | Update | Transact


def _set_expression(attributes: Mapping[str, Any]) -> str:
    """An attribute set to None is removed: an absent one is how the table says "none"."""
    present = [f"#{name} = :{name}" for name, value in attributes.items() if value is not None]
    absent = [f"#{name}" for name, value in attributes.items() if value is None]
    return f"SET {', '.join(present)}" + (f" REMOVE {', '.join(absent)}" if absent else "")


@lru_cache(512)  # there are few: a condition is part of its contract, and a change sets few attributes
def _names(expression: str) -> list[str]:
    return _NAME.findall(expression)


def _placeholders(expressions: list[str], values: Mapping[str, Any]) -> dict[str, Any]:
    names = sorted({name for text in expressions for name in _names(text)})
    placeholders: dict[str, Any] = {}
    if names:
        placeholders["ExpressionAttributeNames"] = {f"#{name}": name for name in names}
    if values:
        placeholders["ExpressionAttributeValues"] = item_to_wire(values)
    return placeholders
