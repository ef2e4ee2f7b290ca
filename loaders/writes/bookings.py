"""Writes of bookings: a booking, its copy, its half days and what its owner is told change together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from domain.bookings import Booking, BookingId, BookingStatus
from domain.commands import fingerprint
from domain.errors import (
    BadInputError,
    BookingClosedError,
    ForbiddenError,
    IdTakenError,
    LocationInactiveError,
    MissingError,
    SlotTakenError,
    UnavailableError,
    VersionConflictError,
)
from domain.models import Location, LocationStatus, OwnerId, OwnerRole
from domain.principal import Scope, absent, acts_for, is_admin, may_decide_as, require
from domain.times import day_in
from loaders import keys
from loaders.contracts import QC_40, QC_43
from loaders.items import (
    BOOKING,
    CALENDAR_SLOT,
    LOCATION,
    OWNER,
    DamagedItemError,
)
from loaders.table.errors import TransactionRefusedError
from loaders.table.retry import attempts
from loaders.writes.booking_steps import approving, cancelling, rejecting, requesting

if TYPE_CHECKING:
    from domain.booking_commands import ApproveBooking, CancelBooking, RejectBooking, RequestBooking
    from domain.models import LocationId
    from domain.principal import Principal
    from domain.times import Day, Instant
    from loaders.backend import Backend

__all__ = [
    "approve_booking",
    "cancel_booking",
    "check_admin",
    "check_location",
    "check_slots",
    "reject_booking",
    "request_booking",
]


async def request_booking(backend: Backend, command: RequestBooking, principal: Principal) -> Booking:
    """Asks for a day or half day that has not begun at the location (QC-40)."""
    require(acts_for(principal, command.owner_id, Scope.BOOKINGS_WRITE), ("input", "ownerId"))
    booking_id = command.booking_id or BookingId(backend.new_id())
    content = fingerprint(command, without="booking_id")
    place, own = keys.location(command.location_id), keys.booking(booking_id)
    found = await backend.store.batch_get(QC_40.batch([place, own], consistent=True))
    if own in found:
        return _first_result(found[own], content)
    if place not in found:
        raise MissingError(f"There is no location {command.location_id}.", ("input", "locationId"))
    now = backend.clock()
    _check_day(LOCATION.decode(found[place]), command, now)
    booking = Booking(
        **command.model_dump(exclude={"booking_id"}),
        booking_id=booking_id,
        status=BookingStatus.PENDING,
        requested_at=now,
        updated_at=now,
        decided_by=None,
        reason=None,
        version=1,
    )
    try:
        await backend.store.transact(requesting(booking, content))
    except TransactionRefusedError as refusal:
        existing = refusal.failed.get("booking")
        if existing is not None:
            return _first_result(existing, content)
        check_location(refusal, command.location_id)
        raise MissingError(f"There is no owner {command.owner_id}.", ("input", "ownerId")) from None
    return booking


async def approve_booking(backend: Backend, command: ApproveBooking, principal: Principal) -> Booking:
    """Lets a booking into the calendar of a location that is active, before its day is over (QC-43)."""
    return await _decide(backend, command, principal, BookingStatus.APPROVED, None)


async def reject_booking(backend: Backend, command: RejectBooking, principal: Principal) -> Booking:
    """Turns a booking down (QC-43)."""
    return await _decide(backend, command, principal, BookingStatus.REJECTED, command.reason)


async def cancel_booking(backend: Backend, command: CancelBooking, principal: Principal) -> Booking:
    """Gives a booking up before its day, and frees what it had (QC-43)."""
    require(acts_for(principal, command.owner_id, Scope.BOOKINGS_WRITE), ("input", "ownerId"))
    async for _ in attempts(QC_43.rounds):
        booking = await _read(backend, command.booking_id, principal)
        if booking.owner_id != command.owner_id:
            require(is_admin(principal), ("input", "bookingId"))  # who is no admin reads the same of a missing one
            raise ForbiddenError("Only who asked for a booking may cancel it.", ("input", "ownerId"))
        if booking.status is BookingStatus.CANCELLED:
            return booking
        if booking.status is BookingStatus.REJECTED:
            raise BookingClosedError("The booking was rejected, so it cannot be cancelled.", booking)
        now = backend.clock()
        if await _today(backend, booking, now) >= booking.date:
            raise BookingClosedError("The booking's day has come, so it cannot be cancelled.", booking)
        cancelled = replace(booking, status=BookingStatus.CANCELLED, updated_at=now, version=booking.version + 1)
        try:
            await backend.store.transact(cancelling(booking, cancelled))
        except TransactionRefusedError:
            continue  # somebody decided it meanwhile
        return cancelled
    raise UnavailableError("Too many changes met at this booking: try again in a moment.", ("input", "bookingId"))


def check_admin(refusal: TransactionRefusedError) -> None:
    """Whoever decides must be an admin."""
    if "admin" in refusal.failed:
        raise _no_admin() from None


def check_location(
    refusal: TransactionRefusedError, location_id: LocationId, path: tuple[str, ...] = ("input", "locationId")
) -> None:
    """A location must be there, and active."""
    if "location" not in refusal.failed:
        return
    if refusal.failed["location"] is None:
        raise MissingError(f"There is no location {location_id}.", path) from None
    raise LocationInactiveError(f"Location {location_id} is inactive.", path) from None


def check_slots(refusal: TransactionRefusedError, path: tuple[str, ...], but: BookingId | None = None) -> None:
    """A half day belongs to one event; that it is the booking's own already is no obstacle to it."""
    for step, item in refusal.refused:
        slot = CALENDAR_SLOT.decode(item) if step.name == "slot" and item is not None else None
        if slot is not None and (but is None or slot.booking_id != but):
            raise SlotTakenError(slot, path) from None


async def _decide(
    backend: Backend,
    command: ApproveBooking | RejectBooking,
    principal: Principal,
    status: BookingStatus,
    reason: str | None,
) -> Booking:
    require(may_decide_as(principal, command.admin_id), ("input", "adminId"))
    approves = status is BookingStatus.APPROVED
    async for _ in attempts(QC_43.rounds):
        booking = await _read(backend, command.booking_id, principal)
        if booking.status is status:
            await _check_admin_now(backend, command.admin_id)
            return booking
        if booking.status is not BookingStatus.PENDING:
            message = f"The booking was {booking.status.lower()}, so it cannot be decided any more."
            raise BookingClosedError(message, booking)
        if booking.version != command.expected_version:
            raise VersionConflictError(booking)
        now = backend.clock()
        if approves and await _today(backend, booking, now) > booking.date:
            raise BookingClosedError("The booking's day has passed, so it cannot be approved.", booking)
        decided = replace(
            booking,
            status=status,
            reason=reason,
            decided_by=command.admin_id,
            updated_at=now,
            version=booking.version + 1,
        )
        try:
            await backend.store.transact((approving if approves else rejecting)(booking, decided))
        except TransactionRefusedError as refusal:
            check_admin(refusal)
            if "booking" not in refusal.failed:
                check_slots(refusal, ("input", "bookingId"), but=booking.booking_id)
                check_location(refusal, booking.location_id, ("input", "bookingId"))
            continue  # somebody else decided it meanwhile
        return decided
    raise UnavailableError("Too many changes met at this booking: try again in a moment.", ("input", "bookingId"))


async def _read(backend: Backend, booking_id: BookingId, principal: Principal) -> Booking:
    item = await backend.store.get(QC_43.get(keys.booking(booking_id), consistent=True))
    if item is None:
        raise absent(principal, f"There is no booking {booking_id}.", ("input", "bookingId"))
    return BOOKING.decode(item)


async def _today(backend: Backend, booking: Booking, now: Instant) -> Day:
    """The day that it is where the booking is for."""
    item = await backend.store.get(QC_43.get(keys.location(booking.location_id), consistent=True))
    if item is None:
        named = keys.masked(keys.location(booking.location_id))
        raise DamagedItemError(f"a booking names {named}, which does not exist")
    return day_in(LOCATION.decode(item).time_zone, now)


async def _check_admin_now(backend: Backend, admin_id: OwnerId) -> None:
    """What a transaction's condition checks, where nothing is left to write."""
    item = await backend.store.get(QC_43.get(keys.owner(admin_id), consistent=True))
    if item is None or OWNER.decode(item).role is not OwnerRole.ADMIN:
        raise _no_admin()


def _no_admin() -> ForbiddenError:
    return ForbiddenError("Only an admin may do this.", ("input", "adminId"))


def _first_result(item: Any, content: str) -> Booking:
    booking = BOOKING.decode(item)
    if item.get("fingerprint") != content:
        message = f"The id {booking.booking_id} was used before, for another booking."
        raise IdTakenError(message, ("input", "bookingId")) from None
    return booking


def _check_day(location: Location, command: RequestBooking, now: Instant) -> None:
    if location.status is not LocationStatus.ACTIVE:
        raise LocationInactiveError(f"Location {location.location_id} is inactive.", ("input", "locationId"))
    today = day_in(location.time_zone, now)
    if command.date < today:
        raise BadInputError(f"date must not lie before today, which is {today} at the location", ("input", "date"))
