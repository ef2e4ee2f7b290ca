"""A small table with everything in it: two tenants, what is missing, what is hidden, and what is damaged.

Faults belong to items, never to the sequence of calls, so that they are the same however a document is executed: some
items cannot be decoded, some that others name do not exist, and reading some partitions or claims always fails.
"""

from collections.abc import Container
from datetime import timedelta
from typing import Any

from domain.authorization import Principal
from domain.times import Instant, shift
from loaders.backend import Backend
from loaders.table.client import DynamoStore
from loaders.table.clock import Stamp, machine_timer
from loaders.table.errors import UnreadKeysError
from loaders.table.transport import Answer, NoAnswerError, Transport
from loaders.table.values import ReadItem
from loaders.trace import Trace
from resolvers.limits import Limit
from resolvers.request_state import FairLock, PageSizes, RequestState
from server.limits.request_limits import RequestBudget
from tests import places
from tests.api import CREATE_RESERVATION, UPDATE_STATUS, Api, mutation
from tests.conftest import RING, Clock
from tests.fuzz.tenants import CREATE_KEY, stock
from tests.history import keep_history
from tests.reservations import CANCEL
from tests.tables import PlainClient

REVOKE_KEY = mutation("revokeApiKey", "apiKey { keyId }")
TRANSFER = mutation("transferLocker", "locker { version }")

HURT_LOCATION, FLAKY_LOCATION, GONE_LOCATION = map(places.ulid, (3, 4, 5))
NINA_LOCKERS = [f"nina-{number}" for number in range(1, 8)]
OWNERS = ["nina", "club", "gone", "hurt", "flaky"]
LOCKERS = [*NINA_LOCKERS, "club-1", "gone-1", "hurt-1", "lost-1", "stray-1", "flaky-1"]
BOOKINGS = [
    "nina-pending",
    "nina-approved",
    "nina-rejected",
    "nina-canceled",
    "hurt-booking",
    "vanished",
    "flaky-booking",
]
EVENTFUL = ("nina-1", "nina-4", "gone-1", "flaky-1")
KEYS = ["hurt-key", "device-key", "revoked-key"]

DAMAGED = [
    ("LOCKER#hurt-1", "META"),
    ("OWNER#hurt", "META"),
    (f"LOCATION#{HURT_LOCATION}", "META"),
    ("BOOKING#hurt-booking", "META"),
    ("LOCKER#nina-2", "RES#2026-06-"),
    ("LOCKER#nina-3", "RES#ACTIVE"),
    ("LOCKER#nina-4", "EVT#"),
    (f"LOCATION#{places.ulid(1)}", "DAY#2026-03-20#MORNING"),
    ("BOOKING#nina-pending", "PAYMENT#2"),
    ("OWNER#nina", "NOTIFICATION#"),
    ("APIKEY#hurt-key", "META"),
    ("LOCKER#nina-4", "ACT#"),
]
"""Items that cannot be decoded: the first of a partition whose sort key begins like this."""
MISSING = [
    ("LOCKER#lost-1", "META"),
    ("OWNER#gone", "META"),
    (f"LOCATION#{GONE_LOCATION}", "META"),
    ("BOOKING#vanished", "META"),
]
"""Items that others name and that do not exist."""
UNREADABLE_PARTITIONS = {"LOCKER#flaky-1", "OWNER#flaky", f"LOCATION#{FLAKY_LOCATION}", "BOOKING#flaky-booking"}
"""Partitions whose lists the store never answers."""
UNREADABLE_ITEMS = {
    ("LOCKER#nina-6", "META"),
    ("LOCKER#nina-7", "RES#ACTIVE"),
    ("BOOKING#nina-canceled", "META"),
    ("EMAIL#flaky@example.com", "META"),
    ("LOCATION_CODE#flaky", "META"),
}
"""Items that the store never reads, alone or in a batch, of which it reads the rest."""


class FaultyTransport:
    """A transport for which some of the store cannot be read."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def send(self, operation: str, request: dict[str, Any], shape: type[ReadItem] | None = None) -> Answer:
        """Sends a request, unless it is for what cannot be read; of a batch the rest is read."""
        if operation == "Query":
            _fail_for(request["ExpressionAttributeValues"][":pk"]["S"], UNREADABLE_PARTITIONS)
        elif operation == "GetItem":
            _fail_for(_parts(request["Key"]), UNREADABLE_ITEMS)
        elif operation == "BatchGetItem":
            return await self._send_batch(request, shape)
        return await self._transport.send(operation, request, shape)

    async def _send_batch(self, request: dict[str, Any], shape: type[ReadItem] | None) -> Answer:
        ((table, part),) = request["RequestItems"].items()
        unread = frozenset(map(_parts, part["Keys"])) & UNREADABLE_ITEMS
        if not unread:
            return await self._transport.send("BatchGetItem", request, shape)
        found: dict[tuple[str, str], Any] = {}
        readable = [key for key in part["Keys"] if _parts(key) not in unread]
        if readable:
            rest = {**request, "RequestItems": {table: {**part, "Keys": readable}}}
            answer = await self._transport.send("BatchGetItem", rest)
            found = {_parts(item): item for item in answer.body["Responses"].get(table, ())}
        # As after the last attempt, without the pauses before it.
        raise UnreadKeysError(unread, found)


def _parts(key: dict[str, Any]) -> tuple[str, str]:
    return key["PK"]["S"], key["SK"]["S"]


def _fail_for(place: str | tuple[str, str], unreadable: Container[str | tuple[str, str]]) -> None:
    if place in unreadable:
        raise NoAnswerError("no connection to the store", 0)


class Table:
    """A table with the world in it, and requests on it."""

    def __init__(self, client: PlainClient, name: str, clock: Clock, ids: int = 0) -> None:
        self._client = client
        self.name = name
        self._store = DynamoStore(FaultyTransport(client.transport), name)
        stamp, longest = lambda: Stamp(clock(), machine_timer()), timedelta(days=30)
        self.backend = Backend(self._store, clock, self._new_id, stamp, longest, code_ring=lambda: RING)
        self.ids = ids
        """How many ids were generated."""

    def request(self, principal: Principal, variables: dict[str, Any], trace: Trace | None = None) -> RequestState:
        """A request without limits."""
        most = 10**12
        limit, free = Limit(most, most, most), RequestBudget(None, principal)
        return RequestState(self.backend, principal, variables, PageSizes(25, 100), limit, free, FairLock(), trace)

    def _new_id(self) -> str:
        self.ids += 1
        return f"01HZ{self.ids:022d}"

    async def items(self) -> list[dict[str, Any]]:
        return await self._client.items(self.name)

    async def fill(self, items: list[dict[str, Any]]) -> None:
        await self._client.fill(self.name, items)


async def prepare(api: Api, clock: Clock, table: Table) -> list[dict[str, Any]]:
    """Makes the world by the API's own mutations, then breaks some of it; the items of the broken world."""
    now = clock.now
    clock.now = Instant("2026-01-01T00:00:00.000Z")
    await api.done(CREATE_KEY, keyId="hurt-key", name="Hurt", role="DEVICE", lockerId="nina-1")
    await places.create_location(api, 3, code="hurt")
    await api.done(places.DEACTIVATE, locationId=HURT_LOCATION, expectedVersion=1)
    clock.now = now
    await stock(api, clock, table.backend)
    await _locations_and_owners(api)
    await _lockers(api)
    clock.now = Instant("2026-02-10T08:00:00.000Z")
    await _reservations(api, clock)
    clock.now = now
    await _bookings(api, clock)
    clock.now = now
    device_key = {"name": "Device", "role": "DEVICE", "lockerId": "nina-1", "expiresAt": "2026-04-01T00:00:00Z"}
    await api.done(CREATE_KEY, keyId="device-key", **device_key)
    both = {"role": "PARTNER", "ownerIds": ["nina", "anna"], "scopes": ["LOCKERS_READ", "EVENTS_WRITE"]}
    await api.done(CREATE_KEY, keyId="revoked-key", name="Revoked", **both)
    await api.done(REVOKE_KEY, keyId="revoked-key")
    await keep_history(table.backend.store)
    return _broken(await table.items())


async def _locations_and_owners(api: Api) -> None:
    address = {"formattedAddress": "Via Roma 1, Rome", "city": "Rome", "country": "IT", "lat": "41.90", "lng": "12.5"}
    await places.create_location(api, 1, code="rome-2", address=address)
    await places.create_location(api, 2, code="closed", timeZone="America/New_York")
    await api.done(places.DEACTIVATE, locationId=places.ulid(2), expectedVersion=1)
    await places.create_location(api, 4, code="flaky")
    await places.create_location(api, 5, code="vanishing")
    await api.owner("nina", name="Nina", email="Nina@Example.com")
    await api.owner("club", kind="ORGANIZATION", name="Club", phone="+39 06 1234567")
    await api.owner("gone", email="gone@example.com")
    await api.owner("hurt", email="hurt@example.com")
    await api.owner("flaky", email="flaky@example.com")


async def _lockers(api: Api) -> None:
    for number, locker in enumerate(NINA_LOCKERS):
        given = {"alias": f"Locker {number}"} if number % 2 else {}
        place = {"locationId": places.ulid(number % 2)} if number % 3 else {}
        await api.locker(locker, "nina", **given, **place)
    await api.done(UPDATE_STATUS, lockerId="nina-5", newStatus="MAINTENANCE", expectedVersion=1)
    await api.done(UPDATE_STATUS, lockerId="nina-6", newStatus="OCCUPIED", expectedVersion=1)
    for locker, owner_id, location in (
        ("club-1", "club", places.ulid(1)),
        ("gone-1", "gone", places.ulid(1)),
        ("hurt-1", "club", places.ulid(0)),
        ("lost-1", "nina", places.ulid(1)),
        ("stray-1", "bert", GONE_LOCATION),
        ("flaky-1", "flaky", FLAKY_LOCATION),
    ):
        await api.locker(locker, owner_id, locationId=location)
    # It was anna's, and its reservations are hers still.
    await api.locker("moved-1", "anna", alias="Moved")
    await api.reservation("now", "moved-1", "anna", "2026-03-01T10:00:00Z", "2026-03-02T10:00:00Z")
    await api.done(TRANSFER, lockerId="moved-1", newOwnerId="bert", expectedVersion=1)


async def _reservations(api: Api, clock: Clock) -> None:
    windows = [
        ("past", "2026-02-11T00:00:00Z", "2026-02-12T00:00:00Z"),
        ("now", "2026-03-01T06:00:00Z", "2026-03-01T18:00:00Z"),
        ("next", "2026-03-03T06:00:00Z", "2026-03-04T06:00:00Z"),
        ("later", "2026-06-03T06:00:00Z", "2026-06-04T06:00:00Z"),
        ("dropped", "2026-06-10T06:00:00Z", "2026-06-11T06:00:00Z"),
    ]
    for number, locker in enumerate(("nina-1", "nina-2", "nina-3", "flaky-1")):
        by = "flaky" if locker == "flaky-1" else "nina"
        for name, start, end in windows:
            # An owner has an id at most once for each start.
            await api.reservation(name, locker, by, start.replace(":00Z", f":0{number}Z"), end)
        await api.done(CANCEL, lockerId=locker, reservationId="dropped")
    order = {
        "reference": "order-1",
        "recipient": {"name": "Rita", "phone": "+39 06 1234567"},
        "metadata": {"parcels": 2},
    }
    window = {"startAt": "2026-07-01T06:00:00Z", "endAt": "2026-07-02T06:00:00Z"}
    await api.done(CREATE_RESERVATION, lockerId="nina-1", reservationId="ordered", ownerId="anna", **window, **order)
    await api.reservation("now", "club-1", "club", "2026-03-01T00:00:00Z", "2026-03-05T00:00:00Z")
    # Who may see the reservation may not always see who made it, nor whose locker it is.
    await api.reservation("visit", "nina-1", "anna", "2026-03-10T06:00:00Z", "2026-03-11T06:00:00Z")
    await api.reservation("visit", "nina-7", "club", "2026-02-28T06:00:00Z", "2026-03-11T06:00:00Z")
    await api.reservation("visit", "club-1", "nina", "2026-03-10T07:00:00Z", "2026-03-11T06:00:00Z")
    await api.reservation("visit", "bert-2", "nina", "2026-02-28T07:00:00Z", "2026-03-11T06:00:00Z")
    # The store does not keep the order of an object's keys, so each has one.
    metadata: list[Any] = [None, {}, {"codes": [1, None, True, 0.71, 2**70]}, {"deep": {"er": []}}]
    for number, content in enumerate(metadata * 2):
        clock.now = shift(clock.now, timedelta(minutes=7))
        for locker in EVENTFUL:
            action = ("OPEN", "CLOSE", "TAMPER", "DENIED")[number % 4]
            await api.event(locker, eventId=f"event-{number}", action=action, metadata=content)


async def _bookings(api: Api, clock: Clock) -> None:
    for booking, day in zip(BOOKINGS, [f"2026-03-{day}" for day in range(20, 27)], strict=True):
        clock.now = shift(clock.now, timedelta(seconds=1))
        duration = "AFTERNOON" if day.endswith("0") else "FULL_DAY"
        about = {"date": day, "duration": duration, "attendees": int(day[-1]) + 1}
        await places.book(api, booking, locationId=places.ulid(1), ownerId="nina", **about)
        for payment in ("1", "2", "3"):
            amount, method = {"amount": f"{payment}.50", "currency": "EUR"}, "card" if payment == "2" else None
            await api.done(places.PAY, bookingId=booking, paymentId=payment, amount=amount, method=method)
    for booking in ("nina-approved", "vanished", "nina-canceled", "hurt-booking"):
        clock.now = shift(clock.now, timedelta(seconds=1))
        await api.done(places.APPROVE, bookingId=booking, expectedVersion=1)
    await api.done(places.REJECT, bookingId="nina-rejected", reason="Full", expectedVersion=1)
    await api.done(places.CANCEL, bookingId="nina-canceled")
    event = {"locationId": places.ulid(1), "title": "Works"}
    await api.done(places.CREATE_EVENT, eventId="works-1", date="2026-03-20", duration="MORNING", **event)
    await api.done(places.CREATE_EVENT, eventId="works-2", date="2026-03-27", duration="FULL_DAY", **event)


LISTED = {
    "owner": ["nina", "anna", "bert", "club"],
    "locker": ["nina-1", "nina-4", "anna-1", "gone-1"],
    "booking": BOOKINGS,
    "location": [places.ulid(0), places.ulid(1)],
}
"""Whose lists have cursors that documents name; taken before anything is broken."""


def _broken(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    kept = [item for item in items if _key(item) not in MISSING]
    assert len(items) - len(kept) == len(MISSING)
    for partition, beginning in DAMAGED:
        damaged = next(item for item in kept if _key(item)[0] == partition and _key(item)[1].startswith(beginning))
        damaged["entityType"] = {"S": "DAMAGED"}
    copies = {_key(item): item for item in kept}
    # Copies that are behind their records: one of a locker that another owner has, one with an old status.
    left_over = copies["OWNER#bert", "LOCKER#bert-1"] | {"PK": {"S": "OWNER#anna"}, "ownerId": {"S": "anna"}}
    copies["OWNER#nina", "LOCKER#nina-5"]["status"] = {"S": "AVAILABLE"}
    return [*kept, left_over]


def _key(item: dict[str, Any]) -> tuple[str, str]:
    return item["PK"]["S"], item["SK"]["S"]
