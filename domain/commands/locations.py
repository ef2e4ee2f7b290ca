"""Inputs of the location mutations."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator, Field

from domain.commands.base import CheckedLocationId, Command, Name
from domain.ids import check_code, check_ulid
from domain.models import LocationId
from domain.text import check_time_zone

__all__ = ["CreateLocation", "DeactivateLocation", "ReactivateLocation", "UpdateLocation"]

Code = Annotated[str, AfterValidator(check_code)]
TimeZone = Annotated[str, AfterValidator(check_time_zone)]
NewLocationId = Annotated[LocationId, AfterValidator(check_ulid)]
Latitude = Annotated[Decimal, Field(ge=-90, le=90, max_digits=38)]
Longitude = Annotated[Decimal, Field(ge=-180, le=180, max_digits=38)]


class _Address(Command):
    """Optional address and coordinates of a location."""

    formatted_address: Name | None = None
    street: Name | None = None
    city: Name | None = None
    region: Name | None = None
    postal_code: Name | None = None
    country: Name | None = None
    place_id: Name | None = None
    lat: Latitude | None = None
    lng: Longitude | None = None


class CreateLocation(_Address):
    """Create a location."""

    location_id: NewLocationId | None = None
    code: Code
    name: Name
    time_zone: TimeZone


class UpdateLocation(_Address):
    """Update the fields of a location that are set; null removes an optional value."""

    location_id: CheckedLocationId
    expected_version: int
    name: Name = ""
    time_zone: TimeZone = ""


class DeactivateLocation(Command):
    """Stop a location from accepting lockers and bookings."""

    location_id: CheckedLocationId
    expected_version: int


class ReactivateLocation(Command):
    """Let a location accept lockers and bookings again."""

    location_id: CheckedLocationId
    expected_version: int
