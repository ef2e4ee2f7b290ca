"""Base class, parser and fingerprint of commands, and the field types that several commands share."""

import hashlib
import json
from decimal import Context, Decimal
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from domain.bookings import BookingId
from domain.errors import BadInputError, Problem
from domain.ids import check_id
from domain.models import LocationId, LockerId, OwnerId
from domain.text import check_name, check_text

Id = Annotated[str, AfterValidator(check_id)]
CheckedBookingId = Annotated[BookingId, AfterValidator(check_id), Field(description="Id of the booking.")]
CheckedLocationId = Annotated[LocationId, AfterValidator(check_id), Field(description="Id of the location.")]
CheckedLockerId = Annotated[LockerId, AfterValidator(check_id), Field(description="Id of the locker.")]
CheckedOwnerId = Annotated[OwnerId, AfterValidator(check_id)]
Name = Annotated[str, AfterValidator(check_name)]
Text = Annotated[str, AfterValidator(check_text)]

CHOSEN_ID = (
    "Id of your choice: a repeated request with the same id and content changes nothing and returns the current state. "
    "Generated if left out; a repeated request then creates another object."
)

_EXACT = Context(prec=38)  # the most digits a number may have, so that nothing is rounded
_RULES = {
    "missing": "is required",
    "extra_forbidden": "is not a field of this input",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be {ge} or more",
    "less_than_equal": "must be {le} or less",
    "too_short": "must have {min_length} entries or more, not {actual_length}",
    "too_long": "must have {max_length} entries or fewer, not {actual_length}",
    "decimal_max_digits": "must have {max_digits} digits or fewer",
    "decimal_max_places": "must have {decimal_places} decimals or fewer",
    "decimal_whole_digits": "must have {whole_digits} digits or fewer before the decimal point",
    "finite_number": "must be a number",
    "decimal_type": "must be a number",
    "is_instance_of": "must be a number",
    "int_type": "must be a whole number",
    "string_type": "must be a string",
    "list_type": "must be a list",
    "dict_type": "must be a JSON object",
    "model_type": "must be an object",
    "enum": "must be one of {expected}",
}
"""Message for each kind of problem that pydantic reports; its own messages speak of Python."""


class Command(BaseModel):
    """The validated input of one mutation.

    Its GraphQL input type has the same fields and descriptions. The type's description is the docstring of the class,
    or that it is the input of the mutation.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


_CHANGE_ID = Field(
    default=None,
    description="Id of your choice for this change. Repeated with the same id and input while no other change "
    "followed, the request returns the object and changes nothing.",
)


class Change(Command):
    """A change of an object with a version."""

    expected_version: int = Field(description="Version of the object that the change is based on.")
    change_id: Id | None = _CHANGE_ID

    def values(self, object_id: str) -> dict[str, Any]:
        """The new values that the client named, at least one, without the field with the id of the object."""
        named = self.model_fields_set - Change.model_fields.keys() - {object_id}
        if not named:
            raise BadInputError("Name at least one field to change.", ("input",))
        return {name: getattr(self, name) for name in named}


class OptionalChange(Command):
    """A change that may be based on any version: what it does depends on the state of the object alone."""

    expected_version: int | None = Field(
        default=None, description="Version of the object that the change is based on; any version if left out."
    )
    change_id: Id | None = _CHANGE_ID


C = TypeVar("C", bound=Command)


def optional(description: str) -> Any:
    return Field(default=None, description=description)


def parse_command(command: type[C], values: dict[str, Any]) -> C:
    """Validates the input of a mutation; reports every problem at its path in the input."""
    try:
        return command.model_validate(values)
    except ValidationError as error:
        problems = [
            _problem(detail, tuple(to_camel(str(part)) for part in detail["loc"]))
            for detail in error.errors(include_url=False)
        ]
        raise BadInputError(problems[0].message, problems[0].path, problems) from None


def fingerprint(command: Command, without: str) -> str:
    """Returns a hash of the input without its id; two creates with the same id and fingerprint are the same request."""
    # Defaults are left out so that a field added in a later release does not change existing fingerprints.
    content = command.model_dump(exclude={without}, exclude_none=True, exclude_defaults=True)
    return _hash(content)


def fingerprint_of(command: type[Command], record: object, without: str, **values: Any) -> str:
    """Returns the fingerprint of the command that creates the record, with these values where they differ in form."""
    given = {name: getattr(record, name) for name in command.model_fields if hasattr(record, name)}
    return fingerprint(command.model_construct(**given | values), without)


def change_fingerprint(command: Change | OptionalChange, subject: str) -> str:
    """Returns a hash of a change without its id: who asks for which change, with every value that was given."""
    content = command.model_dump(exclude={"change_id"}, exclude_unset=True)
    return _hash([type(command).__name__, subject, content])


def _hash(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, default=_number_as_json, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _number_as_json(number: Decimal) -> int | str:
    # 1e3 equals 1000. The NUL prefix keeps the number 1.5 distinct from the text "1.5".
    return int(number) if number == number.to_integral_value() else f"\0{number.normalize(_EXACT)}"


def _problem(detail: ErrorDetails, location: tuple[str, ...]) -> Problem:
    field = next((part for part in reversed(location) if not part.isdigit()), "input")
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "value_error":
        rule = str(context["error"])
    elif kind != "missing" and detail["input"] is None:
        rule = "must not be null"
    else:
        rule = _RULES.get(kind, "is not valid").format(**context)
    return Problem(f"{field} {rule}", ("input", *location))
