"""Inputs of the locker mutations."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

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
from domain.ids import check_feature
from domain.models import LockerSize, LockerStatus, ReservableBy

MOST_FEATURES = 8
MOST_LOCKERS = 25


def _each_once(features: list[str]) -> list[str]:
    """The order of features has no meaning."""
    return sorted(set(features))


Feature = Annotated[str, AfterValidator(check_feature)]
Features = Annotated[list[Feature], Field(max_length=MOST_FEATURES), AfterValidator(_each_once)]
_FEATURES = f"Features of the locker, at most {MOST_FEATURES}, each of 1 to 32 characters of a-z, 0-9 and -."


class RegisterLocker(Command):
    locker_id: CheckedLockerId | None = optional(CHOSEN_ID)
    owner_id: CheckedOwnerId = Field(description="Id of the owner, who must exist.")
    alias: Name | None = optional("Display name of the locker.")
    location_id: CheckedLocationId | None = optional("Id of the location of the locker, which must be active.")
    reservable_by: ReservableBy = Field(default=ReservableBy.MEMBERS, description="Who may reserve the locker.")
    size: LockerSize = Field(default=LockerSize.M, description="Size of the locker.")
    features: Features | None = optional(_FEATURES)


class RegisterLockers(Command):
    lockers: list[RegisterLocker] = Field(
        min_length=1,
        max_length=MOST_LOCKERS,
        description=f"From 1 to {MOST_LOCKERS} lockers, each as for `registerLocker`.",
    )


class ConfigureLocker(Change):
    """Input of `configureLocker`. Fields that are left out stay as they are."""

    locker_id: CheckedLockerId
    reservable_by: ReservableBy = optional("Who may reserve the locker from now on. Existing reservations stay.")
    size: LockerSize = optional("New size of the locker.")
    features: Features | None = optional(f"{_FEATURES} They replace the present ones; null removes them.")


class RenameLocker(Change):
    locker_id: CheckedLockerId
    alias: Name | None = Field(description="New display name of the locker; null removes the present one.")


class UpdateLockerStatus(Change):
    locker_id: CheckedLockerId
    new_status: LockerStatus = Field(description="New status of the locker.")


class ChangeLocker(ConfigureLocker):
    """A locker of `changeLockers`: its new status, or what is configured. Fields that are left out stay as they are."""

    new_status: LockerStatus = optional("New status of the locker; not together with other fields to change.")

    @model_validator(mode="after")
    def _check_one_change(self) -> Self:
        named = self.model_fields_set - Change.model_fields.keys() - {"locker_id"}
        if not named or ("new_status" in named and len(named) > 1):
            raise ValueError("must each name newStatus or other fields to change, not both and not none")
        return self

    @property
    def command(self) -> UpdateLockerStatus | ConfigureLocker:
        """The same change as the input of its own mutation."""
        named = {name: getattr(self, name) for name in self.model_fields_set}
        return UpdateLockerStatus(**named) if "new_status" in named else ConfigureLocker(**named)


class ChangeLockers(Command):
    lockers: list[ChangeLocker] = Field(
        min_length=1, max_length=MOST_LOCKERS, description=f"From 1 to {MOST_LOCKERS} lockers, each once."
    )


class RetireLocker(Change):
    locker_id: CheckedLockerId


class TransferLocker(Change):
    locker_id: CheckedLockerId
    new_owner_id: CheckedOwnerId = Field(description="Id of the new owner, who must exist.")


class MoveLocker(Change):
    locker_id: CheckedLockerId
    new_location_id: CheckedLocationId | None = Field(
        description="Id of the new location, which must be active. Required: null removes the locker from its location."
    )
