"""Thousands of digits at three doors of two owners, compared with a model that knows nothing of the product."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from domain.access_codes import AccessCodeKind, AccessDecision, CodeId
from domain.authorization import DEVELOPMENT_ADMIN
from domain.commands import access_codes as commands
from domain.commands.lockers import RegisterLocker
from domain.commands.owners import CreateOwner
from domain.commands.reservations import CancelReservation, CreateReservation, ExtendReservation, ReleaseReservation
from domain.errors import SmartLockerError
from domain.models import LockerId, OwnerId, OwnerKind, ReservationId
from domain.times import Instant, shift
from loaders.writes import access_codes, lockers, owners, reservations, verification
from tests.principals import device

if TYPE_CHECKING:
    from loaders.backend import Backend
    from tests.conftest import Clock

VERIFICATIONS = 2000
DOORS = {"l1": "ada", "l2": "ada", "l3": "bob"}
GRANTED, DENIED, LOCKED_OUT = AccessDecision


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)


@dataclass
class Window:
    """A reservation, or the lifetime of a code that stands alone."""

    start: Instant
    end: Instant
    is_live: bool = True
    has_grace: bool = False


@dataclass
class Code:
    """What the model knows of a code."""

    code_id: str
    door: str
    digits: str
    window: Window
    uses_left: int | None
    is_revoked: bool = False


@dataclass
class Door:
    """What the model knows of a door."""

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
    """The product and the model of it, side by side."""

    def __init__(self, backend: Backend, clock: Clock, seed: int) -> None:
        self.backend, self.clock, self.chance = backend, clock, random.Random(seed)
        self.doors = {name: Door() for name in DOORS}
        self.codes: list[Code] = []
        self.old_digits: list[tuple[str, str]] = []
        self.attempts: list[tuple[str, str, str, AccessDecision, Instant, Code | None]] = []
        self.count = 0

    def new(self, kind: str) -> str:
        self.count += 1
        return f"{kind}{self.count}"

    async def furnish(self) -> None:
        for owner_id in sorted(set(DOORS.values())):
            command = CreateOwner(owner_id=OwnerId(owner_id), kind=OwnerKind.USER, name=owner_id)
            await owners.create_owner(self.backend, command)
        for locker_id, owner_id in DOORS.items():
            place = RegisterLocker(locker_id=LockerId(locker_id), owner_id=OwnerId(owner_id))
            await lockers.register_locker(self.backend, place, DEVELOPMENT_ADMIN)

    async def reserve(self) -> None:
        door = self.chance.choice(list(DOORS))
        start = shift(self.clock(), minutes(self.chance.randrange(-10, 120)))
        present = [one.end for one in self.doors[door].reservations.values() if one.start <= self.clock() < one.end]
        if present:  # in the grace period of another
            start = shift(present[0], minutes(self.chance.randrange(10)))
        end = shift(start, minutes(self.chance.randrange(15, 60)))
        name = self.new("r")
        command = CreateReservation(
            locker_id=LockerId(door),
            reservation_id=ReservationId(name),
            owner_id=OwnerId(self.chance.choice(list(DOORS.values()))),
            start_at=start,
            end_at=end,
        )
        try:
            await reservations.create_reservation(self.backend, command, DEVELOPMENT_ADMIN)
        except SmartLockerError:
            return  # it overlaps another, or has ended
        self.doors[door].reservations[name] = window = Window(start, end, has_grace=True)
        await self.create(door, AccessCodeKind.RESERVATION, window, reservation_id=ReservationId(name))

    async def stand_alone(self) -> None:
        start = shift(self.clock(), minutes(self.chance.randrange(60)))
        window = Window(start, shift(start, minutes(self.chance.randrange(10, 90))))
        kind, more = self.chance.choice(
            [(AccessCodeKind.ONE_TIME, {"length": 4}), (AccessCodeKind.COURIER, {"max_uses": 3})]
        )
        values = {"valid_from": window.start, "valid_until": window.end, **more}
        await self.create(self.chance.choice(list(DOORS)), kind, window, **values)

    async def create(self, door: str, kind: AccessCodeKind, window: Window, **values: Any) -> None:
        name = self.new("c")
        command = commands.CreateAccessCode(kind=kind, code_id=CodeId(name), locker_id=LockerId(door), **values)
        issued = await access_codes.create_access_code(self.backend, command, DEVELOPMENT_ADMIN)
        assert issued.digits is not None
        self.codes.append(Code(name, door, issued.digits, window, issued.record.max_uses))

    async def change(self) -> None:
        """Extends, cancels or releases a reservation, rotates or revokes a code; what is refused changes nothing."""
        code = self.chance.choice(self.codes)
        place: dict[str, Any] = {"locker_id": LockerId(code.door), "code_id": CodeId(code.code_id)}
        names = [(name, one) for name, one in self.doors[code.door].reservations.items() if one is code.window]
        try:
            match self.chance.choice(["rotate", "revoke", "cancel", "release", "extend"]):
                case "rotate":
                    rotation = 1 + sum(old == (code.code_id, "rotated") for old in self.old_digits)
                    rotate = commands.RotateAccessCode(**place, expected_rotation=rotation)
                    issued = await access_codes.rotate_access_code(self.backend, rotate, DEVELOPMENT_ADMIN)
                    self.old_digits += [(code.code_id, "rotated"), (code.door, code.digits)]
                    assert issued.digits is not None
                    code.digits = issued.digits
                case "revoke":
                    revoke = commands.RevokeAccessCode(**place)
                    await access_codes.revoke_access_code(self.backend, revoke, DEVELOPMENT_ADMIN)
                    code.is_revoked = True
                case "cancel":
                    for name, window in names:
                        cancel = CancelReservation(locker_id=LockerId(code.door), reservation_id=ReservationId(name))
                        await reservations.cancel_reservation(self.backend, cancel, DEVELOPMENT_ADMIN)
                        window.is_live = False
                case "release":
                    for name, window in names:
                        release = ReleaseReservation(locker_id=LockerId(code.door), reservation_id=ReservationId(name))
                        await reservations.release_reservation(self.backend, release, DEVELOPMENT_ADMIN)
                        window.is_live = False
                case "extend":
                    for name, window in names:
                        end = shift(window.end, minutes(20))
                        extend = ExtendReservation(
                            locker_id=LockerId(code.door), reservation_id=ReservationId(name), new_end_at=end
                        )
                        await reservations.extend_reservation(self.backend, extend, DEVELOPMENT_ADMIN)
                        window.end = end
        except SmartLockerError:
            return

    def opens(self, door: str, digits: str, used: Code | None = None) -> Code | None:
        """The code that opens a door now."""
        now = self.clock()
        for code in self.codes:
            window = code.window
            follows = any(
                other.is_live and window.end <= other.start <= now for other in self.doors[door].reservations.values()
            )
            is_in_grace = window.has_grace and now < shift(window.end, minutes(15)) and not follows
            is_in_time = window.start <= now and (now < window.end or is_in_grace)
            has_uses = code is used or code.uses_left is None or code.uses_left > 0
            is_meant = (code.door, code.digits) == (door, digits) and not code.is_revoked
            if is_meant and window.is_live and is_in_time and has_uses:
                return code
        return None

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
        door, attempt_id = self.chance.choice(list(DOORS)), self.new("a")
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


async def test_two_thousand_verifications_grant_and_refuse_exactly_what_they_should(
    backend: Backend, clock: Clock
) -> None:
    world = World(backend, clock, seed=16)
    await world.furnish()
    answers = dict.fromkeys(AccessDecision, 0)
    for number in range(VERIFICATIONS):
        if number % 8 == 0:
            await world.chance.choice([world.reserve, world.stand_alone])()
        if number % 10 == 5:
            await world.change()
        if world.chance.random() < 0.3:
            clock.move(seconds=world.chance.choice([10, 20, 60, 300]))
        door, digits, attempt_id = world.choose()
        wanted = world.expected(door, digits, attempt_id)
        command = commands.VerifyAccessCode(locker_id=LockerId(door), digits=digits, attempt_id=attempt_id)
        found = await verification.verify_access_code(backend, command, device(door))
        assert found.decision is wanted, (number, door, digits, attempt_id, clock())
        answers[found.decision] += 1
        if found.decision is LOCKED_OUT and world.chance.random() < 0.3:
            await verification.clear_lockout(
                backend, commands.ClearLockout(locker_id=LockerId(door)), DEVELOPMENT_ADMIN
            )
            world.doors[door] = Door(world.doors[door].reservations)
    assert min(answers.values()) > VERIFICATIONS / 20, answers
