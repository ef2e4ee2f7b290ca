"""Reservations: the type, its query and its mutations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import strawberry

from domain.authorization import MOST_AUDIENCES, may_see_reservation
from domain.commands import reservations as commands
from domain.ids import check_id, require_id
from domain.models import Reservation as Record
from domain.models import ReservationStatus
from domain.schedule import effective_status
from domain.times import Instant, parse_instant
from loaders.contracts.locations import LOCATION_BY_ID
from loaders.contracts.lockers import LOCKER_BY_ID
from loaders.contracts.owners import OWNER_BY_ID
from loaders.contracts.reservations import (
    ANY_CLAIM_BY_ID,
    CHANGE_RESERVATION,
    CREATE_RESERVATION,
    RESERVATION_BY_ID,
    RESERVATION_BY_KEY,
)
from loaders.writes import reservations as writes
from loaders.writes.any_locker import LOOKS_FOR_RESERVED, MOST_TRIES, reserve_any_locker
from resolvers.api.mutations import mutations, write
from resolvers.api.relay import Node
from resolvers.bindings.base import Charge, column, look_up_charge
from resolvers.bindings.references import look_up, one
from resolvers.bindings.rules import LOCKER, OFFERS, PROFILE, RESERVATION_CHANGES, RESERVATION_CREATION, RESERVATIONS
from resolvers.entities.base import CHANGED, entity, id_argument, locker_of, locker_owner_charges
from resolvers.entities.offer_search import search_charges

_NOT_FREE = "only where a locker that was found free cannot be reserved any more"
_MADE_BEFORE = "only where the reservationId was used before"

if TYPE_CHECKING:
    from collections.abc import Mapping

    from resolvers.entities.lockers import Locker
    from resolvers.entities.owners import Owner
    from resolvers.request import RequestState


async def _is_visible(request: RequestState, record: Record, path: str) -> bool:
    """A reservation is visible to who made it and to the owner of the locker, which is read only where it decides."""
    principal = request.principal
    if may_see_reservation(principal, record.owner_id, None):
        return True
    locker = await locker_of(record, request, path)
    return locker is not None and may_see_reservation(principal, record.owner_id, locker.owner_id)


def _status(record: Record, request: RequestState) -> ReservationStatus:
    return effective_status(record, request.now)


@entity(
    Record,
    node={
        "contract": RESERVATION_BY_KEY,
        "key": {"locker_id": check_id, "start_at": parse_instant, "reservation_id": check_id},
        "rule": RESERVATIONS.decided_by_result(),
        "visible": _is_visible,
        "visible_charges": locker_owner_charges,
    },
)
class Reservation(Node):
    """A locker reserved from `startAt` until just before `endAt`."""

    reservation_id: strawberry.ID = column("Id of the reservation, unique for its locker.")
    locker_id: strawberry.ID = column("Id of the locker.")
    owner_id: strawberry.ID = column("Id of the owner who made the reservation.")
    start_at: Instant = column("Start of the reservation.")
    end_at: Instant = column("End of the reservation; the locker is free from this moment on.")
    created_at: Instant = column("Time at which the reservation was made.")
    updated_at: Instant = column(CHANGED)
    status: ReservationStatus = column("Current status of the reservation.", _status)
    locker: Annotated[Locker, strawberry.lazy("resolvers.entities.lockers")] | None = one(
        LOCKER_BY_ID,
        key="locker_id",
        rule=LOCKER.decided_by_result(or_parent=True),
        description="The reserved locker; the owner who made the reservation sees its public fields, even later.",
    )
    owner: Annotated[Owner, strawberry.lazy("resolvers.entities.owners")] | None = one(
        OWNER_BY_ID, key="owner_id", rule=PROFILE, description="Owner who made the reservation."
    )


def _named_by_claim(claim: Any) -> tuple[Any, ...]:
    return claim.locker_id, claim.start_at, claim.reservation_id


@strawberry.type
class ReservationQueries:
    """Merged into Query."""

    reservation: Reservation | None = look_up(
        RESERVATION_BY_KEY,
        via=RESERVATION_BY_ID,
        named_by=_named_by_claim,
        parse={"locker_id": require_id, "reservation_id": require_id},
        rule=RESERVATIONS.decided_by_visibility(),
        visible=_is_visible,
        visible_charge=locker_owner_charges,
        message="Locker {locker_id} has no reservation {reservation_id}.",
        arguments=[
            id_argument("locker_id", "Id of the locker."),
            id_argument("reservation_id", "Id of the reservation."),
        ],
        description="Look up a reservation by its locker and id.",
    )


def _any_locker_charges(values: Mapping[str, Any]) -> list[Charge]:
    """What `reserveAnyLocker` costs beyond one attempt to reserve."""
    again = [
        Charge(CREATE_RESERVATION, request.operation, maximum=request.maximum * (MOST_TRIES - 1), condition=_NOT_FREE)
        for request in CREATE_RESERVATION.costs(None, 1)
    ]
    claim = look_up_charge(ANY_CLAIM_BY_ID, 1, consistent=True)
    made = look_up_charge(RESERVATION_BY_KEY, 1, consistent=True).maximum
    return [
        claim,
        Charge(ANY_CLAIM_BY_ID, claim.operation, maximum=claim.maximum, condition=_MADE_BEFORE),
        Charge(RESERVATION_BY_KEY, "GetItem", maximum=made * (2 * LOOKS_FOR_RESERVED), condition=_MADE_BEFORE),
        look_up_charge(LOCATION_BY_ID, 1),
        *search_charges(values.get("size"), 2, most_audiences=MOST_AUDIENCES),
        *again,
    ]


@mutations
class ReservationMutations:
    """Merged into Mutation."""

    create_reservation: Reservation = write(
        CREATE_RESERVATION,
        writes.create_reservation,
        commands.CreateReservation,
        RESERVATION_CREATION,
        returns="The reservation; null if it was not made.",
        description="Reserve a locker for a time window in which it is free.",
    )
    reserve_any_locker: Reservation = write(
        CREATE_RESERVATION,
        reserve_any_locker,
        commands.ReserveAnyLocker,
        OFFERS,
        more=_any_locker_charges,
        returns="The reservation; null if none was made.",
        description="Reserve a locker of a location that the caller may reserve and that is free for a time window. A "
        "repeated request with the same `reservationId` returns the first reservation.",
    )
    cancel_reservation: Reservation = write(
        CHANGE_RESERVATION,
        writes.cancel_reservation,
        commands.CancelReservation,
        RESERVATION_CHANGES,
        variant="cancel",
        description="Cancel a reservation. A repeated request returns the cancelled reservation.",
    )
    extend_reservation: Reservation = write(
        CHANGE_RESERVATION,
        writes.extend_reservation,
        commands.ExtendReservation,
        RESERVATION_CHANGES,
        variant="extend",
        description="Move the end of a reservation. A repeated request returns the extended reservation.",
    )
