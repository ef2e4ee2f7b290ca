"""Writes of calendar events that administrators create, and of payments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.authorization import Principal, is_admin, require
from domain.bookings import CalendarSlot, Money, Payment, slots_in
from domain.commands.base import fingerprint
from domain.commands.calendar import CreateCalendarEvent, DeleteCalendarEvent
from domain.commands.payments import RecordPayment
from domain.errors import IdTakenError, NotFoundError
from domain.models import LocationStatus, OwnerId, record_from
from loaders.backend import Backend
from loaders.codecs import CALENDAR_CLAIM, PAYMENT, CalendarClaim
from loaders.contracts.bookings import CHANGE_CALENDAR, RECORD_PAYMENT
from loaders.table.errors import TransactionRefusedError
from loaders.writes.booking_steps import admin_step, slots_for
from loaders.writes.bookings import check_admin, check_slots
from loaders.writes.locations import check_location
from loaders.writes.optimistic import created_before

if TYPE_CHECKING:
    from loaders.table.operations import Transact


async def create_calendar_event(backend: Backend, command: CreateCalendarEvent, principal: Principal) -> CalendarSlot:
    """Takes a day or half day without a booking (QC-49)."""
    require(is_admin(principal), ("input",))
    event_id = command.event_id or backend.new_id()
    content = fingerprint(command, without="event_id")
    claim = record_from(CalendarClaim, command, event_id=event_id, fingerprint=content)
    slots = [
        record_from(
            CalendarSlot,
            command,
            slot=slot,
            event_id=event_id,
            booking_id=None,
            created_by=principal.owner_id or principal.subject,
            created_at=backend.clock(),
        )
        for slot in slots_in(command.duration)
    ]
    try:
        await backend.store.transact(create_transaction(claim, slots, principal.owner_id))
    except TransactionRefusedError as refusal:
        existing = refusal.failed.get("claim")
        if existing is not None:
            return await _first_result(backend, CALENDAR_CLAIM.decode(existing), claim)
        check_admin(refusal)
        check_location(refusal, command.location_id)
        check_slots(refusal, ("input", "date"))
        raise
    return slots[0]


async def delete_calendar_event(backend: Backend, command: DeleteCalendarEvent, principal: Principal) -> CalendarClaim:
    """Frees the half days of an administrator's event; a deleted event gives the same result (QC-49)."""
    require(is_admin(principal), ("input",))
    claim: CalendarClaim | None = await CHANGE_CALENDAR.read(
        backend.store, "claim", command.location_id, command.event_id
    )
    if claim is None:
        message = f"Location {command.location_id} has no calendar event {command.event_id}."
        raise NotFoundError(message, ("input", "eventId"))
    try:
        freed = [
            CHANGE_CALENDAR.step("freed half day", (claim.location_id, claim.date, slot), eventId=claim.event_id)
            for slot in slots_in(claim.duration)
        ]
        await backend.store.transact(CHANGE_CALENDAR.transact(*freed, *admin_step(CHANGE_CALENDAR, principal.owner_id)))
    except TransactionRefusedError as refusal:
        check_admin(refusal)  # any other failed condition means that the half days are free already
    return claim


async def record_payment(backend: Backend, command: RecordPayment) -> Payment:
    now = backend.clock()
    payment = record_from(
        Payment,
        command,
        payment_id=command.payment_id or backend.new_id(),
        amount=record_from(Money, command.amount),
        paid_at=command.paid_at or now,
        recorded_at=now,
    )
    content = fingerprint(command, without="payment_id")
    try:
        await backend.store.transact(payment_transaction(payment, content))
    except TransactionRefusedError as refusal:
        taken = IdTakenError(payment.payment_id, "another payment of this booking", ("input", "paymentId"))
        first = created_before(refusal, "payment", PAYMENT, content, taken)
        if first is None:
            raise NotFoundError(f"Booking {command.booking_id} does not exist.", ("input", "bookingId")) from None
        return first
    return payment


def create_transaction(claim: CalendarClaim, slots: list[CalendarSlot], admin_id: OwnerId | None) -> Transact:
    """The request that takes half days and claims the event's id."""
    return CHANGE_CALENDAR.transact(
        CHANGE_CALENDAR.record_step("claim", claim),
        *slots_for(CHANGE_CALENDAR, slots),
        *admin_step(CHANGE_CALENDAR, admin_id),
        CHANGE_CALENDAR.step("location", (claim.location_id,), active=LocationStatus.ACTIVE),
    )


def payment_transaction(payment: Payment, content: str) -> Transact:
    return RECORD_PAYMENT.transact(
        RECORD_PAYMENT.record_step("payment", payment, {"fingerprint": content}),
        RECORD_PAYMENT.step("booking", (payment.booking_id,)),
    )


async def _first_result(backend: Backend, existing: CalendarClaim, wanted: CalendarClaim) -> CalendarSlot:
    """The first half day of an event that was created before with the same content and is not deleted."""
    taken: list[CalendarSlot | None] = await CHANGE_CALENDAR.read_many(
        backend.store, "half day", [(existing.location_id, existing.date, slot) for slot in slots_in(existing.duration)]
    )
    slots = [slot for slot in taken if slot is not None]
    is_there = bool(slots) and all(slot.event_id == existing.event_id and slot.booking_id is None for slot in slots)
    if existing.fingerprint != wanted.fingerprint or not is_there:
        raise IdTakenError(wanted.event_id, "another event or one that was deleted", ("input", "eventId"))
    return slots[0]
