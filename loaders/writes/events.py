"""Writes of access events: recorded once, never changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from domain.activity import door_happening, kind_of_event
from domain.authorization import Principal, Role, may_record_events, require
from domain.commands.base import fingerprint
from domain.commands.events import RecordAccessEvent
from domain.errors import BadInputError, IdTakenError, NotFoundError
from domain.models import AccessEvent, EventId, Locker, LockerId, record_from
from domain.retention import expiry
from domain.schedule import check_event_time
from domain.times import to_seconds
from loaders import keys
from loaders.backend import Backend
from loaders.codecs import ACCESS_EVENT, EVENT_CLAIM, EventClaim
from loaders.contracts.events import RECORD_EVENTS
from loaders.reads.claimed import all_claimed
from loaders.table.client import Store
from loaders.table.errors import TransactionRefusedError
from loaders.table.positions import Key
from loaders.writes.log import Log

if TYPE_CHECKING:
    from loaders.table.operations import Step


@dataclass(frozen=True, slots=True)
class Entry:
    """An event to record, and the claim on its id where the client chose it."""

    path: tuple[str, ...]
    locker_id: LockerId
    event: AccessEvent
    claim: EventClaim | None

    @property
    def key(self) -> Key:
        """The key that is unique to the event whatever its time."""
        return keys.event_claim(self.locker_id, self.event.event_id)


async def record_access_events(
    backend: Backend, commands: Sequence[RecordAccessEvent], principal: Principal, paths: Sequence[tuple[str, ...]]
) -> list[AccessEvent]:
    """Records events, all or none; an event that was recorded before is returned as it was (QC-08).

    The paths are the places of the events in the mutation's input.
    """
    entries = [_entry(backend, command, path) for command, path in zip(commands, paths, strict=True)]
    _check_distinct(entries)
    lockers = await _permitted_lockers(backend.store, entries, principal)
    log = Log(backend, principal)
    recorded: dict[Key, AccessEvent] = {}
    claims: dict[Key, EventClaim] = {}
    pending = entries
    while pending:
        steps = [step for entry in pending for step in _steps(entry)]
        events = [(entry.event, lockers[entry.locker_id]) for entry in pending]
        happenings = [door_happening(kind_of_event(event), locker, event) for event, locker in events]
        try:
            await log.transact(RECORD_EVENTS, steps, *happenings)
        except TransactionRefusedError as refusal:
            found = _recorded_before(pending, refusal)
            recorded |= {key: event for key, event in found.items() if isinstance(event, AccessEvent)}
            claims |= {key: claim for key, claim in found.items() if isinstance(claim, EventClaim)}
        else:
            recorded |= {entry.key: entry.event for entry in pending}
        pending = [entry for entry in pending if entry.key not in recorded and entry.key not in claims]
    if claims:
        recorded |= zip(claims, await _claimed(backend.store, claims.values()), strict=True)
    return [recorded[entry.key] for entry in entries]


def _entry(backend: Backend, command: RecordAccessEvent, path: tuple[str, ...]) -> Entry:
    now = backend.clock()
    timestamp = command.timestamp or now
    check_event_time(timestamp, now, backend.retention.events, (*path, "timestamp"))
    event_id = command.event_id or EventId(backend.new_id())
    expires_at = expiry(timestamp, backend.retention.events)
    values = {"event_id": event_id, "timestamp": timestamp, "recorded_at": now, "expires_at": expires_at}
    event = record_from(AccessEvent, command, **values)
    claim = record_from(EventClaim, event, fingerprint=fingerprint(command, without="event_id"))
    return Entry(path, command.locker_id, event, claim if command.event_id else None)


def _check_distinct(entries: Sequence[Entry]) -> None:
    seen: set[Key] = set()
    for entry in entries:
        if entry.key in seen:
            raise BadInputError("eventId is repeated in this request", (*entry.path, "eventId"))
        seen.add(entry.key)


async def _permitted_lockers(store: Store, entries: Sequence[Entry], principal: Principal) -> dict[LockerId, Locker]:
    """The lockers of the events as they are now, where the caller may record events for all of them."""
    entry_of = {entry.locker_id: entry for entry in entries}
    if principal.role is not Role.PARTNER:  # for whom the owner of the locker does not matter
        for entry in entries:
            require(may_record_events(principal, entry.locker_id, None), (*entry.path, "lockerId"))
    found = await RECORD_EVENTS.read_many(store, "locker", [(locker_id,) for locker_id in entry_of])
    lockers = {locker_id: locker for locker_id, locker in zip(entry_of, found, strict=True) if locker is not None}
    for locker_id, entry in entry_of.items():
        locker, path = lockers.get(locker_id), (*entry.path, "lockerId")
        if principal.role is Role.PARTNER:
            require(may_record_events(principal, locker_id, None if locker is None else locker.owner_id), path)
        if locker is None:
            raise NotFoundError(f"Locker {locker_id} does not exist.", path)
    return lockers


def _recorded_before(entries: Sequence[Entry], refusal: TransactionRefusedError) -> dict[Key, AccessEvent | EventClaim]:
    """The events that are already there: by the claims on their ids, or by this request, whose response was lost."""
    claims = {step.key: item for step, item in refusal.refused if step.name == "claim"}
    written = {step.key: item for step, item in refusal.refused if step.name == "event"}
    found: dict[Key, AccessEvent | EventClaim] = {}
    for entry in entries:
        if entry.claim is None:
            item = written.get(ACCESS_EVENT.key_of(entry.event))
            if item is not None and ACCESS_EVENT.decode(item) == entry.event:
                found[entry.key] = entry.event
            continue
        item = claims.get(entry.key)
        if item is None:
            continue
        claim = EVENT_CLAIM.decode(item)
        if claim.fingerprint != entry.claim.fingerprint:
            raise IdTakenError(claim.event_id, "another event of this locker", (*entry.path, "eventId"))
        found[entry.key] = claim
    if not found:
        raise refusal
    return found


async def _claimed(store: Store, claims: Iterable[EventClaim]) -> list[AccessEvent]:
    places: list[tuple[Any, ...]] = [(claim.locker_id, claim.timestamp, claim.event_id) for claim in claims]
    wanted = [keys.event(*place) for place in places]
    return await all_claimed(wanted, lambda: RECORD_EVENTS.read_many(store, "claimed event", places))


def _steps(entry: Entry) -> list[Step]:
    steps = [RECORD_EVENTS.record_step("event", entry.event)]
    if entry.claim is not None:
        steps.append(RECORD_EVENTS.record_step("claim", entry.claim, now=to_seconds(entry.event.recorded_at)))
    return steps
