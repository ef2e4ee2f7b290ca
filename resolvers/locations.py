"""Locations: the type, its queries and its mutations."""

from __future__ import annotations

from typing import Annotated

import strawberry

from domain import booking_commands as commands
from domain.errors import BadInputError, MissingError
from domain.models import Location as Record
from domain.models import LocationId, LocationStatus
from domain.text import check_code, require_id
from domain.times import Instant
from loaders import reads
from loaders.writes import locations as writes
from resolvers.calendar import CalendarDay, DayAvailability, WindowOfDays
from resolvers.context import Info
from resolvers.errors import UserError, attempt
from resolvers.lockers import Locker, listed
from resolvers.relay import After, Before, Connection, First, Last, Node, connection_of, slice_from
from resolvers.scalars import ExactNumber

__all__ = ["Location", "LocationMutations", "LocationQueries"]


@strawberry.type(description="A place where lockers stand, and whose room or wall can be booked.")
class Location(Node):
    """Shown from its record."""

    record: strawberry.Private[Record]
    location_id: strawberry.ID = strawberry.field(description="Its own id, a ULID.")
    code: str = strawberry.field(description="Its code, unique for ever.")
    name: str = strawberry.field(description="Its name.")
    formatted_address: str | None = strawberry.field(description="Its address in one line.")
    street: str | None = strawberry.field(description="Street and number.")
    city: str | None = strawberry.field(description="City.")
    region: str | None = strawberry.field(description="State, province or region.")
    postal_code: str | None = strawberry.field(description="Postal code.")
    country: str | None = strawberry.field(description="Country.")
    place_id: str | None = strawberry.field(description="Its id with a maps service.")
    lat: ExactNumber | None = strawberry.field(description="Latitude in degrees.")
    lng: ExactNumber | None = strawberry.field(description="Longitude in degrees.")
    time_zone: str = strawberry.field(description="Its IANA time zone, which says when its days begin.")
    status: LocationStatus = strawberry.field(description="Whether it takes anything new.")
    created_at: Instant = strawberry.field(description="When it was created.")
    updated_at: Instant = strawberry.field(description="When it was last changed.")
    version: int = strawberry.field(description="Goes up by one with each change; send it as `expectedVersion`.")

    @classmethod
    def of(cls, record: Record) -> Location:
        """The location as the schema shows it."""
        return cls(
            key=("Location", record.location_id),
            record=record,
            location_id=strawberry.ID(record.location_id),
            code=record.code,
            name=record.name,
            formatted_address=record.formatted_address,
            street=record.street,
            city=record.city,
            region=record.region,
            postal_code=record.postal_code,
            country=record.country,
            place_id=record.place_id,
            lat=None if record.lat is None else ExactNumber(record.lat),
            lng=None if record.lng is None else ExactNumber(record.lng),
            time_zone=record.time_zone,
            status=record.status,
            created_at=record.created_at,
            updated_at=record.updated_at,
            version=record.version,
        )

    @strawberry.field(description="The lockers that stand there, by lockerId.")
    async def lockers(
        self,
        info: Info,
        first: First = strawberry.UNSET,
        after: After = strawberry.UNSET,
        last: Last = strawberry.UNSET,
        before: Before = strawberry.UNSET,
    ) -> Connection[Locker] | None:
        """QC-34, and QC-01 where more is asked than the copies show."""
        part = slice_from(info, first, after, last, before)
        reading = reads.location_lockers(info.context.backend.store, self.record.location_id, part)
        return await listed(info, await info.context.loaders.one_of_many(reading))

    @strawberry.field(description="What fills each day of a stretch.")
    async def calendar(self, info: Info, window: WindowOfDays) -> list[CalendarDay] | None:
        """QC-44: one Query for all days."""
        first, last = window.from_, window.to
        reading = reads.calendar(info.context.backend.store, self.record.location_id, first, last)
        slots = await info.context.loaders.one_of_many(reading)
        return CalendarDay.all_of(slots, first, last, info.context.principal)

    @strawberry.field(description="What is free on each day of a stretch.")
    async def availability(self, info: Info, window: WindowOfDays) -> list[DayAvailability] | None:
        """QC-44: one Query for all days."""
        first, last = window.from_, window.to
        reading = reads.calendar(info.context.backend.store, self.record.location_id, first, last)
        slots = await info.context.loaders.one_of_many(reading)
        return DayAvailability.all_of(slots, first, last)


@strawberry.type
class LocationQueries:
    """Merged into Query."""

    @strawberry.field(description="A location by its id.")
    async def location(
        self,
        info: Info,
        location_id: Annotated[strawberry.ID, strawberry.argument(description="The location's id.")],
    ) -> Location | None:
        """QC-31; null with NOT_FOUND where there is none."""
        plain_id = LocationId(require_id(location_id, "locationId"))
        record = await info.context.loaders.location.load(plain_id)
        if record is None:
            raise MissingError(f"There is no location {plain_id}.")
        return Location.of(record)

    @strawberry.field(description="A location by its code.")
    async def location_by_code(
        self, info: Info, code: Annotated[str, strawberry.argument(description="The location's code.")]
    ) -> Location | None:
        """QC-31; null with NOT_FOUND where there is none."""
        try:
            checked = check_code(code)
        except ValueError as error:
            raise BadInputError(f"code {error}", ("code",)) from error
        location_id = await reads.location_id_of(info.context.backend.store, checked)
        record = location_id and await info.context.loaders.location.load(location_id)
        if not record:
            raise MissingError(f"There is no location with the code {checked}.")
        return Location.of(record)

    @strawberry.field(description="All locations of a status, newest first.")
    async def locations(
        self,
        info: Info,
        status: Annotated[LocationStatus, strawberry.argument(description="Which of them.")] = LocationStatus.ACTIVE,
        first: First = strawberry.UNSET,
        after: After = strawberry.UNSET,
        last: Last = strawberry.UNSET,
        before: Before = strawberry.UNSET,
    ) -> Connection[Location] | None:
        """QC-32."""
        part = slice_from(info, first, after, last, before)
        return connection_of(await reads.locations(info.context.backend.store, status, part), Location.of)


@strawberry.input(description="Create a location.")
class CreateLocationInput:
    """See `domain.booking_commands`."""

    location_id: strawberry.ID | None = strawberry.field(
        default=strawberry.UNSET,
        description="A ULID of your choice: sent again with the same content, it gives the first result. Made here if "
        "left out.",
    )
    code: str = strawberry.field(description="3 to 40 characters of a-z, 0-9 and -; unique for ever.")
    name: str = strawberry.field(description="Its name.")
    time_zone: str = strawberry.field(description="Its IANA time zone, such as Europe/Rome.")
    formatted_address: str | None = strawberry.field(default=strawberry.UNSET, description="Its address in one line.")
    street: str | None = strawberry.field(default=strawberry.UNSET, description="Street and number.")
    city: str | None = strawberry.field(default=strawberry.UNSET, description="City.")
    region: str | None = strawberry.field(default=strawberry.UNSET, description="State, province or region.")
    postal_code: str | None = strawberry.field(default=strawberry.UNSET, description="Postal code.")
    country: str | None = strawberry.field(default=strawberry.UNSET, description="Country.")
    place_id: str | None = strawberry.field(default=strawberry.UNSET, description="Its id with a maps service.")
    lat: ExactNumber | None = strawberry.field(default=strawberry.UNSET, description="Latitude in degrees.")
    lng: ExactNumber | None = strawberry.field(default=strawberry.UNSET, description="Longitude in degrees.")


@strawberry.input(description="Change a location; what is left out stays, null takes a value away.")
class UpdateLocationInput:
    """See `domain.booking_commands`."""

    location_id: strawberry.ID = strawberry.field(description="The location.")
    expected_version: int = strawberry.field(description="The version that you have seen.")
    name: str | None = strawberry.field(default=strawberry.UNSET, description="Its name; it must have one.")
    time_zone: str | None = strawberry.field(default=strawberry.UNSET, description="Its time zone; it must have one.")
    formatted_address: str | None = strawberry.field(default=strawberry.UNSET, description="Its address in one line.")
    street: str | None = strawberry.field(default=strawberry.UNSET, description="Street and number.")
    city: str | None = strawberry.field(default=strawberry.UNSET, description="City.")
    region: str | None = strawberry.field(default=strawberry.UNSET, description="State, province or region.")
    postal_code: str | None = strawberry.field(default=strawberry.UNSET, description="Postal code.")
    country: str | None = strawberry.field(default=strawberry.UNSET, description="Country.")
    place_id: str | None = strawberry.field(default=strawberry.UNSET, description="Its id with a maps service.")
    lat: ExactNumber | None = strawberry.field(default=strawberry.UNSET, description="Latitude in degrees.")
    lng: ExactNumber | None = strawberry.field(default=strawberry.UNSET, description="Longitude in degrees.")


@strawberry.input(description="Let a location take nothing new.")
class DeactivateLocationInput:
    """See `domain.booking_commands`."""

    location_id: strawberry.ID = strawberry.field(description="The location.")
    expected_version: int = strawberry.field(description="The version that you have seen.")


@strawberry.input(description="Let a location take new things again.")
class ReactivateLocationInput:
    """See `domain.booking_commands`."""

    location_id: strawberry.ID = strawberry.field(description="The location.")
    expected_version: int = strawberry.field(description="The version that you have seen.")


@strawberry.type(description="What came of creating a location.")
class CreateLocationPayload:
    """The location."""

    location: Location | None = strawberry.field(description="The location, if it was created.")
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type(description="What came of changing a location.")
class UpdateLocationPayload:
    """The location as it is now, after a conflict too."""

    location: Location | None = strawberry.field(description="The location as it is now, after a conflict too.")
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type(description="What came of deactivating a location.")
class DeactivateLocationPayload:
    """The location as it is now, after a conflict too."""

    location: Location | None = strawberry.field(description="The location as it is now, after a conflict too.")
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type(description="What came of reactivating a location.")
class ReactivateLocationPayload:
    """The location as it is now, after a conflict too."""

    location: Location | None = strawberry.field(description="The location as it is now, after a conflict too.")
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type
class LocationMutations:
    """Merged into Mutation."""

    @strawberry.mutation(description="Create a location whose code nobody else has, or had.")
    async def create_location(
        self,
        info: Info,
        input: Annotated[CreateLocationInput, strawberry.argument(description="What to create.")],
    ) -> CreateLocationPayload:
        """QC-30."""
        outcome = await attempt(info, commands.CreateLocation, input, writes.create_location)
        return CreateLocationPayload(location=_shown(outcome.entity), user_errors=outcome.errors)

    @strawberry.mutation(description="Change a location.")
    async def update_location(
        self,
        info: Info,
        input: Annotated[UpdateLocationInput, strawberry.argument(description="What to change.")],
    ) -> UpdateLocationPayload:
        """QC-33."""
        outcome = await attempt(info, commands.UpdateLocation, input, writes.update_location)
        return UpdateLocationPayload(location=_shown(outcome.entity), user_errors=outcome.errors)

    @strawberry.mutation(description="Let a location take nothing new; its code stays its own.")
    async def deactivate_location(
        self,
        info: Info,
        input: Annotated[DeactivateLocationInput, strawberry.argument(description="What to deactivate.")],
    ) -> DeactivateLocationPayload:
        """QC-33."""
        outcome = await attempt(info, commands.DeactivateLocation, input, writes.deactivate_location)
        return DeactivateLocationPayload(location=_shown(outcome.entity), user_errors=outcome.errors)

    @strawberry.mutation(description="Let a location take new things again.")
    async def reactivate_location(
        self,
        info: Info,
        input: Annotated[ReactivateLocationInput, strawberry.argument(description="What to reactivate.")],
    ) -> ReactivateLocationPayload:
        """QC-33."""
        outcome = await attempt(info, commands.ReactivateLocation, input, writes.reactivate_location)
        return ReactivateLocationPayload(location=_shown(outcome.entity), user_errors=outcome.errors)


def _shown(record: Record | None) -> Location | None:
    return None if record is None else Location.of(record)
