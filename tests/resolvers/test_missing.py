import logging
from typing import Any

import pytest
import pytest_asyncio

from domain.authorization import DEVELOPMENT_ADMIN, Principal
from loaders.table.values import item_to_wire
from resolvers.bindings.nodes import to_global_id
from tests.api import Api
from tests.places import ulid
from tests.principals import owner
from tests.wire import Answer, Call, Wire

NESTED = [
    "activeReservation { endAt }",
    "latestEvent { action }",
    "reservations { nodes { endAt } }",
    "accessEvents { nodes { action } }",
]


@pytest_asyncio.fixture
async def three(api: Api, wire: Wire) -> Api:
    """An owner with three lockers."""
    await api.owner("acme")
    for locker_id in ("l1", "l2", "l3"):
        await api.locker(locker_id, "acme", alias=f"Alias of {locker_id}")
    wire.reset()
    return api


async def remove(client: Any, table: str, pk: str, sk: str) -> None:
    await client.delete_item(TableName=table, Key={"PK": {"S": pk}, "SK": {"S": sk}})


LOCKER_SELECTIONS = [
    "lockerId",
    "lockerId alias status version createdAt updatedAt owner { name }",
    "id __typename",
    *NESTED,
    *(f"lockerId {nested}" for nested in NESTED),
    *(f"alias version {nested}" for nested in NESTED),
    " ".join(NESTED),
    f"version owner {{ name }} {' '.join(NESTED)} status",
]
OWNER_SELECTIONS = [
    "ownerId",
    "id __typename",
    "name email version",
    "name lockers { nodes { lockerId } }",
    "lockers { nodes { lockerId } } reservations { nodes { endAt } } email name version kind",
]


NOTHING = {
    'ownerByEmail(email: "nobody@example.com") { name }': "No owner has this email address.",
    'reservation(lockerId: "l1", reservationId: "nope") { endAt }': "Locker l1 has no reservation nope.",
    f'location(locationId: "{ulid(9)}") {{ name }}': f"Location {ulid(9)} does not exist.",
    'locationByCode(code: "nowhere") { name }': "Location with code nowhere does not exist.",
    'booking(bookingId: "nope") { date }': "Booking nope does not exist.",
    'apiKey(keyId: "nope") { name }': "API key nope does not exist.",
    **{f'owner(ownerId: "nobody") {{ {fields} }}': "Owner nobody does not exist." for fields in OWNER_SELECTIONS},
    **{
        f'locker(lockerId: "nope"{strongly}) {{ {fields} }}': "Locker nope does not exist."
        for strongly in ("", ", consistent: true")
        for fields in LOCKER_SELECTIONS
    },
}


async def test_a_look_up_that_finds_nothing_is_null_and_one_not_found(three: Api) -> None:
    for query, message in NOTHING.items():
        answer = await three.send(f"{{ {query} }}")
        (name,) = answer["data"]
        (error,) = answer["errors"]
        assert (answer["data"], error["path"], error["message"]) == ({name: None}, [name], message)
        assert (error["extensions"]["code"], error["extensions"]["status"]) == ("NOT_FOUND", 404)


@pytest.mark.parametrize("principal", [DEVELOPMENT_ADMIN, owner("nobody")])
@pytest.mark.parametrize("known", ["", "ownerId", "id __typename"])
async def test_an_owner_that_nothing_proves_is_read(three: Api, wire: Wire, known: str, principal: Principal) -> None:
    query = '{ owner(ownerId: "nobody") { %s lockers { nodes { lockerId version } } bookings { nextCursor } } }'
    answer = await three.by(principal).send(query % known)
    assert answer["data"] == {"owner": None}
    assert [(error["path"], error["extensions"]["code"]) for error in answer["errors"]] == [(["owner"], "NOT_FOUND")]
    assert wire.operations == {"Query": 2, "GetItem": 1}


async def test_any_item_of_a_list_proves_that_an_owner_exists(three: Api, wire: Wire) -> None:
    query = '{ owner(ownerId: "%s") { lockers { nodes { lockerId } } bookings { nextCursor } } }'
    assert len((await three.run(query % "acme"))["owner"]["lockers"]["nodes"]) == 3
    assert wire.operations == {"Query": 2}
    await three.owner("new")
    wire.reset()
    assert (await three.run(query % "new"))["owner"] == {"lockers": {"nodes": []}, "bookings": {"nextCursor": None}}
    assert wire.operations == {"Query": 2, "GetItem": 1}


async def test_an_owner_whose_existence_cannot_be_read_is_not_shown(three: Api, wire: Wire) -> None:
    wire.fault = lambda call: (
        Answer.error("ProvisionedThroughputExceededException") if call.operation == "GetItem" else None
    )
    answer = await three.send('{ owner(ownerId: "nobody") { ownerId lockers { nextCursor } } }')
    assert answer["data"] == {"owner": None}
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["UNAVAILABLE"]


async def test_a_copy_whose_locker_is_missing_is_left_out_of_the_page_and_reported(
    three: Api, plain_client: Any, table: str, caplog: pytest.LogCaptureFixture
) -> None:
    await remove(plain_client, table, "LOCKER#l2", "META")
    with caplog.at_level(logging.ERROR):
        data = await three.run("""{ owner(ownerId: "acme") { lockers(first: 3) {
          nodes { lockerId version } edges { node { lockerId } } nextCursor pageInfo { hasNextPage }
        } } }""")
    assert data["owner"]["lockers"] == {
        "nodes": [{"lockerId": "l1", "version": 1}, {"lockerId": "l3", "version": 1}],
        "edges": [{"node": {"lockerId": "l1"}}, {"node": {"lockerId": "l3"}}],
        "nextCursor": None,
        "pageInfo": {"hasNextPage": False},
    }
    assert [record.getMessage() for record in caplog.records] == [
        "a copy names LOCKER / META (8414e0f1ebfb), which does not exist"
    ]


async def test_a_copy_whose_locker_is_missing_does_not_end_a_list(three: Api, plain_client: Any, table: str) -> None:
    await remove(plain_client, table, "LOCKER#l2", "META")
    query = """query ($after: String) { owner(ownerId: "acme") { lockers(first: 1, after: $after) {
      nodes { lockerId version } nextCursor
    } } }"""
    met, cursor = [], None
    for _ in range(3):
        page = (await three.run(query, after=cursor))["owner"]["lockers"]
        met.append([node["lockerId"] for node in page["nodes"]])
        cursor = page["nextCursor"]
    assert (met, cursor) == ([["l1"], [], ["l3"]], None)


async def test_a_missing_owner_or_locker_is_null_at_its_reference(three: Api, plain_client: Any, table: str) -> None:
    await three.reservation("r1", "l1", "acme", "2026-03-01T11:00:00Z", "2026-03-01T13:00:00Z")
    await three.event("l1", eventId="e1")
    await remove(plain_client, table, "OWNER#acme", "META")
    data = await three.run('{ locker(lockerId: "l1") { ownerId owner { name } activeReservation { owner { name } } } }')
    assert data["locker"] == {"ownerId": "acme", "owner": None, "activeReservation": {"owner": None}}
    await remove(plain_client, table, "LOCKER#l1", "META")
    data = await three.run('{ owner(ownerId: "acme") { reservations { nodes { endAt locker { version } } } } }')
    nodes = data["owner"]["reservations"]["nodes"]
    assert nodes == [{"endAt": "2026-03-01T13:00:00.000Z", "locker": None}]


async def test_a_reservation_that_a_plain_read_does_not_find_is_read_strongly(three: Api, wire: Wire) -> None:
    await three.reservation("r1", "l1", "acme", "2026-03-01T11:00:00Z", "2026-03-01T13:00:00Z")
    wire.reset()
    key = ("LOCKER#l1", "RES#2026-03-01T11:00:00.000Z#r1")

    def not_yet(call: Call) -> None:
        if call.keys == [key] and not call.request["ConsistentRead"]:
            del call.response["Item"]

    wire.amend = not_yet
    data = await three.run('{ reservation(lockerId: "l1", reservationId: "r1") { reservationId } }')
    assert data == {"reservation": {"reservationId": "r1"}}
    assert [(call.keys, call.request["ConsistentRead"]) for call in wire.calls] == [
        ([("LOCKER#l1", "RID#r1")], False),
        ([key], False),
        ([key], True),
    ]


async def test_a_damaged_item_is_an_error_and_never_half_shown(three: Api, plain_client: Any, table: str) -> None:
    item = {"PK": "LOCKER#l1", "SK": "META", "entityType": "LOCKER", "lockerId": "l1"}
    await plain_client.put_item(TableName=table, Item=item_to_wire(item))
    for consistent in ("false", "true"):
        answer = await three.send(f'{{ locker(lockerId: "l1", consistent: {consistent}) {{ lockerId }} }}')
        assert answer["data"] == {"locker": None}
        (error,) = answer["errors"]
        assert (error["path"], error["extensions"]["code"]) == (["locker"], "INTERNAL_SERVER_ERROR")


async def test_a_failed_strong_read_fails_its_list_alone(three: Api, plain_client: Any, table: str, wire: Wire) -> None:
    await three.owner("other")
    await three.locker("l4", "other")
    await remove(plain_client, table, "LOCKER#l4", "META")
    wire.fault = lambda call: Answer.error("InternalServerError") if call.request.get("ConsistentRead") else None
    document = "query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Owner { lockers { nodes { version } } } } }"
    answer = await three.send(document, ids=[to_global_id("Owner", owner_id) for owner_id in ("acme", "other")])
    assert answer["data"]["nodes"] == [{"lockers": {"nodes": [{"version": 1}] * 3}}, {"lockers": None}]
    assert [error["path"] for error in answer["errors"]] == [["nodes", 1, "lockers"]]
