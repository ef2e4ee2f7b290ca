"""A recorded store tells of every operation, whoever listens; one that is not recorded knows nothing of it."""

from __future__ import annotations

import asyncio
import re
import time
from typing import TYPE_CHECKING, Any

import pytest

from domain.errors import UnavailableError
from domain.models import LockerId, OwnerId
from loaders import keys
from loaders.backend import Backend
from loaders.batch import open_loaders
from loaders.contracts import QC_01
from loaders.table.client import DynamoStore
from loaders.table.recording import RecordedStore, asked_by
from loaders.trace import Trace
from tests.explained import brief
from tests.wire import Answer, Wait

if TYPE_CHECKING:
    from loaders.table.recording import Batch, Record, Recorder
    from tests.wire import Wire

L1, L2 = LockerId("l1"), LockerId("l2")


class Listener:
    """Keeps what it is told, as metrics would; it has no use for units."""

    wants_units = False

    def __init__(self) -> None:
        self.begun: list[Record] = []
        self.ended: list[Record] = []
        self.batches: list[Batch] = []

    def begin(self, record: Record) -> None:
        self.begun.append(record)

    def end(self, record: Record) -> None:
        self.ended.append(record)

    def end_batch(self, batch: Batch) -> None:
        self.batches.append(batch)


def recorded(backend: Backend, recorder: Recorder) -> Backend:
    """The same backend on a store that tells a recorder."""
    assert isinstance(backend.store, DynamoStore)
    return Backend(RecordedStore(backend.store, recorder), backend.clock, backend.new_id, backend.longest_reservation)


async def test_a_listener_is_told_of_a_batch_that_nobody_explains(backend: Backend, wire: Wire) -> None:
    listener = Listener()
    before = time.time_ns()
    await open_loaders(recorded(backend, listener), listener).locker.load_many([L1, L2, L1])
    (record,) = listener.ended
    assert listener.begun == [record]
    assert record.operation == QC_01.batch([keys.locker(L1), keys.locker(L2)])
    assert (record.contract, record.outcome, record.attempts, record.returned) == ("QC-01", "ok", 1, 0)
    assert (record.paths, record.is_write) == ([], False)
    assert listener.batches == [record.batch]
    assert record.batch is not None
    assert (record.batch.loader, record.batch.size, record.batch.merged) == ("locker", 2, 2)
    assert before <= record.started_at <= time.time_ns()
    assert record.duration is not None
    assert 0 < record.duration < (record.batch.duration or 0) < time.time_ns() - before
    (call,) = wire.calls
    assert "ReturnConsumedCapacity" not in call.request


async def test_a_listener_is_told_when_an_operation_begins_and_when_it_ends(backend: Backend, wire: Wire) -> None:
    listener = Listener()
    wire.fault = lambda _: Wait(0.2)
    reading = asyncio.ensure_future(recorded(backend, listener).store.get(QC_01.get(keys.locker(L1))))
    await asyncio.sleep(0.05)
    (record,) = listener.begun
    assert (listener.ended, record.outcome, record.duration) == ([], "unfinished", None)
    await reading
    assert listener.ended == [record]
    assert record.duration is not None
    assert record.duration > 190_000_000


async def test_an_operation_whose_request_is_given_up_was_cancelled(backend: Backend, wire: Wire) -> None:
    listener = Listener()
    wire.fault = lambda _: Wait(0.2)
    reading = asyncio.ensure_future(recorded(backend, listener).store.get(QC_01.get(keys.locker(L1))))
    await asyncio.sleep(0.05)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    (record,) = listener.ended
    assert (record.outcome, record.attempts, record.pages) == ("CANCELLED", 1, 0)


async def test_an_operation_that_the_answer_does_not_wait_for_is_shown_unfinished(backend: Backend, wire: Wire) -> None:
    trace = Trace()
    wire.fault = lambda _: Wait(0.2)
    reading = asyncio.ensure_future(recorded(backend, trace).store.get(QC_01.get(keys.locker(L1))))
    await asyncio.sleep(0.05)
    explanation = trace.explanation()
    assert brief(explanation["operations"], "outcome", "returned") == [("unfinished", 0)]
    assert 40 < explanation["totals"]["durationMs"] < 200
    await reading
    assert brief(trace.explanation()["operations"], "outcome") == [("ok",)]


async def test_who_asks_later_for_what_is_read_already_is_an_asker_too(backend: Backend, wire: Wire) -> None:
    trace = Trace()
    loaders = open_loaders(recorded(backend, trace), trace)
    for path in ("a", "b"):
        with asked_by([path]):
            await loaders.locker.load(L1)
    assert brief(trace.explanation()["operations"], "merged", "paths") == [(2, ["a", "b"])]
    loaders.forget()
    with asked_by(["c"]):
        await loaders.locker.load(L1)
    assert brief(trace.explanation()["operations"], "merged", "paths") == [(2, ["a", "b"]), (1, ["c"])]
    assert len(wire.calls) == 2


async def test_who_asks_again_after_a_failure_is_the_asker_of_another_read(backend: Backend, wire: Wire) -> None:
    trace = Trace()
    loaders = open_loaders(recorded(backend, trace), trace)
    wire.fault = lambda _: Answer.error("ThrottlingException")
    with asked_by(["a"]), pytest.raises(UnavailableError):
        await loaders.locker.load(L1)
    wire.reset()
    with asked_by(["b"]):
        assert await loaders.locker.load(L1) is None
    assert brief(trace.explanation()["operations"], "outcome", "paths") == [("UNAVAILABLE", ["a"]), ("ok", ["b"])]


def test_of_all_partitions_only_those_of_addresses_and_codes_hide_what_follows() -> None:
    assert keys.shown(keys.email_claim("ada@example.com").pk) == "EMAIL#…"
    assert keys.shown(keys.location_code("rome").pk) == "LOCATION_CODE#…"
    builders: list[Any] = [getattr(keys, name) for name in keys.__all__ if name not in {"masked", "shown", "spelled"}]
    shown = {keys.shown(made.pk) for made in map(_made, builders) if hasattr(made, "pk")}
    assert {partition for partition in shown if "…" in partition} == {"EMAIL#…", "LOCATION_CODE#…"}
    assert keys.shown(keys.owner(OwnerId("EMAIL")).pk) == "OWNER#EMAIL"


def test_a_masked_key_shows_its_kind_and_a_mark_unless_that_could_be_guessed_from() -> None:
    assert keys.masked(keys.locker(LockerId("l1"))) == "LOCKER / META (a16ece53ad8b)"
    assert keys.masked(keys.locker(LockerId("l2"))) != keys.masked(keys.locker(LockerId("l1")))
    for key in (keys.email_claim("ada@example.com"), keys.location_code("rome")):
        masked = keys.masked(key)
        assert "(" not in masked
        assert not {"ada", "rome"} & set(re.split(r"\W", masked))


def _made(builder: Any) -> Any:
    return builder(*(f"<{number}>" for number in range(builder.__code__.co_argcount)))
