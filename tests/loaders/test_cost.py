"""What a request to the store is said to take."""

from __future__ import annotations

import pytest

from loaders.contract import WriteContract
from loaders.contracts import CONTRACTS, QC_04, QC_08, QC_09, QC_13, QC_22, QC_43
from loaders.cost import ALWAYS, MET_OTHERS, Cost, Part, page_cost, read_units

WRITES = [contract for contract in CONTRACTS.values() if isinstance(contract, WriteContract)]


def test_costs_add_up_and_multiply() -> None:
    assert Cost(1, 2, 0.5, 4) + Cost(1, 1, 1) * 3 == Cost(4, 5, 3.5, 4)


@pytest.mark.parametrize(
    ("operation", "consistent", "units"),
    [("BatchGetItem", False, 2), ("BatchGetItem", True, 4), ("Query", False, 1.5), ("Query", True, 3)],
)
def test_a_query_rounds_its_items_up_together_and_everything_else_one_by_one(
    operation: str, *, consistent: bool, units: float
) -> None:
    assert read_units([1, 4097, 4096], operation, consistent=consistent) == units


def test_a_page_of_more_than_one_megabyte_takes_several_requests_that_each_round_up() -> None:
    assert page_cost(26, 800) == Cost(1, 26, 3)
    assert page_cost(40, 25_600) == Cost(1, 40, 125)
    assert page_cost(41, 25_600) == Cost(2, 41, 129)
    assert QC_09.page_cost(100) == Cost(3, 101, 317)
    assert QC_09.read_units == 317


def test_a_part_takes_what_its_items_take_as_often_as_it_is_sent() -> None:
    part = Part(operation="GetItem", sizes=(5000,), most=3)
    assert part.cost() == Cost(3, 3, 6)
    assert Part(operation="TransactWriteItems", sizes=(100, 1025)).cost() == Cost(1, 0, 0, 6)


def test_a_part_for_several_entries_takes_its_share() -> None:
    together = Part(operation="BatchGetItem", sizes=(100,) * 25)
    one_by_one = Part(operation="GetItem", sizes=(100,), most=50)
    assert (together.cost(2, 25), one_by_one.cost(2, 25)) == (Cost(1, 2, 2), Cost(4, 4, 4))


def test_a_write_is_its_reads_then_one_request_and_all_of_it_again_where_others_were_faster() -> None:
    always = [entry for entry in QC_04.costs("Mutation.createReservation", 1) if entry[1] == ALWAYS]
    again = [entry for entry in QC_04.costs("Mutation.createReservation", 1) if entry[1] == MET_OTHERS]
    assert [operation for operation, _, _ in always] == ["BatchGetItem", "Query", "TransactWriteItems"]
    assert [(operation, cost) for operation, _, cost in again] == [
        (operation, cost * 23) for operation, _, cost in always
    ]


def test_a_part_belongs_to_the_fields_that_send_it() -> None:
    def always(contract: WriteContract, field: str) -> list[str]:
        return [operation for operation, when, _ in contract.costs(field, 1) if when == ALWAYS]

    assert always(QC_22, "Mutation.createOwner") == ["TransactWriteItems"]
    assert always(QC_22, "Mutation.updateOwner") == ["GetItem", "TransactWriteItems"]
    assert always(QC_43, "Mutation.cancelBooking") == ["GetItem", "GetItem", "TransactWriteItems"]
    assert always(QC_13, "Mutation.cancelReservation") == ["BatchGetItem", "GetItem", "TransactWriteItems"]
    assert always(QC_13, "Mutation.extendReservation") == ["BatchGetItem", "GetItem", "Query", "TransactWriteItems"]


def test_one_event_takes_its_share_of_what_the_most_take() -> None:
    one, most = (QC_08.costs("Mutation.recordAccessEvents", entries) for entries in (1, 25))
    assert one[0] == ("GetItem", ALWAYS, Cost(1, 1, 0.5))
    assert most[0] == ("BatchGetItem", ALWAYS, Cost(1, 25, 12.5))
    assert most[1][2].write_units == QC_08.write_units == 25 * one[1][2].write_units


@pytest.mark.parametrize("contract", WRITES, ids=lambda contract: contract.id)
def test_every_read_before_a_write_is_documented_and_every_part_names_fields_of_its_contract(
    contract: WriteContract,
) -> None:
    assert all(part.text for part in contract.reads)
    assert all(set(part.fields) <= set(contract.fields) for part in (*contract.reads, *contract.fallbacks))
    assert all(part.when.startswith("only where ") for part in contract.fallbacks)
