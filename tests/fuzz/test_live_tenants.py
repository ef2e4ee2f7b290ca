"""Two thousand activities of two tenants, followed by one of them in every role: nothing of the other's is told."""

from collections import Counter
from itertools import cycle, islice
from typing import Any

from domain.authorization import Principal, Scope
from loaders.backend import Backend
from loaders.codecs import LOG_ENTRY
from loaders.following.catching_up import cursor_at
from loaders.table.clock import utc_now
from server.new_ids import new_id
from tests import places
from tests.api import RENAME, Api
from tests.conftest import Clock, Dump, OpenApi
from tests.feeds import Feed, connected
from tests.fuzz.tenants import LOCATION, stock, words_of
from tests.principals import device, owner, partner
from tests.tables import PlainClient, put

ACTIVITIES = 2000
TOLD = """activityId kind ownerId lockerId reservationId bookingId codeId eventId paymentId keyId calendarEventId
  version actor { subject keyId ownerId owner { name } } changes { field from to }
  locker { alias latestEvent { actorId } } owner { name } reservation { createdAt ownerId }
  booking { description } accessCode { ownerId }"""
ROLES: list[tuple[Principal, list[str]]] = [
    (owner("anna", "guild"), ["owner:anna", "locker:anna-1", "locker:guild-1", "public"]),
    (partner(*Scope, of="anna"), ["owner:anna", "locker:anna-2"]),
    (partner(Scope.LOCKERS_READ, of="anna"), ["owner:anna", "locker:anna-1"]),
    (device("anna-1"), ["locker:anna-1"]),
]


def query(followed: str) -> str:
    kind, _, name = followed.partition(":")
    field, argument = ("location", LOCATION) if kind == "public" else (kind, name)
    return f"""subscription ($after: String) {{
      {field}Activity({field}Id: "{argument}", after: $after) {{ {TOLD} }} }}"""


def place(followed: str) -> str:
    return f"public:{LOCATION}" if followed == "public" else followed


async def again(client: PlainClient, table: str, dump: Dump) -> None:
    """Everything that happened happens again and again, without a change of the objects."""
    entries = [item for item in (await dump()).values() if item["entityType"] == LOG_ENTRY.entity_type]
    now = utc_now()
    made = []
    for item in islice(cycle(entries), ACTIVITIES):
        name = new_id()
        made.append(item | {"SK": f"{now}#{name}", "stamp": now, "entryId": name})
    await put(client, table, *made)


async def end(api: Api) -> None:
    """Something of each place, which its followers see last."""
    for locker_id, version in (("anna-1", 1), ("anna-2", 1), ("guild-1", 2)):
        await api.done(RENAME, lockerId=locker_id, alias="the end", expectedVersion=version)
    await api.done(places.UPDATE_LOCATION, locationId=LOCATION, name="the end", expectedVersion=1)


async def check(followed: str, principal: Principal, feed: Feed, ends: set[str]) -> Counter[str]:
    """Counts what a feed tells up to its end, by kind; nothing of it is the second tenant's."""
    told = Counter[str]()
    while not ends & told.keys():
        result = await feed.result()
        assert isinstance(result, dict), result
        codes = {error["extensions"]["code"] for error in result.get("errors", [])}
        assert codes <= {"FORBIDDEN"}, (principal, followed, result)
        assert not words_of(str(result)), (principal, followed, result)
        (activity,) = result["data"].values()
        told[activity["activityId"]] += 1
    assert set(told.values()) == {1}
    return told


async def test_no_activity_of_another_tenant_is_told_in_any_role(
    open_api: OpenApi, clock: Clock, backend: Backend, dump: Dump, plain_client: PlainClient, table: str
) -> None:
    limits: dict[str, Any] = {"max_read_units": 10**12, "max_operations": 10**12, "max_items": 10**12}
    async with open_api(**limits) as api, connected(api) as watching:
        await stock(api, clock, backend)
        began = utc_now()
        everything = watching.subscribe("subscription { activity { activityId ownerId } }")
        opened = [(connected(api.by(principal)), principal, followed) for principal, followed in ROLES]
        feeds = []
        for context, principal, followed in opened:
            connection = await context.__aenter__()
            feeds += [
                (connection, one, principal, connection.subscribe(query(one), after=cursor_at(place(one), began)))
                for one in followed
            ]
        await again(plain_client, table, dump)
        shown = await everything.activities(ACTIVITIES)
        made = {activity["activityId"] for activity in shown}
        assert len(made) == ACTIVITIES
        assert words_of(str(shown)) == {"bert"}
        await end(api)
        ends = {(await everything.activity())["activityId"] for _ in range(4)}
        for number, (connection, one, principal, feed) in enumerate(feeds):
            live = await check(one, principal, feed, ends)
            assert len(live) > (1 if one == "public" else 30), (principal, one, len(live))
            if number % 2:
                continue
            resumed = connection.subscribe(query(one), after=cursor_at(place(one), began))
            found = await check(one, principal, resumed, ends)
            # What was there before is within the horizon of the first one only.
            assert found.keys() & made == live.keys() & made
            assert found.keys() <= live.keys()
        for context, _, _ in opened:
            await context.__aexit__(None, None, None)
