"""Servers on machines whose clocks are wrong: they use the store's time, and write nothing before they know it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

from domain.access_codes import Lockout
from domain.times import Instant, shift
from loaders.table.clock import StoreClock
from loaders.table.health import StoreHealth
from server.http.health import Readiness
from tests.api import CREATE_RESERVATION, Api, mutation
from tests.codes import PROVISION, Device, create, furnish, verify, wrong
from tests.conftest import NOW, Dump, OpenApi
from tests.invariants import check_invariants
from tests.principals import device
from tests.reservations import CANCEL, active
from tests.wire import WRITES, Call, Wire

CREATE_OWNER = mutation("createOwner", "owner { createdAt }")
BOB = {"ownerId": "bob", "kind": "USER", "name": "Bob"}


class StoreTime:
    """The time of the store, which passes only if the test says so: half past a second."""

    def __init__(self, open_api: OpenApi) -> None:
        self.now = 1_772_366_400.5
        self._open_api = open_api

    def __call__(self) -> float:
        return self.now

    def server(self, minutes: float, **settings: Any) -> AbstractAsyncContextManager[Api]:
        """A server on a machine whose clock is so far ahead of the store's."""
        clock = StoreClock(lambda: self.now - 1e9, lambda: self.now + 60 * minutes)
        return self._open_api(readiness=Readiness(StoreHealth(clock=clock)), server_clock=None, **settings)

    @asynccontextmanager
    async def apart(self) -> AsyncIterator[tuple[Api, Api]]:
        """Two servers whose machines are four minutes apart."""
        async with self.server(-1) as slow, self.server(3) as fast:
            yield slow, fast


@pytest.fixture
def time(wire: Wire, open_api: OpenApi) -> StoreTime:
    wire.now = made = StoreTime(open_api)
    return made


async def ready(api: Api) -> tuple[int, str]:
    response = await api.client.get("/ready")
    return response.status_code, response.text


async def test_two_servers_hide_no_live_reservation_from_each_other(time: StoreTime, dump: Dump) -> None:
    async with time.apart() as (slow, fast):
        assert await ready(slow) == await ready(fast) == (200, "ready")
        await slow.owner("ada")
        await slow.locker("l1", "ada")
        end = shift(NOW, timedelta(minutes=1))  # it has ended by the machine's clock of the fast server only
        await slow.reservation("now", "l1", "ada", shift(NOW, timedelta(hours=-1)), end)
        later = [shift(NOW, timedelta(hours=hours)) for hours in (1, 2, 3)]
        await fast.reservation("later", "l1", "ada", later[0], later[1])
        await fast.reservation("last", "l1", "ada", later[1], later[2])
        assert (await fast.mutate(CANCEL, lockerId="l1", reservationId="last"))["userErrors"] == []
        assert await active(fast) == await active(slow) == "now"
        overlap = await fast.mutate(
            CREATE_RESERVATION, lockerId="l1", ownerId="ada", startAt=shift(end, timedelta(seconds=-1)), endAt=later[0]
        )
        assert [error["code"] for error in overlap["userErrors"]] == ["RESERVATION_OVERLAP"]
        check_invariants(await dump(), NOW)


async def test_a_repeated_attempt_gets_the_same_answer_from_both_servers(time: StoreTime) -> None:
    async with time.apart() as (slow, fast):
        await furnish(slow)
        for first, second in ((slow, fast), (fast, slow)):
            name = "one" if first is slow else "two"
            digits = await create(first, name, "ONE_TIME")
            assert await verify(first, digits, name) == "GRANTED"
            time.now += 20
            assert await verify(second, digits, name) == await verify(first, digits, name) == "GRANTED"
            time.now += 20
            assert await verify(second, digits, name) == await verify(first, digits, name) == "DENIED"


async def test_a_door_is_locked_for_as_long_at_both_servers(time: StoreTime) -> None:
    async with time.apart() as (slow, fast):
        await furnish(slow)
        digits = await create(slow, "one")
        for number in range(5):
            await verify(slow if number % 2 else fast, wrong(digits), f"guess-{number}")
        time.now += 5 * 60 - 5
        assert await verify(slow, digits, "early") == await verify(fast, digits, "early") == "LOCKED_OUT"
        time.now += 10
        assert await verify(fast, digits, "fast") == await verify(slow, digits, "slow") == "GRANTED"


async def test_a_new_code_of_one_server_removes_no_code_that_is_valid_at_the_other(time: StoreTime) -> None:
    async with time.apart() as (slow, fast):
        await furnish(slow)
        key = (await slow.done(PROVISION, lockerId="l1", generation=1))["deviceKey"]
        until = shift(NOW, timedelta(minutes=2))
        soon = {f"soon-{number}" for number in range(49)}
        for code_id in sorted(soon):
            await create(slow, code_id, "ONE_TIME", validUntil=until)
        await create(slow, "fiftieth", "ONE_TIME")
        refused = await fast.mutate(
            mutation("createAccessCode", "digits"), lockerId="l1", codeId="one-more", kind="ONE_TIME", validUntil=until
        )
        assert [error["code"] for error in refused["userErrors"]] == ["TOO_MANY_ACCESS_CODES"]
        listed = await Device(fast.by(device("l1")), key, lockerId="l1").listed()
        assert {code["codeId"] for code in listed["codes"]} == {*soon, "fiftieth"}
        time.now += 180
        await create(fast, "one-more", "ONE_TIME")


def test_an_attacker_has_395_guesses_a_day_at_servers_whose_times_are_as_far_apart_as_they_can_be() -> None:
    door, guesses, lockouts = Lockout(), 0, 2
    for second in range(0, 86_400, 4):
        now = shift(NOW, timedelta(seconds=second))
        times = [now, shift(now, timedelta(seconds=4))]
        while times:  # guesses at the server that is behind, as long as it does not lock the door too often
            after = door.after_failure(times[0])
            is_locking = not after.failures
            if door.is_locked(times[0]) or (is_locking and not lockouts):
                del times[0]
            else:
                door, guesses, lockouts = after, guesses + 1, lockouts - is_locking
    assert guesses <= 395


@pytest.mark.parametrize(("minutes", "direction"), [(900, "ahead of"), (-15, "behind")])
async def test_a_machine_whose_clock_is_hours_off_serves_with_the_stores_time_and_tells_it(
    time: StoreTime, minutes: int, direction: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with time.server(minutes, metrics="on") as api:
        assert await ready(api) == (200, "ready")
        created = (await api.done(CREATE_OWNER, **BOB))["owner"]["createdAt"]
        assert shift(NOW, timedelta(seconds=-2)) <= created <= shift(NOW, timedelta(seconds=2))
        (skew,) = [
            float(line.split()[1])
            for line in (await api.client.get("/metrics")).text.splitlines()
            if line.startswith("smartlocker_store_clock_skew_seconds ")
        ]
        assert skew == pytest.approx(60 * minutes, abs=2)
        async with asyncio.timeout(60):
            while not caplog.messages:  # noqa: ASYNC110  # the watch has no event
                await asyncio.sleep(0.05)
    (told,) = caplog.messages
    assert told.endswith(f"seconds {direction} the store's: the server uses the store's time")


async def test_no_write_reaches_the_store_before_its_time_is_known(time: StoreTime, wire: Wire, dump: Dump) -> None:
    def answer_late(_: Call) -> None:
        time.now += 10

    wire.fault = answer_late
    async with time.server(0) as api:
        assert await ready(api) == (503, "clock unknown")
        answer = await api.send(CREATE_OWNER, input=BOB)
        (error,) = answer["errors"]
        assert error["extensions"]["code"] == "UNAVAILABLE"
        assert "until the server knows the store's time" in error["message"]
        assert await api.run("{ locations { nodes { name } } }") == {"locations": {"nodes": []}}
        assert not WRITES & set(wire.operations)
        assert await dump() == {}
        wire.fault = lambda _: None
        async with asyncio.timeout(60):
            while await ready(api) != (200, "ready"):  # noqa: ASYNC110  # as above
                await asyncio.sleep(0.05)
        await api.done(CREATE_OWNER, **BOB)


async def test_a_server_whose_first_answer_was_slow_starts_with_the_time_of_the_next(
    time: StoreTime, wire: Wire
) -> None:
    def answer_first_late(_: Call) -> None:
        time.now += 10 if len(wire.calls) == 1 else 0

    wire.fault = answer_first_late
    async with time.server(0) as api:
        assert await ready(api) == (200, "ready")


async def test_if_the_store_tells_no_time_the_machines_clock_is_used(time: StoreTime, wire: Wire) -> None:
    wire.now = lambda: None
    async with time.server(15, metrics="on") as api:
        assert await ready(api) == (200, "ready")
        created = (await api.done(CREATE_OWNER, **BOB))["owner"]["createdAt"]
        assert created[:16] == Instant("2026-03-01T12:15:00.000Z")[:16]
        assert "smartlocker_store_clock_skew_seconds " not in (await api.client.get("/metrics")).text
