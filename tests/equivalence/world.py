"""A small table with everything in it: two tenants, what is missing, what is hidden, and what is damaged.

Faults belong to items, never to the sequence of calls, so that they are the same however a document is executed: some
items cannot be decoded, some that others name do not exist, and reading some partitions or claims always fails.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from domain.authorization import DEVELOPMENT_ADMIN, Principal, Role, Scope
from domain.models import OwnerId
from domain.times import Instant, shift
from loaders.backend import Backend
from loaders.table.client import DynamoStore
from loaders.table.errors import UnreadKeysError
from loaders.table.recording import RecordedStore
from loaders.table.transport import Answer, NoAnswerError
from loaders.trace import Trace
from resolvers.bindings.nodes import to_global_id
from resolvers.plan.price import Limit
from resolvers.request import PageSizes, RequestState
from tests import places
from tests.api import mutation
from tests.conftest import RING
from tests.fuzz.documents import SCHEMA, Values, Vocabulary
from tests.fuzz.tenants import IDS, stock
from tests.principals import device, owner, partner

if TYPE_CHECKING:
    from collections.abc import Container
    from random import Random

    from loaders.table.transport import Transport
    from loaders.table.values import ReadItem
    from tests.api import Api
    from tests.conftest import Clock
    from tests.tables import PlainClient


CREATE_KEY = mutation("createApiKey", "apiKey { keyId }")
REVOKE_KEY = mutation("revokeApiKey", "apiKey { keyId }")
CANCEL_RESERVATION = mutation("cancelReservation", "reservation { status }")
RESERVE = mutation("createReservation", "reservation { status }")
TRANSFER = mutation("transferLocker", "locker { version }")

HURT_LOCATION, FLAKY_LOCATION, GONE_LOCATION, CLOSED_LOCATION = map(places.ulid, (3, 4, 5, 2))
NINA_LOCKERS = [f"nina-{number}" for number in range(1, 8)]
OWNERS = ["nina", "club", "gone", "hurt", "flaky"]
LOCKERS = [*NINA_LOCKERS, "club-1", "gone-1", "hurt-1", "lost-1", "stray-1", "flaky-1"]
BOOKINGS = [
    "nina-pending",
    "nina-approved",
    "nina-rejected",
    "nina-cancelled",
    "hurt-booking",
    "vanished",
    "flaky-booking",
]
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
UNREADABLE_CLAIMS = {"EMAIL#flaky@example.com", "LOCATION_CODE#flaky"}
"""Claims that the store never answers. They are read one at a time."""
UNREADABLE_ITEMS = {("LOCKER#nina-6", "META"), ("LOCKER#nina-7", "RES#ACTIVE"), ("BOOKING#nina-cancelled", "META")}
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
            _fail_for(request["Key"]["PK"]["S"], UNREADABLE_CLAIMS)
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
        self._backend = Backend(self._store, clock, self._new_id, timedelta(days=30), code_ring=lambda: RING)
        self.ids = ids
        """How many ids were generated."""

    def request(self, principal: Principal, trace: Trace | None = None) -> RequestState:
        """A request without limits."""
        most = 10**12
        backend = self._backend if trace is None else self._recorded(trace)
        return RequestState(backend, principal, PageSizes(25, 100), Limit(most, most, most), self._recorded, trace)

    def recorded_request(self, principal: Principal) -> RequestState:
        """The same with its operations recorded."""
        return self.request(principal, Trace())

    def _recorded(self, trace: Trace) -> Backend:
        return replace(self._backend, store=RecordedStore(self._store, trace))

    def _new_id(self) -> str:
        self.ids += 1
        return f"01HZ{self.ids:022d}"

    async def items(self) -> list[dict[str, Any]]:
        """All items in the store's own form, by key."""
        return await self._client.items(self.name)

    async def fill(self, items: list[dict[str, Any]]) -> None:
        """Writes items into an empty table."""
        await self._client.fill(self.name, items)


async def prepare(api: Api, clock: Clock, table: Table) -> list[dict[str, Any]]:
    """Makes the world by the API's own mutations, then breaks some of it; the items of the broken world."""
    now = clock.now
    clock.now = Instant("2026-01-01T00:00:00.000Z")
    await api.done(CREATE_KEY, keyId="hurt-key", name="Hurt", role="DEVICE", lockerId="nina-1")
    await places.create_location(api, 3, code="hurt")
    await api.done(places.DEACTIVATE, locationId=HURT_LOCATION, expectedVersion=1)
    clock.now = now
    await stock(api, clock)
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
    await api.done(STATUS, lockerId="nina-5", newStatus="MAINTENANCE", expectedVersion=1)
    await api.done(STATUS, lockerId="nina-6", newStatus="OCCUPIED", expectedVersion=1)
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


STATUS = mutation("updateLockerStatus", "locker { version }")


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
        await api.done(CANCEL_RESERVATION, lockerId=locker, reservationId="dropped")
    order = {
        "reference": "order-1",
        "recipient": {"name": "Rita", "phone": "+39 06 1234567"},
        "metadata": {"parcels": 2},
    }
    window = {"startAt": "2026-07-01T06:00:00Z", "endAt": "2026-07-02T06:00:00Z"}
    await api.done(RESERVE, lockerId="nina-1", reservationId="ordered", ownerId="anna", **window, **order)
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
        for locker in ("nina-1", "nina-4", "gone-1", "flaky-1"):
            action = ("OPEN", "CLOSE", "TAMPER", "DENIED")[number % 4]
            await api.event(locker, eventId=f"event-{number}", action=action, metadata=content)


async def _bookings(api: Api, clock: Clock) -> None:
    days = ["2026-03-20", "2026-03-21", "2026-03-22", "2026-03-23", "2026-03-24", "2026-03-25", "2026-03-26"]
    for booking, day in zip(BOOKINGS, days, strict=True):
        clock.now = shift(clock.now, timedelta(seconds=1))
        about = {
            "date": day,
            "duration": "AFTERNOON" if day.endswith("0") else "FULL_DAY",
            "attendees": int(day[-1]) + 1,
        }
        await places.book(api, booking, locationId=places.ulid(1), ownerId="nina", **about)
        for payment in ("1", "2", "3"):
            amount = {
                "amount": {"amount": f"{payment}.50", "currency": "EUR"},
                "method": "card" if payment == "2" else None,
            }
            await api.done(places.PAY, bookingId=booking, paymentId=payment, **amount)
    for booking in ("nina-approved", "vanished", "nina-cancelled", "hurt-booking"):
        clock.now = shift(clock.now, timedelta(seconds=1))
        await api.done(places.APPROVE, bookingId=booking, expectedVersion=1)
    rejected = {"reason": "Full", "expectedVersion": 1}
    await api.done(places.REJECT, bookingId="nina-rejected", **rejected)
    await api.done(places.CANCEL, bookingId="nina-cancelled")
    event = {"locationId": places.ulid(1), "title": "Works"}
    await api.done(places.CREATE_EVENT, eventId="works-1", date="2026-03-20", duration="MORNING", **event)
    await api.done(places.CREATE_EVENT, eventId="works-2", date="2026-03-27", duration="FULL_DAY", **event)


_LISTS = {
    "Owner": ("ownerId", ("lockers", "reservations", "bookings", "notifications"), ["nina", "anna", "bert", "club"]),
    "Locker": ("lockerId", ("reservations", "accessEvents"), ["nina-1", "nina-4", "anna-1", "gone-1"]),
    "Booking": ("bookingId", ("payments",), BOOKINGS),
    "Location": ("locationId", ("lockers",), [places.ulid(0), places.ulid(1)]),
}
_ROOT_LISTS = ("locations", "pendingBookings", "apiKeys")


async def cursors_of(api: Api) -> dict[tuple[str, str], list[str]]:
    """The cursors of lists, as an admin sees them before anything is broken."""
    found: dict[tuple[str, str], list[str]] = {}
    for type_name, (argument, lists, ids) in _LISTS.items():
        selected = " ".join(f"{name} {{ edges {{ cursor }} }}" for name in lists)
        root = type_name.lower()
        for own_id in ids:
            data = await api.run(f"query ($id: ID!) {{ {root}({argument}: $id) {{ {selected} }} }}", id=own_id)
            for name in lists:
                found[f"{type_name}.{name}", own_id] = [edge["cursor"] for edge in data[root][name]["edges"]]
    for name in _ROOT_LISTS:
        data = await api.run(f"{{ {name} {{ edges {{ cursor }} }} }}")
        found[f"Query.{name}", ""] = [edge["cursor"] for edge in data[name]["edges"]]
    return found


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


def caller(random: Random, *, writes: bool) -> Principal:
    """Somebody of every role; those who write are more often admins, who may do everything."""
    scopes = random.sample(list(Scope), random.randint(1, len(Scope)))
    return random.choices(
        [
            DEVELOPMENT_ADMIN,
            Principal(subject="root", role=Role.ADMIN, owner_id=OwnerId("root")),
            owner("nina", "club", "guild"),
            owner("anna", "guild"),
            owner("bert"),
            owner("stranger"),
            partner(*Scope, of=("nina", "anna", "gone")),
            partner(*scopes, of=("nina", "club", "bert", "flaky")),
            device("nina-1"),
        ],
        (60 if writes else 18, 4, 12, 4, 2, 1, 7, 6, 1),
    )[0]


def vocabulary(cursors: dict[tuple[str, str], list[str]]) -> Vocabulary:
    """What documents can say about this world."""
    own = [*["nina"] * 8, *["club", "guild", "anna"] * 2, *OWNERS, *IDS["owner"]]
    lockers = [*NINA_LOCKERS * 2, *["nina-1", "club-1", "guild-1", "club-1", "guild-1"] * 2, *LOCKERS, *IDS["locker"]]
    lockers.append("moved-1")
    bookings = [*BOOKINGS[:4] * 4, *BOOKINGS, *IDS["booking"]]
    locations = [
        *map(places.ulid, (0, 1)),
        *map(places.ulid, (0, 1)),
        *map(places.ulid, (0, 1)),
        *map(places.ulid, range(6)),
    ]
    windows = ("past", "now", "next", "later", "dropped", "visit")
    odd = ["", "nobody", "no/id", "x" * 65, "é"]
    new = ["new-1", "new-2", "new-3"]
    any_cursor = sorted({cursor for found in cursors.values() for cursor in found})
    hours = [
        f"2026-0{month}-{day}T{hour}:00:00Z" for month in (2, 3, 6) for day in ("01", "11") for hour in ("06", "20")
    ]
    days = ["2026-03-10", "2026-03-18", "2026-03-20", "2026-03-24", "2026-03-27"]
    global_ids = [
        *(to_global_id("Owner", name) for name in own),
        *(to_global_id("Locker", name) for name in lockers),
        *(to_global_id("Location", name) for name in locations),
        *(to_global_id("Booking", name) for name in bookings),
        *(to_global_id("Reservation", "nina-1", f"{start}:00:00.000Z", name) for start, name in _STARTS),
        *(
            to_global_id("AccessEvent", f"locker:{locker}", "2026-02-10T08:07:00.000Z", "event-0")
            for locker in _EVENTFUL
        ),
        *(to_global_id("Payment", booking, "1") for booking in bookings),
        *(to_global_id("ApiKey", key) for key in KEYS),
        *(to_global_id("CalendarEvent", places.ulid(1), *parts) for parts in _CALENDAR),
        *(to_global_id("Notification", "nina", time, name) for time, name in _NOTICES),
    ]
    odd_ids = [to_global_id("Owner", "nobody"), to_global_id("Payment", "nobody", "1"), "bm9uc2Vuc2U", "?", ""]
    return Vocabulary(
        {
            "ownerId": Values(own, odd),
            "newOwnerId": Values(own, odd),
            "ownerIds": Values(own, odd),
            "lockerId": Values(lockers, odd),
            "reservationId": Values([*windows * 6, *IDS["reservation"]], odd),
            "eventId": Values(["event-0", "works-1", "new-1", "new-2"], odd),
            "bookingId": Values(bookings, odd),
            "paymentId": Values(["1", "2", "new-1"], odd),
            "keyId": Values([*KEYS, *IDS["key"]], odd),
            "locationId": Values(locations, odd),
            "newLocationId": Values(locations, odd),
            "id": Values(global_ids, odd_ids),
            "ids": Values(global_ids, odd_ids),
            "email": Values(_EMAILS, ["?", "nobody@example.com"]),
            "code": Values(["hall", "rome-2"] * 4 + ["closed", "flaky", "vanishing"], ["?", "new-code"]),
            "first": Values([1, 2, 3, 5, 25], [0, -1, 101]),
            "last": Values([1, 2, 3], [0, 101]),
            "after": Values(any_cursor, ["nonsense", "", "e30"]),
            "before": Values(any_cursor, ["nonsense", "", "e30"]),
            "expectedVersion": Values([1, 1, 2], [0, 9]),
            "attendees": Values([1, 5], [0]),
            "currency": Values(["EUR"], ["euro"]),
            "timeZone": Values(["Europe/Rome"], ["Nowhere"]),
            "String": Values(["One", "Two"], ["", "x" * 300]),
            "ID": Values(["one"], odd),
            "Int": Values([1]),
            "DateTime": Values(hours),
            "DateTime from": Values(hours[:6], hours),
            "DateTime to": Values(hours[6:], hours),
            "Date": Values(days),
            "Date from": Values(days[:3], ["2026-03-30", "2020-01-01"]),
            "Date to": Values(days[2:], ["2026-03-01"]),
            "Decimal": Values([1, "12.5", 90.25], [-1, "1e3"]),
            "JSON": Values([{}, {"a": [1, {"b": None}]}, None], [1, "text"]),
            "phone": Values(["+39 06 7654321"], ["?"]),
            "lat": Values(["41.5", 12], [91]),
            "lng": Values(["-12.25", 100], [181]),
            "startAt": Values(["2026-04-01T06:00:00Z", "2026-04-02T06:00:00Z"], ["2026-03-03T08:00:00Z"]),
            "endAt": Values(["2026-04-01T18:00:00Z", "2026-04-02T18:00:00Z"], ["2026-01-01T00:00:00Z"]),
            "newEndAt": Values(["2026-03-04T10:00:00Z", "2026-06-04T10:00:00Z"], ["2026-01-01T00:00:00Z"]),
            "timestamp": Values(["2026-02-28T06:00:00Z", "2026-03-01T06:00:00Z"], ["2026-05-01T06:00:00Z"]),
            "expiresAt": Values(["2027-01-01T00:00:00Z"], ["2026-01-01T00:00:00Z"]),
            "reference": Values(["order-1", "order-2"], ["?" * 65]),
            "actorId": Values(["nina", "card-1"], odd),
            "CreateOwnerInput.ownerId": Values([*new, "nina"], odd),
            "CreateOwnerInput.email": Values([f"{name}@example.com" for name in new], _EMAILS),
            "RegisterLockerInput.lockerId": Values([*new, "nina-1"], odd),
            "CreateReservationInput.reservationId": Values([*new, "now"], odd),
            "ReserveAnyLockerInput.reservationId": Values([*new, "now"], odd),
            "CreateLocationInput.locationId": Values([places.ulid(20), places.ulid(21), places.ulid(0)], odd),
            "CreateLocationInput.code": Values([*new, "hall"], ["?"]),
            "CreateApiKeyInput.keyId": Values([*new, "device-key"], odd),
            "RequestBookingInput.bookingId": Values([*new, "nina-pending"], odd),
            "RecordPaymentInput.paymentId": Values([*new, "1"], odd),
            "CreateCalendarEventInput.eventId": Values([*new, "works-1"], odd),
            "DeleteCalendarEventInput.eventId": Values(["works-1", "works-2", *new], odd),
        },
        {"query": _QUERIES, "mutation": sorted(SCHEMA.mutation_type.fields) if SCHEMA.mutation_type else []},
        cursors,
    )


_QUERIES = [
    *["owner", "locker", "location", "node", "nodes"] * 4,
    *["ownerByEmail", "reservation", "reservationByReference", "booking", "locationByCode", "locations"] * 2,
    *["pendingBookings", "apiKey", "apiKeys", "viewer"],
]
_NOTICES = [
    ("2026-03-01T12:00:08.000Z", "nina-approved-approved"),
    ("2026-03-01T12:00:11.000Z", "nina-rejected-rejected"),
]
_CALENDAR = [
    ("2026-03-20", "MORNING", "works-1"),
    ("2026-03-27", "MORNING", "works-2"),
    ("2026-03-27", "AFTERNOON", "works-2"),
    ("2026-03-21", "MORNING", "nina-approved"),
    ("2026-03-21", "MORNING", "booked-2026-03-21-FULL_DAY"),
]
_EVENTFUL = ("nina-1", "nina-4", "gone-1", "flaky-1")
_STARTS = [("2026-03-01T06", "now"), ("2026-06-10T06", "dropped"), ("2026-06-10T06", "unknown")]
_EMAILS = [*["nina@example.com", "NINA@example.com"] * 4, "anna@example.com", "gone@example.com", "hurt@example.com"]
_EMAILS += ["flaky@example.com", "bert@example.com"]
