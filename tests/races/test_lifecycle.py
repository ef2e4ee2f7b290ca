import asyncio
import random
from datetime import timedelta
from typing import Any

import pytest

from domain.times import shift
from tests.api import Api, mutation
from tests.conftest import Clock, Dump, OpenApi
from tests.invariants import check_invariants
from tests.places import create_location, ulid

CREATE, CANCEL, START, RELEASE, EXTEND, SHORTEN = (
    mutation(f"{verb}Reservation", "reservation { reservationId }")
    for verb in ("create", "cancel", "start", "release", "extend", "shorten")
)
ANY = mutation("reserveAnyLocker", "reservation { lockerId }")
TRANSFER = mutation("transferLocker", "locker { version }")
LOCKERS, OWNERS, RESERVERS = ("l1", "l2"), ("ada", "acme"), ("bob", "eve")
EXPECTED = {
    "RESERVATION_OVERLAP",
    "RESERVATION_OVER",
    "RESERVATION_STARTED",
    "RESERVATION_NOT_STARTED",
    "TOO_MANY_RESERVATIONS",
    "NO_LOCKER_AVAILABLE",
    "VERSION_CONFLICT",
    "BAD_USER_INPUT",
}


class Mixture:
    """Random requests, each to one of the servers."""

    def __init__(self, servers: list[Api], clock: Clock, chance: random.Random) -> None:
        self.servers, self.clock, self.chance = servers, clock, chance
        self.known: list[tuple[str, str]] = []
        self.ids = 0
        self.versions = dict.fromkeys(LOCKERS, 1)
        self.transfers: dict[str, set[int]] = {locker: set() for locker in LOCKERS}

    async def send(self, document: str, **values: Any) -> dict[str, Any]:
        payload = await self.chance.choice(self.servers).mutate(document, **values)
        assert {error["code"] for error in payload["userErrors"]} <= EXPECTED, payload
        return payload

    def time(self, earliest: int, latest: int) -> str:
        return shift(self.clock.now, timedelta(minutes=10 * self.chance.randint(earliest, latest)))

    async def create(self) -> None:
        locker = self.chance.choice(LOCKERS)
        self.known.append((locker, self.new_id()))
        await self.send(CREATE, lockerId=locker, reservationId=self.known[-1][1], **self.wanted())

    async def create_any(self) -> None:
        reservation = self.new_id()
        payload = await self.send(ANY, locationId=ulid(0), reservationId=reservation, **self.wanted())
        if payload["reservation"] is not None:
            self.known.append((payload["reservation"]["lockerId"], reservation))

    def new_id(self) -> str:
        self.ids += 1
        return f"r{self.ids}"

    def wanted(self) -> dict[str, Any]:
        start = self.chance.randint(-1, 4)
        window = {"startAt": self.time(start, start), "endAt": self.time(max(start, 0) + 1, max(start, 0) + 3)}
        return {"ownerId": self.chance.choice(RESERVERS), **window}

    async def change(self, document: str, **values: Any) -> None:
        locker, reservation = self.chance.choice(self.known[-8:])
        try:
            await self.send(document, lockerId=locker, reservationId=reservation, **values)
        except AssertionError as error:
            if "NOT_FOUND" not in str(error):  # its creation was refused, or is under way
                raise

    async def transfer(self) -> None:
        locker = self.chance.choice(LOCKERS)
        new_owner, expected = self.chance.choice(OWNERS), self.versions[locker]
        payload = await self.send(TRANSFER, lockerId=locker, newOwnerId=new_owner, expectedVersion=expected)
        version = payload["locker"]["version"]
        if not payload["userErrors"] and version > expected:
            self.transfers[locker].add(version)
        self.versions[locker] = max(version, self.versions[locker])

    async def any(self) -> None:
        requests = {
            "c": self.create,
            "a": self.create_any,
            "s": lambda: self.change(START),
            "r": lambda: self.change(RELEASE),
            "e": lambda: self.change(EXTEND, newEndAt=self.time(1, 4)),
            "x": lambda: self.change(SHORTEN, newEndAt=self.time(1, 2)),
            "k": lambda: self.change(CANCEL),
            "t": self.transfer,
        }
        await requests[self.chance.choice("cccaassssrrexkt")]()


@pytest.mark.parametrize("seed", range(2))
async def test_racing_changes_on_two_servers_keep_every_invariant(
    api: Api, open_api: OpenApi, dump: Dump, clock: Clock, seed: int
) -> None:
    for owner in (*OWNERS, *RESERVERS):
        await api.owner(owner)
    await create_location(api)
    for locker in LOCKERS:
        await api.locker(locker, "ada", locationId=ulid(0), reservableBy="EVERYONE")
    async with open_api() as other:
        mixture = Mixture([api, other], clock, random.Random(seed))
        await mixture.create()
        for number in range(100):
            await asyncio.gather(*(mixture.any() for _ in range(8)))
            items = await dump()
            check_invariants(items, clock.now)
            made = [item for item in items.values() if item["entityType"] == "RESERVATION"]
            overstayed = {item["metadata"]["overstayed"] for item in items.values() if item.get("action") == "OVERSTAY"}
            all_happened = overstayed and {item["status"] for item in made} == {"ACTIVE", "COMPLETED", "CANCELLED"}
            if number >= 24 and all_happened:  # which requests win is chance, so 25 rounds may miss an outcome
                break
            clock.move(minutes=10)
    assert all_happened
    for locker in LOCKERS:
        started = [item for item in made if item["lockerId"] == locker and "startedAt" in item]
        left = [item for item in started if item["status"] == "COMPLETED" and item["reservationId"] not in overstayed]
        versions = 1 + len(started) + len(left) + len(mixture.transfers[locker])
        assert items[f"LOCKER#{locker}", "META"]["version"] == versions
