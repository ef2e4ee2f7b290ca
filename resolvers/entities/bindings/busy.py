"""When a locker is reserved, without saying by whom."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from domain.errors import BadInputError
from domain.models import LockerId
from domain.schedule import check_span, future_of, merged
from domain.times import Instant
from loaders.contracts.base import MAX_ITEMS, Contract
from loaders.contracts.reservations import OVERLAPPING_RESERVATIONS, RESERVATION_BEFORE
from loaders.pages import PageRequest
from loaders.reads.overlapping import overlapping_page
from resolvers.bindings.base import Call, Charge, Execution, FieldStep, Reading
from resolvers.bindings.lists import query_each
from resolvers.request_state import ArgumentContext

_Window: TypeAlias = tuple[Instant, Instant]


class BusySpan(NamedTuple):
    start_at: Instant
    end_at: Instant


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
