"""The enums of the schema."""

from enum import Enum

import strawberry

from domain import (  # noqa: F401  # they declare enums
    access_codes,
    activity,
    api_keys,
    authorization,
    bookings,
    models,
    search,
)
from domain.authorization import Role
from domain.enums import DescribedEnum
from loaders.contracts.base import Order

_NAMES: dict[type[DescribedEnum], str] = {Role: "ViewerRole", Order: "SortDirection"}
"""The schema's names of enums that have another one in Python."""


class UserErrorCode(Enum):
    """Why a mutation was refused; names are stable, since clients switch on them, and values describe them."""

    BAD_USER_INPUT = "A value of the input is invalid."
    NOT_FOUND = "An object that the input refers to does not exist."
    VERSION_CONFLICT = "The object was changed by someone else in the meantime."
    INVALID_TRANSITION = "The locker cannot change to the requested status."
    ID_TAKEN = "The id was used before with different content."
    OWNER_ERASED = "The owner was erased, or is being erased: nothing can be made for it."
    OWNER_IN_USE = "The owner has lockers, reservations, bookings or webhooks that must be ended before it is erased."
    EMAIL_TAKEN = "The email address belongs to another owner."
    LOCKER_IN_MAINTENANCE = "The locker is in maintenance and accepts no new reservations."
    LOCKER_RETIRED = "The locker was retired: it can be neither reserved nor changed."
    RESERVATION_OVERLAP = "Another reservation overlaps the requested window."
    RESERVATION_OVER = "The reservation has ended, or was canceled or released."
    NO_LOCKER_AVAILABLE = "No locker was found that the caller may reserve and that is free in the window."
    RESERVATION_STARTED = "The reservation has started: it can be released, but not canceled."
    RESERVATION_NOT_STARTED = "The reservation has not started: it can be canceled, but neither started nor released."
    REFERENCE_TAKEN = "Another reservation of the owner has this reference."
    TOO_MANY_RESERVATIONS = "The owner has too many reservations that have not ended."
    FORBIDDEN = "The caller is not allowed to do this."
    CODE_TAKEN = "The code is or was used by another location."
    LOCATION_INACTIVE = "The location is inactive and accepts nothing new."
    SLOT_TAKEN = "The half day is taken by another event."
    BOOKING_CLOSED = "The booking was decided or canceled, or its day has passed."
    TOO_MANY_PENDING_BOOKINGS = "The owner has too many bookings that wait for a decision."
    ACCESS_CODE_OVER = "The access code is used up, revoked or expired."
    TOO_MANY_ACCESS_CODES = "The door, the reservation or the booking has too many live access codes."
    STALE_ACCESS_CODE_LIST = "The list of access codes has changed since the device read it."
    TOO_MANY_WEBHOOKS = "The owner has as many webhooks as it may have."


ENUM_VALUES: dict[str, tuple[str, ...]] = {}
"""The values of each enum, by its name in the schema."""


def _register(enum: type[Enum], description: str | None, values: dict[str, str], name: str | None = None) -> None:
    ENUM_VALUES[name or enum.__name__] = tuple(values)
    strawberry.enum(enum, name=name, description=description)
    for value in enum.__strawberry_definition__.values:  # type: ignore[attr-defined]
        value.description = values[value.name]


for described in DescribedEnum.__subclasses__():
    texts = {member.name: member.description for member in described}
    _register(described, described.__doc__, texts, _NAMES.get(described))
_register(UserErrorCode, "Reason why a mutation failed.", {code.name: code.value for code in UserErrorCode})
