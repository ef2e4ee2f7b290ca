"""Moments: what becomes true by time alone is logged, once, by the first who looks."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from domain.activity import ActivityKind, reservation_happening
from domain.errors import TooManyChangesError
from domain.models import Locker, Reservation, ReservationOutcome, ReservationStatus, record_from
from domain.schedule import CLOCK_SKEW, has_ended_everywhere, outcome_of
from domain.times import Instant, shift
from loaders.backend import Backend
from loaders.codecs import OverdueStay, StoredReservation
from loaders.concurrency import together
from loaders.contracts.base import Order
from loaders.contracts.reservations import DUE_RESERVATIONS, END_RESERVATION
from loaders.conversion import DamagedItemError
from loaders.pages import PageRequest
from loaders.table.clock import machine_timer
from loaders.writes.lockers import locker_as_read
from loaders.writes.log import Log
from loaders.writes.optimistic import Decision, optimistic_write
from loaders.writes.timeline import live_step

if TYPE_CHECKING:
    from loaders.table.operations import Step

logger = logging.getLogger(__name__)

_AT_ONCE = 8
"""How many reservations that end at the same time are ended at once."""
_SECONDS = 3
"""After how long a sweep lets others of the process have their turn."""


async def end_due_reservations(backend: Backend, shard: int, now: Instant) -> bool:
    """Logs the ends that are due in a part of the log, in their order; returns whether there may be more.

    What cannot be ended, since it is damaged or just changing, does not keep others from their turn.
    """
    began, permits, cursor = machine_timer(), asyncio.Semaphore(_AT_ONCE), None
    while True:
        request = PageRequest(DUE_RESERVATIONS.page_rule.default, cursor=cursor)
        page = await DUE_RESERVATIONS.page(backend.store, request, Order.ASC, shard, shift(now, -CLOCK_SKEW))
        for _, due in groupby(page.nodes, attrgetter("end_at")):
            await together((_end(backend, one, now) for one in due), permits)
        cursor = page.next_cursor
        if cursor is None or machine_timer() - began > _SECONDS:
            return cursor is not None


async def _end(backend: Backend, due: Reservation, now: Instant) -> None:
    """Logs the end of a reservation (QC-141).

    The list in which it was found may be older than its record, which decides.
    """
    place = (due.locker_id, due.start_at, due.reservation_id)

    async def decide(_: Counter[str]) -> Decision[None]:
        read = await END_RESERVATION.read_batch(backend.store, reservation=place, locker=(due.locker_id,))
        stored, locker = read["reservation"], read["locker"]
        if stored is None or locker is None or not _is_due(stored, now):
            return Decision(None)
        made = stored.reservation
        outcome = outcome_of(made, locker)
        ended = reservation_happening(ActivityKind.RESERVATION_ENDED, made, locker, reserved_at=stored.location_id)
        happenings = [replace(ended, outcome=outcome.value)]
        if outcome is ReservationOutcome.OCCUPIED:
            happenings.append(replace(ended, kind=ActivityKind.RESERVATION_OVERDUE))
        steps = _steps(replace(stored, ended_as=outcome), locker)
        return Decision(None, steps, happenings)

    try:
        await optimistic_write(backend.store, END_RESERVATION, decide, log=Log(backend, None))
    except (DamagedItemError, TooManyChangesError) as error:
        logger.warning("the end of a reservation is not logged yet: %s", error)


def overdue_stay(made: Reservation) -> OverdueStay:
    """A reservation that is over and occupies its locker, as it is in that list."""
    return record_from(OverdueStay, made, overdue_since=made.end_at)


def _is_due(stored: StoredReservation, now: Instant) -> bool:
    made = stored.reservation
    is_live = made.status is ReservationStatus.ACTIVE and stored.ended_as is None
    return is_live and has_ended_everywhere(made, now)


def _steps(ended: StoredReservation, locker: Locker) -> list[Step]:
    contract, made, place = END_RESERVATION, ended.reservation, (locker.locker_id,)
    mark = {"endedAs": ended.ended_as}
    as_read: dict[str, Any] = {"live": made.status, "readEnd": made.end_at, "readVersion": made.version}
    steps = [
        contract.step("reservation", (made.locker_id, made.start_at, made.reservation_id), mark, **as_read),
        live_step(contract, ended),
    ]
    match ended.ended_as:
        case ReservationOutcome.OCCUPIED:
            since = {"overdueSince": made.end_at}
            steps.append(contract.step("occupied locker", place, since, **locker_as_read(locker)))
            steps.append(contract.record_step("overdue stay", overdue_stay(made)))
        case ReservationOutcome.COMPLETED:
            # Record and locker are not read at the same moment: a late check-in may lie between.
            steps.append(contract.step("left locker", place, reservationId=made.reservation_id))
    return steps
