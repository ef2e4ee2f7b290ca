"""The channel for a mutation's expected failures: user errors in its payload."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

import strawberry
from strawberry.types import has_object_definition

from domain.commands import Command, understand
from domain.errors import (
    BadInputError,
    BookingClosedError,
    InvalidTransitionError,
    OverlapError,
    ReservationOverError,
    SlotTakenError,
    SmartLockerError,
    UnavailableError,
    VersionConflictError,
)
from domain.models import LockerStatus
from domain.principal import Scope, acts_for, require
from resolvers.enums import UserErrorCode
from resolvers.permissions import admits

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from domain.principal import Principal
    from loaders.backend import Backend
    from resolvers.calendar import CalendarEvent
    from resolvers.context import Info
    from resolvers.reservations import Reservation

__all__ = ["ERROR_TYPES", "Outcome", "UserError", "attempt", "given"]

C = TypeVar("C", bound=Command)
E = TypeVar("E")


@strawberry.interface(description="An expected failure of a mutation; nothing was written.")
class UserError:
    """What every failure says."""

    message: str = strawberry.field(description="What is wrong, for people.")
    code: UserErrorCode = strawberry.field(description="What is wrong, for programs.")
    path: list[str] = strawberry.field(description="Where in the arguments, such as input, startAt.")
    status: int = strawberry.field(description="The status that the contract gives it: 400, 403, 404 or 409.")
    retryable: bool = strawberry.field(description="Whether a new attempt, on what is current now, makes sense.")


@strawberry.type(description="A failure that carries nothing more.")
class PlainError(UserError):
    """Bad input, a missing thing, a taken id or address."""


@strawberry.type(description="Somebody else changed the entity first; the payload holds it as it is now.")
class VersionConflict(UserError):
    """Carries what to send next."""

    current_version: int = strawberry.field(description="The version that the entity has now.")


@strawberry.type(description="The locker's state machine has no such step; the payload holds the locker as it is.")
class InvalidTransition(UserError):
    """Carries what would be allowed."""

    current_status: LockerStatus = strawberry.field(description="The status that the locker has.")
    allowed_statuses: list[LockerStatus] = strawberry.field(description="The statuses that it may go to.")


@strawberry.type(description="Another live reservation is in the way.")
class ReservationOverlap(UserError):
    """Carries what is in the way."""

    reservation: Annotated[Reservation, strawberry.lazy("resolvers.reservations")] = strawberry.field(
        description="The reservation in the way."
    )


@strawberry.type(description="Something else is in the calendar.")
class SlotTaken(UserError):
    """Carries what is in the way."""

    event: Annotated[CalendarEvent, strawberry.lazy("resolvers.calendar")] = strawberry.field(
        description="The event in the way."
    )


ERROR_TYPES = (PlainError, VersionConflict, InvalidTransition, ReservationOverlap, SlotTaken)


@dataclass(frozen=True, slots=True)
class Outcome(Generic[E]):
    """What a mutation came to: the entity as it is now, where that is known, and what was wrong."""

    entity: E | None
    errors: list[UserError]


def given(value: Any) -> dict[str, Any]:
    """What the client gave of an input object, as plain values; what was left out is not there."""
    return {name: _plain(field) for name, field in vars(value).items() if field is not strawberry.UNSET}


async def attempt(
    info: Info, command: type[C], input_object: Any, write: Callable[[Backend, C], Awaitable[E]]
) -> Outcome[E]:
    """For who may use the mutation at all, understands its input and runs its write.

    That the store is down is no fault of the input's, so it is left to the channel for errors.
    """
    principal = info.context.principal
    try:
        require(admits(principal, "Mutation", info.field_name), ("input",))
        understood = understand(command, given(input_object))
        entity = await write(info.context.backend, understood)
    except UnavailableError:
        raise
    except SmartLockerError as error:
        if info.context.trace is not None:
            info.context.trace.note_user_error(error.code)
        return Outcome(_current(error), _user_errors(error, principal))
    finally:
        # The mutations of a request run one after another, and none may show what an earlier one has changed.
        info.context.loaders.forget()
    return Outcome(entity, [])


def _plain(field: Any) -> Any:
    if isinstance(field, list):
        # All that a list of an input holds is of one kind, and asking each takes long for what attackers send.
        return [given(child) for child in field] if field and has_object_definition(field[0]) else field
    return given(field) if has_object_definition(field) else field


def _current(error: SmartLockerError) -> Any:
    match error:
        case VersionConflictError():
            return error.current
        case InvalidTransitionError():
            return error.locker
        case ReservationOverError():
            return error.reservation
        case BookingClosedError():
            return error.booking
        case _:
            return None


def _user_errors(error: SmartLockerError, principal: Principal) -> list[UserError]:
    from resolvers.calendar import CalendarEvent  # noqa: PLC0415  # the modules name each other's types
    from resolvers.reservations import Reservation  # noqa: PLC0415  # as above

    common: dict[str, Any] = {
        "message": error.message,
        "code": UserErrorCode(error.code),
        "path": list(error.path),
        "status": error.status,
        "retryable": error.retryable,
    }
    match error:
        case BadInputError():
            return [
                PlainError(**common | {"message": problem.message, "path": list(problem.path)})
                for problem in error.problems
            ]
        case VersionConflictError():
            return [VersionConflict(**common, current_version=error.current.version)]
        case InvalidTransitionError():
            return [
                InvalidTransition(**common, current_status=error.locker.status, allowed_statuses=list(error.allowed))
            ]
        case OverlapError() if acts_for(principal, error.reservation.owner_id, Scope.RESERVATIONS_READ):
            return [ReservationOverlap(**common, reservation=Reservation.of(error.reservation))]
        case SlotTakenError():
            return [SlotTaken(**common, event=CalendarEvent.of(error.slot, principal))]
        case _:
            return [PlainError(**common)]
