"""The requests of the reservation writes: the guard, the reservation, its claims, copies and slot, and the pointer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from domain.bookings import Notification
from domain.commands.base import fingerprint
from domain.commands.reservations import CreateReservation
from domain.models import (
    AccessAction,
    AccessEvent,
    AccessResult,
    EventId,
    LockerStatus,
    ReservationDetails,
    ReservationSlot,
    ReservationStatus,
)
from loaders.codecs import (
    ACCESS_EVENT,
    ANY_CLAIM,
    NOTIFICATION,
    OWNER_RESERVATION,
    REFERENCE_CLAIM,
    RESERVATION,
    RESERVATION_CLAIM,
    RESERVATION_DETAILS,
    RESERVATION_SLOT,
    STORED_RESERVATION,
    ReferenceClaim,
    ReservationClaim,
    StoredReservation,
    difference,
)
from loaders.contracts.reservations import CREATE_RESERVATION
from loaders.writes.timeline import guard_after, guard_step, last_change_step, live_step, next_revision, pointer_step

if TYPE_CHECKING:
    from domain.models import (
        ActivePointer,
        Locker,
        Reservation,
        ReservationId,
    )
    from domain.times import Instant
    from loaders.codecs import AnyClaim, Guard
    from loaders.contracts.writing import WriteContract
    from loaders.table.operations import Step, Transact


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """What a reservation write reads before the reservations themselves.

    The guard is read first: the conditions of the write cover everything that is read after it, except the owner, who
    is never deleted.
    """

    guard: Guard | None
    pointer: ActivePointer | None
    claim: ReservationClaim | None
    locker: Locker | None


def creating(
    reservation: Reservation,
    content: str,
    ledger: Ledger,
    becomes: ActivePointer | None,
    *,
    slot: ReservationSlot,
    details: ReservationDetails | None,
    locker: Locker,
    any_claim: AnyClaim | None = None,
) -> Transact:
    """The request that creates a reservation, given what was read."""
    locker_id, reservation_id, start = reservation.locker_id, reservation.reservation_id, reservation.start_at
    contract, guard = CREATE_RESERVATION, ledger.guard
    claim = ReservationClaim(reservation_id=reservation_id, locker_id=locker_id, start_at=start, fingerprint=content)
    stored = StoredReservation(reservation=reservation, revision=next_revision(guard), slot=slot.slot)
    steps = [
        guard_step(contract, locker_id, guard, guard_after(guard, reservation)),
        contract.step("reservation", (locker_id, start, reservation_id), STORED_RESERVATION.encode(stored)),
        contract.step("claim", (locker_id, reservation_id), RESERVATION_CLAIM.encode(claim)),
        contract.step("copy", (reservation.owner_id, start, reservation_id), OWNER_RESERVATION.encode(reservation)),
        live_step(contract, reservation, guard),
        pointer_step(contract, locker_id, ledger.pointer, becomes),
        contract.step(
            "slot",
            (slot.owner_id, slot.slot),
            RESERVATION_SLOT.encode(slot),
            now=reservation.created_at,
        ),
        contract.step(
            "locker",
            (locker_id,),
            readOwner=locker.owner_id,
            readAudience=locker.reservable_by,
            maintenance=LockerStatus.MAINTENANCE,
        ),
        *last_change_step(contract, locker_id, guard),
        *any_claim_step(contract, any_claim),
    ]
    if reservation.reference is not None:
        reference = reference_claim(reservation, reservation.reference)
        place = (reservation.owner_id, reservation.reference)
        steps.append(contract.step("reference", place, REFERENCE_CLAIM.encode(reference)))
    if details is not None:
        steps.append(contract.step("details", (locker_id, reservation_id), RESERVATION_DETAILS.encode(details)))
    return contract.transact(*steps)


def any_claim_step(contract: WriteContract, claim: AnyClaim | None) -> list[Step]:
    """Claims the id of a request for any locker, if it is one."""
    if claim is None:
        return []
    return [contract.step("any claim", (claim.owner_id, claim.reservation_id), ANY_CLAIM.encode(claim))]


def changing(
    contract: WriteContract,
    read: StoredReservation,
    changed: Reservation,
    ledger: Ledger,
    becomes: ActivePointer | None,
) -> list[Step]:
    """The steps that change a reservation and its copies, and the pointer with it."""
    before, guard = read.reservation, ledger.guard
    locker_id, reservation_id, start = before.locker_id, before.reservation_id, before.start_at
    return [
        guard_step(contract, locker_id, guard, guard_after(guard, changed)),
        contract.step(
            "reservation",
            (locker_id, start, reservation_id),
            difference(RESERVATION.encode(before), RESERVATION.encode(changed)) | {"revision": next_revision(guard)},
            readStatus=before.status,
            readEnd=before.end_at,
            readVersion=before.version,
            readSlot=read.slot or "none",
        ),
        contract.step("reservation copy", (before.owner_id, start, reservation_id), OWNER_RESERVATION.encode(changed)),
        live_step(contract, changed, guard),
        pointer_step(contract, locker_id, ledger.pointer, becomes),
        *last_change_step(contract, locker_id, guard, but=reservation_id),
    ]


def slot_steps(contract: WriteContract, read: StoredReservation, changed: Reservation) -> list[Step]:
    """The step that frees the slot of a reservation, or moves its end; earlier versions took no slots."""
    if read.slot is None:
        return []
    place = (changed.owner_id, read.slot)
    own: dict[str, Any] = {"reservationId": changed.reservation_id, "lockerId": changed.locker_id}
    if changed.status is not ReservationStatus.ACTIVE:
        return [contract.step("free slot", place, **own)]
    if changed.end_at != read.reservation.end_at:
        return [contract.step("slot end", place, {"endAt": changed.end_at}, **own)]
    return []


def slot_of(reservation: Reservation, slot: str) -> ReservationSlot:
    """The slot that a reservation takes."""
    return ReservationSlot(
        owner_id=reservation.owner_id,
        slot=slot,
        locker_id=reservation.locker_id,
        reservation_id=reservation.reservation_id,
        start_at=reservation.start_at,
        end_at=reservation.end_at,
    )


def claim_of(reservation: Reservation) -> ReservationClaim:
    """The claim on the id of a reservation, as if it had been created as it is."""
    asked = {name: getattr(reservation, name) for name in ("locker_id", "owner_id", "start_at", "end_at", "reference")}
    return ReservationClaim(
        reservation_id=reservation.reservation_id,
        locker_id=reservation.locker_id,
        start_at=reservation.start_at,
        fingerprint=fingerprint(CreateReservation.model_construct(**asked), without="reservation_id"),
    )


def details_of(command: CreateReservation, reservation_id: ReservationId) -> ReservationDetails | None:
    """What only the owner who reserves sees, if the command has anything of it."""
    recipient = command.recipient
    if recipient is None and command.metadata is None:
        return None
    return ReservationDetails(
        locker_id=command.locker_id,
        reservation_id=reservation_id,
        recipient_name=None if recipient is None else recipient.name,
        recipient_email=None if recipient is None else recipient.email,
        recipient_phone=None if recipient is None else recipient.phone,
        metadata=command.metadata,
    )


def reference_claim(reservation: Reservation, reference: str) -> ReferenceClaim:
    """The claim on the reference of a reservation."""
    return ReferenceClaim(
        owner_id=reservation.owner_id,
        reference=reference,
        locker_id=reservation.locker_id,
        start_at=reservation.start_at,
        reservation_id=reservation.reservation_id,
    )


def notifying(contract: WriteContract, ended: Reservation, now: Instant) -> Step:
    """The step that tells the owner who reserved that someone else ended the reservation."""
    done = "cancelled" if ended.status is ReservationStatus.CANCELLED else "ended"
    notice = Notification(
        notification_id=f"{ended.reservation_id}-{ended.status.lower()}",
        owner_id=ended.owner_id,
        message=f"Your reservation of locker {ended.locker_id} from {ended.start_at} was {done}: {ended.end_reason}",
        created_at=now,
        locker_id=ended.locker_id,
        reservation_id=ended.reservation_id,
    )
    return contract.step(
        "notification", (notice.owner_id, notice.created_at, notice.notification_id), NOTIFICATION.encode(notice)
    )


def recording_overstay(
    contract: WriteContract, started: Reservation, overstayed: ReservationId, event_id: str, now: Instant
) -> Step:
    """The step that records that a reservation found the locker still occupied by an ended one."""
    event = AccessEvent(
        event_id=EventId(event_id),
        locker_id=started.locker_id,
        timestamp=now,
        recorded_at=now,
        action=AccessAction.OVERSTAY,
        actor_id=started.owner_id,
        result=AccessResult.SUCCESS,
        metadata={"overstayed": overstayed, "started": started.reservation_id},
    )
    return contract.step("overstay", (event.locker_id, now, event.event_id), ACCESS_EVENT.encode(event))
