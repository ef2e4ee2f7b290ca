"""Every invariant is broken on purpose: it is found, repaired without a trace, and not found again."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import pytest_asyncio

from domain.access_codes import MIN_SECRET_BYTES, CodeRing
from domain.bookings import BookingId
from domain.models import LocationId, LockerId, OwnerId
from domain.schedule import free_slot
from loaders.backend import Backend
from loaders.keys import lot_of
from loaders.table.client import DynamoStore
from loaders.table.values import item_to_wire
from loaders.tools.demo import DemoShape, load_demo
from loaders.tools.demo_codes import load_demo_codes
from loaders.tools.doctor import Doctor, Records, check_export_file, full_scan_cost
from loaders.tools.findings import Finding
from loaders.tools.transfer import export_table
from tests.api import CREATE_RESERVATION, UPDATE_STATUS, Api, unchanged
from tests.codes import create as create_code
from tests.codes import furnish
from tests.conftest import NOW, RING, Dump, Prepared
from tests.invariants import Items, check_invariants
from tests.places import DAY, approve, book, prepare, ulid
from tests.races.holding import Held
from tests.reservations import CANCEL, EXTEND, START
from tests.webhooks import DELETE
from tests.webhooks import create as create_webhook
from tests.wire import Wire

Key = tuple[str, str]
Change = Callable[[Items], dict[Key, dict[str, Any] | None]]
Break = Callable[[Change], Awaitable[None]]

PLACE = f"LOCATION#{ulid(0)}"
LOCKER = ("LOCKER#l1", "META")
COPY = ("OWNER#ada", "LOCKER#l1")
PLACED = (PLACE, "LOCKER#l1")
OFFER = (PLACE, f"OFFER#MEMBERS#ada#M#{lot_of('l1')}#l1")
POINTER = ("LOCKER#l1", "RES#ACTIVE")
GUARD = ("LOCKER#l1", "GUARD#RES")
FIRST = ("LOCKER#l1", "RES#2026-03-01T12:00:00.000Z#first")
LATER = ("LOCKER#l1", "RES#2026-03-01T15:00:00.000Z#later")
CLAIM = ("LOCKER#l1", "RID#later")
MADE = ("OWNER#ada", "RES#2026-03-01T15:00:00.000Z#later")
BOOKING, PENDING = ("BOOKING#b1", "META"), ("BOOKING#b2", "META")
BOOKED = ("OWNER#ada", f"BOOKING#{DAY}#b1")
MORNING = (PLACE, f"DAY#{DAY}#MORNING")
EMAIL, OTHER_EMAIL = ("EMAIL#bob@example.com", "META"), ("EMAIL#old@example.com", "META")
CODE = ("LOCATION_CODE#place-0", "META")
COUNT, WEBHOOKS = ("OWNER#ada", "PENDING_BOOKINGS"), ("OWNER#ada", "WEBHOOKS")
SITE = (PLACE, "META")


def without(*wanted: Key) -> Change:
    return lambda _: dict.fromkeys(wanted)


def changed(key: Key, **values: Any) -> Change:
    """The item with other attributes; None removes one."""

    def change(items: Items) -> dict[Key, dict[str, Any] | None]:
        return {key: {name: value for name, value in (items[key] | values).items() if value is not None}}

    return change


def moved(source: Key, target: Key, **values: Any) -> Change:
    """A copy of an item under another key."""
    return lambda items: {target: items[source] | {"PK": target[0], "SK": target[1]} | values}


class Case(NamedTuple):
    """A change that breaks something, the invariants and items reported, and the records whose check finds it."""

    change: Change
    expected: set[tuple[str, Key]]
    records: Records = Records()
    is_repaired: bool = True
    is_as_before: bool = True


def lost(invariant: str, key: Key, records: Records) -> Case:
    return Case(without(key), {(invariant, key)}, records)


def altered(invariant: str, key: Key, records: Records, *, is_repaired: bool = True, **values: Any) -> Case:
    return Case(changed(key, **values), {(invariant, key)}, records, is_repaired)


def stray(
    invariant: str, source: Key, target: Key, records: Records, *, is_repaired: bool = True, **values: Any
) -> Case:
    return Case(moved(source, target, **values), {(invariant, target)}, records, is_repaired)


OF_LOCKER = Records(lockers=(LockerId("l1"),))
OF_ADA = Records(owners=(OwnerId("ada"),))
OF_BOB = Records(owners=(OwnerId("bob"),))
OF_PLACE = Records(locations=(LocationId(ulid(0)),))
OF_BOOKING = Records(bookings=(BookingId("b1"),))
OF_PENDING = Records(bookings=(BookingId("b2"),))

LIVE = ("LOCKER#l1", "LIVE#2026-03-01T15:00:00.000Z#later")
REFERENCE = ("OWNER#ada", "REF#order 1")
OVERDUE = ("LOCKER#l1", "OVERDUE")
OVERDUE_PLACE = {"entityType": "OVERDUE_STAY", "ownerId": "ada", "overdueSince": "2026-03-01T13:00:00.000Z"}
OVERDUE_PLACE |= {"SK": "OVERDUE", "GSI1PK": "OVERDUE", "GSI1SK": "2026-03-01T13:00:00.000Z#l1"}
SLOT = ("OWNER#ada", f"SLOT#{free_slot([], 20, NOW, 'l1 first')}")
DETAILS = ("LOCKER#l1", "DETAILS#none")
NEXT_MORNING = (PLACE, "DAY#2026-03-11#MORNING")
HALF_PAST_12, HALF_PAST_3 = "2026-03-01T12:30:00.000Z", "2026-03-01T15:30:00.000Z"

CASES = {
    "a live copy is missing": lost("I5", LIVE, OF_LOCKER),
    "a live copy has an old end": altered("I5", LIVE, OF_LOCKER, endAt=HALF_PAST_3),
    "a live copy has no record of its id, and overlaps another": Case(
        moved(LIVE, ("LOCKER#l1", f"{LIVE[1]}-2"), reservationId="later-2"),
        {("I6", ("LOCKER#l1", f"{LATER[1]}-2"))},
        OF_LOCKER,
        is_repaired=False,
    ),
    "a reservation is lost but for its live copy": lost("I6", LATER, OF_LOCKER),
    "the running reservation is lost but for its live copy": lost("I6", FIRST, OF_LOCKER),
    "the running reservation is lost, found by its owner": lost("I6", FIRST, OF_ADA),
    "a reservation is lost with its live copy": Case(
        without(LATER, LIVE), {("I6", CLAIM)}, OF_LOCKER, is_repaired=False
    ),
    "a slot has no reservation": Case(
        lambda items: {
            ("OWNER#ada", "SLOT#0999"): items[SLOT] | {"SK": "SLOT#0999", "slot": "0999", "reservationId": "r"}
        },
        {("I6", ("OWNER#ada", "SLOT#0999"))},
        OF_ADA,
    ),
    "a locker names no location": altered("I3", LOCKER, OF_LOCKER, locationId=ulid(9), is_repaired=False),
    "a locker names no owner": altered("I3", LOCKER, OF_LOCKER, ownerId="nobody", is_repaired=False),
    "a booking is pending again": Case(
        changed(BOOKING, status="PENDING"), {("I3", BOOKED)}, OF_BOOKING, is_as_before=False
    ),
    "the guard is missing": Case(without(GUARD), {("I5", GUARD)}, OF_LOCKER, is_as_before=False),
    "a slot is missing": lost("I6", SLOT, OF_LOCKER),
    "a slot has another end": altered("I6", SLOT, OF_ADA, endAt=HALF_PAST_3),
    "a slot has another reservation": altered(
        "I6", SLOT, OF_LOCKER, reservationId="last", startAt="2026-03-01T19:00:00.000Z"
    ),
    "details are of no reservation": stray(
        "I6", CLAIM, DETAILS, Records(), entityType="RESERVATION_DETAILS", reservationId="none", is_repaired=False
    ),
    "the claim of a reference is missing": lost("I6", REFERENCE, OF_LOCKER),
    "a reference is claimed for nothing": stray(
        "I6", REFERENCE, ("OWNER#ada", "REF#order 2"), OF_ADA, reference="order 2"
    ),
    "an owner's copy is missing": lost("I4", COPY, OF_LOCKER),
    "an owner's copy is old": altered("I4", COPY, OF_ADA, status="OCCUPIED"),
    "an owner's copy is damaged": altered("I4", COPY, OF_LOCKER, status="GONE"),
    "an owner's copy is not in the index": altered("I4", COPY, OF_ADA, GSI1PK=None, GSI1SK=None),
    "another owner has a copy": stray("I4", COPY, ("OWNER#bob", "LOCKER#l1"), OF_BOB, ownerId="bob"),
    "a location's copy is missing": lost("I3", PLACED, OF_LOCKER),
    "a location's copy has another alias": altered("I3", PLACED, OF_PLACE, alias="Old"),
    "a location has a copy of a locker elsewhere": stray(
        "I3", PLACED, (PLACE, "LOCKER#l2"), OF_PLACE, lockerId="l2", GSI1SK="l2"
    ),
    "an offer is missing": lost("I3", OFFER, OF_LOCKER),
    "an offer has another alias": altered("I3", OFFER, OF_PLACE, alias="Old"),
    "a locker is offered to others": stray(
        "I3", OFFER, (PLACE, OFFER[1].replace("MEMBERS#ada", "EVERYONE#-")), OF_PLACE
    ),
    "a reservation's copy is missing": lost("I3", MADE, OF_LOCKER),
    "a reservation's copy ends otherwise": altered("I3", MADE, OF_ADA, endAt=HALF_PAST_3),
    "another owner has a reservation's copy": stray("I3", MADE, ("OWNER#bob", MADE[1]), OF_BOB, ownerId="bob"),
    "the pointer is missing": lost("I5", POINTER, OF_LOCKER),
    "the pointer skips a reservation": stray("I5", LATER, POINTER, OF_LOCKER, entityType="RESERVATION_ACTIVE"),
    "the pointer has an old end": altered("I5", POINTER, OF_LOCKER, endAt=HALF_PAST_12),
    "the latest end is too early": altered("I5", POINTER, OF_LOCKER, lastEndAt="2026-03-01T16:00:00.000Z"),
    "the pointer is all that is left": Case(
        lambda items: {
            key: item | {"status": "CANCELLED"}
            for key, item in items.items()
            if item["entityType"] in {"RESERVATION", "OWNER_RESERVATION"}
        },
        {("I5", POINTER)},
        OF_LOCKER,
        is_as_before=False,
    ),
    "a claim is missing": lost("I6", CLAIM, OF_LOCKER),
    "a claim names no reservation": stray(
        "I6", CLAIM, ("LOCKER#l1", "RID#none"), OF_LOCKER, reservationId="none", is_repaired=False
    ),
    "a claim names another start": Case(changed(CLAIM, startAt="2026-03-01T14:00:00.000Z"), {("I6", CLAIM)}, OF_LOCKER),
    "the guard names no reservation": Case(
        changed(GUARD, changedReservationId="none"), {("I5", GUARD)}, OF_LOCKER, is_as_before=False
    ),
    "the guard names no reservation, and the pointer is missing": Case(
        lambda items: {POINTER: None} | changed(GUARD, changedReservationId="none")(items),
        {("I5", GUARD), ("I5", POINTER)},
        OF_LOCKER,
        is_as_before=False,
    ),
    "an email address is not claimed": lost("I6", EMAIL, OF_BOB),
    "another owner claims the address": altered("I6", EMAIL, OF_BOB, ownerId="ada"),
    "an owner claims another address": stray("I6", EMAIL, OTHER_EMAIL, Records()),
    "a code is not claimed": lost("I6", CODE, OF_PLACE),
    "a location is in the wrong place of the index": altered("I3", SITE, OF_PLACE, GSI1PK="LOCATION#INACTIVE"),
    "a pending booking is not in the index": altered("I3", PENDING, OF_PENDING, GSI1PK=None, GSI1SK=None),
    "a decided booking is in the index": altered("I3", BOOKING, OF_BOOKING, GSI1PK="BOOKING#PENDING", GSI1SK="x"),
    "an owner is not in the index": altered("I3", ("OWNER#bob", "META"), OF_BOB, GSI1PK=None, GSI1SK=None),
    "a locker is among those of another status": altered("I3", LOCKER, OF_LOCKER, GSI1PK="LOCKER#OCCUPIED#2"),
    "a reservation is at another location": altered("I3", LATER, OF_LOCKER, GSI1PK=f"LOCATION#{ulid(9)}#RES"),
    "a booking's copy is among those of another status": altered(
        "I3", BOOKED, OF_BOOKING, GSI1PK=f"{PLACE}#BOOKING#PENDING"
    ),
    "a locker that is not overdue is in that list": Case(
        lambda items: {OVERDUE: items[CLAIM] | OVERDUE_PLACE}, {("I3", OVERDUE)}, OF_LOCKER
    ),
    "a booking's copy is old": altered("I3", BOOKED, OF_ADA, status="PENDING"),
    "a booking's copy has another day": stray("I3", BOOKED, ("OWNER#ada", "BOOKING#2026-03-09#b1"), OF_ADA),
    "more pending bookings are counted than there are": altered("I3", COUNT, OF_ADA, pendingBookings=20),
    "more webhooks are counted than there are": altered("I3", WEBHOOKS, OF_ADA, webhooks=10),
    "webhooks are not counted": lost("I3", WEBHOOKS, OF_ADA),
    "webhooks are counted of an owner who has none": Case(
        moved(WEBHOOKS, ("OWNER#bob", "WEBHOOKS"), ownerId="bob"),
        {("I3", ("OWNER#bob", "WEBHOOKS"))},
        OF_BOB,
        is_as_before=False,
    ),
    "a half day is missing": lost("I8", MORNING, OF_BOOKING),
    "a pending booking has a half day": stray(
        "I8", MORNING, NEXT_MORNING, OF_PLACE, date="2026-03-11", bookingId="b2", eventId="b2"
    ),
    "two reservations overlap": Case(
        lambda items: {key: items[key] | {"endAt": HALF_PAST_3} for key in (FIRST, ("OWNER#ada", FIRST[1]), POINTER)},
        {("I1", LATER)},
        OF_LOCKER,
        is_repaired=False,
    ),
    "a locker is lost": Case(
        without(("LOCKER#l2", "META")), {("I4", ("OWNER#ada", "LOCKER#l2"))}, OF_ADA, is_repaired=False
    ),
    "another event has a half day": altered("I8", MORNING, OF_BOOKING, bookingId=None, eventId="e1", is_repaired=False),
    "a half day names no booking": stray(
        "I8", MORNING, NEXT_MORNING, OF_PLACE, date="2026-03-11", bookingId="b9", is_repaired=False
    ),
    "a locker does not say who may reserve it": altered("I7", LOCKER, OF_LOCKER, reservableBy=None, is_repaired=False),
    "a live reservation takes no slot": altered("I6", LATER, OF_LOCKER, slot=None, is_repaired=False),
    "a locker is damaged": altered("I7", LOCKER, OF_LOCKER, version="one", is_repaired=False),
}


async def stock(api: Api) -> None:
    """A locker at a location with three live reservations and a canceled one, a booking of each kind."""
    place = await prepare(api)
    await api.owner("bob", email="Bob@example.com")
    await api.locker("l1", "ada", locationId=place, alias="Left")
    await api.locker("l2", "ada")
    for name, hour in (("first", 12), ("later", 15), ("last", 19), ("gone", 17)):
        window = {"startAt": f"2026-03-01T{hour}:00:00Z", "endAt": f"2026-03-01T{hour + 1}:00:00Z"}
        reference = {"reference": "order 1"} if name == "later" else {}
        made = await api.mutate(
            CREATE_RESERVATION, reservationId=name, lockerId="l1", ownerId="ada", **window, **reference
        )
        assert not made["userErrors"]
    assert not (await api.mutate(CANCEL, lockerId="l1", reservationId="gone"))["userErrors"]
    await book(api, "b1")
    assert not (await approve(api, "b1"))["userErrors"]
    await book(api, "b2", date="2026-03-11")
    for name in ("w1", "w2", "w3"):
        await create_webhook(api, name)
    await api.done(DELETE, webhookId="w3")


@pytest_asyncio.fixture
async def world(api: Api, prepared: Prepared) -> Api:
    await prepared(stock, api)
    return api


@pytest.fixture
def break_(plain_client: Any, table: str, dump: Dump) -> Break:
    async def apply(change: Change) -> None:
        for (pk, sk), item in change(await dump()).items():
            if item is None:
                await plain_client.delete_item(TableName=table, Key={"PK": {"S": pk}, "SK": {"S": sk}})
            else:
                await plain_client.put_item(TableName=table, Item=item_to_wire(item))

    return apply


@dataclass
class Checked:
    """The doctor of the test's table."""

    doctor: Doctor
    store: DynamoStore

    async def table(self) -> list[Finding]:
        found, _ = await self.doctor.check_table(items_per_second=1e9, progress=lambda _: None)
        return found


@pytest.fixture
def checked(backend: Backend) -> Checked:
    assert isinstance(backend.store, DynamoStore)
    return Checked(Doctor(backend.store, backend.clock), backend.store)


def places(findings: list[Finding]) -> set[tuple[str, Key]]:
    return {(finding.invariant, (finding.key.pk, finding.key.sk)) for finding in findings}


@pytest.mark.parametrize("name", CASES)
async def test_what_is_broken_is_found_and_repaired(
    name: str, world: Api, break_: Break, checked: Checked, dump: Dump, tmp_path: Path
) -> None:
    case = CASES[name]
    assert await checked.table() == []
    before = await dump()
    await break_(case.change)
    found = await checked.table()
    assert places(found) >= case.expected
    if case.records != Records():
        assert places(await checked.doctor.check(case.records)) >= case.expected
    path = tmp_path / "table.jsonl"
    await export_table(checked.store, path, items_per_second=1e9, progress=lambda _: None)
    assert places(check_export_file(path, NOW)[0]) == places(found)
    left = await checked.doctor.repair(found)
    assert left == await checked.table()
    if not case.is_repaired:
        assert places(left) >= case.expected
        assert all(finding.repair is None for finding in left)
        return
    assert left == []
    after = await dump()
    check_invariants(after, NOW)
    assert (after == before) is case.is_as_before
    created = await world.mutate(
        CREATE_RESERVATION, lockerId="l1", ownerId="bob", startAt="2026-03-02T12:00:00Z", endAt="2026-03-02T13:00:00Z"
    )
    assert created["userErrors"] == []


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize(
    "name", ["a locker names no location", "a locker names no owner", "a claim names no reservation"]
)
async def test_nothing_is_repaired_towards_a_record_that_does_not_exist(
    name: str, break_: Break, checked: Checked, dump: Dump
) -> None:
    await break_(CASES[name].change)
    found = await checked.table()
    async with unchanged(dump):
        assert await checked.doctor.repair(found) == found


async def test_a_lost_reservation_in_use_keeps_its_time(
    world: Api, break_: Break, checked: Checked, dump: Dump
) -> None:
    await world.done(START, lockerId="l1", reservationId="first")
    before = await dump()
    await break_(without(FIRST))
    (finding,) = await checked.table()
    assert (finding.place, finding.problem) == (" / ".join(FIRST), "it is missing, and its live copy is there")
    assert await checked.doctor.repair([finding]) == []
    assert await dump() == before


async def test_only_the_slot_of_a_reservation_that_is_lost_with_its_live_copy_is_removed(
    world: Api, break_: Break, checked: Checked, dump: Dump
) -> None:
    await world.done(START, lockerId="l1", reservationId="first")
    await break_(without(FIRST, (FIRST[0], FIRST[1].replace("RES", "LIVE"))))
    broken = await dump()
    left = await checked.doctor.repair(await checked.table())
    assert {("I5", GUARD), ("I5", POINTER), ("I6", ("LOCKER#l1", "RID#first"))} <= places(left)
    assert await dump() == {key: item for key, item in broken.items() if key != SLOT}


async def test_a_clean_demo_table_has_no_finding_and_nothing_is_written(
    backend: Backend, checked: Checked, wire: Wire
) -> None:
    await load_demo(backend.store, DemoShape(3, 20, 40), NOW, lambda _: None)
    wire.reset()
    assert await checked.table() == []
    assert await checked.doctor.repair([]) == []
    assert wire.operations.keys() == {"Scan", "BatchGetItem", "Query"}  # also of the leases of the log, and its end


async def test_no_item_of_demo_data_is_of_an_unknown_kind(backend: Backend, checked: Checked) -> None:
    await load_demo(backend.store, DemoShape(), NOW, lambda _: None)
    await load_demo_codes(backend)
    found, table = await checked.doctor.check_table(items_per_second=1e9, progress=lambda _: None)
    assert (found, table.unknown) == ([], {})


async def test_the_check_of_a_locker_reads_its_own_items_and_no_events(
    world: Api, checked: Checked, wire: Wire
) -> None:
    await world.event("l1")
    wire.reset()
    assert await checked.doctor.check(OF_LOCKER) == []
    assert wire.operations.keys() == {"BatchGetItem", "Query"}
    assert all(call.request["ConsistentRead"] for call in wire.of("Query"))
    read = [item["SK"]["S"] for call in wire.of("Query") for item in call.response["Items"]]
    assert {name.split("#")[0] for name in read} == {"GUARD", "LIVE", "META", "RES", "RID"}


@pytest.mark.usefixtures("world")
async def test_a_record_that_does_not_exist_is_named(checked: Checked) -> None:
    records = Records(lockers=(LockerId("l1"), LockerId("l9")), owners=(OwnerId("eve"),))
    assert [key.pk for key in await checked.doctor.missing(records)] == ["LOCKER#l9", "OWNER#eve"]


def test_the_cost_of_a_full_scan_is_stated_in_items_and_read_units() -> None:
    assert full_scan_cost({"ItemCount": 2000, "TableSizeBytes": 0}).endswith("2,000 items, 181 read units")
    stated = full_scan_cost({"ItemCount": 2000, "TableSizeBytes": 4096 * 150})
    assert stated == "reads the whole table once: about 2,000 items, 160 read units"


@pytest.mark.usefixtures("world")
async def test_an_address_is_not_in_the_report(break_: Break, checked: Checked) -> None:
    await break_(without(EMAIL))
    (finding,) = await checked.table()
    assert "bob@example.com" not in finding.place + finding.problem
    assert finding.problem == "it is missing, and follows from OWNER#bob / META"


RACES: dict[str, tuple[Change, str, dict[str, Any]]] = {
    "a copy": (without(COPY), UPDATE_STATUS, {"lockerId": "l1", "newStatus": "OCCUPIED", "expectedVersion": 1}),
    "a pointer": (
        without(POINTER),
        EXTEND,
        {"lockerId": "l1", "reservationId": "first", "newEndAt": "2026-03-01T14:00:00Z"},
    ),
    "a reservation's copy": (without(MADE), CANCEL, {"lockerId": "l1", "reservationId": "later"}),
    "the copy of a reservation that is checked in": (
        without(("OWNER#ada", FIRST[1])),
        START,
        {"lockerId": "l1", "reservationId": "first"},
    ),
}


@pytest.mark.parametrize("name", RACES)
async def test_a_repair_that_meets_a_change_of_the_record_writes_nothing_old(
    name: str, world: Api, break_: Break, checked: Checked, wire: Wire, dump: Dump
) -> None:
    change, mutation, values = RACES[name]
    await break_(change)
    found = await checked.table()
    assert found
    wire.reset()
    held = Held(lambda call: call.operation == "TransactWriteItems")
    wire.fault = held
    repairing = asyncio.create_task(checked.doctor.repair(found))
    await held.reached()
    assert (await world.mutate(mutation, **values))["userErrors"] == []
    held.release()
    assert await repairing == []
    assert wire.of("TransactWriteItems")[0].status == 400
    check_invariants(await dump(), NOW)
    assert await checked.table() == []


async def test_a_busy_table_is_repaired_while_it_changes_and_its_own_changes_are_no_findings(
    world: Api, break_: Break, checked: Checked, dump: Dump
) -> None:
    await break_(lambda _: dict.fromkeys([COPY, PLACED, POINTER, CLAIM, MADE, MORNING, EMAIL]))
    broken = await checked.table()
    assert len(broken) == 7

    async def use(client: int) -> None:
        day = f"2026-03-{client + 2:02d}"
        for hour in range(0, 12, 2):
            window = {"startAt": f"{day}T{hour:02d}:00:00Z", "endAt": f"{day}T{hour + 1:02d}:00:00Z"}
            made = await world.mutate(CREATE_RESERVATION, lockerId="l1", ownerId="bob", **window)
            assert made["userErrors"] == []
            name = made["reservation"]["reservationId"]
            write = CANCEL if hour % 4 else EXTEND
            more = {} if hour % 4 else {"newEndAt": f"{day}T{hour + 1:02d}:30:00Z"}
            assert (await world.mutate(write, lockerId="l1", reservationId=name, **more))["userErrors"] == []

    async def repair() -> None:
        assert await checked.doctor.repair(broken) == []
        for _ in range(3):
            assert await checked.doctor.check(OF_LOCKER) == []

    await asyncio.gather(*(use(client) for client in range(3)), repair())
    check_invariants(await dump(), NOW)
    assert await checked.table() == []


UNREADABLE: dict[str, dict[str, Any]] = {
    "a locker of another kind": {"PK": "LOCKER#bad", "SK": "META", "entityType": "Gadget", "lockerId": "bad"},
    "a copy without its status": {"PK": "OWNER#ada", "SK": "LOCKER#bad", "entityType": "OWNER_LOCKER"},
    "an event with another action": {
        "PK": "LOCKER#l1",
        "SK": "EVT#2026-02-26T09:05:00.000Z#bad",
        "entityType": "ACCESS_EVENT",
        "action": "LEFT_OPEN",
    },
    "a payment without an amount": {"PK": "BOOKING#b1", "SK": "PAYMENT#bad", "entityType": "PAYMENT"},
    "a notification without its kind": {"PK": "OWNER#ada", "SK": "NOTIFICATION#2026-02-26T09:05:00.000Z#bad"},
    "a code that is no text": {"PK": "LOCKER#l1", "SK": "CODE#bad", "entityType": "ACCESS_CODE", "codeId": 7},
    "a copy in an owner's list that names two lockers": {"PK": "OWNER#ada", "SK": "LOCKER#a#b"},
    "a copy in a location's list that names two lockers": {"PK": PLACE, "SK": "LOCKER#a#b"},
    "an event without an id": {"PK": "LOCKER#l1", "SK": "EVT#2026-02-26T09:05:00.000Z", "entityType": "ACCESS_EVENT"},
    "a reservation without an id": {"PK": "LOCKER#l1", "SK": "RES#2026-02-26T09:05:00.000Z"},
    "a live copy without an id": {"PK": "LOCKER#l1", "SK": "LIVE#2026-02-26T09:05:00.000Z"},
    "an owner's reservation of three parts": {"PK": "OWNER#ada", "SK": "RES#2026-02-26T09:05:00.000Z#r#s"},
    "a slot of two names": {"PK": "OWNER#ada", "SK": "SLOT#00#01"},
    "an owner's booking without an id": {"PK": "OWNER#ada", "SK": "BOOKING#2026-03-10"},
    "a half day of no half": {"PK": PLACE, "SK": "DAY#2026-03-10"},
    "another item in the list of locations": {
        "PK": "WIDGET#1",
        "SK": "META",
        "GSI1PK": "LOCATION#ACTIVE",
        "GSI1SK": "2026-02-26T09:05:00.000Z#w",
    },
    "a kind that is no text": {"PK": "LOCKER#bad", "SK": "META", "entityType": ["LOCKER"]},
    "a counter without its number": {"PK": "OWNER#ada", "SK": "PENDING_BOOKINGS", "entityType": "PENDING_BOOKINGS"},
    "a counter of no number": {
        "PK": "OWNER#ada",
        "SK": "PENDING_BOOKINGS",
        "entityType": "PENDING_BOOKINGS",
        "pendingBookings": "one",
    },
    "a budget without its time": {"PK": "RATE#bad", "SK": "META", "expiresAt": 1_800_000_000},
    "a budget whose time is text": {"PK": "RATE#bad", "SK": "META", "fullAt": "1800000000"},
}


@pytest.mark.parametrize("name", UNREADABLE)
async def test_every_item_that_requests_could_not_read_is_reported(
    name: str, world: Api, break_: Break, checked: Checked
) -> None:
    assert world
    item = UNREADABLE[name]
    key = (item["PK"], item["SK"])
    await break_(lambda _: {key: item})
    found, table = await checked.doctor.check_table(items_per_second=1e9, progress=lambda _: None)
    assert ("I7", key) in places(found)
    assert not table.unknown
    if not key[1].startswith(("EVT#", "NOTIFICATION#", "CODE#")) and key[0] in {"LOCKER#l1", "OWNER#ada", PLACE}:
        named = await checked.doctor.check(Records(OF_LOCKER.lockers, OF_ADA.owners, OF_PLACE.locations))
        assert ("I7", key) in places(named)


@pytest.mark.parametrize("source", [COPY, LIVE, BOOKED, OFFER, MORNING])
async def test_an_item_that_could_be_read_and_has_no_key_of_its_list_is_reported(
    source: Key, world: Api, break_: Break, checked: Checked
) -> None:
    assert world
    target = (source[0], f"{source[1]}#more")
    await break_(moved(source, target))
    assert ("I7", target) in places(await checked.table())


async def test_an_event_in_a_list_of_the_index_is_reported(world: Api, break_: Break, checked: Checked) -> None:
    await world.event("l1", eventId="e1")

    def change(items: Items) -> dict[Key, dict[str, Any] | None]:
        key = next(key for key in items if key[1].startswith("EVT#"))
        return {key: items[key] | {"GSI1PK": "APIKEY", "GSI1SK": "x"}}

    await break_(change)
    assert [(one.invariant, one.problem) for one in await checked.table()] == [
        ("I3", "its place in the index is wrong")
    ]


async def test_items_of_unknown_kinds_are_counted_and_are_no_violations(
    world: Api, break_: Break, checked: Checked
) -> None:
    assert world
    others = [("WIDGET#1", "META"), ("WIDGET#2", "META"), ("EVENT#e", "LOCKCODE")]
    items: dict[Key, dict[str, Any] | None] = {key: {"PK": key[0], "SK": key[1]} for key in others}
    items[others[0]] = {"PK": "WIDGET#1", "SK": "META", "entityType": "WIDGET"}
    await break_(lambda _: items)
    found, table = await checked.doctor.check_table(items_per_second=1e9, progress=lambda _: None)
    assert found == []
    assert table.unknown == {"WIDGET": 1, "WIDGET / META": 1, "EVENT / LOCKCODE": 1}


async def test_lost_digits_are_claimed_again_by_who_has_the_secrets(
    api: Api, break_: Break, checked: Checked, dump: Dump
) -> None:
    await furnish(api)
    await create_code(api, "c1")
    before = await dump()
    await break_(lambda items: {key: None for key in items if key[1].startswith("DIGITS#")})
    found = await checked.table()
    assert [(finding.problem, finding.repair) for finding in found] == [("its digits are not claimed: rotate it", None)]
    doctor = Doctor(checked.store, lambda: NOW, RING)
    assert await doctor.repair(found) == []
    assert await dump() == before


async def test_other_secrets_change_no_digits(api: Api, checked: Checked, dump: Dump) -> None:
    await furnish(api)
    await create_code(api, "c1")
    async with unchanged(dump):
        doctor = Doctor(checked.store, lambda: NOW, CodeRing.of([(RING.current.key_id, bytes(MIN_SECRET_BYTES))]))
        (finding,) = await doctor.repair(await doctor.check(OF_LOCKER))
    assert finding.problem == "it has other digits than are claimed: rotate it"


async def test_a_list_of_a_door_gets_the_codes_that_it_lacks(
    api: Api, break_: Break, checked: Checked, dump: Dump
) -> None:
    await furnish(api)
    await create_code(api, "c1")
    door = ("LOCKER#l1", "DOOR")
    before = await dump()
    await break_(changed(door, live=["nobody "]))
    assert await checked.doctor.repair(await checked.table()) == []
    assert (await dump())[door]["live"] == before[door]["live"]
