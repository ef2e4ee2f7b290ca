"""Inputs of the calendar mutations."""

from __future__ import annotations

from domain.bookings import Duration
from domain.commands.base import CheckedLocationId, CheckedOwnerId, Command, Id, Name
from domain.times import Day

__all__ = ["CreateCalendarEvent", "DeleteCalendarEvent"]


class CreateCalendarEvent(Command):
    """Block a day or half day of a location as an admin, without a booking."""

    event_id: Id | None = None
    location_id: CheckedLocationId
    admin_id: CheckedOwnerId
    date: Day
    duration: Duration
    title: Name


class DeleteCalendarEvent(Command):
    """Delete an event that an admin created and free its half days."""

    location_id: CheckedLocationId
    event_id: Id
    admin_id: CheckedOwnerId
