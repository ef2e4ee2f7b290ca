"""Writes of reservations: two live reservations of a locker never overlap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from domain.activity import ActivityKind, Happening, reservation_happening
from domain.authorization import Principal, Scope, acts_for, is_admin, may_reserve, not_found_or_forbidden, require
from domain.changes import ChangeRequest, revised
from domain.commands.base import fingerprint
from domain.commands.reservations import (
    CancelReservation,
    CreateReservation,
    ExtendReservation,
    ReleaseReservation,
    ShortenReservation,
    StartReservation,
)
from domain.errors import (
    BadInputError,
    ForbiddenError,
    IdTakenError,
    NotFoundError,
    OverlapError,
    OwnerErasedError,
    ReferenceTakenError,
    ReservationNotStartedError,
    ReservationOverError,
    ReservationStartedError,
    TooManyReservationsError,
)
from domain.lifecycle import check_in_service
from domain.models import (
    Locker,
    LockerStatus,
    OwnerId,
    Reservation,
    ReservationId,
    ReservationParty,
    ReservationSlot,
    ReservationStatus,
    record_from,
)
from domain.schedule import (
    check_end_after_start,
    check_reservation_window,
    effective_status,
    free_slot,
    has_begun,
    occupies,
    overlaps,
)
from domain.times import Instant
from loaders import keys
from loaders.backend import Backend
from loaders.codecs import AnyClaim, ReservationClaim, StoredReservation
from loaders.concurrency import together
from loaders.contracts.reservations import CHANGE_RESERVATION, CREATE_RESERVATION, USE_RESERVATION
from loaders.contracts.writing import WriteContract
from loaders.conversion import DamagedItemError
from loaders.reads.claimed import claimed
from loaders.reads.live_reservations import MovedError
from loaders.table.client import Store
from loaders.table.errors import TransactionRefusedError
from loaders.writes.log import Log
from loaders.writes.optimistic import Decision, optimistic_write
from loaders.writes.reservation_steps import (
    change_steps,
    create_steps,
    details_of,
    end_notification,
    hashed,
    occupied,
    slot_of,
    slot_steps,
    use_steps,
)
from loaders.writes.timeline import MOVED, ReservationContext, earliest_other, latest_before, pointer_after

if TYPE_CHECKING:
    from loaders.table.operations import Step

_Change: TypeAlias = CancelReservation | ExtendReservation | ShortenReservation | StartReservation | ReleaseReservation

T = TypeVar("T")
U = TypeVar("U")

_LOCKER = ("locker", "lockerId")


class IdTakenByOwnerError(IdTakenError):
    """The owner has used the id itself: for any locker, or for the same start at another one. No locker is left."""

    def __init__(self, used_id: ReservationId, used_for: str) -> None:
        where = "reservationByReference finds it, if it has a reference"
        super().__init__(used_id, f"{used_for}; {where}", ("input", "reservationId"))


async def create_reservation(
    backend: Backend, command: CreateReservation, principal: Principal, *, claim: AnyClaim | None = None
) -> Reservation:
    """Reserves a locker for a window that no other reservation overlaps (QC-04).

    A request for any locker has a claim: its content decides whether a reservation with the same id is its own.
    """
    require(acts_for(principal, command.owner_id, Scope.RESERVATIONS_WRITE), ("input", "ownerId"))
    check_end_after_start(command.start_at, command.end_at, "endAt")
    _check_recipient(command)
    reservation_id = command.reservation_id or ReservationId(backend.new_id())
    content = fingerprint(command, without="reservation_id") if claim is None else claim.fingerprint
    store, locker_id = backend.store, command.locker_id
    most = backend.live_reservations_of.get(command.owner_id, backend.most_live_reservations)
    details = details_of(command, reservation_id, backend.retention.details)
    if details is not None and details.recipient is not None:
        details = hashed(details, backend.code_ring())

    async def decide(_: Counter[str]) -> Decision[Reservation]:
        read = await CREATE_RESERVATION.read_batch(
            store,
            guard=(locker_id,),
            pointer=(locker_id,),
            claim=(locker_id, reservation_id),
            locker=(locker_id,),
            owner=(command.owner_id,),
        )
        owner = read.pop("owner")
        context = ReservationContext(**read)
        if context.claim is not None and context.claim.fingerprint == content:
            return Decision((await _claimed(store, CREATE_RESERVATION, context.claim)).reservation)
        locker = _reservable_locker(context, command, principal)
        if owner is None:
            raise NotFoundError(f"Owner {command.owner_id} does not exist.", ("input", "ownerId"))
        if owner.erasure_requested_at is not None:
            raise OwnerErasedError(command.owner_id)
        now = backend.clock()
        live = ReservationStatus.ACTIVE
        reservation = record_from(
            Reservation, command, reservation_id=reservation_id, status=live, created_at=now, updated_at=now
        )
        check_reservation_window(reservation.start_at, reservation.end_at, now, backend.longest_reservation, "endAt")
        latest_start = None if context.is_empty else reservation.end_at
        latest, (other, slots) = await _together(
            latest_before(store, CREATE_RESERVATION, context, locker_id, latest_start),
            _together(
                earliest_other(store, CREATE_RESERVATION, context, locker_id, reservation_id, now, is_new=True),
                _slots(store, command.owner_id),
            ),
        )
        if latest is not None and overlaps(latest, reservation.start_at, reservation.end_at):
            if latest.reservation_id == reservation_id:
                raise MovedError  # the same request, sent twice, was faster: its claim is visible by now
            raise OverlapError(latest, ("input", "startAt"))
        slot = free_slot(slots, most, now, f"{locker_id} {reservation_id}")
        if slot is None:
            is_own = command.owner_id in backend.live_reservations_of
            raise TooManyReservationsError(most, f"SMARTLOCKER_{'' if is_own else 'MAX_'}LIVE_RESERVATIONS")
        steps = create_steps(
            reservation,
            content,
            context,
            pointer_after(context.pointer, reservation, other),
            slot=slot_of(reservation, slot),
            details=details,
            locker=locker,
            any_claim=claim,
        )
        created = reservation_happening(ActivityKind.RESERVATION_CREATED, reservation, locker)
        return Decision(reservation, steps, [created], partial(_raise_unless_moved, wanted=reservation))

    log = Log(backend, principal)
    return await optimistic_write(store, CREATE_RESERVATION, decide, log=log, changed=_LOCKER)


async def cancel_reservation(backend: Backend, command: CancelReservation, principal: Principal) -> Reservation:
    """Cancels a reservation before its start; one that is already canceled is returned unchanged (QC-13)."""

    def cancel(state: _State) -> dict[str, Any]:
        reservation, now = state.reservation, state.now
        if reservation.status is ReservationStatus.CANCELLED:
            return {}
        _check_reason(state, command.reason)
        _check_not_over(state, "canceled")
        if has_begun(reservation, now):
            message = "The reservation has started, so it cannot be canceled. Release it instead."
            raise ReservationStartedError(message, reservation)
        return _end_values(state, ReservationStatus.CANCELLED, command.reason)

    kind = ActivityKind.RESERVATION_CANCELLED
    return await _change(backend, CHANGE_RESERVATION, command, principal, kind, cancel, ends=True)


async def extend_reservation(backend: Backend, command: ExtendReservation, principal: Principal) -> Reservation:
    """Moves the end of a reservation to a later time; one that already ends then is returned unchanged (QC-13)."""

    def extend(state: _State) -> dict[str, Any]:
        reservation, latest = state.reservation, state.latest
        if command.new_end_at < reservation.end_at:
            message = f"newEndAt must be after the current end, {reservation.end_at}"
            raise BadInputError(message, ("input", "newEndAt"))
        if latest is not None and latest.start_at > reservation.start_at:
            raise OverlapError(latest, ("input", "newEndAt"))
        return {"end_at": command.new_end_at}

    return await _move_end(backend, command, principal, "extended", extend)


async def shorten_reservation(backend: Backend, command: ShortenReservation, principal: Principal) -> Reservation:
    """Moves the end of a reservation to an earlier time; one that already ends then is returned unchanged (QC-13)."""

    def shorten(state: _State) -> dict[str, Any]:
        if command.new_end_at > state.reservation.end_at:
            message = f"newEndAt must be before the current end, {state.reservation.end_at}"
            raise BadInputError(message, ("input", "newEndAt"))
        return {"end_at": command.new_end_at}

    return await _move_end(backend, command, principal, "shortened", shorten)


async def start_reservation(backend: Backend, command: StartReservation, principal: Principal) -> Reservation:
    """Checks in within the window, which makes the locker OCCUPIED; a repeated check-in changes nothing (QC-87)."""

    def start(state: _State) -> dict[str, Any]:
        reservation, now = state.reservation, state.now
        _require_own(state)
        if reservation.started_at is not None and reservation.status is ReservationStatus.ACTIVE:
            return {}
        _check_not_over(state, "started")
        if not has_begun(reservation, now):
            message = f"The reservation starts at {reservation.start_at}."
            raise ReservationNotStartedError(message, reservation)
        check_in_service(state.locker)
        return {"started_at": now}

    def occupy(state: _State, locker: Locker) -> Locker:
        return occupied(locker, state.reservation, state.now)

    kind = ActivityKind.RESERVATION_STARTED
    return await _change(backend, USE_RESERVATION, command, principal, kind, start, use=occupy)


async def release_reservation(backend: Backend, command: ReleaseReservation, principal: Principal) -> Reservation:
    """Ends a reservation now, and makes the locker that it occupies AVAILABLE (QC-87).

    A reservation that has ended can be released while it still occupies its locker.
    """

    def release(state: _State) -> dict[str, Any]:
        reservation, now = state.reservation, state.now
        if reservation.status is ReservationStatus.COMPLETED:
            return {}
        _check_reason(state, command.reason)
        if not occupies(reservation, state.locker):
            _check_not_over(state, "released")
        if not has_begun(reservation, now):
            message = "The reservation has not started, so it cannot be released. Cancel it instead."
            raise ReservationNotStartedError(message, reservation)
        return _end_values(state, ReservationStatus.COMPLETED, command.reason)

    def leave(state: _State, locker: Locker) -> Locker:
        if not occupies(state.reservation, locker):
            return locker
        return revised(locker, state.now, status=LockerStatus.AVAILABLE, occupied_by=None, overdue_since=None)

    kind = ActivityKind.RESERVATION_RELEASED
    return await _change(backend, USE_RESERVATION, command, principal, kind, release, ends=True, use=leave)


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    """The records that a change is decided on; `latest` is the live one with the latest start before a new end."""

    stored: StoredReservation
    locker: Locker
    party: ReservationParty
    latest: Reservation | None
    now: Instant

    @property
    def reservation(self) -> Reservation:
        return self.stored.reservation


async def _move_end(
    backend: Backend,
    command: ExtendReservation | ShortenReservation,
    principal: Principal,
    done: str,
    decide: Callable[[_State], dict[str, Any]],
) -> Reservation:
    new_end = command.new_end_at

    def move(state: _State) -> dict[str, Any]:
        reservation, now = state.reservation, state.now
        _require_own(state)
        check_end_after_start(reservation.start_at, new_end, "newEndAt")
        if reservation.end_at == new_end and reservation.status is ReservationStatus.ACTIVE:
            return {}
        _check_not_over(state, done)
        check_reservation_window(reservation.start_at, new_end, now, backend.longest_reservation, "newEndAt")
        return decide(state)

    kind = ActivityKind.RESERVATION_CHANGED
    return await _change(backend, CHANGE_RESERVATION, command, principal, kind, move, new_end=new_end)


async def _change(
    backend: Backend,
    contract: WriteContract,
    command: _Change,
    principal: Principal,
    kind: ActivityKind,
    decide: Callable[[_State], dict[str, Any]],
    *,
    ends: bool = False,
    new_end: Instant | None = None,
    use: Callable[[_State, Locker], Locker] = lambda _, locker: locker,
) -> Reservation:
    """Changes a reservation that exists to the values that `decide` returns, and its locker as `use` says.

    Everything is decided on what was read, and written on the condition that it is still so.
    """
    store = backend.store
    request = ChangeRequest.of(command, backend.new_id, principal.subject)

    async def decide_change(refused: Counter[str]) -> Decision[Reservation]:
        now = backend.clock()
        claim, context = await _read_existing(store, contract, command, principal)
        latest_start = None if new_end is None else max(new_end, claim.start_at)
        own = claim.reservation_id
        stored, (latest, other) = await _together(
            _claimed(store, contract, claim),
            _together(
                latest_before(store, contract, context, claim.locker_id, latest_start, own),
                earliest_other(store, contract, context, claim.locker_id, own, now, ends=ends),
            ),
        )
        locker = _existing_locker(context, claim)
        reservation = stored.reservation
        party = _party(principal, reservation, locker)
        if request.is_made(reservation):
            return Decision(reservation)
        request.check(reservation)
        state = _State(stored=stored, locker=locker, party=party, latest=latest, now=now)
        values = decide(state)
        if not values:
            return Decision(reservation)
        # The slot of a reservation that has ended by the clock of another server may have been taken.
        has_slot = not refused["free slot"] + refused["slot end"]
        if new_end is not None and not has_slot:
            raise ReservationOverError("The reservation has ended, so its end cannot be moved.", reservation)
        changed = request.apply(reservation, now, **values)
        steps = change_steps(contract, stored, changed, context, pointer_after(context.pointer, changed, other))
        steps += slot_steps(contract, stored, changed) if has_slot else []
        of_locker, used = _locker_steps(backend, contract, state, use(state, locker))
        steps += of_locker
        notice = end_notification(changed)
        if notice is not None:
            steps.append(contract.record_step("notification", notice))
        # One whose end was logged is not ended once more by its release.
        told = kind if stored.ended_as is None else ActivityKind.RESERVATION_CHANGED
        happening = reservation_happening(told, changed, locker, reservation, stored.location_id)
        return Decision(changed, steps, [happening, *used])

    log = Log(backend, principal)
    return await optimistic_write(store, contract, decide_change, log=log, changed=_LOCKER)


def _locker_steps(
    backend: Backend, contract: WriteContract, state: _State, changed: Locker
) -> tuple[list[Step], list[Happening]]:
    """The steps that change the locker with the reservation, or check its owner, who ends one of someone else."""
    locker = state.locker
    if changed != locker:
        return use_steps(contract, state.reservation, locker, changed, backend)
    if state.party is not ReservationParty.LOCKER_OWNER:
        return [], []
    return [contract.step("owned locker", (locker.locker_id,), readOwner=locker.owner_id)], []


def _party(principal: Principal, reservation: Reservation, locker: Locker) -> ReservationParty:
    """In which capacity the caller changes a reservation: as who made it, or as the owner of the locker."""
    if is_admin(principal):
        return ReservationParty.ADMIN
    if acts_for(principal, reservation.owner_id, Scope.RESERVATIONS_WRITE):
        return ReservationParty.OWNER
    require(acts_for(principal, locker.owner_id, Scope.RESERVATIONS_WRITE), ("input", "reservationId"))
    return ReservationParty.LOCKER_OWNER


def _require_own(state: _State) -> None:
    """Only who made a reservation may use it and move its end."""
    if state.party is ReservationParty.LOCKER_OWNER:
        message = "Only the owner who made the reservation may do this. You may cancel or release it, with a reason."
        raise ForbiddenError(message, ("input", "reservationId"))


def _check_reason(state: _State, reason: str | None) -> None:
    if reason is None and state.party is ReservationParty.LOCKER_OWNER:
        raise BadInputError("reason is required to end a reservation of another owner", ("input", "reason"))


def _end_values(state: _State, status: ReservationStatus, reason: str | None) -> dict[str, Any]:
    return {"status": status, "ended_at": state.now, "ended_by": state.party, "end_reason": reason}


def _check_not_over(state: _State, done: str) -> None:
    reservation = state.reservation
    match effective_status(reservation, state.now):
        case ReservationStatus.CANCELLED:
            why = "was canceled"
        case ReservationStatus.COMPLETED if reservation.status is ReservationStatus.COMPLETED:
            why = "was released"
        case ReservationStatus.UPCOMING | ReservationStatus.ACTIVE if state.stored.ended_as is None:
            return
        case _:
            why = "has ended"
    raise ReservationOverError(f"The reservation {why}, so it cannot be {done}.", reservation)


def _check_recipient(command: CreateReservation) -> None:
    recipient = command.recipient
    if recipient is not None and recipient.email is None and recipient.phone is None:
        raise BadInputError("recipient must have an email or a phone", ("input", "recipient"))


async def _slots(store: Store, owner_id: OwnerId) -> list[ReservationSlot]:
    return [slot async for _, slot in CREATE_RESERVATION.read_range(store, "slots", owner_id)]


def _existing_locker(context: ReservationContext, claim: ReservationClaim) -> Locker:
    if context.locker is None:
        raise DamagedItemError(f"a reservation names {keys.masked(keys.locker(claim.locker_id))}, which does not exist")
    return context.locker


async def _read_existing(
    store: Store, contract: WriteContract, command: _Change, principal: Principal
) -> tuple[ReservationClaim, ReservationContext]:
    locker_id = command.locker_id
    read = await contract.read_batch(
        store, guard=(locker_id,), pointer=(locker_id,), claim=(locker_id, command.reservation_id), locker=(locker_id,)
    )
    if read["claim"] is None:
        message = f"Locker {locker_id} has no reservation {command.reservation_id}."
        raise not_found_or_forbidden(principal, message, ("input", "reservationId"))
    if read["guard"] is None:
        raise MovedError((locker_id, 0))  # that of the first reservation is not visible yet
    return read["claim"], ReservationContext(**read)


async def _together(first: Coroutine[Any, Any, T], second: Coroutine[Any, Any, U]) -> tuple[T, U]:
    results: list[Any] = await together([first, second])
    return results[0], results[1]


async def _claimed(store: Store, contract: WriteContract, claim: ReservationClaim) -> StoredReservation:
    place = (claim.locker_id, claim.start_at, claim.reservation_id)
    return await claimed(keys.reservation(*place), lambda: contract.read(store, "reservation", *place))


def _reservable_locker(context: ReservationContext, command: CreateReservation, principal: Principal) -> Locker:
    """The locker, where the caller may reserve it and the id is not taken."""
    locker, path = context.locker, ("input", "lockerId")
    if locker is None:
        raise not_found_or_forbidden(principal, f"Locker {command.locker_id} does not exist.", path)
    require(may_reserve(principal, locker.owner_id, locker.reservable_by, command.owner_id), path)
    if context.claim is not None:
        raise IdTakenError(command.reservation_id, "another reservation of this locker", ("input", "reservationId"))
    check_in_service(locker)
    return locker


def _raise_unless_moved(refusal: TransactionRefusedError, wanted: Reservation) -> None:
    if "any claim" in refusal.failed:
        raise IdTakenByOwnerError(wanted.reservation_id, "a reservation by reserveAnyLocker") from None
    # A locker whose check fails is in maintenance by now, has another owner, or is offered to others, and a slot was
    # taken by another reservation at once: reading them again tells.
    if refusal.failed.keys() & (MOVED | {"locker", "slot"}):
        return
    if "reference" in refusal.failed:
        raise ReferenceTakenError from None
    if "copy" in refusal.failed:
        raise IdTakenByOwnerError(wanted.reservation_id, "the same start at another locker") from None
