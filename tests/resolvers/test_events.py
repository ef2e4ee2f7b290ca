"""Access events: written down once, never changed, whenever they arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from tests.api import mutation, unchanged

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


@pytest_asyncio.fixture
async def one(api: Api, wire: Wire) -> Api:
    """An owner with one locker."""
    await api.owner("acme")
    await api.locker("l1", "acme")
    wire.reset()
    return api


def error(code: str, message: str, path: str, status: int) -> dict[str, Any]:
    return {
        "__typename": "PlainError",
        "message": message,
        "code": code,
        "path": ["input", path],
        "status": status,
        "retryable": False,
    }


@pytest.mark.parametrize("action", ["OPEN", "CLOSE", "UNLOCK", "LOCK", "DENIED", "TAMPER"])
@pytest.mark.parametrize("result", ["SUCCESS", "FAIL"])
async def test_an_event_is_shown_as_it_was_recorded(one: Api, action: str, result: str) -> None:
    payload = await one.mutate(RECORD, **E1 | {"action": action, "result": result})
    shown = E1_SHOWN | {"action": action, "result": result}
    assert payload == {"accessEvent": shown, "userErrors": []}
    data = await one.run(EVENTS)
    assert data["locker"] == {"accessEvents": {"nodes": [shown]}, "latestEvent": {"eventId": "e1"}}


async def test_an_event_without_an_id_is_given_one_and_is_new_each_time(one: Api) -> None:
    values = {name: E1[name] for name in E1 if name != "eventId"}
    made = [(await one.mutate(RECORD, **values))["accessEvent"] for _ in range(2)]
    assert [len(event["eventId"]) for event in made] == [26, 26]
    assert len((await one.run(EVENTS))["locker"]["accessEvents"]["nodes"]) == 2


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
    ahead = error("BAD_USER_INPUT", "timestamp must not be more than 5 minutes in the future", "timestamp", 400)
    assert refused == {"accessEvent": None, "userErrors": [ahead]}


@pytest.mark.parametrize("given", [{}, {"timestamp": "2026-03-01T11:00:00Z"}, {"metadata": {"battery": 71.5}}])
async def test_the_same_event_sent_again_later_gives_the_first_one_and_writes_nothing(
    one: Api, clock: Clock, dump: Callable[[], Any], given: dict[str, Any]
) -> None:
    first = await one.mutate(RECORD, **E1 | given)
    clock.move(days=400)
    async with unchanged(dump):
        again = await one.mutate(RECORD, **E1 | given)
    assert again == first
    assert again["userErrors"] == []
    assert again["accessEvent"]["recordedAt"] == NOW


@pytest.mark.parametrize(
    "other",
    [
        {"action": "CLOSE"},
        {"actorId": "eve"},
        {"result": "FAIL"},
        {"metadata": {}},
        {"metadata": {"battery": 1}},
        {"timestamp": NOW},
        {"timestamp": "2026-03-01T11:00:00Z"},
    ],
)
async def test_an_events_id_used_for_other_content_is_taken_and_the_event_stays(
    one: Api, dump: Callable[[], Any], other: dict[str, Any]
) -> None:
    await one.mutate(RECORD, **E1)
    async with unchanged(dump):
        payload = await one.mutate(RECORD, **E1 | other)
    taken = error("ID_TAKEN", "The id e1 was used before, for another event of this locker.", "eventId", 409)
    assert payload == {"accessEvent": None, "userErrors": [taken]}


async def test_the_same_event_id_may_be_used_at_two_lockers(one: Api) -> None:
    await one.locker("l2", "acme")
    for locker in ("l1", "l2"):
        payload = await one.mutate(RECORD, **E1 | {"lockerId": locker})
        assert payload == {"accessEvent": E1_SHOWN | {"lockerId": locker}, "userErrors": []}


async def test_an_event_of_a_locker_that_does_not_exist_is_not_found(
    one: Api, wire: Wire, dump: Callable[[], Any]
) -> None:
    async with unchanged(dump):
        payload = await one.mutate(RECORD, **E1 | {"lockerId": "nope"})
    missing = error("NOT_FOUND", "Locker nope does not exist.", "lockerId", 404)
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
    assert payload["accessEvent"] == {"locker": {"lockerId": "l1", "version": 1, "owner": {"name": "acme"}}}


async def test_no_mutation_changes_or_deletes_an_event(one: Api) -> None:
    fields = (await one.run(MUTATIONS))["__schema"]["mutationType"]["fields"]
    assert [field["name"] for field in fields if "AccessEvent" in field["name"]] == [
        "recordAccessEvent",
        "recordAccessEvents",
    ]


async def test_whatever_happens_to_its_locker_an_event_stays_as_it_is(
    one: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
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
      d: updateOwner(input: { ownerId: "acme", expectedVersion: 1, name: "A" }) { userErrors { code } }
      e: createReservation(input: {
        lockerId: "l1", reservationId: "e1", ownerId: "eve",
        startAt: "2026-03-02T11:00:00Z", endAt: "2026-03-03T00:00:00Z"
      }) { userErrors { code } }
      f: cancelReservation(input: { lockerId: "l1", reservationId: "e1" }) { userErrors { code } }
    }""")
    # then
    after = await dump()
    assert {key: after[key] for key in written} == written
