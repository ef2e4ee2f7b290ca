"""The domain's enums as the schema shows them, each value described."""

from __future__ import annotations

from enum import StrEnum

import strawberry

from domain.api_keys import ApiKeyRole
from domain.authorization import Scope
from domain.bookings import BookingStatus, DaySlot, Duration
from domain.models import (
    AccessAction,
    AccessResult,
    LocationStatus,
    LockerStatus,
    OwnerKind,
    OwnerRole,
    ReservationStatus,
)
from loaders.contracts.base import Order

__all__ = ["UserErrorCode"]


class UserErrorCode(StrEnum):
    """Why a mutation was refused; stable, since clients switch on it."""

    BAD_USER_INPUT = "BAD_USER_INPUT"
    NOT_FOUND = "NOT_FOUND"
    CONFLICT = "CONFLICT"
    INVALID_TRANSITION = "INVALID_TRANSITION"
    ID_TAKEN = "ID_TAKEN"
    EMAIL_TAKEN = "EMAIL_TAKEN"
    LOCKER_IN_MAINTENANCE = "LOCKER_IN_MAINTENANCE"
    RESERVATION_OVERLAP = "RESERVATION_OVERLAP"
    RESERVATION_OVER = "RESERVATION_OVER"
    FORBIDDEN = "FORBIDDEN"
    CODE_TAKEN = "CODE_TAKEN"
    LOCATION_INACTIVE = "LOCATION_INACTIVE"
    SLOT_TAKEN = "SLOT_TAKEN"
    BOOKING_CLOSED = "BOOKING_CLOSED"


def _describe(enum: type[StrEnum], description: str, *, name: str | None = None, **values: str) -> None:
    """Registers an enum with the schema; a value without a description is a KeyError at import."""
    strawberry.enum(enum, name=name, description=description)
    for value in enum.__strawberry_definition__.values:  # type: ignore[attr-defined]
        value.description = values[value.name]


_describe(
    LockerStatus,
    "What a locker is doing.",
    AVAILABLE="Free to be used.",
    OCCUPIED="In use.",
    MAINTENANCE="Out of order: takes no new reservation.",
)
_describe(
    OwnerKind,
    "Whether an owner is one person or many.",
    USER="A person.",
    ORGANIZATION="An organisation.",
)
_describe(
    OwnerRole,
    "What an owner may do beside using lockers.",
    USER="Nothing more.",
    ADMIN="Decide bookings and fill calendars.",
)
_describe(
    LocationStatus,
    "Whether a location takes anything new.",
    ACTIVE="It does.",
    INACTIVE="It does not: soft-deleted, its code kept.",
)
_describe(
    DaySlot,
    "A half of a day.",
    MORNING="The first half.",
    AFTERNOON="The second half.",
)
_describe(
    Duration,
    "How much of a day.",
    MORNING="Its first half.",
    AFTERNOON="Its second half.",
    FULL_DAY="Both halves.",
)
_describe(
    BookingStatus,
    "Where a booking stands.",
    PENDING="Nobody has decided it.",
    APPROVED="In the calendar.",
    REJECTED="Turned down.",
    CANCELLED="Given up by who asked for it.",
)
_describe(
    ReservationStatus,
    "The state of a reservation as of now.",
    ACTIVE="Holds its window, which has not ended.",
    CANCELLED="Was given up.",
    EXPIRED="Its window has ended.",
)
_describe(
    AccessAction,
    "What was done, or tried, at a locker's door.",
    OPEN="The door was opened.",
    CLOSE="The door was closed.",
    UNLOCK="The lock was released.",
    LOCK="The lock was set.",
    DENIED="Access was refused.",
    TAMPER="Somebody interfered with the locker.",
)
_describe(AccessResult, "How an access went.", SUCCESS="It worked.", FAIL="It did not work.")
_describe(
    ApiKeyRole,
    "Whom an API key is for.",
    PARTNER="A partner, who acts for the owners that it is bound to.",
    DEVICE="The device of one locker.",
)
_describe(
    Scope,
    "What a partner may do, for the owners that it is bound to.",
    OWNERS_READ="Read owners.",
    OWNERS_WRITE="Change owners.",
    LOCKERS_READ="Read lockers.",
    LOCKERS_WRITE="Change lockers.",
    RESERVATIONS_READ="Read reservations.",
    RESERVATIONS_WRITE="Make and change reservations.",
    EVENTS_READ="Read access events.",
    EVENTS_WRITE="Record access events.",
    BOOKINGS_READ="Read bookings.",
    BOOKINGS_WRITE="Ask for bookings and cancel them.",
)
_describe(
    Order,
    "The direction in which a list runs.",
    name="OrderBy",
    ASC="The earliest first.",
    DESC="The latest first.",
)
_describe(
    UserErrorCode,
    "Why a mutation was refused.",
    BAD_USER_INPUT="A value of the input breaks a rule.",
    NOT_FOUND="Something that the input names does not exist.",
    CONFLICT="Somebody else changed the entity first.",
    INVALID_TRANSITION="The locker's state machine has no such step.",
    ID_TAKEN="The id was used before, with other content.",
    EMAIL_TAKEN="Another owner has this e-mail address.",
    LOCKER_IN_MAINTENANCE="A locker in maintenance takes no new reservation.",
    RESERVATION_OVERLAP="Another live reservation is in the way.",
    RESERVATION_OVER="The reservation has ended or was cancelled.",
    FORBIDDEN="Whoever asks may not do this.",
    CODE_TAKEN="Another location has, or had, this code.",
    LOCATION_INACTIVE="An inactive location takes nothing new.",
    SLOT_TAKEN="Something else is in the calendar.",
    BOOKING_CLOSED="The booking was decided, cancelled or is over.",
)
