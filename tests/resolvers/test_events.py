"""Access events: written down once, never changed, whenever they arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.api import mutation, unchanged, user_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.conftest import Clock
    from tests.wire import Wire

FIELDS = "eventId lockerId timestamp recordedAt action actorId result metadata"
RECORD = mutation("recordAccessEvent", f"accessEvent {{ {FIELDS} }}")
EVENTS = f'{{ locker(lockerId: "l1") {{ accessEvents {{ nodes {{ {FIELDS} }} }} latestEvent {{ eventId }} }} }}'
MUTATIONS = "{ __schema { mutationType { fields { name } } } }"

NOW = "2026-03-01T12:00:00.000Z"
E1 = {"lockerId": "l1", "eventId": "e1", "action": "OPEN", "actorId": "ada", "result": "SUCCESS"}
E1_SHOWN = {**E1, "timestamp": NOW, "recordedAt": NOW, "metadata": None}


@pytest.mark.parametrize("action", ["OPEN", "CLOSE", "UNLOCK", "LOCK", "DENIED", "TAMPER"])
@pytest.mark.parametrize("result", ["SUCCESS", "FAIL"])
async def test_an_event_is_shown_as_it_was_recorded(one: Api, action: str, result: str) -> None:
    payload = await one.mutate(RECORD, **E1 | {"action": action, "result": result})
    shown = E1_SHOWN | {"action": action, "result": result}
    assert payload == {"accessEvent": shown, "userErrors": []}
    data = await one.run(EVENTS)
    assert data["locker"] == {"accessEvents": {"nodes": [shown]}, "latestEvent": {"eventId": "e1"}}


async def test_a_late_event_stands_at_its_own_time_and_is_not_the_latest(one: Api, clock: Clock) -> None:
    # given
    await one.mutate(RECORD, **E1)
    clock.move(minutes=10)
    # when
    late = await one.mutate(RECORD, **E1 | {"eventId": "e0", "timestamp": "2020-01-01T00:00:00+01:00"})
    # then
    assert late["accessEvent"]["timestamp"] == "2019-12-31T23:00:00.000Z"
    assert late["accessEvent"]["recordedAt"] == "2026-03-01T12:10:00.000Z"
    locker = (await one.run(EVENTS))["locker"]
    assert [event["eventId"] for event in locker["accessEvents"]["nodes"]] == ["e1", "e0"]
    assert locker["latestEvent"] == {"eventId": "e1"}


async def test_an_event_may_lie_five_minutes_ahead_and_no_millisecond_more(one: Api, dump: Callable[[], Any]) -> None:
    payload = await one.mutate(RECORD, **E1, timestamp="2026-03-01T12:05:00Z")
    assert payload["accessEvent"] == E1_SHOWN | {"timestamp": "2026-03-01T12:05:00.000Z"}
    async with unchanged(dump):
        refused = await one.mutate(RECORD, **E1 | {"eventId": "e2"}, timestamp="2026-03-01T12:05:00.001Z")
    ahead = user_error("BAD_USER_INPUT", "timestamp must not be more than 5 minutes in the future", 400, "timestamp")
    assert refused == {"accessEvent": None, "userErrors": [ahead]}


async def test_the_same_event_id_may_be_used_at_two_lockers(one: Api) -> None:
    await one.locker("l2", "ada")
    for locker in ("l1", "l2"):
        payload = await one.mutate(RECORD, **E1 | {"lockerId": locker})
        assert payload == {"accessEvent": E1_SHOWN | {"lockerId": locker}, "userErrors": []}


async def test_an_event_of_a_locker_that_does_not_exist_is_not_found(
    one: Api, wire: Wire, dump: Callable[[], Any]
) -> None:
    async with unchanged(dump):
        payload = await one.mutate(RECORD, **E1 | {"lockerId": "nope"})
    missing = user_error("NOT_FOUND", "Locker nope does not exist.", 404, "lockerId")
    assert payload == {"accessEvent": None, "userErrors": [missing]}
    # A plain read may miss a locker that is new, so the refusal rests on a strong one.
    assert [call.request["ConsistentRead"] for call in wire.calls] == [False, True]


async def test_an_event_of_a_locker_in_maintenance_is_recorded(one: Api) -> None:
    await one.run("""mutation {
      updateLockerStatus(input: { lockerId: "l1", newStatus: MAINTENANCE, expectedVersion: 1 }) { userErrors { code } }
    }""")
    assert (await one.mutate(RECORD, **E1))["userErrors"] == []


async def test_an_event_shows_its_locker(one: Api) -> None:
    query = mutation("recordAccessEvent", "accessEvent { locker { lockerId version owner { name } } }")
    payload = await one.mutate(query, **E1)
    assert payload["accessEvent"] == {"locker": {"lockerId": "l1", "version": 1, "owner": {"name": "ada"}}}


async def test_no_mutation_changes_or_deletes_an_event(one: Api) -> None:
    fields = (await one.run(MUTATIONS))["__schema"]["mutationType"]["fields"]
    assert [field["name"] for field in fields if "AccessEvent" in field["name"]] == [
        "recordAccessEvent",
        "recordAccessEvents",
    ]


async def test_changes_of_its_locker_leave_an_event_unchanged(one: Api, clock: Clock, dump: Callable[[], Any]) -> None:
    # given
    await one.owner("eve")
    await one.mutate(RECORD, **E1, metadata={"battery": 71.5})
    written = {key: item for key, item in (await dump()).items() if key[1].startswith(("EVT#", "EID#"))}
    assert set(written) == {("LOCKER#l1", f"EVT#{NOW}#e1"), ("LOCKER#l1", "EID#e1")}
    # when
    clock.move(days=1)
    await one.run("""mutation {
      a: renameLocker(input: { lockerId: "l1", alias: "B", expectedVersion: 1 }) { userErrors { code } }
      b: updateLockerStatus(input: { lockerId: "l1", newStatus: OCCUPIED, expectedVersion: 2 }) { userErrors { code } }
      c: transferLocker(input: { lockerId: "l1", newOwnerId: "eve", expectedVersion: 3 }) { userErrors { code } }
      d: updateOwner(input: { ownerId: "ada", expectedVersion: 1, name: "A" }) { userErrors { code } }
      e: createReservation(input: {
        lockerId: "l1", reservationId: "e1", ownerId: "eve",
        startAt: "2026-03-02T11:00:00Z", endAt: "2026-03-03T00:00:00Z"
      }) { userErrors { code } }
      f: cancelReservation(input: { lockerId: "l1", reservationId: "e1" }) { userErrors { code } }
    }""")
    # then
    after = await dump()
    assert {key: after[key] for key in written} == written
