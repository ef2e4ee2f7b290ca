"""Pages of the access codes of reservations, and of the bookings behind calendar events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from domain.access_codes import reservation_purpose
from domain.authorization import Scope, acts_for
from loaders.contracts.base import Contract
from loaders.contracts.bookings import BOOKING_BY_ID
from resolvers.bindings.base import Call, Charge, Execution, FieldStep, look_up_charge, rows_of
from resolvers.bindings.lists import Pages
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
