"""API keys of partners and devices: the stored record, the text of a key, and its verification."""

import hashlib
import hmac
import re
from dataclasses import dataclass
from typing import NewType

from domain.authorization import Principal, Role, Scope
from domain.enums import DescribedEnum
from domain.models import LocationId, LockerId, OwnerId
from domain.times import Instant, to_seconds

ApiKeyId = NewType("ApiKeyId", str)

KEY_PREFIX = "slk_"
"""Prefix of every key, so that people and secret scanners recognize one."""
KEY_SUBJECT = "key:"
"""How the subject of an API key as a caller begins; its id follows."""
_KEY = re.compile(rf"{KEY_PREFIX}(?P<id>[A-Za-z0-9_-]{{1,64}})_[0-9a-f]{{64}}")


class ApiKeyRole(DescribedEnum):
    """Role of the holder of an API key."""

    PARTNER = "partner", "Partner who acts for certain owners."
    DEVICE = "device", "Device of one locker."


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """The stored record of a key: enough to verify a key, not enough to reconstruct it."""

    key_id: ApiKeyId
    name: str
    role: ApiKeyRole
    owner_ids: tuple[OwnerId, ...]
    """Owners that a partner may act for."""
    locker_id: LockerId | None
    """Locker of a device."""
    scopes: tuple[Scope, ...]
    digest: str
    created_at: Instant
    created_by: str
    expires_at: Instant | None
    revoked_at: Instant | None = None
    location_id: LocationId | None = None
    """Location of a device that controls a location's door."""
    suspended_at: Instant | None = None
    last_used_at: Instant | None = None
    """Hour of the last request that was authenticated with it, as far as it was stored."""
    version: int = 1
    updated_at: Instant | None = None
    last_change: str | None = None


def format_key(key_id: ApiKeyId, secret: str) -> str:
    """Returns the key that the client sends; `secret` is 256 random bits in hexadecimal."""
    return f"{KEY_PREFIX}{key_id}_{secret}"


def parse_key_id(text: str) -> ApiKeyId | None:
    match = _KEY.fullmatch(text)
    return None if match is None else ApiKeyId(match["id"])


def hash_key(text: str) -> str:
    """Returns the stored digest of a key. A fast hash is enough because the secret is 256 random bits."""
    return hashlib.sha256(text.encode()).hexdigest()


def verify_key(api_key: ApiKey, text: str) -> bool:
    """Compares a text with the stored digest in constant time."""
    return hmac.compare_digest(api_key.digest, hash_key(text))


def principal_for_key(api_key: ApiKey) -> Principal:
    return Principal(
        subject=f"{KEY_SUBJECT}{api_key.key_id}",
        role=Role(api_key.role),
        partner_of=frozenset(api_key.owner_ids),
        locker_id=api_key.locker_id,
        location_id=api_key.location_id,
        scopes=frozenset(api_key.scopes),
        by_key=True,
        credential=api_key.key_id,
        expires_at=None if api_key.expires_at is None else to_seconds(api_key.expires_at),
    )
