"""The guard and the active pointer, which every write of a locker's reservations reads and writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain.models import ActivePointer, ReservationStatus
from domain.schedule import CLOCK_SKEW, effective_status, has_ended_everywhere
from domain.times import shift
from loaders import keys
from loaders.codecs import ACTIVE_POINTER, GUARD, Guard, difference

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from domain.models import LockerId, Reservation, ReservationId
    from domain.times import Instant
    from loaders.codecs import StoredReservation
    from loaders.contracts.writing import WriteContract
    from loaders.table.client import Store
    from loaders.table.keys import Key, Position
    from loaders.table.operations import Step

MOVED = frozenset(
    {
        "first guard",
        "guard",
        "first pointer",
        "pointer",
        "no pointer",
        "same pointer",
        "still no pointer",
        "last change",
        "reservation",
        "claim",
    }
)
"""The steps whose condition fails where a concurrent write was faster: everything must be read again."""


class MovedError(Exception):
    """A concurrent write is only partly visible: everything must be read again."""


class OldReservationsError(Exception):
    """Reservations of the locker have an older form: they must be brought to today's first."""


def may_have_old(guard: Guard | None) -> bool:
    """Whether reservations of the locker may have an older form; other programs write no guard."""
    return guard is None or guard.has_old is True


async def walk(
    store: Store, contract: WriteContract, name: str, arguments: tuple[Any, ...], guard: Guard | None
) -> AsyncIterator[Reservation]:
    """The reservations of a declared range one by one, read no further than needed.

    Raises:
        MovedError: where the last change belongs to the range and is not visible yet.
        OldReservationsError: where one has an older form.
    """
    async for _, stored in walk_stored(store, contract, name, arguments, guard):
        if stored.revision is None and may_have_old(guard):
            raise OldReservationsError
        yield stored.reservation


async def walk_stored(
    store: Store, contract: WriteContract, name: str, arguments: tuple[Any, ...], guard: Guard | None
) -> AsyncIterator[tuple[Position, StoredReservation]]:
    """The same with the key and the revision of each, whatever its form.

    The guard, read before, names the last change. The items of a transaction become visible one by one, so the guard's
    new revision may be visible before the reservation is: then what was read is older than the guard.

    Raises:
        MovedError: where the last change belongs to the range and is not visible yet.
    """
    operation = contract.range_operation(name, *arguments)
    awaited = _last_change(arguments[0], guard)
    if awaited is not None and awaited not in operation.within:
        awaited = None
    async for key, stored in contract.read_range(store, name, *arguments):
        if awaited is not None and (key.sk >= awaited.sk if operation.forward else key.sk <= awaited.sk):
            if key != awaited or not _is_at(stored, guard):
                raise MovedError
            awaited = None
        yield key, stored
    if awaited is not None:
        raise MovedError


async def first_live(
    store: Store,
    contract: WriteContract,
    name: str,
    arguments: tuple[Any, ...],
    guard: Guard | None,
    now: Instant,
    *,
    but: ReservationId,
) -> Reservation | None:
    """The first reservation of a declared range that is neither cancelled nor ended, other than `but`."""
    async for reservation in walk(store, contract, name, arguments, guard):
        is_live = effective_status(reservation, now) is ReservationStatus.ACTIVE
        if is_live and reservation.reservation_id != but:
            return reservation
    return None


async def earliest_other(
    store: Store,
    contract: WriteContract,
    pointer: ActivePointer | None,
    guard: Guard | None,
    changed: ReservationId,
    now: Instant,
    *,
    cancels: bool = False,
) -> Reservation | None:
    """The earliest reservation besides the changed one that has not ended by every clock.

    It is the pointed one, unless that is cancelled by this write or ended longer ago than the clocks of two servers may
    differ: then a read of the range ahead finds the next one. A pointed reservation that ended just now is kept, since
    another server may still see it as active.
    """
    if pointer is None:
        return None
    pointed = pointer.reservation
    is_replaced = cancels if pointed.reservation_id == changed else has_ended_everywhere(pointed, now)
    if not is_replaced:
        return pointed
    ended_before = shift(now, -CLOCK_SKEW)
    if pointer.last_end_at is not None and pointer.last_end_at <= ended_before:
        return None
    ahead = (pointed.locker_id, pointed.start_at)
    return await first_live(store, contract, "ahead", ahead, guard, ended_before, but=changed)


def pointer_after(
    pointer: ActivePointer | None, changed: Reservation, other: Reservation | None
) -> ActivePointer | None:
    """The pointer after a write: to the changed reservation or the earliest other one, whichever starts first."""
    is_live = changed.status is ReservationStatus.ACTIVE
    if pointer is None or other is None:
        return ActivePointer(reservation=changed, last_end_at=changed.end_at) if is_live else None
    earliest = changed if is_live and changed.start_at <= other.start_at else other
    last_end = None if pointer.last_end_at is None else max(pointer.last_end_at, changed.end_at)
    return ActivePointer(reservation=earliest, last_end_at=last_end)


def next_revision(guard: Guard | None) -> int:
    """The revision of a write that follows the one read."""
    return 1 if guard is None else guard.revision + 1


def guard_step(contract: WriteContract, guard: Guard | None, changed: Reservation) -> Step:
    """Increments the revision that was read, and names the reservation that changes with it."""
    return replace_guard_step(contract, changed.locker_id, guard, guard_after(guard, changed))


def guard_after(guard: Guard | None, changed: Reservation) -> Guard:
    """The guard after a write that changes one reservation."""
    revision = next_revision(guard)
    return Guard(
        revision=revision,
        changed_start_at=changed.start_at,
        changed_reservation_id=changed.reservation_id,
        changed_revision=revision,
        has_old=None if guard is None else guard.has_old,
    )


def replace_guard_step(contract: WriteContract, locker_id: LockerId, guard: Guard | None, becomes: Guard) -> Step:
    """Replaces the guard that was read."""
    if guard is None:
        return contract.step("first guard", (locker_id,), GUARD.encode(becomes))
    attributes = difference(GUARD.encode(guard), GUARD.encode(becomes))
    return contract.step("guard", (locker_id,), attributes, readRevision=guard.revision)


def last_change_step(
    contract: WriteContract, locker_id: LockerId, guard: Guard | None, but: ReservationId | None = None
) -> list[Step]:
    """Conditions a write on the change before it, unless it changes that very reservation."""
    if guard is None or guard.changed_start_at is None or guard.changed_reservation_id in {None, but}:
        return []
    place = (locker_id, guard.changed_start_at, guard.changed_reservation_id)
    return [contract.step("last change", place, changedRevision=guard.changed_revision)]


def pointer_step(
    contract: WriteContract, locker_id: LockerId, read: ActivePointer | None, becomes: ActivePointer | None
) -> Step:
    """Changes the pointer from what was read to what it becomes; where it stays, checks that it is as read."""
    place = (locker_id,)
    if read is None:
        if becomes is None:
            return contract.step("still no pointer", place)
        return contract.step("first pointer", place, ACTIVE_POINTER.encode(becomes))
    as_read: dict[str, Any] = {
        "pointed": read.reservation.reservation_id,
        "pointedEnd": read.reservation.end_at,
        "readLastEnd": read.last_end_at or "unknown",
    }
    if becomes is None:
        return contract.step("no pointer", place, **as_read)
    if becomes == read:
        return contract.step("same pointer", place, **as_read)
    return contract.step("pointer", place, ACTIVE_POINTER.encode(becomes), **as_read)


def _last_change(locker_id: LockerId, guard: Guard | None) -> Key | None:
    if guard is None or guard.changed_start_at is None or guard.changed_reservation_id is None:
        return None
    return keys.reservation(locker_id, guard.changed_start_at, guard.changed_reservation_id)


def _is_at(stored: StoredReservation, guard: Guard | None) -> bool:
    """Whether a reservation is as new as the guard says."""
    wanted = guard.changed_revision if guard else None
    return stored.revision is not None and (wanted is None or stored.revision >= wanted)
