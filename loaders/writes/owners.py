"""Writes of owners: an owner and the claim on its e-mail address change together or not at all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from domain.commands import fingerprint
from domain.errors import BadInputError, EmailTakenError, IdTakenError, MissingError, VersionConflictError
from domain.models import Owner, OwnerId
from domain.principal import Scope, acts_for, is_admin, require
from domain.text import normalised_email
from loaders import keys
from loaders.contracts import QC_22
from loaders.items import EMAIL_CLAIM, OWNER, EmailClaim, difference
from loaders.table.errors import TransactionRefusedError

if TYPE_CHECKING:
    from domain.commands import CreateOwner, UpdateOwner
    from domain.principal import Principal
    from loaders.backend import Backend
    from loaders.table.operations import Step, Transact

__all__ = ["changing", "create_owner", "creating", "update_owner"]


async def create_owner(backend: Backend, command: CreateOwner) -> Owner:
    """Creates an owner whose e-mail address, if any, is nobody else's (QC-22)."""
    now = backend.clock()
    owner = Owner(
        owner_id=command.owner_id or OwnerId(backend.new_id()),
        kind=command.kind,
        name=command.name,
        email=command.email,
        created_at=now,
        updated_at=now,
        version=1,
        phone=command.phone,
        role=command.role,
    )
    content = fingerprint(command, without="owner_id")
    try:
        await backend.store.transact(creating(owner, content))
    except TransactionRefusedError as refusal:
        existing = refusal.failed.get("new owner")
        if existing is None:
            raise _email_taken(owner) from None
        if existing.get("fingerprint") != content:
            message = f"The id {owner.owner_id} was used before, for another owner."
            raise IdTakenError(message, ("input", "ownerId")) from None
        return OWNER.decode(existing)
    return owner


async def update_owner(backend: Backend, command: UpdateOwner, principal: Principal) -> Owner:
    """Changes what the command names of an owner; its role only by an admin (QC-22)."""
    given = command.model_fields_set - {"owner_id", "expected_version"}
    require(acts_for(principal, command.owner_id, Scope.OWNERS_WRITE), ("input", "ownerId"))
    require("role" not in given or is_admin(principal), ("input", "role"))
    if not given:
        raise BadInputError("Give something to change.", ("input",))
    item = await backend.store.get(QC_22.get(keys.owner(command.owner_id), consistent=True))
    if item is None:
        raise MissingError(f"There is no owner {command.owner_id}.", ("input", "ownerId"))
    current = OWNER.decode(item)
    if current.version != command.expected_version:
        raise VersionConflictError(current)
    changes = {name: getattr(command, name) for name in given}
    changed = replace(current, **changes, updated_at=backend.clock(), version=current.version + 1)
    try:
        await backend.store.transact(changing(current, changed))
    except TransactionRefusedError as refusal:
        now_there = refusal.failed.get("owner")
        if now_there is not None:
            raise VersionConflictError(OWNER.decode(now_there)) from None
        if "claim" not in refusal.failed:
            raise
        raise _email_taken(changed) from None
    return changed


def creating(owner: Owner, content: str) -> Transact:
    """The request that creates an owner."""
    record = OWNER.encode(owner) | {"fingerprint": content}
    return QC_22.transact(QC_22.step("new owner", keys.owner(owner.owner_id), record), *_claim(owner))


def changing(current: Owner, changed: Owner) -> Transact:
    """The request that changes an owner and, where the address is another, moves the claim."""
    attributes = difference(OWNER.encode(current), OWNER.encode(changed))
    owner = QC_22.step("owner", keys.owner(current.owner_id), attributes, expectedVersion=current.version)
    if _address(current) == _address(changed):
        return QC_22.transact(owner)
    old = _address(current)
    release = () if old is None else (QC_22.step("old claim", keys.email_claim(old), ownerId=current.owner_id),)
    return QC_22.transact(owner, *_claim(changed), *release)


def _claim(owner: Owner) -> tuple[Step, ...]:
    address = _address(owner)
    if address is None:
        return ()
    claim = EMAIL_CLAIM.encode(EmailClaim(owner_id=owner.owner_id))
    return (QC_22.step("claim", keys.email_claim(address), claim, ownerId=owner.owner_id),)


def _address(owner: Owner) -> str | None:
    return None if owner.email is None else normalised_email(owner.email)


def _email_taken(owner: Owner) -> EmailTakenError:
    return EmailTakenError(f"Another owner has the address {owner.email}.", ("input", "email"))
