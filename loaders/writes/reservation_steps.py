"""What a write of a reservation sends: the guard, the reservation, its claim, its copy and the pointer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.models import LockerStatus
from loaders import keys
from loaders.contracts import QC_04, QC_13
from loaders.items import OWNER_RESERVATION, RESERVATION, RESERVATION_CLAIM, ReservationClaim, difference
from loaders.writes.timeline import guard_step, last_change_step, next_revision, pointer_step

if TYPE_CHECKING:
    from domain.models import OwnerId, Reservation
    from loaders.items import Guard
    from loaders.table.operations import Transact

__all__ = ["changing", "creating"]


def creating(
    reservation: Reservation, content: str, guard: Guard | None, pointer: Reservation | None, locker_owner: OwnerId
) -> Transact:
    """The request that creates a reservation, given what was read of guard, pointer and locker."""
    locker_id, reservation_id, start = reservation.locker_id, reservation.reservation_id, reservation.start_at
    # Nothing unended lies before what the pointer names, and nothing overlaps: the earlier start is the earlier one.
    becomes = reservation if pointer is None or start < pointer.start_at else pointer
    claim = ReservationClaim(reservation_id=reservation_id, locker_id=locker_id, start_at=start, fingerprint=content)
    return QC_04.transact(
        guard_step(QC_04, locker_id, guard, reservation),
        QC_04.step(
            "reservation",
            keys.reservation(locker_id, start, reservation_id),
            RESERVATION.encode(reservation) | {"revision": next_revision(guard)},
        ),
        QC_04.step("claim", keys.reservation_claim(locker_id, reservation_id), RESERVATION_CLAIM.encode(claim)),
        QC_04.step(
            "copy",
            keys.owner_reservation(reservation.owner_id, start, reservation_id),
            OWNER_RESERVATION.encode(reservation),
        ),
        pointer_step(QC_04, locker_id, pointer, becomes),
        QC_04.step("locker", keys.locker(locker_id), readOwner=locker_owner, maintenance=LockerStatus.MAINTENANCE),
        *last_change_step(QC_04, locker_id, guard),
    )


def changing(
    read: Reservation,
    changed: Reservation,
    guard: Guard | None,
    pointer: Reservation | None,
    becomes: Reservation | None,
) -> Transact:
    """The request that changes a reservation and its copy, and moves the pointer."""
    locker_id, reservation_id, start = read.locker_id, read.reservation_id, read.start_at
    return QC_13.transact(
        guard_step(QC_13, locker_id, guard, changed),
        QC_13.step(
            "reservation",
            keys.reservation(locker_id, start, reservation_id),
            difference(RESERVATION.encode(read), RESERVATION.encode(changed)) | {"revision": next_revision(guard)},
            readStatus=read.status,
            readEnd=read.end_at,
        ),
        QC_13.step(
            "copy",
            keys.owner_reservation(read.owner_id, start, reservation_id),
            OWNER_RESERVATION.encode(changed),
        ),
        pointer_step(QC_13, locker_id, pointer, becomes),
        *last_change_step(QC_13, locker_id, guard, but=read),
    )
