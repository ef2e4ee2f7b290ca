"""The example of the list of API keys, which is read from the index."""

from __future__ import annotations

from domain.api_keys import ApiKey, ApiKeyId, ApiKeyRole
from domain.models import OwnerId
from domain.principal import Scope
from loaders import keys, reads
from loaders.writes.api_keys import api_key_item
from tests.contracts.list_example import NAME, NOON, ListExample, Seed, at

__all__ = ["KEY_LISTS", "OWNERS", "SUBJECT"]

OWNERS = tuple(OwnerId(f"{number:064d}") for number in range(25))
SUBJECT = "s" * 255


def _seed(number: int, owner_ids: tuple[OwnerId, ...] = OWNERS[:1], name: str = "Partner") -> Seed:
    api_key = ApiKey(
        key_id=ApiKeyId(f"{number:064d}"),
        name=name,
        role=ApiKeyRole.PARTNER,
        owner_ids=owner_ids,
        locker_id=None,
        scopes=tuple(Scope),
        digest="f" * 64,
        created_at=at(number),
        created_by=SUBJECT,
        expires_at=NOON,
        revoked_at=NOON,
    )
    return keys.api_key(api_key.key_id), api_key_item(api_key, "f" * 64)


KEY_LISTS: dict[str, ListExample] = {
    "QC-63": ListExample(
        read=lambda store, part, _order, _window: reads.api_keys(store, part),
        seed=_seed,
        large=lambda number: _seed(number, OWNERS, NAME),
        name_of=lambda api_key: str(api_key.key_id),
        own=("APIKEY", ""),
        in_index=True,
    ),
}
