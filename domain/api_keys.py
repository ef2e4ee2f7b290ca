"""API keys of partners and devices: what one is, what may be asked for, and who it stands for."""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, NewType

from pydantic import AfterValidator, Field

from domain.commands import CheckedLockerId, CheckedOwnerId, Command, Name
from domain.errors import BadInputError, Problem
from domain.models import LockerId, OwnerId
from domain.principal import Principal, Role, Scope
from domain.text import check_id
from domain.times import Instant

__all__ = [
    "KEY_MARK",
    "OWNERS_OF_A_KEY",
    "ApiKey",
    "ApiKeyId",
    "ApiKeyRole",
    "CreateApiKey",
    "RevokeApiKey",
    "check_holder",
    "digest_of",
    "id_in",
    "matches",
    "principal_of",
    "spelled_key",
]

ApiKeyId = NewType("ApiKeyId", str)

KEY_MARK = "slk_"
"""How every key begins, so that people and secret scanners know one when they see it."""
OWNERS_OF_A_KEY = 25
_KEY = re.compile(rf"{KEY_MARK}(?P<id>[A-Za-z0-9_-]{{1,64}})_[0-9a-f]{{64}}")


class ApiKeyRole(StrEnum):
    """Whom a key may be made for: people sign in with their issuer instead."""

    PARTNER = "partner"
    DEVICE = "device"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """All that is kept of a key: enough to know it again, not enough to use it."""

    key_id: ApiKeyId
    name: str
    role: ApiKeyRole
    owner_ids: tuple[OwnerId, ...]
    """The owners that a partner is bound to."""
    locker_id: LockerId | None
    """A device's locker."""
    scopes: tuple[Scope, ...]
    digest: str
    created_at: Instant
    created_by: str
    expires_at: Instant | None
    revoked_at: Instant | None = None


class CreateApiKey(Command):
    """Create a key."""

    key_id: Annotated[ApiKeyId, AfterValidator(check_id)] | None = None
    name: Name
    role: ApiKeyRole
    owner_ids: list[CheckedOwnerId] = Field(default_factory=list, max_length=OWNERS_OF_A_KEY)
    locker_id: CheckedLockerId | None = None
    scopes: list[Scope] = Field(default_factory=list, max_length=len(Scope))
    expires_at: Instant | None = None


class RevokeApiKey(Command):
    """Revoke a key, for good."""

    key_id: Annotated[ApiKeyId, AfterValidator(check_id)]


def check_holder(command: CreateApiKey) -> None:
    """A partner is bound to owners and scopes, a device to its locker, and neither to what is the other's.

    Raises:
        BadInputError: with every problem.
    """
    is_partner = command.role is ApiKeyRole.PARTNER
    wanted = {"ownerIds": is_partner, "scopes": is_partner, "lockerId": not is_partner}
    given = {"ownerIds": command.owner_ids, "scopes": command.scopes, "lockerId": command.locker_id}
    problems = [
        Problem(f"{name} must be {'given' if is_wanted else 'left out'} for a {command.role}", ("input", name))
        for name, is_wanted in wanted.items()
        if bool(given[name]) is not is_wanted
    ]
    if problems:
        raise BadInputError(problems[0].message, problems[0].path, problems)


def spelled_key(key_id: ApiKeyId, secret: str) -> str:
    """The key as its holder sends it; `secret` is 256 random bits in hex."""
    return f"{KEY_MARK}{key_id}_{secret}"


def id_in(text: str) -> ApiKeyId | None:
    """The id of the key that a text may be; None where it can be none."""
    match = _KEY.fullmatch(text)
    return None if match is None else ApiKeyId(match["id"])


def digest_of(text: str) -> str:
    """What is kept of a key's text. A slow hash is for what people think up: 256 random bits cannot be guessed."""
    return hashlib.sha256(text.encode()).hexdigest()


def matches(api_key: ApiKey, text: str) -> bool:
    """Whether a text is this key; takes as long for a near miss as for any other."""
    return hmac.compare_digest(api_key.digest, digest_of(text))


def principal_of(api_key: ApiKey) -> Principal:
    """Who a key stands for."""
    return Principal(
        subject=f"key:{api_key.key_id}",
        role=Role(api_key.role),
        partner_of=frozenset(api_key.owner_ids),
        locker_id=api_key.locker_id,
        scopes=frozenset(api_key.scopes),
        by_key=True,
    )
