"""Writes of lockers: the record and its copies change together or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from domain.access_codes import GRACE
from domain.activity import ActivityKind, locker_happening
from domain.authorization import Principal, Scope, acts_for, may_transfer, not_found_or_forbidden, offered_to, require
from domain.changes import ChangeRequest
from domain.commands.base import fingerprint
from domain.commands.lockers import (
    ChangeLockers,
    ConfigureLocker,
    MoveLocker,
    RegisterLocker,
    RegisterLockers,
    RenameLocker,
    RetireLocker,
    TransferLocker,
    UpdateLockerStatus,
)
from domain.errors import IdTakenError, OverlapError
from domain.lifecycle import check_not_retired, check_transition, is_in_service
from domain.models import (
    LocationId,
    LocationStatus,
    Locker,
    LockerId,
    LockerOffer,
    LockerStatus,
    LockerSummary,
    OwnerId,
    record_from,
)
from domain.times import LATEST, Instant, shift
from loaders import keys
from loaders.backend import Backend
from loaders.codecs import LOCATION_LOCKER, LOCKER, LOCKER_OFFER, OWNER_LOCKER, Guard
from loaders.contracts.lockers import CHANGE_LOCKER, CHANGE_LOCKER_STATUS, REGISTER_LOCKER, TRANSFER_LOCKER
from loaders.contracts.reservations import RETIRE_LOCKER
from loaders.contracts.writing import WriteContract
from loaders.reads.live_reservations import live_in
from loaders.table.errors import TransactionRefusedError
from loaders.writes.locations import check_location
from loaders.writes.log import Log
from loaders.writes.optimistic import Decision, created_before, optimistic_write
from loaders.writes.owners import check_owner
from loaders.writes.several import check_distinct, written_each
from loaders.writes.timeline import last_change_step

if TYPE_CHECKING:
    from loaders.table.operations import Step
    from loaders.table.positions import Key

_CHANGED = ActivityKind.LOCKER_CHANGED
_CHANGES_AT_ONCE = 5
Found: TypeAlias = dict[LockerId, Locker | Exception | None]
"""Lockers that were read before they are changed; each is used once."""


async def register_locker(backend: Backend, command: RegisterLocker, principal: Principal) -> Locker:
    """Registers a locker of an existing owner, at an active location or at none (QC-11)."""
    require(acts_for(principal, command.owner_id, Scope.LOCKERS_WRITE), ("input", "ownerId"))
    now = backend.clock()
    locker = record_from(
        Locker,
        command,
        locker_id=command.locker_id or LockerId(backend.new_id()),
        status=LockerStatus.AVAILABLE,
        created_at=now,
        updated_at=now,
        version=1,
        features=tuple(command.features or ()),
    )
    content = fingerprint(command, without="locker_id")
    try:
        happening = locker_happening(ActivityKind.LOCKER_REGISTERED, locker)
        await Log(backend, principal).transact(REGISTER_LOCKER, register_steps(locker, content), happening)
    except TransactionRefusedError as refusal:
        taken = IdTakenError(locker.locker_id, "another locker", ("input", "lockerId"))
        first = created_before(refusal, "locker", LOCKER, content, taken)
        if first is not None:
            _require_change(principal, first.owner_id)  # it may have been transferred since
            return first
        check_owner(refusal, command.owner_id)
        check_location(refusal, command.location_id)
        raise
    return locker


async def register_lockers(
    backend: Backend, command: RegisterLockers, principal: Principal, has_time: Callable[[], bool]
) -> list[Locker | Exception]:
    """Registers lockers one after another: transactions that check the same owner and location exclude each other."""
    check_distinct("lockers", "lockerId", (locker.locker_id for locker in command.lockers))
    writes = [partial(register_locker, backend, locker, principal) for locker in command.lockers]
    return await written_each("lockers", writes, has_time, at_once=1)


async def change_lockers(
    backend: Backend, command: ChangeLockers, principal: Principal, has_time: Callable[[], bool]
) -> list[Locker | Exception]:
    """Changes each locker as its own mutation does, after all of them were read together."""
    check_distinct("lockers", "lockerId", (locker.locker_id for locker in command.lockers))
    commands = [locker.command for locker in command.lockers]
    statuses = [one.locker_id for one in commands if isinstance(one, UpdateLockerStatus)]
    others = [one.locker_id for one in commands if isinstance(one, ConfigureLocker)]
    found = await _read(backend, CHANGE_LOCKER_STATUS, statuses) | await _read(backend, CHANGE_LOCKER, others)
    writes = [
        partial(update_locker_status, backend, one, principal, found)
        if isinstance(one, UpdateLockerStatus)
        else partial(configure_locker, backend, one, principal, found)
        for one in commands
    ]
    return await written_each("lockers", writes, has_time, at_once=_CHANGES_AT_ONCE)


async def _read(backend: Backend, contract: WriteContract, ids: Sequence[LockerId]) -> Found:
    if not ids:
        return {}
    found = await contract.read_together(backend.store, len(ids), "locker", [(locker_id,) for locker_id in ids])
    return {locker_id: record for (_, (locker_id,)), record in found.items()}


async def update_locker_status(
    backend: Backend, command: UpdateLockerStatus, principal: Principal, found: Found | None = None
) -> Locker:
    """Changes a locker's status by one transition of its state machine (QC-03)."""

    def check(current: Locker) -> None:
        check_transition(current, command.new_status)

    values: dict[str, Any] = {"status": command.new_status}
    if command.new_status is not LockerStatus.OCCUPIED:
        values |= {"occupied_by": None, "overdue_since": None}
    kind = ActivityKind.LOCKER_STATUS_CHANGED
    return await _change(backend, CHANGE_LOCKER_STATUS, command, principal, kind, values, found, check=check)


async def rename_locker(backend: Backend, command: RenameLocker, principal: Principal) -> Locker:
    return await _change(backend, CHANGE_LOCKER, command, principal, _CHANGED, {"alias": command.alias})


async def configure_locker(
    backend: Backend, command: ConfigureLocker, principal: Principal, found: Found | None = None
) -> Locker:
    values = command.values("locker_id")
    if "features" in values:
        values["features"] = tuple(values["features"] or ())
    return await _change(backend, CHANGE_LOCKER, command, principal, _CHANGED, values, found)


async def move_locker(backend: Backend, command: MoveLocker, principal: Principal) -> Locker:
    """Moves a locker to another active location, or to none (QC-12)."""

    def explain(refusal: TransactionRefusedError) -> None:
        check_location(refusal, command.new_location_id, ("input", "newLocationId"))

    values = {"location_id": command.new_location_id}
    return await _change(backend, CHANGE_LOCKER, command, principal, _CHANGED, values, explain=explain)


async def transfer_locker(backend: Backend, command: TransferLocker, principal: Principal) -> Locker:
    """Transfers a locker to another existing owner (QC-06)."""

    def check(current: Locker) -> None:
        require(may_transfer(principal, current.owner_id, command.new_owner_id), ("input", "newOwnerId"))

    def explain(refusal: TransactionRefusedError) -> None:
        check_owner(refusal, command.new_owner_id, "new owner", ("input", "newOwnerId"))

    values = {"owner_id": command.new_owner_id}
    kind = ActivityKind.LOCKER_TRANSFERRED
    return await _change(backend, TRANSFER_LOCKER, command, principal, kind, values, check=check, explain=explain)


async def retire_locker(backend: Backend, command: RetireLocker, principal: Principal) -> Locker:
    """Takes a locker without live reservations out of service for good; its history stays (QC-23)."""
    locker_id = command.locker_id

    async def unreserved(now: Instant) -> list[Step]:
        guard: Guard | None = await RETIRE_LOCKER.read(backend.store, "guard", locker_id)
        if guard is None:
            return [RETIRE_LOCKER.step("no guard", (locker_id,))]
        found = await live_in(backend.store, RETIRE_LOCKER, "before", (locker_id, LATEST), guard)
        # Until the grace period is over, a code may open the locker.
        if found and shift(found[0].end_at, GRACE) > now:
            raise OverlapError(found[0], ("input", "lockerId"))
        same = RETIRE_LOCKER.step("same guard", (locker_id,), readRevision=guard.revision)
        return [same, *last_change_step(RETIRE_LOCKER, locker_id, guard)]

    values = {"status": LockerStatus.RETIRED, "occupied_by": None, "overdue_since": None}
    kind = ActivityKind.LOCKER_RETIRED
    return await _change(backend, RETIRE_LOCKER, command, principal, kind, values, conditions=unreserved)


def register_steps(locker: Locker, content: str) -> list[Step]:
    steps = [
        REGISTER_LOCKER.record_step("locker", locker, {"fingerprint": content}),
        *_copy_steps(REGISTER_LOCKER, locker),
        REGISTER_LOCKER.step("owner", (locker.owner_id,)),
    ]
    if locker.location_id is not None:
        steps += [
            REGISTER_LOCKER.step("location", (locker.location_id,), active=LocationStatus.ACTIVE),
            *(REGISTER_LOCKER.step("offer", place, offer) for place, offer in _offers_of(locker).items()),
        ]
    return steps


def change_steps(contract: WriteContract, current: Locker, changed: Locker) -> list[Step]:
    """The steps that change a locker and its copies, and move these with its owner and location."""
    locker_id, old_location, new_location = current.locker_id, current.location_id, changed.location_id
    steps = [
        contract.change_step("locker", current, changed, **locker_as_read(current)),
        *_copy_steps(contract, changed),
    ]
    if changed.owner_id != current.owner_id:
        steps += [
            contract.step("old copy", (current.owner_id, locker_id)),
            contract.step("new owner", (changed.owner_id,)),
        ]
    if old_location not in {None, new_location}:
        steps.append(contract.step("old location copy", (old_location, locker_id)))
    if new_location not in {None, old_location}:
        steps.append(contract.step("location", (new_location,), active=LocationStatus.ACTIVE))
    if current.overdue_since is not None and changed.overdue_since is None:
        steps.append(contract.step("overdue stay", (locker_id,)))
    return steps + _offer_steps(contract, current, changed)


def locker_as_read(locker: Locker) -> dict[str, Any]:
    """The values that every write of a locker is conditioned on."""
    overdue_since = locker.overdue_since or "never"
    return {"expectedVersion": locker.version, "readOwner": locker.owner_id, "readOverdue": overdue_since}


def _require_change(principal: Principal, owner_id: OwnerId) -> None:
    require(acts_for(principal, owner_id, Scope.LOCKERS_WRITE), ("input", "lockerId"))


async def _change(
    backend: Backend,
    contract: WriteContract,
    command: UpdateLockerStatus | RenameLocker | ConfigureLocker | MoveLocker | TransferLocker | RetireLocker,
    principal: Principal,
    kind: ActivityKind,
    values: dict[str, Any],
    found: Found | None = None,
    *,
    check: Callable[[Locker], None] = lambda _: None,
    explain: Callable[[TransactionRefusedError], None] = lambda _: None,
    conditions: Callable[[Instant], Awaitable[list[Step]]] | None = None,
) -> Locker:
    """Changes a locker and its copies.

    The write is conditioned on the owner that was read. A caller who has transferred a locker may not see it any more,
    but gets the result again.
    """
    request = ChangeRequest.of(command, backend.new_id, principal.subject)

    async def decide(_: Counter[str]) -> Decision[Locker]:
        current = await _current(backend, contract, command.locker_id, principal, found)
        if not request.is_made(current):
            _require_change(principal, current.owner_id)
        changed = request.apply(current, backend.clock(), **values)
        if changed is current:
            return Decision(current)
        if changed.owner_id != current.owner_id:
            changed = replace(changed, transfers=(current.transfers or 0) + 1)
        check_not_retired(current)
        check(current)
        steps = change_steps(contract, current, changed)
        if conditions is not None:
            steps += await conditions(changed.updated_at)

        def on_refusal(refusal: TransactionRefusedError) -> Locker | None:
            item = refusal.failed.get("locker")
            found = current if item is None else LOCKER.decode(item)
            if (found.version, found.owner_id) == (current.version, current.owner_id):
                explain(refusal)
                return None  # it may have become overdue
            # A locker is never deleted, so one that is not as it was read has another version, perhaps that of this
            # very request, or another owner, and then the caller may not see it any more.
            if not request.is_made(found):
                _require_change(principal, found.owner_id)
            request.check_made(found)
            return changed

        return Decision(changed, steps, [locker_happening(kind, changed, current)], on_refusal)

    log = Log(backend, principal)
    return await optimistic_write(backend.store, contract, decide, log=log, changed=("locker", "lockerId"))


async def _current(
    backend: Backend, contract: WriteContract, locker_id: LockerId, principal: Principal, found: Found | None
) -> Locker:
    if found is not None and locker_id in found:
        current = found.pop(locker_id)
    else:
        current = await contract.read(backend.store, "locker", locker_id)
    if current is None:
        raise not_found_or_forbidden(principal, f"Locker {locker_id} does not exist.", ("input", "lockerId"))
    if isinstance(current, Exception):
        raise current
    return current


def _copy_steps(contract: WriteContract, locker: Locker) -> list[Step]:
    steps = [contract.step("copy", (locker.owner_id, locker.locker_id), _owner_copy(locker))]
    if locker.location_id is not None:
        place = (locker.location_id, locker.locker_id)
        steps.append(contract.step("location copy", place, _location_copy(locker, locker.location_id)))
    return steps


def _offer_steps(contract: WriteContract, current: Locker, changed: Locker) -> list[Step]:
    """Offers have no status, so opening and closing a door does not write them."""
    before, after = _offers_of(current), _offers_of(changed)
    gone = [contract.step("gone offer", place) for place in before if place not in after]
    new = [contract.step("offer", place, offer) for place, offer in after.items() if before.get(place) != offer]
    return gone + new


def copies_of(locker: Locker) -> dict[Key, dict[str, Any]]:
    """All items that are derived from a locker: the copies of its owner and its location, and its offers."""
    copies = {keys.owner_locker(locker.owner_id, locker.locker_id): _owner_copy(locker)}
    if locker.location_id is not None:
        place = keys.location_locker(locker.location_id, locker.locker_id)
        copies[place] = _location_copy(locker, locker.location_id)
    return copies | {keys.offer(*arguments): offer for arguments, offer in _offers_of(locker).items()}


def _offers_of(locker: Locker) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The offers of a locker by the arguments of their keys: none unless it is in service at a location."""
    if locker.location_id is None or not is_in_service(locker):
        return {}
    offer = LOCKER_OFFER.encode(record_from(LockerOffer, locker))
    place = (locker.size, keys.lot_of(locker.locker_id), locker.locker_id)
    audiences = sorted(offered_to(locker.owner_id, locker.reservable_by))
    return {(locker.location_id, *audience, *place): offer for audience in audiences}


def _owner_copy(locker: Locker) -> dict[str, Any]:
    """The attributes of an owner's copy of a locker, with its place in the index by status."""
    index = keys.owner_locker_index(locker.owner_id, locker.status, locker.locker_id)
    return OWNER_LOCKER.encode(record_from(LockerSummary, locker)) | index


def _location_copy(locker: Locker, location_id: LocationId) -> dict[str, Any]:
    """The attributes of a location's copy of a locker, with its place in the index by status."""
    index = keys.location_locker_index(location_id, locker.status, locker.locker_id)
    return LOCATION_LOCKER.encode(record_from(LockerSummary, locker)) | index
