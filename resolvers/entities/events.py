"""Access events: the type and its mutations. Nothing changes or deletes one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import strawberry

from domain.access_codes import check_door
from domain.authorization import Principal, Scope, acts_for, sees_all
from domain.commands import events as commands
from domain.commands.events import MAX_EVENTS_PER_BATCH
from domain.ids import check_id
from domain.models import AccessAction, AccessResult
from domain.models import AccessEvent as Record
from domain.models import Locker as LockerRecord
from domain.times import Instant, parse_instant
from loaders.backend import Backend
from loaders.contracts.events import EVENT_BY_KEY, RECORD_EVENTS
from loaders.contracts.lockers import LOCKER_BY_ID
from loaders.writes.events import record_access_events
from resolvers.api.mutations import mutations, write
from resolvers.api.payloads import Payload, current_entity
from resolvers.api.relay import Node
from resolvers.api.scalars import JSON
from resolvers.bindings.base import column, described, embedded
from resolvers.bindings.references import Visibility, one
from resolvers.bindings.rules import EVENT_RECORDING, EVENTS, LOCKER
from resolvers.entities.base import entity, json

if TYPE_CHECKING:
    from resolvers.entities.lockers import Locker


def _permits(principal: Principal, _record: Record, locker: LockerRecord | None) -> bool:
    """An event is visible to the owner of its locker; one at a location's door to admins and support alone."""
    return sees_all(principal) or (locker is not None and acts_for(principal, locker.owner_id, Scope.EVENTS_READ))


@entity(
    Record,
    node={
        "contract": EVENT_BY_KEY,
        "key": {"door": check_door, "timestamp": parse_instant, "event_id": check_id},
        "rule": EVENTS.decided_by_result(),
        "visible": Visibility(LOCKER_BY_ID, "locker_id", _permits),
    },
)
class AccessEvent(Node):
    """Something that happened at a locker or at a location's door. Access events are immutable."""

    event_id: strawberry.ID = column("Id of the event, unique for its locker or location.")
    locker_id: strawberry.ID | None = column("Id of the locker; null if it happened at a location's door.")
    location_id: strawberry.ID | None = column("Id of the location whose door it happened at.")
    timestamp: Instant = column("Time at which the event happened.")
    recorded_at: Instant = column("Time at which the server recorded the event.")
    action: AccessAction = column("Action that was done or attempted.")
    action_name: str | None = column("The device's own word for an action that is OTHER.")
    actor_id: strawberry.ID = column("Id of the person or device that caused the event.")
    result: AccessResult = column("Whether the action succeeded.")
    result_name: str | None = column("The device's own word for a result that is OTHER.")
    metadata: JSON | None = json("Further data reported by the device.", "metadata")
    locker: Annotated[Locker, strawberry.lazy("resolvers.entities.lockers")] | None = one(
        LOCKER_BY_ID, key="locker_id", rule=LOCKER.decided_by_result(), description="Locker at which it happened."
    )


@described
class RecordAccessEventsPayload(Payload):
    """Return type of `recordAccessEvents`."""

    access_events: list[AccessEvent] | None = embedded(
        "The events in the order of the input; null if they were not recorded.",
        current_entity,
        most=MAX_EVENTS_PER_BATCH,
    )


async def _record_one(backend: Backend, command: commands.RecordAccessEvent, principal: Principal) -> Record:
    (event,) = await record_access_events(backend, [command], principal, [("input",)])
    return event


async def _record_several(backend: Backend, command: commands.RecordAccessEvents, principal: Principal) -> list[Record]:
    paths = [("input", "events", str(position)) for position in range(len(command.events))]
    return await record_access_events(backend, command.events, principal, paths)


@mutations(commands)
class AccessEventMutations:
    record_access_event: AccessEvent = write(
        RECORD_EVENTS,
        EVENT_RECORDING,
        run=_record_one,
        returns="The event; null if it was not recorded.",
        description="Record an access event.",
    )
    record_access_events: RecordAccessEventsPayload = write(
        RECORD_EVENTS,
        EVENT_RECORDING,
        run=_record_several,
        entries="events",
        description="Record several access events: all of them or none.",
    )
