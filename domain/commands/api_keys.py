"""Inputs of the API key mutations."""

from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic.alias_generators import to_camel

from domain.api_keys import ApiKeyId, ApiKeyRole
from domain.authorization import Scope
from domain.commands.base import Change, CheckedLocationId, CheckedLockerId, CheckedOwnerId, Command, Name, optional
from domain.errors import BadInputError, Problem
from domain.ids import check_id
from domain.times import Instant

MAX_OWNERS_PER_KEY = 25

CheckedApiKeyId = Annotated[ApiKeyId, AfterValidator(check_id), Field(description="Id of the key.")]


class CreateApiKey(Command):
    """Input of `createApiKey`: owners and scopes for a partner, or a locker or a location for a device."""

    key_id: CheckedApiKeyId | None = optional(
        "Id of your choice: a repeated request with the same id and content returns the key without its secret. "
        "Generated if left out."
    )
    name: Name = Field(description="Display name of the key.")
    role: ApiKeyRole = Field(description="Role of the holder of the key.")
    owner_ids: list[CheckedOwnerId] = Field(
        default_factory=list,
        max_length=MAX_OWNERS_PER_KEY,
        description="Ids of the owners that a partner acts for, at most 25.",
    )
    locker_id: CheckedLockerId | None = optional("Id of the locker of a device.")
    location_id: CheckedLocationId | None = optional("Id of the location, for the device of a location's door.")
    scopes: list[Scope] = Field(default_factory=list, max_length=len(Scope), description="Permissions of a partner.")
    expires_at: Instant | None = optional("Time at which the key expires; never if left out.")


class SuspendApiKey(Change):
    key_id: CheckedApiKeyId


class ResumeApiKey(Change):
    key_id: CheckedApiKeyId


class RevokeApiKey(Command):
    key_id: CheckedApiKeyId


def check_fields_for_role(command: CreateApiKey) -> None:
    """Checks that a partner key has owners and scopes, a device key a locker or a location, and none of the others."""
    is_partner = command.role is ApiKeyRole.PARTNER
    required = {"ownerIds": is_partner, "scopes": is_partner}
    if is_partner or command.location_id is None:
        required["lockerId"] = not is_partner
    if is_partner or command.locker_id is not None:
        required["locationId"] = False
    values = {to_camel(name): getattr(command, name) for name in ("owner_ids", "scopes", "locker_id", "location_id")}
    either = {"lockerId": "lockerId or locationId"}
    problems = [
        Problem(
            f"{either.get(name, name)} is required for a {command.role}"
            if is_required
            else f"{name} is not allowed for a {command.role}",
            ("input", name),
        )
        for name, is_required in required.items()
        if bool(values[name]) is not is_required
    ]
    if problems:
        raise BadInputError(problems[0].message, problems[0].path, problems)
