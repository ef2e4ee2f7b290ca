"""Lockers: registered, renamed, taken through their states; the owner's copy follows each change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from tests.api import mutation, unchanged

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.conftest import Clock
    from tests.wire import Wire

FIELDS = "lockerId alias status version createdAt updatedAt ownerId owner { name }"
REGISTER = mutation("registerLocker", f"locker {{ {FIELDS} }}")
RENAME = mutation("renameLocker", f"locker {{ {FIELDS} }}")
UPDATE_STATUS = mutation("updateLockerStatus", f"locker {{ {FIELDS} }}")
TRANSFER = mutation("transferLocker", f"locker {{ {FIELDS} }}")
LOCKER = f"query ($id: ID!) {{ locker(lockerId: $id, consistent: true) {{ {FIELDS} }} }}"
OWNER_LOCKERS = 'query { owner(ownerId: "acme") { lockers { nodes { lockerId alias status updatedAt } } } }'

NOW = "2026-03-01T12:00:00.000Z"
LATER = "2026-03-01T12:01:00.000Z"
L1 = {
    "lockerId": "l1",
    "alias": "Front",
    "status": "AVAILABLE",
    "version": 1,
    "createdAt": NOW,
    "updatedAt": NOW,
    "ownerId": "acme",
    "owner": {"name": "acme"},
}
COPY = ("OWNER#acme", "LOCKER#l1")
STEPS = {
    "AVAILABLE": ["OCCUPIED", "MAINTENANCE"],
    "OCCUPIED": ["AVAILABLE", "MAINTENANCE"],
    "MAINTENANCE": ["AVAILABLE"],
}


@pytest_asyncio.fixture
async def one(api: Api) -> Api:
    """An owner with one locker."""
    await api.owner("acme")
    await api.locker("l1", "acme", alias="Front")
    return api


async def remove(client: Any, table: str, key: tuple[str, str]) -> None:
    """Takes an item out of the table, as older data may lack it."""
    await client.delete_item(TableName=table, Key={"PK": {"S": key[0]}, "SK": {"S": key[1]}})


def error(code: str, message: str, path: str, status: int) -> dict[str, Any]:
    return {
        "__typename": "PlainError",
        "message": message,
        "code": code,
        "path": ["input", path],
        "status": status,
        "retryable": False,
    }


def conflict(version: int) -> dict[str, Any]:
    return {
        "__typename": "VersionConflict",
        "message": f"The current version is {version}. Read the current state and retry with its version.",
        "code": "CONFLICT",
        "path": ["input", "expectedVersion"],
        "status": 409,
        "retryable": True,
        "currentVersion": version,
    }


async def test_a_registered_locker_is_available_and_in_its_owners_list(api: Api) -> None:
    await api.owner("acme")
    payload = await api.mutate(REGISTER, lockerId="l1", ownerId="acme", alias=" Front ")
    assert payload == {"locker": L1, "userErrors": []}
    assert await api.run(LOCKER, id="l1") == {"locker": L1}
    data = await api.run(OWNER_LOCKERS)
    copy = {"lockerId": "l1", "alias": "Front", "status": "AVAILABLE", "updatedAt": NOW}
    assert data["owner"]["lockers"]["nodes"] == [copy]


async def test_a_locker_needs_neither_an_id_nor_an_alias(api: Api) -> None:
    await api.owner("acme")
    made = (await api.mutate(REGISTER, ownerId="acme"))["locker"]
    assert len(made["lockerId"]) == 26
    assert made == L1 | {"lockerId": made["lockerId"], "alias": None}


async def test_a_locker_cannot_be_registered_with_an_owner_that_does_not_exist(
    api: Api, dump: Callable[[], Any]
) -> None:
    async with unchanged(dump):
        payload = await api.mutate(REGISTER, lockerId="l1", ownerId="nobody")
    missing = error("NOT_FOUND", "Owner nobody does not exist.", "ownerId", 404)
    assert payload == {"locker": None, "userErrors": [missing]}


async def test_the_same_registration_again_gives_the_first_result(
    one: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    clock.move(days=400)
    async with unchanged(dump):
        payload = await one.mutate(REGISTER, lockerId="l1", ownerId="acme", alias="Front")
    assert payload == {"locker": L1, "userErrors": []}


async def test_the_same_registration_again_is_known_after_a_rename_and_a_transfer(
    one: Api, dump: Callable[[], Any]
) -> None:
    await one.owner("eve")
    await one.mutate(RENAME, lockerId="l1", alias="Back", expectedVersion=1)
    current = await one.mutate(TRANSFER, lockerId="l1", newOwnerId="eve", expectedVersion=2)
    async with unchanged(dump):
        payload = await one.mutate(REGISTER, lockerId="l1", ownerId="acme", alias="Front")
    assert payload == current
    assert (payload["locker"]["alias"], payload["locker"]["ownerId"]) == ("Back", "eve")


@pytest.mark.parametrize("other", [{"alias": "Back"}, {"alias": None}, {"ownerId": "eve"}, {"ownerId": "nobody"}])
async def test_a_lockers_id_used_for_other_content_is_taken(
    one: Api, dump: Callable[[], Any], other: dict[str, Any]
) -> None:
    await one.owner("eve")
    async with unchanged(dump):
        payload = await one.mutate(REGISTER, **{"lockerId": "l1", "ownerId": "acme", "alias": "Front", **other})
    taken = error("ID_TAKEN", "The id l1 was used before, for another locker.", "lockerId", 409)
    assert payload == {"locker": None, "userErrors": [taken]}


@pytest.mark.parametrize("before", STEPS)
@pytest.mark.parametrize("after", STEPS)
async def test_the_state_machine_takes_the_steps_it_names_and_no_other(
    one: Api, clock: Clock, dump: Callable[[], Any], before: str, after: str
) -> None:
    # given
    version = 1
    if before != "AVAILABLE":
        await one.mutate(UPDATE_STATUS, lockerId="l1", newStatus=before, expectedVersion=1)
        version = 2
    clock.move(minutes=1)
    held = await dump()
    # when
    payload = await one.mutate(UPDATE_STATUS, lockerId="l1", newStatus=after, expectedVersion=version)
    # then
    table = await dump()
    if after in STEPS[before]:
        changed = L1 | {"status": after, "version": version + 1, "updatedAt": LATER}
        assert payload == {"locker": changed, "userErrors": []}
        assert (table[COPY]["status"], table[COPY]["updatedAt"]) == (after, LATER)
    else:
        assert payload == {
            "locker": L1 | {"status": before, "version": version},
            "userErrors": [
                {
                    "__typename": "InvalidTransition",
                    "message": f"A locker cannot change from {before} to {after}. "
                    f"Allowed: {' or '.join(STEPS[before])}.",
                    "code": "INVALID_TRANSITION",
                    "path": ["input", "newStatus"],
                    "status": 409,
                    "retryable": False,
                    "currentStatus": before,
                    "allowedStatuses": STEPS[before],
                }
            ],
        }
        assert table == held


async def test_a_renamed_locker_has_its_alias_in_its_owners_list_too(one: Api, clock: Clock) -> None:
    clock.move(minutes=1)
    payload = await one.mutate(RENAME, lockerId="l1", alias=" Back ", expectedVersion=1)
    renamed = L1 | {"alias": "Back", "version": 2, "updatedAt": LATER}
    assert payload == {"locker": renamed, "userErrors": []}
    assert await one.run(LOCKER, id="l1") == {"locker": renamed}
    data = await one.run(OWNER_LOCKERS)
    copy = {"lockerId": "l1", "alias": "Back", "status": "AVAILABLE", "updatedAt": LATER}
    assert data["owner"]["lockers"]["nodes"] == [copy]


CHANGES = [
    (RENAME, {"alias": "Back"}),
    (UPDATE_STATUS, {"newStatus": "MAINTENANCE"}),
    (UPDATE_STATUS, {"newStatus": "OCCUPIED"}),
    (TRANSFER, {"newOwnerId": "eve"}),
    (TRANSFER, {"newOwnerId": "nobody"}),
    (TRANSFER, {"newOwnerId": "acme"}),
]


@pytest.mark.parametrize(("change", "values"), CHANGES)
@pytest.mark.parametrize("stale", [0, 1, 3, -1, 2147483647])
async def test_a_change_with_a_stale_version_conflicts_and_returns_the_current_locker(
    one: Api, dump: Callable[[], Any], change: str, values: dict[str, Any], stale: int
) -> None:
    await one.owner("eve")
    current = await one.mutate(UPDATE_STATUS, lockerId="l1", newStatus="OCCUPIED", expectedVersion=1)
    async with unchanged(dump):
        payload = await one.mutate(change, lockerId="l1", expectedVersion=stale, **values)
    assert payload == {"locker": current["locker"], "userErrors": [conflict(2)]}


async def test_the_version_that_a_conflict_carries_makes_the_next_attempt_succeed(one: Api) -> None:
    await one.mutate(RENAME, lockerId="l1", alias="Back", expectedVersion=1)
    refused = await one.mutate(UPDATE_STATUS, lockerId="l1", newStatus="OCCUPIED", expectedVersion=1)
    version = refused["userErrors"][0]["currentVersion"]
    payload = await one.mutate(UPDATE_STATUS, lockerId="l1", newStatus="OCCUPIED", expectedVersion=version)
    assert (payload["locker"]["version"], payload["userErrors"]) == (3, [])


@pytest.mark.parametrize(("change", "values"), CHANGES)
async def test_a_change_of_a_locker_that_does_not_exist_is_not_found(
    one: Api, wire: Wire, dump: Callable[[], Any], change: str, values: dict[str, Any]
) -> None:
    await one.owner("eve")
    wire.reset()
    async with unchanged(dump):
        payload = await one.mutate(change, lockerId="nope", expectedVersion=1, **values)
    missing = error("NOT_FOUND", "Locker nope does not exist.", "lockerId", 404)
    assert payload == {"locker": None, "userErrors": [missing]}
    assert wire.operations == {"GetItem": 1}


@pytest.mark.parametrize(("change", "values"), CHANGES[:2])
async def test_a_missing_owners_copy_is_mended_by_the_next_change(
    one: Api, plain_client: Any, table: str, dump: Callable[[], Any], change: str, values: dict[str, Any]
) -> None:
    # given
    whole = await dump()
    await remove(plain_client, table, COPY)
    # when
    payload = await one.mutate(change, lockerId="l1", expectedVersion=1, **values)
    # then
    after = await dump()
    assert payload["userErrors"] == []
    assert after.keys() == whole.keys()
    shown = {name: after["LOCKER#l1", "META"][name] for name in ("lockerId", "ownerId", "alias", "status", "updatedAt")}
    index = {"GSI1PK": f"{COPY[0]}#LOCKER#{shown['status']}", "GSI1SK": "l1"}
    assert after[COPY] == {"PK": COPY[0], "SK": COPY[1], "entityType": "OWNER_LOCKER", **shown, **index}


@pytest.mark.parametrize(("change", "values"), CHANGES)
async def test_a_refused_change_makes_no_ghost_of_a_missing_copy(
    one: Api, plain_client: Any, table: str, dump: Callable[[], Any], change: str, values: dict[str, Any]
) -> None:
    await remove(plain_client, table, COPY)
    async with unchanged(dump):
        payload = await one.mutate(change, lockerId="l1", expectedVersion=7, **values)
        assert payload["userErrors"] == [conflict(1)]
        await one.mutate(change, lockerId="nope", expectedVersion=1, **values)
