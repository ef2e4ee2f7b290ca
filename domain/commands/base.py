"""Base class, parser and fingerprint of commands, and the field types that several commands share."""

from __future__ import annotations

import hashlib
import json
import re
from decimal import Context, Decimal
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from domain.bookings import BookingId
from domain.errors import BadInputError, Problem
from domain.ids import check_id
from domain.models import LocationId, LockerId, OwnerId
from domain.text import check_name, check_text

__all__ = [
    "CheckedBookingId",
    "CheckedLocationId",
    "CheckedLockerId",
    "CheckedOwnerId",
    "Command",
    "Id",
    "Name",
    "Text",
    "fingerprint",
    "parse_command",
]

Id = Annotated[str, AfterValidator(check_id)]
CheckedBookingId = Annotated[BookingId, AfterValidator(check_id)]
CheckedLocationId = Annotated[LocationId, AfterValidator(check_id)]
CheckedLockerId = Annotated[LockerId, AfterValidator(check_id)]
CheckedOwnerId = Annotated[OwnerId, AfterValidator(check_id)]
Name = Annotated[str, AfterValidator(check_name)]
Text = Annotated[str, AfterValidator(check_text)]

_EXACT = Context(prec=38)  # the most digits a number may have, so that nothing is rounded
_MESSAGE_SUBJECT = re.compile(r"^(Value error, |Input |List |Decimal input )")


class Command(BaseModel):
    """The validated input of one mutation."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


C = TypeVar("C", bound=Command)


def parse_command(command: type[C], values: dict[str, Any]) -> C:
    """Validates the input of a mutation.

    Raises:
        BadInputError: with every problem, each at its path in the input.
    """
    try:
        return command.model_validate(values)
    except ValidationError as error:
        problems = [
            _problem(detail["type"], detail["msg"], tuple(to_camel(str(part)) for part in detail["loc"]))
            for detail in error.errors(include_url=False, include_context=False, include_input=False)
        ]
        raise BadInputError(problems[0].message, problems[0].path, problems) from None


def fingerprint(command: Command, without: str) -> str:
    """Returns a hash of the input without its id; two creates with the same id and fingerprint are the same request."""
    # Defaults are left out so that a field added in a later release does not change existing fingerprints.
    content = command.model_dump(exclude={without}, exclude_none=True, exclude_defaults=True)
    text = json.dumps(content, sort_keys=True, default=_number_as_json, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _number_as_json(number: Decimal) -> int | str:
    # 1e3 equals 1000. The NUL prefix keeps the number 1.5 distinct from the text "1.5".
    return int(number) if number == number.to_integral_value() else f"\0{number.normalize(_EXACT)}"


def _problem(kind: str, message: str, location: tuple[str, ...]) -> Problem:
    field = next((part for part in reversed(location) if not part.isdigit()), "input")
    match kind:
        case "missing":
            rule = "is required"
        case "extra_forbidden":
            rule = "is not a field of this input"
        case _:
            rule = _MESSAGE_SUBJECT.sub("", message).replace(" after validation", "")
    return Problem(f"{field} {rule}", ("input", *location))
