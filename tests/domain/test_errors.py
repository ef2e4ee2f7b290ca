"""Refusals: their codes and statuses are part of the API, so each is written down here once more."""

from __future__ import annotations

import pytest

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
from domain.models import (
    LocationId,
    LockerId,
    Owner,
    OwnerId,
    OwnerKind,
    Reservation,
    ReservationId,
    ReservationStatus,
)
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


CODES = [
    "BAD_USER_INPUT",
    "BOOKING_CLOSED",
    "CODE_TAKEN",
    "CONFLICT",
    "EMAIL_TAKEN",
    "FORBIDDEN",
    "ID_TAKEN",
    "INVALID_CURSOR",
    "INVALID_TRANSITION",
    "LOCATION_INACTIVE",
    "LOCKER_IN_MAINTENANCE",
    "NOT_FOUND",
    "QUERY_TOO_COMPLEX",
    "RESERVATION_OVER",
    "RESERVATION_OVERLAP",
    "SLOT_TAKEN",
    "UNAVAILABLE",
]


@pytest.mark.parametrize(
    ("error", "code", "status", "retryable"),
    [
        (errors.BadInputError, "BAD_USER_INPUT", 400, False),
        (errors.BadCursorError, "INVALID_CURSOR", 400, False),
        (errors.MissingError, "NOT_FOUND", 404, False),
        (errors.UnavailableError, "UNAVAILABLE", 503, True),
        (errors.VersionConflictError, "CONFLICT", 409, True),
        (errors.IdTakenError, "ID_TAKEN", 409, False),
        (errors.EmailTakenError, "EMAIL_TAKEN", 409, False),
        (errors.ForbiddenError, "FORBIDDEN", 403, False),
        (errors.CodeTakenError, "CODE_TAKEN", 409, False),
        (errors.LocationInactiveError, "LOCATION_INACTIVE", 409, False),
        (errors.SlotTakenError, "SLOT_TAKEN", 409, False),
        (errors.BookingClosedError, "BOOKING_CLOSED", 409, False),
        (errors.InvalidTransitionError, "INVALID_TRANSITION", 409, False),
        (errors.LockerInMaintenanceError, "LOCKER_IN_MAINTENANCE", 409, False),
        (errors.OverlapError, "RESERVATION_OVERLAP", 409, False),
        (errors.ReservationOverError, "RESERVATION_OVER", 409, False),
    ],
)
def test_a_refusal_has_the_contracts_code_and_status(
    error: type[errors.SmartLockerError],
    code: str,
    status: int,
    retryable: bool,  # noqa: FBT001
) -> None:
    assert (error.code, error.status, error.retryable) == (code, status, retryable)


def test_a_version_conflict_carries_what_is_there_now() -> None:
    current = Owner(
        owner_id=OwnerId("ada"),
        kind=OwnerKind.USER,
        name="Ada",
        email=None,
        created_at=NOW,
        updated_at=NOW,
        version=3,
    )
    conflict = VersionConflictError(current)
    assert conflict.current is current
    assert conflict.message == "The version is 3 by now: look at the current state and try again."
    assert conflict.path == ("input", "expectedVersion")


def test_an_overlap_carries_the_reservation_in_the_way() -> None:
    overlap = OverlapError(RESERVATION, ("input", "startAt"))
    assert overlap.reservation is RESERVATION
    assert overlap.message == "The locker is reserved from 2026-03-01T12:00:00.000Z to 2026-03-01T13:00:00.000Z."
    assert overlap.path == ("input", "startAt")


def test_a_reservation_that_is_over_is_carried_too() -> None:
    refusal = ReservationOverError("The reservation has ended.", RESERVATION)
    assert refusal.reservation is RESERVATION
    assert refusal.path == ("input", "reservationId")


def test_a_half_day_that_is_taken_says_by_what() -> None:
    slot = CalendarSlot(
        location_id=LocationId("rome"),
        date=Day("2026-03-10"),
        slot=DaySlot.AFTERNOON,
        event_id="e1",
        title="A fair",
        booking_id=None,
        created_by=OwnerId("root"),
        created_at=NOW,
    )
    refusal = SlotTakenError(slot, ("input", "date"))
    assert refusal.slot is slot
    assert refusal.message == "The afternoon of 2026-03-10 is taken by 'A fair'."
    assert refusal.path == ("input", "date")


def test_a_booking_that_is_closed_is_carried_and_so_is_one_with_another_version() -> None:
    booking = Booking(
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
        version=2,
    )
    refusal = BookingClosedError("The booking was rejected.", booking)
    assert refusal.booking is booking
    assert refusal.path == ("input", "bookingId")
    assert VersionConflictError(booking).current is booking


def test_every_refusal_is_written_down_here() -> None:
    named = {getattr(errors, name) for name in errors.__all__} - {
        errors.FaultError,
        errors.Problem,
        errors.SmartLockerError,
    }
    assert sorted(error.code for error in named) == sorted(CODES)


def test_a_bad_input_with_one_problem_is_that_problem() -> None:
    (problem,) = BadInputError("name is missing", ("input", "name")).problems
    assert (problem.message, problem.path) == ("name is missing", ("input", "name"))


def test_a_bad_input_with_several_problems_keeps_them_all() -> None:
    told = [Problem("a", ("input", "a")), Problem("b", ("input", "b"))]
    assert BadInputError("a", ("input", "a"), told).problems == tuple(told)
