"""What keeps a locker's reservations in order: the guard, the active pointer, and the walk along the starts."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from domain.errors import UnavailableError
from domain.models import ReservationStatus
from domain.schedule import effective_status
from domain.times import shift
from loaders import keys
from loaders.contracts import QC_07, QC_13
from loaders.contracts.reservations import REPAIR_ROUNDS, REPAIR_STRIDE, STRIDE
from loaders.items import ACTIVE_POINTER, GUARD, RESERVATION, Guard, difference
from loaders.table.errors import StoreError, TransactionRefusedError
from loaders.table.operations import Key, Transact
from loaders.table.retry import attempts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from domain.models import LockerId, Reservation, ReservationId
    from domain.times import Instant
    from loaders.backend import Backend
    from loaders.contract import Contract, WriteContract
    from loaders.table.client import Store
    from loaders.table.operations import KeyRange, Step
    from loaders.table.values import Item

__all__ = [
    "MOVED",
    "MovedError",
    "first_ahead",
    "guard_step",
    "last_change_step",
    "next_revision",
    "pointer_step",
    "repaired_pointer",
    "repairing",
    "walk",
]

logger = logging.getLogger(__name__)

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
"""The steps whose refusal means: another writer was here, read again."""


class MovedError(Exception):
    """Another writer is at work here: read again."""


async def walk(
    store: Store, contract: Contract, within: KeyRange, guard: Guard | None, *, forward: bool, stride: int = STRIDE
) -> AsyncIterator[Reservation]:
    """The reservations of a range one by one, read strongly, and no further than needed.

    The guard, read before, names the last change. A transaction's items appear one by one, so the guard may be there
    before the reservation is: then what was read is older than the guard says.

    Raises:
        MovedError: where the last change should be to be seen and is not.
    """
    awaited = _last_change(within.pk, guard)
    if awaited is not None and awaited not in within:
        awaited = None
    start = None
    while True:
        page = await store.query(contract.query(within, limit=stride, forward=forward, start=start, consistent=True))
        for key, item in page.items:
            if awaited is not None and (key.sk >= awaited.sk if forward else key.sk <= awaited.sk):
                if key != awaited or not _is_at(item, guard):
                    raise MovedError
                awaited = None
            yield RESERVATION.decode(item)
        start = page.last
        if start is None:
            break
    if awaited is not None:
        raise MovedError


async def first_ahead(
    store: Store,
    contract: Contract,
    within: KeyRange,
    guard: Guard | None,
    now: Instant,
    *,
    but: ReservationId | None = None,
    stride: int = STRIDE,
) -> Reservation | None:
    """The first reservation of a range that is neither cancelled nor over, other than `but`."""
    async for reservation in walk(store, contract, within, guard, forward=True, stride=stride):
        if reservation.reservation_id == but:
            continue
        if effective_status(reservation, now) is ReservationStatus.ACTIVE:
            return reservation
    return None


def next_revision(guard: Guard | None) -> int:
    """The revision that a write on top of the one read has."""
    return 1 if guard is None else guard.revision + 1


def guard_step(contract: WriteContract, locker_id: LockerId, guard: Guard | None, changed: Reservation | None) -> Step:
    """Bumps the revision that was read, and names the reservation that changes with it, if one does."""
    key = keys.reservation_guard(locker_id)
    revision = next_revision(guard)
    bumped = replace(guard, revision=revision) if guard else Guard(revision=revision)
    if changed is not None:
        bumped = replace(
            bumped,
            changed_start_at=changed.start_at,
            changed_reservation_id=changed.reservation_id,
            changed_revision=revision,
        )
    if guard is None:
        return contract.step("first guard", key, GUARD.encode(bumped))
    attributes = difference(GUARD.encode(guard), GUARD.encode(bumped))
    return contract.step("guard", key, attributes, readRevision=guard.revision)


def last_change_step(
    contract: WriteContract, locker_id: LockerId, guard: Guard | None, but: Reservation | None = None
) -> list[Step]:
    """Holds a write to the change before it, unless it changes that very reservation."""
    key = _last_change(keys.locker(locker_id).pk, guard)
    if guard is None or key is None:
        return []
    if but is not None and key == keys.reservation(locker_id, but.start_at, but.reservation_id):
        return []
    return [contract.step("last change", key, changedRevision=guard.changed_revision)]


def pointer_step(
    contract: WriteContract, locker_id: LockerId, read: Reservation | None, becomes: Reservation | None
) -> Step:
    """Moves the pointer from what was read to what it becomes; where it stays, checks that it did."""
    key = keys.active_pointer(locker_id)
    if read is None:
        if becomes is None:
            return contract.step("still no pointer", key)
        return contract.step("first pointer", key, ACTIVE_POINTER.encode(becomes))
    if becomes is None:
        return contract.step("no pointer", key, pointed=read.reservation_id)
    if becomes == read:
        return contract.step("same pointer", key, pointed=read.reservation_id)
    return contract.step("pointer", key, ACTIVE_POINTER.encode(becomes), pointed=read.reservation_id)


async def repaired_pointer(backend: Backend, ended: Reservation, now: Instant) -> Reservation | None:
    """What the pointer should name, where what it names has ended (QC-07).

    The guard is read before the reservations are, so the repair is refused if any of them changed meanwhile. Whoever
    was faster left a good pointer, and the answer found here is as true as any read's; that the repair cannot be
    written is no reason to fail a read.
    """
    locker_id = ended.locker_id
    within = keys.locker_reservations(locker_id, start=shift(now, -backend.longest_reservation))
    async for _ in attempts(REPAIR_ROUNDS):
        item = await backend.store.get(QC_07.get(keys.reservation_guard(locker_id), consistent=True))
        guard = None if item is None else GUARD.decode(item)
        try:
            ahead = await first_ahead(backend.store, QC_07, within, guard, now, stride=REPAIR_STRIDE)
        except MovedError:
            continue
        try:
            await backend.store.transact(repairing(ended, guard, ahead))
        except TransactionRefusedError:
            pass
        except (StoreError, UnavailableError):
            mended = keys.masked(keys.active_pointer(locker_id))
            logger.warning("%s could not be mended", mended, exc_info=True)
        return ahead
    raise UnavailableError("Too many changes met at this locker: try again in a moment.")


def repairing(ended: Reservation, guard: Guard | None, ahead: Reservation | None) -> Transact:
    """The request that moves the pointer on from a reservation that has ended."""
    return Transact(
        QC_07.id,
        (
            guard_step(QC_13, ended.locker_id, guard, None),
            pointer_step(QC_13, ended.locker_id, ended, ahead),
            *last_change_step(QC_13, ended.locker_id, guard),
        ),
    )


def _last_change(partition: str, guard: Guard | None) -> Key | None:
    if guard is None or guard.changed_start_at is None or guard.changed_reservation_id is None:
        return None
    return Key(partition, keys.reservation_place(guard.changed_start_at, guard.changed_reservation_id))


def _is_at(item: Item, guard: Guard | None) -> bool:
    """Whether a reservation's item is as new as the guard says of it."""
    revision = item.get("revision")
    wanted = guard.changed_revision if guard else None
    return isinstance(revision, int) and (wanted is None or revision >= wanted)
