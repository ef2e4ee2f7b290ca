"""An example of every contract of API keys, in the form of `examples`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.api_keys import ApiKeyId, ApiKeyRole, CreateApiKey, RevokeApiKey
from domain.principal import Scope
from domain.times import LATEST
from loaders import reads
from loaders.writes.api_keys import create_api_key, revoke_api_key
from tests.contracts.examples import Example, list_example
from tests.contracts.key_lists import OWNERS, SUBJECT
from tests.contracts.list_example import NAME

if TYPE_CHECKING:
    from loaders.backend import Backend

__all__ = ["KEY_EXAMPLES"]

KEY = ApiKeyId("k" * 64)


async def _create(backend: Backend, _: object = None) -> object:
    command = CreateApiKey(
        key_id=KEY,
        name=NAME,
        role=ApiKeyRole.PARTNER,
        owner_ids=list(OWNERS),
        scopes=list(Scope),
        expires_at=LATEST,
    )
    return await create_api_key(backend, command, SUBJECT)


KEY_EXAMPLES: dict[str, Example] = {
    "QC-60": Example(prepare=_create, run=lambda backend: reads.api_key(backend.store, KEY), operations={"GetItem": 1}),
    "QC-61": Example(run=_create, operations={"TransactWriteItems": 1}),
    "QC-62": Example(
        prepare=_create,
        run=lambda backend: revoke_api_key(backend, RevokeApiKey(key_id=KEY)),
        operations={"GetItem": 1, "TransactWriteItems": 1},
    ),
    "QC-63": list_example("QC-63"),
}
