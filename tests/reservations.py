"""Reservations as a client uses them: the documents, and windows of time."""

from typing import Any

from domain.models import LockerId, OwnerId, ReservationId
from domain.times import Instant
from loaders import keys
from loaders.backend import Backend
from loaders.codecs import OVERDUE_STAY, OverdueStay
from loaders.writes.moments import end_due_reservations
from tests.api import Api, mutation

CANCEL = mutation("cancelReservation", "reservation { status }")
EXTEND = mutation("extendReservation", "reservation { endAt }")
SHORTEN = mutation("shortenReservation", "reservation { endAt }")
START = mutation("startReservation", "reservation { version startedAt }")
RELEASE = mutation("releaseReservation", "reservation { status }")
ACTIVE = '{ locker(lockerId: "l1") { activeReservation { reservationId } } }'


def hours(start: float, end: float) -> dict[str, str]:
    """A window on the day after the tests' present."""
    return {
        f"{name}At": f"2026-03-02T{int(hour):02d}:{int(hour % 1 * 60):02d}:00Z"
        for name, hour in (("start", start), ("end", end))
    }


def overdue_item(locker_id: str, reservation_id: str, owner_id: str, start_at: str) -> dict[str, Any]:
    """The item of a reservation that ended a moment ago and occupies its locker, in the list of those."""
    stay = OverdueStay(
        locker_id=LockerId(locker_id),
        reservation_id=ReservationId(reservation_id),
        owner_id=OwnerId(owner_id),
        start_at=Instant(start_at),
        overdue_since=Instant("2026-03-01T11:59:00.000Z"),
    )
    key = OVERDUE_STAY.key_of(stay)
    return {"PK": key.pk, "SK": key.sk, **OVERDUE_STAY.encode(stay)}


async def sweep(backend: Backend) -> None:
    """Ends what is due in all parts of the log."""
    for shard in range(keys.LOG_SHARDS):
        while await end_due_reservations(backend, shard, backend.clock()):
            pass


async def active(api: Api) -> Any:
    found = (await api.run(ACTIVE))["locker"]["activeReservation"]
    return found and found["reservationId"]
