"""Devices that open their door without the server: their key, their list of codes, and what they report later."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import partial
from itertools import starmap
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from domain.access_codes import (
    GRACE,
    LIST_HORIZON,
    LIST_REFRESH,
    AccessCode,
    CodeDoor,
    CodeId,
    CodeList,
    ListedCode,
    device_mac,
    grace_end,
    is_listed,
    loaded_entry,
    validity_of,
)
from domain.authorization import may_use_door, not_found_or_forbidden, require
from domain.commands.base import fingerprint
from domain.errors import BadInputError, IdTakenError, StaleListError
from domain.models import AccessAction, AccessEvent, AccessResult, Reservation, locker_of, record_from
from domain.schedule import check_event_time
from domain.times import EARLIEST, shift
from loaders.codecs import CODE_DOOR, EVENT_CLAIM, EventClaim
from loaders.contracts.access_codes import ACKNOWLEDGE_ACCESS_CODES, PROVISION_DEVICE, REPORT_ACCESS_CODE_USE
from loaders.table.errors import TransactionRefusedError
from loaders.table.retry import attempts, together
from loaders.writes.doors import contended, door_path, door_step, named_door, require_manager
from loaders.writes.timeline import MovedError, live_in

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterable, Sequence

    from domain.access_codes import Basis
    from domain.authorization import Principal
    from domain.commands.access_codes import AcknowledgeAccessCodes, ProvisionDevice, ReportAccessCodeUse
    from domain.models import Door, ReservationId
    from domain.times import Instant
    from loaders.backend import Backend
    from loaders.codecs import Guard
    from loaders.contracts.writing import WriteContract
    from loaders.table.client import Store
    from loaders.table.operations import Step

_Lists: TypeAlias = "dict[Door, CodeList | Exception | None]"
_Parts: TypeAlias = dict[tuple[str, tuple[Any, ...]], Any]
"""Records, errors, and None for what does not exist, by the name of the read and the arguments of the key."""


@dataclass(frozen=True, slots=True)
class ProvisionedDevice:
    """The generation of a device and its key, in hexadecimal."""

    generation: int
    device_key: str


async def provision_device(backend: Backend, command: ProvisionDevice, principal: Principal) -> ProvisionedDevice:
    """Begins a generation of devices (QC-110); the key of the device before makes no further list."""
    name, store = named_door(command), backend.store
    async for _ in attempts(PROVISION_DEVICE.rounds):
        await require_manager(store, PROVISION_DEVICE, command, principal)
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
        provisioned = replace(current, revision=current.revision + 1, **changes)
        if door is None:
            step = PROVISION_DEVICE.step("first door", (name,), CODE_DOOR.encode(provisioned))
        else:
            step = _unless_acknowledged(PROVISION_DEVICE, name, door, provisioned)
        try:
            await store.transact(PROVISION_DEVICE.transact(step))
        except TransactionRefusedError:
            continue
        return _provisioned(backend, name, provisioned)
    raise contended()


async def acknowledge_access_codes(backend: Backend, command: AcknowledgeAccessCodes, principal: Principal) -> CodeDoor:
    """Records which codes the device of a door has (QC-111)."""
    name, store = named_door(command), backend.store
    require(may_use_door(principal, command.locker_id, command.location_id), door_path(command))
    async for _ in attempts(ACKNOWLEDGE_ACCESS_CODES.rounds):
        made = (await _code_lists(backend, [name]))[name]
        if isinstance(made, MovedError):
            continue
        if isinstance(made, Exception):
            raise made
        if made is None or made.revision != command.revision:
            raise StaleListError
        door = made.door
        if door.acknowledged_revision == command.revision:
            return door
        changed = replace(
            door,
            is_in_use=True,
            loaded=tuple(map(loaded_entry, made.codes)),
            acknowledged_revision=command.revision,
            acknowledged_at=backend.clock(),
        )
        try:
            # The revision of the door stays: what a device has is no part of what it should have.
            step = _unless_acknowledged(ACKNOWLEDGE_ACCESS_CODES, name, door, changed)
            await store.transact(ACKNOWLEDGE_ACCESS_CODES.transact(step))
        except TransactionRefusedError:
            continue
        return changed
    raise contended()


def _unless_acknowledged(contract: WriteContract, name: Door, door: CodeDoor, changed: CodeDoor) -> Step:
    """Changes a door, unless its device acknowledged a list since the door was read: that changes no revision."""
    step = partial(contract.change_step, at=(name,), readRevision=door.revision)
    if door.acknowledged_revision is None:
        return step("first list", door, changed)
    return step("list", door, changed, readList=door.acknowledged_revision)


async def report_access_code_use(backend: Backend, command: ReportAccessCodeUse, principal: Principal) -> AccessCode:
    """Counts a use that a device decided by its own list, once for each event id (QC-112).

    A use whose verification was granted is counted already: its answer did not reach the device.
    """
    name, store = named_door(command), backend.store
    require(may_use_door(principal, command.locker_id, command.location_id), door_path(command))
    content = fingerprint(command, without="event_id")
    async for _ in attempts(REPORT_ACCESS_CODE_USE.rounds):
        now = backend.clock()
        check_event_time(command.used_at, now, ("input", "usedAt"))
        read = await REPORT_ACCESS_CODE_USE.read_batch(
            store,
            code=(name, command.code_id),
            door=(name,),
            claim=(name, command.event_id),
            attempt=(name, command.event_id),
        )
        code, door, claim, attempt = read["code"], read["door"], read["claim"], read["attempt"]
        if code is None or door is None:
            message = f"There is no access code {command.code_id}."
            raise not_found_or_forbidden(principal, message, ("input", "codeId"))
        if claim is not None and claim.fingerprint != content:
            raise IdTakenError(command.event_id, "another event of this door", ("input", "eventId"))
        if claim is not None or (attempt is not None and attempt.code_id == command.code_id):
            first: AccessCode = code
            return first
        used: AccessCode = replace(
            code,
            uses=code.uses + 1,
            last_used_at=max(command.used_at, code.last_used_at or EARLIEST),
            revision=code.revision + 1,
        )
        steps = _reporting(command, code, used, door, now, content)
        if attempt is None:
            steps.append(REPORT_ACCESS_CODE_USE.step("no attempt", (name, command.event_id)))
        try:
            await store.transact(REPORT_ACCESS_CODE_USE.transact(*steps))
        except TransactionRefusedError:
            continue
        return used
    raise contended()


def _reporting(
    command: ReportAccessCodeUse, code: AccessCode, used: AccessCode, door: CodeDoor, now: Instant, content: str
) -> list[Step]:
    contract = REPORT_ACCESS_CODE_USE
    event = record_from(
        AccessEvent,
        command,
        timestamp=command.used_at,
        recorded_at=now,
        action=AccessAction.UNLOCK,
        actor_id=code.owner_id,
        result=AccessResult.SUCCESS,
        metadata={"codeId": code.code_id, "offline": True},
    )
    claim = record_from(EventClaim, event, fingerprint=content)
    steps = [
        contract.record_step("event", event),
        contract.step("claim", (event.door, event.event_id), EVENT_CLAIM.encode(claim)),
        contract.change_step("code", code, used, readRevision=code.revision),
    ]
    if used.max_uses is not None and used.uses >= used.max_uses:
        steps.append(door_step(contract, code.door, door))
    return steps


async def read_code_lists(backend: Backend, names: Iterable[Door], slots: asyncio.Semaphore | None = None) -> _Lists:
    """The codes that the devices of doors must know; None where there is no device, and errors are values.

    `slots` bounds how many Queries run at the same time.
    """
    found: _Lists = {}
    moved = list(dict.fromkeys(names))
    async for _ in attempts(ACKNOWLEDGE_ACCESS_CODES.rounds):
        found |= await _code_lists(backend, moved, slots)
        moved = [name for name in moved if isinstance(found[name], MovedError)]
        if not moved:
            break
    return found | dict.fromkeys(moved, contended())


async def _code_lists(backend: Backend, names: Sequence[Door], slots: asyncio.Semaphore | None = None) -> _Lists:
    """The same in one attempt: MovedError in the place of a list that has to be read again."""
    now, found = backend.clock(), await _read_parts(backend.store, names)

    async def make(name: Door) -> CodeList | Exception | None:
        try:
            return await _code_list(backend, found, name, now)
        except Exception as error:  # noqa: BLE001  # an error is a value here
            return error

    return dict(zip(names, await together(map(make, names), slots), strict=True))


async def _read_parts(store: Store, names: Sequence[Door]) -> _Parts:
    """What the lists of doors are made of.

    The revisions are read first, so that a list is never older than its revision.
    """
    read = partial(ACKNOWLEDGE_ACCESS_CODES.read_together, store, len(names))
    found = await read("door", [(name,) for name in names])
    doors = {name: door for (_, (name,)), door in found.items() if _has_device(door)}
    found |= await read("guard", [(locker_id,) for locker_id in map(locker_of, doors) if locker_id is not None])
    codes = await read("code", [(name, code_id) for name, door in doors.items() for code_id in _live_ids(door)])
    places: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for kind, place in (code.basis for code in codes.values() if isinstance(code, AccessCode)):
        places[kind].append(place)
    for bases in await together(starmap(read, places.items())):
        found |= bases
    return found | codes


async def _code_list(backend: Backend, found: _Parts, name: Door, now: Instant) -> CodeList | Exception | None:
    """The list of a door; None where there is no device."""
    door, locker_id = found["door", (name,)], locker_of(name)
    if not _has_device(door):
        return door if isinstance(door, Exception) else None
    guard = None if locker_id is None else found["guard", (locker_id,)]
    codes = [found["code", (name, code_id)] for code_id in _live_ids(door)]
    bases = [(code, found[code.basis]) for code in codes if isinstance(code, AccessCode)]
    for record in (guard, *codes, *(basis for _, basis in bases)):
        if isinstance(record, Exception):
            return record  # not raised: lists may share it, and its traceback would grow with each
    ring = backend.code_ring()
    key, horizon = ring.device_key(str(door.device_key_id), name, door.generation), shift(now, LIST_HORIZON)
    graces = await _graces(backend.store, [basis for _, basis in bases], guard, now)
    validities = [(code, validity_of(code, now, basis, graces.get(code.reservation_id))) for code, basis in bases]
    due = [(code, validity) for code, validity in validities if is_listed(code, validity, door, now)]
    listed = [
        ListedCode(
            code_id=code.code_id,
            rotation=code.rotation,
            digits_mac=device_mac(key, code.code_id, ring.digits(name, code)),
            valid_from=validity.valid_from or EARLIEST,
            valid_until=min(validity.valid_until or horizon, horizon),
            uses_left=None if code.max_uses is None else code.max_uses - code.uses,
        )
        for code, validity in due
    ]
    windows = [f"{loaded_entry(code)} {one.valid_from} {one.valid_until}" for code, one in due]
    content = hashlib.sha256("\n".join([str(door.generation), *windows]).encode()).hexdigest()[:12]
    return CodeList(
        door=door,
        revision=f"{0 if guard is None else guard.revision}.{door.revision}.{content}",
        generation=door.generation,
        refresh_before=shift(now, LIST_REFRESH),
        codes=tuple(listed),
    )


def _has_device(door: CodeDoor | Exception | None) -> TypeGuard[CodeDoor]:
    return isinstance(door, CodeDoor) and door.device_key_id is not None


def _live_ids(door: CodeDoor) -> list[CodeId]:
    return [CodeId(entry.partition(" ")[0]) for entry in door.live]


async def _graces(
    store: Store, bases: list[Basis | None], guard: Guard | None, now: Instant
) -> dict[ReservationId | None, Instant]:
    """The ends of the grace periods of reservations, as far as a list reaches."""
    first, last = shift(now, -GRACE), shift(now, LIST_HORIZON)
    ending = [one for one in bases if isinstance(one, Reservation) and first < one.end_at < last]
    if not ending:
        return {}
    ends = sorted(one.end_at for one in ending)
    within = (ending[0].locker_id, ends[0], shift(ends[-1], GRACE))
    starts = [one.start_at for one in await live_in(store, ACKNOWLEDGE_ACCESS_CODES, "next reservation", within, guard)]
    return {
        one.reservation_id: grace_end(one, next((start for start in starts if start >= one.end_at), None))
        for one in ending
    }


def _is_repeated(door: CodeDoor, command: ProvisionDevice, principal: Principal) -> bool:
    """Whether the key may be shown once more: for the same request, and before the device has used it."""
    has_voided = door.void_before == door.generation
    return door.provisioned_by == principal.subject and command.voids_digits is has_voided and not door.is_in_use


def _provisioned(backend: Backend, name: Door, door: CodeDoor) -> ProvisionedDevice:
    key = backend.code_ring().device_key(str(door.device_key_id), name, door.generation)
    return ProvisionedDevice(door.generation, key.hex())
