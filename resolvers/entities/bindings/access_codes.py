"""Access codes: their pages, when they are valid, and the lists for the devices of doors."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, ClassVar, NamedTuple

from domain.access_codes import AccessCode as Record
from domain.access_codes import (
    AccessCodeState,
    DeviceStatus,
    device_status,
    grace_end,
    is_in_grace,
    is_void,
    reservation_purpose,
    validity_of,
)
from domain.authorization import Scope, acts_for
from domain.models import door_of
from domain.times import Instant, shift
from loaders.concurrency import together
from loaders.contracts.access_codes import AT_LOCATION, AT_LOCKER, CODE_DOOR_BY_ID
from loaders.contracts.base import Contract
from loaders.contracts.bookings import BOOKING_BY_ID
from loaders.contracts.cost import MET_OTHERS
from loaders.contracts.lockers import LOCKER_BY_ID
from loaders.contracts.reading import ReadOne
from loaders.contracts.reservations import GUARD_OF_LOCKER, RESERVATION_BEFORE, RESERVATION_BY_KEY
from loaders.contracts.writing import WriteContract
from loaders.reads.code_keys import basis_key
from loaders.reads.code_lists import read_code_lists
from loaders.table.recording import asking
from resolvers.bindings.base import Call, Charge, Execution, FieldStep, Reading, look_up_charge, rows_of
from resolvers.bindings.lists import Pages, query_each
from resolvers.request_state import RequestState


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservationCodes(Pages):
    """The codes of a reservation, which its locker's id and its own identify."""

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"locker_id", "reservation_id"})

    def row_keys(self, rows: Sequence[Any]) -> list[Any]:
        return [reservation_purpose(row.locker_id, row.reservation_id) for row in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventCodes(Pages):
    """The codes of the booking that a calendar event comes from, for those who act for the booking's owner."""

    when_null: ClassVar[str] = ""

    @property
    def contracts(self) -> tuple[Contract, ...]:
        return (self.contract, BOOKING_BY_ID)

    def price(self, step: FieldStep, parents: int, bound: Any) -> list[Charge]:
        return [look_up_charge(BOOKING_BY_ID, parents), *Pages.price(self, step, parents, bound)]

    async def fetch(self, calls: Sequence[Call], execution: Execution) -> list[Any]:
        request, rows = execution.request, rows_of(calls)
        wanted = list(dict.fromkeys((row.booking_id,) for row in rows if row.booking_id is not None))
        bookings = await request.loaders.of(BOOKING_BY_ID).load_bulk(wanted, calls[0].step.path)
        by_id = {key[0]: booking for key, booking in zip(wanted, bookings, strict=True)}
        refusals = {row.booking_id: self._refusal(by_id.get(row.booking_id), request) for row in rows}
        asked = [
            call._replace(rows=[row for row in call.rows if row.booking_id and refusals[row.booking_id] is None])
            for call in calls
        ]
        pages = iter(await Pages.fetch(self, asked, execution))
        return [None if row.booking_id is None else refusals[row.booking_id] or next(pages) for row in rows]

    def _refusal(self, booking: Any, request: RequestState) -> Exception | None:
        if isinstance(booking, Exception):
            return booking
        if booking is not None and acts_for(request.principal, booking.owner_id, Scope.CODES_READ):
            return None
        return self.rule.refusal(request.principal)


_INSTANT = timedelta(milliseconds=1)


class CodeValidity(NamedTuple):
    state: AccessCodeState
    valid_from: Instant | None
    valid_until: Instant | None
    device_status: DeviceStatus | None
    needs_reveal: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidityOf(Reading):
    """The validity of codes, from what gives the right to open their doors: read in batches, one for each kind."""

    @property
    def contracts(self) -> tuple[Contract, ...]:
        return (RESERVATION_BY_KEY, BOOKING_BY_ID, LOCKER_BY_ID, CODE_DOOR_BY_ID, RESERVATION_BEFORE, GUARD_OF_LOCKER)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"*"})

    def price(self, step: FieldStep, parents: int, bound: Any) -> list[Charge]:
        basis, grace = "only for codes of this kind", "only in the grace period after a reservation"
        return [
            look_up_charge(CODE_DOOR_BY_ID, parents),
            look_up_charge(RESERVATION_BY_KEY, parents, condition=basis),
            look_up_charge(BOOKING_BY_ID, parents, condition=basis),
            look_up_charge(LOCKER_BY_ID, parents, condition=basis),
            Charge(
                RESERVATION_BEFORE,
                "Query",
                maximum=RESERVATION_BEFORE.maximum(1) * parents,
                condition=grace,
            ),
            look_up_charge(GUARD_OF_LOCKER, parents, condition=grace),
        ]

    async def fetch(self, calls: Sequence[Call], execution: Execution) -> list[Any]:
        rows, path, request = rows_of(calls), calls[0].step.path, execution.request
        read_doors = request.loaders.of(CODE_DOOR_BY_ID).load_bulk([(code.door,) for code in rows], path)
        bases, doors = await together([self._bases(rows, path, request), read_doors])
        starts = await self._starts(rows, bases, path, request)

        def validity(code: Record, basis: Any, door: Any) -> Any:
            last, guard = starts.get(code.locker_id, (None, None))
            failure = next((part for part in (basis, door, last, guard) if isinstance(part, Exception)), None)
            if failure is not None:
                return failure
            shown = validity_of(code, request.now, basis)
            if is_in_grace(code, request.now, basis):
                begun = [last and last.start_at, guard and guard.released_start_at]
                graced = validity_of(code, request.now, basis, grace_end(basis, begun))
                shown = replace(shown, state=graced.state)
            return CodeValidity(
                state=shown.state,
                valid_from=shown.valid_from,
                valid_until=shown.valid_until,
                device_status=device_status(code, shown, door, request.now),
                needs_reveal=is_void(code, door),
            )

        return list(map(validity, rows, bases, doors))

    async def _bases(self, rows: Sequence[Record], path: str, request: RequestState) -> list[Any]:
        named = [basis_key(code) for code in rows]
        keys: dict[ReadOne[Any], list[tuple[Any, ...]]] = {}
        for contract, key in named:
            keys.setdefault(contract, []).append(key)
        found = await together(
            request.loaders.of(contract).load_bulk(wanted, path) for contract, wanted in keys.items()
        )
        records = dict(zip(keys, map(iter, found), strict=True))
        return [next(records[contract]) for contract, _ in named]

    async def _starts(
        self, rows: Sequence[Record], bases: Sequence[Any], path: str, request: RequestState
    ) -> dict[Any, tuple[Any, Any]]:
        """The live reservation that began last, and the guard, of lockers whose codes may be in their grace period."""
        lockers = [
            code.locker_id
            for code, basis in zip(rows, bases, strict=True)
            if not isinstance(basis, Exception) and is_in_grace(code, request.now, basis)
        ]
        if not lockers:
            return {}
        store, after_now = request.backend.store, shift(request.now, _INSTANT)
        latest, guards = await together(
            [
                query_each(
                    lambda locker_id: RESERVATION_BEFORE.first(store, locker_id, after_now), lockers, path, request
                ),
                request.loaders.of(GUARD_OF_LOCKER).load_bulk([(locker_id,) for locker_id in lockers], path),
            ]
        )
        return dict(zip(lockers, zip(latest, guards, strict=True), strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeListOf(Reading):
    """The lists for the devices of doors, read together, as an acknowledgement reads its own: strongly consistent."""

    contract: WriteContract
    key: str

    def price(self, step: FieldStep, parents: int, bound: Any) -> list[Charge]:
        elsewhere = AT_LOCATION if self.key == "locker_id" else AT_LOCKER
        charges = [
            Charge(self.contract, request.operation, request.expected, request.maximum)
            for request in self.contract.read_costs(parents)
            if request.when != elsewhere
        ]
        rounds = self.contract.rounds - 1
        again = [
            Charge(self.contract, charge.operation, maximum=charge.maximum * rounds, condition=MET_OTHERS)
            for charge in charges
        ]
        return charges + again

    async def fetch(self, calls: Sequence[Call], execution: Execution) -> list[Any]:
        request, is_locker = execution.request, self.key == "locker_id"
        keys = self.row_keys(rows_of(calls))
        doors = [door_of(key if is_locker else None, None if is_locker else key) for key in keys]
        with asking(calls[0].step.path):
            found = await read_code_lists(request.backend, doors, request.queries)
        return [found[door] for door in doors]
