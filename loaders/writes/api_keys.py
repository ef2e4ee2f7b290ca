"""Writes of API keys: a key is created once, shown once, suspended and resumed, and revoked permanently."""

import secrets
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from domain.activity import ActivityKind, Happening
from domain.api_keys import ApiKey, ApiKeyId, format_key, hash_key
from domain.authorization import Principal
from domain.changes import ChangeRequest, revised
from domain.commands.api_keys import (
    CreateApiKey,
    ResumeApiKey,
    RevokeApiKey,
    SuspendApiKey,
    check_fields_for_role,
)
from domain.commands.base import fingerprint
from domain.errors import BadInputError, IdTakenError, NotFoundError
from domain.models import record_from
from domain.times import Instant
from loaders.backend import Backend
from loaders.codecs import API_KEY
from loaders.contracts.api_keys import CHANGE_API_KEY, CREATE_API_KEY, STORE_KEY_USE
from loaders.table.client import DynamoStore
from loaders.table.errors import ConditionFailedError, TransactionRefusedError
from loaders.table.recording import RecordedStore
from loaders.writes.log import Log
from loaders.writes.optimistic import Decision, created_before, optimistic_write

_SECRET_BYTES = 32
_ID = ("input", "keyId")
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
            await Log(backend, principal).transact(CREATE_API_KEY, [step], _happening(_CREATED, api_key))
    except TransactionRefusedError as refusal:
        taken = IdTakenError(key_id, "another key", _ID)
        first = created_before(refusal, step.name, API_KEY, content, taken)
        if first is None:
            raise
        # The same hash means that this very request wrote the key, although the response was lost.
        return CreatedKey(first, secret if first.digest == api_key.digest else None)
    if has_expired:
        raise expired
    return CreatedKey(api_key, secret)


async def suspend_api_key(backend: Backend, command: SuspendApiKey, principal: Principal) -> ApiKey:
    """Suspends a key (QC-62); one that is suspended is returned unchanged."""
    return await _change(backend, command, principal, ActivityKind.API_KEY_SUSPENDED, backend.clock())


async def resume_api_key(backend: Backend, command: ResumeApiKey, principal: Principal) -> ApiKey:
    """Resumes a suspended key (QC-62); one that is not suspended is returned unchanged."""
    return await _change(backend, command, principal, ActivityKind.API_KEY_RESUMED, None)


async def revoke_api_key(backend: Backend, command: RevokeApiKey, principal: Principal) -> ApiKey:
    """Revokes a key (QC-62); one that is already revoked is returned unchanged."""

    def revoked(current: ApiKey) -> ApiKey:
        now = backend.clock()
        return current if current.revoked_at is not None else revised(current, now, revoked_at=now)

    return await _write(backend, command.key_id, principal, _REVOKED, revoked)


async def _change(
    backend: Backend,
    command: SuspendApiKey | ResumeApiKey,
    principal: Principal,
    kind: ActivityKind,
    suspended_at: Instant | None,
) -> ApiKey:
    request = ChangeRequest.of(command, backend.new_id)

    def changed(current: ApiKey) -> ApiKey:
        if request.is_made(current):
            return current
        request.check(current)
        if current.revoked_at is not None:
            raise BadInputError(f"API key {current.key_id} was revoked.", _ID)
        if (current.suspended_at is None) is (suspended_at is None):
            return current
        return request.apply(current, backend.clock(), suspended_at=suspended_at)

    return await _write(backend, command.key_id, principal, kind, changed)


async def _write(
    backend: Backend, key_id: ApiKeyId, principal: Principal, kind: ActivityKind, changed: Callable[[ApiKey], ApiKey]
) -> ApiKey:
    async def decide(_: Counter[str]) -> Decision[ApiKey]:
        current: ApiKey | None = await CHANGE_API_KEY.read(backend.store, "key", key_id)
        if current is None:
            raise NotFoundError(f"API key {key_id} does not exist.", _ID)
        after = changed(current)
        if after is current:
            return Decision(current)
        step = CHANGE_API_KEY.change_step("key", current, after, expectedVersion=current.version)
        return Decision(after, [step], [_happening(kind, after)])

    log = Log(backend, principal)
    return await optimistic_write(backend.store, CHANGE_API_KEY, decide, log=log, changed=("API key", "keyId"))


async def store_key_use(store: DynamoStore | RecordedStore, key_id: ApiKeyId, hour: Instant) -> None:
    """Stores the hour in which a key was used, unless a later one is stored or the key is gone (QC-200)."""
    step = STORE_KEY_USE.step("key", (key_id,), {"lastUsedAt": hour}, hour=hour)
    with suppress(ConditionFailedError):
        await store.update(STORE_KEY_USE.update(step))


def _happening(kind: ActivityKind, api_key: ApiKey) -> Happening:
    return Happening(kind=kind, api_key_id=api_key.key_id, version=api_key.version)
