"""Lockers at locations: registered there, moved, and every copy as true as the locker itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.api import UPDATE_STATUS, unchanged
from tests.conftest import NOW
from tests.invariants import check_invariants
from tests.places import DEACTIVATE, MOVE, REACTIVATE, REGISTER, create_location, refusal, ulid
from tests.races.test_lockers import RENAME, TRANSFER

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.conftest import Clock

HERE, THERE, CLOSED = ulid(1), ulid(2), ulid(3)
AT = "query ($id: ID!) { location(locationId: $id) { lockers { nodes { lockerId alias status updatedAt } } } }"


@pytest.fixture
def places(api: Api) -> Callable[[], Any]:
    async def made() -> None:
        """Two owners, two locations that are open and one that is closed."""
        await api.owner("ada")
        await api.owner("bob")
        for number in (1, 2, 3):
            await create_location(api, number)
        await api.mutate(DEACTIVATE, locationId=CLOSED, expectedVersion=1)

    return made


def copies(items: dict[tuple[str, str], dict[str, Any]]) -> set[tuple[Any, ...]]:
    """Where the copies of l1 are, and what they say."""
    names = ("ownerId", "alias", "status", "updatedAt")
    return {(pk, *(item.get(name) for name in names)) for (pk, sk), item in items.items() if sk == "LOCKER#l1"}


async def listed(api: Api, location_id: str) -> list[dict[str, Any]]:
    nodes: list[dict[str, Any]] = (await api.run(AT, id=location_id))["location"]["lockers"]["nodes"]
    return nodes


async def test_a_locker_registered_at_a_location_is_in_its_list(
    api: Api, places: Callable[[], Any], dump: Callable[[], Any]
) -> None:
    await places()
    payload = await api.mutate(REGISTER, lockerId="l1", ownerId="ada", alias="A1", locationId=HERE)
    assert payload["userErrors"] == []
    assert payload["locker"]["locationId"] == HERE
    assert await listed(api, HERE) == [{"lockerId": "l1", "alias": "A1", "status": "AVAILABLE", "updatedAt": NOW}]
    items = await dump()
    assert copies(items) == {(pk, "ada", "A1", "AVAILABLE", NOW) for pk in ("OWNER#ada", f"LOCATION#{HERE}")}
    check_invariants(items, NOW)


@pytest.mark.parametrize(
    ("location_id", "expected"),
    [
        (CLOSED, ("LOCATION_INACTIVE", 409, ["input", "locationId"])),
        (ulid(9), ("NOT_FOUND", 404, ["input", "locationId"])),
    ],
)
async def test_a_locker_is_not_registered_where_it_cannot_stand(
    api: Api, places: Callable[[], Any], dump: Callable[[], Any], location_id: str, expected: tuple[str, int, list[str]]
) -> None:
    await places()
    async with unchanged(dump):
        payload = await api.mutate(REGISTER, lockerId="l1", ownerId="ada", locationId=location_id)
        assert payload["locker"] is None
        assert refusal(payload) == expected


@pytest.mark.parametrize(("old", "new"), [(None, HERE), (HERE, THERE), (HERE, None), (CLOSED, HERE), (CLOSED, None)])
async def test_a_move_takes_a_locker_out_of_one_list_and_into_the_other(
    api: Api, places: Callable[[], Any], dump: Callable[[], Any], clock: Clock, old: str | None, new: str | None
) -> None:
    await places()
    await api.mutate(REACTIVATE, locationId=CLOSED, expectedVersion=2)
    await api.locker("l1", "ada", alias="A1", locationId=old)
    await api.mutate(DEACTIVATE, locationId=CLOSED, expectedVersion=3)
    clock.move(hours=1)
    payload = await api.mutate(MOVE, lockerId="l1", newLocationId=new, expectedVersion=1)
    assert payload["userErrors"] == []
    assert payload["locker"] == {
        "lockerId": "l1",
        "alias": "A1",
        "status": "AVAILABLE",
        "ownerId": "ada",
        "locationId": new,
        "version": 2,
    }
    if old:
        assert await listed(api, old) == []
    items = await dump()
    where = {"OWNER#ada"} | ({f"LOCATION#{new}"} if new else set())
    assert copies(items) == {(pk, "ada", "A1", "AVAILABLE", clock.now) for pk in where}
    assert ("locationId" in items["LOCKER#l1", "META"]) is (new is not None)
    check_invariants(items, clock.now)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"newLocationId": CLOSED}, ("LOCATION_INACTIVE", 409, ["input", "newLocationId"])),
        ({"newLocationId": ulid(9)}, ("NOT_FOUND", 404, ["input", "newLocationId"])),
        ({}, ("BAD_USER_INPUT", 400, ["input", "newLocationId"])),
        ({"newLocationId": THERE, "expectedVersion": 2}, ("VERSION_CONFLICT", 409, ["input", "expectedVersion"])),
        ({"newLocationId": THERE, "lockerId": "l9"}, ("NOT_FOUND", 404, ["input", "lockerId"])),
        ({"newLocationId": "a#b"}, ("BAD_USER_INPUT", 400, ["input", "newLocationId"])),
    ],
)
async def test_a_move_that_cannot_be_made_changes_nothing(
    api: Api,
    places: Callable[[], Any],
    dump: Callable[[], Any],
    change: dict[str, Any],
    expected: tuple[str, int, list[str]],
) -> None:
    await places()
    await api.locker("l1", "ada", locationId=HERE)
    before = await dump()
    payload = await api.mutate(MOVE, **{"lockerId": "l1", "expectedVersion": 1} | change)
    assert refusal(payload) == expected
    assert (payload["locker"] or {}).get("version") == (1 if expected[0] == "VERSION_CONFLICT" else None)
    assert await dump() == before


async def test_a_move_whose_place_is_a_variable_without_a_value_takes_no_locker_away(
    api: Api, places: Callable[[], Any], dump: Callable[[], Any]
) -> None:
    await places()
    await api.locker("l1", "ada", locationId=HERE)
    before = await dump()
    document = """mutation ($place: ID) {
      moveLocker(input: { lockerId: "l1", newLocationId: $place, expectedVersion: 1 }) { userErrors { message path } }
    }"""
    assert (await api.run(document))["moveLocker"]["userErrors"] == [
        {"message": "newLocationId is required", "path": ["input", "newLocationId"]}
    ]
    assert await dump() == before
    assert (await api.run(document, place=None))["moveLocker"]["userErrors"] == []


@pytest.mark.parametrize("place", [HERE, None])
async def test_a_locker_moved_to_where_it_is_stays_as_it_is(
    api: Api, places: Callable[[], Any], dump: Callable[[], Any], clock: Clock, place: str | None
) -> None:
    await places()
    await api.locker("l1", "ada", locationId=place)
    clock.move(hours=1)
    before = await dump()
    payload = await api.mutate(MOVE, lockerId="l1", newLocationId=place, expectedVersion=1)
    assert (payload["locker"]["version"], payload["userErrors"]) == (1, [])
    assert await dump() == before


async def test_a_status_a_name_and_a_new_owner_reach_every_copy(
    api: Api, places: Callable[[], Any], dump: Callable[[], Any], clock: Clock
) -> None:
    await places()
    await api.locker("l1", "ada", alias="Old", locationId=HERE)
    steps: list[tuple[str, dict[str, Any], tuple[str, str, str]]] = [
        (UPDATE_STATUS, {"newStatus": "OCCUPIED"}, ("ada", "Old", "OCCUPIED")),
        (RENAME, {"alias": "New"}, ("ada", "New", "OCCUPIED")),
        (TRANSFER, {"newOwnerId": "bob"}, ("bob", "New", "OCCUPIED")),
    ]
    for version, (mutation, change, (owner, alias, status)) in enumerate(steps, 1):
        clock.move(minutes=1)
        payload = await api.mutate(mutation, lockerId="l1", expectedVersion=version, **change)
        assert payload["userErrors"] == []
        items = await dump()
        places_of = (f"OWNER#{owner}", f"LOCATION#{HERE}")
        assert copies(items) == {(pk, owner, alias, status, clock.now) for pk in places_of}
        check_invariants(items, clock.now)
    shown = {"lockerId": "l1", "alias": "New", "status": "OCCUPIED", "updatedAt": clock.now}
    assert await listed(api, HERE) == [shown]


async def test_a_locker_at_a_closed_location_can_still_be_used(
    api: Api, places: Callable[[], Any], dump: Callable[[], Any]
) -> None:
    await places()
    await api.locker("l1", "ada", locationId=HERE)
    await api.mutate(DEACTIVATE, locationId=HERE, expectedVersion=1)
    payload = await api.mutate(UPDATE_STATUS, lockerId="l1", newStatus="OCCUPIED", expectedVersion=1)
    assert payload["userErrors"] == []
    check_invariants(await dump(), NOW)


@pytest.mark.parametrize("lost", [("OWNER#ada",), (f"LOCATION#{HERE}",), ("OWNER#ada", f"LOCATION#{HERE}")])
@pytest.mark.parametrize(
    ("mutation", "change"),
    [
        (UPDATE_STATUS, {"newStatus": "OCCUPIED"}),
        (RENAME, {"alias": "New"}),
        (MOVE, {"newLocationId": THERE}),
        (TRANSFER, {"newOwnerId": "bob"}),
    ],
)
async def test_a_change_makes_the_copies_that_older_data_does_not_have(
    api: Api,
    places: Callable[[], Any],
    dump: Callable[[], Any],
    plain_client: Any,
    table: str,
    mutation: str,
    change: dict[str, str],
    lost: tuple[str, ...],
) -> None:
    await places()
    await api.locker("l1", "ada", alias="A1", locationId=HERE)
    for pk in lost:
        await plain_client.delete_item(TableName=table, Key={"PK": {"S": pk}, "SK": {"S": "LOCKER#l1"}})
    payload = await api.mutate(mutation, lockerId="l1", expectedVersion=1, **change)
    assert payload["userErrors"] == []
    items = await dump()
    owner, location_id = change.get("newOwnerId", "ada"), change.get("newLocationId", HERE)
    shown = (owner, change.get("alias", "A1"), change.get("newStatus", "AVAILABLE"), NOW)
    assert copies(items) == {(f"OWNER#{owner}", *shown), (f"LOCATION#{location_id}", *shown)}
    check_invariants(items, NOW)
