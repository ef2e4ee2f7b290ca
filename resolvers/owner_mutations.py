"""Owners: their inputs, payloads and mutations."""

from __future__ import annotations

from typing import Annotated

import strawberry

from domain import commands
from domain.models import Owner as Record
from domain.models import OwnerKind, OwnerRole
from loaders.writes import owners as writes
from resolvers.context import Info
from resolvers.errors import UserError, attempt
from resolvers.owners import Owner
from resolvers.permissions import authorised

__all__ = ["OwnerMutations"]


@strawberry.input(description="Create an owner.")
class CreateOwnerInput:
    """See `domain.commands`."""

    owner_id: strawberry.ID | None = strawberry.field(
        default=strawberry.UNSET,
        description="An id of your choice: sent again with the same content, it gives the first result. Made here if "
        "left out.",
    )
    kind: OwnerKind = strawberry.field(description="A person or an organisation.")
    name: str = strawberry.field(description="Its name.")
    email: str | None = strawberry.field(
        default=strawberry.UNSET, description="Its e-mail address, which no other owner may have."
    )
    phone: str | None = strawberry.field(default=strawberry.UNSET, description="Its telephone number.")
    role: OwnerRole = strawberry.field(default=OwnerRole.USER, description="What it may do beside using lockers.")


@strawberry.input(description="Change an owner; what is left out stays.")
class UpdateOwnerInput:
    """See `domain.commands`."""

    owner_id: strawberry.ID = strawberry.field(description="The owner.")
    expected_version: int = strawberry.field(description="The version that you have seen.")
    name: str | None = strawberry.field(default=strawberry.UNSET, description="Its new name.")
    email: str | None = strawberry.field(
        default=strawberry.UNSET, description="Its new e-mail address; null takes the present one away."
    )
    phone: str | None = strawberry.field(
        default=strawberry.UNSET, description="Its new telephone number; null takes the present one away."
    )
    role: OwnerRole | None = strawberry.field(default=strawberry.UNSET, description="Its new role.")


@strawberry.type(description="What came of creating an owner.")
class CreateOwnerPayload:
    """The owner."""

    owner: Owner | None = strawberry.field(description="The owner, if it was created.")
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type(description="What came of changing an owner.")
class UpdateOwnerPayload:
    """The owner as it is now, after a conflict too."""

    owner: Owner | None = strawberry.field(description="The owner as it is now, after a conflict too.")
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type
class OwnerMutations:
    """Merged into Mutation."""

    @strawberry.mutation(description="Create an owner.")
    async def create_owner(
        self,
        info: Info,
        input: Annotated[CreateOwnerInput, strawberry.argument(description="What to create.")],
    ) -> CreateOwnerPayload:
        """QC-22."""
        outcome = await attempt(info, commands.CreateOwner, input, writes.create_owner)
        return CreateOwnerPayload(owner=_shown(outcome.entity), user_errors=outcome.errors)

    @strawberry.mutation(description="Change an owner's name or e-mail address.")
    async def update_owner(
        self,
        info: Info,
        input: Annotated[UpdateOwnerInput, strawberry.argument(description="What to change.")],
    ) -> UpdateOwnerPayload:
        """QC-22."""
        outcome = await attempt(info, commands.UpdateOwner, input, authorised(info, writes.update_owner))
        return UpdateOwnerPayload(owner=_shown(outcome.entity), user_errors=outcome.errors)


def _shown(record: Record | None) -> Owner | None:
    return None if record is None else Owner.of(record)
