import asyncio
from typing import Any

import pytest

from tests.api import Api, unchanged
from tests.conftest import NOW, Dump
from tests.inputs import GOOD
from tests.invariants import check_invariants
from tests.places import DEACTIVATE, MOVE, REACTIVATE, REGISTER, REQUEST, create_location, prepare, refusal, ulid
from tests.races.holding import Held
from tests.wire import Wire


async def test_a_location_closed_and_opened_at_random_is_in_one_list(api: Api, dump: Dump) -> None:
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
        (MOVE, GOOD["moveLocker"], "newLocationId"),
        (REQUEST, GOOD["requestBooking"], "locationId"),
    ],
)
async def test_neither_locker_nor_booking_comes_to_a_location_that_closed_before_it_was_written(
    api: Api, wire: Wire, dump: Dump, mutation: str, content: dict[str, Any], field: str
) -> None:
    await prepare(api)
    await api.locker("l1", "ada")
    held = Held(lambda call: call.operation == "TransactWriteItems")
    wire.fault = held
    coming = asyncio.create_task(api.mutate(mutation, **content))
    await held.reached()
    closed = await api.mutate(DEACTIVATE, locationId=ulid(0), expectedVersion=1)
    assert closed["userErrors"] == []
    async with unchanged(dump):
        held.release()
        assert refusal(await coming) == ("LOCATION_INACTIVE", 409, ["input", field])


async def test_lockers_registered_while_a_location_closes_are_there_or_refused(api: Api, dump: Dump) -> None:
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
