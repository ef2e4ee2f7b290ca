"""Faults of the store during every mutation: one effect, and no false conflict."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from tests.api import UPDATE_STATUS, unchanged
from tests.conftest import NOW
from tests.faults.test_faults import conflict, halve
from tests.inputs import GOOD, document, stock
from tests.invariants import check_invariants
from tests.places import (
    APPROVE,
    CANCEL,
    CREATE_EVENT,
    CREATE_LOCATION,
    DEACTIVATE,
    DELETE_EVENT,
    MOVE,
    PAY,
    REGISTER,
    REJECT,
    REQUEST,
    fresh,
    prepare,
    ulid,
)
from tests.wire import Answer, Lose, Meeting, Twice

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.conftest import Prepared
    from tests.wire import Call, Wire

BOOKING = GOOD["requestBooking"]
EVENT = {"locationId": ulid(0), "date": "2026-03-12", "duration": "FULL_DAY", "title": "Works"}
EVERY_MUTATION = pytest.mark.parametrize("name", GOOD)


@pytest_asyncio.fixture
async def ready(api: Api, wire: Wire, prepared: Prepared) -> Api:
    await prepared(stock, api)
    wire.reset()
    return api


async def change(api: Api, name: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The user errors and the result of a mutation, without a key's secret, which only its first answer has."""
    content = GOOD[name] | ({"changeId": "c1"} if "expectedVersion" in GOOD[name] else {})
    payload = await api.mutate(document(name), **content)
    payload.pop("secret", None)
    return payload.pop("userErrors"), payload


@EVERY_MUTATION
async def test_a_change_that_the_network_sends_twice_has_one_effect(
    ready: Api, wire: Wire, dump: Callable[[], Any], name: str
) -> None:
    wire.fault = lambda call: Twice() if call.operation == "TransactWriteItems" else None
    first = await change(ready, name)
    assert first[0] == []
    assert wire.operations["TransactWriteItems"] == 1
    check_invariants(await dump(), NOW)
    wire.reset()
    async with unchanged(dump):
        assert await change(ready, name) == first


@EVERY_MUTATION
async def test_a_mutation_that_is_sent_twice_at_once_has_one_effect_and_one_answer(
    ready: Api, wire: Wire, dump: Callable[[], Any], name: str
) -> None:
    before = await dump()
    wire.fault = Meeting(2)
    first, second = await asyncio.gather(change(ready, name), change(ready, name))
    assert first == second
    assert first[0] == []
    after = await dump()
    check_invariants(after, NOW)
    versions = [
        item["version"] - before[key]["version"] for key, item in after.items() if "version" in before.get(key, {})
    ]
    assert set(versions) <= {0, 1}
    wire.reset()
    async with unchanged(dump):
        assert await change(ready, name) == first


@EVERY_MUTATION
async def test_conflicts_between_transactions_are_no_conflict_for_the_client(
    ready: Api, wire: Wire, dump: Callable[[], Any], name: str
) -> None:
    left = [True] * 3
    wire.fault = lambda call: conflict(call) if call.operation == "TransactWriteItems" and left and left.pop() else None
    assert (await change(ready, name))[0] == []
    tokens = [call.request["ClientRequestToken"] for call in wire.of("TransactWriteItems")]
    assert (len(tokens), len(set(tokens))) == (4, 1)
    check_invariants(await dump(), NOW)


@EVERY_MUTATION
async def test_a_store_that_takes_nothing_leaves_nothing_behind(
    ready: Api, wire: Wire, dump: Callable[[], Any], name: str
) -> None:
    wire.fault = lambda call: (
        Answer.error("ProvisionedThroughputExceededException") if call.operation == "TransactWriteItems" else None
    )
    async with unchanged(dump):
        answer = await ready.send(document(name), input=GOOD[name])
    assert answer["data"] is None
    (error,) = answer["errors"]
    assert (error["extensions"]["code"], error["extensions"]["status"]) == ("UNAVAILABLE", 503)
    assert wire.operations["TransactWriteItems"] == 3


async def test_the_two_keys_of_a_request_are_read_though_one_is_left_each_time(ready: Api, wire: Wire) -> None:
    wire.amend = halve
    first = await ready.mutate(REQUEST, **BOOKING)
    assert first["userErrors"] == []
    assert wire.operations["BatchGetItem"] == 2
    assert await ready.mutate(REQUEST, **BOOKING) == first


async def test_conflicts_lost_answers_and_repeats_tell_no_client_a_false_conflict(
    api: Api, wire: Wire, dump: Callable[[], Any]
) -> None:
    await prepare(api)
    chance = random.Random(13)
    lost: Counter[str] = Counter()

    def fault(call: Call) -> Any:
        draw, request = chance.random(), str(call.request)
        if call.operation == "TransactWriteItems" and draw < 0.10:
            return conflict(call)
        # The third loss of one request would be the end of it: an honest error, but not what is looked for here.
        if draw < 0.20 and lost[request] < 2:
            lost[request] += 1
            return Lose()
        del lost[request]
        return Twice() if draw < 0.30 else None

    wire.fault = fault

    async def good(mutation: str, **content: Any) -> None:
        payload = await api.mutate(mutation, **content)
        assert payload["userErrors"] == []

    async def client(number: int) -> None:
        """Uses its own location, locker and bookings, so any conflict it gets is false."""
        place, locker, name = ulid(number), f"l{number}", f"b{number}"
        await good(CREATE_LOCATION, locationId=place, **fresh(f"own-{number}"))
        await api.owner(f"owner{number}")  # the bookings of one that wait are limited
        await good(REGISTER, lockerId=locker, ownerId="ada", locationId=place)
        await good(UPDATE_STATUS, lockerId=locker, newStatus="OCCUPIED", expectedVersion=1)
        await good(MOVE, lockerId=locker, newLocationId=ulid(0), expectedVersion=2)
        for letter in "acr":
            await good(
                REQUEST, **BOOKING | {"bookingId": f"{name}{letter}", "locationId": place, "ownerId": f"owner{number}"}
            )
        await good(APPROVE, bookingId=f"{name}c", expectedVersion=1)
        await good(CANCEL, bookingId=f"{name}c")
        await good(APPROVE, bookingId=f"{name}a", expectedVersion=1)
        await good(REJECT, bookingId=f"{name}r", reason="No", expectedVersion=1)
        await good(CREATE_EVENT, **EVENT | {"locationId": place, "eventId": "e"})
        await good(DELETE_EVENT, locationId=place, eventId="e")
        await good(PAY, bookingId=f"{name}a", paymentId="p", amount={"amount": 1, "currency": "EUR"})
        await good(DEACTIVATE, locationId=place, expectedVersion=1)

    await asyncio.gather(*(client(number) for number in range(1, 9)))
    items = await dump()
    check_invariants(items, NOW)
    kinds = [item["entityType"] for item in items.values()]
    assert {kind: kinds.count(kind) for kind in ("BOOKING", "NOTIFICATION", "PAYMENT", "LOCATION_LOCKER")} == {
        "BOOKING": 24,
        "NOTIFICATION": 24,
        "PAYMENT": 8,
        "LOCATION_LOCKER": 8,
    }
    taken = sorted(item["eventId"] for item in items.values() if item["entityType"] == "CALENDAR_SLOT")
    assert taken == sorted([f"b{number}a" for number in range(1, 9)] * 2)
