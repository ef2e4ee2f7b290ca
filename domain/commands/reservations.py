"""Inputs of the reservation mutations."""

from typing import Annotated

from pydantic import AfterValidator, Field

from domain.commands.base import (
    CHOSEN_ID,
    CheckedLocationId,
    CheckedLockerId,
    CheckedOwnerId,
    Command,
    Name,
    OptionalChange,
    optional,
)
from domain.commands.events import Metadata
from domain.ids import check_id
from domain.models import LockerSize, ReservationId
from domain.text import check_email, check_phone, check_reference
from domain.times import Instant

CheckedReservationId = Annotated[ReservationId, AfterValidator(check_id), Field(description="Id of the reservation.")]


class Recipient(Command):
    """The person that a reservation is for."""

    name: Name = Field(description="Name of the person.")
    email: Annotated[str, AfterValidator(check_email)] | None = optional("Email address of the person.")
    phone: Annotated[str, AfterValidator(check_phone)] | None = optional("Phone number of the person.")


class Reserve(Command):
    """Input that all mutations which create a reservation share."""

    reservation_id: CheckedReservationId | None = optional(CHOSEN_ID)
    owner_id: CheckedOwnerId = Field(description="Id of the owner who reserves.")
    start_at: Instant = Field(description="Start of the reservation; may lie in the past.")
    end_at: Instant = Field(description="End of the reservation; must be in the future.")
    reference: Annotated[str, AfterValidator(check_reference)] | None = optional(
        "Your own number of the reservation, such as an order number: at most 64 printable ASCII characters, "
        "permanently unique for the owner who reserves. `reservationByReference` finds the reservation."
    )
    recipient: Recipient | None = optional(
        "The person that the locker is reserved for, with an email address, a phone number or both."
    )
    metadata: Metadata | None = optional("JSON object with at most 16 KB, 50 keys and 5 levels.")


class CreateReservation(Reserve):
    locker_id: CheckedLockerId


class ReserveAnyLocker(Reserve):
    location_id: CheckedLocationId
    size: LockerSize | None = optional("Size of the locker; any if left out.")


_REASON = (
    "Why the reservation ends, for the owner who made it. Required if the owner of the locker ends a reservation of "
    "another owner."
)


class CancelReservation(OptionalChange):
    locker_id: CheckedLockerId
    reservation_id: CheckedReservationId
    reason: Name | None = optional(_REASON)


class StartReservation(OptionalChange):
    locker_id: CheckedLockerId
    reservation_id: CheckedReservationId


class ReleaseReservation(OptionalChange):
    locker_id: CheckedLockerId
    reservation_id: CheckedReservationId
    reason: Name | None = optional(_REASON)


class ExtendReservation(OptionalChange):
    locker_id: CheckedLockerId
    reservation_id: CheckedReservationId
    new_end_at: Instant = Field(description="New end of the reservation, after the present one.")


class ShortenReservation(OptionalChange):
    locker_id: CheckedLockerId
    reservation_id: CheckedReservationId
    new_end_at: Instant = Field(description="New end of the reservation, in the future and before the present one.")
