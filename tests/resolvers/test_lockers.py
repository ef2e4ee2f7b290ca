from typing import Any

import pytest
import pytest_asyncio

from tests.api import Api, mutation, refused, unchanged, user_error
from tests.conftest import NOW, Clock, Dump, Prepared
from tests.invariants import check_invariants
from tests.places import DEACTIVATE, REACTIVATE, create_location, refusal, ulid

LOCKER = "locker { lockerId alias status ownerId owner { name } locationId version createdAt updatedAt }"
REGISTER, RENAME, UPDATE_STATUS, MOVE, TRANSFER = (
    mutation(name, LOCKER)
    for name in ("registerLocker", "renameLocker", "updateLockerStatus", "moveLocker", "transferLocker")
)
HERE, THERE, CLOSED = ulid(1), ulid(2), ulid(3)
AT = "query ($id: ID!) { location(locationId: $id) { lockers { nodes { lockerId alias status updatedAt } } } }"
STEPS = {
    "AVAILABLE": ["OCCUPIED", "MAINTENANCE"],
    "OCCUPIED": ["AVAILABLE", "MAINTENANCE"],
    "MAINTENANCE": ["AVAILABLE"],
}


async def prepare(api: Api) -> None:
    for name in ("ada", "bob"):
        await api.owner(name)
    for number in (1, 2, 3):
        await create_location(api, number)
    await api.mutate(DEACTIVATE, locationId=CLOSED, expectedVersion=1)


@pytest_asyncio.fixture
async def places(api: Api, prepared: Prepared) -> Api:
    """Two owners, two locations that are active and one that is not."""
    await prepared(prepare, api)
    return api


def copies(items: dict[tuple[str, str], dict[str, Any]]) -> set[tuple[Any, ...]]:
    """Where the copies of l1 are, and what they say."""
    names = ("ownerId", "alias", "status", "updatedAt")
    return {(pk, *(item.get(name) for name in names)) for (pk, sk), item in items.items() if sk == "LOCKER#l1"}


async def listed(api: Api, location_id: str) -> list[dict[str, Any]]:
    nodes: list[dict[str, Any]] = (await api.run(AT, id=location_id))["location"]["lockers"]["nodes"]
    return nodes


async def test_a_status_a_name_and_a_new_owner_reach_every_copy(places: Api, dump: Dump, clock: Clock) -> None:
    steps: list[tuple[str, dict[str, Any], tuple[str, str | None, str]]] = [
        (REGISTER, {"ownerId": "ada", "alias": " Old ", "locationId": HERE}, ("ada", "Old", "AVAILABLE")),
        (UPDATE_STATUS, {"newStatus": "OCCUPIED"}, ("ada", "Old", "OCCUPIED")),
        (RENAME, {"alias": " New "}, ("ada", "New", "OCCUPIED")),
        (TRANSFER, {"newOwnerId": "bob"}, ("bob", "New", "OCCUPIED")),
        (RENAME, {"alias": None}, ("bob", None, "OCCUPIED")),
    ]
    for version, (document, change, (owner, alias, status)) in enumerate(steps):
        based = {"expectedVersion": version} if version else {}
        payload = await places.mutate(document, lockerId="l1", **based, **change)
        shown: dict[str, Any] = {
            "lockerId": "l1",
            "alias": alias,
            "status": status,
            "locationId": HERE,
            "version": version + 1,
        }
        shown |= {"ownerId": owner, "owner": {"name": owner}, "createdAt": NOW, "updatedAt": clock.now}
        assert payload == {"locker": shown, "userErrors": []}
        assert await places.run(f'{{ locker(lockerId: "l1", consistent: true) {LOCKER[7:]} }}') == {"locker": shown}
        assert await listed(places, HERE) == [
            {name: shown[name] for name in ("lockerId", "alias", "status", "updatedAt")}
        ]
        items = await dump()
        assert copies(items) == {(pk, owner, alias, status, clock.now) for pk in (f"OWNER#{owner}", f"LOCATION#{HERE}")}
        check_invariants(items, clock.now)
        clock.move(minutes=1)
    assert not any("alias" in item for item in items.values())


@pytest.mark.parametrize("before", STEPS)
@pytest.mark.parametrize("after", STEPS)
async def test_the_state_machine_takes_the_steps_it_names_and_no_other(
    one: Api, clock: Clock, dump: Dump, before: str, after: str
) -> None:
    version = 1 if before == "AVAILABLE" else 2
    await one.mutate(UPDATE_STATUS, lockerId="l1", newStatus=before, expectedVersion=1)
    clock.move(minutes=1)
    held = await dump()
    payload = await one.mutate(UPDATE_STATUS, lockerId="l1", newStatus=after, expectedVersion=version)
    shown = [payload["locker"][name] for name in ("status", "version", "updatedAt")]
    if after in STEPS[before]:
        assert (shown, payload["userErrors"]) == ([after, version + 1, clock.now], [])
        assert copies(await dump()) == {("OWNER#ada", "ada", None, after, clock.now)}
        return
    message = f"A locker cannot change from {before} to {after}. Allowed: {' or '.join(STEPS[before])}."
    error = user_error("INVALID_TRANSITION", message, 409, "newStatus")
    error |= {"__typename": "InvalidTransitionError", "currentStatus": before, "allowedStatuses": STEPS[before]}
    assert (shown, payload["userErrors"]) == ([before, version, NOW], [] if after == before else [error])
    assert await dump() == held


@pytest.mark.parametrize(("old", "new"), [(None, HERE), (HERE, THERE), (HERE, None), (CLOSED, HERE), (CLOSED, None)])
async def test_a_move_takes_a_locker_out_of_one_list_and_into_the_other(
    places: Api, dump: Dump, clock: Clock, old: str | None, new: str | None
) -> None:
    await places.mutate(REACTIVATE, locationId=CLOSED, expectedVersion=2)
    await places.locker("l1", "ada", alias="A1", locationId=old)
    await places.mutate(DEACTIVATE, locationId=CLOSED, expectedVersion=3)
    clock.move(hours=1)
    payload = await places.mutate(MOVE, lockerId="l1", newLocationId=new, expectedVersion=1)
    assert payload["userErrors"] == []
    assert (payload["locker"]["locationId"], payload["locker"]["version"]) == (new, 2)
    for location_id, count in ((old, 0), (new, 1)):
        assert location_id is None or len(await listed(places, location_id)) == count
    items = await dump()
    where = {"OWNER#ada"} | ({f"LOCATION#{new}"} if new else set())
    assert copies(items) == {(pk, "ada", "A1", "AVAILABLE", clock.now) for pk in where}
    assert ("locationId" in items["LOCKER#l1", "META"]) is (new is not None)
    check_invariants(items, clock.now)


@pytest.mark.parametrize(
    ("document", "change", "code", "status"),
    [
        (REGISTER, {"lockerId": "l2", "ownerId": "ada", "locationId": CLOSED}, "LOCATION_INACTIVE", 409),
        (MOVE, {"expectedVersion": 1, "newLocationId": CLOSED}, "LOCATION_INACTIVE", 409),
        (MOVE, {"expectedVersion": 1, "newLocationId": ulid(9)}, "NOT_FOUND", 404),
        (TRANSFER, {"expectedVersion": 1, "newOwnerId": "nobody"}, "NOT_FOUND", 404),
    ],
)
async def test_a_locker_does_not_come_where_it_cannot_be(
    places: Api, dump: Dump, document: str, change: dict[str, Any], code: str, status: int
) -> None:
    await places.locker("l1", "ada", locationId=HERE)
    payload = await refused(places, dump, document, **{"lockerId": "l1"} | change)
    assert (payload["locker"], refusal(payload)) == (None, (code, status, ["input", [*change][-1]]))


async def test_an_alias_is_required_even_though_null_removes_it(one: Api, dump: Dump) -> None:
    payload = await refused(one, dump, RENAME, lockerId="l1", expectedVersion=1)
    assert payload["userErrors"] == [user_error("BAD_USER_INPUT", "alias is required", 400, "alias")]


async def test_a_move_whose_place_is_a_variable_without_a_value_takes_no_locker_away(places: Api, dump: Dump) -> None:
    await places.locker("l1", "ada", locationId=HERE)
    document = """mutation ($place: ID) {
      moveLocker(input: { lockerId: "l1", newLocationId: $place, expectedVersion: 1 }) { userErrors { message path } }
    }"""
    async with unchanged(dump):
        (error,) = (await places.run(document))["moveLocker"]["userErrors"]
    assert error == {"message": "newLocationId is required", "path": ["input", "newLocationId"]}
    assert (await places.run(document, place=None))["moveLocker"]["userErrors"] == []


async def test_a_locker_at_a_closed_location_can_still_be_used(places: Api, dump: Dump) -> None:
    await places.locker("l1", "ada", locationId=HERE)
    await places.mutate(DEACTIVATE, locationId=HERE, expectedVersion=1)
    payload = await places.mutate(UPDATE_STATUS, lockerId="l1", newStatus="OCCUPIED", expectedVersion=1)
    assert payload["userErrors"] == []
    check_invariants(await dump(), NOW)
