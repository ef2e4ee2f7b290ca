"""Brings reservations that other programs wrote to today's form: with claims, copies, guard and pointer.

Each reservation is one write under the guard, so it may happen while others reserve, and may be interrupted: the guard
says that reservations of an older form may be left until the last write, which also sets the pointer.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from domain.commands.base import fingerprint
from domain.commands.reservations import CreateReservation
from domain.errors import UnavailableError
from domain.models import ActivePointer, Reservation, ReservationStatus
from domain.schedule import has_ended, has_ended_everywhere
from domain.times import EARLIEST
from loaders import keys
from loaders.codecs import ACTIVE_POINTER, OWNER_RESERVATION, RESERVATION, RESERVATION_CLAIM, Guard, ReservationClaim
from loaders.contracts.base import MAX_ITEMS
from loaders.table.errors import TransactionRefusedError
from loaders.writes.timeline import (
    MovedError,
    guard_after,
    last_change_step,
    may_have_old,
    next_revision,
    replace_guard_step,
    walk_stored,
)

if TYPE_CHECKING:
    from domain.models import LockerId
    from domain.times import Instant
    from loaders.contracts.writing import WriteContract
    from loaders.table.client import Store
    from loaders.table.keys import Key, Position
    from loaders.table.operations import Step

logger = logging.getLogger(__name__)

MOST_UPGRADES = 20
"""How many reservations one request of the API upgrades at most."""


async def upgrade_reservations(
    store: Store, contract: WriteContract, locker_id: LockerId, guard: Guard | None, now: Instant, *, most: int
) -> int:
    """Upgrades up to `most` reservations of a locker, and the pointer once none is left; returns how many items.

    Args:
        store: the store.
        contract: the contract whose steps these are; it reads the range `ahead`.
        locker_id: the locker.
        guard: the guard as it was read just before.
        now: the current time.
        most: how many reservations to upgrade.

    Raises:
        MovedError: where another write was faster.
        UnavailableError: where older reservations are left.
    """
    found = [entry async for entry in walk_stored(store, contract, "ahead", (locker_id, EARLIEST), guard)]
    old = [(key, stored.reservation) for key, stored in found if stored.revision is None]
    if not may_have_old(guard):
        old = await _unclaimed(store, contract, old)
    old_keys = {key for key, _ in old}
    reservations = [stored.reservation for key, stored in found if key not in old_keys]
    for key, reservation in old[:most]:
        current = _without_expired(reservation, now)
        guard = await _upgrade_one(store, contract, key, current, guard)
        reservations.append(current)
    if len(old) > most:
        raise UnavailableError("The locker has many reservations of an older form. Try again.")
    becomes = replace(guard or Guard(revision=0), revision=next_revision(guard), has_old=None)
    await _send(
        store,
        contract,
        replace_guard_step(contract, locker_id, guard, becomes),
        _pointer_step(contract, locker_id, reservations, now),
        *last_change_step(contract, locker_id, guard),
    )
    return len(old) + 1


async def _unclaimed(
    store: Store, contract: WriteContract, found: list[tuple[Position, Reservation]]
) -> list[tuple[Position, Reservation]]:
    """Those without a claim: earlier versions wrote claims, but no revisions."""
    claimed: set[Key] = set()
    for first in range(0, len(found), MAX_ITEMS):
        ids = dict.fromkeys((one.locker_id, one.reservation_id) for _, one in found[first : first + MAX_ITEMS])
        claims = await contract.read_many(store, "claims", list(ids))
        claimed |= {keys.reservation(one.locker_id, one.start_at, one.reservation_id) for one in claims if one}
    return [(key, reservation) for key, reservation in found if key not in claimed]


async def _upgrade_one(
    store: Store, contract: WriteContract, key: Position, reservation: Reservation, guard: Guard | None
) -> Guard:
    """Writes one reservation in today's form, and returns the guard as it then is."""
    place = (reservation.locker_id, reservation.start_at, reservation.reservation_id)
    becomes = replace(guard_after(guard, reservation), has_old=True)
    attributes = RESERVATION.encode(reservation) | {"revision": becomes.revision}
    steps = {
        "guard": replace_guard_step(contract, reservation.locker_id, guard, becomes),
        "new claim": contract.step("new claim", (place[0], place[2]), RESERVATION_CLAIM.encode(_claim(reservation))),
        "new copy": contract.step(
            "new copy",
            (reservation.owner_id, reservation.start_at, reservation.reservation_id),
            OWNER_RESERVATION.encode(reservation),
            lockerId=reservation.locker_id,
        ),
    }
    if key == keys.reservation(*place):
        steps["form"] = contract.step("old form", place, attributes)
    else:
        steps["old key"] = contract.step("old key", (key.pk, key.sk))
        steps["new key"] = contract.step("new key", place, attributes)
    checks = last_change_step(contract, reservation.locker_id, guard, but=reservation.reservation_id)
    while True:
        try:
            await store.transact(contract.transact(*steps.values(), *checks))
        except TransactionRefusedError as refusal:
            taken = refusal.failed.keys() & {"new claim", "new copy"} & steps.keys()
            if len(taken) < len(refusal.failed):
                raise MovedError from None
            for name in taken:
                logger.warning("%s: its %s belongs to another reservation", keys.masked(keys.reservation(*place)), name)
                del steps[name]
            continue
        return becomes


async def _send(store: Store, contract: WriteContract, *steps: Step) -> None:
    try:
        await store.transact(contract.transact(*steps))
    except TransactionRefusedError:
        raise MovedError from None


def _without_expired(reservation: Reservation, now: Instant) -> Reservation:
    """Today EXPIRED is never stored: it follows from the end."""
    if reservation.status is not ReservationStatus.EXPIRED:
        return reservation
    status = ReservationStatus.ACTIVE if has_ended(reservation, now) else ReservationStatus.CANCELLED
    return replace(reservation, status=status)


def _claim(reservation: Reservation) -> ReservationClaim:
    command = CreateReservation.model_construct(
        locker_id=reservation.locker_id,
        owner_id=reservation.owner_id,
        start_at=reservation.start_at,
        end_at=reservation.end_at,
    )
    return ReservationClaim(
        reservation_id=reservation.reservation_id,
        locker_id=reservation.locker_id,
        start_at=reservation.start_at,
        fingerprint=fingerprint(command, without="reservation_id"),
    )


def _pointer_step(contract: WriteContract, locker_id: LockerId, reservations: list[Reservation], now: Instant) -> Step:
    kept = [reservation for reservation in reservations if reservation.status is not ReservationStatus.CANCELLED]
    live = [reservation for reservation in kept if not has_ended_everywhere(reservation, now)]
    if not live:
        return contract.step("dropped pointer", (locker_id,))
    pointer = ActivePointer(
        reservation=min(live, key=lambda reservation: reservation.start_at),
        last_end_at=max(reservation.end_at for reservation in kept),
    )
    return contract.step("new pointer", (locker_id,), ACTIVE_POINTER.encode(pointer))
