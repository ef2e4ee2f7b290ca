"""API keys, for admins: the type, its queries and its mutations."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import strawberry

from domain.api_keys import ApiKey as Record
from domain.api_keys import ApiKeyId, ApiKeyRole, CreateApiKey, RevokeApiKey
from domain.errors import MissingError
from domain.principal import Scope
from domain.text import require_id
from domain.times import Instant
from loaders import reads
from loaders.writes import api_keys as writes
from resolvers.context import Info
from resolvers.errors import UserError, attempt
from resolvers.relay import After, Before, Connection, First, Last, connection_of, slice_from

__all__ = ["ApiKey", "ApiKeyMutations", "ApiKeyQueries"]


@strawberry.type(description="What is known of an API key; the key itself is shown once, when it is made.")
class ApiKey:
    """Shown without the hash of its secret."""

    key_id: strawberry.ID = strawberry.field(description="Its id, which is also a part of the key.")
    name: str = strawberry.field(description="What people call it.")
    role: ApiKeyRole = strawberry.field(description="Whom it is for.")
    owner_ids: list[strawberry.ID] = strawberry.field(description="The owners that a partner is bound to.")
    locker_id: strawberry.ID | None = strawberry.field(description="A device's locker.")
    scopes: list[Scope] = strawberry.field(description="What a partner may do.")
    created_at: Instant = strawberry.field(description="When it was made.")
    created_by: str = strawberry.field(description="Who made it.")
    expires_at: Instant | None = strawberry.field(description="When it ends by itself; null: never.")
    revoked_at: Instant | None = strawberry.field(description="When it was revoked; null: it was not.")

    @classmethod
    def of(cls, record: Record) -> ApiKey:
        """The key as the schema shows it."""
        return cls(
            key_id=strawberry.ID(record.key_id),
            name=record.name,
            role=record.role,
            owner_ids=[strawberry.ID(owner_id) for owner_id in record.owner_ids],
            locker_id=None if record.locker_id is None else strawberry.ID(record.locker_id),
            scopes=list(record.scopes),
            created_at=record.created_at,
            created_by=record.created_by,
            expires_at=record.expires_at,
            revoked_at=record.revoked_at,
        )


@strawberry.type
class ApiKeyQueries:
    """Merged into Query."""

    @strawberry.field(description="An API key by its id; for admins.")
    async def api_key(
        self, info: Info, key_id: Annotated[strawberry.ID, strawberry.argument(description="The key's id.")]
    ) -> ApiKey | None:
        """QC-60; null with NOT_FOUND where there is none."""
        plain_id = ApiKeyId(require_id(key_id, "keyId"))
        record = await info.context.loaders.api_key.load(plain_id)
        if record is None:
            raise MissingError(f"There is no API key {plain_id}.")
        return ApiKey.of(record)

    @strawberry.field(description="All API keys, newest first, revoked and expired ones included; for admins.")
    async def api_keys(
        self,
        info: Info,
        first: First = strawberry.UNSET,
        after: After = strawberry.UNSET,
        last: Last = strawberry.UNSET,
        before: Before = strawberry.UNSET,
    ) -> Connection[ApiKey] | None:
        """QC-63."""
        part = slice_from(info, first, after, last, before)
        return connection_of(await reads.api_keys(info.context.backend.store, part), ApiKey.of)


@strawberry.input(description="Create an API key: for a partner with owners and scopes, or for a device with a locker.")
class CreateApiKeyInput:
    """See `domain.api_keys`."""

    key_id: strawberry.ID | None = strawberry.field(
        default=strawberry.UNSET,
        description="An id of your choice: sent again with the same content, it gives the first key, without its "
        "secret. Made here if left out.",
    )
    name: str = strawberry.field(description="What people call it.")
    role: ApiKeyRole = strawberry.field(description="Whom it is for.")
    owner_ids: list[strawberry.ID] = strawberry.field(
        default_factory=list, description="The owners that a partner is bound to, 25 at most."
    )
    locker_id: strawberry.ID | None = strawberry.field(default=strawberry.UNSET, description="A device's locker.")
    scopes: list[Scope] = strawberry.field(default_factory=list, description="What a partner may do.")
    expires_at: Instant | None = strawberry.field(
        default=strawberry.UNSET, description="When it ends by itself; left out: never."
    )


@strawberry.input(description="Revoke an API key, for good.")
class RevokeApiKeyInput:
    """See `domain.api_keys`."""

    key_id: strawberry.ID = strawberry.field(description="The key.")


@strawberry.type(description="What came of creating an API key.")
class CreateApiKeyPayload:
    """The key, and the one sight of its secret."""

    api_key: ApiKey | None = strawberry.field(description="The key, if it was created.")
    secret: str | None = strawberry.field(
        description="The key as its holder sends it: keep it now, it is never shown again. Null in a repeat; if it was "
        "lost, revoke the key and create another."
    )
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type(description="What came of revoking an API key.")
class RevokeApiKeyPayload:
    """The key."""

    api_key: ApiKey | None = strawberry.field(description="The key as it is now, if there is one.")
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type
class ApiKeyMutations:
    """Merged into Mutation."""

    @strawberry.mutation(description="Create an API key; for admins.")
    async def create_api_key(
        self,
        info: Info,
        input: Annotated[CreateApiKeyInput, strawberry.argument(description="What to create.")],
    ) -> CreateApiKeyPayload:
        """QC-61."""
        write = partial(writes.create_api_key, created_by=info.context.principal.subject)
        outcome = await attempt(info, CreateApiKey, input, write)
        created = outcome.entity
        return CreateApiKeyPayload(
            api_key=None if created is None else ApiKey.of(created.record),
            secret=None if created is None else created.secret,
            user_errors=outcome.errors,
        )

    @strawberry.mutation(description="Revoke an API key, for good: within five seconds no server takes it; for admins.")
    async def revoke_api_key(
        self,
        info: Info,
        input: Annotated[RevokeApiKeyInput, strawberry.argument(description="What to revoke.")],
    ) -> RevokeApiKeyPayload:
        """QC-62."""
        outcome = await attempt(info, RevokeApiKey, input, writes.revoke_api_key)
        return RevokeApiKeyPayload(
            api_key=None if outcome.entity is None else ApiKey.of(outcome.entity), user_errors=outcome.errors
        )
