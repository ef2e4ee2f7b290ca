"""The reservations of a locker: by the time at which they start, or by a window that they overlap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from domain.errors import BadInputError
from loaders.contracts.base import Contract
from loaders.contracts.reading import ReadPage
from loaders.contracts.reservations import OVERLAPPING_RESERVATIONS, RESERVATION_BEFORE
from loaders.pages import ALL_TIMES, Page
from loaders.reads.overlapping import overlapping_page
from resolvers.bindings.base import Charge, FieldStep
from resolvers.bindings.lists import BoundPage, Pages, window_of
from resolvers.request_state import ArgumentContext, RequestState


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlappingPages(Pages):
    """A page of a list by start time or, with the argument `overlapping`, of the live reservations in a window."""

    @property
    def contracts(self) -> tuple[Contract, ...]:
        return self.contract, OVERLAPPING_RESERVATIONS, RESERVATION_BEFORE

    def lists(
        self, values: Mapping[str, Any], request: ArgumentContext
    ) -> tuple[ReadPage[Any], tuple[tuple[Any, ...], ...]]:
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
