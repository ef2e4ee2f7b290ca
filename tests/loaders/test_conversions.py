"""The migration of items that other programs wrote: everything has today's form afterwards, and nothing is lost."""

from __future__ import annotations

import logging
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from domain.models import LocationId
from loaders import codecs
from loaders.conversion import Codec
from loaders.table.client import DynamoStore
from tests.api import unchanged
from tests.conftest import NOW
from tests.invariants import check_invariants
from tests.loaders.migrations import FORMAT_ITEM, delete, migration, run
from tests.old_items import OLD_ITEMS, put

if TYPE_CHECKING:
    from collections.abc import Callable

    from loaders.backend import Backend
    from loaders.table.operations import Transact
    from tests.invariants import Items
    from tests.wire import Wire

LOCATION = LocationId("01ARZ3NDEKTSV4RRFFQ69G5FAV")
KINDS = {
    "ACCESS_EVENT": 2,
    "Booking": 1,
    "Event": 1,
    "LOCATION": 1,
    "LOCATION_CODE": 1,
    "LOCKER": 2,
    "OWNER_LOCKER": 2,
    "RESERVATION": 3,
    "RESERVATION_ACTIVE": 1,
    "User": 1,
}


@pytest_asyncio.fixture
async def old(backend: Backend, plain_client: Any, table: str, wire: Wire) -> Backend:
    """A table in which only other programs wrote."""
    await delete(plain_client, table, FORMAT_ITEM)
    await put(plain_client, table, *OLD_ITEMS)
    wire.reset()
    return backend


@pytest_asyncio.fixture
async def items(old: Backend, dump: Callable[[], Any]) -> Items:
    """What is there when it is migrated."""
    migrated = await run(old, location_id=LOCATION)
    assert (dict(migrated.kinds), migrated.left) == (KINDS, 0)
    found: Items = await dump()
    return found


def test_all_items_have_todays_form_afterwards(items: Items) -> None:
    check_invariants(items, NOW, is_counted=False)
    by_type = {codec.entity_type: codec for codec in vars(codecs).values() if isinstance(codec, Codec)}
    assert [key for key, item in items.items() if not by_type[item["entityType"]].is_current(item)] == []
    assert not [pk for pk, _ in items if pk.startswith(("USER#", "EVENT#"))]


def test_a_name_that_only_the_owners_copy_has_becomes_the_lockers(items: Items) -> None:
    assert items["LOCKER#123", "META"]["alias"] == items["OWNER#999", "LOCKER#123"]["alias"] == "Front Gate"
    assert items["LOCKER#123", "META"]["version"] == 4
    assert items["OWNER#999", "LOCKER#123"]["GSI1PK"] == "OWNER#999#LOCKER#AVAILABLE"


def test_a_user_becomes_an_owner_with_its_address(items: Items) -> None:
    assert items["OWNER#abc123", "META"] == {
        "PK": "OWNER#abc123",
        "SK": "META",
        "entityType": "OWNER",
        "ownerId": "abc123",
        "kind": "USER",
        "name": "John Doe",
        "email": "user@example.com",
        "phone": "+39 123 456 7890",
        "role": "USER",
        "createdAt": "2025-10-21T10:00:00.000Z",
        "updatedAt": "2025-10-21T10:00:00.000Z",
        "version": 1,
    }
    assert items["EMAIL#user@example.com", "META"]["ownerId"] == "abc123"


def test_a_pending_booking_stays_pending_and_its_event_takes_the_day(items: Items) -> None:
    booking = items["BOOKING#xyz789", "META"]
    assert (booking["status"], booking["ownerId"], booking["locationId"]) == ("PENDING", "abc123", LOCATION)
    assert booking["GSI1PK"] == "BOOKING#PENDING"
    assert ("OWNER#abc123", "BOOKING#2025-11-15#xyz789") in items
    for half in ("MORNING", "AFTERNOON"):
        slot = items[f"LOCATION#{LOCATION}", f"DAY#2025-11-15#{half}"]
        assert (slot["eventId"], slot["title"], "bookingId" in slot) == ("evt456", "Birthday party", False)


@pytest.mark.parametrize("booking_id", ["xyz789", "aaa", "zzz"])
async def test_the_event_of_an_approved_booking_becomes_the_bookings_half_days(
    old: Backend, plain_client: Any, table: str, dump: Callable[[], Any], booking_id: str
) -> None:
    named = [{**item, "bookingId": booking_id} for item in OLD_ITEMS if item.get("bookingId") == "xyz789"]
    for item in OLD_ITEMS:
        if item.get("bookingId") == "xyz789":
            await delete(plain_client, table, item)
    for item in named:
        item["PK"], item["SK"] = (item[name].replace("xyz789", booking_id) for name in ("PK", "SK"))
        item["status"] = "approved"
    await put(plain_client, table, *named)
    assert (await run(old, location_id=LOCATION)).left == 0
    items = await dump()
    check_invariants(items, NOW, is_counted=False)
    assert items[f"BOOKING#{booking_id}", "META"]["status"] == "APPROVED"
    assert items[f"LOCATION#{LOCATION}", "DAY#2025-11-15#MORNING"]["bookingId"] == booking_id


async def test_bookings_and_events_stay_where_no_location_is_given(
    old: Backend, dump: Callable[[], Any], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        migrated = await run(old)
    assert migrated.left == 2
    items = await dump()
    assert ("BOOKING#xyz789", "METADATA") in items
    assert ("EVENT#2025-11-15", "FULLDAY") in items
    assert "no location is given" in caplog.text


async def test_what_cannot_be_converted_is_left_and_hides_nothing(
    old: Backend, plain_client: Any, table: str, dump: Callable[[], Any]
) -> None:
    broken = {"PK": "LOCKER#broken", "SK": "META", "entityType": "LOCKER"}
    taken = {"PK": "USER#two", "SK": "METADATA", "entityType": "User", "name": "Two", "email": "user@example.com"}
    await put(plain_client, table, broken, taken | {"createdAt": "2025-10-22T10:00:00Z"})
    assert (await run(old, location_id=LOCATION)).left == 2
    items = await dump()
    assert items["LOCKER#broken", "META"] == broken
    owners = [pk for pk, sk in items if pk in {"OWNER#abc123", "OWNER#two"} and sk == "META"]
    assert len(owners) == 1


async def test_a_dry_run_counts_and_changes_nothing(old: Backend, dump: Callable[[], Any], wire: Wire) -> None:
    async with unchanged(dump):
        counted = await migration(old).count(items_per_second=1e9, progress=lambda _: None)
    assert (dict(counted.kinds), counted.changed, counted.left) == (KINDS, 0, 2)
    assert "TransactWriteItems" not in wire.operations


async def test_a_migration_that_is_interrupted_within_a_page_is_finished_by_the_next(
    old: Backend, dump: Callable[[], Any]
) -> None:
    class StoppedError(Exception):
        pass

    sent = count(1)

    class Stopping(DynamoStore):
        async def transact(self, operation: Transact) -> None:
            if next(sent) % 6 == 0:
                raise StoppedError
            await super().transact(operation)

    assert isinstance(old.store, DynamoStore)
    stopping = old.with_store(Stopping(old.store.transport, old.store.table))
    interrupted = 0
    for _ in range(30):
        try:
            await run(stopping, location_id=LOCATION)
            break
        except* StoppedError:
            interrupted += 1
    assert interrupted > 1
    check_invariants(await dump(), NOW, is_counted=False)
