"""The active and the next reservation of a locker: from the pointer or, where that does not tell, one Query."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from domain.models import ActivePointer
from domain.schedule import is_current, may_hide_another, may_precede_another
from domain.times import EARLIEST, LATEST, shift
from loaders.contracts.reservations import CURRENT_RESERVATION, NEXT_RESERVATION
from loaders.reads.table_format import require_format
from loaders.table.recording import asking
from resolvers.bindings.base import Charge
from resolvers.bindings.lists import format_charge, query_each

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from domain.models import LockerId, Reservation
    from resolvers.request import RequestState

_INSTANT = timedelta(milliseconds=1)
_POINTER_BEGUN = "only where the reservation of the pointer has begun and another one may follow"
_POINTER_ENDED = "only where the reservation of the pointer has ended and another one may be active"


async def current_reservations(pointers: Sequence[Any], path: str, request: RequestState) -> list[Any]:
    """For each pointer the active reservation, None, or an error."""
    now, store = request.now, request.backend.store

    async def search(locker_id: LockerId) -> Reservation | None:
        latest = await CURRENT_RESERVATION.first(store, locker_id, EARLIEST, now)
        return latest if latest is not None and is_current(latest, now) else None

    def told(pointer: ActivePointer) -> Reservation | None:
        return pointer.reservation if is_current(pointer.reservation, now) else None

    return await _followed(pointers, lambda pointer: may_hide_another(pointer, now), search, told, path, request)


async def next_reservations(pointers: Sequence[Any], path: str, request: RequestState) -> list[Any]:
    """For each pointer the earliest reservation that has not begun, None, or an error."""
    now, store = request.now, request.backend.store

    async def search(locker_id: LockerId) -> Reservation | None:
        return await NEXT_RESERVATION.first(store, locker_id, shift(now, _INSTANT), LATEST)

    def told(pointer: ActivePointer) -> Reservation | None:
        return pointer.reservation if now < pointer.reservation.start_at else None

    return await _followed(pointers, lambda pointer: may_precede_another(pointer, now), search, told, path, request)


async def _followed(
    pointers: Sequence[Any],
    is_unsure: Callable[[ActivePointer], bool],
    search: Callable[[LockerId], Awaitable[Reservation | None]],
    told: Callable[[ActivePointer], Reservation | None],
    path: str,
    request: RequestState,
) -> list[Any]:
    """What each pointer tells; where it tells of none and does not know all, what a search finds."""
    shown = [told(pointer) if isinstance(pointer, ActivePointer) else pointer for pointer in pointers]
    unsure = [
        (place, pointer.reservation.locker_id)
        for place, pointer in enumerate(pointers)
        if shown[place] is None and pointer is not None and is_unsure(pointer)
    ]
    if unsure:
        with asking(path):
            await require_format(request.backend, CURRENT_RESERVATION.needs_format)
        found = await query_each(search, [locker_id for _, locker_id in unsure], path, request)
        for (place, _), reservation in zip(unsure, found, strict=True):
            shown[place] = reservation
    return shown


def current_charges(count: int) -> list[Charge]:
    """What the Queries cost, if the pointers of all lockers have ended."""
    maximum = CURRENT_RESERVATION.maximum(1) * count
    return [Charge(CURRENT_RESERVATION, "Query", maximum=maximum, condition=_POINTER_ENDED), format_charge()]


def next_charges(count: int) -> list[Charge]:
    """What the Queries cost, if the pointed reservations of all lockers have begun."""
    maximum = NEXT_RESERVATION.maximum(1) * count
    return [Charge(NEXT_RESERVATION, "Query", maximum=maximum, condition=_POINTER_BEGUN), format_charge()]
