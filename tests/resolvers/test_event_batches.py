"""Several access events at once: all of them or none, and none of them twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.api import mutation, unchanged, user_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.conftest import Clock
    from tests.wire import Wire

RECORD_ALL = mutation("recordAccessEvents", "accessEvents { lockerId eventId timestamp recordedAt action }")
EVENTS = "query ($id: ID!) { locker(lockerId: $id) { accessEvents(first: 100) { nodes { eventId } } } }"


def event(own_id: str | None = None, **more: Any) -> dict[str, Any]:
    values = {"lockerId": "l1", "action": "OPEN", "actorId": "ada", "result": "SUCCESS", **more}
    return values if own_id is None else values | {"eventId": own_id}


@pytest.mark.parametrize("chosen", [True, False])
async def test_twenty_five_events_are_recorded_in_one_transaction_and_answered_in_order(
    two: Api, wire: Wire, *, chosen: bool
) -> None:
    # given
    events = [
        event(
            f"e{number:02d}" if chosen else None,
            lockerId=f"l{number % 2 + 1}",
            timestamp=f"2026-03-01T11:00:{59 - number:02d}Z",
        )
        for number in range(25)
    ]
    # when
    payload = await two.mutate(RECORD_ALL, events=events)
    # then
    assert payload["userErrors"] == []
    assert [(made["lockerId"], made["timestamp"]) for made in payload["accessEvents"]] == [
        (given["lockerId"], given["timestamp"].replace("Z", ".000Z")) for given in events
    ]
    assert wire.operations == {"BatchGetItem": 1, "TransactWriteItems": 1}
    for locker in ("l1", "l2"):
        nodes = (await two.run(EVENTS, id=locker))["locker"]["accessEvents"]["nodes"]
        assert [node["eventId"] for node in nodes] == [
            made["eventId"] for made in payload["accessEvents"] if made["lockerId"] == locker
        ]


async def test_the_same_batch_again_gives_the_first_result_and_writes_nothing(
    two: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    events = [event("e1"), event("e2", lockerId="l2"), event("e3", timestamp="2026-03-01T11:00:00Z")]
    first = await two.mutate(RECORD_ALL, events=events)
    clock.move(days=400)
    async with unchanged(dump):
        assert await two.mutate(RECORD_ALL, events=events) == first


async def test_a_batch_with_recorded_events_returns_them_and_records_the_rest(two: Api, clock: Clock) -> None:
    await two.mutate(RECORD_ALL, events=[event("e1"), event("e3")])
    clock.move(minutes=1)
    payload = await two.mutate(RECORD_ALL, events=[event(f"e{number}") for number in range(1, 5)] + [event()])
    assert payload["userErrors"] == []
    assert [made["recordedAt"][14:16] for made in payload["accessEvents"]] == ["00", "01", "00", "01", "01"]
    assert [made["eventId"] for made in payload["accessEvents"][:4]] == ["e1", "e2", "e3", "e4"]
    assert len((await two.run(EVENTS, id="l1"))["locker"]["accessEvents"]["nodes"]) == 5


async def test_one_id_used_for_other_content_refuses_the_whole_batch(two: Api, dump: Callable[[], Any]) -> None:
    await two.mutate(RECORD_ALL, events=[event("e2"), event("e3")])
    async with unchanged(dump):
        payload = await two.mutate(RECORD_ALL, events=[event("e1"), event("e2"), event("e3", action="LOCK"), event()])
    message = "The id e3 was used before, for another event of this locker."
    assert payload == {
        "accessEvents": None,
        "userErrors": [user_error("ID_TAKEN", message, 409, "events", "2", "eventId")],
    }


async def test_one_unknown_locker_refuses_the_whole_batch(two: Api, dump: Callable[[], Any]) -> None:
    async with unchanged(dump):
        payload = await two.mutate(RECORD_ALL, events=[event("e1"), event("e2", lockerId="nope"), event("e3")])
    missing = user_error("NOT_FOUND", "Locker nope does not exist.", 404, "events", "1", "lockerId")
    assert payload == {"accessEvents": None, "userErrors": [missing]}


async def test_one_event_from_too_far_ahead_refuses_the_whole_batch(two: Api, dump: Callable[[], Any]) -> None:
    ahead = event("e2", timestamp="2026-03-01T12:06:00Z")
    async with unchanged(dump):
        payload = await two.mutate(RECORD_ALL, events=[event("e1"), ahead])
    refused = user_error(
        "BAD_USER_INPUT", "timestamp must not be more than 5 minutes in the future", 400, "events", "1", "timestamp"
    )
    assert payload == {"accessEvents": None, "userErrors": [refused]}


async def test_the_same_id_twice_in_a_batch_is_refused_even_with_the_same_content(
    two: Api, dump: Callable[[], Any]
) -> None:
    async with unchanged(dump):
        payload = await two.mutate(RECORD_ALL, events=[event("e1"), event("e2"), event("e1")])
    twice = user_error("BAD_USER_INPUT", "eventId is repeated in this request", 400, "events", "2", "eventId")
    assert payload == {"accessEvents": None, "userErrors": [twice]}


async def test_the_same_id_at_two_lockers_of_a_batch_is_fine(two: Api) -> None:
    payload = await two.mutate(RECORD_ALL, events=[event("e1"), event("e1", lockerId="l2")])
    assert [made["lockerId"] for made in payload["accessEvents"]] == ["l1", "l2"]
