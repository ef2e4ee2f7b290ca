"""Digits that are entered at a door: one transaction decides and records, and the answer comes after it."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from domain.access_codes import (
    ATTEMPT_LIFETIME,
    REPEAT_WINDOW,
    AccessCode,
    AccessCodeState,
    AccessDecision,
    Attempt,
    Lockout,
    digits_mac,
    is_in_grace,
    is_void,
    validity_of,
)
from domain.authorization import Scope, acts_for, is_admin, may_use_door, not_found_or_forbidden, require
from domain.models import AccessAction, AccessEvent, AccessResult, EventId, Reservation
from domain.times import shift, to_datetime
from loaders.codecs import ACCESS_CODE, ACCESS_EVENT, ATTEMPT, LOCKOUT, difference
from loaders.contracts.access_codes import CLEAR_LOCKOUT, VERIFY_ACCESS_CODE
from loaders.table.errors import TransactionRefusedError
from loaders.table.retry import attempts
from loaders.writes.access_codes import basis_of, basis_step, contended, door_step, named_door

if TYPE_CHECKING:
    from domain.access_codes import Basis, CodeDoor, CodeId, Door
    from domain.authorization import Principal
    from domain.commands.access_codes import ClearLockout, VerifyAccessCode
    from domain.models import LockerId
    from domain.times import Instant
    from loaders.backend import Backend
    from loaders.codecs import Guard
    from loaders.table.client import Store
    from loaders.table.operations import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The answer to an attempt."""

    decision: AccessDecision
    code_id: CodeId | None = None
    locked_until: Instant | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """What is known of a door when digits are entered."""

    name: Door
    lockout: Lockout
    attempt: Attempt | None
    door: CodeDoor | None


@dataclass(frozen=True, slots=True)
class _Match:
    """A code that opens the door now, and what gives the right to."""

    code: AccessCode
    basis: Basis
    guard: Guard | None


async def verify_access_code(backend: Backend, command: VerifyAccessCode, principal: Principal) -> Verification:
    """Decides whether digits open a door (QC-107).

    Every decision is written under the lockout record that was read for it. Of guesses that are sent at the same time,
    one at a time is decided, so they cannot get past the limit of failures.
    """
    name = named_door(command)
    require(may_use_door(principal, command.locker_id, command.location_id), ("input", "lockerId"))
    async for _ in attempts(VERIFY_ACCESS_CODE.rounds):
        now = backend.clock()
        read = await _read(backend.store, name, command, now)
        if read.attempt is not None and _has_digits(backend, read, command):
            return await _repeated(backend, command, read, read.attempt, now)
        if read.lockout.is_locked(now):
            return Verification(decision=AccessDecision.LOCKED_OUT, locked_until=read.lockout.locked_until)
        match = None if read.attempt is not None else await _match(backend, name, command.digits, read.door, now)
        decided = await _decided(backend, command, principal, read, match, now)
        if decided is not None:
            return decided
    raise contended()


async def clear_lockout(backend: Backend, command: ClearLockout, principal: Principal) -> Lockout:
    """Ends a lockout and forgets the failures before it (QC-108)."""
    name, store = named_door(command), backend.store
    await _require_manager(store, command, principal)
    async for _ in attempts(CLEAR_LOCKOUT.rounds):
        current: Lockout | None = await CLEAR_LOCKOUT.read(store, "lockout", name)
        if current is None or current == Lockout(revision=current.revision):
            return current or Lockout()
        cleared = Lockout(revision=current.revision + 1)
        changes = difference(LOCKOUT.encode(current), LOCKOUT.encode(cleared))
        step = CLEAR_LOCKOUT.step("lockout", (name,), changes, readRevision=current.revision)
        try:
            await store.transact(CLEAR_LOCKOUT.transact(step))
        except TransactionRefusedError:
            continue
        return cleared
    raise contended()


async def _require_manager(store: Store, command: ClearLockout, principal: Principal) -> None:
    """The owner of a locker and admins manage its door, admins alone a location's."""
    if command.locker_id is None:
        require(is_admin(principal), ("input", "locationId"))
        return
    locker = await CLEAR_LOCKOUT.read(store, "locker", command.locker_id)
    if locker is None:
        message = f"Locker {command.locker_id} does not exist."
        raise not_found_or_forbidden(principal, message, ("input", "lockerId"))
    require(acts_for(principal, locker.owner_id, Scope.CODES_WRITE), ("input", "lockerId"))


async def _read(store: Store, name: Door, command: VerifyAccessCode, now: Instant) -> _Read:
    read = await VERIFY_ACCESS_CODE.read_batch(store, lockout=(name,), attempt=(name, command.attempt_id), door=(name,))
    attempt: Attempt | None = read["attempt"]
    if attempt is not None and attempt.expires_at <= _seconds(now):
        attempt = None
    return _Read(name=name, lockout=read["lockout"] or Lockout(), attempt=attempt, door=read["door"])


def _has_digits(backend: Backend, read: _Read, command: VerifyAccessCode) -> bool:
    """Whether the attempt with this id had these digits."""
    attempt = read.attempt
    for key in backend.code_ring().keys:
        if attempt is not None and key.key_id == attempt.key_id:
            mac = digits_mac(key, read.name, command.attempt_id, command.digits)
            return hmac.compare_digest(mac, attempt.digits_mac)
    return False


async def _repeated(
    backend: Backend, command: VerifyAccessCode, read: _Read, attempt: Attempt, now: Instant
) -> Verification:
    """The answer to an attempt that was decided before: its response was lost, or someone replays it."""
    if attempt.decision is AccessDecision.GRANTED and now < shift(attempt.attempted_at, REPEAT_WINDOW):
        match = await _match(backend, read.name, command.digits, read.door, now, used=attempt.code_id)
        if match is not None and match.code.code_id == attempt.code_id:
            return Verification(decision=AccessDecision.GRANTED, code_id=attempt.code_id)
    return Verification(decision=AccessDecision.DENIED)


async def _match(
    backend: Backend, name: Door, digits: str, door: CodeDoor | None, now: Instant, used: CodeId | None = None
) -> _Match | None:
    """The code with these digits that opens the door now; the last use of `used` is left out of account."""
    ring, store = backend.code_ring(), backend.store
    claims = await VERIFY_ACCESS_CODE.read_many(store, "claim", [(name, claim) for claim in ring.claims(name, digits)])
    ids = list(dict.fromkeys(claim.code_id for claim in claims if claim is not None))
    if not ids:
        return None
    for code in await VERIFY_ACCESS_CODE.read_many(store, "code", [(name, code_id) for code_id in ids]):
        if code is None or is_void(code, door) or not hmac.compare_digest(ring.digits(name, code), digits):
            continue
        # The guard first: it then covers everything that is read after it.
        guard = None
        if code.reservation_id is not None:
            guard = await VERIFY_ACCESS_CODE.read(store, "guard", code.locker_id)
        basis = await basis_of(store, VERIFY_ACCESS_CODE, code)
        considered = replace(code, uses=code.uses - 1) if code.code_id == used else code
        if basis is not None and await _opens(store, considered, basis, now):
            return _Match(code, basis, guard)
    return None


async def _opens(store: Store, code: AccessCode, basis: Basis, now: Instant) -> bool:
    if validity_of(code, now, basis).state is AccessCodeState.ACTIVE:
        return True
    if not isinstance(basis, Reservation) or not is_in_grace(code, now, basis):
        return False
    async for _ in VERIFY_ACCESS_CODE.read_range(store, "next reservation", basis.locker_id, basis.end_at, now):
        return False
    return True


async def _decided(
    backend: Backend,
    command: VerifyAccessCode,
    principal: Principal,
    read: _Read,
    match: _Match | None,
    now: Instant,
) -> Verification | None:
    """Records the decision; None where something changed since it was read."""
    key = backend.code_ring().current
    decision = AccessDecision.DENIED if match is None else AccessDecision.GRANTED
    attempt = Attempt(
        attempt_id=command.attempt_id,
        key_id=key.key_id,
        digits_mac=digits_mac(key, read.name, command.attempt_id, command.digits),
        decision=decision,
        code_id=None if match is None else match.code.code_id,
        attempted_at=now,
        expires_at=_seconds(shift(now, ATTEMPT_LIFETIME)),
    )
    steps = _denying(backend, command, principal, read, now) if match is None else _granting(backend, read, match, now)
    if read.attempt is None:
        place = (read.name, command.attempt_id)
        steps.append(VERIFY_ACCESS_CODE.step("attempt", place, ATTEMPT.encode(attempt), now=_seconds(now)))
    try:
        await backend.store.transact(VERIFY_ACCESS_CODE.transact(*steps))
    except TransactionRefusedError:
        return None
    return Verification(decision=decision, code_id=attempt.code_id)


def _granting(backend: Backend, read: _Read, match: _Match, now: Instant) -> list[Step]:
    contract, code = VERIFY_ACCESS_CODE, match.code
    used = replace(code, uses=code.uses + 1, last_used_at=now, revision=code.revision + 1)
    changes = difference(ACCESS_CODE.encode(code), ACCESS_CODE.encode(used))
    door = read.door
    assert door is not None  # noqa: S101  # a door with a code has its record
    is_last = used.max_uses is not None and used.uses >= used.max_uses
    lockout = read.lockout
    steps = [
        contract.step("same lockout", (read.name,), readRevision=lockout.revision)
        if lockout.revision
        else contract.step("no lockout", (read.name,)),
        contract.step("code", (read.name, code.code_id), changes, readRevision=code.revision),
        door_step(contract, read.name, door)
        if is_last
        else contract.step("same door", (read.name,), readRevision=door.revision),
        basis_step(contract, code, match.basis, match.guard),
    ]
    if code.locker_id is not None:
        steps.append(
            _event_step(
                backend, "event", code.locker_id, now, AccessAction.UNLOCK, code.owner_id, AccessResult.SUCCESS, code
            )
        )
    return steps


def _denying(
    backend: Backend, command: VerifyAccessCode, principal: Principal, read: _Read, now: Instant
) -> list[Step]:
    contract, before = VERIFY_ACCESS_CODE, read.lockout
    after = before.after_failure(now)
    if before.revision:
        changes = difference(LOCKOUT.encode(before), LOCKOUT.encode(after))
        steps = [contract.step("lockout", (read.name,), changes, readRevision=before.revision)]
    else:
        steps = [contract.step("first lockout", (read.name,), LOCKOUT.encode(after))]
    if command.locker_id is not None:
        actor, result = principal.subject, AccessResult.FAIL
        steps.append(_event_step(backend, "event", command.locker_id, now, AccessAction.DENIED, actor, result))
        if after.is_locked(now):
            tampered = _event_step(backend, "tamper event", command.locker_id, now, AccessAction.TAMPER, actor, result)
            steps.append(tampered)
    return steps


def _event_step(
    backend: Backend,
    step: str,
    locker_id: LockerId,
    now: Instant,
    action: AccessAction,
    actor_id: str,
    result: AccessResult,
    code: AccessCode | None = None,
) -> Step:
    event = AccessEvent(
        event_id=EventId(backend.new_id()),
        locker_id=locker_id,
        timestamp=now,
        recorded_at=now,
        action=action,
        actor_id=actor_id,
        result=result,
        metadata=None if code is None else {"codeId": code.code_id},
    )
    return VERIFY_ACCESS_CODE.step(step, (locker_id, now, event.event_id), ACCESS_EVENT.encode(event))


def _seconds(time: Instant) -> int:
    return int(to_datetime(time).timestamp())
