"""Access events: the type and its mutations. Nothing changes or deletes one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import strawberry

from domain import commands
from domain.models import AccessAction, AccessResult
from domain.models import AccessEvent as Record
from domain.principal import Principal, Scope, acts_for, is_admin, may_see_locker, require
from domain.times import Instant
from loaders.writes.events import record_access_events
from resolvers.context import Info
from resolvers.errors import UserError, attempt
from resolvers.permissions import authorised
from resolvers.relay import Node
from resolvers.scalars import JSON

if TYPE_CHECKING:
    from loaders.backend import Backend
    from resolvers.lockers import Locker

__all__ = ["AccessEvent", "AccessEventMutations", "is_seen"]


@strawberry.type(description="What happened at a locker; immutable.")
class AccessEvent(Node):
    """All of it is in one item."""

    record: strawberry.Private[Record]

    @classmethod
    def of(cls, record: Record) -> AccessEvent:
        """The event as the schema shows it."""
        return cls(
            key=("AccessEvent", record.locker_id, record.timestamp, record.event_id),
            record=record,
            event_id=strawberry.ID(record.event_id),
            locker_id=strawberry.ID(record.locker_id),
            timestamp=record.timestamp,
            recorded_at=record.recorded_at,
            action=record.action,
            actor_id=strawberry.ID(record.actor_id),
            result=record.result,
            metadata=None if record.metadata is None else JSON(record.metadata),
        )

    event_id: strawberry.ID = strawberry.field(description="Its own id, unique within its locker.")
    locker_id: strawberry.ID = strawberry.field(description="The locker's id.")
    timestamp: Instant = strawberry.field(description="When it happened.")
    recorded_at: Instant = strawberry.field(description="When the server wrote it down.")
    action: AccessAction = strawberry.field(description="What was done, or tried.")
    actor_id: strawberry.ID = strawberry.field(description="Who did it.")
    result: AccessResult = strawberry.field(description="How it went.")
    metadata: JSON | None = strawberry.field(description="What else the device said of it.")

    @strawberry.field(description="The locker.")
    async def locker(self, info: Info) -> Annotated[Locker, strawberry.lazy("resolvers.lockers")] | None:
        """Read once for all events of it in a request."""
        from resolvers.lockers import Locker  # noqa: PLC0415  # the two modules name each other's types

        locker = await info.context.loaders.locker.load(self.record.locker_id)
        if locker is None:
            return None
        require(may_see_locker(info.context.principal, locker.owner_id))
        return Locker.of(locker)


@strawberry.input(description="What happened at a locker.")
class RecordAccessEventInput:
    """See `domain.commands`."""

    locker_id: strawberry.ID = strawberry.field(description="The locker.")
    event_id: strawberry.ID | None = strawberry.field(
        default=strawberry.UNSET,
        description="An id of your choice: sent again with the same content, it gives the first result. Made here if "
        "left out.",
    )
    timestamp: Instant | None = strawberry.field(
        default=strawberry.UNSET, description="When it happened; now if left out, five minutes ahead at most."
    )
    action: AccessAction = strawberry.field(description="What was done, or tried.")
    actor_id: strawberry.ID = strawberry.field(description="Who did it.")
    result: AccessResult = strawberry.field(description="How it went.")
    metadata: JSON | None = strawberry.field(
        default=strawberry.UNSET, description="A JSON object: 16 KB, 50 keys and 5 levels at most."
    )


@strawberry.input(description="Several events, written all or none.")
class RecordAccessEventsInput:
    """See `domain.commands`."""

    events: list[RecordAccessEventInput] = strawberry.field(description="1 to 25 events.")


@strawberry.type(description="What came of recording an event.")
class RecordAccessEventPayload:
    """The event."""

    access_event: AccessEvent | None = strawberry.field(description="The event, if it was written.")
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type(description="What came of recording several events.")
class RecordAccessEventsPayload:
    """The events in the order of the input."""

    access_events: list[AccessEvent] | None = strawberry.field(
        description="The events in the order of the input, if they were written."
    )
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type
class AccessEventMutations:
    """Merged into Mutation."""

    @strawberry.mutation(description="Write down what happened at a locker.")
    async def record_access_event(
        self,
        info: Info,
        input: Annotated[RecordAccessEventInput, strawberry.argument(description="What happened.")],
    ) -> RecordAccessEventPayload:
        """QC-08."""
        outcome = await attempt(info, commands.RecordAccessEvent, input, authorised(info, _record_one))
        event = None if outcome.entity is None else AccessEvent.of(outcome.entity)
        return RecordAccessEventPayload(access_event=event, user_errors=outcome.errors)

    @strawberry.mutation(description="Write down several things that happened, all or none.")
    async def record_access_events(
        self,
        info: Info,
        input: Annotated[RecordAccessEventsInput, strawberry.argument(description="What happened.")],
    ) -> RecordAccessEventsPayload:
        """QC-08."""
        outcome = await attempt(info, commands.RecordAccessEvents, input, authorised(info, _record_several))
        events = None if outcome.entity is None else [AccessEvent.of(event) for event in outcome.entity]
        return RecordAccessEventsPayload(access_events=events, user_errors=outcome.errors)


async def is_seen(info: Info, record: Record) -> bool:
    """Whether an event is for who asks, which is a matter of whose its locker is."""
    principal = info.context.principal
    if is_admin(principal):
        return True
    locker = await info.context.loaders.locker.load(record.locker_id)
    return locker is not None and acts_for(principal, locker.owner_id, Scope.EVENTS_READ)


async def _record_one(backend: Backend, command: commands.RecordAccessEvent, principal: Principal) -> Record:
    (event,) = await record_access_events(backend, [command], principal, [("input",)])
    return event


async def _record_several(backend: Backend, command: commands.RecordAccessEvents, principal: Principal) -> list[Record]:
    paths = [("input", "events", str(position)) for position in range(len(command.events))]
    return await record_access_events(backend, command.events, principal, paths)
