"""Writes of access events: added once, never changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.commands import fingerprint
from domain.errors import BadInputError, IdTakenError, MissingError
from domain.models import AccessEvent, EventId
from domain.principal import Role, may_record_events, require
from domain.schedule import check_event_time
from loaders import keys
from loaders.contracts import QC_08
from loaders.cost import LOOKS_FOR_CLAIMED
from loaders.items import ACCESS_EVENT, EVENT_CLAIM, LOCKER, DamagedItemError, EventClaim
from loaders.table.errors import ConditionFailedError, TransactionRefusedError
from loaders.table.operations import Put
from loaders.table.retry import attempts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from domain.commands import RecordAccessEvent
    from domain.principal import Principal
    from loaders.backend import Backend
    from loaders.table.client import Store
    from loaders.table.operations import Key, Step, Transact
    from loaders.table.values import Item

__all__ = ["Entry", "putting", "record_access_events", "recording"]


@dataclass(frozen=True, slots=True)
class Entry:
    """An event to be written, and the claim that goes with a client-chosen id."""

    path: tuple[str, ...]
    event: AccessEvent
    claim: EventClaim | None

    @property
    def key(self) -> Key:
        """What tells it from every other event, whatever its time."""
        return keys.event_claim(self.event.locker_id, self.event.event_id)


async def record_access_events(
    backend: Backend,
    commands: Sequence[RecordAccessEvent],
    principal: Principal,
    paths: Sequence[tuple[str, ...]],
) -> list[AccessEvent]:
    """Writes events, all or none; what was recorded before is answered as it was (QC-08).

    Args:
        backend: the store and the clock.
        commands: the events.
        principal: who writes them, and must be allowed to for each.
        paths: where each event stands in the mutation's input.
    """
    entries = [_entry(backend, command, path) for command, path in zip(commands, paths, strict=True)]
    _check_distinct(entries)
    await _check_lockers(backend.store, entries, principal)
    recorded: dict[Key, AccessEvent] = {}
    pending = entries
    while pending:
        try:
            await _write(backend.store, pending)
        except TransactionRefusedError as refusal:
            recorded |= await _recorded_before(backend.store, pending, refusal)
        else:
            recorded |= {entry.key: entry.event for entry in pending}
        pending = [entry for entry in pending if entry.key not in recorded]
    return [recorded[entry.key] for entry in entries]


def recording(entries: Sequence[Entry]) -> Transact:
    """The request that writes events together with the claims on their ids."""
    return QC_08.transact(*(step for entry in entries for step in _steps(entry)))


def putting(event: AccessEvent) -> Put:
    """The request that writes one event whose id was made here."""
    key = keys.event(event.locker_id, event.timestamp, event.event_id)
    step = QC_08.step("event", key, ACCESS_EVENT.encode(event))
    return Put(QC_08.id, step.key, step.attributes, str(step.condition))


def _entry(backend: Backend, command: RecordAccessEvent, path: tuple[str, ...]) -> Entry:
    now = backend.clock()
    timestamp = command.timestamp or now
    check_event_time(timestamp, now, (*path, "timestamp"))
    event = AccessEvent(
        event_id=command.event_id or EventId(backend.new_id()),
        locker_id=command.locker_id,
        timestamp=timestamp,
        recorded_at=now,
        action=command.action,
        actor_id=command.actor_id,
        result=command.result,
        metadata=command.metadata,
    )
    claim = EventClaim(
        event_id=event.event_id,
        locker_id=event.locker_id,
        timestamp=timestamp,
        fingerprint=fingerprint(command, without="event_id"),
    )
    return Entry(path, event, claim if command.event_id else None)


def _check_distinct(entries: Sequence[Entry]) -> None:
    seen: set[Key] = set()
    for entry in entries:
        if entry.key in seen:
            raise BadInputError("the same eventId stands here twice", (*entry.path, "eventId"))
        seen.add(entry.key)


async def _check_lockers(store: Store, entries: Sequence[Entry], principal: Principal) -> None:
    """A locker is never deleted, so one that was seen is there; one that was not may be too new for a plain read."""
    if principal.role is Role.PARTNER:
        await _check_owners(store, entries, principal)
        return
    for entry in entries:
        require(may_record_events(principal, entry.event.locker_id, None), (*entry.path, "lockerId"))
    lockers = {keys.locker(entry.event.locker_id): entry for entry in entries}
    for consistent in (False, True):
        for key in await _existing(store, list(lockers), consistent=consistent):
            del lockers[key]
        if not lockers:
            return
    missing = next(iter(lockers.values()))
    raise MissingError(f"There is no locker {missing.event.locker_id}.", (*missing.path, "lockerId"))


async def _check_owners(store: Store, entries: Sequence[Entry], principal: Principal) -> None:
    """A partner writes for lockers of the owners that it is bound to, which only the lockers tell."""
    lockers = {keys.locker(entry.event.locker_id): entry for entry in entries}
    found = await _existing(store, list(lockers), consistent=True)
    for key, entry in lockers.items():
        owner_id = LOCKER.decode(found[key]).owner_id if key in found else None
        require(may_record_events(principal, entry.event.locker_id, owner_id), (*entry.path, "lockerId"))


async def _existing(store: Store, wanted: list[Key], *, consistent: bool) -> Mapping[Key, Item]:
    if len(wanted) == 1:
        item = await store.get(QC_08.get(wanted[0], consistent=consistent))
        return {} if item is None else {wanted[0]: item}
    return await store.batch_get(QC_08.batch(wanted, consistent=consistent))


async def _write(store: Store, entries: Sequence[Entry]) -> None:
    if len(entries) == 1 and entries[0].claim is None:
        event = entries[0].event
        try:
            await store.put(putting(event))
        except ConditionFailedError as failure:
            # Nobody else has this id: it is our own event, written although its answer was lost.
            if failure.item is None or ACCESS_EVENT.decode(failure.item) != event:
                raise
    else:
        await store.transact(recording(entries))


async def _recorded_before(
    store: Store, entries: Sequence[Entry], refusal: TransactionRefusedError
) -> dict[Key, AccessEvent]:
    """The events whose ids are claimed already, with the same content."""
    claimed = {step.key: item for step, item in refusal.refused if step.name == "claim"}
    found: dict[Key, AccessEvent] = {}
    for entry in entries:
        item = claimed.get(entry.key)
        if item is None or entry.claim is None:
            continue
        claim = EVENT_CLAIM.decode(item)
        if claim.fingerprint != entry.claim.fingerprint:
            message = f"The id {claim.event_id} was used before, for another event of this locker."
            raise IdTakenError(message, (*entry.path, "eventId"))
        found[entry.key] = await _claimed(store, claim)
    if not found:
        raise refusal
    return found


async def _claimed(store: Store, claim: EventClaim) -> AccessEvent:
    key = keys.event(claim.locker_id, claim.timestamp, claim.event_id)
    async for _ in attempts(LOOKS_FOR_CLAIMED):  # the claim may be to be seen a moment before what it claims
        item = await store.get(QC_08.get(key, consistent=True))
        if item is not None:
            return ACCESS_EVENT.decode(item)
    raise DamagedItemError(f"a claim names {keys.masked(key)}, which does not exist")


def _steps(entry: Entry) -> list[Step]:
    event = entry.event
    key = keys.event(event.locker_id, event.timestamp, event.event_id)
    steps = [QC_08.step("event", key, ACCESS_EVENT.encode(event))]
    if entry.claim is not None:
        steps.append(QC_08.step("claim", entry.key, EVENT_CLAIM.encode(entry.claim)))
    return steps
