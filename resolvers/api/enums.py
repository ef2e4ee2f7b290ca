"""The domain's enums as the schema shows them, each value described."""

from __future__ import annotations

from enum import Enum

import strawberry

from domain.access_codes import AccessCodeKind, AccessCodeState, AccessDecision, DeviceStatus
from domain.api_keys import ApiKeyRole
from domain.authorization import Role, Scope
from domain.bookings import BookingStatus, DayPart, DaySlot
from domain.models import (
    AccessAction,
    AccessResult,
    LocationStatus,
    LockerSize,
    LockerStatus,
    OwnerKind,
    OwnerRole,
    ReservableBy,
    ReservationParty,
    ReservationStatus,
)
from loaders.contracts.base import Order


class UserErrorCode(Enum):
    """Why a mutation was refused; names are stable, since clients switch on them, and values describe them."""

    BAD_USER_INPUT = "A value of the input is invalid."
    NOT_FOUND = "An object that the input refers to does not exist."
    VERSION_CONFLICT = "The object was changed by someone else in the meantime."
    INVALID_TRANSITION = "The locker cannot change to the requested status."
    ID_TAKEN = "The id was used before with different content."
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


def _describe(enum: type[Enum], description: str, *, name: str | None = None, **values: str) -> None:
    """Registers an enum with the schema; a value without a description is a KeyError at import."""
    strawberry.enum(enum, name=name, description=description)
    for value in enum.__strawberry_definition__.values:  # type: ignore[attr-defined]
        value.description = values[value.name]


_describe(
    LockerStatus,
    "Status of a locker.",
    AVAILABLE="The locker can be used.",
    OCCUPIED="The locker is in use.",
    MAINTENANCE="The locker is out of order and accepts no new reservations.",
    RETIRED="The locker has left service for good. `updatedAt` is the time at which it was retired.",
)
_describe(
    ReservableBy,
    "Who may reserve a locker, apart from its owner and the partners and admins who act for the owner.",
    OWNER="Only the owner of the locker, and the partners and admins who act for the owner.",
    MEMBERS="Members of the organization that owns the locker.",
    EVERYONE="Every owner, and the partners who act for one.",
)
_describe(LockerSize, "Size of a locker.", S="Small.", M="Medium.", L="Large.", XL="Extra large.")
_describe(OwnerKind, "Kind of an owner.", USER="A person.", ORGANIZATION="An organization.")
_describe(
    OwnerRole,
    "Role of an owner.",
    USER="Regular user without administrative rights.",
    ADMIN="Administrator who decides bookings and manages calendars.",
)
_describe(
    LocationStatus,
    "Status of a location.",
    ACTIVE="The location accepts lockers and bookings.",
    INACTIVE="The location accepts nothing new. Its code stays reserved.",
)
_describe(DaySlot, "Half of a day.", MORNING="First half of the day.", AFTERNOON="Second half of the day.")
_describe(
    DayPart,
    "Part of a day.",
    MORNING="First half of the day.",
    AFTERNOON="Second half of the day.",
    FULL_DAY="Both halves of the day.",
)
_describe(
    BookingStatus,
    "Status of a booking.",
    PENDING="The booking waits for a decision.",
    APPROVED="The booking was approved and is in the calendar.",
    REJECTED="The booking was rejected.",
    CANCELLED="The booking was canceled by its owner.",
)
_describe(
    ReservationStatus,
    "Status of a reservation.",
    UPCOMING="The reservation has not started yet.",
    ACTIVE="The present moment is within the reservation.",
    COMPLETED="The reservation was released, or has ended after a check-in.",
    EXPIRED="The reservation has ended without a check-in.",
    CANCELLED="The reservation was canceled before it started.",
)
_describe(
    ReservationParty,
    "Who ended a reservation.",
    OWNER="The owner who made the reservation, or a partner of that owner.",
    LOCKER_OWNER="The owner of the locker, or a partner of that owner.",
    ADMIN="An administrator.",
)
_describe(
    AccessAction,
    "Action at a locker.",
    OPEN="The door was opened.",
    CLOSE="The door was closed.",
    UNLOCK="The lock was released.",
    LOCK="The lock was set.",
    DENIED="Access was refused.",
    TAMPER="The locker was tampered with.",
    OVERSTAY="A reservation started while the locker was still occupied by one that had ended.",
)
_describe(AccessResult, "Result of an action at a locker.", SUCCESS="The action succeeded.", FAIL="The action failed.")
_describe(
    ApiKeyRole,
    "Role of the holder of an API key.",
    PARTNER="Partner who acts for certain owners.",
    DEVICE="Device of one locker.",
)
_describe(
    Role,
    "Role of a caller.",
    name="ViewerRole",
    OWNER="Owner, or member of organizations.",
    PARTNER="Partner who acts for certain owners, as its scopes allow.",
    DEVICE="Device of one locker.",
    ADMIN="Administrator, who may do everything.",
)
_describe(
    Scope,
    "Permission of a partner, for the owners that it acts for.",
    OWNERS_READ="Read owners.",
    OWNERS_WRITE="Change owners.",
    LOCKERS_READ="Read lockers.",
    LOCKERS_WRITE="Change lockers.",
    RESERVATIONS_READ="Read reservations.",
    RESERVATIONS_WRITE="Create and change reservations.",
    EVENTS_READ="Read access events.",
    EVENTS_WRITE="Record access events.",
    BOOKINGS_READ="Read bookings.",
    BOOKINGS_WRITE="Request and cancel bookings.",
    CODES_READ="Read access codes, without their digits.",
    CODES_WRITE="Create, rotate, reveal and revoke access codes.",
)
_describe(
    AccessCodeKind,
    "Purpose of an access code.",
    RESERVATION="A reservation of a locker: valid as long as the reservation is.",
    ONE_TIME="A single opening of a locker.",
    COURIER="Several openings of a locker.",
    STANDING="Staff of a locker's owner, without a limit of uses.",
    BOOKING="An approved booking: valid for its half days at the door of the location.",
)
_describe(
    AccessCodeState,
    "State of an access code.",
    SCHEDULED="The code is not valid yet.",
    ACTIVE="The code opens its door.",
    USED_UP="The code was used as often as it can be.",
    REVOKED="The code was revoked.",
    EXPIRED="The code is no longer valid: its time has passed, or its reservation or booking has ended.",
)
_describe(
    DeviceStatus,
    "Whether the device of a door has an access code in its offline list.",
    PENDING="The device is going to get the code.",
    LOADED="The device has the code.",
    REMOVING="The device still has the code, although the code is no longer valid.",
    REMOVED="The device does not have the code.",
)
_describe(
    AccessDecision,
    "Answer to digits that were entered at a door.",
    GRANTED="Open the door.",
    DENIED="Keep the door closed: the digits open nothing now.",
    LOCKED_OUT="Keep the door closed: there were too many failures, so the digits were not checked.",
)
_describe(
    Order, "Sort direction.", name="SortDirection", ASC="Ascending: earliest first.", DESC="Descending: latest first."
)
_describe(UserErrorCode, "Reason why a mutation failed.", **{code.name: code.value for code in UserErrorCode})
