import asyncio

import pytest

from domain.errors import QueryTooComplexError, UnavailableError
from domain.models import LockerId
from loaders.backend import Backend
from loaders.contracts.cost import Cost
from loaders.contracts.lockers import LOCKER_BY_ID
from loaders.dataloaders import Loaders
from loaders.table.client import DynamoStore
from loaders.table.recording import RecordedStore, asking
from loaders.trace import Trace
from tests.explained import brief
from tests.wire import Answer, Hold, Wire

L1 = LockerId("l1")


@pytest.fixture
def trace() -> Trace:
    return Trace()


@pytest.fixture
def store(backend: Backend, trace: Trace) -> RecordedStore:
    """The test's store, recorded."""
    assert isinstance(backend.store, DynamoStore)
    return RecordedStore(backend.store, trace)


async def test_an_operation_of_a_canceled_request_was_canceled(store: RecordedStore, trace: Trace, wire: Wire) -> None:
    wire.fault = hold = Hold()
    reading = asyncio.ensure_future(LOCKER_BY_ID.read(store, L1))
    await hold.arrivals()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    hold.release()
    (record,) = trace.records
    assert (record.outcome, record.attempts, record.pages) == ("CANCELLED", 1, 0)


async def test_an_operation_that_still_runs_is_shown_unfinished(store: RecordedStore, trace: Trace, wire: Wire) -> None:
    wire.fault = hold = Hold()
    reading = asyncio.ensure_future(LOCKER_BY_ID.read(store, L1))
    await hold.arrivals()
    (operation,) = trace.operations()
    assert (operation["outcome"], operation["returned"]) == ("unfinished", 0)
    assert operation["durationMs"] > 0
    hold.release()
    await reading
    assert brief(trace.operations(), "outcome") == [("ok",)]


async def test_a_read_after_a_failure_is_recorded_for_its_field(
    backend: Backend, store: RecordedStore, trace: Trace, wire: Wire
) -> None:
    loader = Loaders(backend.with_store(store)).of(LOCKER_BY_ID)
    wire.fault = lambda _: Answer.error("ThrottlingException")
    (failed,) = await loader.load_bulk([(L1,)], "a")
    assert isinstance(failed, UnavailableError)
    wire.reset()
    for path in ("b", "c"):
        assert await loader.load_bulk([(L1,)], path) == [None]
    assert brief(trace.operations(), "outcome", "path") == [("UNAVAILABLE", "a"), ("ok", "b")]


async def test_each_steps_cost_is_found_by_path_and_contract(store: RecordedStore, trace: Trace, wire: Wire) -> None:
    for path in ("a", "b", "a"):
        with asking(path):
            await LOCKER_BY_ID.read(store, L1)
    assert trace.by_step() == {("a", "QC-01"): Cost(2, 0, 1.0, 0), ("b", "QC-01"): Cost(1, 0, 0.5, 0)}
    assert trace.spent() == Cost(3, 0, 1.5, 0)
    assert {call.request["ReturnConsumedCapacity"] for call in wire.calls} == {"TOTAL"}


async def test_a_guard_refuses_an_operation_before_it_is_sent(store: RecordedStore, trace: Trace, wire: Wire) -> None:
    refusal = QueryTooComplexError("Enough.")

    def guard(asked: Trace) -> None:
        if asked.spent().operations == 1:
            raise refusal

    trace.guard = guard
    await LOCKER_BY_ID.read(store, L1)
    with pytest.raises(QueryTooComplexError):
        await LOCKER_BY_ID.read(store, L1)
    assert trace.stopped_by is refusal
    assert len(trace.records) == len(wire.calls) == 1
