"""The requests of the booking writes: the booking, its copy, its half days and the notification of its owner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.bookings import Booking, BookingStatus, CalendarSlot, Notification, slots_in
from domain.models import LocationStatus, OwnerId, OwnerRole, record_from
from loaders.contracts.bookings import DECIDE_BOOKING, REQUEST_BOOKING
from loaders.contracts.writing import WriteContract

if TYPE_CHECKING:
    from loaders.table.operations import Step


def request_steps(booking: Booking, content: str, most_pending: int) -> list[Step]:
    """The steps that create a booking, with its place in the index of pending bookings."""
    return [
        REQUEST_BOOKING.record_step("booking", booking, {"fingerprint": content}),
        REQUEST_BOOKING.record_step("copy", booking),
        REQUEST_BOOKING.step("owner", (booking.owner_id,)),
        REQUEST_BOOKING.step("location", (booking.location_id,), active=LocationStatus.ACTIVE),
        REQUEST_BOOKING.step(
            "pending",
            (booking.owner_id,),
            {"entityType": "PENDING_BOOKINGS", "ownerId": booking.owner_id},
            added={"pendingBookings": 1},
            most=most_pending,
        ),
    ]


def decision_steps(booking: Booking, decided: Booking, *, counted: bool) -> list[Step]:
    """The steps that reject a booking, or approve it and take its half days in the calendar."""
    steps = [
        *_booking_steps(booking, decided, counted=counted),
        DECIDE_BOOKING.record_step("notification", notification_of(decided)),
        *admin_step(DECIDE_BOOKING, decided.decided_by),
    ]
    if decided.status is BookingStatus.REJECTED:
        return steps
    location = DECIDE_BOOKING.step("location", (booking.location_id,), active=LocationStatus.ACTIVE)
    return [*steps, *slots_for(DECIDE_BOOKING, slots_of_booking(decided)), location]


def cancel_steps(booking: Booking, canceled: Booking, *, counted: bool) -> list[Step]:
    freed = slots_of_booking(booking) if booking.status is BookingStatus.APPROVED else []
    return [
        *_booking_steps(booking, canceled, counted=counted),
        *(
            DECIDE_BOOKING.step(
                "freed half day", (slot.location_id, slot.date, slot.slot), bookingId=booking.booking_id
            )
            for slot in freed
        ),
    ]


def slots_of_booking(booking: Booking) -> list[CalendarSlot]:
    return [
        record_from(
            CalendarSlot,
            booking,
            slot=slot,
            event_id=booking.booking_id,
            title=booking.description.splitlines()[0][:200],
            created_by=booking.decided_by or booking.decided_by_subject or booking.owner_id,
            created_at=booking.updated_at,
        )
        for slot in slots_in(booking.duration)
    ]


def slots_for(contract: WriteContract, slots: list[CalendarSlot]) -> list[Step]:
    return [contract.record_step("half day", slot) for slot in slots]


def notification_of(booking: Booking) -> Notification:
    """The notification of the owner about a decision."""
    because = f": {booking.reason}" if booking.reason else ""
    return Notification(
        notification_id=f"{booking.booking_id}-{booking.status.lower()}",
        owner_id=booking.owner_id,
        booking_id=booking.booking_id,
        booking_status=booking.status,
        message=f"Your booking for {booking.date} was {booking.status.lower()}{because}",
        created_at=booking.updated_at,
    )


def _booking_steps(booking: Booking, changed: Booking, *, counted: bool) -> list[Step]:
    steps = [
        DECIDE_BOOKING.change_step(
            "booking", booking, changed, expectedVersion=booking.version, readStatus=booking.status
        ),
        DECIDE_BOOKING.record_step("copy", changed),
    ]
    if counted and booking.is_pending:
        owner = {"ownerId": booking.owner_id}
        steps.append(DECIDE_BOOKING.step("pending", (booking.owner_id,), owner, added={"pendingBookings": -1}, none=0))
    return steps


def admin_step(contract: WriteContract, admin_id: OwnerId | None) -> list[Step]:
    return [] if admin_id is None else [contract.step("admin", (admin_id,), admin=OwnerRole.ADMIN)]
