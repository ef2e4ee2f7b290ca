"""Rules for reservation windows, which are half-open intervals, and for event timestamps."""

import zlib
from collections.abc import Iterable, Sequence
from datetime import timedelta

from domain.errors import BadInputError
from domain.models import (
    ActivePointer,
    Locker,
    LockerStatus,
    Reservation,
    ReservationOutcome,
    ReservationSlot,
    ReservationStatus,
)
from domain.retention import first_kept
from domain.times import Instant, shift, to_datetime

CLOCK_SKEW = timedelta(seconds=10)
"""The tolerated difference between the times of two servers. Each is right within two seconds while its store is."""
LONGEST_SPAN = timedelta(days=31)
MAX_EVENT_CLOCK_SKEW = timedelta(minutes=5)


def check_end_after_start(start: Instant, end: Instant, end_field: str) -> None:
    if end <= start:
        raise BadInputError(f"{end_field} must be after the start", ("input", end_field))


def check_reservation_window(start: Instant, end: Instant, now: Instant, longest: timedelta, end_field: str) -> None:
    path = ("input", end_field)
    if end <= now:
        raise BadInputError(f"{end_field} must be in the future", path)
    if to_datetime(end) - to_datetime(start) > longest:
        raise BadInputError(f"a reservation must not be longer than {_format(longest)}", path)


def check_event_time(timestamp: Instant, now: Instant, kept: timedelta | None, path: Sequence[str]) -> None:
    """Rejects a timestamp further in the future than a device's clock may be ahead, or of what is kept no longer."""
    if timestamp > shift(now, MAX_EVENT_CLOCK_SKEW):
        raise BadInputError(f"{path[-1]} must not be more than {_format(MAX_EVENT_CLOCK_SKEW)} in the future", path)
    if kept is not None and timestamp < first_kept(now, kept):
        raise BadInputError(f"{path[-1]} must not be {kept.days} days ago or more: events are kept no longer", path)


def has_ended(reservation: Reservation, now: Instant) -> bool:
    """Whether the window has ended; the end is not part of the window."""
    return reservation.end_at <= now


def has_ended_everywhere(reservation: Reservation, now: Instant) -> bool:
    """Whether the window is over by the clock of every server, not only by this one's."""
    return has_ended(reservation, shift(now, -CLOCK_SKEW))


def may_hide_another(pointer: ActivePointer, now: Instant) -> bool:
    """Whether a reservation other than the pointed one may be current: the pointed one has ended, others may not."""
    return has_ended(pointer.reservation, now) and (pointer.last_end_at is None or now < pointer.last_end_at)


def may_precede_another(pointer: ActivePointer, now: Instant) -> bool:
    """Whether a reservation that has not begun may follow the pointed one, which has."""
    pointed = pointer.reservation
    is_last = pointer.last_end_at is not None and pointer.last_end_at <= max(pointed.end_at, now)
    return pointed.start_at <= now and not is_last


def is_free(pointer: ActivePointer | None, start: Instant, end: Instant) -> bool | None:
    """Whether no live reservation overlaps a window that is not over; None where the pointer does not tell."""
    if pointer is None:
        return True
    pointed = pointer.reservation
    if overlaps(pointed, start, end):
        return False
    # No live reservation that has not ended starts before the pointed one.
    is_before = end <= pointed.start_at
    return True if is_before or (pointer.last_end_at is not None and pointer.last_end_at <= start) else None


def merged(windows: Iterable[tuple[Instant, Instant]], start: Instant, end: Instant) -> list[tuple[Instant, Instant]]:
    """Windows, by start, as far as they lie between start and end; those that touch become one."""
    found: list[tuple[Instant, Instant]] = []
    for opens, closes in windows:
        first, last = max(opens, start), min(closes, end)
        if found and first <= found[-1][1]:
            found[-1] = found[-1][0], max(last, found[-1][1])
        elif first < last:
            found.append((first, last))
    return found


def check_span(start: Instant, end: Instant) -> None:
    """Rejects a window of a search that is empty or too long."""
    if end <= start:
        raise BadInputError("window.to must be after window.from.", ("window", "to"))
    if to_datetime(end) - to_datetime(start) > LONGEST_SPAN:
        raise BadInputError(f"window must not be longer than {_format(LONGEST_SPAN)}.", ("window", "to"))


def future_of(start: Instant, end: Instant, now: Instant) -> tuple[Instant, Instant]:
    """The part of a searched window that is not over; rejects a window that is."""
    if end <= now:
        raise BadInputError("window.to must be in the future.", ("window", "to"))
    return max(start, now), end


def has_begun(reservation: Reservation, now: Instant) -> bool:
    """Whether the window has begun; after a check-in it has, even if the clock of that server is ahead of this one."""
    return reservation.started_at is not None or reservation.start_at <= now


def is_current(reservation: Reservation, now: Instant) -> bool:
    return reservation.start_at <= now < reservation.end_at


def effective_status(reservation: Reservation, now: Instant) -> ReservationStatus:
    """Status at `now`: until someone ends a reservation, its window and its check-in decide."""
    if reservation.status is not ReservationStatus.ACTIVE:
        return reservation.status
    if now < reservation.start_at:
        return ReservationStatus.UPCOMING
    if not has_ended(reservation, now):
        return ReservationStatus.ACTIVE
    return ReservationStatus.EXPIRED if reservation.started_at is None else ReservationStatus.COMPLETED


def occupies(reservation: Reservation, locker: Locker) -> bool:
    return locker.status is LockerStatus.OCCUPIED and locker.occupied_by == reservation.reservation_id


def outcome_of(reservation: Reservation, locker: Locker) -> ReservationOutcome:
    """The outcome of a reservation whose time is over and that nobody has ended."""
    if occupies(reservation, locker):
        return ReservationOutcome.OCCUPIED
    return ReservationOutcome.EXPIRED if reservation.started_at is None else ReservationOutcome.COMPLETED


def overlaps(reservation: Reservation, start: Instant, end: Instant) -> bool:
    """Whether the reservation is neither canceled nor released, and overlaps the window."""
    is_live = reservation.status is ReservationStatus.ACTIVE
    return is_live and reservation.start_at < end and start < reservation.end_at


def free_slot(slots: Sequence[ReservationSlot], most: int, now: Instant, chosen_by: str) -> str | None:
    """A slot that an owner with `most` slots may take, or None where all are taken.

    Taken slots beyond the limit, from a time when it was higher, reduce the number of slots. A slot whose reservation
    has not ended by every clock is the last choice. Two reservations at once usually choose different slots.
    """
    taken = {slot.slot for slot in slots if now < slot.end_at}
    doubtful = {slot.slot for slot in slots if shift(now, -CLOCK_SKEW) < slot.end_at}
    usable = most - sum(int(slot) >= most for slot in taken)
    free = [name for name in map(slot_name, range(usable)) if name not in taken]
    choice = [name for name in free if name not in doubtful] or free
    return choice[zlib.crc32(chosen_by.encode()) % len(choice)] if choice else None


def slot_name(number: int) -> str:
    return f"{number:04d}"


def _format(duration: timedelta) -> str:
    unit, length = ("day", timedelta(days=1)) if duration >= timedelta(days=1) else ("minute", timedelta(minutes=1))
    count = duration / length
    return f"{count:g} {unit}{'' if count == 1 else 's'}"
