import asyncio
from collections import Counter
from typing import Any

import pytest

from tests import places
from tests.api import CREATE_OWNER, RENAME, TRANSFER, UPDATE_STATUS, Api, mutation
from tests.conftest import NOW, Dump, OpenApi
from tests.invariants import check_invariants
from tests.wire import Meeting, Wire, unlogged

UPDATE_OWNER = mutation("updateOwner", "owner { ownerId }")
LOCKER = '{ locker(lockerId: "l1", consistent: true) { version status ownerId locationId } }'


@pytest.mark.parametrize(
    ("place", "changes"),
    [
        ({"lockerId": "l1"}, [(UPDATE_STATUS, {"newStatus": "OCCUPIED"})] * 20),
        ({"lockerId": "l1"}, [(TRANSFER, {"newOwnerId": name}) for name in ("root", "bob")]),
        (
            {"locationId": places.ulid(0)},
            [(places.DEACTIVATE, {}), *((places.UPDATE_LOCATION, {"name": f"Name {number}"}) for number in range(9))],
        ),
    ],
    ids=["statuses", "transfers", "a location"],
)
async def test_of_many_changes_of_one_version_at_once_one_is_made_and_the_others_get_its_result(
    api: Api, wire: Wire, dump: Dump, place: dict[str, str], changes: list[tuple[str, dict[str, Any]]]
) -> None:
    await places.prepare(api)
    await api.owner("bob")
    await api.locker("l1", "ada")
    wire.fault = Meeting(len(changes))  # all have read before any writes, so that the store decides
    payloads = await asyncio.gather(
        *(api.mutate(document, **place, **values, expectedVersion=1) for document, values in changes)
    )
    (winner,) = [payload for payload in payloads if payload["userErrors"] == []]
    for loser in payloads:
        if loser is not winner:
            assert places.refusal(loser) == ("VERSION_CONFLICT", 409, ["input", "expectedVersion"])
            assert loser.pop("userErrors")[0].get("currentVersion") == 2
            assert loser == {name: value for name, value in winner.items() if name != "userErrors"}
    items = await dump()
    ((name, own_id),) = place.items()
    assert items[f"{name.removesuffix('Id').upper()}#{own_id}", "META"]["version"] == 2
    check_invariants(items, NOW)


@pytest.mark.parametrize(
    ("document", "count", "refused", "values"),
    [
        (CREATE_OWNER, 10, ("EMAIL_TAKEN", 409, ["input", "email"]), {"kind": "USER", "email": "One@example.com"}),
        (UPDATE_OWNER, 5, ("EMAIL_TAKEN", 409, ["input", "email"]), {"expectedVersion": 1, "email": "One@example.com"}),
        (places.CREATE_LOCATION, 30, ("CODE_TAKEN", 409, ["input", "code"]), places.fresh("rome")),
    ],
    ids=["new owners", "owners", "new locations"],
)
async def test_of_many_who_claim_one_address_or_code_at_once_one_gets_it(
    api: Api,
    open_api: OpenApi,
    wire: Wire,
    dump: Dump,
    document: str,
    count: int,
    refused: tuple[str, int, list[str]],
    values: dict[str, Any],
) -> None:
    is_location, is_new = document == places.CREATE_LOCATION, document != UPDATE_OWNER
    if not is_new:
        for number in range(count):
            await api.owner(f"o{number}", email=f"o{number}@example.com")
    wire.fault = Meeting(count)
    async with open_api() as second_server:
        payloads = await asyncio.gather(
            *(
                (api, second_server)[number % 2].mutate(
                    document, **values | {"name": f"Name {number}"} | ({} if is_location else {"ownerId": f"o{number}"})
                )
                for number in range(count)
            )
        )
    assert [places.refusal(payload) for payload in payloads if payload["userErrors"]] == [refused] * (count - 1)
    items = await dump()
    check_invariants(items, NOW)
    kinds = Counter(items[key]["entityType"] for key in unlogged(items))
    there = 1 if is_new else count
    of_owner = dict.fromkeys(("OWNER", "OWNER_NAME", "EMAIL_CLAIM"), there)
    assert kinds == ({"LOCATION": 1, "LOCATION_CODE": 1} if is_location else of_owner)
    name, claim = ("locationId", "LOCATION_CODE#rome") if is_location else ("ownerId", "EMAIL#one@example.com")
    (winner,) = [payload["location" if is_location else "owner"] for payload in payloads if not payload["userErrors"]]
    assert items[claim, "META"][name] == winner[name]


async def test_moves_status_changes_renames_and_transfers_at_once_leave_every_copy_true(api: Api, dump: Dump) -> None:
    for owner_id in ("ada", "bob"):
        await api.owner(owner_id)
    for number in (1, 2):
        await places.create_location(api, number)
    await api.locker("l1", "ada", locationId=places.ulid(1))
    for number in range(40):
        locker = (await api.run(LOCKER))["locker"]
        version = {"lockerId": "l1", "expectedVersion": locker["version"]}
        other_owner = "bob" if locker["ownerId"] == "ada" else "ada"
        other_status = "OCCUPIED" if locker["status"] == "AVAILABLE" else "AVAILABLE"
        others = {
            places.ulid(1): (places.ulid(2), None),
            places.ulid(2): (None, places.ulid(1)),
            None: (places.ulid(1), places.ulid(2)),
        }
        payloads = await asyncio.gather(
            *(api.mutate(places.MOVE, **version, newLocationId=other) for other in others[locker["locationId"]]),
            api.mutate(UPDATE_STATUS, **version, newStatus=other_status),
            api.mutate(RENAME, **version, alias=f"Name {number}"),
            api.mutate(TRANSFER, **version, newOwnerId=other_owner),
        )
        assert [len(payload["userErrors"]) for payload in payloads].count(0) == 1
        items = await dump()
        assert items["LOCKER#l1", "META"]["version"] == number + 2
        check_invariants(items, NOW)
