"""Reservations as a client uses them: the documents, and windows of time."""

from typing import Any

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


async def active(api: Api) -> Any:
    found = (await api.run(ACTIVE))["locker"]["activeReservation"]
    return found and found["reservationId"]
