"""Reservations that other programs wrote, without claims, copies and guard: writes bring them to today's form."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from domain.authorization import Principal, Role
from domain.models import OwnerId
from tests.api import mutation, unchanged, user_error
from tests.conftest import NOW
from tests.invariants import check_invariants, live_reservations
from tests.old_items import put
from tests.wire import Answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.wire import Call, Wire

FIELDS = "reservationId startAt endAt status"
CREATE = mutation("createReservation", f"reservation {{ {FIELDS} }}")
CANCEL = mutation("cancelReservation", f"reservation {{ {FIELDS} }}")
RELEASE = mutation("releaseReservation", f"reservation {{ {FIELDS} }}")
EXTEND = mutation("extendReservation", f"reservation {{ {FIELDS} }}")


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
    for owner in ("ada", "eve"):
        await api.owner(owner)
    await api.locker("l1", "ada")
    await put(plain_client, table, *OLD)
    return api


def wanted(reservation_id: str, start: str, end: str) -> dict[str, str]:
    return {"lockerId": "l1", "reservationId": reservation_id, "ownerId": "ada", "startAt": start, "endAt": end}


async def test_a_reservation_beside_older_ones_is_created_and_brings_them_to_todays_form(
    locker: Api, dump: Callable[[], Any]
) -> None:
    new = wanted("new", "2026-03-01T13:00:00Z", "2026-03-02T10:00:00Z")  # exactly between two older ones
    payload = await locker.mutate(CREATE, **new)
    assert payload["userErrors"] == []
    items = await dump()
    check_invariants(items, NOW)
    assert [item["reservationId"] for item in live_reservations(items, "l1")] == [
        "over",
        "running",
        "new",
        "next",
        "exact",
    ]
    guard = items["LOCKER#l1", "GUARD#RES"]
    assert "hasOld" not in guard
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


async def test_the_id_of_an_older_reservation_is_taken(locker: Api, dump: Callable[[], Any]) -> None:
    payload = await locker.mutate(CREATE, **wanted("over", "2026-04-01T10:00:00Z", "2026-04-01T12:00:00Z"))
    message = "The id over was used before, for another reservation of this locker."
    assert payload == {
        "reservation": None,
        "userErrors": [user_error("ID_TAKEN", message, 409, "reservationId")],
    }
    check_invariants(await dump(), NOW)


async def test_an_older_reservation_is_returned_where_it_is_requested_again(locker: Api) -> None:
    payload = await locker.mutate(CREATE, **wanted("next", "2026-03-02T10:00:00Z", "2026-03-02T12:00:00Z"))
    assert payload["userErrors"] == []
    assert payload["reservation"]["reservationId"] == "next"


@pytest.mark.parametrize("reservation_id", ["next", "exact"])
async def test_an_older_reservation_is_cancelled(locker: Api, dump: Callable[[], Any], reservation_id: str) -> None:
    payload = await locker.mutate(CANCEL, lockerId="l1", reservationId=reservation_id)
    assert payload["userErrors"] == []
    assert payload["reservation"]["status"] == "CANCELLED"
    items = await dump()
    check_invariants(items, NOW)
    assert reservation_id not in [item["reservationId"] for item in live_reservations(items, "l1")]


async def test_an_older_reservation_is_extended_and_found_by_its_id(locker: Api, dump: Callable[[], Any]) -> None:
    payload = await locker.mutate(EXTEND, lockerId="l1", reservationId="running", newEndAt="2026-03-01T14:00:00Z")
    assert payload["userErrors"] == []
    data = await locker.run('{ reservation(lockerId: "l1", reservationId: "running") { endAt } }')
    assert data == {"reservation": {"endAt": "2026-03-01T14:00:00.000Z"}}
    check_invariants(await dump(), NOW)


async def test_a_stranger_changes_nothing_of_an_older_reservation(locker: Api, dump: Callable[[], Any]) -> None:
    eve = locker.by(Principal(subject="eve", role=Role.OWNER, owner_id=OwnerId("eve")))
    async with unchanged(dump):
        payload = await eve.mutate(CANCEL, lockerId="l1", reservationId="next")
    assert [error["code"] for error in payload["userErrors"]] == ["FORBIDDEN"]


async def test_a_reservation_that_does_not_exist_is_not_found_among_older_ones(
    locker: Api, dump: Callable[[], Any]
) -> None:
    async with unchanged(dump):
        payload = await locker.mutate(CANCEL, lockerId="l1", reservationId="nope")
    assert [error["code"] for error in payload["userErrors"]] == ["NOT_FOUND"]


async def test_a_pointer_to_nothing_does_not_stop_reservations(
    locker: Api, plain_client: Any, table: str, dump: Callable[[], Any]
) -> None:
    for item in OLD[:4]:
        key = {"PK": {"S": item["PK"]}, "SK": {"S": item["SK"]}}
        await plain_client.delete_item(TableName=table, Key=key)
    assert not (await locker.mutate(CREATE, **wanted("new", "2026-03-01T12:00:00Z", "2026-03-01T14:00:00Z")))[
        "userErrors"
    ]
    check_invariants(await dump(), NOW)


async def test_an_older_pointer_beside_a_guard_does_not_stop_reservations(
    locker: Api, plain_client: Any, table: str, dump: Callable[[], Any]
) -> None:
    await locker.mutate(CREATE, **wanted("a", "2026-03-01T13:00:00Z", "2026-03-01T14:00:00Z"))
    await put(plain_client, table, pointer(RUNNING))
    payload = await locker.mutate(CREATE, **wanted("b", "2026-03-01T15:00:00Z", "2026-03-01T16:00:00Z"))
    assert payload["userErrors"] == []
    payload = await locker.mutate(RELEASE, lockerId="l1", reservationId="running")
    assert payload["userErrors"] == []
    assert (await dump())["LOCKER#l1", "RES#ACTIVE"]["reservationId"] == "a"


@pytest.mark.parametrize("reservation_id", ["next", "exact"])
async def test_an_upgrade_that_was_interrupted_is_finished_by_the_next_write(
    locker: Api, wire: Wire, dump: Callable[[], Any], reservation_id: str
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


async def test_many_writers_upgrade_once(locker: Api, dump: Callable[[], Any]) -> None:
    windows = [(f"n{hour}", f"2026-03-05T{hour:02d}:00:00Z", f"2026-03-05T{hour + 1:02d}:00:00Z") for hour in range(4)]
    payloads = await asyncio.gather(
        *(locker.mutate(CREATE, **wanted(*window)) for window in windows),
        locker.mutate(CANCEL, lockerId="l1", reservationId="next"),
    )
    assert all(not payload["userErrors"] for payload in payloads)
    items = await dump()
    check_invariants(items, NOW)
    assert len(live_reservations(items, "l1")) == 3 + len(windows)
