"""Payloads of mutations, and the user errors for their expected failures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import strawberry

from domain import errors
from domain.authorization import Scope, acts_for
from domain.models import LockerStatus
from resolvers.api.enums import UserErrorCode
from resolvers.bindings.base import column, described, embedded
from resolvers.bindings.writes import Outcome
from resolvers.request_state import RequestState

if TYPE_CHECKING:
    from resolvers.entities.calendar import CalendarEvent
    from resolvers.entities.reservations import Reservation


@strawberry.interface(description="An expected failure of a mutation. Nothing was written.")
class UserError:
    message: str = column("Explanation of the failure for people.")
    code: UserErrorCode = column("Reason of the failure for programs.")
    path: list[str] = column("Path of the wrong value in the arguments, such as `input`, `startAt`.")
    status: int = column("HTTP status that matches the failure: 400, 403, 404 or 409.")
    retryable: bool = column("Whether a new attempt, based on the current state, can succeed.")


@described
class PlainError(UserError):
    """A failure with no further details."""


@described
class VersionConflictError(UserError):
    """The object was changed by someone else in the meantime. The payload contains its current state."""

    current_version: int = column("Current version of the object.")


@described
class InvalidTransitionError(UserError):
    """The locker cannot change from its current status to the requested one. The payload has the locker."""

    current_status: LockerStatus = column("Current status of the locker.")
    allowed_statuses: list[LockerStatus] = column("Statuses that the locker can change to.")


@described
class ReservationOverlapError(UserError):
    """Another reservation overlaps the requested window."""

    reservation: Annotated[Reservation, strawberry.lazy("resolvers.entities.reservations")] = embedded(
        "The reservation that overlaps."
    )


@described
class SlotTakenError(UserError):
    """The requested half day is taken."""

    event: Annotated[CalendarEvent, strawberry.lazy("resolvers.entities.calendar")] = embedded(
        "The calendar event that takes the half day."
    )


ERROR_TYPES = (PlainError, VersionConflictError, InvalidTransitionError, ReservationOverlapError, SlotTakenError)


def current_entity(outcome: Outcome, _request: RequestState) -> Any:
    """Returns the object that was written or, where a conflict shows it, the object as it is now."""
    return outcome.entity if outcome.error is None else outcome.error.current


def written(attribute: str) -> Callable[[Outcome, RequestState], Any]:
    """A part of what a mutation came to; None where it failed."""
    return lambda outcome, _: None if outcome.entity is None else getattr(outcome.entity, attribute)


def user_errors(outcome: Outcome, request: RequestState) -> list[UserError]:
    return [] if outcome.error is None else _user_errors(outcome.error, request)


def _user_errors(error: errors.SmartLockerError, request: RequestState) -> list[UserError]:
    common: dict[str, Any] = {
        "message": error.message,
        "code": UserErrorCode[error.code],
        "path": list(error.path),
        "status": error.status,
        "retryable": error.retryable,
    }
    match error:
        case errors.BadInputError():
            return [
                PlainError(**common | {"message": problem.message, "path": list(problem.path)})
                for problem in error.problems
            ]
        case errors.VersionConflictError():
            return [VersionConflictError(**common, current_version=error.current.version)]
        case errors.InvalidTransitionError():
            return [
                InvalidTransitionError(
                    **common, current_status=error.current.status, allowed_statuses=list(error.allowed)
                )
            ]
        case errors.OverlapError() if acts_for(request.principal, error.reservation.owner_id, Scope.RESERVATIONS_READ):
            # The rows of the schema's objects are the records themselves.
            return [ReservationOverlapError(**common, reservation=error.reservation)]  # type: ignore[arg-type]
        case errors.SlotTakenError() if error.slot is not None:
            return [SlotTakenError(**common, event=error.slot)]  # type: ignore[arg-type]
        case _:
            return [PlainError(**common)]


@strawberry.type
class Payload:
    """Fields of every payload; the entity's field is called after the entity."""

    user_errors: list[UserError] = embedded(
        "Why the mutation failed; empty if it succeeded.",
        user_errors,
        most=1,
        condition="only where the mutation is refused",
    )
