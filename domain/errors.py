"""Everything that can be refused: one tree, each class with a stable code and the contract's status."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from domain.bookings import Booking, CalendarSlot
    from domain.models import Location, Locker, LockerStatus, Owner, Reservation

__all__ = [
    "BadCursorError",
    "BadInputError",
    "BookingClosedError",
    "CodeTakenError",
    "EmailTakenError",
    "FaultError",
    "ForbiddenError",
    "IdTakenError",
    "InvalidTransitionError",
    "LocationInactiveError",
    "LockerInMaintenanceError",
    "MissingError",
    "OverlapError",
    "Problem",
    "ReservationOverError",
    "SlotTakenError",
    "SmartLockerError",
    "TooComplexError",
    "UnavailableError",
    "VersionConflictError",
]


class SmartLockerError(Exception):
    """A refusal that a client may read: its code, status and message are part of the API."""

    code: ClassVar[str]
    status: ClassVar[int]
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, path: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.path = tuple(path)


class FaultError(Exception):
    """A fault of ours or of the store's, of which no client reads more than that there was one."""

    @property
    def log_text(self) -> str:
        """What the log may have of it: nothing that a client sent."""
        return str(self)


class Problem:
    """One thing that is wrong with an input, and where."""

    __slots__ = ("message", "path")

    def __init__(self, message: str, path: Sequence[str]) -> None:
        self.message = message
        self.path = tuple(path)


class BadInputError(SmartLockerError):
    """The input breaks a rule; `problems` names each place."""

    code = "BAD_USER_INPUT"
    status = 400

    def __init__(self, message: str, path: Sequence[str] = (), problems: Sequence[Problem] = ()) -> None:
        super().__init__(message, path)
        self.problems = tuple(problems) or (Problem(message, path),)


class BadCursorError(SmartLockerError):
    """The cursor was not made by this list."""

    code = "INVALID_CURSOR"
    status = 400


class TooComplexError(SmartLockerError):
    """The document could take more of the store than one request may; `details` says what, for programs."""

    code = "QUERY_TOO_COMPLEX"
    status = 400

    def __init__(self, message: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.details = details or {}


class MissingError(SmartLockerError):
    """The thing does not exist."""

    code = "NOT_FOUND"
    status = 404


class UnavailableError(SmartLockerError):
    """The store did not answer in time, or too many writers met: the same request may succeed later."""

    code = "UNAVAILABLE"
    status = 503
    retryable = True
    retry_after_seconds = 1


class ConflictError(SmartLockerError):
    """The present state does not allow the change."""

    code = "CONFLICT"
    status = 409


class VersionConflictError(ConflictError):
    """Somebody else changed the entity first; `current` is what it is now."""

    retryable = True

    def __init__(self, current: Locker | Owner | Location | Booking) -> None:
        super().__init__(
            f"The version is {current.version} by now: look at the current state and try again.",
            ("input", "expectedVersion"),
        )
        self.current = current


class IdTakenError(ConflictError):
    """The id was used before, with other content."""

    code = "ID_TAKEN"


class ForbiddenError(SmartLockerError):
    """Whoever asks may not do this."""

    code = "FORBIDDEN"
    status = 403

    def __init__(self, message: str = "You may not use this, or it does not exist.", path: Sequence[str] = ()) -> None:
        super().__init__(message, path)


class CodeTakenError(ConflictError):
    """Another location has, or had, this code."""

    code = "CODE_TAKEN"


class LocationInactiveError(ConflictError):
    """An inactive location takes nothing new."""

    code = "LOCATION_INACTIVE"


class SlotTakenError(ConflictError):
    """Something else is in the calendar; `slot` is it."""

    code = "SLOT_TAKEN"

    def __init__(self, slot: CalendarSlot, path: Sequence[str]) -> None:
        super().__init__(f"The {slot.slot.lower()} of {slot.date} is taken by {slot.title!r}.", path)
        self.slot = slot


class BookingClosedError(ConflictError):
    """The booking was decided, cancelled or is over, so this cannot be done to it any more."""

    code = "BOOKING_CLOSED"

    def __init__(self, message: str, booking: Booking) -> None:
        super().__init__(message, ("input", "bookingId"))
        self.booking = booking


class EmailTakenError(ConflictError):
    """Another owner has this e-mail address."""

    code = "EMAIL_TAKEN"


class InvalidTransitionError(ConflictError):
    """The locker's state machine has no such step."""

    code = "INVALID_TRANSITION"

    def __init__(self, locker: Locker, wanted: LockerStatus, allowed: Sequence[LockerStatus]) -> None:
        super().__init__(
            f"A locker cannot go from {locker.status} to {wanted}; from here it may go to {' or '.join(allowed)}.",
            ("input", "newStatus"),
        )
        self.locker = locker
        self.allowed = tuple(allowed)


class LockerInMaintenanceError(ConflictError):
    """A locker in maintenance takes no new reservation."""

    code = "LOCKER_IN_MAINTENANCE"


class OverlapError(ConflictError):
    """Another live reservation is in the way."""

    code = "RESERVATION_OVERLAP"

    def __init__(self, reservation: Reservation, path: Sequence[str]) -> None:
        super().__init__(f"The locker is reserved from {reservation.start_at} to {reservation.end_at}.", path)
        self.reservation = reservation


class ReservationOverError(ConflictError):
    """The reservation has ended or was cancelled, so it cannot be changed any more."""

    code = "RESERVATION_OVER"

    def __init__(self, message: str, reservation: Reservation) -> None:
        super().__init__(message, ("input", "reservationId"))
        self.reservation = reservation
