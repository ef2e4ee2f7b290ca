from typing import Any

import pytest
import pytest_asyncio

from domain.times import Instant
from loaders.codecs import ACTIVE_POINTER
from loaders.table.values import item_to_wire
from tests.api import Api, unchanged
from tests.conftest import Clock, Dump, OpenApi
from tests.reservations import active
from tests.wire import Wire

ALL = '{ owner(ownerId: "ada") { lockers(first: 100) { nodes { lockerId activeReservation { endAt } } } } }'
POINTER = ("LOCKER#l1", "RES#ACTIVE")


def at(time: str) -> Instant:
    return Instant(f"2026-03-01T{time}:00.000Z")


@pytest_asyncio.fixture
async def booked(one: Api, wire: Wire) -> Api:
    """A locker that is reserved from 13 to 14 and from 15 to 16, at noon."""
    await one.reservation("r1", "l1", "ada", at("13:00"), at("14:00"))
    await one.reservation("r2", "l1", "ada", at("15:00"), at("16:00"))
    wire.reset()
    return one


@pytest.mark.parametrize(
    ("now", "expected", "queries"),
    [
        (Instant("2026-03-01T12:59:59.999Z"), None, 0),
        (at("13:00"), "r1", 0),
        (at("13:59"), "r1", 0),
        (at("14:00"), None, 1),
        (at("15:00"), "r2", 1),
        (at("15:59"), "r2", 1),
        (at("16:00"), None, 0),
        (at("23:00"), None, 0),
    ],
)
async def test_only_between_the_pointed_end_and_the_latest_end_is_a_query_sent_and_nothing_is_ever_written(
    booked: Api, wire: Wire, clock: Clock, dump: Dump, now: Instant, expected: str | None, queries: int
) -> None:
    assert (await dump())[POINTER]["reservationId"] == "r1"
    async with unchanged(dump):
        clock.now = now
        assert await active(booked) == expected
    assert (wire.operations["GetItem"], wire.operations["Query"], len(wire.calls)) == (2, queries, 2 + queries)


async def test_a_hundred_idle_lockers_whose_pointers_have_ended_are_one_batch_and_no_query_for_any(
    open_api: OpenApi, wire: Wire, clock: Clock, dump: Dump
) -> None:
    async with open_api(max_live_reservations=100) as api:
        await api.owner("ada")
        for number in range(100):
            await api.locker(f"l{number:03d}", "ada")
            await api.reservation(f"r{number}", f"l{number:03d}", "ada", at("12:00"), at("13:00"))
        clock.move(hours=1)
        async with unchanged(dump):
            wire.reset()
            nodes = (await api.run(ALL))["owner"]["lockers"]["nodes"]
            assert [node["activeReservation"] for node in nodes] == [None] * 100
            assert wire.operations == {"Query": 1, "BatchGetItem": 1}  # the list, and the pointers


async def test_a_pointer_of_an_older_version_is_searched_behind_until_a_write_repairs_it(
    booked: Api, wire: Wire, clock: Clock, plain_client: Any, table: str, dump: Dump
) -> None:
    pointer = (await dump())[POINTER]
    without = {name: value for name, value in pointer.items() if name != "lastEndAt"}
    await plain_client.put_item(TableName=table, Item=item_to_wire(without))
    assert ACTIVE_POINTER.decode(without).last_end_at is None
    clock.now = at("20:00")
    assert await active(booked) is None
    assert wire.operations == {"GetItem": 2, "Query": 1}
    await booked.reservation("r3", "l1", "ada", at("21:00"), at("22:00"))
    clock.now = at("22:00")
    wire.reset()
    assert await active(booked) is None
    assert wire.operations == {"GetItem": 2}
    clock.now = at("23:00")
    await booked.reservation("r4", "l1", "ada", at("23:30"), at("23:45"))
    assert (await dump())[POINTER]["reservationId"] == "r4"
