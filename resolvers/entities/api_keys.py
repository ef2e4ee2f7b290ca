"""API keys, for admins: the type, its queries and its mutations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import strawberry

from domain.api_keys import ApiKey as Record
from domain.api_keys import ApiKeyRole
from domain.authorization import Scope
from domain.commands.api_keys import CreateApiKey, RevokeApiKey
from domain.ids import require_id
from domain.times import Instant
from loaders.contracts.api_keys import API_KEY_BY_ID, API_KEYS, CREATE_API_KEY, REVOKE_API_KEY
from loaders.writes import api_keys as writes
from resolvers.api.payloads import Payload, current_entity, payload
from resolvers.api.relay import PAGING, Connection
from resolvers.bindings.base import column, embedded
from resolvers.bindings.lists import pages
from resolvers.bindings.references import look_up
from resolvers.bindings.rules import ADMINS
from resolvers.bindings.writes import write
from resolvers.entities.base import command_input, entity, id_argument, optional, without_principal

if TYPE_CHECKING:
    from domain.authorization import Principal
    from loaders.backend import Backend

__all__ = ["ApiKey", "ApiKeyMutations", "ApiKeyQueries"]


@entity(Record)
class ApiKey:
    """An API key. The secret itself is shown only once, when the key is created."""

    key_id: strawberry.ID = column("Id of the key, which is also a part of the secret.")
    name: str = column("Display name of the key.")
    role: ApiKeyRole = column("Role of the holder of the key.")
    owner_ids: list[strawberry.ID] = column("Ids of the owners that a partner acts for.")
    locker_id: strawberry.ID | None = column("Id of the locker of a device.")
    scopes: list[Scope] = column("Permissions of a partner.")
    created_at: Instant = column("Time at which the key was created.")
    created_by: str = column("Subject of the admin who created the key.")
    expires_at: Instant | None = column("Time at which the key expires; null if it does not.")
    revoked_at: Instant | None = column("Time at which the key was revoked; null if it was not.")


@strawberry.type
class ApiKeyQueries:
    """Merged into Query."""

    api_key: ApiKey | None = look_up(
        API_KEY_BY_ID,
        parse={"key_id": require_id},
        rule=ADMINS,
        message="API key {key_id} does not exist.",
        arguments=[id_argument("key_id", "Id of the key.")],
        description="Look up an API key by its id. Requires an admin.",
    )
    api_keys: Connection[ApiKey] | None = pages(
        API_KEYS,
        rule=ADMINS,
        arguments=PAGING,
        description="All API keys, newest first, including revoked and expired ones. Requires an admin.",
    )


@command_input(CreateApiKey)
class CreateApiKeyInput:
    """Input of `createApiKey`: owners and scopes for a partner, or a locker for a device."""

    key_id: strawberry.ID | None = optional(
        "Id of your choice: a repeated request with the same id and content returns the key without its secret. "
        "Generated if left out."
    )
    name: str = strawberry.field(description="Display name of the key.")
    role: ApiKeyRole = strawberry.field(description="Role of the holder of the key.")
    owner_ids: list[strawberry.ID] = strawberry.field(
        default_factory=list, description="Ids of the owners that a partner acts for, at most 25."
    )
    locker_id: strawberry.ID | None = optional("Id of the locker of a device.")
    scopes: list[Scope] = strawberry.field(default_factory=list, description="Permissions of a partner.")
    expires_at: Instant | None = optional("Time at which the key expires; never if left out.")


@command_input(RevokeApiKey)
class RevokeApiKeyInput:
    """Input of `revokeApiKey`."""

    key_id: strawberry.ID = strawberry.field(description="Id of the key.")


@payload
class CreateApiKeyPayload(Payload):
    """Return type of `createApiKey`."""

    api_key: ApiKey | None = embedded(
        "The key; null if it was not created.",
        lambda outcome, _: None if outcome.entity is None else outcome.entity.record,
    )
    secret: str | None = column(
        "The secret that the holder sends. Store it now: it is never shown again. Null in a repeated request; if it "
        "was lost, revoke the key and create another.",
        lambda outcome, _: None if outcome.entity is None else outcome.entity.secret,
    )


@payload
class RevokeApiKeyPayload(Payload):
    """Return type of `revokeApiKey`."""

    api_key: ApiKey | None = embedded("The revoked key; null if there is no such key.", current_entity)


async def _create(backend: Backend, command: CreateApiKey, principal: Principal) -> writes.CreatedKey:
    return await writes.create_api_key(backend, command, created_by=principal.subject)


@strawberry.type
class ApiKeyMutations:
    """Merged into Mutation."""

    create_api_key: CreateApiKeyPayload = write(
        CREATE_API_KEY, _create, CreateApiKeyInput, ADMINS, description="Create an API key. Requires an admin."
    )
    revoke_api_key: RevokeApiKeyPayload = write(
        REVOKE_API_KEY,
        without_principal(writes.revoke_api_key),
        RevokeApiKeyInput,
        ADMINS,
        description="Revoke an API key for ever. Servers reject it within five seconds. Requires an admin.",
    )
