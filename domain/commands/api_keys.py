"""Inputs of the API key mutations."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from domain.api_keys import ApiKeyId, ApiKeyRole
from domain.authorization import Scope
from domain.commands.base import CheckedLockerId, CheckedOwnerId, Command, Name
from domain.errors import BadInputError, Problem
from domain.ids import check_id
from domain.times import Instant

__all__ = ["MAX_OWNERS_PER_KEY", "CreateApiKey", "RevokeApiKey", "check_fields_for_role"]

MAX_OWNERS_PER_KEY = 25

CheckedApiKeyId = Annotated[ApiKeyId, AfterValidator(check_id)]


class CreateApiKey(Command):
    """Create an API key."""

    key_id: CheckedApiKeyId | None = None
    name: Name
    role: ApiKeyRole
    owner_ids: list[CheckedOwnerId] = Field(default_factory=list, max_length=MAX_OWNERS_PER_KEY)
    locker_id: CheckedLockerId | None = None
    scopes: list[Scope] = Field(default_factory=list, max_length=len(Scope))
    expires_at: Instant | None = None


class RevokeApiKey(Command):
    """Revoke an API key permanently."""

    key_id: CheckedApiKeyId


def check_fields_for_role(command: CreateApiKey) -> None:
    """Checks that a partner key has owners and scopes, a device key a locker, and neither the fields of the other.

    Raises:
        BadInputError: with every problem.
    """
    is_partner = command.role is ApiKeyRole.PARTNER
    required = {"ownerIds": is_partner, "scopes": is_partner, "lockerId": not is_partner}
    values = {"ownerIds": command.owner_ids, "scopes": command.scopes, "lockerId": command.locker_id}
    problems = [
        Problem(f"{name} {'is required' if is_required else 'is not allowed'} for a {command.role}", ("input", name))
        for name, is_required in required.items()
        if bool(values[name]) is not is_required
    ]
    if problems:
        raise BadInputError(problems[0].message, problems[0].path, problems)
