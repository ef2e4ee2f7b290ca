import asyncio
from typing import Any

import pytest
import pytest_asyncio

from domain.authorization import Principal, Scope
from domain.models import LocationId, LockerId, LockerSize, OwnerId
from loaders import keys
from loaders.cursors import encode_cursor
from loaders.table.values import item_to_wire
from resolvers.bindings.nodes import to_global_id
from tests.api import Api, mutation, unchanged
from tests.conftest import NOW, Dump, Prepared
from tests.invariants import check_invariants
from tests.places import MOVE, create_location, ulid
from tests.principals import admin, owner, partner
from tests.resolvers.offers import DAY, FREE, LIST, free, stock
from tests.tables import PlainClient
from tests.wire import Hold, Wire

CONFIGURE = mutation("configureLocker", "locker { lockerId reservableBy size features version }")
STATUS = mutation("updateLockerStatus", "locker { status version }")
TRANSFER = mutation("transferLocker", "locker { ownerId }")
RENAME = mutation("renameLocker", "locker { alias }")
RESERVE = mutation("createReservation", "reservation { reservationId lockerId }")
PUBLIC = "id lockerId alias size features locationId location { code }"
PRIVATE = ["status", "reservableBy", "updatedAt", "version", "createdAt", "ownerId"]
RESERVES = partner(Scope.RESERVATIONS_WRITE, of=("acme", "bob"))
OFFERED: dict[str, tuple[Principal, set[str]]] = {
    "the owner": (owner("acme"), {"mine", "ours", "all", "bob-all"}),
    "a member": (owner("mia", "acme"), {"ours", "all", "bob-all"}),
    "another owner": (owner("bob"), {"bob-ours", "all", "bob-all"}),
    "an owner outside": (owner("eve"), {"all", "bob-all"}),
    "a partner of both": (RESERVES, {"mine", "ours", "all", "bob-ours", "bob-all"}),
    "a partner of one": (partner(Scope.RESERVATIONS_WRITE, of="bob"), {"all", "bob-ours", "bob-all"}),
    "an admin who is an owner": (admin("acme"), {"mine", "ours", "all", "bob-all"}),
}


@pytest_asyncio.fixture
async def place(api: Api, prepared: Prepared) -> Api:
    await prepared(stock, api)
    return api


async def listed(api: Api, **arguments: Any) -> list[str]:
    page = (await api.run(LIST, **{"first": 100, **arguments}))["location"]["lockers"]
    return [node["lockerId"] for node in page["nodes"]]


async def offers(dump: Dump) -> set[str]:
    return {sk for _, sk in await dump() if sk.startswith("OFFER#")}


@pytest.mark.parametrize("who", OFFERED)
async def test_a_caller_finds_and_may_reserve_exactly_what_is_offered_to_it(place: Api, who: str) -> None:
    principal, expected = OFFERED[who]
    api = place.by(principal)
    assert set(await free(api)) == expected
    if principal.role != "admin":
        assert set(await listed(api)) == expected
    reserves = principal.owner_id or min(principal.partner_of)
    for locker in ("mine", "ours", "all", "bob-ours", "bob-all"):
        payload = await api.mutate(
            RESERVE, lockerId=locker, ownerId=reserves, startAt="2026-04-01T10:00:00Z", endAt="2026-04-01T11:00:00Z"
        )
        may = locker in expected or principal.role == "admin"
        assert [error["code"] for error in payload["userErrors"]] == ([] if may else ["FORBIDDEN"]), locker


async def test_an_owner_outside_the_audience_learns_nothing_about_a_lockers_existence(place: Api, dump: Dump) -> None:
    eve = place.by(owner("eve"))
    window = 'from: "2026-03-02T00:00:00Z", to: "2026-03-03T00:00:00Z"'
    reservation = 'ownerId: "eve", startAt: "2026-03-02T00:00:00Z", endAt: "2026-03-03T00:00:00Z"'
    documents = [
        f'{{ locker(lockerId: "@id") {{ alias busy(window: {{{window}}}) {{ startAt }} }} }}',
        f'{{ location(locationId: "{ulid(0)}") {{ lockers {{ nodes {{ alias }} nextCursor }} }} }}',
        f'mutation {{ createReservation(input: {{lockerId: "@id", {reservation}}}) {{ userErrors {{ code path }} }} }}',
    ]
    async with unchanged(dump):
        for document in documents:
            answers = [
                await eve.send(document.replace("@id", locker)) for locker in ("mine", "ours", "bob-ours", "nothing")
            ]
            for answer in answers:
                for error in answer.get("errors", []):
                    error["extensions"].pop("requestId")
            assert answers == answers[-1:] * len(answers)


async def test_what_is_offered_shows_its_public_fields_and_nothing_of_its_owner(place: Api) -> None:
    eve = place.by(owner("eve"))
    window = '{from: "2026-03-02T00:00:00Z", to: "2026-03-03T00:00:00Z"}'
    at_location = f'{{ location(locationId: "{ulid(0)}") {{ %s }} }}'
    for path, document in (
        (["locker"], '{ locker(lockerId: "all") { @shown } }'),
        (["location", "lockers", "nodes", 0], at_location % "lockers(first: 1) { nodes { @shown } }"),
        (
            ["location", "availableLockers", "lockers", 0],
            at_location % f"availableLockers(window: {window}, first: 1) {{ lockers {{ @shown }} }}",
        ),
    ):
        shown: Any = await eve.run(document.replace("@shown", PUBLIC))
        for part in path:
            shown = shown[part]
        assert shown["alias"] in {"all", "bob-all"}
        assert (shown["size"], shown["features"], shown["location"]) == ("M", [], {"code": "place-0"})
        answer = await eve.send(document.replace("@shown", " ".join(PRIVATE)))
        assert [error["path"] for error in answer["errors"]] == [[*path, name] for name in PRIVATE]
        assert {error["extensions"]["code"] for error in answer["errors"]} == {"FORBIDDEN"}


async def test_the_lists_of_all_audiences_are_one_list_in_pages_both_ways(place: Api, wire: Wire) -> None:
    for number in range(12):
        audience, whose = [("OWNER", "acme"), ("MEMBERS", "bob"), ("EVERYONE", "eve")][number % 3]
        size = ("S", "M", "L", "XL")[number % 4]
        await place.locker(f"l{number}", whose, locationId=ulid(0), reservableBy=audience, size=size)
    api = place.by(RESERVES)
    whole = await listed(api)
    assert len(whole) == 17
    for size_argument, cursor_argument in (("first", "after"), ("last", "before")):
        seen: list[str] = []
        cursor = None
        while True:
            wire.reset()
            page = (await api.run(LIST, **{size_argument: 3, cursor_argument: cursor}))["location"]["lockers"]
            queries = [call.request for call in wire.of("Query")]
            assert [query["Limit"] for query in queries] == [4, 4, 4]
            names = [node["lockerId"] for node in page["nodes"]]
            seen = names + seen if size_argument == "last" else seen + names
            cursor = page["nextCursor"]
            if cursor is None:
                break
        assert seen == whole


MANY = tuple(f"o{number:02d}" for number in range(10))


@pytest.mark.parametrize("principal", [partner(Scope.RESERVATIONS_WRITE, of=(*MANY, "acme")), owner("acme", *MANY)])
async def test_a_caller_of_more_than_ten_audiences_names_owners(place: Api, wire: Wire, principal: Principal) -> None:
    await place.owner(MANY[-1])
    await place.locker("last", MANY[-1], locationId=ulid(0), reservableBy="MEMBERS")
    api = place.by(principal)
    message = "Your credentials are for more than 9 owners: name up to 9 of them in ownerIds."
    for owners, expected in (
        (None, message),
        ([*MANY, "acme"], message),
        (["bob"], "Your credentials are not for owner bob."),
        ([], {"all", "bob-all"}),
        (["acme"], {"all", "bob-all", "mine", "ours"}),
        (MANY[1:], {"all", "bob-all", "last"}),
    ):
        for query, variables in ((LIST, {}), (FREE, {"window": DAY})):
            wire.reset()
            answer = await api.send(query, owners=owners, **variables)
            if isinstance(expected, str):
                (error,) = answer["errors"]
                assert (error["message"], error["extensions"]["code"]) == (expected, "BAD_USER_INPUT")
                assert error["extensions"]["inputPath"] == ["ownerIds"]
                assert not wire.of("Query")
            else:
                (found,) = answer["data"]["location"].values()
                lockers = found.get("nodes") or found["lockers"]
                assert {locker["lockerId"] for locker in lockers} == expected
                assert found.get("isComplete", True)


async def test_owners_that_do_not_decide_what_a_caller_sees_are_not_named(place: Api) -> None:
    for principal, code in ((admin("acme"), "BAD_USER_INPUT"), (partner(Scope.LOCKERS_READ, of="acme"), "FORBIDDEN")):
        (error,) = (await place.by(principal).send(LIST, owners=["acme"]))["errors"]
        assert error["extensions"]["code"] == code


async def test_a_cursor_of_an_audience_that_the_caller_does_not_belong_to_is_refused(place: Api) -> None:
    of_members = keys.offer(LocationId(ulid(0)), "MEMBERS", OwnerId("acme"), LockerSize.M, "0000", LockerId("ours"))
    for principal, codes in (
        (owner("mia", "acme"), []),
        (owner("acme"), ["INVALID_CURSOR"]),
        (owner("eve"), ["INVALID_CURSOR"]),
    ):
        answer = await place.by(principal).send(LIST, first=1, after=encode_cursor(of_members))
        assert [error["extensions"]["code"] for error in answer.get("errors", [])] == codes


async def test_only_admins_select_lockers_by_status_and_see_those_in_maintenance(place: Api) -> None:
    document = (
        '{ location(locationId: "01HX0000000000000000000000") { lockers(status: MAINTENANCE) { nodes { lockerId } } } }'
    )
    await place.mutate(STATUS, lockerId="all", newStatus="MAINTENANCE", expectedVersion=1)
    assert (await place.run(document))["location"]["lockers"]["nodes"] == [{"lockerId": "all"}]
    assert await listed(place) == ["all", "bob-all", "bob-ours", "mine", "ours"]
    assert await listed(place.by(owner("eve"))) == ["bob-all"]
    (error,) = (await place.by(owner("eve")).send(document))["errors"]
    assert error["extensions"]["code"] == "BAD_USER_INPUT"


async def test_offers_follow_every_change_of_their_locker(place: Api, dump: Dump) -> None:
    other = await create_location(place, 1)
    lot = keys.lot_of("all")

    async def check(version: int, *expected: str) -> int:
        check_invariants(await dump(), NOW)
        assert {sk for sk in await offers(dump) if sk.endswith("#all")} == {
            f"OFFER#{one}#{lot}#all" for one in expected
        }
        return version + 1

    async def change(document: str, version: int, **values: Any) -> None:
        payload = await place.mutate(document, lockerId="all", expectedVersion=version, **values)
        assert payload["userErrors"] == []

    version = await check(0, "EVERYONE#-#M")
    for document, values, expected in (
        (CONFIGURE, {"size": "XL"}, ("EVERYONE#-#XL",)),
        (CONFIGURE, {"reservableBy": "MEMBERS"}, ("MEMBERS#acme#XL", "OWNER#acme#XL")),
        (CONFIGURE, {"features": ["charging"]}, ("MEMBERS#acme#XL", "OWNER#acme#XL")),
        (RENAME, {"alias": "New"}, ("MEMBERS#acme#XL", "OWNER#acme#XL")),
        (STATUS, {"newStatus": "OCCUPIED"}, ("MEMBERS#acme#XL", "OWNER#acme#XL")),
        (TRANSFER, {"newOwnerId": "bob"}, ("MEMBERS#bob#XL", "OWNER#bob#XL")),
        (MOVE, {"newLocationId": other}, ("MEMBERS#bob#XL", "OWNER#bob#XL")),
        (CONFIGURE, {"reservableBy": "OWNER"}, ("OWNER#bob#XL",)),
        (STATUS, {"newStatus": "MAINTENANCE"}, ()),
        (CONFIGURE, {"reservableBy": "EVERYONE"}, ()),
        (STATUS, {"newStatus": "AVAILABLE"}, ("EVERYONE#-#XL",)),
        (MOVE, {"newLocationId": None}, ()),
    ):
        await change(document, version, **values)
        version = await check(version, *expected)


async def test_a_locker_is_configured_field_by_field(place: Api, dump: Dump) -> None:
    acme = place.by(owner("acme"))
    base = {"lockerId": "mine", "changeId": "c1", "expectedVersion": 1}
    wanted = base | {"features": ["warm", "big", "warm"], "size": "S"}
    payload = await acme.mutate(CONFIGURE, **wanted)
    first = {"lockerId": "mine", "reservableBy": "OWNER", "size": "S", "features": ["big", "warm"], "version": 2}
    assert payload["locker"] == first
    async with unchanged(dump):
        assert (await acme.mutate(CONFIGURE, **wanted))["locker"] == first
        for values, code in (
            ({}, "BAD_USER_INPUT"),
            ({"size": None}, "BAD_USER_INPUT"),
            ({"reservableBy": None}, "BAD_USER_INPUT"),
            ({"features": ["Warm"]}, "BAD_USER_INPUT"),
            ({"features": [f"f{number}" for number in range(9)]}, "BAD_USER_INPUT"),
            ({"size": "L"}, "VERSION_CONFLICT"),
        ):
            payload = await acme.mutate(CONFIGURE, **base | {"changeId": "c2"} | values)
            assert [error["code"] for error in payload["userErrors"]] == [code], values
    payload = await acme.mutate(CONFIGURE, **base | {"changeId": "c3", "expectedVersion": 2, "features": None})
    assert payload["locker"] == first | {"features": [], "version": 3}


async def test_a_reservation_that_meets_a_change_of_the_audience_is_refused(place: Api, wire: Wire) -> None:
    hold = Hold("TransactWriteItems")
    wire.fault = hold
    window = {"startAt": "2026-04-01T10:00:00Z", "endAt": "2026-04-01T11:00:00Z"}
    reserving = asyncio.ensure_future(place.by(owner("eve")).mutate(RESERVE, lockerId="all", ownerId="eve", **window))
    await hold.arrivals()
    wire.fault = lambda _: None
    await place.mutate(CONFIGURE, lockerId="all", reservableBy="MEMBERS", expectedVersion=1)
    hold.release()
    assert [error["code"] for error in (await reserving)["userErrors"]] == ["FORBIDDEN"]


async def test_the_lists_of_all_audiences_of_many_locations_are_sixteen_queries_at_a_time(api: Api, wire: Wire) -> None:
    for number in range(10):
        await create_location(api, number)
    wire.reset()
    wire.fault = hold = Hold("Query")
    document = "query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Location { lockers { nextCursor } } } }"
    ids = [to_global_id("Location", ulid(number)) for number in range(10)]
    answer = asyncio.ensure_future(api.by(owner("mia", "acme")).run(document, ids=ids))
    await hold.arrivals(16)
    hold.release()
    assert (await answer)["nodes"] == [{"lockers": {"nextCursor": None}}] * 10
    assert wire.operations["Query"] > 16
    assert wire.most_running == 16


async def test_a_locker_that_became_the_callers_own_since_its_offer_was_read_takes_no_more_than_the_price(
    api: Api, wire: Wire, plain_client: PlainClient, table: str
) -> None:
    place = await create_location(api)
    for locker_id, owner_id in (("l1", "ada"), ("l2", "bob")):
        await api.owner(owner_id)
        await api.locker(locker_id, owner_id, locationId=place)
        await api.done(CONFIGURE, lockerId=locker_id, expectedVersion=1, reservableBy="EVERYONE")
    await plain_client.update_item(
        TableName=table,
        Key=item_to_wire({"PK": "LOCKER#l2", "SK": "META"}),
        UpdateExpression="SET ownerId = :ada",
        ExpressionAttributeValues=item_to_wire({":ada": "ada"}),
    )
    wire.reset()
    document = (
        "query ($id: ID!) { location(locationId: $id) { lockers { nodes { status activeReservation { id } } } } }"
    )
    data = await api.by(owner("ada")).run(document, id=place)
    assert data["location"]["lockers"]["nodes"] == [{"status": "AVAILABLE", "activeReservation": None}] * 2
    pointers = {("LOCKER#l1", "RES#ACTIVE"), ("LOCKER#l2", "RES#ACTIVE")}
    assert [set(call.keys) for call in wire.calls if pointers & set(call.keys)] == [pointers]
