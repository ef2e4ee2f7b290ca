"""Runs the read contracts that are not batched: look-ups through a claim, and every list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.bookings import check_calendar_window
from domain.text import normalised_email
from domain.times import Day
from loaders import keys
from loaders.contract import Order
from loaders.contracts import (
    QC_01,
    QC_02,
    QC_05,
    QC_09,
    QC_10,
    QC_14,
    QC_15,
    QC_21,
    QC_31,
    QC_32,
    QC_34,
    QC_42,
    QC_44,
    QC_45,
    QC_47,
    QC_48,
    QC_60,
    QC_63,
)
from loaders.items import (
    ACCESS_EVENT,
    API_KEY,
    BOOKING,
    CALENDAR_SLOT,
    EMAIL_CLAIM,
    LOCATION,
    LOCATION_CODE,
    LOCATION_LOCKER,
    LOCKER,
    NOTIFICATION,
    OWNER,
    OWNER_BOOKING,
    OWNER_LOCKER,
    OWNER_RESERVATION,
    PAYMENT,
    RESERVATION,
    RESERVATION_CLAIM,
)
from loaders.pages import read_page, read_range

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.api_keys import ApiKey, ApiKeyId
    from domain.bookings import Booking, BookingId, CalendarSlot, Notification, Payment
    from domain.models import (
        AccessEvent,
        Location,
        LocationId,
        LocationStatus,
        Locker,
        LockerId,
        LockerSummary,
        Owner,
        OwnerId,
        Reservation,
        ReservationId,
    )
    from loaders.pages import Page, Slice, Window
    from loaders.table.client import Store

__all__ = [
    "access_events",
    "api_key",
    "api_keys",
    "booking_payments",
    "calendar",
    "consistent_locker",
    "latest_event",
    "location_id_of",
    "location_lockers",
    "locations",
    "locker_reservations",
    "owner_bookings",
    "owner_by_email",
    "owner_lockers",
    "owner_notifications",
    "owner_reservations",
    "pending_bookings",
    "reservation_by_id",
]


async def owner_lockers(store: Store, owner_id: OwnerId, part: Slice) -> Page[LockerSummary]:
    """An owner's lockers, as the owner's copies show them (QC-02)."""
    return await read_page(store, QC_02, keys.owner_lockers(owner_id), OWNER_LOCKER, part=part)


async def locker_reservations(
    store: Store, locker_id: LockerId, window: Window, part: Slice, order: Order
) -> Page[Reservation]:
    """A locker's reservations that start in a window (QC-05)."""
    within = keys.locker_reservations(locker_id, window.start, window.end)
    return await read_page(store, QC_05, within, RESERVATION, part=part, order=order)


async def owner_reservations(
    store: Store, owner_id: OwnerId, window: Window, part: Slice, order: Order
) -> Page[Reservation]:
    """The reservations that an owner made and that start in a window (QC-14)."""
    within = keys.owner_reservations(owner_id, window.start, window.end)
    return await read_page(store, QC_14, within, OWNER_RESERVATION, part=part, order=order)


async def access_events(
    store: Store, locker_id: LockerId, window: Window, part: Slice, order: Order
) -> Page[AccessEvent]:
    """A locker's events in a window (QC-09)."""
    within = keys.locker_events(locker_id, window.start, window.end)
    return await read_page(store, QC_09, within, ACCESS_EVENT, part=part, order=order)


async def locations(store: Store, status: LocationStatus, part: Slice) -> Page[Location]:
    """The locations of a status, newest first (QC-32)."""
    return await read_page(store, QC_32, keys.locations(status), LOCATION, part=part, order=Order.DESC)


async def location_lockers(store: Store, location_id: LocationId, part: Slice) -> Page[LockerSummary]:
    """A location's lockers, as the location's copies show them (QC-34)."""
    return await read_page(store, QC_34, keys.location_lockers(location_id), LOCATION_LOCKER, part=part)


async def pending_bookings(store: Store, part: Slice) -> Page[Booking]:
    """The bookings that nobody has decided, oldest first (QC-42)."""
    return await read_page(store, QC_42, keys.pending_bookings(), BOOKING, part=part)


async def owner_bookings(store: Store, owner_id: OwnerId, part: Slice, order: Order) -> Page[Booking]:
    """The bookings that an owner asked for, by date (QC-45)."""
    return await read_page(store, QC_45, keys.owner_bookings(owner_id), OWNER_BOOKING, part=part, order=order)


async def owner_notifications(store: Store, owner_id: OwnerId, part: Slice) -> Page[Notification]:
    """What an owner was told, newest first (QC-48)."""
    within = keys.owner_notifications(owner_id)
    return await read_page(store, QC_48, within, NOTIFICATION, part=part, order=Order.DESC)


async def booking_payments(store: Store, booking_id: BookingId, part: Slice) -> Page[Payment]:
    """The payments of a booking (QC-47)."""
    return await read_page(store, QC_47, keys.booking_payments(booking_id), PAYMENT, part=part)


async def calendar(store: Store, location_id: LocationId, first: Day, last: Day) -> list[CalendarSlot]:
    """The taken half days of a location from the first day to the last, in one Query (QC-44)."""
    check_calendar_window(first, last)
    within = keys.calendar_days(location_id, first, last)
    found = await read_range(store, QC_44, within, limit=QC_44.page.maximum, forward=True)
    return [CALENDAR_SLOT.decode(item) for _, item in found]


async def location_id_of(store: Store, code: str) -> LocationId | None:
    """Which location a code belongs to: the first of the two reads of QC-31."""
    claimed = await store.get(QC_31.get(keys.location_code(code)))
    return None if claimed is None else LOCATION_CODE.decode(claimed).location_id


async def api_key(store: Store, key_id: ApiKeyId, *, consistent: bool = False) -> ApiKey | None:
    """All that is kept of an API key (QC-60)."""
    item = await store.get(QC_60.get(keys.api_key(key_id), consistent=consistent))
    return None if item is None else API_KEY.decode(item)


async def api_keys(store: Store, part: Slice) -> Page[ApiKey]:
    """All API keys, newest first (QC-63)."""
    return await read_page(store, QC_63, keys.api_keys(), API_KEY, part=part, order=Order.DESC)


async def consistent_locker(store: Store, locker_id: LockerId) -> Locker | None:
    """A locker as the last acknowledged write left it."""
    item = await store.get(QC_01.get(keys.locker(locker_id), consistent=True))
    return None if item is None else LOCKER.decode(item)


async def reservation_by_id(store: Store, locker_id: LockerId, reservation_id: ReservationId) -> Reservation | None:
    """A reservation through its claim, which knows the start."""
    claimed = await store.get(QC_15.get(keys.reservation_claim(locker_id, reservation_id)))
    if claimed is None:
        return None
    claim = RESERVATION_CLAIM.decode(claimed)
    key = keys.reservation(locker_id, claim.start_at, reservation_id)
    # A plain read may see the claim before the reservation that was written with it.
    item = await store.get(QC_15.get(key)) or await store.get(QC_15.get(key, consistent=True))
    return None if item is None else RESERVATION.decode(item)


async def owner_by_email(store: Store, email: str, may_see: Callable[[OwnerId], bool]) -> Owner | None:
    """The owner of an address, through its claim; an address that moved between the two reads is nobody's.

    An owner that may not be seen is not read: like one that does not exist, it takes one read.
    """
    address = normalised_email(email)
    claimed = await store.get(QC_21.get(keys.email_claim(address)))
    owner_id = None if claimed is None else EMAIL_CLAIM.decode(claimed).owner_id
    if owner_id is None or not may_see(owner_id):
        return None
    item = await store.get(QC_21.get(keys.owner(owner_id)))
    owner = None if item is None else OWNER.decode(item)
    return owner if owner and owner.email and normalised_email(owner.email) == address else None


async def latest_event(store: Store, locker_id: LockerId) -> AccessEvent | None:
    """The newest event of a locker."""
    answer = await store.query(QC_10.query(keys.locker_events(locker_id), limit=1, forward=False))
    return ACCESS_EVENT.decode(answer.items[0][1]) if answer.items else None
