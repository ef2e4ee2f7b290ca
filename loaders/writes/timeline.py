"""What keeps a locker's reservations in order: the guard, the active pointer, and the walk along the starts."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from domain.errors import UnavailableError
from domain.models import ReservationStatus
from domain.schedule import effective_status
from domain.times import shift
from loaders import keys
from loaders.contracts import QC_07, QC_13
from loaders.items import ACTIVE_POINTER, GUARD, RESERVATION, Guard
from loaders.table.errors import TransactionRefusedError
from loaders.table.operations import Transact

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from domain.models import LockerId, Reservation, ReservationId
    from domain.times import Instant
    from loaders.backend import Backend
    from loaders.contract import Contract, WriteContract
    from loaders.table.client import Store
    from loaders.table.operations import KeyRange, Step

__all__ = ["MOVED", "first_ahead", "guard_step", "pointer_step", "repaired_pointer", "repairing", "walk"]

_STRIDE = 100

MOVED = frozenset(
    {"first guard", "guard", "first pointer", "pointer", "no pointer", "same pointer", "still no pointer"}
)
"""The steps whose refusal means: another writer was here, read again."""


async def walk(store: Store, contract: Contract, within: KeyRange, *, forward: bool) -> AsyncIterator[Reservation]:
    """The reservations of a range one by one, read strongly, a stride at a time, and no further than needed."""
    start = None
    while True:
        page = await store.query(contract.query(within, limit=_STRIDE, forward=forward, start=start, consistent=True))
        for _, item in page.items:
            yield RESERVATION.decode(item)
        start = page.last
        if start is None:
            return


async def first_ahead(
    store: Store, contract: Contract, within: KeyRange, now: Instant, *, but: ReservationId | None = None
) -> Reservation | None:
    """The first reservation of a range that is neither cancelled nor over, other than `but`."""
    async for reservation in walk(store, contract, within, forward=True):
        if reservation.reservation_id == but:
            continue
        if effective_status(reservation, now) is ReservationStatus.ACTIVE:
            return reservation
    return None


def guard_step(contract: WriteContract, locker_id: LockerId, guard: Guard | None) -> Step:
    """Bumps the revision that was read."""
    key = keys.reservation_guard(locker_id)
    if guard is None:
        return contract.step("first guard", key, GUARD.encode(Guard(revision=1)))
    return contract.step("guard", key, {"revision": guard.revision + 1}, readRevision=guard.revision)


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
    was faster left a good pointer, and the answer found here is as true as any read's.
    """
    locker_id = ended.locker_id
    item = await backend.store.get(QC_07.get(keys.reservation_guard(locker_id), consistent=True))
    guard = None if item is None else GUARD.decode(item)
    within = keys.locker_reservations(locker_id, start=shift(now, -backend.longest_reservation))
    ahead = await first_ahead(backend.store, QC_07, within, now)
    with suppress(TransactionRefusedError, UnavailableError):
        await backend.store.transact(repairing(ended, guard, ahead))
    return ahead


def repairing(ended: Reservation, guard: Guard | None, ahead: Reservation | None) -> Transact:
    """The request that moves the pointer on from a reservation that has ended."""
    return Transact(
        QC_07.id,
        (
            guard_step(QC_13, ended.locker_id, guard),
            pointer_step(QC_13, ended.locker_id, ended, ahead),
        ),
    )
