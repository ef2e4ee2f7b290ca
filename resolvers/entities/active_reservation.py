"""The active reservation of a locker: from the pointer and, where that has ended, one bounded Query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain.schedule import is_current, may_hide_another
from domain.times import EARLIEST
from loaders.contracts.reservations import CURRENT_RESERVATION
from loaders.table.recording import asking
from loaders.table_format import require_format
from resolvers.bindings.base import Charge
from resolvers.bindings.lists import format_charge, query_each

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.models import LockerId, Reservation
    from resolvers.request import RequestState

_POINTER_ENDED = "only where the reservation of the pointer has ended and another one may be active"


async def current_reservations(pointers: Sequence[Any], path: str, request: RequestState) -> list[Any]:
    """For each pointer the active reservation, None, or an error."""
    now = request.now
    hiding = [
        pointer.reservation.locker_id
        for pointer in pointers
        if pointer is not None and not isinstance(pointer, Exception) and may_hide_another(pointer, now)
    ]
    found: dict[LockerId, Reservation | Exception | None] = {}
    if hiding:
        with asking(path):
            await require_format(request.backend, CURRENT_RESERVATION.needs_format)

        async def search(locker_id: LockerId) -> Reservation | None:
            latest = await CURRENT_RESERVATION.first(request.backend.store, locker_id, EARLIEST, now)
            return latest if latest is not None and is_current(latest, now) else None

        found = dict(zip(hiding, await query_each(search, hiding, path, request), strict=True))

    def active(pointer: Any) -> Any:
        if pointer is None or isinstance(pointer, Exception):
            return pointer
        reservation = pointer.reservation
        if reservation.locker_id in found:
            return found[reservation.locker_id]
        return reservation if is_current(reservation, now) else None

    return [active(pointer) for pointer in pointers]


def search_charges(count: int) -> list[Charge]:
    """What the Queries cost, if the pointers of all lockers have ended."""
    maximum = CURRENT_RESERVATION.maximum(1) * count
    return [Charge(CURRENT_RESERVATION, "Query", maximum=maximum, condition=_POINTER_ENDED), format_charge()]
