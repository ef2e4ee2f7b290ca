"""The reservation that is active now: from the pointer and, where the pointed one has ended, by a Query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest_asyncio

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.conftest import Clock
    from tests.wire import Wire

ACTIVE = '{ locker(lockerId: "l1") { activeReservation { reservationId status endAt } } }'
STATUSES = '{ locker(lockerId: "l1") { reservations { nodes { reservationId status } } } }'
MINE = '{ owner(ownerId: "ada") { reservations { nodes { reservationId status } } } }'
POINTER = ("LOCKER#l1", "RES#ACTIVE")


@pytest_asyncio.fixture
async def booked(api: Api) -> Api:
    """A locker that is reserved from 13 to 14 and from 15 to 16, at noon."""
    await api.owner("ada")
    await api.locker("l1", "ada")
    await api.reservation("r1", "l1", "ada", "2026-03-01T13:00:00Z", "2026-03-01T14:00:00Z")
    await api.reservation("r2", "l1", "ada", "2026-03-01T15:00:00Z", "2026-03-01T16:00:00Z")
    return api


async def active(api: Api) -> Any:
    found = (await api.run(ACTIVE))["locker"]["activeReservation"]
    return found and found["reservationId"]


async def test_a_locker_that_was_never_reserved_has_no_active_reservation(api: Api, wire: Wire) -> None:
    await api.owner("ada")
    await api.locker("l1", "ada")
    wire.reset()
    assert await active(api) is None
    assert wire.operations == {"GetItem": 2}


async def test_a_reservation_that_has_not_begun_is_not_active_though_the_pointer_names_it(
    booked: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    assert (await dump())[POINTER]["reservationId"] == "r1"
    assert await active(booked) is None
    clock.move(minutes=59, seconds=59, milliseconds=999)
    assert await active(booked) is None
    clock.move(milliseconds=1)
    assert await active(booked) == "r1"


async def test_a_new_reservation_before_the_pointed_one_takes_the_pointer(booked: Api, dump: Callable[[], Any]) -> None:
    await booked.reservation("r0", "l1", "ada", "2026-03-01T11:00:00Z", "2026-03-01T13:00:00Z")
    assert (await dump())[POINTER]["reservationId"] == "r0"
    assert await active(booked) == "r0"
    await booked.reservation("r9", "l1", "ada", "2026-03-01T20:00:00Z", "2026-03-01T21:00:00Z")
    assert (await dump())[POINTER]["reservationId"] == "r0"


async def test_a_reservation_expires_by_the_clock_alone(booked: Api, clock: Clock, dump: Callable[[], Any]) -> None:
    # given
    before = await dump()
    clock.move(hours=2)
    # when
    at_the_locker = (await booked.run(STATUSES))["locker"]["reservations"]["nodes"]
    with_the_owner = (await booked.run(MINE))["owner"]["reservations"]["nodes"]
    # then
    expected = [{"reservationId": "r1", "status": "EXPIRED"}, {"reservationId": "r2", "status": "UPCOMING"}]
    assert at_the_locker == with_the_owner == expected
    assert await dump() == before


async def test_the_pointer_is_in_no_list(booked: Api, wire: Wire) -> None:
    wire.reset()
    data = await booked.run(STATUSES)
    assert [node["reservationId"] for node in data["locker"]["reservations"]["nodes"]] == ["r1", "r2"]
    assert wire.of("Query")[0].response["Count"] == 2
