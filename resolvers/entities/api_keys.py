"""API keys, for admins: the type, its queries and its mutations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import strawberry

from domain.api_keys import ApiKey as Record
from domain.api_keys import ApiKeyRole
from domain.authorization import Scope
from domain.commands import api_keys as commands
from domain.ids import check_id
from domain.times import Instant
from loaders.contracts.api_keys import API_KEY_BY_ID, API_KEYS, CHANGE_API_KEY, CREATE_API_KEY
from loaders.contracts.owners import OWNER_BY_ID
from loaders.writes import api_keys as writes
from resolvers.api.mutations import mutations, write
from resolvers.api.relay import Connection, Node
from resolvers.bindings.base import bound_field, column
from resolvers.bindings.lists import pages
from resolvers.bindings.references import References, look_up
from resolvers.bindings.rules import ADMINS
from resolvers.entities.base import CHANGED, VERSION, entity, id_argument

if TYPE_CHECKING:
    from resolvers.entities.owners import Owner


@entity(Record, node={"contract": API_KEY_BY_ID, "key": {"key_id": check_id}, "rule": ADMINS})
class ApiKey(Node):
    """An API key. The secret itself is shown only once, when the key is created."""

    key_id: strawberry.ID = column("Id of the key, which is also a part of the secret.")
    name: str = column("Display name of the key.")
    role: ApiKeyRole = column("Role of the holder of the key.")
    owner_ids: list[strawberry.ID] = column("Ids of the owners that a partner acts for.")
    locker_id: strawberry.ID | None = column("Id of the locker of a device.")
    location_id: strawberry.ID | None = column("Id of the location whose door a device controls.")
    scopes: list[Scope] = column("Permissions of a partner.")
    created_at: Instant = column("Time at which the key was created.")
    created_by: str = column("Subject of the admin who created the key.")
    expires_at: Instant | None = column("Time at which the key expires; null if it does not.")
    suspended_at: Instant | None = column("Time at which the key was suspended; null if it is not suspended.")
    revoked_at: Instant | None = column("Time at which the key was revoked; null if it was not.")
    last_used_at: Instant | None = column(
        "Hour in which the key was last used, stored some minutes later; null if it was not."
    )
    updated_at: Instant = column(
        CHANGED, lambda key, _: key.updated_at or key.created_at, reads=("updated_at", "created_at")
    )
    version: int = column(VERSION)
    owners: list[Annotated[Owner, strawberry.lazy("resolvers.entities.owners")] | None] | None = bound_field(
        References(contract=OWNER_BY_ID, key="owner_ids", usual=2, most=commands.MAX_OWNERS_PER_KEY, rule=ADMINS),
        "Owners that a partner acts for, in the order of `ownerIds`; null for one that does not exist.",
    )


@strawberry.type
class ApiKeyQueries:
    api_key: ApiKey | None = look_up(
        API_KEY_BY_ID,
        rule=ADMINS,
        message="API key {key_id} does not exist.",
        arguments=[id_argument("key_id", "Id of the key.")],
        description="Look up an API key by its id. Requires an admin.",
    )
    api_keys: Connection[ApiKey] | None = pages(
        API_KEYS,
        rule=ADMINS,
        description="All API keys, newest first, including suspended, revoked and expired ones. Requires an admin.",
    )


_SHOWN_ONCE = (
    "The secret that the holder sends. Store it now: it is never shown again. Null in a repeated request; if it was "
    "lost, revoke the key and create another."
)


@mutations(commands, writes)
class ApiKeyMutations:
    create_api_key: ApiKey = write(
        CREATE_API_KEY,
        ADMINS,
        returns="The key; null if it was not created.",
        secret=("secret", _SHOWN_ONCE),
        description="Create an API key. Requires an admin.",
    )
    suspend_api_key: ApiKey = write(
        CHANGE_API_KEY,
        ADMINS,
        description="Suspend an API key until it is resumed. Servers reject it within five seconds, and end its "
        "subscriptions. Requires an admin.",
    )
    resume_api_key: ApiKey = write(CHANGE_API_KEY, ADMINS, description="Resume a suspended API key. Requires an admin.")
    revoke_api_key: ApiKey = write(
        CHANGE_API_KEY,
        ADMINS,
        returns="The revoked key; null if there is no such key.",
        description="Revoke an API key permanently. Servers reject it within five seconds. Requires an admin.",
    )
