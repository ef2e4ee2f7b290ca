"""The live reservations of a locker that overlap a window, whenever they start."""

from domain.models import LockerId, Reservation
from domain.times import Instant
from loaders.contracts.base import Order
from loaders.contracts.reservations import OVERLAPPING_RESERVATIONS, RESERVATION_BEFORE
from loaders.pages import ALL_TIMES, Page, PageRequest
from loaders.table.client import Store


async def overlapping_page(
    store: Store, request: PageRequest, locker_id: LockerId, start: Instant, end: Instant, order: Order = Order.ASC
) -> Page[Reservation]:
    """A page of them. It begins with the reservation before the window, where that reaches into it.

    That reservation may be gone when its cursor comes back, so a cursor from before the window is accepted.
    """
    before = await RESERVATION_BEFORE.first(store, locker_id, start)
    first = before.start_at if before is not None and start < before.end_at else start
    cursors = OVERLAPPING_RESERVATIONS.range(locker_id, ALL_TIMES.start, end)
    return await OVERLAPPING_RESERVATIONS.page(store, request, order, locker_id, first, end, cursors=cursors)
