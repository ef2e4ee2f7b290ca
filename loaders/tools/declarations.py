"""How items belong together: one declaration for each kind, from which `doctor` derives all of its checks.

A record leads to items that the functions of the writes build from it. An item that follows from a record names it.
Any item may refer to others, and lies in the partition of a record.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from domain.access_codes import AccessCode, AccessCodeKind, Attempt
from domain.bookings import Booking, BookingStatus, CalendarSlot, Notification, slots_in
from domain.models import (
    Door,
    Location,
    Locker,
    LockerStatus,
    Owner,
    RecipientReservation,
    Reservation,
    ReservationDetails,
    ReservationStatus,
    door_of,
    record_from,
)
from domain.schedule import CLOCK_SKEW, has_ended, slot_name
from domain.times import Instant, shift, to_seconds
from domain.webhooks import Delivery, Webhook
from loaders import codecs, keys
from loaders.codecs import (
    AnyClaim,
    CalendarClaim,
    EventClaim,
    LocationCode,
    LogEntry,
    ReferenceClaim,
    ReservationClaim,
    StoredReservation,
)
from loaders.conversion import Codec, DamagedItemError
from loaders.log import activities_of, decode_happening
from loaders.table.positions import Key
from loaders.table.values import Item
from loaders.tools.kinds import PENDING, RATE
from loaders.writes.booking_steps import notification_of, slots_of_booking
from loaders.writes.lockers import copies_of
from loaders.writes.moments import overdue_stay
from loaders.writes.owners import claim_of as email_claim_of
from loaders.writes.owners import directory_of
from loaders.writes.reservation_steps import claim_of, end_notification, recipient_entries, slot_of
from loaders.writes.timeline import live_copy_of

_BASES: dict[str, Codec[Any]] = {
    "reservation": codecs.RESERVATION,
    "booking": codecs.BOOKING,
    "locker": codecs.LOCKER,
}
_MOST_SLOTS = 1000
_OF_BOOKING = frozenset({"bookingId", "locationId", "date", "slot"})


@dataclass(frozen=True, slots=True)
class Due:
    """An item that a record leads to. `told` are the attributes that the record tells, where it does not tell all."""

    attributes: Mapping[str, Any]
    told: frozenset[str] | None = None
    is_optional: bool = False


Dues = Mapping[Key, Due]


@dataclass(frozen=True, slots=True)
class World:
    """The items as they were read, by key, and the time."""

    get: Callable[[Key], Item | None]
    now: Instant
    dues: dict[Key, Dues] = field(default_factory=dict)

    def record(self, codec: Codec[Any], key: Key) -> Any:
        """The record with this key; None if there is none that can be read."""
        item = self.get(key)
        try:
            return None if item is None else codec.decode(item)
        except DamagedItemError:
            return None


@dataclass(frozen=True, kw_only=True)
class Kind:
    """The declaration of a kind: what is known of its items, given one as a record and its key.

    `leads` gives the items that follow from it, `follows` the record that it follows from, `refers` what must exist
    beside it, and `problems` says what else is wrong. A removable item is no trace of a record that is lost.
    """

    codec: Codec[Any]
    invariant: str = "I6"
    leads: Callable[[Any, World], Dues] = lambda *_: {}
    follows: Callable[[Any, Key], Key] | None = None
    refers: Callable[[Any, Key], Iterable[Key]] = lambda *_: ()
    problems: Callable[[Any, World], Iterable[str]] = lambda *_: ()
    is_removable: bool = False


def restored(key: Key, world: World) -> tuple[Item, StoredReservation] | None:
    """The live copy of a reservation that is lost, and its record by it; None where no live copy tells it."""
    place = keys.live_copy_of(key)
    if place is None:
        return None
    item, live = world.get(place), world.record(codecs.STORED_LIVE_RESERVATION, place)
    if item is None or live is None or _reservation(live) != key or live_copy_of(live) is None:
        return None
    owner_id = live.reservation.owner_id
    for name in map(slot_name, range(_MOST_SLOTS)):
        slot = world.record(codecs.RESERVATION_SLOT, keys.reservation_slot(owner_id, name))
        if slot is not None and _reservation(slot) == key:
            return item, replace(live, slot=name)
    return item, live


def _untold(entry: LogEntry, _: World) -> Iterator[str]:
    try:
        activities_of(entry)
    except DamagedItemError:
        yield "does not tell what happened"


def _unreadable(delivery: Delivery, _: World) -> Iterator[str]:
    try:
        if delivery.kind is not None:
            decode_happening(delivery.happening)
    except DamagedItemError:
        yield "does not tell what happened"


def _told_of(webhook: Webhook, _: Key) -> Iterator[Key]:
    if webhook.owner_id is not None:
        yield keys.owner(webhook.owner_id)
    if webhook.location_id is not None:
        yield keys.location(webhook.location_id)


def _due(codec: Codec[Any], record: Any) -> Dues:
    return {codec.key_of(record): Due(codec.encode(record))}


def _of_locker(locker: Locker, world: World) -> Dues:
    dues = {key: Due(attributes) for key, attributes in copies_of(locker).items()}
    if locker.overdue_since is not None and locker.occupied_by is not None:
        claim = world.record(codecs.RESERVATION_CLAIM, keys.reservation_claim(locker.locker_id, locker.occupied_by))
        made = None if claim is None else world.record(codecs.RESERVATION, _reservation(claim))
        dues |= {} if made is None else _due(codecs.OVERDUE_STAY, overdue_stay(made))
    return dues


def _of_owner(owner: Owner, _: World) -> Dues:
    items = email_claim_of(owner) | directory_of(owner)
    return {key: Due(attributes) for key, attributes in items.items()}


def _of_location(location: Location, _: World) -> Dues:
    claim, told = record_from(LocationCode, location), frozenset({"locationId", "code"})  # some do not know their time
    return {codecs.LOCATION_CODE.key_of(claim): Due(codecs.LOCATION_CODE.encode(claim), told)}


def _claim_of(made: Reservation, world: World) -> ReservationClaim:
    """The claim of a reservation; one of any locker has the content of that request."""
    details = world.record(codecs.RESERVATION_DETAILS, keys.reservation_details(made.locker_id, made.reservation_id))
    any_claim = world.record(codecs.ANY_CLAIM, keys.any_claim(made.owner_id, made.reservation_id))
    claim = claim_of(made, details)
    is_own = any_claim is not None and any_claim.locker_id == made.locker_id
    return replace(claim, fingerprint=any_claim.fingerprint) if is_own else claim


def _of_reservation(stored: StoredReservation, world: World) -> Dues:
    made, claim = stored.reservation, _claim_of(stored.reservation, world)
    told = frozenset({"lockerId", "reservationId", "startAt", "GSI1PK", "GSI1SK"})
    dues = {codecs.RESERVATION_CLAIM.key_of(claim): Due(codecs.RESERVATION_CLAIM.encode(claim), told)}
    dues |= _due(codecs.OWNER_RESERVATION, made)
    if made.reference is not None:
        dues |= _due(codecs.REFERENCE_CLAIM, record_from(ReferenceClaim, made))
    notice = end_notification(made)
    if notice is not None:
        dues |= _due(codecs.NOTIFICATION, notice)
    live = live_copy_of(stored)
    if live is not None:
        dues |= _due(codecs.STORED_LIVE_RESERVATION, live)
        if stored.slot is not None:
            slot = slot_of(made, stored.slot)
            # The slot of a reservation that has ended by some clock may have been taken.
            may_be_gone = has_ended(made, shift(world.now, CLOCK_SKEW))
            due = Due(codecs.RESERVATION_SLOT.encode(slot), is_optional=may_be_gone)
            dues |= {codecs.RESERVATION_SLOT.key_of(slot): due}
    return dues


def _lost_of_reservation(stored: StoredReservation, world: World) -> Iterator[str]:
    """Its slot; and, as long as nothing has changed since its request, what its claim tells of that."""
    made = stored.reservation
    claim = world.record(codecs.RESERVATION_CLAIM, keys.reservation_claim(made.locker_id, made.reservation_id))
    is_known = claim is not None and (claim.details_until is None or claim.details_until > to_seconds(world.now))
    if made.version == 1 and is_known and claim.fingerprint != _claim_of(made, world).fingerprint:
        yield "it is not as its request was: its details or its claim of any locker are lost or changed"
    is_over = made.status is not ReservationStatus.ACTIVE or has_ended(made, shift(world.now, CLOCK_SKEW))
    if stored.slot is None and not is_over:
        yield "it takes no slot of its owner"
    if stored.ended_as is not None and not has_ended(made, world.now):
        yield "it is marked as ended before its end"


def _of_booking(booking: Booking, _: World) -> Dues:
    """Other programs wrote no notification, and half days of their own."""
    dues = dict(_due(codecs.OWNER_BOOKING, booking))
    told = None if booking.decided_by_subject is not None else _OF_BOOKING
    if booking.status is BookingStatus.APPROVED:
        for slot in slots_of_booking(booking):
            dues[codecs.CALENDAR_SLOT.key_of(slot)] = Due(codecs.CALENDAR_SLOT.encode(slot), told)
    if told is None and booking.status in {BookingStatus.APPROVED, BookingStatus.REJECTED}:
        dues |= _due(codecs.NOTIFICATION, notification_of(booking))
    return dues


def _of_event(claim: CalendarClaim, world: World) -> Dues:
    """All half days of a calendar event are alike; if there is none, the event was deleted."""
    places = [keys.calendar_slot(claim.location_id, claim.date, slot) for slot in slots_in(claim.duration)]
    found = [world.record(codecs.CALENDAR_SLOT, place) for place in places]
    own = [one for one in found if one is not None and (one.event_id, one.booking_id) == (claim.event_id, None)]
    if not own:
        return {}
    like = replace(own[0], location_id=claim.location_id, date=claim.date, duration=claim.duration)
    slots = [replace(like, slot=slot) for slot in slots_in(claim.duration)]
    return {codecs.CALENDAR_SLOT.key_of(slot): Due(codecs.CALENDAR_SLOT.encode(slot)) for slot in slots}


def _slot_follows(slot: CalendarSlot, _: Key) -> Key:
    if slot.booking_id is not None:
        return keys.booking(slot.booking_id)
    return keys.calendar_claim(slot.location_id, slot.event_id)


def _reservation(one: Any, _: Key | None = None) -> Key:
    """The reservation that a claim, a slot or a copy names."""
    named = one.reservation if isinstance(one, StoredReservation) else one
    return keys.reservation(named.locker_id, named.start_at, named.reservation_id)


def _of_details(details: ReservationDetails, _: Key) -> list[Key]:
    return [keys.reservation_claim(details.locker_id, details.reservation_id), _reservation(details)]


def _entries_of_details(details: ReservationDetails, _: World) -> Dues:
    entries = recipient_entries(details)
    return {codecs.RECIPIENT_RESERVATION.key_of(one): Due(codecs.RECIPIENT_RESERVATION.encode(one)) for one in entries}


def _details_of_entry(entry: RecipientReservation, _: Key) -> Key:
    return keys.reservation_details(entry.locker_id, entry.reservation_id)


def _of_notification(notice: Notification, _: Key) -> Iterator[Key]:
    if notice.locker_id is not None and notice.reservation_id is not None:
        yield keys.reservation_claim(notice.locker_id, notice.reservation_id)
    if notice.booking_id is not None:
        yield keys.booking(notice.booking_id)


def _differing_claim(claim: AnyClaim, world: World) -> Iterator[str]:
    """Both claims of a reservation of any locker have the content of its request."""
    own = world.record(codecs.RESERVATION_CLAIM, keys.reservation_claim(claim.locker_id, claim.reservation_id))
    if own is not None and own.fingerprint != claim.fingerprint:
        yield "its content is not that of the reservation's claim"


def _differing_code(code: AccessCode, world: World) -> Iterator[str]:
    basis = world.record(*basis_of(code))
    named = {AccessCodeKind.RESERVATION: code.reservation_id, AccessCodeKind.BOOKING: code.booking_id}
    if [kind for kind, name in named.items() if name is not None] != [kind for kind in named if kind is code.kind]:
        yield "its kind is not that of the object it belongs to"
    elif code.purpose is not None and basis is not None and basis.owner_id != code.owner_id:
        yield "its owner is not that of its reservation or booking"


def _overdue_since(world: World, key: Key) -> Instant | None:
    """When the reservation ended that occupies a locker, once that is logged."""
    stored = world.record(codecs.STORED_RESERVATION, key)
    return None if stored is None or stored.ended_as is None else stored.reservation.end_at


def _occupied(locker: Locker, world: World) -> Iterator[str]:
    if locker.occupied_by is None:
        if locker.overdue_since is not None:
            yield "it is overdue, and no reservation occupies it: change its status"
        return
    claim = world.record(codecs.RESERVATION_CLAIM, keys.reservation_claim(locker.locker_id, locker.occupied_by))
    if claim is not None and world.get(_reservation(claim)) is None:
        return  # it is lost, and reported as such
    made = None if claim is None else world.record(codecs.RESERVATION, _reservation(claim))
    is_in_use = made is not None and made.status is ReservationStatus.ACTIVE and made.started_at is not None
    if locker.status is not LockerStatus.OCCUPIED or not is_in_use:
        yield f"it is occupied by reservation {locker.occupied_by}, which does not use it: change its status"
    elif claim is not None and locker.overdue_since != _overdue_since(world, _reservation(claim)):
        yield "it does not know since when it is overdue: change its status"


def basis_of(code: AccessCode) -> tuple[Codec[Any], Key]:
    """The kind and the key of the object that gives the right to open the door."""
    name, place = code.basis
    return _BASES[name], _BASES[name].key(*place)


def _owner_and_location(locker: Locker, _: Key) -> list[Key]:
    owner = keys.owner(locker.owner_id)
    return [owner] if locker.location_id is None else [owner, keys.location(locker.location_id)]


def _manager(location: Location, _: Key) -> list[Key]:
    return [] if location.manager_id is None else [keys.owner(location.manager_id)]


def _opened(attempt: Attempt, key: Key) -> list[Key]:
    return [] if attempt.code_id is None else [keys.access_code(Door(key.pk), attempt.code_id)]


def _claimed_event(claim: EventClaim, _: Key) -> list[Key]:
    door = door_of(claim.locker_id, claim.location_id)
    return [keys.door_event(door, claim.timestamp, claim.event_id)]


_DECLARED = (
    Kind(codec=codecs.LOCKER, invariant="I3", leads=_of_locker, refers=_owner_and_location, problems=_occupied),
    Kind(codec=codecs.OWNER_LOCKER, invariant="I4", follows=lambda copy, _: keys.locker(copy.locker_id)),
    Kind(codec=codecs.LOCATION_LOCKER, invariant="I3", follows=lambda copy, _: keys.locker(copy.locker_id)),
    Kind(codec=codecs.LOCKER_OFFER, invariant="I3", follows=lambda offer, _: keys.locker(offer.locker_id)),
    Kind(codec=codecs.OVERDUE_STAY, invariant="I3", follows=lambda stay, _: keys.locker(stay.locker_id)),
    Kind(codec=codecs.OWNER, leads=_of_owner),
    Kind(codec=codecs.EMAIL_CLAIM, follows=lambda claim, _: keys.owner(claim.owner_id)),
    Kind(codec=codecs.OWNER_NAME, follows=lambda copy, _: keys.owner(copy.owner_id)),
    Kind(codec=codecs.OWNER_PHONE, follows=lambda entry, _: keys.owner(entry.owner_id)),
    Kind(codec=codecs.LOCATION, leads=_of_location, refers=_manager),
    Kind(codec=codecs.LOCATION_CODE, follows=lambda claim, _: keys.location(claim.location_id)),
    Kind(codec=codecs.STORED_RESERVATION, leads=_of_reservation, problems=_lost_of_reservation),
    Kind(codec=codecs.RESERVATION_CLAIM, follows=_reservation),
    Kind(codec=codecs.OWNER_RESERVATION, invariant="I3", follows=_reservation),
    Kind(codec=codecs.STORED_LIVE_RESERVATION, invariant="I5", follows=_reservation),
    Kind(codec=codecs.RESERVATION_SLOT, follows=_reservation, is_removable=True),
    Kind(codec=codecs.REFERENCE_CLAIM, follows=_reservation),
    Kind(codec=codecs.RESERVATION_DETAILS, leads=_entries_of_details, refers=_of_details),
    Kind(codec=codecs.RECIPIENT_RESERVATION, follows=_details_of_entry, is_removable=True),
    Kind(codec=codecs.ANY_CLAIM, refers=lambda claim, _: [_reservation(claim)], problems=_differing_claim),
    Kind(codec=codecs.GUARD, invariant="I5"),
    Kind(codec=codecs.ACTIVE_POINTER, invariant="I5"),
    Kind(codec=codecs.BOOKING, leads=_of_booking, refers=lambda booking, _: [keys.location(booking.location_id)]),
    Kind(codec=codecs.OWNER_BOOKING, invariant="I3", follows=lambda copy, _: keys.booking(copy.booking_id)),
    Kind(codec=codecs.CALENDAR_CLAIM, leads=_of_event),
    Kind(codec=codecs.CALENDAR_SLOT, invariant="I8", follows=_slot_follows),
    Kind(codec=codecs.PAYMENT),
    Kind(codec=codecs.NOTIFICATION, invariant="I3", refers=_of_notification),
    Kind(codec=codecs.API_KEY),
    Kind(codec=codecs.CALLER_BUDGET),
    Kind(codec=codecs.ACCESS_CODE, refers=lambda code, _: [basis_of(code)[1]], problems=_differing_code),
    Kind(codec=codecs.CODE_CLAIM),
    Kind(codec=codecs.CODE_DOOR),
    Kind(codec=codecs.LOCKOUT),
    Kind(codec=codecs.ATTEMPT, refers=_opened),
    Kind(codec=codecs.ACCESS_EVENT),
    Kind(codec=codecs.EVENT_CLAIM, refers=_claimed_event),
    Kind(codec=codecs.LOG_LEASE),
    Kind(codec=codecs.ERASURE, refers=lambda found, _: [keys.owner(found.owner_id)]),
    Kind(codec=codecs.ACTIVITY),
    Kind(codec=codecs.LOCATION_FIGURES, invariant="I9", refers=lambda found, _: [keys.location(found.location_id)]),
    Kind(codec=codecs.OWNER_FIGURES, invariant="I9"),
    Kind(codec=codecs.LOCATION_USAGE, refers=lambda found, _: [keys.location(found.location_id)]),
    Kind(codec=codecs.TABLE_STATE),
    Kind(codec=codecs.LOG_ENTRY, problems=_untold),
    Kind(codec=codecs.WEBHOOK, refers=_told_of),
    Kind(codec=codecs.WEBHOOK_COUNT),
    Kind(codec=codecs.WEBHOOK_REVISION),
    Kind(codec=codecs.WEBHOOK_TASK),
    Kind(codec=codecs.DELIVERY, problems=_unreadable),
)
KINDS: dict[str, Kind] = {kind.codec.entity_type: kind for kind in _DECLARED}
PLAIN_KINDS = frozenset({PENDING, RATE})
"""The kinds of counters, which have no codec."""
