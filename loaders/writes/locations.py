"""Writes of locations: a location and the claim on its code are made together; nothing is ever deleted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from domain.commands import fingerprint
from domain.errors import BadInputError, CodeTakenError, IdTakenError, MissingError, VersionConflictError
from domain.models import Location, LocationId, LocationStatus
from loaders import keys
from loaders.contracts import QC_30, QC_33
from loaders.items import LOCATION, LOCATION_CODE, LocationCode, difference
from loaders.table.errors import TransactionRefusedError

if TYPE_CHECKING:
    from domain.booking_commands import CreateLocation, DeactivateLocation, ReactivateLocation, UpdateLocation
    from loaders.backend import Backend
    from loaders.table.operations import Transact

__all__ = [
    "changing",
    "create_location",
    "creating",
    "deactivate_location",
    "location_item",
    "reactivate_location",
    "update_location",
]


async def create_location(backend: Backend, command: CreateLocation) -> Location:
    """Creates a location whose code nobody else has, or had (QC-30)."""
    now = backend.clock()
    location = Location(
        **command.model_dump(exclude={"location_id"}),
        location_id=command.location_id or LocationId(backend.new_id()),
        status=LocationStatus.ACTIVE,
        created_at=now,
        updated_at=now,
        version=1,
    )
    content = fingerprint(command, without="location_id")
    try:
        await backend.store.transact(creating(location, content))
    except TransactionRefusedError as refusal:
        existing = refusal.failed.get("location")
        if existing is None:
            raise CodeTakenError(f"The code {location.code} is taken, for ever.", ("input", "code")) from None
        if existing.get("fingerprint") != content:
            message = f"The id {location.location_id} was used before, for another location."
            raise IdTakenError(message, ("input", "locationId")) from None
        return LOCATION.decode(existing)
    return location


async def update_location(backend: Backend, command: UpdateLocation) -> Location:
    """Changes what the command names of a location (QC-33)."""
    given = command.model_fields_set - {"location_id", "expected_version"}
    if not given:
        raise BadInputError("Give something to change.", ("input",))
    current = await _read(backend, command.location_id)
    return await _change(backend, current, command.expected_version, {name: getattr(command, name) for name in given})


async def deactivate_location(backend: Backend, command: DeactivateLocation) -> Location:
    """Lets a location take nothing new; one that does not already is answered as it is (QC-33)."""
    return await _set_status(backend, command, LocationStatus.INACTIVE)


async def reactivate_location(backend: Backend, command: ReactivateLocation) -> Location:
    """Lets a location take new things again; one that does already is answered as it is (QC-33)."""
    return await _set_status(backend, command, LocationStatus.ACTIVE)


def creating(location: Location, content: str) -> Transact:
    """The request that creates a location."""
    claim = LOCATION_CODE.encode(LocationCode(location_id=location.location_id, code=location.code))
    return QC_30.transact(
        QC_30.step("location", keys.location(location.location_id), location_item(location, content)),
        QC_30.step("code", keys.location_code(location.code), claim),
    )


def changing(current: Location, changed: Location) -> Transact:
    """The request that changes a location and, with its status, its place in the index."""
    attributes = difference(_indexed(current), _indexed(changed))
    key = keys.location(current.location_id)
    return QC_33.transact(QC_33.step("location", key, attributes, expectedVersion=current.version))


def location_item(location: Location, content: str) -> dict[str, Any]:
    """The attributes of a new location."""
    return _indexed(location) | {"fingerprint": content}


async def _read(backend: Backend, location_id: LocationId) -> Location:
    item = await backend.store.get(QC_33.get(keys.location(location_id), consistent=True))
    if item is None:
        raise MissingError(f"There is no location {location_id}.", ("input", "locationId"))
    return LOCATION.decode(item)


async def _set_status(
    backend: Backend, command: DeactivateLocation | ReactivateLocation, status: LocationStatus
) -> Location:
    current = await _read(backend, command.location_id)
    if current.status is status:
        return current
    return await _change(backend, current, command.expected_version, {"status": status})


async def _change(backend: Backend, current: Location, expected: int, changes: dict[str, Any]) -> Location:
    if current.version != expected:
        raise VersionConflictError(current)
    changed = replace(current, **changes, updated_at=backend.clock(), version=current.version + 1)
    try:
        await backend.store.transact(changing(current, changed))
    except TransactionRefusedError as refusal:
        item = refusal.failed["location"]
        if item is None:
            raise
        raise VersionConflictError(LOCATION.decode(item)) from None
    return changed


def _indexed(location: Location) -> dict[str, Any]:
    index = keys.location_index(location.status, location.created_at, location.location_id)
    return LOCATION.encode(location) | index
