"""Many clients create, close and fill locations, and change one locker there, at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tests.api import UPDATE_STATUS, unchanged
from tests.conftest import NOW
from tests.invariants import check_invariants
from tests.places import (
    CREATE_LOCATION,
    DAY,
    DEACTIVATE,
    MOVE,
    REACTIVATE,
    REGISTER,
    REQUEST,
    UPDATE_LOCATION,
    create_location,
    fresh,
    prepare,
    refusal,
    ulid,
)
from tests.races.holding import Held
from tests.races.test_lockers import RENAME, TRANSFER
from tests.resolvers.test_owners import CHANGE as UPDATE_OWNER
from tests.wire import Meeting

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from tests.api import Api
    from tests.wire import Wire

LOCKER = '{ locker(lockerId: "l1", consistent: true) { version status ownerId locationId } }'


def of_kind(items: dict[tuple[str, str], dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [item for item in items.values() if item["entityType"] == kind]


async def test_thirty_clients_create_one_code_and_one_wins(
    api: Api, open_api: Callable[..., AbstractAsyncContextManager[Api]], dump: Callable[[], Any]
) -> None:
    async with open_api() as second_server:
        payloads = await asyncio.gather(
            *(
                server.mutate(CREATE_LOCATION, **fresh("rome", name=f"Room {number}"))
                for number, server in enumerate([api, second_server] * 15)
            )
        )
    (winner,) = [payload["location"] for payload in payloads if payload["location"]]
    losers = [refusal(payload) for payload in payloads if payload["userErrors"]]
    assert losers == [("CODE_TAKEN", 409, ["input", "code"])] * 29
    items = await dump()
    (stored,) = of_kind(items, "LOCATION")
    assert (stored["locationId"], stored["name"]) == (winner["locationId"], winner["name"])
    assert len(items) == 2
    assert items["LOCATION_CODE#rome", "META"]["locationId"] == winner["locationId"]
    check_invariants(items, NOW)


async def test_of_ten_changes_of_one_location_at_once_one_is_made(
    api: Api, wire: Wire, dump: Callable[[], Any]
) -> None:
    await create_location(api)
    change = {"locationId": ulid(0), "expectedVersion": 1}
    wire.fault = Meeting(10)
    payloads = await asyncio.gather(
        *(api.mutate(UPDATE_LOCATION, **change, name=f"Name {number}") for number in range(9)),
        api.mutate(DEACTIVATE, **change),
    )
    (winner,) = [payload["location"] for payload in payloads if not payload["userErrors"]]
    losers = [payload for payload in payloads if payload["userErrors"]]
    assert [refusal(payload) for payload in losers] == [("VERSION_CONFLICT", 409, ["input", "expectedVersion"])] * 9
    assert [payload["location"] for payload in losers] == [winner] * 9
    check_invariants(await dump(), NOW)


async def test_a_location_closed_and_opened_at_random_is_in_one_list(api: Api, dump: Callable[[], Any]) -> None:
    await create_location(api)
    query = f'{{ location(locationId: "{ulid(0)}") {{ version }} }}'
    for _ in range(30):
        version = (await api.run(query))["location"]["version"]
        change = {"locationId": ulid(0), "expectedVersion": version}
        await asyncio.gather(*(api.mutate(mutation, **change) for mutation in (DEACTIVATE, REACTIVATE)))
        check_invariants(await dump(), NOW)
    assert version > 10


@pytest.mark.parametrize(
    ("mutation", "content", "field"),
    [
        (REGISTER, {"lockerId": "l2", "ownerId": "ada", "locationId": ulid(0)}, "locationId"),
        (MOVE, {"lockerId": "l1", "newLocationId": ulid(0), "expectedVersion": 1}, "newLocationId"),
    ],
)
async def test_no_locker_comes_to_a_location_that_closed_before_it_was_written(
    api: Api, wire: Wire, dump: Callable[[], Any], mutation: str, content: dict[str, Any], field: str
) -> None:
    await prepare(api)
    await api.locker("l1", "ada")
    held = Held(lambda call: call.operation == "TransactWriteItems" and call.keys[0][0].startswith("LOCKER#"))
    wire.fault = held
    coming = asyncio.create_task(api.mutate(mutation, **content))
    await held.reached()
    closed = await api.mutate(DEACTIVATE, locationId=ulid(0), expectedVersion=1)
    assert closed["userErrors"] == []
    async with unchanged(dump):
        held.release()
        assert refusal(await coming) == ("LOCATION_INACTIVE", 409, ["input", field])


async def test_a_location_that_closes_between_the_look_and_the_request_takes_no_booking(
    api: Api, wire: Wire, dump: Callable[[], Any]
) -> None:
    await prepare(api)
    held = Held(lambda call: call.operation == "TransactWriteItems" and call.keys[0][0] == "BOOKING#b1")
    wire.fault = held
    content = {"bookingId": "b1", "locationId": ulid(0), "ownerId": "ada", "date": DAY, "duration": "MORNING"}
    asking = asyncio.create_task(api.mutate(REQUEST, **content, description="Chess", attendees=1))
    await held.reached()
    await api.mutate(DEACTIVATE, locationId=ulid(0), expectedVersion=1)
    async with unchanged(dump):
        held.release()
        assert refusal(await asking) == ("LOCATION_INACTIVE", 409, ["input", "locationId"])


async def test_lockers_registered_while_a_location_closes_are_there_or_refused(
    api: Api, dump: Callable[[], Any]
) -> None:
    await prepare(api)
    for number in range(10):
        location_id = await create_location(api, number + 1)
        names = [f"l{number}-{letter}" for letter in "abcde"]
        closing, *payloads = await asyncio.gather(
            api.mutate(DEACTIVATE, locationId=location_id, expectedVersion=1),
            *(api.mutate(REGISTER, lockerId=name, ownerId="ada", locationId=location_id) for name in names),
        )
        assert closing["location"]["status"] == "INACTIVE"
        items = await dump()
        for name, payload in zip(names, payloads, strict=True):
            if payload["userErrors"]:
                assert refusal(payload) == ("LOCATION_INACTIVE", 409, ["input", "locationId"])
            assert ((f"LOCKER#{name}", "META") in items) is not bool(payload["userErrors"])
        check_invariants(items, NOW)


async def test_moves_status_changes_renames_and_transfers_at_once_leave_every_copy_true(
    api: Api, dump: Callable[[], Any]
) -> None:
    for owner_id in ("ada", "bob"):
        await api.owner(owner_id)
    for number in (1, 2):
        await create_location(api, number)
    await api.locker("l1", "ada", locationId=ulid(1))
    for number in range(100):
        locker = (await api.run(LOCKER))["locker"]
        version = {"lockerId": "l1", "expectedVersion": locker["version"]}
        other_owner = "bob" if locker["ownerId"] == "ada" else "ada"
        other_status = "OCCUPIED" if locker["status"] == "AVAILABLE" else "AVAILABLE"
        others = {ulid(1): (ulid(2), None), ulid(2): (None, ulid(1)), None: (ulid(1), ulid(2))}
        payloads = await asyncio.gather(
            *(api.mutate(MOVE, **version, newLocationId=other) for other in others[locker["locationId"]]),
            api.mutate(UPDATE_STATUS, **version, newStatus=other_status),
            api.mutate(RENAME, **version, alias=f"Name {number}"),
            api.mutate(TRANSFER, **version, newOwnerId=other_owner),
        )
        assert [len(payload["userErrors"]) for payload in payloads].count(0) == 1
        items = await dump()
        assert items["LOCKER#l1", "META"]["version"] == number + 2
        check_invariants(items, NOW)


async def test_of_two_owners_that_take_one_address_at_once_one_gets_it(
    api: Api, wire: Wire, dump: Callable[[], Any]
) -> None:
    for number in range(5):
        await api.owner(f"o{number}", email=f"o{number}@example.com")
    wire.fault = Meeting(5)
    payloads = await asyncio.gather(
        *(
            api.mutate(UPDATE_OWNER, ownerId=f"o{number}", expectedVersion=1, email="One@example.com")
            for number in range(5)
        )
    )
    losers = [refusal(payload) for payload in payloads if payload["userErrors"]]
    assert losers == [("EMAIL_TAKEN", 409, ["input", "email"])] * 4
    items = await dump()
    assert len(of_kind(items, "EMAIL_CLAIM")) == 5
    check_invariants(items, NOW)
