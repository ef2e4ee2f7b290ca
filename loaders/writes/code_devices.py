"""Devices that open their door without the server: their key, their list of codes, and what they report later."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from domain.access_codes import (
    LIST_HORIZON,
    LIST_REFRESH,
    AccessCode,
    CodeDoor,
    CodeId,
    CodeList,
    ListedCode,
    device_mac,
    door_of,
    is_listed,
    loaded_entry,
    validity_of,
)
from domain.authorization import Scope, acts_for, may_use_door, not_found_or_forbidden, require
from domain.commands.base import fingerprint
from domain.errors import BadInputError, IdTakenError, StaleListError
from domain.models import AccessAction, AccessEvent, AccessResult
from domain.schedule import check_event_time
from domain.times import EARLIEST, shift
from loaders.codecs import ACCESS_CODE, ACCESS_EVENT, CODE_DOOR, EVENT_CLAIM, EventClaim, difference
from loaders.contracts.access_codes import (
    ACCESS_CODE_BY_ID,
    ACKNOWLEDGE_ACCESS_CODES,
    CODE_DOOR_BY_ID,
    GUARD_OF_LOCKER,
    PROVISION_DEVICE,
    REPORT_ACCESS_CODE_USE,
)
from loaders.contracts.lockers import LOCKER_BY_ID
from loaders.contracts.reservations import RESERVATION_BY_KEY
from loaders.table.errors import TransactionRefusedError
from loaders.table.retry import attempts
from loaders.writes.access_codes import contended, door_step

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from domain.access_codes import Basis, Door
    from domain.authorization import Principal
    from domain.commands.access_codes import AcknowledgeAccessCodes, ProvisionDevice, ReportAccessCodeUse
    from domain.models import Locker, LockerId
    from domain.times import Instant
    from loaders.backend import Backend
    from loaders.contracts.reading import ReadOne
    from loaders.table.operations import Step

    _Read = Callable[[str, Sequence[tuple[Any, ...]]], Awaitable[list[Any]]]

_CONTRACTS: dict[str, ReadOne[Any]] = {
    "door": CODE_DOOR_BY_ID,
    "guard": GUARD_OF_LOCKER,
    "code": ACCESS_CODE_BY_ID,
    "reservation": RESERVATION_BY_KEY,
    "locker": LOCKER_BY_ID,
}


@dataclass(frozen=True, slots=True)
class ProvisionedDevice:
    """The generation of a device and its key, in hexadecimal."""

    generation: int
    device_key: str


async def provision_device(backend: Backend, command: ProvisionDevice, principal: Principal) -> ProvisionedDevice:
    """Begins a generation of devices (QC-110); the key of the device before makes no further list."""
    name, store = door_of(command.locker_id, None), backend.store
    async for _ in attempts(PROVISION_DEVICE.rounds):
        locker: Locker | None = await PROVISION_DEVICE.read(store, "locker", command.locker_id)
        if locker is None:
            message = f"Locker {command.locker_id} does not exist."
            raise not_found_or_forbidden(principal, message, ("input", "lockerId"))
        require(acts_for(principal, locker.owner_id, Scope.CODES_WRITE), ("input", "lockerId"))
        door: CodeDoor | None = await PROVISION_DEVICE.read(store, "door", name)
        current = CodeDoor(revision=0) if door is None else door
        if command.generation == current.generation and _is_repeated(current, command, principal):
            return _provisioned(backend, name, current)
        if command.generation != current.generation + 1:
            message = f"generation must be {current.generation + 1}, one more than that of the present device"
            raise BadInputError(message, ("input", "generation"))
        changes: dict[str, Any] = {
            "generation": command.generation,
            "device_key_id": backend.code_ring().current.key_id,
            "provisioned_by": principal.subject,
            "is_in_use": False,
            "loaded": (),
            "acknowledged_revision": None,
            "acknowledged_at": None,
        }
        if command.voids_digits:
            changes["void_before"] = command.generation
        try:
            await store.transact(PROVISION_DEVICE.transact(door_step(PROVISION_DEVICE, name, door, **changes)))
        except TransactionRefusedError:
            continue
        return _provisioned(backend, name, replace(current, **changes))
    raise contended()


async def acknowledge_access_codes(backend: Backend, command: AcknowledgeAccessCodes, principal: Principal) -> CodeDoor:
    """Records which codes the device of a locker has (QC-111)."""
    name, store = door_of(command.locker_id, None), backend.store
    require(may_use_door(principal, command.locker_id, None), ("input", "lockerId"))
    async for _ in attempts(ACKNOWLEDGE_ACCESS_CODES.rounds):
        made = await _code_list(backend, command.locker_id, partial(ACKNOWLEDGE_ACCESS_CODES.read_many, store))
        if made is None or made[1].revision != command.revision:
            raise StaleListError
        door, found = made
        if door.acknowledged_revision == command.revision:
            return door
        changed = replace(
            door,
            is_in_use=True,
            loaded=tuple(map(loaded_entry, found.codes)),
            acknowledged_revision=command.revision,
            acknowledged_at=backend.clock(),
        )
        # The revision of the door stays: what a device has is no part of what it should have.
        changes = difference(CODE_DOOR.encode(door), CODE_DOOR.encode(changed))
        step = ACKNOWLEDGE_ACCESS_CODES.step("door", (name,), changes, readRevision=door.revision)
        try:
            await store.transact(ACKNOWLEDGE_ACCESS_CODES.transact(step))
        except TransactionRefusedError:
            continue
        return changed
    raise contended()


async def report_access_code_use(backend: Backend, command: ReportAccessCodeUse, principal: Principal) -> AccessCode:
    """Counts a use that a device decided by its own list, once for each event id (QC-112).

    A use whose verification was granted is counted already: its answer did not reach the device.
    """
    name, store = door_of(command.locker_id, None), backend.store
    require(may_use_door(principal, command.locker_id, None), ("input", "lockerId"))
    content = fingerprint(command, without="event_id")
    async for _ in attempts(REPORT_ACCESS_CODE_USE.rounds):
        now = backend.clock()
        check_event_time(command.used_at, now, ("input", "usedAt"))
        read = await REPORT_ACCESS_CODE_USE.read_batch(
            store,
            code=(name, command.code_id),
            door=(name,),
            claim=(command.locker_id, command.event_id),
            attempt=(name, command.event_id),
        )
        code, door, claim, attempt = read["code"], read["door"], read["claim"], read["attempt"]
        if code is None or door is None:
            message = f"There is no access code {command.code_id}."
            raise not_found_or_forbidden(principal, message, ("input", "codeId"))
        if claim is not None and claim.fingerprint != content:
            message = f"The id {command.event_id} was used before, for another event of this locker."
            raise IdTakenError(message, ("input", "eventId"))
        if claim is not None or (attempt is not None and attempt.code_id == command.code_id):
            first: AccessCode = code
            return first
        used: AccessCode = replace(
            code,
            uses=code.uses + 1,
            last_used_at=max(command.used_at, code.last_used_at or EARLIEST),
            revision=code.revision + 1,
        )
        try:
            await store.transact(REPORT_ACCESS_CODE_USE.transact(*_reporting(command, code, used, door, now, content)))
        except TransactionRefusedError:
            continue
        return used
    raise contended()


def _reporting(
    command: ReportAccessCodeUse, code: AccessCode, used: AccessCode, door: CodeDoor, now: Instant, content: str
) -> list[Step]:
    contract = REPORT_ACCESS_CODE_USE
    event = AccessEvent(
        event_id=command.event_id,
        locker_id=command.locker_id,
        timestamp=command.used_at,
        recorded_at=now,
        action=AccessAction.UNLOCK,
        actor_id=code.owner_id,
        result=AccessResult.SUCCESS,
        metadata={"codeId": code.code_id, "offline": True},
    )
    claim = EventClaim(
        event_id=event.event_id, locker_id=event.locker_id, timestamp=event.timestamp, fingerprint=content
    )
    changes = difference(ACCESS_CODE.encode(code), ACCESS_CODE.encode(used))
    steps = [
        contract.step("event", (event.locker_id, event.timestamp, event.event_id), ACCESS_EVENT.encode(event)),
        contract.step("claim", (event.locker_id, event.event_id), EVENT_CLAIM.encode(claim)),
        contract.step("code", (code.door, code.code_id), changes, readRevision=code.revision),
    ]
    if used.max_uses is not None and used.uses >= used.max_uses:
        steps.append(door_step(contract, code.door, door))
    return steps


async def read_code_list(backend: Backend, locker_id: LockerId) -> CodeList | None:
    """The codes that the device of a locker must know; None where there is no device."""

    async def read(name: str, keys: Sequence[tuple[Any, ...]]) -> list[Any]:
        records = await _CONTRACTS[name].read_many(backend.store, keys, consistent=True)
        for record in records:
            if isinstance(record, Exception):
                raise record  # a list without a damaged code would lock someone out
        return records

    made = await _code_list(backend, locker_id, read)
    return None if made is None else made[1]


async def _code_list(backend: Backend, locker_id: LockerId, read: _Read) -> tuple[CodeDoor, CodeList] | None:
    """The list, and the door's record that it was made of.

    The revisions are read first, so that a list is never older than its revision.
    """
    name, now = door_of(locker_id, None), backend.clock()
    (door,) = await read("door", [(name,)])
    if door is None or door.device_key_id is None:
        return None
    (guard,) = await read("guard", [(locker_id,)])
    key = backend.code_ring().device_key(door.device_key_id, name, door.generation)
    ids = [CodeId(entry.partition(" ")[0]) for entry in door.live]
    codes = await read("code", [(name, code_id) for code_id in ids]) if ids else []
    found: list[AccessCode] = [code for code in codes if code is not None]
    bases = await _bases(read, locker_id, found)
    listed: list[ListedCode] = []
    parts = [str(door.generation)]
    for code in found:
        basis = bases.get(code.reservation_id)
        validity = validity_of(code, now, basis)
        if is_listed(code, validity, door, now):
            horizon = shift(now, LIST_HORIZON)
            end = validity.valid_until
            parts += [loaded_entry(code), str(validity.valid_from), str(end)]
            listed.append(
                ListedCode(
                    code_id=code.code_id,
                    rotation=code.rotation,
                    digits_mac=device_mac(key, code.code_id, backend.code_ring().digits(name, code)),
                    valid_from=validity.valid_from or EARLIEST,
                    valid_until=horizon if end is None else min(end, horizon),
                    uses_left=None if code.max_uses is None else code.max_uses - code.uses,
                )
            )
    content = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]
    made = CodeList(
        revision=f"{0 if guard is None else guard.revision}.{door.revision}.{content}",
        generation=door.generation,
        refresh_before=shift(now, LIST_REFRESH),
        codes=tuple(listed),
    )
    return door, made


async def _bases(read: _Read, locker_id: LockerId, codes: list[AccessCode]) -> dict[Any, Basis]:
    """What gives the right to open the door, by reservation id; for codes that stand alone the locker, by None."""
    bases: dict[Any, Basis] = {}
    places = {(code.locker_id, code.start_at, code.reservation_id) for code in codes if code.reservation_id is not None}
    if places:
        reservations = await read("reservation", sorted(places, key=str))
        bases = {one.reservation_id: one for one in reservations if one is not None}
    if any(code.reservation_id is None for code in codes):
        (locker,) = await read("locker", [(locker_id,)])
        if locker is not None:
            bases[None] = locker
    return bases


def _is_repeated(door: CodeDoor, command: ProvisionDevice, principal: Principal) -> bool:
    """Whether the key may be shown once more: for the same request, and before the device has used it."""
    has_voided = door.void_before == door.generation
    return door.provisioned_by == principal.subject and command.voids_digits is has_voided and not door.is_in_use


def _provisioned(backend: Backend, name: Door, door: CodeDoor) -> ProvisionedDevice:
    key = backend.code_ring().device_key(str(door.device_key_id), name, door.generation)
    return ProvisionedDevice(door.generation, key.hex())
