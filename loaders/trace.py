"""The trace of one request: every operation that it asked of the store, and how that is shown.

Keys are shown, since they are made of ids and times; what items hold never is.
"""

import time
from collections.abc import Callable, Iterable
from typing import Any

from loaders import keys
from loaders.contracts.cost import Cost
from loaders.contracts.reservations import DETAILS_OF_RESERVATION
from loaders.table.operations import BatchGet, Get, Operation, Put, Query, Scan, Transact, Update
from loaders.table.positions import Between, IndexPartition, Key, KeyRange, Prefix
from loaders.table.recording import FINISHED, Record, Recorder


class Trace:
    """Records the operations of one request, in the order in which they began; tells `further` of each that ends."""

    def __init__(self, further: Recorder | None = None, *, wants_units: bool = True) -> None:
        self.wants_units = wants_units
        self.records: list[Record] = []
        self.guard: Callable[[Trace], None] | None = None
        """Is asked before every operation, and raises where the request has used up its limit."""
        self.stopped_by: Exception | None = None
        """The error that the guard raised, if it did."""
        self.operation_type: str | None = None
        self.operation_name: str | None = None
        """Type and name of the GraphQL operation, once its document is valid; an operation need not have a name."""
        self.user_error: str | None = None
        """The code of the first user error of a mutation."""
        self._further = further
        self._began = time.perf_counter_ns()

    def begin(self, record: Record) -> None:
        if self.guard is not None:
            try:
                self.guard(self)
            except Exception as refusal:
                self.stopped_by = refusal
                raise
        self.records.append(record)

    def end(self, record: Record) -> None:
        if self._further is not None:
            self._further.end(record)

    def note_user_error(self, code: str) -> None:
        self.user_error = self.user_error or code

    def operations(self) -> list[dict[str, Any]]:
        return [self._shown(record) for record in self.records]

    def totals(self) -> dict[str, Any]:
        """The measured cost and time of the whole request."""
        ends = [record.began + (record.duration or 0) for record in self.records]
        return {
            **self.cost(),
            "requests": sum(record.attempts for record in self.records),
            "durationMs": _milliseconds(max(ends) - self.records[0].began) if ends else 0,
        }

    def cost(self) -> dict[str, Any]:
        spent = self.spent()
        return {
            "operations": spent.operations,
            "items": spent.items,
            "readUnits": spent.read_units,
            "writeUnits": spent.write_units,
        }

    def spent(self) -> Cost:
        """The measured cost of the request so far."""
        return Cost(len(self.records), sum(record.returned for record in self.records), *self.units())

    def units(self) -> tuple[float, float]:
        """The measured read and write units of the request so far."""
        read_units, write_units = 0.0, 0.0
        for record in self.records:
            if record.is_write:
                write_units += record.units
            else:
                read_units += record.units
        return read_units, write_units

    @property
    def is_measured(self) -> bool:
        """Whether the store told the units of every operation."""
        return all(record.outcome == FINISHED for record in self.records)

    def recipients(self) -> list[str]:
        """The reservations whose details were asked for and found, by locker and reservation id."""
        found: dict[str, None] = {}
        for record in self.records:
            if record.contract == DETAILS_OF_RESERVATION.id and record.returned:
                match record.operation:
                    case Get(key=key):
                        asked: Iterable[Key] = (key,)
                    case BatchGet(keys=asked):
                        pass
                found |= dict.fromkeys(map(keys.reservation_of_details, asked))
        return list(found)

    def by_step(self) -> dict[tuple[str, str], Cost]:
        """The measured cost of each step, by its response path and contract."""
        found: dict[tuple[str, str], Cost] = {}
        for record in self.records:
            units = (0, record.units) if record.is_write else (record.units, 0)
            key = record.path, record.contract
            found[key] = found.get(key, Cost()) + Cost(1, record.returned, *units)
        return found

    def _shown(self, record: Record) -> dict[str, Any]:
        duration = time.perf_counter_ns() - record.began if record.duration is None else record.duration
        return {
            "contract": record.contract,
            "operation": record.operation.name,
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
            "path": record.path,
        }


def _asked(operation: Operation) -> dict[str, Any]:
    """The target of an operation: a range of a partition, a part of the table, or the keys of items."""
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
        case Scan():
            return _items([], consistent=operation.consistent) | {"asked": operation.limit}
        case Get(key=key):
            return _items([_key(key)], consistent=operation.consistent)
        case BatchGet():
            return _items(map(_key, operation.keys), consistent=operation.consistent)
        case Put(step=step) | Update(step=step):
            return _items([_key(step.key)])
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


def _milliseconds(nanoseconds: int) -> float:
    return round(nanoseconds / 1_000_000, 3)
