import asyncio
import gc
import weakref
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest
import pytest_asyncio

from domain.authorization import DEVELOPMENT_ADMIN
from domain.commands.lockers import RegisterLocker
from domain.commands.owners import CreateOwner
from domain.errors import UnavailableError
from domain.models import LocationId, Locker, LockerId, OwnerId, OwnerKind
from domain.times import Day
from loaders.backend import Backend
from loaders.concurrency import counting, outcomes, together
from loaders.contracts.bookings import LOCATION_CALENDAR
from loaders.contracts.lockers import LOCKER_BY_ID
from loaders.conversion import DamagedItemError
from loaders.dataloaders import Loaders, RecordLoader
from loaders.table.values import item_to_wire
from loaders.writes.lockers import register_locker
from loaders.writes.owners import create_owner
from tests.wire import Answer, Call, Hold, Wire

ACME = OwnerId("acme")
Within = Callable[[], AbstractContextManager[None]]
ALONE_OR_NOT = pytest.mark.parametrize("within", [nullcontext, counting])
"""A loader takes no queue where it knows that nobody else asks."""


def numbered(*numbers: int) -> list[tuple[LockerId]]:
    return [(LockerId(f"l{number:03d}"),) for number in numbers]


def metas(*numbers: int) -> list[tuple[str, str]]:
    return [(f"LOCKER#l{number:03d}", "META") for number in numbers]


@pytest_asyncio.fixture
async def loaders(backend: Backend, wire: Wire) -> Loaders:
    """The loaders of a request about an owner with the lockers 1 to 3."""
    await create_owner(backend, CreateOwner(owner_id=ACME, kind=OwnerKind.ORGANIZATION, name="Acme"), DEVELOPMENT_ADMIN)
    for (locker_id,) in numbered(1, 2, 3):
        await register_locker(backend, RegisterLocker(locker_id=locker_id, owner_id=ACME), DEVELOPMENT_ADMIN)
    wire.reset()
    return Loaders(backend)


@pytest_asyncio.fixture
async def loader(loaders: Loaders) -> RecordLoader[Locker]:
    return loaders.of(LOCKER_BY_ID)


def ids(found: list[Any]) -> list[Any]:
    return [record and record.locker_id for record in found]


@ALONE_OR_NOT
async def test_many_keys_are_one_batch_in_order_without_duplicates(
    loader: RecordLoader[Locker], wire: Wire, within: Within
) -> None:
    with within():
        found = await loader.load_bulk(numbered(3, 1, 9, 3, 2, 1))
        assert ids(found) == ["l003", "l001", None, "l003", "l002", "l001"]
        assert wire.operations == {"BatchGetItem": 1}
        assert wire.calls[0].keys == metas(3, 1, 9, 2)


@ALONE_OR_NOT
async def test_no_keys_are_no_read(loader: RecordLoader[Locker], wire: Wire, within: Within) -> None:
    with within():
        assert await loader.load_bulk([]) == []
        assert not wire.calls


async def test_who_asks_at_the_same_time_within_a_request_shares_a_batch(loaders: Loaders, wire: Wire) -> None:
    def asked(*numbers: int) -> Coroutine[Any, Any, list[Any]]:
        return loaders.of(LOCKER_BY_ID).load_bulk(numbered(*numbers))

    with counting():
        found = await together([asked(1, 2), asked(2, 3)])
        await asked(4, 5)
        await outcomes([asked(6, 7), asked(7, 8)])
    assert [ids(part) for part in found] == [["l001", "l002"], ["l002", "l003"]]
    assert [call.keys for call in wire.calls] == [metas(1, 2, 3), metas(4, 5), metas(6, 7, 8)]


async def test_a_key_that_is_being_read_is_not_read_again(loader: RecordLoader[Locker], wire: Wire) -> None:
    wire.fault = hold = Hold()
    first = asyncio.ensure_future(loader.load_bulk(numbered(1, 2)))
    await hold.arrivals()
    second = asyncio.ensure_future(loader.load_bulk(numbered(2, 1)))
    await asyncio.sleep(0)
    hold.release()
    assert ids(await second) == ["l002", "l001"]
    assert ids(await first) == ["l001", "l002"]
    assert len(wire.calls) == 1


@ALONE_OR_NOT
async def test_keys_that_were_read_are_not_read_again_with_others(
    loader: RecordLoader[Locker], wire: Wire, within: Within
) -> None:
    with within():
        await loader.load_bulk(numbered(1, 2))
        assert ids(await loader.load_bulk(numbered(3, 2, 9, 1))) == ["l003", "l002", None, "l001"]
        assert [call.keys for call in wire.calls] == [metas(1, 2), metas(3, 9)]


async def test_askers_with_several_batches_get_their_own_records(loader: RecordLoader[Locker], wire: Wire) -> None:
    parts = [numbered(1, *range(100, 149)), numbered(2, *range(150, 248), 3), numbered(2, 3)]
    found = await asyncio.gather(*map(loader.load_bulk, parts))
    assert [ids(part)[0] for part in found] == ["l001", "l002", "l002"]
    assert [ids(part)[-1] for part in found] == [None, "l003", "l003"]
    assert sorted(len(call.keys) for call in wire.calls) == [50, 100]


async def test_a_coroutine_that_is_alone_reads_at_once(loader: RecordLoader[Locker]) -> None:
    with counting():
        reading = loader.load_bulk(numbered(1))
        assert reading.send(None) is not None  # it waits for the store, and not for the next pass
        reading.close()


@ALONE_OR_NOT
async def test_what_was_read_is_kept_until_it_is_forgotten(loaders: Loaders, wire: Wire, within: Within) -> None:
    with within():
        for _ in range(2):
            await loaders.of(LOCKER_BY_ID).load_bulk(numbered(1))
        assert len(wire.calls) == 1
        loaders.forget()
        await loaders.of(LOCKER_BY_ID).load_bulk(numbered(1))
        assert len(wire.calls) == 2


@ALONE_OR_NOT
async def test_keys_of_a_store_that_failed_are_errors_and_read_again(
    loader: RecordLoader[Locker], wire: Wire, within: Within
) -> None:
    with within():
        wire.fault = lambda _: Answer.error("ThrottlingException")
        failed = await loader.load_bulk(numbered(1, 2))
        assert [type(error) for error in failed] == [UnavailableError] * 2
        wire.reset()
        assert ids(await loader.load_bulk(numbered(1, 2))) == ["l001", "l002"]
        assert [call.keys for call in wire.calls] == [metas(1, 2)]


@ALONE_OR_NOT
async def test_one_failed_batch_leaves_the_others_their_records(
    loader: RecordLoader[Locker], wire: Wire, within: Within
) -> None:
    with within():
        refused = Answer.error("ValidationException")
        wire.fault = lambda call: refused if ("LOCKER#l001", "META") in call.keys else None
        found = await loader.load_bulk(numbered(1, *range(100, 199), 2, 3))
        assert isinstance(found[0], Exception)
        assert ids(found[-2:]) == ["l002", "l003"]


@ALONE_OR_NOT
async def test_a_damaged_item_is_an_error_in_place(
    loader: RecordLoader[Locker], plain_client: Any, table: str, within: Within
) -> None:
    with within():
        damaged = {"PK": "LOCKER#l009", "SK": "META", "entityType": "OWNER"}
        await plain_client.put_item(TableName=table, Item=item_to_wire(damaged))
        (first, error, last) = await loader.load_bulk(numbered(1, 9, 2))
        assert ids([first, last]) == ["l001", "l002"]
        assert isinstance(error, DamagedItemError)
        assert str(error) == "item LOCKER / META (0457d2298a80) is 'OWNER', not 'LOCKER'"


async def test_strong_reads_have_a_queue_and_a_cache_of_their_own(loaders: Loaders, wire: Wire) -> None:
    eventual, strong = loaders.of(LOCKER_BY_ID), loaders.of(LOCKER_BY_ID, consistent=True)
    found = await asyncio.gather(eventual.load_bulk(numbered(1, 2)), *map(strong.load_bulk, (numbered(1), numbered(3))))
    assert [ids(part) for part in found] == [["l001", "l002"], ["l001"], ["l003"]]
    sent = [(call.keys, call.request["RequestItems"].popitem()[1]["ConsistentRead"]) for call in wire.calls]
    assert sorted(sent, key=str) == [(metas(1, 2), False), (metas(1, 3), True)]


@ALONE_OR_NOT
async def test_existing_records_that_a_plain_read_missed_are_read_strongly(
    loaders: Loaders, wire: Wire, within: Within
) -> None:
    with within():

        def too_early(call: Call) -> None:
            ((_, asked),) = call.request["RequestItems"].items()
            call.response = call.response if asked["ConsistentRead"] else {"Responses": {}}

        wire.amend = too_early
        found = await loaders.load_existing(LOCKER_BY_ID, numbered(1, 2, 1), "")
        assert ids(found) == ["l001", "l002", "l001"]
        assert ids(await loaders.of(LOCKER_BY_ID).load_bulk(numbered(2, 1))) == ["l002", "l001"]
        assert [call.keys for call in wire.calls] == [metas(1, 2), metas(1, 2)]


async def test_a_reader_that_gives_up_leaves_the_batch_to_the_others(loader: RecordLoader[Locker], wire: Wire) -> None:
    wire.fault = hold = Hold()
    leaving = asyncio.ensure_future(loader.load_bulk(numbered(1, 2)))
    staying = asyncio.ensure_future(loader.load_bulk(numbered(1, 2)))
    await hold.arrivals()
    leaving.cancel()
    hold.release()
    assert ids(await staying) == ["l001", "l002"]


async def test_a_reader_that_gives_up_early_leaves_the_queue(loader: RecordLoader[Locker], wire: Wire) -> None:
    leaving = asyncio.ensure_future(loader.load_bulk(numbered(1, 2)))
    staying = asyncio.ensure_future(loader.load_bulk(numbered(2, 3)))
    await asyncio.sleep(0)
    leaving.cancel()
    assert ids(await staying) == ["l002", "l003"]
    assert ids(await loader.load_bulk(numbered(1))) == ["l001"]
    assert [call.keys for call in wire.calls] == [metas(2, 3), metas(1)]


async def test_stopped_loaders_end_queries_that_several_places_share(loaders: Loaders, wire: Wire) -> None:
    wire.fault = hold = Hold()
    days = (Day("2026-03-01"), Day("2026-03-02"))
    reading = asyncio.ensure_future(loaders.whole(LOCATION_CALENDAR, (LocationId("01HX"), *days)))
    await hold.arrivals()
    loaders.stop()
    with pytest.raises(asyncio.CancelledError):
        await reading
    hold.release()


async def test_a_request_that_ends_leaves_nothing_to_the_garbage_collector(loaders: Loaders) -> None:
    gc.collect()
    gc.disable()
    try:
        ((record,),) = [await loaders.of(LOCKER_BY_ID).load_bulk(numbered(1))]
        held = weakref.ref(loaders.of(LOCKER_BY_ID))
        loaders.stop()
        assert (ids([record]), held()) == (["l001"], None)
    finally:
        gc.enable()
