"""Inputs of the reservation mutations."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from domain.commands.base import CheckedLockerId, CheckedOwnerId, Command
from domain.ids import check_id
from domain.models import ReservationId
from domain.times import Instant

__all__ = ["CancelReservation", "CreateReservation", "ExtendReservation"]

CheckedReservationId = Annotated[ReservationId, AfterValidator(check_id)]


class CreateReservation(Command):
    """Reserve a locker from `start_at` to `end_at`."""

    locker_id: CheckedLockerId
    reservation_id: CheckedReservationId | None = None
    owner_id: CheckedOwnerId
    start_at: Instant
    end_at: Instant


class CancelReservation(Command):
    """Cancel a reservation."""

    locker_id: CheckedLockerId
    reservation_id: CheckedReservationId


class ExtendReservation(Command):
    """Move the end of a reservation to a later time."""

    locker_id: CheckedLockerId
    reservation_id: CheckedReservationId
    new_end_at: Instant
