"""Writes of lockers: the record and the owner's copy change together or not at all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from domain.commands import fingerprint
from domain.errors import BadInputError, IdTakenError, MissingError, VersionConflictError
from domain.lifecycle import check_transition
from domain.models import Locker, LockerId, LockerStatus, LockerSummary
from loaders import keys
from loaders.contracts import QC_03, QC_06, QC_11, QC_12
from loaders.items import LOCKER, OWNER_LOCKER, difference
from loaders.table.errors import TransactionRefusedError

if TYPE_CHECKING:
    from typing import Any

    from domain.commands import RegisterLocker, RenameLocker, TransferLocker, UpdateLockerStatus
    from loaders.backend import Backend
    from loaders.contract import WriteContract
    from loaders.table.operations import Step, Transact

__all__ = [
    "changing",
    "mending",
    "register_locker",
    "registering",
    "rename_locker",
    "transfer_locker",
    "transferring",
    "update_locker_status",
]


async def register_locker(backend: Backend, command: RegisterLocker) -> Locker:
    """Registers a locker with an owner that exists (QC-11)."""
    now = backend.clock()
    locker = Locker(
        locker_id=command.locker_id or LockerId(backend.new_id()),
        owner_id=command.owner_id,
        status=LockerStatus.AVAILABLE,
        alias=command.alias,
        created_at=now,
        updated_at=now,
        version=1,
    )
    content = fingerprint(command, without="locker_id")
    try:
        await backend.store.transact(registering(locker, content))
    except TransactionRefusedError as refusal:
        existing = refusal.failed.get("locker")
        if existing and existing.get("fingerprint") == content:
            return LOCKER.decode(existing)
        if "owner" in refusal.failed and not existing:
            raise MissingError(f"There is no owner {command.owner_id}.", ("input", "ownerId")) from None
        message = f"The id {locker.locker_id} was used before, for another locker."
        raise IdTakenError(message, ("input", "lockerId")) from None
    return locker


async def update_locker_status(backend: Backend, command: UpdateLockerStatus) -> Locker:
    """Takes a locker one step through its state machine (QC-03)."""
    current = await _read_for_change(backend, QC_03, command.locker_id, command.expected_version)
    check_transition(current, command.new_status)
    changed = replace(current, status=command.new_status, updated_at=backend.clock(), version=current.version + 1)
    return await _change(backend, QC_03, current, changed)


async def rename_locker(backend: Backend, command: RenameLocker) -> Locker:
    """Gives a locker another alias (QC-12)."""
    current = await _read_for_change(backend, QC_12, command.locker_id, command.expected_version)
    changed = replace(current, alias=command.alias, updated_at=backend.clock(), version=current.version + 1)
    return await _change(backend, QC_12, current, changed)


async def transfer_locker(backend: Backend, command: TransferLocker) -> Locker:
    """Gives a locker to another owner that exists (QC-06)."""
    current = await _read_for_change(backend, QC_06, command.locker_id, command.expected_version)
    if command.new_owner_id == current.owner_id:
        raise BadInputError(f"{current.owner_id} owns this locker already.", ("input", "newOwnerId"))
    changed = replace(current, owner_id=command.new_owner_id, updated_at=backend.clock(), version=current.version + 1)
    try:
        await backend.store.transact(transferring(current, changed))
    except TransactionRefusedError as refusal:
        _raise_if_changed(refusal)
        raise MissingError(f"There is no owner {command.new_owner_id}.", ("input", "newOwnerId")) from None
    return changed


def registering(locker: Locker, content: str) -> Transact:
    """The request that registers a locker."""
    record = LOCKER.encode(locker) | {"fingerprint": content}
    return QC_11.transact(
        QC_11.step("locker", keys.locker(locker.locker_id), record),
        QC_11.step("copy", keys.owner_locker(locker.owner_id, locker.locker_id), _copy(locker)),
        QC_11.step("owner", keys.owner(locker.owner_id)),
    )


def changing(contract: WriteContract, current: Locker, changed: Locker) -> Transact:
    """The request that changes a locker and its copy, both as they were read."""
    copy = _copy(changed)
    shown = {name: copy.get(name) for name in ("alias", "status", "updatedAt")}
    return contract.transact(
        _locker_step(contract, current, changed),
        contract.step("copy", keys.owner_locker(changed.owner_id, changed.locker_id), shown),
    )


def mending(contract: WriteContract, current: Locker, changed: Locker) -> Transact:
    """The request that changes a locker whose copy is missing, and makes the copy."""
    return contract.transact(
        _locker_step(contract, current, changed),
        contract.step("missing copy", keys.owner_locker(changed.owner_id, changed.locker_id), _copy(changed)),
    )


def transferring(current: Locker, changed: Locker) -> Transact:
    """The request that moves a locker from one owner's list to another's."""
    return QC_06.transact(
        _locker_step(QC_06, current, changed),
        QC_06.step("old copy", keys.owner_locker(current.owner_id, current.locker_id)),
        QC_06.step("new copy", keys.owner_locker(changed.owner_id, changed.locker_id), _copy(changed)),
        QC_06.step("new owner", keys.owner(changed.owner_id)),
    )


async def _read_for_change(backend: Backend, contract: WriteContract, locker_id: LockerId, expected: int) -> Locker:
    item = await backend.store.get(contract.get(keys.locker(locker_id), consistent=True))
    if item is None:
        raise MissingError(f"There is no locker {locker_id}.", ("input", "lockerId"))
    current = LOCKER.decode(item)
    if current.version != expected:
        raise VersionConflictError(current)
    return current


async def _change(backend: Backend, contract: WriteContract, current: Locker, changed: Locker) -> Locker:
    try:
        await backend.store.transact(changing(contract, current, changed))
    except TransactionRefusedError as refusal:
        _raise_if_changed(refusal)
        await _mend(backend, contract, current, changed)
    return changed


async def _mend(backend: Backend, contract: WriteContract, current: Locker, changed: Locker) -> None:
    try:
        await backend.store.transact(mending(contract, current, changed))
    except TransactionRefusedError as refusal:
        _raise_if_changed(refusal)
        raise


def _raise_if_changed(refusal: TransactionRefusedError) -> None:
    """A locker is never deleted, so one that is not as it was read has another version."""
    item = refusal.failed.get("locker")
    if item is not None:
        raise VersionConflictError(LOCKER.decode(item)) from None


def _locker_step(contract: WriteContract, current: Locker, changed: Locker) -> Step:
    attributes = difference(LOCKER.encode(current), LOCKER.encode(changed))
    key = keys.locker(current.locker_id)
    return contract.step("locker", key, attributes, expectedVersion=current.version, readOwner=current.owner_id)


def _copy(locker: Locker) -> dict[str, Any]:
    return OWNER_LOCKER.encode(
        LockerSummary(
            owner_id=locker.owner_id,
            locker_id=locker.locker_id,
            status=locker.status,
            alias=locker.alias,
            updated_at=locker.updated_at,
        )
    )
