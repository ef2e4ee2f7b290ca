"""Locations: the type, its queries and its mutations."""

from collections.abc import Callable, Mapping
from typing import Any

import strawberry

from domain.authorization import MOST_AUDIENCES
from domain.bookings import BookingStatus, check_calendar_window
from domain.commands import locations as commands
from domain.ids import argument, check_code, check_id
from domain.models import Address as AddressRecord
from domain.models import Location as Record
from domain.models import LocationStatus, LockerSize, LockerStatus
from domain.times import Instant, count_days
from loaders.contracts.access_codes import LOCATION_LOCKOUT
from loaders.contracts.activity import LOCATION_ACTIVITY, PUBLIC_ACTIVITY
from loaders.contracts.bookings import LOCATION_BOOKINGS, LOCATION_CALENDAR
from loaders.contracts.events import LOCATION_EVENTS
from loaders.contracts.locations import (
    CHANGE_LOCATION,
    CREATE_LOCATION,
    LOCATION_BY_CODE,
    LOCATION_BY_ID,
    LOCATION_LOCKERS,
    LOCATION_LOCKERS_BY_STATUS,
    LOCATION_OFFERS,
    LOCATIONS_BY_STATUS,
)
from loaders.contracts.lockers import LOCKER_BY_ID
from loaders.contracts.reservations import LOCATION_RESERVATIONS
from loaders.pages import ALL_TIMES
from loaders.reads.offers import AT_ONCE, MOST_CANDIDATES
from loaders.writes import locations as writes
from resolvers.api.mutations import mutations, write
from resolvers.api.relay import Connection, Node, TimeSpan, in_window
from resolvers.api.scalars import ExactNumber
from resolvers.bindings.base import Argument, bound_field, column, embedded
from resolvers.bindings.lists import MergedPages, Whole, pages
from resolvers.bindings.references import look_up, one
from resolvers.bindings.rules import ADMINS, LOCATION, LOCATION_CODE_LIST, LOCATIONS, LOCKER_LOOKUP, OFFERS, STAFF
from resolvers.entities.activity import Activity, history
from resolvers.entities.base import CHANGED, VERSION, decimal, entity, id_argument
from resolvers.entities.bindings.offers import DEFAULT, Available, Found, OfferedPages
from resolvers.entities.bookings import Booking
from resolvers.entities.calendar import CalendarDay, DateWindow, DayAvailability, availability_of, calendar_of
from resolvers.entities.code_devices import AccessCodeList, Lockout, code_list
from resolvers.entities.events import AccessEvent
from resolvers.entities.figures import LocationFigures, LocationUsage, location_figures, location_usage
from resolvers.entities.lockers import Locker
from resolvers.entities.reservations import Reservation

_SLOTS_A_DAY = 2
_OWNER_IDS = Argument(
    "owner_ids",
    list[strawberry.ID] | None,
    "Owners of the caller's credentials (itself, its organizations, or the owners that it acts for) for whom lockers "
    f"are found, besides those for everyone; all of them if left out. At most {MOST_AUDIENCES - 1}: a caller with more "
    "must name some.",
)


def _days(values: Mapping[str, Any]) -> tuple[Any, ...]:
    window = values["window"]
    check_calendar_window(window["from_"], window["to"])
    return window["from_"], window["to"]


def _by_day(show: Callable[[Mapping[str, Any], tuple[Any, ...]], list[Any]], description: str) -> Any:
    binding = Whole(
        contract=LOCATION_CALENDAR,
        key="location_id",
        key_of=_days,
        size_of=lambda days: _SLOTS_A_DAY * count_days(*days),
        rows_of=lambda days: count_days(*days),
        show=show,
        rule=LOCATIONS,
    )
    return bound_field(binding, description, [Argument("window", DateWindow, "Range of days, at most 92.")])


@entity(AddressRecord)
class Address:
    """Postal address and coordinates. What is not known is null."""

    formatted_address: str | None = column("Address in one line.")
    street: str | None = column("Street and number.")
    city: str | None = column("City.")
    region: str | None = column("State, province or region.")
    postal_code: str | None = column("Postal code.")
    country: str | None = column("Country.")
    place_id: str | None = column("Id of the location at a maps service.")
    lat: ExactNumber | None = decimal("Latitude in degrees.", "lat")
    lng: ExactNumber | None = decimal("Longitude in degrees.", "lng")


@entity(Found)
class AvailableLockers:
    """Lockers that seem to be free. `createReservation` decides whether one can still be reserved."""

    lockers: list[Locker] = embedded(
        "Lockers that the caller may reserve, in service and free in the whole window.", of_page=True
    )
    is_complete: bool = column(
        "Whether every locker that the caller may reserve here was checked. If false, others may be free too: at most "
        f"{MOST_CANDIDATES} are checked, starting at a point that depends on the caller and the window."
    )


@entity(Record, node={"contract": LOCATION_BY_ID, "key": {"location_id": check_id}, "rule": LOCATION})
class Location(Node):
    """A place with lockers that can be booked by the half day."""

    location_id: strawberry.ID = column("Id of the location, a ULID.")
    code: str = column("Code of the location, permanently unique.")
    name: str = column("Name of the location.")
    address: Address = embedded("Address and coordinates of the location.")
    time_zone: str = column("IANA time zone, which determines when the days of the location begin.")
    status: LocationStatus = column("Whether the location is in use.")
    created_at: Instant = column("Time at which the location was created.")
    updated_at: Instant = column(CHANGED)
    version: int = column(VERSION)
    lockers: Connection[Locker] | None = pages(
        LOCATION_LOCKERS,
        key="location_id",
        kind=OfferedPages,
        narrowed=("status", LOCATION_LOCKERS_BY_STATUS),
        offers=LOCATION_OFFERS,
        full=LOCKER_BY_ID,
        full_key="locker_id",
        full_rule=LOCKER_LOOKUP,
        rule=OFFERS,
        arguments=[
            Argument("status", LockerStatus | None, "Status that the lockers must have. Requires an admin or support."),
            _OWNER_IDS,
        ],
        description="Lockers at the location. Admins and support get all of them by `lockerId`; other callers get "
        "those in service that they may reserve, by size.",
    )
    available_lockers: AvailableLockers | None = bound_field(
        Available(rule=OFFERS),
        "Lockers that the caller may reserve and that are free in the whole window, as far as can be told without "
        "reserving. At an inactive location there are none.",
        [
            Argument("window", TimeSpan, "Span of time, at most 31 days. The part in the past is ignored."),
            Argument("size", LockerSize | None, "Size that the lockers must have; any if left out."),
            _OWNER_IDS,
            Argument("first", int | None, f"Number of lockers to find, {DEFAULT} if left out, at most {AT_ONCE}."),
        ],
    )
    manager_id: strawberry.ID | None = column(
        "Id of the owner who is notified of lockouts of the location's door. For admins and support.",
        rule=STAFF,
        optional=True,
    )
    access_events: Connection[AccessEvent] | None = pages(
        LOCATION_EVENTS,
        key="location_id",
        window=ALL_TIMES,
        rule=STAFF,
        arguments=[in_window("time of an event")],
        description="Access events at the location's door by time. For admins and support.",
    )
    access_code_list: AccessCodeList | None = code_list(
        "location_id",
        LOCATION_CODE_LIST,
        "The list of access codes for the device of the location's door; null if no device is provisioned. For the "
        "device.",
    )
    lockout: Lockout | None = one(
        LOCATION_LOCKOUT,
        key="location_id",
        rule=STAFF,
        description="Failed attempts to open the location's door with a code; null if there were none. For admins and "
        "support.",
    )
    reservations: Connection[Reservation] | None = pages(
        LOCATION_RESERVATIONS,
        key="location_id",
        window=ALL_TIMES,
        rule=STAFF,
        arguments=[in_window("start time of a reservation")],
        description="Reservations that were made while their lockers were at the location, by start time, including "
        "canceled and expired ones. A locker that is moved does not take them along. For admins and support.",
    )
    bookings: Connection[Booking] | None = pages(
        LOCATION_BOOKINGS,
        kind=MergedPages,
        key="location_id",
        merged=("status", tuple(BookingStatus)),
        rule=STAFF,
        arguments=[Argument("status", BookingStatus | None, "Status that the bookings must have; any if left out.")],
        description="Bookings at the location by date. For admins and support.",
    )
    activity: Connection[Activity] | None = history(
        LOCATION_ACTIVITY,
        key="location_id",
        others=PUBLIC_ACTIVITY,
        rule=LOCATIONS,
        description="Everything that happened at the location and to its lockers, by time. Callers other than admins "
        "and support get what happened to the location itself and its calendar events.",
    )
    calendar: list[CalendarDay] | None = _by_day(
        calendar_of, "Calendar of the location: every day of the range with the events that fill it."
    )
    availability: list[DayAvailability] | None = _by_day(
        availability_of, "Free half days of the location: every day of the range."
    )
    figures: LocationFigures | None = location_figures()
    usage: list[LocationUsage] | None = location_usage()


@strawberry.type
class LocationQueries:
    location: Location | None = look_up(
        LOCATION_BY_ID,
        rule=LOCATION,
        message="Location {location_id} does not exist.",
        arguments=[id_argument("location_id", "Id of the location.")],
        description="Look up a location by its id.",
    )
    location_by_code: Location | None = look_up(
        LOCATION_BY_ID,
        via=LOCATION_BY_CODE,
        named_by=("location_id",),
        rule=LOCATIONS,
        message="Location with code {code} does not exist.",
        arguments=[Argument("code", str, "Code of the location.", parse=argument(check_code))],
        description="Look up a location by its code.",
    )
    locations: Connection[Location] | None = pages(
        LOCATIONS_BY_STATUS,
        kind=MergedPages,
        merged=("status", tuple(LocationStatus)),
        rule=LOCATIONS,
        arguments=[Argument("status", LocationStatus | None, "Status that the locations must have; any if left out.")],
        description="Locations, newest first.",
    )


@mutations(commands, writes)
class LocationMutations:
    create_location: Location = write(
        CREATE_LOCATION,
        ADMINS,
        returns="The location; null if it was not created.",
        description="Create a location with a code that was never used before. Requires an admin.",
    )
    update_location: Location = write(CHANGE_LOCATION, ADMINS, description="Change a location. Requires an admin.")
    deactivate_location: Location = write(
        CHANGE_LOCATION,
        ADMINS,
        description="Deactivate a location: it accepts no new lockers or bookings. Requires an admin.",
    )
    reactivate_location: Location = write(
        CHANGE_LOCATION, ADMINS, description="Reactivate a location. Requires an admin."
    )
