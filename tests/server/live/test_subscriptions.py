"""Subscriptions: who is told what, once, in which order, and until when."""

from typing import Any

from loaders import keys
from loaders.backend import Backend
from loaders.table.clock import utc_now
from tests.api import RENAME, TRANSFER, UPDATE_STATUS, Api
from tests.conftest import OpenApi
from tests.feeds import connected, since
from tests.following import at, entry, lease
from tests.history import keep_history
from tests.principals import owner
from tests.tables import PlainClient, put

ADA, BOB = owner("ada"), owner("bob")
LOCKER = """subscription ($after: String, $kinds: [ActivityKind!]) { lockerActivity(lockerId: "l1", after: $after,
  kinds: $kinds) { activityId cursor kind version ownerId locker { status ownerId } } }"""


def kinds(activities: list[dict[str, Any]]) -> list[str]:
    return [activity["kind"] for activity in activities]


async def test_what_happened_since_a_cursor_and_what_happens_is_told_once_and_in_order(one: Api) -> None:
    async with connected(one.by(ADA)) as connection:
        feed = connection.subscribe(LOCKER, after=since("locker:l1"))
        assert kinds([await feed.activity()]) == ["LOCKER_REGISTERED"]
        await one.done(UPDATE_STATUS, lockerId="l1", newStatus="MAINTENANCE", expectedVersion=1)
        await one.done(RENAME, lockerId="l1", alias="x", expectedVersion=2)
        told = await feed.activities(2)
    assert kinds(told) == ["LOCKER_STATUS_CHANGED", "LOCKER_CHANGED"]
    assert [activity["version"] for activity in told] == [2, 3]
    assert told[0]["locker"] == {"status": "MAINTENANCE", "ownerId": "ada"}
    assert feed.is_empty


async def test_a_client_without_a_cursor_begins_with_the_time_at_which_it_asked_for_the_present(one: Api) -> None:
    async with connected(one.by(ADA)) as connection:
        for time in (utc_now(), "9999-12-31T23:59:59+14:00"):  # a clock that is ahead misses nothing either
            assert kinds([await connection.subscribe(LOCKER, after=time).activity()]) == ["LOCKER_REGISTERED"]
        assert (await connection.subscribe(LOCKER, after="2000-01-01T00:00:00Z").error())["code"] == "RESYNC_REQUIRED"
        for nonsense in ("2026-02-30T00:00:00Z", "2026-02-03T00:00:00"):
            assert (await connection.subscribe(LOCKER, after=nonsense).error())["code"] == "INVALID_CURSOR"


async def test_a_subscription_ends_at_once_when_its_locker_is_transferred(one: Api) -> None:
    await one.owner("bob")
    async with connected(one.by(ADA)) as connection:
        feed = connection.subscribe(LOCKER, after=since("locker:l1"))
        await feed.activity()
        await one.done(TRANSFER, lockerId="l1", newOwnerId="bob", expectedVersion=1)
        await one.done(RENAME, lockerId="l1", alias="bob's", expectedVersion=2)
        assert (await feed.error())["code"] == "FORBIDDEN"
        assert await feed.result() is None
        again = connection.subscribe(LOCKER, after=since("locker:l1"))
        assert (await again.error())["code"] == "FORBIDDEN"


async def test_a_cursor_of_a_list_misses_nothing_that_history_does_not_have_yet(
    one: Api, backend: Backend, plain_client: PlainClient, table: str
) -> None:
    now = utc_now()
    await keep_history(backend.store)
    behind = keys.log_shard("somewhere")
    await put(
        plain_client,
        table,
        entry(at(now, -600), "late", behind),
        *(lease(shard, history=at(now, -3600 if shard == behind else -40)) for shard in range(keys.LOG_SHARDS)),
    )
    listed = await one.by(ADA).run('{ owner(ownerId: "ada") { activity { nodes { activityId cursor } } } }')
    (newest, *_) = nodes = listed["owner"]["activity"]["nodes"]
    async with connected(one.by(ADA)) as connection:
        feed = connection.subscribe(
            'subscription ($after: String) { ownerActivity(ownerId: "ada", after: $after) { activityId } }',
            after=newest["cursor"],
        )
        assert await feed.activity() == {"activityId": "late-0"}
        again = [activity["activityId"] for activity in await feed.activities(len(nodes))]
    assert again == [node["activityId"] for node in reversed(nodes)]


async def test_who_has_just_become_the_owner_stays_subscribed(one: Api, open_api: OpenApi) -> None:
    await one.owner("bob")
    async with open_api() as other, connected(other.by(BOB)) as connection, connected(one.by(BOB)) as first:
        await one.done(RENAME, lockerId="l1", alias="ada's", expectedVersion=1)
        await one.done(TRANSFER, lockerId="l1", newOwnerId="bob", expectedVersion=2)
        feed = connection.subscribe(LOCKER, after=since("locker:l1"))
        told = await feed.activities(3)
        assert kinds(told) == ["LOCKER_REGISTERED", "LOCKER_CHANGED", "LOCKER_TRANSFERRED"]
        assert first.subscribe(LOCKER).is_empty
        await one.done(RENAME, lockerId="l1", alias="bob's", expectedVersion=3)
        assert (await feed.activity())["version"] == 4


async def test_variables_that_no_argument_takes_may_have_any_value(one: Api) -> None:
    async with connected(one.by(ADA)) as connection:
        feed = connection.subscribe(LOCKER, after=since("locker:l1"), unused=[10**30, 1.5, "ä", None])
        assert kinds([await feed.activity()]) == ["LOCKER_REGISTERED"]
