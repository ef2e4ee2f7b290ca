"""Ends of reservations against everybody else: each gets exactly one of RELEASED, CANCELLED and ENDED."""

import asyncio
import random
from collections import Counter
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
import pytest_asyncio

from domain.activity import Change
from domain.times import Instant, shift
from loaders import keys
from loaders.backend import Backend
from loaders.writes.moments import end_due_reservations
from tests.api import UPDATE_STATUS, Api, mutation
from tests.conftest import Clock, Dump, OpenApi
from tests.invariants import check_invariants
from tests.logged import Items, activities, told
from tests.places import create_location, ulid
from tests.races.holding import Held
from tests.reservations import CANCEL, EXTEND, RELEASE, SHORTEN, START
from tests.wire import Call, Lose, Meeting, Twice, Wire

FINAL = {"RELEASED", "CANCELLED", "ENDED"}
CREATE = mutation("createReservation", "reservation { reservationId }")
R1: dict[str, Any] = {"lockerId": "l1", "reservationId": "r1"}


def at(hour: int, minute: int = 0, second: int = 0) -> Instant:
    return Instant(f"2026-03-01T{hour:02d}:{minute:02d}:{second:02d}.000Z")


async def sweep(backend: Backend, now: Instant) -> None:
    for shard in range(keys.LOG_SHARDS):
        while await end_due_reservations(backend, shard, now):
            pass


def is_end(call: Call) -> bool:
    return call.operation == "TransactWriteItems" and "SET #endedAs" in str(call.request)


@pytest_asyncio.fixture
async def reserved(api: Api, clock: Clock) -> Api:
    """Ada's locker, reserved by Bob from 12 to 14; it is eleven."""
    clock.now = at(11)
    for name in ("ada", "bob"):
        await api.owner(name)
    await create_location(api)
    await api.locker("l1", "ada", locationId=ulid(0))
    await api.reservation("r1", "l1", "bob", at(12), at(14))
    return api


RIVALS: dict[str, tuple[bool, str, dict[str, Any], list[str]]] = {
    "cancel": (False, CANCEL, R1, ["CANCELLED"]),
    "extend": (False, EXTEND, R1 | {"newEndAt": at(14, 30)}, ["CHANGED"]),
    "shorten": (False, SHORTEN, R1 | {"newEndAt": at(13)}, ["CHANGED"]),
    "start": (False, START, R1, ["STARTED"]),
    "release": (True, RELEASE, R1, ["RELEASED"]),
    "leave": (True, UPDATE_STATUS, {"lockerId": "l1", "newStatus": "AVAILABLE", "expectedVersion": 2}, []),
}
"""Whether the reservation is checked in before, the mutation, and what it does to the reservation."""


@pytest.mark.parametrize("rival", RIVALS)
async def test_a_change_that_is_late_finds_the_end_and_one_that_is_early_prevents_it(
    reserved: Api, backend: Backend, clock: Clock, wire: Wire, dump: Dump, rival: str
) -> None:
    """The change was decided before the end, and reaches the store after it was logged."""
    is_started, document, values, _ = RIVALS[rival]
    clock.now = at(11, 30) if rival == "cancel" else at(12, 30)
    if is_started:
        await reserved.done(START, **R1)
    held = Held(lambda call: call.operation == "TransactWriteItems")
    wire.fault = held
    change = asyncio.create_task(reserved.mutate(document, **values))
    await held.reached()
    clock.now = at(14, 1)
    await sweep(backend, clock.now)
    held.release()
    payload = await change
    items = await dump()
    before = ["CREATED", "STARTED"] if is_started else ["CREATED"]
    if is_started:
        # The locker is still occupied, so it can be left after the end: that is no end of the reservation.
        after = ["CHANGED"] if rival == "release" else []
        assert payload["userErrors"] == []
        assert told(items, "r1") == [*before, "ENDED", "OVERDUE", *after]
        last = next(one for one in reversed(activities(items)) if one.happening.kind == "locker.status_changed")
        assert Change("overdue", "true", "false") in last.happening.changes
        assert "overdueSince" not in items["LOCKER#l1", "META"]
    else:
        assert [error["code"] for error in payload["userErrors"]] == ["RESERVATION_OVER"]
        assert told(items, "r1") == [*before, "ENDED"]
    check_invariants(items, clock.now)


@pytest.mark.parametrize("rival", RIVALS)
async def test_an_end_that_is_late_finds_the_change(
    reserved: Api, backend: Backend, clock: Clock, wire: Wire, dump: Dump, rival: str
) -> None:
    """The end was decided by a server whose clock is wrong by hours, and reaches the store after the change."""
    is_started, document, values, does = RIVALS[rival]
    clock.now = at(11, 30) if rival == "cancel" else at(12, 30)
    if is_started:
        await reserved.done(START, **R1)
    held = Held(is_end)
    wire.fault = held
    end = asyncio.create_task(sweep(backend, at(14, 1)))
    await held.reached()
    await reserved.done(document, **values)
    held.release()
    await end
    before = ["CREATED", "STARTED"] if is_started else ["CREATED"]
    last = {"cancel": [], "extend": [], "release": []}.get(rival, ["ENDED"])
    items = await dump()
    expected = [*before, *does, *last, *(["OVERDUE"] if rival == "start" else [])]
    assert told(items, "r1") == expected
    locker = items["LOCKER#l1", "META"]
    assert locker.get("overdueSince") == (at(14) if rival == "start" else None)
    check_invariants(items, at(14, 1))


@pytest.mark.usefixtures("reserved")
async def test_of_several_sweepers_at_once_one_logs_the_end(backend: Backend, wire: Wire, dump: Dump) -> None:
    wire.fault = Meeting(3)
    await asyncio.gather(*(sweep(backend, at(14, 1)) for _ in range(3)))
    assert told(await dump(), "r1") == ["CREATED", "ENDED"]


class Mixture:
    """Reservations at several lockers, and random requests for them, on two servers."""

    def __init__(self, servers: list[Api], clock: Clock, chance: random.Random) -> None:
        self.servers, self.clock, self.chance = servers, clock, chance
        self.known: list[dict[str, str]] = []
        self.numbers = count()

    def time(self, *minutes: int) -> Instant:
        return shift(self.clock.now, timedelta(minutes=self.chance.randint(*minutes)))

    async def act(self) -> None:
        choice, api = self.chance.random(), self.chance.choice(self.servers)
        locker = f"l{self.chance.randrange(4)}"
        if choice < 0.35 or not self.known:
            one = {"lockerId": locker, "reservationId": f"r{next(self.numbers)}"}
            window = {"startAt": self.time(-1, 1), "endAt": self.time(2, 4)}
            payload = await api.mutate(CREATE, **one, ownerId="bob", **window)
            self.known += [one] if payload["reservation"] is not None else []
            return
        if choice < 0.4:
            version = (await api.run("query ($id: ID!) { locker(lockerId: $id) { version } }", id=locker))["locker"]
            await api.mutate(UPDATE_STATUS, lockerId=locker, newStatus="AVAILABLE", expectedVersion=version["version"])
            return
        one = self.chance.choice(self.known[-6:])
        document, values = self.chance.choice(
            [(START, {}), (START, {}), (RELEASE, {}), (CANCEL, {}), (EXTEND, {"newEndAt": self.time(1, 3)})]
        )
        await api.mutate(document, **one, **values)


def check_told(items: Items, reservations: list[str], now: Instant) -> None:
    """Each reservation has one end of its own, and those that are overdue are so by what the log tells."""
    for name in reservations:
        kinds = told(items, name)
        ends = [kind for kind in kinds if kind in FINAL]
        assert len(ends) == 1, (name, kinds)
        assert max(Counter(kinds)["CREATED"], Counter(kinds)["STARTED"], Counter(kinds)["OVERDUE"]) <= 1, (name, kinds)
    happenings = [one.happening for one in activities(items)]
    occupied = {one.reservation_id for one in happenings if one.outcome == "OCCUPIED"}
    overdue = [one for one in happenings if one.kind == "reservation.overdue"]
    assert occupied == {one.reservation_id for one in overdue}
    left = [one for one in happenings if Change("overdue", "true", "false") in one.changes]
    now_overdue = [item for (_, sort), item in items.items() if sort == "META" and "overdueSince" in item]
    assert len(overdue) - len(left) == len(now_overdue)
    assert not [item for item in items.values() if str(item.get("GSI1PK")).startswith("DUE#")]
    check_invariants(items, now)


@pytest.mark.parametrize("seed", range(3))
async def test_whatever_happens_at_once_with_several_sweepers_kills_and_lost_answers_each_end_is_told_once(
    open_api: OpenApi, backend: Backend, clock: Clock, wire: Wire, dump: Dump, seed: int
) -> None:
    """Nobody keeps to a lease, sweepers are killed in the middle, and one answer in eight is lost or sent twice."""
    chance, tokens = random.Random(seed), set()

    def fault(call: Call) -> Any:
        token = call.request.get("ClientRequestToken")
        if token is None or token in tokens:
            return None
        tokens.add(token)
        return chance.choices((None, Lose(), Twice()), (14, 1, 1))[0]

    async with open_api() as first, open_api() as second:
        for name in ("ada", "bob"):
            await first.owner(name)
        await create_location(first)
        for number in range(4):
            place = {"locationId": ulid(0)} if number % 2 else {}
            await first.locker(f"l{number}", "ada", reservableBy="EVERYONE", **place)
        mixture = Mixture([first, second], clock, chance)
        wire.fault = fault
        for _ in range(12):
            sweeps = [asyncio.create_task(sweep(backend, clock.now)) for _ in range(3)]
            await asyncio.gather(*(mixture.act() for _ in range(6)))
            sweeps[0].cancel()
            await asyncio.gather(*sweeps, return_exceptions=True)
            clock.move(seconds=chance.randint(5, 60))
        wire.fault = lambda _: None
        clock.move(hours=1)
        await sweep(backend, clock.now)
        assert len(mixture.known) > 5
        check_told(await dump(), [one["reservationId"] for one in mixture.known], clock.now)
