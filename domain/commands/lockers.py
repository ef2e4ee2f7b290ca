"""Inputs of the locker mutations."""

from __future__ import annotations

from domain.commands.base import CheckedLocationId, CheckedLockerId, CheckedOwnerId, Command, Name
from domain.models import LockerStatus

__all__ = ["MoveLocker", "RegisterLocker", "RenameLocker", "TransferLocker", "UpdateLockerStatus"]


class RegisterLocker(Command):
    """Register a locker."""

    locker_id: CheckedLockerId | None = None
    owner_id: CheckedOwnerId
    alias: Name | None = None
    location_id: CheckedLocationId | None = None


class RenameLocker(Command):
    """Change the alias of a locker."""

    locker_id: CheckedLockerId
    alias: Name
    expected_version: int


class UpdateLockerStatus(Command):
    """Change the status of a locker."""

    locker_id: CheckedLockerId
    new_status: LockerStatus
    expected_version: int


class TransferLocker(Command):
    """Transfer a locker to another owner."""

    locker_id: CheckedLockerId
    new_owner_id: CheckedOwnerId
    expected_version: int


class MoveLocker(Command):
    """Move a locker to another location; null removes it from its location."""

    locker_id: CheckedLockerId
    new_location_id: CheckedLocationId | None
    expected_version: int
