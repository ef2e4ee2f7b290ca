"""Access codes: digits that open a door for a time. Digits are derived from a secret and never stored."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, NewType, TypeAlias

from domain.bookings import Booking, BookingId, BookingStatus
from domain.enums import DescribedEnum
from domain.errors import UnavailableError
from domain.ids import check_id
from domain.models import (
    Door,
    LocationId,
    Locker,
    LockerId,
    LockerStatus,
    OwnerId,
    Reservation,
    ReservationId,
    ReservationStatus,
    door_of,
)
from domain.times import Instant, shift

CodeId = NewType("CodeId", str)

Basis: TypeAlias = Reservation | Booking | Locker
"""The object that gives the right to open a door."""

MIN_SECRET_BYTES = 32
MAX_RING_KEYS = 3
MAX_LIVE_CODES = 50
MAX_CODES_PER_PURPOSE = 5
MAX_REVEALS = 10
MAX_FAILURES = 5
GRACE = timedelta(minutes=15)
FAILURE_WINDOW = timedelta(minutes=15)
FIRST_LOCKOUT = timedelta(minutes=5)
LONGEST_LOCKOUT = timedelta(hours=1)
LOCKOUT_MEMORY = timedelta(days=1)
"""How long after its end a lockout makes the next one longer."""
REPEAT_WINDOW = timedelta(seconds=30)
ATTEMPT_LIFETIME = timedelta(days=7)
"""Longer than a device works without the server: it may report a use that the server has granted."""
LIST_HORIZON = timedelta(hours=72)
LIST_REFRESH = timedelta(hours=24)

_KEY_ID = re.compile(r"[A-Za-z0-9_-]{1,16}")
_DOUBLINGS = 4
"""How often a lockout is doubled before it has reached the longest."""
_WORD_BYTES = 8
_SHORTEST_FOR_SEVERAL_USES = 6
_STANDING_LENGTH = 8


class AccessCodeKind(DescribedEnum):
    """Purpose of an access code."""

    RESERVATION = "RESERVATION", "A reservation of a locker: valid as long as the reservation is."
    ONE_TIME = "ONE_TIME", "A single opening of a locker."
    COURIER = "COURIER", "Several openings of a locker."
    STANDING = "STANDING", "Staff of a locker's owner, without a limit of uses."
    BOOKING = "BOOKING", "An approved booking: valid for its half days at the door of the location."


class AccessCodeState(DescribedEnum):
    """State of an access code."""

    SCHEDULED = "SCHEDULED", "The code is not valid yet."
    ACTIVE = "ACTIVE", "The code opens its door."
    USED_UP = "USED_UP", "The code was used as often as it can be."
    REVOKED = "REVOKED", "The code was revoked."
    EXPIRED = "EXPIRED", "The code is no longer valid: its time has passed, or its reservation or booking has ended."


LIVE_STATES = frozenset({AccessCodeState.SCHEDULED, AccessCodeState.ACTIVE})


class DeviceStatus(DescribedEnum):
    """Whether the device of a door has an access code in its offline list."""

    PENDING = "PENDING", "The device is going to get the code."
    LOADED = "LOADED", "The device has the code."
    REMOVING = "REMOVING", "The device still has the code, although the code is no longer valid."
    REMOVED = "REMOVED", "The device does not have the code."


class AccessDecision(DescribedEnum):
    """Answer to digits that were entered at a door."""

    GRANTED = "GRANTED", "Open the door."
    DENIED = "DENIED", "Keep the door closed: the digits open nothing now."
    LOCKED_OUT = "LOCKED_OUT", "Keep the door closed: there were too many failures, so the digits were not checked."


class UnknownKeyError(UnavailableError):
    """A code or a device uses a key that is not in the ring of this server."""

    def __init__(self, key_id: str) -> None:
        super().__init__(f"The server lacks the key {key_id} of access codes: SMARTLOCKER_CODE_KEYS must contain it.")


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessCode:
    """The stored record of a code: everything but its digits, which only the ring can derive from it."""

    code_id: CodeId
    locker_id: LockerId | None
    location_id: LocationId | None
    kind: AccessCodeKind
    owner_id: OwnerId
    """Owner of the reservation, the booking or, for a code that is not tied to one, the locker."""
    reservation_id: ReservationId | None
    start_at: Instant | None
    """Start of the reservation, which with its id is its key."""
    booking_id: BookingId | None
    label: str | None
    length: int
    valid_from: Instant | None
    valid_until: Instant | None
    max_uses: int | None
    key_id: str
    rotation: int
    counter: int
    generation: int
    """Device generation of the door in which the digits were made."""
    issued_by: str
    """Subject of the caller who created or last rotated the code."""
    credential_id: str | None = None
    """Credential of that caller."""
    created_at: Instant
    created_by: str
    updated_at: Instant
    revision: int
    uses: int = 0
    last_used_at: Instant | None = None
    revoked_at: Instant | None = None
    revoked_by: str | None = None
    reveals: tuple[str, ...] = ()
    """The latest reveals: time, reveal id with the rotation, and subject, separated by spaces."""
    transfers: int | None = None
    """How often the locker had got another owner before, for a code that is not tied to a reservation or booking."""

    @property
    def door(self) -> Door:
        return door_of(self.locker_id, self.location_id)

    @property
    def purpose(self) -> str | None:
        """Key under which its reservation or booking lists it; None for a code that is not tied to one."""
        if self.locker_id is None or self.reservation_id is None:
            return self.booking_id
        return reservation_purpose(self.locker_id, self.reservation_id)

    @property
    def basis(self) -> tuple[str, tuple[Any, ...]]:
        """Kind of the object that gives the right to open the door, and the arguments of its key."""
        match self.kind:
            case AccessCodeKind.RESERVATION:
                return "reservation", (self.locker_id, self.start_at, self.reservation_id)
            case AccessCodeKind.BOOKING:
                return "booking", (self.booking_id,)
            case _:
                return "locker", (self.locker_id,)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeClaim:
    """The code that has certain digits at a door."""

    code_id: CodeId


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeDoor:
    """The record that the codes of a door share.

    `revision` counts the changes of its codes. `live` names the codes that may open it, each with its purpose.
    """

    revision: int
    live: tuple[str, ...] = ()
    generation: int = 0
    """Number of devices that were provisioned so far."""
    void_before: int = 0
    """Digits that were made in an earlier generation are void."""
    device_key_id: str | None = None
    """Key of the ring that the device's key comes from."""
    provisioned_by: str | None = None
    is_in_use: bool = False
    """Whether the device of this generation has acknowledged a list."""
    loaded: tuple[str, ...] = ()
    acknowledged_revision: str | None = None
    acknowledged_at: Instant | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lockout:
    """The failed attempts at a door, and until when it refuses all codes."""

    revision: int = 0
    failures: tuple[Instant, ...] = ()
    """Times of recent failures that have not led to a lockout."""
    locked_until: Instant | None = None
    lockouts: int = 0
    """Number of lockouts in a row."""

    def is_locked(self, now: Instant) -> bool:
        return self.locked_until is not None and now < self.locked_until

    def after_failure(self, now: Instant) -> Lockout:
        """The record after one more failure, which may begin a lockout."""
        since = shift(now, -FAILURE_WINDOW)
        recent = (*(failure for failure in self.failures if failure > since), now)
        if len(recent) < MAX_FAILURES:
            return replace(self, revision=self.revision + 1, failures=recent)
        is_remembered = self.locked_until is not None and now < shift(self.locked_until, LOCKOUT_MEMORY)
        lockouts = self.lockouts + 1 if is_remembered else 1
        duration = min(FIRST_LOCKOUT * 2 ** min(lockouts - 1, _DOUBLINGS), LONGEST_LOCKOUT)
        return Lockout(revision=self.revision + 1, locked_until=shift(now, duration), lockouts=lockouts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    attempt_id: str
    key_id: str
    digits_mac: str
    decision: AccessDecision
    code_id: CodeId | None
    attempted_at: Instant
    expires_at: int
    """Seconds since 1970, by which the store deletes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Validity:
    state: AccessCodeState
    valid_from: Instant | None
    valid_until: Instant | None


@dataclass(frozen=True, slots=True)
class RingKey:
    key_id: str
    secret: bytes = field(repr=False)

    def mac(self, purpose: str, *parts: str | int) -> bytes:
        """A keyed hash; no part can contain the separator."""
        message = "\n".join(("smartlocker", purpose, *map(str, parts)))
        return hmac.digest(self.secret, message.encode(), "sha256")


@dataclass(frozen=True, slots=True)
class CodeRing:
    """The secrets from which digits are derived: new codes use the first, existing codes the one they name."""

    keys: tuple[RingKey, ...]

    @classmethod
    def of(cls, secrets: Sequence[tuple[str, bytes]]) -> CodeRing:
        """A ring of keys, the current one first, or a ValueError whose message contains no secret."""
        ids = [key_id for key_id, _ in secrets]
        if not 1 <= len(ids) <= MAX_RING_KEYS or len(set(ids)) != len(ids):
            raise ValueError(f"must have 1 to {MAX_RING_KEYS} keys with different ids")
        if any(_KEY_ID.fullmatch(key_id) is None for key_id in ids):
            raise ValueError("must have key ids of 1 to 16 characters of A-Z, a-z, 0-9, _ and -")
        if any(len(secret) < MIN_SECRET_BYTES for _, secret in secrets):
            raise ValueError(f"must have secrets of {MIN_SECRET_BYTES} bytes or more")
        return cls(tuple(RingKey(key_id, secret) for key_id, secret in secrets))

    @property
    def current(self) -> RingKey:
        """The key of new codes."""
        return self.keys[0]

    def key(self, key_id: str) -> RingKey:
        """The key with this id, or an UnknownKeyError where it was removed."""
        for key in self.keys:
            if key.key_id == key_id:
                return key
        raise UnknownKeyError(key_id)

    def digits(self, door: Door, code: AccessCode) -> str:
        """The digits of a code: every sequence of its length is equally likely."""
        key, size = self.key(code.key_id), 10**code.length
        limit = 2 ** (8 * _WORD_BYTES) // size * size
        block = 0
        while True:
            words = key.mac("digits", door, code.code_id, code.rotation, code.counter, block)
            for position in range(0, len(words), _WORD_BYTES):
                number = int.from_bytes(words[position : position + _WORD_BYTES])
                if number < limit:
                    return f"{number % size:0{code.length}d}"
            block += 1

    def claims(self, door: Door, digits: str) -> list[str]:
        """The names of these digits at this door, one under each key of the ring, the current one first."""
        return [claim_name(key, door, digits) for key in self.keys]

    def claim(self, door: Door, code: AccessCode) -> str:
        return claim_name(self.key(code.key_id), door, self.digits(door, code))

    def recipients(self, contact: str) -> list[str]:
        """The names of a recipient by a contact, one under each key of the ring, the current one first."""
        return [f"{key.key_id}#{key.mac('recipient', contact).hex()}" for key in self.keys]

    def device_key(self, key_id: str, door: Door, generation: int) -> bytes:
        """The key of a door's device: HKDF (RFC 5869) from a key of the ring."""
        return _hkdf(self.key(key_id).secret, f"smartlocker device {generation}\n{door}")

    def webhook_secret(self, key_id: str, webhook_id: str, secret_id: str) -> bytes:
        """The secret that signs the deliveries of a webhook; each renewal has an id of its own."""
        return _hkdf(self.key(key_id).secret, f"smartlocker webhook {secret_id}\n{webhook_id}")


def reservation_purpose(locker_id: LockerId, reservation_id: ReservationId) -> str:
    """Returns the key under which a reservation lists its codes; a booking lists them under its id."""
    return f"{locker_id}#{reservation_id}"


def check_door(value: str) -> Door:
    kind, _, name = value.partition(":")
    if kind not in {"locker", "location"}:
        raise ValueError("must be a door")
    check_id(name)
    return Door(value)


def claim_name(key: RingKey, door: Door, digits: str) -> str:
    return f"{key.key_id}#{key.mac('claim', door, digits).hex()}"


def digits_mac(key: RingKey, door: Door, attempt_id: str, digits: str) -> str:
    return key.mac("attempt", door, attempt_id, digits).hex()


def device_mac(device_key: bytes, code_id: CodeId, digits: str) -> str:
    """Returns the MAC of a code's digits for the list of a device."""
    return hmac.digest(device_key, f"{code_id}\n{digits}".encode(), "sha256").hex()


def _hkdf(secret: bytes, info: str) -> bytes:
    extracted = hmac.digest(b"smartlocker", secret, "sha256")
    return hmac.digest(extracted, info.encode() + b"\x01", hashlib.sha256)


def shortest_length(kind: AccessCodeKind, window: timedelta | None) -> int:
    """The fewest digits that a code may have: its odds of being guessed grow with its lifetime and uses."""
    if kind is AccessCodeKind.STANDING:
        return _STANDING_LENGTH
    if kind is AccessCodeKind.ONE_TIME and window is not None and window <= timedelta(hours=24):
        return 4
    return _SHORTEST_FOR_SEVERAL_USES


def is_void(code: AccessCode, door: CodeDoor | None) -> bool:
    """Whether the digits were on a device that was revoked since."""
    return door is not None and code.generation < door.void_before


def validity_of(code: AccessCode, now: Instant, basis: Basis | None, grace_until: Instant | None = None) -> Validity:
    """When the code is valid, by what it is for now: nothing of the code changes when that changes.

    A grace period after the reservation ends at `grace_until`.
    """
    start, end = code.valid_from, code.valid_until
    match basis:
        case Reservation():
            start, end = basis.start_at, grace_until or basis.end_at
            is_over = basis.status is not ReservationStatus.ACTIVE
        case Booking():
            is_over = basis.status is not BookingStatus.APPROVED
        case Locker():
            is_given_away = basis.owner_id != code.owner_id or basis.transfers != code.transfers
            is_over = is_given_away or basis.status is LockerStatus.RETIRED
        case None:
            is_over = True
    return Validity(state=_state(code, now, start, end, is_over=is_over), valid_from=start, valid_until=end)


def _state(
    code: AccessCode, now: Instant, start: Instant | None, end: Instant | None, *, is_over: bool
) -> AccessCodeState:
    if code.revoked_at is not None:
        return AccessCodeState.REVOKED
    if code.max_uses is not None and code.uses >= code.max_uses:
        return AccessCodeState.USED_UP
    if is_over or (end is not None and end <= now):
        return AccessCodeState.EXPIRED
    # The clock of the server that made the code may be ahead of this one.
    is_ahead = start is not None and max(now, code.created_at) < start
    return AccessCodeState.SCHEDULED if is_ahead else AccessCodeState.ACTIVE


def may_open(code: AccessCode, now: Instant, basis: Basis | None) -> bool:
    """Whether the code opens the door now or later, as far as can be told without other reservations."""
    grace_until = grace_end(basis, ()) if isinstance(basis, Reservation) else None
    return validity_of(code, now, basis, grace_until).state in LIVE_STATES


def is_in_grace(code: AccessCode, now: Instant, basis: Basis | None) -> bool:
    """Whether the code opens the door unless another reservation has begun since its own ended by itself."""
    return isinstance(basis, Reservation) and basis.end_at <= now and may_open(code, now, basis)


def grace_end(reservation: Reservation, starts: Iterable[Instant | None]) -> Instant:
    """The end of the grace period after a reservation: the start of another one, even if that was released since."""
    following = [start for start in starts if start is not None and start >= reservation.end_at]
    return min([shift(reservation.end_at, GRACE), *following])


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedCode:
    """A code as the device of its door has it: enough to recognize digits, with the device's key."""

    code_id: CodeId
    rotation: int
    digits_mac: str
    valid_from: Instant
    valid_until: Instant
    uses_left: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeList:
    """The codes that are valid within 72 hours, for the device of the door, and the door's record as it was read."""

    door: CodeDoor
    revision: str
    generation: int
    refresh_before: Instant
    codes: tuple[ListedCode, ...]


def loaded_entry(code: AccessCode | ListedCode) -> str:
    """The code in what a device has acknowledged."""
    return f"{code.code_id} {code.rotation}"


def is_listed(code: AccessCode, validity: Validity, door: CodeDoor | None, now: Instant) -> bool:
    is_near = validity.valid_from is None or validity.valid_from < shift(now, LIST_HORIZON)
    return validity.state in LIVE_STATES and is_near and not is_void(code, door)


def device_status(code: AccessCode, validity: Validity, door: CodeDoor | None, now: Instant) -> DeviceStatus | None:
    """Whether the device of the door has the code; None where there is no device."""
    if door is None or door.generation == 0:
        return None
    if is_listed(code, validity, door, now):
        return DeviceStatus.LOADED if loaded_entry(code) in door.loaded else DeviceStatus.PENDING
    if validity.state is AccessCodeState.SCHEDULED:
        return DeviceStatus.PENDING
    is_loaded = any(entry.partition(" ")[0] == code.code_id for entry in door.loaded)
    return DeviceStatus.REMOVING if is_loaded else DeviceStatus.REMOVED
