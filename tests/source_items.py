"""Items as the five source documents describe them: every example letter by letter, and generated tables like them."""

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any

from loaders.table.values import OtherValue

Item = dict[str, Any]

DOCUMENTS: dict[str, list[Item]] = json.loads(Path(__file__).with_suffix(".json").read_text(), parse_float=Decimal)
EXAMPLES: list[Item] = list(chain.from_iterable(DOCUMENTS.values()))
LOCATION = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
SOURCES = 5
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
"""When the generated tables are migrated."""

_OPTIONAL = {
    "LOCKER": ("entityType", "locationId", "createdAt", "version"),
    "OWNER_LOCKER": ("entityType", "lockerAlias", "status", "updatedAt"),
    "RESERVATION": ("entityType", "reservationId"),
    "ACCESS_EVENT": ("entityType", "eventId", "metadata"),
    "User": ("entityType", "email", "phone", "GSI1PK", "GSI1SK", "userId"),
    "Booking": ("entityType", "bookingId", "GSI1PK", "GSI1SK"),
    "Event": ("entityType", "createdBy", "title", "eventType"),
    "Location": ("placeId", "formattedAddress", "addressComponents", "lat", "lng", "updatedAt"),
    "LocationCodeLookup": ("createdAt",),
    "Payment": ("entityType", "method"),
}
_UNKNOWN = ("text", 7, Decimal("1.5"), True, None, ["a", 1], {"deep": {"er": 1}}, OtherValue({"SS": ["a", "b"]}))


class Table:
    """A generated table; all its ids begin with its seed, so that many can be one table of the store."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self.prefix = f"s{seed}-"
        self._day = (datetime(2027, 1, 1, tzinfo=UTC) + timedelta(days=seed)).date().isoformat()
        self.items = [self._varied(item) for item in self._all()]

    def _all(self) -> Iterator[Item]:
        chance = self._chance
        owners = [self._id("owner", number) for number in range(chance.randint(1, 3))]
        yield from self._location()
        for number in range(chance.randint(0, 3)):
            yield from self._locker(self._id("locker", number), owners)
        for number in range(chance.randint(0, 2)):
            yield from self._user(self._id("owner", number) if chance.random() < 0.5 else self._id("user", number))
        if chance.random() < 0.2:
            yield {"PK": f"WIDGET#{self.prefix}", "SK": "META", "entityType": "WIDGET", "weight": 3}

    def _location(self) -> Iterator[Item]:
        own, code = f"{self.prefix}location", f"{self.prefix}code"
        created, known = self._time(-9000), self._chance.random() < 0.5
        parts = {"street": "Main St 1", "city": "Austin", self._chance.choice(("state", "region")): "TX"}
        yield {
            "PK": f"LOCATION#{own}",
            "SK": "META",
            "itemType": "Location",
            "locationId": own,
            "locationCode": code,
            "name": "Austin Main",
            "placeId": "ChIJ",
            "formattedAddress": "1 Main St",
            "lat": Decimal("30.2672"),
            "lng": -97,
            "status": self._chance.choice(("active", "inactive")),
            "createdAt": created,
            "updatedAt": self._time(-8000),
            "addressComponents": parts if known else parts | {"county": "Travis"},
        }
        yield {
            "PK": f"LOCATION_CODE#{code}",
            "SK": "META",
            "itemType": "LocationCodeLookup",
            "locationId": own,
            "locationCode": code,
            "createdAt": created if self._chance.random() < 0.8 else self._time(-8500),
        }

    def _locker(self, locker_id: str, owners: list[str]) -> Iterator[Item]:
        chance = self._chance
        owner, updated = chance.choice(owners), self._time(-500)
        status = chance.choice(("AVAILABLE", "OCCUPIED", "MAINTENANCE", "available"))
        place = f"{self.prefix}location"
        yield {
            "PK": f"LOCKER#{locker_id}",
            "SK": "META",
            "entityType": "LOCKER",
            "lockerId": locker_id,
            "ownerId": owner,
            "status": status,
            "locationId": place,
            "createdAt": self._time(-900),
            "updatedAt": updated,
            "version": chance.randint(1, 9),
        }
        if chance.random() < 0.9:
            yield {
                "PK": f"OWNER#{owner}",
                "SK": f"LOCKER#{locker_id}",
                "entityType": "OWNER_LOCKER",
                "ownerId": owner,
                "lockerId": locker_id,
                "lockerAlias": f"Gate {locker_id}",
                "status": status,
                "updatedAt": updated if chance.random() < 0.9 else self._time(-400),
            }
        start, pointed = -chance.randint(0, 400), None
        for number in range(chance.randint(0, 4)):
            name, length = f"{locker_id}-r{number}", chance.randint(1, 100)
            status = chance.choice(("ACTIVE", "ACTIVE", "CANCELLED", "EXPIRED"))
            begins, ends = self._time(start, key=True), self._time(start + length)
            reservation = {
                "PK": f"LOCKER#{locker_id}",
                "SK": f"RES#{begins}#{name}",
                "entityType": "RESERVATION",
                "reservationId": name,
                "ownerId": chance.choice(owners),
                "endAt": ends,
                "status": status,
                "startAt": chance.choice((begins, self._time(start))),
            }
            if status == "ACTIVE" and start + length > 0 and pointed is None:
                pointed = reservation
            yield reservation
            start += length + chance.randint(0, 50)
        if pointed is not None and chance.random() < 0.7:
            copied = {name: pointed[name] for name in ("PK", "reservationId", "ownerId", "startAt", "endAt")}
            yield {**copied, "SK": "RES#ACTIVE", "entityType": "RESERVATION_ACTIVE", "updatedAt": self._time(-300)}
        for number in range(chance.randint(0, 4)):
            at = -chance.randint(0, 9000)
            happened = self._time(at, key=True)
            yield {
                "PK": f"LOCKER#{locker_id}",
                "SK": f"EVT#{happened}#e{number}",
                "entityType": "ACCESS_EVENT",
                "eventId": f"e{number}",
                "timestamp": self._time(at),
                "actorId": chance.choice((owner, "system")),
                "action": chance.choice(("OPEN", "CLOSE", "DENIED", "open", "LEFT_OPEN", "Forced open")),
                "result": chance.choice(("SUCCESS", "FAIL", "TIMEOUT")),
                "metadata": {"door": number, "note": "x"},
            }

    def _user(self, user_id: str) -> Iterator[Item]:
        chance, email = self._chance, f"{user_id}@example.com"
        yield {
            "PK": f"USER#{user_id}",
            "SK": "METADATA",
            "GSI1PK": f"EMAIL#{email}",
            "GSI1SK": "USER",
            "entityType": "User",
            "userId": user_id,
            "email": email,
            "name": "John Doe",
            "phone": "+39 123 456",
            "role": chance.choice(("user", "admin")),
            "createdAt": self._time(-5000),
        }
        if chance.random() < 0.5:
            created = self._time(-100, key=True)
            yield {
                "PK": f"USER#{user_id}",
                "SK": f"NOTIFICATION#{created}#n1",
                "entityType": "Notification",
                "userId": user_id,
                "message": "Hello",
                "createdAt": created,
            }
        if user_id.endswith("0") and chance.random() < 0.7:
            yield from self._booking(user_id)

    def _booking(self, user_id: str) -> Iterator[Item]:
        chance, booking_id, requested = self._chance, self._id("booking", 0), self._time(-50)
        status = chance.choice(("pending", "approved", "rejected"))
        duration = chance.choice(("FULL_DAY", "MORNING", "AFTERNOON"))
        yield {
            "PK": f"BOOKING#{booking_id}",
            "SK": "METADATA",
            "GSI1PK": f"STATUS#{status.upper()}",
            "GSI1SK": requested if isinstance(requested, str) else str(requested),
            "entityType": "Booking",
            "bookingId": booking_id,
            "userId": user_id,
            "date": self._day,
            "duration": duration,
            "attendees": 5,
            "eventDescription": "Birthday party",
            "status": status,
            "requestedAt": requested,
        }
        yield {
            "PK": f"USER#{user_id}",
            "SK": f"BOOKING#{booking_id}",
            "entityType": "UserBooking",
            "bookingId": booking_id,
            "date": self._day,
            "status": status,
        }
        if chance.random() < 0.7:
            event_id = self._id("event", 0)
            yield {
                "PK": f"EVENT#{self._day}",
                "SK": duration.replace("_", ""),
                "entityType": "Event",
                "eventId": event_id,
                "bookingId": booking_id,
                "date": self._day,
                "timeSlot": duration,
                "eventType": "private_booking",
                "title": "Party",
                "createdBy": user_id,
            }
            if chance.random() < 0.3:
                yield {"PK": f"EVENT#{event_id}", "SK": "LOCKCODE", "entityType": "LockCode", "code": "1234"}
        if chance.random() < 0.5:
            yield {
                "PK": f"BOOKING#{booking_id}",
                "SK": "PAYMENT#p1",
                "entityType": "Payment",
                "currency": "EUR",
                "amount": Decimal("150.5"),
                "method": "card",
                "paidAt": self._time(-40),
            }

    def _varied(self, item: Item) -> Item:
        """The item without some of its optional attributes, and with some that nobody knows."""
        kind = str(item.get("entityType", item.get("itemType")))
        gone = {name for name in _OPTIONAL.get(kind, ()) if self._chance.random() < 0.25}
        varied = {name: value for name, value in item.items() if name not in gone}
        for number in range(3):
            if self._chance.random() < 0.15:
                varied[f"x{number}"] = self._chance.choice(_UNKNOWN)
        return varied

    def _id(self, kind: str, number: int) -> str:
        return f"{self.prefix}{kind}{number}"

    def _time(self, hours: int, *, key: bool = False) -> str | int:
        """So many hours after noon in one of the forms that the documents have; in a key, always as text."""
        time = NOON + timedelta(hours=hours)
        text = time.isoformat().replace("+00:00", "Z")
        forms: list[str | int] = [text, text.replace("Z", ".000Z"), int(time.timestamp() * 1000)]
        return self._chance.choice(forms[:2] if key else forms)
