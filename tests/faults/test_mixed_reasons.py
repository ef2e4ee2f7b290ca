"""A transaction is canceled by conflicts and failed conditions at once: the conditions are then not reported."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.api import CREATE_OWNER, CREATE_RESERVATION, RECORD_EVENT, REGISTER_LOCKER, Api, unchanged
from tests.conftest import NOW, Dump
from tests.invariants import check_invariants, live_reservations
from tests.reservations import hours
from tests.wire import Answer, Call, Wire, once

FAILED, CONFLICT, NONE, SLOW = "ConditionalCheckFailed", "TransactionConflict", "None", "ThrottlingError"
OWNER = {"ownerId": "eve", "kind": "USER", "name": "Eve", "email": "eve@example.com"}
LOCKER = {"lockerId": "new", "ownerId": "ada", "alias": "A"}
RESERVATION = {"reservationId": "r", "lockerId": "l1", "ownerId": "ada", **hours(1, 2)}
EVENT = {"eventId": "e", "lockerId": "l1", "action": "OPEN", "actorId": "ada", "result": "SUCCESS"}
MIXED = [
    (CREATE_OWNER, OWNER, (CONFLICT, NONE, FAILED)),
    (CREATE_OWNER, OWNER, (FAILED, NONE, CONFLICT)),
    (REGISTER_LOCKER, LOCKER, (CONFLICT, FAILED, NONE)),
    (REGISTER_LOCKER, LOCKER, (FAILED, CONFLICT, NONE)),
    (REGISTER_LOCKER, LOCKER, (SLOW, NONE, FAILED)),
    (CREATE_RESERVATION, RESERVATION, (CONFLICT, NONE, NONE, FAILED, NONE, NONE, NONE, NONE)),
    (CREATE_RESERVATION, RESERVATION, (FAILED, FAILED, FAILED, CONFLICT, FAILED, FAILED, NONE, NONE)),
    (CREATE_RESERVATION, RESERVATION, (NONE, NONE, NONE, NONE, NONE, CONFLICT, NONE, FAILED)),
    (RECORD_EVENT, EVENT, (CONFLICT, FAILED)),
    (RECORD_EVENT, EVENT, (FAILED, CONFLICT)),
    (RECORD_EVENT, EVENT, (SLOW, FAILED)),
]


@pytest.mark.parametrize(("mutation", "values", "reasons"), MIXED)
async def test_a_creation_that_met_another_transaction_succeeds_when_it_is_sent_again(
    one: Api, wire: Wire, dump: Dump, mutation: str, values: dict[str, Any], reasons: tuple[str, ...]
) -> None:
    wire.fault = once(Answer.canceled(*reasons, NONE), "TransactWriteItems")
    payload = await one.mutate(mutation, **values)
    assert payload.pop("userErrors") == []
    assert None not in payload.values()
    sent = wire.of("TransactWriteItems")
    assert [len(call.keys) for call in sent] == [len(reasons) + 1] * 2, "and the log"
    assert len({call.request["ClientRequestToken"] for call in sent}) == 1
    check_invariants(await dump(), NOW)


@pytest.mark.parametrize(("mutation", "values", "reasons"), [case for case in MIXED if case[0] != CREATE_RESERVATION])
async def test_a_repeat_that_met_its_twin_half_way_gets_the_first_result(
    one: Api, wire: Wire, dump: Dump, mutation: str, values: dict[str, Any], reasons: tuple[str, ...]
) -> None:
    first = await one.mutate(mutation, **values)
    async with unchanged(dump):
        wire.reset()
        wire.fault = once(Answer.canceled(*reasons, NONE), "TransactWriteItems")
        assert await one.mutate(mutation, **values) == first
        assert first["userErrors"] == []
        assert wire.operations["TransactWriteItems"] == 2


async def test_a_reservation_that_met_its_twin_half_way_gets_the_first_result(one: Api, wire: Wire, dump: Dump) -> None:
    first = await one.mutate(CREATE_RESERVATION, **RESERVATION)
    before = await dump()
    wire.reset()
    wire.amend = nothing_yet()
    wire.fault = once(Answer.canceled(CONFLICT, NONE, NONE, FAILED, *[NONE] * 5), "TransactWriteItems")
    assert await one.mutate(CREATE_RESERVATION, **RESERVATION) == first
    assert wire.operations == {"BatchGetItem": 2, "Query": 1, "TransactWriteItems": 2, "GetItem": 1}
    assert await dump() == before
    assert len(live_reservations(before, "l1")) == 1


async def test_a_change_that_is_not_whole_is_settled_before_the_next(one: Api, wire: Wire, dump: Dump) -> None:
    await one.mutate(CREATE_RESERVATION, **RESERVATION)
    wire.reset()
    wire.fault = once(Answer.canceled(*[NONE] * 8, FAILED, NONE), "TransactWriteItems")
    payload = await one.mutate(CREATE_RESERVATION, **RESERVATION | {"reservationId": "s"} | hours(3, 4))
    assert (payload["reservation"]["reservationId"], payload["userErrors"]) == ("s", [])
    assert wire.operations == {"BatchGetItem": 2, "Query": 4, "GetItem": 2, "TransactWriteItems": 3}
    check_invariants(await dump(), NOW)


def nothing_yet() -> Callable[[Call], None]:
    """The first batch and the first Query see the locker and its owner as they were before any reservation."""
    left = {"BatchGetItem", "Query"}

    def amend(call: Call) -> None:
        if call.operation not in left:
            return
        left.remove(call.operation)
        if call.operation == "Query":
            call.response |= {"Items": [], "Count": 0}
            return
        ((table, found),) = call.response["Responses"].items()
        call.response["Responses"][table] = [item for item in found if item["SK"]["S"] == "META"]

    return amend
