"""Locations: the type, its queries and its mutations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import strawberry

from domain.bookings import check_calendar_window
from domain.commands import locations as commands
from domain.errors import BadInputError
from domain.ids import check_code, check_id, require_id
from domain.models import Location as Record
from domain.models import LocationStatus, LockerStatus
from domain.times import Instant, count_days
from loaders.contracts.bookings import LOCATION_CALENDAR
from loaders.contracts.locations import (
    CHANGE_LOCATION,
    CREATE_LOCATION,
    LOCATION_BY_CODE,
    LOCATION_BY_ID,
    LOCATION_LOCKERS,
    LOCATION_LOCKERS_BY_STATUS,
    LOCATIONS_BY_STATUS,
)
from loaders.contracts.lockers import LOCKER_BY_ID
from loaders.writes import locations as writes
from resolvers.api.payloads import AFTER_CHANGE, Payload, current_entity, payload
from resolvers.api.relay import PAGING, Connection, Node
from resolvers.api.scalars import ExactNumber
from resolvers.bindings.base import Argument, column, embedded
from resolvers.bindings.lists import pages, whole
from resolvers.bindings.references import look_up
from resolvers.bindings.rules import ADMINS, LOCATIONS
from resolvers.bindings.writes import write
from resolvers.entities.base import (
    CHANGED,
    CHOSEN_ID,
    EXPECTED_VERSION,
    VERSION,
    command_input,
    entity,
    id_argument,
    optional,
    without_principal,
)
from resolvers.entities.calendar import CalendarDay, DateWindow, DayAvailability, availability_of, calendar_of
from resolvers.entities.lockers import Locker

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Location", "LocationMutations", "LocationQueries"]

_SLOTS_A_DAY = 2


def _days(values: Mapping[str, Any]) -> tuple[Any, ...]:
    window = values["window"]
    check_calendar_window(window["from_"], window["to"])
    return window["from_"], window["to"]


def _day_count(days: tuple[Any, ...]) -> int:
    return count_days(*days)


def _slot_count(days: tuple[Any, ...]) -> int:
    return _SLOTS_A_DAY * count_days(*days)


_WINDOW = Argument("window", DateWindow, "Range of days, at most 92.")


@entity(Record, node={"contract": LOCATION_BY_ID, "key": {"location_id": check_id}, "rule": LOCATIONS})
class Location(Node):
    """A place with lockers that can be booked by the half day."""

    location_id: strawberry.ID = column("Id of the location, a ULID.")
    code: str = column("Code of the location, unique for ever.")
    name: str = column("Name of the location.")
    formatted_address: str | None = column("Address in one line.")
    street: str | None = column("Street and number.")
    city: str | None = column("City.")
    region: str | None = column("State, province or region.")
    postal_code: str | None = column("Postal code.")
    country: str | None = column("Country.")
    place_id: str | None = column("Id of the location at a maps service.")
    lat: ExactNumber | None = column("Latitude in degrees.")
    lng: ExactNumber | None = column("Longitude in degrees.")
    time_zone: str = column("IANA time zone, which determines when the days of the location begin.")
    status: LocationStatus = column("Whether the location is in use.")
    created_at: Instant = column("Time at which the location was created.")
    updated_at: Instant = column(CHANGED)
    version: int = column(VERSION)
    lockers: Connection[Locker] | None = pages(
        LOCATION_LOCKERS,
        key="location_id",
        narrowed=("status", LOCATION_LOCKERS_BY_STATUS),
        full=LOCKER_BY_ID,
        full_key="locker_id",
        rule=ADMINS,
        arguments=[Argument("status", LockerStatus | None, "Status that the lockers must have."), *PAGING],
        description="Lockers at the location by `lockerId`. Requires an admin.",
    )
    calendar: list[CalendarDay] | None = whole(
        LOCATION_CALENDAR,
        key="location_id",
        key_of=_days,
        size_of=_slot_count,
        rows_of=_day_count,
        show=calendar_of,
        rule=LOCATIONS,
        arguments=[_WINDOW],
        description="Calendar of the location: every day of the range with the events that fill it.",
    )
    availability: list[DayAvailability] | None = whole(
        LOCATION_CALENDAR,
        key="location_id",
        key_of=_days,
        size_of=_slot_count,
        rows_of=_day_count,
        show=availability_of,
        rule=LOCATIONS,
        arguments=[_WINDOW],
        description="Free half days of the location: every day of the range.",
    )


def _code(value: str, name: str) -> str:
    try:
        return check_code(value)
    except ValueError as error:
        raise BadInputError(f"{name} {error}", (name,)) from error


@strawberry.type
class LocationQueries:
    """Merged into Query."""

    location: Location | None = look_up(
        LOCATION_BY_ID,
        parse={"location_id": require_id},
        rule=LOCATIONS,
        message="Location {location_id} does not exist.",
        arguments=[id_argument("location_id", "Id of the location.")],
        description="Look up a location by its id.",
    )
    location_by_code: Location | None = look_up(
        LOCATION_BY_ID,
        via=LOCATION_BY_CODE,
        named_by=lambda claim: (claim.location_id,),
        parse={"code": _code},
        rule=LOCATIONS,
        message="Location with code {code} does not exist.",
        arguments=[Argument("code", str, "Code of the location.")],
        description="Look up a location by its code.",
    )
    locations: Connection[Location] | None = pages(
        LOCATIONS_BY_STATUS,
        fixed=("status",),
        rule=LOCATIONS,
        arguments=[
            Argument("status", LocationStatus, "Status that the locations must have.", LocationStatus.ACTIVE),
            *PAGING,
        ],
        description="Locations with a given status, newest first.",
    )


@command_input(commands.CreateLocation)
class CreateLocationInput:
    """Input of `createLocation`."""

    location_id: strawberry.ID | None = optional(f"A ULID. {CHOSEN_ID}")
    code: str = strawberry.field(description="Code of 3 to 40 characters of a-z, 0-9 and -, unique for ever.")
    name: str = strawberry.field(description="Name of the location.")
    time_zone: str = strawberry.field(description="IANA time zone, such as Europe/Rome.")
    formatted_address: str | None = optional("Address in one line.")
    street: str | None = optional("Street and number.")
    city: str | None = optional("City.")
    region: str | None = optional("State, province or region.")
    postal_code: str | None = optional("Postal code.")
    country: str | None = optional("Country.")
    place_id: str | None = optional("Id of the location at a maps service.")
    lat: ExactNumber | None = optional("Latitude in degrees.")
    lng: ExactNumber | None = optional("Longitude in degrees.")


@command_input(commands.UpdateLocation)
class UpdateLocationInput:
    """Input of `updateLocation`. Fields that are left out stay as they are; null removes a value."""

    location_id: strawberry.ID = strawberry.field(description="Id of the location.")
    expected_version: int = strawberry.field(description=EXPECTED_VERSION)
    name: str | None = optional("Name of the location; it cannot be removed.")
    time_zone: str | None = optional("IANA time zone; it cannot be removed.")
    formatted_address: str | None = optional("Address in one line.")
    street: str | None = optional("Street and number.")
    city: str | None = optional("City.")
    region: str | None = optional("State, province or region.")
    postal_code: str | None = optional("Postal code.")
    country: str | None = optional("Country.")
    place_id: str | None = optional("Id of the location at a maps service.")
    lat: ExactNumber | None = optional("Latitude in degrees.")
    lng: ExactNumber | None = optional("Longitude in degrees.")


@command_input(commands.DeactivateLocation)
class DeactivateLocationInput:
    """Input of `deactivateLocation`."""

    location_id: strawberry.ID = strawberry.field(description="Id of the location.")
    expected_version: int = strawberry.field(description=EXPECTED_VERSION)


@command_input(commands.ReactivateLocation)
class ReactivateLocationInput:
    """Input of `reactivateLocation`."""

    location_id: strawberry.ID = strawberry.field(description="Id of the location.")
    expected_version: int = strawberry.field(description=EXPECTED_VERSION)


@payload
class CreateLocationPayload(Payload):
    """Return type of `createLocation`."""

    location: Location | None = embedded("The location; null if it was not created.", current_entity)


@payload
class UpdateLocationPayload(Payload):
    """Return type of `updateLocation`."""

    location: Location | None = embedded(f"The location {AFTER_CHANGE}", current_entity)


@payload
class DeactivateLocationPayload(Payload):
    """Return type of `deactivateLocation`."""

    location: Location | None = embedded(f"The location {AFTER_CHANGE}", current_entity)


@payload
class ReactivateLocationPayload(Payload):
    """Return type of `reactivateLocation`."""

    location: Location | None = embedded(f"The location {AFTER_CHANGE}", current_entity)


@strawberry.type
class LocationMutations:
    """Merged into Mutation."""

    create_location: CreateLocationPayload = write(
        CREATE_LOCATION,
        without_principal(writes.create_location),
        CreateLocationInput,
        ADMINS,
        description="Create a location with a code that was never used before. Requires an admin.",
    )
    update_location: UpdateLocationPayload = write(
        CHANGE_LOCATION,
        without_principal(writes.update_location),
        UpdateLocationInput,
        ADMINS,
        description="Change a location. Requires an admin.",
    )
    deactivate_location: DeactivateLocationPayload = write(
        CHANGE_LOCATION,
        without_principal(writes.deactivate_location),
        DeactivateLocationInput,
        ADMINS,
        description="Deactivate a location: it accepts no new lockers or bookings. Requires an admin.",
    )
    reactivate_location: ReactivateLocationPayload = write(
        CHANGE_LOCATION,
        without_principal(writes.reactivate_location),
        ReactivateLocationInput,
        ADMINS,
        description="Reactivate a location. Requires an admin.",
    )
