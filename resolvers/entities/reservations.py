"""Reservations: the type, its query and its mutations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import strawberry

from domain.authorization import may_see_reservation
from domain.commands import reservations as commands
from domain.ids import check_id, require_id
from domain.models import Reservation as Record
from domain.models import ReservationStatus
from domain.schedule import effective_status
from domain.times import Instant, parse_instant
from loaders.contracts.lockers import LOCKER_BY_ID
from loaders.contracts.owners import OWNER_BY_ID
from loaders.contracts.reservations import CHANGE_RESERVATION, CREATE_RESERVATION, RESERVATION_BY_ID, RESERVATION_BY_KEY
from loaders.writes import reservations as writes
from resolvers.api.mutations import mutations, write
from resolvers.api.relay import Connection, Node
from resolvers.bindings.base import column
from resolvers.bindings.references import look_up, one
from resolvers.bindings.rules import CODES, LOCKERS, PROFILE, RESERVATION_CHANGES, RESERVATION_CREATION, RESERVATIONS
from resolvers.entities.access_codes import AccessCode, reservation_codes
from resolvers.entities.base import CHANGED, entity, id_argument, locker_of, locker_owner_charges

if TYPE_CHECKING:
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
        rule=LOCKERS.decided_by_result(or_parent=True),
        description="The reserved locker, visible also to the owner who made the reservation.",
    )
    owner: Annotated[Owner, strawberry.lazy("resolvers.entities.owners")] | None = one(
        OWNER_BY_ID, key="owner_id", rule=PROFILE, description="Owner who made the reservation."
    )
    access_codes: Connection[AccessCode] | None = reservation_codes(
        CODES, "Access codes of the reservation by code id, including those that are over."
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
