"""Every key of the table: builders and ranges. No other module knows how a key is spelled.

Ids and times are canonical here (see `domain.text` and `domain.times`), so `#` separates the parts of a key, and `~`,
which sorts after every character of an id, closes a range.
"""

import hashlib
import inspect
import zlib
from collections.abc import Callable, Mapping
from typing import Any

from pydantic.alias_generators import to_camel

from domain.access_codes import CodeId
from domain.api_keys import ApiKeyId
from domain.bookings import BookingId, BookingStatus, DaySlot
from domain.models import (
    Door,
    EventId,
    LocationId,
    LocationStatus,
    LockerId,
    LockerSize,
    LockerStatus,
    OwnerId,
    ReservationId,
)
from domain.text import fold_name
from domain.times import EARLIEST, FIRST_DAY, LAST_DAY, LATEST, Day, Instant
from domain.webhooks import WebhookId
from loaders.table.positions import (
    Between,
    IndexBetween,
    IndexPartition,
    IndexPrefix,
    IndexUntil,
    Key,
    KeyRange,
    Position,
    Prefix,
)

LOG_SHARDS = 4
"""The parts of the log: each takes some 500 transactions a second."""

_VALUES = ("EMAIL#", "LOCATION_CODE#", "PHONE#", "REFERENCE#", "RECIPIENT#")
"""The partitions whose names contain the value of an attribute or a hash; others contain ids, times and statuses."""

_STRETCHES = {
    "LOCKER": (("CODE#", "DOOR"), ("GUARD#", "RID#~")),
    "LOCATION": (("CID#", "DOOR"), ("LOCKER#", "OFFER#~")),
    "OWNER": (("ANY#", "NAME"), ("PENDING_BOOKINGS", "SLOT#~")),
    "BOOKING": (("META", "PAYMENT#~"),),
}


def locker(locker_id: LockerId) -> Key:
    return Key(f"LOCKER#{locker_id}", "META")


def reservation(locker_id: LockerId, start_at: Instant, reservation_id: ReservationId) -> Key:
    """A reservation, ordered by start within its locker."""
    return Key(f"LOCKER#{locker_id}", f"RES#{start_at}#{reservation_id}")


def reservation_claim(locker_id: LockerId, reservation_id: ReservationId) -> Key:
    """The claim that makes a reservation's id unique whatever its start."""
    return Key(f"LOCKER#{locker_id}", f"RID#{reservation_id}")


def claim_index(reservation_id: ReservationId, locker_id: LockerId) -> dict[str, str]:
    return {"GSI1PK": claims_of_id(reservation_id).pk, "GSI1SK": locker_id}


def claims_of_id(reservation_id: ReservationId) -> IndexPartition:
    """The claims on a reservation's id at all lockers, by locker."""
    return IndexPartition(f"RESERVATION#{reservation_id}")


def reservation_guard(locker_id: LockerId) -> Key:
    """The guard, whose revision every reservation write of a locker increments."""
    return Key(f"LOCKER#{locker_id}", "GUARD#RES")


def active_pointer(locker_id: LockerId) -> Key:
    """The pointer to the earliest reservation that has not ended: the current or the next one."""
    return Key(f"LOCKER#{locker_id}", "RES#ACTIVE")


def live_reservation(locker_id: LockerId, start_at: Instant, reservation_id: ReservationId) -> Key:
    """The copy of a reservation that is neither canceled nor released, ordered by start within its locker."""
    return Key(f"LOCKER#{locker_id}", f"LIVE#{start_at}#{reservation_id}")


def live_copy_of(record: Key) -> Key | None:
    """The live copy of the reservation with this key; None for keys of other records."""
    kind, _, place = record.sk.partition("#")
    return Key(record.pk, f"LIVE#{place}") if kind == "RES" else None


def reservation_details(locker_id: LockerId, reservation_id: ReservationId) -> Key:
    """Details of a reservation that only the owner who made it sees."""
    return Key(f"LOCKER#{locker_id}", f"DETAILS#{reservation_id}")


def recipient_reservation(
    recipient_hash: str, start_at: Instant, locker_id: LockerId, reservation_id: ReservationId
) -> Key:
    """A reservation among those of a recipient, by start."""
    return Key(f"RECIPIENT#{recipient_hash}", f"RES#{start_at}#{locker_id}#{reservation_id}")


def recipient_reservations(recipient_hash: str, start: Instant = EARLIEST, end: Instant = LATEST) -> KeyRange:
    """The reservations of a recipient that start from `start` to `end`, both included."""
    return Between(f"RECIPIENT#{recipient_hash}", f"RES#{start}", f"RES#{end}~")


def reservation_of_details(details: Key) -> str:
    """The locker and the id of the reservation that details belong to, as the log names it."""
    return f"{locker_of(details.pk)}/{details.sk.removeprefix('DETAILS#')}"


def event(locker_id: LockerId, timestamp: Instant, event_id: EventId) -> Key:
    return Key(f"LOCKER#{locker_id}", f"EVT#{timestamp}#{event_id}")


def event_claim(locker_id: LockerId, event_id: EventId) -> Key:
    """The claim that makes a client-chosen event id unique whatever its time."""
    return Key(f"LOCKER#{locker_id}", f"EID#{event_id}")


def door_event(door: Door, timestamp: Instant, event_id: EventId) -> Key:
    return Key(_door(door), f"EVT#{timestamp}#{event_id}")


def door_event_claim(door: Door, event_id: EventId) -> Key:
    return Key(_door(door), f"EID#{event_id}")


def owner(owner_id: OwnerId) -> Key:
    return Key(f"OWNER#{owner_id}", "META")


def owner_items(owner_id: OwnerId) -> Between:
    """Everything in the partition of an owner."""
    return Between(f"OWNER#{owner_id}", "A", "~")


def owner_name(owner_id: OwnerId) -> Key:
    """The copy of an owner among all owners by name: one, whatever its name."""
    return Key(f"OWNER#{owner_id}", "NAME")


def owner_name_index(name: str, owner_id: OwnerId) -> dict[str, str]:
    """The index attributes of an owner by name. No folded name has two spaces, so no prefix matches an id."""
    return {"GSI1PK": "OWNER_NAME", "GSI1SK": f"{fold_name(name)}  {owner_id}"}


def owners_by_name(prefix: str) -> KeyRange:
    """All owners whose names begin like this, by name."""
    return IndexPrefix("OWNER_NAME", fold_name(prefix))


def owner_phone(digits: str, owner_id: OwnerId) -> Key:
    """An owner with this phone number; several owners may have the same."""
    return Key(f"PHONE#{digits}", f"OWNER#{owner_id}")


def erasure(shard: int, owner_id: OwnerId) -> Key:
    """The work that is left to erase an owner, for the process that follows a part of the log."""
    return Key(f"ERASURES#{shard}", f"OWNER#{owner_id}")


def erasures(shard: int) -> KeyRange:
    return Prefix(f"ERASURES#{shard}", "OWNER#")


def owner_locker(owner_id: OwnerId, locker_id: LockerId) -> Key:
    return Key(f"OWNER#{owner_id}", f"LOCKER#{locker_id}")


def owner_reservation(owner_id: OwnerId, start_at: Instant, reservation_id: ReservationId) -> Key:
    return Key(f"OWNER#{owner_id}", f"RES#{start_at}#{reservation_id}")


def any_claim(owner_id: OwnerId, reservation_id: ReservationId) -> Key:
    """The claim of a request for any locker, which names the reservation that it led to."""
    return Key(f"OWNER#{owner_id}", f"ANY#{reservation_id}")


def reservation_reference(owner_id: OwnerId, reference: str) -> Key:
    """The claim that makes a reference unique among the reservations of an owner."""
    return Key(f"OWNER#{owner_id}", f"REF#{reference}")


def reference_index(reference: str, owner_id: OwnerId) -> dict[str, str]:
    return {"GSI1PK": claims_of_reference(reference).pk, "GSI1SK": owner_id}


def claims_of_reference(reference: str) -> IndexPartition:
    """The claims of all owners on a reference, by owner."""
    return IndexPartition(f"REFERENCE#{reference}")


def reservation_slot(owner_id: OwnerId, slot: str) -> Key:
    """One of the live reservations that an owner may have."""
    return Key(f"OWNER#{owner_id}", f"SLOT#{slot}")


def email_claim(email: str) -> Key:
    """The claim that makes a normalized email address unique."""
    return Key(f"EMAIL#{email}", "META")


def location(location_id: LocationId) -> Key:
    return Key(f"LOCATION#{location_id}", "META")


def location_code(code: str) -> Key:
    """The claim that makes a location's code unique, permanently."""
    return Key(f"LOCATION_CODE#{code}", "META")


def location_locker(location_id: LocationId, locker_id: LockerId) -> Key:
    return Key(f"LOCATION#{location_id}", f"LOCKER#{locker_id}")


def offer(
    location_id: LocationId, audience: str, owner_id: OwnerId, size: LockerSize, lot: str, locker_id: LockerId
) -> Key:
    """A locker in service at a location, as it is offered to an audience.

    The lot spreads the lockers of a size, so that a search can begin anywhere among them.
    """
    return Key(f"LOCATION#{location_id}", f"OFFER#{audience}#{owner_id}#{size}#{lot}#{locker_id}")


def lot_of(text: str) -> str:
    """Where something begins or stands among the offers of one size: anywhere, but always at the same place."""
    return hashlib.sha256(text.encode()).hexdigest()[:4]


def offers(location_id: LocationId, audience: str, owner_id: OwnerId) -> KeyRange:
    """The offers to an audience at a location, by size and lot."""
    return Prefix(f"LOCATION#{location_id}", f"OFFER#{audience}#{owner_id}#")


def offers_of_size(location_id: LocationId, audience: str, owner_id: OwnerId, size: LockerSize) -> KeyRange:
    return Prefix(f"LOCATION#{location_id}", f"OFFER#{audience}#{owner_id}#{size}#")


def calendar_slot(location_id: LocationId, date: Day, slot: DaySlot) -> Key:
    return Key(f"LOCATION#{location_id}", f"DAY#{date}#{slot}")


def calendar_claim(location_id: LocationId, event_id: str) -> Key:
    """The claim that makes a calendar event's id unique whatever its date."""
    return Key(f"LOCATION#{location_id}", f"CID#{event_id}")


def booking(booking_id: BookingId) -> Key:
    return Key(f"BOOKING#{booking_id}", "META")


def payment(booking_id: BookingId, payment_id: str) -> Key:
    return Key(f"BOOKING#{booking_id}", f"PAYMENT#{payment_id}")


def owner_booking(owner_id: OwnerId, date: Day, booking_id: BookingId) -> Key:
    return Key(f"OWNER#{owner_id}", f"BOOKING#{date}#{booking_id}")


def pending_count(owner_id: OwnerId) -> Key:
    """The number of an owner's bookings that wait for a decision."""
    return Key(f"OWNER#{owner_id}", "PENDING_BOOKINGS")


def notification(owner_id: OwnerId, created_at: Instant, notification_id: str) -> Key:
    """A notification, ordered by time within its owner."""
    return Key(f"OWNER#{owner_id}", f"NOTIFICATION#{created_at}#{notification_id}")


def api_key(key_id: ApiKeyId) -> Key:
    return Key(f"APIKEY#{key_id}", "META")


def api_key_index(created_at: Instant, key_id: ApiKeyId) -> dict[str, str]:
    """The index attributes of an API key: among all keys, by creation."""
    return {"GSI1PK": "APIKEY", "GSI1SK": f"{created_at}#{key_id}"}


def api_keys() -> KeyRange:
    """All API keys, by creation."""
    return IndexPartition("APIKEY")


def access_code(door: Door, code_id: CodeId) -> Key:
    return Key(_door(door), f"CODE#{code_id}")


def locker_access_codes(locker_id: LockerId) -> KeyRange:
    return Prefix(f"LOCKER#{locker_id}", "CODE#")


def code_claim(door: Door, claim: str) -> Key:
    """The claim that makes digits unique among the live codes of a door; it is named by a keyed hash of them."""
    return Key(_door(door), f"DIGITS#{claim}")


def code_door(door: Door) -> Key:
    return Key(_door(door), "DOOR")


def lockout(door: Door) -> Key:
    return Key(_door(door), "LOCKOUT")


def locker_lockout(locker_id: LockerId) -> Key:
    return Key(f"LOCKER#{locker_id}", "LOCKOUT")


def location_lockout(location_id: LocationId) -> Key:
    return Key(f"LOCATION#{location_id}", "LOCKOUT")


def attempt(door: Door, attempt_id: str) -> Key:
    return Key(_door(door), f"ATTEMPT#{attempt_id}")


def _door(door: Door) -> str:
    """The partition of the locker or the location that the door belongs to; a partition stands for itself."""
    kind, colon, name = door.partition(":")
    return f"{kind.upper()}#{name}" if colon else door


def purpose_codes(purpose: str) -> IndexPartition:
    """The access codes of a reservation or a booking, by code id."""
    return IndexPartition(f"CODES#{purpose}")


def purpose_index(purpose: str, code_id: CodeId) -> dict[str, str]:
    return {"GSI1PK": purpose_codes(purpose).pk, "GSI1SK": code_id}


def rate(subject_hash: str) -> Key:
    """The budget of a caller, with what it has spent."""
    return Key(f"RATE#{subject_hash}", "META")


def caller_budget(payer: str) -> Key:
    """The budget that an admin has set for a caller: those of API keys come before those of tokens."""
    return Key("CALLERS", f"BUDGET#{payer}")


def caller_budgets() -> KeyRange:
    return Prefix("CALLERS", "BUDGET#")


def location_index(status: LocationStatus, created_at: Instant, location_id: LocationId) -> dict[str, str]:
    """The index attributes of a location: among those of its status, by creation."""
    return {"GSI1PK": f"LOCATION#{status}", "GSI1SK": f"{created_at}#{location_id}"}


def pending_index(requested_at: Instant, booking_id: BookingId) -> dict[str, str]:
    """The index attributes of a pending booking, by request; a decided booking has none."""
    return {"GSI1PK": "BOOKING#PENDING", "GSI1SK": f"{requested_at}#{booking_id}"}


def owners_by_phone(digits: str) -> KeyRange:
    """The owners with a phone number, by id."""
    return Prefix(f"PHONE#{digits}", "OWNER#")


def owner_index(created_at: Instant, owner_id: OwnerId) -> dict[str, str]:
    """The index attributes of an owner: among all owners, by creation."""
    return {"GSI1PK": owners().pk, "GSI1SK": f"{created_at}#{owner_id}"}


def owners() -> IndexPartition:
    """All owners, by creation."""
    return IndexPartition("OWNER")


def locker_index(status: LockerStatus, locker_id: LockerId) -> dict[str, str]:
    """The index attributes of a locker: among all lockers of its status, in one of the parts of that list."""
    return {"GSI1PK": lockers_of_status(status, shard_of(locker_id)).pk, "GSI1SK": locker_id}


def lockers_of_status(status: LockerStatus, shard: int) -> IndexPartition:
    """A part of all lockers of a status."""
    return IndexPartition(f"LOCKER#{status}#{shard}")


def booking_index(location_id: LocationId, status: BookingStatus, date: Day, booking_id: BookingId) -> dict[str, str]:
    """The index attributes of a booking: among those at its location with its status, by date."""
    return {"GSI1PK": location_bookings(location_id, status).pk, "GSI1SK": f"{date}#{booking_id}"}


def location_bookings(location_id: LocationId, status: BookingStatus) -> IndexPartition:
    """The bookings at a location with a status, by date."""
    return IndexPartition(f"LOCATION#{location_id}#BOOKING#{status}")


def reservation_index(
    location_id: LocationId, start_at: Instant, locker_id: LockerId, reservation_id: ReservationId
) -> dict[str, str]:
    """The index attributes of a reservation: among those at the location where it was made, by start."""
    return {"GSI1PK": location_reservations(location_id).pk, "GSI1SK": f"{start_at}#{locker_id}#{reservation_id}"}


def location_reservations(location_id: LocationId, start: Instant = EARLIEST, end: Instant = LATEST) -> IndexBetween:
    """The reservations that were made at a location and start from `start` to `end`, both included."""
    return IndexBetween(f"LOCATION#{location_id}#RES", start, f"{end}~")


def overdue_stay(locker_id: LockerId) -> Key:
    """The reservation that is over and still occupies a locker."""
    return Key(f"LOCKER#{locker_id}", "OVERDUE")


def overdue_index(overdue_since: Instant, locker_id: LockerId) -> dict[str, str]:
    """The index attributes of an overdue stay: among all of them, by when they began."""
    return {"GSI1PK": overdue_stays().pk, "GSI1SK": f"{overdue_since}#{locker_id}"}


def overdue_stays() -> IndexPartition:
    """All overdue stays, by when they began."""
    return IndexPartition("OVERDUE")


def owner_locker_index(owner_id: OwnerId, status: LockerStatus, locker_id: LockerId) -> dict[str, str]:
    return {"GSI1PK": owner_lockers_by_status(owner_id, status).pk, "GSI1SK": locker_id}


def location_locker_index(location_id: LocationId, status: LockerStatus, locker_id: LockerId) -> dict[str, str]:
    return {"GSI1PK": location_lockers_by_status(location_id, status).pk, "GSI1SK": locker_id}


def owner_lockers_by_status(owner_id: OwnerId, status: LockerStatus) -> IndexPartition:
    return IndexPartition(f"OWNER#{owner_id}#LOCKER#{status}")


def location_lockers_by_status(location_id: LocationId, status: LockerStatus) -> IndexPartition:
    return IndexPartition(f"LOCATION#{location_id}#LOCKER#{status}")


def locker_of(partition: str) -> LockerId:
    return LockerId(partition.removeprefix("LOCKER#"))


def owner_of(partition: str) -> OwnerId:
    return OwnerId(partition.removeprefix("OWNER#"))


def half_day_of(place: str) -> tuple[str, ...]:
    """The date and the half of the day that a sort key of a calendar names."""
    return tuple(place.split("#")[1:])


def log_entry(shard: int, stamp: Instant, entry_id: str) -> Key:
    """An entry for one transaction in one of the parts of the log."""
    return Key(f"LOG#{shard}", f"{stamp}#{entry_id}")


def log_entries(shard: int, start: Instant = EARLIEST, end: Instant = LATEST) -> KeyRange:
    """A part of the log from `start` to `end`, both included."""
    return Between(f"LOG#{shard}", start, f"{end}~")


def log_stamp_of(place: str) -> Instant:
    """The stamp that a sort key of the log begins with."""
    return Instant(place.partition("#")[0])


def log_shard(place: str) -> int:
    """The part of the log of a location or, without one, of an owner."""
    return shard_of(place)


def shard_of(name: str) -> int:
    """The part of what is divided in as many parts as the log."""
    return zlib.crc32(name.encode()) % LOG_SHARDS


def log_lease(shard: int) -> Key:
    """Who follows a part of the log, and how far each follower has got."""
    return Key(f"LEASE#{shard}", "META")


def activity(place: str, occurred_at: Instant, activity_id: str) -> Key:
    """An activity in the history of a place: a locker, a location, an owner, or what is public of a location."""
    return Key(_door(Door(place)), f"ACT#{occurred_at}#{activity_id}")


def activities(place: str, start: Instant = EARLIEST, end: Instant = LATEST) -> Between:
    """The history of a place from `start` to `end`, both included."""
    return Between(_door(Door(place)), f"ACT#{start}", f"ACT#{end}~")


def locker_activities(locker_id: LockerId, start: Instant = EARLIEST, end: Instant = LATEST) -> KeyRange:
    return activities(f"locker:{locker_id}", start, end)


def location_activities(location_id: LocationId, start: Instant = EARLIEST, end: Instant = LATEST) -> KeyRange:
    return activities(f"location:{location_id}", start, end)


def public_activities(location_id: LocationId, start: Instant = EARLIEST, end: Instant = LATEST) -> KeyRange:
    """The part of the history of a location that everyone may know."""
    return activities(f"public:{location_id}", start, end)


def owner_activities(owner_id: OwnerId, start: Instant = EARLIEST, end: Instant = LATEST) -> KeyRange:
    return activities(f"owner:{owner_id}", start, end)


def activity_time_of(position: Position) -> Instant:
    """The time of an activity, or of a position between activities, in a history."""
    return Instant(position.sk.removeprefix("ACT#").partition("#")[0])


def activity_of(entry: Position) -> Position:
    """Where the activities of a log entry stand among all activities."""
    return Key("LOG#all", f"ACT#{entry.sk}")


def log_bound_of(position: Position) -> Instant:
    """The beginning of the key of the log entry that a position in a history is about; a bound of `log_entries`."""
    stamp, separator, activity_id = position.sk.removeprefix("ACT#").partition("#")
    return Instant(f"{stamp}{separator}{activity_id.rpartition('-')[0]}")


def location_figures(location_id: LocationId) -> Key:
    """The figures of a location; those of all locations are one list."""
    return Key("FIGURES", f"LOCATION#{location_id}")


def all_location_figures() -> KeyRange:
    """The figures of all locations, by location id."""
    return Prefix("FIGURES", "LOCATION#")


def owner_figures(owner_id: OwnerId, shard: int) -> Key:
    """The part of an owner's figures that comes from one part of the log."""
    return Key(f"OWNER#{owner_id}", f"FIGURES#{shard}")


def location_usage(date: Day, location_id: LocationId) -> Key:
    """The usage of a location on one day; that of all locations on a day is one list."""
    return Key("USAGE", f"{date}#{location_id}")


def day_usage(date: Day) -> KeyRange:
    """The usage of all locations on one day, by location id."""
    return Prefix("USAGE", f"{date}#")


def webhook(webhook_id: WebhookId) -> Key:
    """An endpoint; all of them are one list, which can be read strongly."""
    return Key("WEBHOOKS", f"WEBHOOK#{webhook_id}")


def webhooks() -> KeyRange:
    """All endpoints, by id."""
    return Prefix("WEBHOOKS", "WEBHOOK#")


def webhook_revision() -> Key:
    """Changes whenever an endpoint does."""
    return Key("WEBHOOKS", "REVISION")


def webhook_count(owner_id: OwnerId) -> Key:
    """The number of an owner's endpoints."""
    return Key(f"OWNER#{owner_id}", "WEBHOOKS")


def owner_webhooks(owner_id: OwnerId) -> IndexPartition:
    """The endpoints of an owner, by creation."""
    return IndexPartition(f"OWNER#{owner_id}#WEBHOOK")


def webhook_index(owner_id: OwnerId, created_at: Instant, webhook_id: WebhookId) -> dict[str, str]:
    return {"GSI1PK": owner_webhooks(owner_id).pk, "GSI1SK": f"{created_at}#{webhook_id}"}


def delivery(webhook_id: WebhookId, occurred_at: Instant, activity_id: str) -> Key:
    """A delivery, ordered by the time of its activity within its endpoint."""
    return Key(f"WEBHOOK#{webhook_id}", f"DELIVERY#{occurred_at}#{activity_id}")


def deliveries(webhook_id: WebhookId) -> KeyRange:
    return Prefix(f"WEBHOOK#{webhook_id}", "DELIVERY#")


def waiting_deliveries(shard: int) -> IndexPartition:
    """The deliveries of activities in a part of the log that are going to be sent."""
    return IndexPartition(f"DUE_DELIVERY#{shard}")


def waiting_index(shard: int, place: Key) -> dict[str, str]:
    return {"GSI1PK": waiting_deliveries(shard).pk, "GSI1SK": f"{place.pk}#{place.sk}"}


def webhook_task(shard: int, webhook_id: WebhookId, task_id: str) -> Key:
    return Key(f"WEBHOOK_TASKS#{shard}", f"TASK#{webhook_id}#{task_id}")


def webhook_tasks(shard: int) -> KeyRange:
    """Work for the process that follows a part of the log, by endpoint."""
    return Prefix(f"WEBHOOK_TASKS#{shard}", "TASK#")


def table_state() -> Key:
    """The state of the table: its format version, and whether it is being migrated."""
    return Key("TABLE", "FORMAT")


def due_index(due_shard: int, end_at: Instant, locker_id: LockerId, reservation_id: ReservationId) -> dict[str, str]:
    """The index attributes of a live reservation whose end is not logged yet, by its end."""
    return {"GSI1PK": f"DUE#{due_shard}", "GSI1SK": f"{end_at}#{locker_id}#{reservation_id}"}


def due_reservations(due_shard: int, until: Instant) -> KeyRange:
    """The reservations in a part of the log that end until then, included."""
    return IndexUntil(f"DUE#{due_shard}", f"{until}~")


def locations(status: LocationStatus) -> KeyRange:
    """All locations of a status, by creation."""
    return IndexPartition(f"LOCATION#{status}")


def pending_bookings() -> KeyRange:
    """All pending bookings, by request."""
    return IndexPartition("BOOKING#PENDING")


def location_lockers(location_id: LocationId) -> KeyRange:
    return Prefix(f"LOCATION#{location_id}", "LOCKER#")


def calendar_days(location_id: LocationId, first: Day, last: Day) -> KeyRange:
    """The taken half days of a location from the first day to the last, both included."""
    return Between(f"LOCATION#{location_id}", f"DAY#{first}", f"DAY#{last}~")


def owner_bookings(owner_id: OwnerId, first: Day = FIRST_DAY, last: Day = LAST_DAY) -> KeyRange:
    """The bookings that an owner requested, by date from `first` to `last`, both included."""
    return Between(f"OWNER#{owner_id}", f"BOOKING#{first}", f"BOOKING#{last}~")


def owner_notifications(owner_id: OwnerId) -> KeyRange:
    return Prefix(f"OWNER#{owner_id}", "NOTIFICATION#")


def booking_payments(booking_id: BookingId) -> KeyRange:
    return Prefix(f"BOOKING#{booking_id}", "PAYMENT#")


def owner_lockers(owner_id: OwnerId) -> KeyRange:
    return Prefix(f"OWNER#{owner_id}", "LOCKER#")


def locker_reservations(locker_id: LockerId, start: Instant = EARLIEST, end: Instant = LATEST) -> KeyRange:
    """A locker's reservations that start from `start` to `end`, both included.

    A range even where it has no bounds: the active pointer lives under the same prefix.
    """
    return Between(f"LOCKER#{locker_id}", f"RES#{start}", f"RES#{end}~")


def live_reservations(locker_id: LockerId, start: Instant = EARLIEST, end: Instant = LATEST) -> KeyRange:
    """A locker's live reservations that start from `start` to `end`, both included."""
    return Between(f"LOCKER#{locker_id}", f"LIVE#{start}", f"LIVE#{end}~")


def live_before(locker_id: LockerId, before: Instant) -> KeyRange:
    return Between(f"LOCKER#{locker_id}", f"LIVE#{EARLIEST}", f"LIVE#{before}")


def locker_events(locker_id: LockerId, start: Instant = EARLIEST, end: Instant = LATEST) -> KeyRange:
    """A locker's events from `start` to `end`, both included."""
    return Between(f"LOCKER#{locker_id}", f"EVT#{start}", f"EVT#{end}~")


def location_events(location_id: LocationId, start: Instant = EARLIEST, end: Instant = LATEST) -> KeyRange:
    """The events at a location's door from `start` to `end`, both included."""
    return Between(f"LOCATION#{location_id}", f"EVT#{start}", f"EVT#{end}~")


def owner_reservations(owner_id: OwnerId, start: Instant = EARLIEST, end: Instant = LATEST) -> KeyRange:
    """The reservations that an owner made, by start from `start` to `end`, both included."""
    return Between(f"OWNER#{owner_id}", f"RES#{start}", f"RES#{end}~")


def reservation_slots(owner_id: OwnerId) -> KeyRange:
    return Prefix(f"OWNER#{owner_id}", "SLOT#")


def is_of_its_table(partition: str) -> bool:
    """Whether its items are of no use in another table: the table's state, budgets and leases."""
    return partition.partition("#")[0] in {"TABLE", "RATE", "LEASE"}


def record_of(partition: str) -> Key | None:
    """The record that all items of a partition belong to, if it is the partition of one."""
    return Key(partition, "META") if partition.partition("#")[0] in _STRETCHES else None


def is_counted_in(partition: str, item: Mapping[str, Any]) -> bool:
    """Whether an item is one of a partition, or of a list of all owners of which the partition counts its own."""
    if item["PK"] == "WEBHOOKS":
        return partition == f"OWNER#{item.get('ownerId')}" and item["SK"] != "REVISION"
    return bool(item["PK"] == partition)


def stretch(partition: str, first: str, last: str) -> KeyRange:
    """A part of the partition of a record."""
    return Between(partition, first, last)


def stretches(partition: str) -> list[tuple[str, str, str]]:
    """The arguments of the stretches of a record's partition without access events, attempts and notifications.

    Where it counts items of a list of all owners, such as webhooks, the list is one of them.
    """
    kind = partition.partition("#")[0]
    counted = [("WEBHOOKS", "WEBHOOK#", "WEBHOOK#~")] if kind == "OWNER" else []
    return [*((partition, *bounds) for bounds in _STRETCHES.get(kind, ())), *counted]


def ordering(partition: str) -> list[Key]:
    """The items of a partition that every write of several of its items changes."""
    return [Key(partition, name) for name in ("GUARD#RES", "DOOR", "PENDING_BOOKINGS", "WEBHOOKS")]


def shown(partition: str) -> str:
    """A partition as an explanation may show it: without the value of an attribute."""
    return next((f"{prefix}…" for prefix in _VALUES if partition.startswith(prefix)), partition)


def masked(key: Key) -> str:
    """A key as the log may show it: its kind, and a hash by which it can be found again if its ids are known.

    An email address could be guessed from its hash, so there is none for it.
    """
    kind = " / ".join(part.partition("#")[0] for part in (key.pk, key.sk))
    if key.pk.startswith(_VALUES):
        return kind
    mark = hashlib.sha256(f"{key.pk} / {key.sk}".encode()).hexdigest()[:12]
    return f"{kind} ({mark})"


def spelled(builder: Callable[..., Key | KeyRange]) -> tuple[str, str]:
    """The partition and sort key of a builder for the documentation, each argument shown by its name."""
    names = inspect.signature(builder).parameters
    match builder(*(f"<{to_camel(name)}>" for name in names)):
        case Key(pk, sk):
            return f"PK = {pk}", f"SK = {sk}"
        case Prefix(pk, prefix):
            return f"PK = {pk}", f"SK begins_with {prefix}"
        case Between(pk, low, high):
            return f"PK = {pk}", f"SK BETWEEN {low} AND {high}"
        case IndexPartition(pk) as within:
            return "index GSI1", f"GSI1PK = {pk}{_bounds(within)}"


def _bounds(within: IndexPartition) -> str:
    match within:
        case IndexUntil(_, high):
            return f", GSI1SK <= {high}"
        case IndexBetween(_, low, high):
            return f", GSI1SK BETWEEN {low} AND {high}"
        case IndexPrefix(_, prefix):
            return f", GSI1SK begins_with {prefix}"
    return ""
