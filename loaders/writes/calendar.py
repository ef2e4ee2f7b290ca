"""Writes of calendar events that an admin makes, and of payments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.bookings import CalendarSlot, Payment, slots_of
from domain.commands import fingerprint
from domain.errors import IdTakenError, MissingError
from domain.models import LocationStatus, OwnerRole
from domain.principal import may_decide_as, require
from loaders import keys
from loaders.contracts import QC_46, QC_49
from loaders.items import CALENDAR_CLAIM, CALENDAR_SLOT, PAYMENT, CalendarClaim
from loaders.table.errors import TransactionRefusedError
from loaders.writes.booking_steps import slots_for
from loaders.writes.bookings import check_admin, check_location, check_slots

if TYPE_CHECKING:
    from domain.booking_commands import CreateCalendarEvent, DeleteCalendarEvent, RecordPayment
    from domain.models import OwnerId
    from domain.principal import Principal
    from loaders.backend import Backend
    from loaders.table.operations import Transact

__all__ = [
    "create_calendar_event",
    "creating",
    "delete_calendar_event",
    "deleting",
    "paying",
    "record_payment",
]


async def create_calendar_event(
    backend: Backend, command: CreateCalendarEvent, principal: Principal
) -> list[CalendarSlot]:
    """Fills a day or half day without a booking (QC-49)."""
    require(may_decide_as(principal, command.admin_id), ("input", "adminId"))
    event_id = command.event_id or backend.new_id()
    claim = CalendarClaim(
        event_id=event_id,
        location_id=command.location_id,
        date=command.date,
        duration=command.duration,
        fingerprint=fingerprint(command, without="event_id"),
    )
    slots = [
        CalendarSlot(
            location_id=command.location_id,
            date=command.date,
            slot=slot,
            event_id=event_id,
            title=command.title,
            booking_id=None,
            created_by=command.admin_id,
            created_at=backend.clock(),
        )
        for slot in slots_of(command.duration)
    ]
    try:
        await backend.store.transact(creating(claim, slots))
    except TransactionRefusedError as refusal:
        existing = refusal.failed.get("claim")
        if existing is not None:
            return await _first_result(backend, CALENDAR_CLAIM.decode(existing), claim)
        check_admin(refusal)
        check_location(refusal, command.location_id)
        check_slots(refusal, ("input", "date"))
        raise
    return slots


async def delete_calendar_event(backend: Backend, command: DeleteCalendarEvent, principal: Principal) -> CalendarClaim:
    """Frees what an admin's event fills; one that is gone already is answered the same (QC-49)."""
    require(may_decide_as(principal, command.admin_id), ("input", "adminId"))
    key = keys.calendar_claim(command.location_id, command.event_id)
    item = await backend.store.get(QC_49.get(key, consistent=True))
    if item is None:
        message = f"Location {command.location_id} has no calendar event {command.event_id}."
        raise MissingError(message, ("input", "eventId"))
    claim = CALENDAR_CLAIM.decode(item)
    try:
        await backend.store.transact(deleting(claim, command.admin_id))
    except TransactionRefusedError as refusal:
        check_admin(refusal)  # what else is refused is not ours any more
    return claim


async def record_payment(backend: Backend, command: RecordPayment) -> Payment:
    """Writes down money received for a booking that exists (QC-46)."""
    now = backend.clock()
    payment = Payment(
        payment_id=command.payment_id or backend.new_id(),
        booking_id=command.booking_id,
        amount=command.amount,
        currency=command.currency,
        method=command.method,
        paid_at=command.paid_at or now,
        recorded_at=now,
    )
    content = fingerprint(command, without="payment_id")
    try:
        await backend.store.transact(paying(payment, content))
    except TransactionRefusedError as refusal:
        existing = refusal.failed.get("payment")
        if existing is None:
            raise MissingError(f"There is no booking {command.booking_id}.", ("input", "bookingId")) from None
        if existing.get("fingerprint") != content:
            message = f"The id {payment.payment_id} was used before, for another payment of this booking."
            raise IdTakenError(message, ("input", "paymentId")) from None
        return PAYMENT.decode(existing)
    return payment


def creating(claim: CalendarClaim, slots: list[CalendarSlot]) -> Transact:
    """The request that fills half days and claims the event's id."""
    return QC_49.transact(
        QC_49.step("claim", keys.calendar_claim(claim.location_id, claim.event_id), CALENDAR_CLAIM.encode(claim)),
        *slots_for(QC_49, slots),
        QC_49.step("admin", keys.owner(slots[0].created_by), admin=OwnerRole.ADMIN),
        QC_49.step("location", keys.location(claim.location_id), active=LocationStatus.ACTIVE),
    )


def deleting(claim: CalendarClaim, admin_id: OwnerId) -> Transact:
    """The request that frees the half days of an event."""
    return QC_49.transact(
        *(
            QC_49.step("freed slot", keys.calendar_slot(claim.location_id, claim.date, slot), eventId=claim.event_id)
            for slot in slots_of(claim.duration)
        ),
        QC_49.step("admin", keys.owner(admin_id), admin=OwnerRole.ADMIN),
    )


def paying(payment: Payment, content: str) -> Transact:
    """The request that writes a payment of a booking that exists."""
    return QC_46.transact(
        QC_46.step(
            "payment",
            keys.payment(payment.booking_id, payment.payment_id),
            PAYMENT.encode(payment) | {"fingerprint": content},
        ),
        QC_46.step("booking", keys.booking(payment.booking_id)),
    )


async def _first_result(backend: Backend, existing: CalendarClaim, wanted: CalendarClaim) -> list[CalendarSlot]:
    """The slots of an event that was created before, with the same content and not deleted since."""
    wanted_keys = [
        keys.calendar_slot(existing.location_id, existing.date, slot) for slot in slots_of(existing.duration)
    ]
    found = await backend.store.batch_get(QC_49.batch(wanted_keys, consistent=True))
    slots = [CALENDAR_SLOT.decode(found[key]) for key in wanted_keys if key in found]
    is_there = bool(slots) and all(slot.event_id == existing.event_id and slot.booking_id is None for slot in slots)
    if existing.fingerprint != wanted.fingerprint or not is_there:
        message = f"The id {wanted.event_id} was used before, for another event or one that was deleted."
        raise IdTakenError(message, ("input", "eventId"))
    return slots
