"""Owners: the type, its queries and its mutations."""

from __future__ import annotations

import strawberry

from domain.commands import owners as commands
from domain.errors import BadInputError
from domain.ids import check_id, require_id
from domain.models import LockerStatus, OwnerKind, OwnerRole
from domain.models import Owner as Record
from domain.text import check_email, normalize_email
from domain.times import Instant
from loaders.contracts.base import Order
from loaders.contracts.bookings import OWNER_BOOKINGS, OWNER_NOTIFICATIONS
from loaders.contracts.lockers import LOCKER_BY_ID, OWNER_LOCKERS, OWNER_LOCKERS_BY_STATUS
from loaders.contracts.owners import OWNER_BY_EMAIL, OWNER_BY_ID, SAVE_OWNER
from loaders.contracts.reservations import OWNER_RESERVATIONS
from loaders.writes import owners as writes
from resolvers.api.payloads import AFTER_CHANGE, Payload, current_entity, payload
from resolvers.api.relay import PAGING, Connection, Node, in_window, ordered
from resolvers.bindings.base import Argument, column, embedded
from resolvers.bindings.lists import pages
from resolvers.bindings.references import look_up
from resolvers.bindings.rules import (
    ADMINS,
    BOOKINGS,
    LOCKERS,
    NOTIFICATIONS,
    OWNER_CHANGES,
    OWNER_LOOKUP,
    PROFILE,
    RESERVATIONS,
)
from resolvers.bindings.writes import write
from resolvers.entities.base import (
    CHANGED,
    CHOSEN_ID,
    EXPECTED_VERSION,
    VERSION,
    command_input,
    entity,
    id_argument,
    optional,
    without_principal,
)
from resolvers.entities.bookings import Booking, Notification
from resolvers.entities.lockers import Locker
from resolvers.entities.reservations import Reservation

__all__ = ["Owner", "OwnerMutations", "OwnerQueries"]


@entity(Record, node={"contract": OWNER_BY_ID, "key": {"owner_id": check_id}, "rule": PROFILE})
class Owner(Node):
    """A person or organisation that owns lockers and makes reservations."""

    owner_id: strawberry.ID = column("Id of the owner.")
    kind: OwnerKind = column("Whether the owner is a person or an organisation.", rule=PROFILE)
    name: str = column("Name of the owner.", rule=PROFILE)
    email: str | None = column("E-mail address of the owner, as it was entered.", rule=PROFILE)
    phone: str | None = column("Telephone number of the owner.", rule=PROFILE)
    role: OwnerRole = column("Role of the owner.", rule=PROFILE)
    version: int = column(VERSION, rule=PROFILE)
    created_at: Instant = column("Time at which the owner was created.", rule=PROFILE)
    updated_at: Instant = column(CHANGED, rule=PROFILE)
    lockers: Connection[Locker] | None = pages(
        OWNER_LOCKERS,
        key="owner_id",
        narrowed=("status", OWNER_LOCKERS_BY_STATUS),
        full=LOCKER_BY_ID,
        full_key="locker_id",
        full_rule=LOCKERS,
        rule=LOCKERS,
        arguments=[Argument("status", LockerStatus | None, "Status that the lockers must have."), *PAGING],
        description="Lockers of the owner by `lockerId`.",
    )
    reservations: Connection[Reservation] | None = pages(
        OWNER_RESERVATIONS,
        key="owner_id",
        window=True,
        rule=RESERVATIONS,
        arguments=[in_window("start of a reservation"), ordered(Order.ASC), *PAGING],
        description="Reservations made by the owner by start time, including cancelled and expired ones.",
    )
    bookings: Connection[Booking] | None = pages(
        OWNER_BOOKINGS,
        key="owner_id",
        rule=BOOKINGS,
        arguments=[ordered(Order.ASC), *PAGING],
        description="Bookings requested by the owner by date.",
    )
    notifications: Connection[Notification] | None = pages(
        OWNER_NOTIFICATIONS,
        key="owner_id",
        rule=NOTIFICATIONS,
        arguments=PAGING,
        description="Notifications of the owner, newest first.",
    )


def _address(value: str, name: str) -> str:
    try:
        return normalize_email(check_email(value))
    except ValueError as error:
        raise BadInputError(f"{name} {error}", (name,)) from error


def _has_address(asked: object, owner: Record) -> bool:
    """An address that moved to another owner between the two reads belongs to neither."""
    return owner.email is not None and normalize_email(owner.email) == getattr(asked, "email", None)


@strawberry.type
class OwnerQueries:
    """Merged into Query."""

    owner: Owner | None = look_up(
        OWNER_BY_ID,
        parse={"owner_id": require_id},
        rule=OWNER_LOOKUP,
        record_rule=PROFILE,
        key_only=True,
        message="Owner {owner_id} does not exist.",
        arguments=[id_argument("owner_id", "Id of the owner.")],
        description="Look up an owner by its id.",
    )
    owner_by_email: Owner | None = look_up(
        OWNER_BY_ID,
        via=OWNER_BY_EMAIL,
        named_by=lambda claim: (claim.owner_id,),
        parse={"email": _address},
        check=_has_address,
        rule=PROFILE.decided_by_result(),
        message="No owner has this email address.",
        arguments=[Argument("email", str, "E-mail address of the owner; upper and lower case do not matter.")],
        description="Look up an owner by e-mail address.",
    )


@command_input(commands.CreateOwner)
class CreateOwnerInput:
    """Input of `createOwner`."""

    owner_id: strawberry.ID | None = optional(CHOSEN_ID)
    kind: OwnerKind = strawberry.field(description="Whether the owner is a person or an organisation.")
    name: str = strawberry.field(description="Name of the owner.")
    email: str | None = optional("E-mail address, which no other owner may have.")
    phone: str | None = optional("Telephone number.")
    role: OwnerRole = strawberry.field(default=OwnerRole.USER, description="Role of the owner.")


@command_input(commands.UpdateOwner)
class UpdateOwnerInput:
    """Input of `updateOwner`. Fields that are left out stay as they are."""

    owner_id: strawberry.ID = strawberry.field(description="Id of the owner.")
    expected_version: int = strawberry.field(description=EXPECTED_VERSION)
    name: str | None = optional("New name.")
    email: str | None = optional("New e-mail address; null removes the present one.")
    phone: str | None = optional("New telephone number; null removes the present one.")
    role: OwnerRole | None = optional("New role. Only admins can change it.")


@payload
class CreateOwnerPayload(Payload):
    """Return type of `createOwner`."""

    owner: Owner | None = embedded("The owner; null if it was not created.", current_entity)


@payload
class UpdateOwnerPayload(Payload):
    """Return type of `updateOwner`."""

    owner: Owner | None = embedded(f"The owner {AFTER_CHANGE}", current_entity)


@strawberry.type
class OwnerMutations:
    """Merged into Mutation."""

    create_owner: CreateOwnerPayload = write(
        SAVE_OWNER,
        without_principal(writes.create_owner),
        CreateOwnerInput,
        ADMINS,
        variant="create",
        description="Create an owner. Requires an admin.",
    )
    update_owner: UpdateOwnerPayload = write(
        SAVE_OWNER,
        writes.update_owner,
        UpdateOwnerInput,
        OWNER_CHANGES,
        variant="update",
        description="Change an owner.",
    )
