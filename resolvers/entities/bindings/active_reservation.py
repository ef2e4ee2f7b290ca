"""The active and the next reservation of a locker: from the pointer or, where that does not tell, one Query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from domain.models import ActivePointer, LockerId, Reservation
from domain.schedule import is_current, may_hide_another, may_precede_another
from domain.times import EARLIEST, LATEST, Instant, shift
from loaders.contracts.base import Contract
from loaders.contracts.reading import ReadPage
from loaders.contracts.reservations import ACTIVE_RESERVATION, CURRENT_RESERVATION, NEXT_RESERVATION
from resolvers.bindings.base import Call, Charge, Execution, FieldStep
from resolvers.bindings.lists import query_each
from resolvers.bindings.references import Reference
from resolvers.bindings.rules import NEXT_RESERVATIONS
from resolvers.request_state import RequestState

_INSTANT = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class FromPointer(Reference):
    """The reservation that each locker's pointer tells of; where it tells of none and may hide one, a search finds it.

    `is_wanted` says whether a reservation is the one that is asked for, `is_unsure` whether a pointer may hide it, and
    `window` where it can start.
    """

    searched: ReadPage[Any]
    condition: str
    is_wanted: Callable[[Reservation, Instant], bool]
    is_unsure: Callable[[ActivePointer, Instant], bool]
    window: Callable[[Instant], tuple[Instant, Instant]]

    @property
    def contracts(self) -> tuple[Contract, ...]:
        return self.contract, self.searched

    def price(self, step: FieldStep, parents: int, bound: Any) -> list[Charge]:
        """See Reading: the pointers, and a Query for each that does not tell."""
        search = Charge(self.searched, "Query", maximum=self.searched.maximum(1) * parents, condition=self.condition)
        return [*Reference.price(self, step, parents, bound), search]

    async def fetch(self, calls: Sequence[Call], execution: Execution) -> list[Any]:
        pointers = await Reference.fetch(self, calls, execution)
        return await self.follow(pointers, calls[0].step.path, execution.request)

    async def follow(self, pointers: Sequence[Any], path: str, request: RequestState) -> list[Any]:
        """For each pointer the reservation, None, or an error."""
        now, store = request.now, request.backend.store

        def wanted(reservation: Reservation | None) -> Reservation | None:
            return reservation if reservation is not None and self.is_wanted(reservation, now) else None

        async def search(locker_id: LockerId) -> Reservation | None:
            return wanted(await self.searched.first(store, locker_id, *self.window(now)))

        shown = [wanted(found.reservation) if isinstance(found, ActivePointer) else found for found in pointers]
        unsure = [
            (place, pointer.reservation.locker_id)
            for place, pointer in enumerate(pointers)
            if shown[place] is None and pointer is not None and self.is_unsure(pointer, now)
        ]
        if unsure:
            found = await query_each(search, [locker_id for _, locker_id in unsure], path, request)
            for (place, _), reservation in zip(unsure, found, strict=True):
                shown[place] = reservation
        return shown


CURRENT = FromPointer(
    contract=ACTIVE_RESERVATION,
    key="locker_id",
    rule=NEXT_RESERVATIONS,
    searched=CURRENT_RESERVATION,
    condition="only where the reservation of the pointer has ended and another one may be active",
    is_wanted=is_current,
    is_unsure=may_hide_another,
    window=lambda now: (EARLIEST, now),
)
NEXT = FromPointer(
    contract=ACTIVE_RESERVATION,
    key="locker_id",
    rule=NEXT_RESERVATIONS,
    searched=NEXT_RESERVATION,
    condition="only where the reservation of the pointer has begun and another one may follow",
    is_wanted=lambda reservation, now: now < reservation.start_at,
    is_unsure=may_precede_another,
    window=lambda now: (shift(now, _INSTANT), LATEST),
)
