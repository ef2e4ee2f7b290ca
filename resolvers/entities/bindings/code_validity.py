"""When an access code is valid: from what gives the right to open its door, and from the door itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, NamedTuple

from domain.access_codes import AccessCode as Record
from domain.access_codes import (
    AccessCodeState,
    DeviceStatus,
    device_status,
    grace_end,
    is_in_grace,
    is_void,
    validity_of,
)
from domain.times import Instant, shift
from loaders.concurrency import together
from loaders.contracts.access_codes import CODE_DOOR_BY_ID
from loaders.contracts.base import Contract
from loaders.contracts.bookings import BOOKING_BY_ID
from loaders.contracts.lockers import LOCKER_BY_ID
from loaders.contracts.reading import ReadOne
from loaders.contracts.reservations import RESERVATION_BEFORE, RESERVATION_BY_KEY
from loaders.reads.code_keys import basis_key
from resolvers.bindings.base import Call, Charge, Execution, FieldStep, Reading, look_up_charge, rows_of
from resolvers.bindings.lists import query_each
from resolvers.request_state import RequestState

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
        return (RESERVATION_BY_KEY, BOOKING_BY_ID, LOCKER_BY_ID, CODE_DOOR_BY_ID, RESERVATION_BEFORE)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"*"})

    def price(self, step: FieldStep, parents: int, bound: Any) -> list[Charge]:
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
        ]

    async def fetch(self, calls: Sequence[Call], execution: Execution) -> list[Any]:
        rows, path, request = rows_of(calls), calls[0].step.path, execution.request
        bases, doors = await together([self._bases(rows, path, request), self._doors(rows, path, request)])
        latest = await self._latest_starts(rows, bases, path, request)

        def validity(code: Record, basis: Any, door: Any) -> Any:
            last = latest.get(code.locker_id)
            failure = next((part for part in (basis, door, last) if isinstance(part, Exception)), None)
            if failure is not None:
                return failure
            shown = validity_of(code, request.now, basis)
            if is_in_grace(code, request.now, basis):
                begun = None if last is None or last.start_at < basis.end_at else last.start_at
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
        """Reads the reservation, booking or locker that each code belongs to."""
        named = [basis_key(code) for code in rows]
        keys: dict[ReadOne[Any], list[tuple[Any, ...]]] = {}
        for contract, key in named:
            keys.setdefault(contract, []).append(key)
        found = await together(
            request.loaders.of(contract).load_bulk(wanted, path) for contract, wanted in keys.items()
        )
        records = dict(zip(keys, map(iter, found), strict=True))
        return [next(records[contract]) for contract, _ in named]

    async def _doors(self, rows: Sequence[Record], path: str, request: RequestState) -> list[Any]:
        return await request.loaders.of(CODE_DOOR_BY_ID).load_bulk([(code.door,) for code in rows], path)

    async def _latest_starts(
        self, rows: Sequence[Record], bases: Sequence[Any], path: str, request: RequestState
    ) -> dict[Any, Any]:
        """The live reservation that began last, of each locker with a code that may be in its grace period."""
        lockers = [
            code.locker_id
            for code, basis in zip(rows, bases, strict=True)
            if not isinstance(basis, Exception) and is_in_grace(code, request.now, basis)
        ]
        if not lockers:
            return {}
        store, after_now = request.backend.store, shift(request.now, _INSTANT)
        found = await query_each(
            lambda locker_id: RESERVATION_BEFORE.first(store, locker_id, after_now), lockers, path, request
        )
        return dict(zip(lockers, found, strict=True))
