"""Many clients change one locker at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tests.api import UPDATE_STATUS
from tests.conftest import NOW
from tests.invariants import check_invariants
from tests.races.holding import until_all_are_sent

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.wire import Wire

RENAME = """
mutation ($input: RenameLockerInput!) {
  renameLocker(input: $input) { locker { version } userErrors { code } }
}"""
TRANSFER = """
mutation ($input: TransferLockerInput!) {
  transferLocker(input: $input) {
    locker { version ownerId } userErrors { code status ... on VersionConflictError { currentVersion } }
  }
}"""
CREATE_OWNER = """
mutation ($input: CreateOwnerInput!) {
  createOwner(input: $input) { owner { ownerId createdAt } userErrors { code } }
}"""
LOCKER = '{ locker(lockerId: "l1", consistent: true) { version status ownerId alias } }'


async def test_twenty_clients_with_the_same_version_make_one_change(
    api: Api, wire: Wire, dump: Callable[[], Any]
) -> None:
    await api.owner("ada")
    await api.locker("l1", "ada")
    # All have read the locker before any writes it, so that the store decides.
    wire.fault = until_all_are_sent("TransactWriteItems", 20)
    change = {"lockerId": "l1", "newStatus": "OCCUPIED", "expectedVersion": 1}
    payloads = await asyncio.gather(*(api.mutate(UPDATE_STATUS, **change) for _ in range(20)))
    winners = [payload for payload in payloads if not payload["userErrors"]]
    losers = [payload for payload in payloads if payload["userErrors"]]
    assert len(winners) == 1
    assert len(losers) == 19
    for payload in losers:
        (error,) = payload["userErrors"]
        assert (error["__typename"], error["code"], error["status"]) == (
            "VersionConflictError",
            "VERSION_CONFLICT",
            409,
        )
        assert error["currentVersion"] == payload["locker"]["version"] == 2
    items = await dump()
    assert items["LOCKER#l1", "META"]["version"] == 2
    check_invariants(items, NOW)


async def test_of_two_transfers_at_once_one_wins(api: Api, wire: Wire, dump: Callable[[], Any]) -> None:
    for owner_id in ("ada", "bob", "cleo"):
        await api.owner(owner_id)
    await api.locker("l1", "ada")
    wire.fault = until_all_are_sent("TransactWriteItems", 2)
    payloads = await asyncio.gather(
        *(api.mutate(TRANSFER, lockerId="l1", newOwnerId=owner_id, expectedVersion=1) for owner_id in ("bob", "cleo"))
    )
    (winner,) = [payload["locker"] for payload in payloads if not payload["userErrors"]]
    (loser,) = [payload for payload in payloads if payload["userErrors"]]
    assert loser["userErrors"] == [{"code": "VERSION_CONFLICT", "status": 409, "currentVersion": 2}]
    assert loser["locker"] == winner
    check_invariants(await dump(), NOW)


async def test_transfers_status_changes_and_renames_leave_one_true_copy(api: Api, dump: Callable[[], Any]) -> None:
    for owner_id in ("ada", "bob"):
        await api.owner(owner_id)
    await api.locker("l1", "ada")
    accepted = 0
    for number in range(200):
        locker = (await api.run(LOCKER))["locker"]
        version = {"lockerId": "l1", "expectedVersion": locker["version"]}
        other_owner = "bob" if locker["ownerId"] == "ada" else "ada"
        other_status = "OCCUPIED" if locker["status"] == "AVAILABLE" else "AVAILABLE"
        payloads = await asyncio.gather(
            api.mutate(TRANSFER, **version, newOwnerId=other_owner),
            api.mutate(UPDATE_STATUS, **version, newStatus=other_status),
            api.mutate(RENAME, **version, alias=f"Name {number}"),
        )
        won = sum(not payload["userErrors"] for payload in payloads)
        assert won == 1
        accepted += won
    items = await dump()
    assert items["LOCKER#l1", "META"]["version"] == 1 + accepted
    check_invariants(items, NOW)


async def test_of_ten_owners_with_one_address_one_is_created(api: Api, dump: Callable[[], Any]) -> None:
    payloads = await asyncio.gather(
        *(
            api.mutate(CREATE_OWNER, ownerId=f"o{number}", kind="USER", name="N", email="One@example.com")
            for number in range(10)
        )
    )
    codes = sorted(error["code"] for payload in payloads for error in payload["userErrors"])
    assert codes == ["EMAIL_TAKEN"] * 9
    items = await dump()
    assert sum(item["entityType"] == "OWNER" for item in items.values()) == 1
    check_invariants(items, NOW)
