"""Writes of reservations: two reservations of a locker that are not cancelled never overlap."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from domain.authorization import Scope, acts_for, may_reserve, not_found_or_forbidden, require
from domain.commands.base import fingerprint
from domain.errors import (
    BadInputError,
    IdTakenError,
    LockerInMaintenanceError,
    NotFoundError,
    OverlapError,
    ReservationOverError,
    UnavailableError,
)
from domain.models import LockerStatus, Reservation, ReservationId, ReservationStatus
from domain.schedule import check_end_after_start, check_reservation_window, has_ended, overlaps
from domain.times import EARLIEST, shift
from loaders import keys
from loaders.codecs import DamagedItemError, ReservationClaim
from loaders.contracts.cost import LOOKS_FOR_CLAIMED
from loaders.contracts.reservations import CHANGE_RESERVATION, CREATE_RESERVATION
from loaders.table.errors import TransactionRefusedError
from loaders.table.retry import attempts
from loaders.writes.reservation_steps import changing, creating
from loaders.writes.timeline import MOVED, MovedError, earliest_other, latest_before, may_have_old, pointer_after
from loaders.writes.upgrades import MOST_UPGRADES, upgrade_reservations

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from domain.authorization import Principal
    from domain.commands.reservations import CancelReservation, CreateReservation, ExtendReservation
    from domain.models import ActivePointer, Locker, LockerId
    from domain.times import Instant
    from loaders.backend import Backend
    from loaders.codecs import AnyClaim, Guard
    from loaders.contracts.writing import WriteContract
    from loaders.table.client import Store
    from loaders.table.operations import Transact

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ledger:
    """What a reservation write reads before the reservations themselves.

    The guard is read first: the conditions of the write cover everything that is read after it, except the owner, who
    is never deleted.
    """

    guard: Guard | None
    pointer: ActivePointer | None
    claim: ReservationClaim | None


class AlreadyReservedError(Exception):
    """Another request with the same id has reserved a locker already."""


async def create_reservation(
    backend: Backend, command: CreateReservation, principal: Principal, *, claim: AnyClaim | None = None
) -> Reservation:
    """Reserves a locker for a window that no other reservation overlaps (QC-04).

    Raises:
        AlreadyReservedError: where the claim of a request for any locker exists.
    """
    require(acts_for(principal, command.owner_id, Scope.RESERVATIONS_WRITE), ("input", "ownerId"))
    check_end_after_start(command.start_at, command.end_at, "endAt")
    reservation_id = command.reservation_id or ReservationId(backend.new_id())
    content = fingerprint(command, without="reservation_id")
    store, locker_id = backend.store, command.locker_id
    async for _ in attempts(CREATE_RESERVATION.rounds):
        read = await CREATE_RESERVATION.read_batch(
            store,
            guard=(locker_id,),
            pointer=(locker_id,),
            claim=(locker_id, reservation_id),
            locker=(locker_id,),
            owner=(command.owner_id,),
        )
        ledger = _Ledger(guard=read["guard"], pointer=read["pointer"], claim=read["claim"])
        if ledger.claim is not None and ledger.claim.fingerprint == content:
            return await _claimed(store, CREATE_RESERVATION, ledger.claim)
        locker = _offered(read["locker"], command, principal)
        if ledger.claim is not None:
            message = f"The id {reservation_id} was used before, for another reservation of this locker."
            raise IdTakenError(message, ("input", "reservationId"))
        _check_bookable(locker)
        if read["owner"] is None:
            raise NotFoundError(f"Owner {command.owner_id} does not exist.", ("input", "ownerId"))
        now = backend.clock()
        reservation = Reservation(
            reservation_id=reservation_id,
            locker_id=locker_id,
            owner_id=command.owner_id,
            start_at=command.start_at,
            end_at=command.end_at,
            status=ReservationStatus.ACTIVE,
            created_at=now,
            updated_at=now,
        )
        check_reservation_window(reservation.start_at, reservation.end_at, now, backend.longest_reservation, "endAt")
        if await _is_old(store, locker_id, ledger):
            await _upgrade(backend, CREATE_RESERVATION, locker_id, ledger.guard)
            continue
        try:
            latest, other = await _together(
                _latest_before(store, reservation, ledger),
                earliest_other(store, CREATE_RESERVATION, ledger.pointer, ledger.guard, reservation_id, now),
            )
        except MovedError:
            continue
        if latest is not None and overlaps(latest, reservation.start_at, reservation.end_at):
            if latest.reservation_id == reservation_id:
                continue  # the same request, sent twice, was faster: its claim is visible by now
            raise OverlapError(latest, ("input", "startAt"))
        becomes = pointer_after(ledger.pointer, reservation, other)
        try:
            await store.transact(creating(reservation, content, ledger.guard, ledger.pointer, becomes, locker, claim))
        except TransactionRefusedError as refusal:
            _raise_unless_moved(refusal, reservation)
            continue
        return reservation
    raise _contended()


async def cancel_reservation(backend: Backend, command: CancelReservation, principal: Principal) -> Reservation:
    """Cancels a reservation; one that is already cancelled is returned unchanged (QC-13)."""
    store = backend.store
    async for _ in attempts(CHANGE_RESERVATION.rounds):
        now = backend.clock()
        ledger = await _open_existing(store, command, principal)
        claim = ledger.claim
        if claim is None or may_have_old(ledger.guard):
            await _upgrade(backend, CHANGE_RESERVATION, command.locker_id, ledger.guard)
            continue
        try:
            reservation, other = await _together(
                _claimed(store, CHANGE_RESERVATION, claim),
                earliest_other(
                    store, CHANGE_RESERVATION, ledger.pointer, ledger.guard, claim.reservation_id, now, ends=True
                ),
            )
        except MovedError:
            continue
        _require_change(principal, reservation)
        if reservation.status is ReservationStatus.CANCELLED:
            return reservation
        if has_ended(reservation, now):
            raise ReservationOverError("The reservation has ended, so it cannot be cancelled.", reservation)
        cancelled = replace(reservation, status=ReservationStatus.CANCELLED, updated_at=now)
        becomes = pointer_after(ledger.pointer, cancelled, other)
        if await _changed(backend, changing(reservation, cancelled, ledger.guard, ledger.pointer, becomes)):
            return cancelled
    raise _contended()


async def extend_reservation(backend: Backend, command: ExtendReservation, principal: Principal) -> Reservation:
    """Moves the end of a reservation to a later time; one that already ends then is returned unchanged (QC-13)."""
    store = backend.store
    async for _ in attempts(CHANGE_RESERVATION.rounds):
        now = backend.clock()
        ledger = await _open_existing(store, command, principal)
        claim = ledger.claim
        if claim is None or may_have_old(ledger.guard):
            await _upgrade(backend, CHANGE_RESERVATION, command.locker_id, ledger.guard)
            continue
        own_id, end = claim.reservation_id, max(claim.start_at, command.new_end_at)
        try:
            reservation, (latest, other) = await _together(
                _claimed(store, CHANGE_RESERVATION, claim),
                _together(
                    latest_before(store, CHANGE_RESERVATION, claim.locker_id, end, ledger.guard),
                    earliest_other(store, CHANGE_RESERVATION, ledger.pointer, ledger.guard, own_id, now),
                ),
            )
        except MovedError:
            continue
        _require_change(principal, reservation)
        check_end_after_start(claim.start_at, command.new_end_at, "newEndAt")
        if reservation.end_at == command.new_end_at and reservation.status is ReservationStatus.ACTIVE:
            return reservation
        _check_extendable(reservation, command.new_end_at, now)
        check_reservation_window(reservation.start_at, command.new_end_at, now, backend.longest_reservation, "newEndAt")
        if latest is not None and latest.reservation_id != own_id and latest.start_at >= claim.start_at:
            raise OverlapError(latest, ("input", "newEndAt"))
        extended = replace(reservation, end_at=command.new_end_at, updated_at=now)
        becomes = pointer_after(ledger.pointer, extended, other)
        if await _changed(backend, changing(reservation, extended, ledger.guard, ledger.pointer, becomes)):
            return extended
    raise _contended()


async def _open_existing(store: Store, command: CancelReservation | ExtendReservation, principal: Principal) -> _Ledger:
    """What is known of a reservation that exists; it has no claim where it has an older form."""
    locker_id = command.locker_id
    read = await CHANGE_RESERVATION.read_batch(
        store, guard=(locker_id,), pointer=(locker_id,), claim=(locker_id, command.reservation_id)
    )
    ledger = _Ledger(guard=read["guard"], pointer=read["pointer"], claim=read["claim"])
    if ledger.claim is None:
        old = await _unclaimed(store, command) if may_have_old(ledger.guard) else None
        if old is None:
            message = f"Locker {locker_id} has no reservation {command.reservation_id}."
            raise not_found_or_forbidden(principal, message, ("input", "reservationId"))
        _require_change(principal, old)
    return ledger


async def _unclaimed(store: Store, command: CancelReservation | ExtendReservation) -> Reservation | None:
    whole = (command.locker_id, EARLIEST)
    async for _, stored in CHANGE_RESERVATION.read_range(store, "all", *whole):
        # Another write may have given it today's form meanwhile; then everything is read again.
        if stored.reservation.reservation_id == command.reservation_id:
            reservation: Reservation = stored.reservation
            return reservation
    return None


async def _upgrade(backend: Backend, contract: WriteContract, locker_id: LockerId, guard: Guard | None) -> None:
    """Brings reservations to today's form; where another write is faster, everything is read again."""
    now = backend.clock()
    since = shift(now, -backend.longest_reservation)
    with suppress(MovedError):
        await upgrade_reservations(backend.store, contract, locker_id, guard, now, most=MOST_UPGRADES, since=since)


async def _together(first: Coroutine[Any, Any, T], second: Coroutine[Any, Any, U]) -> tuple[T, U]:
    """Both results; where one fails, the other is cancelled."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = group.create_task(first), group.create_task(second)
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return tasks[0].result(), tasks[1].result()


def _require_change(principal: Principal, reservation: Reservation) -> None:
    require(acts_for(principal, reservation.owner_id, Scope.RESERVATIONS_WRITE), ("input", "reservationId"))


async def _claimed(store: Store, contract: WriteContract, claim: ReservationClaim) -> Reservation:
    place = (claim.locker_id, claim.start_at, claim.reservation_id)
    async for _ in attempts(LOOKS_FOR_CLAIMED):  # the claim may be visible before the reservation
        reservation: Reservation | None = await contract.read(store, "reservation", *place)
        if reservation is not None:
            return reservation
    raise DamagedItemError(f"a claim names {keys.masked(keys.reservation(*place))}, which does not exist")


def _offered(locker: Locker | None, command: CreateReservation, principal: Principal) -> Locker:
    path = ("input", "lockerId")
    if locker is None:
        raise not_found_or_forbidden(principal, f"Locker {command.locker_id} does not exist.", path)
    require(may_reserve(principal, locker.owner_id, locker.reservable_by, command.owner_id), path)
    return locker


def _check_bookable(locker: Locker) -> None:
    if locker.status is LockerStatus.MAINTENANCE:
        raise LockerInMaintenanceError(f"Locker {locker.locker_id} is in maintenance.", ("input", "lockerId"))


async def _is_old(store: Store, locker_id: LockerId, ledger: _Ledger) -> bool:
    """Whether reservations of the locker must be brought to today's form first; a new locker has none and no guard."""
    if ledger.guard is not None or ledger.pointer is not None:
        return may_have_old(ledger.guard)
    async for _ in CREATE_RESERVATION.read_range(store, "all", locker_id, EARLIEST):
        return True
    return False


async def _latest_before(store: Store, wanted: Reservation, ledger: _Ledger) -> Reservation | None:
    """The live reservation with the latest start before the end of the wanted one; a locker without a guard has none.

    Where it ends by the start of the wanted one, no other overlaps it.
    """
    if ledger.guard is None:
        return None
    return await latest_before(store, CREATE_RESERVATION, wanted.locker_id, wanted.end_at, ledger.guard)


async def _changed(backend: Backend, transaction: Transact) -> bool:
    """Whether the change was made; if not, a concurrent write was faster."""
    try:
        await backend.store.transact(transaction)
    except TransactionRefusedError:
        return False
    return True


def _raise_unless_moved(refusal: TransactionRefusedError, wanted: Reservation) -> None:
    # A locker whose check fails is in maintenance by now, has another owner, or is offered to others: reading it again
    # tells.
    if refusal.failed.keys() & (MOVED | {"locker"}):
        return
    if "any claim" in refusal.failed:
        raise AlreadyReservedError from None
    if "copy" in refusal.failed:
        message = f"The id {wanted.reservation_id} was used before, for the same start at another locker."
        raise IdTakenError(message, ("input", "reservationId")) from None


def _check_extendable(reservation: Reservation, new_end: Instant, now: Instant) -> None:
    if reservation.status is ReservationStatus.CANCELLED:
        raise ReservationOverError("The reservation was cancelled, so it cannot be extended.", reservation)
    if has_ended(reservation, now):
        raise ReservationOverError("The reservation has ended, so it cannot be extended.", reservation)
    if new_end < reservation.end_at:
        message = f"newEndAt must be after the current end, {reservation.end_at}"
        raise BadInputError(message, ("input", "newEndAt"))


def _contended() -> UnavailableError:
    return UnavailableError("Too many concurrent changes to this locker. Try again.", ("input", "lockerId"))
