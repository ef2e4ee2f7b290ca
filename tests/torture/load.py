"""Clients: seeded load on the servers, each client with a model of what it was told. Runs as a process of its own."""

import asyncio
import json
import pickle
import sys
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from domain.times import Instant, to_instant
from tests.places import ulid
from tests.torture.model import FALSE_CONFLICT, LOST_OUTCOME, OK, UNEXPECTED, Change, Model
from tests.torture.sender import UNKNOWN, Sender

Step = Callable[[], Coroutine[Any, Any, None]]

SHARED = [f"shared-{number}" for number in range(4)]
_MOST_LIVE = 500


@dataclass(frozen=True)
class Spec:
    """The task of a process: how many clients of each kind; it ends after so many steps of the first kind."""

    seed: str
    ports: list[int]
    clients: dict[str, int]
    steps: int | None
    result: str


class Client(Sender):
    """One client with things of its own, which nobody else changes: there, any conflict is a false one."""

    def __init__(self, name: str, ports: list[int], model: Model) -> None:
        super().__init__(name, ports, model)
        self._count = 0
        self._owners = [f"{name}-a", f"{name}-b"]
        self._locker = f"{name}-l"
        self._place = ulid(int.from_bytes(name.encode(), "big") % 10**18)
        self._versions: dict[str, int] = {}
        self._status = "AVAILABLE"
        self._live: list[dict[str, Any]] = []

    async def prepare(self) -> None:
        for owner in self._owners:
            await self.create_owner(owner, role="ADMIN")
        await self.create_locker(self._locker, self._owners[0])
        values = {"locationId": self._place, "code": self.name.lower(), "name": self.name, "timeZone": "Europe/Rome"}
        if await self.must("createLocation", **values):
            self._expect(f"LOCATION#{self._place}", "META", version=1)

    async def own(self) -> None:
        steps: list[Step] = [self._change_locker] * 4
        steps += [self._change_owner, self._reserve, self._reserve, self._change_reservation, self._book]
        steps += [self._record, self._record_without_ids, self._create_key, self._read]
        await self._chance.choice(steps)()

    async def read(self) -> None:
        """Mostly reads: load without much work for the store."""
        await (self._change_locker if self._chance.random() < 0.1 else self._read)()

    async def create(self) -> None:
        """Creates something, and sends the same request again."""
        new = self._new_id()
        reservation = {"lockerId": self._locker, "ownerId": self._owners[0], **self._window(self._count)}
        name, values, place = self._chance.choice(
            [
                ("createOwner", {"ownerId": new, "kind": "USER", "name": new}, (f"OWNER#{new}", "META")),
                ("registerLocker", {"lockerId": new, "ownerId": self._owners[0]}, (f"LOCKER#{new}", "META")),
                ("createReservation", reservation | {"reservationId": new}, (f"LOCKER#{self._locker}", f"RID#{new}")),
                ("recordAccessEvent", self._event(eventId=new), (f"LOCKER#{self._locker}", f"EID#{new}")),
                ("requestBooking", self._booking(new), (f"BOOKING#{new}", "META")),
            ]
        )
        first = await self.must(name, **values)
        if first is None:
            return
        self._expect(*place)
        again = await self.settle(name, values)
        if again.code != OK or first not in again.payload.values():
            self._find(FALSE_CONFLICT, f"repeated {name}", again)
        self.model.repeats += 1

    async def contend(self) -> None:
        """Something with the things that all clients share."""
        locker_id = self._chance.choice(SHARED)
        if self._chance.random() < 0.6:
            await self._change_shared(locker_id)
            return
        reservation_id = self._new_id()
        start = datetime.now(UTC) + timedelta(seconds=self._chance.uniform(-60, 600))
        length = timedelta(seconds=self._chance.choice([5, 20, 60]))
        if self._chance.random() < 0.5:
            start, length = start + timedelta(hours=self._chance.randrange(40)), timedelta(hours=1)
        values = {"lockerId": locker_id, "ownerId": "root", "reservationId": reservation_id}
        values |= {"startAt": to_instant(start), "endAt": to_instant(max(start, datetime.now(UTC)) + length)}
        outcome = await self.settle("createReservation", values)
        if outcome.code == OK:
            found = outcome.payload["reservation"]
            self._expect(f"LOCKER#{locker_id}", f"RID#{reservation_id}")
            # One that has started cannot be canceled, so only those far away are.
            if start > datetime.now(UTC) + timedelta(minutes=30) and self._chance.random() < 0.5:
                await self._cancel(locker_id, found)
        elif outcome.code in {"RESERVATION_OVERLAP", "TOO_MANY_RESERVATIONS"}:
            self.model.absent.add((f"LOCKER#{locker_id}", f"RID#{reservation_id}"))
        elif outcome.code != "BAD_USER_INPUT":  # a short one may have ended before it arrives
            self._find(UNEXPECTED, "createReservation", outcome)

    async def create_owner(self, owner_id: str, **values: str) -> None:
        if await self.must("createOwner", ownerId=owner_id, kind="USER", name=owner_id, **values):
            self._expect(f"OWNER#{owner_id}", "META", name=owner_id, version=1)
        self._versions[owner_id] = 1

    async def create_locker(self, locker_id: str, owner_id: str) -> None:
        if await self.must("registerLocker", lockerId=locker_id, ownerId=owner_id):
            self._expect(f"LOCKER#{locker_id}", "META")
        self._versions[locker_id] = 1

    async def _change_locker(self) -> None:
        other_status = {"AVAILABLE": "OCCUPIED", "OCCUPIED": "AVAILABLE"}[self._status]
        kind, values = self._chance.choice(
            [
                ("updateLockerStatus", {"newStatus": other_status}),
                ("renameLocker", {"alias": self._new_id()}),
                ("transferLocker", {"newOwnerId": self._owners[1]}),
            ]
        )
        shown = await self._change(kind, self._locker, "LOCKER", values)
        if shown is not None:
            self._status = shown["status"]
            if kind == "transferLocker":
                self._owners.reverse()
            self._expect(f"LOCKER#{self._locker}", "META", **{name: shown[name] for name in ("version", "status")})

    async def _change_owner(self) -> None:
        shown = await self._change("updateOwner", self._owners[0], "OWNER", {"name": self._new_id()})
        if shown is not None:
            self._expect(f"OWNER#{self._owners[0]}", "META", name=shown["name"], version=shown["version"])

    async def _change(self, name: str, own_id: str, kind: str, values: dict[str, Any]) -> dict[str, Any] | None:
        """A change of something versioned; its repeat after a lost answer is recognized by its change id."""
        version = self._versions[own_id]
        change = {"expectedVersion": version, "changeId": self._new_id()}
        values = {f"{kind.lower()}Id": own_id, **change, **values}
        outcome = await self.settle(name, values)
        shown: dict[str, Any] | None = (outcome.payload or {}).get(kind.lower())
        if outcome.code != OK:
            self._find(FALSE_CONFLICT, name, outcome)
        if shown is None or shown["version"] != version + 1:
            self._find(UNEXPECTED, name, outcome)
            return None
        self._versions[own_id] = version + 1
        return shown

    async def _change_shared(self, locker_id: str) -> None:
        """Once: a client without an answer does not know the outcome."""
        alias, expected = self._new_id(), self._versions.get(locker_id, 1)
        start = time.monotonic()
        values = {"lockerId": locker_id, "alias": alias, "expectedVersion": expected, "changeId": alias}
        outcome = await self.send("renameLocker", values)
        end = time.monotonic()
        if outcome.is_version_conflict:
            current = outcome.errors[0]["currentVersion"]
            if current <= expected or outcome.payload["locker"]["alias"] == alias:
                self._find(FALSE_CONFLICT, "renameLocker", outcome)
            if outcome.sends > 1:  # it may have been made, and then others were
                self.model.history.append(Change(locker_id, expected, None, None, start, end))
            self._versions[locker_id] = current
        elif outcome.code == OK:
            shown = outcome.payload["locker"]
            self._versions[locker_id] = shown["version"]
            updated_at = Instant(shown["updatedAt"])
            self.model.history.append(Change(locker_id, expected, shown["version"], updated_at, start, end))
        elif outcome.code in UNKNOWN:
            self.model.history.append(Change(locker_id, expected, None, None, start, end))
            self._versions[locker_id] = expected  # the next conflict tells
        else:
            self._find(UNEXPECTED, "renameLocker", outcome)

    async def _reserve(self) -> None:
        if len(self._live) >= _MOST_LIVE:
            await self._cancel(self._locker, self._live.pop())
            return
        new = self._new_id()
        values = {"lockerId": self._locker, "ownerId": self._owners[0], "reservationId": new}
        found = await self.must("createReservation", **values, **self._window(self._count))
        if found is not None:
            self._live.append(found)
            self._expect_reservation(self._locker, found)

    async def _change_reservation(self) -> None:
        if not self._live:
            return
        found = self._live.pop(self._chance.randrange(len(self._live)))
        if self._chance.random() < 0.5:
            await self._cancel(self._locker, found)
            return
        end = to_instant(datetime.fromisoformat(found["endAt"]) + timedelta(minutes=20))
        reservation = {"lockerId": self._locker, "reservationId": found["reservationId"]}
        changed = await self.must("extendReservation", **reservation, newEndAt=end)
        if changed is not None:
            self._live.append(changed)
            self._expect_reservation(self._locker, changed)

    async def _cancel(self, locker_id: str, found: dict[str, Any]) -> None:
        changed = await self.must("cancelReservation", lockerId=locker_id, reservationId=found["reservationId"])
        if changed is not None:
            self._expect_reservation(locker_id, changed)

    async def _book(self) -> None:
        new = self._new_id()
        if not await self.must("requestBooking", **self._booking(new)):
            return
        shown = await self.must("approveBooking", bookingId=new, expectedVersion=1, changeId=new)
        if shown and self._chance.random() < 0.3:
            shown = await self.must("cancelBooking", bookingId=new)
        if shown:
            self._expect(f"BOOKING#{new}", "META", status=shown["status"], version=shown["version"])

    async def _record(self) -> None:
        events = [self._event(eventId=self._new_id()) for _ in range(3)]
        for found in await self.must("recordAccessEvents", events=events) or []:
            self._expect(f"LOCKER#{self._locker}", f"EID#{found['eventId']}")
            self._expect(f"LOCKER#{self._locker}", f"EVT#{found['timestamp']}#{found['eventId']}")

    async def _record_without_ids(self) -> None:
        """Once: nobody could tell a repeat from other events."""
        outcome = await self.send("recordAccessEvents", {"events": [self._event()] * 2})
        if outcome.code == OK:
            for found in outcome.payload["accessEvents"]:
                self._expect(f"LOCKER#{self._locker}", f"EVT#{found['timestamp']}#{found['eventId']}")
        elif outcome.code not in UNKNOWN:
            self._find(LOST_OUTCOME, "recordAccessEvents without ids", outcome)

    async def _create_key(self) -> None:
        values = {"keyId": self._new_id(), "name": "key", "role": "DEVICE", "lockerId": self._locker}
        outcome = await self.settle("createApiKey", values)
        if outcome.code != OK or (outcome.sends == 1 and outcome.payload["secret"] is None):
            self._find(LOST_OUTCOME, "createApiKey", outcome)
        else:
            self._expect(f"APIKEY#{values['keyId']}", "META")

    async def _read(self) -> None:
        outcome = await self.send("locker", self._locker)
        if outcome.code not in {OK, *UNKNOWN}:
            self._find(UNEXPECTED, "locker", outcome)

    def _new_id(self) -> str:
        self._count += 1
        return f"{self.name}-{self._count}"

    def _event(self, **values: str) -> dict[str, str]:
        return {"lockerId": self._locker, "action": "OPEN", "actorId": "ada", "result": "SUCCESS", **values}

    def _booking(self, booking_id: str) -> dict[str, Any]:
        """A day of its own for each."""
        day = datetime(2030, 1, 1, tzinfo=UTC) + timedelta(days=self._count)
        content = {"locationId": self._place, "ownerId": f"{self.name}-a", "date": day.date().isoformat()}
        return {"bookingId": booking_id, "duration": "FULL_DAY", "description": "Chess", "attendees": 5, **content}

    @staticmethod
    def _window(number: int) -> dict[str, str]:
        """A window in the future that no other number has, with space to be extended again and again."""
        start = datetime(2030, 1, 1, tzinfo=UTC) + timedelta(days=number)
        return {"startAt": to_instant(start), "endAt": to_instant(start + timedelta(minutes=30))}

    def _expect(self, pk: str, sk: str, /, **attributes: Any) -> None:
        self.model.present[pk, sk] = attributes

    def _expect_reservation(self, locker_id: str, shown: dict[str, Any]) -> None:
        place = f"RES#{shown['startAt']}#{shown['reservationId']}"
        status = shown["status"] if shown["status"] == "CANCELLED" else "ACTIVE"
        self._expect(f"LOCKER#{locker_id}", place, endAt=shown["endAt"], status=status)


async def run(spec: Spec, stopped: asyncio.Event) -> Model:
    """Runs all clients of a process until it is told to stop, or its steps are done."""
    model = Model()
    left = spec.steps
    counted = next(iter(spec.clients))

    async def work(kind: str, number: int) -> None:
        nonlocal left
        client = Client(f"{spec.seed}-{kind}-{number}", spec.ports, model)
        step: Step = getattr(client, kind)
        if kind != "contend":
            await client.prepare()
        while not stopped.is_set():
            if left is not None and kind == counted:
                left -= 1
                if left == 0:
                    stopped.set()
            await step()
        client.hang_up()

    async with asyncio.TaskGroup() as group:
        for kind, count in spec.clients.items():
            for number in range(count):
                group.create_task(work(kind, number))
    return model


async def main(spec: Spec) -> Model:
    stopped = asyncio.Event()

    def stop() -> None:
        """Its parent closes the pipe, and so does the parent's end."""
        asyncio.get_running_loop().remove_reader(sys.stdin)
        stopped.set()

    asyncio.get_running_loop().add_reader(sys.stdin, stop)
    return await run(spec, stopped)


if __name__ == "__main__":
    given = Spec(**json.loads(sys.argv[1]))
    Path(given.result).write_bytes(pickle.dumps(asyncio.run(main(given))))
