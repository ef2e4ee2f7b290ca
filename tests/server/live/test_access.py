"""Who may subscribe: decided at the start, for each activity, and until the credentials end."""

import asyncio
import base64
import json
import time
from datetime import timedelta
from pathlib import Path

from domain.authorization import Principal, Scope
from loaders.cursors import encode_cursor
from loaders.table.positions import Key
from server.auth.development import development_token
from tests import places
from tests.api import RENAME, TRANSFER, UPDATE_STATUS, Api, mutation
from tests.conftest import OpenApi
from tests.feeds import connected, since
from tests.principals import SUPPORT, admin, device, owner, partner
from tests.wire import Answer, Call, Until, Wire

ADA, BOB = owner("ada"), owner("bob")
CREATE_KEY = mutation("createApiKey", "apiKey { keyId } secret")
SUSPEND_KEY = mutation("suspendApiKey", "apiKey { suspendedAt }")
REVOKE_KEY = mutation("revokeApiKey", "apiKey { revokedAt }")
LOCKER = 'subscription ($after: String) { lockerActivity(lockerId: "l1", after: $after) { kind } }'
OF_OWNER = "subscription ($id: ID!, $after: String) { ownerActivity(ownerId: $id, after: $after) { kind lockerId } }"
AT_PLACE = (
    "subscription ($id: ID!, $after: String) { locationActivity(locationId: $id, after: $after) { kind lockerId } }"
)
EVERYTHING = "subscription ($after: String) { activity(after: $after) { kind } }"
PATIENCE = 60


REFUSED: list[tuple[str, Principal, str]] = [
    (LOCKER, BOB, "FORBIDDEN"),
    (LOCKER, device("l2"), "FORBIDDEN"),
    (LOCKER, partner(Scope.RESERVATIONS_READ), "FORBIDDEN"),
    (OF_OWNER, BOB, "FORBIDDEN"),
    (EVERYTHING, ADA, "FORBIDDEN"),
    (EVERYTHING, partner(*Scope), "FORBIDDEN"),
    (LOCKER.replace("l1", "none"), admin("root"), "NOT_FOUND"),
    (LOCKER.replace("l1", "none"), SUPPORT, "NOT_FOUND"),
    (LOCKER.replace("l1", "none"), BOB, "FORBIDDEN"),
    (LOCKER.replace("l1", "no id!"), ADA, "BAD_USER_INPUT"),
]


async def test_who_may_not_see_an_object_may_not_follow_it(one: Api) -> None:
    for query, caller, code in REFUSED:
        async with connected(one.by(caller)) as connection:
            feed = connection.subscribe(query, id="ada")
            assert (await feed.error())["code"] == code, (query, caller)


def forged(sort_key: str, partition: str = "LOCKER#l1") -> str:
    return encode_cursor(Key(partition, sort_key))


WRONG = [
    "",
    "x",
    since("locker:l2"),
    since("owner:ada"),
    since("log:all"),
    forged("META"),
    forged("ACT#"),
    forged("ACT#yesterday#x"),
    forged("ACT#2026-02-30T00:00:00.000Z#x"),
    forged("ACT#2026-03-01T00:00:00Z#x"),
    forged("ACT#2026-03-01T00:00:00.000+01:00#x"),
    forged("ACT#2026-03-01T24:00:00.000Z"),
    forged("ACT#9999-12-31T23:59:59.999Zzz#x"),
    base64.urlsafe_b64encode(json.dumps({"PK": "LOCKER#l1", "SK": 1}).encode()).decode(),
]


async def test_a_cursor_that_is_not_one_of_this_object_is_refused(one: Api) -> None:
    async with connected(one.by(ADA)) as connection:
        for cursor in WRONG:
            assert (await connection.subscribe(LOCKER, after=cursor).error())["code"] == "INVALID_CURSOR", cursor


async def test_a_cursor_of_the_future_or_of_the_beginning_of_time_loses_nothing(one: Api) -> None:
    async with connected(one.by(ADA)) as connection:
        far = connection.subscribe(LOCKER, after=forged("ACT#9999-12-31T23:59:59.999Z#x"))
        assert await far.activity() == {"kind": "LOCKER_REGISTERED"}
        first = connection.subscribe(LOCKER, after=forged("ACT#0001-01-01T00:00:00.000Z"))
        error = await first.error()
        assert error["code"] == "RESYNC_REQUIRED"
        assert await first.activity() == {"kind": "LOCKER_REGISTERED"}
        again = connection.subscribe(LOCKER, after=error["cursor"])
        assert await again.activity() == {"kind": "LOCKER_REGISTERED"}


async def test_a_revoked_or_suspended_key_ends_its_connections_on_every_server(open_api: OpenApi) -> None:
    async with open_api(authenticator=None) as api, open_api(authenticator=None) as other:
        await api.owner("ada")
        await api.locker("l1", "ada")
        about = {"name": "x", "role": "PARTNER", "ownerIds": ["ada"], "scopes": ["LOCKERS_READ"]}
        secret = (await api.done(CREATE_KEY, keyId="k1", **about))["secret"]
        suspended = (await api.done(CREATE_KEY, keyId="k2", **about))["secret"]
        signed, others = ({"Authorization": f"Bearer {each}"} for each in (secret, suspended))
        async with (
            connected(api, signed) as near,
            connected(other, signed) as far,
            connected(other, others) as third,
            connected(other) as open_to_all,
        ):
            stays = open_to_all.subscribe(EVERYTHING, after=since("log:all"))
            feeds = [connection.subscribe(LOCKER, after=since("locker:l1")) for connection in (near, far, third)]
            for feed in feeds:
                assert await feed.activity() == {"kind": "LOCKER_REGISTERED"}
            began = time.monotonic()
            await api.done(REVOKE_KEY, keyId="k1")
            await api.done(SUSPEND_KEY, keyId="k2", expectedVersion=1)
            async with asyncio.timeout(PATIENCE):
                assert [await connection.closed for connection in (near, far, third)] == [4403] * 3
            assert time.monotonic() - began < 5
            seen = [(await stays.activity())["kind"] for _ in range(6)]
            assert {"API_KEY_REVOKED", "API_KEY_SUSPENDED"} <= {*seen}


async def test_a_revoked_key_ends_connections_on_which_nothing_runs(open_api: OpenApi) -> None:
    async with open_api(authenticator=None) as api, open_api(authenticator=None) as other:
        await api.owner("ada")
        about = {"name": "x", "role": "PARTNER", "ownerIds": ["ada"], "scopes": ["LOCKERS_READ"]}
        secrets = [(await api.done(CREATE_KEY, keyId=key_id, **about))["secret"] for key_id in ("k1", "k2")]
        gone, stays = ({"Authorization": f"Bearer {secret}"} for secret in secrets)
        async with connected(api, gone) as near, connected(other, gone) as far, connected(other, stays) as valid:
            await api.done(REVOKE_KEY, keyId="k1")
            async with asyncio.timeout(PATIENCE):
                assert [await connection.closed for connection in (near, far)] == [4403, 4403]
            assert (await valid.subscribe("{ __typename }").result())["data"] == {"__typename": "Query"}


async def test_a_connection_ends_with_its_token(open_api: OpenApi, tmp_path: Path) -> None:
    async with open_api(authenticator=None, data_dir=tmp_path) as api:
        await api.owner("ada")
        await api.locker("l1", "ada")
        # Tokens are accepted for 30 seconds after their end.
        token = development_token(tmp_path, ADA, timedelta(seconds=-28))
        async with connected(api, {"authorization": f"Bearer {token}"}) as connection:
            feed = connection.subscribe(LOCKER, after=since("locker:l1"))
            assert await feed.activity() == {"kind": "LOCKER_REGISTERED"}
            async with asyncio.timeout(PATIENCE):
                assert await connection.closed == 4403


async def test_a_location_is_followed_by_admins_in_whole_and_by_others_in_public(room: Api) -> None:
    here = places.ulid(0)
    there = await places.create_location(room, 1)
    await room.locker("l1", "ada", locationId=here)
    async with connected(room) as connection, connected(room.by(BOB)) as public:
        feeds = [connection.subscribe(AT_PLACE, id=place, after=since(f"location:{place}")) for place in (here, there)]
        shown = public.subscribe(AT_PLACE, id=here, after=since(f"public:{here}"))
        assert [(await feeds[0].activity())["kind"] for _ in range(2)] == ["LOCATION_CREATED", "LOCKER_REGISTERED"]
        assert (await feeds[1].activity())["kind"] == "LOCATION_CREATED"
        await room.done(places.MOVE, lockerId="l1", newLocationId=there, expectedVersion=1)
        await room.done(UPDATE_STATUS, lockerId="l1", newStatus="MAINTENANCE", expectedVersion=2)
        await room.done(places.UPDATE_LOCATION, locationId=here, expectedVersion=1, name="New")
        moved = {"kind": "LOCKER_CHANGED", "lockerId": "l1"}
        assert await feeds[0].activities(2) == [moved, {"kind": "LOCATION_CHANGED", "lockerId": None}]
        assert await feeds[1].activities(2) == [moved, {"kind": "LOCKER_STATUS_CHANGED", "lockerId": "l1"}]
        assert [activity["kind"] for activity in await shown.activities(2)] == ["LOCATION_CREATED", "LOCATION_CHANGED"]


async def test_who_loses_a_locker_while_it_catches_up_sees_nothing_of_its_new_owner(wire: Wire, one: Api) -> None:
    await one.owner("bob")
    async with connected(one.by(ADA)) as connection:
        released = asyncio.Event()
        wire.fault = lambda call: Until(released) if call.request.get("ConsistentRead") and _reads_log(call) else None
        feed = connection.subscribe(LOCKER, after=since("locker:l1"))
        await one.done(TRANSFER, lockerId="l1", newOwnerId="bob", expectedVersion=1)
        await one.by(BOB).done(UPDATE_STATUS, lockerId="l1", newStatus="MAINTENANCE", expectedVersion=2)
        released.set()
        assert (await feed.error())["code"] == "FORBIDDEN"
        assert feed.is_empty or await feed.result() is None


async def test_only_activities_of_the_kinds_asked_for_are_told(one: Api) -> None:
    await one.done(UPDATE_STATUS, lockerId="l1", newStatus="MAINTENANCE", expectedVersion=1)
    query = """subscription ($after: String) { lockerActivity(lockerId: "l1", after: $after,
      kinds: [LOCKER_STATUS_CHANGED]) { kind version } }"""
    async with connected(one.by(ADA)) as connection:
        feed = connection.subscribe(query, after=since("locker:l1"))
        assert (await feed.activity())["version"] == 2
        await one.done(RENAME, lockerId="l1", alias="x", expectedVersion=2)
        await one.done(UPDATE_STATUS, lockerId="l1", newStatus="AVAILABLE", expectedVersion=3)
        assert (await feed.activity())["version"] == 4


async def test_who_catches_up_while_the_store_fails_waits_and_gets_the_rest_once(wire: Wire, one: Api) -> None:
    await one.done(UPDATE_STATUS, lockerId="l1", newStatus="MAINTENANCE", expectedVersion=1)
    async with connected(one.by(ADA)) as connection:
        wire.fault = lambda call: Answer.error("InternalServerError") if _is_lease(call) else None
        feed = connection.subscribe(LOCKER, after=since("locker:l1"))
        error = await feed.error()
        assert (error["code"], error["retryAfter"]) == ("UNAVAILABLE", 1)
        wire.reset()
        assert [activity["kind"] for activity in await feed.activities(2)] == [
            "LOCKER_REGISTERED",
            "LOCKER_STATUS_CHANGED",
        ]
        assert feed.is_empty


def _is_lease(call: Call) -> bool:
    return call.operation == "BatchGetItem" and call.keys[0][0].startswith("LEASE#")


def _reads_log(call: Call) -> bool:
    partition = call.request.get("ExpressionAttributeValues", {}).get(":pk", {})
    return str(partition.get("S")).startswith("LOG#")


async def test_support_follows_everything_but_what_happens_to_api_keys(one: Api) -> None:
    async with connected(one.by(SUPPORT)) as connection, connected(one) as of_admin:
        feeds = [each.subscribe(EVERYTHING, after=since("log:all")) for each in (connection, of_admin)]
        await one.done(CREATE_KEY, keyId="k1", name="x", role="DEVICE", lockerId="l1")
        await one.done(RENAME, lockerId="l1", expectedVersion=1, alias="New")
        kinds: list[list[str]] = [[], []]
        for feed, seen in zip(feeds, kinds, strict=True):
            while "LOCKER_CHANGED" not in seen:
                seen.append((await feed.activity())["kind"])
    assert "API_KEY_CREATED" in kinds[1]
    assert kinds[0] == [kind for kind in kinds[1] if kind != "API_KEY_CREATED"]
