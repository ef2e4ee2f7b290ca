"""`node` and `nodes`: anything by its global id, each kind in one batch."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import strawberry

from domain.bookings import BookingId
from domain.errors import BadInputError
from domain.models import EventId, LocationId, LockerId, OwnerId, ReservationId
from domain.text import check_id
from domain.times import Instant, parse_instant
from resolvers.bookings import Booking
from resolvers.context import Info
from resolvers.events import AccessEvent
from resolvers.locations import Location
from resolvers.lockers import Locker
from resolvers.owners import Owner
from resolvers.relay import Node, from_global_id
from resolvers.reservations import Reservation

__all__ = ["NodeQueries"]

_MOST_NODES = 100


@strawberry.type
class NodeQueries:
    """Merged into Query."""

    @strawberry.field(description="Anything by its global id; null where there is nothing.")
    async def node(
        self, info: Info, id: Annotated[strawberry.ID, strawberry.argument(description="The global id.")]
    ) -> Node | None:
        """Through the loader of its kind."""
        return await _node(info, id)

    @strawberry.field(description="Up to 100 things by their global ids, in that order; null where there is nothing.")
    async def nodes(
        self,
        info: Info,
        ids: Annotated[list[strawberry.ID], strawberry.argument(description="The global ids, 100 at most.")],
    ) -> list[Node | None]:
        """Through the loaders of their kinds."""
        if len(ids) > _MOST_NODES:
            raise BadInputError(f"ids must be {_MOST_NODES} at most, not {len(ids)}.", ("ids",))
        return list(await asyncio.gather(*(_node(info, global_id) for global_id in ids)))


async def _node(info: Info, global_id: str) -> Node | None:
    loaders = info.context.loaders
    record: Any
    match from_global_id(global_id):
        case ("Locker", locker_id) if _is_id(locker_id):
            record = await loaders.locker.load(LockerId(locker_id))
            shown: Any = Locker
        case ("Owner", owner_id) if _is_id(owner_id):
            record = await loaders.owner.load(OwnerId(owner_id))
            shown = Owner
        case ("Location", location_id) if _is_id(location_id):
            record = await loaders.location.load(LocationId(location_id))
            shown = Location
        case ("Booking", booking_id) if _is_id(booking_id):
            record = await loaders.booking.load(BookingId(booking_id))
            shown = Booking
        case ("Reservation", locker_id, start, own_id) if _is_id(locker_id, own_id) and _is_instant(start):
            record = await loaders.reservation.load((LockerId(locker_id), Instant(start), ReservationId(own_id)))
            shown = Reservation
        case ("AccessEvent", locker_id, timestamp, own_id) if _is_id(locker_id, own_id) and _is_instant(timestamp):
            record = await loaders.event.load((LockerId(locker_id), Instant(timestamp), EventId(own_id)))
            shown = AccessEvent
        case _:
            return None
    return None if record is None else shown.of(record)


def _is_id(*texts: str) -> bool:
    try:
        return all(map(check_id, texts))
    except ValueError:
        return False


def _is_instant(text: str) -> bool:
    try:
        return parse_instant(text) == text
    except ValueError:
        return False
