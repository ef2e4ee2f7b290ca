"""The callers of tests: an authenticator that takes the principal from a header."""

import json
from dataclasses import asdict
from typing import Any

from starlette.requests import Request

from domain.authorization import DEVELOPMENT_ADMIN, Principal, Role, Scope
from domain.errors import ForbiddenError
from domain.models import LocationId, LockerId, OwnerId

HEADER = "X-Test-Principal"
REFUSAL = str(ForbiddenError())


def owner(owner_id: str, *organizations: str) -> Principal:
    """An owner, and the organizations that it belongs to."""
    belongs = frozenset(map(OwnerId, organizations))
    return Principal(subject=owner_id, role=Role.OWNER, owner_id=OwnerId(owner_id), organizations=belongs)


def admin(owner_id: str) -> Principal:
    """An admin who is also an owner."""
    return Principal(subject=owner_id, role=Role.ADMIN, owner_id=OwnerId(owner_id))


def partner(*scopes: Scope, of: str | tuple[str, ...] = "ada") -> Principal:
    """A partner that is bound to one owner or several."""
    bound = frozenset(map(OwnerId, (of,) if isinstance(of, str) else of))
    return Principal(subject="partner", role=Role.PARTNER, partner_of=bound, scopes=frozenset(scopes))


def device(locker_id: str) -> Principal:
    return Principal(subject=f"device of {locker_id}", role=Role.DEVICE, locker_id=LockerId(locker_id))


def device_at(location_id: str) -> Principal:
    """The device of a location's door."""
    return Principal(subject=f"device at {location_id}", role=Role.DEVICE, location_id=LocationId(location_id))


SUPPORT = Principal(subject="sue", role=Role.SUPPORT)


def spelled(principal: Principal) -> str:
    return json.dumps(asdict(principal), default=sorted)


async def principal_of_header(request: Request) -> Principal:
    """An authenticator: the principal that the header names; without it, the admin of the development profile."""
    text = request.headers.get(HEADER.lower())
    if text is None:
        return DEVELOPMENT_ADMIN
    values: dict[str, Any] = json.loads(text)
    return Principal(
        subject=values["subject"],
        role=Role(values["role"]),
        owner_id=values["owner_id"],
        organizations=frozenset(values["organizations"]),
        partner_of=frozenset(values["partner_of"]),
        locker_id=values["locker_id"],
        location_id=values["location_id"],
        scopes=frozenset(map(Scope, values["scopes"])),
        by_key=values["by_key"],
        credential=values["credential"],
    )
