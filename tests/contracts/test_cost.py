"""The maximum that a contract declares, compared with what the store measures on the largest items.

The store reports a transaction's units as DynamoDB counts them: every step twice, a check like a write of the item that
is checked, and every write of the index once.
"""

from typing import Any

import pytest

from domain.authorization import DEVELOPMENT_ADMIN
from domain.bookings import CalendarSlot, DaySlot
from domain.commands.reservations import CreateReservation
from domain.models import LockerId
from loaders import keys
from loaders.backend import Backend
from loaders.codecs import GUARD, Guard
from loaders.contracts.bookings import LOCATION_CALENDAR
from loaders.contracts.events import RECORD_EVENTS
from loaders.contracts.lockers import LOCKER_BY_ID
from loaders.contracts.maintenance import CONVERT_ITEMS, LOAD_DEMO_DATA
from loaders.contracts.privacy import ERASE_ITEMS
from loaders.contracts.reading import ReadOne
from loaders.contracts.registry import CONTRACTS
from loaders.contracts.reservations import CREATE_RESERVATION
from loaders.contracts.search import SEARCH_KEYS
from loaders.contracts.writing import WriteContract
from loaders.pages import PageRequest
from loaders.table.operations import BatchGet, Get, Query
from loaders.table.recording import Record
from loaders.writes.reservations import create_reservation
from tests.contracts.conftest import Runner, Seeds
from tests.contracts.lists import LISTS, PAGED
from tests.contracts.samples import LONGEST, at, day, record
from tests.contracts.scenarios.every import SCENARIOS
from tests.contracts.scenarios.lockers import PLACED
from tests.contracts.snapshots import contracts_of, kept
from tests.wire import Wire

READS = [contract for contract in CONTRACTS.values() if isinstance(contract, ReadOne)]
WRITES = [contract for contract in CONTRACTS.values() if isinstance(contract, WriteContract)]
# Of what can be written in large numbers the examples write two; what is converted or erased is of usual size in them.
PAIRS = {
    RECORD_EVENTS.id: 2 / RECORD_EVENTS.most_entries,
    LOAD_DEMO_DATA.id: 2 / LOAD_DEMO_DATA.most_steps,
    CONVERT_ITEMS.id: 1 / 300,
    ERASE_ITEMS.id: 1 / 10,
}


def of(records: list[Record], contract: str, *, is_write: bool) -> list[Record]:
    return [record for record in records if record.contract == contract and record.is_write is is_write]


@pytest.mark.parametrize("contract", READS, ids=lambda contract: contract.id)
async def test_a_look_up_costs_exactly_its_maximum_and_twice_as_much_where_it_is_consistent(
    contract: ReadOne[Any], run_scenario: Runner
) -> None:
    for name in SCENARIOS:
        if name.startswith(contract.purpose):
            for read in of(await run_scenario(name, LONGEST), contract.id, is_write=False):
                assert isinstance(read.operation, Get | BatchGet)
                times = 2 if read.operation.consistent else 1
                missing = 0 if isinstance(read.operation, Get) else len(read.operation.keys) - read.returned
                assert read.returned == 1
                assert read.units == contract.maximum_units * times + missing * 0.5


async def test_a_search_by_keys_of_all_kinds_is_one_request_of_half_to_all_of_its_maximum(
    run_scenario: Runner,
) -> None:
    (read,) = of(await run_scenario(SEARCH_KEYS.purpose, LONGEST), SEARCH_KEYS.id, is_write=False)
    assert (read.operation.name, read.returned) == ("BatchGetItem", len(SEARCH_KEYS.codecs))
    maximum = SEARCH_KEYS.maximum(SEARCH_KEYS.codecs).read_units
    assert maximum / 2 <= read.units <= maximum


@pytest.mark.parametrize("contract", WRITES, ids=lambda contract: contract.id)
async def test_a_write_costs_half_to_all_of_its_maximum(contract: WriteContract, run_scenario: Runner) -> None:
    most = 0.0
    for name, content in kept().items():
        if contract.id not in contracts_of(content):
            continue
        records = await run_scenario(name, LONGEST)
        # A change that its condition refuses takes a unit too, which no store reports.
        written = max((write.units or 1 for write in of(records, contract.id, is_write=True)), default=0)
        assert written <= contract.write_units
        most = max(most, written)
        reads = of(records, contract.id, is_write=False)
        assert sum(read.units for read in reads) <= max(
            sum(request.maximum.read_units for request in contract.costs(variant, contract.most_entries))
            for variant in contract.variants or (None,)
        )
        for read in reads:
            assert isinstance(read.operation, Get | BatchGet | Query)
            assert read.operation.consistent or contract is RECORD_EVENTS
    assert contract.write_units * PAIRS.get(contract.id, 1) / 2 <= most


@pytest.mark.parametrize("contract_id", PAGED)
async def test_the_largest_page_costs_at_most_its_maximum_and_more_than_half_of_it(
    contract_id: str, backend: Backend, seeds: Seeds, wire: Wire
) -> None:
    contract, example = PAGED[contract_id], LISTS[contract_id]
    size = contract.page_rule.maximum
    await seeds.put(example.item(number, longest=True) for number in range(size + 1))
    page = await example.read(backend.store, PageRequest(size), contract.orders[0])
    maximum = contract.maximum(size)
    assert len(page.nodes) == size
    assert wire.operations["Query"] == len(wire.calls) <= maximum.operations
    assert sum(len(call.response["Items"]) for call in wire.calls) == maximum.items
    assert maximum.read_units / 2 < sum(call.units for call in wire.calls) <= maximum.read_units


async def test_a_calendar_of_92_full_days_is_one_query_of_184_items(backend: Backend, seeds: Seeds, wire: Wire) -> None:
    slots = [
        record(CalendarSlot, number, longest=True, location_id=LONGEST.location, slot=slot, created_by=LONGEST.owner)
        for number in range(-1, 93)  # a day more on either side
        for slot in DaySlot
    ]
    codec = LOCATION_CALENDAR.codec
    await seeds.put((keys.calendar_slot(LONGEST.location, slot.date, slot.slot), codec.encode(slot)) for slot in slots)
    neighbours = [
        keys.location(LONGEST.location),
        keys.calendar_claim(LONGEST.location, day(1)),
        keys.calendar_slot(LONGEST.other_location, day(1), DaySlot.MORNING),
    ]
    await seeds.put((key, {"entityType": "STRANGER"}) for key in neighbours)
    found = await LOCATION_CALENDAR.whole(backend.store, LONGEST.location, day(0), day(91))
    assert list(found) == [
        keys.calendar_slot(LONGEST.location, day(number), slot).sk for number in range(92) for slot in sorted(DaySlot)
    ]
    (call,) = wire.calls
    assert (call.request["Limit"], len(call.response["Items"])) == (184, 184)
    assert call.units <= LOCATION_CALENDAR.maximum(184).read_units


async def test_a_batch_of_100_costs_100_reads(backend: Backend, seeds: Seeds, wire: Wire) -> None:
    ids = [LockerId(f"{number:064d}") for number in range(100)]
    codec = LOCKER_BY_ID.codec
    lockers = [record(codec._model, 0, longest=True, locker_id=locker_id) for locker_id in ids]  # noqa: SLF001
    await seeds.put((keys.locker(locker.locker_id), codec.encode(locker)) for locker in lockers)
    assert await LOCKER_BY_ID.read_many(backend.store, [(locker_id,) for locker_id in ids]) == lockers
    assert wire.operations == {"BatchGetItem": 1}
    assert wire.calls[0].units == 100 * LOCKER_BY_ID.maximum_units


@pytest.mark.parametrize(("start", "end"), [(600, 610), (1500, 1510)])
async def test_a_reservation_beside_a_thousand_live_ones_reads_one_of_them(
    backend: Backend, seeds: Seeds, wire: Wire, start: int, end: int
) -> None:
    for call in PLACED:
        await call(backend, LONGEST)
    example = LISTS["QC-85"]
    live = [example.item(number, longest=True) for number in (*range(600), *range(700, 1100))]
    await seeds.put((key, {**item, "endAt": item["startAt"], "status": "ACTIVE"}) for key, item in live)
    guard = GUARD.encode(Guard(revision=1))
    await seeds.put([(keys.reservation_guard(LONGEST.locker), guard)])
    wire.reset()
    command = CreateReservation(locker_id=LONGEST.locker, owner_id=LONGEST.owner, start_at=at(start), end_at=at(end))
    await create_reservation(backend, command, DEVELOPMENT_ADMIN)
    assert wire.operations == {"BatchGetItem": 1, "Query": 2, "TransactWriteItems": 1}
    before = next(request for request in CREATE_RESERVATION.costs(None, 1) if request.operation == "Query")
    (query,) = [call for call in wire.of("Query") if "LIVE#" in str(call.request)]
    assert (query.request["Limit"], query.response["Count"]) == (1, 1)
    assert query.units <= before.maximum.read_units
