"""Lockers: the type, its query and its mutations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import strawberry

from domain.commands import lockers as commands
from domain.ids import check_id
from domain.models import Locker as Record
from domain.models import LockerOffer, LockerSize, LockerStatus, LockerSummary, ReservableBy
from domain.times import Instant
from loaders.codecs import OverdueStay
from loaders.contracts.access_codes import LOCKER_ACCESS_CODES, LOCKER_LOCKOUT
from loaders.contracts.activity import LOCKER_ACTIVITY
from loaders.contracts.events import LATEST_EVENT, LOCKER_EVENTS
from loaders.contracts.locations import LOCATION_BY_ID
from loaders.contracts.lockers import (
    CHANGE_LOCKER,
    CHANGE_LOCKER_STATUS,
    LOCKER_BY_ID,
    LOCKERS_BY_STATUS,
    REGISTER_LOCKER,
    TRANSFER_LOCKER,
)
from loaders.contracts.owners import OWNER_BY_ID
from loaders.contracts.reservations import (
    LOCKER_RESERVATIONS,
    OVERDUE_RESERVATIONS,
    RESERVATION_BY_KEY,
    RETIRE_LOCKER,
)
from loaders.keys import LOG_SHARDS
from loaders.pages import ALL_TIMES
from loaders.writes import lockers as writes
from resolvers.api.mutations import mutations, write
from resolvers.api.payloads import Payload, current_entity
from resolvers.api.relay import Connection, Node, TimeSpan, TimeWindow, in_window
from resolvers.bindings.base import Argument, bound_field, column, described, embedded
from resolvers.bindings.lists import Latest, Lists, Pages, pages
from resolvers.bindings.references import look_up, one
from resolvers.bindings.rules import (
    BUSY,
    CODES,
    EVENTS,
    LOCATIONS,
    LOCKER,
    LOCKER_CHANGES,
    LOCKER_CODE_LIST,
    LOCKER_LOOKUP,
    PROFILE,
    RESERVATIONS,
    STAFF,
)
from resolvers.bindings.writes import WritingEach
from resolvers.entities.access_codes import AccessCode
from resolvers.entities.activity import Activity, history
from resolvers.entities.base import CHANGED, VERSION, entity, id_argument
from resolvers.entities.bindings.activity import sees_of_locker
from resolvers.entities.bindings.reservations import CURRENT, NEXT, Busy, BusySpan, OverlappingPages
from resolvers.entities.code_devices import AccessCodeList, Lockout, code_list
from resolvers.entities.events import AccessEvent
from resolvers.entities.reservations import Reservation
from resolvers.request_state import ArgumentContext

if TYPE_CHECKING:
    from resolvers.entities.locations import Location
    from resolvers.entities.owners import Owner


@entity(BusySpan)
class BusyInterval:
    """A span of time in which a locker is reserved, by one reservation or by several that follow one another."""

    start_at: Instant = column("Start of the interval.")
    end_at: Instant = column("End of the interval; the locker is free from this moment on.")


@entity(
    Record,
    LockerSummary,
    LockerOffer,
    node={"contract": LOCKER_BY_ID, "key": {"locker_id": check_id}, "rule": LOCKER_LOOKUP.decided_by_result()},
)
class Locker(Node):
    """A physical locker. Callers who may not see its owner's lockers get only id, name, size, features and location."""

    locker_id: strawberry.ID = column("Id of the locker.")
    alias: str | None = column("Display name of the locker.")
    size: LockerSize = column("Size of the locker.")
    features: list[str] = column("Features of the locker, such as `refrigerated`, in alphabetical order.")
    status: LockerStatus | None = column("Current state of the locker.", rule=LOCKER)
    reservable_by: ReservableBy | None = column("Who may reserve the locker.", rule=LOCKER)
    updated_at: Instant | None = column(CHANGED, rule=LOCKER)
    version: int | None = column(VERSION, rule=LOCKER)
    created_at: Instant | None = column("Time at which the locker was registered.", rule=LOCKER)
    overdue_since: Instant | None = column(
        "End of the reservation that is over and still occupies the locker; null if there is none.",
        rule=LOCKER,
        optional=True,
    )
    owner_id: strawberry.ID | None = column("Id of the owner of the locker.", rule=LOCKER)
    owner: Annotated[Owner, strawberry.lazy("resolvers.entities.owners")] | None = one(
        OWNER_BY_ID, key="owner_id", rule=PROFILE, description="Owner of the locker."
    )
    location_id: strawberry.ID | None = column("Id of the location of the locker.")
    location: Annotated[Location, strawberry.lazy("resolvers.entities.locations")] | None = one(
        LOCATION_BY_ID, key="location_id", rule=LOCATIONS, description="Location of the locker."
    )
    active_reservation: Reservation | None = bound_field(
        CURRENT, "Reservation whose time window contains the present moment."
    )
    next_reservation: Reservation | None = bound_field(NEXT, "Earliest reservation that has not begun.")
    busy: list[BusyInterval] | None = bound_field(
        Busy(key="locker_id", rule=BUSY),
        "Future intervals of the window in which the locker is reserved, for callers who see the locker or may reserve "
        "it.",
        [Argument("window", TimeSpan, "Span of time, at most 31 days. The part in the past is left out.")],
    )
    latest_event: AccessEvent | None = bound_field(
        Latest(contract=LATEST_EVENT, key="locker_id", rule=EVENTS), "Most recent access event of the locker."
    )
    reservations: Connection[Reservation] | None = pages(
        LOCKER_RESERVATIONS,
        key="locker_id",
        kind=OverlappingPages,
        window=ALL_TIMES,
        rule=RESERVATIONS,
        arguments=[
            in_window("start of a reservation"),
            Argument(
                "overlapping",
                TimeWindow | None,
                "Time window that a reservation must overlap, whenever it starts. Canceled and released reservations "
                "are left out. Not together with `window`.",
            ),
        ],
        description="Reservations of the locker by start time, including canceled and expired ones.",
    )
    access_events: Connection[AccessEvent] | None = pages(
        LOCKER_EVENTS,
        key="locker_id",
        window=ALL_TIMES,
        rule=EVENTS,
        arguments=[in_window("time of an event")],
        description="Access events of the locker by time.",
    )
    access_codes: Connection[AccessCode] | None = pages(
        LOCKER_ACCESS_CODES,
        key="locker_id",
        rule=CODES,
        description="Access codes of the locker by code id, including those of reservations and those no longer valid.",
    )
    access_code_list: AccessCodeList | None = code_list(
        "locker_id",
        LOCKER_CODE_LIST,
        "The list of access codes for the device of the locker; null if no device is provisioned. For the device.",
    )
    lockout: Lockout | None = one(
        LOCKER_LOCKOUT,
        key="locker_id",
        rule=CODES,
        description="Failed attempts to open the locker with a code; null if there were none.",
    )
    activity: Connection[Activity] | None = history(
        LOCKER_ACTIVITY,
        key=("locker_id", "owner_id"),
        sees=sees_of_locker,
        rule=LOCKER,
        description="Everything that happened to the locker and at its door, by time, also under former owners.",
    )


@entity(OverdueStay)
class OverdueReservation:
    """A reservation that is over and still occupies its locker."""

    locker_id: strawberry.ID = column("Id of the locker.")
    reservation_id: strawberry.ID = column("Id of the reservation.")
    owner_id: strawberry.ID = column("Id of the owner who reserved.")
    overdue_since: Instant = column("Time at which the reservation ended.")
    locker: Locker | None = one(LOCKER_BY_ID, key="locker_id", rule=STAFF, description="The locker as it is now.")
    reservation: Reservation | None = one(
        RESERVATION_BY_KEY,
        key=("locker_id", "start_at", "reservation_id"),
        rule=STAFF,
        description="The reservation.",
    )
    owner: Annotated[Owner, strawberry.lazy("resolvers.entities.owners")] | None = one(
        OWNER_BY_ID, key="owner_id", rule=STAFF, description="Owner who reserved."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LockersOfStatus(Pages):
    """A page of the parts of a list, merged."""

    def lists(self, values: Mapping[str, Any], request: ArgumentContext) -> Lists:
        return self.contract, tuple((values["status"], shard) for shard in range(LOG_SHARDS))


@strawberry.type
class LockerQueries:
    locker: Locker | None = look_up(
        LOCKER_BY_ID,
        rule=LOCKER_LOOKUP.decided_by_result(),
        message="Locker {locker_id} does not exist.",
        arguments=[
            id_argument("locker_id", "Id of the locker."),
            Argument(
                "consistent",
                bool,
                "Whether to read the locker itself as of the last acknowledged write, at twice the cost. Objects and "
                "lists below it, such as its active reservation, are read eventually consistent.",
                False,
            ),
        ],
        description="Look up a locker by its id.",
    )
    lockers: Connection[Locker] | None = pages(
        LOCKERS_BY_STATUS,
        kind=LockersOfStatus,
        rule=STAFF,
        arguments=[Argument("status", LockerStatus, "Status that the lockers have.")],
        description="All lockers with a status, wherever they are, by `lockerId`. Requires an admin or support.",
    )
    overdue_reservations: Connection[OverdueReservation] | None = pages(
        OVERDUE_RESERVATIONS,
        rule=STAFF,
        description="Reservations that are over and still occupy their lockers, the longest overdue first, from some "
        "ten seconds after their end. Requires an admin or support.",
    )


@described
class LockerResult(Payload):
    """The result of one entry of a mutation that writes several lockers."""

    locker: Locker | None = embedded("The locker as it is now; after a conflict, its current state.", current_entity)


@strawberry.type
class _LockersPayload(Payload):
    results: list[LockerResult | None] | None = embedded(
        "A result for each locker, with its own errors, in the order of the input; null if the request was refused as "
        "a whole. An entry is null only with an error, such as `UNAVAILABLE`: then send it again.",
        current_entity,
        of_page=True,
    )


@described
class ChangeLockersPayload(_LockersPayload):
    """Return type of `changeLockers`."""


@described
class RegisterLockersPayload(_LockersPayload):
    """Return type of `registerLockers`."""


@mutations(commands, writes)
class LockerMutations:
    register_locker: Locker = write(
        REGISTER_LOCKER,
        LOCKER_CHANGES,
        returns="The locker; null if it was not registered.",
        description="Register a locker for an existing owner.",
    )
    register_lockers: RegisterLockersPayload = write(
        REGISTER_LOCKER,
        LOCKER_CHANGES,
        kind=WritingEach,
        entries="lockers",
        most=commands.MOST_LOCKERS,
        description="Register several lockers, each for itself: those that fail keep no other from being registered.",
    )
    rename_locker: Locker = write(CHANGE_LOCKER, LOCKER_CHANGES, description="Change the display name of a locker.")
    configure_locker: Locker = write(
        CHANGE_LOCKER, LOCKER_CHANGES, description="Change who may reserve a locker, its size or its features."
    )
    move_locker: Locker = write(
        CHANGE_LOCKER, LOCKER_CHANGES, description="Move a locker to another active location, or to none."
    )
    update_locker_status: Locker = write(
        CHANGE_LOCKER_STATUS, LOCKER_CHANGES, description="Change the status of a locker."
    )
    change_lockers: ChangeLockersPayload = write(
        CHANGE_LOCKER,
        LOCKER_CHANGES,
        kind=WritingEach,
        entries="lockers",
        most=commands.MOST_LOCKERS,
        others={"new_status": CHANGE_LOCKER_STATUS},
        description="Change the status or the configuration of several lockers, each as by `updateLockerStatus` or "
        "`configureLocker`: those that fail keep no other from being changed.",
    )
    retire_locker: Locker = write(
        RETIRE_LOCKER,
        LOCKER_CHANGES,
        description="Take a locker without live reservations out of service for good. It can be neither reserved, nor "
        "changed, nor opened with a code any more; it stays in the lists with its history, and its id is never reused.",
    )
    transfer_locker: Locker = write(
        TRANSFER_LOCKER,
        LOCKER_CHANGES,
        description="Transfer a locker to another owner. Existing reservations stay with the owners who made them.",
    )
