"""Lockers: their inputs, payloads and mutations."""

from __future__ import annotations

from typing import Annotated

import strawberry

from domain import commands
from domain.models import Locker as Record
from domain.models import LockerStatus
from loaders.writes import lockers as writes
from resolvers.context import Info
from resolvers.errors import UserError, attempt
from resolvers.lockers import Locker
from resolvers.permissions import authorised

__all__ = ["LockerMutations"]


@strawberry.input(description="Register a locker with an owner.")
class RegisterLockerInput:
    """See `domain.commands`."""

    locker_id: strawberry.ID | None = strawberry.field(
        default=strawberry.UNSET,
        description="An id of your choice: sent again with the same content, it gives the first result. Made here if "
        "left out.",
    )
    owner_id: strawberry.ID = strawberry.field(description="The owner, who must exist.")
    alias: str | None = strawberry.field(default=strawberry.UNSET, description="What people call it.")
    location_id: strawberry.ID | None = strawberry.field(
        default=strawberry.UNSET, description="Where it stands; an active location."
    )


@strawberry.input(description="Give a locker another alias.")
class RenameLockerInput:
    """See `domain.commands`."""

    locker_id: strawberry.ID = strawberry.field(description="The locker.")
    alias: str = strawberry.field(description="What people shall call it.")
    expected_version: int = strawberry.field(description="The version that you have seen.")


@strawberry.input(description="Take a locker one step through its state machine.")
class UpdateLockerStatusInput:
    """See `domain.commands`."""

    locker_id: strawberry.ID = strawberry.field(description="The locker.")
    new_status: LockerStatus = strawberry.field(description="What it shall do.")
    expected_version: int = strawberry.field(description="The version that you have seen.")


@strawberry.input(description="Give a locker to another owner.")
class TransferLockerInput:
    """See `domain.commands`."""

    locker_id: strawberry.ID = strawberry.field(description="The locker.")
    new_owner_id: strawberry.ID = strawberry.field(description="The new owner, who must exist.")
    expected_version: int = strawberry.field(description="The version that you have seen.")


@strawberry.input(description="Put a locker at another location, or at none.")
class MoveLockerInput:
    """See `domain.commands`."""

    locker_id: strawberry.ID = strawberry.field(description="The locker.")
    new_location_id: strawberry.ID | None = strawberry.field(
        description="Where it shall stand, an active location; null for nowhere."
    )
    expected_version: int = strawberry.field(description="The version that you have seen.")


@strawberry.type(description="What came of registering a locker.")
class RegisterLockerPayload:
    """The locker."""

    locker: Locker | None = strawberry.field(description="The locker, if it was registered.")
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type(description="What came of renaming a locker.")
class RenameLockerPayload:
    """The locker as it is now, after a conflict too."""

    locker: Locker | None = strawberry.field(description="The locker as it is now, after a conflict too.")
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type(description="What came of changing a locker's status.")
class UpdateLockerStatusPayload:
    """The locker as it is now, after a conflict too."""

    locker: Locker | None = strawberry.field(description="The locker as it is now, after a conflict too.")
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type(description="What came of transferring a locker.")
class TransferLockerPayload:
    """The locker as it is now, after a conflict too."""

    locker: Locker | None = strawberry.field(description="The locker as it is now, after a conflict too.")
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type(description="What came of moving a locker.")
class MoveLockerPayload:
    """The locker as it is now, after a conflict too."""

    locker: Locker | None = strawberry.field(description="The locker as it is now, after a conflict too.")
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type
class LockerMutations:
    """Merged into Mutation."""

    @strawberry.mutation(description="Register a locker with an owner that exists.")
    async def register_locker(
        self,
        info: Info,
        input: Annotated[RegisterLockerInput, strawberry.argument(description="What to register.")],
    ) -> RegisterLockerPayload:
        """QC-11."""
        outcome = await attempt(info, commands.RegisterLocker, input, authorised(info, writes.register_locker))
        return RegisterLockerPayload(locker=_shown(outcome.entity), user_errors=outcome.errors)

    @strawberry.mutation(description="Give a locker another alias.")
    async def rename_locker(
        self,
        info: Info,
        input: Annotated[RenameLockerInput, strawberry.argument(description="What to rename.")],
    ) -> RenameLockerPayload:
        """QC-12."""
        outcome = await attempt(info, commands.RenameLocker, input, authorised(info, writes.rename_locker))
        return RenameLockerPayload(locker=_shown(outcome.entity), user_errors=outcome.errors)

    @strawberry.mutation(description="Put a locker at another location that is active, or at none.")
    async def move_locker(
        self,
        info: Info,
        input: Annotated[MoveLockerInput, strawberry.argument(description="What to move.")],
    ) -> MoveLockerPayload:
        """QC-12."""
        outcome = await attempt(info, commands.MoveLocker, input, authorised(info, writes.move_locker))
        return MoveLockerPayload(locker=_shown(outcome.entity), user_errors=outcome.errors)

    @strawberry.mutation(description="Take a locker one step through its state machine.")
    async def update_locker_status(
        self,
        info: Info,
        input: Annotated[UpdateLockerStatusInput, strawberry.argument(description="What to change.")],
    ) -> UpdateLockerStatusPayload:
        """QC-03."""
        outcome = await attempt(info, commands.UpdateLockerStatus, input, authorised(info, writes.update_locker_status))
        return UpdateLockerStatusPayload(locker=_shown(outcome.entity), user_errors=outcome.errors)

    @strawberry.mutation(description="Give a locker to another owner. Live reservations stay with whoever made them.")
    async def transfer_locker(
        self,
        info: Info,
        input: Annotated[TransferLockerInput, strawberry.argument(description="What to transfer.")],
    ) -> TransferLockerPayload:
        """QC-06."""
        outcome = await attempt(info, commands.TransferLocker, input, authorised(info, writes.transfer_locker))
        return TransferLockerPayload(locker=_shown(outcome.entity), user_errors=outcome.errors)


def _shown(record: Record | None) -> Locker | None:
    return None if record is None else Locker.of(record)
