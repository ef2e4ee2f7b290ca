"""A transaction's items become visible one by one: the guard is new, and the reservation or pointer is still old."""

import copy
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import pytest_asyncio

from loaders.table.values import item_to_wire
from tests import codes
from tests.api import CREATE_RESERVATION, RECORD_EVENT, Api
from tests.conftest import NOW, Clock, Dump
from tests.invariants import check_invariants
from tests.reservations import CANCEL, EXTEND, hours
from tests.wire import Call, Wire

POINTER = ("LOCKER#l1", "RES#ACTIVE")


def seen_late(reservation_id: str, times: int = 1, **older: str) -> Callable[[Call], None]:
    """So many Queries that find the reservation do not show it yet; or show it as it was, if that is given."""
    left = [reservation_id] * times

    def amend(call: Call) -> None:
        if call.operation != "Query" or not left:
            return
        there = next((item for item in call.response["Items"] if item["reservationId"]["S"] == reservation_id), None)
        if there is None or not there["SK"]["S"].startswith("LIVE#"):
            return
        left.pop()
        kept = [item for item in call.response["Items"] if item is not there]
        call.response.pop("LastEvaluatedKey", None)
        if older:
            was = copy.deepcopy(there)
            was["revision"] = {"N": str(int(there["revision"]["N"]) - 1)}
            was |= {name: {"S": value} for name, value in older.items()}
            kept = [was if item is there else item for item in call.response["Items"]]
        call.response |= {"Items": kept, "Count": len(kept)}

    return amend


def sent(wire: Wire) -> Counter[str]:
    """The operations that were sent, except those on slots of the owner."""
    return Counter(
        call.operation for call in wire.calls if "SLOT#" not in str(call.request.get("ExpressionAttributeValues"))
    )


def unseen(sort_key: str, times: int) -> Callable[[Call], None]:
    """So many GetItems of an item do not find it."""
    left = [sort_key] * times

    def amend(call: Call) -> None:
        if call.operation == "GetItem" and left and call.keys == [("LOCKER#l1", left[-1])]:
            left.pop()
            del call.response["Item"]

    return amend


def pointer_seen_late(older: dict[str, Any]) -> Callable[[Call], None]:
    """The first BatchGetItem shows the pointer as it was."""
    left = [older]

    def amend(call: Call) -> None:
        if call.operation != "BatchGetItem" or not left:
            return
        was = item_to_wire(left.pop())
        (items,) = call.response["Responses"].values()
        items[:] = [was if item["SK"] == was["SK"] else item for item in items]

    return amend


def at(hour: str) -> str:
    """A full hour of the day on which everything here happens."""
    return f"2026-03-02T{hour}:00:00.000Z"


Change = tuple[str, dict[str, Any]]
FIRST, LAST = ({"lockerId": "l1", "reservationId": name} for name in ("r1", "r2"))
EXTEND_LAST: Change = EXTEND, {**LAST, "newEndAt": at("06")}
EXTEND_FIRST: Change = EXTEND, {**FIRST, "newEndAt": at("05")}
CANCEL_FIRST: Change = CANCEL, FIRST


def create(start: float, end: float) -> Change:
    return CREATE_RESERVATION, {"reservationId": "new", "lockerId": "l1", "ownerId": "ada", **hours(start, end)}


@pytest_asyncio.fixture
async def booked(one: Api, wire: Wire) -> Api:
    """A locker with a reservation from 1 to 2 and, made last, one from 3 to 4."""
    await one.reservation("r1", "l1", "ada", at("01"), at("02"))
    await one.reservation("r2", "l1", "ada", at("03"), at("04"))
    wire.reset()
    return one


async def make(api: Api, change: Change) -> dict[str, Any]:
    document, values = change
    payload = await api.mutate(document, **values)
    assert payload["userErrors"] == []
    return payload


class Late(NamedTuple):
    """A change after the last one, what a Query still shows then, what is sent, and which pointer is left."""

    change: Change
    shown: dict[str, Any]
    sent: dict[str, int]
    pointer: tuple[str, str] = ("r1", at("02"))
    is_refused: bool = False
    is_extended: bool = False


OLD = {"endAt": at("04")}
MOVED = {"BatchGetItem": 2, "GetItem": 2, "Query": 4, "TransactWriteItems": 1}
LATE = {
    "into the last reservation, which is not shown": Late(
        create(3.5, 5), {}, {"BatchGetItem": 2, "Query": 2}, is_refused=True
    ),
    "into the last extension, which is not shown": Late(
        create(4, 5), OLD, {"BatchGetItem": 2, "Query": 2}, is_refused=True, is_extended=True
    ),
    "beside what is shown at the fourth time": Late(
        create(4, 5), {"times": 3}, {"BatchGetItem": 4, "Query": 4, "TransactWriteItems": 1}
    ),
    "an extension into what is not shown": Late(
        EXTEND_FIRST, {}, {"BatchGetItem": 2, "GetItem": 2, "Query": 2}, is_refused=True
    ),
    "a cancellation before what is not shown": Late(CANCEL_FIRST, {}, MOVED, ("r2", at("04"))),
    "a cancellation before what is shown as it was": Late(CANCEL_FIRST, OLD, MOVED, ("r2", at("06")), is_extended=True),
}


@pytest.mark.parametrize("late", LATE.values(), ids=LATE)
async def test_a_write_sees_the_last_change_before_a_query(booked: Api, wire: Wire, dump: Dump, late: Late) -> None:
    if late.is_extended:
        await make(booked, EXTEND_LAST)
    before = await dump()
    wire.reset()
    wire.amend = seen_late("r2", **late.shown)
    document, values = late.change
    errors = (await booked.mutate(document, **values))["userErrors"]
    found = [(error["code"], error["reservation"]["reservationId"]) for error in errors]
    assert found == [("RESERVATION_OVERLAP", "r2")] * late.is_refused
    assert sent(wire) == late.sent
    items = await dump()
    assert (items == before) is late.is_refused
    assert (items[POINTER]["reservationId"], items[POINTER]["endAt"]) == late.pointer
    check_invariants(items, NOW)


async def test_a_last_change_outside_of_what_a_write_reads_is_not_waited_for(booked: Api, wire: Wire) -> None:
    await booked.reservation("far", "l1", "ada", "2026-05-02T00:00:00Z", "2026-05-02T01:00:00Z")
    wire.reset()
    await make(booked, create(4, 5))
    assert sent(wire) == {"BatchGetItem": 1, "Query": 1, "TransactWriteItems": 1}


async def test_an_extension_over_what_a_query_still_shows_live_is_made(booked: Api, wire: Wire, dump: Dump) -> None:
    left = [item_to_wire((await dump())["LOCKER#l1", f"LIVE#{at('03')}#r2"])]
    await make(booked, (CANCEL, LAST))

    def still_live(call: Call) -> None:
        if call.operation == "Query" and "LIVE#" in str(call.request) and left:
            call.response |= {"Items": [left.pop()], "Count": 1}

    wire.reset()
    wire.amend = still_live
    assert (await make(booked, EXTEND_FIRST))["reservation"] == {"endAt": at("05")}
    assert sent(wire) == {"BatchGetItem": 2, "GetItem": 2, "Query": 2, "TransactWriteItems": 1}
    check_invariants(await dump(), NOW)


@pytest.mark.parametrize("older", [{}, OLD], ids=["not yet there", "in its older revision"])
async def test_a_write_repairs_an_ended_pointer_to_the_last_change_though_a_query_shows_it_late(
    booked: Api, wire: Wire, clock: Clock, dump: Dump, older: dict[str, str]
) -> None:
    await make(booked, EXTEND_LAST)
    clock.move(hours=17)  # five in the morning
    wire.amend = seen_late("r2", 1, **older)
    await make(booked, create(8, 9))
    items = await dump()
    pointer = items[POINTER]
    assert (pointer["reservationId"], pointer["endAt"], pointer["lastEndAt"]) == ("r2", at("06"), at("09"))
    check_invariants(items, clock.now)


@pytest.mark.parametrize(
    ("change", "end", "last_end"),
    [
        ((EXTEND, {**FIRST, "newEndAt": at("03")}), at("03"), at("06")),
        ((CREATE_RESERVATION, create(20, 21)[1] | {"reservationId": "far"}), at("02"), at("21")),
    ],
)
async def test_a_pointer_that_is_seen_late_is_never_written_back_and_its_latest_end_never_lowered(
    booked: Api, wire: Wire, dump: Dump, change: Change, end: str, last_end: str
) -> None:
    before = (await dump())[POINTER]
    await make(booked, change)
    wire.reset()
    wire.amend = pointer_seen_late(before)
    await make(booked, create(5, 6))
    assert (wire.operations["BatchGetItem"], wire.operations["TransactWriteItems"]) == (2, 2)
    items = await dump()
    assert (items[POINTER]["endAt"], items[POINTER]["lastEndAt"]) == (end, last_end)
    check_invariants(items, NOW)


EVENT = {"eventId": "e", "lockerId": "l1", "action": "OPEN", "actorId": "ada", "result": "SUCCESS"}


@pytest.mark.parametrize(
    ("creation", "sort_key", "expected"),
    [
        (create(5, 6), f"RES#{at('05')}#new", {"BatchGetItem": 1, "GetItem": 3}),
        ((RECORD_EVENT, EVENT), f"EVT#{NOW}#e", {"GetItem": 4, "TransactWriteItems": 1}),
    ],
)
async def test_a_repeat_whose_claim_is_seen_first_gets_the_first_result(
    booked: Api, wire: Wire, clock: Clock, creation: Change, sort_key: str, expected: dict[str, int]
) -> None:
    first = await make(booked, creation)
    clock.move(seconds=1)
    wire.reset()
    wire.amend = unseen(sort_key, times=2)
    assert await make(booked, creation) == first
    assert sent(wire) == expected


@pytest.mark.parametrize("change", [(CANCEL, LAST), EXTEND_LAST], ids=["cancel", "extend"])
async def test_a_change_of_a_reservation_whose_claim_is_seen_first_is_made(
    booked: Api, wire: Wire, dump: Dump, change: Change
) -> None:
    wire.amend = unseen(f"RES#{at('03')}#r2", times=2)
    await make(booked, change)
    assert (wire.operations["BatchGetItem"], wire.operations["GetItem"]) == (1, 3)
    check_invariants(await dump(), NOW)


async def test_a_claim_whose_reservation_never_comes_is_damage_and_not_an_overlap(booked: Api, wire: Wire) -> None:
    document, values = create(5, 6)
    await make(booked, (document, values))
    wire.reset()
    wire.amend = unseen(f"RES#{at('05')}#new", times=5)
    answer = await booked.send(document, input=values)
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["INTERNAL_SERVER_ERROR"]
    assert sent(wire) == {"BatchGetItem": 1, "GetItem": 5}


async def test_a_grace_period_ends_at_a_reservation_before_a_query_shows_it(api: Api, wire: Wire, clock: Clock) -> None:
    await codes.furnish(api)
    digits = await codes.create(api, "c1")
    key = (await api.mutate(codes.PROVISION, lockerId="l1", generation=1))["deviceKey"]
    await api.owner("bob")
    await api.reservation("r2", "l1", "bob", "2026-03-01T13:05:00Z", "2026-03-01T14:00:00Z")
    wire.amend = seen_late("r2")
    listed = (await codes.Device(api, key, lockerId="l1").listed())["codes"]
    assert [code["validUntil"] for code in listed] == ["2026-03-01T13:05:00.000Z"]
    clock.move(hours=1, minutes=6)
    wire.amend = seen_late("r2")
    assert await codes.verify(api, digits, "a1") == "DENIED"
