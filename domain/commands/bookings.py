"""Inputs of the booking mutations."""

from typing import Annotated

from pydantic import Field

from domain.bookings import DayPart
from domain.commands.base import (
    CHOSEN_ID,
    Change,
    CheckedBookingId,
    CheckedLocationId,
    CheckedOwnerId,
    Command,
    Text,
    optional,
)
from domain.times import Day

Attendees = Annotated[int, Field(ge=1, le=100_000, description="Number of people who attend.")]


class RequestBooking(Command):
    booking_id: CheckedBookingId | None = optional(CHOSEN_ID)
    location_id: CheckedLocationId = Field(description="Id of the location, which must be active.")
    owner_id: CheckedOwnerId = Field(description="Id of the owner who requests the booking.")
    date: Day = Field(description="Day of the booking: today, in the location's time zone, or later.")
    duration: DayPart = Field(description="Part of the day to book.")
    description: Text = Field(description="Purpose of the booking.")
    attendees: Attendees


class CancelBooking(Command):
    booking_id: CheckedBookingId


class ApproveBooking(Change):
    booking_id: CheckedBookingId


class RejectBooking(Change):
    booking_id: CheckedBookingId
    reason: Text = Field(description="Reason of the rejection; the owner is notified of it.")
