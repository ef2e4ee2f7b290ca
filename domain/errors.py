"""Errors that clients can receive, each with a stable code and an HTTP status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from domain.api_keys import ApiKey
    from domain.bookings import Booking, CalendarSlot
    from domain.models import Location, Locker, LockerStatus, Owner, Reservation
    from domain.webhooks import Webhook


class SmartLockerError(Exception):
    """Base class of errors that clients can read: code, status and message are part of the API."""

    code: ClassVar[str]
    status: ClassVar[int]
    retryable: ClassVar[bool] = False
    current: Any = None
    """The object that was to be changed as it is now, if the client gets it."""

    def __init__(self, message: str, path: Sequence[str] = (), details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.path = tuple(path)
        self.details = details or {}
        """Further facts for programs."""


class InternalError(Exception):
    """Base class of faults in the server or the store; clients only learn that an internal error occurred."""

    @property
    def log_text(self) -> str:
        """Text for the log, without any value that a client sent."""
        return str(self)


class OperatorError(Exception):
    """Base class of failures that the operator of the server can fix: the message says what to do."""


class Problem(NamedTuple):
    message: str
    path: tuple[str, ...]


class BadInputError(SmartLockerError):
    """The input is invalid; `problems` lists every problem with its path."""

    code = "BAD_USER_INPUT"
    status = 400

    def __init__(self, message: str, path: Sequence[str] = (), problems: Sequence[Problem] = ()) -> None:
        super().__init__(message, path)
        self.problems = tuple(problems) or (Problem(message, self.path),)


class InvalidCursorError(SmartLockerError):
    """The cursor does not belong to this list."""

    code = "INVALID_CURSOR"
    status = 400


class ResyncRequiredError(SmartLockerError):
    """Activities were left out of a subscription; after `cursor`, all are kept."""

    code = "RESYNC_REQUIRED"
    status = 410

    def __init__(self, cursor: str) -> None:
        super().__init__(
            "Activities were left out. Query what you show again, or subscribe again after the cursor in extensions, "
            "from which on all are kept.",
            details={"cursor": cursor},
        )
        self.cursor = cursor


class QueryTooComplexError(SmartLockerError):
    code = "QUERY_TOO_COMPLEX"
    status = 400

    def __init__(self, message: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message, details=details)


class NotFoundError(SmartLockerError):
    code = "NOT_FOUND"
    status = 404


class UnavailableError(SmartLockerError):
    """The store did not answer in time, or there was too much contention; the same request may succeed later."""

    code = "UNAVAILABLE"
    status = 503
    retryable = True
    retry_after_seconds = 1


class ReadOnlyError(UnavailableError):
    """The service is read-only for a while."""

    retry_after_seconds = 30

    def __init__(self) -> None:
        super().__init__("The service is read-only for maintenance: nothing can be changed now. Try again later.")


class TooManyChangesError(UnavailableError):
    """Other writes of the same object were faster, each time that this one was tried."""

    def __init__(self, changed: str, *field: str) -> None:
        super().__init__(f"Too many concurrent changes to this {changed}. Try again.", ("input", *field))


class ConflictError(SmartLockerError):
    """Base class of errors that say that the current state does not allow the change."""

    status = 409


class VersionConflictError(ConflictError):
    code = "VERSION_CONFLICT"
    retryable = True

    def __init__(self, current: ApiKey | Locker | Owner | Location | Booking | Reservation | Webhook) -> None:
        super().__init__(
            f"The current version is {current.version}. Read the current state and retry with its version.",
            ("input", "expectedVersion"),
        )
        self.current = current


class IdTakenError(ConflictError):
    """The id was already used with different content."""

    code = "ID_TAKEN"

    def __init__(self, used_id: str | None, used_for: str, path: Sequence[str]) -> None:
        super().__init__(f"The id {used_id} was used before, for {used_for}.", path)


class ForbiddenError(SmartLockerError):
    """The caller is not allowed to do this. The message says no more, unless the caller alone is the reason."""

    code = "FORBIDDEN"
    status = 403

    def __init__(
        self,
        message: str = "You do not have access to this, or it does not exist.",
        path: Sequence[str] = (),
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, path, details)


class CodeTakenError(ConflictError):
    """Another location uses or has used this code."""

    code = "CODE_TAKEN"


class LocationInactiveError(ConflictError):
    """An inactive location does not accept lockers or bookings."""

    code = "LOCATION_INACTIVE"

    def __init__(self, message: str, path: Sequence[str] = (), booking: Booking | None = None) -> None:
        super().__init__(message, path)
        self.current = booking


class SlotTakenError(ConflictError):
    """The half day is taken by `slot`, None where it is damaged."""

    code = "SLOT_TAKEN"

    def __init__(self, slot: CalendarSlot | None, path: Sequence[str], booking: Booking | None = None) -> None:
        if slot is None:
            message = "A half day of this date is taken by an event that cannot be read: ask the operator to repair it."
        else:
            message = f"The {slot.slot.lower()} of {slot.date} is taken by {slot.title!r}."
        super().__init__(message, path)
        self.slot = slot
        self.current = booking


class TooManyPendingError(ConflictError):
    code = "TOO_MANY_PENDING_BOOKINGS"

    def __init__(self, most: int) -> None:
        super().__init__(
            f"The owner has {most} bookings that wait for a decision, which is the maximum "
            "(SMARTLOCKER_MAX_PENDING_BOOKINGS). Cancel one, or wait for a decision.",
            ("input", "ownerId"),
        )


class BookingClosedError(ConflictError):
    """The booking was decided or canceled, or its day has passed, so it can no longer be changed."""

    code = "BOOKING_CLOSED"

    def __init__(self, message: str, booking: Booking) -> None:
        super().__init__(message, ("input", "bookingId"))
        self.current = booking


class EmailTakenError(ConflictError):
    code = "EMAIL_TAKEN"


class OwnerErasedError(ConflictError):
    code = "OWNER_ERASED"

    def __init__(self, owner_id: str, path: Sequence[str] = ("input", "ownerId")) -> None:
        super().__init__(f"Owner {owner_id} was erased, or is being erased.", path)


class OwnerInUseError(ConflictError):
    """The owner has something that must be ended before the owner can be erased."""

    code = "OWNER_IN_USE"


class InvalidTransitionError(ConflictError):
    code = "INVALID_TRANSITION"

    def __init__(self, locker: Locker, new_status: LockerStatus, allowed: Sequence[LockerStatus]) -> None:
        super().__init__(
            f"A locker cannot change from {locker.status} to {new_status}. Allowed: {' or '.join(allowed)}.",
            ("input", "newStatus"),
        )
        self.current = locker
        self.allowed = tuple(allowed)


class OutOfServiceError(ConflictError):
    """Base class of errors that say that the locker is not in service."""

    def __init__(self, locker: Locker, why: str) -> None:
        super().__init__(f"Locker {locker.locker_id} {why}.", ("input", "lockerId"))


class LockerInMaintenanceError(OutOfServiceError):
    code = "LOCKER_IN_MAINTENANCE"


class LockerRetiredError(OutOfServiceError):
    """A locker that was retired cannot be reserved or changed any more."""

    code = "LOCKER_RETIRED"

    def __init__(self, locker: Locker) -> None:
        super().__init__(locker, "was retired")


class ReferenceTakenError(ConflictError):
    code = "REFERENCE_TAKEN"

    def __init__(self) -> None:
        super().__init__("Another reservation of the owner has this reference.", ("input", "reference"))


class TooManyReservationsError(ConflictError):
    code = "TOO_MANY_RESERVATIONS"

    def __init__(self, most: int, setting: str) -> None:
        super().__init__(
            f"The owner has {most} reservations that have not ended, which is the maximum ({setting}). Cancel or "
            "release one.",
            ("input", "ownerId"),
        )


class OverlapError(ConflictError):
    code = "RESERVATION_OVERLAP"

    def __init__(self, reservation: Reservation, path: Sequence[str]) -> None:
        super().__init__(f"The locker is already reserved from {reservation.start_at} to {reservation.end_at}.", path)
        self.reservation = reservation


class NoLockerAvailableError(ConflictError):
    """No locker of a location was found free; with `is_complete`, all that are offered to the caller were checked."""

    code = "NO_LOCKER_AVAILABLE"
    retryable = True

    def __init__(self, *, is_complete: bool) -> None:
        found = "No locker that you may reserve here is free in this window."
        super().__init__(
            found if is_complete else f"{found[:-1]}, among the lockers checked. Try again, or another window.",
            ("input", "locationId"),
        )


class ReservationStateError(ConflictError):
    """Base class of errors that say that the state of the reservation does not allow the change."""

    def __init__(self, message: str, reservation: Reservation) -> None:
        super().__init__(message, ("input", "reservationId"))
        self.current = reservation


class ReservationOverError(ReservationStateError):
    """The reservation has ended, or was canceled or released, so it can no longer be changed."""

    code = "RESERVATION_OVER"


class ReservationStartedError(ReservationStateError):
    """The window of the reservation has begun, so it can be released, but not canceled."""

    code = "RESERVATION_STARTED"


class ReservationNotStartedError(ReservationStateError):
    """The window of the reservation has not begun, so it can be canceled, but neither started nor released."""

    code = "RESERVATION_NOT_STARTED"


class CodeOverError(ConflictError):
    code = "ACCESS_CODE_OVER"

    def __init__(self, message: str = "The access code is used up, revoked or expired.") -> None:
        super().__init__(message, ("input", "codeId"))


class StaleListError(ConflictError):
    code = "STALE_ACCESS_CODE_LIST"
    retryable = True

    def __init__(self) -> None:
        super().__init__("The list has changed. Read it again and acknowledge its revision.", ("input", "revision"))


class TooManyCodesError(ConflictError):
    code = "TOO_MANY_ACCESS_CODES"

    def __init__(self, subject: str, most: int) -> None:
        super().__init__(f"The {subject} has {most} live access codes, which is the maximum. Revoke one.", ("input",))


class TooManyWebhooksError(ConflictError):
    code = "TOO_MANY_WEBHOOKS"

    def __init__(self, most: int) -> None:
        super().__init__(f"The owner has {most} webhooks, which is the maximum. Delete one.", ("input", "ownerId"))
