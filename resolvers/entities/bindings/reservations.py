"""Reservations of a locker: the active and the next one, those that overlap a window, and when it is reserved."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, NamedTuple, TypeAlias

from domain.errors import BadInputError
from domain.models import ActivePointer, LockerId, Reservation
from domain.schedule import check_span, future_of, is_current, may_hide_another, may_precede_another, merged
from domain.times import EARLIEST, LATEST, Instant, shift
from loaders.contracts.base import MAX_ITEMS, Contract
from loaders.contracts.reading import ReadPage
from loaders.contracts.reservations import (
    ACTIVE_RESERVATION,
    CURRENT_RESERVATION,
    NEXT_RESERVATION,
    OVERLAPPING_RESERVATIONS,
    RESERVATION_BEFORE,
)
from loaders.pages import ALL_TIMES, Page, PageRequest
from loaders.reads.overlapping import overlapping_page
from resolvers.bindings.base import NULL_WITH_ERROR, Call, Charge, Execution, FieldStep, Reading
from resolvers.bindings.lists import BoundPage, Lists, Pages, query_each, window_of
from resolvers.bindings.references import Reference
from resolvers.bindings.rules import NEXT_RESERVATIONS
from resolvers.request_state import ArgumentContext, RequestState

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


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlappingPages(Pages):
    """A page of a list by start time or, with the argument `overlapping`, of the live reservations in a window."""

    @property
    def contracts(self) -> tuple[Contract, ...]:
        return self.contract, OVERLAPPING_RESERVATIONS, RESERVATION_BEFORE

    def lists(self, values: Mapping[str, Any], request: ArgumentContext) -> Lists:
        if values.get("overlapping") is None:
            return Pages.lists(self, values, request)
        if values.get("window") is not None:
            raise BadInputError("Use window or overlapping, but not both.", ("overlapping",))
        window = window_of(values["overlapping"], ALL_TIMES, "overlapping")
        return OVERLAPPING_RESERVATIONS, ((window.start, window.end),)

    def price(self, step: FieldStep, parents: int, bound: BoundPage) -> list[Charge]:
        """See Reading: a second Query for each parent finds the reservation before the window."""
        charges = Pages.price(self, step, parents, bound)
        if bound.contract is OVERLAPPING_RESERVATIONS:
            before = RESERVATION_BEFORE
            charges.insert(1, Charge(before, "Query", before.expected(1) * parents, before.maximum(1) * parents))
        return charges

    async def page(self, key: Any, bound: BoundPage, request: RequestState) -> Page[Any]:
        if bound.contract is not OVERLAPPING_RESERVATIONS:
            return await Pages.page(self, key, bound, request)
        ((start, end),) = bound.keys
        async with request.queries:
            return await overlapping_page(request.backend.store, bound.request, key, start, end, bound.order)


_Window: TypeAlias = tuple[Instant, Instant]


class BusySpan(NamedTuple):
    start_at: Instant
    end_at: Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class Busy(Reading):
    """The future intervals of a window in which each parent is reserved."""

    when_null: ClassVar[str] = NULL_WITH_ERROR

    @property
    def contracts(self) -> tuple[Contract, ...]:
        return OVERLAPPING_RESERVATIONS, RESERVATION_BEFORE

    def bind(self, values: Mapping[str, Any], request: ArgumentContext) -> _Window:
        window = values["window"]["from_"], values["window"]["to"]
        check_span(*window)
        return window

    def price(self, step: FieldStep, parents: int, bound: _Window) -> list[Charge]:
        sizes = ((RESERVATION_BEFORE, 1), (OVERLAPPING_RESERVATIONS, MAX_ITEMS))
        return [
            Charge(contract, "Query", contract.expected(size) * parents, contract.maximum(size) * parents)
            for contract, size in sizes
        ]

    def price_key(self, bound: _Window) -> Hashable:
        """See Reading: whatever the window, it is priced at the most."""
        return None

    def below(self, parents: int, bound: _Window, type_name: str) -> int:
        return parents * MAX_ITEMS

    async def fetch(self, calls: Sequence[Call], execution: Execution) -> list[Any]:
        request = execution.request

        async def read(asked: tuple[LockerId, _Window]) -> list[BusySpan]:
            locker_id, window = asked
            start, end = future_of(*window, request.now)
            page = await overlapping_page(request.backend.store, PageRequest(MAX_ITEMS), locker_id, start, end)
            if page.damage is not None:
                raise page.damage  # the intervals without it would show that the locker is free
            if page.has_next_page:
                raise BadInputError(
                    f"The window has more than {MAX_ITEMS} reservations. Ask for a shorter one.", ("window",)
                )
            windows = ((reservation.start_at, reservation.end_at) for reservation in page.nodes)
            return [BusySpan(*span) for span in merged(windows, start, end)]

        asked = [(key, call.bound) for call in calls for key in self.row_keys(call.rows)]
        return await query_each(read, asked, calls[0].step.path, request)
