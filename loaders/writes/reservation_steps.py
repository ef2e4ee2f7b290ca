"""The requests of the reservation writes: the guard, the reservation, its claim, its copy and the pointer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.models import LockerStatus
from loaders.codecs import ANY_CLAIM, OWNER_RESERVATION, RESERVATION, RESERVATION_CLAIM, ReservationClaim, difference
from loaders.contracts.reservations import CHANGE_RESERVATION, CREATE_RESERVATION
from loaders.writes.timeline import guard_after, guard_step, last_change_step, live_step, next_revision, pointer_step

if TYPE_CHECKING:
    from domain.models import ActivePointer, Locker, Reservation
    from loaders.codecs import AnyClaim, Guard
    from loaders.contracts.writing import WriteContract
    from loaders.table.operations import Step, Transact


def creating(
    reservation: Reservation,
    content: str,
    guard: Guard | None,
    pointer: ActivePointer | None,
    becomes: ActivePointer | None,
    locker: Locker,
    any_claim: AnyClaim | None = None,
) -> Transact:
    """The request that creates a reservation, given what was read of guard, pointer and locker."""
    locker_id, reservation_id, start = reservation.locker_id, reservation.reservation_id, reservation.start_at
    claim = ReservationClaim(reservation_id=reservation_id, locker_id=locker_id, start_at=start, fingerprint=content)
    contract = CREATE_RESERVATION
    return contract.transact(
        guard_step(contract, locker_id, guard, guard_after(guard, reservation)),
        contract.step(
            "reservation",
            (locker_id, start, reservation_id),
            RESERVATION.encode(reservation) | {"revision": next_revision(guard)},
        ),
        contract.step("claim", (locker_id, reservation_id), RESERVATION_CLAIM.encode(claim)),
        contract.step("copy", (reservation.owner_id, start, reservation_id), OWNER_RESERVATION.encode(reservation)),
        live_step(contract, reservation, guard),
        pointer_step(contract, locker_id, pointer, becomes),
        contract.step(
            "locker",
            (locker_id,),
            readOwner=locker.owner_id,
            readAudience=locker.reservable_by,
            maintenance=LockerStatus.MAINTENANCE,
        ),
        *last_change_step(contract, locker_id, guard),
        *any_claim_step(contract, any_claim),
    )


def any_claim_step(contract: WriteContract, claim: AnyClaim | None) -> list[Step]:
    """Claims the id of a request for any locker, if it is one."""
    if claim is None:
        return []
    return [contract.step("any claim", (claim.owner_id, claim.reservation_id), ANY_CLAIM.encode(claim))]


def changing(
    read: Reservation,
    changed: Reservation,
    guard: Guard | None,
    pointer: ActivePointer | None,
    becomes: ActivePointer | None,
) -> Transact:
    """The request that changes a reservation and its copy, and the pointer with it."""
    locker_id, reservation_id, start = read.locker_id, read.reservation_id, read.start_at
    contract = CHANGE_RESERVATION
    return contract.transact(
        guard_step(contract, locker_id, guard, guard_after(guard, changed)),
        contract.step(
            "reservation",
            (locker_id, start, reservation_id),
            difference(RESERVATION.encode(read), RESERVATION.encode(changed)) | {"revision": next_revision(guard)},
            readStatus=read.status,
            readEnd=read.end_at,
        ),
        contract.step("copy", (read.owner_id, start, reservation_id), OWNER_RESERVATION.encode(changed)),
        live_step(contract, changed, guard),
        pointer_step(contract, locker_id, pointer, becomes),
        *last_change_step(contract, locker_id, guard, but=reservation_id),
    )
