"""After a migration every fact of the source documents is visible through the API, or kept and reported.

A thousand generated tables are one table of the store: the ids of each have a prefix of their own, and each is checked
by itself, attribute by attribute.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from loaders.table.client import DynamoStore
from loaders.tools.doctor import Doctor
from loaders.tools.target import Report
from tests.api import Api
from tests.conftest import NOW, Dump, OpenApi
from tests.generated import FACTOR
from tests.invariants import Items
from tests.migrating import migration, no_wait
from tests.source_items import EXAMPLES, LOCATION, Table
from tests.tables import put

Item = dict[str, Any]

PARTS = [range(250 * part, 250 * (part + 1)) for part in range(FACTOR)]
"""The seeds of the generated tables."""
ADDRESS = {"PK", "SK", "GSI1PK", "GSI1SK", "entityType", "itemType"}
WORDS = {"status", "role", "duration", "timeSlot"}
NAMES = {
    "lockerAlias": "alias",
    "locationCode": "code",
    "userId": "ownerId",
    "eventDescription": "description",
    "timeSlot": "duration",
}
AT_ONCE = 10
OWNERS = (
    f"""query ({" ".join(f"$o{number}: ID!" for number in range(AT_ONCE))}) {{
  {" ".join(f"o{number}: owner(ownerId: $o{number}) {{ ...O }}" for number in range(AT_ONCE))}
}}
"""
    """fragment O on Owner {
  ownerId kind name email phone role version createdAt updatedAt
  lockers { nodes { lockerId ownerId alias status locationId version createdAt updatedAt
    activeReservation { reservationId } nextReservation { reservationId }
    reservations { nodes { reservationId ownerId startAt endAt status createdAt updatedAt version } }
    accessEvents { nodes { eventId timestamp action actionName actorId result resultName metadata } }
  } }
  reservations { nodes { reservationId lockerId } }
  bookings { nodes { bookingId ownerId date duration description attendees status requestedAt updatedAt version
    payments { nodes { paymentId bookingId method paidAt recordedAt amount { amount currency } } } } }
  notifications { nodes { notificationId message createdAt bookingId } }
}"""
)
LOCATIONS = """query ($status: LocationStatus, $after: String) { locations(status: $status, first: 100, after: $after) {
  nodes { locationId code name status createdAt updatedAt version
    address { street city region postalCode country placeId formattedAddress lat lng } }
  nextCursor
} }"""
CALENDAR = """query ($id: ID!, $from: Date!, $to: Date!) { location(locationId: $id) {
  calendar(window: {from: $from, to: $to}) { morning { ...E } afternoon { ...E } } } }
fragment E on CalendarEvent { eventId date duration title createdBy createdAt bookingId }"""


SHOWN_AS = [
    (r"LOCKER#(?P<lockerId>\S+) (META|STATE)", "locker", "{lockerId}"),
    (r"OWNER#\S+ LOCKER#(?P<lockerId>\S+)", "locker", "{lockerId}"),
    (r"LOCKER#\S+ RES#ACTIVE", "reservation", "{reservationId}"),
    (r"LOCKER#\S+ RES#\S+#(?P<reservationId>\S+)", "reservation", "{reservationId}"),
    (r"LOCKER#(?P<lockerId>\S+) EVT#\S+#(?P<eventId>\S+)", "access", "{lockerId} {eventId}"),
    (r"LOCATION#(?P<locationId>\S+) META", "location", "{locationId}"),
    (r"LOCATION_CODE#\S+ META", "location", "{locationId}"),
    (r"USER#(?P<userId>\S+) METADATA", "owner", "{userId}"),
    (r"USER#\S+ BOOKING#(?P<bookingId>\S+)", "booking", "{bookingId}"),
    (r"BOOKING#(?P<bookingId>\S+) METADATA", "booking", "{bookingId}"),
    (r"BOOKING#(?P<bookingId>\S+) PAYMENT#(?P<paymentId>\S+)", "payment", "{bookingId} {paymentId}"),
    (r"USER#(?P<userId>\S+) NOTIFICATION#\S+#(?P<noteId>\S+)", "notification", "{userId} {noteId}"),
    (r"EVENT#\S+ (MORNING|AFTERNOON|FULLDAY)", "event", "{eventId}"),
]
"""By the keys of items, what shows their facts, and its id."""


class View:
    """The objects that the API shows, by kind and id."""

    def __init__(self) -> None:
        self.shown: dict[str, dict[str, Item]] = defaultdict(dict)

    async def read(self, api: Api, owners: list[str], seeds: range) -> None:
        """Reads all locations, their calendars, and these owners with what belongs to them."""
        for status in ("ACTIVE", "INACTIVE"):
            cursor = None
            while True:
                page = (await api.run(LOCATIONS, status=status, after=cursor))["locations"]
                for node in page["nodes"]:
                    self.shown["location"][node["locationId"]] = {**node, **node["address"]}
                cursor = page["nextCursor"]
                if cursor is None:
                    break
        for first in range(seeds.start, seeds.stop, 92):
            await self._read_days(api, datetime(2027, 1, 1, tzinfo=UTC) + timedelta(days=first))
        await self._read_days(api, datetime(2025, 11, 1, tzinfo=UTC))
        for first in range(0, len(owners), AT_ONCE):
            some = owners[first : first + AT_ONCE]
            named = {f"o{number}": some[number % len(some)] for number in range(AT_ONCE)}
            for owner in (await api.run(OWNERS, **named)).values():
                self._add_owner(owner)

    async def _read_days(self, api: Api, start: datetime) -> None:
        window = {"from": start.date().isoformat(), "to": (start + timedelta(days=91)).date().isoformat()}
        for day in (await api.run(CALENDAR, id=LOCATION, **window))["location"]["calendar"]:
            for event in (day["morning"], day["afternoon"]):
                if event is not None:
                    self.shown["event"][event["eventId"]] = event

    def _add_owner(self, owner: Item) -> None:
        owner_id = owner["ownerId"]
        self.shown["owner"][owner_id] = owner
        for locker in owner["lockers"]["nodes"]:
            self.shown["locker"][locker["lockerId"]] = locker
            for made in locker["reservations"]["nodes"]:
                self.shown["reservation"][made["reservationId"]] = {**made, "lockerId": locker["lockerId"]}
            for event in locker["accessEvents"]["nodes"]:
                self.shown["access"][f"{locker['lockerId']} {event['eventId']}"] = event
        for booking in owner["bookings"]["nodes"]:
            self.shown["booking"][booking["bookingId"]] = booking
            for payment in booking["payments"]["nodes"]:
                shown = {**payment, **payment["amount"]}
                self.shown["payment"][f"{booking['bookingId']} {payment['paymentId']}"] = shown
        for note in owner["notifications"]["nodes"]:
            self.shown["notification"][f"{owner_id} {note['notificationId']}"] = {**note, "ownerId": owner_id}

    def of(self, item: Item) -> Item:
        """The object that shows the facts of an item; empty for kinds that are not shown."""
        for spelling, kind, named in SHOWN_AS:
            found = re.fullmatch(spelling, f"{item['PK']} {item['SK']}")
            if found is not None:
                return self.shown[kind][named.format(**item | found.groupdict())]
        return {}

    def shows(self, item: Item, name: str) -> bool:
        """Whether an attribute is visible."""
        shown, value = self.of(item), item[name]
        if name == "addressComponents":
            return all(_is_same(part, shown.get({"state": "region"}.get(part, part)), value[part]) for part in value)
        if item["SK"].startswith("PAYMENT#") and name == "createdAt":
            return _is_same(name, shown["recordedAt"], value)
        if name == "eventType":
            return value == "private_booking" and shown["bookingId"] is not None
        if name in {"action", "result"} and shown.get(name) == "OTHER":
            return bool(shown[f"{name}Name"] == value)
        if name == "status" and "#RES#" in f"#{item['SK']}":
            return bool(shown["status"] == _status(shown, value))
        return NAMES.get(name, name) in shown and _is_same(name, shown[NAMES.get(name, name)], value)


def _status(shown: Item, stored: str) -> str | None:
    """The status with which a reservation of this stored status is shown; None for one that expired before its end."""
    if stored == "CANCELLED":
        return "CANCELLED"
    is_over = shown["endAt"] <= NOW
    if stored == "EXPIRED":
        return "EXPIRED" if is_over else None
    return "EXPIRED" if is_over else "UPCOMING" if shown["startAt"] > NOW else "ACTIVE"


def _is_same(name: str, shown: Any, stored: Any) -> bool:
    if name.endswith("At") or name == "timestamp":
        return bool(_time(shown) == _time(stored))
    if name in WORDS or name in {"action", "result"}:
        return str(shown).replace("_", "") == str(stored).upper().replace("_", "")
    if isinstance(stored, (int, Decimal)) and not isinstance(stored, bool):
        return shown is not None and Decimal(str(shown)) == stored
    return bool(shown == stored)


def _time(value: Any) -> datetime:
    return datetime.fromtimestamp(value / 1000, UTC) if isinstance(value, int) else datetime.fromisoformat(value)


def _may_be_kept(item: Item, name: str) -> bool:
    """Whether today's form has no place for a fact: nobody knows it, it contradicts another, or it is not shown."""
    if name.startswith("x") or item["PK"].startswith("WIDGET#") or item["SK"] == "LOCKCODE":
        return True
    return (item["SK"].split("#")[0], name) in {
        ("LOCKER", "updatedAt"),
        ("RES", "status"),
        *(("META", attribute) for attribute in ("createdAt", "addressComponents")),
        *(
            (part, attribute)
            for part in ("MORNING", "AFTERNOON", "FULLDAY")
            for attribute in ("bookingId", "eventType")
        ),
    }


def _kept(items: list[Item], report: Report) -> Callable[[str, Any], bool]:
    """Says whether a value is kept on one of the items, and reported."""
    reported = {name for _, name in report.unplaced} | {"addressComponents"}
    places = [(name, value) for item in items for name, value in item.items() if name in reported]

    def is_kept(name: str, value: Any) -> bool:
        if name == "addressComponents":
            return any(name == place and kept.items() <= value.items() for place, kept in places)
        return any(kept == value and re.fullmatch(rf"(.*\.)?{name}\d*", place) for place, kept in places)

    return is_kept


def _lost(items: list[Item], view: View, is_kept: Callable[[str, Any], bool]) -> Iterator[str]:
    for item in items:
        for name in item.keys() - ADDRESS:
            if item[name] is None or view.shows(item, name):
                continue
            if not (_may_be_kept(item, name) and is_kept(name, item[name])):
                yield f"{item['PK']} / {item['SK']}: {name}"


@pytest.mark.parametrize("seeds", PARTS, ids=str)
async def test_every_fact_of_the_generated_tables_is_visible_or_kept_and_reported(
    seeds: range, plain_client: Any, table: str, open_api: OpenApi, dump: Dump
) -> None:
    tables = [Table(seed) for seed in seeds]
    sources = EXAMPLES + [item for one in tables for item in one.items]
    await put(plain_client, table, *sources)
    store = DynamoStore(plain_client.transport, table)
    report = await migration(store).run(NOW, no_wait)
    assert report.left == {}
    after: Items = await dump()

    second = await migration(store).run(NOW, no_wait)
    assert (second.written, second.unplaced, second.unknown) == (0, report.unplaced, report.unknown)
    assert await dump() == after

    found, checked = await Doctor(store, lambda: NOW).check_table(items_per_second=1e9, progress=lambda _: None)
    assert found == []
    assert checked.unknown == report.unknown

    view = View()
    owners = sorted({item["ownerId"] for item in after.values() if item.get("entityType") == "OWNER"})
    generous = {"max_read_units": 10_000, "max_operations": 10_000, "max_items": 100_000}
    async with open_api(observer=None, **generous) as api:
        await view.read(api, owners, seeds)
    by_prefix: dict[str, list[Item]] = defaultdict(list)
    for item in after.values():
        named = re.search(r"s\d+-", f"{item['PK']} {item['SK']}")
        by_prefix["" if named is None else named[0]].append(item)
    assert list(_lost(EXAMPLES, view, _kept(by_prefix[""], report))) == []
    for one in tables:
        assert list(_lost(one.items, view, _kept(by_prefix[one.prefix], report))) == []
    kept = Counter(name for item in after.values() for name in item if "x" in name[:1] or ".x" in name)
    reported: Counter[str] = Counter()
    for (_, name), number in report.unplaced.items():
        reported[name] += number
    assert kept.items() <= reported.items()
