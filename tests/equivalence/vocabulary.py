"""Who asks about the world, and what documents can say about it."""

from random import Random

from domain.authorization import DEVELOPMENT_ADMIN, Principal, Scope
from resolvers.bindings.nodes import to_global_id
from tests import places
from tests.equivalence.world import BOOKINGS, EVENTFUL, KEYS, LOCKERS, NINA_LOCKERS, OWNERS
from tests.fuzz.documents import SCHEMA, Values, Vocabulary
from tests.fuzz.tenants import IDS
from tests.principals import admin, device, owner, partner


def caller(random: Random, *, writes: bool) -> Principal:
    """Somebody of every role; those who write are more often admins, who may do everything."""
    scopes = random.sample(list(Scope), random.randint(1, len(Scope)))
    return random.choices(
        [
            DEVELOPMENT_ADMIN,
            admin("root"),
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
    own = [*["nina"] * 8, *["club", "guild", "anna"] * 2, *OWNERS, *IDS["owner"]]
    lockers = [*NINA_LOCKERS * 2, *["nina-1", "club-1", "guild-1", "club-1", "guild-1"] * 2, *LOCKERS, *IDS["locker"]]
    lockers.append("moved-1")
    bookings = [*BOOKINGS[:4] * 4, *BOOKINGS, *IDS["booking"]]
    locations = [*map(places.ulid, (0, 1) * 3), *map(places.ulid, range(6))]
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
        *(to_global_id("AccessEvent", f"locker:{locker}", _EVENT_TIME, "event-0") for locker in EVENTFUL),
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
    *["pendingBookings", "apiKey", "apiKeys", "viewer", "activity", "webhook", "webhooks"],
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
_EVENT_TIME = "2026-02-10T08:07:00.000Z"
_STARTS = [("2026-03-01T06", "now"), ("2026-06-10T06", "dropped"), ("2026-06-10T06", "unknown")]
_EMAILS = [*["nina@example.com", "NINA@example.com"] * 4, "anna@example.com", "gone@example.com", "hurt@example.com"]
_EMAILS += ["flaky@example.com", "bert@example.com"]
