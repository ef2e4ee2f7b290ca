from typing import Any

import pytest

from domain.authorization import Principal, Scope
from domain.times import Instant
from resolvers.bindings.nodes import to_global_id
from tests import places
from tests.api import Api, mutation
from tests.conftest import Clock
from tests.principals import REFUSAL, device, owner, partner
from tests.wire import Wire

RENAME = mutation("renameLocker", "locker { alias ownerId }")
TRANSFER = mutation("transferLocker", "locker { ownerId }")
CONFIGURE = mutation("configureLocker", "locker { reservableBy }")
UPDATE_OWNER = mutation("updateOwner", "owner { name role }")
RECORD_EVENTS = mutation("recordAccessEvents", "accessEvents { eventId }")
STRANGERS = [owner("bob"), partner(*Scope, of="bob")]
OF_LOCKERS_ALONE = [owner("bob", "org", "gone"), partner(Scope.LOCKERS_READ, of=("org", "gone"))]
NESTED = (
    "activeReservation { endAt } latestEvent { action } reservations { nodes { endAt } } accessEvents { nextCursor }"
)


def described(answer: dict[str, Any]) -> list[tuple[Any, ...]]:
    """All that the errors of an answer say, but for the request's id."""
    return [
        (error["path"], error["message"], error["extensions"]["code"], error["extensions"]["status"])
        for error in answer.get("errors", [])
    ]


@pytest.mark.parametrize("principal", STRANGERS)
@pytest.mark.parametrize("selection", ["name", "lockers { nextCursor }", "name lockers { nextCursor }"])
async def test_another_owner_is_refused_unread(shared: Api, wire: Wire, principal: Principal, selection: str) -> None:
    for name in ("ada", "nobody"):
        answer = await shared.by(principal).send(f'{{ owner(ownerId: "{name}") {{ {selection} }} }}')
        assert answer["data"] == {"owner": None}
        assert described(answer) == [(["owner"], REFUSAL, "FORBIDDEN", 403)]
    assert wire.calls == []


@pytest.mark.parametrize("selection", ["alias", "lockerId", NESTED, f"lockerId alias {NESTED}", "owner { name }"])
@pytest.mark.parametrize("principal", STRANGERS)
async def test_a_foreign_locker_looks_missing(shared: Api, wire: Wire, principal: Principal, selection: str) -> None:
    seen = []
    for locker_id in ("l1", "l9"):
        wire.reset()
        answer = await shared.by(principal).send(f'{{ locker(lockerId: "{locker_id}") {{ {selection} }} }}')
        seen.append((answer["data"], described(answer), wire.operations))
    assert seen[0] == seen[1]
    assert seen[0][:2] == ({"locker": None}, [(["locker"], REFUSAL, "FORBIDDEN", 403)])


async def test_the_foreign_and_the_missing_look_the_same_through_every_other_look_up(shared: Api, wire: Wire) -> None:
    pairs = [
        ('{ ownerByEmail(email: "%s@example.com") { name } }', "ada", "nobody"),
        ('{ reservation(lockerId: "l1", reservationId: "%s") { endAt } }', "r1", "r9"),
        ('{ booking(bookingId: "%s") { date } }', "b1", "b9"),
        ('{ node(id: "%s") { id } }', to_global_id("Locker", "l1"), to_global_id("Locker", "l9")),
        ('{ node(id: "%s") { id } }', to_global_id("Owner", "ada"), to_global_id("Owner", "nobody")),
    ]
    for query, *names in pairs:
        foreign, missing = [await shared.by(owner("bob")).send(query % name) for name in names]
        assert foreign["data"] == missing["data"] == dict.fromkeys(foreign["data"])
        assert described(foreign) == described(missing)
        assert described(foreign)[0][1:] == (REFUSAL, "FORBIDDEN", 403)
    wire.reset()
    await shared.by(owner("bob")).send('{ ownerByEmail(email: "ada@example.com") { name } }')
    assert [call.keys for call in wire.calls] == [[("EMAIL#ada@example.com", "META")]]


async def test_an_entry_of_nodes_is_refused_alone(shared: Api) -> None:
    ids = [to_global_id("Locker", locker_id) for locker_id in ("l2", "l1", "l9")]
    query = "query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Locker { lockerId } } }"
    answer = await shared.by(owner("bob")).send(query, ids=[*ids, "nonsense"])
    assert answer["data"] == {"nodes": [{"lockerId": "l2"}, None, None, None]}
    assert [path for path, *_ in described(answer)] == [["nodes", 1], ["nodes", 2]]


async def test_a_forbidden_edge_is_null_at_its_own_path(shared: Api, wire: Wire) -> None:
    await shared.reservation("r2", "l1", "bob", "2026-04-01T00:00:00Z", "2026-04-02T00:00:00Z")
    wire.reset()
    answer = await shared.by(owner("ada")).send("""{ locker(lockerId: "l1") {
      alias reservations { nodes { reservationId ownerId owner { name } } }
    } }""")
    assert answer["data"]["locker"] == {
        "alias": "A1",
        "reservations": {
            "nodes": [
                {"reservationId": "r1", "ownerId": "ada", "owner": {"name": "ada"}},
                {"reservationId": "r2", "ownerId": "bob", "owner": None},
            ]
        },
    }
    path = ["locker", "reservations", "nodes", 1, "owner"]
    assert described(answer) == [(path, REFUSAL, "FORBIDDEN", 403)]
    assert [call.keys for call in wire.of("GetItem")] == [[("LOCKER#l1", "META")], [("OWNER#ada", "META")]]


RESERVERS = [owner("bob"), partner(*Scope, of="bob")]
PUBLIC = "id lockerId alias locationId location { name }"
PRIVATE = f"status version ownerId createdAt updatedAt owner {{ name }} {NESTED}"


@pytest.mark.parametrize("principal", RESERVERS)
@pytest.mark.parametrize(
    "now", ["2026-03-01T12:00:00.000Z", "2027-01-01T00:00:00.000Z"], ids=["before", "after its end"]
)
async def test_who_made_a_reservation_reads_only_the_public_fields_of_its_locker(
    shared: Api, wire: Wire, clock: Clock, principal: Principal, now: str
) -> None:
    place = await places.create_location(shared)
    await shared.mutate(places.MOVE, lockerId="l1", newLocationId=place, expectedVersion=1)
    await shared.reservation("r2", "l1", "bob", "2026-04-01T00:00:00Z", "2026-04-02T00:00:00Z")
    clock.now = Instant(now)
    query = '{ owner(ownerId: "bob") { reservations { nodes { locker { %s } } } } }'
    sent = []
    for private in ("", PRIVATE):
        wire.reset()
        answer = await shared.by(principal).send(query % f"{PUBLIC} {private}")
        sent.append(wire.operations)
        (node,) = answer["data"]["owner"]["reservations"]["nodes"]
        hidden = [name for name in node["locker"] if node["locker"][name] is None]
        path = ["owner", "reservations", "nodes", 0, "locker"]
        assert described(answer) == [([*path, name], REFUSAL, "FORBIDDEN", 403) for name in hidden]
        assert {name: value for name, value in node["locker"].items() if value} == {
            "id": to_global_id("Locker", "l1"),
            "lockerId": "l1",
            "alias": "A1",
            "locationId": place,
            "location": {"name": "Room of place-0"},
        }
    assert len(hidden) == 10
    assert sent == [{"Query": 1, "GetItem": 2}] * 2
    by_itself = await shared.by(principal).send('{ locker(lockerId: "l1") { alias } }')
    assert by_itself["data"] == {"locker": None}


RESERVED = f"reservation {{ locker {{ {PUBLIC} }} }}"
BY_ID = f'{{ reservation(lockerId: "l1", reservationId: "r2") {{ locker {{ {PUBLIC} }} }} }}'


@pytest.mark.parametrize(
    ("principal", "document"),
    [
        (partner(Scope.RESERVATIONS_READ, of="bob"), BY_ID),
        (partner(Scope.RESERVATIONS_READ, of="ada"), BY_ID),
        (partner(Scope.RESERVATIONS_WRITE, of="bob"), mutation("createReservation", RESERVED)),
    ],
    ids=["of who reserved", "of the owner of the locker", "that just reserved"],
)
async def test_a_partner_with_scopes_for_reservations_alone_reads_where_the_reserved_locker_is(
    shared: Api, principal: Principal, document: str
) -> None:
    await shared.mutate(CONFIGURE, lockerId="l1", reservableBy="EVERYONE", expectedVersion=1)
    values = {"startAt": "2026-04-01T00:00:00Z", "endAt": "2026-04-02T00:00:00Z"}
    await shared.reservation("r2", "l1", "bob", *values.values())
    api = shared.by(principal)
    answer = await api.run(document, input={"lockerId": "l1", "reservationId": "r2", "ownerId": "bob", **values})
    public = {"id": to_global_id("Locker", "l1"), "lockerId": "l1", "alias": "A1", "locationId": None, "location": None}
    assert (answer.get("createReservation") or answer)["reservation"]["locker"] == public
    if Scope.RESERVATIONS_WRITE in principal.scopes:
        assert await api.run(f'{{ locker(lockerId: "l1") {{ {PUBLIC} }} }}') == {"locker": public}


async def test_a_partner_that_may_only_write_gets_the_public_fields_of_what_it_changed(shared: Api) -> None:
    renamed = mutation("renameLocker", "locker { lockerId alias version }")
    change = {"lockerId": "l1", "alias": "B2", "expectedVersion": 1}
    answer = await shared.by(partner(Scope.LOCKERS_WRITE, of="ada")).send(renamed, input=change)
    assert answer["data"]["renameLocker"]["locker"] == {"lockerId": "l1", "alias": "B2", "version": None}
    message = "This requires the scope lockers:read."
    assert described(answer) == [(["renameLocker", "locker", "version"], message, "FORBIDDEN", 403)]


async def test_a_member_sees_lockers_of_its_organization_and_nothing_below_them(shared: Api, wire: Wire) -> None:
    mia = shared.by(owner("bob", "org"))
    listed = await mia.run('{ owner(ownerId: "org") { lockers { nodes { lockerId version } } } }')
    assert listed["owner"]["lockers"]["nodes"] == [{"lockerId": "l3", "version": 1}]
    wire.reset()
    answer = await mia.send(f'{{ owner(ownerId: "org") {{ lockers {{ nodes {{ lockerId version {NESTED} }} }} }} }}')
    names = ["accessEvents", "activeReservation", "latestEvent", "reservations"]
    assert answer["data"]["owner"]["lockers"]["nodes"] == [{"lockerId": "l3", "version": 1, **dict.fromkeys(names)}]
    assert sorted(path for path, *_ in described(answer)) == [["owner", "lockers", "nodes", 0, name] for name in names]
    assert wire.operations == {"Query": 1, "GetItem": 1}  # the list and the lockers of it: nothing below was read


@pytest.mark.parametrize("principal", OF_LOCKERS_ALONE)
@pytest.mark.parametrize(
    ("selection", "shown", "refused"),
    [
        ("ownerId", None, [["owner"]]),
        ("email", {"email": None}, [["owner", "email"]]),
        ("name kind", {"name": None, "kind": None}, [["owner", "name"], ["owner", "kind"]]),
        ("version lockers { nextCursor }", {"version": None, "lockers": {"nextCursor": None}}, [["owner", "version"]]),
    ],
)
async def test_a_hidden_profile_is_not_read_hides_no_list_and_looks_like_a_missing_one(
    shared: Api, wire: Wire, principal: Principal, selection: str, shown: Any, refused: list[list[str]]
) -> None:
    for name in ("org", "gone"):
        answer = await shared.by(principal).send(f'{{ owner(ownerId: "{name}") {{ {selection} }} }}')
        assert answer["data"] == {"owner": shown}
        assert [path for path, *_ in described(answer)] == refused
    assert not wire.of("GetItem")


@pytest.mark.parametrize(
    ("principal", "query", "path", "missing"),
    [
        (partner(), '{ locker(lockerId: "l1") { alias } }', ["locker"], {"requiredScope": "lockers:read"}),
        (partner(), '{ owner(ownerId: "ada") { ownerId } }', ["owner"], {"requiredScope": "owners:read"}),
        (partner(), '{ owner(ownerId: "ada") { name id } }', ["owner", "name"], {"requiredScope": "owners:read"}),
        (
            partner(),
            '{ owner(ownerId: "ada") { lockers { nextCursor } } }',
            ["owner", "lockers"],
            {"requiredScope": "lockers:read"},
        ),
        (
            partner(),
            f'{{ node(id: "{to_global_id("Booking", "b1")}") {{ id }} }}',
            ["node"],
            {"requiredScope": "bookings:read"},
        ),
        (owner("ada"), "{ apiKeys { nextCursor } }", ["apiKeys"], {"requiredRoles": ["ADMIN"]}),
        (
            device("l1"),
            '{ locker(lockerId: "l1") { reservations { nextCursor } } }',
            ["locker", "reservations"],
            {"requiredRoles": ["OWNER", "PARTNER", "ADMIN", "SUPPORT"]},
        ),
        (device("l1"), '{ locker(lockerId: "l2") { alias } }', ["locker"], {}),
        (partner(Scope.LOCKERS_READ), '{ locker(lockerId: "l2") { alias } }', ["locker"], {}),
        (owner("ada"), '{ owner(ownerId: "bob") { name } }', ["owner"], {}),
    ],
)
async def test_a_refusal_names_what_the_caller_lacks_where_that_says_nothing_about_data(
    shared: Api, principal: Principal, query: str, path: list[str], missing: dict[str, Any]
) -> None:
    answer = await shared.by(principal).send(query)
    (error,) = answer["errors"]
    extensions = {name: value for name, value in error["extensions"].items() if name != "requestId"}
    assert (error["path"], extensions) == (path, {"code": "FORBIDDEN", "status": 403, **missing})
    assert (error["message"] == REFUSAL) is not bool(missing)


async def test_the_calendar_shows_only_that_a_half_day_is_booked(api: Api, clock: Clock) -> None:
    await places.prepare(api)
    await places.book(api, "secret-club", duration="MORNING", description="Secret club")
    await places.approve(api, "secret-club")
    event = {"locationId": places.ulid(0), "date": places.DAY, "duration": "AFTERNOON"}
    await api.mutate(places.CREATE_EVENT, **event, eventId="works", title="Works")
    query = f"""{{ location(locationId: "{places.ulid(0)}") {{
      calendar(window: {{from: "{places.DAY}", to: "{places.DAY}"}}) {{
        morning {{ title eventId bookingId createdAt }} afternoon {{ title eventId bookingId createdAt }}
      }}
    }} }}"""
    booked = {"title": "Booked", "eventId": f"booked-{places.DAY}-MORNING", "bookingId": None, "createdAt": None}
    whole = {"title": "Secret club", **dict.fromkeys(("eventId", "bookingId"), "secret-club"), "createdAt": clock.now}
    works = {"title": "Works", "eventId": "works", "bookingId": None, "createdAt": clock.now}
    for asker, morning in ((api, whole), (api.by(owner("bob")), booked), (api.by(partner()), booked)):
        (day,) = (await asker.run(query))["location"]["calendar"]
        assert day == {"morning": morning, "afternoon": works}


async def test_a_booking_that_is_hidden_in_the_calendar_is_not_explained_either(api: Api) -> None:
    await places.prepare(api)
    await places.book(api, "b1", duration="MORNING")
    await places.approve(api, "b1")
    query = f"""{{ location(locationId: "{places.ulid(0)}") {{
      calendar(window: {{from: "{places.DAY}", to: "{places.DAY}"}}) {{ morning {{ booking {{ bookingId }} }} }}
    }} }}"""
    for asker, booking in (("ada", {"bookingId": "b1"}), ("bob", None)):
        headers = {**api.by(owner(asker)).headers, "SmartLocker-Explain": "1"}
        answer = (await api.client.post("/graphql", json={"query": query}, headers=headers)).json()
        assert answer["data"] == {"location": {"calendar": [{"morning": {"booking": booking}}]}}
        assert "errors" not in answer
        assert ("extensions" in answer) is (booking is not None)


async def test_reads_of_forbidden_entities_are_not_shown_in_the_cost(shared: Api) -> None:
    asked = {"SmartLocker-Cost": "1", "SmartLocker-Explain": "1"}

    async def reported(asker: Api, document: str) -> Any:
        response = await asker.client.post("/graphql", json={"query": document}, headers={**asker.headers, **asked})
        extensions = response.json()["extensions"]
        return extensions["cost"]["actual"], extensions.get("explain")

    documents = [
        '{ locker(lockerId: "l1") { reservations { nodes { endAt } } accessEvents { nodes { action } } } }',
        '{ locker(lockerId: "l1") { lockerId accessEvents(after: "nonsense") { nextCursor } } }',
        '{ ownerByEmail(email: "ada@example.com") { name } }',
        'mutation { cancelReservation(input: {lockerId: "l1", reservationId: "r1"}) { reservation { endAt } } }',
    ]
    for query in documents:
        assert await reported(shared.by(owner("bob")), query) == (None, None), query
    for asker in (shared, shared.by(owner("ada"))):
        cost, explained = await reported(asker, documents[0])
        assert cost["items"] == explained["totals"]["measured"]["items"] == 3
        shown = {operation["partition"] for operation in explained["operations"]}
        assert shown == {"LOCKER#l1"}
