"""Writes of bookings: a booking, its copy, its half days and its owner's notification change together."""

from __future__ import annotations

import logging
from collections import Counter

from domain.activity import ActivityKind, booking_happening
from domain.authorization import Principal, Scope, acts_for, is_admin, not_found_or_forbidden, require
from domain.bookings import Booking, BookingId, BookingStatus
from domain.changes import ChangeRequest, revised
from domain.commands.base import fingerprint
from domain.commands.bookings import ApproveBooking, CancelBooking, RejectBooking, RequestBooking
from domain.errors import (
    BadInputError,
    BookingClosedError,
    ForbiddenError,
    IdTakenError,
    LocationInactiveError,
    NotFoundError,
    SlotTakenError,
    TooManyPendingError,
)
from domain.models import Location, LocationStatus, Owner, OwnerRole
from domain.times import Day, Instant, local_day
from loaders import keys
from loaders.backend import Backend
from loaders.codecs import CALENDAR_SLOT, REQUESTED_BOOKING, RequestedBooking
from loaders.contracts.bookings import DECIDE_BOOKING, REQUEST_BOOKING
from loaders.conversion import DamagedItemError
from loaders.table.errors import TransactionRefusedError
from loaders.writes.booking_steps import cancel_steps, decision_steps, request_steps
from loaders.writes.locations import check_location
from loaders.writes.log import Log
from loaders.writes.optimistic import Decision, optimistic_write
from loaders.writes.owners import check_owner

logger = logging.getLogger(__name__)

_BOOKING = ("booking", "bookingId")


async def request_booking(backend: Backend, command: RequestBooking, principal: Principal) -> Booking:
    """Requests a day or half day of a location, today or later by its time zone (QC-40)."""
    require(acts_for(principal, command.owner_id, Scope.BOOKINGS_WRITE), ("input", "ownerId"))
    booking_id = command.booking_id or BookingId(backend.new_id())
    content = fingerprint(command, without="booking_id")
    read = await REQUEST_BOOKING.read_batch(backend.store, location=(command.location_id,), booking=(booking_id,))
    if read["booking"] is not None:
        return _first_result(read["booking"], content)
    if read["location"] is None:
        raise NotFoundError(f"Location {command.location_id} does not exist.", ("input", "locationId"))
    now = backend.clock()
    _check_day(read["location"], command, now)
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
        steps = request_steps(booking, content, backend.most_pending_bookings)
        happening = booking_happening(ActivityKind.BOOKING_REQUESTED, booking)
        await Log(backend, principal).transact(REQUEST_BOOKING, steps, happening)
    except TransactionRefusedError as refusal:
        existing = refusal.failed.get("booking")
        if existing is not None:
            return _first_result(REQUESTED_BOOKING.decode(existing), content)
        check_location(refusal, command.location_id)
        check_owner(refusal, command.owner_id)
        raise TooManyPendingError(backend.most_pending_bookings) from None
    return booking


async def approve_booking(backend: Backend, command: ApproveBooking, principal: Principal) -> Booking:
    """Approves a booking of an active location, on its day at the latest (QC-43)."""
    return await _decide(backend, command, principal, BookingStatus.APPROVED, None)


async def reject_booking(backend: Backend, command: RejectBooking, principal: Principal) -> Booking:
    return await _decide(backend, command, principal, BookingStatus.REJECTED, command.reason)


async def cancel_booking(backend: Backend, command: CancelBooking, principal: Principal) -> Booking:
    """Cancels a booking before its day, and frees its half days (QC-43)."""

    async def decide(refused: Counter[str]) -> Decision[Booking]:
        booking = await _read(backend, command.booking_id, principal)
        require(acts_for(principal, booking.owner_id, Scope.BOOKINGS_WRITE), ("input", "bookingId"))
        if booking.status is BookingStatus.CANCELLED:
            return Decision(booking)
        if booking.status is BookingStatus.REJECTED:
            raise BookingClosedError("The booking was rejected, so it cannot be canceled.", booking)
        now = backend.clock()
        if await _today(backend, booking, now) >= booking.date:
            raise BookingClosedError("The booking's day has come, so it cannot be canceled.", booking)
        # A cancellation is recognized by the status, so it leaves no token.
        canceled = revised(booking, now, status=BookingStatus.CANCELLED)
        steps = cancel_steps(booking, canceled, counted=not refused["pending"])
        return Decision(canceled, steps, [booking_happening(ActivityKind.BOOKING_CANCELLED, canceled, booking)])

    log = Log(backend, principal)
    return await optimistic_write(backend.store, DECIDE_BOOKING, decide, log=log, changed=_BOOKING)


def check_admin(refusal: TransactionRefusedError) -> None:
    """Rejects a decision by an owner who is not an admin."""
    if "admin" in refusal.failed:
        raise _no_admin() from None


def check_slots(refusal: TransactionRefusedError, path: tuple[str, ...], booking: Booking | None = None) -> None:
    """Reports a half day that is taken, unless the booking itself has it already."""
    for step, item in refusal.refused:
        if step.name != "half day" or item is None:
            continue
        try:
            slot = CALENDAR_SLOT.decode(item)
        except DamagedItemError as damage:
            logger.error("a half day cannot be taken: %s", damage)  # noqa: TRY400  # no fault of ours to trace
            raise SlotTakenError(None, path, booking) from None
        if booking is None or slot.booking_id != booking.booking_id:
            raise SlotTakenError(slot, path, booking) from None


async def _decide(
    backend: Backend,
    command: ApproveBooking | RejectBooking,
    principal: Principal,
    status: BookingStatus,
    reason: str | None,
) -> Booking:
    require(is_admin(principal), ("input",))
    request = ChangeRequest.of(command, backend.new_id, principal.subject)
    is_approval = status is BookingStatus.APPROVED
    kind = ActivityKind.BOOKING_APPROVED if is_approval else ActivityKind.BOOKING_REJECTED

    async def decide(refused: Counter[str]) -> Decision[Booking]:
        booking = await _read(backend, command.booking_id, principal)
        if request.is_made(booking):
            return Decision(booking)
        request.check(booking)
        if booking.status is status:
            await _check_admin_now(backend, principal)
            return Decision(booking)
        if not booking.is_pending:
            done = "canceled" if booking.status is BookingStatus.CANCELLED else booking.status.lower()
            message = f"The booking was {done}, so it cannot be decided any more."
            raise BookingClosedError(message, booking)
        now = backend.clock()
        if is_approval and await _today(backend, booking, now) > booking.date:
            raise BookingClosedError("The booking's day has passed, so it cannot be approved.", booking)
        decided = request.apply(
            booking,
            now,
            status=status,
            reason=reason,
            decided_by=principal.owner_id,
            decided_by_subject=principal.subject,
        )

        def on_refusal(refusal: TransactionRefusedError) -> None:
            if "booking" not in refusal.failed:
                check_admin(refusal)
                check_slots(refusal, ("input", "bookingId"), booking)
                check_location(refusal, booking.location_id, ("input", "bookingId"), booking)

        steps = decision_steps(booking, decided, counted=not refused["pending"])
        return Decision(decided, steps, [booking_happening(kind, decided, booking)], on_refusal)

    log = Log(backend, principal)
    return await optimistic_write(backend.store, DECIDE_BOOKING, decide, log=log, changed=_BOOKING)


async def _read(backend: Backend, booking_id: BookingId, principal: Principal) -> Booking:
    booking: Booking | None = await DECIDE_BOOKING.read(backend.store, "booking", booking_id)
    if booking is None:
        raise not_found_or_forbidden(principal, f"Booking {booking_id} does not exist.", ("input", "bookingId"))
    return booking


async def _today(backend: Backend, booking: Booking, now: Instant) -> Day:
    """The current date at the booking's location."""
    location: Location | None = await DECIDE_BOOKING.read(backend.store, "location", booking.location_id)
    if location is None:
        named = keys.masked(keys.location(booking.location_id))
        raise DamagedItemError(f"a booking names {named}, which does not exist")
    return local_day(location.time_zone, now)


async def _check_admin_now(backend: Backend, principal: Principal) -> None:
    """Checks what the transaction checks otherwise, where nothing is left to write."""
    if principal.owner_id is None:
        return
    admin: Owner | None = await DECIDE_BOOKING.read(backend.store, "admin", principal.owner_id)
    if admin is None or admin.role is not OwnerRole.ADMIN:
        raise _no_admin()


def _no_admin() -> ForbiddenError:
    return ForbiddenError("The owner of your credentials is not an admin.", ("input",))


def _first_result(existing: RequestedBooking, content: str) -> Booking:
    if existing.fingerprint != content:
        raise IdTakenError(existing.booking.booking_id, "another booking", ("input", "bookingId")) from None
    return existing.booking


def _check_day(location: Location, command: RequestBooking, now: Instant) -> None:
    if location.status is not LocationStatus.ACTIVE:
        raise LocationInactiveError(f"Location {location.location_id} is inactive.", ("input", "locationId"))
    today = local_day(location.time_zone, now)
    if command.date < today:
        raise BadInputError(f"date must not be before today, {today} at the location", ("input", "date"))
