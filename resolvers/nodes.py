"""`node` and `nodes`: anything by its global id, each kind in one batch."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, cast

import strawberry

from domain.bookings import BookingId
from domain.errors import BadInputError, ForbiddenError
from domain.models import EventId, LocationId, LockerId, OwnerId, ReservationId
from domain.principal import Scope, acts_for, is_admin, may_see_locker, may_see_places, require
from domain.text import check_id
from domain.times import Instant, parse_instant
from resolvers import events, reservations
from resolvers.bookings import Booking
from resolvers.context import Info
from resolvers.events import AccessEvent
from resolvers.locations import Location
from resolvers.lockers import Locker
from resolvers.owners import Owner
from resolvers.permissions import admits
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
        found = await asyncio.gather(*(_node_or_refusal(info, global_id) for global_id in ids))
        return cast("list[Node | None]", found)


async def _node_or_refusal(info: Info, global_id: str) -> Node | ForbiddenError | None:
    """An error in a list stands for its own entry alone."""
    try:
        return await _node(info, global_id)
    except ForbiddenError as refusal:
        return refusal


async def _node(info: Info, global_id: str) -> Node | None:
    """What is found, for who may see it; where only the record could tell, nothing looks like what is hidden."""
    loaders, principal = info.context.loaders, info.context.principal
    record: Any
    shown: Any
    seen = True
    match from_global_id(global_id):
        case ("Locker", locker_id) if _is_id(locker_id):
            require(admits(principal, "Query", "locker"))
            record, shown = await loaders.locker.load(LockerId(locker_id)), Locker
            seen = record is not None and may_see_locker(principal, record.owner_id)
        case ("Owner", owner_id) if _is_id(owner_id):
            require(acts_for(principal, OwnerId(owner_id), Scope.OWNERS_READ))
            record, shown = await loaders.owner.load(OwnerId(owner_id)), Owner
        case ("Location", location_id) if _is_id(location_id):
            require(may_see_places(principal))
            record, shown = await loaders.location.load(LocationId(location_id)), Location
        case ("Booking", booking_id) if _is_id(booking_id):
            require(admits(principal, "Query", "booking"))
            record, shown = await loaders.booking.load(BookingId(booking_id)), Booking
            seen = record is not None and acts_for(principal, record.owner_id, Scope.BOOKINGS_READ)
        case ("Reservation", locker_id, start, own_id) if _is_id(locker_id, own_id) and _is_instant(start):
            require(admits(principal, "Query", "reservation"))
            record = await loaders.reservation.load((LockerId(locker_id), Instant(start), ReservationId(own_id)))
            shown, seen = Reservation, record is not None and await reservations.is_seen(info, record)
        case ("AccessEvent", locker_id, timestamp, own_id) if _is_id(locker_id, own_id) and _is_instant(timestamp):
            require(admits(principal, "Locker", "accessEvents"))
            record = await loaders.event.load((LockerId(locker_id), Instant(timestamp), EventId(own_id)))
            shown, seen = AccessEvent, record is not None and await events.is_seen(info, record)
        case _:
            return None
    require(seen or is_admin(principal))
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
