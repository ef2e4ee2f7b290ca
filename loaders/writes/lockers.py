"""Writes of lockers: the record and the owner's copy change together or not at all."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from domain.commands import fingerprint
from domain.errors import (
    BadInputError,
    IdTakenError,
    LocationInactiveError,
    MissingError,
    VersionConflictError,
)
from domain.lifecycle import check_transition
from domain.models import LocationStatus, Locker, LockerId, LockerStatus, LockerSummary
from domain.principal import Scope, absent, acts_for, may_transfer, require
from loaders import keys
from loaders.contracts import QC_03, QC_06, QC_11, QC_12
from loaders.items import LOCATION_LOCKER, LOCKER, OWNER_LOCKER, difference
from loaders.table.errors import TransactionRefusedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from domain.commands import MoveLocker, RegisterLocker, RenameLocker, TransferLocker, UpdateLockerStatus
    from domain.models import LocationId, OwnerId
    from domain.principal import Principal
    from loaders.backend import Backend
    from loaders.contract import WriteContract
    from loaders.table.operations import Step, Transact

__all__ = [
    "changing",
    "location_copy",
    "move_locker",
    "moving",
    "owner_copy",
    "register_locker",
    "registering",
    "rename_locker",
    "transfer_locker",
    "transferring",
    "update_locker_status",
]

NONE_MISSING = frozenset[str]()


async def register_locker(backend: Backend, command: RegisterLocker, principal: Principal) -> Locker:
    """Registers a locker with an owner that exists, at a location that is active (QC-11)."""
    require(acts_for(principal, command.owner_id, Scope.LOCKERS_WRITE), ("input", "ownerId"))
    now = backend.clock()
    locker = Locker(
        locker_id=command.locker_id or LockerId(backend.new_id()),
        owner_id=command.owner_id,
        status=LockerStatus.AVAILABLE,
        alias=command.alias,
        created_at=now,
        updated_at=now,
        version=1,
        location_id=command.location_id,
    )
    content = fingerprint(command, without="locker_id")
    try:
        await backend.store.transact(registering(locker, content))
    except TransactionRefusedError as refusal:
        existing = refusal.failed.get("locker")
        if existing and existing.get("fingerprint") == content:
            first = LOCKER.decode(existing)
            require(
                acts_for(principal, first.owner_id, Scope.LOCKERS_WRITE), ("input", "lockerId")
            )  # if given away since
            return first
        if "owner" in refusal.failed and not existing:
            raise MissingError(f"There is no owner {command.owner_id}.", ("input", "ownerId")) from None
        if not existing:
            _raise_if_not_active(refusal, command.location_id, "locationId")
        message = f"The id {locker.locker_id} was used before, for another locker."
        raise IdTakenError(message, ("input", "lockerId")) from None
    return locker


async def update_locker_status(backend: Backend, command: UpdateLockerStatus, principal: Principal) -> Locker:
    """Takes a locker one step through its state machine (QC-03)."""
    current = await _read_for_change(backend, QC_03, command, principal)
    check_transition(current, command.new_status)
    changed = replace(current, status=command.new_status, updated_at=backend.clock(), version=current.version + 1)
    return await _change(backend, partial(changing, QC_03), current, changed, principal)


async def rename_locker(backend: Backend, command: RenameLocker, principal: Principal) -> Locker:
    """Gives a locker another alias (QC-12)."""
    current = await _read_for_change(backend, QC_12, command, principal)
    changed = replace(current, alias=command.alias, updated_at=backend.clock(), version=current.version + 1)
    return await _change(backend, partial(changing, QC_12), current, changed, principal)


async def move_locker(backend: Backend, command: MoveLocker, principal: Principal) -> Locker:
    """Puts a locker at another location that is active, or at none (QC-12)."""
    current = await _read_for_change(backend, QC_12, command, principal)
    if command.new_location_id == current.location_id:
        raise BadInputError("The locker stands there already.", ("input", "newLocationId"))
    changed = replace(
        current, location_id=command.new_location_id, updated_at=backend.clock(), version=current.version + 1
    )

    def check(refusal: TransactionRefusedError) -> None:
        _raise_if_not_active(refusal, command.new_location_id, "newLocationId")

    return await _change(backend, moving, current, changed, principal, check)


async def transfer_locker(backend: Backend, command: TransferLocker, principal: Principal) -> Locker:
    """Gives a locker to another owner that exists (QC-06)."""
    current = await _read_for_change(backend, QC_06, command, principal)
    require(may_transfer(principal, current.owner_id, command.new_owner_id), ("input", "newOwnerId"))
    if command.new_owner_id == current.owner_id:
        raise BadInputError(f"{current.owner_id} owns this locker already.", ("input", "newOwnerId"))
    changed = replace(current, owner_id=command.new_owner_id, updated_at=backend.clock(), version=current.version + 1)

    def check(refusal: TransactionRefusedError) -> None:
        if "new owner" in refusal.failed:
            raise MissingError(f"There is no owner {command.new_owner_id}.", ("input", "newOwnerId")) from None

    return await _change(backend, transferring, current, changed, principal, check)


def registering(locker: Locker, content: str) -> Transact:
    """The request that registers a locker."""
    record = LOCKER.encode(locker) | {"fingerprint": content}
    steps = [
        QC_11.step("locker", keys.locker(locker.locker_id), record),
        QC_11.step("copy", keys.owner_locker(locker.owner_id, locker.locker_id), owner_copy(locker)),
        QC_11.step("owner", keys.owner(locker.owner_id)),
    ]
    if locker.location_id is not None:
        steps += [
            QC_11.step(
                "location copy", keys.location_locker(locker.location_id, locker.locker_id), location_copy(locker)
            ),
            QC_11.step("location", keys.location(locker.location_id), active=LocationStatus.ACTIVE),
        ]
    return QC_11.transact(*steps)


def changing(
    contract: WriteContract, current: Locker, changed: Locker, missing: frozenset[str] = NONE_MISSING
) -> Transact:
    """The request that changes a locker and every copy of it; what is `missing` is made."""
    return contract.transact(
        _locker_step(contract, current, changed),
        _owner_copy_step(contract, changed, missing),
        *_location_copy_step(contract, changed, missing),
    )


def moving(current: Locker, changed: Locker, missing: frozenset[str] = NONE_MISSING) -> Transact:
    """The request that moves a locker from one location's list to another's."""
    locker_id = current.locker_id
    steps = [_locker_step(QC_12, current, changed), _owner_copy_step(QC_12, changed, missing)]
    if current.location_id is not None:
        steps.append(QC_12.step("old location copy", keys.location_locker(current.location_id, locker_id)))
    if changed.location_id is not None:
        steps += [
            QC_12.step(
                "new location copy", keys.location_locker(changed.location_id, locker_id), location_copy(changed)
            ),
            QC_12.step("location", keys.location(changed.location_id), active=LocationStatus.ACTIVE),
        ]
    return QC_12.transact(*steps)


def transferring(current: Locker, changed: Locker, missing: frozenset[str] = NONE_MISSING) -> Transact:
    """The request that moves a locker from one owner's list to another's."""
    return QC_06.transact(
        _locker_step(QC_06, current, changed),
        QC_06.step("old copy", keys.owner_locker(current.owner_id, current.locker_id)),
        QC_06.step("new copy", keys.owner_locker(changed.owner_id, changed.locker_id), owner_copy(changed)),
        QC_06.step("new owner", keys.owner(changed.owner_id)),
        *_location_copy_step(QC_06, changed, missing),
    )


async def _read_for_change(
    backend: Backend,
    contract: WriteContract,
    command: UpdateLockerStatus | RenameLocker | MoveLocker | TransferLocker,
    principal: Principal,
) -> Locker:
    """The locker, for who may change it: the write's condition on its owner holds until then what is decided here."""
    item = await backend.store.get(contract.get(keys.locker(command.locker_id), consistent=True))
    if item is None:
        raise absent(principal, f"There is no locker {command.locker_id}.", ("input", "lockerId"))
    current = LOCKER.decode(item)
    _require_change(principal, current.owner_id)
    if current.version != command.expected_version:
        raise VersionConflictError(current)
    return current


def _require_change(principal: Principal, owner_id: OwnerId) -> None:
    require(acts_for(principal, owner_id, Scope.LOCKERS_WRITE), ("input", "lockerId"))


async def _change(
    backend: Backend,
    build: Callable[[Locker, Locker, frozenset[str]], Transact],
    current: Locker,
    changed: Locker,
    principal: Principal,
    check: Callable[[TransactionRefusedError], None] = lambda _: None,
) -> Locker:
    """Writes a change; where older data has no copy, once more, making the copies that are missing."""
    missing = NONE_MISSING
    while True:
        try:
            await backend.store.transact(build(current, changed, missing))
        except TransactionRefusedError as refusal:
            item = refusal.failed.get("locker")
            if item is not None:
                # A locker is never deleted, so one that is not as it was read has another version; or another owner,
                # and then it is not shown any more.
                now_there = LOCKER.decode(item)
                _require_change(principal, now_there.owner_id)
                raise VersionConflictError(now_there) from None
            check(refusal)
            if missing:
                raise
            missing = frozenset(refusal.failed) & {"copy", "location copy"}
            if not missing:
                raise
            continue
        return changed


def _raise_if_not_active(refusal: TransactionRefusedError, location_id: LocationId | None, field: str) -> None:
    if "location" not in refusal.failed:
        return
    if refusal.failed["location"] is None:
        raise MissingError(f"There is no location {location_id}.", ("input", field)) from None
    raise LocationInactiveError(f"Location {location_id} is inactive.", ("input", field)) from None


def _locker_step(contract: WriteContract, current: Locker, changed: Locker) -> Step:
    attributes = difference(LOCKER.encode(current), LOCKER.encode(changed))
    key = keys.locker(current.locker_id)
    return contract.step("locker", key, attributes, expectedVersion=current.version, readOwner=current.owner_id)


def _owner_copy_step(contract: WriteContract, changed: Locker, missing: frozenset[str]) -> Step:
    key = keys.owner_locker(changed.owner_id, changed.locker_id)
    if "copy" in missing:
        return contract.step("missing copy", key, owner_copy(changed))
    return contract.step("copy", key, _shown(owner_copy(changed)))


def _location_copy_step(contract: WriteContract, changed: Locker, missing: frozenset[str]) -> list[Step]:
    if changed.location_id is None:
        return []
    key = keys.location_locker(changed.location_id, changed.locker_id)
    if "location copy" in missing:
        return [contract.step("missing location copy", key, location_copy(changed))]
    return [contract.step("location copy", key, _shown(location_copy(changed)) | {"ownerId": changed.owner_id})]


def owner_copy(locker: Locker) -> dict[str, Any]:
    """What an owner's list shows of a locker."""
    return OWNER_LOCKER.encode(_summary(locker))


def location_copy(locker: Locker) -> dict[str, Any]:
    """What a location's list shows of a locker."""
    return LOCATION_LOCKER.encode(_summary(locker))


def _shown(copy: dict[str, Any]) -> dict[str, Any]:
    return {name: copy.get(name) for name in ("alias", "status", "updatedAt")}


def _summary(locker: Locker) -> LockerSummary:
    return LockerSummary(
        owner_id=locker.owner_id,
        locker_id=locker.locker_id,
        status=locker.status,
        alias=locker.alias,
        updated_at=locker.updated_at,
    )
