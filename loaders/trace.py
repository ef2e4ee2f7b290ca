"""The trace of one request: every operation that it asked of the store, and how that is shown.

Keys are shown, since they are made of ids and times; what items hold never is.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from loaders import keys
from loaders.table.operations import BatchGet, Between, Get, IndexPartition, Prefix, Put, Query, Transact
from loaders.table.updates import Update

if TYPE_CHECKING:
    from collections.abc import Iterable

    from loaders.table.operations import Key, KeyRange, Operation
    from loaders.table.recording import Batch, Record, Recorder

__all__ = ["Trace", "operation_name"]

_NAMES = {
    Get: "GetItem",
    BatchGet: "BatchGetItem",
    Query: "Query",
    Put: "PutItem",
    Transact: "TransactWriteItems",
    Update: "UpdateItem",
}


_UNNAMED = {"partition": None, "sortKey": None, "keys": None}


def operation_name(operation: Operation | Update) -> str:
    """What DynamoDB calls an operation."""
    return _NAMES[type(operation)]


class Trace:
    """Writes down the operations of one request, in the order in which they began.

    Args:
        further: is told of everything that ends, as soon as it does.
        wants_units: whether the store is asked what each request took.
        wants_paths: whether every field notes its path for what it asks.
    """

    def __init__(self, further: Recorder | None = None, *, wants_units: bool = True, wants_paths: bool = True) -> None:
        self.wants_units = wants_units
        self.wants_paths = wants_paths
        self.records: list[Record] = []
        self.operation_type: str | None = None
        self.operation_name: str | None = None
        """Type and name of the GraphQL operation, once its document is understood; not every operation has a name."""
        self.user_error: str | None = None
        """The code of the first user error, if a mutation came to one."""
        self._further = further
        self._began = time.perf_counter_ns()

    def begin(self, record: Record) -> None:
        """See Recorder."""
        self.records.append(record)

    def end(self, record: Record) -> None:
        """See Recorder."""
        if self._further is not None:
            self._further.end(record)

    def end_batch(self, batch: Batch) -> None:
        """See Recorder."""
        if self._further is not None:
            self._further.end_batch(batch)

    def note_user_error(self, code: str) -> None:
        """A mutation came to a user error."""
        self.user_error = self.user_error or code

    def explanation(self, *, shows_keys: bool = True) -> dict[str, Any]:
        """What a client sees in `extensions.explain`."""
        shown = [self._shown(record) | ({} if shows_keys else _UNNAMED) for record in self.records]
        ends = [operation["startMs"] + operation["durationMs"] for operation in shown]
        return {
            "operations": shown,
            "totals": {
                "operations": len(shown),
                "requests": _sum(shown, "attempts"),
                "returned": _sum(shown, "returned"),
                "readUnits": _sum(shown, "readUnits"),
                "writeUnits": _sum(shown, "writeUnits"),
                "durationMs": round(max(ends) - shown[0]["startMs"], 3) if shown else 0,
            },
        }

    def cost(self) -> dict[str, Any]:
        """What the request took, in the measures in which its worst case is told."""
        return {
            "operations": len(self.records),
            "items": sum(record.returned for record in self.records),
            "readUnits": self.units(is_write=False),
            "writeUnits": self.units(is_write=True),
        }

    def units(self, *, is_write: bool) -> float:
        """The read or write units of the whole request."""
        return sum(record.units for record in self.records if record.is_write is is_write)

    def _shown(self, record: Record) -> dict[str, Any]:
        duration = time.perf_counter_ns() - record.began if record.duration is None else record.duration
        return {
            "contract": record.contract,
            "operation": operation_name(record.operation),
            **_asked(record.operation),
            "returned": record.returned,
            "pages": record.pages,
            "merged": record.merged,
            "readUnits": 0 if record.is_write else record.units,
            "writeUnits": record.units if record.is_write else 0,
            "startMs": _milliseconds(record.began - self._began),
            "durationMs": _milliseconds(duration),
            "attempts": record.attempts,
            "outcome": record.outcome,
            "paths": record.paths,
        }


def _asked(operation: Operation | Update) -> dict[str, Any]:
    """What an operation asks for: a stretch of one partition, or items by their keys."""
    match operation:
        case Query(within=within):
            return {
                "index": within.index,
                "consistent": operation.consistent,
                "partition": keys.shown(within.pk),
                "sortKey": _sort_key(within),
                "keys": None,
                "asked": operation.limit,
            }
        case Get(key=key):
            return _items([_key(key)], consistent=operation.consistent)
        case BatchGet():
            return _items(map(_key, operation.keys), consistent=operation.consistent)
        case Put(key=key) | Update(key=key):
            return _items([_key(key)])
        case Transact(steps=steps):
            return _items(_key(step.key) | {"step": step.name} for step in steps)


def _items(asked: Iterable[dict[str, str]], *, consistent: bool = False) -> dict[str, Any]:
    named = list(asked)
    (only,) = named if len(named) == 1 else [None]
    return {
        "index": None,
        "consistent": consistent,
        "partition": only and only["pk"],
        "sortKey": only and f"= {only['sk']}",
        "keys": named,
        "asked": len(named),
    }


def _key(key: Key) -> dict[str, str]:
    return {"pk": keys.shown(key.pk), "sk": key.sk}


def _sort_key(within: KeyRange) -> str | None:
    match within:
        case Prefix(prefix=prefix):
            return f"begins_with {prefix}"
        case Between(low=low, high=high):
            return f"BETWEEN {low} AND {high}"
        case IndexPartition():
            return None


def _sum(operations: list[dict[str, Any]], name: str) -> Any:
    return sum(operation[name] for operation in operations)


def _milliseconds(nanoseconds: int) -> float:
    return round(nanoseconds / 1_000_000, 3)
