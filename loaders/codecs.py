"""The kinds of items: one codec each, with its key and sizes, and the models that only the table needs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from domain.access_codes import AccessCode, Attempt, CodeClaim, CodeDoor, Lockout
from domain.activity import PastActivity
from domain.api_keys import ApiKey, ApiKeyId
from domain.authorization import Role
from domain.bookings import Booking, CalendarSlot, DayPart, Notification, Payment
from domain.budgets import CallerBudget
from domain.figures import LocationFigures, LocationUsage, OwnerFigures
from domain.models import (
    AccessEvent,
    ActivePointer,
    EventId,
    Location,
    LocationId,
    Locker,
    LockerId,
    LockerOffer,
    LockerSummary,
    Owner,
    OwnerId,
    RecipientReservation,
    Reservation,
    ReservationDetails,
    ReservationId,
    ReservationOutcome,
    ReservationSlot,
)
from domain.times import Day, Instant
from domain.webhooks import Delivery, DeliveryStatus, Webhook, WebhookStatus, WebhookTask
from loaders import keys
from loaders.conversion import Codec


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservationClaim:
    """The start of the reservation with this id, and the fingerprint of the request that created it."""

    reservation_id: ReservationId
    locker_id: LockerId
    start_at: Instant
    fingerprint: str
    details_until: int | None = None
    """Until when the details are kept that the fingerprint includes, in seconds since 1970; None if permanently."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyClaim:
    """The reservation that a request for any locker led to, and the fingerprint of the request."""

    owner_id: OwnerId
    reservation_id: ReservationId
    locker_id: LockerId
    start_at: Instant
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceClaim:
    """The reservation of an owner that has this reference."""

    owner_id: OwnerId
    reference: str
    locker_id: LockerId
    start_at: Instant
    reservation_id: ReservationId


@dataclass(frozen=True, slots=True, kw_only=True)
class EventClaim:
    """The time of the event with this id, and the fingerprint of the request that recorded it."""

    event_id: EventId
    locker_id: LockerId | None
    timestamp: Instant
    fingerprint: str
    location_id: LocationId | None = None
    expires_at: int | None = None
    """As that of its event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailClaim:
    owner_id: OwnerId


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerPhone:
    """An owner among those who have the same phone number."""

    digits: str
    owner_id: OwnerId


@dataclass(frozen=True, slots=True, kw_only=True)
class LocationCode:
    """The location that a code belongs to, permanently."""

    location_id: LocationId
    code: str
    created_at: Instant | None = None
    """When it was claimed, if that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarClaim:
    """The day of the calendar event with this id, and the fingerprint of the request that created it."""

    event_id: str
    location_id: LocationId
    date: Day
    duration: DayPart
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """The number of changes to a locker's reservations, and the reservation changed last, with its revision.

    `changed_removed` where that change removed its live copy.
    """

    revision: int
    changed_start_at: Instant | None = None
    changed_reservation_id: ReservationId | None = None
    changed_revision: int | None = None
    changed_removed: bool | None = None
    released_start_at: Instant | None = None
    """Latest start of a reservation that was released: all that ended before it have no grace period any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReservation:
    """A reservation, the revision of the guard that wrote it, and its slot; one migrated after its end has no slot.

    `due_shard` is the part of the log in which its end is due, `ended_as` what it was when its end was logged.
    """

    reservation: Reservation
    revision: int | None = None
    slot: str | None = None
    due_shard: int = 0
    ended_as: ReservationOutcome | None = None
    location_id: LocationId | None = None
    """Where its locker was when it was reserved: there it is counted as long as it is live."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedBooking:
    booking: Booking
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAccessCode:
    code: AccessCode
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """The happenings of one transaction, as JSON (see `loaders.log`), in one part of the log."""

    shard: int
    stamp: Instant
    entry_id: str
    happenings: str
    expires_at: int
    actor_subject: str | None = None
    actor_role: Role | None = None
    actor_owner_id: OwnerId | None = None
    actor_key_id: ApiKeyId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """How far the erasure of an owner has got: everything of a stage up to the position, which is a sort key, is done.

    `subjects` are those of the owner that are known so far; the item is deleted when none is left anywhere.
    """

    shard: int
    owner_id: OwnerId
    requested_at: Instant
    subjects: tuple[str, ...]
    stage: int = 0
    position: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLease:
    """Who follows a part of the log, and up to which time each follower was told everything, by its name.

    The number grows whenever another process takes it, the counter while one holds it.
    """

    shard: int
    number: int
    counter: int
    positions: Mapping[str, Any]
    holder: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookCount:
    """The number of an owner's endpoints."""

    owner_id: OwnerId
    webhooks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookRevision:
    """Another text after each change of an endpoint."""

    revision: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableState:
    """The format version of the table, the one that it is being migrated to, if it is, and what servers obey."""

    format_version: int
    revision: int
    migrating_to: int | None = None
    migrating_since: Instant | None = None
    is_drained: bool = False
    """Whether no server serves the table any more, so that a migration may convert its items."""
    code_keys: tuple[str, ...] = ()
    """Ids of the keys that access codes, devices or webhooks may need."""
    is_read_only: bool = False
    """Whether servers refuse all changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OverdueStay:
    """A reservation that is over and still occupies its locker."""

    locker_id: LockerId
    reservation_id: ReservationId
    owner_id: OwnerId
    start_at: Instant
    overdue_since: Instant


def _due_index(stored: StoredReservation) -> dict[str, str]:
    made = stored.reservation
    return keys.due_index(stored.due_shard, made.end_at, made.locker_id, made.reservation_id)


def _webhook_index(webhook: Webhook) -> dict[str, str]:
    if webhook.owner_id is None or webhook.status is WebhookStatus.DELETED:
        return {}
    return keys.webhook_index(webhook.owner_id, webhook.created_at, webhook.webhook_id)


def _location_index(stored: StoredReservation) -> dict[str, str]:
    made, place = stored.reservation, stored.location_id
    return {} if place is None else keys.reservation_index(place, made.start_at, made.locker_id, made.reservation_id)


LOCKER = Codec(
    Locker,
    "LOCKER",
    keys.locker,
    index=lambda one: keys.locker_index(one.status, one.locker_id),
    largest=2000,
    usual=350,
)
OVERDUE_STAY = Codec(
    OverdueStay,
    "OVERDUE_STAY",
    keys.overdue_stay,
    index=lambda one: keys.overdue_index(one.overdue_since, one.locker_id),
    largest=700,
    usual=350,
)
OWNER_LOCKER = Codec(LockerSummary, "OWNER_LOCKER", keys.owner_locker, largest=2000, usual=300)
OWNER = Codec(
    Owner,
    "OWNER",
    keys.owner,
    index=lambda one: keys.owner_index(one.created_at, one.owner_id),
    largest=2000,
    usual=350,
)
OWNER_NAME = Codec(
    Owner,
    "OWNER_NAME",
    keys.owner_name,
    index=lambda one: keys.owner_name_index(one.name, one.owner_id),
    largest=3000,
    usual=400,
)
OWNER_PHONE = Codec(OwnerPhone, "OWNER_PHONE", keys.owner_phone, largest=400, usual=200)
EMAIL_CLAIM = Codec(EmailClaim, "EMAIL_CLAIM", keys.email_claim, largest=2000, usual=200)
RESERVATION = Codec(Reservation, "RESERVATION", keys.reservation, largest=1900, usual=350)
STORED_RESERVATION = Codec(
    StoredReservation, "RESERVATION", keys.reservation, index=_location_index, largest=1900, usual=350
)
LIVE_RESERVATION = Codec(Reservation, "LIVE_RESERVATION", keys.live_reservation, largest=1900, usual=350)
STORED_LIVE_RESERVATION = Codec(
    StoredReservation,
    "LIVE_RESERVATION",
    keys.live_reservation,
    index=lambda one: _due_index(one) if one.ended_as is None else {},
    largest=1900,
    usual=350,
)
OWNER_RESERVATION = Codec(Reservation, "OWNER_RESERVATION", keys.owner_reservation, largest=1900, usual=350)
ACTIVE_POINTER = Codec(ActivePointer, "RESERVATION_ACTIVE", keys.active_pointer, largest=1900, usual=400)
RESERVATION_CLAIM = Codec(
    ReservationClaim,
    "RESERVATION_CLAIM",
    keys.reservation_claim,
    index=lambda one: keys.claim_index(one.reservation_id, one.locker_id),
    largest=800,
    usual=350,
)
ANY_CLAIM = Codec(AnyClaim, "ANY_LOCKER_CLAIM", keys.any_claim, largest=600, usual=350)
REFERENCE_CLAIM = Codec(
    ReferenceClaim,
    "REFERENCE_CLAIM",
    keys.reservation_reference,
    index=lambda one: keys.reference_index(one.reference, one.owner_id),
    largest=800,
    usual=350,
)
RESERVATION_DETAILS = Codec(
    ReservationDetails, "RESERVATION_DETAILS", keys.reservation_details, largest=27_500, usual=400
)
RECIPIENT_RESERVATION = Codec(
    RecipientReservation, "RECIPIENT_RESERVATION", keys.recipient_reservation, largest=700, usual=350
)
RESERVATION_SLOT = Codec(ReservationSlot, "RESERVATION_SLOT", keys.reservation_slot, largest=600, usual=300)
GUARD = Codec(Guard, "RESERVATION_GUARD", keys.reservation_guard, largest=600, usual=250)
LOCATION = Codec(
    Location,
    "LOCATION",
    keys.location,
    index=lambda one: keys.location_index(one.status, one.created_at, one.location_id),
    largest=8000,
    usual=700,
)
LOCATION_CODE = Codec(LocationCode, "LOCATION_CODE", keys.location_code, largest=600, usual=200)
LOCKER_OFFER = Codec(LockerOffer, "LOCKER_OFFER", keys.offer, largest=2000, usual=250)
LOCATION_LOCKER = Codec(LockerSummary, "LOCATION_LOCKER", keys.location_locker, largest=2000, usual=300)
BOOKING = Codec(
    Booking,
    "BOOKING",
    keys.booking,
    index=lambda one: keys.pending_index(one.requested_at, one.booking_id) if one.is_pending else {},
    largest=19_300,
    usual=700,
)
REQUESTED_BOOKING = Codec(RequestedBooking, "BOOKING", keys.booking, largest=19_300, usual=700)
OWNER_BOOKING = Codec(
    Booking,
    "OWNER_BOOKING",
    keys.owner_booking,
    index=lambda one: keys.booking_index(one.location_id, one.status, one.date, one.booking_id),
    largest=19_300,
    usual=700,
)
CALENDAR_SLOT = Codec(CalendarSlot, "CALENDAR_SLOT", keys.calendar_slot, largest=2600, usual=400)
CALENDAR_CLAIM = Codec(CalendarClaim, "CALENDAR_EVENT_CLAIM", keys.calendar_claim, largest=1800, usual=300)
PAYMENT = Codec(Payment, "PAYMENT", keys.payment, largest=1800, usual=350)
NOTIFICATION = Codec(Notification, "NOTIFICATION", keys.notification, largest=9000, usual=450)
API_KEY = Codec(
    ApiKey,
    "API_KEY",
    keys.api_key,
    index=lambda one: keys.api_key_index(one.created_at, one.key_id),
    largest=4000,
    usual=700,
)
# 16 KB of JSON take up to 24 KB in the table: an element `1,` has two bytes in JSON and three in the table.
ACCESS_EVENT = Codec(AccessEvent, "ACCESS_EVENT", keys.door_event, largest=25_600, usual=350)
EVENT_CLAIM = Codec(EventClaim, "ACCESS_EVENT_CLAIM", keys.door_event_claim, largest=600, usual=300)
CALLER_BUDGET = Codec(CallerBudget, "CALLER_BUDGET", keys.caller_budget, largest=800, usual=250)
TABLE_STATE = Codec(TableState, "TABLE_FORMAT", keys.table_state, largest=500, usual=200)
ACCESS_CODE = Codec(
    AccessCode,
    "ACCESS_CODE",
    keys.access_code,
    index=lambda one: {} if one.purpose is None else keys.purpose_index(one.purpose, one.code_id),
    largest=6600,
    usual=600,
)
STORED_ACCESS_CODE = Codec(StoredAccessCode, "ACCESS_CODE", keys.access_code, largest=6600, usual=600)
CODE_CLAIM = Codec(CodeClaim, "CODE_CLAIM", keys.code_claim, largest=800, usual=200)
CODE_DOOR = Codec(CodeDoor, "CODE_DOOR", keys.code_door, largest=8000, usual=700)
LOCKOUT = Codec(Lockout, "LOCKOUT", keys.lockout, largest=800, usual=200)
ATTEMPT = Codec(Attempt, "ACCESS_ATTEMPT", keys.attempt, largest=800, usual=300)
LOCATION_FIGURES = Codec(LocationFigures, "LOCATION_FIGURES", keys.location_figures, largest=700, usual=350)
OWNER_FIGURES = Codec(OwnerFigures, "OWNER_FIGURES", keys.owner_figures, largest=700, usual=350)
LOCATION_USAGE = Codec(LocationUsage, "LOCATION_USAGE", keys.location_usage, largest=600, usual=300)
LOG_ENTRY = Codec(LogEntry, "LOG_ENTRY", keys.log_entry, largest=12_000, usual=450)
ERASURE = Codec(Erasure, "ERASURE", keys.erasure, largest=17_000, usual=400)
LOG_LEASE = Codec(LogLease, "LOG_LEASE", keys.log_lease, largest=1000, usual=300)
ACTIVITY = Codec(PastActivity, "ACTIVITY", keys.activity, largest=2000, usual=450)
WEBHOOK = Codec(
    Webhook,
    "WEBHOOK",
    keys.webhook,
    index=_webhook_index,
    largest=4000,
    usual=700,
)
WEBHOOK_COUNT = Codec(WebhookCount, "WEBHOOK_COUNT", keys.webhook_count, largest=300, usual=150)
WEBHOOK_REVISION = Codec(WebhookRevision, "WEBHOOK_REVISION", keys.webhook_revision, largest=200, usual=150)
DELIVERY: Codec[Delivery] = Codec(
    Delivery,
    "DELIVERY",
    keys.delivery,
    index=lambda one: (
        keys.waiting_index(one.shard, DELIVERY.key_of(one)) if one.status is DeliveryStatus.WAITING else {}
    ),
    largest=3000,
    usual=800,
)
WEBHOOK_TASK = Codec(WebhookTask, "WEBHOOK_TASK", keys.webhook_task, largest=800, usual=350)
