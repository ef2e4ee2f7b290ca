"""Inputs of the calendar mutations."""

from pydantic import Field

from domain.bookings import DayPart
from domain.commands.base import CHOSEN_ID, CheckedLocationId, Command, Id, Name, optional
from domain.times import Day


class CreateCalendarEvent(Command):
    event_id: Id | None = optional(CHOSEN_ID)
    location_id: CheckedLocationId = Field(description="Id of the location, which must be active.")
    date: Day = Field(description="Day of the event.")
    duration: DayPart = Field(description="Part of the day that the event fills.")
    title: Name = Field(description="Title of the event.")


class DeleteCalendarEvent(Command):
    location_id: CheckedLocationId
    event_id: Id = Field(description="Id of the event. To remove the event of a booking, cancel the booking.")
