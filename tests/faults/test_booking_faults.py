"""The store misbehaves while bookings are requested, decided and cancelled: one effect, and no false conflict."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from tests.api import UPDATE_STATUS
from tests.conftest import NOW
from tests.faults.test_faults import conflict, halve, once
from tests.invariants import check_invariants
from tests.places import (
    APPROVE,
    CANCEL,
    CREATE_EVENT,
    CREATE_LOCATION,
    DAY,
    DEACTIVATE,
    DELETE_EVENT,
    MOVE,
    PAY,
    REACTIVATE,
    REGISTER,
    REJECT,
    REQUEST,
    UPDATE_LOCATION,
    approve,
    book,
    found_location,
    fresh,
    prepare,
    ulid,
)
from tests.wire import Answer, Lose, Twice

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.wire import Call, Wire

BOOKING = {
    "bookingId": "new",
    "locationId": ulid(0),
    "ownerId": "ada",
    "date": DAY,
    "duration": "FULL_DAY",
    "description": "Chess",
    "attendees": 5,
}
EVENT = {"locationId": ulid(0), "adminId": "root", "date": "2026-03-12", "duration": "FULL_DAY", "title": "Works"}
VERSION = {"expectedVersion": 1}
# Every change there is, each of which must succeed on what `ready` prepares.
CHANGES = [
    pytest.param(mutation, content, id=mutation.split("{")[1].split("(")[0].strip())
    for mutation, content in (
        (CREATE_LOCATION, fresh("new", locationId=ulid(7))),
        (UPDATE_LOCATION, {"locationId": ulid(1), **VERSION, "name": "New"}),
        (DEACTIVATE, {"locationId": ulid(1), **VERSION}),
        (REACTIVATE, {"locationId": ulid(2), "expectedVersion": 2}),
        (REGISTER, {"lockerId": "new", "ownerId": "ada", "locationId": ulid(0)}),
        (MOVE, {"lockerId": "l1", "newLocationId": ulid(1), **VERSION}),
        (REQUEST, BOOKING),
        (APPROVE, {"bookingId": "open", "adminId": "root", **VERSION}),
        (REJECT, {"bookingId": "open", "adminId": "root", "reason": "No", **VERSION}),
        (CANCEL, {"bookingId": "approved", "ownerId": "ada"}),
        (CREATE_EVENT, {**EVENT, "eventId": "new", "date": "2026-03-13"}),
        (DELETE_EVENT, {"locationId": ulid(0), "eventId": "e1", "adminId": "root"}),
        (PAY, {"paymentId": "new", "bookingId": "open", "amount": "1.5", "currency": "EUR"}),
    )
]


@pytest_asyncio.fixture
async def ready(api: Api, wire: Wire) -> Api:
    """Locations, one of them closed, a locker, a booking that is open, one that is approved, and an event."""
    await prepare(api)
    await found_location(api, 1)
    await found_location(api, 2)
    await api.mutate(DEACTIVATE, locationId=ulid(2), expectedVersion=1)
    await api.locker("l1", "ada", locationId=ulid(0))
    await book(api, "open")
    await book(api, "approved", date="2026-03-11")
    await approve(api, "approved")
    await api.mutate(CREATE_EVENT, **EVENT, eventId="e1")
    wire.reset()
    return api


@pytest.mark.parametrize(("mutation", "content"), CHANGES)
async def test_a_change_whose_answer_is_lost_is_made_once_and_answered(
    ready: Api, wire: Wire, dump: Callable[[], Any], mutation: str, content: dict[str, Any]
) -> None:
    wire.fault = once(Lose(), "TransactWriteItems")
    payload = await ready.mutate(mutation, **content)
    assert payload.pop("userErrors") == []
    assert None not in payload.values()
    tokens = [call.request["ClientRequestToken"] for call in wire.of("TransactWriteItems")]
    assert len(tokens) == 2
    assert tokens[0] == tokens[1]
    check_invariants(await dump(), NOW)


@pytest.mark.parametrize(("mutation", "content"), CHANGES)
async def test_a_change_that_is_never_answered_may_be_sent_again_by_its_client(
    ready: Api, wire: Wire, dump: Callable[[], Any], mutation: str, content: dict[str, Any]
) -> None:
    wire.fault = lambda call: Lose() if call.operation == "TransactWriteItems" else None
    (error,) = (await ready.send(mutation, input=content))["errors"]
    assert error["extensions"]["code"] == "UNAVAILABLE"
    wire.reset()
    after = await dump()
    check_invariants(after, NOW)  # the store applied it, whatever the client got
    payload = await ready.mutate(mutation, **content)
    if mutation in {UPDATE_LOCATION, MOVE}:
        # A repeat with the same version is a conflict, and shows the current record: its own change.
        assert [item["code"] for item in payload.pop("userErrors")] == ["CONFLICT"]
        ((entity,),) = [payload.values()]
        assert entity["version"] == 2
        assert content.get("name", ulid(1)) in entity.values()
    else:
        assert payload.pop("userErrors") == []
        assert None not in payload.values()
    assert await dump() == after


@pytest.mark.parametrize(("mutation", "content"), CHANGES)
async def test_a_change_that_the_network_sends_twice_has_one_effect(
    ready: Api,
    wire: Wire,
    dump: Callable[[], Any],
    mutation: str,
    content: dict[str, Any],
) -> None:
    wire.fault = lambda call: Twice() if call.operation == "TransactWriteItems" else None
    payload = await ready.mutate(mutation, **content)
    assert payload["userErrors"] == []
    assert wire.operations["TransactWriteItems"] == 1
    items = await dump()
    check_invariants(items, NOW)
    wire.reset()
    again = await ready.mutate(mutation, **content)
    if mutation not in {UPDATE_LOCATION, MOVE}:
        assert again == payload
    assert await dump() == items


@pytest.mark.parametrize(("mutation", "content"), CHANGES)
async def test_conflicts_between_transactions_are_no_conflict_for_the_client(
    ready: Api, wire: Wire, dump: Callable[[], Any], mutation: str, content: dict[str, Any]
) -> None:
    left = [True] * 3
    wire.fault = lambda call: conflict(call) if call.operation == "TransactWriteItems" and left and left.pop() else None
    payload = await ready.mutate(mutation, **content)
    assert payload["userErrors"] == []
    tokens = {call.request["ClientRequestToken"] for call in wire.of("TransactWriteItems")}
    assert (len(wire.of("TransactWriteItems")), len(tokens)) == (4, 1)
    check_invariants(await dump(), NOW)


@pytest.mark.parametrize(("mutation", "content"), CHANGES)
async def test_a_store_that_takes_nothing_leaves_nothing_behind(
    ready: Api, wire: Wire, dump: Callable[[], Any], mutation: str, content: dict[str, Any]
) -> None:
    before = await dump()
    wire.fault = lambda call: (
        Answer.error("ProvisionedThroughputExceededException") if call.operation == "TransactWriteItems" else None
    )
    answer = await ready.send(mutation, input=content)
    assert answer["data"] is None
    (error,) = answer["errors"]
    assert (error["extensions"]["code"], error["extensions"]["status"]) == ("UNAVAILABLE", 503)
    assert wire.operations["TransactWriteItems"] == 3
    assert await dump() == before


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
        await good(REGISTER, lockerId=locker, ownerId="ada", locationId=place)
        await good(UPDATE_STATUS, lockerId=locker, newStatus="OCCUPIED", expectedVersion=1)
        await good(MOVE, lockerId=locker, newLocationId=ulid(0), expectedVersion=2)
        for letter in "acr":
            await good(REQUEST, **BOOKING | {"bookingId": f"{name}{letter}", "locationId": place})
        await good(APPROVE, bookingId=f"{name}c", adminId="root", expectedVersion=1)
        await good(CANCEL, bookingId=f"{name}c", ownerId="ada")
        await good(APPROVE, bookingId=f"{name}a", adminId="root", expectedVersion=1)
        await good(REJECT, bookingId=f"{name}r", adminId="root", reason="No", expectedVersion=1)
        await good(CREATE_EVENT, **EVENT | {"locationId": place, "eventId": "e"})
        await good(DELETE_EVENT, locationId=place, eventId="e", adminId="root")
        await good(PAY, bookingId=f"{name}a", paymentId="p", amount=1, currency="EUR")
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
