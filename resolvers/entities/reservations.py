"""Reservations: the type, its query and its mutations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import strawberry

from domain.authorization import MOST_AUDIENCES, Principal, may_see_reservation
from domain.commands import reservations as commands
from domain.ids import argument, check_id
from domain.models import Locker as LockerRecord
from domain.models import LockerSize, ReservationParty, ReservationStatus
from domain.models import RecipientReservation as RecipientRecord
from domain.models import Reservation as Record
from domain.models import ReservationDetails as DetailsRecord
from domain.schedule import effective_status
from domain.text import check_reference
from domain.times import Instant, parse_instant
from loaders.contracts.access_codes import PURPOSE_ACCESS_CODES
from loaders.contracts.cost import LOOKS_FOR_CLAIMED
from loaders.contracts.locations import LOCATION_BY_ID
from loaders.contracts.lockers import LOCKER_BY_ID
from loaders.contracts.owners import OWNER_BY_ID
from loaders.contracts.reservations import (
    ANY_CLAIM_BY_ID,
    CHANGE_RESERVATION,
    CREATE_RESERVATION,
    DETAILS_OF_RESERVATION,
    RECIPIENT_RESERVATIONS,
    RESERVATION_BY_ID,
    RESERVATION_BY_KEY,
    RESERVATION_BY_REFERENCE,
    USE_RESERVATION,
)
from loaders.writes import any_locker
from loaders.writes import reservations as writes
from resolvers.api.mutations import mutations, write
from resolvers.api.relay import Connection, Node
from resolvers.api.scalars import JSON
from resolvers.bindings.base import Argument, Charge, column, described, embedded, look_up_charge
from resolvers.bindings.lists import pages
from resolvers.bindings.references import Visibility, look_up, one
from resolvers.bindings.rules import (
    ADMINS,
    AS_OBJECT,
    CODES,
    OFFERED_RESERVATION,
    PROFILE,
    RESERVATION_CHANGES,
    RESERVATION_CREATION,
    RESERVATION_DETAILS,
    RESERVATIONS,
)
from resolvers.entities.access_codes import AccessCode
from resolvers.entities.base import CHANGED, VERSION, entity, id_argument, json
from resolvers.entities.bindings.access_codes import ReservationCodes
from resolvers.entities.bindings.offers import search_charges
from resolvers.entities.bindings.recipients import RecipientPages

_NOT_FREE = "only where a locker that was found free cannot be reserved any more"
_MADE_BEFORE = "only where the reservationId was used before"

if TYPE_CHECKING:
    from resolvers.entities.lockers import Locker
    from resolvers.entities.owners import Owner


def _permits(principal: Principal, record: Record, locker: LockerRecord | None) -> bool:
    """A reservation is visible to who made it and to the owner of the locker."""
    return may_see_reservation(principal, record.owner_id, None if locker is None else locker.owner_id)


VISIBLE_RESERVATIONS = Visibility(LOCKER_BY_ID, "locker_id", _permits)


@described
class Recipient:
    """The person that a reservation is for."""

    name: str = column("Name of the person.")
    email: str | None = column("Email address of the person.")
    phone: str | None = column("Phone number of the person.")


@entity(DetailsRecord)
class ReservationDetails:
    """Details of a reservation that only the owner who made it can see."""

    recipient: Recipient | None = embedded("The person that the locker is reserved for.")
    metadata: JSON | None = json("Metadata of the reservation.", "metadata")


@entity(
    Record,
    node={
        "contract": RESERVATION_BY_KEY,
        "key": {"locker_id": check_id, "start_at": parse_instant, "reservation_id": check_id},
        "rule": RESERVATIONS.decided_by_result(),
        "visible": VISIBLE_RESERVATIONS,
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
    version: int = column(VERSION)
    status: ReservationStatus = column(
        "Current status of the reservation.", lambda row, request: effective_status(row, request.now)
    )
    started_at: Instant | None = column("Time of the check-in; null if there was none.")
    ended_at: Instant | None = column("Time at which the reservation was canceled or released; null if it was not.")
    ended_by: ReservationParty | None = column("Who canceled or released the reservation; null if nobody did.")
    end_reason: str | None = column("Why the reservation was canceled or released, if a reason was given.")
    reference: str | None = column("Your own number of the reservation, such as an order number.")
    details: ReservationDetails | None = one(
        DETAILS_OF_RESERVATION,
        key=("locker_id", "reservation_id"),
        rule=RESERVATION_DETAILS,
        description="Recipient and metadata of the reservation; null if it has neither. Visible to the owner who made "
        "the reservation, but neither to the owner of the locker nor to support.",
    )
    locker: Annotated[Locker, strawberry.lazy("resolvers.entities.lockers")] | None = one(
        LOCKER_BY_ID,
        key="locker_id",
        rule=AS_OBJECT,
        description="The reserved locker. Callers who see the reservation see the public fields of the locker.",
    )
    owner: Annotated[Owner, strawberry.lazy("resolvers.entities.owners")] | None = one(
        OWNER_BY_ID, key="owner_id", rule=PROFILE, description="Owner who made the reservation."
    )
    access_codes: Connection[AccessCode] | None = pages(
        PURPOSE_ACCESS_CODES,
        kind=ReservationCodes,
        key="reservation_id",
        rule=CODES,
        description="Access codes of the reservation by code id, including those no longer valid.",
    )


@entity(RecipientRecord)
class RecipientReservation:
    """A reservation for a certain recipient."""

    locker_id: strawberry.ID = column("Id of the locker.")
    reservation_id: strawberry.ID = column("Id of the reservation, unique for its locker.")
    start_at: Instant = column("Start of the reservation.")
    reservation: Reservation | None = one(
        RESERVATION_BY_KEY,
        key=("locker_id", "start_at", "reservation_id"),
        rule=AS_OBJECT,
        description="The reservation.",
    )


_KEY_ATTRIBUTES = ("locker_id", "start_at", "reservation_id")


@strawberry.type
class ReservationQueries:
    reservation: Reservation | None = look_up(
        RESERVATION_BY_KEY,
        via=RESERVATION_BY_ID,
        named_by=_KEY_ATTRIBUTES,
        rule=RESERVATIONS.decided_by_visibility(),
        visible=VISIBLE_RESERVATIONS,
        message="Locker {locker_id} has no reservation {reservation_id}.",
        arguments=[
            id_argument("locker_id", "Id of the locker."),
            id_argument("reservation_id", "Id of the reservation."),
        ],
        description="Look up a reservation by its locker and id.",
    )
    reservation_by_reference: Reservation | None = look_up(
        RESERVATION_BY_KEY,
        via=RESERVATION_BY_REFERENCE,
        named_by=_KEY_ATTRIBUTES,
        rule=RESERVATIONS,
        message="Owner {owner_id} has no reservation with this reference.",
        arguments=[
            id_argument("owner_id", "Id of the owner who made the reservation."),
            Argument("reference", str, "Reference of the reservation.", parse=argument(check_reference)),
        ],
        description="Look up a reservation by the reference that the owner who made it, or a partner, chose.",
    )
    reservations_of_recipient: Connection[RecipientReservation] | None = pages(
        RECIPIENT_RESERVATIONS,
        kind=RecipientPages,
        rule=ADMINS,
        arguments=[
            Argument("email", str | None, "Email address of the recipient, in upper or lower case."),
            Argument("phone", str | None, "Phone number of the recipient; spaces and signs make no difference."),
        ],
        description="Reservations for a recipient, the latest start first, as long as their details are kept: for a "
        "person who asks what is stored about them. Takes an email or a phone. Send it by POST and in variables. "
        "Requires an admin.",
    )


def _any_locker_charges(size: LockerSize | None) -> list[Charge]:
    """The price of `reserveAnyLocker` beyond one attempt to reserve."""
    again = [
        Charge(
            CREATE_RESERVATION,
            request.operation,
            maximum=request.maximum * (any_locker.MOST_TRIES - 1),
            condition=_NOT_FREE,
        )
        for request in CREATE_RESERVATION.costs(None, 1)
    ]
    claim = look_up_charge(ANY_CLAIM_BY_ID, 1, consistent=True)
    made = look_up_charge(RESERVATION_BY_KEY, 1, consistent=True).maximum
    return [
        claim,
        Charge(ANY_CLAIM_BY_ID, claim.operation, maximum=claim.maximum, condition=_MADE_BEFORE),
        Charge(RESERVATION_BY_KEY, "GetItem", maximum=made * (2 * LOOKS_FOR_CLAIMED), condition=_MADE_BEFORE),
        look_up_charge(LOCATION_BY_ID, 1),
        *search_charges(size, 2, most_audiences=MOST_AUDIENCES),
        *again,
    ]


@mutations(commands, writes, any_locker)
class ReservationMutations:
    create_reservation: Reservation = write(
        CREATE_RESERVATION,
        RESERVATION_CREATION,
        returns="The reservation; null if it was not made.",
        description="Reserve a locker for a time window in which it is free.",
    )
    reserve_any_locker: Reservation = write(
        CREATE_RESERVATION,
        OFFERED_RESERVATION,
        more=("size", _any_locker_charges),
        returns="The reservation; null if none was made.",
        description="Reserve a locker of a location that the caller may reserve and that is free for a time window. A "
        "repeated request with the same `reservationId` returns the first reservation as it is now, even if canceled.",
    )
    cancel_reservation: Reservation = write(
        CHANGE_RESERVATION,
        RESERVATION_CHANGES,
        variant="cancel",
        description="Cancel a reservation before it starts. The owner of the locker may cancel it too, with a reason. "
        "A repeated request returns the canceled reservation.",
    )
    start_reservation: Reservation = write(
        USE_RESERVATION,
        RESERVATION_CHANGES,
        variant="start",
        description="Check in within the time of a reservation. The locker becomes OCCUPIED, also if it is still "
        "occupied by a reservation that has ended. A repeated request returns the started reservation.",
    )
    release_reservation: Reservation = write(
        USE_RESERVATION,
        RESERVATION_CHANGES,
        variant="release",
        description="End a reservation now; the rest of its time is free. The locker that it occupies becomes "
        "AVAILABLE. The owner of the locker may release it too, with a reason. A repeated request returns the released "
        "reservation.",
    )
    extend_reservation: Reservation = write(
        CHANGE_RESERVATION,
        RESERVATION_CHANGES,
        variant="extend",
        description="Move the end of a reservation to a later time. A repeated request returns the extended "
        "reservation.",
    )
    shorten_reservation: Reservation = write(
        CHANGE_RESERVATION,
        RESERVATION_CHANGES,
        variant="extend",
        description="Move the end of a reservation to an earlier time in the future. A repeated request returns the "
        "shortened reservation.",
    )
