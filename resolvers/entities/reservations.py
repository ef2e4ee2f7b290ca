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
from loaders.contracts.reservations import (
    CHANGE_RESERVATION,
    CREATE_RESERVATION,
    RESERVATION_BY_ID,
    RESERVATION_BY_KEY,
)
from loaders.writes import reservations as writes
from resolvers.api.payloads import AFTER_CHANGE, Payload, current_entity, payload
from resolvers.api.relay import Node
from resolvers.bindings.base import Charge, column, embedded, look_up_charge
from resolvers.bindings.references import look_up, one
from resolvers.bindings.rules import LOCKERS, PROFILE, RESERVATION_CHANGES, RESERVATION_CREATION, RESERVATIONS
from resolvers.bindings.writes import write
from resolvers.entities.base import CHANGED, CHOSEN_ID, command_input, entity, id_argument, optional

if TYPE_CHECKING:
    from resolvers.entities.lockers import Locker
    from resolvers.entities.owners import Owner
    from resolvers.request import RequestState

__all__ = ["Reservation", "ReservationMutations", "ReservationQueries", "locker_owner_charges"]

_LOCKER_OWNER_DECIDES = "only where the owner of the locker decides who may see it"


async def _is_visible(request: RequestState, record: Record, path: str) -> bool:
    """A reservation is visible to who made it and to the owner of the locker, which is read only where it decides."""
    principal = request.principal
    if may_see_reservation(principal, record.owner_id, None):
        return True
    (locker,) = await request.loaders.of(LOCKER_BY_ID).load_bulk([(record.locker_id,)], path)
    if isinstance(locker, Exception):
        raise locker
    return locker is not None and may_see_reservation(principal, record.owner_id, locker.owner_id)


def locker_owner_charges(count: int) -> list[Charge]:
    """What it costs to read whose the lockers are."""
    cost = look_up_charge(LOCKER_BY_ID, 1).maximum * count
    return [Charge(LOCKER_BY_ID, "GetItem", maximum=cost, condition=_LOCKER_OWNER_DECIDES)]


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
        LOCKER_BY_ID, key="locker_id", rule=LOCKERS.decided_by_result(), description="The reserved locker."
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


@command_input(commands.CreateReservation)
class CreateReservationInput:
    """Input of `createReservation`."""

    locker_id: strawberry.ID = strawberry.field(description="Id of the locker.")
    reservation_id: strawberry.ID | None = optional(CHOSEN_ID)
    owner_id: strawberry.ID = strawberry.field(description="Id of the owner who reserves.")
    start_at: Instant = strawberry.field(description="Start of the reservation; may lie in the past.")
    end_at: Instant = strawberry.field(description="End of the reservation; must be in the future.")


@command_input(commands.CancelReservation)
class CancelReservationInput:
    """Input of `cancelReservation`."""

    locker_id: strawberry.ID = strawberry.field(description="Id of the locker.")
    reservation_id: strawberry.ID = strawberry.field(description="Id of the reservation.")


@command_input(commands.ExtendReservation)
class ExtendReservationInput:
    """Input of `extendReservation`."""

    locker_id: strawberry.ID = strawberry.field(description="Id of the locker.")
    reservation_id: strawberry.ID = strawberry.field(description="Id of the reservation.")
    new_end_at: Instant = strawberry.field(description="New end of the reservation, after the present one.")


@payload
class CreateReservationPayload(Payload):
    """Return type of `createReservation`."""

    reservation: Reservation | None = embedded("The reservation; null if it was not made.", current_entity)


@payload
class CancelReservationPayload(Payload):
    """Return type of `cancelReservation`."""

    reservation: Reservation | None = embedded(f"The reservation {AFTER_CHANGE}", current_entity)


@payload
class ExtendReservationPayload(Payload):
    """Return type of `extendReservation`."""

    reservation: Reservation | None = embedded(f"The reservation {AFTER_CHANGE}", current_entity)


@strawberry.type
class ReservationMutations:
    """Merged into Mutation."""

    create_reservation: CreateReservationPayload = write(
        CREATE_RESERVATION,
        writes.create_reservation,
        CreateReservationInput,
        RESERVATION_CREATION,
        description="Reserve a locker for a time window in which it is free.",
    )
    cancel_reservation: CancelReservationPayload = write(
        CHANGE_RESERVATION,
        writes.cancel_reservation,
        CancelReservationInput,
        RESERVATION_CHANGES,
        variant="cancel",
        description="Cancel a reservation. A repeated request returns the cancelled reservation.",
    )
    extend_reservation: ExtendReservationPayload = write(
        CHANGE_RESERVATION,
        writes.extend_reservation,
        ExtendReservationInput,
        RESERVATION_CHANGES,
        variant="extend",
        description="Move the end of a reservation. A repeated request returns the extended reservation.",
    )
