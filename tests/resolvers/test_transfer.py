"""A locker that changes hands: out of one owner's list, into another's, reservations untouched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest_asyncio

from tests.api import mutation, unchanged, user_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.conftest import Clock

TRANSFER = mutation("transferLocker", "locker { lockerId alias ownerId owner { ownerId name } version updatedAt }")
RENAME = mutation("renameLocker", "locker { version }")
LISTS = """{
  acme: owner(ownerId: "acme") { lockers { nodes { lockerId } } reservations { nodes { reservationId } } }
  eve: owner(ownerId: "eve") { lockers { nodes { lockerId } } reservations { nodes { reservationId } } }
}"""
RESERVATION = '{ reservation(lockerId: "l1", reservationId: "r1") { ownerId status } }'
LATER = "2026-03-01T12:01:00.000Z"


@pytest_asyncio.fixture
async def pair(api: Api) -> Api:
    """Two owners, the first with a locker that it has reserved."""
    await api.owner("acme")
    await api.owner("eve")
    await api.locker("l1", "acme", alias="Front")
    await api.reservation("r1", "l1", "acme", "2026-03-01T11:00:00Z", "2026-03-01T13:00:00Z")
    return api


def lists(lockers_of_acme: list[str], lockers_of_eve: list[str]) -> dict[str, Any]:
    return {
        name: {
            "lockers": {"nodes": [{"lockerId": locker} for locker in lockers]},
            "reservations": {"nodes": [{"reservationId": "r1"}] if name == "acme" else []},
        }
        for name, lockers in (("acme", lockers_of_acme), ("eve", lockers_of_eve))
    }


async def test_a_transferred_locker_leaves_one_list_and_enters_the_other_and_its_reservations_stay(
    pair: Api, clock: Clock
) -> None:
    assert await pair.run(LISTS) == lists(["l1"], [])
    clock.move(minutes=1)
    payload = await pair.mutate(TRANSFER, lockerId="l1", newOwnerId="eve", expectedVersion=1)
    assert payload == {
        "locker": {
            "lockerId": "l1",
            "alias": "Front",
            "ownerId": "eve",
            "owner": {"ownerId": "eve", "name": "eve"},
            "version": 2,
            "updatedAt": LATER,
        },
        "userErrors": [],
    }
    assert await pair.run(LISTS) == lists([], ["l1"])
    assert await pair.run(RESERVATION) == {"reservation": {"ownerId": "acme", "status": "ACTIVE"}}


async def test_a_locker_can_be_given_back(pair: Api, dump: Callable[[], Any]) -> None:
    keys = (await dump()).keys()
    await pair.mutate(TRANSFER, lockerId="l1", newOwnerId="eve", expectedVersion=1)
    payload = await pair.mutate(TRANSFER, lockerId="l1", newOwnerId="acme", expectedVersion=2)
    assert (payload["locker"]["ownerId"], payload["locker"]["version"]) == ("acme", 3)
    assert (await dump()).keys() == keys


async def test_a_transfer_to_a_missing_owner_is_refused(pair: Api, dump: Callable[[], Any]) -> None:
    async with unchanged(dump):
        payload = await pair.mutate(TRANSFER, lockerId="l1", newOwnerId="nobody", expectedVersion=1)
    refused = user_error("NOT_FOUND", "Owner nobody does not exist.", 404, "newOwnerId")
    assert payload == {"locker": None, "userErrors": [refused]}


async def test_a_stray_copy_with_the_new_owner_is_overwritten_by_the_true_one(
    pair: Api, plain_client: Any, table: str, dump: Callable[[], Any]
) -> None:
    stray = {"PK": {"S": "OWNER#eve"}, "SK": {"S": "LOCKER#l1"}, "alias": {"S": "Stray"}, "odd": {"S": "left over"}}
    await plain_client.put_item(TableName=table, Item=stray)
    payload = await pair.mutate(TRANSFER, lockerId="l1", newOwnerId="eve", expectedVersion=1)
    assert payload["userErrors"] == []
    copy = (await dump())["OWNER#eve", "LOCKER#l1"]
    assert (copy["alias"], copy.get("odd")) == ("Front", None)


async def test_after_a_transfer_changes_go_to_the_new_owners_copy(pair: Api, dump: Callable[[], Any]) -> None:
    await pair.mutate(TRANSFER, lockerId="l1", newOwnerId="eve", expectedVersion=1)
    await pair.mutate(RENAME, lockerId="l1", alias="Back", expectedVersion=2)
    copies = {key: item["alias"] for key, item in (await dump()).items() if key[1] == "LOCKER#l1"}
    assert copies == {("OWNER#eve", "LOCKER#l1"): "Back"}
