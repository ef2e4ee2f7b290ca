"""The guard, the active pointer and the live copies, which every write of a locker's reservations reads and writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from domain.models import ActivePointer, Locker, LockerId, Reservation, ReservationId, ReservationStatus
from domain.schedule import CLOCK_SKEW, has_ended, has_ended_everywhere
from domain.times import EARLIEST, Instant, shift
from loaders.codecs import GUARD, Guard, ReservationClaim, StoredReservation
from loaders.contracts.reservations import TIMELINE_RULES
from loaders.contracts.writing import WriteContract
from loaders.reads.live_reservations import live_in
from loaders.table.client import Store

if TYPE_CHECKING:
    from loaders.table.operations import Step

MOVED = frozenset(rule.name for rule in TIMELINE_RULES) | {"reservation", "claim"}
"""The steps whose condition fails where a concurrent write was faster: everything must be read again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservationContext:
    """The items that a reservation write reads before the reservations themselves.

    The guard is read first: the conditions of the write cover everything that is read after it, except the owner, who
    is never deleted.
    """

    guard: Guard | None
    pointer: ActivePointer | None
    claim: ReservationClaim | None
    locker: Locker | None

    @property
    def is_empty(self) -> bool:
        """Whether nobody has reserved the locker yet."""
        return self.guard is None and self.pointer is None


async def latest_before(
    store: Store,
    contract: WriteContract,
    context: ReservationContext,
    locker_id: LockerId,
    before: Instant | None,
    changed: ReservationId | None = None,
) -> Reservation | None:
    """The live reservation with the latest start before a time, if one is given.

    Live reservations do not overlap, so all others before that time have ended when this one starts.
    """
    if before is None:
        return None
    found = await live_in(store, contract, "before", (locker_id, before), context.guard, but=changed)
    return found[0] if found else None


async def earliest_other(
    store: Store,
    contract: WriteContract,
    context: ReservationContext,
    changed: ReservationId,
    now: Instant,
    *,
    ends: bool = False,
) -> Reservation | None:
    """The earliest reservation besides the changed one that has not ended by every clock.

    It is the pointed one, unless this write `ends` it or it ended longer ago than the clocks of two servers may differ:
    then the live copies tell the next one. A pointed reservation that ended just now is kept, since another server may
    still see it as active.
    """
    pointer, guard = context.pointer, context.guard
    if pointer is None:
        return None
    pointed = pointer.reservation
    is_replaced = ends if pointed.reservation_id == changed else has_ended_everywhere(pointed, now)
    if not is_replaced:
        return pointed
    since = shift(now, -CLOCK_SKEW)
    if pointer.last_end_at is not None and pointer.last_end_at <= since:
        return None
    running = await live_in(store, contract, "running", (pointed.locker_id, since), guard, but=changed)
    if running and running[0].reservation_id != changed and not has_ended(running[0], since):
        return running[0]
    ahead = await live_in(store, contract, "ahead", (pointed.locker_id, since), guard, but=changed)
    return next((one for one in ahead if one.reservation_id != changed), None)


def pointer_after(
    pointer: ActivePointer | None, changed: Reservation, other: Reservation | None
) -> ActivePointer | None:
    """The pointer after a write: to the changed reservation or the earliest other one, whichever starts first."""
    is_live = changed.status is ReservationStatus.ACTIVE
    if pointer is None or other is None:
        # A live reservation that was there before had a pointer: it is lost, and with it the end of the last one.
        is_lost = pointer is None and changed.version > 1
        return ActivePointer(reservation=changed, last_end_at=None if is_lost else changed.end_at) if is_live else None
    earliest = changed if is_live and changed.start_at <= other.start_at else other
    last_end = None if pointer.last_end_at is None else max(pointer.last_end_at, changed.end_at)
    return ActivePointer(reservation=earliest, last_end_at=last_end)


def next_revision(guard: Guard | None) -> int:
    return 1 if guard is None else guard.revision + 1


def guard_after(guard: Guard | None, changed: Reservation) -> Guard:
    revision = next_revision(guard)
    released = None if guard is None else guard.released_start_at
    if changed.status is ReservationStatus.COMPLETED:
        released = max(released or EARLIEST, changed.start_at)
    return Guard(
        revision=revision,
        changed_start_at=changed.start_at,
        changed_reservation_id=changed.reservation_id,
        changed_revision=revision,
        changed_removed=None if changed.status is ReservationStatus.ACTIVE else True,
        released_start_at=released,
    )


def guard_step(contract: WriteContract, locker_id: LockerId, guard: Guard | None, becomes: Guard) -> Step:
    """Replaces the guard that was read."""
    if guard is None:
        return contract.step("first guard", (locker_id,), GUARD.encode(becomes))
    return contract.change_step("guard", guard, becomes, at=(locker_id,), readRevision=guard.revision)


def live_step(contract: WriteContract, changed: Reservation, guard: Guard | None) -> Step:
    """Writes the live copy of a reservation; removes it where the reservation is canceled or released."""
    if changed.status is not ReservationStatus.ACTIVE:
        return contract.step("no live copy", (changed.locker_id, changed.start_at, changed.reservation_id))
    return contract.record_step("live copy", StoredReservation(reservation=changed, revision=next_revision(guard)))


def last_change_step(
    contract: WriteContract, locker_id: LockerId, guard: Guard | None, but: ReservationId | None = None
) -> list[Step]:
    """Conditions a write on the change before it, unless it changes that very reservation."""
    if guard is None or guard.changed_start_at is None or guard.changed_reservation_id in {None, but}:
        return []
    place = (locker_id, guard.changed_start_at, guard.changed_reservation_id)
    if guard.changed_removed:
        return [contract.step("last removal", place)]
    return [contract.step("last change", place, changedRevision=guard.changed_revision)]


def pointer_step(
    contract: WriteContract, locker_id: LockerId, read: ActivePointer | None, becomes: ActivePointer | None
) -> Step:
    """Changes the pointer from what was read to what it becomes; where it stays, checks that it is as read."""
    place = (locker_id,)
    if read is None:
        if becomes is None:
            return contract.step("still no pointer", place)
        return contract.record_step("first pointer", becomes)
    as_read = pointer_as_read(read)
    if becomes is None:
        return contract.step("no pointer", place, **as_read)
    if becomes == read:
        return contract.step("same pointer", place, **as_read)
    return contract.record_step("pointer", becomes, **as_read)


def pointer_as_read(pointer: ActivePointer) -> dict[str, Any]:
    return {
        "pointed": pointer.reservation.reservation_id,
        "pointedEnd": pointer.reservation.end_at,
        "pointedVersion": pointer.reservation.version,
        "readLastEnd": pointer.last_end_at or "unknown",
    }
