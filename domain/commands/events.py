"""Inputs of the access event mutations."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from domain.commands.base import CheckedLockerId, Command, Id
from domain.ids import check_id
from domain.metadata import check_metadata
from domain.models import AccessAction, AccessResult, EventId
from domain.times import Instant

__all__ = ["MAX_EVENTS_PER_BATCH", "RecordAccessEvent", "RecordAccessEvents"]

MAX_EVENTS_PER_BATCH = 25

CheckedEventId = Annotated[EventId, AfterValidator(check_id)]
# Checked before pydantic walks the value, so that a deeply nested one gets our message instead of pydantic's.
Metadata = Annotated[dict[str, Any], BeforeValidator(check_metadata)]


class RecordAccessEvent(Command):
    """Record an access event of a locker."""

    locker_id: CheckedLockerId
    event_id: CheckedEventId | None = None
    timestamp: Instant | None = None
    action: AccessAction
    actor_id: Id
    result: AccessResult
    metadata: Metadata | None = None


class RecordAccessEvents(Command):
    """Record several access events atomically."""

    events: Annotated[list[RecordAccessEvent], Field(min_length=1, max_length=MAX_EVENTS_PER_BATCH)]
