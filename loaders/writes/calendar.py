"""Writes of calendar events that administrators create, and of payments."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from domain.activity import ActivityKind, Happening, booking_happening
from domain.authorization import Principal, is_admin, require
from domain.bookings import Booking, CalendarSlot, Money, Payment, slots_in
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
from loaders.writes.log import Log
from loaders.writes.optimistic import created_before

if TYPE_CHECKING:
    from loaders.table.operations import Step


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
        happening = _calendar_happening(ActivityKind.CALENDAR_EVENT_CREATED, claim)
        await Log(backend, principal).transact(
            CHANGE_CALENDAR, create_steps(claim, slots, principal.owner_id), happening
        )
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
        steps = [*freed, *admin_step(CHANGE_CALENDAR, principal.owner_id)]
        happening = _calendar_happening(ActivityKind.CALENDAR_EVENT_DELETED, claim)
        await Log(backend, principal).transact(CHANGE_CALENDAR, steps, happening)
    except TransactionRefusedError as refusal:
        check_admin(refusal)  # any other failed condition means that the half days are free already
    return claim


async def record_payment(backend: Backend, command: RecordPayment, principal: Principal) -> Payment:
    """Records a payment for a booking, which is never deleted (QC-46)."""
    booking: Booking | None = await RECORD_PAYMENT.read(backend.store, "booking", command.booking_id)
    if booking is None:
        raise NotFoundError(f"Booking {command.booking_id} does not exist.", ("input", "bookingId"))
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
        happening = replace(
            booking_happening(ActivityKind.PAYMENT_RECORDED, booking), payment_id=payment.payment_id, version=None
        )
        await Log(backend, principal).transact(RECORD_PAYMENT, payment_steps(payment, content), happening)
    except TransactionRefusedError as refusal:
        taken = IdTakenError(payment.payment_id, "another payment of this booking", ("input", "paymentId"))
        first = created_before(refusal, "payment", PAYMENT, content, taken)
        if first is None:
            raise
        return first
    return payment


def create_steps(claim: CalendarClaim, slots: list[CalendarSlot], admin_id: OwnerId | None) -> list[Step]:
    """The steps that take half days and claim the event's id."""
    return [
        CHANGE_CALENDAR.record_step("claim", claim),
        *slots_for(CHANGE_CALENDAR, slots),
        *admin_step(CHANGE_CALENDAR, admin_id),
        CHANGE_CALENDAR.step("location", (claim.location_id,), active=LocationStatus.ACTIVE),
    ]


def payment_steps(payment: Payment, content: str) -> list[Step]:
    return [RECORD_PAYMENT.record_step("payment", payment, {"fingerprint": content})]


def _calendar_happening(kind: ActivityKind, claim: CalendarClaim) -> Happening:
    return Happening(kind=kind, location_id=claim.location_id, calendar_event_id=claim.event_id)


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
