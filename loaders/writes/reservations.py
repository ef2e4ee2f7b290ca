"""Writes of reservations: whatever happens at once, two live ones of a locker never overlap."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from domain.commands import fingerprint
from domain.errors import (
    BadInputError,
    IdTakenError,
    LockerInMaintenanceError,
    MissingError,
    OverlapError,
    ReservationOverError,
    UnavailableError,
)
from domain.models import LockerStatus, Reservation, ReservationId, ReservationStatus
from domain.principal import Scope, absent, acts_for, may_reserve, require
from domain.schedule import check_ahead, check_order, has_ended, overlaps
from domain.times import shift
from loaders import keys
from loaders.contracts import QC_04, QC_13
from loaders.cost import LOOKS_FOR_CLAIMED
from loaders.items import (
    ACTIVE_POINTER,
    GUARD,
    LOCKER,
    RESERVATION,
    RESERVATION_CLAIM,
    DamagedItemError,
    ReservationClaim,
)
from loaders.table.errors import TransactionRefusedError
from loaders.table.retry import attempts
from loaders.writes.reservation_steps import changing, creating
from loaders.writes.timeline import (
    MOVED,
    MovedError,
    first_ahead,
    walk,
)

if TYPE_CHECKING:
    from domain.commands import CancelReservation, CreateReservation, ExtendReservation
    from domain.models import Locker, LockerId, OwnerId
    from domain.principal import Principal
    from domain.times import Instant
    from loaders.backend import Backend
    from loaders.contract import Contract
    from loaders.items import Guard
    from loaders.table.client import Store
    from loaders.table.operations import KeyRange, Transact

__all__ = ["cancel_reservation", "create_reservation", "extend_reservation"]


@dataclass(frozen=True, slots=True)
class _Ledger:
    """What a reservation write must know of the locker before it looks at the reservations themselves."""

    guard: Guard | None
    pointer: Reservation | None
    claim: ReservationClaim | None
    locker: Locker | None
    owner_exists: bool


async def create_reservation(backend: Backend, command: CreateReservation, principal: Principal) -> Reservation:
    """Holds a locker for a window in which nobody else has it (QC-04)."""
    require(acts_for(principal, command.owner_id, Scope.RESERVATIONS_WRITE), ("input", "ownerId"))
    check_order(command.start_at, command.end_at, "endAt")
    reservation_id = command.reservation_id or ReservationId(backend.new_id())
    content = fingerprint(command, without="reservation_id")
    async for _ in attempts(QC_04.rounds):
        ledger = await _open(backend.store, QC_04, command.locker_id, reservation_id, command.owner_id)
        if ledger.claim is not None and ledger.claim.fingerprint == content:
            return await _claimed(backend.store, QC_04, ledger.claim)
        locker = _offered(ledger.locker, command, principal)
        if ledger.claim is not None:
            message = f"The id {reservation_id} was used before, for another reservation of this locker."
            raise IdTakenError(message, ("input", "reservationId"))
        _check_bookable(locker)
        if not ledger.owner_exists:
            raise MissingError(f"There is no owner {command.owner_id}.", ("input", "ownerId"))
        now = backend.clock()
        reservation = Reservation(
            reservation_id=reservation_id,
            locker_id=command.locker_id,
            owner_id=command.owner_id,
            start_at=command.start_at,
            end_at=command.end_at,
            status=ReservationStatus.ACTIVE,
            created_at=now,
            updated_at=now,
        )
        check_ahead(reservation.start_at, reservation.end_at, now, backend.longest_reservation, "endAt")
        try:
            in_the_way = await _in_the_way(backend, reservation, ledger.guard)
        except MovedError:
            continue
        if in_the_way is not None and in_the_way.reservation_id == reservation_id:
            continue  # the same request, sent twice, was faster: its claim is there by now
        if in_the_way is not None:
            raise OverlapError(in_the_way, ("input", "startAt"))
        try:
            await backend.store.transact(creating(reservation, content, ledger.guard, ledger.pointer, locker.owner_id))
        except TransactionRefusedError as refusal:
            _raise_unless_moved(refusal, reservation)
            continue
        return reservation
    raise _contended()


async def cancel_reservation(backend: Backend, command: CancelReservation, principal: Principal) -> Reservation:
    """Gives a reservation up; one that is cancelled already is answered as it is (QC-13)."""
    async for _ in attempts(QC_13.rounds):
        now = backend.clock()
        ledger, claim = await _open_existing(backend.store, command, principal)
        points_here = ledger.pointer is not None and ledger.pointer.reservation_id == command.reservation_id
        within = keys.locker_reservations(claim.locker_id, start=claim.start_at) if points_here else None
        try:
            reservation, ahead = await _with_what_follows(backend.store, claim, within, ledger.guard, now)
        except MovedError:
            continue
        _require_change(principal, reservation)
        if reservation.status is ReservationStatus.CANCELLED:
            return reservation
        if has_ended(reservation, now):
            raise ReservationOverError("The reservation has ended, so it cannot be cancelled.", reservation)
        cancelled = replace(reservation, status=ReservationStatus.CANCELLED, updated_at=now)
        becomes = ahead if points_here else ledger.pointer
        if await _changed(backend, changing(reservation, cancelled, ledger.guard, ledger.pointer, becomes)):
            return cancelled
    raise _contended()


async def extend_reservation(backend: Backend, command: ExtendReservation, principal: Principal) -> Reservation:
    """Moves a reservation's end further away; one that ends there already is answered as it is (QC-13)."""
    async for _ in attempts(QC_13.rounds):
        now = backend.clock()
        ledger, claim = await _open_existing(backend.store, command, principal)
        within = keys.reservations_starting(claim.locker_id, claim.start_at, max(claim.start_at, command.new_end_at))
        try:
            reservation, in_the_way = await _with_what_follows(backend.store, claim, within, ledger.guard, now)
        except MovedError:
            continue
        _require_change(principal, reservation)
        check_order(claim.start_at, command.new_end_at, "newEndAt")
        if reservation.end_at == command.new_end_at and reservation.status is ReservationStatus.ACTIVE:
            return reservation
        _check_extendable(reservation, command.new_end_at, now)
        check_ahead(reservation.start_at, command.new_end_at, now, backend.longest_reservation, "newEndAt")
        if in_the_way is not None:
            raise OverlapError(in_the_way, ("input", "newEndAt"))
        extended = replace(reservation, end_at=command.new_end_at, updated_at=now)
        # The pointer may have left this one already, by another clock or in the moment in which it ended.
        is_earliest = ledger.pointer is None or extended.start_at <= ledger.pointer.start_at
        becomes = extended if is_earliest else ledger.pointer
        if await _changed(backend, changing(reservation, extended, ledger.guard, ledger.pointer, becomes)):
            return extended
    raise _contended()


async def _open(
    store: Store,
    contract: Contract,
    locker_id: LockerId,
    reservation_id: ReservationId,
    owner_id: OwnerId | None = None,
) -> _Ledger:
    """Reads the guard before the reservations that it guards.

    What is read with it is held to that reading by the write's own conditions, but for the owner, whom nobody deletes.
    """
    guard, pointer = keys.reservation_guard(locker_id), keys.active_pointer(locker_id)
    claim, locker = keys.reservation_claim(locker_id, reservation_id), keys.locker(locker_id)
    wanted = [guard, pointer, claim]
    if owner_id is not None:
        wanted += [locker, keys.owner(owner_id)]
    found = await store.batch_get(contract.batch(wanted, consistent=True))
    return _Ledger(
        guard=GUARD.decode(found[guard]) if guard in found else None,
        pointer=ACTIVE_POINTER.decode(found[pointer]) if pointer in found else None,
        claim=RESERVATION_CLAIM.decode(found[claim]) if claim in found else None,
        locker=LOCKER.decode(found[locker]) if locker in found else None,
        owner_exists=wanted[-1] in found,
    )


async def _open_existing(
    store: Store, command: CancelReservation | ExtendReservation, principal: Principal
) -> tuple[_Ledger, ReservationClaim]:
    ledger = await _open(store, QC_13, command.locker_id, command.reservation_id)
    if ledger.claim is None:
        message = f"Locker {command.locker_id} has no reservation {command.reservation_id}."
        raise absent(principal, message, ("input", "reservationId"))
    return ledger, ledger.claim


def _require_change(principal: Principal, reservation: Reservation) -> None:
    require(acts_for(principal, reservation.owner_id, Scope.RESERVATIONS_WRITE), ("input", "reservationId"))


async def _with_what_follows(
    store: Store, claim: ReservationClaim, within: KeyRange | None, guard: Guard | None, now: Instant
) -> tuple[Reservation, Reservation | None]:
    """The claimed reservation and, read beside it, the first live one after it in a range."""
    if within is None:
        return await _claimed(store, QC_13, claim), None
    following = first_ahead(store, QC_13, within, guard, now, but=claim.reservation_id)
    return await asyncio.gather(_claimed(store, QC_13, claim), following)


async def _claimed(store: Store, contract: Contract, claim: ReservationClaim) -> Reservation:
    key = keys.reservation(claim.locker_id, claim.start_at, claim.reservation_id)
    async for _ in attempts(LOOKS_FOR_CLAIMED):  # the claim may be to be seen a moment before what it claims
        item = await store.get(contract.get(key, consistent=True))
        if item is not None:
            return RESERVATION.decode(item)
    raise DamagedItemError(f"a claim names {keys.masked(key)}, which does not exist")


def _offered(locker: Locker | None, command: CreateReservation, principal: Principal) -> Locker:
    path = ("input", "lockerId")
    if locker is None:
        raise absent(principal, f"There is no locker {command.locker_id}.", path)
    require(may_reserve(principal, locker.owner_id, command.owner_id), path)
    return locker


def _check_bookable(locker: Locker) -> None:
    if locker.status is LockerStatus.MAINTENANCE:
        raise LockerInMaintenanceError(f"Locker {locker.locker_id} is in maintenance.", ("input", "lockerId"))


async def _in_the_way(backend: Backend, wanted: Reservation, guard: Guard | None) -> Reservation | None:
    """A live reservation that shares a moment with the wanted one.

    Live reservations do not overlap each other, so the walk backwards ends at the first live one that starts no later
    than the window: whatever starts before it has ended before it.
    """
    earliest = shift(wanted.start_at, -backend.longest_reservation)
    within = keys.reservations_starting(wanted.locker_id, earliest, wanted.end_at)
    async for other in walk(backend.store, QC_04, within, guard, forward=False):
        if overlaps(other, wanted.start_at, wanted.end_at):
            return other
        if other.status is ReservationStatus.ACTIVE and other.start_at <= wanted.start_at:
            return None
    return None


async def _changed(backend: Backend, transaction: Transact) -> bool:
    """Whether the change was made; if not, somebody else was faster."""
    try:
        await backend.store.transact(transaction)
    except TransactionRefusedError:
        return False
    return True


def _raise_unless_moved(refusal: TransactionRefusedError, wanted: Reservation) -> None:
    # A locker that is refused is in maintenance by now, or somebody else's: reading it again tells.
    if refusal.failed.keys() & (MOVED | {"locker"}):
        return
    if "copy" in refusal.failed:
        message = f"The id {wanted.reservation_id} was used before, for the same start at another locker."
        raise IdTakenError(message, ("input", "reservationId")) from None


def _check_extendable(reservation: Reservation, new_end: Instant, now: Instant) -> None:
    if reservation.status is ReservationStatus.CANCELLED:
        raise ReservationOverError("The reservation was cancelled, so it cannot be extended.", reservation)
    if has_ended(reservation, now):
        raise ReservationOverError("The reservation has ended, so it cannot be extended.", reservation)
    if new_end < reservation.end_at:
        message = f"newEndAt must lie after the present end, {reservation.end_at}"
        raise BadInputError(message, ("input", "newEndAt"))


def _contended() -> UnavailableError:
    return UnavailableError("Too many changes met at this locker: try again in a moment.", ("input", "lockerId"))
