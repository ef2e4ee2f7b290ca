from typing import Any

import pytest
import pytest_asyncio

from domain.ids import check_notification_id
from loaders.table.client import DynamoStore
from tests.api import Api, mutation
from tests.conftest import NOW, Dump
from tests.invariants import check_invariants
from tests.migrating import migration, no_wait
from tests.principals import owner
from tests.source_items import EXAMPLES, LOCATION
from tests.tables import PlainClient, put

UNKNOWN = {"color": "red", "parts": {"left": 1}}
NEXT = {
    "PK": "LOCKER#123",
    "SK": "RES#2026-03-02T11:00:00Z#r-next",
    "ownerId": "999",
    "endAt": "2026-03-02T13:00:00Z",
    "status": "ACTIVE",
}


@pytest_asyncio.fixture
async def migrated(api: Api, plain_client: PlainClient, table: str) -> Api:
    """The examples of the source documents, each with attributes that nobody knows."""
    await put(plain_client, table, *({**item, **UNKNOWN} for item in [*EXAMPLES, NEXT]))
    await migration(DynamoStore(plain_client.transport, table)).run(NOW, no_wait)
    return api


async def test_what_is_derived_is_there_before_the_first_write(migrated: Api) -> None:
    data = await migrated.run("""{
      locker(lockerId: "123") {
        activeReservation { reservationId } nextReservation { reservationId }
        busy(window: {from: "2026-03-01T00:00:00Z", to: "2026-03-04T00:00:00Z"}) { startAt }
        reservations(overlapping: {from: "2026-03-01T12:00:00Z", to: "2026-03-02T12:00:00Z"}) {
          nodes { reservationId } }
        location { code } owner { name }
      }
      locations { nodes { code lockers { nodes { lockerId alias } } } }
      locationByCode(code: "austin-main-01") { name }
      ownerByEmail(email: "USER@example.com") { name }
      pendingBookings { nodes { bookingId } }
      owner(ownerId: "999") { lockers(status: OCCUPIED) { nodes { lockerId status } } }
    }""")
    locker = data["locker"]
    assert locker["activeReservation"] == {"reservationId": "r-now"}
    assert locker["nextReservation"] == {"reservationId": "r-next"}
    assert [busy["startAt"] for busy in locker["busy"]] == [NOW, "2026-03-02T11:00:00.000Z"]
    assert [one["reservationId"] for one in locker["reservations"]["nodes"]] == ["r-now", "r-next"]
    assert (locker["location"], locker["owner"]) == ({"code": "austin-main-01"}, {"name": "999"})
    (location,) = data["locations"]["nodes"]
    assert location["lockers"]["nodes"] == [{"lockerId": "123", "alias": "Front Gate"}]
    assert data["locationByCode"] == {"name": "Austin Main Center"}
    assert data["ownerByEmail"] == {"name": "John Doe"}
    assert data["pendingBookings"]["nodes"] == [{"bookingId": "xyz789"}]
    assert data["owner"]["lockers"]["nodes"] == [{"lockerId": "124", "status": "OCCUPIED"}]


async def test_a_migrated_locker_is_offered_and_can_be_reserved_by_its_owner(migrated: Api) -> None:
    own = migrated.by(owner("999"))
    window = {"from": "2026-03-05T00:00:00Z", "to": "2026-03-05T01:00:00Z"}
    found = await own.run(
        """query ($id: ID!, $window: TimeSpan!) {
          location(locationId: $id) { availableLockers(window: $window) { lockers { lockerId } } } }""",
        id=LOCATION,
        window=window,
    )
    assert found["location"]["availableLockers"]["lockers"] == [{"lockerId": "123"}]
    await own.reservation("new", "123", "999", window["from"], window["to"])


async def test_a_migrated_notification_is_found_by_its_global_id(migrated: Api) -> None:
    nodes = (await migrated.run('{ owner(ownerId: "abc123") { notifications { nodes { id message } } } }'))["owner"]
    (note,) = nodes["notifications"]["nodes"]
    found = await migrated.run("query ($id: ID!) { node(id: $id) { ... on Notification { message } } }", id=note["id"])
    assert found["node"] == {"message": note["message"]}
    with pytest.raises(ValueError, match="must be the id of a notification"):
        check_notification_id("a#b")


LOCKER, CURRENT, NEXT_ONE, OWNER, PLACE, BOOKING, EVENT = (
    ("LOCKER#123", "META"),
    ("LOCKER#123", "RES#2026-03-01T11:00:00.000Z#r-now"),
    ("LOCKER#123", "RES#2026-03-02T11:00:00.000Z#r-next"),
    ("OWNER#abc123", "META"),
    (f"LOCATION#{LOCATION}", "META"),
    ("BOOKING#xyz789", "META"),
    (f"LOCATION#{LOCATION}", "CID#evt456"),
)
CHANGES: dict[str, tuple[tuple[str, str], dict[str, Any]]] = {
    "updateLockerStatus": (LOCKER, {"lockerId": "123", "newStatus": "OCCUPIED", "expectedVersion": 4}),
    "renameLocker": (LOCKER, {"lockerId": "123", "alias": "Gate", "expectedVersion": 4}),
    "configureLocker": (LOCKER, {"lockerId": "123", "size": "XL", "expectedVersion": 4}),
    "moveLocker": (LOCKER, {"lockerId": "123", "newLocationId": None, "expectedVersion": 4}),
    "transferLocker": (LOCKER, {"lockerId": "123", "newOwnerId": "abc123", "expectedVersion": 4}),
    "startReservation": (CURRENT, {"lockerId": "123", "reservationId": "r-now"}),
    "releaseReservation": (CURRENT, {"lockerId": "123", "reservationId": "r-now"}),
    "extendReservation": (NEXT_ONE, {"lockerId": "123", "reservationId": "r-next", "newEndAt": "2026-03-02T14:00:00Z"}),
    "shortenReservation": (
        NEXT_ONE,
        {"lockerId": "123", "reservationId": "r-next", "newEndAt": "2026-03-02T12:00:00Z"},
    ),
    "cancelReservation": (NEXT_ONE, {"lockerId": "123", "reservationId": "r-next"}),
    "updateOwner": (OWNER, {"ownerId": "abc123", "email": "jon@example.com", "expectedVersion": 1}),
    "updateLocation": (PLACE, {"locationId": LOCATION, "address": None, "expectedVersion": 1}),
    "deactivateLocation": (PLACE, {"locationId": LOCATION, "expectedVersion": 1}),
    "rejectBooking": (BOOKING, {"bookingId": "xyz789", "reason": "Full", "expectedVersion": 1}),
    "deleteCalendarEvent": (EVENT, {"locationId": LOCATION, "eventId": "evt456"}),
}
"""Each change of a record that a migration writes, with the key of the record."""


@pytest.mark.parametrize("name", CHANGES)
async def test_changes_of_a_record_keep_what_has_no_place(name: str, migrated: Api, dump: Dump) -> None:
    key, values = CHANGES[name]
    before = (await dump())[key]
    assert UNKNOWN.items() <= before.items()
    await migrated.done(mutation(name, "__typename"), **values)
    items = await dump()
    after = items[key]
    assert UNKNOWN.items() <= after.items()
    if name != "deleteCalendarEvent":
        assert after != before
    copies = [
        item for item in items.values() if item.get("entityType", "").startswith(("OWNER_", "LIVE", "LOCATION_L"))
    ]
    assert not [item for item in copies if UNKNOWN.keys() & item.keys()]
    known = {place: item for place, item in items.items() if place[1] != "LOCKCODE"}
    check_invariants(known, NOW)
