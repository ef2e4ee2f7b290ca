"""Inputs of the booking mutations."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from domain.bookings import Duration
from domain.commands.base import CheckedBookingId, CheckedLocationId, CheckedOwnerId, Command, Text
from domain.times import Day

__all__ = ["ApproveBooking", "CancelBooking", "RejectBooking", "RequestBooking"]

Attendees = Annotated[int, Field(ge=1, le=100_000)]


class RequestBooking(Command):
    """Request a day or half day at a location."""

    booking_id: CheckedBookingId | None = None
    location_id: CheckedLocationId
    owner_id: CheckedOwnerId
    date: Day
    duration: Duration
    description: Text
    attendees: Attendees


class CancelBooking(Command):
    """Cancel a booking as the owner who requested it."""

    booking_id: CheckedBookingId
    owner_id: CheckedOwnerId


class ApproveBooking(Command):
    """Approve a booking as an admin and add it to the calendar."""

    booking_id: CheckedBookingId
    admin_id: CheckedOwnerId
    expected_version: int


class RejectBooking(Command):
    """Reject a booking as an admin."""

    booking_id: CheckedBookingId
    admin_id: CheckedOwnerId
    reason: Text
    expected_version: int
