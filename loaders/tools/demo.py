"""Demo data: realistic, the same for the whole day, and generated piece by piece, so any amount fits in memory."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from domain.access_codes import CodeRing
from domain.activity import (
    ActivityKind,
    Actor,
    Happening,
    door_happening,
    kind_of_event,
    locker_happening,
    reservation_happening,
)
from domain.authorization import Role
from domain.bookings import BookingStatus
from domain.commands.base import fingerprint, fingerprint_of
from domain.commands.lockers import RegisterLocker
from domain.commands.owners import CreateOwner
from domain.commands.reservations import CreateReservation, Recipient
from domain.lifecycle import TRANSITIONS, is_in_service
from domain.models import (
    AccessAction,
    AccessEvent,
    AccessResult,
    ActivePointer,
    EventId,
    Locker,
    LockerId,
    LockerSize,
    LockerStatus,
    Owner,
    OwnerId,
    OwnerKind,
    OwnerRole,
    ReservableBy,
    Reservation,
    ReservationId,
    ReservationStatus,
)
from domain.schedule import has_ended, occupies, outcome_of, slot_name
from domain.times import Instant, shift
from loaders import keys
from loaders.codecs import (
    ACCESS_EVENT,
    BOOKING,
    GUARD,
    OVERDUE_STAY,
    STORED_LIVE_RESERVATION,
    STORED_RESERVATION,
    Guard,
)
from loaders.contracts.maintenance import LOAD_DEMO_DATA
from loaders.contracts.writing import new_items
from loaders.table.client import Store
from loaders.table.errors import TransactionRefusedError
from loaders.table.positions import Key
from loaders.tools.demo_figures import DemoFigures
from loaders.tools.demo_history import Piece, by_admin, by_owner, history
from loaders.tools.demo_places import LOCATIONS, location_id, location_piece
from loaders.tools.kinds import PENDING
from loaders.writes.lockers import register_steps
from loaders.writes.moments import overdue_stay
from loaders.writes.owners import create_steps as create_owner
from loaders.writes.reservation_steps import create_steps, details_of, hashed, slot_of
from loaders.writes.timeline import ReservationContext

_TRANSACTIONS_AT_ONCE = 4
_RESERVED = 0.5
_ADMIN = 1
_BOOKING_OWNERS = 100

_FIRST_NAMES = ("Ada", "Bruno", "Chiara", "Daan", "Elif", "Farid", "Greta", "Hana", "Ivo", "Jun", "Kira", "Luca")
_LAST_NAMES = ("Abel", "Bauer", "Conti", "Dumas", "Eriksen", "Fischer", "Garcia", "Horvat", "Ito", "Jansen", "Kaya")
_COMPANIES = ("Harbour Logistics", "Northside Gym", "City Library", "Alpine Rentals", "Campus Services", "Metro Parcel")
_PLACES = ("Lobby", "Front Gate", "Garage", "Canteen", "Platform 3", "Reading Room", "Locker Hall", "Bike Cellar")
_FEATURES = ("charging", "ground-floor", "refrigerated", "step-free")

_ACTIONS = [action for action in AccessAction if action not in {AccessAction.OVERSTAY, AccessAction.OTHER}]
_RECIPIENT = Recipient(name="Rita Rossi", email="rita@example.com")


@dataclass(frozen=True, slots=True)
class DemoShape:
    owners: int = 12
    lockers: int = 60
    events: int = 600


def owner_id(number: int) -> OwnerId:
    """The id of the owner with that number, from 0."""
    return OwnerId(f"owner-{number + 1:04d}")


def owner_email(owner: OwnerId) -> str:
    return f"{owner}@example.com"


def locker_id(number: int) -> LockerId:
    """The id of the locker with that number, from 0."""
    return LockerId(f"locker-{number + 1:06d}")


def demo_pieces(shape: DemoShape, now: Instant, ring: CodeRing | None = None) -> Iterator[Piece]:
    """The items, one owner, location or locker at a time; items that belong together are one piece.

    Without a ring, reservations are not found by their recipient.
    """
    midnight = Instant(f"{now[:10]}T00:00:00.000Z")
    for number in range(shape.owners):
        yield _owner(number, midnight)
    owners = [owner_id(number) for number in range(min(shape.owners, _BOOKING_OWNERS))]
    yield _places(owners, midnight)
    for number in range(shape.lockers):
        events = shape.events // shape.lockers + (number < shape.events % shape.lockers)
        chance = random.Random(f"locker {number}")
        locker = _locker(chance, number, shape.owners, midnight)
        yield _locker_piece(chance, locker, number, owners=shape.owners, midnight=midnight, now=now, ring=ring)
        yield from _events(locker, number, shape.owners, events, midnight)


def _places(owners: list[OwnerId], midnight: Instant) -> Piece:
    """All locations, and the counters of the pending bookings that they have together."""
    places = [location_piece(number, owners, owner_id(_ADMIN), midnight) for number in range(LOCATIONS)]
    items = [item for piece in places for item in piece]
    bookings = [item for _, item in items if item["entityType"] == BOOKING.entity_type]
    waiting = Counter(item["ownerId"] for item in bookings if item["status"] is BookingStatus.PENDING)
    counters = [
        (keys.pending_count(owner), {"entityType": PENDING, "ownerId": owner, "pendingBookings": count})
        for owner, count in waiting.items()
    ]
    return items + counters


async def load_demo(
    store: Store, shape: DemoShape, now: Instant, progress: Callable[[int], None], ring: CodeRing | None = None
) -> int:
    """Writes the demo data and counts it; existing pieces stay unchanged. Returns the number of items, but figures.

    An interrupted load can be run again, and a larger load adds to a smaller one.
    """
    written, new, kept = 0, DemoFigures(now), DemoFigures(now)
    permits = asyncio.Semaphore(_TRANSACTIONS_AT_ONCE)

    async def write(pieces: list[Piece]) -> None:
        nonlocal written
        try:
            items = await _write(store, pieces)
        finally:
            permits.release()
        written += len(items)
        new.add(items)
        known = {key for key, _ in items}
        kept.add([item for piece in pieces for item in piece if item[0] not in known])
        progress(len(pieces))

    async with asyncio.TaskGroup() as group:
        for pieces in _packed(demo_pieces(shape, now, ring)):
            await permits.acquire()
            group.create_task(write(pieces))
    await new.write(store, kept)
    return written


async def _write(store: Store, pieces: list[Piece]) -> Piece:
    """Writes pieces in one transaction; where one of them exists already, each in its own. Returns what it wrote."""
    items = [item for piece in pieces for item in piece]
    written: Piece = []
    for start in range(0, len(items), LOAD_DEMO_DATA.most_steps):
        chunk = items[start : start + LOAD_DEMO_DATA.most_steps]
        try:
            await store.transact(LOAD_DEMO_DATA.transact(*(LOAD_DEMO_DATA.step("item", *item) for item in chunk)))
        except TransactionRefusedError:
            if len(pieces) > 1:
                return [item for piece in pieces for item in await _write(store, [piece])]
        else:
            written += chunk
    return written


def _packed(pieces: Iterator[Piece]) -> Iterator[list[Piece]]:
    """As many whole pieces as fit into one transaction; a larger piece comes alone."""
    packed: list[Piece] = []
    for piece in pieces:
        if packed and sum(map(len, packed)) + len(piece) > LOAD_DEMO_DATA.most_steps:
            yield packed
            packed = []
        packed.append(piece)
    if packed:
        yield packed


def _owner(number: int, midnight: Instant) -> Piece:
    chance = random.Random(f"owner {number}")
    is_company = number % 4 == 0
    name = (
        f"{chance.choice(_COMPANIES)} {number // 4 + 1}"
        if is_company
        else f"{chance.choice(_FIRST_NAMES)} {chance.choice(_LAST_NAMES)}"
    )
    created = shift(midnight, timedelta(days=-chance.randint(30, 700), minutes=chance.randint(0, 1439)))
    owner = Owner(
        owner_id=owner_id(number),
        kind=OwnerKind.ORGANIZATION if is_company else OwnerKind.USER,
        name=name,
        email=owner_email(owner_id(number)),
        created_at=created,
        updated_at=created,
        version=1,
        role=OwnerRole.ADMIN if number == _ADMIN else OwnerRole.USER,
    )
    happening = Happening(kind=ActivityKind.OWNER_CREATED, owner_id=owner.owner_id, version=1)
    piece = new_items(create_owner(owner, fingerprint_of(CreateOwner, owner, without="owner_id")))
    return piece + history(midnight, created, by_admin(owner_id(_ADMIN)), happening)


def _locker(chance: random.Random, number: int, owners: int, midnight: Instant) -> Locker:
    offered = random.Random(f"offer {number}")
    status = chance.choices(tuple(TRANSITIONS), weights=(70, 25, 5))[0]
    created = shift(midnight, timedelta(days=-chance.randint(10, 400), minutes=chance.randint(0, 1439)))
    # A locker is registered as available, so any other status is the result of one change.
    is_changed = status is not LockerStatus.AVAILABLE
    changed = shift(midnight, timedelta(minutes=-random.Random(f"change {number}").randint(1, 7 * 1440)))
    return Locker(
        locker_id=locker_id(number),
        owner_id=owner_id(number % owners),
        status=status,
        alias=f"{chance.choice(_PLACES)} {number + 1}",
        created_at=created,
        updated_at=changed if is_changed else created,
        version=2 if is_changed else 1,
        location_id=location_id(number),
        reservable_by=offered.choices(tuple(ReservableBy), weights=(20, 30, 50))[0],
        size=offered.choice(tuple(LockerSize)),
        features=tuple(sorted(offered.sample(_FEATURES, offered.choice((0, 0, 1, 2))))),
    )


def _locker_piece(
    chance: random.Random,
    locker: Locker,
    number: int,
    *,
    owners: int,
    midnight: Instant,
    now: Instant,
    ring: CodeRing | None,
) -> Piece:
    reservations: list[Reservation] = []
    if is_in_service(locker) and chance.random() < _RESERVED:
        reservations = _reservations(chance, locker.locker_id, number, owners=owners, midnight=midnight)
        if locker.status is LockerStatus.OCCUPIED:
            locker = _overdue(locker, reservations[0])
    features = list(locker.features) or None
    content = fingerprint_of(RegisterLocker, locker, without="locker_id", features=features)
    new = replace(locker, status=LockerStatus.AVAILABLE, version=1, occupied_by=None, overdue_since=None)
    piece = new_items(register_steps(locker, content))
    registered = locker_happening(ActivityKind.LOCKER_REGISTERED, new)
    piece += history(midnight, locker.created_at, by_owner(locker.owner_id), registered)
    if locker.version > 1:
        user = locker.owner_id if locker.occupied_by is None else reservations[0].owner_id
        changed = locker_happening(ActivityKind.LOCKER_STATUS_CHANGED, replace(locker, overdue_since=None), new)
        changed = replace(changed, reserver_id=None if user == locker.owner_id else user)
        piece += history(midnight, locker.updated_at, by_owner(user), changed)
    if reservations:
        piece += _timeline(locker, reservations, number, midnight, now, ring)
        piece += [item for made in reservations for item in _reservation_history(made, locker, midnight)]
    return piece


def _overdue(locker: Locker, stay: Reservation) -> Locker:
    """The locker as a reservation has left it that started, and has ended without a release."""
    return replace(locker, occupied_by=stay.reservation_id, overdue_since=stay.end_at, updated_at=stay.start_at)


def _reservation_history(made: Reservation, locker: Locker, midnight: Instant) -> Piece:
    actor, new = by_owner(made.owner_id), replace(made, version=1, started_at=None)
    created = reservation_happening(ActivityKind.RESERVATION_CREATED, new, locker)
    piece = history(midnight, made.created_at, actor, created)
    if made.started_at is not None:
        started = reservation_happening(ActivityKind.RESERVATION_STARTED, made, locker, new)
        piece += history(midnight, made.started_at, actor, started)
    if has_ended(made, midnight):
        ended = reservation_happening(ActivityKind.RESERVATION_ENDED, made, locker)
        happenings = [replace(ended, outcome=outcome_of(made, locker))]
        if occupies(made, locker):
            happenings.append(replace(ended, kind=ActivityKind.RESERVATION_OVERDUE))
        piece += history(midnight, made.end_at, None, *happenings)
    return piece


def _events(locker: Locker, number: int, owners: int, count: int, midnight: Instant) -> Iterator[Piece]:
    """Each event is a piece of its own, so that a larger load can add to a smaller one; ten are those of a week."""
    chance, device = random.Random(f"events {number}"), Actor(subject=f"device-{locker.locker_id}", role=Role.DEVICE)
    for index in range(count):
        action = chance.choice(_ACTIONS)
        timestamp = shift(midnight, timedelta(hours=-17 * index - chance.randint(0, 16)))
        is_failure = action in {AccessAction.DENIED, AccessAction.TAMPER}
        event = AccessEvent(
            event_id=EventId(f"event-{index + 1:06d}"),
            locker_id=locker.locker_id,
            timestamp=timestamp,
            recorded_at=shift(timestamp, timedelta(milliseconds=chance.randint(20, 900))),
            action=action,
            actor_id=owner_id(chance.randrange(owners)),
            result=AccessResult.FAIL if is_failure else AccessResult.SUCCESS,
            metadata={"battery": chance.randint(20, 100)} if index % 3 == 0 else None,
        )
        happening = door_happening(kind_of_event(event), locker, event)
        piece: Piece = [(ACCESS_EVENT.key_of(event), ACCESS_EVENT.encode(event))]
        yield piece + history(midnight, event.recorded_at, device, happening)


def _reservations(
    chance: random.Random, locker: LockerId, number: int, *, owners: int, midnight: Instant
) -> list[Reservation]:
    """Reservations of yesterday, today and tomorrow."""
    reservations = []
    for count, day in enumerate((-1, 0, 1)):
        start = shift(midnight, timedelta(days=day, hours=chance.randint(0, 3)))
        reservation = Reservation(
            reservation_id=ReservationId(f"booking-{number + 1:06d}-{count + 1}"),
            locker_id=locker,
            owner_id=owner_id(chance.randrange(owners)),
            start_at=start,
            end_at=shift(start, timedelta(hours=chance.randint(4, 20))),
            status=ReservationStatus.ACTIVE,
            created_at=shift(start, timedelta(days=-2)),
            updated_at=start if day < 0 else shift(start, timedelta(days=-2)),
            version=2 if day < 0 else 1,
            started_at=start if day < 0 else None,
            reference=f"order-{number + 1:06d}" if day > 0 else None,
        )
        reservations.append(reservation)
    return reservations


def _timeline(
    locker: Locker,
    reservations: list[Reservation],
    number: int,
    midnight: Instant,
    now: Instant,
    ring: CodeRing | None,
) -> Piece:
    """The reservations of a locker; the end of those of yesterday is known."""
    pointed = next(reservation for reservation in reservations if not has_ended(reservation, now))
    pointer = ActivePointer(reservation=pointed, last_end_at=reservations[-1].end_at)
    items: dict[Key, Mapping[str, Any]] = {}
    guard = None
    for count, reservation in enumerate(reservations):
        command = CreateReservation(
            locker_id=locker.locker_id,
            owner_id=reservation.owner_id,
            start_at=reservation.start_at,
            end_at=reservation.end_at,
            reference=reservation.reference,
            recipient=None if reservation.reference is None else _RECIPIENT,
        )
        details = details_of(command, reservation.reservation_id, None)
        if details is not None and ring is not None:
            details = hashed(details, ring)
        steps = create_steps(
            reservation,
            fingerprint(command, without="reservation_id"),
            ReservationContext(guard=guard, pointer=None, claim=None, locker=locker),
            pointer,
            slot=slot_of(reservation, slot_name(len(reservations) * number + count)),
            details=details,
            locker=locker,
        )
        items |= dict(new_items(steps))
        if has_ended(reservation, midnight):
            record = keys.reservation(locker.locker_id, reservation.start_at, reservation.reservation_id)
            stored = STORED_RESERVATION.decode(items[record])
            ended = replace(stored, ended_as=outcome_of(reservation, locker))
            items[record] = STORED_RESERVATION.encode(ended)
            items[STORED_LIVE_RESERVATION.key_of(ended)] = STORED_LIVE_RESERVATION.encode(replace(ended, slot=None))
            if occupies(reservation, locker):
                stay = overdue_stay(reservation)
                items[OVERDUE_STAY.key_of(stay)] = OVERDUE_STAY.encode(stay)
        guard = Guard(revision=count + 1)
        items[keys.reservation_guard(locker.locker_id)] = GUARD.encode(guard)
    return list(items.items())
