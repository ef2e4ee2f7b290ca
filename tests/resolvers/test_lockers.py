"""Lockers: registered, renamed, taken through their states; the owner's copy follows each change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from tests.api import mutation, unchanged
from tests.places import refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.conftest import Clock

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


async def test_a_registered_locker_is_available_and_in_its_owners_list(api: Api) -> None:
    await api.owner("acme")
    payload = await api.mutate(REGISTER, lockerId="l1", ownerId="acme", alias=" Front ")
    assert payload == {"locker": L1, "userErrors": []}
    assert await api.run(LOCKER, id="l1") == {"locker": L1}
    data = await api.run(OWNER_LOCKERS)
    copy = {"lockerId": "l1", "alias": "Front", "status": "AVAILABLE", "updatedAt": NOW}
    assert data["owner"]["lockers"]["nodes"] == [copy]


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
    elif after == before:
        assert payload == {"locker": L1 | {"status": before, "version": version}, "userErrors": []}
        assert table == held
    else:
        assert payload == {
            "locker": L1 | {"status": before, "version": version},
            "userErrors": [
                {
                    "__typename": "InvalidTransitionError",
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


async def test_an_alias_is_removed_by_null_and_required_otherwise(one: Api, dump: Callable[[], Any]) -> None:
    await one.mutate(RENAME, lockerId="l1", alias="Back", expectedVersion=1)
    payload = await one.mutate(RENAME, lockerId="l1", expectedVersion=2)
    assert payload["userErrors"][0]["message"] == "alias is required"
    payload = await one.mutate(RENAME, lockerId="l1", alias=None, expectedVersion=2)
    assert (payload["locker"]["alias"], payload["userErrors"]) == (None, [])
    assert not any("alias" in item for item in (await dump()).values())


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
async def test_a_refused_change_does_not_create_a_missing_copy(
    one: Api, plain_client: Any, table: str, dump: Callable[[], Any], change: str, values: dict[str, Any]
) -> None:
    await remove(plain_client, table, COPY)
    async with unchanged(dump):
        payload = await one.mutate(change, lockerId="l1", expectedVersion=7, **values)
        assert refusal(payload) == ("VERSION_CONFLICT", 409, ["input", "expectedVersion"])
        await one.mutate(change, lockerId="nope", expectedVersion=1, **values)
