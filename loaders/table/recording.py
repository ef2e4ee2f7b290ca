"""Records every operation that is sent to the store: the one source of explanations and telemetry.

A store without a recorder is a plain `DynamoStore`; nothing here runs then.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from domain.errors import SmartLockerError
from loaders.table.client import DynamoStore, QueryPage, ScanPage
from loaders.table.errors import ConditionFailedError, TransactionRefusedError
from loaders.table.operations import BatchGet, Get, Operation, Put, Query, Scan, Transact, Update
from loaders.table.transport import Answer, NoAnswerError, RefusedRequestError
from loaders.table.values import FoundItem, Item

AnyOperation = TypeVar("AnyOperation", bound=Operation)
T = TypeVar("T")

FINISHED = "ok"
_WRITES = (Put, Transact, Update)

_ASKER: ContextVar[tuple[str, int]] = ContextVar("_ASKER", default=("", 1))
"""The response path on whose behalf the store is asked, and for how many objects there."""


class asking:  # noqa: N801  # used as a function; a generator would take three times as long
    """Attributes the operations inside to a response path; None for the one that they have already."""

    __slots__ = ("_asker", "_token")

    def __init__(self, path: str | None, count: int = 1) -> None:
        self._asker = _ASKER.get()[0] if path is None else path, count

    def __enter__(self) -> None:
        self._token = _ASKER.set(self._asker)

    def __exit__(self, *_: object) -> None:
        _ASKER.reset(self._token)


@dataclass(slots=True, eq=False)
class Record:
    """One operation: what was asked, and how it ended."""

    operation: Operation
    path: str
    """Response path of the step that asked, without list indices; empty outside of a document's execution."""
    merged: int = 1
    """For how many objects it was asked."""
    started_at: int = field(default_factory=time.time_ns)
    """Nanoseconds since 1970, by the wall clock."""
    began: int = field(default_factory=time.perf_counter_ns)
    """Nanoseconds by a clock that only ever goes forward."""
    duration: int | None = None
    """Nanoseconds; None while it runs."""
    attempts: int = 0
    """Every request that was sent for it: each page, and each that was sent again, by us or by the SDK."""
    pages: int = 0
    returned: int = 0
    units: float = 0.0
    """The capacity that the store says it took; an answer that is an error does not say."""
    outcome: str = "unfinished"

    @property
    def contract(self) -> str:
        return self.operation.contract

    @property
    def retries(self) -> int:
        """How many requests were sent again: each page needs one, all others are repeats."""
        return max(0, self.attempts - max(1, self.pages))

    @property
    def is_write(self) -> bool:
        """Whether its units are write units."""
        return isinstance(self.operation, _WRITES)


class Recorder(Protocol):
    """Is told of every operation as it begins and as it ends."""

    wants_units: bool
    """Whether the store is asked what each request took."""

    def begin(self, record: Record) -> None:
        """An operation was begun."""

    def end(self, record: Record) -> None:
        """It has ended, one way or another."""


class RecordedStore:
    """A store on the same client as another that tells a recorder of every operation."""

    def __init__(self, store: DynamoStore, recorder: Recorder) -> None:
        self._store = store
        self._recorder = recorder

    async def get(self, operation: Get) -> FoundItem | None:
        return await self._recorded(operation, DynamoStore.get)

    async def batch_get(self, operation: BatchGet) -> Mapping[tuple[str, str], FoundItem]:
        return await self._recorded(operation, DynamoStore.batch_get)

    async def query(self, operation: Query) -> QueryPage:
        return await self._recorded(operation, DynamoStore.query)

    async def scan(self, operation: Scan) -> ScanPage:
        """Not part of Store, as only commands scan."""
        return await self._recorded(operation, DynamoStore.scan)

    async def update(self, operation: Update) -> Item:
        """Not part of Store, as what charges a request is not part of it."""
        return await self._recorded(operation, DynamoStore.update)

    async def put(self, operation: Put) -> None:
        await self._recorded(operation, DynamoStore.put)

    async def transact(self, operation: Transact) -> None:
        await self._recorded(operation, DynamoStore.transact)

    async def _recorded(self, operation: AnyOperation, run: Callable[[DynamoStore, AnyOperation], Awaitable[T]]) -> T:
        path, count = _ASKER.get()
        record = Record(operation, path, count)
        self._recorder.begin(record)
        try:
            result = await run(_CountedStore(self._store, record, wants_units=self._recorder.wants_units), operation)
            record.outcome = FINISHED
        except BaseException as error:
            record.outcome = _outcome(error)
            raise
        finally:
            record.duration = time.perf_counter_ns() - record.began
            self._recorder.end(record)
        return result


class _CountedStore(DynamoStore):
    """The store of one operation: counts its requests, and what came back."""

    def __init__(self, store: DynamoStore, record: Record, *, wants_units: bool) -> None:
        super().__init__(store.transport, store.table)
        self._record = record
        self._wants_units = wants_units

    async def answer(self, operation: Operation, request: dict[str, Any]) -> Answer:
        record = self._record
        record.attempts += 1
        try:
            if self._wants_units:
                request["ReturnConsumedCapacity"] = "TOTAL"
            answer = await super().answer(operation, request)
        except Exception as error:
            cause = error.__cause__
            record.attempts += cause.retries if isinstance(cause, RefusedRequestError | NoAnswerError) else 0
            raise
        record.attempts += answer.retries
        record.pages = record.pages + 1 if operation.name == "Query" else 1
        record.returned += _returned(answer.body)
        record.units += _units(answer.body)
        return answer


def _returned(answer: dict[str, Any]) -> int:
    if "Items" in answer:
        return len(answer["Items"])
    return sum(map(len, answer["Responses"].values())) if "Responses" in answer else "Item" in answer


def _units(answer: dict[str, Any]) -> float:
    """Of one table, or of a list of them."""
    capacity = answer.get("ConsumedCapacity") or ()
    if isinstance(capacity, dict):
        return float(capacity["CapacityUnits"])
    return float(sum(table["CapacityUnits"] for table in capacity))


def _outcome(error: BaseException) -> str:
    match error:
        case SmartLockerError():
            return error.code
        case ConditionFailedError() | TransactionRefusedError():
            return "CONFLICT"
        case asyncio.CancelledError():
            return "CANCELLED"
        case _:
            return "FAILED"
