"""Writes of API keys: a key is created once, shown once, and revoked permanently."""

import secrets
from dataclasses import dataclass, replace

from domain.activity import ActivityKind, Happening
from domain.api_keys import ApiKey, ApiKeyId, format_key, hash_key
from domain.authorization import Principal
from domain.commands.api_keys import CreateApiKey, RevokeApiKey, check_fields_for_role
from domain.commands.base import fingerprint
from domain.errors import BadInputError, IdTakenError, NotFoundError
from domain.models import record_from
from loaders.backend import Backend
from loaders.codecs import API_KEY
from loaders.contracts.api_keys import CREATE_API_KEY, REVOKE_API_KEY
from loaders.table.errors import TransactionRefusedError
from loaders.writes.log import Log
from loaders.writes.optimistic import created_before

_SECRET_BYTES = 32
_CREATED = ActivityKind.API_KEY_CREATED
_REVOKED = ActivityKind.API_KEY_REVOKED


@dataclass(frozen=True, slots=True)
class CreatedKey:
    """A key's record and, only when it is created, the key itself."""

    record: ApiKey
    secret: str | None


async def create_api_key(backend: Backend, command: CreateApiKey, principal: Principal) -> CreatedKey:
    """Creates a key of 256 random bits (QC-61); a client that repeats it gets the record without the secret."""
    check_fields_for_role(command)
    now = backend.clock()
    has_expired = command.expires_at is not None and command.expires_at <= now
    expired = BadInputError("expiresAt must be in the future", ("input", "expiresAt"))
    if has_expired and command.key_id is None:
        raise expired
    key_id = command.key_id or ApiKeyId(backend.new_id())
    secret = format_key(key_id, secrets.token_hex(_SECRET_BYTES))
    api_key = record_from(
        ApiKey,
        command,
        key_id=key_id,
        owner_ids=tuple(dict.fromkeys(command.owner_ids)),
        scopes=tuple(dict.fromkeys(command.scopes)),
        digest=hash_key(secret),
        created_at=now,
        created_by=principal.subject,
    )
    content = fingerprint(command, without="key_id")
    step = CREATE_API_KEY.record_step("key", api_key, {"fingerprint": content})
    if has_expired:  # only a key that exists already can be returned
        step = CREATE_API_KEY.step("no key", (key_id,))
    try:
        if has_expired:
            await backend.store.transact(CREATE_API_KEY.transact(step))
        else:
            await Log(backend, principal).transact(CREATE_API_KEY, [step], _happening(_CREATED, key_id))
    except TransactionRefusedError as refusal:
        taken = IdTakenError(key_id, "another key", ("input", "keyId"))
        first = created_before(refusal, step.name, API_KEY, content, taken)
        if first is None:
            raise
        # The same hash means that this very request wrote the key, although the response was lost.
        return CreatedKey(first, secret if first.digest == api_key.digest else None)
    if has_expired:
        raise expired
    return CreatedKey(api_key, secret)


async def revoke_api_key(backend: Backend, command: RevokeApiKey, principal: Principal) -> ApiKey:
    """Revokes a key (QC-62); one that is already revoked is returned unchanged."""
    current: ApiKey | None = await REVOKE_API_KEY.read(backend.store, "key", command.key_id)
    if current is None:
        raise NotFoundError(f"API key {command.key_id} does not exist.", ("input", "keyId"))
    if current.revoked_at is not None:
        return current
    revoked = replace(current, revoked_at=backend.clock())
    try:
        step = REVOKE_API_KEY.change_step("key", current, revoked)
        await Log(backend, principal).transact(REVOKE_API_KEY, [step], _happening(_REVOKED, command.key_id))
    except TransactionRefusedError as refusal:
        first = refusal.failed["key"]
        if first is None:
            raise
        return API_KEY.decode(first)
    return revoked


def _happening(kind: ActivityKind, key_id: ApiKeyId) -> Happening:
    return Happening(kind=kind, api_key_id=key_id)
