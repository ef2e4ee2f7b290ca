"""What a contract says that it costs, held against what the store measures on the largest items that there can be.

The store reports a transaction's units as DynamoDB counts them: every step twice, a check like a write of the item that
is checked, and beside them every write of the index once. So a write is compared with its declared units as they stand,
and a strong read with twice its own.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from domain.commands import CancelReservation, CreateOwner, CreateReservation
from domain.models import EventId, LockerId, OwnerKind, ReservationId
from domain.principal import DEVELOPMENT_ADMIN
from loaders import keys, reads
from loaders.batch import open_loaders
from loaders.contract import GetContract, QueryContract, WriteContract
from loaders.contracts import CONTRACTS, QC_01, QC_04, QC_08, QC_13, QC_22
from loaders.items import LOCKER as LOCKER_CODEC
from loaders.writes.events import record_access_events
from loaders.writes.owners import create_owner
from loaders.writes.reservations import cancel_reservation, create_reservation
from tests.contracts.examples import (
    EMAIL,
    EXAMPLES,
    RESERVATION,
    large_event,
    large_locker,
    large_reservation,
    numbers,
)
from tests.contracts.key_examples import KEY_EXAMPLES
from tests.contracts.list_example import LOCKER, NAME, OWNER, at
from tests.contracts.lists import LISTS
from tests.contracts.place_examples import PLACE_EXAMPLES
from tests.contracts.rate_examples import RATE_EXAMPLES

if TYPE_CHECKING:
    from loaders.backend import Backend
    from tests.contracts.seeds import Seeds
    from tests.wire import Wire

ALL_EXAMPLES = EXAMPLES | PLACE_EXAMPLES | RATE_EXAMPLES | KEY_EXAMPLES
READS = [contract for contract in CONTRACTS.values() if isinstance(contract, GetContract | QueryContract)]
WRITES = [contract for contract in CONTRACTS.values() if isinstance(contract, WriteContract)]


def measured(wire: Wire, *operations: str) -> float:
    """The units of these operations, or of all."""
    calls = [call for call in wire.calls if not operations or call.operation in operations]
    assert calls
    assert all("ConsumedCapacity" in call.response for call in calls)
    return sum(call.units for call in calls)


async def run_alone(contract_id: str, backend: Backend, seeds: Seeds, wire: Wire) -> None:
    """Runs an example; the wire then holds its own calls and no others."""
    example = ALL_EXAMPLES[contract_id]
    await example.prepare(backend, seeds)
    wire.reset()
    assert await example.run(backend)
    assert wire.operations == example.operations


async def reserve_later(backend: Backend, minutes: int = 60) -> None:
    """A reservation behind the large one, as large."""
    command = CreateReservation(
        locker_id=LOCKER,
        reservation_id=ReservationId("s" * 64),
        owner_id=OWNER,
        start_at=at(minutes),
        end_at=at(minutes + 60),
    )
    await create_reservation(backend, command, DEVELOPMENT_ADMIN)


def test_every_contract_has_an_example() -> None:
    assert list(ALL_EXAMPLES) == list(CONTRACTS)
    assert len(READS) + len(WRITES) == len(CONTRACTS)


@pytest.mark.parametrize("contract", READS, ids=lambda contract: contract.id)
async def test_a_read_costs_no_more_than_it_declares_and_not_far_less(
    contract: GetContract | QueryContract, backend: Backend, seeds: Seeds, wire: Wire
) -> None:
    await run_alone(contract.id, backend, seeds, wire)
    assert not any(call.request["ConsistentRead"] for call in wire.calls)
    assert contract.read_units / 2 < measured(wire) <= contract.read_units
    if isinstance(contract, GetContract):
        assert measured(wire) == contract.read_units
        assert len(wire.calls) == contract.operations


@pytest.mark.parametrize("contract", WRITES, ids=lambda contract: contract.id)
async def test_a_write_costs_no_more_than_it_declares_and_not_far_less(
    contract: WriteContract, backend: Backend, seeds: Seeds, wire: Wire
) -> None:
    await run_alone(contract.id, backend, seeds, wire)
    writes = wire.of("TransactWriteItems") or wire.of("UpdateItem")
    assert 1 <= sum(len(write.keys) for write in writes) <= contract.most_steps
    # A change that its condition refuses takes a unit too, which no store reports.
    assert contract.write_units / 2 < sum(write.units or 1 for write in writes) <= contract.write_units


@pytest.mark.parametrize("contract", WRITES, ids=lambda contract: contract.id)
async def test_what_a_write_reads_first_is_read_strongly_but_for_the_lockers_of_events(
    contract: WriteContract, backend: Backend, seeds: Seeds, wire: Wire
) -> None:
    await run_alone(contract.id, backend, seeds, wire)
    fresh: list[Any] = []
    for call in wire.calls:
        if call.operation in {"GetItem", "Query"}:
            fresh.append(call.request["ConsistentRead"])
        if call.operation == "BatchGetItem":
            fresh += [part["ConsistentRead"] for part in call.request["RequestItems"].values()]
    assert set(fresh) <= {contract is not QC_08}


async def test_a_strong_read_costs_twice_as_much(backend: Backend, wire: Wire) -> None:
    await large_locker(backend)
    wire.reset()
    assert await reads.consistent_locker(backend.store, LOCKER)
    assert wire.calls[0].request["ConsistentRead"] is True
    assert measured(wire) == 2 * QC_01.read_units


async def test_a_batch_of_100_costs_100_reads(backend: Backend, seeds: Seeds, wire: Wire) -> None:
    await large_locker(backend)
    largest = await reads.consistent_locker(backend.store, LOCKER)
    assert largest is not None
    ids = [LockerId(f"{number:064d}") for number in range(100)]
    await seeds.put(
        (keys.locker(locker_id), LOCKER_CODEC.encode(largest) | {"lockerId": locker_id, "fingerprint": "f" * 64})
        for locker_id in ids
    )
    wire.reset()
    found = await open_loaders(backend).locker.load_many(ids)
    assert [locker and locker.locker_id for locker in found] == ids
    assert wire.operations == {"BatchGetItem": 1}
    assert measured(wire) == 100 * QC_01.read_units


async def test_a_lone_event_costs_its_size_once(backend: Backend, wire: Wire) -> None:
    await large_locker(backend)
    wire.reset()
    await record_access_events(backend, [large_event(None, numbers())], DEVELOPMENT_ADMIN, [("input",)])
    assert wire.operations == {"GetItem": 1, "PutItem": 1}
    assert measured(wire, "PutItem") == math.ceil(QC_08.item_bytes / 1024)


async def test_an_event_with_an_id_of_the_clients_costs_its_size_twice_and_its_claim(
    backend: Backend, wire: Wire
) -> None:
    await large_locker(backend)
    wire.reset()
    await record_access_events(backend, [large_event(EventId("e" * 64), numbers())], DEVELOPMENT_ADMIN, [("input",)])
    assert wire.operations == {"GetItem": 1, "TransactWriteItems": 1}
    assert measured(wire, "TransactWriteItems") == 2 * (math.ceil(QC_08.item_bytes / 1024) + 1)


async def test_a_cancellation_behind_another_change_costs_exactly_what_its_contract_declares(
    backend: Backend, wire: Wire
) -> None:
    await large_reservation(backend)
    await reserve_later(backend)
    wire.reset()
    await cancel_reservation(
        backend, CancelReservation(locker_id=LOCKER, reservation_id=RESERVATION), DEVELOPMENT_ADMIN
    )
    assert [len(call.keys) for call in wire.of("TransactWriteItems")] == [5]
    assert measured(wire, "TransactWriteItems") == 10 == QC_13.write_units


async def test_a_cancellation_of_what_was_changed_last_costs_a_check_less(backend: Backend, wire: Wire) -> None:
    await large_reservation(backend)
    wire.reset()
    await cancel_reservation(
        backend, CancelReservation(locker_id=LOCKER, reservation_id=RESERVATION), DEVELOPMENT_ADMIN
    )
    assert [len(call.keys) for call in wire.of("TransactWriteItems")] == [4]
    assert measured(wire, "TransactWriteItems") == 8


async def test_a_reservation_behind_another_change_costs_exactly_what_its_contract_declares(
    backend: Backend, wire: Wire
) -> None:
    await large_reservation(backend)
    wire.reset()
    await reserve_later(backend)
    assert [len(call.keys) for call in wire.of("TransactWriteItems")] == [7]
    assert measured(wire, "TransactWriteItems") == 16 == QC_04.write_units


async def test_a_reservation_in_a_window_full_of_cancelled_ones_is_still_two_reads(
    backend: Backend, seeds: Seeds, wire: Wire
) -> None:
    await large_reservation(backend)
    await cancel_reservation(
        backend, CancelReservation(locker_id=LOCKER, reservation_id=RESERVATION), DEVELOPMENT_ADMIN
    )
    await seeds.put(LISTS["QC-05"].large(number) for number in range(204))
    wire.reset()
    await reserve_later(backend, 204)
    assert [call.operation for call in wire.calls] == ["BatchGetItem", "Query", "TransactWriteItems"]
    (look_back,) = wire.of("Query")
    assert (look_back.request["Limit"], look_back.response["Count"]) == (1000, 205)
    assert "LastEvaluatedKey" not in look_back.response


async def test_creating_an_owner_costs_no_more_than_its_contract_declares(backend: Backend, wire: Wire) -> None:
    command = CreateOwner(owner_id=OWNER, kind=OwnerKind.ORGANIZATION, name=NAME, email=EMAIL)
    await create_owner(backend, command)
    assert wire.operations == {"TransactWriteItems": 1}
    assert measured(wire) == 6 <= QC_22.write_units
