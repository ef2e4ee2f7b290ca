"""Writes of owners: an owner and the claim on its email address change together or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from domain.activity import ActivityKind, Happening, changes_between
from domain.authorization import Principal, Scope, acts_for, is_admin, require
from domain.bookings import is_open_booking
from domain.changes import ChangeRequest, revised
from domain.commands.base import fingerprint
from domain.commands.owners import CreateOwner, EraseOwner, UpdateOwner
from domain.errors import (
    EmailTakenError,
    ForbiddenError,
    IdTakenError,
    NotFoundError,
    OwnerErasedError,
    OwnerInUseError,
)
from domain.models import LockerStatus, Owner, OwnerId, OwnerRole, record_from
from domain.text import normalize_email, phone_digits
from domain.times import Instant
from loaders import keys
from loaders.backend import Backend
from loaders.codecs import EMAIL_CLAIM, OWNER, OWNER_NAME, OWNER_PHONE, EmailClaim, Erasure, OwnerPhone, WebhookCount
from loaders.contracts.base import MAX_ITEMS
from loaders.contracts.owners import ERASE_OWNER, SAVE_OWNER
from loaders.contracts.writing import WriteContract
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
        current = await _read(backend, SAVE_OWNER, command.owner_id)
        if current.erasure_requested_at is not None:
            raise OwnerErasedError(command.owner_id)
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


async def erase_owner(backend: Backend, command: EraseOwner, principal: Principal) -> Owner:
    """Erases the profile of an owner that has nothing in use, and asks for the rest to be erased (QC-206)."""
    require(is_admin(principal), ("input",))

    async def decide(_: Counter[str]) -> Decision[Owner]:
        current = await _read(backend, ERASE_OWNER, command.owner_id)
        is_again = current.erased_at is not None and bool(command.subjects)
        if current.erasure_requested_at is not None and not is_again:
            return Decision(current)
        now = backend.clock()
        await _check_unused(backend, current, now)
        profile = {"name": "", "email": None, "phone": None, "role": OwnerRole.USER}
        erased = revised(current, now, **profile, erasure_requested_at=now, erased_at=None)
        addresses = () if current.email is None else (current.email, normalize_email(current.email))
        task = Erasure(
            shard=keys.log_shard(current.owner_id),
            owner_id=current.owner_id,
            requested_at=backend.stamp().at,
            subjects=tuple(dict.fromkeys([*command.subjects, *addresses])),
        )
        steps = [*change_steps(current, erased, {"fingerprint": None}), ERASE_OWNER.record_step("task", task)]
        return Decision(erased, steps, [_happening(ActivityKind.OWNER_CHANGED, erased, current)])

    log = Log(backend, principal)
    return await optimistic_write(backend.store, ERASE_OWNER, decide, log=log, changed=("owner", "ownerId"))


async def _check_unused(backend: Backend, owner: Owner, now: Instant) -> None:
    """Checks that nothing is left that the owner needs, or that others need the owner for."""
    store, owner_id = backend.store, owner.owner_id
    used: dict[str, tuple[str, Callable[[Any], bool]]] = {
        "lockers that are not retired": ("lockers", lambda one: one.status is not LockerStatus.RETIRED),
        "live reservations": ("slots", lambda one: one.end_at > now),
        "open bookings": ("bookings", lambda one: is_open_booking(one, now)),
    }
    for things, (name, is_used) in used.items():
        number = 0
        async for _, one in ERASE_OWNER.read_range(store, name, owner_id):
            number += 1
            if is_used(one):
                raise OwnerInUseError(f"Owner {owner_id} has {things}.", ("input", "ownerId"))
            if number == MAX_ITEMS:
                break
    count: WebhookCount | None = await ERASE_OWNER.read(store, "webhooks", owner_id)
    if count is not None and count.webhooks:
        raise OwnerInUseError(f"Owner {owner_id} has webhooks.", ("input", "ownerId"))


async def _read(backend: Backend, contract: WriteContract, owner_id: OwnerId) -> Owner:
    owner: Owner | None = await contract.read(backend.store, "owner", owner_id)
    if owner is None:
        raise NotFoundError(f"Owner {owner_id} does not exist.", ("input", "ownerId"))
    return owner


def check_owner(
    refusal: TransactionRefusedError,
    owner_id: OwnerId,
    step: str = "owner",
    path: tuple[str, ...] = ("input", "ownerId"),
) -> None:
    """Rejects what is for an owner that does not exist, or that is erased."""
    if step in refusal.failed:
        if refusal.failed[step] is None:
            raise NotFoundError(f"Owner {owner_id} does not exist.", path) from None
        raise OwnerErasedError(owner_id, path) from None


def create_steps(owner: Owner, content: str) -> list[Step]:
    created = SAVE_OWNER.record_step("new owner", owner, {"fingerprint": content})
    return [created, SAVE_OWNER.record_step("name", owner), *_claim(owner), *_phone(owner)]


def _happening(kind: ActivityKind, owner: Owner, before: Owner | None = None) -> Happening:
    changes = () if before is None else changes_between(before, owner)
    return Happening(kind=kind, owner_id=owner.owner_id, version=owner.version, changes=changes)


def change_steps(current: Owner, changed: Owner, more: dict[str, Any] | None = None) -> list[Step]:
    """The steps that change an owner, its copy, and what it is found by as far as that changes."""
    steps = [
        SAVE_OWNER.change_step("owner", current, changed, more, expectedVersion=current.version),
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
