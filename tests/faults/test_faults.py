import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from domain.models import Locker
from loaders.backend import Backend
from loaders.contracts.lockers import LOCKER_BY_ID
from loaders.table.errors import UnreadKeysError
from loaders.table.http_client import Timeouts
from tests import places
from tests.api import CREATE_OWNER, CREATE_RESERVATION, RECORD_EVENT, REGISTER_LOCKER, UPDATE_STATUS, Api, unchanged
from tests.conftest import NOW, Dump
from tests.inputs import GOOD
from tests.invariants import check_invariants
from tests.reservations import CANCEL, hours
from tests.wire import Answer, Call, Hold, Lose, Twice, Wire, conflict, once

Script = Iterator[tuple[str, dict[str, Any]]]

VERSION = '{ locker(lockerId: "l1") { version } }'


def code(answer: dict[str, Any]) -> str:
    (error,) = answer["errors"]
    return str(error["extensions"]["code"])


async def test_a_failed_condition_beside_a_conflict_is_asked_again_until_it_fails_alone(one: Api, wire: Wire) -> None:
    wire.fault = once(Answer.canceled("TransactionConflict", "None", "ConditionalCheckFailed"), "TransactWriteItems")
    payload = await one.mutate(REGISTER_LOCKER, lockerId="new", ownerId="nobody")
    assert places.refusal(payload) == ("NOT_FOUND", 404, ["input", "ownerId"])
    assert wire.operations == {"TransactWriteItems": 2}
    assert len({call.request["ClientRequestToken"] for call in wire.calls}) == 1


async def test_conflicts_without_end_become_unavailable(one: Api, wire: Wire, dump: Dump) -> None:
    wire.fault = lambda call: conflict(call) if call.operation == "TransactWriteItems" else None
    async with unchanged(dump):
        change = {"lockerId": "l1", "newStatus": "OCCUPIED", "expectedVersion": 1}
        assert code(await one.send(UPDATE_STATUS, input=change)) == "UNAVAILABLE"


async def test_every_key_of_a_batch_is_read_though_half_are_left_each_time(one: Api, wire: Wire) -> None:
    def halve(call: Call) -> None:
        if call.operation == "BatchGetItem":
            ((table, part),) = call.request["RequestItems"].items()
            kept = len(part["Keys"]) // 2
            left_out = part["Keys"][kept:]
            if kept:
                answered = call.response["Responses"][table]
                call.response["Responses"][table] = [
                    item for item in answered if {name: item[name] for name in ("PK", "SK")} not in left_out
                ]
                call.response["UnprocessedKeys"] = {table: {**part, "Keys": left_out}}

    for number in range(2, 41):
        await one.locker(f"l{number}", "ada")
    wire.amend = halve
    data = await one.run('{ owner(ownerId: "ada") { lockers(first: 100) { nodes { lockerId version } } } }')
    assert [node["version"] for node in data["owner"]["lockers"]["nodes"]] == [1] * 40
    assert wire.operations["BatchGetItem"] == 7  # 40 keys, then 20, 10, 5, 3, 2, 1


async def test_a_key_that_is_never_read_is_an_error_and_not_a_null(backend: Backend, two: Api, wire: Wire) -> None:
    def all_but_the_first(call: Call) -> None:
        ((table, part),) = call.request["RequestItems"].items()
        left_out = [key for key in part["Keys"] if key["PK"]["S"] != "LOCKER#l1"]
        answered = call.response["Responses"][table]
        call.response["Responses"][table] = [item for item in answered if item["PK"]["S"] == "LOCKER#l1"]
        call.response["UnprocessedKeys"] = {table: {**part, "Keys": left_out}}

    assert two
    wire.amend = all_but_the_first
    read, *unread = await LOCKER_BY_ID.read_many(backend.store, [("l1",), ("l2",), ("missing",)])
    assert isinstance(read, Locker)
    assert [type(error) for error in unread] == [UnreadKeysError] * 2


async def test_a_write_is_refused_where_a_key_that_decides_is_never_read(one: Api, wire: Wire) -> None:
    wire.fault = lambda call: (
        Answer(200, {"Responses": {}, "UnprocessedKeys": call.request["RequestItems"]})
        if call.operation == "BatchGetItem"
        else None
    )
    answer = await one.send(CREATE_RESERVATION, input={"lockerId": "l1", "ownerId": "ada", **hours(1, 2)})
    assert code(answer) == "UNAVAILABLE"
    assert "TransactWriteItems" not in wire.operations


async def test_throttled_calls_fail_soon_after_three_attempts_and_recover(one: Api, wire: Wire) -> None:
    wire.fault = lambda _: Answer.error("ProvisionedThroughputExceededException")
    assert code(await one.send(VERSION)) == "UNAVAILABLE"
    assert wire.operations == {"GetItem": 3}
    wire.fault = lambda _: None
    assert await one.run(VERSION) == {"locker": {"version": 1}}


async def test_a_call_that_hangs_ends_in_time_and_alone(open_api: Callable[..., Any], wire: Wire, two: Api) -> None:
    assert two
    hold = Hold()
    wire.fault = lambda call: hold(call) if ("LOCKER#l1", "META") in call.keys else None
    async with open_api(timeouts=Timeouts()) as api:
        hanging = asyncio.create_task(api.send(VERSION))
        await hold.arrivals()
        assert await api.run(VERSION.replace("l1", "l2")) == {"locker": {"version": 1}}
        answer = await hanging
    hold.release()
    assert code(answer) == "UNAVAILABLE"


def at_its_own_locker(number: int) -> Script:
    locker, owner = f"l{number}", f"owner{number}"
    yield CREATE_OWNER, {"ownerId": owner, "kind": "USER", "name": owner}
    yield REGISTER_LOCKER, {"lockerId": locker, "ownerId": "ada"}
    for version in range(1, 6):
        status = "OCCUPIED" if version % 2 else "AVAILABLE"
        yield UPDATE_STATUS, {"lockerId": locker, "newStatus": status, "expectedVersion": version}
    for hour in range(4):
        reservation = {"lockerId": locker, "ownerId": owner, "reservationId": f"{locker}-{hour}"}
        yield CREATE_RESERVATION, {**reservation, **hours(hour, hour + 1)}
    yield CANCEL, {"lockerId": locker, "reservationId": f"{locker}-0"}
    yield RECORD_EVENT, {"lockerId": locker, "action": "OPEN", "actorId": "ada", "result": "SUCCESS"}


def at_its_own_location(number: int) -> Script:
    place, locker, owner = {"locationId": places.ulid(number)}, {"lockerId": f"l{number}"}, f"owner{number}"
    first, second, third = (f"b{number}{letter}" for letter in "abc")
    yield places.CREATE_LOCATION, {**place, **places.fresh(f"own-{number}")}
    yield CREATE_OWNER, {"ownerId": owner, "kind": "USER", "name": owner}  # the bookings of one that wait are limited
    yield REGISTER_LOCKER, {**locker, **place, "ownerId": "ada"}
    yield UPDATE_STATUS, {**locker, "newStatus": "OCCUPIED", "expectedVersion": 1}
    yield places.MOVE, {**locker, "newLocationId": places.ulid(0), "expectedVersion": 2}
    for booking in (first, second, third):
        yield places.REQUEST, GOOD["requestBooking"] | {"bookingId": booking, "ownerId": owner, **place}
    yield places.APPROVE, {"bookingId": second, "expectedVersion": 1}
    yield places.CANCEL, {"bookingId": second}
    yield places.APPROVE, {"bookingId": first, "expectedVersion": 1}
    yield places.REJECT, {"bookingId": third, "reason": "No", "expectedVersion": 1}
    yield places.CREATE_EVENT, {**place, "eventId": "e", "date": "2026-03-12", "duration": "FULL_DAY", "title": "Works"}
    yield places.DELETE_EVENT, {**place, "eventId": "e"}
    yield places.PAY, {"bookingId": first, "paymentId": "p", "amount": {"amount": 1, "currency": "EUR"}}
    yield places.DEACTIVATE, {**place, "expectedVersion": 1}


@pytest.mark.parametrize(
    ("script", "clients", "version", "left"),
    [
        (at_its_own_locker, 12, 6, {"RESERVATION": 48, "LIVE_RESERVATION": 36, "ACCESS_EVENT": 12}),
        (
            at_its_own_location,
            8,
            3,
            {"BOOKING": 24, "NOTIFICATION": 24, "PAYMENT": 8, "LOCATION_LOCKER": 8, "CALENDAR_SLOT": 16},
        ),
    ],
)
async def test_conflicts_lost_answers_and_repeats_tell_no_client_a_false_conflict(
    api: Api, wire: Wire, dump: Dump, script: Callable[[int], Script], clients: int, version: int, left: dict[str, int]
) -> None:
    await places.prepare(api)
    chance = random.Random(13)
    faults: Counter[str] = Counter()

    def fault(call: Call) -> Any:
        draw, request = chance.random(), str(call.request)
        # The third loss of one request would be the end of it: an honest error, but not what is looked for here.
        if draw < 0.20 and faults[request] < 2:
            faults[request] += 1
            return conflict(call) if call.operation == "TransactWriteItems" and draw < 0.10 else Lose()
        return Twice() if draw < 0.30 else None

    async def client(number: int) -> None:
        """Alone at what it changes, so any conflict that it gets is false."""
        for mutation, content in script(number):
            assert (await api.mutate(mutation, **content))["userErrors"] == []

    wire.fault = fault
    await asyncio.gather(*map(client, range(1, clients + 1)))
    items = await dump()
    check_invariants(items, NOW)
    assert {item["version"] for item in items.values() if item["entityType"] == "LOCKER"} == {version}
    assert left.items() <= Counter(item["entityType"] for item in items.values()).items()
