"""Devices that open their door without the server: their key, their list of codes, and what they report later."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from domain.access_codes import AccessCode, CodeDoor, loaded_entry
from domain.activity import ActivityKind, code_happening, door_happening
from domain.authorization import Principal, may_use_door, not_found_or_forbidden, require
from domain.commands.access_codes import AcknowledgeAccessCodes, ProvisionDevice, ReportAccessCodeUse
from domain.commands.base import fingerprint
from domain.errors import BadInputError, IdTakenError, StaleListError
from domain.models import AccessAction, AccessEvent, AccessResult, Door, EventId, record_from
from domain.retention import expiry, unexpired
from domain.schedule import check_event_time
from domain.times import EARLIEST, Instant, to_seconds
from loaders.backend import Backend
from loaders.codecs import CODE_DOOR, EVENT_CLAIM, EventClaim
from loaders.contracts.access_codes import ACKNOWLEDGE_ACCESS_CODES, PROVISION_DEVICE, REPORT_ACCESS_CODE_USE
from loaders.contracts.writing import WriteContract
from loaders.reads.code_lists import code_lists_once
from loaders.writes.doors import DOOR, door_path, door_step, managed_place, named_door, read_place
from loaders.writes.log import Log
from loaders.writes.optimistic import Decision, optimistic_write

if TYPE_CHECKING:
    from loaders.table.operations import Step


@dataclass(frozen=True, slots=True)
class ProvisionedDevice:
    """The generation of a device and its key, in hexadecimal."""

    generation: int
    device_key: str


async def provision_device(backend: Backend, command: ProvisionDevice, principal: Principal) -> ProvisionedDevice:
    """Begins a generation of devices (QC-110); the key of the device before makes no further list."""
    name, store = named_door(command), backend.store

    async def decide(_: Counter[str]) -> Decision[ProvisionedDevice]:
        place = await managed_place(store, PROVISION_DEVICE, command, principal)
        door: CodeDoor | None = await PROVISION_DEVICE.read(store, "door", name)
        current = CodeDoor(revision=0) if door is None else door
        if command.generation == current.generation and _is_repeated(current, command, principal):
            return Decision(_provisioned(backend, name, current))
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
        happening = door_happening(ActivityKind.DEVICE_PROVISIONED, place)
        return Decision(_provisioned(backend, name, provisioned), [step], [happening])

    return await optimistic_write(store, PROVISION_DEVICE, decide, log=Log(backend, principal), changed=DOOR)


async def acknowledge_access_codes(backend: Backend, command: AcknowledgeAccessCodes, principal: Principal) -> CodeDoor:
    """Records which codes the device of a door has (QC-111)."""
    name = named_door(command)
    require(may_use_door(principal, command.locker_id, command.location_id), door_path(command))

    async def decide(_: Counter[str]) -> Decision[CodeDoor]:
        made = (await code_lists_once(backend, [name]))[name]
        if isinstance(made, Exception):
            raise made
        if made is None or made.revision != command.revision:
            raise StaleListError
        door = made.door
        if door.acknowledged_revision == command.revision:
            return Decision(door)
        # The revision of the door stays: what a device has is no part of what it should have.
        changed = replace(
            door,
            is_in_use=True,
            loaded=tuple(map(loaded_entry, made.codes)),
            acknowledged_revision=command.revision,
            acknowledged_at=backend.clock(),
        )
        place = await read_place(backend.store, ACKNOWLEDGE_ACCESS_CODES, command, principal)
        step = _unless_acknowledged(ACKNOWLEDGE_ACCESS_CODES, name, door, changed)
        return Decision(changed, [step], [door_happening(ActivityKind.ACCESS_CODE_LOADED, place)])

    log = Log(backend, principal)
    return await optimistic_write(backend.store, ACKNOWLEDGE_ACCESS_CODES, decide, log=log, changed=DOOR)


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
    content, kept = fingerprint(command, without="event_id"), backend.retention.events

    async def decide(_: Counter[str]) -> Decision[AccessCode]:
        now = backend.clock()
        check_event_time(command.used_at, now, kept, ("input", "usedAt"))
        read = await REPORT_ACCESS_CODE_USE.read_batch(
            store,
            code=(name, command.code_id),
            door=(name,),
            claim=(name, command.event_id),
            attempt=(name, command.event_id),
        )
        code, door = read["code"], read["door"]
        claim, attempt = unexpired(read["claim"], now), unexpired(read["attempt"], now)
        if code is None or door is None:
            message = f"There is no access code {command.code_id}."
            raise not_found_or_forbidden(principal, message, ("input", "codeId"))
        if claim is not None and claim.fingerprint != content:
            raise IdTakenError(command.event_id, "another event of this door", ("input", "eventId"))
        if claim is not None or (attempt is not None and attempt.code_id == command.code_id):
            return Decision(code)
        used: AccessCode = replace(
            code,
            uses=code.uses + 1,
            last_used_at=max(command.used_at, code.last_used_at or EARLIEST),
            revision=code.revision + 1,
        )
        steps = _report_steps(kept, command, code, used, door, now, content)
        if attempt is None:
            steps.append(REPORT_ACCESS_CODE_USE.step("no attempt", (name, command.event_id), now=to_seconds(now)))
        locker = None
        if command.locker_id is not None:
            locker = await REPORT_ACCESS_CODE_USE.read(store, "locker", command.locker_id)
        happening = code_happening(ActivityKind.ACCESS_CODE_USED, used, locker)
        return Decision(used, steps, [replace(happening, event_id=EventId(command.event_id))])

    return await optimistic_write(store, REPORT_ACCESS_CODE_USE, decide, log=Log(backend, principal), changed=DOOR)


def _report_steps(
    kept: timedelta | None,
    command: ReportAccessCodeUse,
    code: AccessCode,
    used: AccessCode,
    door: CodeDoor,
    now: Instant,
    content: str,
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
        expires_at=expiry(command.used_at, kept),
    )
    claim = record_from(EventClaim, event, fingerprint=content)
    steps = [
        contract.record_step("event", event),
        contract.step("claim", (event.door, event.event_id), EVENT_CLAIM.encode(claim), now=to_seconds(now)),
        contract.change_step("code", code, used, readRevision=code.revision),
    ]
    if used.max_uses is not None and used.uses >= used.max_uses:
        steps.append(door_step(contract, code.door, door))
    return steps


def _is_repeated(door: CodeDoor, command: ProvisionDevice, principal: Principal) -> bool:
    """Whether the key may be shown once more: for the same request, and before the device has used it."""
    has_voided = door.void_before == door.generation
    return door.provisioned_by == principal.subject and command.voids_digits is has_voided and not door.is_in_use


def _provisioned(backend: Backend, name: Door, door: CodeDoor) -> ProvisionedDevice:
    key = backend.code_ring().device_key(str(door.device_key_id), name, door.generation)
    return ProvisionedDevice(door.generation, key.hex())
