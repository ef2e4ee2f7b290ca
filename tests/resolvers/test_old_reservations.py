"""Reservations that other programs wrote, without claims, copies and guard: writes bring them to today's form."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from tests.api import mutation, refused, user_error
from tests.conftest import NOW
from tests.invariants import check_invariants, live_reservations
from tests.old_items import put
from tests.principals import owner
from tests.wire import Answer

if TYPE_CHECKING:
    from tests.api import Api
    from tests.conftest import Dump
    from tests.wire import Call, Wire

FIELDS = "reservationId startAt endAt status"
CREATE, CANCEL, RELEASE, EXTEND = (
    mutation(f"{verb}Reservation", f"reservation {{ {FIELDS} }}") for verb in ("create", "cancel", "release", "extend")
)


def old(reservation_id: str, start: str, end: str, status: str = "ACTIVE") -> dict[str, Any]:
    return {
        "PK": "LOCKER#l1",
        "SK": f"RES#{start}#{reservation_id}",
        "entityType": "RESERVATION",
        "reservationId": reservation_id,
        "ownerId": "ada",
        "startAt": start,
        "endAt": end,
        "status": status,
    }


def pointer(reservation: dict[str, Any]) -> dict[str, Any]:
    names = ("reservationId", "ownerId", "startAt", "endAt")
    rest = {"SK": "RES#ACTIVE", "entityType": "RESERVATION_ACTIVE", "updatedAt": "2026-02-01T00:00:00Z"}
    return {"PK": "LOCKER#l1", **{name: reservation[name] for name in names}, **rest}


RUNNING = old("running", "2026-03-01T11:00:00Z", "2026-03-01T13:00:00Z")
NEXT = old("next", "2026-03-02T10:00:00Z", "2026-03-02T12:00:00Z")
OVER = old("over", "2026-01-01T10:00:00Z", "2026-01-01T12:00:00Z", "EXPIRED")
EXACT = old("exact", "2026-03-03T10:00:00.000Z", "2026-03-03T12:00:00.000Z")
OLD = [OVER, RUNNING, NEXT, EXACT, pointer(RUNNING)]


@pytest_asyncio.fixture
async def locker(api: Api, plain_client: Any, table: str) -> Api:
    """A locker with four reservations and a pointer that another program wrote."""
    for owner_id in ("ada", "eve"):
        await api.owner(owner_id)
    await api.locker("l1", "ada")
    await put(plain_client, table, *OLD)
    return api


def wanted(reservation_id: str, start: str, end: str) -> dict[str, str]:
    return {"lockerId": "l1", "reservationId": reservation_id, "ownerId": "ada", "startAt": start, "endAt": end}


async def test_a_reservation_beside_older_ones_is_created_and_brings_them_to_todays_form(
    locker: Api, dump: Dump
) -> None:
    new = wanted("new", "2026-03-01T13:00:00Z", "2026-03-02T10:00:00Z")  # exactly between two older ones
    payload = await locker.mutate(CREATE, **new)
    assert payload["userErrors"] == []
    items = await dump()
    check_invariants(items, NOW)
    names = ["over", "running", "new", "next", "exact"]
    assert [item["reservationId"] for item in live_reservations(items, "l1")] == names
    assert "hasOld" not in items["LOCKER#l1", "GUARD#RES"]
    assert items["LOCKER#l1", "RES#ACTIVE"]["lastEndAt"] == "2026-03-03T12:00:00.000Z"
    assert [sk for _, sk in items if sk.startswith("RES#") and ".000Z#" not in sk and sk != "RES#ACTIVE"] == []


@pytest.mark.parametrize(
    ("start", "end"),
    [("2026-03-01T12:59:59.999Z", "2026-03-01T14:00:00Z"), ("2026-03-02T09:00:00Z", "2026-03-02T10:00:00.001Z")],
)
async def test_a_window_that_overlaps_an_older_reservation_is_refused(locker: Api, start: str, end: str) -> None:
    payload = await locker.mutate(CREATE, **wanted("new", start, end))
    (error,) = payload["userErrors"]
    assert (error["code"], error["status"]) == ("RESERVATION_OVERLAP", 409)


async def test_the_id_of_an_older_reservation_is_taken_but_for_its_own_content(locker: Api, dump: Dump) -> None:
    payload = await locker.mutate(CREATE, **wanted("over", "2026-04-01T10:00:00Z", "2026-04-01T12:00:00Z"))
    message = "The id over was used before, for another reservation of this locker."
    assert payload == {"reservation": None, "userErrors": [user_error("ID_TAKEN", message, 409, "reservationId")]}
    payload = await locker.mutate(CREATE, **wanted("next", "2026-03-02T10:00:00Z", "2026-03-02T12:00:00Z"))
    assert (payload["reservation"]["reservationId"], payload["userErrors"]) == ("next", [])
    check_invariants(await dump(), NOW)


@pytest.mark.parametrize("reservation_id", ["next", "exact"])
async def test_an_older_reservation_is_cancelled(locker: Api, dump: Dump, reservation_id: str) -> None:
    payload = await locker.mutate(CANCEL, lockerId="l1", reservationId=reservation_id)
    assert (payload["reservation"]["status"], payload["userErrors"]) == ("CANCELLED", [])
    items = await dump()
    check_invariants(items, NOW)
    assert reservation_id not in [item["reservationId"] for item in live_reservations(items, "l1")]


async def test_an_older_reservation_is_extended_and_found_by_its_id(locker: Api, dump: Dump) -> None:
    payload = await locker.mutate(EXTEND, lockerId="l1", reservationId="running", newEndAt="2026-03-01T14:00:00Z")
    assert payload["userErrors"] == []
    data = await locker.run('{ reservation(lockerId: "l1", reservationId: "running") { endAt } }')
    assert data == {"reservation": {"endAt": "2026-03-01T14:00:00.000Z"}}
    check_invariants(await dump(), NOW)


async def test_neither_a_stranger_nor_another_id_changes_anything_of_older_reservations(
    locker: Api, dump: Dump
) -> None:
    for caller, reservation_id, code in ((locker.by(owner("eve")), "next", "FORBIDDEN"), (locker, "nope", "NOT_FOUND")):
        payload = await refused(caller, dump, CANCEL, lockerId="l1", reservationId=reservation_id)
        assert [error["code"] for error in payload["userErrors"]] == [code]


async def test_a_pointer_to_nothing_does_not_stop_reservations(
    locker: Api, plain_client: Any, table: str, dump: Dump
) -> None:
    for item in OLD[:4]:
        key = {"PK": {"S": item["PK"]}, "SK": {"S": item["SK"]}}
        await plain_client.delete_item(TableName=table, Key=key)
    payload = await locker.mutate(CREATE, **wanted("new", "2026-03-01T12:00:00Z", "2026-03-01T14:00:00Z"))
    assert payload["userErrors"] == []
    check_invariants(await dump(), NOW)


async def test_an_older_pointer_beside_a_guard_does_not_stop_reservations(
    locker: Api, plain_client: Any, table: str, dump: Dump
) -> None:
    await locker.mutate(CREATE, **wanted("a", "2026-03-01T13:00:00Z", "2026-03-01T14:00:00Z"))
    await put(plain_client, table, pointer(RUNNING))
    for document, values in (
        (CREATE, wanted("b", "2026-03-01T15:00:00Z", "2026-03-01T16:00:00Z")),
        (RELEASE, {"lockerId": "l1", "reservationId": "running"}),
    ):
        assert (await locker.mutate(document, **values))["userErrors"] == []
    assert (await dump())["LOCKER#l1", "RES#ACTIVE"]["reservationId"] == "a"


@pytest.mark.parametrize("reservation_id", ["next", "exact"])
async def test_an_upgrade_that_was_interrupted_is_finished_by_the_next_write(
    locker: Api, wire: Wire, dump: Dump, reservation_id: str
) -> None:
    writes = 0

    def fail(call: Call) -> Answer | None:
        nonlocal writes
        writes += call.operation == "TransactWriteItems"
        return Answer.error("AccessDeniedException") if writes > 2 else None

    wire.fault = fail
    await locker.send(CREATE, input=wanted("new", "2026-03-01T13:00:00Z", "2026-03-01T14:00:00Z"))
    wire.reset()
    assert (await dump())["LOCKER#l1", "GUARD#RES"]["hasOld"] is True
    payload = await locker.mutate(CANCEL, lockerId="l1", reservationId=reservation_id)
    assert payload["userErrors"] == []
    items = await dump()
    check_invariants(items, NOW)
    assert "hasOld" not in items["LOCKER#l1", "GUARD#RES"]


async def test_many_writers_upgrade_once(locker: Api, dump: Dump) -> None:
    windows = [(f"n{hour}", f"2026-03-05T{hour:02d}:00:00Z", f"2026-03-05T{hour + 1:02d}:00:00Z") for hour in range(4)]
    payloads = await asyncio.gather(
        *(locker.mutate(CREATE, **wanted(*window)) for window in windows),
        locker.mutate(CANCEL, lockerId="l1", reservationId="next"),
    )
    assert all(not payload["userErrors"] for payload in payloads)
    items = await dump()
    check_invariants(items, NOW)
    assert len(live_reservations(items, "l1")) == 3 + len(windows)
