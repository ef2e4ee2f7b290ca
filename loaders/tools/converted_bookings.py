"""Users, locations, bookings, calendar events, payments and notifications, from the forms of other programs."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from domain.bookings import Booking, BookingId, BookingStatus, CalendarSlot, DayPart, slots_in
from domain.commands.base import fingerprint_of
from domain.commands.bookings import RequestBooking
from domain.commands.calendar import CreateCalendarEvent
from domain.models import LocationId, OwnerId, OwnerKind, record_from
from domain.text import normalize_email
from domain.times import EARLIEST
from loaders import keys
from loaders.codecs import (
    BOOKING,
    CALENDAR_CLAIM,
    CALENDAR_SLOT,
    EMAIL_CLAIM,
    LOCATION,
    LOCATION_CODE,
    NOTIFICATION,
    OWNER,
    OWNER_BOOKING,
    PAYMENT,
    CalendarClaim,
    EmailClaim,
    LocationCode,
)
from loaders.table.positions import Key
from loaders.table.values import Item
from loaders.tools.converted_lockers import add_times
from loaders.tools.forms import Draft, NotConvertedError
from loaders.tools.kinds import PENDING
from loaders.tools.target import Group, Target
from loaders.writes.booking_steps import slots_of_booking

_PARTS = {part: part for part in ("street", "city", "region", "postalCode", "country")} | {"state": "region"}
"""The parts of `addressComponents` that have a place."""
_OF_BOOKING = "private_booking"
"""The type of events that belong to a booking."""
_PARTS_OF_DAY = frozenset({"timeSlot", "duration", "slot"})
_OWNED = frozenset({"LOCKER", "RESERVATION", "BOOKING"})


def convert_records(target: Target) -> None:
    """Converts users to owners, locations with the claims on their codes, payments and notifications."""
    for kind, convert in _RECORDS.items():
        for key in target.sources(kind):
            target.attempt([key], partial(convert, target, key))


def _owner(target: Target, key: Key) -> Group:
    item, owner_id = target.items[key], OwnerId(target.told[key]["ownerId"])
    draft = Draft(OWNER, ownerId=owner_id)
    draft.add("OWNER", target.items.get(keys.owner(owner_id), {}))
    draft.add("User", item)
    draft.default("email", _after(item, "GSI1PK", "EMAIL#"))
    draft.default("kind", OwnerKind.USER)
    draft.default("name", owner_id)
    draft.default("version", 1)
    add_times(draft, "createdAt", "updatedAt")
    group: Group = {key: None}
    if "email" in draft.placed:
        place = keys.email_claim(normalize_email(draft.placed["email"]))
        if target.items.get(place, {}).get("ownerId", owner_id) == owner_id:
            group[place] = EMAIL_CLAIM.encode(EmailClaim(owner_id=owner_id))
        else:  # another owner has it
            draft.keep("User", "email", draft.placed.pop("email"))
    group[keys.owner(owner_id)] = draft.attributes(draft.record())
    return group


def _location_code(target: Target, key: Key) -> Group:
    """A claim shows no time, so it has that of its location; another one is kept."""
    item, draft = target.items[key], Draft(LOCATION_CODE, **target.told[key])
    location = target.items.get(keys.location(LocationId(str(item.get("locationId")))), {})
    draft.default("createdAt", location.get("createdAt"))
    draft.add("LOCATION_CODE", item)
    return {key: draft.attributes(draft.record())}


def _location(target: Target, key: Key) -> Group:
    item = target.items[key]
    draft = Draft(LOCATION, **target.told[key])
    draft.add("LOCATION", item, without={"addressComponents"})
    parts = item.get("addressComponents")
    if isinstance(parts, dict):
        known = [part for part in _PARTS if part in parts and draft.place(_PARTS[part], parts[part])]
        parts = {part: value for part, value in parts.items() if part not in known} or None
    if parts is not None:
        draft.keep("LOCATION", "addressComponents", parts)
    draft.default("name", target.told[key]["locationId"])
    draft.default("timeZone", "UTC")
    draft.default("version", 1)
    add_times(draft, "createdAt", "updatedAt")
    location = draft.record()
    group: Group = {key: draft.attributes(location)}
    claim = record_from(LocationCode, location)
    if LOCATION_CODE.key_of(claim) not in target.items:
        group[LOCATION_CODE.key_of(claim)] = LOCATION_CODE.encode(claim)
    return group


def convert_bookings(target: Target) -> None:
    """Converts bookings and calendar events, and counts the pending bookings of each owner."""
    events = list(_events(target))
    by_booking: dict[str, list[_Event]] = defaultdict(list)
    for event in events:
        by_booking[event.draft.placed.get("bookingId", "")].append(event)
    for booking_id, sources in target.sources_by("bookingId", "Booking", "UserBooking", "BOOKING").items():
        old = [key for key in sources if target.kind(key) != "BOOKING"]
        if old or by_booking[booking_id]:
            target.attempt(old, partial(_booking, target, BookingId(booking_id), old, by_booking[booking_id]))
    for event in events:
        if event.sources[0] in target.items:  # it is not that of an approved booking
            target.attempt(event.sources, partial(_calendar_event, target, event))
    _count_pending(target)


@dataclass(frozen=True, slots=True)
class _Event:
    """An event of a day in the calendar, and the items that it is made of: one, or one for each half of the day."""

    sources: list[Key]
    draft: Draft[CalendarSlot]


def _events(target: Target) -> Iterator[_Event]:
    found: dict[tuple[str, str], list[Key]] = defaultdict(list)
    for key in target.sources("Event"):
        found[target.told[key]["date"], str(target.items[key].get("eventId", key.sk))].append(key)
    for sources in found.values():
        draft, parts = Draft(CALENDAR_SLOT), set()
        for key in sources:
            item, part = target.items[key], Draft(CALENDAR_SLOT)
            draft.add("Event", item, without=_PARTS_OF_DAY)
            for name in _PARTS_OF_DAY & item.keys():
                if name != "timeSlot" or not part.place("duration", item[name]):
                    draft.keep("Event", name, item[name])
            part.default("duration", target.told[key]["duration"])
            parts.add(part.placed["duration"])
        draft.default("date", target.told[sources[0]]["date"])
        draft.placed["duration"] = parts.pop() if len(parts) == 1 else DayPart.FULL_DAY
        yield _Event(sources, draft)


def _booking(target: Target, booking_id: BookingId, old: list[Key], events: list[_Event]) -> Group:
    record = keys.booking(booking_id)
    draft = Draft(BOOKING, bookingId=booking_id)
    draft.add("BOOKING", target.items.get(record, {}))
    for key in old:
        item = target.items[key]
        draft.add(target.kind(key), item, target.told[key])
        draft.default("status", _after(item, "GSI1PK", "STATUS#"))
        draft.default("requestedAt", item.get("GSI1SK"))
    draft.default("locationId", target.location_id)
    draft.default("description", "")
    draft.default("attendees", 0)
    draft.default("version", 1)
    add_times(draft, "requestedAt", "updatedAt")
    booking = draft.record()
    group: Group = dict.fromkeys(old)
    if booking.status is BookingStatus.APPROVED:
        part = {"date": booking.date, "duration": booking.duration}
        own = [event for event in events if part.items() <= event.draft.placed.items()]
        group |= _half_days(target, booking, own, draft)
    content = fingerprint_of(RequestBooking, booking, without="booking_id")
    group[record] = {"fingerprint": content} | draft.attributes(booking)
    group[OWNER_BOOKING.key_of(booking)] = OWNER_BOOKING.encode(booking)
    return group


def _half_days(target: Target, booking: Booking, events: list[_Event], draft: Draft[Booking]) -> Group:
    """The half days of an approved booking. What its event tells and has no place there is kept on the booking."""
    usual = slots_of_booking(booking)
    _check_free(target, usual, booking.booking_id)
    first = CALENDAR_SLOT.encode(usual[0])
    common = Draft(
        CALENDAR_SLOT, **{name: first[name] for name in ("locationId", "date", "duration", "bookingId", "slot")}
    )
    common.add(CALENDAR_SLOT.entity_type, target.items.get(CALENDAR_SLOT.key_of(usual[0]), {}))
    for event in events:
        for name, value in (event.draft.placed | event.draft.kept).items():
            if not common.place(name, value) and (name, value) != ("eventType", _OF_BOOKING):
                draft.keep("Event", name, value)
    for name, value in first.items():
        common.default(name, value)
    slot = common.record()
    group: Group = {CALENDAR_SLOT.key_of(one): common.attributes(replace(slot, slot=one.slot)) for one in usual}
    return group | {key: None for event in events for key in event.sources}


def _calendar_event(target: Target, event: _Event) -> Group:
    """An event that is no approved booking's. What has no place on its half days is kept on the claim on its id."""
    draft = event.draft
    kept = draft.kept | {name: draft.placed.pop(name) for name in ("bookingId",) if name in draft.placed}
    draft.default("locationId", target.location_id)
    draft.default("title", "")
    draft.default("createdBy", "unknown")
    draft.default("createdAt", EARLIEST)
    slots = []
    for slot in slots_in(draft.placed["duration"]):
        draft.placed["slot"] = slot
        slots.append(draft.record())
    _check_free(target, slots, None)
    content = fingerprint_of(CreateCalendarEvent, slots[0], without="event_id")
    claim, claimed = record_from(CalendarClaim, slots[0], fingerprint=content), Draft(CALENDAR_CLAIM)
    if CALENDAR_CLAIM.key_of(claim) in target.items:
        raise NotConvertedError("its id is taken")
    for name, value in kept.items():
        claimed.keep("Event", name, value)
    group: Group = dict.fromkeys(event.sources)
    group[CALENDAR_CLAIM.key_of(claim)] = claimed.attributes(claim)
    return group | {CALENDAR_SLOT.key_of(slot): CALENDAR_SLOT.encode(slot) for slot in slots}


def _check_free(target: Target, slots: list[CalendarSlot], booking_id: str | None) -> None:
    for slot in slots:
        there = target.items.get(CALENDAR_SLOT.key_of(slot))
        if there is not None and (booking_id is None or there.get("bookingId") != booking_id):
            raise NotConvertedError("its half day is taken")


def _count_pending(target: Target) -> None:
    bookings = [item for item in target.items.values() if item.get("entityType") == BOOKING.entity_type]
    waiting = Counter(str(item.get("ownerId")) for item in bookings if item.get("status") == BookingStatus.PENDING)
    counters = {keys.owner_of(key.pk) for key in target.items if key.sk == keys.pending_count(OwnerId("")).sk}
    for owner_id in sorted(counters | waiting.keys()):
        counter = {"entityType": PENDING, "ownerId": owner_id, "pendingBookings": waiting[owner_id]}
        target.change({keys.pending_count(OwnerId(owner_id)): counter})


def _payment(target: Target, key: Key) -> Group:
    draft = Draft(PAYMENT, **target.told[key])
    draft.add("PAYMENT", target.items[key])
    draft.default("recordedAt", draft.placed.get("paidAt"))
    draft.default("paidAt", draft.placed.get("recordedAt"))
    return {key: draft.attributes(draft.record())}


def _notification(target: Target, key: Key) -> Group:
    told = target.told[key]
    draft = Draft(NOTIFICATION, ownerId=told["ownerId"])
    draft.add("Notification", target.items[key])
    draft.default("notificationId", told["notificationId"])
    draft.default("createdAt", told.get("createdAt"))
    place = NOTIFICATION.key_of(draft.record())
    draft.add(NOTIFICATION.entity_type, target.items.get(place, {}))
    return {key: None, place: draft.attributes(draft.record())}


def create_missing_owners(target: Target) -> None:
    """Creates a record for each owner of a locker, reservation or booking who has none, with the id as name."""
    owned = [item.get("ownerId") for item in target.items.values() if str(item.get("entityType")) in _OWNED]
    for owner_id in sorted({value for value in owned if isinstance(value, str)}):
        if keys.owner(OwnerId(owner_id)) not in target.items:
            target.attempt([], partial(_missing_owner, target, OwnerId(owner_id)))


def _missing_owner(target: Target, owner_id: OwnerId) -> Group:
    told = {"ownerId": owner_id, "kind": OwnerKind.USER, "name": owner_id, "version": 1}
    draft = Draft(OWNER, **told, createdAt=target.now, updatedAt=target.now)
    target.report.new_owners.append(owner_id)
    return {keys.owner(owner_id): draft.attributes(draft.record())}


def _after(item: Item, name: str, prefix: str) -> str | None:
    """The rest of an index attribute after a prefix; None if it has another."""
    value = item.get(name)
    return value.removeprefix(prefix) if isinstance(value, str) and value.startswith(prefix) else None


_RECORDS: dict[str, Callable[[Target, Key], Group]] = {
    "User": _owner,
    "LOCATION": _location,
    "LOCATION_CODE": _location_code,
    "PAYMENT": _payment,
    "Notification": _notification,
}
