"""Activities: each transaction that changes something visible logs what it does, and who did it."""

from dataclasses import dataclass, fields
from typing import Self, TypeVar

from pydantic.alias_generators import to_camel

from domain.access_codes import AccessCode, CodeId
from domain.api_keys import ApiKeyId
from domain.authorization import Role, Scope
from domain.bookings import Booking, BookingId
from domain.enums import DescribedEnum
from domain.models import (
    AccessAction,
    AccessEvent,
    AccessResult,
    Door,
    EventId,
    Location,
    LocationId,
    Locker,
    LockerId,
    LockerSize,
    LockerStatus,
    Owner,
    OwnerId,
    Reservation,
    ReservationId,
    door_of,
    record_from,
)
from domain.times import Instant

V = TypeVar("V", Booking, Location, Locker, Owner, Reservation)


class ActivityKind(DescribedEnum):
    """Kind of an activity. In the log it is written `reservation.created`."""

    by: tuple[str, ...]
    """The mutations that cause it; none if time does."""

    def __new__(cls, value: str, description: str = "", by: str = "") -> Self:
        """See DescribedEnum."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.description, member.by = description, tuple(by.split())
        return member

    LOCKER_REGISTERED = "locker.registered", "A locker was registered.", "registerLocker registerLockers"
    LOCKER_CHANGED = (
        "locker.changed",
        "A locker was renamed, configured or moved.",
        "renameLocker configureLocker moveLocker changeLockers",
    )
    LOCKER_STATUS_CHANGED = (
        "locker.status_changed",
        "The status of a locker changed, by itself or with the start or the release of a reservation.",
        "updateLockerStatus changeLockers startReservation releaseReservation verifyAccessCode",
    )
    LOCKER_TRANSFERRED = "locker.transferred", "A locker got another owner.", "transferLocker"
    LOCKER_RETIRED = "locker.retired", "A locker left service for good.", "retireLocker"

    LOCATION_CREATED = "location.created", "A location was created.", "createLocation"
    LOCATION_CHANGED = "location.changed", "A location was changed.", "updateLocation"
    LOCATION_DEACTIVATED = "location.deactivated", "A location was deactivated.", "deactivateLocation"
    LOCATION_REACTIVATED = "location.reactivated", "A location was reactivated.", "reactivateLocation"

    OWNER_CREATED = "owner.created", "An owner was created.", "createOwner"
    OWNER_CHANGED = "owner.changed", "An owner was changed, or is going to be erased.", "updateOwner eraseOwner"
    OWNER_ERASED = "owner.erased", "Everything that told who an owner was has been erased. Only its id is left."

    RESERVATION_CREATED = "reservation.created", "A locker was reserved.", "createReservation reserveAnyLocker"
    RESERVATION_CHANGED = (
        "reservation.changed",
        "The end of a reservation was moved, or a locker that it still occupied after its end was released.",
        "extendReservation shortenReservation releaseReservation",
    )
    RESERVATION_STARTED = "reservation.started", "A reservation was checked in.", "startReservation verifyAccessCode"
    RESERVATION_RELEASED = "reservation.released", "A reservation was ended by its release.", "releaseReservation"
    RESERVATION_CANCELLED = "reservation.cancelled", "A reservation was canceled.", "cancelReservation"
    RESERVATION_ENDED = (
        "reservation.ended",
        "The time of a reservation was over. It is completed, expired without a check-in, or still in its locker.",
    )
    RESERVATION_OVERDUE = (
        "reservation.overdue",
        "The time of a reservation was over while it still occupied its locker.",
    )

    BOOKING_REQUESTED = "booking.requested", "A booking was requested.", "requestBooking"
    BOOKING_APPROVED = "booking.approved", "A booking was approved.", "approveBooking"
    BOOKING_REJECTED = "booking.rejected", "A booking was rejected.", "rejectBooking"
    BOOKING_CANCELLED = "booking.cancelled", "A booking was canceled.", "cancelBooking"
    PAYMENT_RECORDED = "payment.recorded", "A payment for a booking was recorded.", "recordPayment"
    CALENDAR_EVENT_CREATED = "calendar_event.created", "A calendar event was created.", "createCalendarEvent"
    CALENDAR_EVENT_DELETED = "calendar_event.deleted", "A calendar event was deleted.", "deleteCalendarEvent"

    ACCESS_CODE_CREATED = "access_code.created", "An access code was created.", "createAccessCode"
    ACCESS_CODE_ROTATED = (
        "access_code.rotated",
        "An access code got new digits.",
        "rotateAccessCode revealAccessCode",
    )
    ACCESS_CODE_REVEALED = (
        "access_code.revealed",
        "The digits of an access code were shown again.",
        "revealAccessCode createAccessCode rotateAccessCode",
    )
    ACCESS_CODE_REVOKED = "access_code.revoked", "An access code was revoked.", "revokeAccessCode"
    ACCESS_CODE_LOADED = (
        "access_code.loaded",
        "The device of a door acknowledged its list of access codes.",
        "acknowledgeAccessCodes",
    )
    ACCESS_CODE_USED = "access_code.used", "An access code opened its door.", "verifyAccessCode reportAccessCodeUse"
    ACCESS_CODE_DENIED = "access_code.denied", "Digits that open nothing were entered at a door.", "verifyAccessCode"
    DEVICE_PROVISIONED = "device.provisioned", "A door got another device.", "provisionDevice"
    DOOR_LOCKED_OUT = (
        "door.locked_out",
        "A door refuses access codes for a time, after too many failures.",
        "verifyAccessCode",
    )
    DOOR_LOCKOUT_CLEARED = "door.lockout_cleared", "The lockout of a door was ended.", "clearLockout"
    DOOR_OPENED = "door.opened", "A door was opened or unlocked.", "recordAccessEvent recordAccessEvents"
    DOOR_CLOSED = "door.closed", "A door was closed or locked.", "recordAccessEvent recordAccessEvents"
    DOOR_ACCESS_DENIED = (
        "door.access_denied",
        "A device refused access, or an action at a door failed.",
        "recordAccessEvent recordAccessEvents",
    )
    DOOR_TAMPERED = "door.tampered", "A locker was tampered with.", "recordAccessEvent recordAccessEvents"
    DOOR_OVERSTAYED = (
        "door.overstayed",
        "A reservation started while the locker was still occupied by one that had ended.",
        "startReservation verifyAccessCode",
    )

    API_KEY_CREATED = "api_key.created", "An API key was created.", "createApiKey"
    API_KEY_SUSPENDED = "api_key.suspended", "An API key was suspended.", "suspendApiKey"
    API_KEY_RESUMED = "api_key.resumed", "A suspended API key was resumed.", "resumeApiKey"
    API_KEY_REVOKED = "api_key.revoked", "An API key was revoked.", "revokeApiKey"
    CALLER_BUDGET_CHANGED = (
        "caller_budget.changed",
        "A caller got a budget of its own, another one, or the usual one again.",
        "setCallerBudget",
    )

    WEBHOOK_CREATED = "webhook.created", "A webhook was created.", "createWebhook"
    WEBHOOK_CHANGED = (
        "webhook.changed",
        "A webhook was changed, or got another secret.",
        "updateWebhook rotateWebhookSecret",
    )
    WEBHOOK_ENABLED = "webhook.enabled", "A webhook was enabled again.", "enableWebhook"
    WEBHOOK_DISABLED = (
        "webhook.disabled",
        "A webhook was disabled, by a caller or because deliveries to it failed.",
        "disableWebhook",
    )
    WEBHOOK_DELETED = "webhook.deleted", "A webhook was deleted.", "deleteWebhook"

    @property
    def scope(self) -> Scope | None:
        """The permission to read the object that it names; None where everyone may see it, or admins alone."""
        if self in {ActivityKind.DOOR_LOCKED_OUT, ActivityKind.DOOR_LOCKOUT_CLEARED}:
            return Scope.CODES_READ
        return _SCOPES.get(self.value.partition(".")[0])

    @property
    def is_public(self) -> bool:
        """Whether everyone may see the object that it names: a location, or the event that fills its calendar."""
        return self.value.startswith(("location.", "calendar_event."))


_SCOPES = {
    "locker": Scope.LOCKERS_READ,
    "owner": Scope.OWNERS_READ,
    "reservation": Scope.RESERVATIONS_READ,
    **dict.fromkeys(("booking", "payment"), Scope.BOOKINGS_READ),
    **dict.fromkeys(("access_code", "device"), Scope.CODES_READ),
    "door": Scope.EVENTS_READ,
    "webhook": Scope.WEBHOOKS_READ,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who did something: a caller, and with which API key, if it used one."""

    subject: str
    role: Role
    owner_id: OwnerId | None = None
    key_id: ApiKeyId | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A field that changed. The values are known only of fields that hold a status, a time, a size or an id."""

    field: str
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """One thing that a transaction does, as the transaction logs it: its kind, the ids it concerns, what changed.

    It has ids and statuses only. `owner_id` is the owner of the object that the kind names, `locker_owner_id` that of
    the locker, where these are two.
    """

    kind: ActivityKind
    locker_id: LockerId | None = None
    location_id: LocationId | None = None
    owner_id: OwnerId | None = None
    locker_owner_id: OwnerId | None = None
    former_location_id: LocationId | None = None
    former_owner_id: OwnerId | None = None
    reserver_id: OwnerId | None = None
    """Of what happened to a locker by a reservation: the owner who made it, unless that is the owner of the locker."""
    reservation_id: ReservationId | None = None
    start_at: Instant | None = None
    """Start of the reservation, which with its id is its key."""
    reserved_location_id: LocationId | None = None
    """Of an activity that ends a reservation: where its locker was when it was reserved."""
    booking_id: BookingId | None = None
    code_id: CodeId | None = None
    event_id: EventId | None = None
    calendar_event_id: str | None = None
    payment_id: str | None = None
    api_key_id: ApiKeyId | None = None
    webhook_id: str | None = None
    caller_id: str | None = None
    """Hash of the subject of a caller without an API key."""
    version: int | None = None
    status: LockerStatus | None = None
    """Status of the locker after it."""
    size: LockerSize | None = None
    is_overdue: bool | None = None
    """Whether a reservation that has ended occupies the locker after it."""
    outcome: str | None = None
    changes: tuple[Change, ...] = ()

    @property
    def place(self) -> str:
        """The id by which it has its place in the log: that of the location or, without one, of the owner."""
        return self.location_id or self.owner_id or self.api_key_id or self.webhook_id or self.caller_id or ""

    @property
    def places(self) -> tuple[str, ...]:
        """All of its places in the log: also the former location of a locker that moves or has moved."""
        others = (self.former_location_id, self.reserved_location_id)
        return tuple(dict.fromkeys([self.place, *(other for other in others if other is not None)]))

    @property
    def owners(self) -> tuple[OwnerId, ...]:
        """All owners it concerns, each once."""
        return _owners(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """One thing that happened, as the log tells it. Time did it if it has no actor."""

    activity_id: str
    occurred_at: Instant
    actor: Actor | None
    happening: Happening


@dataclass(frozen=True, slots=True, kw_only=True)
class PastActivity:
    """An activity in the history of an object, which is its `place`: the door of a locker, or an owner, as in a key.

    `changes` has three texts for each field that changed: its name, and the values, empty where they are not known.
    """

    place: str
    activity_id: str
    occurred_at: Instant
    kind: ActivityKind
    expires_at: int
    actor_subject: str | None = None
    actor_role: Role | None = None
    actor_owner_id: OwnerId | None = None
    actor_key_id: ApiKeyId | None = None
    locker_id: LockerId | None = None
    location_id: LocationId | None = None
    owner_id: OwnerId | None = None
    locker_owner_id: OwnerId | None = None
    former_owner_id: OwnerId | None = None
    reserver_id: OwnerId | None = None
    reservation_id: ReservationId | None = None
    start_at: Instant | None = None
    booking_id: BookingId | None = None
    code_id: CodeId | None = None
    event_id: EventId | None = None
    calendar_event_id: str | None = None
    payment_id: str | None = None
    api_key_id: ApiKeyId | None = None
    webhook_id: str | None = None
    caller_id: str | None = None
    version: int | None = None
    outcome: str | None = None
    changes: tuple[str, ...] = ()

    @property
    def former_location_id(self) -> LocationId | None:
        """Where the locker was before it moved, if it did."""
        moved = dict(zip(self.changes[::3], self.changes[1::3], strict=False)).get("locationId")
        return LocationId(moved) if moved else None

    @property
    def home(self) -> str:
        """The place of which it has its global id, whichever list it is found in."""
        return _homes(self)[0]

    @property
    def owners(self) -> tuple[OwnerId, ...]:
        """All owners it concerned when it happened, each once."""
        return _owners(self)

    @property
    def reservation_key(self) -> tuple[LockerId, Instant, ReservationId] | None:
        if self.locker_id is None or self.start_at is None or self.reservation_id is None:
            return None
        return self.locker_id, self.start_at, self.reservation_id

    @property
    def code_key(self) -> tuple[Door, CodeId] | None:
        return None if self.code_id is None else (door_of(self.locker_id, self.location_id), self.code_id)


ENDS = frozenset(
    {ActivityKind.RESERVATION_RELEASED, ActivityKind.RESERVATION_CANCELLED, ActivityKind.RESERVATION_ENDED}
)
"""Each reservation gets exactly one of these, once."""
HAPPENING_FIELDS = tuple(field.name for field in fields(Happening))

_SHOWN = frozenset(
    {"status", "size", "reservable_by", "location_id", "owner_id", "manager_id", "role", "end_at", "started_at"}
    | {"erasure_requested_at", "erased_at"}
)
"""The fields whose values are logged: statuses, times and ids."""
_UNTOLD = frozenset(
    {
        *("created_at", "updated_at", "version", "last_change", "transfers", "occupied_by", "overdue_since"),
        *("ended_at", "ended_by", "end_reason", "decided_by", "decided_by_subject", "reason"),
    }
)
"""The fields that change with others; the kind and the actor tell as much."""
_TOLD: dict[type, list[tuple[str, str]]] = {
    kind: [(field.name, to_camel(field.name)) for field in fields(kind) if field.name not in _UNTOLD]
    for kind in (Booking, Location, Locker, Owner, Reservation)
}
"""The fields of objects whose changes are logged, each with its name in the API."""
_LOCKER_IDS = ("lockerId", "locationId", "ownerId")
_CODE_IDS = (*_LOCKER_IDS, "lockerOwnerId", "reservationId", "bookingId", "codeId")
_IDS = {
    "locker": _LOCKER_IDS,
    "locker.changed": (*_LOCKER_IDS, "formerLocationId"),
    "locker.transferred": (*_LOCKER_IDS, "formerOwnerId"),
    "location": ("locationId",),
    "owner": ("ownerId",),
    "reservation": (*_LOCKER_IDS, "lockerOwnerId", "reservationId"),
    "booking": ("locationId", "ownerId", "bookingId"),
    "payment": ("locationId", "ownerId", "bookingId", "paymentId"),
    "calendar_event": ("locationId", "calendarEventId"),
    "access_code": _CODE_IDS,
    "access_code.used": (*_CODE_IDS, "eventId"),
    "access_code.denied": (*_LOCKER_IDS, "eventId"),
    "access_code.loaded": _LOCKER_IDS,
    "device": _LOCKER_IDS,
    "door": (*_LOCKER_IDS, "eventId"),
    "door.lockout_cleared": _LOCKER_IDS,
    "api_key": ("apiKeyId",),
    "caller_budget": ("apiKeyId", "callerId"),
    "webhook": ("locationId", "ownerId", "webhookId"),
}
_KINDS = {
    AccessAction.OPEN: ActivityKind.DOOR_OPENED,
    AccessAction.UNLOCK: ActivityKind.DOOR_OPENED,
    AccessAction.CLOSE: ActivityKind.DOOR_CLOSED,
    AccessAction.LOCK: ActivityKind.DOOR_CLOSED,
    AccessAction.DENIED: ActivityKind.DOOR_ACCESS_DENIED,
    AccessAction.TAMPER: ActivityKind.DOOR_TAMPERED,
}


def changes_between(before: V, after: V) -> tuple[Change, ...]:
    """The fields that differ between two versions of an object; of texts and lists, without their values."""
    found = []
    for name, told in _TOLD[type(before)]:
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            found.append(Change(told, _shown(old), _shown(new)) if name in _SHOWN else Change(told))
    return tuple(found)


def locker_happening(kind: ActivityKind, locker: Locker, before: Locker | None = None) -> Happening:
    """Tells what happened to a locker, with its state after it."""
    former = locker if before is None else before
    overdue = (Change("overdue", "true", "false"),) if former.overdue_since and locker.overdue_since is None else ()
    return Happening(
        kind=kind,
        locker_id=locker.locker_id,
        location_id=locker.location_id,
        owner_id=locker.owner_id,
        former_location_id=former.location_id if former.location_id != locker.location_id else None,
        former_owner_id=former.owner_id if former.owner_id != locker.owner_id else None,
        version=locker.version,
        status=locker.status,
        size=locker.size,
        is_overdue=None if locker.overdue_since is None else True,
        changes=changes_between(former, locker) + overdue,
    )


def reservation_happening(
    kind: ActivityKind,
    reservation: Reservation,
    locker: Locker,
    before: Reservation | None = None,
    reserved_at: LocationId | None = None,
) -> Happening:
    """An activity of a reservation; `reserved_at` is where its locker was when it was reserved."""
    return Happening(
        kind=kind,
        locker_id=reservation.locker_id,
        location_id=locker.location_id,
        owner_id=reservation.owner_id,
        locker_owner_id=locker.owner_id,
        reservation_id=reservation.reservation_id,
        start_at=reservation.start_at,
        reserved_location_id=reserved_at if kind in ENDS else None,
        version=reservation.version,
        changes=() if before is None else changes_between(before, reservation),
    )


def booking_happening(kind: ActivityKind, booking: Booking, before: Booking | None = None) -> Happening:
    return Happening(
        kind=kind,
        location_id=booking.location_id,
        owner_id=booking.owner_id,
        booking_id=booking.booking_id,
        version=booking.version,
        changes=() if before is None else changes_between(before, booking),
    )


def code_happening(kind: ActivityKind, code: AccessCode, locker: Locker | None) -> Happening:
    """Tells what happened to a code; `locker` is that of its door, unless the door is a location's."""
    return Happening(
        kind=kind,
        locker_id=code.locker_id,
        location_id=code.location_id if locker is None else locker.location_id,
        owner_id=code.owner_id,
        locker_owner_id=None if locker is None else locker.owner_id,
        reservation_id=code.reservation_id,
        start_at=code.start_at,
        booking_id=code.booking_id,
        code_id=code.code_id,
        version=code.revision,
    )


def door_happening(kind: ActivityKind, place: Locker | Location, event: AccessEvent | None = None) -> Happening:
    """Tells what happened at the door of a locker or a location."""
    event_id = None if event is None else event.event_id
    if isinstance(place, Location):
        return Happening(kind=kind, location_id=place.location_id, event_id=event_id)
    locker_id, location_id, owner_id = place.locker_id, place.location_id, place.owner_id
    return Happening(kind=kind, locker_id=locker_id, location_id=location_id, owner_id=owner_id, event_id=event_id)


def history_places(happening: Happening | PastActivity) -> list[str]:
    """The objects in whose history it is; what everyone may see of a location is in a history of its own, too."""
    former = happening.former_location_id
    places = [*_homes(happening), *(f"owner:{owner}" for owner in happening.owners)]
    places += [f"location:{former}"] if former is not None else []
    places += [f"public:{happening.location_id}"] if happening.kind.is_public else []
    return list(dict.fromkeys(places))


def actor_place(activity: Activity) -> list[str]:
    """The place of what an owner did that did not concern it, as an admin does: by it, what the owner did is found."""
    actor = activity.actor
    if actor is None or actor.owner_id is None or actor.owner_id in activity.happening.owners:
        return []
    return [f"actor:{actor.owner_id}"]


def past_activity(activity: Activity, place: str, expires_at: int) -> PastActivity:
    actor, changes = activity.actor, activity.happening.changes
    return record_from(
        PastActivity,
        activity.happening,
        place=place,
        activity_id=activity.activity_id,
        occurred_at=activity.occurred_at,
        expires_at=expires_at,
        actor_subject=None if actor is None else actor.subject,
        actor_role=None if actor is None else actor.role,
        actor_owner_id=None if actor is None else actor.owner_id,
        actor_key_id=None if actor is None else actor.key_id,
        changes=tuple(value or "" for change in changes for value in (change.field, change.before, change.after)),
    )


def kind_of_event(event: AccessEvent) -> ActivityKind:
    """The kind of activity that an access event of a device is."""
    has_failed = event.result is AccessResult.FAIL and event.action is not AccessAction.TAMPER
    return ActivityKind.DOOR_ACCESS_DENIED if has_failed else _KINDS[event.action]


def ids_of(kind: ActivityKind) -> tuple[str, ...]:
    """The ids that an activity of this kind may have."""
    return _IDS.get(kind) or _IDS[kind.partition(".")[0]]


def _shown(value: object) -> str | None:
    return None if value is None else str(value)


def _owners(one: Happening | PastActivity) -> tuple[OwnerId, ...]:
    named = (one.owner_id, one.locker_owner_id, one.former_owner_id)
    return tuple(dict.fromkeys(owner for owner in named if owner is not None))


def _homes(one: Happening | PastActivity) -> list[str]:
    """The objects that it happened to, the closest one first."""
    named: dict[str, str | None] = {"locker": one.locker_id, "location": one.location_id, "owner": one.owner_id}
    if not any(named.values()):
        named |= {"apikey": one.api_key_id, "webhook": one.webhook_id, "caller": one.caller_id}
    return [f"{kind}:{name}" for kind, name in named.items() if name is not None]
