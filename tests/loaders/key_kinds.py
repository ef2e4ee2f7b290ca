"""The kind of item that API keys have: codec, model and attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain.api_keys import ApiKey, ApiKeyId, ApiKeyRole
from domain.models import LockerId, OwnerId
from domain.principal import Scope
from domain.times import Instant
from loaders import items

if TYPE_CHECKING:
    from loaders.items import Codec

__all__ = ["KEY_KINDS", "KEY_OPTIONAL"]

KEY_KINDS: dict[str, tuple[Codec[Any], Any, dict[str, Any]]] = {
    "API key": (
        items.API_KEY,
        ApiKey(
            key_id=ApiKeyId("k1"),
            name="Courier",
            role=ApiKeyRole.PARTNER,
            owner_ids=(OwnerId("ada"), OwnerId("bob")),
            locker_id=LockerId("l1"),
            scopes=(Scope.LOCKERS_READ,),
            digest="abc",
            created_at=Instant("2026-03-01T12:00:00.000Z"),
            created_by="root",
            expires_at=Instant("2026-03-01T13:00:00.000Z"),
            revoked_at=Instant("2026-03-01T12:30:00.000Z"),
        ),
        {
            "entityType": "API_KEY",
            "keyId": "k1",
            "name": "Courier",
            "role": "partner",
            "ownerIds": ["ada", "bob"],
            "lockerId": "l1",
            "scopes": ["lockers:read"],
            "digest": "abc",
            "createdAt": "2026-03-01T12:00:00.000Z",
            "createdBy": "root",
            "expiresAt": "2026-03-01T13:00:00.000Z",
            "revokedAt": "2026-03-01T12:30:00.000Z",
        },
    ),
}
KEY_OPTIONAL = {("API key", name) for name in ("lockerId", "expiresAt", "revokedAt")}
