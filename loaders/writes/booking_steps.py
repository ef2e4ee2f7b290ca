"""What a write of a booking sends: the booking, its copy, its half days and what its owner is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain.bookings import Booking, BookingStatus, CalendarSlot, Notification, slots_of
from domain.models import LocationStatus, OwnerId, OwnerRole
from loaders import keys
from loaders.contracts import QC_40, QC_43
from loaders.items import BOOKING, CALENDAR_SLOT, NOTIFICATION, OWNER_BOOKING, difference

if TYPE_CHECKING:
    from loaders.contract import WriteContract
    from loaders.table.operations import Step, Transact

__all__ = [
    "approving",
    "booking_item",
    "cancelling",
    "notification_of",
    "rejecting",
    "requesting",
    "slots_for",
    "slots_of_booking",
]


def requesting(booking: Booking, content: str) -> Transact:
    """The request that writes a new booking, in the index of the pending ones."""
    return QC_40.transact(
        QC_40.step("booking", keys.booking(booking.booking_id), booking_item(booking, content)),
        QC_40.step(
            "copy",
            keys.owner_booking(booking.owner_id, booking.date, booking.booking_id),
            OWNER_BOOKING.encode(booking),
        ),
        QC_40.step("owner", keys.owner(booking.owner_id)),
        QC_40.step("location", keys.location(booking.location_id), active=LocationStatus.ACTIVE),
    )


def approving(booking: Booking, approved: Booking) -> Transact:
    """The request that lets a booking into the calendar."""
    return QC_43.transact(
        *_booking_steps(booking, approved),
        *slots_for(QC_43, slots_of_booking(approved)),
        *_telling(approved),
        QC_43.step("location", keys.location(booking.location_id), active=LocationStatus.ACTIVE),
    )


def rejecting(booking: Booking, rejected: Booking) -> Transact:
    """The request that turns a booking down."""
    return QC_43.transact(*_booking_steps(booking, rejected), *_telling(rejected))


def cancelling(booking: Booking, cancelled: Booking) -> Transact:
    """The request that gives a booking up and frees its half days."""
    freed = slots_of_booking(booking) if booking.status is BookingStatus.APPROVED else []
    return QC_43.transact(
        *_booking_steps(booking, cancelled),
        *(
            QC_43.step(
                "freed slot",
                keys.calendar_slot(slot.location_id, slot.date, slot.slot),
                bookingId=booking.booking_id,
            )
            for slot in freed
        ),
    )


def booking_item(booking: Booking, content: str) -> dict[str, Any]:
    """The attributes of a new booking."""
    return _indexed(booking) | {"fingerprint": content}


def slots_of_booking(booking: Booking) -> list[CalendarSlot]:
    """The half days that an approved booking takes."""
    return [
        CalendarSlot(
            location_id=booking.location_id,
            date=booking.date,
            slot=slot,
            event_id=booking.booking_id,
            title=booking.description.splitlines()[0][:200],
            booking_id=booking.booking_id,
            created_by=booking.decided_by or booking.owner_id,
            created_at=booking.updated_at,
        )
        for slot in slots_of(booking.duration)
    ]


def slots_for(contract: WriteContract, slots: list[CalendarSlot]) -> list[Step]:
    """The steps that fill half days which nothing takes."""
    return [
        contract.step("slot", keys.calendar_slot(slot.location_id, slot.date, slot.slot), CALENDAR_SLOT.encode(slot))
        for slot in slots
    ]


def notification_of(booking: Booking) -> Notification:
    """What the owner is told of a decision."""
    because = f": {booking.reason}" if booking.reason else ""
    return Notification(
        notification_id=f"{booking.booking_id}-{booking.status.lower()}",
        owner_id=booking.owner_id,
        booking_id=booking.booking_id,
        booking_status=booking.status,
        message=f"Your booking for {booking.date} was {booking.status.lower()}{because}",
        created_at=booking.updated_at,
    )


def _booking_steps(booking: Booking, changed: Booking) -> tuple[Step, Step]:
    return (
        QC_43.step(
            "booking",
            keys.booking(booking.booking_id),
            difference(_indexed(booking), _indexed(changed)),
            expectedVersion=booking.version,
            readStatus=booking.status,
        ),
        QC_43.step(
            "copy",
            keys.owner_booking(booking.owner_id, booking.date, booking.booking_id),
            OWNER_BOOKING.encode(changed),
        ),
    )


def _telling(decided: Booking) -> tuple[Step, Step]:
    notice = notification_of(decided)
    key = keys.notification(notice.owner_id, notice.created_at, notice.notification_id)
    admin = keys.owner(OwnerId(str(decided.decided_by)))
    return (
        QC_43.step("notification", key, NOTIFICATION.encode(notice)),
        QC_43.step("admin", admin, admin=OwnerRole.ADMIN),
    )


def _indexed(booking: Booking) -> dict[str, Any]:
    is_pending = booking.status is BookingStatus.PENDING
    index = keys.pending_index(booking.requested_at, booking.booking_id) if is_pending else {}
    return BOOKING.encode(booking) | index
