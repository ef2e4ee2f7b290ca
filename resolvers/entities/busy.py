"""When a locker is reserved, without saying by whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from domain.errors import BadInputError
from domain.schedule import check_span, future_of, merged
from domain.times import Instant
from loaders.contracts.base import MAX_ITEMS, Order
from loaders.contracts.reservations import OVERLAPPING_RESERVATIONS, RESERVATION_BEFORE
from loaders.pages import PageRequest
from resolvers.bindings.base import Charge, Reading, column, described
from resolvers.bindings.lists import query_each

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from loaders.contracts.base import Contract
    from resolvers.bindings.base import FieldStep
    from resolvers.request_state import ArgumentContext, RequestState

_Window: TypeAlias = tuple[Instant, Instant]


@described
class BusyInterval:
    """A span of time in which a locker is reserved, by one reservation or by several that follow one another."""

    start_at: Instant = column("Start of the interval.")
    end_at: Instant = column("End of the interval; the locker is free from this moment on.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Busy(Reading):
    """The future intervals of a window in which each parent is reserved."""

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

    def below(self, parents: int, bound: _Window) -> int:
        return parents * MAX_ITEMS

    async def fetch(self, step: FieldStep, rows: Sequence[Any], bound: _Window, request: RequestState) -> list[Any]:
        store, (start, end) = request.backend.store, future_of(*bound, request.now)

        async def read(locker_id: Any) -> list[BusyInterval]:
            before = await RESERVATION_BEFORE.first(store, locker_id, start)
            first = before.start_at if before is not None and start < before.end_at else start
            page = await OVERLAPPING_RESERVATIONS.page(store, PageRequest(MAX_ITEMS), Order.ASC, locker_id, first, end)
            if page.damage is not None:
                raise page.damage  # the intervals without it would show that the locker is free
            if page.has_next_page:
                raise BadInputError(
                    f"The window has more than {MAX_ITEMS} reservations. Ask for a shorter one.", ("window",)
                )
            windows = ((reservation.start_at, reservation.end_at) for reservation in page.nodes)
            return [BusyInterval(start_at=start_at, end_at=end_at) for start_at, end_at in merged(windows, start, end)]

        return await query_each(read, self.row_keys(rows), step.path, request)
