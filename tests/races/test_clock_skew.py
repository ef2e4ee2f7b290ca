"""Two servers whose clocks differ: neither hides a reservation that the other still sees as active."""

from typing import Any

import pytest
import pytest_asyncio

from tests.api import CREATE_RESERVATION, Api, unchanged
from tests.conftest import Clock, Dump, OpenApi
from tests.invariants import check_invariants
from tests.reservations import CANCEL, EXTEND, RELEASE, START, active

POINTER = ("LOCKER#l1", "RES#ACTIVE")
NEXT = {"lockerId": "l1", "ownerId": "ada", "startAt": "2026-03-01T15:00:00Z", "endAt": "2026-03-01T16:00:00Z"}
WRITES = {
    "create": (CREATE_RESERVATION, NEXT),
    "cancel": (CANCEL, {"lockerId": "l1", "reservationId": "later"}),
    "extend": (EXTEND, {"lockerId": "l1", "reservationId": "later", "newEndAt": "2026-03-01T20:30:00Z"}),
}


@pytest_asyncio.fixture
async def ending(one: Api, clock: Clock) -> Api:
    """A locker that is reserved until one o'clock, and in the evening; it is two seconds before one."""
    await one.reservation("now", "l1", "ada", "2026-03-01T12:00:00Z", "2026-03-01T13:00:00Z")
    await one.reservation("later", "l1", "ada", "2026-03-01T19:00:00Z", "2026-03-01T20:00:00Z")
    clock.move(minutes=59, seconds=58)
    return one


@pytest.mark.parametrize("write", WRITES)
async def test_a_write_of_a_server_four_seconds_ahead_hides_no_reservation(
    ending: Api, clock: Clock, dump: Dump, write: str
) -> None:
    clock.move(seconds=4)
    assert await active(ending) is None
    document, values = WRITES[write]
    assert (await ending.mutate(document, **values))["userErrors"] == []
    clock.move(seconds=-4)
    assert await active(ending) == "now"
    items = await dump()
    assert items[POINTER]["reservationId"] == "now"
    check_invariants(items, clock.now)


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("moves", [False, True], ids=["ten seconds", "just over ten seconds"])
async def test_a_write_repairs_a_pointer_that_ended_longer_ago_than_clocks_differ(
    ending: Api, clock: Clock, dump: Dump, write: str, *, moves: bool
) -> None:
    clock.move(seconds=12, milliseconds=-1 if not moves else 0)
    document, values = WRITES[write]
    assert (await ending.mutate(document, **values))["userErrors"] == []
    items = await dump()
    becomes = {"create": "2026-03-01T15:00:00.000Z", "cancel": None, "extend": "2026-03-01T19:00:00.000Z"}
    expected = becomes[write] if moves else "2026-03-01T12:00:00.000Z"
    assert items.get(POINTER, {}).get("startAt") == expected
    check_invariants(items, clock.now)


async def test_a_reservation_is_extended_by_a_slow_server_after_a_fast_one_saw_its_end(
    ending: Api, clock: Clock, dump: Dump
) -> None:
    clock.move(seconds=4)
    assert (await ending.mutate(CREATE_RESERVATION, **NEXT))["userErrors"] == []
    clock.move(seconds=-4)
    extended = await ending.mutate(EXTEND, lockerId="l1", reservationId="now", newEndAt="2026-03-01T14:00:00Z")
    assert extended["userErrors"] == []
    clock.move(seconds=4)
    assert await active(ending) == "now"
    assert (await dump())[POINTER]["endAt"] == "2026-03-01T14:00:00.000Z"
    check_invariants(await dump(), clock.now)


async def test_a_slot_that_a_fast_server_took_is_neither_kept_nor_freed_by_a_slow_one(
    open_api: OpenApi, dump: Dump, clock: Clock
) -> None:
    def codes(payload: dict[str, Any]) -> list[str]:
        return [error["code"] for error in payload["userErrors"]]

    now = {"lockerId": "l1", "reservationId": "now"}
    async with open_api(max_live_reservations=1) as api:
        await api.owner("ada")
        await api.locker("l1", "ada")
        await api.reservation("now", "l1", "ada", "2026-03-01T12:00:00Z", "2026-03-01T13:00:00Z")
        clock.move(minutes=59, seconds=58)
        assert codes(await api.mutate(CREATE_RESERVATION, **NEXT)) == ["TOO_MANY_RESERVATIONS"]
        clock.move(seconds=4)
        assert codes(await api.mutate(CREATE_RESERVATION, **NEXT)) == []
        clock.move(seconds=-4)
        check_invariants(await dump(), clock.now)
        async with unchanged(dump):
            assert codes(await api.mutate(EXTEND, **now, newEndAt="2026-03-01T14:00:00Z")) == ["RESERVATION_OVER"]
        assert codes(await api.mutate(RELEASE, **now)) == []
        late = NEXT | {"startAt": "2026-03-01T17:00:00Z", "endAt": "2026-03-01T18:00:00Z"}
        assert codes(await api.mutate(CREATE_RESERVATION, **late)) == ["TOO_MANY_RESERVATIONS"]
        check_invariants(await dump(), clock.now)


async def test_a_check_in_by_a_fast_server_holds_for_a_slow_one(ending: Api, clock: Clock, dump: Dump) -> None:
    later = {"lockerId": "l1", "reservationId": "later"}
    clock.now = type(clock.now)("2026-03-01T19:00:02.000Z")
    started = await ending.done(START, **later)
    clock.move(seconds=-4)
    async with unchanged(dump):
        assert await ending.done(START, **later) == started
        (error,) = (await ending.mutate(CANCEL, **later))["userErrors"]
        assert error["code"] == "RESERVATION_STARTED"
    assert (await ending.done(RELEASE, **later))["reservation"] == {"status": "COMPLETED"}
    items = await dump()
    locker = items["LOCKER#l1", "META"]
    assert (locker["status"], "occupiedBy" in locker) == ("AVAILABLE", False)
    check_invariants(items, clock.now)


async def test_a_check_in_that_is_repeated_after_the_end_returns_the_reservation(
    ending: Api, clock: Clock, dump: Dump
) -> None:
    now = {"lockerId": "l1", "reservationId": "now"}
    started = await ending.done(START, **now)
    clock.move(seconds=4)
    async with unchanged(dump):
        assert await ending.done(START, **now) == started
