"""Budgets, and what the commands of operators do: migration, demo data, transfer, and the repairs of the doctor."""

from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

from domain.budgets import Budget
from domain.retention import Retention
from loaders import keys
from loaders.backend import Backend
from loaders.contracts.doctor import DOCTOR_SCAN
from loaders.contracts.maintenance import IMPORT_ITEM, LOAD_DEMO_DATA, TRANSFER_SCAN
from loaders.reads.table_state import FIRST_STATE
from loaders.table.errors import TransactionRefusedError
from loaders.table.operations import Action
from loaders.table.values import item_from_wire
from loaders.tools.doctor import Doctor, Records
from loaders.tools.expiry import expire_items
from loaders.tools.invariants import table_violations
from loaders.tools.migration import Migration
from loaders.tools.table_state import CURRENT_STATE, record_code_keys, save_state
from loaders.writes.api_keys import store_key_use
from loaders.writes.budgets import TableBudgets
from tests.contracts.samples import DAY, NOON, Names
from tests.contracts.scenarios.actions import Call, its, step, without, writes, written
from tests.contracts.scenarios.bookings import BOOK, REJECT, api_key
from tests.contracts.scenarios.lockers import LOCATION, OTHER_OWNER, PLACED, RESERVED


def spend(backend: Any, names: Names) -> Awaitable[Any]:
    rates = TableBudgets(lambda: backend.store, Budget(60, 60), lambda: 1_772_366_400_000_000)
    return rates.take(names.subject, 1)


def use_key(backend: Any, names: Names) -> Awaitable[Any]:
    return store_key_use(backend.store, names.key, NOON)


def save_format(backend: Backend, _: Names) -> Awaitable[Any]:
    return save_state(backend.store, FIRST_STATE, CURRENT_STATE)


def expire(backend: Any, _: Names) -> Awaitable[Any]:
    return expire_items(backend.store, backend, items_per_second=1e9, dry_run=False)


def expire_outdated(backend: Any, _: Names) -> Awaitable[Any]:
    kept = Retention(details=timedelta(0))
    return expire_items(backend.store, replace(backend, retention=kept), items_per_second=1e9, dry_run=False)


def note_key(backend: Backend, names: Names) -> Awaitable[Any]:
    return record_code_keys(backend.store, lambda _: [names.key[:16]])


async def no_wait() -> None:
    """No server serves the table."""


def migrate(backend: Any, names: Names) -> Awaitable[Any]:
    migration = Migration(backend.store, items_per_second=1e9, progress=lambda _: None, location_id=names.location)
    return migration.run(backend.clock(), no_wait)


def load_demo_items(backend: Backend, names: Names) -> Awaitable[Any]:
    content = {"name": names.text[:400]}
    steps = [LOAD_DEMO_DATA.step("item", (f"DEMO#{number}", "META"), content) for number in range(2)]
    return backend.store.transact(LOAD_DEMO_DATA.transact(*steps))


def export_items(backend: Any, _: Names) -> Awaitable[Any]:
    return TRANSFER_SCAN.page(backend.store, None)


def import_item(step: str) -> Call:
    def run(backend: Backend, names: Names) -> Awaitable[Any]:
        content = {"GSI1PK": names.owner, "GSI1SK": step, "name": names.text * 3}
        return backend.store.put(IMPORT_ITEM.put(IMPORT_ITEM.step(step, ("IMPORTED", "META"), content)))

    return run


async def check(backend: Any, names: Names) -> None:
    records = Records((names.locker,), (names.owner,), (names.location,), (names.booking,))
    assert await Doctor(backend.store, backend.clock).check(records) == []


async def repair(backend: Any, _: Names) -> None:
    """Scans, and repairs what is found there."""
    page = await DOCTOR_SCAN.page(backend.store, None)
    findings = table_violations(map(item_from_wire, page.items), backend.clock())
    for found in [finding.repair for finding in findings if finding.repair]:
        with suppress(TransactionRefusedError):  # one repair may make another needless
            await backend.store.transact(found)


WITHOUT_FORMAT = without(keys.table_state)
OTHER_PROGRAM = (
    LOCATION,
    WITHOUT_FORMAT,
    written(
        "LOCKER#{locker}", "META", entityType="LOCKER", ownerId="{owner}", status="AVAILABLE", updatedAt=1772366400000
    ),
    written(
        "USER#{owner}", "METADATA", entityType="User", name="{name}", email="{email}", createdAt="2025-10-21T10:00:00Z"
    ),
    written(
        "BOOKING#{booking}",
        "METADATA",
        entityType="Booking",
        userId="{owner}",
        date=DAY,
        duration="FULL_DAY",
        eventDescription="{name}",
        attendees=50,
        status="approved",
        requestedAt="2025-10-21T10:00:00Z",
    ),
    written(
        "LOCKER#{locker}",
        "EVT#2026-03-01T12:00:00Z#e1",
        entityType="ACCESS_EVENT",
        action="LEFT_OPEN",
        actorId="{owner}",
        result="FAIL",
    ),
)
WHOLE = (*RESERVED, OTHER_OWNER, BOOK, REJECT)
UNDERIVED = writes(
    step(Action.DELETE, keys.owner_locker),
    step(Action.UPDATE, keys.owner_booking, status="CANCELLED"),
    step(Action.UPDATE, keys.booking, GSI1PK="BOOKING#PENDING", GSI1SK="x"),
    step(Action.PUT, keys.email_claim, {"email": its.other_email}, entityType="EMAIL_CLAIM", ownerId=its.owner),
)
SLOT_OF_NOTHING = writes(
    step(
        Action.PUT,
        keys.reservation_slot,
        {"slot": "0999"},
        entityType="RESERVATION_SLOT",
        ownerId=its.owner,
        slot="0999",
        lockerId=its.locker,
        reservationId=its.later,
        startAt=NOON,
        endAt=NOON,
    )
)

SCENARIOS: dict[str, tuple[Call, ...]] = {
    "charge a new budget": (spend,),
    "charge a budget": (spend, spend),
    "store the use of an API key": (api_key, use_key),
    "store the use of an API key again": (api_key, use_key, use_key),
    "save the first table format": (WITHOUT_FORMAT, save_format),
    "delete an expired item": (
        written("LOCKER#{locker}", "ATTEMPT#a", entityType="ACCESS_ATTEMPT", expiresAt=1, digitsMac="0" * 500),
        expire,
    ),
    "delete details that are kept no longer": (
        *RESERVED,
        written(
            "LOCKER#{locker}",
            "DETAILS#{reservation}",
            entityType="RESERVATION_DETAILS",
            lockerId="{locker}",
            reservationId="{reservation}",
            startAt="2026-01-01T00:00:00.000Z",
            recipientName="{text}",
            recipientEmail="{text}",
            recipientPhone="{text}",
        ),
        expire_outdated,
    ),
    "record the key of new codes": (note_key,),
    "migrate items of other programs": (*OTHER_PROGRAM, migrate),
    "load demo data": (load_demo_items,),
    "export the table": (export_items,),
    "import an item": (import_item("new item"),),
    "import a differing item": (import_item("new item"), import_item("differing item")),
    "check the whole table": (*WHOLE, repair),
    "check a locker, an owner, a location and a booking": (*WHOLE, check),
    "check a lone locker": (*PLACED, BOOK, check),
    "repair what is derived from records": (*WHOLE, UNDERIVED, repair),
    "repair a missing pointer": (*RESERVED, without(keys.active_pointer), repair),
    "repair a slot of nothing": (*RESERVED, SLOT_OF_NOTHING, repair),
    "repair a lost reservation": (*RESERVED, without(keys.reservation), repair),
}
