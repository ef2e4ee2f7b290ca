"""Lockers, their reservations and their access events, from the forms of other programs and earlier versions."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

from domain.access_codes import CodeRing
from domain.commands.base import fingerprint_of
from domain.commands.events import RecordAccessEvent
from domain.models import (
    AccessEvent,
    ActivePointer,
    EventId,
    LocationId,
    LockerId,
    LockerSize,
    ReservableBy,
    ReservationId,
    ReservationOutcome,
    ReservationStatus,
    record_from,
)
from domain.schedule import has_ended, has_ended_everywhere, slot_name
from domain.times import EARLIEST
from loaders import keys
from loaders.codecs import (
    ACCESS_EVENT,
    ACTIVE_POINTER,
    EVENT_CLAIM,
    GUARD,
    LOCKER,
    OWNER_RESERVATION,
    RECIPIENT_RESERVATION,
    RESERVATION_CLAIM,
    RESERVATION_DETAILS,
    RESERVATION_SLOT,
    STORED_LIVE_RESERVATION,
    STORED_RESERVATION,
    EventClaim,
    Guard,
    StoredReservation,
)
from loaders.conversion import DamagedItemError
from loaders.table.positions import Key
from loaders.table.values import Item
from loaders.tools.forms import Draft, NotConvertedError
from loaders.tools.kinds import is_current, kind_at
from loaders.tools.partitions import pointer_problem
from loaders.tools.target import Group, Target
from loaders.writes.lockers import copies_of
from loaders.writes.reservation_steps import claim_of, hashed, recipient_entries, slot_of
from loaders.writes.timeline import live_copy_of

_OLD_FLAGS = frozenset({"hasOld", "hasLive", "lacksEnded"})
"""Attributes that earlier versions wrote to the guard of a locker."""
_KINDS = ("LOCKER", "LOCKER_STATE", "OWNER_LOCKER")
_COPIES = ("OWNER_LOCKER", "LOCATION_LOCKER", "LOCKER_OFFER")


def convert_lockers(target: Target) -> None:
    """Converts lockers with their copies and offers. What only a copy of another form tells becomes the locker's."""
    copies: dict[str, list[Key]] = defaultdict(list)
    for key, item in target.items.items():
        kind = kind_at(key, item)
        if kind in _COPIES:
            copies[str(item.get("lockerId"))].append(key)
    for locker_id, found in target.sources_by("lockerId", *_KINDS).items():
        sources = [key for key in found if not _is_current_copy(target, key)]
        if sources:
            target.attempt(sources, partial(_locker, target, LockerId(locker_id), sources, copies[locker_id]))


def _is_current_copy(target: Target, key: Key) -> bool:
    item = target.items[key]
    return target.kind(key) == "OWNER_LOCKER" and "GSI1PK" in item and is_current(key, item)


def _locker(target: Target, locker_id: LockerId, sources: list[Key], copies: list[Key]) -> Group:
    record = keys.locker(locker_id)
    owner_id = target.items.get(record, {}).get("ownerId")
    draft = Draft(LOCKER, lockerId=locker_id)
    # The copy of its owner comes before those of others, whose lists may have kept a locker that was transferred.
    for key in sorted(sources, key=lambda key: target.told[key].get("ownerId", owner_id) != owner_id):
        draft.add(target.kind(key), target.items[key], target.told[key])
    draft.default("version", 1)
    # Of lockers that do not say it: a size in the middle, until the owner changes it.
    draft.default("reservableBy", ReservableBy.MEMBERS)
    draft.default("size", LockerSize.M)
    draft.default("features", [])
    add_times(draft, "createdAt", "updatedAt")
    locker = draft.record()
    group: Group = dict.fromkeys([*copies, *sources])
    group[record] = draft.attributes(locker)
    return group | copies_of(locker)


def add_times(draft: Draft[Any], *names: str) -> None:
    """Gives a record the times that no item tells: another of its times, or else the earliest there is."""
    known = [draft.placed.get(name) for name in ("updatedAt", "createdAt", "startAt", "timestamp", "requestedAt")]
    for name in names:
        draft.default(name, *known, EARLIEST)


class Timelines:
    """Converts the reservations of lockers, with claims, copies and slots, and gives each locker guard and pointer."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._taken: dict[str, set[str]] = defaultdict(set)
        """The slots of owners whose reservations have not ended."""
        self._held: dict[tuple[str, str, str], str] = {}
        """The same by owner, locker and reservation."""
        for item in target.items.values():
            if item.get("entityType") == RESERVATION_SLOT.entity_type and str(item.get("endAt")) > target.now:
                owner_id, slot = str(item.get("ownerId")), str(item.get("slot"))
                self._taken[owner_id].add(slot)
                self._held[owner_id, str(item.get("lockerId")), str(item.get("reservationId"))] = slot

    def convert(self) -> None:
        by_locker = self._target.sources_by("lockerId", "RESERVATION", "RESERVATION_ACTIVE")
        for locker_id, sources in by_locker.items():
            self._convert(LockerId(locker_id), sources)

    def _convert(self, locker_id: LockerId, sources: list[Key]) -> None:
        target, pointer = self._target, keys.active_pointer(locker_id)
        drafts, merged = self._drafts(sources)
        stored: dict[Key, StoredReservation] = {}
        for place, draft in drafts.items():
            try:
                stored[place] = self._finished(draft)
            except NotConvertedError as obstacle:
                target.leave(merged[place], obstacle)
        if not stored:
            return
        common: Group = {keys.reservation_guard(locker_id): self._guard(locker_id, stored)}
        if pointer not in target.left:
            common[pointer] = self._pointer(locker_id, stored.values())
        for place, one in stored.items():
            group = dict.fromkeys(merged[place]) | self._group(place, drafts[place], one)
            target.change(group | common if pointer in group else group)
        target.change(common)

    def _drafts(self, sources: list[Key]) -> tuple[dict[Key, Draft[StoredReservation]], dict[Key, list[Key]]]:
        """The reservations of a locker by the keys that they get, and the items of which each is made."""
        drafts: dict[Key, Draft[StoredReservation]] = {}
        merged: dict[Key, list[Key]] = defaultdict(list)
        for key in sources:
            item, told, kind = self._target.items[key], self._target.told[key], self._target.kind(key)
            is_pointer = kind == "RESERVATION_ACTIVE"
            if is_pointer and is_current(key, item) and self._pointed(item) in self._target.items:
                continue
            try:
                draft = Draft(STORED_RESERVATION, **{name: told[name] for name in told if name != "startAt"})
            except NotConvertedError as obstacle:
                self._target.leave([key], obstacle)
                continue
            draft.add(kind, item, without={"lastEndAt"})
            draft.default("startAt", told.get("startAt"))
            draft.default("status", "ACTIVE" if is_pointer else None)
            named = draft.placed.get("reservationId")
            place = keys.reservation(told["lockerId"], draft.placed.get("startAt"), named)  # type: ignore[arg-type]
            if is_pointer and place not in drafts:
                same = (found for found, other in drafts.items() if other.placed.get("reservationId") == named)
                place = next(same, place)
            if place in drafts:
                drafts[place].add(kind, item, without={"lastEndAt"})
            else:
                drafts[place] = draft
            merged[place].append(key)
        return drafts, merged

    @staticmethod
    def _pointed(item: Item) -> Key:
        pointed = ACTIVE_POINTER.decode(item).reservation
        return keys.reservation(pointed.locker_id, pointed.start_at, pointed.reservation_id)

    def _finished(self, draft: Draft[StoredReservation]) -> StoredReservation:
        """A reservation with everything that one of today has; EXPIRED is not stored, it follows from the end."""
        add_times(draft, "createdAt", "updatedAt")
        draft.default("revision", 1)
        stored = draft.record()
        made, now = stored.reservation, self._target.now
        if made.status is ReservationStatus.EXPIRED and not has_ended(made, now):
            draft.keep("RESERVATION", "status", made.status.value)
            made = replace(made, status=ReservationStatus.CANCELLED)
        elif made.status in {ReservationStatus.EXPIRED, ReservationStatus.UPCOMING}:
            made = replace(made, status=ReservationStatus.ACTIVE)
        slot = stored.slot
        if slot is None and made.status is ReservationStatus.ACTIVE and not has_ended(made, now):
            taken = self._taken[made.owner_id]
            held = self._held.get((made.owner_id, made.locker_id, made.reservation_id))
            slot = held or next(name for name in map(slot_name, count()) if name not in taken)
            taken.add(slot)
        return self._due(replace(stored, reservation=made, slot=slot), is_new="dueShard" not in draft.placed)

    def _due(self, stored: StoredReservation, *, is_new: bool) -> StoredReservation:
        """A reservation with its place among those that end, or with the mark of one that ended long ago.

        Old ends are not logged, except of reservations that still occupy their locker: these are overdue now.
        """
        made, locker = stored.reservation, self._target.items.get(keys.locker(stored.reservation.locker_id), {})
        if not is_new:
            return stored
        ended_as = None
        is_over = made.status is ReservationStatus.ACTIVE and has_ended(made, self._target.now)
        if is_over and locker.get("occupiedBy") != made.reservation_id:
            ended_as = ReservationOutcome.EXPIRED if made.started_at is None else ReservationOutcome.COMPLETED
        found = locker.get("locationId")
        location_id = None if found is None else LocationId(str(found))
        due_shard = keys.log_shard(location_id or made.owner_id)
        return replace(stored, location_id=location_id, due_shard=due_shard, ended_as=ended_as)

    def _group(self, place: Key, draft: Draft[StoredReservation], stored: StoredReservation) -> Group:
        items, made = self._target.items, stored.reservation
        group: Group = {place: draft.attributes(stored)}
        claim, copy = claim_of(made), OWNER_RESERVATION.key_of(made)
        if RESERVATION_CLAIM.key_of(claim) not in items:
            group[RESERVATION_CLAIM.key_of(claim)] = RESERVATION_CLAIM.encode(claim)
        other = str(items.get(copy, {}).get("lockerId", made.locker_id))
        if (
            other == made.locker_id
            or keys.reservation(LockerId(other), made.start_at, made.reservation_id) not in items
        ):
            group[copy] = OWNER_RESERVATION.encode(made)
        live = live_copy_of(stored)
        live_copy = STORED_LIVE_RESERVATION.key_of(stored)
        group[live_copy] = None if live is None else STORED_LIVE_RESERVATION.encode(live)
        if stored.slot is not None:
            slot = slot_of(made, stored.slot)
            taken = RESERVATION_SLOT.key_of(slot)
            if "slot" not in items.get(place, {}):
                group[taken] = RESERVATION_SLOT.encode(slot)
            elif live is None and items.get(taken, {}).get("reservationId") == made.reservation_id:
                group[taken] = None
        return group

    def _guard(self, locker_id: LockerId, stored: Mapping[Key, StoredReservation]) -> Mapping[str, Any]:
        """The guard that there is, or a new one. It names the last change only if that is there with its live copy."""
        item = self._target.items.get(keys.reservation_guard(locker_id))
        if item is None:
            return GUARD.encode(Guard(revision=1))
        draft = Draft(GUARD)
        draft.add(GUARD.entity_type, item, without=_OLD_FLAGS)
        draft.default("revision", 1)
        guard = draft.record()
        found = None
        if guard.changed_start_at is not None and guard.changed_reservation_id is not None:
            found = stored.get(keys.reservation(locker_id, guard.changed_start_at, guard.changed_reservation_id))
        is_live = found is not None and found.reservation.status is ReservationStatus.ACTIVE
        if found is None or found.revision != guard.changed_revision or is_live is bool(guard.changed_removed):
            guard = Guard(revision=guard.revision)
        return draft.attributes(guard)

    def _pointer(self, locker_id: LockerId, stored: Iterable[StoredReservation]) -> Mapping[str, Any] | None:
        """The pointer that there is, if it points right, or a new one."""
        key, now = keys.active_pointer(locker_id), self._target.now
        live = [one.reservation for one in stored if one.reservation.status is ReservationStatus.ACTIVE]
        live.sort(key=lambda one: one.start_at)
        item = self._target.items.get(key)
        if item is not None and is_current(key, item):
            pointer = ACTIVE_POINTER.decode(item)
            if pointer.last_end_at is not None and pointer_problem(pointer, live, now) is None:
                return ACTIVE_POINTER.encode(pointer)
        ahead = [one for one in live if not has_ended_everywhere(one, now)]
        if not ahead:
            return None
        last_end = max(one.end_at for one in live)
        return ACTIVE_POINTER.encode(ActivePointer(reservation=ahead[0], last_end_at=last_end))


def convert_details(target: Target, ring: CodeRing | None) -> None:
    """Gives the details of reservations their start, and hashes of the recipient under the current key of the ring."""
    for key, item in list(target.items.items()):
        if item.get("entityType") != RESERVATION_DETAILS.entity_type:
            continue
        place = LockerId(str(item.get("lockerId"))), ReservationId(str(item.get("reservationId")))
        claim = target.items.get(keys.reservation_claim(*place), item)
        try:
            old = RESERVATION_DETAILS.decode({**item, "startAt": item.get("startAt", claim.get("startAt"))})
        except DamagedItemError:
            continue  # doctor tells what is wrong
        if ring is None:
            target.report.left[RESERVATION_DETAILS.entity_type, "SMARTLOCKER_CODE_KEYS"] += old.recipient is not None
        new = old if ring is None or old.recipient is None else hashed(old, ring)
        kept = {name: value for name, value in item.items() if name not in {"PK", "SK"}}
        group: Group = {RECIPIENT_RESERVATION.key_of(entry): None for entry in recipient_entries(old)}
        group |= {
            RECIPIENT_RESERVATION.key_of(one): RECIPIENT_RESERVATION.encode(one) for one in recipient_entries(new)
        }
        target.change({**group, key: kept | RESERVATION_DETAILS.encode(new)})


def old_events(target: Target) -> dict[Key, list[Key]]:
    """The access events of another form: what each is made of, by the key that it gets."""
    merged: dict[Key, list[Key]] = defaultdict(list)
    for key in target.sources("ACCESS_EVENT"):
        if not is_current(key, target.items[key]):
            try:
                merged[ACCESS_EVENT.key_of(_event(target, [key]).record())].append(key)
            except NotConvertedError as obstacle:
                target.leave([key], obstacle)
    return merged


def claim_on_event(target: Target, key: Key) -> Key:
    told = target.told[key]
    return keys.event_claim(LockerId(told["lockerId"]), EventId(told["eventId"]))


def convert_events(target: Target, events: Mapping[Key, list[Key]]) -> None:
    """Converts access events, with claims on their ids; what they become may be there already."""
    for place, sources in events.items():
        draft = _event(target, sources if place in sources or place not in target.items else [place, *sources])
        event = draft.record()
        group: Group = dict.fromkeys(sources)
        group[place] = draft.attributes(event)
        claimed = claim_on_event(target, sources[0])
        if claimed not in target.items:
            content = fingerprint_of(RecordAccessEvent, event, without="event_id")
            group[claimed] = EVENT_CLAIM.encode(record_from(EventClaim, event, fingerprint=content))
        target.change(group)


def _event(target: Target, sources: list[Key]) -> Draft[AccessEvent]:
    """An event; an action or a result that is unknown today is OTHER, and keeps the device's own word."""
    told = target.told[sources[0]]
    draft = Draft(ACCESS_EVENT, lockerId=told["lockerId"], eventId=told["eventId"])
    for key in sources:
        item = dict(target.items[key])
        for name in ("action", "result"):
            word = item.get(name)
            if not Draft(ACCESS_EVENT).place(name, word):
                item[name] = "OTHER"
                if word is not None:
                    if f"{name}Name" in item:
                        draft.keep("ACCESS_EVENT", f"{name}Name", item[f"{name}Name"])
                    item[f"{name}Name"] = word
        draft.add("ACCESS_EVENT", item)
    draft.default("timestamp", told["timestamp"])
    draft.default("actorId", "unknown")
    add_times(draft, "recordedAt")
    return draft
