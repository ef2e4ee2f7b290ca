"""Nothing that happens to the items of a locker's reservations keeps the locker from being reserved for good."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import pytest
import pytest_asyncio

from domain.models import LockerId, OwnerId
from loaders.backend import Backend
from loaders.table.client import DynamoStore
from loaders.table.values import item_to_wire
from loaders.tools.doctor import Doctor, Records
from tests.api import CREATE_RESERVATION, Api
from tests.conftest import NOW, Clock, Dump, Prepared
from tests.invariants import Items, check_invariants
from tests.reservations import CANCEL, EXTEND, RELEASE, START
from tests.tables import PlainClient

Key = tuple[str, str]
Damage = dict[Key, dict[str, Any] | None]
GUARD, POINTER = ("LOCKER#l1", "GUARD#RES"), ("LOCKER#l1", "RES#ACTIVE")
LIVE = tuple(
    ("LOCKER#l1", f"LIVE#2026-03-0{place}")
    for place in ("1T11:00:00.000Z#running", "2T11:00:00.000Z#next", "3T11:00:00.000Z#last")
)
RECORDS = Records(lockers=(LockerId("l1"),), owners=(OwnerId("ada"),))


def window(day: int, start: int, end: int) -> dict[str, str]:
    return {"startAt": f"2026-03-{day:02d}T{start:02d}:00:00Z", "endAt": f"2026-03-{day:02d}T{end:02d}:00:00Z"}


async def stock(api: Api) -> None:
    """A locker with a canceled, a running and two coming reservations; the first of these was changed last."""
    await api.owner("ada")
    await api.locker("l1", "ada")
    for name, at in (("gone", (2, 1, 2)), ("running", (1, 11, 14)), ("next", (2, 11, 12)), ("last", (3, 11, 12))):
        await api.done(CREATE_RESERVATION, reservationId=name, lockerId="l1", ownerId="ada", **window(*at))
    await api.done(CANCEL, lockerId="l1", reservationId="gone")
    await api.done(START, lockerId="l1", reservationId="running")
    await api.done(EXTEND, lockerId="l1", reservationId="next", newEndAt="2026-03-02T13:00:00Z")


WRITES: dict[str, tuple[str, dict[str, Any]]] = {
    "extend": (EXTEND, {"reservationId": "last", "newEndAt": "2026-03-03T13:00:00Z"}),
    "release": (RELEASE, {"reservationId": "running"}),
    "create": (CREATE_RESERVATION, {"reservationId": "new", "ownerId": "ada", **window(20, 1, 2)}),
}


async def errors(api: Api) -> dict[str, list[str]]:
    """The codes of the errors of each write."""
    found = {}
    for name, (document, values) in WRITES.items():
        answer = await api.send(document, input={"lockerId": "l1", **values})
        payload = next(iter((answer["data"] or {}).values()), None) or {}
        codes = [error["extensions"]["code"] for error in answer.get("errors", ())]
        found[name] = codes + [error["code"] for error in payload.get("userErrors", ())]
    return found


@dataclass
class Table:
    """The table, which is broken anew each time."""

    api: Api
    client: PlainClient
    name: str
    items: Items
    doctor: Doctor

    async def errors_with(self, damage: Damage) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        """The errors of writes after the damage, and once it was repaired."""
        await self.fill(damage)
        broken = await errors(self.api)
        assert await self.doctor.repair(await self.doctor.check(RECORDS)) == []
        return broken, await errors(self.api)

    async def fill(self, damage: Damage) -> None:
        there = await self.client.records(self.name)
        kept = [item for item in (self.items | damage).values() if item is not None]
        await self.client.fill(self.name, [item_to_wire(item) for item in kept])
        for pk, sk in there.keys() - {(item["PK"], item["SK"]) for item in kept}:
            await self.client.delete_item(TableName=self.name, Key={"PK": {"S": pk}, "SK": {"S": sk}})


@pytest_asyncio.fixture
async def table_of_l1(
    api: Api, prepared: Prepared, backend: Backend, plain_client: PlainClient, table: str, dump: Dump
) -> Table:
    await prepared(stock, api)
    assert isinstance(backend.store, DynamoStore)
    return Table(api, plain_client, table, await dump(), Doctor(backend.store, backend.clock))


@pytest.mark.parametrize("hours", [0, 192], ids=["at once", "when all have ended"])
@pytest.mark.parametrize(
    "kinds",
    [("LIVE_RESERVATION", "RESERVATION_GUARD"), ("RESERVATION_ACTIVE", "RESERVATION_SLOT"), ("OWNER_RESERVATION",)],
)
async def test_writes_go_on_without_any_item_that_is_derived_from_reservations(
    kinds: tuple[str, ...], hours: int, table_of_l1: Table, clock: Clock
) -> None:
    clock.move(hours=hours)
    intact, _ = await table_of_l1.errors_with({})
    assert intact == {"extend": ["RESERVATION_OVER"] if hours else [], "release": [], "create": []}
    for key in [key for key, item in table_of_l1.items.items() if item["entityType"] in kinds]:
        assert await table_of_l1.errors_with({key: None}) == (intact, intact), key


@pytest.mark.parametrize("lost", list(combinations((GUARD, POINTER, *LIVE), 2)), ids=str)
async def test_writes_go_on_without_two_of_them(lost: tuple[Key, Key], table_of_l1: Table, clock: Clock) -> None:
    clock.move(hours=192)
    ended = {"extend": ["RESERVATION_OVER"], "release": [], "create": []}
    assert await table_of_l1.errors_with(dict.fromkeys(lost)) == (ended, ended)


AGAINST_THE_GUARD: dict[str, tuple[Key, dict[str, Any]]] = {
    "the guard is older than the reservation that it names": (GUARD, {"revision": 5, "changedRevision": 5}),
    "the guard is newer": (GUARD, {"revision": 9, "changedRevision": 9}),
    "the guard names a removal that is none": (GUARD, {"changedRemoved": True}),
    "the guard names no reservation": (GUARD, {"changedReservationId": "nobody"}),
    "the guard names half a change": (GUARD, {"changedStartAt": None}),
    "the live copy is older": (LIVE[1], {"revision": 3}),
    "the live copy is newer": (LIVE[1], {"revision": 9}),
}


@pytest.mark.parametrize("hours", [0, 192], ids=["at once", "when all have ended"])
@pytest.mark.parametrize("name", AGAINST_THE_GUARD)
async def test_writes_go_on_if_the_guard_and_the_last_change_disagree(
    name: str, hours: int, table_of_l1: Table, clock: Clock
) -> None:
    clock.move(hours=hours)
    key, values = AGAINST_THE_GUARD[name]
    changed = {name: value for name, value in (table_of_l1.items[key] | values).items() if value is not None}
    expected = {"extend": ["RESERVATION_OVER"] if hours else [], "release": [], "create": []}
    assert await table_of_l1.errors_with({key: changed}) == (expected, expected)


async def test_a_write_takes_a_lost_live_copy_into_account(table_of_l1: Table) -> None:
    """The copy is written again before anything is decided by it."""
    await table_of_l1.client.delete_item(
        TableName=table_of_l1.name, Key={"PK": {"S": LIVE[1][0]}, "SK": {"S": LIVE[1][1]}}
    )
    named = {"lockerId": "l1", "ownerId": "ada"}
    payload = await table_of_l1.api.mutate(CREATE_RESERVATION, **named, **window(2, 12, 14))
    assert [error["reservation"]["reservationId"] for error in payload["userErrors"]] == ["next"]


@pytest.mark.parametrize("start", [5, 18], ids=["before", "after"])
async def test_a_new_reservation_writes_a_lost_pointer_again(start: int, table_of_l1: Table) -> None:
    await table_of_l1.client.delete_item(
        TableName=table_of_l1.name, Key={"PK": {"S": POINTER[0]}, "SK": {"S": POINTER[1]}}
    )
    await table_of_l1.api.reservation("new", "l1", "ada", *window(2, start, start + 1).values())
    found = await table_of_l1.client.records(table_of_l1.name)
    assert found[POINTER]["reservationId"] == "running"
    check_invariants(found, NOW)


UNREADABLE = [
    (POINTER, "endAt"),
    (POINTER, "version"),
    (GUARD, "revision"),
    (GUARD, "entityType"),
    (LIVE[1], "status"),
    (("LOCKER#l1", "RID#last"), "fingerprint"),
    (("LOCKER#l1", "RES#2026-03-03T11:00:00.000Z#last"), "version"),
    (("OWNER#ada", "RES#2026-03-03T11:00:00.000Z#last"), "endAt"),
    (("OWNER#ada", "SLOT#0019"), "reservationId"),
]


@pytest.mark.parametrize(("key", "name"), UNREADABLE, ids=str)
async def test_writes_go_on_once_an_item_that_they_could_not_read_is_repaired(
    key: Key, name: str, table_of_l1: Table
) -> None:
    await table_of_l1.fill({key: {one: value for one, value in table_of_l1.items[key].items() if one != name}})
    doctor = table_of_l1.doctor
    found = await doctor.check(RECORDS)
    assert key in {(finding.key.pk, finding.key.sk) for finding in found}
    assert await doctor.repair(found) == []
    assert await errors(table_of_l1.api) == {"extend": [], "release": [], "create": []}


TORN: dict[str, tuple[str, dict[str, Any]]] = {
    "a creation": (CREATE_RESERVATION, {"reservationId": "r9", "ownerId": "ada", **window(5, 1, 2)}),
    "a cancellation": (CANCEL, {"reservationId": "last"}),
    "a release": (RELEASE, {"reservationId": "running"}),
}


@pytest.mark.parametrize("is_reversed", [False, True], ids=["lockers first", "owners first"])
@pytest.mark.parametrize("name", TORN)
async def test_a_locker_can_be_reserved_after_an_import_of_half_a_transaction(
    name: str, table_of_l1: Table, *, is_reversed: bool
) -> None:
    """An export that was written meanwhile has some items as before, and those that it read later as after it."""
    document, values = TORN[name]
    await table_of_l1.api.done(document, lockerId="l1", **values)
    before, after = table_of_l1.items, await table_of_l1.client.records(table_of_l1.name)
    changed = [key for key in before.keys() | after.keys() if before.get(key) != after.get(key)]
    changed.sort(reverse=is_reversed)
    for cut in range(1, len(changed)):
        await table_of_l1.fill({key: after.get(key) for key in changed[cut:]})
        doctor = table_of_l1.doctor
        found, _ = await doctor.check_table(items_per_second=1e9, progress=lambda _: None)
        assert not [finding for finding in await doctor.repair(found) if finding.repair], changed[cut:]
        assert (await errors(table_of_l1.api))["create"] == []
