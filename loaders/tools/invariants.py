"""The invariants of the table: finds what violates them, and says how it can be repaired.

Nothing is read or written here. Each item is compared with the items it depends on; a repair is a transaction that
checks that the record is as it was read, so a repair that comes too late writes nothing.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from domain.bookings import Booking, BookingStatus
from domain.models import Door, Locker, LockerId, OwnerId, Reservation, ReservationSlot, ReservationStatus, record_from
from domain.text import normalize_email
from loaders import keys
from loaders.codecs import (
    ACCESS_CODE,
    ANY_CLAIM,
    API_KEY,
    BOOKING,
    CALENDAR_SLOT,
    CODE_CLAIM,
    EMAIL_CLAIM,
    LOCATION,
    LOCATION_CODE,
    LOCATION_LOCKER,
    LOCKER,
    LOCKER_OFFER,
    OWNER,
    OWNER_BOOKING,
    OWNER_LOCKER,
    OWNER_RESERVATION,
    REFERENCE_CLAIM,
    RESERVATION_CLAIM,
    RESERVATION_DETAILS,
    RESERVATION_SLOT,
    STORED_RESERVATION,
    EmailClaim,
    LocationCode,
    ReferenceClaim,
    StoredReservation,
)
from loaders.contracts.doctor import REPAIR_DERIVED
from loaders.conversion import Codec, DamagedItemError
from loaders.table.positions import Key
from loaders.tools.findings import INDEX, Finding, content_of, index_of, record_at, required, reservation_as_read
from loaders.tools.kinds import damage_of
from loaders.tools.timelines import timeline_violations
from loaders.writes.booking_steps import slots_of_booking
from loaders.writes.lockers import location_copy, offers_of, owner_copy
from loaders.writes.reservation_steps import claim_of, slot_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from domain.times import Instant
    from loaders.table.operations import Step
    from loaders.table.values import Item
    from loaders.tools.findings import Get


_key = Key.of_item


def violations(
    subjects: Iterable[Item],
    timelines: Mapping[LockerId, list[Item]],
    bookings: Mapping[OwnerId, list[Item]],
    get: Get,
    now: Instant,
) -> list[Finding]:
    """The violations that are found from these items, each once, in the order of their keys.

    `subjects` are compared with the items they depend on, which `get` returns. `timelines` are all reservations of the
    lockers, `bookings` all copies of the bookings of the owners, that are to be checked as a whole.
    """
    found: dict[tuple[Key, str], Finding] = {}
    checks = [_guarded(_key(item), None, partial(_check, item, get)) for item in subjects]
    for locker_id, items in timelines.items():
        check = partial(timeline_violations, locker_id, items, get, now)
        checks.append(_guarded(keys.locker(locker_id), locker_id, check))
    for owner_id, copies in bookings.items():
        count = partial(_pending_count, owner_id, copies, get)
        checks.append(_guarded(keys.pending_count(owner_id), None, count))
    for finding in chain.from_iterable(checks):
        found.setdefault((finding.key, finding.problem), finding)
    return sorted(found.values(), key=lambda finding: (finding.key, finding.problem))


def is_checked(item: Item) -> bool:
    """Whether an invariant is about the item, if only that requests can read it."""
    return _kind(item) in _CHECKED_KINDS or bool(index_of(item)) or damage_of(_key(item), item) is not None


def table_violations(items: Iterable[Item], now: Instant) -> list[Finding]:
    """The violations in a whole table."""
    table = {_key(item): item for item in items}
    timelines: dict[LockerId, list[Item]] = defaultdict(list)
    bookings: dict[OwnerId, list[Item]] = defaultdict(list)
    for item in table.values():
        if _kind(item) in _OF_BOOKINGS:
            copies = bookings[keys.owner_of(str(item["PK"]))]
            if _kind(item) == "OWNER_BOOKING":
                copies.append(item)
        if _kind(item) in _TIMELINE:
            timelines[keys.locker_of(str(item["PK"]))].append(item)
    return violations(table.values(), timelines, bookings, table.get, now)


def _check(item: Item, get: Get) -> Iterator[Finding]:
    """Checks an item; one that requests cannot read is reported as damaged only."""
    _check_readable(item)
    yield from _CHECKS.get(_kind(item), _unindexed)(item, get)


def _check_readable(item: Item) -> None:
    damage = damage_of(_key(item), item)
    if damage is not None:
        raise DamagedItemError(damage)


def _kind(item: Item) -> str:
    """The kind that an item says it is."""
    return str(item.get("entityType"))


def _guarded(subject: Key, timeline: LockerId | None, check: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """Runs a check; an item that cannot be decoded is a finding of its own."""
    try:
        yield from check()
    except DamagedItemError as damage:
        yield Finding("I7", subject, f"it cannot be read: {damage}", subject, timeline)


@dataclass(frozen=True, slots=True)
class _Copies:
    """The copies that a record must have, and the step that checks that the record is as it was read."""

    as_read: Step
    expected: Mapping[Key, dict[str, Any]]

    def check(self, subject: Key, get: Get) -> Iterator[Finding]:
        """Compares all of them."""
        for key in self.expected:
            yield from self.check_one(key, subject, get)

    def check_one(self, key: Key, subject: Key, get: Get) -> Iterator[Finding]:
        """Compares the one with this key."""
        expected, item = self.expected[key], get(key)
        invariant, codec = _COPIES[expected["entityType"]]
        if item is not None and content_of(codec, item) == expected:
            return
        problem = "the copy is missing" if item is None else "the copy differs from its record"
        put = REPAIR_DERIVED.step("copy", key, expected, kind=codec.entity_type)
        yield Finding(invariant, key, problem, subject, None, REPAIR_DERIVED.transact(self.as_read, put))


def _of_record(item: Item, record: str, copies: _Copies | None, get: Get) -> Iterator[Finding]:
    """Whether an item is one of the copies of its record, and equal to it; `copies` is None if there is no record."""
    kind, key = _kind(item), _key(item)
    invariant, _ = _COPIES[kind]
    if copies is None:
        yield _orphan(invariant, item, record)
    elif key in copies.expected:
        yield from copies.check_one(key, key, get)
    else:
        remove = REPAIR_DERIVED.step("surplus copy", key, kind=kind)
        repair = REPAIR_DERIVED.transact(copies.as_read, remove)
        yield Finding(invariant, key, f"surplus copy: {record} has none here", key, None, repair)


def _locker(item: Item, get: Get) -> Iterator[Finding]:
    yield from _unindexed(item, get)
    yield from _copies_of_locker(LOCKER.decode(item)).check(_key(item), get)


def _copies_of_locker(locker: Locker) -> _Copies:
    locker_id, place = locker.locker_id, locker.location_id
    expected = {keys.owner_locker(locker.owner_id, locker_id): owner_copy(locker)}
    if place is not None:
        expected[keys.location_locker(place, locker_id)] = location_copy(locker, place)
    expected |= {keys.offer(*arguments): offer for arguments, offer in offers_of(locker).items()}
    return _Copies(_version(keys.locker(locker_id), locker.version), expected)


def _copy_of_locker(codec: Codec[Any], item: Item, get: Get) -> Iterator[Finding]:
    locker_id = codec.decode(item).locker_id
    locker = record_at(LOCKER, keys.locker(locker_id), get)
    yield from _of_record(item, f"locker {locker_id}", None if locker is None else _copies_of_locker(locker), get)


def _reservation(item: Item, get: Get) -> Iterator[Finding]:
    reservation, key = STORED_RESERVATION.decode(item).reservation, _key(item)
    yield from _unindexed(item, get)
    problem, as_read = "the claim of a reservation is missing", reservation_as_read(reservation)
    claim = yield from required("I6", RESERVATION_CLAIM, claim_of(reservation), problem, as_read, key, get)
    if claim is not None and claim.start_at != reservation.start_at:
        yield Finding("I6", key, f"the id is claimed for a reservation that starts at {claim.start_at}", key)
    yield from _copies_of_reservation(reservation).check(key, get)
    if reservation.reference is not None:
        yield from _reference_of(reservation, key, get)


def _reference_of(reservation: Reservation, subject: Key, get: Get) -> Iterator[Finding]:
    expected = record_from(ReferenceClaim, reservation)
    problem, as_read = "the claim of a reference is missing", reservation_as_read(reservation)
    claim = yield from required("I6", REFERENCE_CLAIM, expected, problem, as_read, subject, get)
    if claim is not None and claim != expected:
        problem = f"the reference is claimed by reservation {claim.reservation_id} of locker {claim.locker_id}"
        yield Finding("I6", subject, problem, subject)


def _reference_claim(item: Item, get: Get) -> Iterator[Finding]:
    claim = REFERENCE_CLAIM.decode(item)
    stored = _named_reservation(claim, get)
    made = None if stored is None else stored.reservation
    if made is None or (made.owner_id, made.reference) != (claim.owner_id, claim.reference):
        yield _orphan("I6", item, f"reservation {claim.reservation_id} of locker {claim.locker_id} with this reference")


def _reservation_slot(item: Item, get: Get) -> Iterator[Finding]:
    """A slot is taken by a live reservation; one that has ended may leave its slot behind."""
    slot, key = RESERVATION_SLOT.decode(item), _key(item)
    stored = _named_reservation(slot, get)
    if stored is None:
        yield _orphan("I6", item, f"reservation {slot.reservation_id} of locker {slot.locker_id}")
        return
    made = stored.reservation
    if made.status is ReservationStatus.ACTIVE and (made.owner_id, stored.slot) == (slot.owner_id, slot.slot):
        expected = {key: RESERVATION_SLOT.encode(slot_of(made, slot.slot))}
        yield from _Copies(reservation_as_read(made), expected).check(key, get)
    else:
        own: dict[str, Any] = {"reservationId": slot.reservation_id, "lockerId": slot.locker_id}
        remove = REPAIR_DERIVED.step("surplus slot", (slot.owner_id, slot.slot), **own)
        problem = f"surplus slot: reservation {made.reservation_id} has ended, or another slot"
        yield Finding("I6", key, problem, key, None, REPAIR_DERIVED.transact(reservation_as_read(made), remove))


def _details(item: Item, get: Get) -> Iterator[Finding]:
    details = RESERVATION_DETAILS.decode(item)
    if get(keys.reservation_claim(details.locker_id, details.reservation_id)) is None:
        yield _orphan("I6", item, f"reservation {details.reservation_id} of locker {details.locker_id}")


def _copies_of_reservation(reservation: Reservation) -> _Copies:
    return _Copies(
        reservation_as_read(reservation), {OWNER_RESERVATION.key_of(reservation): OWNER_RESERVATION.encode(reservation)}
    )


def _claim(item: Item, get: Get) -> Iterator[Finding]:
    claim = RESERVATION_CLAIM.decode(item)
    place = (claim.locker_id, claim.start_at, claim.reservation_id)
    if get(keys.reservation(*place)) is None:
        repair = REPAIR_DERIVED.transact(
            REPAIR_DERIVED.step("no reservation", place),
            REPAIR_DERIVED.step("surplus claim", (claim.locker_id, claim.reservation_id), readStart=claim.start_at),
        )
        yield Finding("I6", _key(item), "a claim names a reservation that does not exist", _key(item), None, repair)


def _any_claim(item: Item, get: Get) -> Iterator[Finding]:
    claim = ANY_CLAIM.decode(item)
    if get(keys.reservation(claim.locker_id, claim.start_at, claim.reservation_id)) is None:
        yield _orphan("I6", item, f"reservation {claim.reservation_id} of locker {claim.locker_id}")


def _owner_reservation(item: Item, get: Get) -> Iterator[Finding]:
    copy = OWNER_RESERVATION.decode(item)
    stored = _named_reservation(copy, get)
    copies = None if stored is None else _copies_of_reservation(stored.reservation)
    yield from _of_record(item, f"reservation {copy.reservation_id} of locker {copy.locker_id}", copies, get)


def _named_reservation(named: Reservation | ReservationSlot | ReferenceClaim, get: Get) -> StoredReservation | None:
    return record_at(STORED_RESERVATION, keys.reservation(named.locker_id, named.start_at, named.reservation_id), get)


def _owner(item: Item, get: Get) -> Iterator[Finding]:
    owner = OWNER.decode(item)
    yield from _unindexed(item, get)
    if owner.email is None:
        return
    key, record = keys.email_claim(normalize_email(owner.email)), keys.owner(owner.owner_id)
    wanted, as_read = EmailClaim(owner_id=owner.owner_id), _version(record, owner.version)
    problem = f"the email address of owner {owner.owner_id} is not claimed"
    claim = yield from required("I6", EMAIL_CLAIM, wanted, problem, as_read, record, get, key=key)
    if claim is not None and claim.owner_id != owner.owner_id:
        problem = f"the email address of owner {owner.owner_id} is claimed by owner {claim.owner_id}"
        yield Finding("I6", key, problem, _key(item))


def _email_claim(item: Item, get: Get) -> Iterator[Finding]:
    claim = EMAIL_CLAIM.decode(item)
    owner = record_at(OWNER, keys.owner(claim.owner_id), get)
    if owner is None:
        yield _orphan("I6", item, f"owner {claim.owner_id}")
    elif owner.email is None or _key(item) != keys.email_claim(normalize_email(owner.email)):
        address = keys.address_of(str(item["PK"]))
        repair = REPAIR_DERIVED.transact(
            _version(keys.owner(owner.owner_id), owner.version),
            REPAIR_DERIVED.step("surplus address", (address,), ownerId=owner.owner_id),
        )
        problem = f"owner {owner.owner_id} claims an email address and has another or none"
        yield Finding("I6", _key(item), problem, _key(item), None, repair)


def _location(item: Item, get: Get) -> Iterator[Finding]:
    location = LOCATION.decode(item)
    yield from _index_entry(item, LOCATION.index(location), location.version)
    wanted, record = record_from(LocationCode, location), keys.location(location.location_id)
    problem, as_read = f"the code of location {location.location_id} is not claimed", _version(record, location.version)
    claim = yield from required("I6", LOCATION_CODE, wanted, problem, as_read, record, get)
    if claim is not None and claim.location_id != location.location_id:
        problem = f"the code of location {location.location_id} is claimed by location {claim.location_id}"
        yield Finding("I6", LOCATION_CODE.key_of(wanted), problem, _key(item))


def _location_code(item: Item, get: Get) -> Iterator[Finding]:
    claim = LOCATION_CODE.decode(item)
    location = record_at(LOCATION, keys.location(claim.location_id), get)
    if location is None:
        yield _orphan("I6", item, f"location {claim.location_id}")
    elif _key(item) != keys.location_code(location.code):
        yield Finding("I6", _key(item), f"location {claim.location_id} has another code", _key(item))


def _booking(item: Item, get: Get) -> Iterator[Finding]:
    booking = BOOKING.decode(item)
    yield from _index_entry(item, BOOKING.index(booking), booking.version)
    yield from _copies_of_booking(booking).check(_key(item), get)
    if booking.status is not BookingStatus.APPROVED:
        return
    as_read = _version(keys.booking(booking.booking_id), booking.version)
    for slot in slots_of_booking(booking):
        problem = f"a half day of the approved booking {booking.booking_id} is missing"
        taken = yield from required("I8", CALENDAR_SLOT, slot, problem, as_read, _key(item), get)
        if taken is not None and taken.booking_id != booking.booking_id:
            problem = f"event {taken.event_id} has a half day of the approved booking {booking.booking_id}"
            yield Finding("I8", CALENDAR_SLOT.key_of(slot), problem, _key(item))


def _copies_of_booking(booking: Booking) -> _Copies:
    as_read = _version(BOOKING.key_of(booking), booking.version)
    return _Copies(as_read, {OWNER_BOOKING.key_of(booking): OWNER_BOOKING.encode(booking)})


def _owner_booking(item: Item, get: Get) -> Iterator[Finding]:
    booking_id = OWNER_BOOKING.decode(item).booking_id
    booking = record_at(BOOKING, keys.booking(booking_id), get)
    yield from _of_record(item, f"booking {booking_id}", None if booking is None else _copies_of_booking(booking), get)


def _pending_count(owner_id: OwnerId, copies: list[Item], get: Get) -> Iterator[Finding]:
    """A counter that is too high keeps an owner from booking; those of demo data are not counted."""
    key = keys.pending_count(owner_id)
    counter, counted = get(key), 0
    if counter is not None:
        _check_readable(counter)
        counted = int(str(counter["pendingBookings"]))
    waiting = sum(copy.get("status") == BookingStatus.PENDING for copy in copies)
    if counted > waiting:
        problem = f"{counted} pending bookings are counted, and there are {waiting}"
        count = REPAIR_DERIVED.step("pending count", (owner_id,), {"pendingBookings": waiting}, readCount=counted)
        yield Finding("I3", key, problem, key, None, REPAIR_DERIVED.transact(count), owner_id)


def _slot(item: Item, get: Get) -> Iterator[Finding]:
    slot = CALENDAR_SLOT.decode(item)
    yield from _unindexed(item, get)
    if _key(item) != CALENDAR_SLOT.key_of(slot):
        yield Finding("I8", _key(item), "the half day is stored under another key", _key(item))
    if slot.booking_id is None:
        return
    booking = record_at(BOOKING, keys.booking(slot.booking_id), get)
    if booking is None:
        yield _orphan("I8", item, f"booking {slot.booking_id}")
        return
    taken = slots_of_booking(booking) if booking.status is BookingStatus.APPROVED else []
    if _key(item) not in set(map(CALENDAR_SLOT.key_of, taken)):
        problem = f"booking {booking.booking_id} has a half day that it is not approved for"
        surplus = (slot.location_id, slot.date, slot.slot)
        repair = REPAIR_DERIVED.transact(
            _version(keys.booking(booking.booking_id), booking.version),
            REPAIR_DERIVED.step("surplus half day", surplus, bookingId=booking.booking_id),
        )
        yield Finding("I8", _key(item), problem, _key(item), None, repair)


def _unversioned(codec: Codec[Any], item: Item, _: Get) -> Iterator[Finding]:
    """A record without a version is in its place of the index; no condition could guard a repair."""
    if index_of(item) != codec.index(codec.decode(item)):
        yield Finding("I3", _key(item), "its place in the index is wrong", _key(item))


def _code_claim(item: Item, get: Get) -> Iterator[Finding]:
    yield from _unindexed(item, get)
    code_id, place = CODE_CLAIM.decode(item).code_id, _key(item)
    code = record_at(ACCESS_CODE, keys.access_code(Door(place.pk), code_id), get)
    if code is None:
        yield _orphan("I6", item, f"access code {code_id}")
    elif code.revoked_at is not None:
        yield Finding("I6", place, f"access code {code_id} is revoked, so it has no digits", place)


def _unindexed(item: Item, _: Get) -> Iterator[Finding]:
    if index_of(item):
        yield Finding("I3", _key(item), "it must not be in the index", _key(item))


def _version(record: Key, version: int) -> Step:
    """Checks that a record has the version that was read."""
    return REPAIR_DERIVED.step("record", record, readVersion=version)


def _orphan(invariant: str, item: Item, missing: str) -> Finding:
    """It may be the last trace of lost data, so nothing removes it."""
    return Finding(invariant, _key(item), f"{missing} does not exist: look for it in a backup", _key(item))


def _index_entry(item: Item, expected: dict[str, str], version: int) -> Iterator[Finding]:
    if index_of(item) == expected:
        return
    # An update must set something, even if it only removes the place in the index.
    attributes = {"version": version, **{name: expected.get(name) for name in INDEX}}
    repair = REPAIR_DERIVED.transact(REPAIR_DERIVED.step("index entry", _key(item), attributes, readVersion=version))
    yield Finding("I3", _key(item), "its place in the index is wrong", _key(item), None, repair)


_TIMELINE = frozenset({"RESERVATION", "LIVE_RESERVATION", "RESERVATION_ACTIVE", "RESERVATION_GUARD"})
_OF_BOOKINGS = frozenset({"OWNER_BOOKING", "PENDING_BOOKINGS"})
_COPIES: dict[str, tuple[str, Codec[Any]]] = {
    codec.entity_type: (invariant, codec)
    for invariant, codecs in {
        "I3": (LOCATION_LOCKER, LOCKER_OFFER, OWNER_RESERVATION, OWNER_BOOKING),
        "I4": (OWNER_LOCKER,),
        "I6": (RESERVATION_SLOT,),
    }.items()
    for codec in codecs
}
"""The kinds of copies, each with its invariant."""
_CHECKS: dict[str, Callable[[Item, Get], Iterator[Finding]]] = {
    "LOCKER": _locker,
    **{codec.entity_type: partial(_copy_of_locker, codec) for codec in (OWNER_LOCKER, LOCATION_LOCKER, LOCKER_OFFER)},
    "RESERVATION": _reservation,
    "RESERVATION_CLAIM": _claim,
    "ANY_LOCKER_CLAIM": _any_claim,
    "RESERVATION_SLOT": _reservation_slot,
    "RESERVATION_DETAILS": _details,
    "REFERENCE_CLAIM": _reference_claim,
    "OWNER_RESERVATION": _owner_reservation,
    "OWNER": _owner,
    "EMAIL_CLAIM": _email_claim,
    "LOCATION": _location,
    "LOCATION_CODE": _location_code,
    "BOOKING": _booking,
    "OWNER_BOOKING": _owner_booking,
    "CALENDAR_SLOT": _slot,
    **{codec.entity_type: partial(_unversioned, codec) for codec in (API_KEY, ACCESS_CODE)},
    "CODE_CLAIM": _code_claim,
}
_CHECKED_KINDS = _TIMELINE | _OF_BOOKINGS | _CHECKS.keys()
