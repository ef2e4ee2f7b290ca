"""The guard, the active pointer and the live copies, which every write of a locker's reservations reads and writes."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from domain.models import ActivePointer, Locker, LockerId, Reservation, ReservationId, ReservationStatus
from domain.schedule import CLOCK_SKEW, has_ended, has_ended_everywhere
from domain.times import EARLIEST, Instant, shift
from loaders.codecs import GUARD, Guard, ReservationClaim, StoredReservation
from loaders.contracts.reservations import SETTLE_LAST_CHANGE, TIMELINE_RULES
from loaders.contracts.writing import WriteContract
from loaders.reads.live_reservations import live_in
from loaders.table.client import Store
from loaders.table.errors import TransactionRefusedError

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
    locker_id: LockerId,
    changed: ReservationId,
    now: Instant,
    *,
    ends: bool = False,
    is_new: bool = False,
) -> Reservation | None:
    """The earliest reservation besides the changed one that has not ended by every clock.

    It is the pointed one, unless this write `ends` it or it ended longer ago than the clocks of two servers may differ:
    then the live copies tell the next one. A pointed reservation that ended just now is kept, since another server may
    still see it as active. The live copies also tell where the pointer is lost: before a new reservation there is none
    only where nobody reserved the locker before, or the last change removed one.
    """
    pointer, guard, since = context.pointer, context.guard, shift(now, -CLOCK_SKEW)
    if pointer is None:
        if is_new and (guard is None or guard.changed_reservation_id is None or guard.changed_removed):
            return None
    else:
        pointed = pointer.reservation
        is_replaced = ends if pointed.reservation_id == changed else has_ended_everywhere(pointed, now)
        if not is_replaced:
            return pointed
        if pointer.last_end_at is not None and pointer.last_end_at <= since:
            return None
    within = (locker_id, since)
    running = await live_in(store, contract, "running", within, guard, but=changed)
    if running and running[0].reservation_id != changed and not has_ended(running[0], since):
        return running[0]
    ahead = await live_in(store, contract, "ahead", within, guard, but=changed)
    return next((one for one in ahead if one.reservation_id != changed), None)


def pointer_after(
    pointer: ActivePointer | None, changed: Reservation, other: Reservation | None
) -> ActivePointer | None:
    """The pointer after a write: to the changed reservation or the earliest other one, whichever starts first."""
    is_live = changed.status is ReservationStatus.ACTIVE
    if other is None:
        return ActivePointer(reservation=changed, last_end_at=changed.end_at) if is_live else None
    earliest = changed if is_live and changed.start_at <= other.start_at else other
    last_end = None if pointer is None else pointer.last_end_at  # with a lost pointer, it is lost
    return ActivePointer(reservation=earliest, last_end_at=None if last_end is None else max(last_end, changed.end_at))


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


def live_step(contract: WriteContract, stored: StoredReservation) -> Step:
    """Writes the live copy of a reservation; removes it where the reservation is canceled or released."""
    live, changed = live_copy_of(stored), stored.reservation
    if live is None:
        return contract.step("no live copy", (changed.locker_id, changed.start_at, changed.reservation_id))
    return contract.record_step("live copy", live)


def mark_as_read(stored: StoredReservation) -> str:
    """The value that the mark of a reservation is compared with; no reservation is marked as none."""
    return stored.ended_as or "NONE"


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


async def settle(store: Store, locker_id: LockerId) -> None:
    """Writes the live copy of the reservation that was changed last once more, and a guard that agrees with it.

    Where the change is whole, only not visible yet, that changes nothing but the revision of the guard.
    """
    guard: Guard | None = await SETTLE_LAST_CHANGE.read(store, "guard", locker_id)
    steps = [guard_step(SETTLE_LAST_CHANGE, locker_id, guard, Guard(revision=next_revision(guard)))]
    if guard is not None and guard.changed_start_at is not None and guard.changed_reservation_id is not None:
        place = (locker_id, guard.changed_start_at, guard.changed_reservation_id)
        stored: StoredReservation | None = await SETTLE_LAST_CHANGE.read(store, "reservation", *place)
        steps = [guard_step(SETTLE_LAST_CHANGE, locker_id, guard, settled_guard(guard, stored))]
        if stored is None:
            steps.append(SETTLE_LAST_CHANGE.step("no reservation", place))
        else:
            as_read: dict[str, Any] = {"readVersion": stored.reservation.version, "readMark": mark_as_read(stored)}
            steps.append(SETTLE_LAST_CHANGE.step("same reservation", place, **as_read))
            steps.append(live_step(SETTLE_LAST_CHANGE, stored))
    with suppress(TransactionRefusedError):  # a concurrent write was faster
        await store.transact(SETTLE_LAST_CHANGE.transact(*steps))


def settled_guard(guard: Guard, stored: StoredReservation | None) -> Guard:
    """A later guard that names the last change as it is found; none where its reservation does not exist."""
    revision = max(guard.revision, 0 if stored is None else stored.revision or 0) + 1
    if stored is None or stored.revision is None:
        none = {"changed_start_at": None, "changed_reservation_id": None, "changed_revision": None}
        return replace(guard, revision=revision, **none, changed_removed=None)
    is_removed = None if stored.reservation.status is ReservationStatus.ACTIVE else True
    return replace(guard, revision=revision, changed_revision=stored.revision, changed_removed=is_removed)


def live_copy_of(stored: StoredReservation) -> StoredReservation | None:
    """The live copy of a reservation; None where it was canceled or released."""
    return replace(stored, slot=None) if stored.reservation.status is ReservationStatus.ACTIVE else None


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
