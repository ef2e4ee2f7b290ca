"""Batches of activities: one plan and one read for all of them, priced, charged and limited like a query."""

import asyncio
from typing import Any

from domain.activity import ActivityKind, Happening
from domain.models import LockerId, OwnerId
from loaders.keys import LOG_SHARDS
from loaders.table.clock import utc_now
from server.new_ids import new_id
from tests.api import UPDATE_STATUS, Api
from tests.conftest import Clock, OpenApi
from tests.feeds import connected, since
from tests.following import entry
from tests.principals import owner
from tests.tables import PlainClient, put
from tests.wire import Call, Hold, Wire

ADA = owner("ada")
EVERYTHING = """subscription ($after: String) { activity(after: $after) { activityId locker { lockerId status } } }"""
OWN = 'subscription ($after: String) { ownerActivity(ownerId: "ada", after: $after) { activityId cursor } }'
MANY = 50


class Log:
    """Writes the log as another server does."""

    def __init__(self, wire: Wire, client: PlainClient, table: str) -> None:
        self._wire = wire
        self._client = client
        self._table = table

    async def tell(self, *locker_ids: str) -> list[str]:
        """The same as `write`; all of it is found in one read."""
        hold = self._wire.fault = Hold("Query")
        await hold.arrivals(LOG_SHARDS)
        told = await self.write(*locker_ids)
        hold.release()
        return told

    async def write(self, *locker_ids: str) -> list[str]:
        """Something happens to lockers of ada; returns the ids of the activities."""
        ada = OwnerId("ada")
        happened = [
            Happening(kind=ActivityKind.LOCKER_CHANGED, locker_id=LockerId(locker_id), owner_id=ada)
            for locker_id in locker_ids
        ]
        entries = {new_id(): happened[first : first + 10] for first in range(0, len(happened), 10)}
        now = utc_now()
        await put(self._client, self._table, *(entry(now, name, 0, *told) for name, told in entries.items()))
        return sorted(f"{name}-{number}" for name, told in entries.items() for number in range(len(told)))


def lockers_of(wire: Wire) -> list[Call]:
    return [call for call in wire.of("BatchGetItem") if call.keys[0][0].startswith("LOCKER#")]


async def test_a_batch_is_one_plan_and_one_read_for_all_subscribers_that_ask_for_the_same(
    wire: Wire, two: Api, plain_client: PlainClient, table: str
) -> None:
    log = Log(wire, plain_client, table)
    async with connected(two) as first, connected(two) as second:
        feeds = [connection.subscribe(EVERYTHING, after=since("log:all")) for connection in (first, second)]
        for feed in feeds:
            await feed.activities(3)
        wire.reset()
        told = await log.tell("l1", "l2", *(f"missing-{number}" for number in range(MANY - 2)))
        shown = [await feed.activities(MANY) for feed in feeds]
    assert shown[0] == shown[1]
    assert [activity["activityId"] for activity in shown[0]] == told
    found = {activity["locker"]["lockerId"] for activity in shown[0] if activity["locker"]}
    assert found == {"l1", "l2"}
    (read,) = lockers_of(wire)
    assert len(read.keys) == MANY
    assert all(part["ConsistentRead"] for part in read.request["RequestItems"].values())
    assert wire.operations.keys() == {"Query", "BatchGetItem"}


async def test_other_things_run_while_a_batch_goes_to_many_subscriptions(
    wire: Wire, two: Api, plain_client: PlainClient, table: str
) -> None:
    async with connected(two) as first, connected(two) as second, connected(two) as third:
        connections = (first, second, third)
        feeds = [one.subscribe(EVERYTHING) for one in connections for _ in range(20)]
        log = Log(wire, plain_client, table)
        while any(feed.is_empty for feed in feeds):  # until all of them have begun
            await log.tell("l1")
        await log.tell("l2")
        for feed in feeds:
            while (await feed.activity())["locker"]["lockerId"] != "l2":
                pass
        receiving = [asyncio.create_task(feed.activities(MANY)) for feed in feeds]
        await log.tell(*(f"missing-{number}" for number in range(MANY)))
        await asyncio.wait(receiving, return_when=asyncio.FIRST_COMPLETED)
        assert not all(one.done() for one in receiving)
        await asyncio.gather(*receiving)


async def test_a_batch_is_cut_where_it_exceeds_a_limit_and_a_document_that_always_does_is_refused(
    wire: Wire, open_api: OpenApi, plain_client: PlainClient, table: str
) -> None:
    async with open_api(max_items=20) as api, connected(api) as connection:
        large = "subscription { activity { locker { activity(first: 50) { nodes { kind } } } } }"
        refused = connection.subscribe(large)
        assert (await refused.error())["code"] == "QUERY_TOO_COMPLEX"
        feed = connection.subscribe(EVERYTHING, after=since("log:all"))
        await api.owner("ada")
        await feed.activity()
        wire.reset()
        told = await Log(wire, plain_client, table).tell(*(f"missing-{number:02}" for number in range(MANY)))
        shown = await feed.activities(MANY)
    assert [activity["activityId"] for activity in shown] == told
    sizes = [len(call.keys) for call in lockers_of(wire)]
    assert sum(sizes) == MANY
    assert max(sizes) <= 20
    assert len(sizes) == 4


async def test_an_error_of_one_activity_touches_no_other_and_does_not_end_the_subscription(
    wire: Wire, two: Api, plain_client: PlainClient, table: str
) -> None:
    (damaged,) = [
        item for item in await plain_client.items(table) if item["PK"]["S"] == "LOCKER#l1" and "status" in item
    ]
    await plain_client.fill(table, [damaged | {"status": {"S": "gone"}}])
    async with connected(two) as connection:
        feed = connection.subscribe(EVERYTHING, after=since("log:all"))
        for _ in range(3):
            await feed.result()
        told = await Log(wire, plain_client, table).tell("l1", "l2")
        first, second = await feed.result(), await feed.result()
        assert first["data"] == {"activity": {"activityId": told[0], "locker": None}}
        assert [error["path"] for error in first["errors"]] == [["activity", "locker"]]
        locker = {"lockerId": "l2", "status": "AVAILABLE"}
        assert second == {"data": {"activity": {"activityId": told[1], "locker": locker}}}
        await two.done(UPDATE_STATUS, lockerId="l2", newStatus="MAINTENANCE", expectedVersion=1)
        assert (await feed.activity())["locker"]["status"] == "MAINTENANCE"


async def test_each_batch_tells_its_cost_where_it_is_asked_for_and_a_plan_can_be_explained(two: Api) -> None:
    async with connected(two) as connection:
        feed = connection.subscribe(EVERYTHING, {"cost": True}, after=since("log:all"))
        costs = [(await feed.result())["extensions"]["cost"] for _ in range(3)]
        explained = await connection.subscribe(EVERYTHING, {"explain": "plan"}).result()
    # Two lockers are read strongly, for three activities of one batch.
    assert costs[0] == costs[1] == costs[2]
    assert costs[0]["actual"] == {"operations": 1, "items": 2, "readUnits": 2, "writeUnits": 0}
    assert explained["data"] is None
    assert "activity.locker" in str(explained["extensions"])


async def test_more_than_is_held_while_a_client_catches_up_is_read_once_more_and_told_once(
    wire: Wire, two: Api, plain_client: PlainClient, table: str
) -> None:
    fields = " ".join(f"a{number}: activityId" for number in range(12))
    query = f'subscription ($after: String) {{ ownerActivity(ownerId: "ada", after: $after) {{ {fields} }} }}'
    many = 600
    async with connected(two.by(ADA)) as connection:
        first = connection.subscribe(query, after=since("owner:ada"))
        await first.activities(3)
        hold = wire.fault = Hold("BatchGetItem")
        late = connection.subscribe(query, after=since("owner:ada"))
        await hold.arrivals()
        told = await Log(wire, plain_client, table).write(*["l1"] * many)
        shown = [activity["a0"] for activity in await first.activities(many)]
        assert sorted(shown) == told
        hold.release()
        caught_up = [activity["a0"] for activity in await late.activities(3 + many)]
        assert caught_up[3:] == told
        await two.done(UPDATE_STATUS, lockerId="l1", newStatus="MAINTENANCE", expectedVersion=1)
        assert (await late.activity())["a0"] == (await first.activity())["a0"]


class Spending:
    """A caller whose budget is refilled when the test moves the clock."""

    def __init__(self, api: Api, clock: Clock) -> None:
        self._api = api
        self._clock = clock

    async def spend(self) -> None:
        """Uses up the budget."""
        while "errors" not in await self._api.send("{ viewer { subject } }"):
            pass

    def refill(self) -> None:
        self._clock.move(minutes=10)


LIMITED: dict[str, Any] = {"rate_limit_units": 6000, "rate_limit_burst": 200}


async def test_who_has_no_budget_left_is_told_once_when_it_is_refilled_and_then_what_waited(
    wire: Wire, open_api: OpenApi, clock: Clock, plain_client: PlainClient, table: str
) -> None:
    async with open_api(**LIMITED) as api, connected(api.by(ADA)) as connection:
        await api.owner("ada")
        caller = Spending(api.by(ADA), clock)
        feed = connection.subscribe(OWN, after=since("owner:ada"))
        await feed.activity()
        await caller.spend()
        log = Log(wire, plain_client, table)
        told = await log.tell("l1", "l2")
        error = await feed.error()
        assert (error["code"], error["retryAfter"]) == ("RATE_LIMITED", 1)
        told += await log.tell("l3")
        assert feed.is_empty
        caller.refill()
        assert [activity["activityId"] for activity in await feed.activities(3)] == told


async def test_who_has_more_than_a_thousand_waiting_is_told_to_resync_and_misses_nothing_after_the_cursor(
    wire: Wire, open_api: OpenApi, clock: Clock, plain_client: PlainClient, table: str
) -> None:
    async with open_api(**LIMITED) as api, connected(api.by(ADA)) as connection, connected(api) as watching:
        await api.owner("ada")
        caller = Spending(api.by(ADA), clock)
        feed = connection.subscribe(OWN, after=since("owner:ada"))
        watch = watching.subscribe("subscription { activity { activityId } }")
        (before,) = await feed.activities(1)
        await caller.spend()
        log = Log(wire, plain_client, table)
        shown = await log.tell("first")
        assert (await feed.error())["code"] == "RATE_LIMITED"
        lost = await log.tell(*["l"] * 1001)
        await watch.activities(1002)
        caller.refill()
        assert [activity["activityId"] for activity in await feed.activities(1)] == shown
        error = await feed.error()
        assert error["code"] == "RESYNC_REQUIRED"
        later = await log.tell("later")
        assert (await feed.activity())["activityId"] == later[0]
        again = connection.subscribe(OWN, after=error["cursor"])
        found = [activity["activityId"] for activity in await again.activities(1004)]
    assert sorted(found) == sorted([before["activityId"], *shown, *lost, *later])
