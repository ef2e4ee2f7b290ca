"""The store misbehaves: what must hold nevertheless."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from domain.models import Locker
from loaders.contracts.lockers import LOCKER_BY_ID
from loaders.table.errors import UnreadKeysError
from loaders.table.http_client import Timeouts
from tests.api import CREATE_RESERVATION, REGISTER_LOCKER, UPDATE_STATUS, unchanged
from tests.conftest import NOW
from tests.invariants import check_invariants, live_reservations
from tests.races.test_reservations import CANCEL, hours
from tests.wire import Answer, Hold, Lose, Twice

if TYPE_CHECKING:
    from collections.abc import Callable

    from loaders.backend import Backend
    from tests.api import Api
    from tests.wire import Call, Wire


def once(fault: Any, *operations: str) -> Callable[[Call], Any]:
    """The fault at the first call of these operations, and no other."""
    left = [fault]
    return lambda call: left.pop() if left and call.operation in operations else None


def conflict(call: Call) -> Answer:
    """What DynamoDB answers where two transactions meet at an item."""
    steps = len(call.request["TransactItems"])
    return Answer.cancelled("TransactionConflict", *["None"] * (steps - 1))


@pytest.fixture
def lockers(api: Api) -> Callable[..., Any]:
    async def made(count: int = 1) -> None:
        await api.owner("ada")
        for number in range(count):
            await api.locker(f"l{number}", "ada")

    return made


async def test_an_event_whose_answer_is_lost_is_written_once_and_answered(
    api: Api, wire: Wire, lockers: Callable[..., Any], dump: Callable[[], Any]
) -> None:
    await lockers()
    wire.fault = once(Lose(), "PutItem")
    event = await api.event("l0")
    assert event["timestamp"] == NOW
    assert sum(item["entityType"] == "ACCESS_EVENT" for item in (await dump()).values()) == 1


async def test_throttling_inside_a_transaction_is_retried(api: Api, wire: Wire, lockers: Callable[..., Any]) -> None:
    await lockers()
    wire.fault = once(Answer.cancelled("ThrottlingError", "None"), "TransactWriteItems")
    payload = await api.mutate(UPDATE_STATUS, lockerId="l0", newStatus="OCCUPIED", expectedVersion=1)
    assert payload["userErrors"] == []


async def test_a_failed_condition_beside_a_conflict_is_asked_again_until_it_fails_alone(
    api: Api, wire: Wire, lockers: Callable[..., Any]
) -> None:
    await lockers()
    wire.reset()
    wire.fault = once(Answer.cancelled("TransactionConflict", "None", "ConditionalCheckFailed"), "TransactWriteItems")
    payload = await api.mutate(REGISTER_LOCKER, lockerId="new", ownerId="nobody")
    assert [(error["code"], error["path"]) for error in payload["userErrors"]] == [("NOT_FOUND", ["input", "ownerId"])]
    assert wire.operations == {"TransactWriteItems": 2}
    assert len({call.request["ClientRequestToken"] for call in wire.calls}) == 1


async def test_conflicts_without_end_become_unavailable(
    api: Api, wire: Wire, lockers: Callable[..., Any], dump: Callable[[], Any]
) -> None:
    await lockers()
    async with unchanged(dump):
        wire.fault = lambda call: conflict(call) if call.operation == "TransactWriteItems" else None
        change = {"lockerId": "l0", "newStatus": "OCCUPIED", "expectedVersion": 1}
        answer = await api.send(UPDATE_STATUS, input=change)
        assert answer["data"] is None
        (error,) = answer["errors"]
        assert (error["extensions"]["code"], error["extensions"]["status"]) == ("UNAVAILABLE", 503)


def halve(call: Call) -> None:
    """The store reads only half of the keys of a batch."""
    if call.operation == "BatchGetItem" and call.status == 200:
        ((table, part),) = call.request["RequestItems"].items()
        kept = len(part["Keys"]) // 2
        left_out = part["Keys"][kept:]
        if kept:
            answered = call.response["Responses"][table]
            call.response["Responses"][table] = [
                item for item in answered if {name: item[name] for name in ("PK", "SK")} not in left_out
            ]
            call.response["UnprocessedKeys"] = {table: {**part, "Keys": left_out}}


async def test_every_key_of_a_batch_is_read_though_half_are_left_each_time(
    api: Api, wire: Wire, lockers: Callable[..., Any]
) -> None:
    await lockers(40)
    wire.amend = halve
    data = await api.run('{ owner(ownerId: "ada") { lockers(first: 100) { nodes { lockerId version } } } }')
    assert len(data["owner"]["lockers"]["nodes"]) == 40
    assert {node["version"] for node in data["owner"]["lockers"]["nodes"]} == {1}
    assert wire.operations["BatchGetItem"] == 7  # 40 keys, then 20, 10, 5, 3, 2, 1


async def test_a_key_that_is_never_read_is_an_error_of_its_own_and_not_a_null(
    backend: Backend, wire: Wire, lockers: Callable[..., Any]
) -> None:
    await lockers(2)

    def all_but_the_first(call: Call) -> None:
        ((table, part),) = call.request["RequestItems"].items()
        left_out = [key for key in part["Keys"] if key["PK"]["S"] != "LOCKER#l0"]
        call.response["Responses"][table] = [
            item for item in call.response["Responses"][table] if item["PK"]["S"] == "LOCKER#l0"
        ]
        call.response["UnprocessedKeys"] = {table: {**part, "Keys": left_out}}

    wire.amend = all_but_the_first
    read, *unread = await LOCKER_BY_ID.read_many(backend.store, [("l0",), ("l1",), ("missing",)])
    assert isinstance(read, Locker)
    assert [type(error) for error in unread] == [UnreadKeysError] * 2


async def test_a_write_is_refused_where_a_key_that_decides_is_never_read(
    api: Api, wire: Wire, lockers: Callable[..., Any]
) -> None:
    await lockers()
    wire.reset()
    wire.fault = lambda call: (
        Answer(200, {"Responses": {}, "UnprocessedKeys": call.request["RequestItems"]})
        if call.operation == "BatchGetItem"
        else None
    )
    answer = await api.send(CREATE_RESERVATION, input={"lockerId": "l0", "ownerId": "ada", **hours(1, 2)})
    assert answer["errors"][0]["extensions"]["code"] == "UNAVAILABLE"
    assert "TransactWriteItems" not in wire.operations


async def test_throttled_calls_fail_soon_after_three_attempts_and_recover(
    api: Api, wire: Wire, lockers: Callable[..., Any]
) -> None:
    await lockers()
    wire.reset()
    wire.fault = lambda _: Answer.error("ProvisionedThroughputExceededException")
    answer = await api.send('{ locker(lockerId: "l0") { version } }')
    assert answer["errors"][0]["extensions"]["code"] == "UNAVAILABLE"
    assert wire.operations == {"GetItem": 3}
    wire.fault = lambda _: None
    assert (await api.run('{ locker(lockerId: "l0") { version } }'))["locker"]["version"] == 1


async def test_a_call_that_hangs_ends_within_the_deadline_and_spares_the_others(
    open_api: Callable[..., Any], wire: Wire, lockers: Callable[..., Any]
) -> None:
    await lockers(2)
    hold = Hold()
    wire.fault = lambda call: hold(call) if ("LOCKER#l0", "META") in call.keys else None
    async with open_api(timeouts=Timeouts()) as api:
        hanging = asyncio.create_task(api.send('{ locker(lockerId: "l0") { version } }'))
        await hold.arrivals()
        assert (await api.run('{ locker(lockerId: "l1") { version } }'))["locker"]["version"] == 1
        answer = await hanging
    hold.release()
    assert answer["errors"][0]["extensions"]["code"] == "UNAVAILABLE"


async def test_conflicts_lost_answers_and_repeats_break_nothing_and_tell_no_client_a_false_conflict(
    api: Api, wire: Wire, dump: Callable[[], Any]
) -> None:
    await api.owner("ada")
    chance = random.Random(11)
    lost: Counter[str] = Counter()

    def fault(call: Call) -> Any:
        draw = chance.random()
        if call.operation == "TransactWriteItems" and draw < 0.10:
            return conflict(call)
        if draw < 0.15:
            # Never three times in a row: UNAVAILABLE would be the right answer then.
            lost[str(call.request)] += 1
            return Lose() if lost[str(call.request)] < 3 else None
        return Twice() if draw < 0.20 else None

    wire.fault = fault

    async def client(number: int) -> None:
        """Alone at its locker, so any conflict it gets is false."""
        locker, owner = f"l{number}", f"owner{number}"
        await api.owner(owner)
        assert (await api.mutate(REGISTER_LOCKER, lockerId=locker, ownerId="ada"))["userErrors"] == []
        for version in range(1, 6):
            status = "OCCUPIED" if version % 2 else "AVAILABLE"
            payload = await api.mutate(UPDATE_STATUS, lockerId=locker, newStatus=status, expectedVersion=version)
            assert payload["userErrors"] == []
        for hour in range(4):
            content = {"lockerId": locker, "ownerId": owner, "reservationId": f"{locker}-{hour}"}
            payload = await api.mutate(CREATE_RESERVATION, **content, **hours(hour, hour + 1))
            assert payload["userErrors"] == []
        payload = await api.mutate(CANCEL, lockerId=locker, reservationId=f"{locker}-0")
        assert payload["userErrors"] == []
        await api.event(locker)

    await asyncio.gather(*(client(number) for number in range(12)))
    items = await dump()
    for number in range(12):
        assert items[f"LOCKER#l{number}", "META"]["version"] == 6
        assert len(live_reservations(items, f"l{number}")) == 3
    assert sum(item["entityType"] == "ACCESS_EVENT" for item in items.values()) == 12
    check_invariants(items, NOW)


async def test_two_servers_whose_clocks_are_five_minutes_apart_let_no_reservations_overlap(
    api: Api, wire: Wire, table: str, dump: Callable[[], Any], open_api: Callable[..., Any], clock: Any
) -> None:
    await api.owner("ada")
    await api.locker("l0", "ada")
    async with open_api() as second_server:
        for number in range(10):
            window = {
                "startAt": f"2026-03-01T12:{number * 5:02d}:00Z",
                "endAt": f"2026-03-01T12:{number * 5 + 7:02d}:00Z",
            }
            for server, minutes in ((api, 0), (second_server, 5)):
                clock.move(minutes=minutes)
                await server.send(CREATE_RESERVATION, input={"lockerId": "l0", "ownerId": "ada", **window})
                await server.run('{ locker(lockerId: "l0") { activeReservation { endAt } } }')
                clock.move(minutes=-minutes)
    assert table
    assert wire.operations["TransactWriteItems"] > 5
    check_invariants(await dump(), clock.now)
