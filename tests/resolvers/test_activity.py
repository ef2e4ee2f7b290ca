"""History: who sees that something happened, and how much of who did it."""

import asyncio
import json
from collections import Counter
from typing import Any

import pytest
import pytest_asyncio

from domain.activity import ActivityKind
from domain.authorization import Principal, Role, Scope
from domain.models import OwnerId
from domain.times import to_seconds
from domain.webhook_bodies import delivery_body
from loaders.backend import Backend
from loaders.following.catching_up import cursor_at
from loaders.following.registry import FollowingParts
from loaders.table.clock import utc_now
from tests import codes, logged, places
from tests.api import TRANSFER, UPDATE_STATUS, Api, mutation
from tests.conftest import Dump, OpenApi, Prepared
from tests.following import at, lease
from tests.history import keep_history
from tests.inputs import document
from tests.principals import admin, device, owner, partner
from tests.reservations import START
from tests.tables import PlainClient, put
from tests.wire import Wire

PLACE, OTHER = places.ulid(0), places.ulid(1)
ADA, BOB, MIA = owner("ada"), owner("bob"), owner("mia", "ada")
MOVE = mutation("moveLocker", "locker { version }")
UPDATE_PLACE = mutation("updateLocation", "location { version }")
CREATE_KEY = mutation("createApiKey", "apiKey { keyId }")
KINDS = "nodes { kind } nextCursor"
ROW = """nodes { activityId kind version lockerId locationId ownerId reservationId bookingId codeId eventId
  actor { role subject keyId ownerId } changes { field from to } }"""
TOLD = """kind version outcome lockerId locationId ownerId reservationId bookingId codeId eventId calendarEventId
  paymentId changes { field from to }"""
LOCKER = 'query ($id: ID = "l1") {{ locker(lockerId: $id) {{ activity(orderBy: ASC) {{ {} }} }} }}'
OWNER = "query ($id: ID!) {{ owner(ownerId: $id) {{ activity(orderBy: ASC) {{ {} }} }} }}"
LOCATION = "query ($id: ID!) {{ location(locationId: $id) {{ activity(orderBy: ASC) {{ {} }} }} }}"
LOG = "query {{ activity(orderBy: ASC, first: 100) {{ {} }} }}"


async def nodes(api: Api, query: str, selection: str = ROW, **variables: Any) -> list[dict[str, Any]]:
    """The activities of a list, oldest first."""
    data = await api.run(query.format(selection), **variables)
    while "nodes" not in data:
        (data,) = data.values()
    found: list[dict[str, Any]] = data["nodes"]
    return found


async def kinds(api: Api, query: str, **variables: Any) -> list[str]:
    return [node["kind"] for node in await nodes(api, query, KINDS, **variables)]


async def live(room: Api, backend: Backend) -> None:
    """A locker of ada's that bob reserved and used, with a code, at a location that an admin changed."""
    await places.prepare(room)
    await room.owner("bob")
    await room.owner("mia")
    await room.by(ADA).locker("l1", "ada", locationId=PLACE, reservableBy="EVERYONE")
    await room.by(BOB).reservation("r1", "l1", "bob", "2026-03-01T11:00:00Z", "2026-03-01T13:00:00Z")
    await room.by(BOB).done(START, lockerId="l1", reservationId="r1")
    await codes.create(room.by(BOB), "c1", reservationId="r1")
    await room.by(device("l1")).event("l1", eventId="e1")
    await room.by(admin("root")).done(UPDATE_PLACE, locationId=PLACE, expectedVersion=1, managerId="bob", name="New")
    await room.by(partner(Scope.LOCKERS_READ, Scope.LOCKERS_WRITE)).done(
        UPDATE_STATUS, lockerId="l1", expectedVersion=2, newStatus="MAINTENANCE"
    )
    await keep_history(backend.store)


@pytest_asyncio.fixture
async def lived(api: Api, backend: Backend, prepared: Prepared) -> Api:
    await prepared(live, api, backend)
    return api


OF_LOCKER = [
    "LOCKER_REGISTERED",
    "RESERVATION_CREATED",
    "RESERVATION_STARTED",
    "LOCKER_STATUS_CHANGED",
    "ACCESS_CODE_CREATED",
    "DOOR_OPENED",
    "LOCKER_STATUS_CHANGED",
]


async def test_the_owner_of_a_locker_sees_everything_that_happened_to_it(lived: Api) -> None:
    assert await kinds(lived.by(ADA), LOCKER) == OF_LOCKER
    assert await kinds(lived, LOCKER) == OF_LOCKER


@pytest.mark.parametrize(
    ("caller", "seen"),
    [
        (MIA, ["LOCKER_REGISTERED", "LOCKER_STATUS_CHANGED", "LOCKER_STATUS_CHANGED"]),
        (device("l1"), ["LOCKER_REGISTERED", "LOCKER_STATUS_CHANGED", "LOCKER_STATUS_CHANGED"]),
        (partner(Scope.LOCKERS_READ), ["LOCKER_REGISTERED", "LOCKER_STATUS_CHANGED", "LOCKER_STATUS_CHANGED"]),
        (partner(*set(Scope) - {Scope.CODES_READ}), [kind for kind in OF_LOCKER if kind != "ACCESS_CODE_CREATED"]),
    ],
    ids=["a member", "its device", "a partner", "a partner without codes:read"],
)
async def test_others_see_of_a_locker_what_happened_to_the_objects_that_they_see(
    lived: Api, caller: Principal, seen: list[str]
) -> None:
    assert await kinds(lived.by(caller), LOCKER) == seen


@pytest.mark.parametrize("caller", [BOB, device("l2"), partner(Scope.RESERVATIONS_READ)])
async def test_nobody_else_may_ask_for_the_history_of_a_locker(lived: Api, caller: Principal) -> None:
    answer = await lived.by(caller).send(LOCKER.format(KINDS))
    assert {error["extensions"]["code"] for error in answer["errors"]} == {"FORBIDDEN"}
    assert answer["data"] in ({"locker": None}, {"locker": {"activity": None}})


async def test_who_reserved_sees_its_own_part_and_nothing_of_the_locker(lived: Api) -> None:
    assert await kinds(lived.by(BOB), OWNER, id="bob") == [
        "OWNER_CREATED",
        "RESERVATION_CREATED",
        "RESERVATION_STARTED",
        "ACCESS_CODE_CREATED",
    ]


async def test_a_webhook_of_an_owner_is_told_what_the_owner_sees(lived: Api, backend: Backend, dump: Dump) -> None:
    await lived.done(TRANSFER, lockerId="l1", newOwnerId="mia", expectedVersion=3)
    await lived.locker("l2", "mia", locationId=PLACE)
    await lived.done(MOVE, lockerId="l2", newLocationId=None, expectedVersion=1)
    await keep_history(backend.store)
    activities = {activity.activity_id: activity for activity in logged.activities(await dump())}
    hidden = Counter[str]()
    for name in ("ada", "bob", "mia"):
        for seen in await nodes(lived.by(owner(name)), OWNER, f"nodes {{ activityId {TOLD} }}", id=name):
            body = json.loads(delivery_body(activities[seen.pop("activityId")], None, OwnerId(name)))
            kind, changes = ActivityKind[seen.pop("kind")], seen.pop("changes")
            assert body["type"] == kind
            assert body["data"].pop("changes", []) == changes
            assert body["data"] == {field: value for field, value in seen.items() if value is not None}
            hidden["owners"] += seen["ownerId"] is None and kind is ActivityKind.LOCKER_TRANSFERRED
            hidden["values"] += [change["from"] for change in changes if change["field"] == "ownerId"] == [None]
    assert hidden == {"owners": 1, "values": 1}
    everything = [json.loads(delivery_body(activity, None, None)) for activity in activities.values()]
    (transferred,) = (body["data"] for body in everything if body["type"] == "locker.transferred")
    assert (transferred["ownerId"], transferred["changes"][0]["from"]) == ("mia", "ada")
    managers = [body for body in everything if "managerId" in str(body)]
    assert [body["type"] for body in managers] == ["location.changed"]


async def test_an_actor_of_another_tenant_is_shown_as_a_role_only(lived: Api) -> None:
    of_ada, of_all = await nodes(lived.by(ADA), LOCKER), await nodes(lived, LOCKER)
    hidden = {"subject": None, "keyId": None, "ownerId": None}
    assert [node["actor"] for node in of_ada] == [
        {"role": "OWNER", "subject": "ada", "keyId": None, "ownerId": "ada"},
        {"role": "OWNER", **hidden},
        {"role": "OWNER", **hidden},
        {"role": "OWNER", **hidden},
        {"role": "OWNER", **hidden},
        {"role": "DEVICE", "subject": "device of l1", "keyId": None, "ownerId": None},
        {"role": "PARTNER", "subject": "partner", "keyId": None, "ownerId": None},
    ]
    assert [node["actor"]["subject"] for node in of_all] == ["ada", *["bob"] * 4, "device of l1", "partner"]
    of_bob = await nodes(lived.by(BOB), OWNER, id="bob")
    assert [node["actor"]["subject"] for node in of_bob] == [None, "bob", "bob", "bob"]
    of_member = await nodes(lived.by(MIA), LOCKER)
    assert [node["actor"]["subject"] for node in of_member] == [None, None, None]


async def test_the_partner_who_uses_a_reservation_is_hidden_from_the_owner_of_the_locker(
    lived: Api, backend: Backend
) -> None:
    of_bob = partner(Scope.RESERVATIONS_WRITE, of="bob")
    await lived.by(ADA).locker("l2", "ada", reservableBy="EVERYONE")
    await lived.by(BOB).reservation("r2", "l2", "bob", "2026-03-01T11:00:00Z", "2026-03-01T13:00:00Z")
    await lived.by(of_bob).done(START, lockerId="l2", reservationId="r2")
    await keep_history(backend.store)
    shown = [(node["kind"], node["actor"]["subject"]) for node in await nodes(lived.by(ADA), LOCKER, id="l2")]
    assert shown[2:] == [("RESERVATION_STARTED", None), ("LOCKER_STATUS_CHANGED", None)]


async def test_an_activity_says_what_changed_and_of_which_object(lived: Api) -> None:
    *_, maintained = await nodes(lived.by(ADA), LOCKER)
    assert maintained["changes"] == [{"field": "status", "from": "OCCUPIED", "to": "MAINTENANCE"}]
    assert (maintained["version"], maintained["lockerId"], maintained["locationId"]) == (3, "l1", PLACE)
    made = (await nodes(lived.by(ADA), LOCKER))[1]
    assert (made["ownerId"], made["reservationId"]) == ("bob", "r1")


async def test_callers_other_than_admins_get_the_public_history_of_a_location(lived: Api) -> None:
    everything = await kinds(lived, LOCATION, id=PLACE)
    assert everything == ["LOCATION_CREATED", *OF_LOCKER[:6], "LOCATION_CHANGED", OF_LOCKER[6]]
    for caller in (ADA, BOB, partner()):
        created, changed = await nodes(lived.by(caller), LOCATION, id=PLACE)
        assert (created["kind"], changed["kind"]) == ("LOCATION_CREATED", "LOCATION_CHANGED")
        assert changed["actor"] == {"role": "ADMIN", "subject": None, "keyId": None, "ownerId": None}
        assert changed["changes"] == [{"field": "name", "from": None, "to": None}]
    (_, changed) = [node for node in await nodes(lived, LOCATION, id=PLACE) if node["kind"].startswith("LOCATION")]
    assert {"field": "managerId", "from": None, "to": "bob"} in changed["changes"]
    assert changed["actor"]["subject"] == "root"


async def test_admins_learn_who_created_and_deleted_a_calendar_event(lived: Api, backend: Backend) -> None:
    event = {"locationId": PLACE, "eventId": "cleaning", "date": "2026-03-20"}
    await lived.by(admin("root")).done(places.CREATE_EVENT, **event, duration="FULL_DAY", title="Cleaning")
    await lived.by(Principal(subject="boss", role=Role.ADMIN)).done(
        places.DELETE_EVENT, locationId=PLACE, eventId="cleaning"
    )
    await keep_history(backend.store)
    selected = "nodes { kind calendarEventId actor { subject owner { name } } }"
    *_, created, deleted = await nodes(lived, LOCATION, selected, id=PLACE)
    assert (created["kind"], created["calendarEventId"]) == ("CALENDAR_EVENT_CREATED", "cleaning")
    assert created["actor"] == {"subject": "root", "owner": {"name": "root"}}
    assert (deleted["kind"], deleted["actor"]) == ("CALENDAR_EVENT_DELETED", {"subject": "boss", "owner": None})


async def test_a_transferred_locker_takes_its_history_along_and_each_owner_keeps_its_own(
    lived: Api, backend: Backend
) -> None:
    await lived.done(TRANSFER, lockerId="l1", expectedVersion=3, newOwnerId="bob")
    await lived.by(device("l1")).event("l1", eventId="e2")
    await keep_history(backend.store)
    assert await kinds(lived.by(BOB), LOCKER) == [*OF_LOCKER, "LOCKER_TRANSFERRED", "DOOR_OPENED"]
    assert (await lived.by(ADA).send(LOCKER.format(KINDS)))["data"] == {"locker": {"activity": None}}
    of_ada = await nodes(lived.by(ADA), OWNER, id="ada")
    assert [node["kind"] for node in of_ada] == ["OWNER_CREATED", *OF_LOCKER, "LOCKER_TRANSFERRED"]
    assert of_ada[-1]["ownerId"] is None
    assert of_ada[-1]["changes"] == [{"field": "ownerId", "from": "ada", "to": None}]
    of_bob = await nodes(lived.by(BOB), LOCKER)
    assert of_bob[0]["actor"] == {"role": "OWNER", "subject": None, "keyId": None, "ownerId": None}
    below = "nodes { kind locker { lockerId } reservation { status } accessCode { codeId } owner { ownerId } }"
    (*_, started, _, coded, _, _, _) = await nodes(lived.by(ADA), OWNER, below, id="ada")
    hidden = {"locker": {"lockerId": "l1"}, "reservation": None, "accessCode": None, "owner": None}
    assert (started, coded) == (
        {"kind": "RESERVATION_STARTED", **hidden},
        {"kind": "ACCESS_CODE_CREATED", **hidden},
    )


async def test_what_an_activity_names_is_read_under_the_usual_rules(lived: Api) -> None:
    below = """nodes { kind locker { status } location { name } owner { name } reservation { reservationId }
      accessCode { codeId } booking { bookingId } actor { owner { name } } }"""
    found = {node["kind"]: node for node in await nodes(lived.by(ADA), LOCKER, below)}
    created = found["RESERVATION_CREATED"]
    assert created["locker"] == {"status": "MAINTENANCE"}
    assert (created["location"], created["reservation"]) == ({"name": "New"}, {"reservationId": "r1"})
    assert (created["owner"], created["actor"], created["booking"]) == (None, {"owner": None}, None)
    assert found["ACCESS_CODE_CREATED"]["accessCode"] == {"codeId": "c1"}
    assert found["LOCKER_REGISTERED"]["actor"] == {"owner": {"name": "ada"}}


async def test_the_log_shows_admins_each_activity_once(lived: Api, backend: Backend) -> None:
    await places.create_location(lived, 1)
    await lived.done(MOVE, lockerId="l1", expectedVersion=3, newLocationId=OTHER)
    await lived.done(CREATE_KEY, keyId="k1", name="Door", role="DEVICE", lockerId="l1")
    found = await nodes(lived, LOG)
    assert [node["kind"] for node in found][-3:] == ["LOCATION_CREATED", "LOCKER_CHANGED", "API_KEY_CREATED"]
    assert len({node["activityId"] for node in found}) == len(found) == 16
    await keep_history(backend.store)
    for place in (PLACE, OTHER):
        assert (await kinds(lived, LOCATION, id=place))[-1] == "LOCKER_CHANGED"
    (*_, moved) = await nodes(lived, LOCKER)
    assert moved["changes"] == [{"field": "locationId", "from": PLACE, "to": OTHER}]
    for caller in (ADA, partner(*Scope), device("l1")):
        answer = await lived.by(caller).send(LOG.format(KINDS))
        assert (answer["data"], answer["errors"][0]["extensions"]["code"]) == ({"activity": None}, "FORBIDDEN")


@pytest.mark.parametrize("order", ["ASC", "DESC"])
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
async def test_the_log_is_read_in_pages_of_any_size(lived: Api, wire: Wire, order: str, backward: bool) -> None:  # noqa: FBT001
    whole = [node["activityId"] for node in await nodes(lived, LOG)]
    expected = whole if order == "ASC" else whole[::-1]
    size, cursor = ("last", "before") if backward else ("first", "after")
    query = f"""query ($size: Int, $cursor: String) {{ activity(orderBy: {order}, {size}: $size, {cursor}: $cursor) {{
      nodes {{ activityId }} nextCursor pageInfo {{ hasNextPage hasPreviousPage }} }} }}"""
    for count in (1, 2, 5, len(whole), 100):
        pages: list[list[str]] = []
        at: str | None = None
        wire.reset()
        while not pages or at is not None:
            page = (await lived.run(query, size=count, cursor=at))["activity"]
            pages.append([node["activityId"] for node in page["nodes"]])
            at = page["nextCursor"]
            assert page["pageInfo"]["hasPreviousPage" if backward else "hasNextPage"] is (at is not None)
        shown = [one for page in (reversed(pages) if backward else pages) for one in page]
        assert shown == expected
        assert {len(page) for page in pages[:-1]} <= {count}
        assert wire.operations == {"Query": 4 * len(pages)}


async def test_the_events_of_one_request_are_shown_in_their_order(lived: Api, backend: Backend) -> None:
    names = [f"b{number}" for number in range(12)]
    event = {"lockerId": "l1", "action": "OPEN", "actorId": "x", "result": "SUCCESS"}
    await lived.done(document("recordAccessEvents"), events=[event | {"eventId": name} for name in names])
    await keep_history(backend.store)
    for query in (LOCKER, LOG):
        assert [node["eventId"] for node in await nodes(lived, query)][-12:] == names


async def test_a_window_narrows_a_history_and_the_log(lived: Api) -> None:
    rows = await nodes(lived, LOCKER, "nodes { activityId occurredAt }")
    at = rows[3]["occurredAt"]
    window = f'(window: {{from: "{at}", to: "{at}"}}) {{ nodes {{ activityId }} }}'
    data = await lived.run(f'{{ locker(lockerId: "l1") {{ activity{window} }} activity{window} }}')
    started = {rows[2]["activityId"], rows[3]["activityId"]}  # one transaction
    assert {node["activityId"] for node in data["locker"]["activity"]["nodes"]} == started
    assert {node["activityId"] for node in data["activity"]["nodes"]} == started


async def test_a_cursor_of_another_list_is_refused(lived: Api) -> None:
    data = await lived.run('{ locker(lockerId: "l1") { activity { edges { cursor } } } activity { edges { cursor } } }')
    of_locker, of_log = (
        data["locker"]["activity"]["edges"][0]["cursor"],
        data["activity"]["edges"][0]["cursor"],
    )
    query = "query ($after: String) {{ {} }}"
    for field, cursor in (
        ("activity(after: $after) { nextCursor }", of_locker),
        ('locker(lockerId: "l1") { activity(after: $after) { nextCursor } }', of_log),
    ):
        answer = await lived.send(query.format(field), after=cursor)
        assert answer["errors"][0]["extensions"]["code"] == "INVALID_CURSOR"


async def test_the_cursor_of_an_activity_never_passes_what_may_still_be_written(lived: Api) -> None:
    seen = [(node["activityId"], node["cursor"]) for node in await nodes(lived, LOG, "nodes { activityId cursor }")]
    await lived.by(ADA).locker("l9", "ada")
    query = "query ($after: String) { activity(orderBy: ASC, after: $after, first: 100) { nodes { activityId } } }"
    again = [node["activityId"] for node in (await lived.run(query, after=seen[-1][1]))["activity"]["nodes"]]
    assert again[: len(seen)] == [activity_id for activity_id, _ in seen]
    assert len(again) == len(seen) + 1


async def test_the_cursor_of_an_activity_in_a_history_never_passes_what_was_kept_of_any_part_of_the_log(
    lived: Api, wire: Wire, plain_client: PlainClient, table: str
) -> None:
    now = utc_now()
    await put(plain_client, table, *(lease(shard, history=at(now, -60 * (shard + 1))) for shard in range(4)))
    wire.reset()
    field = "activity(orderBy: ASC) { nodes { cursor } }"
    data = await lived.run(
        f'{{ locker(lockerId: "l1") {{ {field} again: {field} }} owner(ownerId: "bob") {{ {field} }} }}'
    )
    shown = [*data["locker"].values(), data["owner"]["activity"]]
    places = [*["locker:l1"] * 2, "owner:bob"]
    for place, found in zip(places, shown, strict=True):
        assert {node["cursor"] for node in found["nodes"]} == {cursor_at(place, at(now, -240))}
    leases = [call for call in wire.of("BatchGetItem") if call.keys[0][0].startswith("LEASE#")]
    assert len(leases) == 1
    assert all(call.started > leases[0].ended for call in wire.of("Query"))


async def test_an_activity_is_found_by_its_global_id_which_is_the_same_in_every_list(lived: Api) -> None:
    selected = "nodes { id kind }"
    of_locker = {node["id"]: node["kind"] for node in await nodes(lived, LOCKER, selected)}
    of_place = {node["id"] for node in await nodes(lived, LOCATION, selected, id=PLACE)}
    of_log = {node["id"] for node in await nodes(lived, LOG, selected)}
    assert of_locker.keys() <= of_place <= of_log
    query = "query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Activity { kind } } }"
    ids = list(of_locker)
    found = (await lived.run(query, ids=ids))["nodes"]
    assert [node["kind"] for node in found] == [of_locker[one] for one in ids]
    answer = await lived.by(MIA).send(query, ids=ids)
    seen = [node and node["kind"] for node in answer["data"]["nodes"]]
    assert seen == [kind if kind.startswith("LOCKER") else None for kind in OF_LOCKER]
    assert {error["extensions"]["code"] for error in answer["errors"]} == {"FORBIDDEN"}
    answer = await lived.by(owner("eve")).send(query, ids=list(of_log))
    public = [node["kind"] for node in answer["data"]["nodes"] if node]
    assert sorted(public) == ["LOCATION_CHANGED", "LOCATION_CREATED"]


@pytest.mark.usefixtures("lived")
async def test_a_follower_that_is_told_twice_leaves_the_same_history(backend: Backend, dump: Dump) -> None:
    before = await dump()
    await keep_history(backend.store)
    assert await dump() == before
    copies = [item for item in before.values() if item["entityType"] == "ACTIVITY"]
    places_of = Counter(item["activityId"] for item in copies)
    assert set(places_of.values()) == {1, 2, 3, 4}
    assert {item["expiresAt"] - to_seconds(item["occurredAt"]) for item in copies} == {400 * 86_400}


async def test_a_server_that_follows_the_log_keeps_history(open_api: OpenApi) -> None:
    async with open_api(following=FollowingParts()) as api, asyncio.timeout(60):
        await api.owner("ada")
        await api.locker("l1", "ada")
        found: list[list[str]] = []
        while found != [["LOCKER_REGISTERED"], ["OWNER_CREATED", "LOCKER_REGISTERED"]]:
            await asyncio.sleep(0.05)
            found = [await kinds(api, LOCKER), await kinds(api, OWNER, id="ada")]
