"""Codes and statuses of errors are part of the API, so they are listed here independently of the code."""

from __future__ import annotations

from domain import errors
from domain.bookings import Booking, BookingId, BookingStatus, CalendarSlot, DaySlot, Duration
from domain.errors import (
    BadInputError,
    BookingClosedError,
    OverlapError,
    Problem,
    ReservationOverError,
    SlotTakenError,
    VersionConflictError,
)
from domain.models import LocationId, LockerId, OwnerId, Reservation, ReservationId, ReservationStatus
from domain.times import Day, Instant

NOW = Instant("2026-03-01T12:00:00.000Z")
RESERVATION = Reservation(
    reservation_id=ReservationId("r1"),
    locker_id=LockerId("l1"),
    owner_id=OwnerId("ada"),
    start_at=NOW,
    end_at=Instant("2026-03-01T13:00:00.000Z"),
    status=ReservationStatus.ACTIVE,
    created_at=NOW,
    updated_at=NOW,
)
BOOKING = Booking(
    booking_id=BookingId("b1"),
    location_id=LocationId("rome"),
    owner_id=OwnerId("ada"),
    date=Day("2026-03-10"),
    duration=Duration.FULL_DAY,
    description="A fair",
    attendees=40,
    status=BookingStatus.REJECTED,
    requested_at=NOW,
    updated_at=NOW,
    decided_by=OwnerId("root"),
    reason="closed",
    version=3,
)
SLOT = CalendarSlot(
    location_id=LocationId("rome"),
    date=Day("2026-03-10"),
    slot=DaySlot.AFTERNOON,
    event_id="e1",
    title="A fair",
    booking_id=None,
    created_by=OwnerId("root"),
    created_at=NOW,
)
CODES = {
    "BadInputError": ("BAD_USER_INPUT", 400, False),
    "BookingClosedError": ("BOOKING_CLOSED", 409, False),
    "CodeTakenError": ("CODE_TAKEN", 409, False),
    "EmailTakenError": ("EMAIL_TAKEN", 409, False),
    "ForbiddenError": ("FORBIDDEN", 403, False),
    "IdTakenError": ("ID_TAKEN", 409, False),
    "InvalidCursorError": ("INVALID_CURSOR", 400, False),
    "InvalidTransitionError": ("INVALID_TRANSITION", 409, False),
    "LocationInactiveError": ("LOCATION_INACTIVE", 409, False),
    "LockerInMaintenanceError": ("LOCKER_IN_MAINTENANCE", 409, False),
    "NotFoundError": ("NOT_FOUND", 404, False),
    "OverlapError": ("RESERVATION_OVERLAP", 409, False),
    "QueryTooComplexError": ("QUERY_TOO_COMPLEX", 400, False),
    "ReservationOverError": ("RESERVATION_OVER", 409, False),
    "SlotTakenError": ("SLOT_TAKEN", 409, False),
    "UnavailableError": ("UNAVAILABLE", 503, True),
    "VersionConflictError": ("CONFLICT", 409, True),
}


def test_every_error_has_its_code_status_and_retryable_flag() -> None:
    classes = {name: getattr(errors, name) for name in errors.__all__}
    found = {
        name: (error.code, error.status, error.retryable) for name, error in classes.items() if hasattr(error, "code")
    }
    assert found == CODES
    assert set(classes) - set(found) == {"InternalError", "Problem", "SmartLockerError"}


def test_a_conflict_carries_what_it_conflicts_with_and_where() -> None:
    conflict = VersionConflictError(BOOKING)
    assert conflict.current is BOOKING
    assert conflict.message == "The current version is 3. Read the current state and retry with its version."
    assert conflict.path == ("input", "expectedVersion")

    overlap = OverlapError(RESERVATION, ("input", "startAt"))
    assert overlap.reservation is RESERVATION
    assert overlap.message == (
        "The locker is already reserved from 2026-03-01T12:00:00.000Z to 2026-03-01T13:00:00.000Z."
    )

    slot_taken = SlotTakenError(SLOT, ("input", "date"))
    assert slot_taken.slot is SLOT
    assert slot_taken.message == "The afternoon of 2026-03-10 is taken by 'A fair'."

    over = ReservationOverError("The reservation has ended.", RESERVATION)
    assert (over.reservation, over.path) == (RESERVATION, ("input", "reservationId"))

    closed = BookingClosedError("The booking was rejected.", BOOKING)
    assert (closed.booking, closed.path) == (BOOKING, ("input", "bookingId"))


def test_an_invalid_input_always_lists_its_problems() -> None:
    (problem,) = BadInputError("name is missing", ("input", "name")).problems
    assert (problem.message, problem.path) == ("name is missing", ("input", "name"))
    several = [Problem("a", ("input", "a")), Problem("b", ("input", "b"))]
    assert BadInputError("a", ("input", "a"), several).problems == tuple(several)
