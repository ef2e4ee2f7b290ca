"""What a request to the store is said to take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from loaders.contracts.base import ContractError
from loaders.contracts.bookings import DECIDE_BOOKING
from loaders.contracts.cost import ALWAYS, MET_OTHERS, Cost, Part, page_cost, read_units
from loaders.contracts.events import LOCKER_EVENTS, RECORD_EVENTS
from loaders.contracts.owners import SAVE_OWNER
from loaders.contracts.reservations import CHANGE_RESERVATION, CREATE_RESERVATION

if TYPE_CHECKING:
    from loaders.contracts.writing import WriteContract


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
    assert LOCKER_EVENTS.maximum(100) == Cost(3, 101, 317)


def test_a_part_takes_what_its_items_take_as_often_as_it_is_sent() -> None:
    part = Part(operation="GetItem", sizes=(5000,), most=3)
    assert part.cost() == Cost(3, 3, 6)
    assert Part(operation="TransactWriteItems", sizes=(100, 1025)).cost() == Cost(1, 0, 0, 6)


def test_a_part_for_several_entries_takes_its_share() -> None:
    together = Part(operation="BatchGetItem", sizes=(100,) * 25)
    one_by_one = Part(operation="GetItem", sizes=(100,), most=50)
    assert (together.cost(2, 25), one_by_one.cost(2, 25)) == (Cost(1, 2, 2), Cost(4, 4, 4))


def test_a_write_is_its_reads_then_one_request_and_all_of_it_again_where_others_were_faster() -> None:
    always = [entry for entry in CREATE_RESERVATION.costs(None, 1) if entry[1] == ALWAYS]
    again = [entry for entry in CREATE_RESERVATION.costs(None, 1) if entry[1] == MET_OTHERS]
    assert [request.operation for request in always] == ["BatchGetItem", "Query", "Query", "TransactWriteItems"]
    moving = [request for request in CREATE_RESERVATION.costs(None, 1) if "pointer must move" in request.when]
    assert [(request.operation, request.maximum) for request in again] == [
        (request.operation, request.maximum * 23) for request in (*always[:3], *moving, always[3])
    ]


def test_a_write_is_expected_to_read_few_items_of_usual_size() -> None:
    expected = sum(
        (request.expected for request in CREATE_RESERVATION.costs(None, 1) if request.when == ALWAYS), Cost()
    )
    assert (expected.operations, expected.read_units, expected.write_units) == (4, 7, 24)


def test_a_read_is_priced_for_the_variants_that_send_it() -> None:
    def always(contract: WriteContract, variant: str) -> list[str]:
        return [request.operation for request in contract.costs(variant, 1) if request.when == ALWAYS]

    assert always(SAVE_OWNER, "create") == ["TransactWriteItems"]
    assert always(SAVE_OWNER, "update") == ["GetItem", "TransactWriteItems"]
    assert always(DECIDE_BOOKING, "cancel") == ["GetItem", "GetItem", "TransactWriteItems"]
    assert always(CHANGE_RESERVATION, "cancel") == ["BatchGetItem", "GetItem", "TransactWriteItems"]
    assert always(CHANGE_RESERVATION, "extend") == [
        "BatchGetItem",
        "GetItem",
        "Query",
        "TransactWriteItems",
    ]


def test_one_event_takes_its_share_of_what_the_most_take() -> None:
    one, most = (RECORD_EVENTS.costs(None, entries) for entries in (1, 25))
    assert one[0][:3] == ("GetItem", ALWAYS, Cost(1, 1, 0.5))
    assert most[0][:3] == ("BatchGetItem", ALWAYS, Cost(1, 25, 12.5))
    assert most[1].maximum.write_units == RECORD_EVENTS.write_units == 25 * one[1].maximum.write_units


@pytest.mark.parametrize("variant", ["extend", "remove"])
def test_a_price_is_for_a_variant_that_the_contract_has(variant: str) -> None:
    with pytest.raises(ContractError, match=rf"^QC-22 has no variant {variant}$"):
        SAVE_OWNER.costs(variant, 1)
    with pytest.raises(ContractError, match=r"^QC-22 has no variant None$"):
        SAVE_OWNER.costs(None, 1)
