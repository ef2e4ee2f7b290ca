"""Writes of owners: an owner and the claim on its email address change together or not at all."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from domain.activity import ActivityKind, Happening, changes_between
from domain.authorization import Principal, Scope, acts_for, is_admin, require
from domain.changes import ChangeRequest
from domain.commands.base import fingerprint
from domain.commands.owners import CreateOwner, UpdateOwner
from domain.errors import EmailTakenError, ForbiddenError, IdTakenError, NotFoundError
from domain.models import Owner, OwnerId, record_from
from domain.text import normalize_email, phone_digits
from loaders import keys
from loaders.backend import Backend
from loaders.codecs import EMAIL_CLAIM, OWNER, OWNER_NAME, OWNER_PHONE, EmailClaim, OwnerPhone
from loaders.contracts.owners import SAVE_OWNER
from loaders.table.errors import TransactionRefusedError
from loaders.writes.log import Log
from loaders.writes.optimistic import Decision, created_before, optimistic_write

if TYPE_CHECKING:
    from loaders.table.operations import Step
    from loaders.table.positions import Key


async def create_owner(backend: Backend, command: CreateOwner, principal: Principal) -> Owner:
    """Creates an owner whose email address, if any, no other owner has (QC-22)."""
    now = backend.clock()
    owner_id = command.owner_id or OwnerId(backend.new_id())
    owner = record_from(Owner, command, owner_id=owner_id, created_at=now, updated_at=now, version=1)
    content = fingerprint(command, without="owner_id")
    try:
        happening = _happening(ActivityKind.OWNER_CREATED, owner)
        await Log(backend, principal).transact(SAVE_OWNER, create_steps(owner, content), happening)
    except TransactionRefusedError as refusal:
        taken = IdTakenError(owner_id, "another owner", ("input", "ownerId"))
        first = created_before(refusal, "new owner", OWNER, content, taken)
        if first is None:
            raise _email_taken(owner) from None
        return first
    return owner


async def update_owner(backend: Backend, command: UpdateOwner, principal: Principal) -> Owner:
    """Changes the fields of an owner that the command names; only an administrator changes the role (QC-22)."""
    require(acts_for(principal, command.owner_id, Scope.OWNERS_WRITE), ("input", "ownerId"))
    values = command.values("owner_id")
    if "role" in values and not is_admin(principal):
        raise ForbiddenError("This requires the role ADMIN.", ("input", "role"))
    request = ChangeRequest.of(command, backend.new_id)

    async def decide(_: Counter[str]) -> Decision[Owner]:
        current: Owner | None = await SAVE_OWNER.read(backend.store, "owner", command.owner_id)
        if current is None:
            raise NotFoundError(f"Owner {command.owner_id} does not exist.", ("input", "ownerId"))
        changed = request.apply(current, backend.clock(), **values)

        def on_refusal(refusal: TransactionRefusedError) -> Owner | None:
            item = refusal.failed.get("owner")
            if item is not None:
                request.check_made(OWNER.decode(item))
                return changed
            if "claim" in refusal.failed:
                raise _email_taken(changed) from None
            return None

        if changed is current:
            return Decision(changed)
        happening = _happening(ActivityKind.OWNER_CHANGED, changed, current)
        return Decision(changed, change_steps(current, changed), [happening], on_refusal)

    return await optimistic_write(backend.store, SAVE_OWNER, decide, log=Log(backend, principal))


def create_steps(owner: Owner, content: str) -> list[Step]:
    created = SAVE_OWNER.record_step("new owner", owner, {"fingerprint": content})
    return [created, SAVE_OWNER.record_step("name", owner), *_claim(owner), *_phone(owner)]


def _happening(kind: ActivityKind, owner: Owner, before: Owner | None = None) -> Happening:
    changes = () if before is None else changes_between(before, owner)
    return Happening(kind=kind, owner_id=owner.owner_id, version=owner.version, changes=changes)


def change_steps(current: Owner, changed: Owner) -> list[Step]:
    """The steps that change an owner and its copy, and what it is found by as far as that changes."""
    steps = [
        SAVE_OWNER.change_step("owner", current, changed, expectedVersion=current.version),
        SAVE_OWNER.record_step("name", changed),
    ]
    old, phone = _address(current), _phone_of(current)
    if old != _address(changed):
        steps += _claim(changed)
        steps += () if old is None else (SAVE_OWNER.step("old claim", (old,), ownerId=current.owner_id),)
    if phone != _phone_of(changed):
        steps += _phone(changed)
        steps += () if phone is None else (SAVE_OWNER.step("old phone", (phone.digits, phone.owner_id)),)
    return steps


def directory_of(owner: Owner) -> dict[Key, dict[str, Any]]:
    """The items by which an owner is found by its name and its phone number."""
    phone = _phone_of(owner)
    found = {} if phone is None else {OWNER_PHONE.key_of(phone): OWNER_PHONE.encode(phone)}
    return {OWNER_NAME.key_of(owner): OWNER_NAME.encode(owner), **found}


def claim_of(owner: Owner) -> dict[Key, dict[str, Any]]:
    """The claim on the email address of an owner, if it has one."""
    address, claim = _address(owner), EmailClaim(owner_id=owner.owner_id)
    return {} if address is None else {keys.email_claim(address): EMAIL_CLAIM.encode(claim)}


def _claim(owner: Owner) -> list[Step]:
    address = (_address(owner),)
    return [SAVE_OWNER.step("claim", address, claim, ownerId=owner.owner_id) for claim in claim_of(owner).values()]


def _phone_of(owner: Owner) -> OwnerPhone | None:
    return None if owner.phone is None else OwnerPhone(digits=phone_digits(owner.phone), owner_id=owner.owner_id)


def _phone(owner: Owner) -> list[Step]:
    phone = _phone_of(owner)
    return [] if phone is None else [SAVE_OWNER.record_step("phone", phone)]


def _address(owner: Owner) -> str | None:
    return None if owner.email is None else normalize_email(owner.email)


def _email_taken(owner: Owner) -> EmailTakenError:
    return EmailTakenError(f"Another owner has the address {owner.email}.", ("input", "email"))
