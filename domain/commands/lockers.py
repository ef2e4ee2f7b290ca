"""Inputs of the locker mutations."""

from __future__ import annotations

from pydantic import Field

from domain.commands.base import (
    CHOSEN_ID,
    Change,
    CheckedLocationId,
    CheckedLockerId,
    CheckedOwnerId,
    Command,
    Name,
    optional,
)
from domain.models import LockerStatus


class RegisterLocker(Command):
    """Input of `registerLocker`."""

    locker_id: CheckedLockerId | None = optional(CHOSEN_ID)
    owner_id: CheckedOwnerId = Field(description="Id of the owner, who must exist.")
    alias: Name | None = optional("Display name of the locker.")
    location_id: CheckedLocationId | None = optional("Id of the location of the locker, which must be active.")


class RenameLocker(Change):
    """Input of `renameLocker`."""

    locker_id: CheckedLockerId
    alias: Name | None = Field(description="New display name of the locker; null removes the present one.")


class UpdateLockerStatus(Change):
    """Input of `updateLockerStatus`."""

    locker_id: CheckedLockerId
    new_status: LockerStatus = Field(description="New status of the locker.")


class TransferLocker(Change):
    """Input of `transferLocker`."""

    locker_id: CheckedLockerId
    new_owner_id: CheckedOwnerId = Field(description="Id of the new owner, who must exist.")


class MoveLocker(Change):
    """Input of `moveLocker`."""

    locker_id: CheckedLockerId
    new_location_id: CheckedLocationId | None = Field(
        description="Id of the new location, which must be active. Required: null removes the locker from its location."
    )
