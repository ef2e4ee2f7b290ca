"""A change to the present value is no change; based on an old version it is a conflict like any other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from graphql import is_non_null_type

from tests.api import mutation
from tests.inputs import MUTATIONS
from tests.places import approve, book, create_location, prepare, refusal, reject, ulid

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.conftest import Clock
    from tests.wire import Wire

LOCKER = {"lockerId": "l1", "expectedVersion": 2}
LOCATION = {"locationId": ulid(0), "expectedVersion": 2}
PRESENT: dict[str, tuple[str, dict[str, Any]]] = {
    "updateOwner": ("owner", {"ownerId": "ada", "expectedVersion": 2, "name": "Ada", "email": None, "role": "USER"}),
    "renameLocker": ("locker", {**LOCKER, "alias": "Front"}),
    "configureLocker": ("locker", {**LOCKER, "reservableBy": "MEMBERS", "size": "M", "features": None}),
    "moveLocker": ("locker", {**LOCKER, "newLocationId": ulid(0)}),
    "updateLockerStatus": ("locker", {**LOCKER, "newStatus": "AVAILABLE"}),
    "transferLocker": ("locker", {**LOCKER, "newOwnerId": "ada"}),
    "updateLocation": ("location", {**LOCATION, "name": "New", "address": {"city": None}}),
    "reactivateLocation": ("location", LOCATION),
    "deactivateLocation": ("location", {"locationId": ulid(1), "expectedVersion": 2}),
    "approveBooking": ("booking", {"bookingId": "yes", "expectedVersion": 2}),
    "rejectBooking": ("booking", {"bookingId": "no", "reason": "N", "expectedVersion": 2}),
}


def test_every_mutation_with_a_version_is_tested_here_and_takes_a_change_id() -> None:
    inputs: dict[str, Any] = {name: field.args["input"].type.of_type for name, field in MUTATIONS.items()}
    versioned = {name for name, given in inputs.items() if "expectedVersion" in given.fields}
    assert versioned == {name for name, given in inputs.items() if "changeId" in given.fields}
    # What a change of a reservation does depends on its state, so its version is optional.
    optional = {name for name in versioned if not is_non_null_type(inputs[name].fields["expectedVersion"].type)}
    assert (versioned - optional, {name.endswith("Reservation") for name in optional}) == (set(PRESENT), {True})


@pytest.mark.parametrize("name", PRESENT)
async def test_a_change_to_the_present_value_returns_the_object_without_a_new_version(
    api: Api, wire: Wire, clock: Clock, dump: Callable[[], Any], name: str
) -> None:
    await prepare(api)
    await create_location(api, 1)
    await api.locker("l1", "ada", locationId=ulid(0))
    await book(api, "yes", date="2026-03-11")
    await book(api, "no")
    await approve(api, "yes")
    await reject(api, "no")
    for change, content in (
        ("updateOwner", {"ownerId": "ada", "name": "Ada"}),
        ("renameLocker", {"lockerId": "l1", "alias": "Front"}),
        ("updateLocation", {"locationId": ulid(0), "name": "New"}),
        ("deactivateLocation", {"locationId": ulid(1)}),
    ):
        shown = f"{PRESENT[change][0]} {{ version }}"
        assert not (await api.mutate(mutation(change, shown), **content, expectedVersion=1))["userErrors"]
    clock.move(minutes=1)
    before = await dump()
    wire.reset()
    entity, content = PRESENT[name]
    document = mutation(name, f"{entity} {{ version updatedAt }}")
    payload = await api.mutate(document, **content, changeId="c1")
    shown_before = {"version": 2, "updatedAt": "2026-03-01T12:00:00.000Z"}
    assert payload == {entity: shown_before, "userErrors": []}
    assert wire.operations.keys() == {"GetItem"}
    stale = await api.mutate(document, **content | {"expectedVersion": 1})
    assert refusal(stale) == ("VERSION_CONFLICT", 409, ["input", "expectedVersion"])
    assert stale[entity] == shown_before
    assert await dump() == before
