"""Items that are kept for a time, on a store that deletes none: they are not shown any more when it has passed."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio

from domain.retention import Retention
from domain.times import Instant, shift, to_seconds
from loaders.backend import Backend
from loaders.table.values import item_to_wire
from loaders.tools.doctor import Table
from loaders.tools.expiry import expire_items
from tests.api import Api, mutation
from tests.conftest import NOW, Clock, Dump, OpenApi
from tests.history import keep_history
from tests.tables import PlainClient, put

RECORD = mutation("recordAccessEvent", "accessEvent { id eventId timestamp }")
EVENTS = """query ($first: Int, $after: String, $last: Int, $window: TimeWindow) { locker(lockerId: "l1") {
  latestEvent { eventId }
  accessEvents(first: $first, after: $after, last: $last, window: $window) { nodes { eventId } pageInfo { endCursor } }
} }"""
RESERVE = mutation("createReservation", "reservation { reservationId details { recipient { name } metadata } }")
DETAILS = '{ reservation(lockerId: "l1", reservationId: "r1") { status details { recipient { name } metadata } } }'
NODE = "query ($id: ID!) { node(id: $id) { ... on AccessEvent { eventId } } }"
ACTIVITY = '{ owner(ownerId: "ada") { activity { nodes { kind } } } activity { nodes { kind } } }'
RITA = {"name": "Rita", "email": "rita@example.com"}
MADE = {"recipient": {"name": "Rita"}, "metadata": {"parcels": 1}}


def event(event_id: str, **more: Any) -> dict[str, Any]:
    return {"lockerId": "l1", "eventId": event_id, "action": "OPEN", "actorId": "ada", "result": "SUCCESS", **more}


def reservation(start: Instant) -> dict[str, Any]:
    values = {"lockerId": "l1", "reservationId": "r1", "ownerId": "ada", "startAt": start}
    return {**values, "endAt": shift(start, timedelta(days=20)), "recipient": RITA, "metadata": {"parcels": 1}}


def findings(items: Iterable[dict[str, Any]], now: Instant) -> list[Any]:
    """The violations in a table whose figures nobody has counted."""
    table = Table()
    table.add(map(item_to_wire, items), now)
    return [finding for finding in table.violations(now) if finding.offset is None]


@pytest_asyncio.fixture
async def kept(open_api: OpenApi) -> Any:
    """A server that keeps events and details for 30 days."""
    async with open_api(event_days=30, details_days=30) as api:
        await api.owner("ada")
        await api.locker("l1", "ada")
        yield api


async def shown(api: Api, **page: Any) -> tuple[list[str], str | None, str | None]:
    locker = (await api.run(EVENTS, **page))["locker"]
    found, latest = locker["accessEvents"], locker["latestEvent"]
    names = [node["eventId"] for node in found["nodes"]]
    return names, found["pageInfo"]["endCursor"], latest and latest["eventId"]


async def test_an_event_is_shown_as_long_as_it_is_kept(kept: Api, clock: Clock, dump: Dump) -> None:
    first = (await kept.mutate(RECORD, **event("e1")))["accessEvent"]
    clock.move(days=10)
    await kept.mutate(RECORD, **event("e2"))
    clock.move(days=20, seconds=-1)
    names, cursor, _ = await shown(kept, first=10)
    assert names == ["e2", "e1"]
    clock.move(seconds=1)
    items = await dump()
    expiry = to_seconds(NOW) + 30 * 86_400
    event_key, claim_key = ("LOCKER#l1", f"EVT#{NOW}#e1"), ("LOCKER#l1", "EID#e1")
    assert [items[key]["expiresAt"] for key in (event_key, claim_key)] == [expiry, expiry]
    assert await shown(kept, first=1) == (["e2"], (await shown(kept, last=5))[1], "e2")
    assert (await shown(kept, last=5))[0] == ["e2"]
    assert (await shown(kept, first=10, after=cursor))[0] == [], "its cursor is still one of the list"
    assert (await shown(kept, window={"to": NOW}))[0] == []
    assert (await kept.run(NODE, id=first["id"])) == {"node": None}
    for lost in ([event_key], [claim_key], []):
        left = [item for key, item in items.items() if key not in lost]
        assert findings(left, clock()) == [], "the store deletes what has expired in any order"
    clock.move(days=10)
    assert await shown(kept) == ([], None, None)


async def test_the_id_of_an_event_is_free_when_the_event_is_kept_no_longer(kept: Api, clock: Clock, dump: Dump) -> None:
    await kept.mutate(RECORD, **event("e1"))
    clock.move(days=29)
    repeated = await kept.mutate(RECORD, **event("e1"))
    assert repeated["accessEvent"]["timestamp"] == NOW
    clock.move(days=1)
    again = await kept.mutate(RECORD, **event("e1"))
    assert again["accessEvent"]["timestamp"] == clock()
    assert (await dump())["LOCKER#l1", "EID#e1"]["timestamp"] == clock()


async def test_an_event_of_a_time_that_is_kept_no_longer_is_refused(kept: Api, dump: Dump) -> None:
    before = await dump()
    refused = await kept.mutate(RECORD, **event("e1", timestamp="2026-01-30T12:00:00Z"))
    message = "timestamp must not be 30 days ago or more: events are kept no longer"
    (error,) = refused["userErrors"]
    assert (error["code"], error["message"], error["path"]) == ("BAD_USER_INPUT", message, ["input", "timestamp"])
    assert await dump() == before


async def test_the_details_of_a_reservation_vanish_and_the_reservation_stays(
    kept: Api, clock: Clock, dump: Dump
) -> None:
    made = await kept.mutate(RESERVE, **reservation(NOW))
    assert made["reservation"]["details"] == MADE
    clock.move(days=30, seconds=-1)
    assert (await kept.run(DETAILS))["reservation"]["details"] == MADE
    clock.move(seconds=1)
    assert (await kept.run(DETAILS))["reservation"] == {"status": "EXPIRED", "details": None}
    repeated = await kept.mutate(RESERVE, **reservation(NOW))
    assert repeated == {"reservation": {"reservationId": "r1", "details": None}, "userErrors": []}
    items = await dump()
    del items["LOCKER#l1", "DETAILS#r1"]
    assert findings(items.values(), clock()) == []


async def test_history_and_log_begin_with_what_is_still_kept(
    open_api: OpenApi, backend: Backend, plain_client: PlainClient, table: str, dump: Dump
) -> None:
    async with open_api(log_days=5, history_days=6) as api:
        await api.owner("ada")
    await keep_history(backend.store)
    (logged,) = [item for item in (await dump()).values() if item["entityType"] == "LOG_ENTRY"]
    (copied,) = [item for item in (await dump()).values() if item["entityType"] == "ACTIVITY"]
    for days in (4, 5.5, 6.5):
        for item, name, prefix in ((logged, "stamp", ""), (copied, "occurredAt", "ACT#")):
            time = shift(item[name], timedelta(days=-days))
            await put(plain_client, table, item | {"SK": f"{prefix}{time}#{days}", name: time})
    async with open_api(log_days=5, history_days=6) as api:
        found = await api.run(ACTIVITY)
    assert len(found["activity"]["nodes"]) == 2
    assert len(found["owner"]["activity"]["nodes"]) == 3


@pytest.mark.parametrize("days", [30, None])
async def test_what_was_to_be_kept_longer_is_deleted_by_the_settings_of_today(
    one: Api, backend: Backend, clock: Clock, dump: Dump, days: int | None
) -> None:
    store: Any = backend.store
    await one.mutate(RECORD, **event("e1"))
    await one.mutate(RESERVE, **reservation(NOW))
    before = await dump()
    clock.move(days=31)
    await one.mutate(RECORD, **event("e2"))
    kept = None if days is None else timedelta(days=days)
    today = replace(backend, retention=Retention(events=kept, details=kept))
    gone = {("LOCKER#l1", f"EVT#{NOW}#e1"), ("LOCKER#l1", "EID#e1"), ("LOCKER#l1", "DETAILS#r1")}
    gone |= {key for key in before if key[0].startswith("RECIPIENT#")}
    expected = gone if days else set()
    assert await expire_items(store, today, items_per_second=1e9, dry_run=True) == len(expected)
    assert await expire_items(store, today, items_per_second=1e9, dry_run=False) == len(expected)
    after = await dump()
    assert before.keys() - after.keys() == expected
    assert findings(after.values(), clock()) == []
