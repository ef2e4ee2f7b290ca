"""An example of every contract of locations and bookings, in the form of `examples`."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from domain.booking_commands import (
    ApproveBooking,
    CreateCalendarEvent,
    DeactivateLocation,
    RecordPayment,
    RejectBooking,
    RequestBooking,
)
from domain.bookings import CalendarSlot, DaySlot, Duration
from domain.principal import DEVELOPMENT_ADMIN
from domain.times import Day
from loaders import keys, reads
from loaders.batch import open_loaders
from loaders.items import CALENDAR_SLOT
from loaders.writes.bookings import approve_booking, reject_booking, request_booking
from loaders.writes.calendar import create_calendar_event, record_payment
from loaders.writes.locations import deactivate_location
from tests.contracts.examples import (
    CODE,
    Example,
    large_location,
    list_example,
    make_location,
)
from tests.contracts.list_example import BOOKING, LOCATION, NAME, NOON, OWNER
from tests.contracts.place_lists import TEXT

if TYPE_CHECKING:
    from domain.models import Location
    from loaders.backend import Backend
    from tests.contracts.list_example import Seed

__all__ = [
    "DAY",
    "FIRST_DAY",
    "LAST_DAY",
    "PLACE_EXAMPLES",
    "approve_large",
    "large_booking",
    "large_rejected",
    "large_slots",
    "request_large",
]

DAY = Day("2026-03-02")
FIRST_DAY, LAST_DAY = Day("2026-01-01"), Day("2026-04-02")  # 92 days
AMOUNT = Decimal("12345678901234.5678")


async def request_large(backend: Backend) -> object:
    """A booking of a full day with the longest description."""
    command = RequestBooking(
        booking_id=BOOKING,
        location_id=LOCATION,
        owner_id=OWNER,
        date=DAY,
        duration=Duration.FULL_DAY,
        description=TEXT,
        attendees=99_999,
    )
    return await request_booking(backend, command, DEVELOPMENT_ADMIN)


async def large_booking(backend: Backend, _: object = None) -> None:
    """Such a booking at the largest location."""
    await large_location(backend)
    await request_large(backend)


async def _reject(backend: Backend) -> object:
    command = RejectBooking(booking_id=BOOKING, admin_id=OWNER, reason=TEXT, expected_version=1)
    return await reject_booking(backend, command, DEVELOPMENT_ADMIN)


async def approve_large(backend: Backend) -> object:
    """Lets such a booking into the calendar."""
    return await approve_booking(
        backend, ApproveBooking(booking_id=BOOKING, admin_id=OWNER, expected_version=1), DEVELOPMENT_ADMIN
    )


async def large_rejected(backend: Backend, _: object = None) -> None:
    """The largest booking that there can be: rejected, and the longest reason given."""
    await large_booking(backend)
    await _reject(backend)


async def _create_event(backend: Backend) -> object:
    command = CreateCalendarEvent(
        event_id="e" * 64,
        location_id=LOCATION,
        admin_id=OWNER,
        date=DAY,
        duration=Duration.FULL_DAY,
        title=NAME,
    )
    return await create_calendar_event(backend, command, DEVELOPMENT_ADMIN)


async def _pay(backend: Backend) -> object:
    command = RecordPayment(
        payment_id="p" * 64, booking_id=BOOKING, amount=AMOUNT, currency="EUR", method=NAME, paid_at=NOON
    )
    return await record_payment(backend, command)


async def _by_code(backend: Backend) -> Location | None:
    location_id = await reads.location_id_of(backend.store, CODE)
    assert location_id == LOCATION
    return await open_loaders(backend).location.load(location_id)


def large_slots(first: Day, count: int) -> list[Seed]:
    """Both halves of so many days, each by a booking of its own with the longest title."""
    days = [Day((date.fromisoformat(first) + timedelta(days=number)).isoformat()) for number in range(count)]
    return [
        (
            keys.calendar_slot(LOCATION, day, slot),
            CALENDAR_SLOT.encode(
                CalendarSlot(
                    location_id=LOCATION,
                    date=day,
                    slot=slot,
                    event_id=BOOKING,
                    title=NAME,
                    booking_id=BOOKING,
                    created_by=OWNER,
                    created_at=NOON,
                )
            ),
        )
        for day in days
        for slot in DaySlot
    ]


PLACE_EXAMPLES: dict[str, Example] = {
    "QC-30": Example(run=make_location, operations={"TransactWriteItems": 1}),
    "QC-31": Example(prepare=large_location, run=_by_code, operations={"GetItem": 2}),
    "QC-32": list_example("QC-32"),
    "QC-33": Example(
        prepare=large_location,
        run=lambda backend: deactivate_location(backend, DeactivateLocation(location_id=LOCATION, expected_version=1)),
        operations={"GetItem": 1, "TransactWriteItems": 1},
    ),
    "QC-34": list_example("QC-34"),
    "QC-40": Example(
        prepare=large_location, run=request_large, operations={"BatchGetItem": 1, "TransactWriteItems": 1}
    ),
    "QC-41": Example(
        prepare=large_rejected,
        run=lambda backend: open_loaders(backend).booking.load(BOOKING),
        operations={"GetItem": 1},
    ),
    "QC-42": list_example("QC-42"),
    "QC-43": Example(prepare=large_booking, run=_reject, operations={"GetItem": 1, "TransactWriteItems": 1}),
    "QC-44": Example(
        prepare=lambda _, seeds: seeds.put(large_slots(Day("2025-12-31"), 94)),
        run=lambda backend: reads.calendar(backend.store, LOCATION, FIRST_DAY, LAST_DAY),
        operations={"Query": 1},
    ),
    "QC-45": list_example("QC-45", queries=2),
    "QC-46": Example(prepare=large_rejected, run=_pay, operations={"TransactWriteItems": 1}),
    "QC-47": list_example("QC-47"),
    "QC-48": list_example("QC-48"),
    "QC-49": Example(prepare=large_location, run=_create_event, operations={"TransactWriteItems": 1}),
}
