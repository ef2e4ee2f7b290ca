"""Reserves any locker of a location that is offered to the caller and free."""

import asyncio
from typing import Any

from domain.authorization import Principal, Scope, acts_for, audiences_for, require
from domain.commands.base import fingerprint
from domain.commands.reservations import CreateReservation, Reserve, ReserveAnyLocker
from domain.errors import (
    ForbiddenError,
    IdTakenError,
    LocationInactiveError,
    NoLockerAvailableError,
    NotFoundError,
    OutOfServiceError,
    OverlapError,
)
from domain.models import LocationStatus, Reservation, ReservationId, record_from
from domain.schedule import check_end_after_start, check_reservation_window
from domain.times import Instant
from loaders import keys
from loaders.backend import Backend
from loaders.codecs import AnyClaim
from loaders.contracts.locations import LOCATION_BY_ID
from loaders.contracts.reservations import ACTIVE_RESERVATION, ANY_CLAIM_BY_ID, RESERVATION_BY_KEY
from loaders.reads.claimed import claimed
from loaders.reads.offers import Search, Wanted, each_free
from loaders.writes.reservations import IdTakenByOwnerError, create_reservation

MOST_TRIES = 10
_QUERIES_AT_ONCE = 16
_NEXT_LOCKER = (OverlapError, OutOfServiceError, ForbiddenError)
"""Why a locker cannot be reserved although it was found free: another caller or its owner was faster."""


async def reserve_any_locker(backend: Backend, command: ReserveAnyLocker, principal: Principal) -> Reservation:
    """Reserves one of the lockers that a search finds free, trying one after another (QC-04)."""
    require(acts_for(principal, command.owner_id, Scope.RESERVATIONS_WRITE), ("input", "ownerId"))
    check_end_after_start(command.start_at, command.end_at, "endAt")
    reservation_id = command.reservation_id or ReservationId(backend.new_id())
    content = fingerprint(command, without="reservation_id")
    made = None if command.reservation_id is None else await _made_before(backend, command, reservation_id, content)
    if made is not None:
        return made
    now = backend.clock()
    check_reservation_window(command.start_at, command.end_at, now, backend.longest_reservation, "endAt")
    await _check_location(backend, command)
    store, permits = backend.store, asyncio.Semaphore(_QUERIES_AT_ONCE)
    search = _search(command, principal, reservation_id, now)
    tries, taken, is_complete = 0, None, False
    async for offer in each_free(store, search, lambda ids: ACTIVE_RESERVATION.read_many(store, ids), permits):
        if tries == MOST_TRIES:
            break
        tries += 1
        chosen: dict[str, Any] = {"locker_id": offer.locker_id, "reservation_id": reservation_id}
        claim = record_from(AnyClaim, command, **chosen, fingerprint=content)
        wanted = CreateReservation(**{name: getattr(command, name) for name in Reserve.model_fields} | chosen)
        try:
            return await create_reservation(backend, wanted, principal, claim=claim)
        except IdTakenByOwnerError:
            made = await _made_before(backend, command, reservation_id, content)
            if made is None:
                raise
            return made
        except IdTakenError as error:  # ids are unique for their locker only: another owner may have chosen this one
            taken = error
        except _NEXT_LOCKER:
            continue
    else:
        is_complete = search.is_complete
    raise taken or NoLockerAvailableError(is_complete=is_complete)


def _search(command: ReserveAnyLocker, principal: Principal, reservation_id: ReservationId, now: Instant) -> Search:
    """Begins elsewhere for each request, so that requests at the same time do not compete for one locker."""
    wanted = Wanted(
        location_id=command.location_id,
        size=command.size,
        start_at=max(command.start_at, now),
        end_at=command.end_at,
        audiences=audiences_for(principal, command.owner_id),
        seed=f"{command.owner_id} {reservation_id}",
    )
    return Search(wanted)


async def _check_location(backend: Backend, command: ReserveAnyLocker) -> None:
    path = ("input", "locationId")
    location = await LOCATION_BY_ID.read(backend.store, command.location_id)
    if location is None:
        raise NotFoundError(f"Location {command.location_id} does not exist.", path)
    if location.status is LocationStatus.INACTIVE:
        raise LocationInactiveError(f"Location {command.location_id} is inactive.", path)


async def _made_before(
    backend: Backend, command: ReserveAnyLocker, reservation_id: ReservationId, content: str
) -> Reservation | None:
    """The reservation that a request with the same id has made, as it is now."""
    claim = await ANY_CLAIM_BY_ID.read(backend.store, command.owner_id, reservation_id)
    if claim is None:
        return None
    if claim.fingerprint != content:
        raise IdTakenByOwnerError(reservation_id, "another reservation of any locker")
    place = (claim.locker_id, claim.start_at, claim.reservation_id)
    return await claimed(
        keys.reservation(*place), lambda: RESERVATION_BY_KEY.read(backend.store, *place, consistent=True)
    )
