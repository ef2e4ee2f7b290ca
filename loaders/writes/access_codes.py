"""Writes of access codes: created, rotated, revealed and revoked, each under the revision of its door."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from domain.access_codes import (
    LIVE_STATES,
    MAX_CODES_PER_PURPOSE,
    MAX_LIVE_CODES,
    MAX_REVEALS,
    AccessCode,
    AccessCodeKind,
    Basis,
    CodeClaim,
    CodeDoor,
    CodeId,
    CodeRing,
    UnknownKeyError,
    is_void,
    may_open,
    shortest_length,
    validity_of,
)
from domain.activity import ActivityKind, Happening, code_happening
from domain.authorization import Principal, Scope, acts_for, not_found_or_forbidden, require
from domain.bookings import Booking, DayPart
from domain.commands.access_codes import (
    DEFAULT_LENGTH,
    CreateAccessCode,
    RevealAccessCode,
    RevokeAccessCode,
    RotateAccessCode,
    check_fields_for_kind,
)
from domain.commands.base import fingerprint
from domain.errors import (
    BadInputError,
    CodeOverError,
    IdTakenError,
    NotFoundError,
    ReservationOverError,
    SmartLockerError,
    TooManyCodesError,
)
from domain.models import Location, Locker, LockerStatus, Reservation, record_from
from domain.schedule import check_end_after_start
from domain.times import Instant, instant_of, shift, to_datetime, to_seconds
from loaders.backend import Backend
from loaders.codecs import CODE_CLAIM, Guard, StoredAccessCode
from loaders.contracts.access_codes import CHANGE_ACCESS_CODE, CREATE_ACCESS_CODE
from loaders.contracts.writing import WriteContract
from loaders.table.client import Store
from loaders.writes.doors import DOOR, basis_of, basis_step, door_step, named_door
from loaders.writes.log import Log
from loaders.writes.optimistic import Decision, optimistic_write

if TYPE_CHECKING:
    from loaders.table.operations import Step

_CLAIM_MEMORY = timedelta(days=1)
_ROTATED = ActivityKind.ACCESS_CODE_ROTATED
_REVEALED = ActivityKind.ACCESS_CODE_REVEALED


@dataclass(frozen=True, slots=True)
class IssuedCode:
    """A code and, for those who may know them now, its digits."""

    record: AccessCode
    digits: str | None = None


@dataclass(frozen=True, slots=True)
class Purpose:
    """The object a code belongs to, and the guard that was read before it, where that is a reservation.

    `locker` is that of the door, unless the door is a location's.
    """

    basis: Basis
    locker: Locker | None
    guard: Guard | None = None
    time_zone: str | None = None


@dataclass(frozen=True, slots=True)
class _Opened:
    """A code, its door, what it is for, and the locker of the door, unless that is a location's."""

    code: AccessCode
    door: CodeDoor | None
    basis: Basis | None
    locker: Locker | None

    @property
    def known_door(self) -> CodeDoor:
        assert self.door is not None  # noqa: S101  # a door with a code has its record
        return self.door


async def create_access_code(backend: Backend, command: CreateAccessCode, principal: Principal) -> IssuedCode:
    """Creates a code (QC-105); a repeated request returns the same code and digits."""
    check_fields_for_kind(command)
    ring, store = backend.code_ring(), backend.store
    content = fingerprint(command, without="code_id")
    code_id = command.code_id or CodeId(backend.new_id())

    async def decide(refused: Counter[str]) -> Decision[IssuedCode]:
        purpose = await _purpose(store, command, principal)
        now = backend.clock()
        code = _new_code(command, code_id, purpose, principal, now)
        door: CodeDoor | None = await CREATE_ACCESS_CODE.read(store, "door", code.door)
        generation = 0 if door is None else door.generation
        code = replace(code, key_id=ring.current.key_id, counter=_taken_digits(refused), generation=generation)
        if command.code_id is not None or refused:  # the answer to this request may have been lost
            first: StoredAccessCode | None = await CREATE_ACCESS_CODE.read(store, "code", code.door, code_id)
            if first is not None:
                if first.fingerprint != content:
                    raise IdTakenError(code_id, "another code of this door", ("input", "codeId"))
                again = _shown_again(backend, principal, _Opened(first.code, door, purpose.basis, purpose.locker))
                return Decision(IssuedCode(first.code)) if again.steps else again
        _check_new(code, purpose.basis)
        if validity_of(code, now, purpose.basis).state not in LIVE_STATES:
            raise _refusal(purpose.basis)
        live = await _live(store, code, purpose.locker, door, now)
        steps = [
            CREATE_ACCESS_CODE.record_step("code", code, {"fingerprint": content}),
            *_claim_steps(CREATE_ACCESS_CODE, ring, code),
            door_step(CREATE_ACCESS_CODE, code.door, door, live=(*live, live_entry(code))),
            basis_step(CREATE_ACCESS_CODE, code, purpose.basis, purpose.guard),
        ]
        return _issued(backend, code, steps, [code_happening(ActivityKind.ACCESS_CODE_CREATED, code, purpose.locker)])

    log = Log(backend, principal)
    issued = await optimistic_write(store, CREATE_ACCESS_CODE, decide, log=log, changed=DOOR)
    if issued.digits is not None or issued.record.issued_by != principal.subject:
        return issued
    code = issued.record
    named = RevealAccessCode(code_id=code.code_id, locker_id=code.locker_id, location_id=code.location_id)

    async def decide_again(_: Counter[str]) -> Decision[IssuedCode]:
        return _shown_again(backend, principal, await _open(backend, named, principal))

    return await optimistic_write(store, CHANGE_ACCESS_CODE, decide_again, log=log, changed=DOOR)


async def rotate_access_code(backend: Backend, command: RotateAccessCode, principal: Principal) -> IssuedCode:
    """Replaces the digits of a code (QC-106); a repeated request returns the digits of the first."""

    async def decide(refused: Counter[str]) -> Decision[IssuedCode]:
        opened = await _open(backend, command, principal)
        code, door = opened.code, opened.known_door
        if command.expected_rotation > code.rotation:
            message = f"expectedRotation must not exceed the current rotation, {code.rotation}"
            raise BadInputError(message, ("input", "expectedRotation"))
        if command.expected_rotation < code.rotation:
            return _shown_again(backend, principal, opened)
        _check_live(code, opened.basis, backend.clock())
        rotated = _rotated(backend, code, door, _taken_digits(refused), principal)
        steps = _rotation_steps(backend.code_ring(), code, rotated, door)
        return _issued(backend, rotated, steps, [code_happening(_ROTATED, rotated, opened.locker)])

    log = Log(backend, principal)
    return await optimistic_write(backend.store, CHANGE_ACCESS_CODE, decide, log=log, changed=DOOR)


async def reveal_access_code(backend: Backend, command: RevealAccessCode, principal: Principal) -> IssuedCode:
    """Records who asks for the digits of a code, then returns them (QC-106).

    Digits that became void with a lost device are replaced first.
    """
    reveal_id = command.reveal_id or backend.new_id()

    async def decide(refused: Counter[str]) -> Decision[IssuedCode]:
        opened = await _open(backend, command, principal)
        code, door = opened.code, opened.known_door
        now = backend.clock()
        _check_live(code, opened.basis, now)
        if is_void(code, door):
            shown = _rotated(backend, code, door, _taken_digits(refused), principal)
        else:
            shown = replace(code, revision=code.revision + 1)
        changed = _revealed(shown, now, reveal_id, principal)
        if changed is shown:
            return _issued(backend, code)
        happenings = [code_happening(_REVEALED, changed, opened.locker)]
        if changed.rotation == code.rotation:
            return _issued(backend, changed, [_code_step(code, changed)], happenings)
        steps = _rotation_steps(backend.code_ring(), code, changed, door)
        return _issued(backend, changed, steps, [code_happening(_ROTATED, changed, opened.locker), *happenings])

    log = Log(backend, principal)
    return await optimistic_write(backend.store, CHANGE_ACCESS_CODE, decide, log=log, changed=DOOR)


async def revoke_access_code(backend: Backend, command: RevokeAccessCode, principal: Principal) -> AccessCode:
    """Revokes a code permanently (QC-106); one that is already revoked is returned unchanged."""

    async def decide(_: Counter[str]) -> Decision[AccessCode]:
        opened = await _open(backend, command, principal)
        code, door = opened.code, opened.known_door
        if code.revoked_at is not None:
            return Decision(code)
        now = backend.clock()
        revoked = replace(
            code, revoked_at=now, revoked_by=principal.subject, updated_at=now, revision=code.revision + 1
        )
        live = tuple(entry for entry in door.live if entry.partition(" ")[0] != code.code_id)
        steps = [
            _code_step(code, revoked),
            *_old_claim(backend.code_ring(), code, now),
            door_step(CHANGE_ACCESS_CODE, code.door, door, live=live),
        ]
        return Decision(revoked, steps, [code_happening(ActivityKind.ACCESS_CODE_REVOKED, revoked, opened.locker)])

    log = Log(backend, principal)
    return await optimistic_write(backend.store, CHANGE_ACCESS_CODE, decide, log=log, changed=DOOR)


def _issued(
    backend: Backend, code: AccessCode, steps: Sequence[Step] = (), happenings: Sequence[Happening] = ()
) -> Decision[IssuedCode]:
    return Decision(IssuedCode(code, backend.code_ring().digits(code.door, code)), steps, happenings)


def _taken_digits(refused: Counter[str]) -> int:
    """How many digits were found taken by other codes of the door: the next counter gives others."""
    return refused["claim"] + refused["other claim"]


async def _open(
    backend: Backend, command: RotateAccessCode | RevealAccessCode | RevokeAccessCode, principal: Principal
) -> _Opened:
    """A code that the caller may manage, its door and what it is for."""
    name, store = named_door(command), backend.store
    read = await CHANGE_ACCESS_CODE.read_batch(store, code=(name, command.code_id), door=(name,))
    code, door = read["code"], read["door"]
    if code is None or door is None:
        message = f"There is no access code {command.code_id}."
        raise not_found_or_forbidden(principal, message, ("input", "codeId"))
    locker = None if command.locker_id is None else await CHANGE_ACCESS_CODE.read(store, "locker", command.locker_id)
    basis = locker if code.basis[0] == "locker" else await basis_of(store, CHANGE_ACCESS_CODE, code)
    # A former owner of the locker no longer manages its codes.
    may_manage = basis is not None and acts_for(principal, basis.owner_id, Scope.CODES_WRITE)
    require(may_manage, ("input", "codeId"))
    return _Opened(code, door, basis, locker)


async def _purpose(store: Store, command: CreateAccessCode, principal: Principal) -> Purpose:
    """The object a new code belongs to; the caller must act for its owner."""
    match command.kind:
        case AccessCodeKind.RESERVATION:
            purpose, path = await _reservation(store, command, principal), "reservationId"
        case AccessCodeKind.BOOKING:
            purpose, path = await _booking(store, command, principal), "bookingId"
        case _:
            locker: Locker | None = await CREATE_ACCESS_CODE.read(store, "locker", command.locker_id)
            if locker is None:
                message = f"Locker {command.locker_id} does not exist."
                raise not_found_or_forbidden(principal, message, ("input", "lockerId"))
            purpose, path = Purpose(locker, locker), "lockerId"
    require(acts_for(principal, purpose.basis.owner_id, Scope.CODES_WRITE), ("input", path))
    return purpose


async def _reservation(store: Store, command: CreateAccessCode, principal: Principal) -> Purpose:
    # The guard first: it then covers everything that is read after it.
    guard = await CREATE_ACCESS_CODE.read(store, "guard", command.locker_id)
    claim = await CREATE_ACCESS_CODE.read(store, "reservation claim", command.locker_id, command.reservation_id)
    reservation: Reservation | None = None
    if claim is not None:
        place = (claim.locker_id, claim.start_at, claim.reservation_id)
        reservation = await CREATE_ACCESS_CODE.read(store, "reservation", *place)
    if reservation is None:
        message = f"Locker {command.locker_id} has no reservation {command.reservation_id}."
        raise not_found_or_forbidden(principal, message, ("input", "reservationId"))
    return Purpose(reservation, await CREATE_ACCESS_CODE.read(store, "locker", command.locker_id), guard)


async def _booking(store: Store, command: CreateAccessCode, principal: Principal) -> Purpose:
    booking: Booking | None = await CREATE_ACCESS_CODE.read(store, "booking", command.booking_id)
    if booking is None:
        message = f"Booking {command.booking_id} does not exist."
        raise not_found_or_forbidden(principal, message, ("input", "bookingId"))
    location: Location | None = await CREATE_ACCESS_CODE.read(store, "location", booking.location_id)
    if location is None:
        raise NotFoundError(f"Location {booking.location_id} does not exist.", ("input", "bookingId"))
    return Purpose(booking, None, time_zone=location.time_zone)


def _new_code(
    command: CreateAccessCode, code_id: CodeId, purpose: Purpose, principal: Principal, now: Instant
) -> AccessCode:
    basis = purpose.basis
    start, end = command.valid_from, command.valid_until
    if isinstance(basis, Booking):
        start, end = _half_days(basis, purpose.time_zone or "UTC")
    elif isinstance(basis, Locker):
        start = start or now
    return record_from(
        AccessCode,
        command,
        code_id=code_id,
        location_id=basis.location_id if isinstance(basis, Booking) else None,
        owner_id=basis.owner_id,
        start_at=basis.start_at if isinstance(basis, Reservation) else None,
        length=command.length or max(DEFAULT_LENGTH, shortest_length(command.kind, None)),
        valid_from=start,
        valid_until=end,
        max_uses=1 if command.kind is AccessCodeKind.ONE_TIME else command.max_uses,
        key_id="",
        rotation=1,
        counter=0,
        generation=0,
        issued_by=principal.subject,
        credential_id=principal.credential,
        created_at=now,
        created_by=principal.subject,
        updated_at=now,
        revision=1,
        transfers=basis.transfers if isinstance(basis, Locker) else None,
    )


def _check_new(code: AccessCode, basis: Basis) -> None:
    start, end = code.valid_from, code.valid_until
    window = None if start is None or end is None else to_datetime(end) - to_datetime(start)
    shortest = shortest_length(code.kind, window)
    if code.length < shortest:
        message = f"length must be {shortest} or more for this code: a shorter one could be guessed in its lifetime"
        raise BadInputError(message, ("input", "length"))
    if isinstance(basis, Locker) and start is not None and end is not None:
        check_end_after_start(start, end, "validUntil")


def _half_days(booking: Booking, time_zone: str) -> tuple[Instant, Instant]:
    """The half days of a booking: from midnight to noon, or from noon to midnight, where the location is."""
    start = 12 if booking.duration is DayPart.AFTERNOON else 0
    end = 12 if booking.duration is DayPart.MORNING else 24
    return instant_of(booking.date, start, time_zone), instant_of(booking.date, end, time_zone)


def _refusal(basis: Basis) -> SmartLockerError:
    match basis:
        case Reservation():
            return ReservationOverError("The reservation is over, so it gets no access code.", basis)
        case Booking():
            return BadInputError("the booking is not approved, or its day has passed", ("input", "bookingId"))
        case Locker() if basis.status is LockerStatus.RETIRED:
            return BadInputError("the locker was retired", ("input", "lockerId"))
        case Locker():
            return BadInputError("validUntil must be in the future", ("input", "validUntil"))


def live_entry(code: AccessCode) -> str:
    """The code in the door's list of live codes."""
    return f"{code.code_id} {_mark(code)}"


def _mark(code: AccessCode) -> str:
    """A short name of the code's reservation or booking."""
    purpose = code.reservation_id or code.booking_id
    return "" if purpose is None else hashlib.sha256(purpose.encode()).hexdigest()[:8]


async def _live(
    store: Store, code: AccessCode, locker: Locker | None, door: CodeDoor | None, now: Instant
) -> tuple[str, ...]:
    """The door's list of live codes with room for one more; codes that are over leave it only when it is full."""
    live = () if door is None else door.live
    if not _is_full(live, code):
        return live
    ids = [CodeId(entry.partition(" ")[0]) for entry in live]
    read = await CREATE_ACCESS_CODE.read_many(store, "live code", [(code.door, code_id) for code_id in ids])
    found: list[AccessCode] = [one for one in read if one is not None]
    places = list(
        dict.fromkeys((one.locker_id, one.start_at, one.reservation_id) for one in found if one.start_at is not None)
    )
    reservations = await CREATE_ACCESS_CODE.read_many(store, "live reservation", places) if places else []
    by_id = {one.reservation_id: one for one in reservations if one is not None}
    left = tuple(live_entry(one) for one in found if not _is_over(one, now, by_id, locker))
    if _is_full(left, code):
        if len(left) < MAX_LIVE_CODES:
            raise TooManyCodesError(code.kind.lower(), MAX_CODES_PER_PURPOSE)
        raise TooManyCodesError("door", MAX_LIVE_CODES)
    return left


def _is_full(live: tuple[str, ...], code: AccessCode) -> bool:
    siblings = [entry for entry in live if _mark(code) and entry.partition(" ")[2] == _mark(code)]
    return len(live) >= MAX_LIVE_CODES or len(siblings) >= MAX_CODES_PER_PURPOSE


def _is_over(code: AccessCode, now: Instant, reservations: dict[Any, Reservation], locker: Locker | None) -> bool:
    if code.booking_id is None:
        return not may_open(code, now, locker if code.reservation_id is None else reservations.get(code.reservation_id))
    is_past = code.valid_until is not None and code.valid_until <= now
    return is_past or code.revoked_at is not None or code.uses >= (code.max_uses or code.uses + 1)


def _rotation_steps(ring: CodeRing, code: AccessCode, rotated: AccessCode, door: CodeDoor) -> list[Step]:
    return [
        _code_step(code, rotated),
        *_claim_steps(CHANGE_ACCESS_CODE, ring, rotated),
        *_old_claim(ring, code, rotated.updated_at),
        door_step(CHANGE_ACCESS_CODE, code.door, door),
    ]


def _claim_steps(contract: WriteContract, ring: CodeRing, code: AccessCode) -> list[Step]:
    """Claims the new digits of a code under its key; under every other key of the ring they must be free."""
    own, *others = ring.claims(code.door, ring.digits(code.door, code))
    now = to_seconds(code.updated_at)
    return [
        contract.step("claim", (code.door, own), claim_attributes(code), now=now),
        *(contract.step("other claim", (code.door, other), now=now) for other in others),
    ]


def claim_attributes(code: AccessCode) -> dict[str, Any]:
    """The attributes of the claim on the digits of a code."""
    claim = CODE_CLAIM.encode(CodeClaim(code_id=code.code_id))
    return claim if code.valid_until is None else claim | {"expiresAt": _claimed_until(code.valid_until)}


def _old_claim(ring: CodeRing, code: AccessCode, now: Instant) -> list[Step]:
    if code.valid_until is not None and _claimed_until(code.valid_until) <= to_seconds(now):
        return []  # another code may have the digits since
    try:
        claim = ring.claim(code.door, code)
    except UnknownKeyError:
        return []  # nobody can enter digits of a key that has left the ring
    return [CHANGE_ACCESS_CODE.step("old claim", (code.door, claim), codeId=code.code_id)]


def _claimed_until(valid_until: Instant) -> int:
    return to_seconds(shift(valid_until, _CLAIM_MEMORY))


def _code_step(code: AccessCode, changed: AccessCode) -> Step:
    return CHANGE_ACCESS_CODE.change_step("code", code, changed, readRevision=code.revision)


def _rotated(backend: Backend, code: AccessCode, door: CodeDoor, counter: int, principal: Principal) -> AccessCode:
    """The code with other digits than it has now."""
    ring = backend.code_ring()
    rotated = replace(
        code,
        key_id=ring.current.key_id,
        rotation=code.rotation + 1,
        counter=counter,
        generation=door.generation,
        issued_by=principal.subject,
        credential_id=principal.credential,
        updated_at=backend.clock(),
        revision=code.revision + 1,
    )
    try:
        old = ring.digits(code.door, code)
    except UnknownKeyError:
        return rotated
    while ring.digits(rotated.door, rotated) == old:
        rotated = replace(rotated, counter=rotated.counter + 1)
    return rotated


def _check_live(code: AccessCode, basis: Basis | None, now: Instant) -> None:
    if not may_open(code, now, basis):
        raise CodeOverError


def _shown_again(backend: Backend, principal: Principal, opened: _Opened) -> Decision[IssuedCode]:
    """The digits for the caller who was shown them before; anyone else has to reveal them.

    With the same credential it is the same request, sent again; with another one, a reveal is recorded.
    """
    now, code = backend.clock(), opened.code
    if code.issued_by != principal.subject or not may_open(code, now, opened.basis) or is_void(code, opened.door):
        return Decision(IssuedCode(code))
    changed = _revealed(replace(code, revision=code.revision + 1), now, str(principal.credential), principal)
    if code.credential_id == principal.credential or changed.reveals == code.reveals:
        return _issued(backend, code)
    return _issued(backend, changed, [_code_step(code, changed)], [code_happening(_REVEALED, changed, opened.locker)])


def _revealed(code: AccessCode, now: Instant, reveal_id: str, principal: Principal) -> AccessCode:
    """The code with one more reveal; the same code where this reveal is recorded already."""
    reveal = f"{reveal_id}#{code.rotation} {principal.subject}"
    if any(entry.partition(" ")[2] == reveal for entry in code.reveals):
        return code
    return replace(code, reveals=(*code.reveals, f"{now} {reveal}")[-MAX_REVEALS:])
