"""Inputs of the reservation mutations."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from domain.commands.base import (
    CHOSEN_ID,
    CheckedLocationId,
    CheckedLockerId,
    CheckedOwnerId,
    Command,
    optional,
)
from domain.ids import check_id
from domain.models import LockerSize, ReservationId
from domain.times import Instant

CheckedReservationId = Annotated[ReservationId, AfterValidator(check_id), Field(description="Id of the reservation.")]


class Reserve(Command):
    """What every new reservation states."""

    reservation_id: CheckedReservationId | None = optional(CHOSEN_ID)
    owner_id: CheckedOwnerId = Field(description="Id of the owner who reserves.")
    start_at: Instant = Field(description="Start of the reservation; may lie in the past.")
    end_at: Instant = Field(description="End of the reservation; must be in the future.")


class CreateReservation(Reserve):
    """Input of `createReservation`."""

    locker_id: CheckedLockerId


class ReserveAnyLocker(Reserve):
    """Input of `reserveAnyLocker`."""

    location_id: CheckedLocationId
    size: LockerSize | None = optional("Size of the locker; any if left out.")


class CancelReservation(Command):
    """Input of `cancelReservation`."""

    locker_id: CheckedLockerId
    reservation_id: CheckedReservationId


class ExtendReservation(Command):
    """Input of `extendReservation`."""

    locker_id: CheckedLockerId
    reservation_id: CheckedReservationId
    new_end_at: Instant = Field(description="New end of the reservation, after the present one.")
