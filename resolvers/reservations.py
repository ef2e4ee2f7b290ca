"""Reservations: the type, its query and its mutations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import strawberry

from domain import commands
from domain.models import LockerId, ReservationId, ReservationStatus
from domain.models import Reservation as Record
from domain.principal import Scope, acts_for, may_see_locker, may_see_reservation, require
from domain.schedule import effective_status
from domain.text import require_id
from domain.times import Instant
from loaders import reads
from loaders.writes import reservations as writes
from resolvers.context import Info
from resolvers.errors import UserError, attempt
from resolvers.permissions import authorised, found_for
from resolvers.relay import Node

if TYPE_CHECKING:
    from resolvers.lockers import Locker
    from resolvers.owners import Owner

__all__ = ["Reservation", "ReservationMutations", "ReservationQueries", "is_seen"]


@strawberry.type(description="A locker held for somebody from `startAt` until just before `endAt`.")
class Reservation(Node):
    """All of it is in one item, so no field but the references reads anything."""

    record: strawberry.Private[Record]

    @classmethod
    def of(cls, record: Record) -> Reservation:
        """The reservation as the schema shows it."""
        return cls(
            key=("Reservation", record.locker_id, record.start_at, record.reservation_id),
            record=record,
            reservation_id=strawberry.ID(record.reservation_id),
            locker_id=strawberry.ID(record.locker_id),
            owner_id=strawberry.ID(record.owner_id),
            start_at=record.start_at,
            end_at=record.end_at,
            created_at=record.created_at,
            updated_at=record.updated_at,
        )

    reservation_id: strawberry.ID = strawberry.field(description="Its own id, unique within its locker.")
    locker_id: strawberry.ID = strawberry.field(description="The locker's id.")
    owner_id: strawberry.ID = strawberry.field(description="The id of who made it.")
    start_at: Instant = strawberry.field(description="When it begins.")
    end_at: Instant = strawberry.field(description="When it ends; this moment is not part of it.")
    created_at: Instant = strawberry.field(description="When it was made.")
    updated_at: Instant = strawberry.field(description="When it was last changed.")

    @strawberry.field(description="Its status as of now.")
    def status(self, info: Info) -> ReservationStatus:
        """Expired follows from the clock."""
        return effective_status(self.record, info.context.backend.clock())

    @strawberry.field(description="The locker.")
    async def locker(self, info: Info) -> Annotated[Locker, strawberry.lazy("resolvers.lockers")] | None:
        """Read once for all reservations of it in a request."""
        from resolvers.lockers import Locker  # noqa: PLC0415  # the two modules name each other's types

        locker = await info.context.loaders.locker.load(self.record.locker_id)
        if locker is None:
            return None
        require(may_see_locker(info.context.principal, locker.owner_id))
        return Locker.of(locker)

    @strawberry.field(description="Who made it.")
    async def owner(self, info: Info) -> Annotated[Owner, strawberry.lazy("resolvers.owners")] | None:
        """Read once for all reservations of it in a request."""
        from resolvers.owners import Owner  # noqa: PLC0415  # the two modules name each other's types

        require(acts_for(info.context.principal, self.record.owner_id, Scope.OWNERS_READ))
        owner = await info.context.loaders.owner.load(self.record.owner_id)
        return None if owner is None else Owner.of(owner)


@strawberry.type
class ReservationQueries:
    """Merged into Query."""

    @strawberry.field(description="A reservation by its locker and its own id.")
    async def reservation(
        self,
        info: Info,
        locker_id: Annotated[strawberry.ID, strawberry.argument(description="The locker's id.")],
        reservation_id: Annotated[strawberry.ID, strawberry.argument(description="The reservation's id.")],
    ) -> Reservation | None:
        """QC-15; null with NOT_FOUND where there is none, with FORBIDDEN where it is somebody else's."""
        record = await reads.reservation_by_id(
            info.context.backend.store,
            LockerId(require_id(locker_id, "lockerId")),
            ReservationId(require_id(reservation_id, "reservationId")),
        )
        seen = record is not None and await is_seen(info, record)
        message = f"Locker {locker_id} has no reservation {reservation_id}."
        return Reservation.of(found_for(info.context.principal, record, message, seen=seen))


@strawberry.input(description="Hold a locker for a window of time.")
class CreateReservationInput:
    """See `domain.commands`."""

    locker_id: strawberry.ID = strawberry.field(description="The locker.")
    reservation_id: strawberry.ID | None = strawberry.field(
        default=strawberry.UNSET,
        description="An id of your choice: sent again with the same content, it gives the first result. Made here if "
        "left out.",
    )
    owner_id: strawberry.ID = strawberry.field(description="Who reserves.")
    start_at: Instant = strawberry.field(description="When it begins; may lie in the past.")
    end_at: Instant = strawberry.field(description="When it ends; lies in the future.")


@strawberry.input(description="Give a reservation up.")
class CancelReservationInput:
    """See `domain.commands`."""

    locker_id: strawberry.ID = strawberry.field(description="The locker.")
    reservation_id: strawberry.ID = strawberry.field(description="The reservation.")


@strawberry.input(description="Move a reservation's end further away.")
class ExtendReservationInput:
    """See `domain.commands`."""

    locker_id: strawberry.ID = strawberry.field(description="The locker.")
    reservation_id: strawberry.ID = strawberry.field(description="The reservation.")
    new_end_at: Instant = strawberry.field(description="The new end, after the present one.")


@strawberry.type(description="What came of creating a reservation.")
class CreateReservationPayload:
    """The reservation, or what is in the way."""

    reservation: Reservation | None = strawberry.field(description="The reservation, if it was made.")
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type(description="What came of cancelling a reservation.")
class CancelReservationPayload:
    """The reservation as it is now."""

    reservation: Reservation | None = strawberry.field(description="The reservation as it is now.")
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type(description="What came of extending a reservation.")
class ExtendReservationPayload:
    """The reservation as it is now."""

    reservation: Reservation | None = strawberry.field(description="The reservation as it is now.")
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type
class ReservationMutations:
    """Merged into Mutation."""

    @strawberry.mutation(description="Hold a locker for a window in which nobody else has it.")
    async def create_reservation(
        self,
        info: Info,
        input: Annotated[CreateReservationInput, strawberry.argument(description="What to reserve.")],
    ) -> CreateReservationPayload:
        """QC-04."""
        outcome = await attempt(info, commands.CreateReservation, input, authorised(info, writes.create_reservation))
        return CreateReservationPayload(reservation=_shown(outcome.entity), user_errors=outcome.errors)

    @strawberry.mutation(description="Give a reservation up. Sent again, it answers with the cancelled reservation.")
    async def cancel_reservation(
        self,
        info: Info,
        input: Annotated[CancelReservationInput, strawberry.argument(description="What to cancel.")],
    ) -> CancelReservationPayload:
        """QC-13."""
        outcome = await attempt(info, commands.CancelReservation, input, authorised(info, writes.cancel_reservation))
        return CancelReservationPayload(reservation=_shown(outcome.entity), user_errors=outcome.errors)

    @strawberry.mutation(description="Move a reservation's end. Sent again, it answers with the extended reservation.")
    async def extend_reservation(
        self,
        info: Info,
        input: Annotated[ExtendReservationInput, strawberry.argument(description="What to extend.")],
    ) -> ExtendReservationPayload:
        """QC-13."""
        outcome = await attempt(info, commands.ExtendReservation, input, authorised(info, writes.extend_reservation))
        return ExtendReservationPayload(reservation=_shown(outcome.entity), user_errors=outcome.errors)


async def is_seen(info: Info, record: Record) -> bool:
    """Whether a reservation is for who asks; whose the locker is, is read only where it decides."""
    principal = info.context.principal
    if may_see_reservation(principal, record.owner_id, None):
        return True
    locker = await info.context.loaders.locker.load(record.locker_id)
    return locker is not None and may_see_reservation(principal, record.owner_id, locker.owner_id)


def _shown(record: Record | None) -> Reservation | None:
    return None if record is None else Reservation.of(record)
