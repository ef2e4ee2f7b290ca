"""The invariants of a locker's reservations as a whole: overlaps, live copies, slots, guard and pointer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from domain.models import ActivePointer, LockerId, Reservation, ReservationStatus
from domain.schedule import CLOCK_SKEW, has_ended, has_ended_everywhere
from domain.times import Instant, shift
from loaders import keys
from loaders.codecs import (
    ACTIVE_POINTER,
    GUARD,
    RESERVATION,
    RESERVATION_SLOT,
    STORED_LIVE_RESERVATION,
    STORED_RESERVATION,
    Guard,
    StoredReservation,
)
from loaders.contracts.doctor import REPAIR_TIMELINE
from loaders.table.positions import Key
from loaders.tools.findings import Finding, content_of, record_at, required, reservation_as_read
from loaders.writes.reservation_steps import slot_of
from loaders.writes.timeline import pointer_as_read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loaders.table.operations import Step, Transact
    from loaders.table.values import Item
    from loaders.tools.findings import Get


def timeline_violations(locker_id: LockerId, items: list[Item], get: Get, now: Instant) -> Iterator[Finding]:
    """No overlap, a copy of each live reservation, and a pointer to the earliest one that has not ended."""
    stored = [STORED_RESERVATION.decode(item) for item in items if item.get("entityType") == "RESERVATION"]
    copies = [item for item in items if item.get("entityType") == "LIVE_RESERVATION"]
    stored_live = [one for one in stored if one.reservation.status is ReservationStatus.ACTIVE]
    stored_live.sort(key=lambda one: one.reservation.start_at)
    live = [one.reservation for one in stored_live]
    yield from _overlaps(live)
    guard = record_at(GUARD, keys.reservation_guard(locker_id), get)
    stale = list(_stale_guard(locker_id, guard, stored))
    yield from stale
    if guard is not None:
        yield from _live_copies(locker_id, guard, stored_live, copies)
    elif stored:
        key = keys.reservation_guard(locker_id)
        new_guard = REPAIR_TIMELINE.transact(_guard_step(locker_id, None))
        yield Finding("I5", key, "the guard is missing", key, locker_id, new_guard)
    yield from _slots_of(locker_id, stored_live, get, now)
    pointer = record_at(ACTIVE_POINTER, keys.active_pointer(locker_id), get)
    problem = pointer_problem(pointer, live, now)
    if problem is None:
        return
    key = keys.active_pointer(locker_id)
    # While a change is only partly visible, what was read is no ground for a repair.
    repair = None if stale else _pointing(locker_id, guard, pointer, live, now)
    yield Finding("I5", key, problem, key, locker_id, repair)


def _overlaps(live: list[Reservation]) -> Iterator[Finding]:
    latest: Reservation | None = None
    for reservation in live:
        if latest is not None and reservation.start_at < latest.end_at:
            key = RESERVATION.key_of(reservation)
            problem = f"it overlaps reservation {latest.reservation_id}: cancel one of them"
            yield Finding("I1", key, problem, key, reservation.locker_id)
        if latest is None or latest.end_at < reservation.end_at:
            latest = reservation


def _slots_of(locker_id: LockerId, live: list[StoredReservation], get: Get, now: Instant) -> Iterator[Finding]:
    """A reservation that has ended by no clock has the slot that it names."""
    for one in live:
        if has_ended(one.reservation, shift(now, CLOCK_SKEW)):
            continue
        if one.slot is None:
            key = RESERVATION.key_of(one.reservation)
            yield Finding("I6", key, "it takes no slot of its owner", key, locker_id)
            continue
        wanted = slot_of(one.reservation, one.slot)
        key, as_read = RESERVATION_SLOT.key_of(wanted), reservation_as_read(one.reservation)
        problem = f"the slot of reservation {wanted.reservation_id} is missing"
        found = yield from required("I6", RESERVATION_SLOT, wanted, problem, as_read, key, get, timeline=locker_id)
        if found is not None and (found.locker_id, found.reservation_id) != (locker_id, wanted.reservation_id):
            problem = f"the slot of reservation {wanted.reservation_id} has another one"
            yield Finding("I6", key, problem, key, locker_id)


def _live_copies(
    locker_id: LockerId, guard: Guard, live: list[StoredReservation], copies: list[Item]
) -> Iterator[Finding]:
    """Every live reservation has a copy, and every copy equals a live reservation."""
    left = {Key.of_item(item): item for item in copies}
    as_read = _guard_step(locker_id, guard)
    for one in live:
        place = (locker_id, one.reservation.start_at, one.reservation.reservation_id)
        key = keys.live_reservation(*place)
        item = left.pop(key, None)
        expected = STORED_LIVE_RESERVATION.encode(replace(one, slot=None))
        if item is None or content_of(STORED_LIVE_RESERVATION, item) != expected:
            problem = "the live copy is missing" if item is None else "the live copy differs from its reservation"
            put = REPAIR_TIMELINE.step("live copy", place, expected)
            yield Finding("I5", key, problem, key, locker_id, REPAIR_TIMELINE.transact(as_read, put))
    for key in left:
        repair = REPAIR_TIMELINE.transact(as_read, REPAIR_TIMELINE.step("surplus live copy", key))
        yield Finding("I5", key, "the copy of a reservation that is not live", key, locker_id, repair)


def _stale_guard(locker_id: LockerId, guard: Guard | None, stored: list[StoredReservation]) -> Iterator[Finding]:
    """The last change that the guard names must be there: every later write of the reservations checks it."""
    if guard is None or guard.changed_start_at is None or guard.changed_reservation_id is None:
        return
    key = keys.reservation_guard(locker_id)
    place = (locker_id, guard.changed_start_at, guard.changed_reservation_id)
    for one in stored:
        reservation = one.reservation
        if STORED_RESERVATION.key_of(one) == keys.reservation(*place):
            if guard.changed_revision is not None and (one.revision or 0) < guard.changed_revision:
                yield Finding(
                    "I5", key, f"reservation {reservation.reservation_id} lacks its last change", key, locker_id
                )
            return
    repair = REPAIR_TIMELINE.transact(
        REPAIR_TIMELINE.step(
            "stale guard",
            (locker_id,),
            {
                "revision": guard.revision + 1,
                "changedStartAt": None,
                "changedReservationId": None,
                "changedRevision": None,
            },
            readRevision=guard.revision,
        ),
        REPAIR_TIMELINE.step("no reservation", place),
    )
    problem = f"the guard names reservation {guard.changed_reservation_id}, which does not exist"
    yield Finding("I5", key, problem, key, locker_id, repair)


def pointer_problem(pointer: ActivePointer | None, live: list[Reservation], now: Instant) -> str | None:
    """The problem of the pointer to live reservations, which are in order of their starts; None if it is right."""
    not_ended = [reservation for reservation in live if not has_ended(reservation, now)]
    if pointer is None:
        return f"no pointer to reservation {not_ended[0].reservation_id}" if not_ended else None
    pointed = pointer.reservation
    if pointed not in live:
        return f"the pointer names reservation {pointed.reservation_id}, which is not live or differs"
    if any(reservation.start_at < pointed.start_at for reservation in not_ended):
        return f"reservation {not_ended[0].reservation_id} is before the pointed one and has not ended"
    if pointer.last_end_at is not None and pointer.last_end_at < max(reservation.end_at for reservation in live):
        return "a reservation ends after the pointer's latest end"
    return None


def _pointing(
    locker_id: LockerId, guard: Guard | None, pointer: ActivePointer | None, live: list[Reservation], now: Instant
) -> Transact:
    ahead = [reservation for reservation in live if not has_ended_everywhere(reservation, now)]
    place = (locker_id,)
    becomes: dict[str, Any] = {}
    if ahead:
        last_end = max(reservation.end_at for reservation in live)
        becomes = ACTIVE_POINTER.encode(ActivePointer(reservation=ahead[0], last_end_at=last_end))
    if pointer is None:
        step = REPAIR_TIMELINE.step("missing pointer", place, becomes)
    else:
        name = "pointer" if ahead else "surplus pointer"
        step = REPAIR_TIMELINE.step(name, place, becomes, **pointer_as_read(pointer))
    return REPAIR_TIMELINE.transact(_guard_step(locker_id, guard), step)


def _guard_step(locker_id: LockerId, guard: Guard | None) -> Step:
    """Checks that the guard is as it was read, or creates a missing one."""
    if guard is None:
        return REPAIR_TIMELINE.step("missing guard", (locker_id,), GUARD.encode(Guard(revision=1)))
    return REPAIR_TIMELINE.step("guard", (locker_id,), readRevision=guard.revision)
