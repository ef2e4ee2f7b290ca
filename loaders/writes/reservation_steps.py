"""The requests of the reservation writes: the guard, the reservation, its claims, copies and slot, and the pointer."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from domain.access_codes import CodeRing
from domain.activity import ActivityKind, Happening, door_happening, locker_happening
from domain.bookings import Notification
from domain.changes import revised
from domain.commands.base import fingerprint_of
from domain.commands.reservations import CreateReservation, Recipient
from domain.lifecycle import IN_SERVICE
from domain.models import (
    AccessAction,
    AccessEvent,
    AccessResult,
    ActivePointer,
    EventId,
    Locker,
    LockerStatus,
    RecipientReservation,
    Reservation,
    ReservationDetails,
    ReservationId,
    ReservationParty,
    ReservationSlot,
    ReservationStatus,
    contact_by,
    record_from,
)
from domain.retention import expiry
from domain.times import Instant
from loaders import keys
from loaders.backend import Backend
from loaders.codecs import AnyClaim, ReferenceClaim, ReservationClaim, StoredReservation
from loaders.contracts.reservations import CREATE_RESERVATION
from loaders.contracts.writing import WriteContract
from loaders.writes.lockers import change_steps as locker_steps
from loaders.writes.timeline import (
    ReservationContext,
    guard_after,
    guard_step,
    last_change_step,
    live_step,
    mark_as_read,
    next_revision,
    pointer_step,
)

if TYPE_CHECKING:
    from loaders.table.operations import Step


def create_steps(
    reservation: Reservation,
    content: str,
    context: ReservationContext,
    becomes: ActivePointer | None,
    *,
    slot: ReservationSlot,
    details: ReservationDetails | None,
    locker: Locker,
    any_claim: AnyClaim | None = None,
) -> list[Step]:
    contract, guard, locker_id = CREATE_RESERVATION, context.guard, reservation.locker_id
    until = None if details is None else details.expires_at
    stored = StoredReservation(
        reservation=reservation,
        revision=next_revision(guard),
        slot=slot.slot,
        location_id=locker.location_id,
        due_shard=keys.log_shard(locker.location_id or reservation.owner_id),
    )
    in_service: dict[str, Any] = {status.lower(): status for status in IN_SERVICE}
    steps = [
        guard_step(contract, locker_id, guard, guard_after(guard, reservation)),
        contract.record_step("reservation", stored),
        contract.record_step(
            "claim", record_from(ReservationClaim, reservation, fingerprint=content, details_until=until)
        ),
        contract.record_step("copy", reservation),
        live_step(contract, stored),
        pointer_step(contract, locker_id, context.pointer, becomes),
        contract.record_step("slot", slot, now=reservation.created_at),
        contract.step(
            "locker", (locker_id,), readOwner=locker.owner_id, readAudience=locker.reservable_by, **in_service
        ),
        *last_change_step(contract, locker_id, guard),
    ]
    if any_claim is not None:
        steps.append(contract.record_step("any claim", any_claim))
    if reservation.reference is not None:
        steps.append(contract.record_step("reference", record_from(ReferenceClaim, reservation)))
    if details is not None:
        steps.append(contract.record_step("details", details))
        steps += [contract.record_step("recipient", entry) for entry in recipient_entries(details)]
    return steps


def change_steps(
    contract: WriteContract,
    read: StoredReservation,
    changed: Reservation,
    context: ReservationContext,
    becomes: ActivePointer | None,
) -> list[Step]:
    """The steps that change a reservation and its copies, and the pointer with it."""
    before, guard = read.reservation, context.guard
    locker_id = before.locker_id
    return [
        guard_step(contract, locker_id, guard, guard_after(guard, changed)),
        contract.change_step(
            "reservation",
            before,
            changed,
            {"revision": next_revision(guard)},
            readStatus=before.status,
            readEnd=before.end_at,
            readVersion=before.version,
            readMark=mark_as_read(read),
        ),
        contract.record_step("reservation copy", changed),
        live_step(contract, replace(read, reservation=changed, revision=next_revision(guard))),
        pointer_step(contract, locker_id, context.pointer, becomes),
        *last_change_step(contract, locker_id, guard, but=before.reservation_id),
    ]


def slot_steps(contract: WriteContract, read: StoredReservation, changed: Reservation) -> list[Step]:
    """The step that frees the slot of a reservation, or moves its end; one migrated after its end has no slot."""
    if read.slot is None:
        return []
    place = (changed.owner_id, read.slot)
    own: dict[str, Any] = {"reservationId": changed.reservation_id, "lockerId": changed.locker_id}
    if changed.status is not ReservationStatus.ACTIVE:
        return [contract.step("free slot", place, **own)]
    if changed.end_at != read.reservation.end_at:
        return [contract.record_step("slot end", slot_of(changed, read.slot), **own)]
    return []


def slot_of(reservation: Reservation, slot: str) -> ReservationSlot:
    return record_from(ReservationSlot, reservation, slot=slot)


def claim_of(reservation: Reservation, details: ReservationDetails | None = None) -> ReservationClaim:
    """The claim on the id of a reservation, as if it had been created as it is."""
    known: dict[str, Any] = {}
    if details is not None:
        given = details.recipient
        known = {
            "metadata": details.metadata,
            "recipient": None if given is None else Recipient.model_construct(**asdict(given)),
        }
    content = fingerprint_of(CreateReservation, reservation, without="reservation_id", **known)
    return record_from(ReservationClaim, reservation, fingerprint=content)


def recipient_entries(details: ReservationDetails) -> list[RecipientReservation]:
    """The items by which the reservation is found by its recipient."""
    return [record_from(RecipientReservation, details, recipient_hash=one) for one in details.recipient_hashes]


def hashed(details: ReservationDetails, ring: CodeRing) -> ReservationDetails:
    """Details with the hashes of the recipient's contacts under the current key of the ring."""
    contacts = (contact_by(email=details.recipient_email), contact_by(phone=details.recipient_phone))
    hashes = tuple(ring.recipients(contact)[0] for contact in contacts if contact is not None)
    return replace(details, recipient_hashes=hashes)


def details_of(
    command: CreateReservation, reservation_id: ReservationId, kept: timedelta | None
) -> ReservationDetails | None:
    """Recipient and metadata, if the command has any of them; they expire so long after the start."""
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
        start_at=command.start_at,
        expires_at=expiry(command.start_at, kept),
    )


def end_notification(ended: Reservation) -> Notification | None:
    """Tells the owner who reserved that someone else ended the reservation, and why."""
    if ended.end_reason is None or ended.ended_at is None or ended.ended_by is ReservationParty.OWNER:
        return None
    done = "canceled" if ended.status is ReservationStatus.CANCELLED else "ended"
    return record_from(
        Notification,
        ended,
        notification_id=f"{ended.reservation_id}-{ended.status.lower()}",
        message=f"Your reservation of locker {ended.locker_id} from {ended.start_at} was {done}: {ended.end_reason}",
        created_at=ended.ended_at,
    )


def occupied(locker: Locker, started: Reservation, now: Instant) -> Locker:
    """A locker after the check-in of a reservation."""
    values = {"occupied_by": started.reservation_id, "overdue_since": None}
    return revised(locker, now, status=LockerStatus.OCCUPIED, **values)


def use_steps(
    contract: WriteContract, reservation: Reservation, locker: Locker, changed: Locker, backend: Backend
) -> tuple[list[Step], list[Happening]]:
    """The steps that change a locker with the reservation that uses it, and what they do.

    Where the reservation finds the locker still occupied by an ended one, an event records it.
    """
    steps = locker_steps(contract, locker, changed)
    happenings = [locker_happening(ActivityKind.LOCKER_STATUS_CHANGED, changed, locker)]
    if changed.occupied_by is not None and locker.occupied_by is not None:
        event = AccessEvent(
            event_id=EventId(backend.new_id()),
            locker_id=locker.locker_id,
            timestamp=changed.updated_at,
            recorded_at=changed.updated_at,
            action=AccessAction.OVERSTAY,
            actor_id=reservation.owner_id,
            result=AccessResult.SUCCESS,
            metadata={"overstayed": locker.occupied_by, "started": reservation.reservation_id},
            expires_at=expiry(changed.updated_at, backend.retention.events),
        )
        steps.append(contract.record_step("overstay", event))
        happenings.append(door_happening(ActivityKind.DOOR_OVERSTAYED, changed, event))
    reserver_id = None if reservation.owner_id == locker.owner_id else reservation.owner_id
    return steps, [replace(happening, reserver_id=reserver_id) for happening in happenings]
