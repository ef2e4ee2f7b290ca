"""Digits that are entered at a door: one transaction decides and records, and the answer comes after it."""

from __future__ import annotations

import hmac
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from domain.access_codes import (
    ATTEMPT_LIFETIME,
    REPEAT_WINDOW,
    AccessCode,
    AccessCodeState,
    AccessDecision,
    Attempt,
    Basis,
    CodeDoor,
    CodeId,
    Lockout,
    digits_mac,
    grace_end,
    is_in_grace,
    is_void,
    validity_of,
)
from domain.activity import ActivityKind, Happening, code_happening, door_happening, reservation_happening
from domain.authorization import Principal, may_clear_lockout, may_use_door, require
from domain.bookings import Notification
from domain.changes import revised
from domain.commands.access_codes import ClearLockout, VerifyAccessCode
from domain.lifecycle import is_in_service
from domain.models import (
    AccessAction,
    AccessEvent,
    AccessResult,
    Door,
    EventId,
    Location,
    Locker,
    Reservation,
    record_from,
)
from domain.retention import expiry, unexpired
from domain.schedule import has_ended
from domain.times import Instant, shift, to_seconds
from loaders.backend import Backend
from loaders.codecs import ATTEMPT, LOCKOUT, Guard, StoredReservation
from loaders.contracts.access_codes import CLEAR_LOCKOUT, VERIFY_ACCESS_CODE
from loaders.reads.live_reservations import MovedError, live_in
from loaders.table.client import Store
from loaders.writes.doors import (
    DOOR,
    basis_of,
    basis_step,
    door_path,
    door_step,
    named_door,
    read_place,
)
from loaders.writes.log import Log
from loaders.writes.optimistic import Decision, optimistic_write
from loaders.writes.reservation_steps import change_steps, occupied, use_steps
from loaders.writes.timeline import ReservationContext, earliest_other, pointer_after

if TYPE_CHECKING:
    from loaders.table.operations import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    decision: AccessDecision
    code_id: CodeId | None = None
    locked_until: Instant | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """The items of a door that are read when digits are entered."""

    name: Door
    lockout: Lockout
    attempt: Attempt | None
    is_reported: bool
    door: CodeDoor | None


@dataclass(frozen=True, slots=True)
class _Match:
    """A code that opens the door now, and what gives the right to."""

    code: AccessCode
    basis: Basis
    reserved: _Reserved | None

    @property
    def locker(self) -> Locker | None:
        """The locker of the door, unless that is a location's."""
        if self.reserved is not None:
            return self.reserved.context.locker
        return self.basis if isinstance(self.basis, Locker) else None


@dataclass(frozen=True, slots=True)
class _Reserved:
    """The reservation of a code, and what was read before it."""

    stored: StoredReservation
    context: ReservationContext


async def verify_access_code(backend: Backend, command: VerifyAccessCode, principal: Principal) -> Verification:
    """Decides whether digits open a door (QC-107).

    Every decision is written under the lockout record that was read for it. Of guesses that are sent at the same time,
    one at a time is decided, so they cannot get past the limit of failures.
    """
    name = named_door(command)
    require(may_use_door(principal, command.locker_id, command.location_id), door_path(command))

    async def decide(_: Counter[str]) -> Decision[Verification]:
        now = backend.clock()
        read = await _read(backend.store, name, command, now)
        # Before anything that depends on the digits: guesses are not counted now.
        if read.lockout.is_locked(now):
            return Decision(Verification(decision=AccessDecision.LOCKED_OUT, locked_until=read.lockout.locked_until))
        if read.attempt is not None and _has_digits(backend, read, command):
            return Decision(await _repeated(backend, command, read, read.attempt, now))
        if read.attempt is None and read.is_reported:
            # The device decided, and its report counts the use.
            return Decision(Verification(decision=AccessDecision.DENIED))
        match = None if read.attempt is not None else await _match(backend, name, command.digits, read.door, now)
        attempt, place = _attempt(backend, read, command, match, now), (name, command.attempt_id)
        if match is None:
            steps, happenings = await _denial(backend, command, principal, read, now)
        else:
            steps, happenings = await _grant(backend, read, match, now)
            steps.append(VERIFY_ACCESS_CODE.step("no report", place, now=to_seconds(now)))
        if read.attempt is None:
            steps.append(VERIFY_ACCESS_CODE.step("attempt", place, ATTEMPT.encode(attempt), now=to_seconds(now)))
        return Decision(Verification(decision=attempt.decision, code_id=attempt.code_id), steps, happenings)

    log = Log(backend, principal)
    return await optimistic_write(backend.store, VERIFY_ACCESS_CODE, decide, log=log, changed=DOOR)


async def clear_lockout(backend: Backend, command: ClearLockout, principal: Principal) -> Lockout:
    """Ends a lockout and forgets the failures before it (QC-108)."""
    name, store = named_door(command), backend.store
    place = await read_place(store, CLEAR_LOCKOUT, command, principal)
    owner_id = place.owner_id if isinstance(place, Locker) else None
    require(may_clear_lockout(principal, owner_id), door_path(command))

    async def decide(_: Counter[str]) -> Decision[Lockout]:
        current: Lockout | None = await CLEAR_LOCKOUT.read(store, "lockout", name)
        if current is None or current == Lockout(revision=current.revision):
            return Decision(current or Lockout())
        cleared = Lockout(revision=current.revision + 1)
        step = CLEAR_LOCKOUT.change_step("lockout", current, cleared, at=(name,), readRevision=current.revision)
        return Decision(cleared, [step], [door_happening(ActivityKind.DOOR_LOCKOUT_CLEARED, place)])

    return await optimistic_write(store, CLEAR_LOCKOUT, decide, log=Log(backend, principal), changed=DOOR)


async def _read(store: Store, name: Door, command: VerifyAccessCode, now: Instant) -> _Read:
    entry = (name, command.attempt_id)
    read = await VERIFY_ACCESS_CODE.read_batch(store, lockout=(name,), attempt=entry, report=entry, door=(name,))
    attempt = unexpired(read["attempt"], now)
    lockout, is_reported = read["lockout"] or Lockout(), unexpired(read["report"], now) is not None
    return _Read(name=name, lockout=lockout, attempt=attempt, is_reported=is_reported, door=read["door"])


def _has_digits(backend: Backend, read: _Read, command: VerifyAccessCode) -> bool:
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
        reserved = await _reserved(store, code) if code.reservation_id is not None else None
        basis = await basis_of(store, VERIFY_ACCESS_CODE, code) if reserved is None else reserved.stored.reservation
        considered = replace(code, uses=code.uses - 1) if code.code_id == used else code
        guard = None if reserved is None else reserved.context.guard
        if basis is not None and await _opens(store, considered, basis, now, guard):
            return _Match(code, basis, reserved)
    return None


async def _reserved(store: Store, code: AccessCode) -> _Reserved | None:
    # The guard first: it then covers everything that is read after it.
    assert code.locker_id is not None  # noqa: S101  # the door of a reservation is a locker's
    own = (code.locker_id,)
    read = await VERIFY_ACCESS_CODE.read_batch(store, guard=own, pointer=own, **{"reserved locker": own})
    place = (code.locker_id, code.start_at, code.reservation_id)
    stored = await VERIFY_ACCESS_CODE.read(store, "reservation", *place)
    locker = read.pop("reserved locker")
    context = ReservationContext(**read, claim=None, locker=locker)
    if context.guard is None:
        raise MovedError((code.locker_id, 0))  # that of the first reservation is not visible yet
    return None if stored is None else _Reserved(stored, context)


async def _opens(store: Store, code: AccessCode, basis: Basis, now: Instant, guard: Guard | None) -> bool:
    if validity_of(code, now, basis).state is AccessCodeState.ACTIVE:
        return True
    if guard is None or not isinstance(basis, Reservation) or not is_in_grace(code, now, basis):
        return False
    if grace_end(basis, [guard.released_start_at]) <= now:
        return False
    since = (basis.locker_id, basis.end_at, now)
    return not await live_in(store, VERIFY_ACCESS_CODE, "next reservation", since, guard)


def _attempt(backend: Backend, read: _Read, command: VerifyAccessCode, match: _Match | None, now: Instant) -> Attempt:
    key = backend.code_ring().current
    return Attempt(
        attempt_id=command.attempt_id,
        key_id=key.key_id,
        digits_mac=digits_mac(key, read.name, command.attempt_id, command.digits),
        decision=AccessDecision.DENIED if match is None else AccessDecision.GRANTED,
        code_id=None if match is None else match.code.code_id,
        attempted_at=now,
        expires_at=to_seconds(shift(now, ATTEMPT_LIFETIME)),
    )


async def _grant(backend: Backend, read: _Read, match: _Match, now: Instant) -> tuple[list[Step], list[Happening]]:
    contract, code, lockout, door = VERIFY_ACCESS_CODE, match.code, read.lockout, read.door
    assert door is not None  # noqa: S101  # a door with a code has its record
    used = replace(code, uses=code.uses + 1, last_used_at=now, revision=code.revision + 1)
    is_last = used.max_uses is not None and used.uses >= used.max_uses
    steps = [
        contract.step("same lockout", (read.name,), readRevision=lockout.revision)
        if lockout.revision
        else contract.step("no lockout", (read.name,)),
        contract.change_step("code", code, used, readRevision=code.revision),
        door_step(contract, read.name, door)
        if is_last
        else contract.step("same door", (read.name,), readRevision=door.revision),
    ]
    happenings = [code_happening(ActivityKind.ACCESS_CODE_USED, used, match.locker)]
    if match.reserved is not None and _is_first_use(match.reserved, now):
        checked_in, further = await _check_in(backend, match.reserved, now)
        steps, happenings = steps + checked_in, happenings + further
    else:
        guard = None if match.reserved is None else match.reserved.context.guard
        steps.append(basis_step(contract, code, match.basis, guard))
    event = _event(backend, code, now, AccessAction.UNLOCK, code.owner_id, AccessResult.SUCCESS)
    steps.append(contract.record_step("event", replace(event, metadata={"codeId": code.code_id})))
    return steps, [replace(happenings[0], event_id=event.event_id), *happenings[1:]]


def _is_first_use(reserved: _Reserved, now: Instant) -> bool:
    """Whether this use checks the reservation in, as `startReservation` would."""
    reservation, context = reserved.stored.reservation, reserved.context
    if reservation.started_at is not None or has_ended(reservation, now) or reserved.stored.ended_as is not None:
        return False
    return context.locker is not None and is_in_service(context.locker)


async def _check_in(backend: Backend, reserved: _Reserved, now: Instant) -> tuple[list[Step], list[Happening]]:
    contract, stored, context = VERIFY_ACCESS_CODE, reserved.stored, reserved.context
    reservation, locker = stored.reservation, context.locker
    assert locker is not None  # noqa: S101  # see _is_first_use
    started = revised(reservation, now, started_at=now)
    used = occupied(locker, reservation, now)
    own = (reservation.locker_id, reservation.reservation_id)
    other = await earliest_other(backend.store, contract, context, *own, now)
    steps = change_steps(contract, stored, started, context, pointer_after(context.pointer, started, other))
    of_locker, happenings = use_steps(contract, started, locker, used, backend)
    happening = reservation_happening(ActivityKind.RESERVATION_STARTED, started, locker, reservation)
    return steps + of_locker, [happening, *happenings]


async def _denial(
    backend: Backend, command: VerifyAccessCode, principal: Principal, read: _Read, now: Instant
) -> tuple[list[Step], list[Happening]]:
    contract, before = VERIFY_ACCESS_CODE, read.lockout
    after = before.after_failure(now)
    if before.revision:
        steps = [contract.change_step("lockout", before, after, at=(read.name,), readRevision=before.revision)]
    else:
        steps = [contract.step("first lockout", (read.name,), LOCKOUT.encode(after))]
    place = await read_place(backend.store, contract, command, principal)
    failed = (principal.owner_id or principal.subject, AccessResult.FAIL)
    denied = _event(backend, command, now, AccessAction.DENIED, *failed)
    steps.append(contract.record_step("event", denied))
    happenings = [door_happening(ActivityKind.ACCESS_CODE_DENIED, place, denied)]
    if after.is_locked(now):
        tamper = _event(backend, command, now, AccessAction.TAMPER, *failed)
        steps += [contract.record_step("tamper event", tamper), *_notification_steps(place, tamper, after)]
        happenings.append(door_happening(ActivityKind.DOOR_LOCKED_OUT, place, tamper))
    return steps, happenings


def _notification_steps(place: Locker | Location, tamper: AccessEvent, lockout: Lockout) -> list[Step]:
    """Tells the owner of a locker, or the manager of a location if it has one, that a lockout began."""
    if isinstance(place, Locker):
        owner_id, door = place.owner_id, f"Locker {place.locker_id}"
    elif place.manager_id is not None:
        owner_id, door = place.manager_id, f"The door of {place.name}"
    else:
        return []
    notice = record_from(
        Notification,
        tamper,
        notification_id=f"{tamper.event_id}-lockout",
        owner_id=owner_id,
        message=f"{door} refuses access codes until {lockout.locked_until}: too many failures.",
        created_at=tamper.timestamp,
    )
    return [VERIFY_ACCESS_CODE.record_step("notification", notice)]


def _event(
    backend: Backend,
    door: AccessCode | VerifyAccessCode,
    now: Instant,
    action: AccessAction,
    actor_id: str,
    result: AccessResult,
) -> AccessEvent:
    return record_from(
        AccessEvent,
        door,
        event_id=EventId(backend.new_id()),
        timestamp=now,
        recorded_at=now,
        action=action,
        actor_id=actor_id,
        result=result,
        metadata=None,
        expires_at=expiry(now, backend.retention.events),
    )
