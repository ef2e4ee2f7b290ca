"""The invariants of whole partitions: a locker's reservations, the codes of a door, what is counted of an owner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from domain.access_codes import GRACE, AccessCode, CodeRing, UnknownKeyError, may_open
from domain.bookings import BookingStatus
from domain.models import ActivePointer, Door, Reservation, ReservationStatus
from domain.schedule import CLOCK_SKEW, has_ended, has_ended_everywhere
from domain.times import EARLIEST, Instant, shift, to_seconds
from domain.webhooks import WebhookStatus
from loaders import keys
from loaders.codecs import (
    ACCESS_CODE,
    ACTIVE_POINTER,
    CODE_CLAIM,
    CODE_DOOR,
    GUARD,
    LIVE_RESERVATION,
    OWNER_BOOKING,
    RESERVATION_CLAIM,
    STORED_RESERVATION,
    WEBHOOK,
    WEBHOOK_COUNT,
    Guard,
    ReservationClaim,
    StoredReservation,
)
from loaders.conversion import Codec
from loaders.table.positions import Key
from loaders.table.values import Item, attributes_of
from loaders.tools.declarations import World, basis_of, restored
from loaders.tools.expiry import is_expired
from loaders.tools.findings import Finding, put_repair, removal
from loaders.tools.kinds import PENDING, damage_of
from loaders.writes.access_codes import claim_attributes, live_entry
from loaders.writes.timeline import settled_guard

if TYPE_CHECKING:
    from loaders.table.operations import Transact


@dataclass(frozen=True, slots=True)
class Partition:
    """All items of a partition, without access events, attempts and notifications, and what they are compared with."""

    name: str
    items: list[Item]
    world: World
    ring: CodeRing | None

    def records(self, codec: Codec[Any]) -> dict[Key, Any] | None:
        """The records of a kind by key; None if one of them cannot be read."""
        own = {Key.of_item(item): item for item in self.items if item.get("entityType") == codec.entity_type}
        if any(damage_of(key, item) is not None for key, item in own.items()):
            return None
        return {key: codec.decode(item) for key, item in own.items()}

    def finding(self, invariant: str, key: Key, problem: str, repair: Transact | None = None) -> Finding:
        """A finding from the partition as a whole."""
        return Finding(invariant, key, problem, key, self.name, repair)


def partition_violations(partition: Partition) -> Iterator[Finding]:
    """The violations in a partition as a whole."""
    yield from _timeline(partition)
    yield from _door(partition)
    yield from _counts(partition)


def _timeline(partition: Partition) -> Iterator[Finding]:
    """No overlap, a guard that names the last change, and a pointer to the earliest reservation that has not ended."""
    stored = partition.records(STORED_RESERVATION)
    if stored is None:
        return
    stored, lost = _with_restored(partition, stored)
    live = [one.reservation for one in stored.values() if one.reservation.status is ReservationStatus.ACTIVE]
    live.sort(key=lambda one: one.start_at)
    yield from _overlaps(partition, live)
    guard_key = keys.reservation_guard(keys.locker_of(partition.name))
    item = partition.world.get(guard_key)
    if item is None and not stored:
        return
    guard = partition.world.record(GUARD, guard_key)
    becomes = _right_guard(guard, stored, partition.world.now)
    if becomes is not None:
        problem = "it is missing" if item is None else "it does not name the last change"
        is_trace = guard is not None and (
            (guard.changed_start_at, guard.changed_reservation_id) in lost
            or guard.released_start_at in {start_at for start_at, _ in lost}
        )
        repair = None if is_trace else put_repair(guard_key, item, GUARD.encode(becomes))
        yield partition.finding("I5", guard_key, problem, repair)
        item = None  # without the guard, what was read is no ground for a repair of the pointer
    yield from _pointer(partition, item, live, lost)


def _with_restored(
    partition: Partition, stored: Mapping[Key, StoredReservation]
) -> tuple[dict[Key, StoredReservation], set[tuple[Any, ...]]]:
    """The reservations with those that live copies tell, and the starts and ids of those that are lost.

    What a guard or pointer names is not taken for nothing if only its record is lost.
    """
    found, lost, world = dict(stored), set(), partition.world
    for codec in (LIVE_RESERVATION, RESERVATION_CLAIM):
        own = (Key.of_item(item) for item in partition.items if item.get("entityType") == codec.entity_type)
        for named in (one for key in own if (one := world.record(codec, key)) is not None):
            key = keys.reservation(named.locker_id, named.start_at, named.reservation_id)
            record = None if key in found else restored(key, world)
            if record is not None:
                found[key] = record[1]
            elif key not in found:
                lost.add(_place(named))
    return found, lost


def _overlaps(partition: Partition, live: list[Reservation]) -> Iterator[Finding]:
    latest: Reservation | None = None
    for one in live:
        if latest is not None and one.start_at < latest.end_at:
            key = keys.reservation(one.locker_id, one.start_at, one.reservation_id)
            problem = f"it overlaps reservation {latest.reservation_id}: cancel one of them"
            yield partition.finding("I1", key, problem)
        if latest is None or latest.end_at < one.end_at:
            latest = one


def _right_guard(guard: Guard | None, stored: Mapping[Key, StoredReservation], now: Instant) -> Guard | None:
    """The guard that must be there instead; None if it is right.

    Every write checks the change that the guard names; a guard may name none. While a grace period may run, it knows
    the latest start of a reservation that was released.
    """
    done = [one.reservation for one in stored.values() if one.reservation.status is ReservationStatus.COMPLETED]
    released = max((one.start_at for one in done), default=None)
    if guard is None:
        latest = max((one.revision or 0 for one in stored.values()), default=0)
        return Guard(revision=latest + 1, released_start_at=released)
    known, since = guard.released_start_at or EARLIEST, shift(now, -GRACE)
    is_late = any(one.start_at > known and (one.ended_at or EARLIEST) > since for one in done)
    if is_late or known > (released or EARLIEST):
        return replace(guard, revision=guard.revision + 1, released_start_at=released)
    named = (guard.changed_start_at, guard.changed_reservation_id, guard.changed_revision)
    if named == (None, None, None) and guard.changed_removed is None:
        return None
    found = next((one for one in stored.values() if _place(one.reservation) == named[:2]), None)
    becomes = settled_guard(guard, found)
    is_right = (becomes.changed_revision, becomes.changed_removed) == (guard.changed_revision, guard.changed_removed)
    return None if is_right and found is not None else becomes


def _place(reservation: Reservation | ReservationClaim) -> tuple[Any, ...]:
    return reservation.start_at, reservation.reservation_id


def _pointer(
    partition: Partition, guard: Item | None, live: list[Reservation], lost: set[tuple[Any, ...]]
) -> Iterator[Finding]:
    now, key = partition.world.now, keys.active_pointer(keys.locker_of(partition.name))
    item, pointer = partition.world.get(key), partition.world.record(ACTIVE_POINTER, key)
    problem = pointer_problem(pointer, live, now)
    if pointer is not None and attributes_of(item or {}) != ACTIVE_POINTER.encode(pointer):
        problem = "it is not written as pointers are"
    elif item is not None and pointer is None:
        problem = "it cannot be read"
    if problem is None:
        return
    ahead = [reservation for reservation in live if not has_ended_everywhere(reservation, now)]
    repair = None
    if pointer is not None and _place(pointer.reservation) in lost:
        guard = None
    if guard is not None and ahead:
        right = ActivePointer(reservation=ahead[0], last_end_at=max(one.end_at for one in live))
        repair = put_repair(key, item, ACTIVE_POINTER.encode(right), guard)
    elif guard is not None and item is not None:
        repair = removal(item, guard)
    yield partition.finding("I5", key, problem, repair)


def pointer_problem(pointer: ActivePointer | None, live: list[Reservation], now: Instant) -> str | None:
    """The problem of the pointer to live reservations, which are in order of their starts; None if it is right."""
    not_ended = [reservation for reservation in live if not has_ended(reservation, now)]
    if pointer is None:
        return f"no pointer to reservation {not_ended[0].reservation_id}" if not_ended else None
    pointed = pointer.reservation
    if pointed not in live:
        return f"the pointer names reservation {pointed.reservation_id}, which is not live or differs"
    if any(reservation.start_at < pointed.start_at for reservation in not_ended):
        return f"reservation {not_ended[0].reservation_id} is before the pointed one and has not ended"
    if pointer.last_end_at is not None and pointer.last_end_at < max(reservation.end_at for reservation in live):
        return "a reservation ends after the pointer's latest end"
    return None


def _door(partition: Partition) -> Iterator[Finding]:
    """The codes of a door have their digits, and are in its list as long as they may open it."""
    codes, door_key = partition.records(ACCESS_CODE), keys.code_door(Door(partition.name))
    if codes is None:
        return
    by_id = {code.code_id: (key, code) for key, code in codes.items()}
    yield from _digits(partition, by_id)
    item = partition.world.get(door_key)
    if item is None:
        if codes:
            problem = "it is missing, and with it what its device has: provision the device, or create a code"
            yield partition.finding("I6", door_key, problem)
        return
    door = partition.world.record(CODE_DOOR, door_key)
    if door is None:
        return
    has_device = {door.device_key_id is not None, door.provisioned_by is not None, door.generation > 0}
    has_list = {door.is_in_use, door.acknowledged_revision is not None, door.acknowledged_at is not None}
    latest = max([door.void_before, *(code.generation for code in codes.values())])
    if len(has_device) > 1 or len(has_list) > 1 or door.generation < latest:
        problem = "it does not know its device, or the list of the device: provision the device again"
        yield partition.finding("I6", door_key, problem)
    # A server whose clock is ahead may have dropped a code that is over.
    later = shift(partition.world.now, CLOCK_SKEW)
    valid = {live_entry(code) for code in codes.values() if code.revoked_at is None}
    due = [
        live_entry(code) for code in codes.values() if may_open(code, later, partition.world.record(*basis_of(code)))
    ]
    live = tuple(dict.fromkeys([*(entry for entry in door.live if entry in valid), *due]))
    if live != door.live:
        attributes = attributes_of(item) | {"live": list(live), "revision": door.revision + 1}
        problem = "its list is not that of its codes"
        yield partition.finding("I6", door_key, problem, put_repair(door_key, item, attributes))


def _digits(partition: Partition, codes: Mapping[str, tuple[Key, AccessCode]]) -> Iterator[Finding]:
    """Each code that is not revoked has one claim on its digits, and each claim a code.

    Without the right secrets only the claims themselves tell the digits, so none of a valid code is removed.
    """
    door, world, now = Door(partition.name), partition.world, to_seconds(partition.world.now)
    found = partition.records(CODE_CLAIM) or {}
    claims = {key: claim for key, claim in found.items() if not is_expired(world.get(key) or {}, world.now)}
    for code_key, code in codes.values():
        attributes, record = claim_attributes(code), world.get(code_key)
        if code.revoked_at is not None or attributes.get("expiresAt", now + 1) <= now:
            continue
        own = [key for key, claim in claims.items() if claim.code_id == code.code_id and f"#{code.key_id}#" in key.sk]
        right = _right_claim(partition, code)
        if not own:
            repair = None if right is None else put_repair(right, None, attributes, record)
            yield partition.finding("I6", code_key, "its digits are not claimed: rotate it", repair)
        elif len(own) > 1 or right not in {None, own[0]}:
            yield partition.finding("I6", code_key, "it has other digits than are claimed: rotate it")
        elif (item := world.get(own[0])) is not None and attributes_of(item) != attributes:
            repair = put_repair(own[0], item, attributes, record)
            yield partition.finding("I6", own[0], "it differs from its record", repair)
    for key, claim in claims.items():
        code_key = keys.access_code(door, claim.code_id)
        item, record = world.get(key), world.get(code_key)
        if record is None:
            yield partition.finding("I6", key, f"access code {claim.code_id} does not exist: look for it in a backup")
        elif item is not None and claim.code_id in codes and codes[claim.code_id][1].revoked_at is not None:
            problem = f"access code {claim.code_id} is revoked, so it has no digits"
            yield partition.finding("I6", key, problem, removal(item, record))


def _right_claim(partition: Partition, code: AccessCode) -> Key | None:
    """The claim on the digits of a code; None without its secret."""
    if partition.ring is None:
        return None
    try:
        return keys.code_claim(code.door, partition.ring.claim(code.door, code))
    except UnknownKeyError:
        return None


def _counts(partition: Partition) -> Iterator[Finding]:
    """An owner's bookings that wait for a decision are counted, and so are its webhooks."""
    owner_id = keys.owner_of(partition.name)
    if keys.owner(owner_id).pk != partition.name:
        return
    kinds = [(item.get("entityType"), item.get("status")) for item in partition.items]
    waiting = kinds.count((OWNER_BOOKING.entity_type, BookingStatus.PENDING))
    webhooks = sum(kind == WEBHOOK.entity_type and status != WebhookStatus.DELETED for kind, status in kinds)
    for key, kind, name, number, shown in (
        (keys.pending_count(owner_id), PENDING, "pendingBookings", waiting, "pending bookings"),
        (keys.webhook_count(owner_id), WEBHOOK_COUNT.entity_type, "webhooks", webhooks, "webhooks"),
    ):
        found = partition.world.get(key)
        attributes = {"entityType": kind, "ownerId": owner_id, name: number}
        if (number or found is not None) and (found is None or attributes_of(found) != attributes):
            counted = 0 if found is None else found.get(name, 0)
            problem = f"{counted} {shown} are counted, and there are {number}"
            yield partition.finding("I3", key, problem, put_repair(key, found, attributes))
