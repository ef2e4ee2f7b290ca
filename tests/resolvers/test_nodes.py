import base64
from typing import Any

import pytest
import pytest_asyncio

from tests.api import Api
from tests.conftest import Clock, Prepared
from tests.places import book, create_location
from tests.wire import Meeting, Wire

IDS = """{
  locker(lockerId: "l1") { id activeReservation { id } latestEvent { id } }
  owner(ownerId: "ada") { id name }
  locationByCode(code: "place-0") { id }
  booking(bookingId: "b1") { id }
}"""
NODE = """query ($id: ID!) { node(id: $id) {
  __typename id
  ... on Locker { lockerId version owner { name } }
  ... on Owner { ownerId name }
  ... on Reservation { reservationId status locker { lockerId } }
  ... on AccessEvent { eventId action locker { lockerId } }
  ... on Location { code }
  ... on Booking { bookingId }
} }"""
NODES = "query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }"


async def stock(api: Api) -> dict[str, str]:
    """The global ids of one thing of each kind."""
    await api.owner("ada")
    await api.locker("l1", "ada")
    await api.reservation("r1", "l1", "ada", "2026-03-01T11:00:00Z", "2026-03-01T13:00:00Z")
    await api.event("l1", eventId="e1")
    await create_location(api)
    await book(api, "b1")
    data = await api.run(IDS)
    return {
        "Locker": data["locker"]["id"],
        "Owner": data["owner"]["id"],
        "Reservation": data["locker"]["activeReservation"]["id"],
        "AccessEvent": data["locker"]["latestEvent"]["id"],
        "Location": data["locationByCode"]["id"],
        "Booking": data["booking"]["id"],
    }


@pytest_asyncio.fixture
async def ids(api: Api, wire: Wire, prepared: Prepared) -> dict[str, str]:
    found: dict[str, str] = await prepared(stock, api)
    wire.reset()
    return found


def global_id(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("Locker", {"lockerId": "l1", "version": 1, "owner": {"name": "ada"}}),
        ("Owner", {"ownerId": "ada", "name": "ada"}),
        ("Reservation", {"reservationId": "r1", "status": "ACTIVE", "locker": {"lockerId": "l1"}}),
        ("AccessEvent", {"eventId": "e1", "action": "OPEN", "locker": {"lockerId": "l1"}}),
        ("Location", {"code": "place-0"}),
        ("Booking", {"bookingId": "b1"}),
    ],
)
async def test_every_kind_is_found_by_its_id(api: Api, ids: dict[str, str], kind: str, shown: dict[str, Any]) -> None:
    assert await api.run(NODE, id=ids[kind]) == {"node": {"__typename": kind, "id": ids[kind], **shown}}


async def test_nodes_keep_their_order_with_null_where_there_is_nothing(api: Api, ids: dict[str, str]) -> None:
    unknown = global_id("Locker/nope")
    asked = [ids["AccessEvent"], unknown, ids["Owner"], "garbage", ids["Locker"], ids["Owner"], ids["Reservation"]]
    kinds = ["AccessEvent", None, "Owner", None, "Locker", "Owner", "Reservation"]
    data = await api.run(NODES, ids=asked)
    assert data["nodes"] == [
        kind and {"__typename": kind, "id": asked_id} for kind, asked_id in zip(kinds, asked, strict=True)
    ]


async def test_nodes_of_different_kinds_are_read_at_the_same_time(api: Api, ids: dict[str, str], wire: Wire) -> None:
    await api.owner("bob")
    await api.reservation("r2", "l1", "bob", "2026-03-02T11:00:00Z", "2026-03-02T13:00:00Z")
    nodes = (await api.run('{ locker(lockerId: "l1") { nextReservation { id } } }'))["locker"]
    wire.reset()
    wire.fault = Meeting(2, "GetItem")
    document = """query ($ids: [ID!]!) { nodes(ids: $ids) {
      ... on Locker { owner { name } } ... on Reservation { owner { name } } } }"""
    data = await api.run(document, ids=[ids["Locker"], nodes["nextReservation"]["id"]])
    assert data["nodes"] == [{"owner": {"name": "ada"}}, {"owner": {"name": "bob"}}]
    assert wire.operations == {"GetItem": 2, "BatchGetItem": 1}
    assert wire.calls[2].keys == [("OWNER#ada", "META"), ("OWNER#bob", "META")]


async def test_a_hundred_nodes_are_taken_and_no_node_is_too_few(api: Api) -> None:
    data = await api.run(NODES, ids=[global_id(f"Owner/o{number}") for number in range(100)])
    assert data["nodes"] == [None] * 100
    assert await api.run(NODES, ids=[]) == {"nodes": []}


async def test_more_than_a_hundred_nodes_are_refused_before_a_read_beside_other_fields(api: Api, wire: Wire) -> None:
    beside = NODES.replace("{ nodes", "{ locations(status: ACTIVE) { nextCursor } nodes")
    answer = await api.send(beside, ids=[global_id("Owner/ada")] * 101)
    (error,) = answer["errors"]
    assert answer["data"] == {"locations": {"nextCursor": None}, "nodes": None}
    assert (error["message"], error["path"]) == ("ids must have 100 entries at most, not 101.", ["nodes"])
    assert error["extensions"] | {"requestId": ""} == {
        "code": "BAD_USER_INPUT",
        "status": 400,
        "inputPath": ["ids"],
        "requestId": "",
    }
    assert wire.operations == {"Query": 1}  # of the other field


NO_KEYS = [
    "Locker",
    "Locker/",
    "Locker/l1/more",
    "Locker/l#1",
    "locker/l1",
    "Mutation/l1",
    "Reservation/l1/r1",
    "Reservation/l1/ACTIVE/r1",
    "Reservation/l1/2026-03-01T11:00:00Z/r1",
    "Reservation/l1/2026-03-01T11:00:00.000+00:00/r1",
    "AccessEvent/l1/2026-13-01T11:00:00.000Z/e1",
]
NO_IDS = ["", " ", "garbage", "!!!!", "Zm9v", "ÄÖÜ", "x" * 10_000, base64.urlsafe_b64encode(b"\xff\xfe").decode()]
NO_IDS += map(global_id, [*NO_KEYS, "Locker/l 1", "Locker/l1\n", "Locker/" + "l" * 65])
NO_IDS += [global_id("Owner/ada") + "=", global_id("Locker/l1") + "\n"]
MISSING = [
    "Locker/nope",
    "Owner/l1",
    "Reservation/l1/2026-03-01T11:00:00.000Z/nope",
    "Reservation/l1/2026-03-01T11:00:00.001Z/r1",
    "AccessEvent/l1/2026-03-01T12:00:00.000Z/nope",
]


@pytest.mark.usefixtures("ids")
async def test_a_text_that_is_not_a_global_id_is_null_without_a_read(api: Api, wire: Wire) -> None:
    for asked in NO_IDS:
        assert await api.send(NODE, id=asked) == {"data": {"node": None}}, asked
        assert await api.send(NODES, ids=[asked]) == {"data": {"nodes": [None]}}, asked
    assert not wire.calls


@pytest.mark.usefixtures("ids")
async def test_a_global_id_of_a_missing_entity_is_null_without_an_error(api: Api) -> None:
    for asked in MISSING:
        assert await api.send(NODE, id=global_id(asked)) == {"data": {"node": None}}, asked


async def test_a_reservation_keeps_its_global_id_when_it_changes(api: Api, ids: dict[str, str], clock: Clock) -> None:
    await api.run("""mutation {
      extendReservation(input: { lockerId: "l1", reservationId: "r1", newEndAt: "2026-03-01T14:00:00Z" }) {
        userErrors { code }
      }
    }""")
    clock.move(hours=2)
    node = (await api.run(NODE, id=ids["Reservation"]))["node"]
    assert (node["reservationId"], node["status"]) == ("r1", "EXPIRED")
