"""Inputs of the access code mutations."""

from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic.alias_generators import to_camel

from domain.access_codes import AccessCodeKind, CodeId
from domain.commands.base import (
    CHOSEN_ID,
    CheckedBookingId,
    CheckedLocationId,
    CheckedLockerId,
    Command,
    Id,
    Name,
    optional,
)
from domain.commands.events import CheckedEventId
from domain.commands.reservations import CheckedReservationId
from domain.errors import BadInputError, Problem
from domain.ids import check_id, matching
from domain.times import Instant

MAX_USES = 100
DEFAULT_LENGTH = 6

CheckedCodeId = Annotated[CodeId, AfterValidator(check_id), Field(description="Id of the code, unique for its door.")]
Digits = Annotated[str, AfterValidator(matching(r"[0-9]{4,8}", "must be 4 to 8 digits"))]


class DoorCommand(Command):
    """An input that names a door: that of a locker, or that of a location."""

    locker_id: CheckedLockerId | None = optional(
        "Id of the locker. Exactly one of lockerId and locationId is required."
    )
    location_id: CheckedLocationId | None = optional("Id of the location, if the door is a location's.")


class CreateAccessCode(Command):
    kind: AccessCodeKind = Field(description="Purpose of the code.")
    code_id: CheckedCodeId | None = optional(CHOSEN_ID)
    locker_id: CheckedLockerId | None = optional("Id of the locker; not for a booking.")
    reservation_id: CheckedReservationId | None = optional("Id of the reservation, if the code is for one.")
    booking_id: CheckedBookingId | None = optional(
        "Id of the approved booking, if the code is for one: it opens the location's door."
    )
    label: Name | None = optional("Note for people, such as the name of the holder.")
    length: int | None = Field(
        default=None,
        ge=4,
        le=8,
        description="Number of digits: 6 if left out, 8 for a standing code. Fewer than 6 only for a one-time code "
        "that is valid for 24 hours or less.",
    )
    valid_from: Instant | None = optional(
        "Time from which a code that is not tied to a reservation or booking is valid; the time of creation if left "
        "out."
    )
    valid_until: Instant | None = optional(
        "Time until which a code that is not tied to a reservation or booking is valid. Required for one-time and "
        "courier codes."
    )
    max_uses: int | None = Field(
        default=None, ge=2, le=MAX_USES, description="How often a courier code can be used, from 2 to 100."
    )


class RotateAccessCode(DoorCommand):
    code_id: CheckedCodeId
    expected_rotation: int = Field(description="Rotation of the code whose digits are to be replaced.")


class RevealAccessCode(DoorCommand):
    code_id: CheckedCodeId
    reveal_id: Id | None = optional("Id of your choice: a repeated request with the same id is recorded once.")


class RevokeAccessCode(DoorCommand):
    code_id: CheckedCodeId


class VerifyAccessCode(DoorCommand):
    digits: Digits = Field(description="Digits that were entered at the door.")
    attempt_id: Id = Field(
        description="Id of your choice for this attempt. A repeated request with the same id and digits is not counted "
        "again."
    )


class ClearLockout(DoorCommand):
    """Input of `clearLockout`."""


class ProvisionDevice(DoorCommand):
    generation: int = Field(
        ge=1,
        le=1_000_000,
        description="Generation of the new device: one more than that of the device that it replaces; 1 at first.",
    )
    voids_digits: bool = Field(
        default=False,
        description="Whether the device before was lost or stolen: then all digits of the door that were issued so far "
        "become void.",
    )


class AcknowledgeAccessCodes(DoorCommand):
    revision: str = Field(description="Revision of the list that the device has stored.")


class ReportAccessCodeUse(DoorCommand):
    code_id: CheckedCodeId
    event_id: CheckedEventId = Field(
        description="Id of your choice for this use, which is counted once. If a verification got no answer, its "
        "attemptId."
    )
    used_at: Instant = Field(description="Time at which the device opened the door by its own list.")


_FIELDS = {
    AccessCodeKind.RESERVATION: ({"lockerId", "reservationId"}, set[str]()),
    AccessCodeKind.BOOKING: ({"bookingId"}, set[str]()),
    AccessCodeKind.ONE_TIME: ({"lockerId", "validUntil"}, {"validFrom"}),
    AccessCodeKind.COURIER: ({"lockerId", "validUntil", "maxUses"}, {"validFrom"}),
    AccessCodeKind.STANDING: ({"lockerId"}, {"validFrom", "validUntil"}),
}
"""The fields that each kind of code requires, and those it also allows."""


def check_fields_for_kind(command: CreateAccessCode) -> None:
    """Checks that the input has the fields of its kind and no others; reports every problem."""
    required, allowed = _FIELDS[command.kind]
    names = ("locker_id", "reservation_id", "booking_id", "valid_from", "valid_until", "max_uses")
    given = {to_camel(name): getattr(command, name) for name in names}
    problems = [
        Problem(
            f"{name} {'is required' if value is None else 'is not allowed'} for a code of kind {command.kind}",
            ("input", name),
        )
        for name, value in given.items()
        if (name in required if value is None else name not in required | allowed)
    ]
    if problems:
        raise BadInputError(problems[0].message, problems[0].path, problems)
