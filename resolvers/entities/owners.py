"""Owners: the type, its queries and its mutations."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import strawberry

from domain.commands import owners as commands
from domain.ids import argument, check_id
from domain.models import LockerStatus, OwnerKind, OwnerRole
from domain.models import Owner as Record
from domain.text import check_email, check_name, normalize_email
from domain.times import Instant
from loaders.contracts.activity import OWNER_ACTIVITY as OWNER_HISTORY
from loaders.contracts.bookings import OWNER_BOOKINGS, OWNER_NOTIFICATIONS
from loaders.contracts.lockers import LOCKER_BY_ID, OWNER_LOCKERS, OWNER_LOCKERS_BY_STATUS
from loaders.contracts.owners import ERASE_OWNER, OWNER_BY_EMAIL, OWNER_BY_ID, OWNERS, OWNERS_BY_NAME, SAVE_OWNER
from loaders.contracts.privacy import OWNER_ITEMS
from loaders.contracts.reservations import OWNER_RESERVATIONS
from loaders.contracts.webhooks import OWNER_WEBHOOKS
from loaders.pages import ALL_DAYS, ALL_TIMES
from loaders.writes import owners as writes
from resolvers.api.mutations import mutations, write
from resolvers.api.relay import Connection, DateRange, Node, in_window
from resolvers.bindings.base import Argument, column
from resolvers.bindings.copies import CopyPages
from resolvers.bindings.lists import Lists, Pages, pages
from resolvers.bindings.references import look_up
from resolvers.bindings.rules import (
    ADMINS,
    BOOKINGS,
    EXPORT,
    LOCKERS,
    NOTIFICATIONS,
    OWNER_ACTIVITY,
    OWNER_CHANGES,
    OWNER_LOOKUP,
    PROFILE,
    RESERVATIONS,
    STAFF,
    WEBHOOKS,
)
from resolvers.entities.activity import Activity, history
from resolvers.entities.base import CHANGED, VERSION, entity, id_argument
from resolvers.entities.bindings.activity import sees_of_owner
from resolvers.entities.bookings import Booking, Notification
from resolvers.entities.figures import OwnerFigures, owner_figures
from resolvers.entities.lockers import Locker
from resolvers.entities.reservations import Reservation
from resolvers.entities.stored_items import StoredItem
from resolvers.entities.webhooks import Webhook
from resolvers.request_state import ArgumentContext


@entity(Record, node={"contract": OWNER_BY_ID, "key": {"owner_id": check_id}, "rule": PROFILE})
class Owner(Node):
    """A person or organization that owns lockers. Fields of its profile are null for callers who may not see it."""

    owner_id: strawberry.ID = column("Id of the owner.")
    kind: OwnerKind | None = column("Whether the owner is a person or an organization.", rule=PROFILE)
    name: str | None = column("Name of the owner; empty if the owner was erased.", rule=PROFILE)
    email: str | None = column("Email address of the owner, as it was entered.", rule=PROFILE, optional=True)
    phone: str | None = column("Telephone number of the owner.", rule=PROFILE, optional=True)
    role: OwnerRole | None = column("Role of the owner.", rule=PROFILE)
    version: int | None = column(VERSION, rule=PROFILE)
    created_at: Instant | None = column("Time at which the owner was created.", rule=PROFILE)
    updated_at: Instant | None = column(CHANGED, rule=PROFILE)
    erasure_requested_at: Instant | None = column(
        "Time at which the erasure of the owner was requested.", rule=PROFILE, optional=True
    )
    erased_at: Instant | None = column(
        "Time at which everything that told who the owner was had been erased.", rule=PROFILE, optional=True
    )
    lockers: Connection[Locker] | None = pages(
        OWNER_LOCKERS,
        key="owner_id",
        kind=CopyPages,
        narrowed=("status", OWNER_LOCKERS_BY_STATUS),
        full=LOCKER_BY_ID,
        full_key="locker_id",
        full_rule=LOCKERS,
        rule=LOCKERS,
        arguments=[Argument("status", LockerStatus | None, "Status that the lockers must have.")],
        description="Lockers of the owner by `lockerId`.",
    )
    reservations: Connection[Reservation] | None = pages(
        OWNER_RESERVATIONS,
        key="owner_id",
        window=ALL_TIMES,
        rule=RESERVATIONS,
        arguments=[in_window("start of a reservation")],
        description="Reservations made by the owner by start time, including canceled and expired ones.",
    )
    bookings: Connection[Booking] | None = pages(
        OWNER_BOOKINGS,
        key="owner_id",
        window=ALL_DAYS,
        rule=BOOKINGS,
        arguments=[Argument("window", DateRange | None, "Range of days that the date of a booking must lie in.")],
        description="Bookings requested by the owner by date.",
    )
    notifications: Connection[Notification] | None = pages(
        OWNER_NOTIFICATIONS, key="owner_id", rule=NOTIFICATIONS, description="Notifications of the owner, newest first."
    )
    activity: Connection[Activity] | None = history(
        OWNER_HISTORY,
        key="owner_id",
        sees=sees_of_owner,
        rule=OWNER_ACTIVITY,
        description="Everything that concerned the owner when it happened, by time: what happened to its lockers, "
        "reservations, bookings and access codes, and what others did at its lockers.",
    )
    figures: OwnerFigures | None = owner_figures()
    webhooks: Connection[Webhook] | None = pages(
        OWNER_WEBHOOKS, key="owner_id", rule=WEBHOOKS, description="Webhooks of the owner, oldest first; at most 10."
    )
    export: Connection[StoredItem] | None = pages(
        OWNER_ITEMS,
        key="owner_id",
        rule=EXPORT,
        description="All that is stored under the owner, to hand it to the owner: item by item as JSON, by kind. For "
        "the owner itself and admins.",
    )


def _has_address(asked: object, owner: Record) -> bool:
    """An address that moved to another owner between the two reads belongs to neither."""
    return owner.email is not None and normalize_email(owner.email) == getattr(asked, "email", None)


_prefix = argument(check_name)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnersByName(Pages):
    """A page of the owners whose names begin with the argument `prefix`."""

    def lists(self, values: Mapping[str, Any], request: ArgumentContext) -> Lists:
        return self.contract, ((_prefix(values["prefix"], "prefix"),),)


@strawberry.type
class OwnerQueries:
    owner: Owner | None = look_up(
        OWNER_BY_ID,
        rule=OWNER_LOOKUP,
        record_rule=PROFILE,
        key_only=True,
        message="Owner {owner_id} does not exist.",
        arguments=[id_argument("owner_id", "Id of the owner.")],
        description="Look up an owner by its id.",
    )
    owners: Connection[Owner] | None = pages(
        OWNERS, rule=STAFF, description="All owners, newest first. Requires an admin or support."
    )
    owners_by_name: Connection[Owner] | None = pages(
        OWNERS_BY_NAME,
        kind=OwnersByName,
        rule=STAFF,
        arguments=[Argument("prefix", str, "Beginning of the name; upper and lower case and accents do not matter.")],
        description="Owners whose names begin with a text, by name. Requires an admin or support.",
    )
    owner_by_email: Owner | None = look_up(
        OWNER_BY_ID,
        via=OWNER_BY_EMAIL,
        named_by=("owner_id",),
        check=_has_address,
        rule=PROFILE.decided_by_result(),
        message="No owner has this email address.",
        arguments=[
            Argument(
                "email",
                str,
                "Email address of the owner; upper and lower case do not matter.",
                parse=argument(lambda value: normalize_email(check_email(value))),
            )
        ],
        description="Look up an owner by email address.",
    )


@mutations(commands, writes)
class OwnerMutations:
    create_owner: Owner = write(
        SAVE_OWNER,
        ADMINS,
        variant="create",
        returns="The owner; null if it was not created.",
        description="Create an owner. Requires an admin.",
    )
    update_owner: Owner = write(SAVE_OWNER, OWNER_CHANGES, variant="update", description="Change an owner.")
    erase_owner: Owner = write(
        ERASE_OWNER,
        ADMINS,
        description="Erase everything that tells who an owner is: its name, email address and phone at once; within "
        "minutes the recipients, references and metadata of its reservations, the descriptions of its bookings, its "
        "notifications and its subjects in the log, in history, access codes and API keys. Its id stays. `erasedAt` "
        "tells when that is done. Requires an admin. Refused while the owner has lockers that are not retired, live "
        "reservations, open bookings or webhooks. A repeated request changes nothing.",
    )
