"""Access codes: the type, its lists and its mutations. Only the payloads of three mutations have digits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import strawberry

from domain.access_codes import (
    MAX_LIVE_CODES,
    AccessCodeKind,
    AccessCodeState,
    AccessDecision,
    CodeId,
    CodeList,
    DeviceStatus,
    ListedCode,
    check_door,
    device_status,
    grace_end,
    is_in_grace,
    is_void,
    reservation_purpose,
    validity_of,
)
from domain.access_codes import (
    AccessCode as Record,
)
from domain.access_codes import Lockout as LockoutRecord
from domain.access_codes import Validity as ValidityRecord
from domain.authorization import Scope, acts_for
from domain.commands import access_codes as commands
from domain.ids import check_id
from domain.times import Instant, shift
from loaders.contracts.access_codes import (
    ACCESS_CODE_BY_ID,
    ACKNOWLEDGE_ACCESS_CODES,
    AT_LOCATION,
    AT_LOCKER,
    CHANGE_ACCESS_CODE,
    CLEAR_LOCKOUT,
    CODE_DOOR_BY_ID,
    CREATE_ACCESS_CODE,
    PROVISION_DEVICE,
    PURPOSE_ACCESS_CODES,
    REPORT_ACCESS_CODE_USE,
    VERIFY_ACCESS_CODE,
)
from loaders.contracts.bookings import BOOKING_BY_ID
from loaders.contracts.cost import MET_OTHERS
from loaders.contracts.lockers import LOCKER_BY_ID
from loaders.contracts.reservations import RESERVATION_BEFORE, RESERVATION_BY_KEY
from loaders.contracts.table_format import TABLE_FORMAT
from loaders.reads.code_keys import basis_key
from loaders.reads.table_format import require_format
from loaders.table.recording import asking
from loaders.writes import access_codes as writes
from loaders.writes import code_devices, verification
from loaders.writes.code_devices import read_code_list
from resolvers.api.mutations import mutations, write
from resolvers.api.payloads import Payload, payload
from resolvers.api.relay import PAGING, Node
from resolvers.bindings.base import Charge, Reading, bound_field, column, embedded, look_up_charge
from resolvers.bindings.lists import Pages, format_charge, query_each
from resolvers.bindings.rules import AS_OBJECT, CODE_CHANGES, CODES, DOOR_DEVICES
from resolvers.entities.base import entity, locker_of, locker_owner_charges

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Sequence

    from loaders.contracts.base import Contract
    from loaders.contracts.reading import ReadOne
    from loaders.contracts.writing import WriteContract
    from resolvers.bindings.base import Step
    from resolvers.bindings.rules import Rule
    from resolvers.bindings.writes import Outcome
    from resolvers.request import RequestState


_INSTANT = timedelta(milliseconds=1)


async def _is_visible(request: RequestState, record: Record, path: str) -> bool:
    """A code is visible to the owner of what it is for, and to the owner of the locker."""
    if acts_for(request.principal, record.owner_id, Scope.CODES_READ):
        return True
    if record.locker_id is None:
        return False
    locker = await locker_of(record, request, path)
    return locker is not None and acts_for(request.principal, locker.owner_id, Scope.CODES_READ)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ValidityOf(Reading):
    """The validity of codes, from what gives the right to open their doors: read in batches, one for each kind."""

    @property
    def contracts(self) -> tuple[Contract, ...]:
        return (RESERVATION_BY_KEY, BOOKING_BY_ID, LOCKER_BY_ID, CODE_DOOR_BY_ID, RESERVATION_BEFORE, TABLE_FORMAT)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"*"})

    def price(self, step: Step, parents: int, bound: Any) -> list[Charge]:
        del step, bound
        basis = "only for codes of this kind"
        return [
            look_up_charge(CODE_DOOR_BY_ID, parents),
            look_up_charge(RESERVATION_BY_KEY, parents, condition=basis),
            look_up_charge(BOOKING_BY_ID, parents, condition=basis),
            look_up_charge(LOCKER_BY_ID, parents, condition=basis),
            Charge(
                RESERVATION_BEFORE,
                "Query",
                maximum=RESERVATION_BEFORE.maximum(1) * parents,
                condition="only in the grace period after a reservation",
            ),
            format_charge(),
        ]

    def price_key(self, bound: Any) -> Hashable:
        del bound
        return None

    async def fetch(self, step: Step, rows: Sequence[Any], bound: Any, request: RequestState) -> list[Any]:
        del bound
        keys: dict[ReadOne[Any], list[tuple[Any, ...]]] = {}
        for code in rows:
            contract, key = basis_key(code)
            keys.setdefault(contract, []).append(key)
        found: dict[tuple[Any, ...], Any] = {}
        for contract, wanted in keys.items():
            loaded = await request.loaders.of(contract).load_bulk(wanted, step.path)
            found |= {(contract.id, *key): basis for key, basis in zip(wanted, loaded, strict=True)}
        doors = await request.loaders.of(CODE_DOOR_BY_ID).load_bulk([(code.door,) for code in rows], step.path)
        latest = await self._latest_starts(rows, found, step, request)

        def validity(code: Record, door: Any) -> Any:
            contract, key = basis_key(code)
            basis, last = found[contract.id, *key], latest.get(code.locker_id)
            failure = next((part for part in (basis, door, last) if isinstance(part, Exception)), None)
            if failure is not None:
                return failure
            shown = validity_of(code, request.now, basis)
            if is_in_grace(code, request.now, basis):
                begun = None if last is None or last.start_at < basis.end_at else last.start_at
                graced = validity_of(code, request.now, basis, grace_end(basis, begun))
                shown = replace(shown, state=graced.state)
            return CodeValidityRow(shown, is_void(code, door), device_status(code, shown, door, request.now))

        return [validity(code, door) for code, door in zip(rows, doors, strict=True)]

    async def _latest_starts(
        self, rows: Sequence[Record], bases: dict[tuple[Any, ...], Any], step: Step, request: RequestState
    ) -> dict[Any, Any]:
        """The live reservation that began last, of each locker with a code that may be in its grace period."""
        lockers = []
        for code in rows:
            contract, key = basis_key(code)
            basis = bases[contract.id, *key]
            if not isinstance(basis, Exception) and is_in_grace(code, request.now, basis):
                lockers.append(code.locker_id)
        if not lockers:
            return {}
        with asking(step.path):
            await require_format(request.backend, RESERVATION_BEFORE.needs_format)
        store, after_now = request.backend.store, shift(request.now, _INSTANT)
        found = await query_each(
            lambda locker_id: RESERVATION_BEFORE.first(store, locker_id, after_now), lockers, step.path, request
        )
        return dict(zip(lockers, found, strict=True))


class CodeValidityRow(NamedTuple):
    """When a code is valid, and whether its digits must be replaced."""

    validity: ValidityRecord
    needs_reveal: bool
    device_status: DeviceStatus | None


@entity(CodeValidityRow)
class AccessCodeValidity:
    """When an access code opens its door. It follows the reservation or the booking of the code."""

    state: AccessCodeState = column(
        "State of the code now, with the grace period after a reservation.", lambda row, _: row.validity.state
    )
    valid_from: Instant | None = column("Start of the validity.", lambda row, _: row.validity.valid_from)
    valid_until: Instant | None = column(
        "End of the validity; null if it has none. A code of a reservation that ends by itself stays active for a "
        "grace period of 15 more minutes, or until another reservation begins.",
        lambda row, _: row.validity.valid_until,
    )
    device_status: DeviceStatus | None = column(
        "Whether the device of the door has the code in its offline list; null if no device is provisioned."
    )
    needs_reveal: bool = column(
        "Whether the digits became void because a device of the door was lost: reveal or rotate the code to get others."
    )


class RevealRow(NamedTuple):
    """An entry of a code's reveals."""

    revealed_at: Instant
    revealed_by: str


@entity(RevealRow)
class AccessCodeReveal:
    """A reveal of the digits of an access code."""

    revealed_at: Instant = column("Time of the reveal.")
    revealed_by: str = column("Subject of the caller who asked for the digits.")


def _reveals(record: Record, _request: RequestState) -> list[RevealRow]:
    parts = [reveal.split(" ", 2) for reveal in record.reveals]
    return [RevealRow(Instant(time), subject) for time, _, subject in parts]


@entity(
    Record,
    node={
        "contract": ACCESS_CODE_BY_ID,
        "key": {"door": check_door, "code_id": lambda text: CodeId(check_id(text))},
        "rule": CODES.decided_by_result(),
        "visible": _is_visible,
        "visible_charges": locker_owner_charges,
    },
)
class AccessCode(Node):
    """A code that opens a door. Its digits are shown only by the mutations that create, rotate and reveal it."""

    code_id: strawberry.ID = column("Id of the code, unique for its door.")
    locker_id: strawberry.ID | None = column(
        "Id of the locker that the code opens; null if it opens a location's door."
    )
    location_id: strawberry.ID | None = column("Id of the location whose door the code opens.")
    kind: AccessCodeKind = column("What the code is for.")
    owner_id: strawberry.ID = column("Id of the owner of the reservation, the booking or the locker.")
    reservation_id: strawberry.ID | None = column("Id of the reservation that the code is for.")
    booking_id: strawberry.ID | None = column("Id of the booking that the code is for.")
    label: str | None = column("Note for people, such as the name of the holder.")
    length: int = column("Number of digits.")
    max_uses: int | None = column("How often the code can be used; null if there is no limit.")
    uses: int = column("How often the code was used.")
    last_used_at: Instant | None = column("Time of the last use.")
    rotation: int = column("Incremented when the digits are replaced.")
    created_at: Instant = column("Time at which the code was created.")
    created_by: str = column("Subject of the caller who created the code.")
    updated_at: Instant = column("Time at which the code was last rotated or revoked.")
    revoked_at: Instant | None = column("Time at which the code was revoked; null if it was not.")
    reveals: list[AccessCodeReveal] = embedded("The latest ten reveals of the digits.", _reveals, most=10)
    validity: AccessCodeValidity | None = bound_field(
        _ValidityOf(rule=AS_OBJECT), "Whether and when the code opens its door, as of now."
    )


@entity(LockoutRecord)
class Lockout:
    """The failed attempts at a door. After 5 failures in 15 minutes it refuses all codes for a while."""

    failures: list[Instant] = column("Times of recent failures that have not led to a lockout.")
    locked_until: Instant | None = column("End of the current or the latest lockout.")
    lockouts: int = column("Number of lockouts in a row; each lasts twice as long as the one before, an hour at most.")


@entity(ListedCode)
class ListedAccessCode:
    """An access code as the device of its door has it."""

    code_id: strawberry.ID = column("Id of the code.")
    digits_mac: str = column(
        "HMAC-SHA-256 with the key of the device, in hexadecimal, of the code id, a line feed and the digits."
    )
    valid_from: Instant = column("Time from which the code opens the door.")
    valid_until: Instant = column(
        "Time until which the code opens the door, with the grace period after a reservation; at most 72 hours ahead."
    )
    uses_left: int | None = column("How often the code can still be used; null if there is no limit.")


@entity(CodeList)
class AccessCodeList:
    """The access codes of a door that are valid within 72 hours, for its device to use without the server."""

    revision: str = column("Changes with the list. Acknowledge it once the list is stored.")
    generation: int = column("Generation of the device whose key the list is for.")
    refresh_before: Instant = column("Time before which the device should read the list again.")
    codes: list[ListedAccessCode] = embedded("Access codes of the door.", most=MAX_LIVE_CODES)


@dataclass(frozen=True, slots=True, kw_only=True)
class _CodeListOf(Reading):
    """The list for the device of a door, read as its acknowledgement reads it: strongly consistent."""

    contract: WriteContract
    key: str

    def price(self, step: Step, parents: int, bound: Any) -> list[Charge]:
        del step, bound
        elsewhere = AT_LOCATION if self.key == "locker_id" else AT_LOCKER
        charges = [
            Charge(self.contract, request.operation, request.expected * parents, request.maximum * parents)
            for request in self.contract.read_costs()
            if request.when != elsewhere
        ]
        rounds = self.contract.rounds - 1
        again = [
            Charge(self.contract, charge.operation, maximum=charge.maximum * rounds, condition=MET_OTHERS)
            for charge in charges
        ]
        return charges + again

    def price_key(self, bound: Any) -> Hashable:
        del bound
        return None

    async def fetch(self, step: Step, rows: Sequence[Any], bound: Any, request: RequestState) -> list[Any]:
        del bound

        def read(place_id: Any) -> Awaitable[CodeList | None]:
            return read_code_list(request.backend, **{self.key: place_id})

        return await query_each(read, self.row_keys(rows), step.path, request)


def code_list(key: str, rule: Rule, description: str) -> Any:
    """A field with the list of codes for the device of a door."""
    return bound_field(_CodeListOf(contract=ACKNOWLEDGE_ACCESS_CODES, key=key, rule=rule), description)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReservationCodes(Pages):
    """The codes of a reservation, which its locker's id and its own identify."""

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"locker_id", "reservation_id"})

    def row_keys(self, rows: Sequence[Any]) -> list[Any]:
        return [reservation_purpose(row.locker_id, row.reservation_id) for row in rows]


def reservation_codes(rule: Rule, description: str) -> Any:
    """A field with the access codes of a reservation."""
    binding = _ReservationCodes(contract=PURPOSE_ACCESS_CODES, key="reservation_id", rule=rule)
    return bound_field(binding, description, PAGING)


@dataclass(frozen=True, slots=True, kw_only=True)
class _EventCodes(Pages):
    """The codes of the booking that a calendar event comes from, for those who act for the booking's owner."""

    @property
    def contracts(self) -> tuple[Contract, ...]:
        return (self.contract, BOOKING_BY_ID)

    def price(self, step: Step, parents: int, bound: Any) -> list[Charge]:
        return [look_up_charge(BOOKING_BY_ID, parents), *Pages.price(self, step, parents, bound)]

    async def fetch(self, step: Step, rows: Sequence[Any], bound: Any, request: RequestState) -> list[Any]:
        wanted = list(dict.fromkeys((row.booking_id,) for row in rows if row.booking_id is not None))
        bookings = await request.loaders.of(BOOKING_BY_ID).load_bulk(wanted, step.path) if wanted else []
        by_id = {key[0]: booking for key, booking in zip(wanted, bookings, strict=True)}
        refusals = {row.booking_id: self._refusal(by_id.get(row.booking_id), request) for row in rows}
        shown = [row for row in rows if row.booking_id is not None and refusals[row.booking_id] is None]
        pages = iter(await Pages.fetch(self, step, shown, bound, request) if shown else ())
        return [None if row.booking_id is None else refusals[row.booking_id] or next(pages) for row in rows]

    def _refusal(self, booking: Any, request: RequestState) -> Exception | None:
        if isinstance(booking, Exception):
            return booking
        if booking is not None and acts_for(request.principal, booking.owner_id, Scope.CODES_READ):
            return None
        return self.rule.refusal(request.principal)


def event_codes(description: str) -> Any:
    """A field with the access codes of a calendar event."""
    binding = _EventCodes(contract=PURPOSE_ACCESS_CODES, key="booking_id", rule=CODES.decided_by_visibility())
    return bound_field(binding, description, PAGING)


_DIGITS = "The digits; null if the mutation failed, or if a repeated request is not the first caller's own."


def _part(attribute: str) -> Callable[[Outcome, RequestState], Any]:
    return lambda outcome, _: None if outcome.entity is None else getattr(outcome.entity, attribute)


@payload
class CreateAccessCodePayload(Payload):
    """Return type of `createAccessCode`."""

    access_code: AccessCode | None = embedded("The code; null if it was not created.", _part("record"))
    digits: str | None = column(_DIGITS, _part("digits"))


@payload
class RotateAccessCodePayload(Payload):
    """Return type of `rotateAccessCode`."""

    access_code: AccessCode | None = embedded("The code; null if it was not rotated.", _part("record"))
    digits: str | None = column(_DIGITS, _part("digits"))


@payload
class RevealAccessCodePayload(Payload):
    """Return type of `revealAccessCode`."""

    access_code: AccessCode | None = embedded("The code; null if it was not revealed.", _part("record"))
    digits: str | None = column("The digits; null if the mutation failed.", _part("digits"))


@payload
class VerifyAccessCodePayload(Payload):
    """Return type of `verifyAccessCode`."""

    decision: AccessDecision | None = column("Whether to open the door; null if there are errors.", _part("decision"))
    code_id: strawberry.ID | None = column("Id of the code that was granted.", _part("code_id"))
    locked_until: Instant | None = column("Time until which the door refuses all codes.", _part("locked_until"))


@payload
class ProvisionDevicePayload(Payload):
    """Return type of `provisionDevice`."""

    generation: int | None = column("Generation of the device; null if it was not provisioned.", _part("generation"))
    device_key: str | None = column(
        "Key of the device in hexadecimal. Store it in the device: it is never shown again once the device has "
        "acknowledged a list.",
        _part("device_key"),
    )


@payload
class AcknowledgeAccessCodesPayload(Payload):
    """Return type of `acknowledgeAccessCodes`."""

    acknowledged_revision: str | None = column(
        "Revision of the list that the device has; null if there are errors.", _part("acknowledged_revision")
    )


@mutations
class AccessCodeMutations:
    """Merged into Mutation."""

    create_access_code: CreateAccessCodePayload = write(
        CREATE_ACCESS_CODE,
        writes.create_access_code,
        commands.CreateAccessCode,
        CODE_CHANGES,
        description="Create an access code for a reservation, an approved booking or a locker.",
    )
    rotate_access_code: RotateAccessCodePayload = write(
        CHANGE_ACCESS_CODE,
        writes.rotate_access_code,
        commands.RotateAccessCode,
        CODE_CHANGES,
        description="Replace the digits of an access code.",
    )
    reveal_access_code: RevealAccessCodePayload = write(
        CHANGE_ACCESS_CODE,
        writes.reveal_access_code,
        commands.RevealAccessCode,
        CODE_CHANGES,
        description="Show the digits of an access code. Who asks is recorded first.",
    )
    revoke_access_code: AccessCode = write(
        CHANGE_ACCESS_CODE,
        writes.revoke_access_code,
        commands.RevokeAccessCode,
        CODE_CHANGES,
        returns="The revoked code; null if it was not revoked.",
        description="Revoke an access code for ever.",
    )
    verify_access_code: VerifyAccessCodePayload = write(
        VERIFY_ACCESS_CODE,
        verification.verify_access_code,
        commands.VerifyAccessCode,
        DOOR_DEVICES,
        description="Decide whether digits that were entered at a door open it. For the device of the door.",
    )
    provision_device: ProvisionDevicePayload = write(
        PROVISION_DEVICE,
        code_devices.provision_device,
        commands.ProvisionDevice,
        CODE_CHANGES,
        description="Begin a new generation of a door's device and get the key that protects its list of codes. For "
        "the owner of the locker; a location's door requires an admin.",
    )
    acknowledge_access_codes: AcknowledgeAccessCodesPayload = write(
        ACKNOWLEDGE_ACCESS_CODES,
        code_devices.acknowledge_access_codes,
        commands.AcknowledgeAccessCodes,
        DOOR_DEVICES,
        description="Say that the device of a door has stored its list of codes. For the device.",
    )
    report_access_code_use: AccessCode = write(
        REPORT_ACCESS_CODE_USE,
        code_devices.report_access_code_use,
        commands.ReportAccessCodeUse,
        DOOR_DEVICES,
        returns="The code; null if the use was not counted.",
        description="Report that the device of a door opened it by its own list. Each event id counts once. For the "
        "device.",
    )
    clear_lockout: Lockout = write(
        CLEAR_LOCKOUT,
        verification.clear_lockout,
        commands.ClearLockout,
        CODE_CHANGES,
        returns="The lockout record, without failures; null if it was not cleared.",
        description="End the lockout of a door and forget its failed attempts. For the owner of the locker; a "
        "location's door requires an admin.",
    )
