"""Writes of owners: an owner and the claim on its e-mail address change together or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.authorization import Scope, acts_for, is_admin, require
from domain.changes import ChangeRequest
from domain.commands.base import fingerprint
from domain.errors import EmailTakenError, ForbiddenError, IdTakenError, NotFoundError
from domain.models import Owner, OwnerId, record_from
from domain.text import normalize_email
from loaders.codecs import EMAIL_CLAIM, OWNER, EmailClaim
from loaders.contracts.owners import SAVE_OWNER
from loaders.table.errors import TransactionRefusedError

if TYPE_CHECKING:
    from domain.authorization import Principal
    from domain.commands.owners import CreateOwner, UpdateOwner
    from loaders.backend import Backend
    from loaders.table.operations import Step, Transact


async def create_owner(backend: Backend, command: CreateOwner) -> Owner:
    """Creates an owner whose e-mail address, if any, no other owner has (QC-22)."""
    now = backend.clock()
    owner_id = command.owner_id or OwnerId(backend.new_id())
    owner = record_from(Owner, command, owner_id=owner_id, created_at=now, updated_at=now, version=1)
    content = fingerprint(command, without="owner_id")
    try:
        await backend.store.transact(creating(owner, content))
    except TransactionRefusedError as refusal:
        existing = refusal.failed.get("new owner")
        if existing is None:
            raise _email_taken(owner) from None
        if existing.get("fingerprint") != content:
            raise IdTakenError(owner.owner_id, "another owner", ("input", "ownerId")) from None
        return OWNER.decode(existing)
    return owner


async def update_owner(backend: Backend, command: UpdateOwner, principal: Principal) -> Owner:
    """Changes the fields of an owner that the command names; only an administrator changes the role (QC-22)."""
    require(acts_for(principal, command.owner_id, Scope.OWNERS_WRITE), ("input", "ownerId"))
    values = command.values("owner_id")
    if "role" in values and not is_admin(principal):
        raise ForbiddenError("This requires the role ADMIN.", ("input", "role"))
    current: Owner | None = await SAVE_OWNER.read(backend.store, "owner", command.owner_id)
    if current is None:
        raise NotFoundError(f"Owner {command.owner_id} does not exist.", ("input", "ownerId"))
    request = ChangeRequest.of(command, backend.new_id)
    changed = request.apply(current, backend.clock(), **values)
    if changed is current:
        return current
    try:
        await backend.store.transact(changing(current, changed))
    except TransactionRefusedError as refusal:
        item = refusal.failed.get("owner")
        if item is not None:
            request.check_made(OWNER.decode(item))
            return changed
        if "claim" not in refusal.failed:
            raise
        raise _email_taken(changed) from None
    return changed


def creating(owner: Owner, content: str) -> Transact:
    """The request that creates an owner."""
    return SAVE_OWNER.transact(SAVE_OWNER.record_step("new owner", owner, {"fingerprint": content}), *_claim(owner))


def changing(current: Owner, changed: Owner) -> Transact:
    """The request that changes an owner and, with its e-mail address, the claim on it."""
    owner = SAVE_OWNER.change_step("owner", current, changed, expectedVersion=current.version)
    if _address(current) == _address(changed):
        return SAVE_OWNER.transact(owner)
    old = _address(current)
    release = () if old is None else (SAVE_OWNER.step("old claim", (old,), ownerId=current.owner_id),)
    return SAVE_OWNER.transact(owner, *_claim(changed), *release)


def _claim(owner: Owner) -> tuple[Step, ...]:
    address = _address(owner)
    if address is None:
        return ()
    claim = EMAIL_CLAIM.encode(EmailClaim(owner_id=owner.owner_id))
    return (SAVE_OWNER.step("claim", (address,), claim, ownerId=owner.owner_id),)


def _address(owner: Owner) -> str | None:
    return None if owner.email is None else normalize_email(owner.email)


def _email_taken(owner: Owner) -> EmailTakenError:
    return EmailTakenError(f"Another owner has the address {owner.email}.", ("input", "email"))
