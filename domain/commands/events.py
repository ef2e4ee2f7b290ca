"""Inputs of the access event mutations."""

from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field

from domain.commands.base import CHOSEN_ID, CheckedLockerId, Command, Id, optional
from domain.ids import check_id
from domain.metadata import check_metadata
from domain.models import AccessAction, AccessResult, EventId
from domain.times import Instant

MAX_EVENTS_PER_BATCH = 25

N = TypeVar("N", AccessAction, AccessResult)

CheckedEventId = Annotated[EventId, AfterValidator(check_id)]
# Checked before pydantic walks the value, so that a deeply nested one gets our message instead of pydantic's.
Metadata = Annotated[dict[str, Any], BeforeValidator(check_metadata)]


def check_reported(action: AccessAction) -> AccessAction:
    """Checks an action that a client reports. What the server records itself must not be forged."""
    if action is AccessAction.OVERSTAY:
        raise ValueError("must not be OVERSTAY, which the server records itself")
    return _check_named(action)


def _check_named(value: N) -> N:
    """Rejects OTHER, which is for events of other programs that were migrated."""
    if value.value == "OTHER":
        raise ValueError("must not be OTHER, which is for events that were migrated")
    return value


class RecordAccessEvent(Command):
    locker_id: CheckedLockerId
    event_id: CheckedEventId | None = optional(CHOSEN_ID)
    timestamp: Instant | None = optional(
        "Time at which the event happened: now if left out, at most five minutes in the future."
    )
    action: Annotated[AccessAction, AfterValidator(check_reported)] = Field(
        description="Action that was done or attempted; not OVERSTAY, which the server records, nor OTHER."
    )
    actor_id: Id = Field(description="Id of the person or device that caused the event.")
    result: Annotated[AccessResult, AfterValidator(_check_named)] = Field(
        description="Whether the action succeeded; not OTHER."
    )
    metadata: Metadata | None = optional("JSON object with at most 16 KB, 50 keys and 5 levels.")


class RecordAccessEvents(Command):
    events: list[RecordAccessEvent] = Field(
        min_length=1, max_length=MAX_EVENTS_PER_BATCH, description="From 1 to 25 events."
    )
