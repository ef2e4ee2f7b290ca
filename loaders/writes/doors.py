"""Doors: the locker or location that each belongs to, who manages it, and what the rights of its codes depend on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from domain.access_codes import AccessCode, Basis, CodeDoor
from domain.authorization import Principal, Scope, acts_for, is_admin, not_found_or_forbidden, require
from domain.bookings import Booking, BookingStatus
from domain.commands.access_codes import DoorCommand
from domain.errors import BadInputError
from domain.models import Door, Location, Locker, Reservation, door_of
from loaders.codecs import CODE_DOOR, Guard
from loaders.contracts.writing import WriteContract
from loaders.table.client import Store

if TYPE_CHECKING:
    from loaders.table.operations import Step

DOOR = ("door",)
"""The object of all writes of codes, for the error of too many concurrent changes."""


def named_door(command: DoorCommand) -> Door:
    """The door that an input names; it must name one, and not two."""
    if (command.locker_id is None) is (command.location_id is None):
        raise BadInputError("exactly one of lockerId and locationId is required", ("input", "lockerId"))
    return door_of(command.locker_id, command.location_id)


def door_path(command: DoorCommand) -> tuple[str, str]:
    return "input", "lockerId" if command.location_id is None else "locationId"


async def read_place(
    store: Store, contract: WriteContract, command: DoorCommand, principal: Principal
) -> Locker | Location:
    """The locker or the location that a door belongs to, which must exist."""
    name = "locker" if command.location_id is None else "location"
    place_id = command.locker_id or command.location_id
    place: Locker | Location | None = await contract.read(store, name, place_id)
    if place is None:
        message = f"{name.capitalize()} {place_id} does not exist."
        raise not_found_or_forbidden(principal, message, door_path(command))
    return place


async def managed_place(
    store: Store, contract: WriteContract, command: DoorCommand, principal: Principal
) -> Locker | Location:
    """The locker or location of a door that the caller manages: its owner and admins do, admins alone a location's."""
    place = await read_place(store, contract, command, principal)
    may_manage = acts_for(principal, place.owner_id, Scope.CODES_WRITE) if isinstance(place, Locker) else False
    require(may_manage or is_admin(principal), door_path(command))
    return place


async def basis_of(store: Store, contract: WriteContract, code: AccessCode) -> Basis | None:
    """The reservation, booking or locker that gives the right to open the door."""
    name, place = code.basis
    basis: Basis | None = await contract.read(store, name, *place)
    return basis


def door_step(contract: WriteContract, name: Door, door: CodeDoor | None, **changes: Any) -> Step:
    """Counts a change of a door's codes."""
    if door is None:
        return contract.step("first door", (name,), CODE_DOOR.encode(CodeDoor(revision=1, **changes)))
    changed = replace(door, revision=door.revision + 1, **changes)
    return contract.change_step("door", door, changed, at=(name,), readRevision=door.revision)


def basis_step(contract: WriteContract, code: AccessCode, basis: Basis, guard: Guard | None) -> Step:
    """Checks that what gives the right to open the door is still as it was read."""
    match basis:
        case Reservation():
            revision = 0 if guard is None else guard.revision
            return contract.step("same reservation", (basis.locker_id,), readRevision=revision)
        case Booking():
            return contract.step("booking", (basis.booking_id,), approved=BookingStatus.APPROVED)
        case Locker():
            place, transfers = (basis.locker_id,), code.transfers or 0
            return contract.step("owned locker", place, readOwner=code.owner_id, readTransfers=transfers)
