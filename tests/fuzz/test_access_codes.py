"""Thousands of digits at the doors of lockers and a location, compared with a model that knows nothing of the product.

What the devices of these doors would decide without the server is compared too. Afterwards every sequence of digits
that was issued is looked for in all that the product wrote.
"""

import logging
import random
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from domain.access_codes import AccessDecision, CodeList, check_door
from domain.times import Instant, shift
from loaders.backend import Backend
from loaders.reads.code_lists import read_code_lists
from loaders.tools.transfer import export_table
from tests import places
from tests.api import CREATE_RESERVATION, Api, mutation
from tests.codes import CLEAR, PROVISION, REVOKE, VERIFY, check_no_digits, without_values
from tests.conftest import Clock, Dump, OpenApi
from tests.generated import FACTOR
from tests.principals import device, device_at

VERIFICATIONS = 500 * FACTOR
PLACE = places.ulid(0)
LOCKERS = {"l1": "ada", "l2": "ada", "l3": "bob"}
DOORS = [*LOCKERS, PLACE]
CREATE = mutation("createAccessCode", "digits accessCode { maxUses }")
ROTATE = mutation("rotateAccessCode", "digits")
CHANGES = {name: mutation(f"{name}Reservation", "reservation { endAt }") for name in ("cancel", "release", "extend")}
GRANTED, DENIED, LOCKED_OUT = AccessDecision


def place(door: str) -> dict[str, Any]:
    return {"locationId" if door == PLACE else "lockerId": door}


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)


@dataclass
class Window:
    """A reservation, or the lifetime of a code that is not tied to a reservation or booking."""

    start: Instant
    end: Instant
    is_live: bool = True
    is_released: bool = False
    has_grace: bool = False


@dataclass
class Code:
    code_id: str
    door: str
    digits: str
    window: Window
    uses_left: int | None
    is_revoked: bool = False


@dataclass
class Door:
    reservations: dict[str, Window] = field(default_factory=dict)
    failures: list[Instant] = field(default_factory=list)
    locked_until: Instant | None = None
    lockouts: int = 0

    def fails(self, now: Instant) -> None:
        self.failures = [time for time in self.failures if time > shift(now, -minutes(15))] + [now]
        if len(self.failures) == 5:
            follows = self.locked_until is not None and now < shift(self.locked_until, timedelta(days=1))
            self.lockouts = self.lockouts + 1 if follows else 1
            self.locked_until = shift(now, minutes(min(5 * 2 ** (self.lockouts - 1), 60)))
            self.failures = []


class World:
    def __init__(self, api: Api, backend: Backend, clock: Clock, seed: int) -> None:
        self.api, self.backend, self.clock, self.chance = api, backend, clock, random.Random(seed)
        self.doors = {name: Door() for name in DOORS}
        self.bookings: dict[str, Window] = {}
        self.issued: set[str] = set()
        self.codes: list[Code] = []
        self.old_digits: list[tuple[str, str]] = []
        self.attempts: list[tuple[str, str, str, AccessDecision, Instant, Code | None]] = []
        self.count = 0

    def new(self, kind: str) -> str:
        self.count += 1
        return f"{kind}{self.count}"

    async def furnish(self) -> None:
        await places.prepare(self.api)
        await self.api.owner("bob")
        for locker_id, owner_id in LOCKERS.items():
            await self.api.locker(locker_id, owner_id)
        for date, part, start, end in (
            ("2026-03-01", "AFTERNOON", "2026-03-01T11:00:00.000Z", "2026-03-01T23:00:00.000Z"),
            ("2026-03-02", "MORNING", "2026-03-01T23:00:00.000Z", "2026-03-02T11:00:00.000Z"),
        ):
            await places.book(self.api, f"b{date}", date=date, duration=part)
            await places.approve(self.api, f"b{date}")
            self.bookings[f"b{date}"] = Window(Instant(start), Instant(end))
        for door in DOORS:
            await self.api.mutate(PROVISION, **place(door), generation=1)

    async def reserve(self) -> None:
        door = self.chance.choice(list(LOCKERS))
        start = shift(self.clock(), minutes(self.chance.randrange(-10, 120)))
        present = [one.end for one in self.doors[door].reservations.values() if one.start <= self.clock() < one.end]
        if present:  # in the grace period of another
            start = shift(present[0], minutes(self.chance.randrange(10)))
        end = shift(start, minutes(self.chance.randrange(15, 60)))
        name = self.new("r")
        values = {"lockerId": door, "reservationId": name, "startAt": start, "endAt": end}
        owner_id = self.chance.choice(list(LOCKERS.values()))
        if (await self.api.mutate(CREATE_RESERVATION, ownerId=owner_id, **values))["userErrors"]:
            return  # it overlaps another, or has ended
        self.doors[door].reservations[name] = window = Window(start, end, has_grace=True)
        await self.create(door, "RESERVATION", window, lockerId=door, reservationId=name)

    async def book(self) -> None:
        booking_id, window = self.chance.choice(list(self.bookings.items()))
        if self.clock() < window.end:
            await self.create(PLACE, "BOOKING", window, bookingId=booking_id)

    async def stand_alone(self) -> None:
        start = shift(self.clock(), minutes(self.chance.randrange(60)))
        window = Window(start, shift(start, minutes(self.chance.randrange(10, 90))))
        door = self.chance.choice(list(LOCKERS))
        kind, more = self.chance.choice(
            [("ONE_TIME", {"length": 4}), ("COURIER", {"maxUses": 3}), ("STANDING", {"length": 8})]
        )
        values = {"lockerId": door, "validFrom": window.start, "validUntil": window.end, **more}
        await self.create(door, kind, window, **values)

    async def create(self, door: str, kind: str, window: Window, **values: Any) -> None:
        name = self.new("c")
        payload = await self.api.mutate(CREATE, codeId=name, kind=kind, **values)
        if payload["userErrors"]:
            assert payload["userErrors"][0]["code"] == "TOO_MANY_ACCESS_CODES", payload
            return
        self.codes.append(Code(name, door, payload["digits"], window, payload["accessCode"]["maxUses"]))
        self.issued.add(payload["digits"])

    async def change(self) -> None:
        """Extends, cancels or releases a reservation, rotates or revokes a code; what is refused changes nothing."""
        code = self.chance.choice(self.codes)
        names = [(name, one) for name, one in self.doors[code.door].reservations.items() if one is code.window]
        action = self.chance.choice(["rotate", "revoke", "cancel", "release", "extend"])
        if action == "rotate":
            await self.rotate(code)
        elif action == "revoke":
            await self.api.mutate(REVOKE, **place(code.door), codeId=code.code_id)
            code.is_revoked = True
        for name, window in names if action in CHANGES else []:
            end = {"newEndAt": shift(window.end, minutes(20))} if action == "extend" else {}
            payload = await self.api.mutate(CHANGES[action], lockerId=code.door, reservationId=name, **end)
            if not payload["userErrors"]:
                window.end = end.get("newEndAt", window.end)
                window.is_live, window.is_released = action == "extend", action == "release"

    async def rotate(self, code: Code) -> None:
        rotation = 1 + sum(old == (code.code_id, "rotated") for old in self.old_digits)
        named = place(code.door) | {"codeId": code.code_id}
        digits = (await self.api.mutate(ROTATE, **named, expectedRotation=rotation))["digits"]
        if digits is not None:
            self.old_digits += [(code.code_id, "rotated"), (code.door, code.digits)]
            self.issued.add(digits)
            code.digits = digits

    def opens(self, door: str, digits: str, used: Code | None = None) -> Code | None:
        meant = (code for code in self.codes if (code.door, code.digits) == (door, digits))
        return next((code for code in meant if self.is_open(code, used)), None)

    def is_open(self, code: Code, used: Code | None = None) -> bool:
        now, window = self.clock(), code.window
        others = self.doors[code.door].reservations.values()
        follows = any((other.is_live or other.is_released) and window.end <= other.start <= now for other in others)
        is_in_grace = window.has_grace and now < shift(window.end, minutes(15)) and not follows
        is_in_time = window.start <= now and (now < window.end or is_in_grace)
        has_uses = code is used or code.uses_left is None or code.uses_left > 0
        return window.is_live and is_in_time and has_uses and not code.is_revoked

    async def check_list(self, door: str) -> None:
        """Without the server, its device opens a door with the same codes."""
        name = check_door(f"location:{door}" if door == PLACE else f"locker:{door}")
        made = (await read_code_lists(self.backend, [name]))[name]
        assert isinstance(made, CodeList)
        now = self.clock()
        listed = {one.code_id for one in made.codes if one.valid_from <= now < one.valid_until and one.uses_left != 0}
        assert listed == {code.code_id for code in self.codes if code.door == door and self.is_open(code)}, (door, now)

    def expected(self, door: str, digits: str, attempt_id: str) -> AccessDecision:
        now, place = self.clock(), self.doors[door]
        if place.locked_until is not None and now < place.locked_until:
            return LOCKED_OUT
        before = next((one for one in self.attempts if one[:2] == (door, attempt_id)), None)
        if before is not None and before[2] == digits:
            _, _, _, decision, at, code = before
            if (
                decision is GRANTED
                and now < shift(at, timedelta(seconds=30))
                and self.opens(door, digits, code) is code
            ):
                return GRANTED
            return DENIED
        code = None if before is not None else self.opens(door, digits)
        if code is None:
            place.fails(now)
        elif code.uses_left is not None:
            code.uses_left -= 1
        decision = DENIED if code is None else GRANTED
        if before is None:
            self.attempts.append((door, attempt_id, digits, decision, now, code))
        return decision

    def choose(self) -> tuple[str, str, str]:
        """A door, digits and an attempt id: right, replayed, of another door, of another time, or guessed."""
        door, attempt_id = self.chance.choice(DOORS), self.new("a")
        draw = self.chance.random()
        if draw < 0.15 and self.attempts:
            return self.replayed()
        if draw < 0.25 and self.old_digits:
            return door, self.chance.choice([old for old in self.old_digits if old[1] != "rotated"])[1], attempt_id
        now = self.clock()
        ended = [code for code in self.codes if code.window.end <= now < shift(code.window.end, minutes(20))]
        if draw < 0.35 and ended:
            code = self.chance.choice(ended)
            return code.door, code.digits, attempt_id
        if draw < 0.95 and self.codes:
            code = self.chance.choice(self.codes[-12:])
            return (code.door if draw < 0.85 else door), code.digits, attempt_id
        return door, f"{self.chance.randrange(10**6):06d}", attempt_id

    def replayed(self) -> tuple[str, str, str]:
        door, attempt_id, digits, *_ = self.chance.choice(self.attempts[-5:])
        return door, digits if self.chance.random() < 0.7 else self.chance.choice(self.codes).digits, attempt_id


async def test_verifications_grant_and_refuse_exactly_what_they_should_and_leave_no_digits(
    open_api: OpenApi,
    backend: Backend,
    clock: Clock,
    dump: Dump,
    caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
) -> None:
    caplog.set_level(logging.DEBUG)
    # Its debug lines are full of numbers; what it sends is in the table.
    caplog.set_level(logging.INFO, logger="botocore")
    exporter = InMemorySpanExporter()
    async with open_api(span_exporter=exporter, tracing="otlp", metrics="on", request_log="on") as api:
        world = World(api, backend, clock, seed=16)
        await run_world(world)
        metrics = (await api.client.get("/metrics")).text
    log = caplog.text
    store: Any = backend.store
    await export_table(store, tmp_path / "export", items_per_second=10**6, progress=lambda _: None)
    texts = {
        "table": str(await dump()),
        "export": (tmp_path / "export").read_text(),
        "log": log,
        "traces": " ".join(span.to_json() for span in exporter.get_finished_spans()),
        "metrics": without_values(metrics),
    }
    assert {len(digits) for digits in world.issued} == {4, 6, 8}
    check_no_digits(texts, world.issued)


async def run_world(world: World) -> None:
    clock = world.clock
    await world.furnish()
    answers = dict.fromkeys(AccessDecision, 0)
    for number in range(VERIFICATIONS):
        if number % 8 == 0:
            await world.chance.choice([world.reserve, world.stand_alone, world.book])()
        if number % 10 == 5:
            await world.change()
        if world.chance.random() < 0.3:
            clock.move(seconds=world.chance.choice([10, 20, 60, 300]))
        door, digits, attempt_id = world.choose()
        wanted = world.expected(door, digits, attempt_id)
        caller = world.api.by(device_at(door) if door == PLACE else device(door))
        payload = await caller.mutate(VERIFY, **place(door), digits=digits, attemptId=attempt_id)
        assert payload["decision"] == wanted, (number, door, digits, attempt_id, clock(), payload)
        answers[wanted] += 1
        if wanted is LOCKED_OUT and world.chance.random() < 0.3:
            await world.api.mutate(CLEAR, **place(door))
            world.doors[door] = Door(world.doors[door].reservations)
        if number % 10 == 0:
            await world.check_list(door)
    assert min(answers.values()) > VERIFICATIONS / 20, answers
