from typing import Any

import pytest

from tests.api import Api, mutation, refused, user_error
from tests.conftest import Clock, Dump
from tests.wire import Wire

FIELDS = """eventId lockerId timestamp recordedAt action actorId result metadata
locker { lockerId version owner { name } }"""
RECORD = mutation("recordAccessEvent", f"accessEvent {{ {FIELDS} }}")
RECORD_ALL = mutation("recordAccessEvents", "accessEvents { lockerId eventId timestamp recordedAt action }")
EVENTS = f"""query ($id: ID! = "l1") {{
  locker(lockerId: $id) {{ accessEvents(first: 100) {{ nodes {{ {FIELDS} }} }} latestEvent {{ eventId }} }}
}}"""

NOW = "2026-03-01T12:00:00.000Z"
E1 = {"lockerId": "l1", "eventId": "e1", "action": "OPEN", "actorId": "ada", "result": "SUCCESS"}
LOCKER = {"lockerId": "l1", "version": 1, "owner": {"name": "ada"}}
E1_SHOWN = {**E1, "timestamp": NOW, "recordedAt": NOW, "metadata": None, "locker": LOCKER}


def event(own_id: str | None = None, **more: Any) -> dict[str, Any]:
    return E1 | {"eventId": own_id} | more


async def recorded(api: Api, locker: str = "l1") -> list[str]:
    nodes = (await api.run(EVENTS, id=locker))["locker"]["accessEvents"]["nodes"]
    return [node["eventId"] for node in nodes]


@pytest.mark.parametrize("action", ["OPEN", "CLOSE", "UNLOCK", "LOCK", "DENIED", "TAMPER"])
@pytest.mark.parametrize("result", ["SUCCESS", "FAIL"])
async def test_an_event_is_shown_as_it_was_recorded(one: Api, action: str, result: str) -> None:
    payload = await one.mutate(RECORD, **E1 | {"action": action, "result": result})
    shown = E1_SHOWN | {"action": action, "result": result}
    assert payload == {"accessEvent": shown, "userErrors": []}
    data = await one.run(EVENTS)
    assert data["locker"] == {"accessEvents": {"nodes": [shown]}, "latestEvent": {"eventId": "e1"}}


async def test_a_late_event_stands_at_its_own_time_and_is_not_the_latest(one: Api, clock: Clock) -> None:
    await one.mutate(RECORD, **E1)
    clock.move(minutes=10)
    late = (await one.mutate(RECORD, **event("e0", timestamp="2020-01-01T00:00:00+01:00")))["accessEvent"]
    assert (late["timestamp"], late["recordedAt"]) == ("2019-12-31T23:00:00.000Z", "2026-03-01T12:10:00.000Z")
    assert await recorded(one) == ["e1", "e0"]
    assert (await one.run(EVENTS))["locker"]["latestEvent"] == {"eventId": "e1"}


async def test_an_event_of_a_locker_in_maintenance_is_recorded(one: Api) -> None:
    await one.run("""mutation {
      updateLockerStatus(input: { lockerId: "l1", newStatus: MAINTENANCE, expectedVersion: 1 }) { userErrors { code } }
    }""")
    assert (await one.mutate(RECORD, **E1))["userErrors"] == []


@pytest.mark.parametrize("chosen", [True, False])
async def test_twenty_five_events_are_one_transaction_answered_in_order(two: Api, wire: Wire, *, chosen: bool) -> None:
    events = [
        event(
            f"e{number:02d}" if chosen else None,
            lockerId=f"l{number % 2 + 1}",
            timestamp=f"2026-03-01T11:00:{59 - number:02d}.000Z",
        )
        for number in range(25)
    ]
    payload = await two.mutate(RECORD_ALL, events=events)
    assert payload["userErrors"] == []
    assert wire.operations == {"BatchGetItem": 1, "TransactWriteItems": 1}
    made = [(one["lockerId"], one["timestamp"]) for one in payload["accessEvents"]]
    assert made == [(one["lockerId"], one["timestamp"]) for one in events]
    for locker in ("l1", "l2"):
        ids = [one["eventId"] for one in payload["accessEvents"] if one["lockerId"] == locker]
        assert await recorded(two, locker) == ids


async def test_twenty_five_events_that_were_recorded_before_are_read_in_one_batch(two: Api, wire: Wire) -> None:
    events = [event(f"e{number}", lockerId=f"l{number % 2 + 1}") for number in range(25)]
    first = await two.mutate(RECORD_ALL, events=events)
    wire.reset()
    assert await two.mutate(RECORD_ALL, events=events) == first
    # The lockers, the refused transaction, and the events that the claims name.
    assert [call.operation for call in wire.calls] == ["BatchGetItem", "TransactWriteItems", "BatchGetItem"]
    assert [len(call.keys) for call in wire.of("BatchGetItem")] == [2, 25]


async def test_a_batch_with_recorded_events_returns_them_and_records_the_rest(two: Api, clock: Clock) -> None:
    await two.mutate(RECORD_ALL, events=[event("e1"), event("e3")])
    clock.move(minutes=1)
    # The last one has an id that was used at another locker.
    given = [*(event(f"e{number}") for number in range(1, 5)), event(), event("e1", lockerId="l2")]
    payload = await two.mutate(RECORD_ALL, events=given)
    assert payload["userErrors"] == []
    assert [made["recordedAt"][14:16] for made in payload["accessEvents"]] == ["00", "01", "00", "01", "01", "01"]
    assert [made["eventId"] for made in payload["accessEvents"][:4]] == ["e1", "e2", "e3", "e4"]
    assert (len(await recorded(two)), await recorded(two, "l2")) == (5, ["e1"])


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (
            event("e3", action="LOCK"),
            user_error("ID_TAKEN", "The id e3 was used before, for another event of this locker.", 409, "eventId"),
        ),
        (event(lockerId="nope"), user_error("NOT_FOUND", "Locker nope does not exist.", 404, "lockerId")),
        (
            event(timestamp="2026-03-01T12:06:00Z"),
            user_error("BAD_USER_INPUT", "timestamp must not be more than 5 minutes in the future", 400, "timestamp"),
        ),
        (event("e1"), user_error("BAD_USER_INPUT", "eventId is repeated in this request", 400, "eventId")),
    ],
    ids=["other content", "unknown locker", "too far ahead", "the same id twice"],
)
async def test_one_wrong_event_refuses_all(two: Api, dump: Dump, wrong: dict[str, Any], error: dict[str, Any]) -> None:
    await two.mutate(RECORD_ALL, events=[event("e2"), event("e3")])
    payload = await refused(two, dump, RECORD_ALL, events=[event("e1"), event("e2"), wrong, event()])
    path = ["input", "events", "2", *error["path"][1:]]
    assert payload == {"accessEvents": None, "userErrors": [error | {"path": path}]}
