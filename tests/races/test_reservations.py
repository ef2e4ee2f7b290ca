import asyncio
import random

from tests.api import CREATE_RESERVATION, Api
from tests.conftest import NOW, Clock, Dump, OpenApi
from tests.invariants import check_invariants, live_reservations
from tests.races.holding import Held
from tests.reservations import ACTIVE, CANCEL, hours
from tests.wire import Wire


async def test_of_twenty_clients_that_race_for_a_window_one_wins(one: Api, open_api: OpenApi, dump: Dump) -> None:
    async with open_api() as second_server:
        for race in range(5):
            window = hours(race * 2, race * 2 + 1.5)
            servers = [one, second_server] * 10
            payloads = await asyncio.gather(
                *(server.mutate(CREATE_RESERVATION, lockerId="l1", ownerId="ada", **window) for server in servers)
            )
            codes = sorted(error["code"] for payload in payloads for error in payload["userErrors"])
            assert codes == ["RESERVATION_OVERLAP"] * 19
            (winner,) = [payload["reservation"] for payload in payloads if payload["reservation"]]
            in_the_way = {
                error["reservation"]["reservationId"] for payload in payloads for error in payload["userErrors"]
            }
            assert in_the_way == {winner["reservationId"]}
    items = await dump()
    assert len(live_reservations(items, "l1")) == 5
    check_invariants(items, NOW)


async def test_twenty_clients_with_windows_side_by_side_all_get_theirs(one: Api, dump: Dump) -> None:
    payloads = await asyncio.gather(
        *(
            one.mutate(CREATE_RESERVATION, lockerId="l1", ownerId="ada", **hours(number, number + 1))
            for number in random.sample(range(20), 20)
        )
    )
    assert [payload["userErrors"] for payload in payloads] == [[]] * 20
    items = await dump()
    assert len(live_reservations(items, "l1")) == 20
    assert items["LOCKER#l1", "GUARD#RES"]["revision"] == 20
    check_invariants(items, NOW)


async def test_a_repeat_that_meets_its_own_reservation_half_way_is_no_overlap(one: Api, wire: Wire) -> None:
    held = Held(lambda call: call.operation == "Query")
    wire.fault = held
    content = {"reservationId": "r", "lockerId": "l1", "ownerId": "ada", **hours(1, 2)}
    slow = asyncio.create_task(one.mutate(CREATE_RESERVATION, **content))
    await held.reached()
    fast = await one.mutate(CREATE_RESERVATION, **content)
    held.release()
    assert await slow == fast
    assert fast["userErrors"] == []


async def test_an_ended_pointer_that_writes_repair_at_once_is_right(one: Api, dump: Dump, clock: Clock) -> None:
    for number in range(8):
        day = f"2026-03-{number + 2:02d}"
        for name, start in (("a", "00"), ("b", "04")):
            await one.reservation(f"{name}{number}", "l1", "ada", f"{day}T{start}:00:00Z", f"{day}T{start}:30:00Z")
        later = {"startAt": f"{day}T20:00:00Z", "endAt": f"{day}T21:00:00Z"}
        sooner = {"startAt": f"{day}T10:00:00Z", "endAt": f"{day}T11:00:00Z"}
        clock.now = type(clock.now)(f"{day}T02:00:00.000Z")
        await asyncio.gather(
            one.mutate(CREATE_RESERVATION, lockerId="l1", ownerId="ada", **later),
            one.run(ACTIVE),
            one.mutate(CREATE_RESERVATION, lockerId="l1", ownerId="ada", **sooner),
            one.mutate(CANCEL, lockerId="l1", reservationId=f"b{number}"),
        )
        items = await dump()
        assert items["LOCKER#l1", "RES#ACTIVE"]["startAt"] == f"{day}T10:00:00.000Z"
        check_invariants(items, clock.now)
        clock.move(hours=21)
