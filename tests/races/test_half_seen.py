"""A transaction's items become visible one by one: the guard is new, and the reservation or pointer is still old."""

from __future__ import annotations

import copy
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from loaders.table.values import item_to_wire
from tests import codes
from tests.api import CREATE_RESERVATION, unchanged
from tests.conftest import NOW
from tests.invariants import check_invariants
from tests.races.test_reservations import CANCEL, EXTEND, hours, prepare

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.conftest import Clock
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
    """What was asked of the store, but for the slots of the owner."""
    return Counter(
        call.operation for call in wire.calls if "SLOT#" not in str(call.request.get("ExpressionAttributeValues"))
    )


def at(hour: str) -> str:
    """A full hour of the day on which everything here happens."""
    return f"2026-03-02T{hour}:00:00.000Z"


@pytest_asyncio.fixture
async def booked(api: Api, wire: Wire) -> Api:
    """A locker with a reservation from 1 to 2 and, made last, one from 3 to 4."""
    await prepare(api)
    await api.reservation("r1", "l1", "ada", at("01"), at("02"))
    await api.reservation("r2", "l1", "ada", at("03"), at("04"))
    wire.reset()
    return api


async def create(api: Api, start: float, end: float) -> dict[str, Any]:
    content = {"reservationId": "new", "lockerId": "l1", "ownerId": "ada"}
    return await api.mutate(CREATE_RESERVATION, **content, **hours(start, end))


def refused(payload: dict[str, Any]) -> list[str]:
    return [error["code"] for error in payload["userErrors"]]


async def test_a_window_that_the_last_change_took_is_not_given_again_though_a_query_does_not_show_it(
    booked: Api, wire: Wire, dump: Callable[[], Any]
) -> None:
    async with unchanged(dump):
        wire.amend = seen_late("r2")
        payload = await create(booked, 3.5, 5)
        assert (refused(payload), payload["userErrors"][0]["reservation"]) == (
            ["RESERVATION_OVERLAP"],
            {"reservationId": "r2"},
        )
        assert sent(wire) == {"BatchGetItem": 2, "Query": 2}


async def test_a_window_that_the_last_change_took_by_an_extension_is_not_given_though_a_query_shows_the_old_end(
    booked: Api, wire: Wire, dump: Callable[[], Any]
) -> None:
    await booked.mutate(EXTEND, lockerId="l1", reservationId="r2", newEndAt=at("06"))
    async with unchanged(dump):
        wire.reset()
        wire.amend = seen_late("r2", endAt=at("04"))
        assert refused(await create(booked, 4, 5)) == ["RESERVATION_OVERLAP"]
        assert sent(wire) == {"BatchGetItem": 2, "Query": 2}


async def test_a_window_beside_a_last_change_that_is_seen_late_is_given(
    booked: Api, wire: Wire, dump: Callable[[], Any]
) -> None:
    wire.amend = seen_late("r2", times=3)
    payload = await create(booked, 4, 5)
    assert (payload["reservation"]["reservationId"], payload["userErrors"]) == ("new", [])
    assert sent(wire) == {"BatchGetItem": 4, "Query": 4, "TransactWriteItems": 1}
    items = await dump()
    assert items["LOCKER#l1", f"RES#{at('04')}#new"]["revision"] == 3
    guard = items["LOCKER#l1", "GUARD#RES"]
    assert guard == {
        "PK": "LOCKER#l1",
        "SK": "GUARD#RES",
        "entityType": "RESERVATION_GUARD",
        "revision": 3,
        "changedStartAt": at("04"),
        "changedReservationId": "new",
        "changedRevision": 3,
        "hasLive": True,
    }
    check_invariants(items, NOW)


async def test_a_last_change_outside_of_what_a_write_reads_is_not_waited_for(booked: Api, wire: Wire) -> None:
    await booked.reservation("far", "l1", "ada", "2026-05-02T00:00:00Z", "2026-05-02T01:00:00Z")
    wire.reset()
    assert refused(await create(booked, 4, 5)) == []
    assert sent(wire) == {"BatchGetItem": 1, "Query": 1, "TransactWriteItems": 1}


async def test_an_extension_into_the_last_change_is_refused_though_a_query_does_not_show_it(
    booked: Api, wire: Wire, dump: Callable[[], Any]
) -> None:
    async with unchanged(dump):
        wire.amend = seen_late("r2")
        payload = await booked.mutate(EXTEND, lockerId="l1", reservationId="r1", newEndAt=at("05"))
        assert payload == {"reservation": None, "userErrors": [{"code": "RESERVATION_OVERLAP"}]}
        assert sent(wire) == {"BatchGetItem": 2, "GetItem": 2, "Query": 2}


async def test_an_extension_over_what_was_cancelled_last_is_made_though_a_query_shows_it_live(
    booked: Api, wire: Wire, dump: Callable[[], Any]
) -> None:
    live = item_to_wire((await dump())["LOCKER#l1", f"LIVE#{at('03')}#r2"])
    await booked.mutate(CANCEL, lockerId="l1", reservationId="r2")
    wire.reset()
    left = [live]

    def still_live(call: Call) -> None:
        if call.operation == "Query" and "LIVE#" in str(call.request) and left:
            call.response |= {"Items": [left.pop()], "Count": 1}

    wire.amend = still_live
    payload = await booked.mutate(EXTEND, lockerId="l1", reservationId="r1", newEndAt=at("05"))
    assert payload == {"reservation": {"endAt": at("05")}, "userErrors": []}
    assert sent(wire) == {"BatchGetItem": 2, "GetItem": 2, "Query": 2, "TransactWriteItems": 1}
    check_invariants(await dump(), NOW)


async def test_a_cancellation_moves_the_pointer_to_the_last_change_though_a_query_does_not_show_it(
    booked: Api, wire: Wire, dump: Callable[[], Any]
) -> None:
    wire.amend = seen_late("r2")
    payload = await booked.mutate(CANCEL, lockerId="l1", reservationId="r1")
    assert payload == {"reservation": {"status": "CANCELLED"}, "userErrors": []}
    assert sent(wire) == {"BatchGetItem": 2, "GetItem": 2, "Query": 4, "TransactWriteItems": 1}
    items = await dump()
    assert items[POINTER]["reservationId"] == "r2"
    check_invariants(items, NOW)


async def test_a_cancellation_moves_the_pointer_to_the_last_change_as_it_is_and_not_as_it_was(
    booked: Api, wire: Wire, dump: Callable[[], Any]
) -> None:
    await booked.mutate(EXTEND, lockerId="l1", reservationId="r2", newEndAt=at("06"))
    wire.reset()
    wire.amend = seen_late("r2", endAt=at("04"))
    payload = await booked.mutate(CANCEL, lockerId="l1", reservationId="r1")
    assert payload == {"reservation": {"status": "CANCELLED"}, "userErrors": []}
    assert sent(wire) == {"BatchGetItem": 2, "GetItem": 2, "Query": 4, "TransactWriteItems": 1}
    items = await dump()
    assert (items[POINTER]["reservationId"], items[POINTER]["endAt"]) == ("r2", at("06"))
    check_invariants(items, NOW)


@pytest.mark.parametrize("older", [{}, {"endAt": at("04")}], ids=["not yet there", "in its older revision"])
async def test_a_write_repairs_an_ended_pointer_to_the_last_change_though_a_query_shows_it_late(
    booked: Api, wire: Wire, clock: Clock, dump: Callable[[], Any], older: dict[str, str]
) -> None:
    await booked.mutate(EXTEND, lockerId="l1", reservationId="r2", newEndAt=at("06"))
    clock.move(hours=17)  # five in the morning
    wire.reset()
    wire.amend = seen_late("r2", 1, **older)
    assert refused(await create(booked, 8, 9)) == []
    items = await dump()
    assert (items[POINTER]["reservationId"], items[POINTER]["endAt"]) == ("r2", at("06"))
    assert items[POINTER]["lastEndAt"] == at("09")
    check_invariants(items, clock.now)


async def test_a_pointer_that_is_seen_late_is_never_written_back(
    booked: Api, wire: Wire, dump: Callable[[], Any]
) -> None:
    before = (await dump())[POINTER]
    await booked.mutate(EXTEND, lockerId="l1", reservationId="r1", newEndAt=at("03"))
    assert (await dump())[POINTER]["endAt"] == at("03")
    wire.reset()
    wire.amend = pointer_seen_late(before)
    assert refused(await create(booked, 5, 6)) == []
    assert sent(wire) == {"BatchGetItem": 2, "Query": 2, "TransactWriteItems": 2}
    items = await dump()
    assert (items[POINTER]["endAt"], items[POINTER]["lastEndAt"]) == (at("03"), at("06"))
    check_invariants(items, NOW)


async def test_a_latest_end_that_is_seen_late_is_never_lowered(
    booked: Api, wire: Wire, dump: Callable[[], Any]
) -> None:
    before = (await dump())[POINTER]
    await booked.reservation("far", "l1", "ada", at("20"), at("21"))
    wire.reset()
    wire.amend = pointer_seen_late(before)
    assert refused(await create(booked, 5, 6)) == []
    assert (wire.operations["BatchGetItem"], wire.operations["TransactWriteItems"]) == (2, 2)
    assert (await dump())[POINTER]["lastEndAt"] == at("21")


async def test_a_repeat_whose_claim_is_seen_before_its_reservation_gets_the_first_result(
    booked: Api, wire: Wire
) -> None:
    first = await create(booked, 5, 6)
    wire.reset()
    wire.amend = unseen(f"RES#{at('05')}#new", times=2)
    assert await create(booked, 5, 6) == first
    assert sent(wire) == {"BatchGetItem": 1, "GetItem": 3}


@pytest.mark.parametrize(
    ("change", "values"), [(CANCEL, {}), (EXTEND, {"newEndAt": at("05")})], ids=["cancel", "extend"]
)
async def test_a_change_of_a_reservation_whose_claim_is_seen_first_is_made(
    booked: Api, wire: Wire, dump: Callable[[], Any], change: str, values: dict[str, str]
) -> None:
    wire.amend = unseen(f"RES#{at('03')}#r2", times=2)
    payload = await booked.mutate(change, lockerId="l1", reservationId="r2", **values)
    assert payload["userErrors"] == []
    assert (wire.operations["BatchGetItem"], wire.operations["GetItem"]) == (1, 3)
    check_invariants(await dump(), NOW)


async def test_a_repeat_of_an_event_whose_claim_is_seen_first_gets_the_first_result(
    booked: Api, wire: Wire, clock: Clock
) -> None:
    first = await booked.event("l1", eventId="e")
    clock.move(seconds=1)
    wire.reset()
    wire.amend = unseen(f"EVT#{NOW}#e", times=2)
    assert await booked.event("l1", eventId="e") == first
    assert sent(wire) == {"GetItem": 4, "TransactWriteItems": 1}


async def test_a_claim_whose_reservation_never_comes_is_damage_and_not_an_overlap(booked: Api, wire: Wire) -> None:
    await create(booked, 5, 6)
    wire.reset()
    wire.amend = unseen(f"RES#{at('05')}#new", times=5)
    answer = await booked.send(
        CREATE_RESERVATION, input={"reservationId": "new", "lockerId": "l1", "ownerId": "ada", **hours(5, 6)}
    )
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["INTERNAL_SERVER_ERROR"]
    assert sent(wire) == {"BatchGetItem": 1, "GetItem": 5}


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


async def test_a_grace_period_ends_at_a_reservation_though_a_query_does_not_show_it(
    api: Api, wire: Wire, clock: Clock
) -> None:
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
