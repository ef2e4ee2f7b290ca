"""Inputs of the location mutations."""

from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator, Field

from domain.commands.base import CHOSEN_ID, Change, CheckedLocationId, CheckedOwnerId, Command, Name, optional
from domain.ids import check_code, check_ulid
from domain.models import LocationId
from domain.text import check_time_zone

Code = Annotated[str, AfterValidator(check_code)]
TimeZone = Annotated[str, AfterValidator(check_time_zone)]
NewLocationId = Annotated[LocationId, AfterValidator(check_ulid)]
Latitude = Annotated[Decimal, Field(ge=-90, le=90, max_digits=38)]
Longitude = Annotated[Decimal, Field(ge=-180, le=180, max_digits=38)]


class Address(Command):
    """Postal address and coordinates. In an update, fields that are left out stay as they are; null removes a value."""

    formatted_address: Name | None = optional("Address in one line.")
    street: Name | None = optional("Street and number.")
    city: Name | None = optional("City.")
    region: Name | None = optional("State, province or region.")
    postal_code: Name | None = optional("Postal code.")
    country: Name | None = optional("Country.")
    place_id: Name | None = optional("Id of the location at a maps service.")
    lat: Latitude | None = optional("Latitude in degrees.")
    lng: Longitude | None = optional("Longitude in degrees.")


class CreateLocation(Command):
    location_id: NewLocationId | None = optional(f"A ULID. {CHOSEN_ID}")
    code: Code = Field(description="Code of 3 to 40 characters of a-z, 0-9 and -, permanently unique.")
    name: Name = Field(description="Name of the location.")
    time_zone: TimeZone = Field(description="IANA time zone, such as Europe/Rome.")
    address: Address | None = optional("Address and coordinates of the location.")
    manager_id: CheckedOwnerId | None = optional("Id of the owner who is notified of lockouts of the location's door.")


class UpdateLocation(Change):
    """Input of `updateLocation`. Fields that are left out stay as they are; null removes a value."""

    location_id: CheckedLocationId
    name: Name = optional("Name of the location; it cannot be removed.")
    time_zone: TimeZone = optional("IANA time zone; it cannot be removed.")
    address: Address | None = optional("Changes of the address; null removes all of it.")
    manager_id: CheckedOwnerId | None = optional("Id of the owner who is notified of lockouts of the location's door.")


class DeactivateLocation(Change):
    location_id: CheckedLocationId


class ReactivateLocation(Change):
    location_id: CheckedLocationId
