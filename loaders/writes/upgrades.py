"""Brings reservations of other programs or earlier versions to today's form: with claims, copies, guard and pointer.

Each write is made under the guard, so it may happen while others reserve, and may be interrupted: the guard says that
reservations of an older form may be left until the last write, which also sets the pointer.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from domain.errors import UnavailableError
from domain.models import ActivePointer, Reservation, ReservationStatus
from domain.schedule import free_slot, has_ended, has_ended_everywhere
from domain.times import EARLIEST
from loaders import keys
from loaders.codecs import RESERVATION, Guard, StoredReservation
from loaders.contracts.base import MAX_ITEMS
from loaders.contracts.maintenance import LIVE_COPIES_AT_ONCE
from loaders.reads.live_reservations import MovedError
from loaders.table.errors import TransactionRefusedError
from loaders.writes.reservation_steps import claim_of, slot_of
from loaders.writes.timeline import guard_step, next_revision

if TYPE_CHECKING:
    from domain.models import LockerId
    from domain.times import Instant
    from loaders.contracts.writing import WriteContract
    from loaders.table.client import Store
    from loaders.table.operations import Step
    from loaders.table.positions import Position

logger = logging.getLogger(__name__)

MOST_UPGRADES = 20
"""How many reservations one request of the API upgrades at most."""


async def upgrade_reservations(
    store: Store,
    contract: WriteContract,
    locker_id: LockerId,
    guard: Guard | None,
    now: Instant,
    *,
    most: int,
    since: Instant,
) -> int:
    """Upgrades up to `most` reservations of a locker, and the pointer once none is left; returns how many items.

    The contract reads the ranges `all` and `copies`; the guard was read just before. Reservations that ended by `since`
    get no live copy: no new one may overlap them. Raises MovedError where another write was faster, and
    UnavailableError where older reservations are left.
    """
    found = [entry async for entry in contract.read_range(store, "all", locker_id, EARLIEST)]
    _check_visible(locker_id, found, guard)
    old = [(key, stored.reservation) for key, stored in found if stored.revision is None]
    if guard is not None and not guard.has_old:
        old = await unclaimed(store, contract, old)
    old_keys = {key for key, _ in old}
    stored = [one for key, one in found if key not in old_keys]
    for key, reservation in old[:most]:
        current = _without_expired(reservation, now)
        guard = await _upgrade_one(store, contract, key, current, guard)
        stored.append(StoredReservation(reservation=current, revision=guard.revision))
    if len(old) > most:
        raise _too_many()
    live = [one for one in stored if one.reservation.status is ReservationStatus.ACTIVE]
    copies = [copy async for _, copy in contract.read_range(store, "copies", locker_id)]
    wanted = [replace(one, slot=None) for one in live if one.reservation.end_at > since]
    uncopied = [one for one in wanted if one not in copies]
    for first in range(0, min(len(uncopied), most), LIVE_COPIES_AT_ONCE):
        copied = uncopied[first : first + LIVE_COPIES_AT_ONCE]
        steps = [contract.record_step("new live copy", one) for one in copied]
        guard = await _send(store, contract, locker_id, guard, guard or Guard(revision=0), *steps)
    if len(uncopied) > most:
        raise _too_many()
    lacks_ended = any(one.reservation.end_at <= since for one in live)
    becomes = Guard(revision=0, has_live=True, lacks_ended=lacks_ended or None)
    await _send(store, contract, locker_id, guard, becomes, _pointer_step(contract, locker_id, live, now))
    return len(old) + len(uncopied) + 1


def _too_many() -> UnavailableError:
    return UnavailableError("The locker has many reservations of an older form. Try again.")


async def take_slots(store: Store, contract: WriteContract, locker_id: LockerId, now: Instant) -> int:
    """Gives each live reservation of a locker without a slot one of its owner's; returns how many.

    It may be beyond the owner's limit, which then allows no more reservations until others have ended. Raises
    MovedError where another write was faster.
    """
    taken = 0
    async for _, stored in contract.read_range(store, "all", locker_id, EARLIEST):
        one = stored.reservation
        if one.status is not ReservationStatus.ACTIVE or stored.slot is not None or has_ended(one, now):
            continue
        slots = [slot async for _, slot in contract.read_range(store, "slots", one.owner_id)]
        slot = free_slot(slots, len(slots) + 1, now, f"{locker_id} {one.reservation_id}")
        steps = [
            contract.record_step("taken slot", slot_of(one, str(slot)), now=now),
            contract.step(
                "slot of a reservation",
                (locker_id, one.start_at, one.reservation_id),
                {"slot": slot},
                readStatus=one.status,
                readEnd=one.end_at,
            ),
        ]
        try:
            await store.transact(contract.transact(*steps))
        except TransactionRefusedError:
            raise MovedError from None
        taken += 1
    return taken


def _check_visible(locker_id: LockerId, found: list[tuple[Position, StoredReservation]], guard: Guard | None) -> None:
    """Checks that the last change that the guard names was read: items of a transaction become visible one by one."""
    if guard is None or guard.changed_start_at is None or guard.changed_reservation_id is None:
        return
    changed = keys.reservation(locker_id, guard.changed_start_at, guard.changed_reservation_id)
    if not any(key == changed and (one.revision or 0) >= (guard.changed_revision or 0) for key, one in found):
        raise MovedError


async def unclaimed(
    store: Store, contract: WriteContract, found: list[tuple[Position, Reservation]]
) -> list[tuple[Position, Reservation]]:
    """Those without a claim: earlier versions wrote claims, but no revisions."""
    claimed: set[Position] = set()
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
    revision = next_revision(guard)
    becomes = Guard(
        revision=revision,
        changed_start_at=reservation.start_at,
        changed_reservation_id=reservation.reservation_id,
        changed_revision=revision,
        has_old=True,
    )
    attributes = RESERVATION.encode(reservation) | {"revision": becomes.revision}
    steps = {
        "guard": guard_step(contract, reservation.locker_id, guard, becomes),
        "new claim": contract.record_step("new claim", claim_of(reservation)),
        "new copy": contract.record_step("new copy", reservation, lockerId=reservation.locker_id),
    }
    if key == keys.reservation(*place):
        steps["form"] = contract.step("old form", place, attributes)
    else:
        steps["old key"] = contract.step("old key", (key.pk, key.sk))
        steps["new key"] = contract.step("new key", place, attributes)
    while True:
        try:
            await store.transact(contract.transact(*steps.values()))
        except TransactionRefusedError as refusal:
            taken = refusal.failed.keys() & {"new claim", "new copy"} & steps.keys()
            if len(taken) < len(refusal.failed):
                raise MovedError from None
            for name in taken:
                logger.warning("%s: its %s belongs to another reservation", keys.masked(keys.reservation(*place)), name)
                del steps[name]
            continue
        return becomes


async def _send(
    store: Store, contract: WriteContract, locker_id: LockerId, guard: Guard | None, content: Guard, *steps: Step
) -> Guard:
    """Sends steps under the guard, and returns it as it then is: with this content and the next revision."""
    becomes = replace(content, revision=next_revision(guard))
    try:
        await store.transact(contract.transact(guard_step(contract, locker_id, guard, becomes), *steps))
    except TransactionRefusedError:
        raise MovedError from None
    return becomes


def _without_expired(reservation: Reservation, now: Instant) -> Reservation:
    """Today EXPIRED is never stored: it follows from the end."""
    if reservation.status is not ReservationStatus.EXPIRED:
        return reservation
    status = ReservationStatus.ACTIVE if has_ended(reservation, now) else ReservationStatus.CANCELLED
    return replace(reservation, status=status)


def _pointer_step(contract: WriteContract, locker_id: LockerId, live: list[StoredReservation], now: Instant) -> Step:
    kept = [one.reservation for one in live if not has_ended_everywhere(one.reservation, now)]
    if not kept:
        return contract.step("dropped pointer", (locker_id,))
    pointer = ActivePointer(
        reservation=min(kept, key=lambda reservation: reservation.start_at),
        last_end_at=max(reservation.end_at for reservation in kept),
    )
    return contract.record_step("new pointer", pointer)
