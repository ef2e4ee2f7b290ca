"""Writes of locations: a location and the claim on its code are created together; nothing is deleted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from domain.activity import ActivityKind, Happening, changes_between
from domain.authorization import Principal
from domain.bookings import Booking
from domain.changes import ChangeRequest
from domain.commands.base import fingerprint
from domain.commands.locations import Address as AddressChanges
from domain.commands.locations import CreateLocation, DeactivateLocation, ReactivateLocation, UpdateLocation
from domain.errors import CodeTakenError, IdTakenError, LocationInactiveError, NotFoundError
from domain.models import Address, Location, LocationId, LocationStatus, record_from
from loaders.backend import Backend
from loaders.codecs import LOCATION, LocationCode
from loaders.contracts.locations import CHANGE_LOCATION, CREATE_LOCATION
from loaders.table.errors import TransactionRefusedError
from loaders.writes.log import Log
from loaders.writes.optimistic import Decision, created_before, optimistic_write

if TYPE_CHECKING:
    from loaders.table.operations import Step


async def create_location(backend: Backend, command: CreateLocation, principal: Principal) -> Location:
    """Creates a location whose code was never used before (QC-30)."""
    now = backend.clock()
    location = Location(
        **command.model_dump(exclude={"location_id", "address"}),
        address=Address() if command.address is None else Address(**command.address.model_dump()),
        location_id=command.location_id or LocationId(backend.new_id()),
        status=LocationStatus.ACTIVE,
        created_at=now,
        updated_at=now,
        version=1,
    )
    content = fingerprint(command, without="location_id")
    try:
        happening = _happening(ActivityKind.LOCATION_CREATED, location)
        await Log(backend, principal).transact(CREATE_LOCATION, create_steps(location, content), happening)
    except TransactionRefusedError as refusal:
        taken = IdTakenError(location.location_id, "another location", ("input", "locationId"))
        first = created_before(refusal, "location", LOCATION, content, taken)
        if first is None:
            _check_manager(location, refusal)
            raise CodeTakenError(f"The code {location.code} is already in use.", ("input", "code")) from None
        return first
    return location


async def update_location(backend: Backend, command: UpdateLocation, principal: Principal) -> Location:
    """Changes the fields of a location that the command names (QC-33)."""
    given = command.values("location_id")

    def values(current: Location) -> dict[str, Any]:
        return given | ({"address": _changed_address(current.address, command.address)} if "address" in given else {})

    return await _change(backend, command, principal, ActivityKind.LOCATION_CHANGED, values)


async def deactivate_location(backend: Backend, command: DeactivateLocation, principal: Principal) -> Location:
    """Deactivates a location; an inactive one is returned unchanged (QC-33)."""
    values = {"status": LocationStatus.INACTIVE}
    return await _change(backend, command, principal, ActivityKind.LOCATION_DEACTIVATED, lambda _: values)


async def reactivate_location(backend: Backend, command: ReactivateLocation, principal: Principal) -> Location:
    """Reactivates a location; an active one is returned unchanged (QC-33)."""
    values = {"status": LocationStatus.ACTIVE}
    return await _change(backend, command, principal, ActivityKind.LOCATION_REACTIVATED, lambda _: values)


def create_steps(location: Location, content: str) -> list[Step]:
    steps = [
        CREATE_LOCATION.record_step("location", location, {"fingerprint": content}),
        CREATE_LOCATION.record_step("code", record_from(LocationCode, location)),
    ]
    if location.manager_id is not None:
        steps.append(CREATE_LOCATION.step("manager", (location.manager_id,)))
    return steps


def _change_steps(current: Location, changed: Location) -> list[Step]:
    """The steps that change a location and, with its status, its place in the index."""
    steps = [CHANGE_LOCATION.change_step("location", current, changed, expectedVersion=current.version)]
    if changed.manager_id not in {None, current.manager_id}:
        steps.append(CHANGE_LOCATION.step("manager", (changed.manager_id,)))
    return steps


def _changed_address(current: Address, given: AddressChanges | None) -> Address:
    if given is None:
        return Address()
    return replace(current, **{name: getattr(given, name) for name in given.model_fields_set})


async def _change(
    backend: Backend,
    command: UpdateLocation | DeactivateLocation | ReactivateLocation,
    principal: Principal,
    kind: ActivityKind,
    values: Callable[[Location], dict[str, Any]],
) -> Location:
    request = ChangeRequest.of(command, backend.new_id)

    async def decide(_: Counter[str]) -> Decision[Location]:
        current: Location | None = await CHANGE_LOCATION.read(backend.store, "location", command.location_id)
        if current is None:
            raise NotFoundError(f"Location {command.location_id} does not exist.", ("input", "locationId"))
        changed = request.apply(current, backend.clock(), **values(current))

        def on_refusal(refusal: TransactionRefusedError) -> Location | None:
            item = refusal.failed.get("location")
            if item is None:
                _check_manager(changed, refusal)
                return None
            request.check_made(LOCATION.decode(item))
            return changed

        if changed is current:
            return Decision(changed)
        return Decision(changed, _change_steps(current, changed), [_happening(kind, changed, current)], on_refusal)

    return await optimistic_write(backend.store, CHANGE_LOCATION, decide, log=Log(backend, principal))


def _happening(kind: ActivityKind, location: Location, before: Location | None = None) -> Happening:
    changes = () if before is None else changes_between(before, location)
    return Happening(kind=kind, location_id=location.location_id, version=location.version, changes=changes)


def _check_manager(location: Location, refusal: TransactionRefusedError) -> None:
    if "manager" in refusal.failed:
        raise NotFoundError(f"Owner {location.manager_id} does not exist.", ("input", "managerId")) from None


def check_location(
    refusal: TransactionRefusedError,
    location_id: LocationId | None,
    path: tuple[str, ...] = ("input", "locationId"),
    booking: Booking | None = None,
) -> None:
    """Reports a location that does not exist or is inactive."""
    if "location" not in refusal.failed:
        return
    if refusal.failed["location"] is None:
        raise NotFoundError(f"Location {location_id} does not exist.", path) from None
    raise LocationInactiveError(f"Location {location_id} is inactive.", path, booking) from None
