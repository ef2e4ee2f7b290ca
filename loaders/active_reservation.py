"""The active reservation of a locker, where the pointer alone does not tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.errors import UnavailableError
from domain.models import ReservationStatus
from domain.schedule import is_current
from domain.times import shift
from loaders.contracts.base import Order
from loaders.contracts.reservations import ACTIVE_SEARCH, CURRENT_RESERVATION
from loaders.pages import PageRequest

if TYPE_CHECKING:
    from domain.models import LockerId, Reservation
    from domain.times import Instant
    from loaders.backend import Backend


async def search_active_reservation(backend: Backend, locker_id: LockerId, now: Instant) -> Reservation | None:
    """The reservation that is current now, found among those that have started.

    Reservations that are not cancelled do not overlap, so the one with the latest start decides.
    """
    earliest = shift(now, -backend.longest_reservation)
    cursor = None
    for size in ACTIVE_SEARCH:
        request = PageRequest(size, cursor=cursor)
        page = await CURRENT_RESERVATION.page(backend.store, request, Order.DESC, locker_id, earliest, now)
        if page.damage is not None:
            raise page.damage  # it may be the active one
        for reservation in page.nodes:
            if reservation.status is not ReservationStatus.CANCELLED:
                return reservation if is_current(reservation, now) else None
        if len(page.nodes) < size:
            return None
        cursor = page.end_cursor
    raise UnavailableError("Too many cancelled reservations hide the active one. Try again later.")
