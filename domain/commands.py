"""What clients may ask for, already understood: every value checked, every problem named by its place."""

from __future__ import annotations

import hashlib
import json
from decimal import Context, Decimal
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from domain.errors import BadInputError, Problem
from domain.models import (
    AccessAction,
    AccessResult,
    EventId,
    LocationId,
    LockerId,
    LockerStatus,
    OwnerId,
    OwnerKind,
    OwnerRole,
    ReservationId,
)
from domain.text import check_email, check_id, check_metadata, check_name, check_phone
from domain.times import Instant

__all__ = [
    "EVENTS_AT_ONCE",
    "CancelReservation",
    "Command",
    "CreateOwner",
    "CreateReservation",
    "ExtendReservation",
    "MoveLocker",
    "RecordAccessEvent",
    "RecordAccessEvents",
    "RegisterLocker",
    "RenameLocker",
    "TransferLocker",
    "UpdateLockerStatus",
    "UpdateOwner",
    "fingerprint",
    "understand",
]

EVENTS_AT_ONCE = 25
_EXACT = Context(prec=38)  # as many digits as a number may have, so that nothing is rounded

Name = Annotated[str, AfterValidator(check_name)]
Email = Annotated[str, AfterValidator(check_email)]
# Checked before pydantic looks inside, so that a deep document is refused by our rule and in our words.
Metadata = Annotated[dict[str, Any], BeforeValidator(check_metadata)]
CheckedLockerId = Annotated[LockerId, AfterValidator(check_id)]
CheckedOwnerId = Annotated[OwnerId, AfterValidator(check_id)]
CheckedReservationId = Annotated[ReservationId, AfterValidator(check_id)]
CheckedEventId = Annotated[EventId, AfterValidator(check_id)]
CheckedLocationId = Annotated[LocationId, AfterValidator(check_id)]
Phone = Annotated[str, AfterValidator(check_phone)]
ActorId = Annotated[str, AfterValidator(check_id)]


class Command(BaseModel):
    """One checked request for a change."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class CreateOwner(Command):
    """Create an owner."""

    owner_id: CheckedOwnerId | None = None
    kind: OwnerKind
    name: Name
    email: Email | None = None
    phone: Phone | None = None
    role: OwnerRole = OwnerRole.USER


class UpdateOwner(Command):
    """Change what is given of an owner; an e-mail of None takes the address away."""

    owner_id: CheckedOwnerId
    expected_version: int
    name: Name = ""
    email: Email | None = None
    phone: Phone | None = None
    role: OwnerRole = OwnerRole.USER


class RegisterLocker(Command):
    """Register a locker."""

    locker_id: CheckedLockerId | None = None
    owner_id: CheckedOwnerId
    alias: Name | None = None
    location_id: CheckedLocationId | None = None


class RenameLocker(Command):
    """Give a locker another alias."""

    locker_id: CheckedLockerId
    alias: Name
    expected_version: int


class UpdateLockerStatus(Command):
    """Take a locker one step through its state machine."""

    locker_id: CheckedLockerId
    new_status: LockerStatus
    expected_version: int


class TransferLocker(Command):
    """Give a locker to another owner."""

    locker_id: CheckedLockerId
    new_owner_id: CheckedOwnerId
    expected_version: int


class MoveLocker(Command):
    """Put a locker at another location, or at none."""

    locker_id: CheckedLockerId
    new_location_id: CheckedLocationId | None
    expected_version: int


class CreateReservation(Command):
    """Hold a locker for a window of time."""

    locker_id: CheckedLockerId
    reservation_id: CheckedReservationId | None = None
    owner_id: CheckedOwnerId
    start_at: Instant
    end_at: Instant


class CancelReservation(Command):
    """Give up a reservation."""

    locker_id: CheckedLockerId
    reservation_id: CheckedReservationId


class ExtendReservation(Command):
    """Move a reservation's end further away."""

    locker_id: CheckedLockerId
    reservation_id: CheckedReservationId
    new_end_at: Instant


class RecordAccessEvent(Command):
    """Write down what happened at a locker."""

    locker_id: CheckedLockerId
    event_id: CheckedEventId | None = None
    timestamp: Instant | None = None
    action: AccessAction
    actor_id: ActorId
    result: AccessResult
    metadata: Metadata | None = None


class RecordAccessEvents(Command):
    """Write down several events, all or none."""

    events: Annotated[list[RecordAccessEvent], Field(min_length=1, max_length=EVENTS_AT_ONCE)]


C = TypeVar("C", bound=Command)


def understand(command: type[C], values: dict[str, Any]) -> C:
    """Checks a mutation's input as a whole.

    Raises:
        BadInputError: with every problem, each at its path into the input.
    """
    try:
        return command.model_validate(values)
    except ValidationError as error:
        problems = [
            _problem(detail["msg"], tuple(to_camel(str(part)) for part in detail["loc"]))
            for detail in error.errors(include_url=False, include_context=False, include_input=False)
        ]
        raise BadInputError(problems[0].message, problems[0].path, problems) from None


def fingerprint(command: Command, without: str) -> str:
    """What a repeat of a create is compared with: all that the client said, but for the id itself."""
    # What is at its default counts as left out, so that a field which a later release adds changes no fingerprint.
    content = command.model_dump(exclude={without}, exclude_none=True, exclude_defaults=True)
    text = json.dumps(content, sort_keys=True, default=_plain_number, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _plain_number(number: Decimal) -> int | str:
    # 1e3 is 1000. The mark keeps the number 1.5 apart from the text "1.5".
    return int(number) if number == number.to_integral_value() else f"\0{number.normalize(_EXACT)}"


def _problem(message: str, place: tuple[str, ...]) -> Problem:
    field = next((part for part in reversed(place) if not part.isdigit()), "input")
    words = message.removeprefix("Value error, ").removeprefix("Input ")
    return Problem(f"{field} {words}", ("input", *place))
