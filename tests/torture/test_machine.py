"""Random sequences of requests: the API answers as a plain model of lockers does, at every time."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from functools import partial
from typing import Any

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
from tests.api import Api, mutation
from tests.conftest import Clock, Dump
from tests.invariants import check_invariants

Shown = dict[str, Any]

_OWNER = "ownerId name email version"
_LOCKER = "lockerId alias status ownerId version"
_RESERVATION = "reservationId ownerId startAt endAt status"
DOCUMENTS = {
    name: mutation(name, f"{kind} {{ {shown} }}")
    for names, kind, shown in (
        ("createOwner updateOwner", "owner", _OWNER),
        ("registerLocker renameLocker updateLockerStatus transferLocker", "locker", _LOCKER),
        ("createReservation cancelReservation extendReservation", "reservation", _RESERVATION),
    )
    for name in names.split()
}
LOCKER = f"""query ($id: ID!) {{ locker(lockerId: $id) {{
  {_LOCKER} activeReservation {{ reservationId }} reservations(first: 100) {{ nodes {{ {_RESERVATION} }} }}
}} }}"""
OWNER = f"""query ($id: ID!) {{ owner(ownerId: $id) {{
  {_OWNER} lockers(first: 100) {{ nodes {{ lockerId }} }}
  reservations(first: 100) {{ nodes {{ reservationId startAt }} }}
}} }}"""
IDS = st.sampled_from("aaaabbc")
RESERVATIONS = st.sampled_from("abcdefghijklmnop")
NAMES = st.sampled_from(["Front", "Back"])
EMAILS = st.sampled_from([None, "one@example.com", "One@Example.com", "two@example.com"])
STALENESS = st.sampled_from([0, 0, 0, -1, 1])
HOURS = st.integers(-1, 5)
LENGTHS = st.integers(1, 2)


class RefusedError(Exception):
    """The model refuses with the type of an error, or with its code if it is a plain one."""


class Model:
    """A locker system without a store: methods take inputs and return what is then shown, or refuse."""

    def __init__(self, now: Callable[[], Instant]) -> None:
        self.now = now
        self.owners: dict[str, Shown] = {}
        self.lockers: dict[str, Shown] = {}
        self.reservations: dict[tuple[str, str], Shown] = {}
        self._canceled: set[tuple[str, str]] = set()
        self._first: dict[object, Shown] = {}

    def create_owner(self, values: Shown) -> Shown:
        own = values["ownerId"]
        if not self._was_created(("owner", own), values):
            self._check_email(own, values["email"])
            self._first["owner", own] = values
            self.owners[own] = {name: values[name] for name in ("ownerId", "name", "email")} | {"version": 1}
        return self.owners[own]

    def register_locker(self, values: Shown) -> Shown:
        own = values["lockerId"]
        if not self._was_created(("locker", own), values):
            _found(self.owners, values["ownerId"])
            self._first["locker", own] = values
            self.lockers[own] = values | {"status": LockerStatus.AVAILABLE, "version": 1}
        return self.lockers[own]

    def change(self, things: dict[str, Shown], own: str, version: int, values: Shown) -> Shown:
        current = _found(things, own)
        if current["version"] != version:
            raise RefusedError("VersionConflictError")
        if "status" in values and values["status"] not in TRANSITIONS[current["status"]]:
            raise RefusedError("InvalidTransitionError")
        if "ownerId" in values:
            _found(self.owners, values["ownerId"])
        self._check_email(own, values.get("email"))
        things[own] = current | values | {"version": version + 1}
        return things[own]

    def reserve(self, values: Shown) -> Shown:
        locker, own, owner = (values[name] for name in ("lockerId", "reservationId", "ownerId"))
        first = self._first.get((locker, own))
        if first != values:
            status = _found(self.lockers, locker)["status"]
            if first is not None:
                raise RefusedError("ID_TAKEN")
            if status is LockerStatus.MAINTENANCE:
                raise RefusedError("LOCKER_IN_MAINTENANCE")
            _found(self.owners, owner)
            if values["endAt"] <= self.now():
                raise RefusedError("BAD_USER_INPUT")
            self._check_free(locker, values["startAt"], values["endAt"])
            for (other_locker, other), made in self.reservations.items():
                same = (other, made["ownerId"], made["startAt"]) == (own, owner, values["startAt"])
                if same and other_locker != locker:
                    raise RefusedError("ID_TAKEN")
            self._first[locker, own] = values
            self.reservations[locker, own] = {name: value for name, value in values.items() if name != "lockerId"}
        return self.shown(locker, own)

    def cancel(self, locker: str, own: str) -> Shown:
        current, is_canceled = _found(self.reservations, (locker, own)), (locker, own) in self._canceled
        if not is_canceled and current["endAt"] <= self.now():
            raise RefusedError("RESERVATION_OVER")
        if not is_canceled and current["startAt"] <= self.now():
            raise RefusedError("RESERVATION_STARTED")
        self._canceled.add((locker, own))
        return self.shown(locker, own)

    def extend(self, locker: str, own: str, end: Instant) -> Shown:
        current, is_canceled = _found(self.reservations, (locker, own)), (locker, own) in self._canceled
        if end <= current["startAt"]:
            raise RefusedError("BAD_USER_INPUT")
        if end != current["endAt"] or is_canceled:
            if is_canceled or current["endAt"] <= self.now():
                raise RefusedError("RESERVATION_OVER")
            if end < current["endAt"]:
                raise RefusedError("BAD_USER_INPUT")
            self._check_free(locker, current["startAt"], end, but=own)
            current["endAt"] = end
        return self.shown(locker, own)

    def shown(self, locker: str, own: str) -> Shown:
        made, now = self.reservations[locker, own], self.now()
        status = "UPCOMING" if now < made["startAt"] else "EXPIRED" if made["endAt"] <= now else "ACTIVE"
        return made | {"status": "CANCELLED" if (locker, own) in self._canceled else status}

    def _was_created(self, key: tuple[str, str], content: Shown) -> bool:
        if self._first.get(key, content) != content:
            raise RefusedError("ID_TAKEN")
        return key in self._first

    def _check_email(self, own: str, email: str | None) -> None:
        taken = {each["email"].lower() for other, each in self.owners.items() if each["email"] and other != own}
        if email is not None and email.lower() in taken:
            raise RefusedError("EMAIL_TAKEN")

    def _check_free(self, locker: str, start: Instant, end: Instant, but: str = "") -> None:
        for (where, own), other in self.reservations.items():
            is_other = where == locker and own != but and (where, own) not in self._canceled
            if is_other and other["startAt"] < end and start < other["endAt"]:
                raise RefusedError("ReservationOverlapError")


def _found(things: dict[Any, Shown], key: Any) -> Shown:
    if key not in things:
        raise RefusedError("NOT_FOUND")
    return things[key]


class Machine(RuleBasedStateMachine):
    """Sends what the model is asked, and compares. Each run has ids and addresses of its own; time only goes on."""

    api: Api
    clock: Clock
    dump: Dump
    loop: asyncio.AbstractEventLoop
    runs = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).runs += 1
        self.model = Model(self.clock)
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
        self.compare("createOwner", values, partial(self.model.create_owner, values))

    @rule(own=IDS, staleness=STALENESS, name=NAMES, email=EMAILS)
    def update_owner(self, own: str, staleness: int, name: str, email: str | None) -> None:
        self.change("updateOwner", own, staleness, name=name, email=self.address(email))

    @rule(locker=IDS, owner=IDS, alias=st.none() | NAMES)
    def register_locker(self, locker: str, owner: str, alias: str | None) -> None:
        values = {"lockerId": self.id(locker), "ownerId": self.id(owner), "alias": alias}
        self.compare("registerLocker", values, partial(self.model.register_locker, values))

    @rule(locker=IDS, staleness=STALENESS, status=st.sampled_from(LockerStatus))
    def update_status(self, locker: str, staleness: int, status: LockerStatus) -> None:
        self.change("updateLockerStatus", locker, staleness, status=status)

    @rule(locker=IDS, staleness=STALENESS, alias=NAMES)
    def rename(self, locker: str, staleness: int, alias: str) -> None:
        self.change("renameLocker", locker, staleness, alias=alias)

    @rule(locker=IDS, staleness=STALENESS, owner=IDS)
    def transfer(self, locker: str, staleness: int, owner: str) -> None:
        self.change("transferLocker", locker, staleness, ownerId=self.id(owner))

    @rule(locker=IDS, owner=IDS, windows=st.lists(st.tuples(RESERVATIONS, HOURS, LENGTHS), min_size=1, max_size=5))
    def reserve(self, locker: str, owner: str, windows: list[tuple[str, int, int]]) -> None:
        for own, hour, length in windows:
            named = {"lockerId": self.id(locker), "reservationId": own, "ownerId": self.id(owner)}
            values = {**named, "startAt": self.hour(hour), "endAt": self.hour(hour + length)}
            self.compare("createReservation", values, partial(self.model.reserve, values))

    @precondition(lambda self: self.model.reservations)
    @rule(number=st.integers(0, 9))
    def cancel(self, number: int) -> None:
        locker, own = self.some_reservation(number)
        values = {"lockerId": locker, "reservationId": own}
        self.compare("cancelReservation", values, partial(self.model.cancel, locker, own))

    @precondition(lambda self: self.model.reservations)
    @rule(number=st.integers(0, 9), hour=HOURS)
    def extend(self, number: int, hour: int) -> None:
        locker, own = self.some_reservation(number)
        values = {"lockerId": locker, "reservationId": own, "newEndAt": self.hour(hour)}
        self.compare("extendReservation", values, partial(self.model.extend, locker, own, self.hour(hour)))

    @rule(minutes=st.sampled_from([1, 9, 30, 60, 120]))
    def wait(self, minutes: int) -> None:
        self.clock.move(minutes=minutes)
        self.passed += minutes

    @rule()
    def look(self) -> None:
        reservations = sorted(self.model.reservations.items(), key=lambda item: (item[1]["startAt"], item[0][1]))
        for own, locker in self.model.lockers.items():
            shown = [self.model.shown(*key) for key, _ in reservations if key[0] == own]
            active = [{"reservationId": each["reservationId"]} for each in shown if each["status"] == "ACTIVE"]
            assert self.run(self.api.run(LOCKER, id=own))["locker"] == locker | {
                "activeReservation": active[0] if active else None,
                "reservations": {"nodes": shown},
            }
        for own, owner in self.model.owners.items():
            lockers = sorted(locker for locker, each in self.model.lockers.items() if each["ownerId"] == own)
            made = [each for _, each in reservations if each["ownerId"] == own]
            assert self.run(self.api.run(OWNER, id=own))["owner"] == owner | {
                "lockers": {"nodes": [{"lockerId": locker} for locker in lockers]},
                "reservations": {
                    "nodes": [{name: each[name] for name in ("reservationId", "startAt")} for each in made]
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

    def compare(self, name: str, values: Shown, expected: Callable[[], Shown]) -> None:
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

    def change(self, name: str, own: str, staleness: int, /, **values: Any) -> None:
        own = self.id(own)
        id_name, things = ("ownerId", self.model.owners) if name == "updateOwner" else ("lockerId", self.model.lockers)
        if own in things and things[own].items() >= values.items():
            return  # no change; what that does is tested elsewhere
        version = max(1, things[own]["version"] + staleness) if own in things else 1
        sent = {{"status": "newStatus", "ownerId": "newOwnerId"}.get(name, name): each for name, each in values.items()}
        expected = partial(self.model.change, things, own, version, values)
        self.compare(name, {id_name: own, "expectedVersion": version, **sent}, expected)

    def some_reservation(self, number: int) -> tuple[str, str]:
        """One that is there, or one that is not."""
        known = [*self.model.reservations, (self.id("a"), "none")]
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


async def test_any_sequence_of_requests_is_answered_as_by_the_model(api: Api, clock: Clock, dump: Dump) -> None:
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
