"""Random sequences of requests: the API answers as a plain model of lockers does, at every time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from domain.lifecycle import TRANSITIONS
from domain.models import LockerStatus
from domain.times import Instant, shift
from tests.api import mutation
from tests.invariants import check_invariants

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from tests.api import Api
    from tests.conftest import Clock

_OWNER = "owner { ownerId name email version }"
_LOCKER = "locker { lockerId alias status ownerId version }"
_RESERVATION = "reservation { reservationId ownerId startAt endAt status }"
DOCUMENTS = {
    **{name: mutation(name, _OWNER) for name in ("createOwner", "updateOwner")},
    **{
        name: mutation(name, _LOCKER)
        for name in ("registerLocker", "renameLocker", "updateLockerStatus", "transferLocker")
    },
    **{name: mutation(name, _RESERVATION) for name in ("createReservation", "cancelReservation", "extendReservation")},
}
LOCKER = """query ($id: ID!) { locker(lockerId: $id) {
  lockerId alias status ownerId version
  activeReservation { reservationId } reservations(first: 100) { nodes { reservationId ownerId startAt endAt status } }
} }"""
OWNER = """query ($id: ID!) { owner(ownerId: $id) {
  ownerId name email version lockers(first: 100) { nodes { lockerId } }
  reservations(first: 100) { nodes { reservationId startAt } }
} }"""
IDS = st.sampled_from("aaaabbc")
RESERVATIONS = st.sampled_from("abcdefghijklmnop")
NAMES = st.sampled_from(["Front", "Back"])
EMAILS = st.sampled_from([None, "one@example.com", "One@Example.com", "two@example.com"])
STALENESS = st.sampled_from([0, 0, 0, -1, 1])
HOURS = st.integers(-1, 5)
LENGTHS = st.integers(1, 2)


@dataclass(frozen=True)
class Owner:
    name: str
    email: str | None
    version: int = 1


@dataclass(frozen=True)
class Locker:
    owner: str
    alias: str | None
    status: LockerStatus = LockerStatus.AVAILABLE
    version: int = 1


@dataclass(frozen=True)
class Reservation:
    owner: str
    start: Instant
    end: Instant
    is_cancelled: bool = False


class RefusedError(Exception):
    """The model refuses with the type of an error, or with its code if it is a plain one."""


class Model:
    """What a locker system is, without a store: methods return what is then there, or refuse."""

    def __init__(self) -> None:
        self.owners: dict[str, Owner] = {}
        self.lockers: dict[str, Locker] = {}
        self.reservations: dict[tuple[str, str], Reservation] = {}
        self._first: dict[tuple[str, ...], object] = {}

    def create_owner(self, own: str, name: str, email: str | None) -> Owner:
        if self._was_created(("owner", own), (name, email)):
            return self.owners[own]
        self._check_email(own, email)
        self._first["owner", own] = (name, email)
        self.owners[own] = Owner(name, email)
        return self.owners[own]

    def update_owner(self, own: str, version: int, name: str, email: str | None) -> Owner:
        current = _found(self.owners.get(own))
        _check_version(current, version)
        self._check_email(own, email)
        self.owners[own] = Owner(name, email, version + 1)
        return self.owners[own]

    def register_locker(self, locker: str, owner: str, alias: str | None) -> Locker:
        if self._was_created(("locker", locker), (owner, alias)):
            return self.lockers[locker]
        _found(self.owners.get(owner))
        self._first["locker", locker] = (owner, alias)
        self.lockers[locker] = Locker(owner, alias)
        return self.lockers[locker]

    def change_locker(self, locker: str, version: int, **values: Any) -> Locker:
        current = _found(self.lockers.get(locker))
        _check_version(current, version)
        if "status" in values and values["status"] not in TRANSITIONS[current.status]:
            raise RefusedError("InvalidTransitionError")
        if "owner" in values:
            _found(self.owners.get(values["owner"]))
        self.lockers[locker] = replace(current, **values, version=version + 1)
        return self.lockers[locker]

    def reserve(self, own: str, locker: str, wanted: Reservation, now: Instant) -> Reservation:
        first = self._first.get(("reservation", locker, own))
        if first == wanted:
            return self.reservations[locker, own]
        status = _found(self.lockers.get(locker)).status
        if first is not None:
            raise RefusedError("ID_TAKEN")
        if status is LockerStatus.MAINTENANCE:
            raise RefusedError("LOCKER_IN_MAINTENANCE")
        _found(self.owners.get(wanted.owner))
        if wanted.end <= now:
            raise RefusedError("BAD_USER_INPUT")
        self._check_free(locker, wanted.start, wanted.end)
        for (other_locker, other_own), other in self.reservations.items():
            same = (other_own, other.owner, other.start) == (own, wanted.owner, wanted.start)
            if same and other_locker != locker:
                raise RefusedError("ID_TAKEN")
        self._first["reservation", locker, own] = wanted
        self.reservations[locker, own] = wanted
        return wanted

    def cancel(self, own: str, locker: str, now: Instant) -> Reservation:
        current: Reservation = _found(self.reservations.get((locker, own)))
        if not current.is_cancelled and current.end <= now:
            raise RefusedError("RESERVATION_OVER")
        if not current.is_cancelled and current.start <= now:
            raise RefusedError("RESERVATION_STARTED")
        self.reservations[locker, own] = replace(current, is_cancelled=True)
        return self.reservations[locker, own]

    def extend(self, own: str, locker: str, end: Instant, now: Instant) -> Reservation:
        current: Reservation = _found(self.reservations.get((locker, own)))
        if end <= current.start:
            raise RefusedError("BAD_USER_INPUT")
        if end == current.end and not current.is_cancelled:
            return current
        if current.is_cancelled or current.end <= now:
            raise RefusedError("RESERVATION_OVER")
        if end < current.end:
            raise RefusedError("BAD_USER_INPUT")
        self._check_free(locker, current.start, end, but=own)
        self.reservations[locker, own] = replace(current, end=end)
        return self.reservations[locker, own]

    def active(self, locker: str, now: Instant) -> str | None:
        live = [
            own
            for (where, own), each in self.reservations.items()
            if where == locker and not each.is_cancelled and each.start <= now < each.end
        ]
        return live[0] if live else None

    def _was_created(self, key: tuple[str, ...], content: object) -> bool:
        if key in self._first and self._first[key] != content:
            raise RefusedError("ID_TAKEN")
        return key in self._first

    def _check_email(self, own: str, email: str | None) -> None:
        taken = {each.email.lower() for other, each in self.owners.items() if each.email and other != own}
        if email is not None and email.lower() in taken:
            raise RefusedError("EMAIL_TAKEN")

    def _check_free(self, locker: str, start: Instant, end: Instant, but: str = "") -> None:
        for (where, own), other in self.reservations.items():
            is_other = where == locker and own != but and not other.is_cancelled
            if is_other and other.start < end and start < other.end:
                raise RefusedError("ReservationOverlapError")


def _found(thing: Any) -> Any:
    if thing is None:
        raise RefusedError("NOT_FOUND")
    return thing


def _check_version(current: Owner | Locker, version: int) -> None:
    if current.version != version:
        raise RefusedError("VersionConflictError")


class Machine(RuleBasedStateMachine):
    """Sends what the model is asked, and compares. Each run has ids and addresses of its own; time only goes on."""

    api: Api
    clock: Clock
    dump: Callable[[], Any]
    loop: asyncio.AbstractEventLoop
    runs = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).runs += 1
        self.model = Model()
        self.base = self.clock.now
        self.passed = 0
        self.steps = 0

    @initialize()
    def begin(self) -> None:
        for own in "ab":
            self.create_owner(own, "Front", None)
            self.register_locker(own, own, None)
            self.reserve(own, "a", [(own, 0, 1), ("e", 2, 1)])

    @rule(own=IDS, name=NAMES, email=EMAILS)
    def create_owner(self, own: str, name: str, email: str | None) -> None:
        values = {"ownerId": self.id(own), "kind": "USER", "name": name, "email": self.address(email)}
        self.compare("createOwner", lambda: self.owner(own, self.model.create_owner(own, name, email)), values)

    @rule(own=IDS, staleness=STALENESS, name=NAMES, email=EMAILS)
    def update_owner(self, own: str, staleness: int, name: str, email: str | None) -> None:
        current = self.model.owners.get(own)
        if current is not None and (current.name, current.email) == (name, email):
            return  # no change; what that does is tested elsewhere
        version = self.version(self.model.owners, own, staleness)
        values = {"ownerId": self.id(own), "expectedVersion": version, "name": name, "email": self.address(email)}
        self.compare("updateOwner", lambda: self.owner(own, self.model.update_owner(own, version, name, email)), values)

    @rule(locker=IDS, owner=IDS, alias=st.none() | NAMES)
    def register_locker(self, locker: str, owner: str, alias: str | None) -> None:
        values = {"lockerId": self.id(locker), "ownerId": self.id(owner), "alias": alias}
        made = partial(self.model.register_locker, locker, owner, alias)
        self.compare("registerLocker", lambda: self.locker(locker, made()), values)

    @rule(locker=IDS, staleness=STALENESS, status=st.sampled_from(LockerStatus))
    def update_status(self, locker: str, staleness: int, status: LockerStatus) -> None:
        self.change_locker("updateLockerStatus", locker, staleness, {"newStatus": status}, status=status)

    @rule(locker=IDS, staleness=STALENESS, alias=NAMES)
    def rename(self, locker: str, staleness: int, alias: str) -> None:
        self.change_locker("renameLocker", locker, staleness, {"alias": alias}, alias=alias)

    @rule(locker=IDS, staleness=STALENESS, owner=IDS)
    def transfer(self, locker: str, staleness: int, owner: str) -> None:
        self.change_locker("transferLocker", locker, staleness, {"newOwnerId": self.id(owner)}, owner=owner)

    @rule(locker=IDS, owner=IDS, windows=st.lists(st.tuples(RESERVATIONS, HOURS, LENGTHS), min_size=1, max_size=5))
    def reserve(self, locker: str, owner: str, windows: list[tuple[str, int, int]]) -> None:
        for own, hour, length in windows:
            wanted = Reservation(owner, self.hour(hour), self.hour(hour + length))
            values = {"startAt": wanted.start, "endAt": wanted.end, "ownerId": self.id(owner)}
            made = partial(self.model.reserve, own, locker, wanted, self.clock.now)
            self.change_reservation("createReservation", own, locker, made, values)

    @precondition(lambda self: self.model.reservations)
    @rule(number=st.integers(0, 9))
    def cancel(self, number: int) -> None:
        locker, own = self.some_reservation(number)
        made = partial(self.model.cancel, own, locker, self.clock.now)
        self.change_reservation("cancelReservation", own, locker, made, {})

    @precondition(lambda self: self.model.reservations)
    @rule(number=st.integers(0, 9), hour=HOURS)
    def extend(self, number: int, hour: int) -> None:
        locker, own = self.some_reservation(number)
        made = partial(self.model.extend, own, locker, self.hour(hour), self.clock.now)
        self.change_reservation("extendReservation", own, locker, made, {"newEndAt": self.hour(hour)})

    @rule(minutes=st.sampled_from([1, 9, 30, 60, 120]))
    def wait(self, minutes: int) -> None:
        self.clock.move(minutes=minutes)
        self.passed += minutes

    @rule()
    def look(self) -> None:
        for own, locker in self.model.lockers.items():
            reservations = {key[1]: each for key, each in self.model.reservations.items() if key[0] == own}
            active = self.model.active(own, self.clock.now)
            assert self.run(self.api.run(LOCKER, id=self.id(own)))["locker"] == self.locker(own, locker) | {
                "activeReservation": active and {"reservationId": active},
                "reservations": {
                    "nodes": [self.reservation(*each) for each in sorted(reservations.items(), key=_start)]
                },
            }
        for own, owner in self.model.owners.items():
            lockers = sorted(locker for locker, each in self.model.lockers.items() if each.owner == own)
            made = [(key[1], each) for key, each in self.model.reservations.items() if each.owner == own]
            assert self.run(self.api.run(OWNER, id=self.id(own)))["owner"] == self.owner(own, owner) | {
                "lockers": {"nodes": [{"lockerId": self.id(locker)} for locker in lockers]},
                "reservations": {
                    "nodes": [{"reservationId": each, "startAt": made.start} for each, made in sorted(made, key=_start)]
                },
            }

    @invariant()
    def holds(self) -> None:
        self.steps += 1
        if self.steps % 20 == 0:
            self.check_table()

    def teardown(self) -> None:
        self.check_table()

    def check_table(self) -> None:
        check_invariants(self.run(self.dump()), self.clock.now)

    def compare(self, name: str, expected: Callable[[], dict[str, Any]], values: dict[str, Any]) -> None:
        payload = self.run(self.api.mutate(DOCUMENTS[name], **values))
        errors = payload.pop("userErrors")
        codes = [error["code"] if error["__typename"] == "PlainError" else error["__typename"] for error in errors]
        wanted: list[str] = []
        try:
            shown = expected()
        except RefusedError as refusal:
            wanted, shown = [str(refusal)], {}
        assert codes == wanted, (name, values)
        assert wanted or list(payload.values()) == [shown], (name, values)

    def change_locker(self, name: str, own: str, staleness: int, sent: dict[str, Any], **values: Any) -> None:
        current = self.model.lockers.get(own)
        if current is not None and replace(current, **values) == current:
            return  # as above
        version = self.version(self.model.lockers, own, staleness)
        made = partial(self.model.change_locker, own, version, **values)
        sent = {"lockerId": self.id(own), "expectedVersion": version, **sent}
        self.compare(name, lambda: self.locker(own, made()), sent)

    def change_reservation(
        self, name: str, own: str, locker: str, made: Callable[[], Reservation], sent: dict[str, Any]
    ) -> None:
        sent = {"lockerId": self.id(locker), "reservationId": own, **sent}
        self.compare(name, lambda: self.reservation(own, made()), sent)

    def some_reservation(self, number: int) -> tuple[str, str]:
        """One that is there, or one that is not."""
        known = [*self.model.reservations, ("a", "none")]
        return known[number % len(known)]

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    def id(self, own: str) -> str:
        return f"{own}-{self.runs}"

    def address(self, email: str | None) -> str | None:
        return email and f"run{self.runs}.{email}"

    def hour(self, number: int) -> Instant:
        """So many hours after the last full one, so that windows often touch."""
        return shift(self.base, timedelta(hours=number + self.passed // 60))

    @staticmethod
    def version(things: Mapping[str, Owner | Locker], own: str, staleness: int) -> int:
        return max(1, things[own].version + staleness) if own in things else 1

    def owner(self, own: str, owner: Owner) -> dict[str, Any]:
        shown = {"name": owner.name, "email": self.address(owner.email), "version": owner.version}
        return {"ownerId": self.id(own), **shown}

    def locker(self, own: str, locker: Locker) -> dict[str, Any]:
        shown = {"alias": locker.alias, "status": locker.status, "version": locker.version}
        return {"lockerId": self.id(own), "ownerId": self.id(locker.owner), **shown}

    def reservation(self, own: str, made: Reservation) -> dict[str, Any]:
        now = self.clock.now
        status = "UPCOMING" if now < made.start else "EXPIRED" if made.end <= now else "ACTIVE"
        status = "CANCELLED" if made.is_cancelled else status
        shown = {"startAt": made.start, "endAt": made.end, "status": status}
        return {"reservationId": own, "ownerId": self.id(made.owner), **shown}


def _start(named: tuple[str, Reservation]) -> tuple[str, str]:
    return named[1].start, named[0]


async def test_any_sequence_of_requests_is_answered_as_by_the_model(
    api: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    attributes = {"api": api, "clock": clock, "dump": staticmethod(dump), "loop": asyncio.get_running_loop()}
    machine: type[Machine] = type("Machine", (Machine,), attributes)
    chosen = settings(
        max_examples=30,
        stateful_step_count=40,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],  # to shrink a failure takes minutes
        suppress_health_check=list(HealthCheck),
    )
    # Rules are plain functions: they run in a thread, and their requests in this loop.
    await asyncio.to_thread(run_state_machine_as_test, machine, settings=chosen)
    assert machine.runs >= 30
